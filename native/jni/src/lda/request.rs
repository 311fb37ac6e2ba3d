//! A decoded call of LDA.

use dwell_solvers::lda::{EStepParams, LdaSchedule, shared::vector_bytes};

use crate::{
    boundary::{
        fault::{Fault, argument},
        header::MAX_ENTRIES,
        memory::copied,
        numbers::{ControlSlots, SettingSlots},
        table::Key,
    },
    lda::layout::{
        CONCENTRATION, CONTROL_FIT, CONTROL_FLAGS, CONTROL_ITERATIONS, CONTROL_PARTITION,
        CONTROL_SEED, CONTROL_SLOTS, CONTROL_THREADS, CONTROL_TOPICS, CONTROL_VERSION,
        CONTROL_WORDS, LAYOUT_VERSION, SETTING_BASE, SETTING_ETA, SETTING_KAPPA,
        SETTING_OVER_RELAXATION, SETTING_PRUNING, SETTING_SHARE, SETTING_SLOTS, SETTING_TAU0,
        SETTING_TOLERANCE, TOPIC_MEAN,
    },
};

/// A call with its parameters, still unchecked by the solver.
#[derive(Debug, Clone, PartialEq)]
pub struct LdaRequest<P> {
    /// Fit and partition.
    pub key: Key,
    /// Words.
    pub vocabulary: usize,
    /// Length of the shared vector, in units of 8 bytes: two floats each.
    pub length: usize,
    /// Prior of the words in a topic.
    pub eta: f64,
    /// Threads.
    pub threads: usize,
    /// Parameters of the call.
    pub params: P,
}

/// The numbers that both calls share.
#[derive(Debug)]
pub struct Common<'a> {
    /// Fit and partition.
    pub key: Key,
    /// Seed of the order of the documents.
    pub seed: u64,
    vocabulary: usize,
    length: usize,
    threads: usize,
    flags: i64,
    /// All of control: each call reads and checks slots of its own.
    pub control: ControlSlots<'a>,
    /// Inference of a document.
    pub e_step: EStepParams,
    eta: f64,
    /// Step sizes.
    pub schedule: LdaSchedule,
    /// Factor of the model that a round reaches.
    pub share: f64,
    alpha: &'a [f64],
}

impl<'a> Common<'a> {
    /// Checks and names the numbers of a call. The solver checks the numbers of the problem.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    pub fn decode(control: &'a [i64], settings: &[f64], alpha: &'a [f64]) -> Result<Self, Fault> {
        let control = ControlSlots::new(control, CONTROL_SLOTS, CONTROL_VERSION, LAYOUT_VERSION)?;
        let key = control.key(CONTROL_FIT, CONTROL_PARTITION)?;
        let vocabulary = control.int(CONTROL_WORDS, "the words", 1)? as usize;
        let topics = control.int(CONTROL_TOPICS, "the topics", 1)? as usize;
        let flags = control.flags(CONTROL_FLAGS, CONCENTRATION | TOPIC_MEAN)?;
        let threads = control.int(CONTROL_THREADS, "the threads", 1)? as usize;
        let cap = control.int(CONTROL_ITERATIONS, "the iterations", 1)? as u32;
        let length = vector_bytes::<f32>(vocabulary.saturating_mul(topics)) / 8;
        // The sums for the concentration follow the vector.
        if length.saturating_add(topics) > MAX_ENTRIES {
            return Err(argument!(
                "control[{CONTROL_WORDS}] and control[{CONTROL_TOPICS}], {vocabulary} words and {topics} topics, are a model that no byte[] can hold"
            ));
        }
        if alpha.len() != topics {
            return Err(argument!(
                "alpha has length {}, expected {topics}: one for each topic",
                alpha.len()
            ));
        }
        let settings = SettingSlots::new(settings, SETTING_SLOTS)?;
        settings.nothing_more()?;
        Ok(Self {
            key,
            seed: control.any(CONTROL_SEED) as u64,
            vocabulary,
            length,
            threads,
            flags,
            control,
            e_step: EStepParams {
                tolerance: settings.get(SETTING_TOLERANCE),
                cap,
                over_relaxation: settings.get(SETTING_OVER_RELAXATION),
                pruning: settings.get(SETTING_PRUNING),
                mean: flags & TOPIC_MEAN != 0,
            },
            eta: settings.get(SETTING_ETA),
            schedule: LdaSchedule {
                tau0: settings.get(SETTING_TAU0),
                kappa: settings.get(SETTING_KAPPA),
                base: settings.get(SETTING_BASE),
            },
            share: settings.get(SETTING_SHARE),
            alpha,
        })
    }

    /// Whether to compute the sums for the concentration.
    pub fn concentration(&self) -> bool {
        self.flags & CONCENTRATION != 0
    }

    /// A copy of the prior of the topics in a document.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn alpha(&self) -> Result<Vec<f64>, Fault> {
        copied(self.alpha, "alpha")
    }

    /// The request of a call with these parameters.
    pub fn request<P>(self, params: P) -> LdaRequest<P> {
        LdaRequest {
            key: self.key,
            vocabulary: self.vocabulary,
            length: self.length,
            eta: self.eta,
            threads: self.threads,
            params,
        }
    }
}

//! The descent of a network. The call is a pure function of its arguments.

use std::time::Instant;

use dwell_solvers::network::{DescentParams, Layers, NetworkDescent};

use crate::{
    boundary::{
        blocks::{Caller, Viewed},
        fault::{Fault, argument},
        header::{self, Header, MAX_ENTRIES, NONZEROS, SOLVER_NANOS},
        numbers::{ControlSlots, SettingSlots},
        pool,
    },
    rows::{
        arrays::Sgd,
        calls::{SgdCall, check_rows},
        layout::{CURSOR, DIVERGED, LOSS_SUM, ROWS, WEIGHT_SUM},
        network_layout::{
            CONTROL_BATCH, CONTROL_BUDGET, CONTROL_CURSOR, CONTROL_LAYERS, CONTROL_PARTITION,
            CONTROL_SEED, CONTROL_THREADS, CONTROL_VERSION, LAYOUT_VERSION, SETTING_SHARE,
            SETTING_SLOTS, SETTING_STEP,
        },
        request::SgdRequest,
    },
};

impl SgdCall for DescentParams {
    const HAS_VECTOR: bool = true;

    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault> {
        let (control, sizes) = control.split_at(CONTROL_LAYERS.min(control.len()));
        let slots = ControlSlots::new(control, CONTROL_LAYERS, CONTROL_VERSION, LAYOUT_VERSION)?;
        let settings = SettingSlots::new(settings, SETTING_SLOTS)?;
        settings.nothing_more()?;
        let sizes: Vec<usize> = (sizes.iter())
            .map(|&size| usize::try_from(size).unwrap_or(0))
            .collect();
        let layers = Layers::new(&sizes)?;
        let (features, length) = (layers.features(), layers.weights());
        if length > MAX_ENTRIES {
            return Err(argument!(
                "the layers have {length} weights, which no byte[] can hold"
            ));
        }
        let params = Self {
            layers,
            seed: slots.any(CONTROL_SEED).cast_unsigned(),
            partition: slots.int(CONTROL_PARTITION, "the partition", 0)? as u32,
            budget: slots.within(CONTROL_BUDGET, "the rows to visit", 0, i64::MAX)? as u64,
            cursor: slots.within(CONTROL_CURSOR, "the cursor", 0, i64::MAX)? as u64,
            batch: slots.int(CONTROL_BATCH, "the rows of a step", 0)? as usize,
            step: settings.get(SETTING_STEP),
            share: settings.get(SETTING_SHARE),
            threads: slots.int(CONTROL_THREADS, "the threads", 1)? as usize,
        };
        Ok(SgdRequest {
            features,
            length,
            classes: false,
            params,
        })
    }

    fn compute<C: Caller<Sgd>>(
        request: &SgdRequest<Self>,
        caller: &mut C,
    ) -> Result<Header, Fault> {
        check_rows(caller, request.features)?;
        let began = Instant::now();
        let shared = caller.shared()?;
        let pool = pool::of(request.params.threads);
        let mut blocks = Viewed::new(caller, request);
        let round = NetworkDescent::run(&request.params, &shared, &mut blocks, pool.as_deref())?;
        caller.write(request.length, |_, first, shared, out| {
            Ok(round.write_update(first, shared, out)?)
        })?;
        let outcome = round.outcome();
        let mut header = header::EMPTY;
        header[LOSS_SUM] = outcome.loss_sum;
        header[WEIGHT_SUM] = outcome.weight_sum;
        header[DIVERGED] = f64::from(u8::from(outcome.diverged));
        header[ROWS] = outcome.rows as f64;
        header[NONZEROS] = outcome.nonzeros as f64;
        header[CURSOR] = outcome.cursor as f64;
        header[SOLVER_NANOS] = began.elapsed().as_nanos() as f64;
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Legal numbers of a network of three layers.
    const CONTROL: [i64; CONTROL_LAYERS + 3] = [LAYOUT_VERSION, 3, -6, 50, 7, 16, 2, 4, 5, 3];

    const SETTINGS: [f64; SETTING_SLOTS] = [0.25, 0.5];

    fn refused(control: &[i64], settings: &[f64], part: &str) {
        match DescentParams::decode(control, settings) {
            Err(Fault::Argument(text)) => assert!(text.contains(part), "{text}"),
            Err(fault) => panic!("{fault:?}, not {part}"),
            Ok(_) => panic!("accepted in spite of {part}"),
        }
    }

    #[test]
    fn numbers_find_their_names() {
        let request = DescentParams::decode(&CONTROL, &SETTINGS).unwrap();
        assert!(!request.classes);
        assert_eq!((request.features, request.length), (4, 43));
        let expected = DescentParams {
            layers: Layers::new(&[4, 5, 3]).unwrap(),
            seed: -6_i64 as u64,
            partition: 3,
            budget: 50,
            cursor: 7,
            batch: 16,
            step: 0.25,
            share: 0.5,
            threads: 2,
        };
        assert_eq!(request.params, expected);
    }

    #[test]
    fn bad_numbers_are_named() {
        for (slot, bad, part) in [
            (0, 0, "control[0]"),
            (1, -1, "control[1]"),
            (3, -1, "control[3]"),
            (4, -1, "control[4]"),
            (5, 1 << 31, "control[5]"),
            (6, 0, "control[6]"),
            (7, 0, "size of a layer"),
            (8, i64::from(i32::MAX), "no byte[]"),
        ] {
            let mut control = CONTROL;
            control[slot] = bad;
            refused(&control, &SETTINGS, part);
        }
        refused(&CONTROL[..6], &SETTINGS, "control has length 6");
        refused(&CONTROL[..8], &SETTINGS, "layers");
        refused(&CONTROL, &SETTINGS[..1], "settings has length 1");
        refused(&CONTROL, &[0.25, 0.5, 1.0], "1 numbers more");
    }
}

//! The average of the workers' topics, exactly, from the words that some worker has touched.
//!
//! With `lambda_r = eta + s_r u_r` and weights `p_r` that add up to 1,
//!
//! ```text
//! s = sum_r p_r s_r,   m = sum_r p_r m_r,   u_w = sum_r (p_r s_r / s) u_rw
//! ```
//!
//! A worker that has not touched a word has the row of the last averaging, so it need not send it; of a word that none has touched
//! only s changes. Sums are taken in the order of the workers, in double precision.
//!
//! Source: Guo et al., "Model averaging in distributed machine learning", VLDB Journal 30, 2021, algorithm 6 (the mean of lambda).

use super::{lambda::Lambda, real::Real};
use crate::error::{SolverError, same_length};

/// What one worker contributes to the rows of some words.
///
/// | array | shape | meaning |
/// |---|---|---|
/// | words | n, i32 | words that it has touched, in rising order |
/// | rows | n K, by words | its u of them |
#[derive(Debug, Clone, Copy)]
pub struct Contribution<'a, R> {
    /// p_r
    pub weight: f64,
    /// s_r
    pub scale: f64,
    pub words: &'a [i32],
    pub rows: &'a [R],
}

/// `sum_r p_r x_r` of pairs (p_r, x_r): s.
pub fn average(numbers: impl Iterator<Item = (f64, f64)>) -> f64 {
    numbers.map(|(weight, x)| weight * x).sum()
}

/// `sum_r p_r m_r` of pairs (p_r, m_r): m, K numbers.
///
/// # Errors
/// `Shape` for unequal lengths.
pub fn average_masses<'a>(
    topics: usize,
    masses: impl Iterator<Item = (f64, &'a [f64])>,
) -> Result<Vec<f64>, SolverError> {
    let mut sums = vec![0.0; topics];
    for (weight, masses) in masses {
        same_length("masses", masses.len(), topics, "topic")?;
        for (sum, mass) in sums.iter_mut().zip(masses) {
            *sum += weight * mass;
        }
    }
    Ok(sums)
}

/// The rows of all words that some contribution has, in rising order of the words, and these words: what [`Lambda::install`] takes.
///
/// `base` is any worker's model, of which the rows of the last averaging are read; `scale` is s. Contributions may be those of a range of words: the
/// results of ranges, one after the other, are the result of all.
///
/// # Errors
/// `Shape` for words that do not rise or are out of range, or rows of another length; `InvalidParam` for a scale that is not positive.
pub fn average_rows<R: Real>(
    base: &Lambda<R>,
    scale: f64,
    contributions: &[Contribution<'_, R>],
) -> Result<(Vec<i32>, Vec<R>), SolverError> {
    crate::penalty::positive("scale", scale)?;
    let topics = base.topics();
    for (worker, contribution) in contributions.iter().enumerate() {
        let words = contribution.words;
        same_length(
            "rows",
            contribution.rows.len(),
            words.len() * topics,
            "word and topic",
        )?;
        let rise = words.windows(2).all(|pair| pair[0] < pair[1]);
        let in_range = |word: &i32| *word >= 0 && (*word as usize) < base.vocabulary();
        if !(rise && words.first().is_none_or(in_range) && words.last().is_none_or(in_range)) {
            return Err(SolverError::Shape(format!(
                "words of contribution {worker}: they must rise, from 0 to {}",
                base.vocabulary() - 1
            )));
        }
    }
    let mut next = vec![0; contributions.len()];
    let (mut words, mut rows) = (Vec::new(), Vec::new());
    let mut sums = vec![0.0; topics];
    loop {
        let heads = contributions.iter().zip(&next);
        let Some(word) = heads.filter_map(|(c, &at)| c.words.get(at).copied()).min() else {
            return Ok((words, rows));
        };
        sums.fill(0.0);
        for (contribution, at) in contributions.iter().zip(&mut next) {
            let row = if contribution.words.get(*at) == Some(&word) {
                *at += 1;
                &contribution.rows[(*at - 1) * topics..][..topics]
            } else {
                base.base_row(word as usize)
            };
            let share = contribution.weight * contribution.scale / scale;
            for (sum, &number) in sums.iter_mut().zip(row) {
                *sum += share * number.into();
            }
        }
        words.push(word);
        rows.extend(sums.iter().map(|&sum| {
            let number = R::of(sum);
            if number < R::SUM_FLOOR {
                R::ZERO
            } else {
                number
            }
        }));
    }
}

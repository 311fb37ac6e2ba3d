//! Rows that have a value for every feature: some features at a time, whose sums stay in registers and in the first level of cache.

use super::{
    rows::{Rows, width},
    sums::{COUNT, DIFFERENCES, FeatureSums, POSITIVE, SQUARES, SUMS, WEIGHT, WIDTH},
};
use crate::base::{error::SolverError, instructions::vectorised};

/// Features that are summed together.
const TILE: usize = 16;

/// For each of [`SUMS`] the numbers of the features of a tile.
type Tile = [[f64; TILE]; SUMS];

/// Adds dense rows.
///
/// # Errors
/// `Shape` for features that the sums have no room for.
pub(super) fn add<T: Copy + Into<f64>>(
    sums: &mut FeatureSums<'_>,
    values: &[T],
    rows: Rows<'_>,
) -> Result<(), SolverError> {
    let features = sums.features();
    let mut first = [0.0; TILE];
    for start in (0..features).step_by(TILE) {
        let count = TILE.min(features - start);
        for (l, first) in first.iter_mut().enumerate().take(count) {
            *first = sums.first(start + l).unwrap_or_else(|| {
                let all = values[start + l..].iter().step_by(features);
                all.map(|&x| x.into()).find(|&x| x != 0.0).unwrap_or(0.0)
            });
        }
        let tile = vectorised(|| sum(values, features, start, count, &first, rows));
        for l in 0..count {
            if tile[COUNT][l] > 0.0 {
                let own = sums.of(start + l, first[l])?;
                for number in [COUNT, WEIGHT, DIFFERENCES, SQUARES, POSITIVE] {
                    own[number] += tile[number][l];
                }
                own[WIDTH] = own[WIDTH].max(tile[WIDTH][l]);
            }
        }
    }
    Ok(())
}

/// The sums of the features of a tile over all rows, as differences from `first`.
#[inline(always)]
fn sum<T: Copy + Into<f64>>(
    values: &[T],
    features: usize,
    start: usize,
    count: usize,
    first: &[f64; TILE],
    rows: Rows<'_>,
) -> Tile {
    let mut tile = [[0.0; TILE]; SUMS];
    for (row, values) in values.chunks_exact(features).enumerate() {
        let values = &values[start..start + count];
        let (weight, positive) = (rows.weight(row), rows.positive_weight(row));
        // The compiler knows how many there are, unless they are the last ones.
        match values.as_array::<TILE>() {
            Some(values) => add_row(&mut tile, values, first, weight, positive),
            None => add_row(&mut tile, values, first, weight, positive),
        }
    }
    tile
}

#[inline(always)]
fn add_row<T: Copy + Into<f64>>(
    tile: &mut Tile,
    values: &[T],
    first: &[f64; TILE],
    weight: f64,
    positive: f64,
) {
    for (l, &x) in values.iter().enumerate().take(TILE) {
        let x: f64 = x.into();
        let is_nonzero = x != 0.0;
        let (difference, weight) = if is_nonzero {
            (x - first[l], weight)
        } else {
            (0.0, 0.0)
        };
        tile[COUNT][l] += f64::from(is_nonzero);
        tile[WEIGHT][l] += weight;
        tile[DIFFERENCES][l] += weight * difference;
        tile[SQUARES][l] += weight * difference * difference;
        tile[POSITIVE][l] += positive * x;
        let width = if is_nonzero { width(x) } else { 0.0 };
        tile[WIDTH][l] = tile[WIDTH][l].max(width);
    }
}

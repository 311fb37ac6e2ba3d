//! Primal rounds: decode, lend the arrays slice by slice to the solver, keep or write what comes out.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::{Duration, Instant},
};

use dwell_solvers::{
    ColumnMoments, Columns, ElasticNetParams, PrimalData, PrimalParams, PrimalProduct, PrimalRound,
    Progress, RoundOutcome, Values, Verdict, cd::SubproblemParams,
};

use crate::{
    argument,
    boundary::{Fault, reserve},
    pins::SliceLength,
    pool,
    registry::{Key, MAX_ROUND, Registry, Step},
};

/// Version of the layout of `control` and `settings`.
pub const LAYOUT_VERSION: i64 = 1;

pub const CONTROL_LENGTH: usize = 10;
pub const SETTINGS_LENGTH: usize = 7;

const CERTIFICATE: i64 = 1;
const CENTRED: i64 = 2;

/// Bytes before the vector of a result.
pub const HEADER_BYTES: usize = 128;

/// Slots that this library writes. The rest of the header belongs to the caller.
pub const HEADER_SLOTS: usize = 11;

/// Numbers of a header, by slot.
pub type Header = [f64; HEADER_SLOTS];

/// A decoded request.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub key: Key,
    pub round: i64,
    pub stamp: i64,
    pub rows: usize,
    pub threads: usize,
    pub params: PrimalParams,
    pub verdict: Verdict,
}

impl Request {
    /// Checks and names the numbers of a request. What belongs to the problem is checked by the solver.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    pub fn decode(control: &[i64], settings: &[f64]) -> Result<Self, Fault> {
        let &[
            layout,
            fit,
            partition,
            round,
            seed,
            budget,
            flags,
            threads,
            rows,
            stamp,
        ] = control
        else {
            return Err(argument!(
                "control has length {}, expected {CONTROL_LENGTH}",
                control.len()
            ));
        };
        let &[
            sigma_prime,
            l1,
            l2,
            total_weight,
            scale_factor,
            theta1,
            theta2,
        ] = settings
        else {
            return Err(argument!(
                "settings has length {}, expected {SETTINGS_LENGTH}",
                settings.len()
            ));
        };
        if layout != LAYOUT_VERSION {
            return Err(argument!(
                "control[0], the layout version, is {layout}, expected {LAYOUT_VERSION}: use jar and library of one version"
            ));
        }
        let partition = within("control[2], the partition", partition, 0, i32::MAX.into())? as i32;
        let round = within("control[3], the round", round, 0, MAX_ROUND)?;
        let budget = within("control[5], the coordinates to visit", budget, 1, i64::MAX)?;
        let flags = within("control[6], the flags", flags, 0, CERTIFICATE | CENTRED)?;
        let threads = within("control[7], the threads", threads, 1, i32::MAX.into())?;
        let rows = within("control[8], the rows", rows, 0, i32::MAX.into())?;
        let stamp = within("control[9], the stamp", stamp, 0, i64::MAX)?;
        for (name, theta) in [("settings[5]", theta1), ("settings[6]", theta2)] {
            if !theta.is_finite() {
                return Err(argument!(
                    "{name}, a factor of the verdict, is {theta}: it must be finite"
                ));
            }
        }
        Ok(Self {
            key: (fit, partition),
            round,
            stamp,
            rows: rows as usize,
            threads: threads as usize,
            params: PrimalParams {
                subproblem: SubproblemParams {
                    penalty: ElasticNetParams {
                        l1,
                        l2,
                        scale_factor,
                    },
                    sigma_prime,
                    total_weight,
                    centred: flags & CENTRED != 0,
                },
                seed: seed as u64,
                partition: partition as u32,
                budget: budget as u64,
                certificate: flags & CERTIFICATE != 0,
            },
            verdict: Verdict {
                pending: theta1,
                previous: theta2,
            },
        })
    }
}

fn within(name: &str, value: i64, least: i64, most: i64) -> Result<i64, Fault> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(argument!(
            "{name}, is {value}: it must be {least} to {most}"
        ))
    }
}

/// The arrays of a partition, for one slice of work.
#[derive(Debug, Clone, Copy)]
pub struct Arrays<'a> {
    pub offsets: &'a [i32],
    pub indices: &'a [i32],
    pub values: Values<'a>,
    pub mean: &'a [f64],
    pub variance: &'a [f64],
    pub deviation: &'a [f64],
    pub weights: Option<&'a [f64]>,
    /// The residual of a round: 8 bytes for each row, little endian.
    pub residual: &'a [u8],
}

impl<'a> Arrays<'a> {
    /// Checks lengths, moments and weights.
    fn checked_but_entries(&self, rows: usize) -> Result<(), Fault> {
        PrimalData::new(
            Columns::validated_before(rows, self.offsets, self.indices, self.values)?,
            ColumnMoments::new(self.mean, self.variance, self.deviation)?,
            self.weights,
        )?;
        Ok(())
    }

    /// Checks offsets and entries of the columns from `next` on, of as many as `units` of work allow, one at least. Returns the
    /// column to go on with. All columns are right if every part is: each starts where the one before it ends.
    fn checked_entries(&self, rows: usize, next: usize, units: usize) -> Result<usize, Fault> {
        let columns = self.mean.len();
        let mut end = next;
        let mut left = units as i64;
        while end < columns && (left > 0 || end == next) {
            left -= 1 + (i64::from(self.offsets[end + 1]) - i64::from(self.offsets[end])).max(0);
            end += 1;
        }
        let offsets = &self.offsets[next..=end];
        let first = offsets[0];
        let entries = first as usize..offsets[end - next] as usize;
        let values = match self.values {
            Values::Ones => Some(Values::Ones),
            Values::F32(values) => values.get(entries.clone()).map(Values::F32),
            Values::F64(values) => values.get(entries.clone()).map(Values::F64),
        };
        let mut own = reserve(offsets.len(), "a check of offsets")?;
        own.extend(offsets.iter().map(|offset| offset.wrapping_sub(first)));
        let part = match (self.indices.get(entries), values) {
            (Some(indices), Some(values)) => Columns::new(rows, &own, indices, values).is_ok(),
            _ => false,
        };
        if part {
            return Ok(end);
        }
        // The check of the whole names the column and row at fault.
        Columns::new(rows, self.offsets, self.indices, self.values)?;
        Err(argument!(
            "offsets, rows or values were changed while they were being validated"
        ))
    }

    /// For arrays that were checked: O(1).
    fn known(&self, rows: usize) -> Result<PrimalData<'a>, Fault> {
        Ok(PrimalData::validated_before(
            Columns::validated_before(rows, self.offsets, self.indices, self.values)?,
            ColumnMoments::validated_before(self.mean, self.variance, self.deviation)?,
            self.weights,
        )?)
    }
}

/// Tells whether arrays are those that were validated before: lengths, and samples of the elements. It does not prove that nothing
/// was changed: the solver checks bounds whatever it is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    rows: usize,
    lengths: [usize; 7],
    samples: u64,
}

impl Structure {
    const SAMPLES: usize = 64;

    pub fn of(rows: usize, arrays: &Arrays<'_>) -> Self {
        let mut hasher = DefaultHasher::new();
        sample(&mut hasher, arrays.offsets, |x| x as u64);
        sample(&mut hasher, arrays.indices, |x| x as u64);
        let values = match arrays.values {
            Values::Ones => 0,
            Values::F32(values) => {
                sample(&mut hasher, values, |x| x.to_bits().into());
                values.len()
            }
            Values::F64(values) => {
                sample(&mut hasher, values, f64::to_bits);
                values.len()
            }
        };
        for doubles in [
            arrays.mean,
            arrays.variance,
            arrays.deviation,
            arrays.weights.unwrap_or_default(),
        ] {
            sample(&mut hasher, doubles, f64::to_bits);
        }
        Self {
            rows,
            lengths: [
                arrays.offsets.len(),
                arrays.indices.len(),
                values,
                arrays.mean.len(),
                arrays.variance.len(),
                arrays.deviation.len(),
                arrays.weights.map_or(usize::MAX, <[f64]>::len),
            ],
            samples: hasher.finish(),
        }
    }
}

/// Evenly spread elements, the first and the last among them.
fn sample<T: Copy>(hasher: &mut DefaultHasher, elements: &[T], bits: impl Fn(T) -> u64) {
    let Some(last) = elements.len().checked_sub(1) else {
        return;
    };
    let count = elements.len().min(Structure::SAMPLES);
    for i in 0..count {
        let at = (last as u64 * i as u64)
            .checked_div(count as u64 - 1)
            .unwrap_or(0);
        bits(elements[at as usize]).hash(hasher);
    }
}

/// Who owns the arrays: Java, which lends them pinned, or a C caller.
pub trait Lender {
    /// Lends the arrays, and the vector of the result for writing, to one slice of work.
    ///
    /// # Errors
    /// Of the work, or if the arrays cannot be lent.
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault>;

    /// Called between slices, while nothing is lent.
    ///
    /// # Errors
    /// `Cancelled` if the result is not wanted any more.
    fn poll(&mut self) -> Result<(), Fault>;
}

/// Lends slice after slice of `units` of work until `work` says it is done. Returns the time spent inside of `work`.
fn in_slices<L: Lender>(
    lender: &mut L,
    mut work: impl FnMut(&Arrays<'_>, &mut [u8], usize) -> Result<Progress, Fault>,
) -> Result<Duration, Fault> {
    let mut length = SliceLength::default();
    let mut total = Duration::ZERO;
    loop {
        lender.poll()?;
        let (progress, elapsed) = lender.lend(|arrays, out| {
            let start = Instant::now();
            let progress = work(arrays, out, length.units())?;
            Ok((progress, start.elapsed()))
        })?;
        total += elapsed;
        if progress == Progress::Done {
            return Ok(total);
        }
        length.took(elapsed);
    }
}

/// As [`in_slices`], for work that goes through the rows: `work` gets the first row, and the part of the result from there on.
fn write_rows<L: Lender>(
    lender: &mut L,
    rows: usize,
    mut work: impl FnMut(&Arrays<'_>, usize, &mut [u8]) -> Result<(), Fault>,
) -> Result<Duration, Fault> {
    let mut row = 0;
    in_slices(lender, |arrays, out, units| {
        let end = rows.min(row + units);
        let part = out
            .get_mut(8 * row..8 * end)
            .ok_or_else(|| argument!("result is too short for {rows} rows"))?;
        work(arrays, row, part)?;
        row = end;
        Ok(if row == rows {
            Progress::Done
        } else {
            Progress::More
        })
    })
}

/// Validates the arrays, unless they are those of `known`.
fn validate<L: Lender>(
    lender: &mut L,
    rows: usize,
    known: Option<&Structure>,
) -> Result<Structure, Fault> {
    lender.poll()?;
    let (structure, mut next) = lender.lend(|arrays, _| {
        let structure = Structure::of(rows, arrays);
        let next = if known == Some(&structure) {
            arrays.mean.len()
        } else {
            arrays.checked_but_entries(rows)?;
            0
        };
        Ok((structure, next))
    })?;
    in_slices(lender, |arrays, _, units| {
        next = arrays.checked_entries(rows, next, units)?;
        Ok(if next == arrays.mean.len() {
            Progress::Done
        } else {
            Progress::More
        })
    })?;
    Ok(structure)
}

/// What a computation gives beside the vector, which is written to its lender.
#[derive(Debug)]
pub struct Computed<T> {
    pub result: T,
    pub structure: Structure,
    pub elapsed: Duration,
}

/// Computes a round from `alpha` and `cursor`: a pure function of its arguments.
///
/// # Errors
/// Of the solver, and of the lender.
pub fn compute_round<L: Lender>(
    lender: &mut L,
    request: &Request,
    alpha: &[f64],
    cursor: u64,
    known: Option<&Structure>,
) -> Result<Computed<RoundOutcome>, Fault> {
    let params = request.params.check()?;
    let rows = request.rows;
    let pool = if request.params.certificate {
        pool::of(request.threads)
    } else {
        None
    };
    let structure = validate(lender, rows, known)?;
    let mut round = PrimalRound::new(params, rows, alpha, cursor)?;
    let solving = in_slices(lender, |arrays, _, units| {
        let data = arrays.known(rows)?;
        Ok(round.advance(&data, arrays.residual, units, pool.as_deref())?)
    })?;
    let writing = write_rows(lender, rows, |arrays, row, out| {
        let data = arrays.known(rows)?;
        Ok(round.write_update(&data, arrays.residual, row, out)?)
    })?;
    Ok(Computed {
        result: round.finish(alpha)?,
        structure,
        elapsed: solving + writing,
    })
}

/// Numbers that a product reports.
#[derive(Debug, Clone, Copy)]
pub struct ProductScalars {
    pub penalty: f64,
    pub kappa: f64,
    /// Entries of the columns that were added.
    pub nonzeros: u64,
}

/// Computes the product of the columns with `alpha`.
///
/// # Errors
/// Of the solver, and of the lender.
pub fn compute_product<L: Lender>(
    lender: &mut L,
    request: &Request,
    alpha: &[f64],
    known: Option<&Structure>,
) -> Result<Computed<ProductScalars>, Fault> {
    request.params.check()?;
    let subproblem = &request.params.subproblem;
    let rows = request.rows;
    let structure = validate(lender, rows, known)?;
    let penalty = subproblem.penalty.check()?;
    let mut product = PrimalProduct::new(penalty, subproblem.centred, rows, alpha)?;
    let solving = in_slices(lender, |arrays, _, units| {
        let data = arrays.known(rows)?;
        Ok(product.advance(&data, units)?)
    })?;
    let writing = write_rows(lender, rows, |_, row, out| Ok(product.write(row, out)?))?;
    Ok(Computed {
        result: ProductScalars {
            penalty: product.penalty()?,
            kappa: product.kappa()?,
            nonzeros: product.nonzeros()?,
        },
        structure,
        elapsed: solving + writing,
    })
}

/// One round on the state in `registry`. `None`: state lost.
///
/// # Errors
/// As [`compute_round`]; the state is as it was then.
pub fn round<L: Lender>(
    registry: &Registry,
    lender: &mut L,
    request: &Request,
    columns: usize,
) -> Result<Option<Header>, Fault> {
    let Some(ticket) = registry.begin_round(
        request.key,
        request.round,
        request.stamp,
        columns,
        request.verdict,
    )?
    else {
        return Ok(None);
    };
    let start = &ticket.start;
    let computed = compute_round(
        lender,
        request,
        &start.alpha,
        start.cursor,
        ticket.structure.as_ref(),
    )?;
    let RoundOutcome {
        delta,
        cursor,
        scalars,
    } = computed.result;
    let step = Step {
        round: request.round,
        cursor,
        delta,
    };
    let bytes = registry.publish_round(&ticket, computed.structure, step);
    Ok(bytes.map(|bytes| {
        [
            scalars.penalty_before,
            scalars.penalty_after,
            scalars.conjugate,
            scalars.ratio,
            scalars.correlation,
            scalars.coordinates as f64,
            scalars.nonzeros as f64,
            computed.elapsed.as_nanos() as f64,
            bytes as f64,
            start.stamp as f64,
            scalars.kappa,
        ]
    }))
}

/// Settles the state in `registry` and computes its product. `None`: the fit was freed, or the call is late.
///
/// # Errors
/// As [`compute_product`]; the state is as it was then.
pub fn product<L: Lender>(
    registry: &Registry,
    lender: &mut L,
    request: &Request,
    columns: usize,
) -> Result<Option<Header>, Fault> {
    let Some(ticket) = registry.begin_product(
        request.key,
        request.round,
        request.stamp,
        columns,
        request.verdict,
    )?
    else {
        return Ok(None);
    };
    let start = &ticket.start;
    let computed = compute_product(lender, request, &start.alpha, ticket.structure.as_ref())?;
    let ProductScalars {
        penalty,
        kappa,
        nonzeros,
    } = computed.result;
    let bytes = registry.publish_product(&ticket, computed.structure);
    Ok(bytes.map(|bytes| {
        [
            penalty,
            penalty,
            f64::NAN,
            f64::NAN,
            f64::NAN,
            columns as f64,
            nonzeros as f64,
            computed.elapsed.as_nanos() as f64,
            bytes as f64,
            start.stamp as f64,
            kappa,
        ]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of 0, 3, 2 and 4 entries in 4 rows.
    const OFFSETS: [i32; 5] = [0, 0, 3, 5, 9];
    const INDICES: [i32; 9] = [0, 1, 3, 1, 2, 0, 1, 2, 3];
    const MOMENTS: [f64; 4] = [0.5; 4];

    fn arrays<'a>(offsets: &'a [i32], indices: &'a [i32], values: &'a [f64]) -> Arrays<'a> {
        Arrays {
            offsets,
            indices,
            values: Values::F64(values),
            mean: &MOMENTS,
            variance: &MOMENTS,
            deviation: &MOMENTS,
            weights: None,
            residual: &[],
        }
    }

    /// Checks in parts of `units`; the number of parts.
    fn check(arrays: &Arrays<'_>, units: usize) -> Result<usize, Fault> {
        arrays.checked_but_entries(4)?;
        let (mut next, mut parts) = (0, 0);
        while next < arrays.mean.len() {
            next = arrays.checked_entries(4, next, units)?;
            parts += 1;
        }
        Ok(parts)
    }

    #[test]
    fn parts_find_what_the_whole_finds() {
        let values = [1.0; 9];
        for (units, parts) in [(1, 4), (5, 2), (1000, 1)] {
            assert_eq!(
                check(&arrays(&OFFSETS, &INDICES, &values), units).unwrap(),
                parts
            );
            for entry in 0..INDICES.len() {
                for bad in [-1, 4, i32::MAX, i32::MIN] {
                    let mut indices = INDICES;
                    indices[entry] = bad;
                    assert!(check(&arrays(&OFFSETS, &indices, &values), units).is_err());
                }
                let mut spoiled = values;
                spoiled[entry] = f64::NAN;
                assert!(check(&arrays(&OFFSETS, &INDICES, &spoiled), units).is_err());
            }
            for column in 0..OFFSETS.len() {
                for bad in [-1, 7, i32::MAX, i32::MIN] {
                    let mut offsets = OFFSETS;
                    offsets[column] = bad;
                    let whole = Columns::new(4, &offsets, &INDICES, Values::F64(&values));
                    let parts = check(&arrays(&offsets, &INDICES, &values), units);
                    assert_eq!(whole.is_err(), parts.is_err(), "{offsets:?}");
                }
            }
        }
    }

    #[test]
    fn structures_differ_where_arrays_do() {
        let values = [1.0; 9];
        let known = Structure::of(4, &arrays(&OFFSETS, &INDICES, &values));
        assert_eq!(
            known,
            Structure::of(4, &arrays(&OFFSETS, &INDICES, &values.clone()))
        );
        assert_ne!(
            known,
            Structure::of(5, &arrays(&OFFSETS, &INDICES, &values))
        );
        let mut other = values;
        other[8] = 2.0;
        assert_ne!(known, Structure::of(4, &arrays(&OFFSETS, &INDICES, &other)));
        let ones = Arrays {
            values: Values::Ones,
            ..arrays(&OFFSETS, &INDICES, &values)
        };
        assert_ne!(known, Structure::of(4, &ones));
        let weighted = Arrays {
            weights: Some(&[]),
            ..arrays(&OFFSETS, &INDICES, &values)
        };
        assert_ne!(known, Structure::of(4, &weighted));
    }
}

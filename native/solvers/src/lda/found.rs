//! What the E-step of a document finds, apart from the statistics that it adds to.

use super::{
    lanes::{Block, Lanes, Real, WithLanes},
    table::Rows,
};

/// The numbers of a document. With the factors of its words they give what it adds to the statistics: `statistics_wk = e_k f_wk r_w`.
#[derive(Debug, Default)]
pub(super) struct Found<R> {
    /// Rows of the document's words in the table, rising, and r of each.
    pub slots: Vec<u32>,
    pub ratios: Vec<R>,
    /// e and n of each topic; 0 if the topic has left the document.
    pub weights: Vec<Block<R>>,
    pub mass: Vec<Block<R>>,
    /// N.
    pub total: f64,
    /// Iterations of gamma.
    pub iterations: u32,
    /// `E[log theta_k]`: K numbers, or none.
    pub log_theta: Vec<f64>,
}

/// Adds what documents add to some rows of the table, document by document. Compiled once for each kind of lanes.
pub(super) struct AddRows<'a, R> {
    pub documents: &'a [Found<R>],
    pub rows: Rows<'a, R>,
}

impl<R: Real> WithLanes<R> for AddRows<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Number = R>>(self, l: L) {
        let Rows {
            slots,
            width,
            factors,
            statistics,
        } = self.rows;
        let (floor, zero) = (l.splat(R::SUM_FLOOR), l.splat(R::ZERO));
        for document in self.documents {
            let first = document.slots.partition_point(|slot| *slot < slots.start);
            let words = document.slots[first..]
                .iter()
                .zip(&document.ratios[first..]);
            for (&slot, &ratio) in words.take_while(|(slot, _)| **slot < slots.end) {
                let ratio = l.splat(ratio);
                let row = (slot - slots.start) as usize * width;
                let sums = &mut statistics[row..row + width];
                let factors = &factors[row..row + width];
                for ((sum, weight), factor) in sums.iter_mut().zip(&document.weights).zip(factors) {
                    let value = l.mul(l.mul(l.load(weight), l.load(factor)), ratio);
                    let value = l.where_greater(value, floor, value, zero);
                    *sum = l.store(l.add(l.load(sum), value));
                }
            }
        }
    }
}

//! How many loans the solvers take: one serves many buckets, and its work is bounded.

use std::ops::RangeInclusive;

use dwell_solvers::{
    Blocks, DualData, DualParams, DualRound, DualSubproblemParams, LabelledRows, Loan, Loss,
    RowLoss, Samples, Schedule, ScheduleKind, SgdData, SgdParams, SgdRound, Views,
    cd::ConjugateLoss,
    lda::{Kernel, Lambda, LdaParams},
};

use crate::common::{
    Random,
    lda::{Corpus, lent, params},
    sgd::{Rows, epoch, problem},
};

/// An owner that counts its loans, and the blocks that it lends in them.
struct Counted<B> {
    blocks: B,
    loans: usize,
    lent: usize,
}

impl<B> Counted<B> {
    fn new(blocks: B) -> Self {
        Self {
            blocks,
            loans: 0,
            lent: 0,
        }
    }
}

impl<B: Blocks> Blocks for Counted<B> {
    type Block<'a> = B::Block<'a>;
    type Error = B::Error;

    fn starts(&self) -> &[usize] {
        self.blocks.starts()
    }

    fn lend<R>(
        &mut self,
        work: impl for<'a> FnOnce(&mut Loan<'_, B::Block<'a>, B::Error>) -> Result<R, B::Error>,
    ) -> Result<R, B::Error> {
        self.loans += 1;
        let lent = &mut self.lent;
        self.blocks.lend(|loan| {
            work(&mut Loan::new(loan.starts(), &mut |block| {
                *lent += 1;
                loan.block(block)
            }))
        })
    }
}

/// 1024 buckets of 64 rows. With four or five entries in a row, an epoch is the work of five loans, or of two for four threads.
const ROWS: usize = 1 << 16;
const BUCKETS: usize = ROWS / 64;
const EPOCH: RangeInclusive<usize> = 5..=8;
const EPOCH_OF_FOUR: RangeInclusive<usize> = 2..=5;

fn rows() -> Rows {
    let loss = RowLoss::Margin(Loss::Squared);
    Rows::random(&mut Random::new(1), loss, ROWS, 10, false, false)
}

/// The rows in blocks of so many.
fn cut(rows: &Rows, length: usize) -> Vec<Rows> {
    let ends: Vec<usize> = (length..ROWS).step_by(length).collect();
    rows.cut(&ends)
}

/// The epoch of a few blocks takes few loans. One of many small blocks takes hardly more, and no block is lent more often than a bucket of it is visited.
fn assert_few(epoch: RangeInclusive<usize>, blocks: usize, loans: usize, lent: usize) {
    assert!(epoch.contains(&loans), "{loans} loans of {blocks} blocks");
    let most = (blocks * loans).min(BUCKETS + loans);
    assert!(lent <= most, "{lent} blocks lent, of {blocks}");
}

#[test]
fn a_loan_of_local_sgd_serves_many_buckets() {
    let rows = rows();
    let squared = problem(RowLoss::Margin(Loss::Squared), 0.0, 0.01);
    let schedule = Schedule {
        kind: ScheduleKind::Inverse,
        eta0: 0.01,
        rate: 0.0,
    };
    for (length, threads, loans) in [
        (ROWS / 3, 1, EPOCH),
        (64, 1, EPOCH),
        (ROWS / 3, 4, EPOCH_OF_FOUR),
        (64, 4, EPOCH_OF_FOUR),
    ] {
        let params = SgdParams {
            threads,
            ..epoch(squared, schedule, ROWS)
        };
        let blocks = cut(&rows, length);
        let blocks: Vec<SgdData<'_>> = blocks.iter().map(Rows::data).collect();
        let mut counted = Counted::new(Views::<LabelledRows>::new(&blocks).unwrap());
        SgdRound::run(params.check().unwrap(), &[0.0; 11], &mut counted, None).unwrap();
        // The checks of the blocks, and the first one for the model.
        let others = blocks.len() + 3;
        assert_few(
            loans,
            blocks.len(),
            counted.loans - others,
            counted.lent - others,
        );
    }
}

#[test]
fn a_loan_of_coordinate_descent_serves_many_buckets() {
    let rows = rows();
    let params = DualParams {
        subproblem: DualSubproblemParams {
            loss: Loss::Squared,
            sigma_prime: 1.0,
            l2: 0.1,
            total_weight: ROWS as f64,
            intercept: 0.0,
            offset: 0.0,
        },
        seed: 1,
        partition: 0,
        budget: ROWS as u64,
        certificate: Vec::new(),
        points: Vec::new(),
        threads: 1,
    };
    let (norms, alpha) = (vec![1.0; ROWS], vec![0.0; ROWS]);
    for length in [ROWS / 3, 64] {
        let blocks = cut(&rows, length);
        let blocks: Vec<DualData<'_>> = blocks
            .iter()
            .map(|block| {
                let norms = &norms[..block.len()];
                let samples = Samples::new(&block.labels, None, norms, None).unwrap();
                DualData::new(*block.data().rows(), samples, None).unwrap()
            })
            .collect();
        let mut counted = Counted::new(Views::<ConjugateLoss>::new(&blocks).unwrap());
        let checked = params.check().unwrap();
        let shared = vec![0.0; 10];
        DualRound::run(checked, shared, &alpha, &alpha, 0, &mut counted, None).unwrap();
        // The first block for the vector; the checks, and the values before and after the steps.
        let others = 1 + 3 * blocks.len();
        assert_few(
            EPOCH,
            blocks.len(),
            counted.loans - others,
            counted.lent - others,
        );
    }
}

#[test]
fn a_loan_of_lda_serves_many_documents() {
    let (documents, topics) = (8192, 3);
    let mut random = Random::new(1);
    let params = LdaParams {
        alpha: vec![0.3; topics],
        batch: documents,
        budget: documents as u64,
        ..params(topics, documents as f64)
    };
    for count in [4, 4096] {
        let mut block = || Corpus::random(&mut random, documents / count, 40, 8, false);
        let blocks: Vec<_> = (0..count).map(|_| block()).collect();
        let blocks: Vec<_> = blocks.iter().map(Corpus::documents).collect();
        let mut lambda = Lambda::<f32>::initial(topics, 40, 0.1, 1).unwrap();
        let mut counted = Counted::new(lent(&blocks));
        let checked = params.clone().check().unwrap();
        let outcome = checked.run(&mut lambda, &mut counted, Kernel::detect(), None);
        let outcome = outcome.unwrap();
        // Documents are read, and those that are not empty then copied, at most 512 blocks at a time.
        let visits = (outcome.cursor + outcome.documents) as usize;
        let (loans, lent) = (counted.loans, counted.lent);
        assert!(
            (3..=8 + visits / 512).contains(&loans),
            "{loans} loans of {count} blocks"
        );
        assert!(
            lent <= visits.min(count * loans),
            "{lent} blocks lent, of {count}"
        );
    }
}

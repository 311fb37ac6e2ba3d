//! What a pass refuses.

use super::*;

#[test]
fn wrong_arrays_are_refused() {
    let params = whole(LOSSES[0], true, 2);
    for wrong in [
        PassParams {
            model: vec![0.0; 2],
            ..params.clone()
        },
        PassParams {
            reach: vec![-1.0; 3],
            ..params.clone()
        },
        PassParams {
            steps: vec![1.0],
            ..params.clone()
        },
        PassParams {
            model: vec![0.0, f64::NAN, 0.0],
            ..params.clone()
        },
        PassParams {
            remainders: vec![0.0, 1.0, 1.0],
            ..params.clone()
        },
        PassParams {
            remainders: vec![2.0, 1.0, 1.0, 0.0],
            ..params.clone()
        },
        PassParams {
            remainders: [[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]].concat(),
            ..params.clone()
        },
        PassParams {
            remainders: vec![0.0, 1.0, f64::INFINITY, 0.0],
            ..params.clone()
        },
        PassParams {
            intercept: false,
            centre: vec![1.0, 0.0],
            model: vec![0.0; 2],
            ..params.clone()
        },
    ] {
        assert!(RowPass::new(wrong).is_err());
    }
    let softmax = PassParams {
        loss: PassLoss::Row(RowLoss::Softmax(2)),
        model: vec![0.0; 6],
        ..params.clone()
    };
    let mut pass = RowPass::new(softmax).unwrap();
    for label in [-1.0, 2.0, f64::NAN] {
        let rows = PassRows::Dense(Values::F64(&[1.0, 2.0]));
        assert!(pass.take(rows, &[label], None, 0).is_err());
    }
    let mut pass = RowPass::new(params).unwrap();
    let labels = [1.0, 2.0];
    let values = Values::F64(&[1.0, 2.0, 3.0]);
    assert!(
        pass.take(PassRows::Dense(values), &labels, None, 0)
            .is_err()
    );
    assert!(
        pass.take(PassRows::Dense(Values::Ones), &labels, None, 0)
            .is_err()
    );
    for (offsets, indices) in [([0, 2], vec![0, 1]), ([0, 1], vec![0])] {
        let rows = PassRows::Sparse(&offsets, &indices, Values::Ones);
        assert!(pass.take(rows, &labels, None, 0).is_err());
    }
    for (offsets, indices) in [
        ([0, 1, 2], [0, 2]),
        ([0, 1, 2], [0, -1]),
        ([0, 3, 2], [0, 1]),
        ([-1, 1, 2], [0, 1]),
        ([0, 1, 5], [0, 1]),
    ] {
        let rows = PassRows::Sparse(&offsets, &indices, Values::Ones);
        assert!(
            pass.take(rows, &labels, None, 0).is_err(),
            "{offsets:?} {indices:?}"
        );
    }
    assert!(
        pass.take(
            PassRows::Dense(Values::F64(&[0.0; 4])),
            &labels,
            Some(&[1.0]),
            0
        )
        .is_err()
    );
}

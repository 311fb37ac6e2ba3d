//! What a pass refuses.

use super::*;

#[test]
fn wrong_arrays_are_refused() {
    let params = whole(LOSSES[0], true, 2);
    let wrong: [fn(&mut PassParams); 9] = [
        |p| p.model = vec![0.0; 2],
        |p| p.reach = vec![-1.0; 3],
        |p| p.steps = vec![1.0],
        |p| p.model = vec![0.0, f64::NAN, 0.0],
        |p| p.remainders = vec![0.0, 1.0, 1.0],
        |p| p.remainders = vec![2.0, 1.0, 1.0, 0.0],
        |p| p.remainders = [[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]].concat(),
        |p| p.remainders = vec![0.0, 1.0, f64::INFINITY, 0.0],
        |p| {
            (p.intercept, p.centre, p.model) = (false, vec![1.0, 0.0], vec![0.0; 2]);
        },
    ];
    for wrong in wrong {
        let mut params = params.clone();
        wrong(&mut params);
        assert!(RowPass::new(params).is_err());
    }
    let softmax = PassParams {
        loss: PassLoss::Row(RowLoss::Softmax(2)),
        model: vec![0.0; 6],
        ..params.clone()
    };
    let mut pass = RowPass::new(softmax).unwrap();
    for label in [-1.0, 2.0, f64::NAN] {
        let rows = MatrixView::dense(1, 2, Values::F64(&[1.0, 2.0])).unwrap();
        assert!(pass.add(rows, (&[label]).into(), None).is_err());
    }
    let mut pass = RowPass::new(params).unwrap();
    let values = Values::F64(&[1.0, 2.0, 3.0, 4.0]);
    for (rows, features, labels, weights) in [
        (2, 2, 2, 1),
        (2, 2, 1, 1),
        (2, 2, 3, 3),
        (4, 1, 4, 4),
        (1, 4, 1, 1),
    ] {
        let matrix = MatrixView::dense(rows, features, values).unwrap();
        let (labels, weights) = (vec![1.0; labels], vec![1.0; weights]);
        let weights = Some((&weights).into());
        assert!(pass.add(matrix, (&labels).into(), weights).is_err());
    }
    assert!(MatrixView::dense(2, 2, Values::F64(&[1.0, 2.0, 3.0])).is_err());
    assert!(MatrixView::dense(2, 2, Values::Ones).is_err());
    for (offsets, indices) in [([0, 2], vec![0, 1]), ([0, 1], vec![0])] {
        let rows = MatrixView::sparse(2, &offsets, &indices, Values::Ones).unwrap();
        assert!(pass.add(rows, (&[1.0, 2.0]).into(), None).is_err());
    }
    for (offsets, indices) in [
        ([0, 1, 2], [0, 2]),
        ([0, 1, 2], [0, -1]),
        ([0, 2, 2], [1, 1]),
        ([0, 3, 2], [0, 1]),
        ([-1, 1, 2], [0, 1]),
        ([0, 1, 5], [0, 1]),
    ] {
        assert!(
            MatrixView::sparse(2, &offsets, &indices, Values::Ones).is_err(),
            "{offsets:?} {indices:?}"
        );
    }
}

#[test]
fn numbers_that_do_not_follow_one_another_are_refused() {
    let mut pass = RowPass::new(whole(LOSSES[0], true, 2)).unwrap();
    let numbers = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
    let (rows, column) = (MatrixView::Dense64(numbers.view()), numbers.column(0));
    let labels = [1.0, 2.0];
    let labels = ndarray::ArrayView1::from(&labels);
    assert!(pass.add(rows, labels, None).is_ok());
    assert!(pass.add(rows, column, None).is_err());
    assert!(pass.add(rows, labels, Some(column)).is_err());
    let turned = MatrixView::Dense64(numbers.t());
    assert!(pass.add(turned, labels, None).is_err());
}

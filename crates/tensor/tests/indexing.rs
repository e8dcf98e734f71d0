//! Gather, scatter, search and sort, against tables by hand (many from the standard's examples).

use tangram_tensor::index::*;
use tangram_tensor::{KernelError, Tensor};

fn matrix(rows: usize, data: &[i64]) -> Tensor {
    Tensor::from_vec([rows, data.len() / rows], data.to_vec()).unwrap()
}

fn ints(tensor: &Tensor) -> Vec<i64> {
    tensor.i64s().unwrap()
}

#[test]
fn gathers_read() {
    let data = matrix(3, &[0, 1, 2, 3, 4, 5]);
    let rows = take(&data, &Tensor::vector(vec![2i32, -3]), 0).unwrap();
    assert_eq!(ints(&rows), [4, 5, 0, 1]);
    let columns = take(&data, &Tensor::scalar(1i64), -1).unwrap();
    assert_eq!((columns.shape(), ints(&columns)), (&[3][..], vec![1, 3, 5]));
    let beyond = take(&data, &Tensor::scalar(3i64), 0);
    assert_eq!(beyond, Err(KernelError::IndexOutOfRange { kernel: "take", index: 3, size: 3 }));
    let square = matrix(2, &[1, 2, 3, 4]);
    let elements = gather_elements(&square, &matrix(2, &[0, 0, 1, 0]), 1).unwrap();
    assert_eq!(ints(&elements), [1, 1, 4, 3]);
    let diagonal = gather_nd(&square, &matrix(2, &[0, 0, 1, 1]), 0).unwrap();
    assert_eq!(ints(&diagonal), [1, 4]);
    let cube = Tensor::from_vec([2, 2, 2], (0..8i64).collect()).unwrap();
    let batched = gather_nd(&cube, &matrix(2, &[1, 0]), 1).unwrap();
    assert_eq!((batched.shape(), ints(&batched)), (&[2, 2][..], vec![2, 3, 4, 5]));
}

#[test]
fn scatters_write_and_reduce() {
    let data = matrix(1, &[1, 2, 3, 4, 5]);
    let (at, new) = (matrix(1, &[1, 1]), matrix(1, &[10, 21]));
    for (reduction, expected) in [
        (Reduction::None, 21),
        (Reduction::Add, 33),
        (Reduction::Mul, 420),
        (Reduction::Max, 21),
        (Reduction::Min, 2),
    ] {
        let found = scatter_elements(&data, &at, &new, 1, reduction).unwrap();
        assert_eq!(ints(&found), [1, expected, 3, 4, 5], "{reduction:?}");
    }
    let rows = matrix(4, &[0; 8]);
    let written =
        scatter_nd(&rows, &matrix(2, &[2, 0]), &matrix(2, &[1, 2, 3, 4]), Reduction::None);
    assert_eq!(ints(&written.unwrap()), [3, 4, 0, 0, 1, 2, 0, 0]);
    assert!(scatter_nd(&rows, &matrix(2, &[2, 0]), &matrix(1, &[1, 2]), Reduction::None).is_err());
}

#[test]
fn caches_wrap_when_circular() {
    let cache = Tensor::from_vec([2, 3, 1], vec![0i64; 6]).unwrap();
    let update = Tensor::from_vec([2, 2, 1], vec![1i64, 2, 3, 4]).unwrap();
    let written = tensor_scatter(&cache, &update, Some(&[2, 0]), -2, true).unwrap();
    assert_eq!(ints(&written), [2, 0, 1, 3, 4, 0]);
    assert!(tensor_scatter(&cache, &update, Some(&[2, 0]), -2, false).is_err());
    assert!(tensor_scatter(&cache, &update, None, 0, false).is_err());
}

#[test]
fn searches_break_ties_as_asked() {
    let data = Tensor::from_vec([2, 3], vec![2.0f32, 2.0, 1.0, 1.0, f32::NAN, 5.0]).unwrap();
    assert_eq!(ints(&argmax(&data, 1, false, false).unwrap()), [0, 1]);
    assert_eq!(ints(&argmax(&data, 1, false, true).unwrap()), [1, 1]);
    assert_eq!(argmin(&data, 0, true, false).unwrap().shape(), [1, 3]);
    assert_eq!(ints(&argmin(&data, 0, true, false).unwrap()), [1, 1, 0]);
    let found = nonzero(&matrix(2, &[1, 0, 0, 1])).unwrap();
    assert_eq!((found.shape(), ints(&found)), (&[2, 2][..], vec![0, 1, 0, 1]));
    assert_eq!(nonzero(&Tensor::scalar(-0.0f32)).unwrap().shape(), [0, 0]);
}

#[test]
fn the_greatest_come_first() {
    let data = matrix(2, &[3, 1, 3, 2, 9, 8, 7, 9]);
    let (values, indices) = topk(&data, 3, -1, true).unwrap();
    assert_eq!(ints(&values), [3, 3, 2, 9, 9, 8]);
    assert_eq!(ints(&indices), [0, 2, 3, 0, 3, 1]);
    let (values, indices) = topk(&data, 1, 0, false).unwrap();
    assert_eq!((ints(&values), ints(&indices)), (vec![3, 1, 3, 2], vec![0, 0, 0, 0]));
    assert_eq!(topk(&data, 0, 0, true).unwrap().0.shape(), [0, 4]);
    assert!(topk(&data, 5, 1, true).is_err());
}

#[test]
fn distinct_elements_keep_their_places() {
    let data = Tensor::vector(vec![2.0f32, 1.0, 1.0, 3.0, 4.0, 3.0]);
    let found = unique(&data, None, false).unwrap();
    assert_eq!(found.values.to_vec::<f32>().unwrap(), [2.0, 1.0, 3.0, 4.0]);
    assert_eq!(ints(&found.first), [0, 1, 3, 4]);
    assert_eq!(ints(&found.inverse), [0, 1, 1, 2, 3, 2]);
    assert_eq!(ints(&found.counts), [1, 2, 2, 1]);
    let rows = unique(&matrix(3, &[2, 3, 4, 1, 0, 0, 1, 0, 0]), Some(0), true).unwrap();
    assert_eq!(ints(&rows.values), [1, 0, 0, 2, 3, 4]);
    assert_eq!((ints(&rows.first), ints(&rows.inverse)), (vec![1, 0], vec![1, 0, 0]));
    let cube = [1i64, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1];
    let columns = unique(&Tensor::from_vec([2, 4, 2], cube.to_vec()).unwrap(), Some(1), true);
    let columns = columns.unwrap();
    assert_eq!(ints(&columns.values), [0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1]);
    assert_eq!(ints(&columns.first), [1, 0, 2]);
    assert_eq!(ints(&columns.inverse), [1, 0, 2, 0]);
}

#[test]
fn running_totals_start_where_told() {
    let data = matrix(1, &[1, 2, 3]);
    for (exclusive, reverse, expected) in [
        (false, false, [1, 3, 6]),
        (true, false, [0, 1, 3]),
        (false, true, [6, 5, 3]),
        (true, true, [5, 3, 0]),
    ] {
        assert_eq!(ints(&cumsum(&data, 1, exclusive, reverse).unwrap()), expected);
    }
    assert_eq!(ints(&cumprod(&data, -1, true, false).unwrap()), [1, 1, 2]);
}

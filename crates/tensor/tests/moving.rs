//! Kernels that move elements, against index arithmetic and tables by hand.

use proptest::prelude::*;
use tangram_tensor::shape::*;
use tangram_tensor::{DType, Tensor};

fn counting(shape: &[usize]) -> Tensor {
    Tensor::from_vec(shape, (0..shape.iter().product::<usize>() as i64).collect()).unwrap()
}

fn strings(shape: &[usize], text: &[&str]) -> Tensor {
    let text: Vec<Vec<u8>> = text.iter().map(|s| s.as_bytes().to_vec()).collect();
    Tensor::from_strings(shape, text).unwrap()
}

/// Coordinates of the element at a row-major position.
fn coordinates(shape: &[usize], mut at: usize) -> Vec<usize> {
    let mut found = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        found[axis] = at % shape[axis];
        at /= shape[axis];
    }
    found
}

fn position(shape: &[usize], at: &[usize]) -> i64 {
    shape.iter().zip(at).fold(0, |position, (&size, &at)| position * size as i64 + at as i64)
}

fn shapes() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(prop_oneof![Just(1usize), 0..5usize, 15..20usize], 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn transposes_of_every_width_permute_coordinates(shape in shapes(), seed in any::<u64>()) {
        let rank = shape.len();
        let mut perm: Vec<i64> = (0..rank as i64).collect();
        for i in (1..rank).rev() {
            perm.swap(i, (seed >> (8 * i)) as usize % (i + 1));
        }
        let source = counting(&shape);
        let found = transpose(&source, Some(&perm)).unwrap();
        let to: Vec<usize> = perm.iter().map(|&axis| shape[axis as usize]).collect();
        prop_assert_eq!(found.shape(), &to[..]);
        for (at, &value) in found.to_vec::<i64>().unwrap().iter().enumerate() {
            let mut from = vec![0; rank];
            for (i, coordinate) in coordinates(&to, at).into_iter().enumerate() {
                from[perm[i] as usize] = coordinate;
            }
            prop_assert_eq!(value, position(&shape, &from));
        }
        for dtype in [DType::U8, DType::I16, DType::F32, DType::I4, DType::String] {
            let cast = |t: &Tensor| tangram_tensor::elementwise::cast(t, dtype).unwrap();
            prop_assert_eq!(transpose(&cast(&source), Some(&perm)).unwrap(), cast(&found));
        }
    }

    #[test]
    fn slices_match_a_walk(
        size in 0..9usize, start in -12..12i64, end in -12..12i64, step in -4..5i64,
    ) {
        prop_assume!(step != 0);
        let n = size as i64;
        let wrap = |at: i64| if at < 0 { at + n } else { at };
        let mut expected = Vec::new();
        if n > 0 {
            let mut at = wrap(start).clamp(0, if step > 0 { n } else { n - 1 });
            let end = wrap(end).clamp(if step > 0 { 0 } else { -1 }, if step > 0 { n } else { n - 1 });
            while if step > 0 { at < end } else { at > end } {
                expected.extend([2 * at, 2 * at + 1]);
                at += step;
            }
        }
        let found = strided_slice(&counting(&[size, 2]), &[start], &[end], None, Some(&[step]));
        prop_assert_eq!(found.unwrap().to_vec::<i64>().unwrap(), expected);
    }

    #[test]
    fn splits_join_again(shape in shapes(), cut in 0..20usize) {
        prop_assume!(!shape.is_empty());
        let tensor = counting(&shape);
        for axis in 0..shape.len() {
            let cut = cut % (shape[axis] + 1);
            let parts = split(&tensor, axis as i64, &[cut, shape[axis] - cut]).unwrap();
            prop_assert_eq!(concatenate(&[&parts[0], &parts[1]], axis as i64).unwrap(), tensor.clone());
        }
    }

    #[test]
    fn tiles_and_pads_read_modulo(shape in shapes(), by in 0..3usize, front in 0..3i64) {
        let repeats = vec![by; shape.len()];
        let tensor = counting(&shape);
        let tiled = tile(&tensor, &repeats).unwrap();
        for (at, &value) in tiled.to_vec::<i64>().unwrap().iter().enumerate() {
            let mut from = coordinates(tiled.shape(), at);
            from.iter_mut().zip(&shape).for_each(|(c, &size)| *c %= size);
            prop_assert_eq!(value, position(&shape, &from));
        }
        let padded = pad(&tensor, &vec![front; 2 * shape.len()], None, PadMode::Constant, None).unwrap();
        let pads = vec![-front; 2 * shape.len()];
        prop_assert_eq!(pad(&padded, &pads, None, PadMode::Edge, None).unwrap(), tensor.clone());
        let total = |t: &Tensor| t.to_vec::<i64>().unwrap().iter().sum::<i64>();
        prop_assert_eq!(total(&padded), total(&tensor));
    }
}

#[test]
fn pads_repeat_as_named() {
    let row = Tensor::vector(vec![1i32, 2, 3]);
    let to = |mode| pad(&row, &[4, 3], None, mode, None).unwrap().to_vec::<i32>().unwrap();
    assert_eq!(to(PadMode::Constant), [0, 0, 0, 0, 1, 2, 3, 0, 0, 0]);
    assert_eq!(to(PadMode::Reflect), [1, 2, 3, 2, 1, 2, 3, 2, 1, 2]);
    assert_eq!(to(PadMode::Edge), [1, 1, 1, 1, 1, 2, 3, 3, 3, 3]);
    assert_eq!(to(PadMode::Wrap), [3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    let cropped = pad(&row, &[-1, 2], None, PadMode::Edge, None).unwrap();
    assert_eq!(cropped.to_vec::<i32>().unwrap(), [2, 3, 3, 3]);
    assert!(pad(&row, &[-2, -2], None, PadMode::Constant, None).is_err());
    let text = pad(&strings(&[1], &["a"]), &[1, 0], None, PadMode::Constant, None).unwrap();
    assert_eq!(text, strings(&[2], &["", "a"]));
    let plane = pad(&counting(&[2, 2]), &[1, 0], Some(&[-1]), PadMode::Edge, None).unwrap();
    assert_eq!(plane.to_vec::<i64>().unwrap(), [0, 0, 1, 2, 2, 3]);
}

#[test]
fn reshape_fills_in_sizes() {
    let tensor = counting(&[2, 3, 4]);
    for (sizes, allow_zero, expected) in [
        (&[-1i64][..], false, Some(&[24usize][..])),
        (&[0, -1], false, Some(&[2, 12])),
        (&[4, 0, 2], false, Some(&[4, 3, 2])),
        (&[-1, -1], false, None),
        (&[5, -1], false, None),
        (&[0, 12], true, None),
        (&[2, 3, 4, 0], false, None),
        (&[-2, 12], false, None),
    ] {
        let found = reshape(&tensor, sizes, allow_zero).ok();
        assert_eq!(found.as_ref().map(Tensor::shape), expected, "{sizes:?}");
    }
    assert_eq!(reshape(&counting(&[0, 3]), &[3, 0], true).unwrap().shape(), [3, 0]);
    assert_eq!(flatten(&tensor, -1).unwrap().shape(), [6, 4]);
    assert_eq!(flatten(&tensor, 3).unwrap().shape(), [24, 1]);
    assert_eq!(expand_dims(&tensor, &[-1, 0]).unwrap().shape(), [1, 2, 3, 4, 1]);
    assert_eq!(squeeze(&counting(&[1, 2, 1]), None).unwrap().shape(), [2]);
    assert!(squeeze(&tensor, Some(&[0])).is_err());
}

#[test]
fn depth_and_space_are_inverse() {
    let tensor = counting(&[1, 8, 2, 3]);
    let space = depth_to_space(&tensor, 2, DepthMode::Dcr).unwrap();
    assert_eq!(space.shape(), [1, 2, 4, 6]);
    // The first row alternates between channels 0 and 2, which are a block's two columns.
    assert_eq!(space.to_vec::<i64>().unwrap()[..6], [0, 12, 1, 13, 2, 14]);
    assert_eq!(space_to_depth(&space, 2, DepthMode::Dcr).unwrap(), tensor);
    let crd = depth_to_space(&tensor, 2, DepthMode::Crd).unwrap();
    assert_eq!(crd.to_vec::<i64>().unwrap()[..6], [0, 6, 1, 7, 2, 8]);
    assert_eq!(space_to_depth(&crd, 2, DepthMode::Crd).unwrap(), tensor);
    assert!(depth_to_space(&tensor, 0, DepthMode::Dcr).is_err());
}

#[test]
fn creation_follows_the_standard() {
    let scalars = |a: i64, b: i64, c: i64| [a, b, c].map(Tensor::scalar);
    for (bounds, expected) in
        [((10, 4, -2), vec![10i64, 8, 6]), ((1, 1, 1), vec![]), ((0, 5, 2), vec![0, 2, 4])]
    {
        let [start, limit, step] = scalars(bounds.0, bounds.1, bounds.2);
        assert_eq!(arange(&start, &limit, &step).unwrap().to_vec::<i64>().unwrap(), expected);
    }
    let eye = eye_like(2, 3, 1, DType::F32).unwrap();
    assert_eq!(eye.to_vec::<f32>().unwrap(), [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let square = counting(&[3, 3]);
    assert_eq!(trilu(&square, 0, true).unwrap().i64s().unwrap(), [0, 1, 2, 0, 4, 5, 0, 0, 8]);
    assert_eq!(trilu(&square, -1, false).unwrap().i64s().unwrap(), [0, 0, 0, 3, 0, 0, 6, 7, 0]);
    let hot = one_hot(&Tensor::vector(vec![1i64, -1, 7]), 3, &Tensor::vector(vec![0i32, 5]), 0);
    assert_eq!(hot.unwrap().to_vec::<i32>().unwrap(), [0, 0, 0, 5, 0, 0, 0, 5, 0]);
    assert_eq!(shape_of(&counting(&[2, 3, 4]), -2, None).i64s().unwrap(), [3, 4]);
    assert_eq!(full(&Tensor::scalar(7u8), &[2, 0]).unwrap().len(), 0);
    assert!(full(&Tensor::scalar(7u8), &[1 << 40]).is_err());
}

#[test]
fn sequences_reverse_in_part() {
    let tensor = counting(&[4, 2]);
    let by_column = reverse_sequence(&tensor, &[4, 2], 1, 0).unwrap();
    assert_eq!(by_column.i64s().unwrap(), [6, 3, 4, 1, 2, 5, 0, 7]);
    let by_row = reverse_sequence(&tensor, &[2, 1, 0, 2], 0, 1).unwrap();
    assert_eq!(by_row.i64s().unwrap(), [1, 0, 2, 3, 4, 5, 7, 6]);
    let kept = compress(&tensor, &Tensor::vector(vec![false, true, true]), Some(0)).unwrap();
    assert_eq!(kept.i64s().unwrap(), [2, 3, 4, 5]);
    assert_eq!(flip(&tensor, &[1]).unwrap().i64s().unwrap(), [1, 0, 3, 2, 5, 4, 7, 6]);
    let wide = broadcast_to(&counting(&[2, 1]), &[1, 3]).unwrap();
    assert_eq!(wide.i64s().unwrap(), [0, 0, 0, 1, 1, 1]);
}

#[test]
fn empty_tensors_of_vast_shape_take_no_time() {
    use tangram_tensor::{index, reduce, softmax};
    let vast = Tensor::from_vec([1 << 30, 0, 1 << 20], Vec::<f32>::new()).unwrap();
    assert!(Tensor::from_vec([1 << 40, 0, 1 << 40], Vec::<f32>::new()).is_err());
    let sum = |axis| reduce::reduce(reduce::Reduce::Sum, &vast, &[axis], false, false);
    assert!(sum(1).is_err());
    assert_eq!(sum(0).unwrap().shape(), [0, 1 << 20]);
    for axis in 0..3 {
        assert_eq!(index::cumsum(&vast, axis, false, false).unwrap(), vast);
        assert_eq!(softmax::softmax(softmax::Softmax::Softmax, &vast, axis).unwrap(), vast);
        let none = Tensor::vector(Vec::<i64>::new());
        assert!(index::take(&vast, &none, axis).unwrap().is_empty());
        assert!(concatenate(&[&vast, &vast], axis).unwrap().is_empty());
        assert!(index::topk(&vast, 0, axis, true).unwrap().0.is_empty());
    }
    assert!(index::argmax(&vast, 0, false, false).unwrap().is_empty());
    assert!(transpose(&vast, None).unwrap().is_empty());
}

//! What operations take, counted again: by formulas of the textbook, and point by point.

use std::collections::HashSet;

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{
    Access, Generic, Structured, TensorId, Work, elements_of, work,
};
use tangram_dialects::{dims, dtype};
use tangram_ir::{Module, Op, Value};

use crate::generate;
use crate::support::{Case, build, cases_in};

/// What symbols are taken to be.
const SIZE: i64 = 5;
/// Nests of more points are not walked.
const MOST: i64 = 20_000;

fn counted(line: &str) -> Work {
    let case = cases_in(line, line).pop().expect("a case");
    let (module, op) = build(&case, str::to_owned);
    work(&module, op.expect("it infers"), SIZE).expect("a definition").1
}

#[test]
fn known_operations_take_what_the_textbook_says() {
    let [m, n, k] = [4.0, 6.0, 5.0];
    let product = 2.0 * m * n * k;
    let bytes = |elements: f64| 4.0 * elements;
    let matmul = counted("matmul(f32[4,5], f32[5,6]) -> f32[4,6]");
    assert_eq!((matmul.operations, matmul.functions), (product, 0.0));
    assert_eq!((matmul.read, matmul.written), (bytes(m * k + k * n), bytes(m * n)));
    // The long extent is summed over, wherever it stands.
    let gemm = counted("gemm(f32[1000,2], f32[1000,3]) {transpose_a=true} -> f32[2,3]");
    assert_eq!(gemm.operations, 2.0 * 1000.0 * 2.0 * 3.0);
    let line = "einsum(f32[1000,2], f32[1000,3]) {equation=\"ki,kj->ij\"} -> f32[2,3]";
    assert_eq!(counted(line).operations, 2.0 * 1000.0 * 2.0 * 3.0);
    // Two zero points are taken off at each point as well.
    let quantised = counted(
        "qlinear_matmul(ui8[8,16], f32[], ui8[], ui8[16,4], f32[], ui8[], f32[], ui8[]) -> ui8[8,4]",
    );
    assert!((4.0 * 512.0..4.0 * 512.0 + 12.0 * 32.0).contains(&quantised.operations));
    assert_eq!(quantised.written, 32.0);
    let windows = counted("conv2d(f32[1,3,8,8], f32[4,3,3,3]) -> f32[1,4,6,6]");
    assert_eq!(windows.operations, 2.0 * 4.0 * 36.0 * 27.0);
    assert_eq!(windows.read, bytes(192.0 + 108.0));
    let groups = counted("conv2d(f32[1,4,8,8], f32[4,1,3,3]) {groups=4} -> f32[1,4,6,6]");
    assert_eq!(groups.operations, 2.0 * 4.0 * 36.0 * 9.0);
    let pool = counted("max_pool2d(f32[1,2,8,8]) {pool_size=[2,2], strides=[2,2]} -> f32[1,2,4,4]");
    assert_eq!(pool.operations, 2.0 * 16.0 * 4.0);
    // Two products, and a softmax between them.
    let attention =
        counted("attention(f32[1,2,16,8], f32[1,2,32,8], f32[1,2,32,8]) -> f32[1,2,16,8]");
    let (products, scores) = (4.0 * 2.0 * 16.0 * 32.0 * 8.0, 2.0 * 16.0 * 32.0);
    assert!((products + 4.0 * scores..products + 9.0 * scores).contains(&attention.operations));
    assert_eq!(attention.functions, scores);
}

#[test]
fn what_moves_reads_what_it_moves() {
    let slice =
        counted("strided_slice(f32[10,4]) {begin=[2], end=[8], axes=[0], strides=[2]} -> f32[3,4]");
    assert_eq!((slice.operations, slice.read, slice.written), (0.0, 48.0, 48.0));
    let spread = counted("broadcast_to(f32[1,4]) {shape=[1000,4]} -> f32[1000,4]");
    assert_eq!((spread.read, spread.written), (16.0, 16_000.0));
    let diagonal = counted("einsum(f32[30,30]) {equation=\"ii\"} -> f32[]");
    assert_eq!(diagonal.read, 120.0);
    let view = counted("reshape(f32[4,6]) {newshape=[24]} -> f32[24]");
    assert_eq!(view, Work::default());
}

#[test]
fn random_operations_read_the_elements_that_their_maps_name() {
    let mut random = fastrand::Rng::with_seed(11);
    let lines: Vec<String> = (0..4).flat_map(|_| generate::lines(&mut random)).collect();
    let cases: Vec<Case> = lines.iter().flat_map(|line| cases_in(line, line)).collect();
    let mut walked = 0;
    for case in cases {
        let (module, Ok(op)) = build(&case, str::to_owned) else { continue };
        let Some((Structured::Loops { stages, .. }, found)) = work(&module, op, SIZE) else {
            continue;
        };
        let points = stages.iter().map(|nest| values(&nest.extents).iter().product::<i64>());
        if points.max().unwrap_or(0) > MOST {
            continue;
        }
        walked += 1;
        let (mut least, mut most) = (0.0, 0.0);
        for (i, value) in module.operands(op).enumerate() {
            let Some((extents, width)) = tensor(&module, value) else { continue };
            let (union, sum) = read(&stages, i, &extents);
            least += union * width;
            most += sum.min(extents.iter().product::<i64>() as f64) * width;
        }
        assert!((least..=most).contains(&found.read), "{}: {found:?} {least} {most}", case.place);
        assert_eq!(found.written, written(&module, op), "{}", case.place);
    }
    assert!(walked > 300, "only {walked} were walked");
}

fn values(extents: &[Expr]) -> Vec<i64> {
    extents.iter().map(|extent| extent.eval(&|_| Some(SIZE)).expect("a number").max(0)).collect()
}

/// The extents of a tensor and the bytes of an element.
fn tensor(module: &Module, value: Value) -> Option<(Vec<i64>, f64)> {
    let context = module.context();
    let (dims, element) = context.as_tensor(module.value_type(value))?;
    let exprs: Vec<Expr> =
        dims.iter().map(|&dim| dims::expr(context, dim)).collect::<Option<_>>()?;
    let bits = dtype::dtype_of(context, element)?.size_bits();
    Some((values(&exprs), bits as f64 / 8.0))
}

fn written(module: &Module, op: Op) -> f64 {
    let bytes =
        |value| tensor(module, value).map(|(n, width)| n.iter().product::<i64>() as f64 * width);
    module.results(op).filter_map(bytes).sum()
}

/// How many elements of an operand all nests read together, and the sum over accesses of those that
/// each reads; what is looked up may be anywhere.
fn read(stages: &[Generic], operand: usize, extents: &[i64]) -> (f64, f64) {
    let (mut union, mut sum) = (HashSet::new(), 0.0);
    for nest in stages {
        let loops = values(&nest.extents);
        let place = TensorId::Operand(operand);
        if nest.tables.contains(&place) {
            let points = loops.iter().product::<i64>() as f64;
            sum += points * nest.tables.iter().filter(|table| **table == place).count() as f64;
        }
        for access in nest.inputs.iter().filter(|access| access.place == place) {
            let symbols = values(&nest.symbols);
            let own = named(access, &loops, &symbols, extents);
            let found = elements_of(&access.map, &loops, &symbols, extents);
            assert_eq!(found, own.len() as f64, "{:?} over {loops:?}", access.map);
            sum += own.len() as f64;
            union.extend(own);
        }
    }
    (union.len() as f64, sum)
}

/// The elements that an access names, point by point.
fn named(access: &Access, loops: &[i64], symbols: &[i64], extents: &[i64]) -> HashSet<Vec<i64>> {
    let count: i64 = loops.iter().product();
    let mut found = HashSet::new();
    for mut number in 0..count {
        let mut at = vec![0; loops.len()];
        for (value, extent) in at.iter_mut().zip(loops).rev() {
            (*value, number) = (number % extent, number / extent);
        }
        let index = access.map.evaluate(&[&at[..], symbols].concat()).expect("an index");
        if index.iter().zip(extents).all(|(value, extent)| (0..*extent).contains(value)) {
            found.insert(index);
        }
    }
    found
}

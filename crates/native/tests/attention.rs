//! Weighted means of rows, as in attention.

mod support;

use support::{Graph, Side, agree, session_of};
use tangram_dialects::interpret::Datum;
use tangram_tensor::Tensor;

fn tensor(shape: &[usize], at: impl Fn(usize) -> f32) -> Datum {
    let count = shape.iter().product::<usize>();
    Datum::Tensor(Tensor::from_vec(shape, (0..count).map(at).collect()).expect("fits"))
}

/// Scores with rows that are equal, of which one element is all, partly or wholly masked, or that
/// have a NaN or an infinity; values up to the largest numbers that a mean of them allows.
#[test]
fn normalised_rows_are_those_of_the_definition() {
    for (n, is_known) in [0_usize, 1, 5, 16, 37, 130].iter().flat_map(|&n| [(n, false), (n, true)])
    {
        let side = if is_known { Side::Number(n as i64) } else { Side::Name("n") };
        let mut graph = Graph::default();
        let scores = graph.input(&[Side::Number(3), Side::Number(11), side.clone()]);
        let values = graph.input(&[Side::Number(3), side, Side::Number(18)]);
        let weights = graph.node("Softmax", &[&scores], vec![("axis", (-1).into())]);
        let mean = graph.node("MatMul", &[&weights, &values], Vec::new());
        graph.output(&mean);
        let bytes = graph.bytes();
        let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
        for scale in [1.0, 1e30] {
            let score = |at: usize| match (at / n % 11, at % n) {
                (0, _) => 4.0,
                (1, 0) => 1e4,
                (2, k) if k % 3 > 0 => f32::NEG_INFINITY,
                (3, _) => f32::NEG_INFINITY,
                (4, 0) => f32::NAN,
                (5, 0) => f32::INFINITY,
                (6, k) => -(k as f32) * 9.0,
                _ => ((at * 7 % 23) as f32 - 11.0) / 3.0,
            };
            let value = |at: usize| scale * (((at * 5 % 17) as f32) - 8.0);
            let feed = [
                (scores.as_str(), tensor(&[3, 11, n], score)),
                (values.as_str(), tensor(&[3, n, 18], value)),
            ];
            let expected = reference.run(&feed).expect("it runs");
            let found = compiled.run(&feed).expect("it runs");
            agree(&format!("{n} at {scale}, known: {is_known}"), &found[0], &expected[0], 1e-5);
        }
    }
}

//! Random graphs, compiled and on the reference kernels: chains of element by element functions,
//! softmaxes, norms, sums, products, transposes, slices and concatenations whose values several
//! others read, over extents that are constant and extents that are not.

mod support;

use support::graphs::{Made, random_graph};
use support::{Side, agree, same_bits, session_of, session_with};
use tangram_dialects::interpret::Datum;
use tangram_tensor::Tensor;

/// What sums in another order may change, over the largest magnitude of a tensor.
const TOLERANCE: f64 = 1e-4;

/// Makes a graph, and runs it for several sizes.
fn try_one(seed: u64) -> usize {
    let Some(Made { bytes, inputs, mut random }) = random_graph(seed) else { return 0 };
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    // Every call in parts, however short: the same bits.
    let parts = session_with(&bytes, |options| (options.threads, options.grain) = (3, 1));
    for (batch, length) in [(1, 1), (2, 5), (3, 31)] {
        let size = |side: &Side| side.size(batch, length);
        let feed: Vec<(&str, Datum)> = inputs
            .iter()
            .map(|input| {
                let extents: Vec<usize> = input.shape.iter().map(size).collect();
                let count = extents.iter().product();
                let values: Vec<f32> = (0..count).map(|_| random.f32() * 4.0 - 2.0).collect();
                let tensor = Tensor::from_vec(extents, values).expect("fits");
                (input.name.as_str(), Datum::Tensor(tensor))
            })
            .collect();
        let what = format!("seed {seed}, sizes {batch} and {length}");
        let expected = reference.run(&feed).unwrap_or_else(|error| panic!("{what}: {error}"));
        let found = compiled.run(&feed).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found.len(), expected.len(), "{what}");
        let again = parts.run(&feed).unwrap_or_else(|error| panic!("{what}, in parts: {error}"));
        for (one, other) in found.iter().zip(&again) {
            assert!(same_bits(one, other), "{what}, in parts");
        }
        for (found, expected) in found.iter().zip(&expected) {
            agree(&what, found, expected, TOLERANCE);
        }
    }
    compiled.coverage().calls
}

#[test]
fn random_graphs_agree_with_the_reference_kernels() {
    let calls: usize = (0..24).map(try_one).sum();
    assert!(calls > 60, "{calls} compiled functions");
}

/// A thousand, or as many as `TANGRAM_CASES` says.
#[test]
#[ignore = "minutes"]
fn a_thousand_random_graphs_agree_with_the_reference_kernels() {
    let cases = std::env::var("TANGRAM_CASES").ok().and_then(|text| text.parse().ok());
    let calls: usize = (0..cases.unwrap_or(1000)).map(|seed| try_one(1000 + seed)).sum();
    println!("{calls} compiled functions");
}

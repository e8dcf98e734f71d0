//! Extents that the model leaves open: taken to be equal, and compared before each run.

mod support;

use support::{Graph, Side, agree, session_of};
use tangram_dialects::interpret::Datum;
use tangram_tensor::Tensor;

fn tensor(extents: &[usize]) -> Datum {
    let count: usize = extents.iter().product();
    let values: Vec<f32> = (0..count).map(|at| (at % 17) as f32 - 8.0).collect();
    Datum::Tensor(Tensor::from_vec(extents, values).expect("fits"))
}

/// Two names for one size, and a sum of positions that are cut from a table: `min(s, 16)` of them.
#[test]
fn sizes_that_broadcast_are_compiled_as_equal_and_run_where_they_are_not() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Name("s"), Side::Number(8)]);
    let y = graph.input(&[Side::Name("b"), Side::Name("t"), Side::Number(8)]);
    let table = graph.floats(&[16, 8], (0..128).map(|at| (at % 5) as f32).collect());
    let shape = graph.node("Shape", &[&x], Vec::new());
    let (one, two, zero) = (graph.ints(&[1]), graph.ints(&[2]), graph.ints(&[0]));
    let length = graph.node("Slice", &[&shape, &one, &two], Vec::new());
    let positions = graph.node("Slice", &[&table, &zero, &length, &zero], Vec::new());
    let sum = graph.node("Add", &[&x, &y], Vec::new());
    let placed = graph.node("Add", &[&sum, &positions], Vec::new());
    let end = graph.node("Softmax", &[&placed], vec![("axis", (-1).into())]);
    graph.output(&end);
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    let is_compiled = |name: &str| compiled.coverage().operations[name].1 == 0;
    assert!(is_compiled("nn.add") && is_compiled("nn.softmax"), "{:?}", compiled.coverage());
    for (s, t) in [(5, 5), (1, 1), (16, 16), (5, 1), (1, 5), (0, 0)] {
        let feed = [(x.as_str(), tensor(&[2, s, 8])), (y.as_str(), tensor(&[2, t, 8]))];
        let what = format!("{s} and {t}");
        let expected = reference.run(&feed).expect("it broadcasts");
        let found = compiled.run(&feed).unwrap_or_else(|error| panic!("{what}: {error}"));
        agree(&what, &found[0], &expected[0], 1e-6);
    }
    // What does not broadcast is refused by both: 3 and 5, and 20 positions of a table of 16.
    for (s, t) in [(5, 3), (20, 20)] {
        let feed = [(x.as_str(), tensor(&[2, s, 8])), (y.as_str(), tensor(&[2, t, 8]))];
        assert!(reference.run(&feed).is_err() && compiled.run(&feed).is_err(), "{s} and {t}");
    }
}

/// What `-1` stands for is a quotient of products of names, where it is one of whole numbers.
#[test]
fn reshapes_find_extents_that_do_not_cancel() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Number(4)]);
    let mask = graph.input(&[Side::Name("m"), Side::Name("n")]);
    let shape = graph.node("Shape", &[&x], Vec::new());
    let (zero, one, open) = (graph.ints(&[0]), graph.ints(&[1]), graph.ints(&[-1]));
    let rows = graph.node("Slice", &[&shape, &zero, &one], Vec::new());
    let shape = graph.node("Concat", &[&rows, &open], vec![("axis", 0.into())]);
    let mask_of_rows = graph.node("Reshape", &[&mask, &shape], Vec::new());
    let end = graph.node("Softmax", &[&mask_of_rows], vec![("axis", (-1).into())]);
    graph.output(&end);
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    let coverage = compiled.coverage();
    assert!(coverage.operations.values().all(|counts| counts.1 == 0), "{coverage:?}");
    for (b, m, n) in [(2, 2, 7), (3, 1, 12), (1, 5, 5), (6, 2, 3), (4, 4, 0), (5, 2, 7), (0, 1, 4)]
    {
        let feed = [(x.as_str(), tensor(&[b, 4])), (mask.as_str(), tensor(&[m, n]))];
        let what = format!("{m} by {n} for {b}");
        match (compiled.run(&feed), reference.run(&feed)) {
            (Ok(found), Ok(expected)) => agree(&what, &found[0], &expected[0], 1e-6),
            (found, expected) => assert_eq!(found.is_err(), expected.is_err(), "{what}"),
        }
    }
}

/// What a slice leaves is the difference of a least and a greatest of sizes, which may be negative.
#[test]
fn slices_of_open_extents_are_whole() {
    for (from, to) in [(1, -1), (0, -2), (2, i64::MAX), (-3, -1), (-5, 4), (1, 6)] {
        let mut graph = Graph::default();
        let x = graph.input(&[Side::Number(2), Side::Name("n")]);
        let (start, end, axis) = (graph.ints(&[from]), graph.ints(&[to]), graph.ints(&[1]));
        let slice = graph.node("Slice", &[&x, &start, &end, &axis], Vec::new());
        let relu = graph.node("Relu", &[&slice], Vec::new());
        graph.output(&relu);
        let bytes = graph.bytes();
        let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
        assert_eq!(compiled.coverage().operations["nn.relu"].1, 0, "{:?}", compiled.coverage());
        for n in 0..9 {
            let feed = [(x.as_str(), tensor(&[2, n]))];
            let expected = reference.run(&feed).expect("it runs");
            let found = compiled.run(&feed).expect("it runs");
            agree(&format!("{from}..{to} of {n}"), &found[0], &expected[0], 0.0);
        }
    }
}

/// A length that is computed from values, of which no extent says anything.
#[test]
fn what_follows_extents_that_only_a_run_knows_is_compiled() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Name("n")]);
    let y = graph.input(&[Side::Name("b"), Side::Number(1)]);
    let (zero, axis) = (graph.ints(&[0]), graph.ints(&[1]));
    let most = graph.node("ReduceMax", &[&x], vec![("keepdims", 0.into())]);
    let most = graph.node("Cast", &[&most], vec![("to", 7.into())]);
    let most = graph.node("Unsqueeze", &[&most, &zero], Vec::new());
    let part = graph.node("Slice", &[&x, &zero, &most, &axis], Vec::new());
    let scaled = graph.node("Mul", &[&part, &y], Vec::new());
    let shares = graph.node("Softmax", &[&scaled], vec![("axis", (-1).into())]);
    let sum = graph.node("Add", &[&shares, &part], Vec::new());
    // Shorter by one once more, as the values behind the cut say.
    let least = graph.node("ReduceMax", &[&sum], vec![("keepdims", 0.into())]);
    let least = graph.node("Cast", &[&least], vec![("to", 7.into())]);
    let least = graph.node("Unsqueeze", &[&least, &zero], Vec::new());
    let rest = graph.node("Slice", &[&sum, &zero, &least, &axis], Vec::new());
    let positive = graph.node("Relu", &[&rest], Vec::new());
    let root = graph.node("Sqrt", &[&positive], Vec::new());
    let less = graph.node("Sub", &[&root, &y], Vec::new());
    let end = graph.node("Tanh", &[&less], Vec::new());
    let whole = graph.node("Exp", &[&y], Vec::new());
    for output in [&end, &whole, &sum, &most, &sum] {
        graph.output(output);
    }
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    for operation in ["nn.softmax", "nn.sqrt", "nn.exp"] {
        let counts = compiled.coverage().operations[operation];
        assert_eq!(counts.1, 0, "{operation}: {:?}", compiled.coverage());
    }
    for (batch, length, most) in [(2, 7, 3.0), (1, 9, 8.5), (3, 4, 40.0), (2, 5, 0.5)] {
        let values = (0..batch * length).map(|at| if at == 1 { most } else { -((at % 5) as f32) });
        let x_value = Tensor::from_vec([batch, length], values.collect()).expect("fits");
        let feed = [(x.as_str(), Datum::Tensor(x_value)), (y.as_str(), tensor(&[batch, 1]))];
        let what = format!("{batch} rows of {length}, cut at {most}");
        let expected = reference.run(&feed).expect("it runs");
        let (found, profile) = compiled.profile(&feed).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            agree(&what, found, expected, 1e-6);
        }
        assert!(profile.steps.iter().any(|step| step.compiled), "{what}");
    }
}

/// A dimension is dropped whose extent only a run knows, and channels that only a run knows are
/// those of the weights: what an operation is not defined for is refused, not computed.
#[test]
fn what_an_operation_is_defined_for_is_compared_before_a_run() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("n"), Side::Name("c"), Side::Name("w"), Side::Name("one")]);
    let axis = graph.ints(&[3]);
    let rows = graph.node("Squeeze", &[&x, &axis], Vec::new());
    let filters = graph.floats(&[2, 3, 1], (0..6).map(|at| at as f32).collect());
    let mixed = graph.node("Conv", &[&rows, &filters], Vec::new());
    let end = graph.node("Relu", &[&mixed], Vec::new());
    graph.output(&end);
    let bytes = graph.bytes();
    let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
    let coverage = compiled.coverage();
    assert!(coverage.operations.values().all(|counts| counts.1 == 0), "{coverage:?}");
    for (extents, is_right) in
        [([2, 3, 5, 1], true), ([1, 3, 0, 1], true), ([2, 3, 5, 2], false), ([2, 4, 5, 1], false)]
    {
        let feed = [(x.as_str(), tensor(&extents))];
        let expected = reference.run(&feed);
        assert_eq!(expected.is_ok(), is_right, "{extents:?}");
        match (compiled.run(&feed), expected) {
            (Ok(found), Ok(expected)) => {
                agree(&format!("{extents:?}"), &found[0], &expected[0], 1e-6);
            }
            (found, expected) => assert_eq!(found.is_err(), expected.is_err(), "{extents:?}"),
        }
    }
}

/// Whether both refuse, or both give the same.
fn same(what: &str, bytes: &[u8], feed: &[(&str, Datum)], is_right: bool) {
    let expected = session_of(bytes, true).run(feed);
    assert_eq!(expected.is_ok(), is_right, "{what}: {expected:?}");
    match (session_of(bytes, false).run(feed), expected) {
        (Ok(found), Ok(expected)) => agree(what, &found[0], &expected[0], 1e-6),
        (found, expected) => assert_eq!(found.is_err(), expected.is_err(), "{what}: {found:?}"),
    }
}

/// What a crop leaves is repeated; of nothing, there is nothing to repeat.
#[test]
fn elements_that_were_cropped_are_not_repeated() {
    for mode in ["edge", "reflect", "wrap"] {
        for (extent, before, after) in
            [(1, -1, 1), (3, -3, 2), (3, -2, 2), (4, 2, -3), (4, 2, -4), (2, -4, 5), (6, -1, 3)]
        {
            for side in [Side::Number(extent), Side::Name("n")] {
                let mut graph = Graph::default();
                let x = graph.input(std::slice::from_ref(&side));
                let pads = graph.ints(&[before, after]);
                let padded = graph.node("Pad", &[&x, &pads], vec![("mode", mode.into())]);
                let end = graph.node("Relu", &[&padded], Vec::new());
                graph.output(&end);
                let is_right = extent + before.min(0) + after.min(0) > 0;
                let feed = [(x.as_str(), tensor(&[extent as usize]))];
                let what = format!("{mode} {extent} {before} {after} {side:?}");
                same(&what, &graph.bytes(), &feed, is_right);
            }
        }
    }
}

#[test]
fn a_bias_has_an_element_for_each_channel() {
    for (channels, count) in [(2, 2), (2, 1), (1, 2), (3, 3)] {
        let mut graph = Graph::default();
        let x = graph.input(&[Side::Name("n"), Side::Number(1), Side::Number(4)]);
        let w = graph.input(&[Side::Name("m"), Side::Number(1), Side::Number(1)]);
        let b = graph.input(&[Side::Name("k")]);
        let y = graph.node("Conv", &[&x, &w, &b], Vec::new());
        graph.output(&y);
        let feed = [
            (x.as_str(), tensor(&[2, 1, 4])),
            (w.as_str(), tensor(&[channels, 1, 1])),
            (b.as_str(), tensor(&[count])),
        ];
        same(&format!("{channels} and {count}"), &graph.bytes(), &feed, channels == count);
    }
}

//! Sessions that an earlier one left in the cache: what they give is what that one gave, and they
//! are those of the same model only.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::{Graph, Side, same_bits};
use tangram_dialects::interpret::Datum;
use tangram_native::{Cache, Kind, Options, Session, SessionError};
use tangram_onnx::Model;
use tangram_tensor::{DType, Tensor};

/// Starts sessions with a cache of their own, and counts those that are made of the model.
struct Starts {
    options: Options,
    made: Arc<AtomicUsize>,
}

impl Starts {
    fn in_folder(folder: &Path) -> Starts {
        let mut options = Options::default();
        options.cache = Cache::at(folder);
        options.threads = 1;
        Starts { options, made: Arc::default() }
    }

    fn start(&self, model: &Model) -> Session {
        let (kept, options, made) = (model.clone(), self.options.clone(), self.made.clone());
        let make = move || -> Result<Session, SessionError> {
            made.fetch_add(1, Ordering::Relaxed);
            Session::new(kept.clone(), &options)
        };
        Session::start(model, "test", &self.options, make).expect("a session")
    }

    /// How many were made since this was last asked.
    fn made(&self) -> usize {
        self.made.swap(0, Ordering::Relaxed)
    }
}

fn decoded(bytes: &[u8]) -> Model {
    Model::decode(bytes.to_vec().into(), tangram_dialects::context()).expect("imported")
}

fn floats(extents: &[usize], values: impl Fn(usize) -> f32) -> Datum {
    let count = extents.iter().product();
    Datum::Tensor(Tensor::from_vec(extents, (0..count).map(values).collect()).expect("fits"))
}

/// Inputs with `size` for what a model leaves open; `None` for those that are no plain numbers.
fn feed(session: &Session, size: usize) -> Option<Vec<(String, Datum)>> {
    let of = |port: &tangram_native::Port| {
        let Kind::Tensor { element, shape: Some(shape) } = &port.kind else { return None };
        let extent =
            |side: &Option<_>| side.as_ref().and_then(tangram_affine::symbolic::Expr::as_int);
        let extents: Vec<usize> =
            shape.iter().map(|side| extent(side).map_or(size, |n| n as usize)).collect();
        let value = match (*element)? {
            DType::F32 => floats(&extents, |at| (at * 7 % 11) as f32 / 11.0),
            DType::I64 => {
                let count: usize = extents.iter().product();
                Datum::Tensor(Tensor::from_vec(&*extents, vec![1_i64; count]).ok()?)
            }
            _ => return None,
        };
        Some((port.name.clone(), value))
    };
    session.inputs().iter().map(of).collect()
}

fn run(session: &Session, feed: &[(String, Datum)]) -> Result<Vec<Datum>, String> {
    let named: Vec<(&str, Datum)> =
        feed.iter().map(|(name, datum)| (name.as_str(), datum.clone())).collect();
    session.run(&named).map_err(|error| error.to_string())
}

#[test]
fn the_second_session_of_a_model_is_like_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts = Starts::in_folder(folder.path());
    let mut kept = 0;
    for entry in std::fs::read_dir("../../examples/models").expect("there are some") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "onnx") {
            continue;
        }
        let model = Model::open(&path, tangram_dialects::context()).expect("read");
        let first = starts.start(&model);
        assert_eq!(starts.made(), 1);
        let second = starts.start(&model);
        let name = path.display();
        let whole = first.coverage().operations.values().all(|counts| counts.1 == 0);
        if starts.made() == 0 {
            assert!(whole, "{name} has operations for the reference kernels");
            kept += 1;
        }
        assert_eq!(first.inputs(), second.inputs(), "{name}");
        assert_eq!(first.outputs(), second.outputs(), "{name}");
        assert_eq!(first.coverage(), second.coverage(), "{name}");
        for size in [1, 3, 16] {
            let Some(feed) = feed(&first, size) else { continue };
            let (expected, found) = (run(&first, &feed), run(&second, &feed));
            match (&expected, &found) {
                (Ok(expected), Ok(found)) => {
                    let same = expected.iter().zip(found).all(|(a, b)| same_bits(a, b));
                    assert!(same && expected.len() == found.len(), "{name} at {size}");
                }
                _ => assert_eq!(expected, found, "{name} at {size}"),
            }
            let named: Vec<(&str, Datum)> =
                feed.iter().map(|(name, datum)| (name.as_str(), datum.clone())).collect();
            let arenas = [&first, &second].map(|session| session.arena_bytes(&named).ok());
            assert_eq!(arenas[0], arenas[1], "{name} at {size}");
            if let (Ok((_, a)), Ok((_, b))) = (first.profile(&named), second.profile(&named)) {
                let steps = |profile: tangram_native::Profile| -> Vec<(String, Vec<String>)> {
                    profile.steps.into_iter().map(|step| (step.name, step.operations)).collect()
                };
                assert_eq!(steps(a), steps(b), "{name} at {size}");
            }
        }
        starts.made();
    }
    assert!(kept >= 6, "{kept} models were kept");
}

/// A product with weights, the first of which is `weight`.
fn product(weight: f32, names: [&'static str; 2]) -> Vec<u8> {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name(names[0]), Side::Number(40)]);
    let weights = (0..1600).map(|at| if at == 0 { weight } else { at as f32 / 1600.0 });
    let weights = graph.floats(&[40, 40], weights.collect());
    let y = graph.node("MatMul", &[&x, &weights], Vec::new());
    let z = graph.node(names[1], &[&y], Vec::new());
    graph.output(&z);
    graph.bytes()
}

#[test]
fn another_model_is_not_taken_for_one_that_was_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut starts = Starts::in_folder(folder.path());
    let others = [
        product(0.5, ["n", "Relu"]),
        product(0.5_f32.next_up(), ["n", "Relu"]),
        product(-0.0, ["n", "Relu"]),
        product(0.0, ["n", "Relu"]),
        product(0.5, ["n", "Tanh"]),
        product(0.5, ["m", "Relu"]),
    ];
    for bytes in &others {
        starts.start(&decoded(bytes));
        assert_eq!(starts.made(), 1);
        starts.start(&decoded(bytes));
        assert_eq!(starts.made(), 0);
    }
    let model = decoded(&others[0]);
    tangram_dialects::dims::assume_range(model.module.context(), "n", 1, 8);
    starts.start(&model);
    assert_eq!(starts.made(), 1, "a range is part of it");
    starts.options.exact = true;
    starts.start(&decoded(&others[0]));
    assert_eq!(starts.made(), 1, "options are");
    starts.options.cache = Cache::none();
    starts.start(&decoded(&others[0]));
    assert_eq!(starts.made(), 1, "nothing is kept nowhere");
}

/// `x[:, 3]`, of which a model with fewer columns has none, and rows of a table by number.
#[test]
fn what_the_code_is_not_for_is_left_to_a_session_of_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts = Starts::in_folder(folder.path());
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Name("n")]);
    let at = graph.ints(&[3]);
    let column = graph.node("Gather", &[&x, &at], vec![("axis", 1.into())]);
    let rows = graph.node("Cast", &[&column], vec![("to", 7.into())]);
    let table = graph.floats(&[6, 5], (0..30).map(|at| at as f32).collect());
    let found = graph.node("Gather", &[&table, &rows], Vec::new());
    let end = graph.node("Relu", &[&found], Vec::new());
    graph.output(&end);
    let model = decoded(&graph.bytes());
    let (first, second) = (starts.start(&model), starts.start(&model));
    assert_eq!(starts.made(), 1);
    let row = |n: usize, value: f32| vec![(x.clone(), floats(&[2, n], move |_| value))];
    assert!(run(&second, &row(4, 5.0)).is_ok() && starts.made() == 0);
    for feed in [row(2, 1.0), row(4, 6.0), row(7, f32::NAN), row(0, 0.0)] {
        let expected = run(&first, &feed).expect_err("there is nothing to read");
        assert_eq!(run(&second, &feed), Err(expected));
    }
    assert_eq!(starts.made(), 1, "once");
    assert_eq!(run(&second, &row(5, 2.0)), run(&first, &row(5, 2.0)));
    let report = second.report(&[(x.as_str(), floats(&[2, 4], |_| 1.0))], 1).expect("a report").1;
    assert!(report.groups.iter().any(|group| !group.code.is_empty()));
}

#[test]
fn a_kept_session_that_was_damaged_is_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts = Starts::in_folder(folder.path());
    let model = decoded(&product(0.25, ["n", "Relu"]));
    let first = starts.start(&model);
    let feed = feed(&first, 3).expect("floats");
    let expected = run(&first, &feed).expect("a product");
    let entries = || std::fs::read_dir(folder.path().join("sessions")).expect("listed");
    let entry = entries().next().expect("one").expect("listed").path();
    for file in ["session.json", "weights", "code.so", "stamp"] {
        starts.made();
        let path = entry.join(file);
        let whole = std::fs::read(&path).expect("read");
        std::fs::write(&path, &whole[..whole.len() - 1]).expect("written");
        let again = starts.start(&model);
        assert_eq!(starts.made(), 1, "{file} was cut");
        assert_eq!(run(&again, &feed).as_ref(), Ok(&expected));
        starts.start(&model);
        assert_eq!(starts.made(), 0, "it is kept again");
    }
    assert_eq!(entries().count(), 1, "nothing else is left");
}

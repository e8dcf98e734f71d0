//! Libraries that sessions open: they run as the model does that they were made of.

mod support;

use std::path::{Path, PathBuf};

use support::{Graph, Side, same_bits};
use tangram_dialects::dims::assume_range;
use tangram_dialects::interpret::Datum;
use tangram_machine::Machine;
use tangram_native::{Compiler, Options, Session, SessionError, emit};
use tangram_onnx::Model;
use tangram_tensor::Tensor;

fn decoded(bytes: &[u8]) -> Model {
    Model::decode(bytes.to_vec().into(), tangram_dialects::context()).expect("imported")
}

/// Writes `model` as a library with its weights.
fn written(folder: &Path, model: &Model) -> PathBuf {
    let path = folder.join("some model.so");
    let emitted = emit(model, "some model", &Options::default()).expect("emitted");
    let source = format!("{}{}", emitted.source, emitted.described);
    let compiler = Compiler::find(None).expect("a compiler");
    compiler
        .build_library(&source, &Machine::native(), false, &path)
        .expect("built")
        .commit()
        .expect("placed");
    std::fs::write(path.with_extension("weights"), &emitted.weights).expect("written");
    path
}

fn opened(path: &Path) -> Result<Session, SessionError> {
    // SAFETY: these tests have written it.
    unsafe { Session::open(path, &Options::default()) }
}

fn floats(extents: &[usize]) -> Datum {
    let count: usize = extents.iter().product();
    let values = (0..count).map(|at| (at * 5 % 13) as f32 / 13.0);
    Datum::Tensor(Tensor::from_vec(extents, values.collect()).expect("fits"))
}

#[test]
fn a_library_runs_as_its_model_does() {
    for name in ["cnn", "transformer", "lstm_tagger", "inception", "legacy"] {
        let path = format!("../../examples/models/{name}.onnx");
        let model = Model::open(Path::new(&path), tangram_dialects::context()).expect("read");
        let folder = tempfile::tempdir().expect("a folder");
        let library = opened(&written(folder.path(), &model)).expect("opened");
        let session = Session::new(model, &Options::default()).expect("a session");
        assert_eq!(library.inputs(), session.inputs(), "{name}");
        assert_eq!(library.outputs(), session.outputs(), "{name}");
        assert_eq!(library.coverage(), session.coverage(), "{name}");
        for size in [1, 2, 9] {
            let feed: Vec<(String, Datum)> = session
                .inputs()
                .iter()
                .map(|port| {
                    let tangram_native::Kind::Tensor { element, shape: Some(shape) } = &port.kind
                    else {
                        panic!("{name} has plain inputs");
                    };
                    let extent = |side: &Option<tangram_affine::symbolic::Expr>| {
                        side.as_ref().and_then(|e| e.as_int()).map_or(size, |n| n as usize)
                    };
                    let extents: Vec<usize> = shape.iter().map(extent).collect();
                    let value = match element {
                        Some(tangram_tensor::DType::F32) => floats(&extents),
                        _ => Datum::Tensor(
                            Tensor::from_vec(&*extents, vec![1_i64; extents.iter().product()])
                                .expect("fits"),
                        ),
                    };
                    (port.name.clone(), value)
                })
                .collect();
            let named: Vec<(&str, Datum)> =
                feed.iter().map(|(name, datum)| (name.as_str(), datum.clone())).collect();
            match (library.run(&named), session.run(&named)) {
                (Ok(found), Ok(expected)) => {
                    let same = found.iter().zip(&expected).all(|(a, b)| same_bits(a, b));
                    assert!(same && found.len() == expected.len(), "{name} at {size}");
                }
                (found, expected) => {
                    let texts =
                        [found.map_err(|e| e.to_string()), expected.map_err(|e| e.to_string())];
                    assert!(texts.iter().all(Result::is_err), "{name} at {size}: {texts:?}");
                }
            }
        }
    }
}

/// Rows of a table that a cast of the inputs picks, under a name that C would read otherwise.
fn picked(name: &str) -> (Model, String) {
    let mut graph = Graph::default();
    let places = graph.input(&[Side::Name("n")]);
    let table = graph.floats(&[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let indices = graph.node("Cast", &[&places], vec![("to", 7.into())]);
    let found = graph.node("Gather", &[&table, &indices], Vec::new());
    let end = graph.node("Relu", &[&found], Vec::new());
    graph.output(&end);
    let mut model = decoded(&graph.bytes());
    let argument = model.module.args(model.graph().expect("a graph"))[0];
    let text = model.module.context().str(name);
    model.module.set_value_name(argument, Some(text));
    (model, name.to_owned())
}

#[test]
fn names_ranges_and_indices_are_those_of_the_model() {
    let (model, name) = picked("a \"quoted\" ??/ \\n näme\u{7}9");
    assume_range(model.module.context(), "n", 2, 4);
    let folder = tempfile::tempdir().expect("a folder");
    let library = opened(&written(folder.path(), &model)).expect("opened");
    let session = Session::new(model, &Options::default()).expect("a session");
    let feed = |values: &[f32]| {
        let tensor = Tensor::from_vec([values.len()], values.to_vec()).expect("fits");
        [(name.as_str(), Datum::Tensor(tensor))]
    };
    let found = library.run(&feed(&[2.0, 0.0, -1.0])).expect("rows");
    let Datum::Tensor(rows) = &found[0] else { panic!("a tensor") };
    assert_eq!(rows.f64s().expect("floats"), [5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
    for wrong in [&[0.0][..], &[0.0; 5], &[]] {
        let (found, expected) = (library.run(&feed(wrong)), session.run(&feed(wrong)));
        let texts = [found, expected].map(|result| result.expect_err("out of range").to_string());
        assert_eq!(texts[0], texts[1]);
    }
    let outside = library.run(&feed(&[0.0, 3.0])).expect_err("there are three rows");
    assert!(matches!(outside, SessionError::Index), "{outside}");
}

#[test]
fn what_is_no_such_library_is_refused() {
    let (model, _) = picked("x");
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path(), &model);
    let weights = path.with_extension("weights");
    let mut bytes = std::fs::read(&weights).expect("read");
    bytes[0] ^= 1;
    std::fs::write(&weights, bytes).expect("written");
    let error = |path: &Path| opened(path).err().expect("refused").to_string();
    assert!(error(&path).contains("not the weights"), "{}", error(&path));
    std::fs::remove_file(&weights).expect("removed");
    assert!(error(&path).contains("some model.weights"), "{}", error(&path));
    let emitted = emit(&model, "m", &Options::default()).expect("emitted");
    let compiler = Compiler::find(None).expect("a compiler");
    compiler
        .build_library(&emitted.source, &Machine::native(), false, &path)
        .expect("built")
        .commit()
        .expect("placed");
    assert!(error(&path).contains("does not say what it is"), "{}", error(&path));
    std::fs::write(&path, "no library").expect("written");
    assert!(error(&path).contains("not loaded"), "{}", error(&path));
}

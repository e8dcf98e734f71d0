//! The example models: what is imported is a valid program, and stays one.

use std::path::Path;

use tangram::ir::verify;
use tangram::onnx::Model;
use tangram::{Library, Options, optimise};

#[test]
fn every_example_is_a_valid_program_before_and_after() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let library = Library::shipped().expect("it is checked");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "onnx") {
            continue;
        }
        let mut model = Model::open(&path, tangram::dialects::context()).expect("a model");
        assert!(verify(&model.module).is_ok(), "{path:?}: {:?}", verify(&model.module));
        optimise(&mut model, &library, &Options::default()).expect("the shipped rules fit");
        assert!(verify(&model.module).is_ok(), "{path:?}: {:?}", verify(&model.module));
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} models");
}

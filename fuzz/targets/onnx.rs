//! Whatever bytes as a model: refused, or exported; a valid program stays one when it is optimised.

#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tangram::{Library, Options, optimise};
use tangram_ir::verify;
use tangram_onnx::{ExportOptions, Model, export};

static LIBRARY: LazyLock<Library> = LazyLock::new(|| Library::shipped().expect("it is checked"));

fuzz_target!(|bytes: &[u8]| {
    let context = tangram_dialects::context();
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    let Ok(mut model) = Model::decode(bytes, context) else { return };
    let valid = verify(&model.module).is_ok();
    let options = Options {
        max_time: Some(Duration::from_secs(2)),
        fold_limit: Some(1 << 12),
        compare_limit: 1 << 12,
        ..Options::default()
    };
    optimise(&mut model, &LIBRARY, &options).expect("the shipped rules fit");
    if let (true, Err(errors)) = (valid, verify(&model.module)) {
        panic!("optimised into an invalid program: {errors:?}");
    }
    let _ = export(&model, ExportOptions::default());
});

//! Models by structure, right or wrong: none ends the process, and what is written is read again.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tangram::Library;

#[path = "../../crates/tangram/tests/hostile/models.rs"]
mod models;

static LIBRARY: LazyLock<Library> = LazyLock::new(|| Library::shipped().expect("it is checked"));

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.iter();
    let model = models::model(&mut |end| bytes.next().map_or(0, |byte| usize::from(*byte) % end));
    models::follow(&model, &LIBRARY);
});

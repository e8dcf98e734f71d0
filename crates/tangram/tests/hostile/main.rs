//! Models built by structure, right or wrong: none ends the process, and what is written is read again.

mod models;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;
use models::{follow, model};
use tangram::Library;
use tangram_onnx::proto::encoded;

fn run(seeds: std::ops::Range<u64>) {
    let library = Library::shipped().expect("it is checked");
    let count = seeds.end - seeds.start;
    let (mut read, mut written, mut failed) = (0, 0, Vec::new());
    for seed in seeds {
        let mut random = Rng::with_seed(seed);
        let made = model(&mut |end| random.usize(..end));
        let outcome = catch_unwind(AssertUnwindSafe(|| follow(&made, &library)));
        let Ok((is_read, is_written)) = outcome else {
            // Kept, so that the command can be tried on it.
            let path = std::env::temp_dir().join(format!("hostile-{seed}.onnx"));
            let _ = std::fs::write(&path, encoded(&made));
            failed.push(path);
            continue;
        };
        read += u64::from(is_read);
        written += u64::from(is_written);
    }
    println!("of {count} models {read} are read and {written} written");
    assert!(failed.is_empty(), "{failed:?}");
    assert!(read > count / 10 && written > count / 20, "most models are refused at once");
}

#[test]
fn a_sample_of_models() {
    run(0..400);
}

#[test]
#[ignore = "thousands of models"]
fn many_models() {
    run(1_000..41_000);
}

//! Models built by structure, right or wrong: none ends the process, and what is written is read again.

mod models;

use fastrand::Rng;
use models::{follow, model};
use tangram::Library;

fn run(seeds: std::ops::Range<u64>) {
    let library = Library::shipped().expect("it is checked");
    let count = seeds.end - seeds.start;
    let (mut read, mut written) = (0, 0);
    for seed in seeds {
        let mut random = Rng::with_seed(seed);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            follow(&model(&mut |end| random.usize(..end)), &library)
        }));
        let Ok((is_read, is_written)) = outcome else { panic!("seed {seed}") };
        read += u64::from(is_read);
        written += u64::from(is_written);
    }
    println!("of {count} models {read} are read and {written} written");
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

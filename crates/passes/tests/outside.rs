//! A crate outside of the tree, with a dialect, patterns, a conversion and a pass of its own: it
//! builds without the crates for tensors, and its passes stand in pipelines beside others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Copies the example out of the tree, with dependencies by absolute path.
fn copy() -> PathBuf {
    let from = Path::new(HERE).join("../../examples/own-pass");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-pass");
    std::fs::create_dir_all(to.join("src")).expect("a folder");
    let manifest = std::fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
    let crates = Path::new(HERE).parent().expect("a folder of crates").display().to_string();
    std::fs::write(to.join("Cargo.toml"), manifest.replace("../../crates", &crates))
        .expect("a manifest");
    for file in ["src/main.rs", "src/toy.rs", "sums.mlir"] {
        std::fs::copy(from.join(file), to.join(file)).expect("a file");
    }
    // The versions that are here already.
    std::fs::copy(Path::new(HERE).join("../../Cargo.lock"), to.join("Cargo.lock")).expect("a lock");
    to
}

fn cargo(dir: &Path, words: &[&str]) -> Output {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(words)
        .current_dir(dir)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-pass-target"))
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .output()
        .expect("cargo runs")
}

/// What the program prints for a pipeline, or what it says when it fails.
fn run(dir: &Path, pipeline: &str) -> Result<String, String> {
    let output = cargo(dir, &["run", "--offline", "--quiet", "--", pipeline, "sums.mlir"]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[test]
fn passes_of_a_crate_outside_stand_in_a_pipeline() {
    let dir = copy();
    let tree = cargo(&dir, &["tree", "--offline", "--edges", "normal", "--prefix", "none"]);
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    assert!(tree.contains("tangram-passes") && !tree.contains("tangram-tensor"), "{tree}");

    let lowered = run(
        &dir,
        "builtin.module(func.func(toy-measure,toy-simplify,toy-to-arith,cse,\
         toy-measure{dialect=arith}))",
    );
    let lowered = lowered.expect("a pipeline");
    // -(-(-x) + 0 + (y - y)) is -x: a constant and a subtraction.
    assert!(!lowered.contains("\"toy."), "{lowered}");
    assert_eq!(lowered.matches("\"arith.").count(), 2, "{lowered}");
    assert!(lowered.contains("toy.operations = 2 : i64"), "{lowered}");

    let kept = run(
        &dir,
        "builtin.module(func.func(toy-simplify{disable-patterns=toy-negations},toy-measure))",
    );
    let kept = kept.expect("a pipeline");
    // Only the addition of zero goes.
    assert_eq!(kept.matches("\"toy.neg\"").count(), 4, "{kept}");
    assert_eq!(kept.matches("\"toy.add\"").count(), 2, "{kept}");

    let error = run(&dir, "builtin.module(toy-simplify{disable-patterns=nope})").expect_err("none");
    assert!(error.contains("expected the name or label of a pattern, found `nope`"), "{error}");
    let error = run(&dir, "builtin.module(toy-measure{depth=1})").expect_err("no such option");
    assert!(error.contains("no option `depth`; there are: dialect"), "{error}");
    let error = run(&dir, "builtin.module(toy-mesure)").expect_err("no such pass");
    assert!(error.contains("no pass `toy-mesure`") && error.contains("toy-measure"), "{error}");
}

//! `tangram opt --strategy saturate` from outside.

use std::path::Path;
use std::process::{Command, Output};

fn saturate(more: &[&str]) -> Output {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models/inception.onnx");
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tangram"));
    command.arg("opt").arg(model).arg("-o").arg(folder.path().join("better.onnx"));
    command.args(["--strategy", "saturate", "--max-nodes", "600"]).args(more);
    command.output().expect("it runs")
}

#[test]
fn a_greedy_result_has_no_proof_and_says_so() {
    let all = saturate(&["--explain"]);
    assert!(all.status.success(), "{all:?}");
    let said = String::from_utf8_lossy(&all.stdout).into_owned();
    // What saturation would gain beside the greedy result is too little here.
    assert!(said.contains("greedy (taken)"), "{said}");
    let none = "no proof: saturation bettered nothing, so the greedy result was taken";
    assert!(said.contains(none), "{said}");
    // An output that is none is refused all the same.
    let one = saturate(&["--explain=no-such-output"]);
    let said = String::from_utf8_lossy(&one.stderr).into_owned();
    assert!(
        !one.status.success() && said.contains("there is no output `no-such-output`"),
        "{said}"
    );
}

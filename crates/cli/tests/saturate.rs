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
fn each_output_is_explained_by_name() {
    let all = saturate(&["--explain"]);
    assert!(all.status.success(), "{all:?}");
    let said = String::from_utf8_lossy(&all.stdout).into_owned();
    // Of one input, convolutions become one: its result is split, and the bias behind each part and
    // what is done with it are one again.
    assert!(said.contains("nn.concatenate = nn.relu by concatenate-of-element-wise"), "{said}");
    assert!(said.contains("by split-bias-add"), "{said}");
    let one = saturate(&["--explain=no-such-output"]);
    let said = String::from_utf8_lossy(&one.stderr).into_owned();
    assert!(
        !one.status.success() && said.contains("there is no output `no-such-output`"),
        "{said}"
    );
}

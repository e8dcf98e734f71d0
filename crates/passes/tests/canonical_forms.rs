//! Canonicalisation against `mlir-opt` on programs that show one simplification each: no more
//! operations are left, and what is left is valid.

mod support;

use support::{asked, mlir_opt, parse, pass};
use tangram_ir::{Module, Order, text, walk};

const CANONICALIZE: &str = "--canonicalize";

/// How many operations a program has.
fn size(module: &Module) -> usize {
    walk(module, module.root(), Order::Pre).len()
}

/// What is wrong with what canonicalisation makes of `program`.
fn check(program: &str) -> Result<(), String> {
    let Some(theirs) = mlir_opt(&[CANONICALIZE], program) else {
        println!("skipped: needs mlir-opt-22");
        return Ok(());
    };
    let mut module = parse(program);
    let before = size(&module);
    pass(&mut module, "builtin.module(canonicalize)");
    let ours = text::print(&module);
    let told = asked(&[], &ours).expect("installed");
    told.map_err(|error| format!("not valid: {error}\n{ours}"))?;
    let (left, most) = (size(&module), size(&parse(&theirs)));
    if left > most {
        return Err(format!(
            "{left} operations of {before} are left, {most} there\n{ours}\n{theirs}"
        ));
    }
    Ok(())
}

#[test]
fn no_more_is_left_than_mlir_opt_leaves() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forms");
    let dir = std::env::var("TANGRAM_MLIR_DIR").unwrap_or(dir.to_owned());
    let mut failures = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the folder of programs") {
        let path = entry.expect("an entry").path();
        let input = std::fs::read_to_string(&path).expect("an input");
        for (i, part) in input.split("// -----").enumerate() {
            if let Err(error) = check(part) {
                failures.push(format!("{}, part {i}: {error}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

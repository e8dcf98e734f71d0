//! The standard dialects against `mlir-opt` 22: what it prints of programs that use them is
//! verified here, and what is printed here means the same to it.

#[path = "../../ir/tests/peer/mod.rs"]
mod peer;

use tangram_ir::{LocData, text, verify};

/// What `mlir-opt` prints for `input` in generic form; `None` if it is not installed.
fn mlir_opt(input: &str) -> Option<String> {
    let arguments = ["--mlir-print-op-generic", "--mlir-print-local-scope"];
    let said = peer::mlir_opt(&arguments, input)?;
    Some(said.unwrap_or_else(|error| panic!("{error}\n{input}")))
}

/// Reads `source` in generic form, verifies it and prints it.
fn through(source: &str) -> String {
    let context = tangram_dialects::context();
    let read = text::parse(source, "test.mlir", context.clone());
    let errors = match read.and_then(|module| verify(&module).map(|()| module)) {
        Ok(module) => return text::print(&module),
        Err(errors) => errors,
    };
    let lines: Vec<&str> = source.lines().collect();
    let shown = errors.iter().map(|error| match context.loc_data(error.loc) {
        LocData::File { line, .. } => format!("{error}\n  {}\n", lines[*line as usize - 1]),
        _ => format!("{error}\n"),
    });
    panic!("{}", shown.collect::<String>());
}

#[test]
fn programs_in_custom_form() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).expect("the folder of programs") {
        let path = entry.expect("an entry").path();
        let source = std::fs::read_to_string(&path).expect("a program");
        let Some(theirs) = mlir_opt(&source) else {
            println!("skipped: needs mlir-opt-22");
            return;
        };
        let ours = through(&theirs);
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs, "{} is printed otherwise", path.display());
        }
        assert_eq!(ours.trim_end(), theirs.trim_end());
        assert_eq!(mlir_opt(&ours).expect("installed"), theirs, "{} changes", path.display());
        // Nothing but definitions known to both is used in the programs.
        assert!(!ours.contains("unregistered"));
        count += 1;
    }
    assert_eq!(count, 4);
}

//! Pretty text against `mlir-opt` 22: programs that it printed are read, and printed as it prints
//! them.

#[path = "../../ir/tests/peer/mod.rs"]
mod peer;

use tangram_ir::{LocData, Module, Order, text, walk};

const LENIENT: &str = "--allow-unregistered-dialect";

fn parse(source: &str) -> Result<Module, String> {
    let context = tangram_dialects::context();
    text::parse(source, "test.mlir", context.clone()).map_err(|errors| {
        let told = errors.iter().take(5).map(|error| {
            let line = match context.loc_data(error.loc) {
                LocData::File { line, .. } => *line as usize,
                _ => 0,
            };
            let shown = source.lines().nth(line.saturating_sub(1)).unwrap_or("");
            format!("{line}: {}\n  {shown}\n", error.message)
        });
        told.collect()
    })
}

fn pretty(module: &Module) -> String {
    let mut out = String::new();
    let options = text::Options { generic: false, ..text::Options::default() };
    text::print_to(&mut out, module, options).expect("a string takes all");
    out
}

/// The first lines that differ.
fn same(ours: &str, theirs: &str) -> Result<(), String> {
    let (a, b) = (ours.trim_end().lines(), theirs.trim_end().lines());
    let differing: Vec<String> = a
        .clone()
        .zip(b.clone())
        .filter(|(a, b)| a != b)
        .take(5)
        .map(|(a, b)| format!("ours   {a}\ntheirs {b}\n"))
        .collect();
    let (a, b) = (a.count(), b.count());
    if differing.is_empty() && a == b {
        return Ok(());
    }
    Err(format!("{a} and {b} lines\n{}", differing.concat()))
}

/// Puts `source`, which `mlir-opt` understands, through both.
fn check(source: &str) -> Result<(), String> {
    let Some(theirs) = peer::mlir_opt(&[LENIENT], source) else {
        println!("skipped: needs mlir-opt-22");
        return Ok(());
    };
    let theirs = theirs?;
    let generic = [LENIENT, "--mlir-print-op-generic", "--mlir-print-local-scope"];
    let in_full = peer::mlir_opt(&generic, &theirs).expect("installed")?;
    let from_full = same(&pretty(&parse(&in_full)?), &theirs);
    from_full.map_err(|error| format!("from the generic form: {error}"))?;
    let read = parse(&theirs)?;
    same(&pretty(&read), &theirs)?;
    // The maps of named operations are noted only by those who made them.
    if !in_full.contains("memoized_indexing_maps") {
        same(&text::print(&read), &in_full)
            .map_err(|error| format!("our generic form: {error}"))?;
    }
    same(&text::print(&parse(&in_full)?), &in_full)
        .map_err(|error| format!("the generic form: {error}"))?;
    let again = peer::mlir_opt(&generic, &text::print(&read)).expect("installed");
    same(&again?, &in_full).map_err(|error| format!("to the generic form: {error}"))
}

/// Attributes that a format does not name are printed: none is lost.
#[test]
fn formats_print_what_they_do_not_name() {
    for def in tangram_dialects::context().defs() {
        let format = def.assembly.unwrap_or("attr-dict");
        assert!(format.contains("attr-dict"), "{} prints `{format}` only", def.name);
    }
}

/// The programs of a folder, each with its place: those beside this file, or of `TANGRAM_MLIR_DIR`.
fn programs(dir: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the folder of inputs") {
        let path = entry.expect("an entry").path();
        let input = std::fs::read_to_string(&path).expect("an input");
        let part =
            |(i, text): (usize, &str)| (format!("{}, part {i}", path.display()), text.into());
        all.extend(input.split("// -----").enumerate().map(part));
    }
    all
}

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mlir");

#[test]
fn programs_come_back_as_they_were() {
    let dir = std::env::var("TANGRAM_MLIR_DIR").unwrap_or(PROGRAMS.to_owned());
    let mut failures = Vec::new();
    for (place, program) in programs(&dir) {
        if let Err(error) = check(&program) {
            failures.push(format!("{place}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Every operation of MLIR's dialects that is defined stands in a program in its own text.
#[test]
fn every_operation_stands_in_a_program() {
    let mut seen = std::collections::HashSet::new();
    for (place, program) in programs(PROGRAMS) {
        let module = parse(&program).unwrap_or_else(|error| panic!("{place}: {error}"));
        for op in walk(&module, module.root(), Order::Pre) {
            seen.insert(module.name_text(op).to_owned());
        }
    }
    let tables = tangram_dialects::mlir::TABLES.into_iter().flatten();
    let missing: Vec<&str> = tables.map(|def| def.name).filter(|&n| !seen.contains(n)).collect();
    assert!(missing.is_empty(), "{missing:?} stand in no program");
    let silent = tangram_dialects::mlir::TABLES.into_iter().flatten();
    let silent: Vec<&str> = silent.filter(|def| def.assembly.is_none()).map(|d| d.name).collect();
    assert!(silent.is_empty(), "{silent:?} have no text");
}

//! Programs through the reader and the printer, in both forms.
//!
//! Of the 13,676 programs of release 22.1.8 53 did not come back as they were when they were counted
//! last:
//!
//! | programs | why |
//! | --- | --- |
//! | 13 | space between words in text of dialects that are not known was one space; it stays now |
//! | 8 | dense elements of types of other dialects (`!spirv.arm.tensor`, `!emitc.array`) were refused; they are read now |
//! | 7 | `mlir-opt` refuses `spirv.ARM.Graph` in generic form |
//! | 6 | what `mlir-opt` prints has no module around it, ours has |
//! | 3 | operations that are not known may be scopes of symbols of `affine`, and are none here, as `mlir-opt` sees those that it does not know |
//! | 5 | the pretty form leaves out what `mlir-opt`'s leaves out: operands that no index names, bounds of `scf.forall` that are constant operands, an absent `unnamed_addr` |
//! | 3 | operations that are not known may hold the functions that calls in them name: `mlir-opt` refuses that of those that it does not know |
//! | 3 | numbers of `f80` and `f128` with more digits than `f64` has; constants of `i256`; they are kept now |
//! | 5 | arrays of `i0` and elements of tensors that have none, which are kept now, `+ -` in affine expressions, a sparse complex constant of `llvm` whose pretty text `mlir-opt` refuses |

use tangram_ir::{LocData, Module, text, verify};

use crate::folder::{File, Tally, mlir_opt};

const GENERIC: &[&str] = &["--mlir-print-op-generic", "--mlir-print-local-scope"];

/// A program that `mlir-opt` accepts.
struct Program {
    part: usize,
    /// What `mlir-opt` prints of it in generic form.
    theirs: String,
    /// Our generic text and our pretty text, or why there is none.
    ours: Result<[String; 2], String>,
}

/// Puts the programs of `file` through both; those that `mlir-opt` refuses do not count.
pub(crate) fn file(file: &File) -> Tally {
    let parts = file.parts();
    let theirs = mlir_opt(GENERIC, &parts);
    let programs: Vec<Program> = parts
        .iter()
        .zip(theirs)
        .enumerate()
        .filter(|(_, (part, _))| !part.trim().is_empty())
        .filter_map(|(part, (source, theirs))| {
            let theirs = theirs.ok()?;
            let ours = texts(source, &theirs);
            Some(Program { part, theirs, ours })
        })
        .collect();
    let mut tally = Tally::default();
    let forms = [0, 1].map(|form| {
        let texts = programs.iter().filter_map(|p| p.ours.as_ref().ok());
        let texts: Vec<String> = texts.map(|texts| texts[form].clone()).collect();
        mlir_opt(GENERIC, &texts).into_iter()
    });
    let [mut generic, mut pretty] = forms;
    for program in programs {
        let outcome = match &program.ours {
            Err(reason) => Err(reason.clone()),
            Ok(_) => {
                let first = generic.next().expect("an answer for each text");
                let second = pretty.next().expect("an answer for each text");
                come_back("generic", &first, &program.theirs)
                    .and_then(|()| come_back("pretty", &second, &program.theirs))
            }
        };
        tally.count(program.part, outcome);
    }
    tally
}

fn come_back(form: &str, again: &Result<String, String>, theirs: &str) -> Result<(), String> {
    match again {
        Ok(again) => same(&format!("the {form} form"), again, theirs),
        Err(error) => {
            let line = error.lines().next().unwrap_or("");
            Err(format!("mlir-opt refuses the {form} form: {line}"))
        }
    }
}

/// Reads `source`, or where it has text of dialects that are not known, what `mlir-opt` made of it,
/// and prints it in both forms. What `mlir-opt` printed is printed by us in the same way.
fn texts(source: &str, generic: &str) -> Result<[String; 2], String> {
    let theirs = read(generic).map_err(|error| format!("refused: {error}"))?;
    as_theirs(&print(&theirs, true), generic)?;
    let module = read(source).unwrap_or(theirs);
    if let Some(error) = verify(&module).err().and_then(|errors| errors.into_iter().next()) {
        return Err(format!("refused by the verifier: {}", error.message));
    }
    let (first, pretty) = (print(&module, true), print(&module, false));
    for (form, text) in [("generic", &first), ("pretty", &pretty)] {
        let again = read(text).map_err(|error| format!("our {form} form is refused: {error}"))?;
        let again = without_notes(&print(&again, true));
        same(&format!("our {form} form, read"), &again, &without_notes(&first))?;
    }
    Ok([first, pretty])
}

/// Compares what we print of their generic form with that. Numbers of `f80` and `f128` that no `f64`
/// is are bits here and digits there: where there are any, `mlir-opt` says whether it is the same.
fn as_theirs(ours: &str, theirs: &str) -> Result<(), String> {
    let (short, generic) = (before_resources(ours), before_resources(theirs));
    let differs = same("their generic form, read", short, generic);
    if differs.is_ok() || !["f80", "f128"].iter().any(|wide| theirs.contains(wide)) {
        return differs;
    }
    let again = mlir_opt(GENERIC, &[ours.to_owned()]).pop();
    match again.map(|again| come_back("their generic form, read", &again, theirs)) {
        Some(Ok(())) => Ok(()),
        _ => differs,
    }
}

/// Counts the programs of `file` that are read as they are written.
pub(crate) fn reads(file: &File) -> Tally {
    let parts = file.parts();
    let mut tally = Tally::default();
    for (part, (source, theirs)) in parts.iter().zip(mlir_opt(GENERIC, &parts)).enumerate() {
        if theirs.is_ok() && !source.trim().is_empty() {
            tally.count(part, read(source).map(drop));
        }
    }
    tally
}

pub(crate) fn read(source: &str) -> Result<Module, String> {
    let context = tangram_dialects::context();
    text::parse(source, "test.mlir", context.clone()).map_err(|errors| {
        let line = match context.loc_data(errors[0].loc) {
            LocData::File { line, .. } => *line as usize,
            _ => 0,
        };
        let shown = source.lines().nth(line.saturating_sub(1)).unwrap_or("").trim();
        format!("{} in `{shown}`", errors[0].message)
    })
}

pub(crate) fn print(module: &Module, generic: bool) -> String {
    let mut out = String::new();
    let options = text::Options { generic, ..text::Options::default() };
    text::print_to(&mut out, module, options).expect("a string takes all");
    out
}

/// The text without the resources, of which `mlir-opt` drops those that nothing names.
fn before_resources(text: &str) -> &str {
    text.split("\n{-#").next().unwrap_or(text)
}

/// The text without the maps of named operations, which `mlir-opt` notes down when it looks at them
/// and leaves out of its pretty form: they follow from the operation.
fn without_notes(text: &str) -> String {
    const NOTE: &str = "linalg.memoized_indexing_maps = [";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(NOTE) {
        // The last map ends there.
        let Some((_, after)) = after.split_once(">]") else { break };
        let (before, after) = match (before.strip_suffix(", "), after.strip_prefix(", ")) {
            (Some(before), _) => (before, after),
            (None, Some(after)) => (before, after),
            // It is all that the dictionary holds.
            (None, None) => match (before.strip_suffix(" {"), after.strip_prefix('}')) {
                (Some(before), Some(after)) => (before, after),
                _ => (before, after),
            },
        };
        out += before;
        rest = after;
    }
    out + rest
}

/// The first line that differs.
fn same(what: &str, ours: &str, theirs: &str) -> Result<(), String> {
    let (mut a, mut b) = (ours.trim_end().lines(), theirs.trim_end().lines());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Ok(()),
            (ours, theirs) if ours == theirs => {}
            (ours, theirs) => {
                let (ours, theirs) = (ours.unwrap_or(""), theirs.unwrap_or(""));
                return Err(format!("{what} differs: `{}`, not `{}`", ours.trim(), theirs.trim()));
            }
        }
    }
}

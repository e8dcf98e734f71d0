//! Runs `spec/*.mlir`: cases separated by `// -----`, errors expected at the lines that say
//! `// error: text`, and none elsewhere.

mod common;

use tangram_ir::{Context, Diagnostic, LocData, Module, text, verify};

fn errors(case: &str) -> Vec<(u32, String)> {
    let context = common::context();
    let found: Result<Module, Vec<Diagnostic>> =
        text::parse(case, "case.mlir", context.clone()).and_then(|m| verify(&m).map(|()| m));
    let line = |context: &Context, error: &Diagnostic| match context.loc_data(error.loc) {
        LocData::File { line, .. } => *line,
        _ => 0,
    };
    match found {
        Ok(module) => {
            let printed = text::print(&module);
            let again = text::parse(&printed, "printed.mlir", common::context());
            let again = again.unwrap_or_else(|e| panic!("{e:?}\n{printed}"));
            assert_eq!(text::print(&again), printed);
            Vec::new()
        }
        Err(errors) => errors.iter().map(|e| (line(&context, e), e.message.clone())).collect(),
    }
}

fn expected(case: &str) -> Vec<(u32, String)> {
    let marked = |(i, line): (usize, &str)| {
        let (_, message) = line.split_once("// error: ")?;
        Some((i as u32 + 1, message.trim().to_string()))
    };
    case.lines().enumerate().filter_map(marked).collect()
}

#[test]
fn specification() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/spec");
    let mut failures = String::new();
    let mut cases = 0;
    for entry in std::fs::read_dir(dir).expect("the folder of specifications") {
        let path = entry.expect("an entry").path();
        let all = std::fs::read_to_string(&path).expect("a specification");
        for case in all.split("\n// -----\n") {
            cases += 1;
            let mut found = errors(case);
            let mut expected = expected(case);
            found.sort();
            expected.sort();
            let same = found.len() == expected.len()
                && found.iter().zip(&expected).all(|(f, e)| f.0 == e.0 && f.1.contains(&e.1));
            if !same {
                failures += &format!(
                    "{}\n{case}\nexpected {expected:#?}\nfound {found:#?}\n",
                    path.display()
                );
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(cases > 60, "only {cases} cases");
}

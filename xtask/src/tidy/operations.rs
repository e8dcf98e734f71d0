//! What is known of an operation stands in its entry: no other source says its name as text, but for
//! rules, the tables of ONNX's operators, and tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::sources::sources;

/// Where entries stand, and what may speak of single operations as they do.
const ENTRIES: &str = "crates/dialects/src/nn/";
/// The tables of ONNX's operators.
const TABLES: &str = "crates/onnx/src/operators/";
/// What programs are made of whatever they compute: every reader and writer of IR knows these.
const FORMS: &[&str] = &["constant", "none", "yield"];
/// Where names stand without `nn.` before them. Elsewhere such a word is another one: a keyword, a
/// function of rules, the sine of a kernel.
const WITHOUT_DIALECT: &[&str] = &[
    "crates/dialects/src/budget.rs",
    "crates/gsl/src/definition/",
    "crates/gsl/src/import/",
    "crates/gsl/src/mapping/",
    "crates/gsl/src/matching/",
    "crates/gsl/src/plan/",
    "crates/gsl/src/schema/",
    "crates/gsl/src/verify/",
    "crates/onnx/src/export/",
    "crates/onnx/src/import/",
    "crates/saturate/src/",
];

/// Sources that still name operations, how many times, and what for. A number may only go down.
const EXCEPTIONS: &[(&str, usize, &str)] = &[
    ("crates/dialects/src/eval.rs", 1, "the order of `topk` is open where an attribute says so"),
    (
        "crates/dialects/src/interpret/containers.rs",
        12,
        "values that are no tensors, which `eval` does not know",
    ),
    ("crates/dialects/src/interpret/mod.rs", 5, "regions, which `eval` does not know"),
    ("crates/gsl/src/import/tensat.rs", 7, "another project's names of operators"),
    ("crates/gsl/src/import/write.rs", 9, "what rules of other projects are written with"),
    ("crates/gsl/src/mapping/absorbed.rs", 3, "what a factor goes through"),
    ("crates/gsl/src/mapping/range.rs", 11, "what scales"),
    ("crates/gsl/src/matching/normal.rs", 2, "attributes whose forms mean the same"),
    ("crates/gsl/src/schema/onnx_names.rs", 44, "ONNX's names of attributes in rules"),
    ("crates/gsl/src/verify/mutate.rs", 33, "operations that are mistaken for each other"),
    ("crates/lowering/src/extent_assumptions.rs", 1, "what a reshape assumes"),
    ("crates/onnx/src/export/node.rs", 1, "operators that need more than a row"),
    ("crates/onnx/src/export/origin.rs", 2, "operators that need more than a row"),
    ("crates/onnx/src/export/special/image.rs", 2, "operators that need more than a row"),
    ("crates/onnx/src/export/special/linear.rs", 4, "operators that need more than a row"),
    ("crates/onnx/src/export/special/mod.rs", 85, "operators that need more than a row"),
    ("crates/onnx/src/export/special/older.rs", 3, "operators that need more than a row"),
    ("crates/onnx/src/export/special/parts.rs", 2, "operators that need more than a row"),
    ("crates/onnx/src/import/control.rs", 4, "operators that need more than a row"),
    ("crates/onnx/src/import/special/image.rs", 8, "operators that need more than a row"),
    ("crates/onnx/src/import/special/linear.rs", 7, "operators that need more than a row"),
    ("crates/onnx/src/import/special/mod.rs", 23, "operators that need more than a row"),
    ("crates/onnx/src/import/special/parts.rs", 6, "operators that need more than a row"),
    ("crates/onnx/src/import/special/window.rs", 8, "operators that need more than a row"),
    ("crates/onnx/src/types.rs", 2, "types of values that are no tensors"),
    ("crates/tangram/src/check/inputs.rs", 1, "optional inputs of a model"),
    ("crates/tangram/src/ranks.rs", 1, "branches of `nn.if`"),
];

/// Lists names of nn operations where none should be, and exceptions that allow more than there is.
pub fn known(root: &Path) -> Vec<String> {
    let names = names(root);
    let mut faults = Vec::new();
    for path in sources(root) {
        let place = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if !is_examined(&place) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let bare = WITHOUT_DIALECT.iter().any(|folder| place.starts_with(folder));
        let found = named(&text, &names, bare);
        let allowed = EXCEPTIONS.iter().find(|(excepted, ..)| *excepted == place);
        faults.extend(judge(&place, &found, allowed.map_or(0, |(_, count, _)| *count)));
    }
    faults
}

fn judge(place: &str, found: &[(usize, &str)], allowed: usize) -> Option<String> {
    let own = "xtask/src/tidy/operations.rs";
    match found {
        _ if found.len() == allowed => None,
        [.., (line, name)] if found.len() > allowed => Some(format!(
            "{place}:{line}: `{name}` names an operation, as {} texts here do ({allowed} may): what \
             is known of it belongs into its entry in {ENTRIES}",
            found.len()
        )),
        _ => Some(format!(
            "{own}: {place} names operations {} times, not {allowed}: lower the number",
            found.len()
        )),
    }
}

/// Sources of the crates, but for entries, tables and tests.
fn is_examined(place: &str) -> bool {
    let source = place.starts_with("crates/") && place.contains("/src/");
    let excepted = [ENTRIES, TABLES].iter().any(|folder| place.starts_with(folder));
    source && place.ends_with(".rs") && !excepted && !place.contains("/tests")
}

/// The names of the operations of the dialect, without it.
fn names(root: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in sources(root).into_iter().filter(|path| path.starts_with(root.join(ENTRIES))) {
        let text = fs::read_to_string(path).unwrap_or_default();
        let Some((_, table)) = text.split_once("static OPS: &[NnOp]") else { continue };
        let table = table.split("\n];").next().unwrap_or_default();
        names.extend(texts(table).filter_map(|text| text.strip_prefix("nn.")).map(str::to_owned));
    }
    names.retain(|name| !FORMS.contains(&name.as_str()));
    names
}

/// The lines and names of operations in texts of a source, tests at its end left out.
fn named<'t>(text: &'t str, names: &BTreeSet<String>, bare: bool) -> Vec<(usize, &'t str)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let of_line = |(at, line): (usize, &'t str)| {
        let name = move |text: &'t str| match text.strip_prefix("nn.") {
            None if !bare => None,
            short => names.contains(short.unwrap_or(text)).then_some((at + 1, text)),
        };
        texts(line).filter_map(name)
    };
    lines.flat_map(of_line).collect()
}

/// What stands between quotation marks.
fn texts(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, bare: bool) -> Vec<(usize, &str)> {
        let names = ["take", "conv2d"].map(str::to_owned).into();
        named(text, &names, bare)
    }

    #[test]
    fn names_of_operations_are_found_in_texts() {
        assert_eq!(found("let x = 1;\nmatch name { \"nn.take\" => 1 }", false), [(2, "nn.take")]);
        assert_eq!(found("(\"take\", \"conv2d\")", true), [(1, "take"), (1, "conv2d")]);
        assert_eq!(found("(\"take\", \"conv2d\")", false), []);
        assert_eq!(found("// \"nn.take\"\n#[cfg(test)]\nmod tests { \"nn.take\" }", true), []);
    }

    #[test]
    fn exceptions_only_go_down() {
        let one = [(3, "nn.take")];
        assert!(judge("a.rs", &one, 1).is_none());
        assert!(judge("a.rs", &one, 0).expect("a fault").starts_with("a.rs:3: `nn.take` names"));
        assert!(judge("a.rs", &one, 2).expect("a fault").contains("lower the number"));
    }

    #[test]
    fn entries_and_exceptions_are_there() {
        let root = crate::workspace::root();
        let names = names(&root);
        assert!(names.len() > 250 && names.contains("layer_norm"), "{}", names.len());
        for (place, ..) in EXCEPTIONS {
            assert!(root.join(place).is_file(), "{place}");
        }
    }
}

//! Every finding of the checker, at the line where it belongs: `// error: code` in `spec/errors`.

use std::fs;
use std::path::Path;

use tangram_gsl::ast::RuleBuilder;
use tangram_gsl::check::{TableSchema, check_built, check_file};
use tangram_gsl::diagnostic::Sources;
use tangram_gsl::text::{Loader, NoImports, load};

const OPERATORS: &[&str] = &[
    "conv2d(data, weight) {strides: tuple, padding: tuple, dilation: tuple, groups: int}",
    "batch_norm(data, gamma, beta, mean, variance) {epsilon: float}",
    "concatenate(data...) {axis!: int}",
    "split(data) {axis: int, indices_or_sections!: any} -> ...",
    "bias_add(data, bias) {axis: int}",
    "relu(data) [element_wise]",
    "leaky_relu(data) {alpha: float} [element_wise]",
    "erf(data) [element_wise]",
    "gelu(data) {approximate: str}",
    "sqrt(data) [element_wise]",
    "negative(data) [element_wise]",
    "add(lhs, rhs) [broadcasting, commutative]",
    "subtract(lhs, rhs) [broadcasting]",
    "multiply(lhs, rhs) [broadcasting, commutative]",
    "divide(lhs, rhs) [broadcasting]",
    "transpose(data) {axes: tuple}",
    "reshape(data) {newshape!: tuple}",
    "pad(data) {pad_width!: tuple, pad_value: float}",
];

fn schema() -> TableSchema {
    let mut schema = TableSchema::default();
    for line in OPERATORS {
        assert!(schema.declare(line), "{line}");
    }
    schema
}

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("a folder of specs");
    let paths = entries.map(|entry| entry.expect("a directory entry").path());
    let gsl = paths.filter(|path| path.extension().is_some_and(|e| e == "gsl"));
    gsl.map(|path| {
        let text = fs::read_to_string(&path).expect("a readable spec");
        (path.display().to_string(), text)
    })
    .collect()
}

/// Returns line and code of each finding, and all of them as shown.
fn findings(name: &str, text: &str) -> (Vec<(usize, String)>, String) {
    let mut sources = Sources::default();
    let mut file = load(name, text, &mut NoImports, &mut sources);
    check_file(&mut file, &schema(), &sources);
    let place = |d: &tangram_gsl::diagnostic::Diagnostic| {
        (sources.line_column(d.span()).0, d.code.to_owned())
    };
    (file.diagnostics.iter().map(place).collect(), sources.render(&file.diagnostics))
}

#[test]
fn errors_are_found_where_they_are() {
    let mut count = 0;
    for (name, text) in files("spec/errors") {
        let lines = text.lines().enumerate();
        let expected: Vec<_> = lines
            .flat_map(|(i, line)| {
                let codes = line.split_once("// error: ").map(|(_, codes)| codes);
                let codes = codes.into_iter().flat_map(|codes| codes.split(", "));
                codes.map(move |code| (i + 1, code.to_owned()))
            })
            .collect();
        let (found, shown) = findings(&name, &text);
        assert_eq!(found, expected, "{name}\n{shown}");
        count += expected.len();
    }
    assert!(count >= 25, "{count}");
}

#[test]
fn correct_rules_have_no_findings() {
    for (name, text) in files("spec") {
        let (found, shown) = findings(&name, &text);
        assert_eq!(found, [], "{shown}");
    }
}

#[test]
fn a_finding_shows_the_line_and_a_hint() {
    let (_, shown) = findings("r.gsl", "rule r { let x = *; match conv2(x, x); rewrite x; }");
    assert!(shown.contains("error[unknown-operator]: unknown operator `conv2`"), "{shown}");
    assert!(shown.contains("r.gsl:1:27"), "{shown}");
    assert!(shown.contains("hint: did you mean `conv2d`?"), "{shown}");
}

/// What a definition may be wrong in, and that each finding says what to do about it.
#[test]
fn findings_of_definitions_have_hints() {
    const CODES: &[&str] = &[
        "disconnected-outputs",
        "template-not-in-field",
        "template-behind-shared",
        "template-outside",
        "not-matched",
        "maybe-unmatched",
        "unknown-operator",
        "unknown-attribute",
        "missing-attribute",
        "new-wildcard",
        "new-variable",
        "unknown-length",
        "index-range",
        "any-in-target",
        "variadic-output",
        "output-count",
        "definition-cycle",
        "unread-attribute",
    ];
    let mut without = Vec::new();
    let mut seen = Vec::new();
    for (name, text) in files("spec/errors") {
        let mut sources = Sources::default();
        let mut file = load(&name, &text, &mut NoImports, &mut sources);
        check_file(&mut file, &schema(), &sources);
        for found in file.diagnostics.iter().filter(|found| CODES.contains(&found.code)) {
            seen.push(found.code);
            // A word that is like no other has no neighbour to be mistaken for.
            let unlike = found.message.contains("`strides`");
            if found.hint.is_none() && !unlike {
                without.push(format!("{}: {}", found.code, found.message));
            }
        }
    }
    assert_eq!(without, [] as [String; 0]);
    assert!(CODES.iter().all(|code| seen.contains(code)), "{seen:?}");
}

/// A ring of definitions over two files: every step of it is told with its place.
#[test]
fn a_cycle_of_definitions_is_told_as_a_whole() {
    struct Other;
    impl Loader for Other {
        fn load(&mut self, _: &str, path: &str) -> Result<(String, String), String> {
            let text = "rule b [definition] {\n  let x = *;\n  match acme.B(x);\n  \
                        rewrite sqrt(acme.C(x));\n}\n";
            Ok((path.to_owned(), text.to_owned()))
        }
    }
    let text = "use \"other.gsl\";\n\
                rule c [definition] { let x = *; match acme.C(x); rewrite relu(acme.A(x)); }\n\
                rule a [definition] { let x = *; match acme.A(x); rewrite acme.B(x); }\n";
    let mut sources = Sources::default();
    let mut file = load("r.gsl", text, &mut Other, &mut sources);
    check_file(&mut file, &schema(), &sources);
    let found: Vec<_> =
        file.diagnostics.iter().filter(|found| found.code == "definition-cycle").collect();
    assert_eq!(found.len(), 1, "{}", sources.render(&file.diagnostics));
    for step in [
        "other.gsl:4:16: `acme.B` is made of `acme.C`",
        "r.gsl:2:64: `acme.C` is made of `acme.A`",
        "r.gsl:3:59: `acme.A` is made of `acme.B`",
    ] {
        assert!(found[0].notes.iter().any(|note| note == step), "{step}: {:?}", found[0].notes);
    }
}

/// Where rings share definitions, one of them is told, and rings apart are told each.
#[test]
fn rings_of_definitions_are_told_apart() {
    let rule = |name: &str, of: &str| {
        format!(
            "rule {n} [definition] {{ let x = *; match acme.{name}(x); rewrite {of}; }}\n",
            n = name.to_lowercase()
        )
    };
    let text = rule("A", "acme.B(acme.C(x))")
        + &rule("B", "acme.A(x)")
        + &rule("C", "acme.A(x)")
        + &rule("D", "acme.E(acme.A(x))")
        + &rule("E", "acme.D(x)")
        + &rule("F", "acme.D(acme.A(x))");
    let (found, shown) = findings("r.gsl", &text);
    let cycles = found.iter().filter(|(_, code)| code == "definition-cycle").count();
    assert_eq!(cycles, 2, "{shown}");
}

#[test]
fn built_rules_are_located_in_their_printed_form() {
    let mut rule = RuleBuilder::new("built");
    let x = rule.wildcard();
    let relu = rule.op("rleu");
    let call = rule.call(relu, vec![x], vec![]);
    rule.source(call).target(x);
    let rule = rule.finish().expect("a well-formed rule");
    let (sources, found) = check_built(&rule, &schema());
    assert_eq!(found.len(), 1);
    assert_eq!(sources.line_column(found[0].span()).0, 3);
    assert_eq!(found[0].hint.as_deref(), Some("did you mean `relu`?"));
}

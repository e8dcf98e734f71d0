//! No text makes the front half panic, and imports load each file once.

use proptest::prelude::*;
use tangram_gsl::check::{TableSchema, check_file};
use tangram_gsl::diagnostic::Sources;
use tangram_gsl::text::{Loader, NoImports, format, load, parse, print};

const WORDS: &[&str] = &[
    "rule r {", "}", "let x =", "let y =", "match", "where", "rewrite", ";", "*", "x", "y",
    "relu(", ")", "[", "]", "{", "variadic", "over (", "for i", "< 2", "min 2", "+", "-", "1",
    "0.5", "|", "_", ".shape", "=", ",", "only", "not", "case x {", "=>", "if", "then", "else",
    "\"", "// c\n", "index i;", "sum(", "é", "..x", "as z",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn token_soup(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let text = format!("rule r {{ let x = *; match relu(x); {} }}", words.join(" "));
        let mut sources = Sources::default();
        let mut file = load("soup", &text, &mut NoImports, &mut sources);
        check_file(&mut file, &TableSchema::default(), &sources);
        sources.render(&file.diagnostics);
        if let Ok(rules) = parse(&text) {
            for rule in rules {
                prop_assert_eq!(parse(&print(&rule)), Ok(vec![rule]));
            }
        }
        if let Ok(once) = format("soup", &text) {
            prop_assert_eq!(format("soup", &once), Ok(once));
        }
    }
}

struct Two;

impl Loader for Two {
    fn load(&mut self, _: &str, path: &str) -> Result<(String, String), String> {
        match path {
            "b" => Ok(("b".into(), "use \"a\"; rule b { match relu(*); }".into())),
            "a" => Ok(("a".into(), String::new())),
            _ => Err("no such file".into()),
        }
    }
}

#[test]
fn files_may_use_each_other() {
    let mut sources = Sources::default();
    let text = "use \"b\"; use \"b\"; use \"c\"; rule a { match relu(*); }";
    let file = load("a", text, &mut Two, &mut sources);
    let names: Vec<_> = file.rules.iter().map(|located| located.rule.name()).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(file.diagnostics.len(), 1);
    assert_eq!(file.diagnostics[0].code, "import");
}

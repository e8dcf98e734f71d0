//! Text to abstract syntax and back, over every rule in `spec/`.

use std::fs;
use std::path::Path;

use tangram_gsl::ast::Rule;
use tangram_gsl::text::{format, parse, print};

fn specs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of specs")
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gsl"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a readable spec");
            (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text)
        })
        .collect();
    files.sort();
    files
}

fn rules(text: &str) -> Vec<Rule> {
    parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn printing_and_parsing_gives_the_same_rule() {
    let mut count = 0;
    for rule in specs().iter().flat_map(|(_, text)| rules(text)) {
        let text = print(&rule);
        assert_eq!(rules(&text), std::slice::from_ref(&rule), "{text}");
        assert_eq!(print(&rules(&text)[0]), text, "printing is not stable");
        count += 1;
    }
    assert!(count >= 8);
}

#[test]
fn json_keeps_the_rule() {
    for rule in specs().iter().flat_map(|(_, text)| rules(text)) {
        let json = rule.to_json();
        assert_eq!(Rule::from_json(&json).expect("our own JSON"), rule, "{json}");
    }
}

#[test]
fn formatting_keeps_meaning_and_comments_and_is_stable() {
    for (name, text) in specs() {
        let formatted = format(&name, &text).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(rules(&formatted), rules(&text), "{formatted}");
        let comments = |text: &str| text.matches("//").count();
        assert_eq!(comments(&formatted), comments(&text), "{formatted}");
        assert_eq!(format(&name, &formatted).as_ref(), Ok(&formatted));
    }
}

#[test]
fn specs_are_formatted() {
    for (name, text) in specs() {
        assert_eq!(format(&name, &text), Ok(text));
    }
}

#[test]
fn different_rules_differ() {
    let shared = rules("rule r { let x = *; match relu(x) + x; rewrite x; }");
    let apart = rules("rule r { let x = *; match relu(x) + *; rewrite x; }");
    assert_ne!(shared, apart);
    assert_ne!(rules("rule r { match relu(*); }"), rules("rule r { match relu(only *); }"));
}

#[test]
fn deep_text_is_refused() {
    for (open, close) in [("(", ")"), ("relu(", ")"), ("-", ""), ("not ", "")] {
        let nested = format!("{}*{}", open.repeat(5000), close.repeat(5000));
        let text = format!("rule r {{ match {nested}; rewrite *; }}");
        assert!(parse(&text).is_err_and(|errors| errors.contains("too-deep")), "{open}");
    }
    let chain = format!("rule r {{ match {}*; rewrite *; }}", "* + ".repeat(5000));
    assert!(parse(&chain).is_err());
}

#[test]
fn what_a_rule_promises_is_kept() {
    for word in ["exact", "reassociates", "range"] {
        let text = format!(
            "rule r [a] alias {word} {{ let range = *; match relu(range); rewrite range; }}"
        );
        let rule = rules(&text).remove(0);
        assert_eq!(rule.exactness().map(|e| e.word()), Some(word));
        assert!(print(&rule).starts_with(&format!("rule r [a] alias {word} {{")));
        assert_eq!(Rule::from_json(&rule.to_json()).expect("our own JSON"), rule);
    }
    assert_eq!(rules("rule r { let x = *; match relu(x); rewrite x; }")[0].exactness(), None);
}

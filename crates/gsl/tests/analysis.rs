//! What rules do to each other: each kind of finding, and sets that have none.

use std::sync::Arc;

use tangram_gsl::analysis::{Finding, analyse};
use tangram_gsl::rules::{CompiledRule, Natives, Options};
use tangram_gsl::text::parse;

fn findings(text: &str) -> Vec<Finding> {
    let context = tangram_dialects::context();
    let natives = Arc::new(Natives::default());
    let options = Options { natives: natives.clone(), ..Options::default() };
    let rules = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let rules: Vec<_> =
        rules.iter().map(|rule| CompiledRule::unchecked(rule, &context, &options)).collect();
    analyse(&rules, &context, &natives, 0)
}

fn defects(text: &str) -> Vec<Finding> {
    findings(text).into_iter().filter(Finding::is_defect).collect()
}

const NEGATIVE: &str = "/// Twice is never.
    rule negative-negative { let x = *; match negative(negative(x)); rewrite x; }";

#[test]
fn rules_that_share_an_operation_overlap() {
    let abs = "rule abs-negative { let x = *; match abs(negative(x)); rewrite abs(x); }";
    let found = findings(&format!("{NEGATIVE}\n{abs}"));
    assert!(found.is_empty(), "each matches its own instances alone: {found:?}");
    let positive = "rule negative { let x = *; match negative(x); rewrite 0.0 - x; }";
    let found = findings(&format!("{NEGATIVE}\n{positive}"));
    let [Finding::Overlap { first, second, program }] = &found[..] else { panic!("{found:?}") };
    // The rule with more calls is tried first.
    assert_eq!((&**first, &**second), ("negative-negative", "negative"));
    assert_eq!(program.iter().filter(|line| line.contains("= negative(")).count(), 2);
}

#[test]
fn a_rule_behind_a_more_general_one_is_shadowed() {
    let general = "rule general benefit 5 { let x = *; match relu(x); rewrite maximum(x, 0.0); }";
    let special =
        "rule special { let x = *; let t = tanh(x); match relu(t); rewrite maximum(0.0, t); }";
    let [found] = &defects(&format!("{special}\n{general}"))[..] else { panic!("one finding") };
    assert!(
        matches!(found, Finding::Shadowed { rule, by, .. } if rule == "special" && by == "general"),
        "{found}"
    );
    // Tried first, the special one has its turn.
    let before = special.replace("rule special", "rule special benefit 9");
    assert_eq!(defects(&format!("{before}\n{general}")), []);
}

#[test]
fn a_rule_that_a_more_general_one_contains_is_subsumed() {
    let general = "rule general { let x = *; match negative(negative(x)); rewrite x; }";
    let special =
        "rule special { let x = *; let t = tanh(x); match negative(negative(t)); rewrite t; }";
    let [found] = &defects(&format!("{general}\n{special}"))[..] else { panic!("one finding") };
    assert!(
        matches!(found, Finding::Subsumed { rule, by, .. } if rule == "special" && by == "general"),
        "{found}"
    );
}

#[test]
fn rules_that_undo_each_other_loop() {
    let there = "rule there { let x = *; let y = *; match x - y; rewrite x + -y; }";
    let back = "rule back { let x = *; let y = *; match x + -y; rewrite x - y; }";
    assert_eq!(defects(there), []);
    assert_eq!(defects(back), []);
    let found = defects(&format!("{there}\n{back}"));
    let [Finding::Loop { rules, .. }] = &found[..] else { panic!("{found:?}") };
    let mut rules = rules.clone();
    rules.sort();
    assert_eq!(rules, ["back", "there"]);
    let commute = "rule commute { let x = *; let y = *; match x + y; rewrite y + x; }";
    let found = defects(commute);
    let [Finding::Loop { rules, .. }] = &found[..] else { panic!("{found:?}") };
    assert!(rules.iter().all(|rule| rule == "commute"));
}

#[test]
fn a_rule_that_grows_what_it_matches_is_endless() {
    let found = defects("rule grow { let x = *; match relu(x) as y; rewrite relu(relu(x)); }");
    let [Finding::Endless { rules, program }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(rules, &["grow"]);
    assert!(!program.is_empty());
}

#[test]
fn findings_are_the_same_each_time() {
    let text = format!(
        "{NEGATIVE} rule c {{ let x = *; let y = *; match x + y; rewrite y + x; }}
         rule n {{ let x = *; match negative(x); rewrite 0.0 - x; }}"
    );
    assert_eq!(findings(&text), findings(&text));
}

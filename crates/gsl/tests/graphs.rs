//! Pattern expressions and pattern graphs.

use tangram_gsl::ast::{
    Rule, RuleBuilder, SyntaxError, equal, expression_sequence, is_direct_subexpression,
    is_subexpression, pattern_graph,
};
use tangram_gsl::text::parse;

fn rule(body: &str) -> Rule {
    let text = format!("rule r {{ {body} rewrite *; }}");
    parse(&text).unwrap_or_else(|errors| panic!("{errors}")).remove(0)
}

#[test]
fn sequence_to_graph_and_back() {
    let rule = rule("let x = *; let a = relu(x); match a + x, sqrt(a);");
    let graph = pattern_graph(&rule, rule.sources());
    assert_eq!(expression_sequence(&graph), rule.sources());
    assert_eq!(graph.vertices.len(), 4);
    let x = &graph.vertices[0];
    let users: Vec<_> = x.users.iter().map(|(user, position)| (user.0, *position)).collect();
    assert_eq!(users, [(1, 0), (2, 1)]);
}

#[test]
fn equality_sees_sharing() {
    let shared = rule("let x = *; match relu(x) + x;");
    let again = rule("let x = *; let y = relu(x); match y + x;");
    let apart = rule("match relu(*) + *;");
    let same = |a: &Rule, b: &Rule| equal((a, a.sources()), (b, b.sources()));
    assert!(same(&shared, &shared));
    assert!(!same(&shared, &apart) && !same(&apart, &shared));
    assert!(!same(&shared, &again), "names count");
}

#[test]
fn subexpressions_are_transitive() {
    let rule = rule("let x = *; let a = relu(x); match sqrt(a);");
    let find = |name| rule.patterns().find(|(_, p)| p.name.as_deref() == Some(name));
    let (x, a) = (find("x").expect("named").0, find("a").expect("named").0);
    let root = rule.sources()[0];
    assert!(is_direct_subexpression(&rule, x, a) && is_direct_subexpression(&rule, a, root));
    assert!(!is_direct_subexpression(&rule, x, root) && is_subexpression(&rule, x, root));
    assert!(is_subexpression(&rule, x, x) && !is_subexpression(&rule, root, x));
}

#[test]
fn malformed_rules_are_refused() {
    let json = r#"{"name":"r","patterns":[{"kind":{"not":0}}],"sources":[0],"targets":[]}"#;
    assert!(matches!(Rule::from_json(json), Err(SyntaxError::Cycle(_))));
    let json = r#"{"name":"r","patterns":[{"kind":{"not":7}}],"sources":[0],"targets":[]}"#;
    assert!(matches!(Rule::from_json(json), Err(SyntaxError::OutOfRange { index: 7, .. })));
    let mut deep = RuleBuilder::new("deep");
    let (mut p, relu) = (deep.wildcard(), deep.op("relu"));
    for _ in 0..100_000 {
        p = deep.call(relu, vec![p], vec![]);
    }
    deep.source(p);
    assert_eq!(deep.finish().err(), Some(SyntaxError::TooDeep));
    assert!(matches!(RuleBuilder::new("Not kebab").finish(), Err(SyntaxError::BadRuleName(_))));
}

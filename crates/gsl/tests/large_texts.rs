//! Texts that ask for much: long names, deep sharing, long lists. Each of these took minutes or more
//! memory than there is, so that a test of what comes out is also one of the time.

use std::sync::Arc;

use tangram_gsl::check::{check_file, check_rule};
use tangram_gsl::diagnostic::Sources;
use tangram_gsl::eval::EvalError;
use tangram_gsl::rules::Natives;
use tangram_gsl::schema::NnSchema;
use tangram_gsl::text::{NoImports, RuleFile, load, parse, print};
use tangram_gsl::verify::{Effort, Verdict, verify};

/// What is said of a text, in words and as data.
fn checked(text: &str) -> (RuleFile, String) {
    let mut sources = Sources::default();
    let mut file = load("long.gsl", text, &mut NoImports, &mut sources);
    let schema = NnSchema::new(&tangram_dialects::context());
    check_file(&mut file, &schema, &sources);
    let rendered = sources.render(&file.diagnostics);
    (file, rendered)
}

fn verdict(text: &str) -> Verdict {
    let rule = parse(text).unwrap_or_else(|e| panic!("{e}")).remove(0);
    let context = tangram_dialects::context();
    let effort = Effort { attempts: 50, work: 100_000_000, ..Effort::default() };
    verify(&rule, &context, &Arc::new(Natives::default()), &effort).expect("a rule that compiles")
}

#[test]
fn many_doc_lines_are_the_doc_of_one_rule() {
    const LINES: usize = 300_000;
    let text =
        format!("{}rule r {{ let x = *; match relu(x); rewrite x; }}", "/// x\n".repeat(LINES));
    let rule = parse(&text).expect("a rule").remove(0);
    assert_eq!(rule.doc().lines().count(), LINES);
    // Without a rule they are comments.
    assert_eq!(parse(&"/// x\n".repeat(LINES)), Ok(Vec::new()));
}

#[test]
fn a_message_quotes_the_start_of_a_long_name() {
    let name = "q".repeat(3_000_000);
    let texts = [
        (format!("rule r {{ let x = *; match {name}(x); rewrite x; }}"), "unknown-operator"),
        (format!("rule r {{ let x = *; match relu({name}); rewrite x; }}"), "unknown-name"),
        (
            format!("rule r {{ let x = *; match relu(x) {{{name} = 1}}; rewrite x; }}"),
            "unknown-attribute",
        ),
        (
            format!("rule r {{ let x = *; match relu(x); where {name}(1); rewrite x; }}"),
            "unknown-function",
        ),
        (format!("rule r {{ op f = trait {name}; match f(*); }}"), "unknown-trait"),
        (format!("rule r {{ {name} x; }}"), "syntax"),
        (format!("use \"{name}\";"), "import"),
        (format!("\"{name}` `{name}\""), "syntax"),
    ];
    for (text, code) in texts {
        let (file, rendered) = checked(&text);
        let found = file.diagnostics.iter().find(|found| found.code == code);
        assert!(found.is_some_and(|found| found.message.contains("qqq")), "{code}");
        assert!(rendered.len() < 20_000, "{code}: {} bytes", rendered.len());
    }
}

/// A name that differs by a letter is suggested as ever.
#[test]
fn a_near_name_is_suggested() {
    let (_, rendered) = checked("rule r { let x = *; match rleu(x); rewrite x; }");
    assert!(rendered.contains("did you mean `relu`?"), "{rendered}");
}

/// `attr a1 = a0 + a0; ...` to `a{depth}`.
fn doubled(first: &str, step: impl Fn(usize) -> String, depth: usize) -> String {
    let steps = (1..=depth).map(|i| format!("attr a{i} = {}; ", step(i - 1)));
    format!("attr a0 = {first}; {}", steps.collect::<String>())
}

fn rule_with(attributes: &str, condition: &str) -> String {
    format!(
        "rule r {{ let x = *; {attributes} match relu(relu(x)); where {condition}; rewrite relu(x); }}"
    )
}

#[test]
fn what_an_attr_names_is_evaluated_once() {
    let sums = doubled("x.ndim", |i| format!("a{i} + a{i}"), 60);
    let found = verdict(&rule_with(&sums, "a60 >= 0"));
    assert!(!matches!(found, Verdict::Wrong { .. }), "{found}");
    let (_, rendered) = checked(&rule_with(&sums, "a60 >= 0"));
    assert_eq!(rendered, "");
    // Within a reduction that binds a symbol, which it does not read.
    let sums = doubled("x.ndim", |i| format!("max([a{i} for i < 2])"), 40);
    let found = verdict(&rule_with(&sums, "a40 >= 0"));
    assert!(found.evidence().is_some_and(|evidence| evidence.count() > 0), "{found}");
}

#[test]
fn a_value_that_doubles_is_refused() {
    for step in ["[a, a]", "a + a", "[[y, y] for y in a]", "zip(a, a)"] {
        let step = |i: usize| step.replace('a', &format!("a{i}"));
        let tuples = doubled("[x.ndim]", step, 40);
        let found = verdict(&rule_with(&tuples, "len(a40) >= 0"));
        assert!(matches!(found, Verdict::Unknown { .. }), "{found}");
    }
    assert!(EvalError::TooMuch.to_string().starts_with("more than "));
}

#[test]
fn tuples_of_tuples_are_not_written_out_beyond_a_size() {
    let tuples = (1..=40).map(|i| format!("let t{i} = (t{0}, t{0}); ", i - 1)).collect::<String>();
    let text = format!(
        "rule r {{ let x = *; let t0 = (x, x); {tuples} match concatenate(t40) {{axis = 0}}; rewrite x; }}"
    );
    let (_, rendered) = checked(&text);
    assert!(rendered.contains("a tuple stands for more than 100000 operands"), "{rendered}");
    assert!(rendered.contains("long.gsl:1:6"), "{rendered}");
}

/// Alternatives within each other, each option with the alternative below.
#[test]
fn alternatives_of_alternatives_are_compiled() {
    let steps = (1..=30).map(|i| format!("let y{i} = relu(y{0}) | tanh(y{0}); ", i - 1));
    let text = format!(
        "rule r {{ let x = *; let y0 = x; {} match y30; rewrite x; }}",
        steps.collect::<String>()
    );
    let found = verdict(&text);
    assert!(matches!(found, Verdict::Wrong { .. } | Verdict::Unknown { .. }), "{found}");
}

/// Verification says at once that a rule is too large; reading and printing it go on.
#[test]
fn large_rules_are_not_verified() {
    let zeros = vec!["0"; 10_000].join(", ");
    let rows = vec!["[1, 1]"; 100_000].join(", ");
    let options = vec!["relu(x)"; 100_000].join(" | ");
    for source in
        [format!("transpose(x) {{axes = [{zeros}]}}"), format!("x + const([{rows}])"), options]
    {
        let text = format!("rule r {{ let x = *; match {source}; rewrite x; }}");
        let rule = parse(&text).unwrap_or_else(|e| panic!("{e}")).remove(0);
        assert_eq!(parse(&print(&rule)).as_deref(), Ok(&[rule][..]));
        let found = verdict(&text);
        let Verdict::Unknown { why, .. } = &found else { panic!("{found}") };
        assert!(why.contains("verification takes rules of up to 1000"), "{why}");
        let schema = NnSchema::new(&tangram_dialects::context());
        let (file, _) = checked(&text);
        assert!(check_rule(&file.rules[0], &schema).is_empty());
    }
}

/// What is written once for each of many is read in one pass.
#[test]
fn many_operators_attributes_and_arms_are_read() {
    const MANY: usize = 30_000;
    let list = |one: &dyn Fn(usize) -> String, between: &str| {
        (0..MANY).map(one).collect::<Vec<_>>().join(between)
    };
    let calls = list(&|i| format!("acme.F{i}(x)"), " | ");
    let attributes = list(&|i| format!("a{i} = {i}"), ", ");
    let options = list(&|i| format!("o{i}"), " | ");
    let lets = list(&|i| format!("let o{i} = acme.G(x) {{a = {i}}};"), " ");
    let arms = list(&|i| format!("o{i} => x"), ", ");
    let dotted = list(&|i| format!("a{i}"), ".");
    let text = format!(
        "rule a {{ let x = *; match {calls}; rewrite x; }}\n\
         rule b {{ let x = *; match acme.F(x) {{{attributes}}}; rewrite x; }}\n\
         rule c {{ let x = *; {lets} let y = {options}; match y; rewrite case y {{{arms}}}; }}\n\
         rule d {{ let x = *; match {dotted}(x); rewrite x; }}"
    );
    assert_eq!(parse(&text).expect("rules").len(), 4);
}

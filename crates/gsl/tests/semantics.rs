//! The rules AE-* and AM-* of the GSL thesis, each under its name, and what goes beyond them.

use std::collections::HashMap;

use tangram_gsl::ast::{ExprId, PatId, Rule, SymId};
use tangram_gsl::eval::{AttrValue, Env, EvalError, evaluate, matches};
use tangram_gsl::text::parse;

/// `x` has shape (2, 3, 5); template `w` has instances of 4, 6 and 8 channels.
#[derive(Default)]
struct World {
    symbols: HashMap<SymId, AttrValue>,
    names: HashMap<PatId, String>,
}

impl Env for World {
    fn symbol(&self, symbol: SymId) -> Option<AttrValue> {
        self.symbols.get(&symbol).cloned()
    }

    fn bind(&mut self, symbol: SymId, value: Option<AttrValue>) {
        match value {
            Some(value) => _ = self.symbols.insert(symbol, value),
            None => _ = self.symbols.remove(&symbol),
        }
    }

    fn access(&self, p: PatId, at: &[(PatId, usize)], name: &str) -> Option<AttrValue> {
        match (self.names.get(&p)?.as_str(), at, name) {
            ("x", [], "shape") => Some(vec![2, 3, 5].into()),
            ("x", [], "dtype") => Some("float32".into()),
            ("src", [], "length") => Some(3.into()),
            ("w", [(_, i)], "shape") => [4, 6, 8].get(*i).map(|n| vec![*n, 3, 1, 1].into()),
            _ => None,
        }
    }

    fn option(&self, _: PatId) -> Option<usize> {
        None
    }

    fn native(&self, name: &str, args: &[Result<PatId, AttrValue>]) -> Option<AttrValue> {
        (name == "count").then(|| (args.len() as i64).into())
    }
}

/// Reads `text` as an attribute expression of a rule with `x`, `w`, `src` and symbol `i`.
fn expression(text: &str) -> (Rule, ExprId, World) {
    let rule = format!(
        "rule r {{ index i; let x = *; let w = *; let c = conv2d(x, w); \
         let src = variadic c over (c, w); match src; where {text}; rewrite variadic x for i; }}"
    );
    let rule = parse(&rule).unwrap_or_else(|e| panic!("{e}")).remove(0);
    let names = rule.patterns().filter_map(|(id, p)| Some((id, p.name.clone()?))).collect();
    let condition = rule.conditions()[0];
    (rule, condition, World { names, ..World::default() })
}

fn value(text: &str) -> Result<String, EvalError> {
    let (rule, id, mut world) = expression(text);
    evaluate(&rule, id, &mut world).map(|value| show(&value))
}

fn show(value: &AttrValue) -> String {
    match value {
        AttrValue::Int(v) => v.to_string(),
        AttrValue::Float(v) | AttrValue::Single(v) => format!("{v:?}"),
        AttrValue::Bool(v) => v.to_string(),
        AttrValue::Str(v) => format!("{v:?}"),
        AttrValue::Tuple(v) => format!("[{}]", v.iter().map(show).collect::<Vec<_>>().join(", ")),
        AttrValue::Dim(v) => format!("{v:?}"),
        AttrValue::Spelled(both) => show(&both.0),
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
}

fn fails(text: &str, expected: &EvalError) {
    assert_eq!(value(text).as_ref(), Err(expected), "{text}");
}

fn matching(text: &str, value: impl Into<AttrValue>) -> bool {
    let (rule, id, mut world) = expression(text);
    matches(&rule, id, &value.into(), &mut world)
}

#[test]
fn ae_value() {
    check("-7", "-7");
    check("2.5", "2.5");
    check("true", "true");
    check("\"NCHW\"", "\"NCHW\"");
    fails("_", &EvalError::Any);
}

#[test]
fn ae_symbol() {
    let (rule, id, mut world) = expression("i * 2");
    assert_eq!(evaluate(&rule, id, &mut world).map(|v| show(&v)), Err(EvalError::Symbol));
    let i = rule.symbols().find(|(_, s)| s.name == "i").map(|(id, _)| id).expect("declared");
    world.bind(i, Some(21.into()));
    assert_eq!(evaluate(&rule, id, &mut world).map(|v| show(&v)), Ok("42".into()));
}

#[test]
fn ae_access() {
    check("x.shape", "[2, 3, 5]");
    check("src[w, 2].shape[0]", "8");
    assert!(matches!(value("src[w, 3].shape"), Err(EvalError::Access(..))));
    assert!(matches!(value("x.strides"), Err(EvalError::Access(..))));
}

#[test]
fn ae_binary() {
    check("1 + 2 * 3 - 4", "3");
    check("(-7) floordiv 2", "-4");
    check("(-7) ceildiv 2", "-3");
    check("(-7) mod 2", "1");
    check("7 mod (-2)", "-1");
    check("7 / 2", "3.5");
    check("1 + 0.5", "1.5");
    check("[1] + [2, 3]", "[1, 2, 3]");
    check("max(3, 4) - min(3, 4)", "1");
    check("1 < 2 && !(2 <= 1) || false", "true");
    check("9007199254740993 == 9007199254740992.0", "false");
    fails("9223372036854775807 + 1", &EvalError::Arithmetic("+"));
    fails("1 mod 0", &EvalError::Arithmetic("mod"));
    check("false && x.strides == 1", "false");
}

#[test]
fn ae_tuple() {
    check("[1, \"a\", [true]]", "[1, \"a\", [true]]");
    fails("[1, _]", &EvalError::Any);
}

#[test]
fn ae_proj() {
    check("x.shape[0]", "2");
    fails("x.shape[3]", &EvalError::Range { index: 3, length: 3 });
    fails("x.shape[-1]", &EvalError::Range { index: -1, length: 3 });
}

#[test]
fn ae_var() {
    check("[src[w, k].shape[0] for k < src.length]", "[4, 6, 8]");
    fails("[k for k < 0]", &EvalError::Empty);
    fails("[k for k < 100000000]", &EvalError::TooLong);
}

#[test]
fn ae_sum() {
    check("sum(src[w, k].shape[0] for k < src.length)", "18");
    check("[sum(src[w, k].shape[0] for k < j + 1) for j < src.length - 1]", "[4, 10]");
    fails("sum(k for k < 0)", &EvalError::Empty);
    check("product(x.shape)", "30");
    check("mean([1, 2])", "1.5");
    check("all(n > 1 for n in x.shape)", "true");
    fails("max(x.shape[0:0])", &EvalError::Empty);
}

#[test]
fn further_forms() {
    check("x.shape[1:]", "[3, 5]");
    check("range(9, 0, -4)", "[9, 5, 1]");
    check("reverse(x.shape)[0] + len(x.shape)", "8");
    check("x.dtype in [\"float16\", \"float32\"]", "true");
    check("zip([1, 2], [3, 4])", "[[1, 3], [2, 4]]");
    check("remap(\"NCHW\", \"NHWC\")", "[0, 2, 3, 1]");
    check("if len(x.shape) == 3 then sqrt(4) else 0.0", "2.0");
    check("native count(x, 1 + 1)", "2");
    fails("sqrt(-1)", &EvalError::Arithmetic("sqrt"));
    fails("native other()", &EvalError::Native("other".into()));
}

#[test]
fn am_any() {
    assert!(matching("_", 3));
    assert!(matching("_", vec![1, 2]));
}

#[test]
fn am_eval() {
    assert!(matching("len(x.shape)", 3));
    assert!(!matching("len(x.shape)", 4));
    assert!(!matching("x.strides", 4));
}

#[test]
fn am_tuple() {
    assert!(matching("[_, 3, x.shape[2]]", vec![9, 3, 5]));
    assert!(!matching("[_, 3, x.shape[2]]", vec![9, 3, 4]));
    assert!(!matching("[_, 3]", vec![9, 3, 5]));
}

#[test]
fn am_var() {
    // The length plays no part, and there may be `_` in the field.
    assert!(matching("[k * 2 for k < 99]", vec![0, 2, 4]));
    assert!(!matching("[k * 2 for k < 3]", vec![0, 2, 5]));
    assert!(matching("[[_, k] for k < 1]", vec![vec![7, 0], vec![8, 1]]));
}

//! TENSAT's lists of rules: a line for each output, `TERM=>TERM`.
//!
//! ```text
//! (ewadd (matmul ?a ?c) (matmul ?b ?c))=>(matmul (ewadd ?a ?b) ?c)
//! ```
//!
//! A term is `(operator number... term...)` or an input `?name`. In a list of pairs two lines
//! that follow each other are the outputs of one rule and share their inputs.

use rustc_hash::FxHashMap;

use super::graph::{Operand, Operator, RuleGraph, Side};
use super::{ImportError, Imported, collect};

/// Reads a list; with `pairs`, rules of two outputs each. Linear in the text.
///
/// # Errors
/// [`ImportError::Line`] for a line that is no rule.
pub fn tensat(text: &str, pairs: bool) -> Result<Imported, ImportError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut equations = Vec::new();
    for (i, line) in lines {
        let failed = |reason: &str| ImportError::Line { line: i + 1, reason: reason.to_owned() };
        let (from, to) = line.split_once("=>").ok_or_else(|| failed("there is no `=>`"))?;
        let read = |text| tokens(text).map_err(|reason| failed(&reason));
        equations.push((read(from)?, read(to)?));
    }
    let count = if pairs { 2 } else { 1 };
    Ok(collect("tensat", equations.chunks(count).map(rule).collect()))
}

type Tokens<'t> = Vec<&'t str>;

/// Cuts a term; its parentheses match and it is one term.
fn tokens(text: &str) -> Result<Tokens<'_>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    let mut depth = 0usize;
    while let Some(first) = rest.chars().next() {
        if depth == 0 && !found.is_empty() {
            return Err(format!("`{rest}` after the end of the term"));
        }
        let end = match first {
            '(' | ')' => 1,
            _ => {
                rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len())
            }
        };
        match first {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1).ok_or("a parenthesis is closed that is not open")?
            }
            _ => {}
        }
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    match (depth, found.is_empty()) {
        (0, false) => Ok(found),
        (0, true) => Err("there is no term".to_owned()),
        _ => Err("a parenthesis is not closed".to_owned()),
    }
}

fn rule<'t>(equations: &[(Tokens<'t>, Tokens<'t>)]) -> Result<RuleGraph, String> {
    let mut inputs = FxHashMap::default();
    let mut rule = RuleGraph::default();
    for (from, to) in equations {
        let output = term(from, &mut rule.source, &mut inputs)?;
        rule.source.outputs.push(output);
        let output = term(to, &mut rule.target, &mut inputs)?;
        rule.target.outputs.push(output);
    }
    Ok(rule)
}

/// An operator with what was read of it so far.
#[derive(Default)]
struct Open<'t> {
    name: &'t str,
    numbers: Vec<i64>,
    operands: Vec<Operand>,
}

fn term<'t>(
    tokens: &[&'t str],
    side: &mut Side,
    inputs: &mut FxHashMap<&'t str, usize>,
) -> Result<Operand, String> {
    let mut stack: Vec<Open<'t>> = vec![Open::default()];
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        at += 1;
        let operand = match token {
            "(" => {
                let name = tokens.get(at).copied().unwrap_or(")");
                at += 1;
                stack.push(Open { name, ..Open::default() });
                continue;
            }
            ")" => {
                let open = stack.pop().filter(|_| !stack.is_empty());
                apply(open.ok_or("a parenthesis is closed that is not open")?, side)?
            }
            _ if token.starts_with('?') => {
                let count = inputs.len();
                Operand::Input(*inputs.entry(token).or_insert(count))
            }
            _ => {
                let number = token.parse().map_err(|_| format!("`{token}` is no number"))?;
                stack.last_mut().ok_or("a number outside a term")?.numbers.push(number);
                continue;
            }
        };
        stack.last_mut().ok_or("an operand outside a term")?.operands.push(operand);
    }
    stack.pop().and_then(|top| top.operands.first().copied()).ok_or("there is no term".to_owned())
}

fn apply(open: Open<'_>, side: &mut Side) -> Result<Operand, String> {
    let Open { name, numbers, operands } = open;
    let plain = |operator| (operator, 0);
    let (operator, activation) = match (name, &numbers[..], operands.len()) {
        ("ewadd", [], 2) => plain(Operator::Add),
        ("ewmul", [], 2) => plain(Operator::Multiply),
        ("smul", [], 2) => plain(Operator::Scale),
        ("relu", [], 1) => plain(Operator::Relu),
        ("tanh", [], 1) => plain(Operator::Tanh),
        ("sigmoid", [], 1) => plain(Operator::Sigmoid),
        ("matmul", [], 2) => plain(Operator::Matmul),
        ("matmul", [activation], 2) => (Operator::Matmul, *activation),
        // The second number, if there is one, is the rank.
        ("concat", [axis], 2..) => plain(Operator::Concatenate { axis: *axis, rank: None }),
        ("concat", [axis, rank], 2..) => {
            plain(Operator::Concatenate { axis: *axis, rank: Some(*rank) })
        }
        ("split", [axis], 1) => plain(Operator::Split { axis: *axis }),
        ("split_0" | "split_1", [], 1) => {
            let part = usize::from(name == "split_1");
            return match operands[0] {
                Operand::Result(node, 0) => Ok(Operand::Result(node, part)),
                _ => Err(format!("`{name}` of what is no split")),
            };
        }
        ("conv2d", [h, w, padding, activation], 2) => {
            let same = Operator::is_same(*padding)?;
            (Operator::Conv { strides: [*h, *w], same, window: None }, *activation)
        }
        _ => {
            let (numbers, count) = (numbers.len(), operands.len());
            let text =
                format!("`{name}` of {numbers} numbers and {count} operands has no counterpart");
            return Err(text);
        }
    };
    side.add_active(operator, operands, activation)
}

//! The same workloads in egglog, which keeps e-graphs as relations and joins them.

use crate::outside::processor_seconds;
use crate::{MATH_EXPRS, MATH_RULES};
use egglog::EGraph;

const OPERATORS: [(&str, &str); 11] = [
    ("d", "Diff"),
    ("i", "Integral"),
    ("+", "Add"),
    ("-", "Sub"),
    ("*", "Mul"),
    ("/", "Div"),
    ("pow", "Pow"),
    ("ln", "Ln"),
    ("sqrt", "Sqrt"),
    ("sin", "Sin"),
    ("cos", "Cos"),
];

const LANGUAGE: &str =
    "(datatype Math (Diff Math Math) (Integral Math Math) (Add Math Math) (Sub Math Math)
    (Mul Math Math) (Div Math Math) (Pow Math Math) (Ln Math) (Sqrt Math) (Sin Math) (Cos Math)
    (Const i64) (Var String))";

/// What a run took and made.
pub struct Run {
    pub seconds: f64,
    pub nodes: usize,
}

/// Runs the math microbenchmark.
pub fn math(iterations: usize) -> Run {
    let mut program = LANGUAGE.to_owned();
    for (_, left, right) in MATH_RULES {
        program += &format!("\n(rewrite {} {})", translate(left), translate(right));
    }
    for expr in MATH_EXPRS {
        program += &format!("\n{}", translate(expr));
    }
    run(&program, iterations)
}

/// Runs associativity and commutativity over sums of so many terms, until nothing is new.
pub fn sums(terms: usize) -> Run {
    let sum = (1..terms).fold("0".to_owned(), |sum, term| format!("(+ {term} {sum})"));
    let rules = [("(+ ?a ?b)", "(+ ?b ?a)"), ("(+ ?a (+ ?b ?c))", "(+ (+ ?a ?b) ?c)")];
    let mut program = LANGUAGE.to_owned();
    for (left, right) in rules {
        program += &format!("\n(rewrite {} {})", translate(left), translate(right));
    }
    program += &format!("\n{}", translate(&sum));
    run(&program, 100)
}

fn run(program: &str, iterations: usize) -> Run {
    let mut egraph = EGraph::default();
    egraph.set_num_threads(1);
    egraph.parse_and_run_program(None, program).expect("the program is right");
    let start = processor_seconds();
    egraph.parse_and_run_program(None, &format!("(run {iterations})")).expect("the rules run");
    Run { seconds: processor_seconds() - start, nodes: egraph.num_tuples() }
}

/// Writes a term of egg's in egglog's language.
fn translate(term: &str) -> String {
    let spaced = term.replace('(', " ( ").replace(')', " ) ");
    let word = |word: &str| match OPERATORS.iter().find(|(name, _)| *name == word) {
        Some((_, operator)) => (*operator).to_owned(),
        None if word == "(" || word == ")" => word.to_owned(),
        None if word.starts_with('?') => word[1..].to_owned(),
        None if word.parse::<i64>().is_ok() => format!("(Const {word})"),
        None => format!("(Var {word:?})"),
    };
    spaced.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

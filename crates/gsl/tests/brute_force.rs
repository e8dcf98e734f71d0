//! The matcher against all injective assignments, on small random graphs and random rules.

mod support;

use std::collections::BTreeSet;

use proptest::prelude::*;
use support::Graph;
use tangram_gsl::ast::{PatId, PatternKind, Rule};
use tangram_gsl::text::parse;
use tangram_ir::{Module, Op, Value};

/// Operations of a random graph, and calls of a random rule: which, and from which earlier ones.
type Calls = Vec<(u8, usize, usize)>;

const UNARY: [&str; 2] = ["relu", "tanh"];
const BINARY: [&str; 2] = ["add", "subtract"];

fn name(kind: u8) -> &'static str {
    if kind < 2 { UNARY[usize::from(kind)] } else { BINARY[usize::from(kind) - 2] }
}

fn operands(kind: u8, a: &str, b: &str) -> String {
    if kind < 2 { a.to_owned() } else { format!("{a}, {b}") }
}

fn graph_text(calls: &Calls) -> String {
    let mut text = "v0, v1: f32[3]\n".to_owned();
    for (i, (kind, a, b)) in calls.iter().enumerate() {
        let (a, b) = (format!("v{}", a % (i + 2)), format!("v{}", b % (i + 2)));
        text += &format!("v{} = {}({})\n", i + 2, name(*kind), operands(*kind, &a, &b));
    }
    text
}

/// Outputs are the calls that no call uses; commutative ones are told by a bit.
fn rule_text(calls: &Calls, flags: u8, alias: bool) -> Option<String> {
    let mut used = BTreeSet::new();
    let mut text =
        format!("rule r {}{{ let p0 = *; let p1 = *;", if alias { "alias " } else { "" });
    for (i, (kind, a, b)) in calls.iter().enumerate() {
        let (a, b) = (a % (i + 2), b % (i + 2));
        used.insert(a);
        used.extend((*kind >= 2).then_some(b));
        let commutative = if *kind >= 2 && flags & (1 << i) != 0 { "commutative " } else { "" };
        let operands = operands(*kind, &format!("p{a}"), &format!("p{b}"));
        text += &format!("let p{} = {commutative}{}({operands});", i + 2, name(*kind));
    }
    let outputs: Vec<usize> = (2..calls.len() + 2).filter(|i| !used.contains(i)).collect();
    let list: Vec<String> = outputs.iter().map(|i| format!("p{i}")).collect();
    let input = if used.contains(&0) { "p0" } else { "p1" };
    let targets = vec![input; outputs.len()].join(", ");
    text += &format!("match {}; rewrite {targets}; }}", list.join(", "));
    (!outputs.is_empty()).then_some(text)
}

/// What each pattern of the source stands for, patterns in their order.
type Assignment = Vec<Value>;

struct Brute<'a> {
    rule: &'a Rule,
    module: &'a Module,
    order: Vec<PatId>,
    values: Vec<Value>,
}

impl Brute<'_> {
    fn holds(&self, chosen: &[Value]) -> bool {
        let value = |id: PatId| self.order.iter().position(|p| *p == id).map(|at| chosen[at]);
        self.order.iter().zip(chosen).all(|(id, made)| {
            let PatternKind::Call { op, args, commutative, .. } = &self.rule.pattern(*id).kind
            else {
                return true;
            };
            let Some(def) = self.module.def_op(*made) else { return false };
            let tangram_gsl::ast::OpChoice::Name(name) = &self.rule.op(*op).choice else {
                return false;
            };
            let wanted: Vec<_> = args.iter().map(|arg| value(*arg)).collect();
            let found: Vec<_> = self.module.operands(def).map(Some).collect();
            let turned: Vec<_> = found.iter().rev().copied().collect();
            let swaps = *commutative && name == "add";
            self.module.name_text(def) == format!("nn.{name}")
                && (wanted == found || (swaps && wanted == turned))
        })
    }

    fn all(&self) -> BTreeSet<Assignment> {
        let mut found = BTreeSet::new();
        let mut stack = vec![Vec::new()];
        while let Some(chosen) = stack.pop() {
            if chosen.len() == self.order.len() {
                if self.holds(&chosen) {
                    found.insert(chosen);
                }
                continue;
            }
            for value in &self.values {
                if self.rule.may_alias() || !chosen.contains(value) {
                    let mut chosen = chosen.clone();
                    chosen.push(*value);
                    stack.push(chosen);
                }
            }
        }
        found
    }
}

fn matched(graph: &Graph, text: &str, order: &[PatId]) -> BTreeSet<Assignment> {
    let rule = graph.rule(text);
    let mut found = BTreeSet::new();
    let ops: Vec<Op> = graph.module.ops(graph.module.body()).collect();
    for op in ops {
        let mut solver = rule.matches(&graph.module, op);
        while let Some(one) = solver.next_match() {
            let value = |id: &PatId| one.value(rule.plan(), &graph.module, *id).expect("bound");
            found.insert(order.iter().map(value).collect());
            assert!(rule.plan().prefix().admits(rule.plan(), &graph.module, op));
        }
    }
    found
}

fn calls(most: usize) -> impl Strategy<Value = Calls> {
    prop::collection::vec((0u8..4, 0usize..16, 0usize..16), 1..=most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_matcher_finds_what_brute_force_finds(
        graph in calls(5),
        pattern in calls(3),
        flags in 0u8..8,
        alias in any::<bool>(),
    ) {
        let Some(text) = rule_text(&pattern, flags, alias) else { return Ok(()) };
        let graph = Graph::new(&graph_text(&graph));
        let rule = parse(&text).expect("a rule").remove(0);
        let schema = tangram_gsl::schema::NnSchema::new(graph.module.context());
        let (_, found) = tangram_gsl::check::check_built(&rule, &schema);
        // Outputs that share nothing are no rule.
        prop_assume!(!tangram_gsl::check::has_errors(&found));
        let order = tangram_gsl::ast::subexpressions(&rule, rule.sources());
        let mut values: Vec<Value> = graph.values.values().copied().collect();
        values.sort_unstable();
        let brute = Brute { rule: &rule, module: &graph.module, order: order.clone(), values };
        prop_assert_eq!(matched(&graph, &text, &order), brute.all(), "{}", text);
    }
}

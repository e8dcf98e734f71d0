//! Files of e-graphs, terms and rules as nobody writes them, drawn from choices.
//!
//! Graphs have circles, classes without a finite term, children and roots that are not there, costs at
//! the limits of their type; rules are of every form, with words changed. What is read has to be an
//! e-graph: the same after a trip through text, with extractions that cost what they say.

use std::collections::BTreeSet;
use std::time::Duration;

use tangram_egraph::choices::Selection;
use tangram_egraph::{
    AstSize, Extractor, RecExpr, Runner, SerializedEGraph, SymbolLang, parse_rules,
};

/// Draws a number below the given one: at random in tests, from bytes when fuzzing.
pub type Draw<'a> = &'a mut dyn FnMut(usize) -> usize;

fn one_of<'a>(draw: Draw, all: &[&'a str]) -> &'a str {
    all[draw(all.len())]
}

const OPERATORS: [&str; 9] = ["+", "f", "g", "x", "0", "(", "?v", "\u{202e}", ""];
const COSTS: [&str; 9] = ["1", "1", "2.5", "0", "-3", "1e308", "1e-308", "1e999", "null"];

/// An e-graph in JSON; one in four has something that is not there.
pub fn graph(draw: Draw) -> String {
    let count = draw(12);
    let classes = 1 + draw(8);
    let broken = draw(4) == 0;
    let mut node = |name: usize| {
        let beyond = if broken { 2 } else { 0 };
        let children = (0..draw(7).saturating_sub(3)).map(|_| draw(count + beyond).to_string());
        let children = children.collect::<Vec<_>>();
        let op = one_of(draw, &OPERATORS);
        let class = draw(classes);
        let mut fields =
            serde_json::json!({"op": op, "children": children, "eclass": class.to_string()});
        let cost = one_of(draw, &COSTS);
        if draw(2) == 0
            && let Ok(cost) = serde_json::from_str(cost)
        {
            fields["cost"] = cost;
        }
        (name.to_string(), fields)
    };
    let nodes: Vec<(String, serde_json::Value)> = (0..count).map(&mut node).collect();
    let roots: Vec<serde_json::Value> = (0..draw(4))
        .map(|_| match nodes.is_empty() || broken {
            true => draw(classes).to_string().into(),
            false => nodes[draw(nodes.len())].1["eclass"].clone(),
        })
        .collect();
    let nodes: serde_json::Map<String, serde_json::Value> = nodes.into_iter().collect();
    serde_json::json!({"nodes": nodes, "root_eclasses": roots, "class_data": {}}).to_string()
}

/// A pattern or term of some depth.
fn pattern(draw: Draw, depth: usize, variables: bool) -> String {
    match draw(if depth == 0 { 3 } else { 5 }) {
        0 if variables => one_of(draw, &["?a", "?b", "?c"]).to_owned(),
        0 | 1 => one_of(draw, &["x", "0", "1"]).to_owned(),
        2 => one_of(draw, &["y", "-1", "é"]).to_owned(),
        _ => {
            let operator = one_of(draw, &["+", "*", "f", "cat"]);
            let children: Vec<String> =
                (0..1 + draw(3)).map(|_| pattern(draw, depth - 1, variables)).collect();
            format!("({operator} {})", children.join(" "))
        }
    }
}

/// A file of up to six rules; one in three has words changed.
pub fn rules(draw: Draw) -> String {
    let mut text = String::new();
    for number in 0..draw(7) {
        let side = |draw: Draw| pattern(draw, 2, true);
        let (left, right) = (side(draw), side(draw));
        let rule = match draw(5) {
            0 => format!("{left} <=> {right}"),
            1 => format!("{left} => {right} if {} = {}", side(draw), side(draw)),
            2 => format!("?p = {left}, ?q = {} => ?p = {right}", side(draw)),
            _ => format!("{left} => {right}"),
        };
        text += &format!("r{number}: {rule}\n");
    }
    if draw(3) == 0 {
        for _ in 0..=draw(3) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            if places.is_empty() {
                break;
            }
            let at = places[draw(places.len())];
            let word =
                one_of(draw, &["(", ")", "=>", "<=>", "?", "=", "if", ",", ":", "#", "\n", " "]);
            text.insert_str(at, word);
        }
    }
    text
}

/// Reads what two files say, runs the rules within limits, and checks what comes out. Says whether there
/// was an e-graph.
pub fn follow(draw: Draw) -> bool {
    let (text, rules) = (graph(draw), rules(draw));
    let term = pattern(draw, 3, false);
    let rules = match parse_rules(&rules) {
        Ok(rules) => rules,
        Err(error) => {
            assert!(error.line <= rules.lines().count().max(1), "{error}\n{rules}");
            Vec::new()
        }
    };
    let Ok(read) = SerializedEGraph::from_json(&text) else { return false };
    extracted(&read, &text);
    let Ok((egraph, roots)) = read.build() else { return false };
    // Classes may have become one, by congruence; none is split.
    let classes: BTreeSet<&str> = read.nodes.values().map(|node| node.eclass.as_str()).collect();
    assert!(egraph.number_of_classes() <= classes.len(), "{text}");
    assert_eq!(roots.len(), read.root_eclasses.len(), "{text}");
    let term: RecExpr<SymbolLang> = term.parse().expect("a term without brackets in its words");
    let runner = Runner::<SymbolLang, ()>::default()
        .with_iter_limit(4)
        .with_node_limit(300)
        .with_time_limit(Duration::from_secs(1))
        .with_egraph(egraph)
        .with_expr(&term)
        .run(&rules);
    let all: Vec<_> = roots.iter().chain(&runner.roots).copied().collect();
    for &root in &all {
        let (cost, best) = Extractor::new(&runner.egraph, AstSize).find_best(root);
        assert_eq!(cost, nodes_of_tree(&best), "{text}");
        assert_eq!(runner.egraph.lookup_expr(&best), Some(runner.egraph.find(root)), "{text}");
    }
    let written = SerializedEGraph::new(&runner.egraph, &all, |_, _| 1.0);
    let json = written.to_json().expect("costs are finite");
    let again = SerializedEGraph::from_json(&json).expect("what is written is read");
    assert_eq!(again, written);
    let (rebuilt, ids) = again.build().expect("every class has a finite term");
    assert_eq!(rebuilt.number_of_classes(), runner.egraph.number_of_classes(), "{text}");
    assert_eq!(ids.len(), all.len(), "{text}");
    true
}

/// How many operators a term has where parts that are shared count each time.
fn nodes_of_tree(term: &RecExpr<SymbolLang>) -> usize {
    let mut sizes = Vec::new();
    for node in term.iter() {
        sizes.push(1 + node.children.iter().map(|&id| sizes[usize::from(id)]).sum::<usize>());
    }
    sizes.last().copied().unwrap_or(0)
}

/// Every way to choose terms gives finite ones of the cost that it says, the exact one the least.
fn extracted(read: &SerializedEGraph, text: &str) {
    let (choices, roots) = read.choices();
    let cost = |selection: &Selection| choices.dag_cost(selection, &roots);
    let found = choices.best(&roots, Duration::from_millis(200));
    let (trees, greedy) = (cost(&choices.cheapest_trees()), cost(&choices.greedy()));
    // Whether there is a term does not depend on the way.
    assert_eq!((trees.is_some(), greedy.is_some()), (found.is_some(), found.is_some()), "{text}");
    let Some(found) = found else { return };
    let best = cost(&found.selection).expect("a finite term");
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    assert!(near(best, found.cost), "{best} {} {text}", found.cost);
    for other in [trees, greedy].into_iter().flatten() {
        assert!(best <= other || near(best, other), "{best} {other} {text}");
    }
    assert!(found.bound <= found.cost || near(found.bound, found.cost), "{text}");
    let terms = read.terms(&choices, &found.selection, &roots).expect("they are finite");
    assert_eq!(terms.roots.len(), roots.len(), "{text}");
}

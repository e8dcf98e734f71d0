//! What changed from one model to another, node by node.
//!
//! Nodes are paired structurally, not by name: two nodes are the same if they have the same
//! operator and attributes and take the same values, where inputs are the same by name and weights
//! by content. A change would make everything behind it another value, so what is left is paired
//! backwards as well, by who uses it, and then by the names of outputs.
//!
//! ```text
//! a: x -> Relu -> Relu -> MatMul(w) -> y      - Relu
//! b: x -> Relu ---------> MatMul(w) -> y      (the rest is the same)
//! ```

mod detail;
mod node;
mod pair;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use rustc_hash::FxHashMap;
use serde::Serialize;
use tangram_onnx::file::Loaded;
use tangram_onnx::proto::{ModelProto, ValueInfoProto};

use crate::report::{BeforeAfter, compare, histogram};
pub use node::Node;

/// How two models differ.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Diff {
    /// How many nodes are the same in both.
    pub same: usize,
    /// Nodes of the first model that the second has not.
    pub removed: Vec<Node>,
    /// Nodes of the second model that the first has not.
    pub added: Vec<Node>,
    /// Nodes that make the same values in another way.
    pub changed: Vec<Changed>,
    /// Operators whose number differs.
    pub operators: BTreeMap<String, BeforeAfter<usize>>,
    /// What else differs: inputs, outputs, operator sets, producer.
    pub interface: Vec<String>,
}

/// A node that is there in both models, with what is not the same.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Changed {
    /// In the first model.
    pub before: Node,
    /// In the second.
    pub after: Node,
    /// What differs and both lines do not show: elements of long attributes, weights.
    pub hidden: Vec<String>,
}

impl Diff {
    /// Compares the graphs of two models; graphs inside nodes are part of their attributes.
    pub fn of(first: &Loaded, second: &Loaded) -> Diff {
        let (a, b) = (&first.model, &second.model);
        let (left, right) = (node::nodes(a), node::nodes(b));
        let pairs = pair::pairs(first, second, &left, &right);
        let mut diff = Diff { same: pairs.same.len(), ..Diff::default() };
        let (mut a_seen, mut b_seen) = (vec![false; left.len()], vec![false; right.len()]);
        let changed = pairs.changed.iter().map(|(x, y, _)| (*x, *y));
        for (x, y) in pairs.same.iter().copied().chain(changed) {
            (a_seen[x], b_seen[y]) = (true, true);
        }
        let changed = |(x, y, hidden): &(usize, usize, Vec<String>)| Changed {
            before: left[*x].clone(),
            after: right[*y].clone(),
            hidden: hidden.clone(),
        };
        diff.changed = pairs.changed.iter().map(changed).collect();
        let rest = |nodes: &[Node], seen: &[bool]| {
            let unseen = nodes.iter().zip(seen).filter(|(_, seen)| !**seen);
            unseen.map(|(node, _)| node.clone()).collect::<Vec<_>>()
        };
        diff.removed = rest(&left, &a_seen);
        diff.added = rest(&right, &b_seen);
        diff.operators = compare(&histogram(a), &histogram(b));
        diff.operators.retain(|_, count| count.before != count.after);
        diff.interface = interface(a, b);
        diff
    }

    /// Whether nothing differs but names inside.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty()
            && self.added.is_empty()
            && self.changed.is_empty()
            && self.interface.is_empty()
    }

    /// The difference as text, with at most `most` nodes of each kind.
    pub fn render(&self, most: usize) -> String {
        let mut out = String::new();
        for line in &self.interface {
            let _ = writeln!(out, "! {line}");
        }
        listed(&mut out, &self.removed, most, |node| format!("- {node}"));
        listed(&mut out, &self.added, most, |node| format!("+ {node}"));
        listed(&mut out, &self.changed, most, |pair| {
            let hidden = pair.hidden.iter().map(|line| format!("\n  {line}"));
            format!("- {}\n+ {}{}", pair.before, pair.after, hidden.collect::<String>())
        });
        for (name, count) in &self.operators {
            let _ = writeln!(out, "  {name}: {} -> {}", count.before, count.after);
        }
        let (gone, new, other) = (self.removed.len(), self.added.len(), self.changed.len());
        let _ = writeln!(
            out,
            "{} nodes are the same, {gone} removed, {new} added, {other} changed",
            self.same
        );
        out
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(usize::MAX))
    }
}

fn listed<T>(out: &mut String, items: &[T], most: usize, show: impl Fn(&T) -> String) {
    for item in items.iter().take(most) {
        let _ = writeln!(out, "{}", show(item));
    }
    if items.len() > most {
        let _ = writeln!(out, "  ... {} more", items.len() - most);
    }
}

/// What differs besides nodes, a line for each.
fn interface(a: &ModelProto, b: &ModelProto) -> Vec<String> {
    let mut lines = Vec::new();
    let graphs = (a.graph.as_ref(), b.graph.as_ref());
    if let (Some(x), Some(y)) = graphs {
        ends(&mut lines, "input", &x.input, &y.input);
        ends(&mut lines, "output", &x.output, &y.output);
    }
    let sets = |model: &ModelProto| -> BTreeMap<String, i64> {
        let name = |domain: &str| if domain.is_empty() { "ai.onnx" } else { domain }.to_owned();
        model.opset_import.iter().map(|set| (name(set.domain()), set.version())).collect()
    };
    let (old, new) = (sets(a), sets(b));
    for (domain, version) in &old {
        match new.get(domain) {
            None => lines.push(format!("operator set {domain} {version} is gone")),
            Some(other) if other != version => {
                lines.push(format!("operator set {domain}: {version} -> {other}"));
            }
            Some(_) => {}
        }
    }
    let fresh = new.iter().filter(|(domain, _)| !old.contains_key(*domain));
    lines.extend(fresh.map(|(domain, version)| format!("operator set {domain} {version} is new")));
    lines
}

fn ends(lines: &mut Vec<String>, kind: &str, old: &[ValueInfoProto], new: &[ValueInfoProto]) {
    let named = |infos: &'_ [ValueInfoProto]| -> FxHashMap<String, usize> {
        // Of several of one name the first.
        let all = infos.iter().enumerate().rev();
        all.map(|(at, info)| (info.name().to_owned(), at)).collect()
    };
    let (known, later) = (named(old), named(new));
    for before in old {
        match later.get(before.name()).map(|&at| &new[at]) {
            None => lines.push(format!("{kind} {} is gone", node::described(before))),
            Some(after) if after.r#type != before.r#type => {
                let (x, y) = (node::described(before), node::described(after));
                lines.push(format!("{kind} {x} became {y}"));
            }
            Some(_) => {}
        }
    }
    let fresh = new.iter().filter(|info| !known.contains_key(info.name()));
    lines.extend(fresh.map(|info| format!("{kind} {} is new", node::described(info))));
}

//! Proofs as trees of terms.

use super::flat::{FlatExplanation, FlatTerm};
use crate::core::{Op, Proof};
use crate::{FromOp, Language, Symbol};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::fmt::Display;
use std::rc::Rc;

/// A chain of terms; the first is where it starts, each other one continues from the last.
pub type TreeExplanation<L> = Vec<Rc<TreeTerm<L>>>;

/// A term whose children change one by one.
///
/// It starts with the first term of each child's proof and ends with the last of each. A rule, if
/// there is one, leads from the end of the term before to the start of this one: `forward_rule`
/// rewrites that to this, `backward_rule` this to that.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreeTerm<L: Language> {
    /// The operator; its children mean nothing.
    pub node: L,
    /// The rule that rewrites this term to the last one.
    pub backward_rule: Option<Symbol>,
    /// The rule that rewrites the last term to this one.
    pub forward_rule: Option<Symbol>,
    /// For each child the proof from its first to its last term.
    pub child_proofs: Vec<TreeExplanation<L>>,
}

impl<L: Language> TreeTerm<L> {
    /// Makes a term without a rule.
    pub fn new(node: L, child_proofs: Vec<TreeExplanation<L>>) -> Self {
        TreeTerm { node, backward_rule: None, forward_rule: None, child_proofs }
    }

    /// Returns the term at the start.
    pub fn get_initial_flat_term(&self) -> FlatTerm<L> {
        let first = |proof: &TreeExplanation<L>| proof[0].get_initial_flat_term();
        FlatTerm::new(self.node.clone(), self.child_proofs.iter().map(first).collect())
    }

    /// Returns the term at the end.
    pub fn get_last_flat_term(&self) -> FlatTerm<L> {
        let last = |proof: &TreeExplanation<L>| proof[proof.len() - 1].get_last_flat_term();
        FlatTerm::new(self.node.clone(), self.child_proofs.iter().map(last).collect())
    }

    /// Lists the terms on the way, changing one child after the other.
    pub fn flatten_explanation(&self) -> FlatExplanation<L> {
        let mut first = self.get_initial_flat_term();
        first.backward_rule = self.backward_rule;
        first.forward_rule = self.forward_rule;
        let mut terms = vec![first];
        for (place, proof) in self.child_proofs.iter().enumerate() {
            let base = terms[terms.len() - 1].remove_rewrites();
            for child in flatten(proof).into_iter().skip(1) {
                let mut term = base.clone();
                term.children[place] = child;
                terms.push(term);
            }
        }
        terms
    }
}

/// Lists all terms of a chain.
pub(crate) fn flatten<L: Language>(proof: &[Rc<TreeTerm<L>>]) -> FlatExplanation<L> {
    let mut terms: FlatExplanation<L> = Vec::new();
    for (number, step) in proof.iter().enumerate() {
        let ruled = step.forward_rule.is_some() || step.backward_rule.is_some();
        let known = usize::from(number > 0 && !ruled);
        terms.extend(step.flatten_explanation().into_iter().skip(known));
    }
    terms
}

/// Builds the tree of a proof; chains that the proof shares are shared.
pub(crate) fn build<L: Language>(
    proof: &Proof,
    mut node: impl FnMut(Op) -> L,
) -> TreeExplanation<L> {
    let mut made: FxHashMap<u32, TreeExplanation<L>> = FxHashMap::default();
    let mut stack = vec![proof.root];
    while let Some(&top) = stack.last() {
        let steps = &proof.chains[top as usize];
        let before = stack.len();
        let kids = steps.iter().flat_map(|step| &step.kids);
        stack.extend(kids.copied().filter(|kid| !made.contains_key(kid)));
        if stack.len() > before {
            continue;
        }
        stack.pop();
        if made.contains_key(&top) {
            continue;
        }
        let chain = steps.iter().map(|step| {
            let kids = step.kids.iter().map(|kid| made[kid].clone()).collect();
            let mut term = TreeTerm::new(node(step.op), kids);
            match step.rule {
                Some((name, true)) => term.forward_rule = Some(name),
                Some((name, false)) => term.backward_rule = Some(name),
                None => {}
            }
            Rc::new(term)
        });
        let chain = chain.collect();
        made.insert(top, chain);
    }
    made.remove(&proof.root).unwrap_or_default()
}

/// Counts the rules in a chain, those of shared parts each time.
pub(crate) fn size<L: Language>(proof: &[Rc<TreeTerm<L>>]) -> BigUint {
    let mut known: FxHashMap<*const TreeTerm<L>, BigUint> = FxHashMap::default();
    let mut stack: Vec<&Rc<TreeTerm<L>>> = proof.iter().collect();
    while let Some(&top) = stack.last() {
        let before = stack.len();
        let kids = top.child_proofs.iter().flatten();
        stack.extend(kids.filter(|kid| !known.contains_key(&Rc::as_ptr(kid))));
        if stack.len() > before {
            continue;
        }
        stack.pop();
        let own = u32::from(top.forward_rule.is_some() || top.backward_rule.is_some());
        let kids = top.child_proofs.iter().flatten();
        let sum = kids.fold(BigUint::from(own), |sum, kid| sum + &known[&Rc::as_ptr(kid)]);
        known.insert(Rc::as_ptr(top), sum);
    }
    let terms = proof.iter().map(|term| &known[&Rc::as_ptr(term)]);
    terms.fold(BigUint::ZERO, |sum, term| sum + term)
}

/// Writes a term; `name` may replace a shared part by a name.
fn write<L, F>(term: &TreeTerm<L>, name: &F) -> String
where
    L: Language + Display,
    F: Fn(*const TreeTerm<L>) -> Option<String>,
{
    let mut text = term.node.to_string();
    if !term.child_proofs.is_empty() {
        let child = |proof: &TreeExplanation<L>| match proof.as_slice() {
            [only] => name(Rc::as_ptr(only)).unwrap_or_else(|| write(only, name)),
            steps => {
                let steps = steps
                    .iter()
                    .map(|step| name(Rc::as_ptr(step)).unwrap_or_else(|| write(step, name)));
                format!("(Explanation {})", steps.collect::<Vec<_>>().join(" "))
            }
        };
        let children: Vec<String> = term.child_proofs.iter().map(child).collect();
        text = format!("({text} {})", children.join(" "));
    }
    if let Some(rule) = term.backward_rule {
        text = format!("(Rewrite<= {rule} {text})");
    }
    if let Some(rule) = term.forward_rule {
        text = format!("(Rewrite=> {rule} {text})");
    }
    text
}

/// Writes a chain, one term a line.
pub(crate) fn show<L: Language + Display + FromOp>(proof: &[Rc<TreeTerm<L>>]) -> String {
    let lines = proof.iter().map(|term| write(term, &|_| None));
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes a chain with a name for each part that is used more than once.
pub(crate) fn show_with_let<L: Language + Display + FromOp>(proof: &[Rc<TreeTerm<L>>]) -> String {
    let mut uses: FxHashMap<*const TreeTerm<L>, usize> = FxHashMap::default();
    let mut order: Vec<&Rc<TreeTerm<L>>> = Vec::new();
    let mut stack: Vec<(&Rc<TreeTerm<L>>, bool)> =
        proof.iter().rev().map(|term| (term, false)).collect();
    while let Some((term, done)) = stack.pop() {
        if done {
            order.push(term);
            continue;
        }
        let count = uses.entry(Rc::as_ptr(term)).or_default();
        *count += 1;
        if *count == 1 {
            stack.push((term, true));
            stack.extend(term.child_proofs.iter().flatten().map(|kid| (kid, false)));
        }
    }
    let mut names: FxHashMap<*const TreeTerm<L>, String> = FxHashMap::default();
    let mut bindings = Vec::new();
    for term in order {
        if uses[&Rc::as_ptr(term)] > 1 && !term.child_proofs.is_empty() {
            let text = write(term, &|part| names.get(&part).cloned());
            let name = format!("v_{}", names.len());
            bindings.push(format!("({name} {text})"));
            names.insert(Rc::as_ptr(term), name);
        }
    }
    let lines = proof.iter().map(|term| write(term, &|part| names.get(&part).cloned()));
    let body = lines.collect::<Vec<_>>().join("\n");
    match bindings.is_empty() {
        true => body,
        false => format!("(let ({})\n{body})", bindings.join("\n")),
    }
}

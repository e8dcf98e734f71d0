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
        self.end_term(|proof| proof.first())
    }

    /// Returns the term at the end.
    pub fn get_last_flat_term(&self) -> FlatTerm<L> {
        self.end_term(|proof| proof.last())
    }

    /// Makes the term with one end of the proof of each child.
    fn end_term(&self, end: fn(&[Rc<Self>]) -> Option<&Rc<Self>>) -> FlatTerm<L> {
        let mut root = Vec::with_capacity(1);
        let mut stack: Vec<(&Self, FlatExplanation<L>)> = vec![(self, Vec::new())];
        while let Some((term, done)) = stack.last_mut() {
            match term.child_proofs.get(done.len()).and_then(|proof| end(proof)) {
                Some(child) => stack.push((child, Vec::with_capacity(child.child_proofs.len()))),
                None => {
                    let made = FlatTerm::new(term.node.clone(), std::mem::take(done));
                    stack.pop();
                    stack.last_mut().map_or(&mut root, |above| &mut above.1).push(made);
                }
            }
        }
        root.swap_remove(0)
    }

    /// Lists the terms on the way, changing one child after the other.
    ///
    /// One term is kept and changed at the place where the walk is, so that the cost is that of
    /// the terms listed, however deep they are.
    pub fn flatten_explanation(&self) -> FlatExplanation<L> {
        let mut whole = self.get_initial_flat_term();
        let mut terms = Vec::new();
        self.mark_and_list(&mut whole, &[], &mut terms);
        let mut stack = vec![Visit { term: self, rest: &[], child: 0 }];
        while let Some(visit) = stack.last_mut() {
            if let Some((first, rest)) =
                visit.term.child_proofs.get(visit.child).and_then(|proof| proof.split_first())
            {
                visit.child += 1;
                stack.push(Visit { term: first, rest, child: 0 });
            } else if let Some((next, rest)) = visit.rest.split_first() {
                *visit = Visit { term: next, rest, child: 0 };
                if next.is_ruled() {
                    let above = &stack[..stack.len() - 1];
                    let path: Vec<usize> = above.iter().map(|visit| visit.child - 1).collect();
                    *at_path(&mut whole, &path) = next.get_initial_flat_term();
                    next.mark_and_list(&mut whole, &path, &mut terms);
                }
            } else {
                stack.pop();
            }
        }
        terms
    }

    fn is_ruled(&self) -> bool {
        self.forward_rule.is_some() || self.backward_rule.is_some()
    }

    /// Lists a term with the rules of this one at a place.
    fn mark_and_list(
        &self,
        whole: &mut FlatTerm<L>,
        path: &[usize],
        terms: &mut FlatExplanation<L>,
    ) {
        let place = at_path(whole, path);
        (place.backward_rule, place.forward_rule) = (self.backward_rule, self.forward_rule);
        terms.push(whole.clone());
        let place = at_path(whole, path);
        (place.backward_rule, place.forward_rule) = (None, None);
    }
}

/// A term under way: the later terms of its chain, and the child that comes next.
struct Visit<'a, L: Language> {
    term: &'a TreeTerm<L>,
    rest: &'a [Rc<TreeTerm<L>>],
    child: usize,
}

fn at_path<'a, L: Language>(whole: &'a mut FlatTerm<L>, path: &[usize]) -> &'a mut FlatTerm<L> {
    path.iter().fold(whole, |term, &child| &mut term.children[child])
}

impl<L: Language> Drop for TreeTerm<L> {
    /// Takes deep proofs apart without recursion.
    fn drop(&mut self) {
        let mut todo: Vec<Rc<Self>> = self.child_proofs.drain(..).flatten().collect();
        while let Some(term) = todo.pop() {
            if let Some(mut term) = Rc::into_inner(term) {
                todo.extend(term.child_proofs.drain(..).flatten());
            }
        }
    }
}

/// Lists all terms of a chain.
pub(crate) fn flatten<L: Language>(proof: &[Rc<TreeTerm<L>>]) -> FlatExplanation<L> {
    let mut terms: FlatExplanation<L> = Vec::new();
    for (number, step) in proof.iter().enumerate() {
        let known = usize::from(number > 0 && !step.is_ruled());
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

/// What is left to write.
enum Piece<'a, L: Language> {
    Part(&'a TreeTerm<L>),
    Text(&'static str),
}

/// Writes a term; `name` may replace a shared part by a name.
fn write<L, F>(root: &TreeTerm<L>, name: &F) -> String
where
    L: Language + Display,
    F: Fn(*const TreeTerm<L>) -> Option<String>,
{
    let mut text = String::new();
    let mut todo = vec![Piece::Part(root)];
    while let Some(piece) = todo.pop() {
        let term = match piece {
            Piece::Text(more) => {
                text += more;
                continue;
            }
            Piece::Part(term) => term,
        };
        let named = if std::ptr::eq(term, root) { None } else { name(std::ptr::from_ref(term)) };
        match named {
            Some(name) => text += &name,
            None => open(term, &mut text, &mut todo),
        }
    }
    text
}

/// Writes the head of a term and leaves its children to be written.
fn open<'a, L: Language + Display>(
    term: &'a TreeTerm<L>,
    text: &mut String,
    todo: &mut Vec<Piece<'a, L>>,
) {
    for (arrow, rule) in [("=>", term.forward_rule), ("<=", term.backward_rule)] {
        if let Some(rule) = rule {
            *text += &format!("(Rewrite{arrow} {rule} ");
            todo.push(Piece::Text(")"));
        }
    }
    if term.child_proofs.is_empty() {
        *text += &term.node.to_string();
        return;
    }
    *text += &format!("({}", term.node);
    todo.push(Piece::Text(")"));
    for proof in term.child_proofs.iter().rev() {
        if proof.len() != 1 {
            todo.push(Piece::Text(")"));
        }
        for step in proof.iter().rev() {
            todo.push(Piece::Part(step));
            todo.push(Piece::Text(" "));
        }
        if proof.len() != 1 {
            todo.push(Piece::Text(" (Explanation"));
        }
    }
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

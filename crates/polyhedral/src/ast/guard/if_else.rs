//! Conditions in front of the code they guard, and what runs otherwise.

use std::collections::VecDeque;

use tangram_presburger::Relation;

use crate::Error;
use crate::ast::generate::build::{Builder, Graft, Surroundings};
use crate::ast::{AstNode, AstNodeKind, ExprKind};

/// So many conditions are looked at for one chain.
const LONGEST: usize = 4;

/// Code and the condition that is left of it in a chain.
struct Choice {
    guard: Relation,
    body: Vec<AstNode>,
}

impl Builder<'_> {
    /// Puts conditions in front of the code they guard, equal neighbours under one, and
    /// neighbours of which exactly one runs into a chain.
    pub fn assemble(
        &mut self,
        grafts: Vec<Graft>,
        place: &Surroundings,
    ) -> Result<Option<AstNode>, Error> {
        let mut nodes = Vec::new();
        let grafts = self.joined(grafts)?;
        let mut rest = VecDeque::from(self.nested(grafts, place)?);
        while let Some(graft) = rest.pop_front() {
            let Some(guard) = graft.guard else {
                nodes.push(graft.node);
                continue;
            };
            let body = run_of(graft.node, &guard, &mut rest);
            let mut choices = self.alternatives(Choice { guard, body }, &mut rest, place)?;
            let mut otherwise = match choices.len() {
                1 => None,
                _ => choices.pop().and_then(|last| self.ast.block(last.body)),
            };
            for Choice { guard, body } in choices.into_iter().rev() {
                let condition = self.condition(&guard, place)?;
                let Some(then) = self.ast.block(body) else { continue };
                otherwise = Some(match self.ast.expr(condition) {
                    ExprKind::Int(1) => then,
                    _ => self.ast.add(AstNodeKind::If { condition, then, otherwise }),
                });
            }
            nodes.extend(otherwise);
        }
        Ok(self.ast.block(nodes))
    }

    /// Puts neighbours that make the same call under one condition.
    fn joined(&self, grafts: Vec<Graft>) -> Result<Vec<Graft>, Error> {
        let mut result: Vec<Graft> = Vec::with_capacity(grafts.len());
        for graft in grafts {
            if let Some(last) = result.last_mut()
                && self.is_same_call(last.node, graft.node)
                && let (Some(a), Some(b)) = (&last.guard, &graft.guard)
                && a.conjunctions().len() + b.conjunctions().len() <= LONGEST
                && a.space() == b.space()
                // A call that runs twice stands there twice.
                && a.is_disjoint(b, self.budget)?
            {
                let guard = a.union(b)?.coalesce(self.budget)?;
                last.guard = self.conjunction(Some(guard), None)?;
                continue;
            }
            result.push(graft);
        }
        Ok(result)
    }

    fn is_same_call(&self, a: AstNode, b: AstNode) -> bool {
        match (self.ast.node(a), self.ast.node(b)) {
            (
                AstNodeKind::Call { statement, arguments },
                AstNodeKind::Call { statement: other, arguments: others },
            ) => statement == other && arguments == others,
            _ => false,
        }
    }

    /// Takes the neighbours that run where the first does not, if of all exactly one runs
    /// wherever the code can be.
    fn alternatives(
        &self,
        first: Choice,
        rest: &mut VecDeque<Graft>,
        place: &Surroundings,
    ) -> Result<Vec<Choice>, Error> {
        let small = |set: &Relation| {
            set.conjunctions().len() <= 2 && set.space().output.dims.len() == place.depth
        };
        let is_guarded = rest.front().is_some_and(|graft| graft.guard.is_some());
        if !is_guarded || !small(&first.guard) {
            return Ok(vec![first]);
        }
        let known = place.known.relation(self.space(place.depth))?;
        let mut left: Option<Relation> = None;
        let mut guards = vec![first.guard.clone()];
        for graft in rest.iter() {
            let Some(guard) = &graft.guard else { break };
            let parts = guard.conjunctions();
            if guards.last().is_some_and(|last| last.conjunctions() == parts) {
                continue;
            }
            // What runs where an earlier one does is no alternative.
            let here = known.intersect(guard, self.budget)?;
            let apart = |earlier: &Relation| {
                here.intersect(earlier, self.budget).and_then(|both| both.is_empty(self.budget))
            };
            if guards.len() == LONGEST || !small(guard) || !all(guards.iter().map(apart))? {
                break;
            }
            let before = match left.take() {
                Some(left) => left,
                None => known.subtract(&first.guard, self.budget)?,
            };
            let after = before.subtract(guard, self.budget)?;
            guards.push(guard.clone());
            if after.is_empty(self.budget)? {
                let mut choices = vec![first];
                for guard in guards.into_iter().skip(1) {
                    let Some(graft) = rest.pop_front() else { break };
                    let body = run_of(graft.node, &guard, rest);
                    choices.push(Choice { guard, body });
                }
                return self.chain(choices, known);
            }
            left = Some(after);
        }
        Ok(vec![first])
    }

    /// Orders choices so that the longest condition is the one that is not written, and leaves
    /// out of each what follows from the ones before it.
    fn chain(&self, mut choices: Vec<Choice>, known: Relation) -> Result<Vec<Choice>, Error> {
        let rows = |choice: &Choice| -> usize {
            let parts = choice.guard.conjunctions();
            parts.iter().map(|part| part.equalities.len() + part.inequalities.len()).sum()
        };
        if let Some(longest) = (0..choices.len()).max_by_key(|at| rows(&choices[*at])) {
            let last = choices.remove(longest);
            choices.push(last);
        }
        let mut left = known;
        for choice in &mut choices {
            let short = self.needed(&choice.guard, &left)?;
            left = left.subtract(&choice.guard, self.budget)?;
            if short.conjunctions().len() == 1 {
                choice.guard = short;
            }
        }
        Ok(choices)
    }
}

/// Returns whether all answers are yes.
fn all(
    answers: impl Iterator<Item = Result<bool, tangram_presburger::Error>>,
) -> Result<bool, Error> {
    for answer in answers {
        if !answer? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes a node and those that follow it under the same condition.
fn run_of(node: AstNode, guard: &Relation, rest: &mut VecDeque<Graft>) -> Vec<AstNode> {
    let parts = guard.conjunctions();
    let same =
        |next: &Graft| next.guard.as_ref().is_some_and(|other| other.conjunctions() == parts);
    let mut body = vec![node];
    while rest.front().is_some_and(same) {
        body.extend(rest.pop_front().map(|next| next.node));
    }
    body
}

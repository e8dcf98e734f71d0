//! The operands of calls: tuples spread out, any order, nested calls flattened.

use std::rc::Rc;

use tangram_dialects::constant::is_none_type;
use tangram_ir::{Module, Op, Traits, Value};

use super::bindings::{Bound, Frame, Target};
use super::solver::{Check, Goal, Solver};
use crate::ast::{PatId, PatternKind};
use crate::plan::Operand;

/// The most ways of cutting operands into groups, or of flattening calls, that are tried.
const MAX_WAYS: usize = 720;

/// Counts the operands of an operation up to the last that is not absent.
pub(crate) fn given_operands(module: &Module, op: Op) -> usize {
    let given = |value: Value| !is_none_type(module.context(), module.value_type(value));
    let last = module.operands(op).enumerate().rfind(|(_, value)| given(*value));
    last.map_or(0, |(i, _)| i + 1)
}

impl Solver<'_> {
    /// Lists the ways in which the operands of `op` may meet those of call `id`.
    pub(super) fn operand_orders(&self, frame: Frame, id: PatId, op: Op) -> Vec<Goal> {
        let PatternKind::Call { commutative, associative, .. } = self.plan.rule().pattern(id).kind
        else {
            return Vec::new();
        };
        let operands = self.plan.operands(id);
        let single = operands.iter().all(|operand| matches!(operand, Operand::One(_)));
        let flat = associative && single && self.may(op, Traits::ASSOCIATIVE);
        let any_order = commutative && single && self.may(op, Traits::COMMUTATIVE);
        let given = given_operands(self.module, op);
        let own = (self.module.operands(op).take(given).collect(), Vec::new());
        let lists = if flat { self.flattened(op, operands.len()) } else { vec![own] };
        let mut goals = Vec::new();
        for (values, inner) in lists {
            if single && values.len() != operands.len() {
                continue;
            }
            let inner: Rc<[Op]> = inner.into();
            let orders = if any_order { permutations(&values) } else { vec![values] };
            goals.extend(orders.into_iter().map(|values| Goal::Operands {
                frame,
                id,
                values: values.into(),
                inner: inner.clone(),
            }));
        }
        goals
    }

    /// What is not registered is trusted to be what the rule says.
    fn may(&self, op: Op, traits: Traits) -> bool {
        self.module.def(op).is_none_or(|def| def.traits.contains(traits))
    }

    /// Lists the operands of `op` as one flat call of `count` operands, with the calls inside.
    fn flattened(&self, op: Op, count: usize) -> Vec<(Vec<Value>, Vec<Op>)> {
        let module = self.module;
        let mut found = Vec::new();
        let mut stack = vec![(module.operands(op).collect::<Vec<_>>(), Vec::new(), 0)];
        while let Some((values, inner, at)) = stack.pop() {
            if values.len() > count || found.len() >= MAX_WAYS {
                continue;
            }
            let Some(&value) = values.get(at) else {
                found.push((values, inner));
                continue;
            };
            let below = self.equals(value).into_iter().filter_map(|value| module.def_op(value));
            let below = below.filter(|below| {
                module.name(*below) == module.name(op) && module.attrs(*below) == module.attrs(op)
            });
            for below in below {
                let mut flat = values.clone();
                flat.splice(at..=at, module.operands(below));
                let mut inner: Vec<Op> = inner.clone();
                inner.push(below);
                stack.push((flat, inner, at));
            }
            stack.push((values, inner, at + 1));
        }
        found
    }

    /// Cuts the values into one group for each operand pattern.
    pub(super) fn split_operands(&mut self, frame: Frame, id: PatId, values: &[Value]) -> bool {
        let operands = self.plan.operands(id);
        let mut ways = Vec::new();
        let mut stack: Vec<(Vec<usize>, usize)> = vec![(Vec::new(), 0)];
        while let Some((lengths, used)) = stack.pop() {
            let Some(operand) = operands.get(lengths.len()) else {
                if used == values.len() {
                    ways.push(lengths);
                }
                continue;
            };
            let left = values.len() - used;
            let later = operands.len() - lengths.len() - 1;
            let taken = match operand {
                Operand::One(_) => 1..=1,
                // If nothing else can vary, the branches take all that the others leave.
                Operand::Branches(_) if is_last_group(&operands[lengths.len() + 1..]) => {
                    let rest = left.saturating_sub(later);
                    rest.max(1)..=rest
                }
                Operand::Branches(_) | Operand::Any(_) => 1..=left.saturating_sub(later),
                Operand::Results(_) => {
                    let count = values.get(used).map_or(0, |value| self.results_from(*value));
                    count.max(1)..=count
                }
            };
            for length in taken.rev().filter(|length| *length <= left) {
                if stack.len() < MAX_WAYS {
                    let mut lengths = lengths.clone();
                    lengths.push(length);
                    stack.push((lengths, used + length));
                }
            }
        }
        let values: Rc<[Value]> = values.into();
        let goal = |lengths: Vec<usize>| Goal::Segments {
            frame,
            id,
            values: values.clone(),
            lengths: lengths.into(),
        };
        if ways.is_empty() {
            let found = format!("{} operands", values.len());
            return self.missed(id, None, || (self.plan.describe_arity(id), found));
        }
        self.choose(ways.into_iter().map(goal).collect())
    }

    /// Counts the results of the operation that starts with `value`.
    fn results_from(&self, value: Value) -> usize {
        let counts = self.equals(value).into_iter().filter_map(|value| {
            let op = self.module.def_op(value)?;
            let first = self.module.results(op).next() == Some(value);
            first.then(|| self.module.result_count(op))
        });
        counts.max().unwrap_or(0)
    }

    pub(super) fn match_segments(
        &mut self,
        frame: Frame,
        id: PatId,
        values: &[Value],
        lengths: &[usize],
    ) -> bool {
        let plan = self.plan;
        let mut goals = Vec::new();
        let mut used = 0;
        for (operand, length) in plan.operands(id).iter().zip(lengths) {
            let part = &values[used..used + length];
            used += length;
            match *operand {
                Operand::One(id) | Operand::Any(id) => {
                    goals.push(Goal::Match { frame, id, target: Target::Value(part[0]) });
                }
                Operand::Branches(variadic) => {
                    if !self.match_branches(frame, variadic, part, &mut goals) {
                        return false;
                    }
                }
                Operand::Results(id) => {
                    let Some(op) = self.maker(part) else { return false };
                    goals.push(Goal::Match { frame, id, target: Target::Results(op) });
                }
            }
        }
        self.push_all(goals);
        true
    }

    /// Makes a branch of `variadic` for each value.
    fn match_branches(
        &mut self,
        frame: Frame,
        variadic: PatId,
        values: &[Value],
        goals: &mut Vec<Goal>,
    ) -> bool {
        let plan = self.plan;
        let PatternKind::Variadic { field, min_len, length, .. } =
            plan.rule().pattern(variadic).kind
        else {
            return false;
        };
        let place = self.bindings.resolve(plan, frame, variadic);
        let frames = match self.bindings.slot(place) {
            Some(bound) => self.bindings.frames_of(bound).to_vec(),
            None => {
                let open = |i| self.bindings.open(variadic, i, place.0);
                (0..values.len()).map(open).collect()
            }
        };
        let enough = values.len() >= min_len.unwrap_or(1) as usize;
        if frames.len() != values.len() || !enough {
            let expected = min_len.map_or(frames.len(), |least| least as usize);
            let texts = || (format!("{expected} fields"), format!("{}", values.len()));
            return self.missed(variadic, None, texts);
        }
        if self.bindings.slot(place).is_none() {
            let bound = self.bindings.list(&frames);
            if !self.bind(place, bound) {
                return false;
            }
            if length.is_some()
                && !self.check(Check::Length { frame: place.0, id: variadic }, false)
            {
                return false;
            }
        }
        goals.extend(frames.into_iter().zip(values).map(|(frame, value)| Goal::Match {
            frame,
            id: field,
            target: Target::Value(*value),
        }));
        debug_assert!(matches!(self.bindings.slot(place), Some(Bound::Branches { .. })));
        true
    }
}

fn is_last_group(later: &[Operand]) -> bool {
    later.iter().all(|operand| matches!(operand, Operand::One(_)))
}

/// Lists the orders of `values`, in the order of positions; equal values are not exchanged.
fn permutations(values: &[Value]) -> Vec<Vec<Value>> {
    // Nearly all operations that commute have two operands.
    match *values {
        [a, b] if a != b => return vec![vec![a, b], vec![b, a]],
        [_, _] | [_] => return vec![values.to_vec()],
        _ => {}
    }
    let mut found = vec![Vec::new()];
    let mut left = vec![values.to_vec()];
    for _ in 0..values.len() {
        let mut next = Vec::new();
        let mut next_left = Vec::new();
        for (order, left) in found.iter().zip(&left) {
            for (i, value) in left.iter().enumerate() {
                if left[..i].contains(value) || next.len() >= MAX_WAYS {
                    continue;
                }
                let mut order = order.clone();
                order.push(*value);
                let mut left = left.clone();
                left.remove(i);
                next.push(order);
                next_left.push(left);
            }
        }
        (found, left) = (next, next_left);
    }
    found
}

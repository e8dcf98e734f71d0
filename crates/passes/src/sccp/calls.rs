//! Calls: values go into functions and come back.
//!
//! What a function returns goes to its calls. What calls give goes to its arguments only if all of
//! them are seen: it is private, and nothing else names it.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tangram_ir::{AttrData, Module, Op, Order, Str, Traits, Value, walk};

use super::{Fact, Flow};
use crate::symbols;

/// The functions below the root and their calls.
#[derive(Default)]
pub(super) struct Calls {
    /// The function with a body that a call calls.
    callees: FxHashMap<Op, Op>,
    /// The calls of each function, and the ends of it.
    of: FxHashMap<Op, Known>,
    /// The functions that only these calls enter.
    closed: FxHashSet<Op>,
}

#[derive(Default)]
struct Known {
    calls: Vec<Op>,
    returns: Vec<Op>,
}

impl Calls {
    /// Looks at everything below `root`. O(operations).
    pub(super) fn new(module: &Module, root: Op) -> Calls {
        let mut calls = Calls::default();
        let all = walk(module, root, Order::Pre);
        if !all.iter().any(|&op| module.name_text(op) == "func.call") {
            return calls;
        }
        let mut functions: FxHashMap<(Op, Str), Op> = FxHashMap::default();
        for &op in &all {
            if let Some(name) = function(module, op)
                && let Some(table) = module.parent(op)
            {
                functions.insert((table, name), op);
            }
        }
        // How often each name is named besides by calls.
        let mut others: FxHashSet<Str> = FxHashSet::default();
        for &op in &all {
            match callee(module, op, &functions) {
                Some(function) => {
                    calls.callees.insert(op, function);
                    calls.of.entry(function).or_default().calls.push(op);
                    others.extend(symbols::named_besides(module, op, "callee"));
                }
                None => others.extend(symbols::named_by(module, op)),
            }
        }
        for &op in &all {
            let home = module.parent(op).filter(|_| module.name_text(op) == "func.return");
            if let Some(known) = home.and_then(|home| calls.of.get_mut(&home)) {
                known.returns.push(op);
            }
        }
        let closed = |&&function: &&Op| {
            symbols::is_private(module, function)
                && symbols::symbol(module, function).is_some_and(|name| !others.contains(&name))
        };
        calls.closed = functions.values().filter(closed).copied().collect();
        calls
    }

    /// Returns whether control comes to the body of `op` by known calls only.
    pub(super) fn is_called_only(&self, op: Op) -> bool {
        self.closed.contains(&op)
    }

    /// The function that `op` calls, if its body is known.
    pub(super) fn callee(&self, op: Op) -> Option<Op> {
        self.callees.get(&op).copied()
    }
}

/// The symbol of `op`, if it is a function with a body.
fn function(module: &Module, op: Op) -> Option<Str> {
    if module.name_text(op) != "func.func" {
        return None;
    }
    module.first_block(*module.regions(op).first()?)?;
    symbols::symbol(module, op)
}

/// The function that `op` calls, in the nearest table of symbols around it.
fn callee(module: &Module, op: Op, functions: &FxHashMap<(Op, Str), Op>) -> Option<Op> {
    if module.name_text(op) != "func.call" {
        return None;
    }
    let AttrData::Symbol(path) = module.context().attr_data(module.attr(op, "callee")?) else {
        return None;
    };
    let &[name] = &path[..] else { return None };
    let mut at = module.parent(op)?;
    while !module.may_have_traits(at, Traits::SYMBOL_TABLE) {
        at = module.parent(at)?;
    }
    functions.get(&(at, name)).copied()
}

impl Flow<'_> {
    /// Control comes to the call `op` of `callee`.
    pub(super) fn call(&mut self, op: Op, callee: Op) {
        let module = self.module;
        if self.calls.is_called_only(callee)
            && let Some(entry) = module.first_block(module.region(callee, 0))
        {
            let operands: SmallVec<[Value; 4]> = module.operands(op).collect();
            self.give(module.args(entry), &operands);
            self.reach(entry);
        }
        let ends = self.calls.of.get(&callee).map_or(&[][..], |known| &known.returns);
        let ends: SmallVec<[Op; 4]> = ends.iter().copied().filter(|&end| self.runs(end)).collect();
        for end in ends {
            self.come_back(end, op);
        }
    }

    /// Control comes to the end of a function.
    pub(super) fn leave_function(&mut self, end: Op) {
        let Some(known) = self.module.parent(end).and_then(|home| self.calls.of.get(&home)) else {
            return;
        };
        let calls: SmallVec<[Op; 4]> =
            known.calls.iter().copied().filter(|&call| self.runs(call)).collect();
        for call in calls {
            self.come_back(end, call);
        }
    }

    fn come_back(&mut self, end: Op, call: Op) {
        let module = self.module;
        let returned: SmallVec<[Value; 4]> = module.operands(end).collect();
        for (i, result) in module.results(call).enumerate() {
            let fact = returned.get(i).map_or(Fact::Anything, |&value| self.fact(value));
            self.raise(result, fact);
        }
    }

    fn runs(&self, op: Op) -> bool {
        self.module.block(op).is_some_and(|block| self.reached.contains(&block))
    }
}

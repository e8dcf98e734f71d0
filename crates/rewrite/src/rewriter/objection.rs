//! Whether what is behind a value can live with what it is to become.
//!
//! Where a rewrite says more about a value than was known, an operation behind it may turn out to
//! be impossible: its extents do not fit, as in a branch that is never taken. The program was valid
//! as long as nobody knew, and has to remain so: whoever asks refuses the rewrite.
//!
//! ```text
//! r = reshape(x, t)             [?, ?], to become [3, 8]
//! v = scan(r) { z:              [?],    hence [8]
//!   add(z, w) }                 w: [5]. No extents fit: the reshape stays as it is
//! ```

use std::collections::VecDeque;

use smallvec::SmallVec;
use tangram_ir::{Attr, Diagnostic, Module, Op, Traits, Type, Use, Value, compatible_types};

use super::Rewriter;

/// A value, and what is recorded of it: its type and its elements.
type Known = (Value, Type, Option<Attr>);

/// How many operations behind a value are looked at.
const CONSEQUENCES: usize = 64;

impl Rewriter<'_> {
    /// What speaks against `new` in place of `old`: the first operation behind it that type
    /// inference refuses then.
    ///
    /// Types that become better known are followed for some steps, into regions and out of them.
    /// Nothing is looked at if `new` says no more than `old`, or where [`Rewriter::unguarded`].
    /// O(uses).
    pub fn objection(&mut self, old: Value, new: Value) -> Option<Diagnostic> {
        let module = &*self.module;
        let constant =
            module.def_op(new).is_some_and(|op| module.has_traits(op, Traits::CONSTANT_LIKE));
        let same = module.value_type(old) == module.value_type(new)
            && module.contents(old) == module.contents(new);
        if self.unguarded || old == new || same && !constant {
            return None;
        }
        let uses: SmallVec<[Use; 8]> = module.uses(old).collect();
        for used in &uses {
            self.module.set_operand(used.op, used.index as usize, new);
        }
        let mut behind = Behind::default();
        for used in &uses {
            behind.reach(self.module, old, used.op, true);
        }
        let found = behind.objection(self.module);
        for used in uses.iter().rev() {
            self.module.set_operand(used.op, used.index as usize, old);
        }
        found
    }

    /// What speaks against recording `ty` and `contents` of `value`: the first user that type
    /// inference refuses then, or the first operation behind regions that it goes into.
    pub fn objection_to(
        &mut self,
        value: Value,
        ty: Type,
        contents: Option<Attr>,
    ) -> Option<Diagnostic> {
        if self.unguarded {
            return None;
        }
        let before = (self.module.value_type(value), self.module.contents(value));
        self.module.set_value_type(value, ty);
        self.module.set_contents(value, contents);
        let mut behind = Behind::default();
        behind.reach_users(self.module, value, false);
        let found = behind.objection(self.module);
        self.module.set_value_type(value, before.0);
        self.module.set_contents(value, before.1);
        found
    }
}

/// The operations behind a value whose operands have become better known.
#[derive(Default)]
struct Behind {
    /// What is still to be looked at, and whether its results are followed. What is recorded of
    /// results is asked about when it is to become better; nobody asks about what regions take and
    /// give, so that is followed always.
    waiting: VecDeque<(Op, bool)>,
    /// What was recorded before.
    changed: Vec<Known>,
}

impl Behind {
    /// Adds the users of `value`.
    fn reach_users(&mut self, module: &Module, value: Value, follow: bool) {
        for used in module.uses(value) {
            self.reach(module, value, used.op, follow);
        }
    }

    /// Adds `user`, and before it the operations around it whose regions `value` comes into from
    /// outside: what their arguments are is not recorded as well as it may be known.
    fn reach(&mut self, module: &Module, value: Value, user: Op, follow: bool) {
        let home = module.def_block(value);
        let outside = |op: &Op| module.block(*op) != home;
        let around: SmallVec<[Op; 4]> = std::iter::successors(Some(user).filter(outside), |&op| {
            module.parent(op).filter(outside)
        })
        .skip(1)
        .collect();
        let flowing = around.into_iter().rev().filter(|&op| has_flow(module, op));
        self.waiting.extend(flowing.map(|op| (op, true)).chain([(user, follow)]));
    }

    /// What inference says against one of the operations, or the first ones behind them. Types are
    /// as before afterwards.
    fn objection(mut self, module: &mut Module) -> Option<Diagnostic> {
        let mut left = self.waiting.len() + CONSEQUENCES;
        let mut found = None;
        while let Some((op, follow)) = self.waiting.pop_front().filter(|_| left > 0) {
            left -= 1;
            match better_types(module, op) {
                Err(objection) => {
                    found = Some(objection);
                    break;
                }
                Ok(better) if follow || has_flow(module, op) => self.follow(module, better),
                Ok(_) => {}
            }
            // What a region yields is what the operation around it gives.
            let around = module.parent(op).filter(|&around| has_flow(module, around));
            if let Some(around) = around.filter(|_| module.has_traits(op, Traits::TERMINATOR)) {
                self.waiting.push_back((around, true));
            }
        }
        for (value, ty, contents) in self.changed.into_iter().rev() {
            module.set_value_type(value, ty);
            module.set_contents(value, contents);
        }
        found
    }

    fn follow(&mut self, module: &mut Module, better: SmallVec<[Known; 2]>) {
        for (value, ty, contents) in better {
            self.changed.push((value, module.value_type(value), module.contents(value)));
            module.set_value_type(value, ty);
            module.set_contents(value, contents);
            self.reach_users(module, value, true);
        }
    }
}

/// Returns whether it is known what goes into the regions of `op` and comes out of them.
fn has_flow(module: &Module, op: Op) -> bool {
    module.def(op).is_some_and(|def| def.flow.is_some())
}

/// The results of `op`, and the arguments of its regions, of which more is known than is recorded.
fn better_types(module: &Module, op: Op) -> Result<SmallVec<[Known; 2]>, Diagnostic> {
    let object = |message: &str| {
        let message = format!("`{}` behind it cannot be: {message}", module.name_text(op));
        Diagnostic::error("impossible-user", module.loc(op), message)
    };
    let told = told(module, op).map_err(|error| object(&error))?;
    let mut better = SmallVec::new();
    for (value, ty, contents) in told {
        let known = module.value_type(value);
        if !compatible_types(module.context(), ty, known) {
            return Err(object("its results would have other types than are recorded"));
        }
        let contents = contents.filter(|_| module.contents(value).is_none());
        let more = fixed_extents(module, ty) > fixed_extents(module, known);
        if more || contents.is_some() {
            let contents = contents.or(module.contents(value));
            better.push((value, if more { ty } else { known }, contents));
        }
    }
    Ok(better)
}

/// What the definition of `op` says of its results, and of the arguments of its regions.
fn told(module: &Module, op: Op) -> Result<Vec<Known>, String> {
    let Some(def) = module.def(op) else { return Ok(Vec::new()) };
    if let Some(flow) = def.flow {
        return Ok(flow(module, op).into_iter().map(|(value, ty)| (value, ty, None)).collect());
    }
    if !module.regions(op).is_empty() || def.infer.is_none() {
        return Ok(Vec::new());
    }
    let operands: SmallVec<[Value; 4]> = module.operands(op).collect();
    let count = module.result_count(op);
    let inferred = module.infer(module.name(op), &operands, module.attrs(op), Some(count));
    let inferred = inferred.map_err(|error| error.to_string())?;
    let contents = |i: usize| inferred.contents.get(i).copied().flatten();
    let results = module.results(op).zip(&inferred.types).enumerate();
    Ok(results.map(|(i, (value, &ty))| (value, ty, contents(i))).collect())
}

/// How many extents of a tensor are numbers, counted from 1; 0 where its rank is open.
fn fixed_extents(module: &Module, ty: Type) -> usize {
    let dims = module.context().as_tensor(ty).map(|(dims, _)| dims);
    dims.map_or(0, |dims| 1 + dims.iter().filter(|dim| dim.as_static().is_some()).count())
}

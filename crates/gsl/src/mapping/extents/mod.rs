//! Whether a rewrite is right about extents that are not known, whatever they are.
//!
//! An extent that is unknown has a derivation: what made it, from what. Both sides of a rewrite are
//! inferred once more, with a name for each unknown extent of the values that they share and of
//! what they derive from these. The same derivation gets the same name: broadcasting is known by
//! the set of extents that take part in it, anything else by its operation, attributes and
//! operands. The rewrite is right where
//!
//! - the types of both sides are equal with these names, and
//! - the target assumes nothing of extents ([`Assumption`]) that the source does not: then it is
//!   defined wherever the source is.
//!
//! ```text
//! x: [?], y: [?]      x + y: [broadcast(?0, ?1)]      y + x: [broadcast(?0, ?1)]      equal
//!                     x + y: [broadcast(?0, ?1)]      x: [?0]                         not known
//! ```

mod assumed;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::symbolic::{Expr, Truth};
use tangram_dialects::assume::{Assumption, listen};
use tangram_dialects::dims;
use tangram_ir::{Attr, Dim, Module, Name, Op, Traits, Type, Value};

use assumed::Assumed;

/// Why a rewrite is not known to be right about extents.
pub(super) enum Doubt {
    /// The types of these values may differ.
    Types(Value, Value),
    /// The target is defined only if these extents agree; in words.
    Needs(String),
}

/// Finds out whether the types of each pair of a source and a target value are equal, and the
/// target is defined wherever the source is, for all values of what is unknown.
///
/// `matched` and `made`: the operations of both sides; everything else that they read is shared.
/// The module is as before when this returns. Takes time in proportion to the number of operations.
pub(super) fn doubt(
    module: &mut Module,
    (matched, made): (&[Op], &[Op]),
    pairs: &[(Value, Value)],
) -> Option<Doubt> {
    let mut derivation = Derivation::new(module);
    let found = derivation.doubt((matched, made), pairs);
    derivation.restore();
    found
}

/// What an unknown extent comes from.
#[derive(PartialEq, Eq, Hash)]
enum Origin {
    /// The extent at this position of the value of this number.
    Value(u32, usize),
    /// Broadcasting these, in order, none of them 1.
    Broadcast(Vec<Dim>),
}

/// What a value comes from; equal ones are one value.
#[derive(PartialEq, Eq, Hash)]
enum Term {
    Shared(Value),
    Result(Name, Attr, Vec<u32>, usize),
}

struct Derivation<'m> {
    module: &'m mut Module,
    /// The types that were there before.
    saved: Vec<(Value, Type)>,
    numbers: FxHashMap<Value, u32>,
    terms: FxHashMap<Term, u32>,
    names: FxHashMap<Origin, Dim>,
    /// What the names of broadcast extents stand for.
    broadcast: FxHashMap<Dim, Vec<Dim>>,
    /// What was assumed since this was emptied.
    assumed: Vec<Assumption>,
    /// What the source assumes.
    known: Assumed,
}

impl<'m> Derivation<'m> {
    fn new(module: &'m mut Module) -> Self {
        Self {
            module,
            saved: Vec::new(),
            numbers: FxHashMap::default(),
            terms: FxHashMap::default(),
            names: FxHashMap::default(),
            broadcast: FxHashMap::default(),
            assumed: Vec::new(),
            known: Assumed::default(),
        }
    }

    fn doubt(&mut self, ops: (&[Op], &[Op]), pairs: &[(Value, Value)]) -> Option<Doubt> {
        let unequal = || pairs.first().map(|(old, new)| Doubt::Types(*old, *new));
        if !self.derive(ops.0, pairs.iter().map(|(old, _)| *old)) {
            return unequal();
        }
        for assumption in std::mem::take(&mut self.assumed) {
            for atomic in self.expanded(assumption) {
                self.known.add(atomic);
            }
        }
        if !self.derive(ops.1, pairs.iter().map(|(_, new)| *new)) {
            return unequal();
        }
        for assumption in std::mem::take(&mut self.assumed) {
            if !self.expanded(assumption).into_iter().all(|atomic| self.is_known(atomic)) {
                return Some(Doubt::Needs(assumed::text(self.module.context(), assumption)));
            }
        }
        let differ = |(old, new): &&(Value, Value)| !self.same_type(*old, *new);
        pairs.iter().find(differ).map(|(old, new)| Doubt::Types(*old, *new))
    }

    /// An assumption as ones on extents that no broadcasting made.
    fn expanded(&self, assumption: Assumption) -> Vec<Assumption> {
        let Assumption::Broadcast(a, b) = assumption else { return vec![assumption] };
        let (left, right) = (self.atoms(a), self.atoms(b));
        let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (*a, *b)));
        pairs.filter(|(a, b)| a != b).map(|(a, b)| Assumption::Broadcast(a, b)).collect()
    }

    /// What an extent is broadcast from, each once and in order; itself if it is not.
    ///
    /// Of extents that the source takes to be equal, one stands for all.
    fn atoms(&self, extent: Dim) -> Vec<Dim> {
        let parts = self.broadcast.get(&extent).map_or(std::slice::from_ref(&extent), |p| p);
        let mut atoms: Vec<Dim> = parts.iter().map(|part| self.known.find(*part)).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    fn is_known(&self, needed: Assumption) -> bool {
        match needed {
            Assumption::Equal(a, b) => self.are_equal(a, b),
            Assumption::Broadcast(a, b) => self.are_equal(a, b) || self.known.broadcasts(a, b),
        }
    }

    fn are_equal(&self, a: Dim, b: Dim) -> bool {
        let (left, right) = (self.atoms(a), self.atoms(b));
        match (&left[..], &right[..]) {
            ([a], [b]) => dims::equal(self.module.context(), *a, *b) == Truth::True,
            _ => left == right,
        }
    }

    fn same_type(&self, old: Value, new: Value) -> bool {
        let context = self.module.context();
        let (old, new) = (self.module.value_type(old), self.module.value_type(new));
        match (context.as_tensor(old), context.as_tensor(new)) {
            (Some((a, x)), Some((b, y))) => {
                let mut pairs = a.iter().zip(b);
                x == y && a.len() == b.len() && pairs.all(|(a, b)| self.are_equal(*a, *b))
            }
            // What is no tensor has no extents; an unknown rank may be any.
            _ => old == new && context.element_type(old).is_none(),
        }
    }

    /// Names what is unknown in the types of `roots` and of all that they derive from by `ops`.
    /// Returns whether it could be inferred.
    fn derive(&mut self, ops: &[Op], roots: impl Iterator<Item = Value>) -> bool {
        let ops: FxHashSet<Op> = ops.iter().copied().collect();
        let mut stack: Vec<(Value, bool)> = roots.map(|value| (value, false)).collect();
        while let Some((value, ready)) = stack.pop() {
            if self.numbers.contains_key(&value) {
                continue;
            }
            match self.module.def_op(value).filter(|op| ops.contains(op) && self.is_inferred(*op)) {
                None => self.share(value),
                Some(op) if ready => {
                    if !self.infer(op) {
                        return false;
                    }
                }
                Some(op) => {
                    stack.push((value, true));
                    stack.extend(self.module.operands(op).map(|operand| (operand, false)));
                }
            }
        }
        true
    }

    fn is_inferred(&self, op: Op) -> bool {
        let known = self.module.def(op).is_some_and(|def| def.infer.is_some());
        known && self.module.has_traits(op, Traits::PURE) && self.module.regions(op).is_empty()
    }

    fn number(&mut self, value: Value, term: Term) -> u32 {
        let next = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
        let number = *self.terms.entry(term).or_insert(next);
        self.numbers.insert(value, number);
        number
    }

    /// A value that both sides read as it is.
    fn share(&mut self, value: Value) {
        let number = self.number(value, Term::Shared(value));
        self.set_named(value, number, self.module.value_type(value), None);
    }

    fn infer(&mut self, op: Op) -> bool {
        let module = &*self.module;
        let (name, attrs) = (module.name(op), module.attrs(op));
        let operands: Vec<Value> = module.operands(op).collect();
        let results: Vec<Value> = module.results(op).collect();
        let infer = || module.infer(name, &operands, attrs, Some(results.len()));
        let (Ok(found), mut assumed) = listen(infer) else { return false };
        let broadcasts = module.has_traits(op, Traits::ELEMENTWISE.union(Traits::BROADCASTING));
        if broadcasts {
            assumed = self.broadcast_assumptions(&operands);
        }
        self.assumed.extend(assumed);
        let numbers: Vec<u32> = operands.iter().map(|value| self.numbers[value]).collect();
        for (i, value) in results.into_iter().enumerate() {
            let inferred = found.types.get(i).copied();
            let Some(ty) = inferred.and_then(|ty| self.known(value, ty)) else { return false };
            let number = self.number(value, Term::Result(name, attrs, numbers.clone(), i));
            self.set_named(value, number, ty, broadcasts.then_some(&operands));
        }
        true
    }

    /// What the type of a value and what was inferred for it say together.
    fn known(&self, value: Value, inferred: Type) -> Option<Type> {
        super::types::merged(self.module.context(), inferred, self.module.value_type(value))
    }

    /// Gives a value its type with names for what is unknown in it.
    fn set_named(&mut self, value: Value, number: u32, ty: Type, broadcast: Option<&Vec<Value>>) {
        let context = self.module.context_arc().clone();
        let Some((extents, element)) = context.as_tensor(ty) else { return };
        let rank = extents.len();
        let name = |(i, extent): (usize, &Dim)| match (extent.is_unknown(), broadcast) {
            (false, _) => *extent,
            (true, None) => self.named(Origin::Value(number, i)),
            (true, Some(operands)) => match self.parts(operands, rank - i) {
                Some(parts) => self.broadcast(parts),
                None => self.named(Origin::Value(number, i)),
            },
        };
        let extents: Vec<Dim> = extents.iter().enumerate().map(name).collect();
        self.saved.push((value, self.module.value_type(value)));
        self.module.set_value_type(value, context.tensor_type(&extents, element));
    }

    /// The extents that are broadcast at a position from the end, without 1; none if a rank is
    /// unknown.
    fn parts(&self, operands: &[Value], from_end: usize) -> Option<Vec<Dim>> {
        let mut parts: Vec<Dim> = Vec::new();
        for operand in operands {
            let ty = self.module.value_type(*operand);
            let (extents, _) = self.module.context().as_tensor(ty)?;
            let extent = extents.len().checked_sub(from_end).map(|i| extents[i]);
            let Some(extent) = extent.filter(|extent| *extent != Dim::fixed(1)) else { continue };
            parts.extend(self.atoms(extent));
        }
        parts.sort_unstable();
        parts.dedup();
        Some(parts)
    }

    /// What broadcasting asks of extents: each agrees with each.
    fn broadcast_assumptions(&self, operands: &[Value]) -> Vec<Assumption> {
        let shape = |value: &Value| self.module.context().as_tensor(self.module.value_type(*value));
        let rank = operands.iter().filter_map(|value| Some(shape(value)?.0.len())).max();
        let mut out = Vec::new();
        for parts in (1..=rank.unwrap_or(0)).filter_map(|i| self.parts(operands, i)) {
            for (i, a) in parts.iter().enumerate() {
                out.extend(parts[i + 1..].iter().map(|b| Assumption::Broadcast(*a, *b)));
            }
        }
        out
    }

    /// The extent that broadcasting these gives.
    fn broadcast(&mut self, parts: Vec<Dim>) -> Dim {
        if let [only] = parts[..] {
            return only;
        }
        let name = self.named(Origin::Broadcast(parts.clone()));
        self.broadcast.insert(name, parts);
        name
    }

    /// The name of an unknown extent. No extent of a program is called so.
    fn named(&mut self, origin: Origin) -> Dim {
        let name = format!("?{}", self.names.len());
        let context = self.module.context();
        *self.names.entry(origin).or_insert_with(|| dims::dim(context, &Expr::symbol(&name)))
    }

    fn restore(self) {
        for (value, ty) in self.saved.into_iter().rev() {
            self.module.set_value_type(value, ty);
        }
    }
}

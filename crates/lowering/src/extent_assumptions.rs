//! Extents that inference leaves open.
//!
//! An exporter writes one size in several ways: positions are cut from a table of 512, so that
//! there are `min(512, seq)` of them, and are added to `seq` embeddings. The two are equal, or one
//! of them is 1, and the extent of their sum is unknown; nothing behind it would become a loop.
//! [`unify`] takes such extents to be equal. Who runs the code compares them first.
//!
//! What an operation is defined for is such an equation too: that the extent of a dimension that is
//! dropped is 1, that an image has as many channels as the weights. Loops would read what is there
//! in any case; who compares first leaves it to the reference kernels to refuse what is not.
//!
//! The extent that a reshape is to find, `-1`, is a quotient that need not be one of whole numbers:
//! of a mask `masks * seq` for `batch` rows. It is rounded down, and the numbers of elements are
//! taken to be equal.

use tangram_affine::symbolic::Expr;
use tangram_dialects::assume::{Assumption, listen};
use tangram_dialects::dims;
use tangram_dialects::nn::infer_regions;
use tangram_ir::{Attr, Context, Dim, Module, Op, Type, Value};

/// More extents that differ are compared only, and no more quotients are taken.
const MOST: usize = 64;

/// Finds the extents of a function's values, where some of them are taken to be equal: pairs, each
/// of two sides that the code relies on to be equal in a run.
///
/// Only types of values in the function's own block change. The time is that of inference, once for
/// each operation and pair.
pub(crate) fn unify(module: &mut Module, function: Op) -> Vec<[Expr; 2]> {
    let Some(block) = module.regions(function).first().and_then(|&r| module.first_block(r)) else {
        return Vec::new();
    };
    let mut settling = Settling { taken: Vec::new(), dims: Vec::new() };
    let ops: Vec<Op> = module.ops(block).collect();
    let mut values: Vec<Value> = module.args(block).to_vec();
    for op in ops {
        values.extend(module.results(op));
        while let Some(pair) = settling.infer(module, op) {
            if !settling.take(module, pair) {
                break;
            }
            for &value in &values {
                settling.rewrite(module, value);
            }
        }
    }
    settling.taken
}

struct Settling {
    taken: Vec<[Expr; 2]>,
    /// Extents with what stands for them.
    dims: Vec<(Dim, Dim)>,
}

impl Settling {
    /// Infers the results of an operation; two extents that have to be equal for all to be known.
    fn infer(&mut self, module: &mut Module, op: Op) -> Option<(Dim, Dim)> {
        if !module.regions(op).is_empty() {
            self.infer_regions(module, op);
            return None;
        }
        let operands: Vec<Value> = module.operands(op).collect();
        let (name, attrs) = (module.name(op), module.attrs(op));
        let count = module.result_count(op);
        let (inferred, heard) = listen(|| module.infer(name, &operands, attrs, Some(count)));
        let mut inferred = inferred.ok()?;
        if let Some(ty) = self.quotient(module, op, &inferred.types) {
            inferred.types[0] = ty;
        }
        let results: Vec<Value> = module.results(op).collect();
        let mut open = false;
        for (i, (&value, &ty)) in results.iter().zip(&inferred.types).enumerate() {
            open |= self.refine(module, value, ty);
            let contents: Option<Attr> = inferred.contents.get(i).copied().flatten();
            if contents.is_some() {
                module.set_contents(value, contents);
            }
        }
        let context = module.context();
        let known = |dim| dims::expr(context, dim).is_some();
        let differ = |a: Dim, b: Dim| (known(a) && known(b) && a != b).then_some((a, b));
        let named = |a: Dim, b: Dim| a.as_static().is_none() && b.as_static().is_none();
        heard.into_iter().find_map(|assumption| match assumption {
            Assumption::Broadcast(a, b) => differ(a, b).filter(|_| open && named(a, b)),
            Assumption::Equal(a, b) => differ(a, b),
        })
    }

    /// Infers what an operation with bodies gives: no less than what was known.
    fn infer_regions(&self, module: &mut Module, op: Op) {
        let known: Vec<(Value, Type)> =
            module.results(op).map(|value| (value, module.value_type(value))).collect();
        infer_regions(module, op);
        for (value, old) in known {
            let inferred = module.value_type(value);
            module.set_value_type(value, old);
            self.refine(module, value, inferred);
        }
    }

    /// The type of a reshape's result with the one extent that inference could not divide.
    fn quotient(&mut self, module: &Module, op: Op, inferred: &[Type]) -> Option<Type> {
        let context = module.context();
        if module.name_text(op) != "nn.reshape" || self.taken.len() >= MOST {
            return None;
        }
        let from = module.operands(op).next().map(|value| module.value_type(value))?;
        let (from, _) = context.as_tensor(from)?;
        let (to, element) = context.as_tensor(*inferred.first()?)?;
        let mut open = (0..to.len()).filter(|at| to[*at].is_unknown());
        let (at, None) = (open.next()?, open.next()) else { return None };
        let product = |dims: &[Dim]| {
            let mut exprs = dims.iter().map(|dim| dims::expr(context, *dim));
            exprs.try_fold(Expr::int(1), |product, dim| product.try_mul(&dim?))
        };
        let others: Vec<Dim> = to.iter().copied().filter(|dim| !dim.is_unknown()).collect();
        let (all, others) = (product(from)?, product(&others)?);
        let quotient = all.floor_div(&others)?;
        let counts = [all, others.try_mul(&quotient)?];
        if !self.taken.contains(&counts) {
            self.taken.push(counts);
        }
        let mut settled = to.to_vec();
        settled[at] = dims::dim(context, &quotient);
        Some(context.tensor_type(&settled, element))
    }

    /// Gives a value the extents of `inferred` that it lacks; whether one is still unknown.
    fn refine(&self, module: &mut Module, value: Value, inferred: Type) -> bool {
        let context = module.context();
        let Some((new, element)) = context.as_tensor(inferred) else { return false };
        let old = context.as_tensor(module.value_type(value)).map(|(dims, _)| dims.to_vec());
        let settled: Vec<Dim> = match &old {
            Some(old) if old.len() == new.len() => {
                let both = old.iter().zip(new);
                let better = |(&old, &new)| if Dim::is_unknown(old) { new } else { old };
                both.map(better).map(|dim| self.settled(context, dim)).collect()
            }
            Some(_) => return false,
            None => new.iter().map(|&dim| self.settled(context, dim)).collect(),
        };
        if old.as_deref() != Some(&settled[..]) {
            module.set_value_type(value, context.tensor_type(&settled, element));
        }
        settled.iter().any(|dim| dim.is_unknown())
    }

    /// What stands for an extent; a symbol is replaced within others as well.
    fn settled(&self, context: &Context, dim: Dim) -> Dim {
        self.dims.iter().fold(dim, |dim, &(from, to)| {
            if dim == from {
                return to;
            }
            let (of, from, to) =
                (dims::expr(context, dim), dims::expr(context, from), dims::expr(context, to));
            let (Some(of), Some(from), Some(to)) = (of, from, to) else { return dim };
            let Some(symbol) = from.as_symbol().filter(|own| of.symbols().contains(own)) else {
                return dim;
            };
            let replaced = of.substitute(&|name| (name == symbol).then(|| to.clone()));
            replaced.map_or(dim, |expr| dims::dim(context, &expr))
        })
    }

    /// Takes two extents to be equal: the one that is written shorter stands for both.
    fn take(&mut self, module: &Module, (a, b): (Dim, Dim)) -> bool {
        let context = module.context();
        let (a, b) = (self.settled(context, a), self.settled(context, b));
        let (Some(left), Some(right)) = (dims::expr(context, a), dims::expr(context, b)) else {
            return false;
        };
        if a == b || self.taken.contains(&[left.clone(), right.clone()]) {
            return false;
        }
        let length = |expr: &Expr| expr.to_string().len();
        let named = a.as_static().is_none();
        let shorter = b.as_static().is_none() && length(&left) <= length(&right);
        let (from, to) = if !named || shorter { (b, a) } else { (a, b) };
        self.taken.push([left, right]);
        let few = self.taken.len() <= MOST;
        if few {
            self.dims.push((from, to));
        }
        few
    }

    /// Writes a value's type with the extents that stand for others.
    fn rewrite(&self, module: &mut Module, value: Value) {
        let context = module.context();
        let Some((dims, element)) = context.as_tensor(module.value_type(value)) else { return };
        let settled: Vec<Dim> = dims.iter().map(|&dim| self.settled(context, dim)).collect();
        if settled != dims {
            module.set_value_type(value, context.tensor_type(&settled, element));
        }
    }
}

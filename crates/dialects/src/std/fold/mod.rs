//! Folding and canonicalisation of MLIR's dialects.
//!
//! A *folder* says what the result of an operation is: a value that is there, or a constant. It
//! makes nothing. A *pattern* makes other operations. Both are functions in a file beside the
//! definitions (`arith/fold.rs`, `arith/canonicalize.rs`); here is what they share, and the list
//! that [`canonicalization`] gives to a driver.
//!
//! Constants stand at the start of the entry block of the function around them, one for each
//! value and type.

mod constants;
mod cx;
mod known;
pub(crate) mod number;
mod pattern;

use std::sync::Arc;

use tangram_ir::{Attr, Context, Module, Op, Value};
use tangram_rewrite::RewritePattern;

pub(crate) use constants::Constants;
pub use constants::unique_constants;
pub(crate) use cx::Cx;
pub(crate) use known::Known;
use pattern::{Folder, Native};

/// What the result of an operation is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// A value that is there already.
    Value(Value),
    /// A constant.
    Attr(Attr),
}

/// What a folder may look at.
pub struct FoldCx<'a> {
    /// The module.
    pub module: &'a Module,
    /// The operation, which has one result.
    pub op: Op,
    /// For each operand, its constant if it is one.
    pub constants: &'a [Option<Attr>],
    pub(crate) known: &'a Known,
}

/// Says what the one result of an operation is, if that is known.
pub type FoldFn = fn(&FoldCx<'_>) -> Option<Folded>;

/// A rewrite by code: `None` if it does not match, and then nothing was changed.
pub(crate) type RewriteFn = fn(&mut Cx<'_, '_>) -> Option<()>;

/// The name of a rewrite, the operations it starts at, and its code.
pub(crate) type Rewrite = (&'static str, &'static [&'static str], RewriteFn);

/// The folders of all dialects, by operation.
fn folders() -> impl Iterator<Item = (&'static str, FoldFn)> {
    super::arith::FOLDERS.into_iter().flatten().copied()
}

/// The patterns of all dialects.
fn rewrites() -> impl Iterator<Item = Rewrite> {
    let tables: [&[Rewrite]; 1] = [super::arith::REWRITES];
    tables.into_iter().flatten().copied()
}

/// The folder of the operation called `name`, if it has one.
pub fn folder(name: &str) -> Option<FoldFn> {
    folders().find(|entry| entry.0 == name).map(|entry| entry.1)
}

/// What the one result of `op` is when its operands have these constants.
pub fn fold(module: &Module, op: Op, constants: &[Option<Attr>], by: FoldFn) -> Option<Folded> {
    let known = Known::of(module.context());
    by(&FoldCx { module, op, constants, known })
}

/// The constant that `value` is, if a constant operation defines it.
pub fn constant_of(module: &Module, value: Value) -> Option<Attr> {
    Known::of(module.context()).constant_of(module, value)
}

/// Folders and canonicalisation patterns as patterns for one run of a driver.
///
/// They share a table of the constants they made; a set must not be used for two modules.
pub fn canonicalization(context: &Arc<Context>) -> Vec<Box<dyn RewritePattern>> {
    let constants = Arc::new(Constants::default());
    let folders = folders().map(|(name, fold)| {
        Box::new(Folder::new(context, name, fold, &constants)) as Box<dyn RewritePattern>
    });
    let rewrites = rewrites().map(|rewrite| {
        Box::new(Native::new(context, rewrite, &constants)) as Box<dyn RewritePattern>
    });
    folders.chain(rewrites).collect()
}

/// Reading.
impl<'a> FoldCx<'a> {
    pub(crate) fn context(&self) -> &'a Context {
        self.module.context()
    }

    pub(crate) fn operand(&self, i: usize) -> Value {
        self.module.operand(self.op, i)
    }

    /// The type of the result.
    pub(crate) fn ty(&self) -> tangram_ir::Type {
        self.module.value_type(self.module.result(self.op, 0))
    }

    pub(crate) fn constant(&self, i: usize) -> Option<Attr> {
        *self.constants.get(i)?
    }

    /// The integer that operand `i` is, in every element.
    pub(crate) fn int(&self, i: usize) -> Option<i128> {
        number::as_int(self.context(), self.constant(i)?)
    }

    /// The float that operand `i` is, in every element.
    pub(crate) fn float(&self, i: usize) -> Option<f64> {
        number::as_float(self.context(), self.constant(i)?)
    }

    /// The integer `value` in every element of the result.
    pub(crate) fn whole(&self, value: i128) -> Option<Folded> {
        number::int_attr(self.context(), self.ty(), value).map(Folded::Attr)
    }

    /// Operand `i` as the result.
    pub(crate) fn give(&self, i: usize) -> Option<Folded> {
        Some(Folded::Value(self.operand(i)))
    }
}

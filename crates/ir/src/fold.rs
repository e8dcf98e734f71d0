//! Folding: what an operation is known to give, without a new operation.
//!
//! A definition may have a *folder* ([`crate::OpDef::fold`]), a pure function that names a value
//! which is there already or a constant attribute for each result, or better operands and
//! attributes for the operation itself. It makes nothing. Who applies it turns attributes into
//! constant operations by the *materialiser* of the dialect ([`Context::set_materializer`]).

use smallvec::SmallVec;

use crate::attributes::Attr;
use crate::context::{Context, Name, Str};
use crate::location::Loc;
use crate::module::{Module, Op, OpState, Value};
use crate::op_def::Traits;
use crate::types::Type;

/// What one result is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Folded {
    /// A value that is there already.
    Value(Value),
    /// A constant.
    Attr(Attr),
}

/// What a folder found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fold {
    /// What each result is.
    Results(SmallVec<[Folded; 1]>),
    /// The same operation with these operands, of which there are as many, and attributes.
    InPlace {
        /// The operands.
        operands: SmallVec<[Value; 4]>,
        /// The attribute dictionary.
        attrs: Attr,
    },
}

impl Fold {
    /// The one result is a value that is there already.
    pub fn value(value: Value) -> Fold {
        Fold::Results(SmallVec::from_elem(Folded::Value(value), 1))
    }

    /// The one result is a constant.
    pub fn attr(attr: Attr) -> Fold {
        Fold::Results(SmallVec::from_elem(Folded::Attr(attr), 1))
    }
}

/// What a folder may look at.
#[derive(Clone, Copy)]
pub struct FoldCx<'a> {
    /// The module.
    pub module: &'a Module,
    /// The operation.
    pub op: Op,
    /// For each operand, its attribute if it is a constant.
    pub constants: &'a [Option<Attr>],
}

impl<'a> FoldCx<'a> {
    /// The context.
    pub fn context(&self) -> &'a Context {
        self.module.context()
    }

    /// Operand `i`.
    pub fn operand(&self, i: usize) -> Value {
        self.module.operand(self.op, i)
    }

    /// The attribute of operand `i`, if it is a constant.
    pub fn constant(&self, i: usize) -> Option<Attr> {
        *self.constants.get(i)?
    }

    /// The type of the first result.
    pub fn ty(&self) -> Type {
        self.module.value_type(self.module.result(self.op, 0))
    }
}

/// Says what an operation gives, if that is known.
pub type FoldFn = fn(&FoldCx<'_>) -> Option<Fold>;

/// Makes a constant of `attr` and a type: a name and attributes; `None` if the dialect has none.
pub type MaterializeFn = fn(&Context, Attr, Type) -> Option<(Name, Attr)>;

impl Context {
    /// Says how the dialect of `prefix` (`arith`) makes constants for what its folders find.
    pub fn set_materializer(&self, prefix: &str, materializer: MaterializeFn) {
        self.materializers().write().insert(self.str(prefix), materializer);
    }

    /// What becomes a constant of `attr` and `ty` for an operation named `name`: asks the dialect
    /// of the name, then `arith`.
    pub fn constant_state(&self, name: Name, attr: Attr, ty: Type, loc: Loc) -> Option<OpState> {
        let prefix = self.name_text(name).split('.').next().unwrap_or_default();
        let table = self.materializers().read();
        let (name, attrs) = [prefix, "arith"].into_iter().find_map(|dialect| {
            let materializer = table.get(&self.str(dialect))?;
            materializer(self, attr, ty)
        })?;
        let mut state = OpState::new(name, loc);
        state.attrs = attrs;
        state.results.push(ty);
        Some(state)
    }
}

impl Module {
    /// The attribute of the constant that `value` is a result of.
    pub fn constant_value(&self, value: Value) -> Option<Attr> {
        let op = self.def_op(value)?;
        if self.has_traits(op, Traits::CONSTANT_LIKE) { self.attr_by(op, Str::VALUE) } else { None }
    }

    /// Asks the folder of `op`. A constant is never folded.
    pub fn fold(&self, op: Op) -> Option<Fold> {
        self.def(op)?.fold?;
        let constants: SmallVec<[Option<Attr>; 4]> =
            self.operands(op).map(|value| self.constant_value(value)).collect();
        self.fold_with(op, &constants)
    }

    /// Asks the folder of `op` what it gives where its operands are these constants.
    pub fn fold_with(&self, op: Op, constants: &[Option<Attr>]) -> Option<Fold> {
        let def = self.def(op)?;
        let fold = def.fold?;
        if def.traits.contains(Traits::CONSTANT_LIKE) {
            return None;
        }
        let found = fold(&FoldCx { module: self, op, constants })?;
        self.is_folded(op, &found).then_some(found)
    }

    /// Returns whether `found` fits `op` and says something new.
    fn is_folded(&self, op: Op, found: &Fold) -> bool {
        match found {
            Fold::Results(results) => {
                let itself =
                    |f: &Folded| matches!(f, Folded::Value(v) if self.def_op(*v) == Some(op));
                results.len() == self.result_count(op)
                    && !results.is_empty()
                    && !results.iter().any(itself)
            }
            Fold::InPlace { operands, attrs } => {
                operands.len() == self.operand_count(op)
                    && (*attrs != self.attrs(op) || !self.operands(op).eq(operands.iter().copied()))
            }
        }
    }
}

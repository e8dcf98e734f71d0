//! What a well-formed definition keeps to.

use std::ops::Range;

use tangram_tensor::DType;

use super::{
    Access, Binary, Body, Generic, IteratorKind, Scalar, ScalarId, Structured, TensorId, Unary,
    is_plain,
};

/// Element type and rank of a tensor.
pub(super) type Type = (DType, usize);

impl Structured {
    /// Whether maps fit loops and tensors, scalars have the types of what uses them, and sums are
    /// kept in their own type.
    ///
    /// `types`: element type and rank of an operand or result, if it is there.
    pub fn is_well_formed(&self, types: &dyn Fn(TensorId) -> Option<(DType, usize)>) -> bool {
        let Structured::Loops { temporaries, stages, recurrent } = self else {
            let Structured::Reshape { operand } = self else { return false };
            return types(TensorId::Operand(*operand)).is_some();
        };
        let types = |place: TensorId| match place {
            TensorId::Temporary(i) => temporaries.get(i).map(|t| (t.element, t.extents.len())),
            other => types(other),
        };
        // The loop in common is parallel in each nest by itself, and has one extent.
        let shared = |range: &Range<usize>| {
            let nests = stages.get(range.clone()).unwrap_or_default();
            !nests.is_empty()
                && nests.iter().all(|nest| {
                    nest.kinds.first() == Some(&IteratorKind::Parallel)
                        && nest.extents.first() == nests[0].extents.first()
                })
        };
        let in_order = recurrent.windows(2).all(|pair| pair[0].end <= pair[1].start);
        temporaries.iter().all(|t| is_plain(t.element))
            && in_order
            && recurrent.iter().all(shared)
            && stages.iter().all(|stage| stage.is_well_formed(&types).is_some())
    }
}

impl Generic {
    fn is_well_formed(&self, types: &dyn Fn(TensorId) -> Option<Type>) -> Option<()> {
        (self.kinds.len() == self.extents.len()).then_some(())?;
        (self.reduced().next().is_some() == self.reduction.is_some()).then_some(())?;
        let inputs = self.inputs.iter().map(|access| self.element(access, types));
        let inputs = inputs.collect::<Option<Vec<_>>>()?;
        let tables = self.tables.iter().map(|&place| types(place)).collect::<Option<Vec<_>>>()?;
        let elements: Vec<DType> = tables.iter().map(|table| table.0).collect();
        let scalars = self.body.types(&inputs, &elements)?;
        let looked_up = self.body.scalars().iter().all(|scalar| match scalar {
            Scalar::Lookup(table, at) => tables.get(*table).is_some_and(|t| t.1 == at.len()),
            _ => true,
        }) && self.is_well_placed();
        let value = scalars.get(self.body.value()?.0 as usize)?;
        let out = self.element(&self.output, types)?;
        let combined = self.reduction.is_none_or(|reduction| reduction.initial.element() == out);
        let (used, _) = self.output.map.used();
        let apart = self.reduced().all(|i| !used[i]);
        let written = !matches!(self.output.place, TensorId::Operand(_));
        (looked_up && *value == out && combined && apart && written).then_some(())
    }

    /// Whether the body names loops, symbols, inputs and tables that there are.
    pub(crate) fn is_well_placed(&self) -> bool {
        self.body.scalars().iter().all(|scalar| match scalar {
            Scalar::Index(i) => *i < self.extents.len(),
            Scalar::Symbol(i) => *i < self.symbols.len(),
            Scalar::Input(i) | Scalar::Inside(i) => *i < self.inputs.len(),
            Scalar::Lookup(table, _) => *table < self.tables.len(),
            _ => true,
        })
    }

    /// The type of what an access names.
    fn element(&self, access: &Access, types: &dyn Fn(TensorId) -> Option<Type>) -> Option<DType> {
        let (element, rank) = types(access.place)?;
        let map = &access.map;
        let symbols = map.symbols() == 0 || map.symbols() == self.symbols.len();
        let fits = map.dims() == self.extents.len() && symbols && map.results().len() == rank;
        let outside = access.outside.is_none_or(|number| number.element() == element);
        (fits && outside).then_some(element)
    }
}

impl Body {
    /// The type of each scalar, given those of inputs and tables; `None` if they do not go
    /// together.
    pub fn types(&self, inputs: &[DType], tables: &[DType]) -> Option<Vec<DType>> {
        let mut types: Vec<DType> = Vec::with_capacity(self.scalars().len());
        for scalar in self.scalars() {
            let of = |id: &ScalarId| types.get(id.0 as usize).copied();
            let alike = |x, y| of(x).filter(|&ty| of(y) == Some(ty));
            types.push(match scalar {
                Scalar::Input(i) => *inputs.get(*i)?,
                Scalar::Inside(i) => inputs.get(*i).map(|_| DType::Bool)?,
                Scalar::Index(_) | Scalar::Symbol(_) => DType::I64,
                Scalar::Constant(number) => number.element(),
                Scalar::Unary(Unary::Not, x) => of(x).filter(|&ty| ty == DType::Bool)?,
                Scalar::Unary(_, x) => of(x)?,
                Scalar::Binary(Binary::And | Binary::Or | Binary::Xor, x, y) => {
                    alike(x, y).filter(|&ty| ty == DType::Bool)?
                }
                Scalar::Binary(_, x, y) => alike(x, y)?,
                Scalar::Compare(_, x, y) => alike(x, y).map(|_| DType::Bool)?,
                Scalar::Select(condition, x, y) => {
                    of(condition).filter(|&ty| ty == DType::Bool)?;
                    alike(x, y)?
                }
                Scalar::Cast(to, x) => of(x).map(|_| *to)?,
                Scalar::Lookup(table, at) => {
                    at.iter().all(|at| of(at) == Some(DType::I64)).then_some(())?;
                    *tables.get(*table)?
                }
            });
        }
        Some(types)
    }
}

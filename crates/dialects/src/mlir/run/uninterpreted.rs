//! Operations of unknown dialects: functions of which nothing is known but that equal ones with
//! equal operands, after equal histories, do the same.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use tangram_ir::{Context, Op, Type, TypeData, text};

use super::{Datum, Machine, Result, Trap, View};
use crate::mlir::fold::number::{int_width, wrap};

impl Machine<'_> {
    pub(super) fn uninterpreted(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let module = self.module;
        let (properties, attributes) = module.context().split_properties(module.attrs(op));
        let properties = properties.map(|attr| text::attr_text(module, attr));
        let attributes = text::attr_text(module, attributes);
        self.observe(op, &(module.name_text(op), properties, attributes))?;
        self.observe_data(op, operands)?;
        for (i, &region) in module.regions(op).iter().enumerate() {
            let Some(entry) = module.first_block(region) else { continue };
            let times = self.observe(op, &i)? % 3;
            for time in 0..times {
                let types = module.args(entry).iter().map(|&arg| module.value_type(arg));
                let args = self.invented(op, types, time)?;
                let (end, given) = self.region(op, region, args)?;
                self.observe(op, &module.name_text(end))?;
                self.observe_data(op, &given)?;
            }
        }
        self.invented(op, module.results(op).map(|value| module.value_type(value)), 3)
    }

    /// Lets the state depend on `what`; returns it.
    fn observe(&mut self, op: Op, what: &impl Hash) -> Result<u64> {
        let state = self.state.ok_or_else(|| self.unsupported(op))?;
        let mut hasher = FxHasher::default();
        (state, what).hash(&mut hasher);
        let state = hasher.finish();
        self.state = Some(state);
        Ok(state)
    }

    fn observe_data(&mut self, op: Op, data: &[Datum]) -> Result<()> {
        for datum in data {
            match datum {
                Datum::Int(value) => self.observe(op, value)?,
                Datum::Float(value) => self.observe(op, &value.to_bits())?,
                Datum::Buffer(_) | Datum::View(_) => {
                    let elements = View::of(datum).and_then(|view| view.elements());
                    let elements = elements.ok_or_else(|| self.unsupported(op))?;
                    self.observe_data(op, &elements.data)?;
                    continue;
                }
                Datum::Tensor(elements) => {
                    let elements = elements.data.clone();
                    self.observe_data(op, &elements)?;
                    continue;
                }
            };
        }
        Ok(())
    }

    /// Values of `types` that depend on the state and on `salt`.
    fn invented(
        &mut self,
        op: Op,
        types: impl Iterator<Item = Type>,
        salt: u64,
    ) -> Result<Vec<Datum>> {
        let context = self.module.context();
        types
            .enumerate()
            .map(|(i, ty)| {
                let random = self.observe(op, &(i, salt))?;
                invent(context, ty, random).ok_or_else(|| Trap::Unsupported("a value".into()))
            })
            .collect()
    }
}

fn invent(context: &Context, ty: Type, random: u64) -> Option<Datum> {
    match context.type_data(ty) {
        // Small, since loops count with it.
        TypeData::Index => Some(Datum::Int(i128::from(random >> 32) % 8)),
        TypeData::Integer { .. } => {
            Some(Datum::Int(wrap(i128::from(random >> 16), int_width(context, ty)?)))
        }
        TypeData::Float(_) => Some(Datum::Float((random >> 40) as f64)),
        _ => None,
    }
}

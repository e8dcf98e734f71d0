//! Nests that share rows: loops over blocks of rows around them.
//!
//! ```text
//! %y, %m = scf.for %r = 0 to n step 1 iter_args(%into_y, %into_m) {
//!   nests, each of whose rows begins at %r and makes one iteration
//!   scf.yield
//! }
//! ```
//!
//! What several rows write is carried by the loops. What only one block of rows needs is made in it.

use tangram_affine::symbolic::Expr;
use tangram_dialects::tg::Row;
use tangram_ir::{Attr, AttrData, Loc, OpState, Point, Str, Type, TypeData, Value};

use super::{Writer, plan, reduced};
use crate::LowerError;
use crate::group::Group;
use crate::nest::Nest;
use crate::packing::Tiled;

/// A nest in loops over rows: which of its loops these are, and how it is tiled.
struct Member<'a> {
    nest: &'a Nest,
    rows: &'a [usize],
    tiled: Option<&'a Tiled>,
}

impl Writer<'_> {
    /// Writes a group.
    pub(super) fn group(&mut self, group: &Group) -> Result<(), LowerError> {
        // Before arrays are contracted there are none with memory for one row.
        let nests = match group.contracted.is_empty() {
            true => &group.nests,
            false => &group.contracted,
        };
        let members: Vec<Member<'_>> = nests
            .iter()
            .zip(&group.rows)
            .zip(&group.tiled)
            .map(|((nest, rows), tiled)| Member { nest, rows, tiled: tiled.as_ref() })
            .collect();
        let mut blocks = vec![1; group.rows.first().map_or(0, Vec::len)];
        if let Some(last) = blocks.last_mut() {
            *last = group.block() as i64;
        }
        self.loops(&members, &blocks)
    }

    /// Writes nests that run one after the other for each value of their first loop.
    pub(super) fn steps(&mut self, nests: &[Nest]) -> Result<(), LowerError> {
        let member = |nest| Member { nest, rows: &[0], tiled: None };
        let members: Vec<Member<'_>> = nests.iter().map(member).collect();
        self.loops(&members, &[1])
    }

    fn loops(&mut self, members: &[Member<'_>], blocks: &[i64]) -> Result<(), LowerError> {
        let Some(first) = members.first() else { return Ok(()) };
        let extents: Vec<Expr> =
            first.rows.iter().map(|&at| first.nest.generic.extents[at].clone()).collect();
        // Tensors that are written, each buffer once, but those of one block of rows.
        let mut carried: Vec<usize> = Vec::new();
        for member in members {
            let tensor = member.nest.output;
            let buffer = |tensor: usize| self.draft.tensors[tensor].buffer;
            let known = carried.iter().any(|&own| buffer(own) == buffer(tensor));
            if !known && !self.draft.tensors[tensor].scratch {
                carried.push(tensor);
            }
        }
        let outer = self.point;
        let before: Vec<Value> = carried.iter().map(|&tensor| self.tensor(tensor)).collect();
        let types: Vec<Type> = before.iter().map(|&v| self.module.value_type(v)).collect();
        let mut starts = Vec::new();
        let mut opened: Vec<Point> = Vec::new();
        let mut into = before;
        for (extent, &block) in extents.iter().zip(blocks) {
            let arguments = self.open(extent, block, &into, &types);
            opened.push(self.point);
            starts.push(arguments[0]);
            into = arguments[1..].to_vec();
            self.remember(&carried, &into);
        }
        for member in members {
            let rows = member.rows.iter().zip(blocks).zip(&starts);
            let rows: Vec<(Row, Value)> = rows
                .map(|((&iterator, &block), &start)| (Row { iterator, block }, start))
                .collect();
            let (order, plan) = match member.tiled {
                Some(tiled) => {
                    let plan = plan::product(self.module.context(), tiled);
                    (plan::order(tiled), Some(plan))
                }
                None => (reduced(member.nest), None),
            };
            self.nest(member.nest, (order, plan), &rows)?;
        }
        let mut given: Vec<Value> = carried.iter().map(|&tensor| self.tensor(tensor)).collect();
        for &point in opened.iter().rev() {
            self.point = point;
            self.op("scf.yield", &given, &[], &[]);
            let around = match point {
                Point::End(block) => self.module.block_parent(block),
                _ => None,
            };
            given = around.map(|op| self.module.results(op).collect()).unwrap_or_default();
        }
        self.point = outer;
        self.remember(&carried, &given);
        // Memory of one block of rows is gone behind them.
        for member in members.iter().filter(|own| self.draft.tensors[own.nest.output].scratch) {
            self.memory.remove(&self.draft.tensors[member.nest.output].buffer);
        }
        Ok(())
    }

    fn remember(&mut self, tensors: &[usize], values: &[Value]) {
        for (&tensor, &value) in tensors.iter().zip(values) {
            self.memory.insert(self.draft.tensors[tensor].buffer, value);
        }
    }

    /// Begins a loop over blocks of rows; what follows goes into it.
    fn open(&mut self, extent: &Expr, block: i64, into: &[Value], types: &[Type]) -> Vec<Value> {
        let index = self.module.context().ty(TypeData::Index);
        let (zero, step) = (self.index(0), self.index(block));
        let text = self.module.context().str_attr(&extent.to_string());
        let end = self.result("tg.size", &[], index, &[("value", text)]);
        let mut state = OpState::new(self.module.context().name("scf.for"), Loc::UNKNOWN);
        state.operands.extend([zero, end, step]);
        state.operands.extend_from_slice(into);
        state.results.extend_from_slice(types);
        (state.attrs, state.regions) = (Attr::EMPTY_DICT, 1);
        let op = self.module.create_at(self.point, state);
        let inner = self.module.add_block(self.module.region(op, 0));
        let mut arguments = vec![self.module.add_arg(inner, index)];
        for &ty in types {
            arguments.push(self.module.add_arg(inner, ty));
        }
        self.point = Point::End(inner);
        arguments
    }

    fn index(&mut self, value: i64) -> Value {
        let context = self.module.context();
        let ty = context.ty(TypeData::Index);
        let attr = context.attr(AttrData::Integer { value: value.into(), ty });
        let name = context.text(Str::VALUE).to_owned();
        self.result("arith.constant", &[], ty, &[(&name, attr)])
    }
}

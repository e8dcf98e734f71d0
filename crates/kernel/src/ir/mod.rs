//! Programs as functions in IR: loops of `scf` that carry sums and walking views, vectors of `vector`,
//! and the operations that `tg` has for micro-kernels.
//!
//! ```text
//! %t:4 = scf.for %p = %0 to %depth step %1 iter_args(%a = .., %b = .., %next = .., %s = ..) {
//!   memref.prefetch %next[%0], read, locality<2>, data
//!   %n = tg.advance %next, %16
//!   %x = memref.load %a[%o]                       // an element of a row, where it lies
//!   %r = vector.broadcast %x
//!   %v = vector.load %b[%0]                       // elements of a panel
//!   %k = tg.keep %v                               // with which all rows are updated
//!   %m = arith.mulf %r, %k
//!   %u = arith.addf %s, %m
//!   %c = tg.advance %a, %step
//!   %d = tg.advance %b, %8
//!   scf.yield %c, %d, %n, %u
//! }
//! ```

mod maker;
mod writer;

use tangram_ir::{Module, Op};

use crate::body::Role;
use crate::program::Program;
use crate::steps::StepError;
use crate::tile::Element;
use maker::{Maker, Parameter, Types};
use writer::Writer;

impl Program {
    /// Adds a function to a module that computes a tile from zeros, with row operands where they lie in
    /// memory.
    ///
    /// ```text
    /// func.func @name(%segments: index, %segment: memref<?xindex>, %depth: index, %step: index,
    ///                 %x: memref<?xT>, %row: memref<?xindex>, .., %b: memref<?xT>, ..,
    ///                 %next: memref<?xT>, %c: memref<?xT>)
    /// ```
    ///
    /// Reduced iterations come in `segments` runs of `depth`: in iteration `p` of run `q`, row `r`
    /// of a row operand is `x[segment[q] + row[r] + p * step]`, while panels of column operands
    /// are packed without gaps, and `c` is the tile, row by row, aligned for vectors. Rows that
    /// are not wanted may have the offset of another one. Each iteration asks for one more line of
    /// cache from `next` on.
    ///
    /// A tile of more columns than a panel has, `panel`, takes one more argument in front of the
    /// others, `%apart: index`: how many elements lie from a panel to the next.
    ///
    /// # Errors
    /// [`StepError::Memory`] if sums are not kept in registers; [`StepError::Pairs`] if pairs are to be
    /// more than multiplied and added.
    pub fn to_ir(
        &self,
        module: &mut Module,
        name: &str,
        element: Element,
        panel: usize,
    ) -> Result<Op, StepError> {
        let types = Types::of(module.context(), element, self.width);
        let parameters = self.in_place_parameters(&types, panel);
        let (maker, function, arguments) = Maker::function(module, name, &parameters);
        Writer::new(self, element, panel, types, maker).in_place(&arguments)?;
        Ok(function)
    }

    /// Adds a function to a module that updates a tile, from packed panels.
    ///
    /// ```text
    /// func.func @name(%depth: index, %a: memref<?xT>, .., %b: memref<?xT>, .., %s: T, ..,
    ///                 %c: memref<?xmemref<?xT>>)
    /// ```
    ///
    /// `c` has a view of each row of the tile. Panels of operands are as in
    /// [`Panels`](crate::Panels); scalars are numbers.
    ///
    /// # Errors
    /// As [`to_ir`](Self::to_ir).
    pub fn to_packed_ir(
        &self,
        module: &mut Module,
        name: &str,
        element: Element,
    ) -> Result<Op, StepError> {
        let types = Types::of(module.context(), element, self.width);
        let parameters = self.packed_parameters(&types);
        let (maker, function, arguments) = Maker::function(module, name, &parameters);
        Writer::new(self, element, self.columns, types, maker).packed(&arguments)?;
        Ok(function)
    }

    fn packed_parameters(&self, types: &Types) -> Vec<Parameter> {
        let roles = self.body.roles().iter().enumerate();
        let operands = roles.map(|(at, role)| match role {
            Role::Row => Parameter::new(&format!("a{at}"), types.rows).alone(),
            Role::Column => Parameter::new(&format!("b{at}"), types.columns).alone(),
            Role::Scalar => Parameter::new(&format!("s{at}"), types.element),
        });
        let depth = Parameter::new("depth", types.index);
        let tile = Parameter::new("c", types.tile).alone();
        [depth].into_iter().chain(operands).chain([tile]).collect()
    }

    fn in_place_parameters(&self, types: &Types, panel: usize) -> Vec<Parameter> {
        let (index, places) = (types.index, types.places);
        let mut all = Vec::new();
        if panel < self.columns {
            all.push(Parameter::new("apart", index));
        }
        all.push(Parameter::new("segments", index));
        all.push(Parameter::new("segment", places));
        all.push(Parameter::new("depth", index));
        all.push(Parameter::new("step", index));
        for (at, role) in self.body.roles().iter().enumerate() {
            match role {
                Role::Row => {
                    all.push(Parameter::new(&format!("x{at}"), types.rows).alone());
                    all.push(Parameter::new(&format!("row{at}"), places).alone());
                }
                Role::Column => {
                    all.push(Parameter::new(&format!("b{at}"), types.columns).alone());
                }
                Role::Scalar => all.push(Parameter::new(&format!("s{at}"), types.element)),
            }
        }
        all.push(Parameter::new("next", types.columns));
        all.push(Parameter::new("c", types.rows).alone());
        all
    }
}

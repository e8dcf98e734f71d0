//! Printing types so that parsing gives the same ones.
//!
//! Types and attributes nest in each other without limit, so they are printed with a stack of
//! pieces that are still to come instead of by recursion.

use std::fmt;

use super::{Printer, Work};
use crate::attributes::Attr;
use crate::types::{Dim, DimKind, Signedness, TensorType, Type, TypeData};

impl<W: fmt::Write> Printer<'_, W> {
    pub(super) fn ty(&mut self, ty: Type) -> fmt::Result {
        let floor = self.work.len();
        self.type_piece(ty)?;
        self.finish(floor)
    }

    /// Prints the pieces above `floor`.
    pub(super) fn finish(&mut self, floor: usize) -> fmt::Result {
        while self.work.len() > floor {
            match self.work.pop() {
                Some(Work::Text(text)) => self.write(text)?,
                Some(Work::Type(ty)) => self.type_piece(ty)?,
                Some(Work::Attr(attr)) => self.attr_piece(attr)?,
                Some(Work::Element(attr)) => self.element_piece(attr)?,
                Some(Work::Entry(name, attr)) => self.entry(name, attr)?,
                Some(Work::Loc(loc)) => self.location_piece(loc)?,
                Some(Work::Results(ty)) => self.result_type(ty)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Puts `pieces` on the stack so that they come out in order.
    pub(super) fn later(&mut self, pieces: impl DoubleEndedIterator<Item = Work>) {
        self.work.extend(pieces.rev());
    }

    /// Puts `items`, separated by commas, and then `end` on the stack.
    pub(super) fn list(
        &mut self,
        items: impl ExactSizeIterator<Item = Work> + DoubleEndedIterator,
        end: &'static str,
    ) {
        self.work.push(Work::Text(end));
        let last = items.len().saturating_sub(1);
        for (i, item) in items.rev().enumerate() {
            self.work.push(item);
            if i != last {
                self.work.push(Work::Text(", "));
            }
        }
    }

    fn type_piece(&mut self, ty: Type) -> fmt::Result {
        match self.context.type_data(ty) {
            TypeData::None => self.write("none"),
            TypeData::Index => self.write("index"),
            TypeData::Integer { width, sign } => {
                self.write(match sign {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                })?;
                self.number(u64::from(*width))
            }
            TypeData::Float(kind) => self.write(kind.name()),
            TypeData::Complex(element) => {
                self.write("complex<")?;
                self.later([Work::Type(*element), Work::Text(">")].into_iter());
                Ok(())
            }
            TypeData::Function { inputs, results } => self.function(inputs, results),
            TypeData::Tuple(items) => {
                self.write("tuple<")?;
                self.list(items.iter().map(|&ty| Work::Type(ty)), ">");
                Ok(())
            }
            TypeData::Tensor(tensor) => self.tensor(tensor),
            TypeData::UnrankedTensor(element) => {
                self.write("tensor<*x")?;
                self.later([Work::Type(*element), Work::Text(">")].into_iter());
                Ok(())
            }
            TypeData::Vector { dims, scalable, element } => self.vector(dims, scalable, *element),
            TypeData::MemRef { dims, element, layout, space } => {
                self.write("memref<")?;
                self.extents(dims)?;
                self.memref(*element, [*layout, *space])
            }
            TypeData::UnrankedMemRef { element, space } => {
                self.write("memref<*x")?;
                self.memref(*element, [None, *space])
            }
            TypeData::Dialect { name, params } => {
                self.write("!")?;
                self.write(self.context.text(*name))?;
                if !params.is_empty() {
                    self.write("<")?;
                    self.list(params.iter().map(|&attr| Work::Attr(attr)), ">");
                }
                Ok(())
            }
            TypeData::Opaque(text) => {
                self.write("!")?;
                self.write(self.context.text(*text))
            }
        }
    }

    fn function(&mut self, inputs: &[Type], results: &[Type]) -> fmt::Result {
        self.write("(")?;
        match results {
            [one] => self.work.push(Work::Results(*one)),
            _ => {
                self.list(results.iter().map(|&ty| Work::Type(ty)), ")");
                self.work.push(Work::Text("("));
            }
        }
        self.list(inputs.iter().map(|&ty| Work::Type(ty)), ") -> ");
        Ok(())
    }

    /// A single result; a function type needs parentheses there.
    fn result_type(&mut self, ty: Type) -> fmt::Result {
        if matches!(self.context.type_data(ty), TypeData::Function { .. }) {
            self.write("(")?;
            self.work.push(Work::Text(")"));
        }
        self.work.push(Work::Type(ty));
        Ok(())
    }

    fn extents(&mut self, dims: &[Dim]) -> fmt::Result {
        for dim in dims {
            match dim.as_static() {
                Some(extent) => self.number(extent.unsigned_abs())?,
                None => self.write("?")?,
            }
            self.write("x")?;
        }
        Ok(())
    }

    fn tensor(&mut self, tensor: &TensorType) -> fmt::Result {
        self.write("tensor<")?;
        self.extents(&tensor.dims)?;
        self.work.push(Work::Text(">"));
        let symbolic = tensor.dims.iter().any(|dim| matches!(dim.kind(), DimKind::Symbolic(_)));
        if symbolic {
            // The element type cannot have pieces of its own that come after these.
            let encoding = self.symbolic_encoding(tensor);
            self.work.push(Work::Attr(encoding));
            self.work.push(Work::Text(", "));
        } else if let Some(encoding) = tensor.encoding {
            self.work.push(Work::Attr(encoding));
            self.work.push(Work::Text(", "));
        }
        self.work.push(Work::Type(tensor.element));
        Ok(())
    }

    /// One string for each dimension, and the encoding proper.
    fn symbolic_encoding(&self, tensor: &TensorType) -> Attr {
        let texts = tensor.dims.iter().map(|dim| match dim.kind() {
            DimKind::Symbolic(expr) => self.context.str_attr(self.context.dim_text(expr)),
            _ => self.context.str_attr(""),
        });
        let items: Vec<Attr> = texts.chain(tensor.encoding).collect();
        self.context.array_attr(&items)
    }

    fn vector(&mut self, dims: &[i64], scalable: &[bool], element: Type) -> fmt::Result {
        self.write("vector<")?;
        for (i, dim) in dims.iter().enumerate() {
            let scalable = scalable.get(i).copied().unwrap_or(false);
            self.write(if scalable { "[" } else { "" })?;
            self.number(dim.unsigned_abs())?;
            self.write(if scalable { "]x" } else { "x" })?;
        }
        self.later([Work::Type(element), Work::Text(">")].into_iter());
        Ok(())
    }

    fn memref(&mut self, element: Type, extras: [Option<Attr>; 2]) -> fmt::Result {
        self.work.push(Work::Text(">"));
        for attr in extras.into_iter().rev().flatten() {
            self.work.push(Work::Element(attr));
            self.work.push(Work::Text(", "));
        }
        self.work.push(Work::Type(element));
        Ok(())
    }
}

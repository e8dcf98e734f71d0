//! Constants that are too long for people to read.

use std::fmt;

use super::Printer;
use crate::attributes::AttrData;
use crate::types::Type;

/// What stands for a tensor that is left out, as in MLIR.
const TENSOR: &str = "dense_resource<__elided__>";
/// What stands for a text or a list that is left out.
const TEXT: &str = "\"__elided__\"";

impl<W: fmt::Write> Printer<'_, W> {
    /// Whether so many bytes are left out.
    pub(super) fn is_elided(&self, bytes: usize) -> bool {
        self.options.elide.is_some_and(|most| bytes > most)
    }

    /// Prints what stands for `attr` if that is too long; returns whether it did.
    pub(super) fn elided(&mut self, attr: &AttrData) -> Result<bool, fmt::Error> {
        match attr {
            AttrData::Dense { ty, bytes, splat: false }
                if self.is_elided(bytes.len()) && !self.is_uniform(*ty, bytes) =>
            {
                self.write(TENSOR)?;
                self.typed(*ty)?;
            }
            AttrData::I64s(values) if self.is_elided(8 * values.len()) => {
                write!(self.out, "{TENSOR} : tensor<{}xi64>", values.len())?;
            }
            AttrData::DenseArray { element, bytes } if self.is_elided(bytes.len()) => {
                let size = self.context.element_bytes(*element).unwrap_or(1).max(1);
                write!(self.out, "{TENSOR} : tensor<{}x", bytes.len() / size)?;
                self.ty(*element)?;
                self.write(">")?;
            }
            AttrData::Bytes(bytes) if self.is_elided(bytes.len()) => self.write(TEXT)?,
            AttrData::String(text) if self.is_elided(self.context.text(*text).len()) => {
                self.write(TEXT)?;
            }
            AttrData::Array(items) if self.is_elided(4 * items.len()) => self.write(TEXT)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The comment that says how much does not follow the module.
    pub(super) fn elided_resources(&mut self, count: usize, bytes: usize) -> fmt::Result {
        if count == 0 {
            return Ok(());
        }
        writeln!(self.out, "\n// resources left out: {count}, {bytes} bytes")
    }

    /// Whether a tensor is printed as one element.
    pub(super) fn is_uniform(&self, ty: Type, bytes: &[u8]) -> bool {
        let element = crate::shaped::shape(self.context, ty).map_or(ty, |(_, element)| element);
        let size = self.context.element_bytes(element).unwrap_or(1).max(1);
        bytes.len() >= size && bytes.chunks(size).all(|chunk| chunk == &bytes[..size])
    }
}

//! Printing attributes so that parsing gives the same ones.

use std::fmt;

use super::{Printer, Work};
use crate::attributes::{Attr, AttrData};
use crate::context::Str;
use crate::text::float;
use crate::types::{FloatKind, Signedness, Type, TypeData};

/// Attributes of MLIR itself that are kept as text; they have no `#` before them.
const BUILTIN: [&str; 5] = ["strided<", "sparse<", "distinct[", "dense<", "\""];

impl<W: fmt::Write> Printer<'_, W> {
    pub(super) fn attr(&mut self, attr: Attr) -> fmt::Result {
        let floor = self.work.len();
        self.attr_piece(attr)?;
        self.finish(floor)
    }

    /// Prints `{a = 1 : i64, b}`.
    pub(super) fn dictionary(&mut self, entries: &[(Str, Attr)]) -> fmt::Result {
        let floor = self.work.len();
        self.write("{")?;
        self.list(entries.iter().map(|&(name, attr)| Work::Entry(name, attr)), "}");
        self.finish(floor)
    }

    pub(super) fn entry(&mut self, name: Str, attr: Attr) -> fmt::Result {
        self.key(self.context.text(name))?;
        if attr != Attr::UNIT {
            self.write(" = ")?;
            self.work.push(Work::Attr(attr));
        }
        Ok(())
    }

    pub(super) fn attr_piece(&mut self, attr: Attr) -> fmt::Result {
        let data = self.context.attr_data(attr);
        if self.elided(data)? {
            return Ok(());
        }
        match data {
            AttrData::Dict(entries) => {
                self.write("{")?;
                self.list(entries.iter().map(|&(name, attr)| Work::Entry(name, attr)), "}");
                Ok(())
            }
            // Stands in no attribute; if it did, it would be the dictionary of all.
            AttrData::Properties { entries, .. } => {
                self.write("{")?;
                self.list(entries.iter().map(|&(name, attr)| Work::Entry(name, attr)), "}");
                Ok(())
            }
            AttrData::Unit => self.write("unit"),
            AttrData::Bool(value) => self.write(if *value { "true" } else { "false" }),
            AttrData::Integer { value, ty } => {
                self.integer(*value, *ty)?;
                self.typed(*ty)
            }
            AttrData::Float { bits, ty } => {
                self.float(f64::from_bits(*bits), *ty)?;
                self.typed(*ty)
            }
            AttrData::WideFloat { pattern, ty } => {
                if let TypeData::Float(kind) = *self.context.type_data(*ty) {
                    float::write(self.out, *pattern, kind)?;
                }
                self.typed(*ty)
            }
            AttrData::String(text) => self.quoted(self.context.text(*text).as_bytes()),
            AttrData::Bytes(bytes) => self.quoted(bytes),
            AttrData::Array(items) => {
                self.write("[")?;
                self.list(items.iter().map(|&attr| Work::Element(attr)), "]");
                Ok(())
            }
            AttrData::I64s(values) => self.i64s(values),
            AttrData::DenseArray { element, bytes } => self.dense_array(*element, bytes),
            AttrData::Type(ty) => {
                self.work.push(Work::Type(*ty));
                Ok(())
            }
            AttrData::Symbol(path) => self.symbol_path(path),
            AttrData::Dense { ty, bytes, splat } => {
                self.dense(*ty, bytes, *splat)?;
                self.typed(*ty)
            }
            AttrData::Resource { ty, key } => {
                self.write("dense_resource<")?;
                self.key(self.context.text(*key))?;
                self.write(">")?;
                self.typed(*ty)
            }
            AttrData::Location(loc) => self.location_attr(*loc),
            AttrData::AffineMap(map) => {
                if self.alias(attr)? {
                    return Ok(());
                }
                write!(self.out, "affine_map<{map}>")
            }
            AttrData::IntegerSet(set) => {
                if self.alias(attr)? {
                    return Ok(());
                }
                write!(self.out, "affine_set<{set}>")
            }
            AttrData::Opaque(text) => {
                let text = self.context.text(*text);
                let number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
                let builtin = number || BUILTIN.iter().any(|prefix| text.starts_with(prefix));
                self.write(if builtin { "" } else { "#" })?;
                self.write(text)
            }
        }
    }

    /// Prints an element of an array, or what else stands where `i64` and `f64` go without saying.
    pub(super) fn element_piece(&mut self, attr: Attr) -> fmt::Result {
        match *self.context.attr_data(attr) {
            AttrData::Integer { value, ty }
                if *self.context.type_data(ty)
                    == (TypeData::Integer { width: 64, sign: Signedness::Signless }) =>
            {
                self.integer(value, ty)
            }
            AttrData::Float { bits, ty }
                if *self.context.type_data(ty) == TypeData::Float(FloatKind::F64) =>
            {
                // What has no decimal form is written as bits, which would be read as an integer.
                match float::decimal(bits.into(), FloatKind::F64) {
                    Some(text) => self.write(&text),
                    None => self.attr_piece(attr),
                }
            }
            _ => self.attr_piece(attr),
        }
    }

    pub(super) fn typed(&mut self, ty: Type) -> fmt::Result {
        self.write(" : ")?;
        self.work.push(Work::Type(ty));
        Ok(())
    }

    /// A value without its type.
    pub(super) fn integer(&mut self, value: i128, ty: Type) -> fmt::Result {
        let value = match self.context.type_data(ty) {
            TypeData::Integer { width, sign: Signedness::Unsigned }
                if value < 0 && *width < 127 =>
            {
                value + (1i128 << width)
            }
            TypeData::Integer { width: 1, sign: Signedness::Signless } => {
                return self.write(if value == 0 { "false" } else { "true" });
            }
            _ => value,
        };
        if value < 0 {
            self.write("-")?;
        }
        match u64::try_from(value.unsigned_abs()) {
            Ok(small) => self.number(small),
            Err(_) => write!(self.out, "{}", value.unsigned_abs()),
        }
    }

    /// A value without its type.
    pub(super) fn float(&mut self, value: f64, ty: Type) -> fmt::Result {
        let kind = match self.context.type_data(ty) {
            TypeData::Float(kind) => *kind,
            _ => FloatKind::F64,
        };
        float::write(self.out, kind.encode(value), kind)
    }

    fn i64s(&mut self, values: &[i64]) -> fmt::Result {
        self.write("array<i64")?;
        for (i, &value) in values.iter().enumerate() {
            self.write(if i == 0 { ": " } else { ", " })?;
            self.write(if value < 0 { "-" } else { "" })?;
            self.number(value.unsigned_abs())?;
        }
        self.write(">")
    }

    fn dense_array(&mut self, element: Type, bytes: &[u8]) -> fmt::Result {
        self.write("array<")?;
        self.ty(element)?;
        let size = self.context.element_bytes(element).unwrap_or(1).max(1);
        for (i, chunk) in bytes.chunks(size).enumerate() {
            self.write(if i == 0 { ": " } else { ", " })?;
            self.element(element, chunk)?;
        }
        self.write(">")
    }

    fn symbol_path(&mut self, path: &[Str]) -> fmt::Result {
        for (i, &name) in path.iter().enumerate() {
            self.write(if i == 0 { "" } else { "::" })?;
            self.symbol(self.context.text(name))?;
        }
        Ok(())
    }
}

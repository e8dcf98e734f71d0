//! Constant tensors and arrays of numbers.

use num_bigint::Sign;

use super::attrs::is_huge;
use super::strings::hex_bytes;
use super::{Kind, Parsed, Parser, Token};
use crate::attributes::{Attr, AttrData};
use crate::shaped::shape;
use crate::types::{Signedness, Type, TypeData};

/// A literal in a list of elements.
#[derive(Clone, Copy)]
struct Literal {
    token: Token,
    negative: bool,
}

/// Elements as written, before their type is known.
#[derive(Default)]
struct Elements {
    literals: Vec<Literal>,
    /// The extents that the brackets show; empty for a single element.
    shape: Vec<usize>,
}

impl Parser<'_> {
    /// `array<i64: 1, 2>`.
    pub(super) fn dense_array(&mut self) -> Parsed<Attr> {
        self.take();
        self.expect(b'<', "after `array`")?;
        let start = self.token;
        let element = self.ty()?;
        let whole = match self.context.type_data(element) {
            TypeData::Integer { width, .. } => *width == 1 || width % 8 == 0,
            TypeData::Float(kind) => kind.width() % 8 == 0,
            _ => false,
        };
        if !whole {
            let found = self.type_text(element);
            let message = format!("expected `i1` or numbers of whole bytes, found {found}");
            return self.error(start, "array-type", message);
        }
        let mut bytes = Vec::new();
        if self.accept(b':') {
            self.list(b'>', |p| {
                let literal = p.literal()?;
                p.element(literal, element, &mut bytes)
            })?;
        } else {
            self.expect(b'>', "after the element type")?;
        }
        if element == self.context.int_type(64) {
            let values = bytes.chunks_exact(8).map(|b| {
                let mut word = [0; 8];
                word.copy_from_slice(b);
                i64::from_le_bytes(word)
            });
            return Ok(self.context.attr(AttrData::I64s(values.collect())));
        }
        Ok(self.context.attr(AttrData::DenseArray { element, bytes: bytes.into() }))
    }

    /// `dense_resource<key> : tensor<...>`.
    pub(super) fn resource(&mut self) -> Parsed<Attr> {
        self.take();
        self.expect(b'<', "after `dense_resource`")?;
        let token = self.take();
        let key = match token.kind {
            Kind::Word => self.context.str(self.spelling(token)),
            Kind::String => self.text_of(token)?,
            _ => return self.error(token, "syntax", "expected the key of a resource".into()),
        };
        self.expect(b'>', "after the key")?;
        self.expect(b':', "before the type")?;
        let ty = self.ty()?;
        Ok(self.context.attr(AttrData::Resource { ty, key }))
    }

    /// `dense<...> : tensor<...>`.
    pub(super) fn dense(&mut self) -> Parsed<Attr> {
        self.dense_elements(None)
    }

    /// `dense<...>` of a type that is known.
    pub(super) fn dense_of(&mut self, ty: Type) -> Parsed<Attr> {
        self.dense_elements(Some(ty))
    }

    fn dense_elements(&mut self, known: Option<Type>) -> Parsed<Attr> {
        let start = self.take();
        self.expect(b'<', "after `dense`")?;
        let mut elements = Elements::default();
        let body = self.token.start as usize;
        if !self.is(b'>') {
            self.elements(&mut elements)?;
        }
        let end = self.expect(b'>', "after the elements")?;
        let ty = match known {
            Some(ty) => ty,
            None => {
                self.expect(b':', "before the type")?;
                self.ty()?
            }
        };
        // What such types hold only their dialects know.
        if matches!(self.context.type_data(ty), TypeData::Opaque(_) | TypeData::Dialect { .. }) {
            return Ok(self.dense_text(body, end.end as usize, ty));
        }
        let Some((dims, element)) = shape(self.context, ty) else {
            let found = self.type_text(ty);
            let message = format!("expected a tensor or vector with static extents, found {found}");
            return self.error(start, "dense-type", message);
        };
        let Some(size) = self.context.element_bytes(element) else {
            let strings = elements.literals.iter().all(|l| l.token.kind == Kind::String);
            if strings {
                return Ok(self.dense_text(body, end.end as usize, ty));
            }
            let found = self.type_text(element);
            let message = format!("expected numbers as elements, found {found}");
            return self.error(start, "dense-type", message);
        };
        let Some(count) = element_count(&dims, size) else {
            return self.error(start, "dense-type", "expected fewer elements".into());
        };
        let bytes = match elements.literals.as_slice() {
            &[one] if one.token.kind == Kind::String => {
                self.hex_elements(one.token, element, size, count)?
            }
            _ => self.listed_elements(start, &elements, &dims, element)?,
        };
        let uniform = !bytes.is_empty() && bytes.chunks(size).all(|chunk| *chunk == bytes[..size]);
        let bytes = if uniform { bytes[..size].into() } else { bytes.into() };
        Ok(self.context.attr(AttrData::Dense { ty, bytes, splat: uniform }))
    }

    /// Elements that are strings are kept as text.
    fn dense_text(&mut self, from: usize, to: usize, ty: Type) -> Attr {
        let mut text = String::from("dense<");
        self.expand(from, to, false, &mut text);
        text.push_str(" : ");
        text.push_str(&self.type_text(ty));
        self.context.note_text_type(&text, ty);
        self.opaque(&text)
    }

    /// Reads nested brackets of literals. Iterative: brackets may nest as deep as they like.
    fn elements(&mut self, out: &mut Elements) -> Parsed<()> {
        // For each open bracket, how many items it has so far.
        let mut open: Vec<usize> = Vec::new();
        let mut depth_of_leaves = None;
        loop {
            if self.accept(b'[') {
                open.push(0);
                if open.len() > out.shape.len() {
                    if depth_of_leaves.is_some() {
                        return self.unexpected("an element");
                    }
                    out.shape.push(usize::MAX);
                }
                if !self.is(b']') {
                    continue;
                }
            } else {
                let literal = self.literal_or_complex(out)?;
                if let Some(literal) = literal {
                    out.literals.push(literal);
                }
                if *depth_of_leaves.get_or_insert(open.len()) != open.len() {
                    return self.unexpected("brackets of equal depth");
                }
                match open.last_mut() {
                    None => return Ok(()),
                    Some(n) => *n += 1,
                }
            }
            if self.close_lists(out, &mut open)? {
                return Ok(());
            }
        }
    }

    /// Reads `]` as often as it comes, up to a comma. `true` once no list is open.
    fn close_lists(&mut self, out: &mut Elements, open: &mut Vec<usize>) -> Parsed<bool> {
        while !self.accept(b',') {
            let close = self.expect(b']', "or `,` in a list of elements")?;
            let n = open.pop().unwrap_or(0);
            let known = &mut out.shape[open.len()];
            if *known != usize::MAX && *known != n {
                let message = format!("expected {known} elements in this list, found {n}");
                return self.error(close, "dense-shape", message);
            }
            *known = n;
            match open.last_mut() {
                None => return Ok(true),
                Some(outer) => *outer += 1,
            }
        }
        Ok(false)
    }

    /// `(1, 2)` puts its first part into `out` and returns the second.
    fn literal_or_complex(&mut self, out: &mut Elements) -> Parsed<Option<Literal>> {
        if !self.accept(b'(') {
            return self.literal().map(Some);
        }
        let re = self.literal()?;
        out.literals.push(re);
        self.expect(b',', "between the parts of a complex number")?;
        let im = self.literal()?;
        self.expect(b')', "after a complex number")?;
        Ok(Some(im))
    }

    fn literal(&mut self) -> Parsed<Literal> {
        let negative = self.accept(b'-');
        let truth = self.is_word("true") || self.is_word("false");
        match self.token.kind {
            Kind::Int | Kind::Float => Ok(Literal { token: self.take(), negative }),
            Kind::String if !negative => Ok(Literal { token: self.take(), negative }),
            _ if truth && !negative => Ok(Literal { token: self.take(), negative }),
            _ => self.unexpected("a number"),
        }
    }

    /// Appends the bytes of `literal` as a number of type `ty`.
    fn element(&mut self, literal: Literal, ty: Type, out: &mut Vec<u8>) -> Parsed<()> {
        let Literal { token, negative } = literal;
        let part = match *self.context.type_data(ty) {
            TypeData::Complex(part) => part,
            _ => ty,
        };
        let (pattern, size) = match (token.kind, self.context.type_data(part)) {
            (Kind::Word, _) if self.context.is_boolean(part) => {
                (u128::from(self.spelling(token) == "true"), 1)
            }
            (_, TypeData::Float(kind)) if token.kind != Kind::Word => {
                (self.float_pattern(token, negative, part)?, kind.width().div_ceil(8) as usize)
            }
            (Kind::Int, &TypeData::Integer { width, sign }) if is_huge(width, sign) => {
                let size = self.context.element_bytes(part).unwrap_or(0);
                let value = self.huge_value(token, negative, part, width)?;
                let fill = if value.sign() == Sign::Minus { 0xFF } else { 0 };
                let bytes = value.to_signed_bytes_le();
                out.extend((0..size).map(|i| bytes.get(i).copied().unwrap_or(fill)));
                return Ok(());
            }
            (Kind::Int, TypeData::Integer { .. } | TypeData::Index) => {
                let value = self.integer_value(token, negative, part)?;
                let value = if self.context.is_boolean(part) { value & 1 } else { value };
                (value as u128, self.context.element_bytes(part).unwrap_or(8))
            }
            _ => {
                let (ty, text) = (self.type_text(part), self.spelling(token));
                return self.error(
                    token,
                    "element",
                    format!("expected an element of type {ty}, found `{text}`"),
                );
            }
        };
        let fill =
            if pattern >> 127 == 1 && !matches!(self.context.type_data(part), TypeData::Float(_)) {
                0xFF
            } else {
                0
            };
        let bytes = pattern.to_le_bytes();
        out.extend((0..size).map(|i| bytes.get(i).copied().unwrap_or(fill)));
        Ok(())
    }

    /// Elements written in brackets, or one for all.
    fn listed_elements(
        &mut self,
        start: Token,
        elements: &Elements,
        dims: &[i64],
        element: Type,
    ) -> Parsed<Vec<u8>> {
        let complex = matches!(self.context.type_data(element), TypeData::Complex(_));
        let per = if complex { 2 } else { 1 };
        let single = elements.shape.is_empty() && elements.literals.len() == per;
        let count: i64 = dims.iter().fold(1, |n, &dim| n.saturating_mul(dim));
        let empty = elements.literals.is_empty() && count == 0;
        let same = elements.shape.len() == dims.len()
            && elements.shape.iter().zip(dims).all(|(&n, &dim)| n as i64 == dim)
            && elements.literals.len() as i64 == count.saturating_mul(per as i64);
        if !(single || empty || same) {
            let message =
                format!("expected elements of shape {dims:?}, found {:?}", elements.shape);
            return self.error(start, "dense-shape", message);
        }
        let mut bytes = Vec::new();
        for &literal in &elements.literals {
            self.element(literal, element, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Elements with the bits beyond their width as an integer has them: those of its sign.
    fn extended(&self, element: Type, mut bytes: Vec<u8>, size: usize) -> Vec<u8> {
        let TypeData::Integer { width, sign } = *self.context.type_data(element) else {
            return bytes;
        };
        let used = width % 8;
        if used == 0 {
            return bytes;
        }
        for last in bytes.iter_mut().skip(size - 1).step_by(size) {
            let negative = *last >> (used - 1) & 1 == 1 && sign != Signedness::Unsigned;
            let beyond = u8::MAX << used;
            *last = if negative { *last | beyond } else { *last & !beyond };
        }
        bytes
    }

    /// Elements written as one hexadecimal string: all of them, or one for all.
    fn hex_elements(
        &mut self,
        token: Token,
        element: Type,
        size: usize,
        count: usize,
    ) -> Parsed<Vec<u8>> {
        let text = self.spelling(token).trim_matches('"');
        let Some(bytes) = hex_bytes(text) else {
            let message = "expected a string \"0x...\" of whole bytes".to_string();
            return self.error(token, "dense-hex", message);
        };
        let boolean = self.context.is_boolean(element);
        if boolean && bytes.len() == count.div_ceil(8) {
            return Ok((0..count).map(|i| bytes[i / 8] >> (i % 8) & 1).collect());
        }
        if bytes.len() == size && boolean {
            return Ok(vec![u8::from(bytes[0] != 0)]);
        }
        if bytes.len() == size || bytes.len() == size * count {
            return Ok(self.extended(element, bytes, size));
        }
        let message = format!("expected {} bytes, found {}", size * count, bytes.len());
        self.error(token, "dense-hex", message)
    }
}

/// How many elements of `size` bytes there are, if memory can hold them.
fn element_count(dims: &[i64], size: usize) -> Option<usize> {
    let count = dims.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
    count.filter(|n| n.checked_mul(size).is_some())
}

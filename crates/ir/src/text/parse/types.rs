//! Parsing types: builtin ones, functions, tensors, vectors, buffers, dialects' own.

use smallvec::SmallVec;
use tangram_affine::symbolic::Expr;

use super::{Kind, Parsed, Parser};
use crate::attributes::{Attr, AttrData};
use crate::types::{Dim, FloatKind, Signedness, TensorType, Type, TypeData};

/// The extents before an element type.
#[derive(Default)]
struct Extents {
    dims: Vec<Dim>,
    scalable: Vec<bool>,
    unranked: bool,
}

impl Parser<'_> {
    /// Reads a type.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        match self.token.kind {
            Kind::Word => self.same_type(Self::named_type),
            Kind::Bang => self.dialect_type(),
            Kind::Punct(b'(') => self.nested(Self::function_type),
            _ => self.unexpected("a type"),
        }
    }

    fn named_type(&mut self) -> Parsed<Type> {
        let token = self.token;
        let word = self.spelling(token);
        if let Some(ty) = self.integer_type(word)? {
            self.take();
            return Ok(ty);
        }
        match word {
            "index" => self.simple(TypeData::Index),
            "none" => self.simple(TypeData::None),
            "tensor" => self.nested(Self::tensor_type),
            "memref" => self.nested(Self::memref_type),
            "vector" => self.nested(Self::vector_type),
            "complex" => self.nested(Self::complex_type),
            "tuple" => self.nested(Self::tuple_type),
            _ => match FloatKind::ALL.into_iter().find(|kind| kind.name() == word) {
                Some(kind) => self.simple(TypeData::Float(kind)),
                None => self.unexpected("a type"),
            },
        }
    }

    fn simple(&mut self, data: TypeData) -> Parsed<Type> {
        self.take();
        Ok(self.context.ty(data))
    }

    /// `i32`, `si8`, `ui1`; `None` if `word` is something else.
    fn integer_type(&mut self, word: &str) -> Parsed<Option<Type>> {
        let (sign, digits) = match word.as_bytes() {
            [b'i', ..] => (Signedness::Signless, &word[1..]),
            [b's', b'i', ..] => (Signedness::Signed, &word[2..]),
            [b'u', b'i', ..] => (Signedness::Unsigned, &word[2..]),
            _ => return Ok(None),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(None);
        }
        // MLIR's limit.
        match digits.parse() {
            Ok(width) if width < 1 << 24 => {
                Ok(Some(self.context.ty(TypeData::Integer { width, sign })))
            }
            _ => {
                let message = format!("expected at most 16777215 bits, found `{word}`");
                let token = self.token;
                self.error(token, "integer-width", message)
            }
        }
    }

    fn function_type(&mut self) -> Parsed<Type> {
        let mut inputs: SmallVec<[Type; 4]> = SmallVec::new();
        self.take();
        self.list(b')', |p| {
            inputs.push(p.ty()?);
            Ok(())
        })?;
        self.expect_kind(Kind::Arrow, "`->` before the result types")?;
        let mut results = SmallVec::new();
        self.function_results(&mut results)?;
        Ok(self.context.function_type(&inputs, &results))
    }

    /// One type, or any number in parentheses.
    pub(super) fn function_results(&mut self, results: &mut SmallVec<[Type; 2]>) -> Parsed<()> {
        if !self.accept(b'(') {
            // `(...) -> ...` cannot stand here without parentheses around it.
            results.push(self.ty()?);
            return Ok(());
        }
        self.list(b')', |p| {
            results.push(p.ty()?);
            Ok(())
        })
    }

    /// Reads the element type of `holder`.
    fn element_type(&mut self, holder: &str) -> Parsed<Type> {
        let token = self.token;
        let ty = self.ty()?;
        let fits = match self.context.type_data(ty) {
            TypeData::Integer { .. } | TypeData::Float(_) => true,
            TypeData::Index => holder != "complex",
            TypeData::Dialect { .. } | TypeData::Opaque(_) => holder != "complex",
            TypeData::Complex(_) | TypeData::Vector { .. } => {
                holder == "tensor" || holder == "memref"
            }
            TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. } => holder == "memref",
            _ => false,
        };
        if fits {
            return Ok(ty);
        }
        let message =
            format!("expected a type that a {holder} can hold, found {}", self.type_text(ty));
        self.error(token, "element-type", message)
    }

    fn complex_type(&mut self) -> Parsed<Type> {
        self.take();
        self.expect(b'<', "after `complex`")?;
        let element = self.element_type("complex")?;
        self.expect(b'>', "after the element type")?;
        Ok(self.context.ty(TypeData::Complex(element)))
    }

    fn tuple_type(&mut self) -> Parsed<Type> {
        self.take();
        self.expect(b'<', "after `tuple`")?;
        let mut items = Vec::new();
        self.list(b'>', |p| {
            items.push(p.ty()?);
            Ok(())
        })?;
        Ok(self.context.ty(TypeData::Tuple(items.into())))
    }

    /// `2x?x`, `*x` or `[4]x`. An extent runs into the element type, `3xf32`, so this works on
    /// bytes.
    fn extents(&mut self) -> Parsed<Extents> {
        let mut extents = Extents::default();
        if self.is(b'*') {
            extents.unranked = true;
            self.take();
            self.cross()?;
            return Ok(extents);
        }
        loop {
            if self.is(b'?') {
                self.take();
                extents.dims.push(Dim::UNKNOWN);
                extents.scalable.push(false);
            } else if self.token.kind == Kind::Int || self.token.kind == Kind::Float {
                let extent = self.extent()?;
                extents.dims.push(Dim::fixed(extent));
                extents.scalable.push(false);
            } else if self.accept(b'[') {
                let extent = self.extent()?;
                extents.dims.push(Dim::fixed(extent));
                extents.scalable.push(true);
                self.expect(b']', "after a scalable extent")?;
            } else {
                return Ok(extents);
            }
            self.cross()?;
        }
    }

    /// The digits at the current token, of which `0x3` has one.
    fn extent(&mut self) -> Parsed<i64> {
        let start = self.token.start as usize;
        let digits = self.src[start..].iter().take_while(|b| b.is_ascii_digit()).count();
        let text = self.text.get(start..start + digits).unwrap_or("");
        match text.parse() {
            Ok(extent) => {
                self.jump(start + digits);
                Ok(extent)
            }
            Err(_) => {
                let token = self.token;
                let message = format!("expected an extent of at most 64 bits, found `{text}`");
                self.error(token, "extent", message)
            }
        }
    }

    /// The `x` after an extent, which starts the current token.
    fn cross(&mut self) -> Parsed<()> {
        let start = self.token.start as usize;
        if self.token.kind == Kind::Word && self.src.get(start) == Some(&b'x') {
            self.jump(start + 1);
            return Ok(());
        }
        self.unexpected("`x` after an extent")
    }

    fn tensor_type(&mut self) -> Parsed<Type> {
        self.take();
        self.expect(b'<', "after `tensor`")?;
        let extents = self.extents()?;
        let element = self.element_type("tensor")?;
        let encoding = if self.accept(b',') { Some(self.attr()?) } else { None };
        self.expect(b'>', "after the tensor type")?;
        if extents.unranked {
            return Ok(self.context.ty(TypeData::UnrankedTensor(element)));
        }
        let mut dims = extents.dims;
        let encoding = self.symbols(&mut dims, encoding);
        let dims = dims.into();
        Ok(self.context.ty(TypeData::Tensor(TensorType { dims, element, encoding })))
    }

    /// Takes symbolic extents out of `encoding`; returns the encoding proper.
    fn symbols(&self, dims: &mut [Dim], encoding: Option<Attr>) -> Option<Attr> {
        let AttrData::Array(items) = self.context.attr_data(encoding?) else { return encoding };
        let n = dims.len();
        if items.len() != n && items.len() != n + 1 {
            return encoding;
        }
        let mut symbolic = dims.to_vec();
        let mut found = false;
        for (dim, &item) in symbolic.iter_mut().zip(items.iter()) {
            let AttrData::String(text) = *self.context.attr_data(item) else { return encoding };
            if self.context.text(text).is_empty() {
                continue;
            }
            if !dim.is_unknown() {
                return encoding;
            }
            let text = self.context.text(text);
            // What is no expression is a name.
            let expr = text.parse().unwrap_or_else(|_| Expr::symbol(text));
            *dim = self.context.dim(&expr);
            found = true;
        }
        if !found {
            return encoding;
        }
        dims.copy_from_slice(&symbolic);
        items.get(n).copied()
    }

    fn memref_type(&mut self) -> Parsed<Type> {
        self.take();
        self.expect(b'<', "after `memref`")?;
        let extents = self.extents()?;
        let element = self.element_type("memref")?;
        let mut extras = Vec::new();
        while self.accept(b',') {
            extras.push(self.attr()?);
        }
        self.expect(b'>', "after the memref type")?;
        let layout = extras.first().copied().filter(|&attr| self.is_layout(attr));
        let space = extras.get(usize::from(layout.is_some())).copied();
        // The layout of rows one after the other and the first memory go without saying.
        let rank = extents.dims.len();
        let plain = |&attr: &Attr| match self.context.as_affine_map(attr) {
            Some(map) => map.dims() == rank && map.symbols() == 0 && map.is_identity(),
            None => false,
        };
        let first = |&attr: &Attr| {
            matches!(self.context.attr_data(attr), AttrData::Integer { value: 0, .. })
        };
        let layout = layout.filter(|attr| !plain(attr));
        let space = space.filter(|attr| !first(attr));
        Ok(self.context.ty(match extents.unranked {
            true => TypeData::UnrankedMemRef { element, space },
            false => TypeData::MemRef { dims: extents.dims.into(), element, layout, space },
        }))
    }

    /// Returns whether `attr` lays out memory, rather than naming a memory space.
    fn is_layout(&self, attr: Attr) -> bool {
        match self.context.attr_data(attr) {
            AttrData::AffineMap(_) => true,
            AttrData::Opaque(text) => self.context.text(*text).starts_with("strided<"),
            _ => false,
        }
    }

    fn vector_type(&mut self) -> Parsed<Type> {
        let start = self.take();
        self.expect(b'<', "after `vector`")?;
        let extents = self.extents()?;
        let element = self.element_type("vector")?;
        self.expect(b'>', "after the vector type")?;
        let dims: Option<Vec<i64>> = extents.dims.iter().map(|dim| dim.as_static()).collect();
        let (Some(dims), false) = (dims, extents.unranked) else {
            return self.error(
                start,
                "vector-shape",
                "expected static extents in a vector type".into(),
            );
        };
        let (dims, scalable) = (dims.into(), extents.scalable.into());
        Ok(self.context.ty(TypeData::Vector { dims, scalable, element }))
    }
}

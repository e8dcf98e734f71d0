//! Parsing attributes: numbers, strings, arrays, dictionaries, dense elements, dialects' own.

use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{Kind, Parsed, Parser, Token};
use crate::attributes::{Attr, AttrData};
use crate::context::Str;
use crate::types::{Signedness, Type, TypeData};

impl<'a> Parser<'a> {
    /// Reads an attribute.
    pub(super) fn attr(&mut self) -> Parsed<Attr> {
        let token = self.token;
        match token.kind {
            Kind::Int | Kind::Float | Kind::Punct(b'-') => self.number(),
            Kind::String => self.string(),
            Kind::At => self.symbol(),
            Kind::Hash => self.dialect_attr(),
            Kind::Punct(b'[') => self.nested(Self::array),
            Kind::Punct(b'{') => self.nested(Self::dictionary),
            Kind::Word => self.word_attr(token),
            Kind::Bang | Kind::Punct(b'(') => {
                let ty = self.ty()?;
                Ok(self.context.type_attr(ty))
            }
            _ => self.unexpected("an attribute"),
        }
    }

    fn word_attr(&mut self, token: Token) -> Parsed<Attr> {
        let done = |p: &mut Self, attr| {
            p.take();
            Ok(attr)
        };
        match self.spelling(token) {
            "unit" => done(self, Attr::UNIT),
            "true" => done(self, Attr::TRUE),
            "false" => done(self, Attr::FALSE),
            "array" => self.same_attr(Self::dense_array),
            "dense" => self.dense(),
            "dense_resource" => self.resource(),
            "loc" => {
                let loc = self.location()?;
                Ok(self.context.attr(AttrData::Location(loc)))
            }
            "affine_map" => self.affine_map(),
            "affine_set" => self.affine_set(),
            "strided" => self.same_attr(Self::strided),
            "sparse" => {
                let mut text = self.raw(token.start as usize)?;
                self.append_type(&mut text)?;
                Ok(self.opaque(&text))
            }
            "distinct" => self.distinct(token),
            _ => {
                let ty = self.ty()?;
                Ok(self.context.type_attr(ty))
            }
        }
    }

    /// `strided<[4, ?], offset: 1>`, as MLIR writes it: an offset of 0 goes without saying.
    fn strided(&mut self) -> Parsed<Attr> {
        self.take();
        self.expect(b'<', "after `strided`")?;
        self.expect(b'[', "before the strides")?;
        let mut strides: Vec<String> = Vec::new();
        self.list(b']', |p| {
            strides.push(p.stride()?);
            Ok(())
        })?;
        let mut offset = String::new();
        if self.accept(b',') {
            self.expect_word("offset")?;
            self.expect(b':', "before the offset")?;
            offset = self.stride()?;
        }
        self.expect(b'>', "after the layout")?;
        let offset = match offset.as_str() {
            "" | "0" => String::new(),
            _ => format!(", offset: {offset}"),
        };
        Ok(self.opaque(&format!("strided<[{}]{offset}>", strides.join(", "))))
    }

    /// A number, or `?`.
    fn stride(&mut self) -> Parsed<String> {
        if self.accept(b'?') {
            return Ok("?".to_owned());
        }
        Ok(self.integer()?.to_string())
    }

    pub(super) fn opaque(&self, text: &str) -> Attr {
        self.context.attr(AttrData::Opaque(self.context.str(text)))
    }

    /// Reads `: type` and appends it to `text`.
    pub(super) fn append_type(&mut self, text: &mut String) -> Parsed<()> {
        self.expect(b':', "before the type")?;
        let ty = self.ty()?;
        text.push_str(" : ");
        text.push_str(&self.type_text(ty));
        self.context.note_text_type(text, ty);
        Ok(())
    }

    /// `distinct[0]<unit>`.
    fn distinct(&mut self, token: Token) -> Parsed<Attr> {
        let mut text = self.raw(token.start as usize)?;
        if self.is(b'<') {
            let start = self.token.start as usize;
            let Some(end) = super::opaque::balanced_end(self.src, start, b'<') else {
                return self.unexpected("a balanced `<...>`");
            };
            self.expand(start, end, false, &mut text);
            self.jump(end);
        }
        Ok(self.opaque(&text))
    }

    /// A string, which may have a type.
    fn string(&mut self) -> Parsed<Attr> {
        let token = self.take();
        if self.is(b':') {
            let mut text = self.spelling(token).to_string();
            self.append_type(&mut text)?;
            return Ok(self.opaque(&text));
        }
        let data = self.string_attr(token)?;
        Ok(self.context.attr(data))
    }

    /// `@f::@g`.
    fn symbol(&mut self) -> Parsed<Attr> {
        let mut path: SmallVec<[Str; 2]> = SmallVec::new();
        loop {
            let token = self.expect_kind(Kind::At, "a symbol")?;
            self.note_symbol(token, false, path.len());
            path.push(self.symbol_text(token)?);
            if self.token.kind != Kind::ColonColon {
                break;
            }
            self.take();
        }
        Ok(self.context.attr(AttrData::Symbol(path.as_slice().into())))
    }

    fn symbol_text(&mut self, token: Token) -> Parsed<Str> {
        let text = self.spelling(token);
        if text.as_bytes().get(1) == Some(&b'"') {
            self.text_of(token)
        } else {
            Ok(self.context.str(&text[1..]))
        }
    }

    /// `#dialect.attr<...>` or `#alias`.
    fn dialect_attr(&mut self) -> Parsed<Attr> {
        let token = self.token;
        let name = &self.spelling(token)[1..];
        if !name.contains('.') && !self.touches(b'<') {
            self.take();
            return self.attr_alias(token);
        }
        let mut text = self.raw(token.start as usize + 1)?;
        if self.is(b':') {
            self.append_type(&mut text)?;
        }
        Ok(self.opaque(&text))
    }

    fn array(&mut self) -> Parsed<Attr> {
        self.take();
        let mut items: SmallVec<[Attr; 8]> = SmallVec::new();
        self.list(b']', |p| {
            items.push(p.attr()?);
            Ok(())
        })?;
        Ok(self.context.array_attr(&items))
    }

    fn dictionary(&mut self) -> Parsed<Attr> {
        self.take();
        let mut entries = Vec::new();
        self.entries(&mut entries)?;
        Ok(self.context.dict_of(&mut entries))
    }

    /// The entries of a dictionary after its `{`, up to and with the `}`.
    pub(super) fn entries(&mut self, entries: &mut Vec<(Str, Attr)>) -> Parsed<()> {
        /// Up to here looking through all entries is faster than a table.
        const FEW: usize = 16;
        let mut seen: FxHashSet<Str> = FxHashSet::default();
        self.list(b'}', |p| {
            let token = p.token;
            let key = match token.kind {
                Kind::Word => p.memo.string(p.context, p.text, token),
                Kind::String => p.text_of(token)?,
                _ => return p.unexpected("the name of an attribute"),
            };
            p.take();
            if entries.len() >= FEW && seen.is_empty() {
                seen.extend(entries.iter().map(|entry| entry.0));
            }
            let again = match entries.len() < FEW {
                true => entries.iter().any(|entry| entry.0 == key),
                false => !seen.insert(key),
            };
            if again {
                let name = p.context.text(key);
                let message = format!("expected each name once, found `{name}` again");
                return p.error(token, "duplicate-attribute", message);
            }
            let assigned = p.accept(b'=');
            if assigned && p.token.kind == Kind::String && p.context.text(key) == "sym_name" {
                p.note_symbol(p.token, true, 0);
            }
            let value = if assigned { p.attr()? } else { Attr::UNIT };
            entries.push((key, value));
            Ok(())
        })
    }

    /// A number with its sign and, perhaps, its type.
    fn number(&mut self) -> Parsed<Attr> {
        let negative = self.accept(b'-');
        let token = self.token;
        if !matches!(token.kind, Kind::Int | Kind::Float) {
            return self.unexpected("a number after `-`");
        }
        self.take();
        let ty = if self.accept(b':') {
            self.ty()?
        } else if token.kind == Kind::Int {
            self.context.int_type(64)
        } else {
            self.context.float_type(crate::types::FloatKind::F64)
        };
        let size = decimal(self.spelling(token)).filter(|_| token.kind == Kind::Int);
        let key = size.map(|size| (size, negative, ty));
        if let Some(key) = key
            && let Some(&attr) = self.numbers.get(&key)
        {
            return Ok(attr);
        }
        let data = self.numeric(token, negative, ty)?;
        let attr = self.context.attr(data);
        self.numbers.extend(key.map(|key| (key, attr)));
        Ok(attr)
    }

    /// The literal `token` as a number of type `ty`.
    pub(super) fn numeric(&mut self, token: Token, negative: bool, ty: Type) -> Parsed<AttrData> {
        match self.context.type_data(ty) {
            TypeData::Float(kind) => {
                let pattern = self.float_pattern(token, negative, ty)?;
                Ok(self.context.float_data(pattern, *kind, ty))
            }
            &TypeData::Integer { width, sign } if is_huge(width, sign) => {
                self.huge_integer(token, negative, ty, width)
            }
            TypeData::Integer { .. } | TypeData::Index => {
                let value = self.integer_value(token, negative, ty)?;
                if self.context.is_boolean(ty) {
                    return Ok(AttrData::Bool(value != 0));
                }
                Ok(AttrData::Integer { value, ty })
            }
            _ => {
                let message = format!("expected a number type, found {}", self.type_text(ty));
                self.error(token, "number-type", message)
            }
        }
    }

    /// An integer that may be more than an `i128`: what no `i128` holds, its text does.
    fn huge_integer(
        &mut self,
        token: Token,
        negative: bool,
        ty: Type,
        width: u32,
    ) -> Parsed<AttrData> {
        let value = self.huge_value(token, negative, ty, width)?;
        if let Ok(value) = i128::try_from(&value) {
            return Ok(AttrData::Integer { value, ty });
        }
        let text = format!("{value} : {}", self.type_text(ty));
        self.context.note_text_type(&text, ty);
        Ok(AttrData::Opaque(self.context.str(&text)))
    }

    /// The literal as a number of integer type `ty`, whatever its size; that of a signless type is
    /// a signed one.
    pub(super) fn huge_value(
        &mut self,
        token: Token,
        negative: bool,
        ty: Type,
        width: u32,
    ) -> Parsed<BigInt> {
        let text = self.spelling(token);
        // With how many bits each digit is sure to come.
        let (digits, base, bits) = match text.strip_prefix("0x") {
            Some(hex) => (hex, 16, 4.0),
            None => (text, 10, 3.32),
        };
        // More digits than any number of the type has are not worth the time.
        let digits = digits.trim_start_matches('0');
        let few = digits.len().saturating_sub(1) as f64 * bits <= f64::from(width);
        let digits = format!("0{}", if few { digits } else { "" });
        let size = BigUint::parse_bytes(digits.as_bytes(), base).filter(|_| few);
        let sign = match self.context.type_data(ty) {
            TypeData::Integer { sign, .. } => *sign,
            _ => Signedness::Signless,
        };
        let half = BigInt::from(1) << (width - 1);
        let least = if sign == Signedness::Unsigned { BigInt::ZERO } else { -&half };
        let end = if sign == Signedness::Signed { half.clone() } else { &half << 1 };
        let value = size.map(BigInt::from).map(|size| if negative { -size } else { size });
        let value = value.filter(|value| least <= *value && *value < end).map(|value| {
            let wraps = sign == Signedness::Signless && value >= half;
            if wraps { value - (&half << 1) } else { value }
        });
        value.map_or_else(|| self.out_of_range(token, negative, ty), Ok)
    }

    fn out_of_range<T>(&mut self, token: Token, negative: bool, ty: Type) -> Parsed<T> {
        let (minus, text) = (if negative { "-" } else { "" }, self.spelling(token));
        let ty = self.type_text(ty);
        let message = format!("expected a number of type {ty}, found `{minus}{text}`");
        self.error(token, "integer-range", message)
    }

    /// The bits of the literal as a number of float type `ty`: decimal, or these bits in
    /// hexadecimal.
    pub(super) fn float_pattern(&mut self, token: Token, negative: bool, ty: Type) -> Parsed<u128> {
        let text = self.spelling(token);
        let TypeData::Float(kind) = *self.context.type_data(ty) else {
            return self.error(
                token,
                "number-type",
                format!("expected an integer, found `{text}`"),
            );
        };
        if token.kind == Kind::Int {
            let pattern =
                text.strip_prefix("0x").and_then(|hex| u128::from_str_radix(hex, 16).ok());
            let fits = |&p: &u128| kind.width() >= 128 || p >> kind.width() == 0;
            return match pattern.filter(fits) {
                Some(pattern) if !negative => Ok(kind.canonical(pattern)),
                _ => {
                    let message = format!(
                        "expected a decimal point or {} bits in hexadecimal, found `{text}`",
                        kind.width()
                    );
                    self.error(token, "float-literal", message)
                }
            };
        }
        // Digits and a point: always a number.
        let text = if negative { &format!("-{text}") } else { text };
        Ok(kind.literal(text).unwrap_or_else(|| kind.encode(f64::NAN)))
    }

    /// The literal as a number of integer or index type `ty`, sign-extended.
    pub(super) fn integer_value(&mut self, token: Token, negative: bool, ty: Type) -> Parsed<i128> {
        let text = self.spelling(token);
        let size = match (decimal(text), text.strip_prefix("0x")) {
            (Some(size), _) => Ok(size.into()),
            (None, Some(hex)) => u128::from_str_radix(hex, 16),
            (None, None) => text.parse(),
        };
        let (width, sign) = match *self.context.type_data(ty) {
            TypeData::Integer { width, sign } => (width, sign),
            // An index is read as a signed number.
            _ => (64, Signedness::Signed),
        };
        let value = size.ok().and_then(|size| fit(size, negative, width, sign));
        match value {
            Some(value) => Ok(value),
            None => self.out_of_range(token, negative, ty),
        }
    }
}

/// Returns whether numbers of a type need not fit an `i128`.
pub(super) fn is_huge(width: u32, sign: Signedness) -> bool {
    width > 128 || width == 128 && sign == Signedness::Unsigned
}

/// The number that `text`, digits alone, is, if there are few enough.
pub(super) fn decimal(text: &str) -> Option<u64> {
    /// Any number of so many digits fits.
    const DIGITS: usize = 18;
    if text.is_empty() || text.len() > DIGITS {
        return None;
    }
    text.bytes()
        .try_fold(0, |number, b| b.is_ascii_digit().then(|| number * 10 + u64::from(b - b'0')))
}

/// The value with this size and sign, if it fits; a signless type takes both ranges.
fn fit(size: u128, negative: bool, width: u32, sign: Signedness) -> Option<i128> {
    if width == 0 {
        return (size == 0).then_some(0);
    }
    if width > 128 {
        let value = i128::try_from(size).ok()?;
        return Some(if negative { -value } else { value });
    }
    let half = 1u128 << (width - 1);
    if negative {
        let fits = size <= half && (sign != Signedness::Unsigned || size == 0);
        return fits.then(|| (size as i128).wrapping_neg());
    }
    if size < half {
        return Some(size as i128);
    }
    let below_full = width == 128 || size < half << 1;
    match sign {
        Signedness::Signless if below_full => {
            Some((size.wrapping_sub(half << 1 & full(width))) as i128)
        }
        Signedness::Unsigned if width < 128 && below_full => Some(size as i128),
        _ => None,
    }
}

fn full(width: u32) -> u128 {
    if width == 128 { 0 } else { u128::MAX }
}

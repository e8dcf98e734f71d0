//! The integer types of C by their values: promotions and conversions as in C11 6.3.1.
//!
//! Types are those of the usual 64-bit systems; where `long` has 32 bits, what is said of it stays true of
//! the values that it has.

use crate::declare::is_narrow;

/// The values of an integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub least: i128,
    pub greatest: i128,
}

pub(crate) const INT: Range = Range::bits(32, true);
pub(crate) const LONG: Range = Range::bits(64, true);
pub(crate) const SIZE: Range = Range::bits(64, false);
/// `char`, which has signs or not as the compiler chooses.
const CHAR: Range = Range { least: -128, greatest: 255 };

impl Range {
    pub const fn bits(bits: u32, signed: bool) -> Self {
        match signed {
            true => Self { least: -(1 << (bits - 1)), greatest: (1 << (bits - 1)) - 1 },
            false => Self { least: 0, greatest: (1 << bits) - 1 },
        }
    }

    /// Reads a type, in words that no `typedef` names; an unknown one has 64 bits.
    pub fn of(element: &str) -> Self {
        let has = |word: &str| element.split_whitespace().any(|own| own == word);
        let unsigned = has("unsigned") || element.contains("uint") || has("size_t");
        if has("_Bool") {
            return Self { least: 0, greatest: 1 };
        }
        if has("char") && !unsigned && !has("signed") {
            return CHAR;
        }
        if element.starts_with("enum ") {
            return Self { least: i32::MIN as i128, greatest: u32::MAX as i128 };
        }
        let whole = has("int") || has("unsigned") || has("signed") || element.contains("int32_t");
        let bits = match () {
            () if has("char") || element.contains("int8_t") => 8,
            () if is_narrow(element) => 16,
            () if whole && !has("long") => 32,
            () => 64,
        };
        Self::bits(bits, !unsigned)
    }

    pub fn contains(self, other: Self) -> bool {
        self.least <= other.least && other.greatest <= self.greatest
    }

    /// Returns the values that a conversion to this type keeps with every compiler.
    pub fn kept(self) -> Self {
        if self == CHAR { Self { least: 0, greatest: 127 } } else { self }
    }

    /// Returns whether a conversion to this type keeps all values of `other`.
    pub fn keeps(self, other: Self) -> bool {
        self == other || self.kept().contains(other)
    }

    pub fn has(self, value: i128) -> bool {
        self.least <= value && value <= self.greatest
    }

    /// Returns whether arithmetic in the type wraps around.
    pub fn wraps(self) -> bool {
        self.least == 0 && self.greatest > INT.greatest
    }

    /// Returns the type in which C computes with values of this one alone.
    pub fn promoted(self) -> Self {
        if INT.contains(self) { INT } else { self }
    }

    /// Returns the type in which C computes with both.
    pub fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        if a.contains(b) {
            return a;
        }
        if b.contains(a) {
            return b;
        }
        // One has a sign, and no more bits than the other.
        let wide = a.greatest.max(b.greatest) > u32::MAX.into();
        Self::bits(if wide { 64 } else { 32 }, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        let of = Range::of;
        let unsigned = Range::bits(32, false);
        assert_eq!(of("unsigned char").common(of("short")), INT);
        assert_eq!(of("unsigned").common(of("int")), unsigned);
        assert_eq!(of("unsigned int").common(of("long")), of("long long"));
        assert_eq!(of("size_t").common(of("long")), SIZE);
        assert_eq!(of("long").common(of("unsigned long long")), SIZE);
        assert_eq!(of("uint16_t").promoted(), INT);
        assert!(unsigned.wraps() && SIZE.wraps() && !of("unsigned short").promoted().wraps());
        assert_eq!(of("_Bool"), Range { least: 0, greatest: 1 });
        let char = of("char");
        assert!(char.has(-1) && char.has(255) && !char.kept().has(-1) && !char.kept().has(128));
        assert!(char.keeps(char) && char.keeps(of("_Bool")) && !char.keeps(of("signed char")));
        assert!(of("short").keeps(char) && !of("signed char").keeps(char));
        assert!(of("enum e").has(-1) && of("int64_t") == of("long"));
    }
}

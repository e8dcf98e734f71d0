//! Interned strings: a symbol is a number, and equal strings have one.

use crate::id::to_u32;
use rustc_hash::FxHashMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::{LazyLock, PoisonError, RwLock};

/// An interned string: a copyable handle whose equality is that of the strings.
///
/// Strings are kept for the life of the program.
///
/// ```
/// use tangram_egraph::Symbol;
/// assert_eq!(Symbol::from("x"), "x".parse().unwrap());
/// assert_eq!(Symbol::from("x").as_str(), "x");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

#[derive(Default)]
struct Table {
    ids: FxHashMap<&'static str, u32>,
    strings: Vec<&'static str>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

impl Symbol {
    /// Interns a string.
    pub fn new(string: impl AsRef<str>) -> Self {
        let string = string.as_ref();
        let known = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = known.ids.get(string) {
            return Symbol(id);
        }
        drop(known);
        let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = table.ids.get(string) {
            return Symbol(id);
        }
        let id = to_u32(table.strings.len(), "symbols");
        let kept: &'static str = Box::leak(string.into());
        table.strings.push(kept);
        table.ids.insert(kept, id);
        Symbol(id)
    }

    /// Returns the string.
    pub fn as_str(&self) -> &'static str {
        let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        table.strings[self.0 as usize]
    }
}

impl From<&str> for Symbol {
    fn from(string: &str) -> Self {
        Symbol::new(string)
    }
}

impl From<String> for Symbol {
    fn from(string: String) -> Self {
        Symbol::new(string)
    }
}

impl From<&String> for Symbol {
    fn from(string: &String) -> Self {
        Symbol::new(string)
    }
}

impl From<Symbol> for &'static str {
    fn from(symbol: Symbol) -> Self {
        symbol.as_str()
    }
}

impl FromStr for Symbol {
    type Err = Infallible;

    fn from_str(string: &str) -> Result<Self, Infallible> {
        Ok(Symbol::new(string))
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

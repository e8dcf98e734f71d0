//! Where the names of a text stand: what an editor goes to, shows and lists.

use std::ops::Range;

use smallvec::SmallVec;

use crate::context::Name;
use crate::types::Type;

/// A part of a text: offsets of its first byte and of the one behind its last.
pub type Bytes = Range<u32>;

/// The names of a text, each list in the order of the text. Of a text with errors: those of the
/// operations that could be read.
#[derive(Clone, Default, Debug)]
pub struct Occurrences {
    /// Where values get their names.
    pub values: Vec<ValueName>,
    /// Where values are used.
    pub uses: Vec<ValueUse>,
    /// The names of operations, `func.func` also where the text leaves out the dialect.
    pub operations: Vec<(Bytes, Name)>,
    /// Symbols, where they are defined and where they are used.
    pub symbols: Vec<SymbolName>,
}

/// A place that names values: a result, several under one name, or an argument.
#[derive(Clone, Debug)]
pub struct ValueName {
    /// The name, `%` included.
    pub at: Bytes,
    /// The type of each value that it stands for.
    pub types: SmallVec<[Type; 1]>,
    /// The operation whose results they are; none for an argument.
    pub operation: Option<Name>,
}

/// A use of a value by name.
#[derive(Clone, Debug)]
pub struct ValueUse {
    /// The name, without the number of a result.
    pub at: Bytes,
    /// Which of [`Occurrences::values`] names it.
    pub definition: usize,
    /// Which of the values of that name.
    pub index: u32,
}

/// A symbol: `@f`, or the text of `sym_name` in the generic form.
#[derive(Clone, Debug)]
pub struct SymbolName {
    /// The symbol, one part of a path.
    pub at: Bytes,
    /// Which of [`Occurrences::symbols`] defines it: this one itself where it is a definition.
    pub definition: Option<usize>,
}

impl Occurrences {
    /// The place of the name that defines what stands at byte `at`: of a value or a symbol.
    pub fn definition(&self, at: u32) -> Option<Bytes> {
        if let Some((value, _)) = self.value(at) {
            return Some(value.at.clone());
        }
        let symbol = self.symbols.iter().find(|symbol| touches(&symbol.at, at))?;
        Some(self.symbols.get(symbol.definition?)?.at.clone())
    }

    /// The value whose name stands at byte `at`, where it is defined or used, and which of those of
    /// that name; none where the name stands for all of them.
    pub fn value(&self, at: u32) -> Option<(&ValueName, Option<u32>)> {
        if let Some(used) = self.uses.iter().find(|used| touches(&used.at, at)) {
            return Some((self.values.get(used.definition)?, Some(used.index)));
        }
        Some((self.values.iter().find(|value| touches(&value.at, at))?, None))
    }

    /// The operation whose name stands at byte `at`.
    pub fn operation(&self, at: u32) -> Option<&(Bytes, Name)> {
        self.operations.iter().find(|(place, _)| touches(place, at))
    }
}

/// Whether a cursor at byte `at` is on a name, or right behind it.
fn touches(place: &Bytes, at: u32) -> bool {
    place.start <= at && at <= place.end
}

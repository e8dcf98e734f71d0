//! Records where names stand while a text is read.

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;

use super::values::ValueUse;
use super::{Parser, Token};
use crate::context::Name;
use crate::module::{Module, Value, ValueDef};
use crate::text::occurrences::{self, Bytes, Occurrences, SymbolName, ValueName};

/// What is recorded; the values are those of the module that is being made.
#[derive(Default)]
pub(super) struct Record {
    /// A name, the first of its values, and how many there are.
    defined: Vec<(Bytes, Value, u32)>,
    used: Vec<(Bytes, Value)>,
    /// What took the place of a value that stood in for one defined later.
    settled: FxHashMap<Value, Value>,
    operations: Vec<(Bytes, Name)>,
    symbols: Vec<Symbol>,
    /// The regions that hold symbols of their own, and which of them are being read.
    tables: Vec<Bytes>,
    open: Vec<usize>,
}

struct Symbol {
    at: Bytes,
    text: String,
    defines: bool,
    /// How many parts of its path stand before it.
    depth: usize,
}

fn bytes(token: Token) -> Bytes {
    token.start..token.end
}

impl Parser<'_> {
    /// Notes that `token` names `count` values from `first` on.
    pub(super) fn note_definition(&mut self, token: Token, first: Value, count: u32) {
        if let Some(record) = &mut self.record {
            record.defined.push((bytes(token), first, count));
        }
    }

    /// Notes that `used` stands for `value`.
    pub(super) fn note_use(&mut self, used: ValueUse, value: Value) {
        if let Some(record) = &mut self.record {
            let length = self.values.names.spelling(used.name).len() as u32;
            record.used.push((used.at..used.at + length, value));
        }
    }

    /// Notes that `value` is what `stand_in` stood in for.
    pub(super) fn note_settled(&mut self, stand_in: Value, value: Value) {
        if let Some(record) = &mut self.record {
            record.settled.insert(stand_in, value);
        }
    }

    /// Notes that `token` names an operation.
    pub(super) fn note_operation(&mut self, token: Token, name: Name) {
        if let Some(record) = &mut self.record {
            record.operations.push((bytes(token), name));
        }
    }

    /// Notes a symbol, behind `depth` others of its path.
    pub(super) fn note_symbol(&mut self, token: Token, defines: bool, depth: usize) {
        if self.record.is_none() {
            return;
        }
        let text = self.spelling(token).trim_start_matches('@').trim_matches('"').to_owned();
        if let Some(record) = &mut self.record {
            record.symbols.push(Symbol { at: bytes(token), text, defines, depth });
        }
    }

    /// Notes the symbol that was read last as no definition.
    pub(super) fn note_symbol_used(&mut self) {
        if let Some(symbol) = self.record.as_mut().and_then(|record| record.symbols.last_mut()) {
            symbol.defines = false;
        }
    }

    /// Notes that a region begins whose symbols are its own.
    pub(super) fn note_table(&mut self) {
        let at = self.token.start;
        if let Some(record) = &mut self.record {
            record.open.push(record.tables.len());
            record.tables.push(at..u32::MAX);
        }
    }

    /// Notes that the last such region ends.
    pub(super) fn note_table_end(&mut self) {
        let at = self.token.start;
        if let Some(record) = &mut self.record
            && let Some(table) = record.open.pop()
        {
            record.tables[table].end = at;
        }
    }
}

impl Record {
    /// What was recorded, with the types that `module` knows.
    pub(super) fn finish(mut self, module: &Module) -> Occurrences {
        self.defined.sort_by_key(|(at, ..)| at.start);
        let mut owner: FxHashMap<Value, (usize, u32)> = FxHashMap::default();
        let mut values = Vec::with_capacity(self.defined.len());
        for (i, (at, first, count)) in self.defined.iter().enumerate() {
            let all = (0..*count).map(|k| Value::new(first.index() + k as usize));
            owner.extend(all.clone().zip(0..).map(|(value, k)| (value, (i, k))));
            let operation = match module.value_def(*first) {
                ValueDef::Result(op, _) => Some(module.name(op)),
                ValueDef::Arg(..) => None,
            };
            let types = all.map(|value| module.value_type(value)).collect();
            values.push(ValueName { at: at.clone(), types, operation });
        }
        let mut uses: Vec<_> = self
            .used
            .iter()
            .filter_map(|(at, value)| {
                let value = self.settled.get(value).unwrap_or(value);
                let &(definition, index) = owner.get(value)?;
                Some(occurrences::ValueUse { at: at.clone(), definition, index })
            })
            .collect();
        uses.sort_by_key(|used| used.at.start);
        uses.dedup_by_key(|used| used.at.start);
        self.operations.sort_by_key(|(at, _)| at.start);
        self.operations.dedup_by_key(|(at, _)| at.start);
        let symbols = self.symbols();
        Occurrences { values, uses, operations: self.operations, symbols }
    }

    /// The symbols, each with its definition: the first part of a path is looked for in the region
    /// around it that holds symbols, any other in the region of what the part before it names.
    fn symbols(&mut self) -> Vec<SymbolName> {
        self.symbols.sort_by_key(|symbol| symbol.at.start);
        self.symbols.dedup_by_key(|symbol| symbol.at.start);
        let around = |at: u32| {
            let inside = |table: &&Bytes| table.contains(&at);
            self.tables.iter().filter(inside).map(|table| table.start).max()
        };
        let defined: FxHashMap<(Option<u32>, &str), usize> = self
            .symbols
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.defines)
            .map(|(i, symbol)| ((around(symbol.at.start), symbol.text.as_str()), i))
            .collect();
        let mut found: Vec<SymbolName> = Vec::with_capacity(self.symbols.len());
        for symbol in &self.symbols {
            let table = match symbol.depth {
                0 => Some(around(symbol.at.start)),
                _ => found.last().and_then(|before| before.definition).and_then(|before| {
                    let from = self.symbols[before].at.start;
                    let behind = |start: &u32| *start > from;
                    Some(Some(self.tables.iter().map(|table| table.start).filter(behind).min()?))
                }),
            };
            let definition = table.and_then(|table| defined.get(&(table, symbol.text.as_str())));
            found.push(SymbolName { at: symbol.at.clone(), definition: definition.copied() });
        }
        found
    }
}

//! What the names of values stand for.

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;

use super::names::{NameId, Names};
use super::{Failed, Kind, Parsed, Parser, Token};
use crate::module::{Module, Op, Value};
use crate::types::Type;

/// A use of a value by name: `%name#index`.
#[derive(Clone, Copy)]
pub(super) struct ValueUse {
    pub(super) name: NameId,
    pub(super) index: u32,
    /// Where it stands.
    pub(super) at: u32,
}

impl ValueUse {
    /// The place, for errors.
    pub(super) fn token(self) -> Token {
        Token { kind: Kind::Percent, start: self.at, end: self.at }
    }
}

/// Uses before the definition, by name and index: what stands in, and the first use.
type Forward = FxHashMap<(NameId, u32), (Value, Token)>;

/// What a name stands for: so many values, from this one on.
#[derive(Clone, Copy)]
struct Entry {
    first: Value,
    count: u32,
    /// How many isolated operations stand around the definition; none for a name without one.
    level: u32,
}

/// The level of names that are not in scope.
const NOWHERE: u32 = u32::MAX;

/// The names in scope.
#[derive(Default)]
pub(super) struct Values<'a> {
    pub(super) names: Names<'a>,
    /// By the number of the name.
    entries: Vec<Entry>,
    /// What to restore when regions end.
    undo: Vec<(NameId, Entry)>,
    forward: Forward,
    level: u32,
}

/// The state of [`Values`] when a region begins.
pub(super) struct Scope {
    undo: usize,
    /// The forward uses outside, while an isolated region is read.
    outside: Option<Forward>,
}

impl Values<'_> {
    pub(super) fn enter(&mut self, isolated: bool) -> Scope {
        self.level += u32::from(isolated);
        let outside = isolated.then(|| std::mem::take(&mut self.forward));
        Scope { undo: self.undo.len(), outside }
    }

    /// Makes `name` stand for values; returns whether it did so before, here.
    fn bind(&mut self, name: NameId, first: Value, count: u32) -> bool {
        let nothing = Entry { first, count: 0, level: NOWHERE };
        if self.entries.len() <= name.index() {
            self.entries.resize(name.index() + 1, nothing);
        }
        let entry = Entry { first, count, level: self.level };
        let old = std::mem::replace(&mut self.entries[name.index()], entry);
        self.undo.push((name, old));
        // A name from around an isolated operation means nothing inside.
        old.level == self.level
    }

    fn entry(&self, name: NameId) -> Option<Entry> {
        self.entries.get(name.index()).copied().filter(|entry| entry.level == self.level)
    }
}

impl<'a> Parser<'a> {
    /// Ends the scope of a region; its forward uses have to be resolved if it is isolated.
    pub(super) fn leave(&mut self, scope: Scope) {
        for (name, old) in self.values.undo.drain(scope.undo..).rev() {
            self.values.entries[name.index()] = old;
        }
        if let Some(outside) = scope.outside {
            self.values.level -= 1;
            let inside = std::mem::replace(&mut self.values.forward, outside);
            self.undefined(inside);
        }
    }

    /// Reports the uses of values that were never defined.
    pub(super) fn undefined_values(&mut self) {
        let forward = std::mem::take(&mut self.values.forward);
        self.undefined(forward);
    }

    fn undefined(&mut self, forward: Forward) {
        // After another error a definition may just not have been read.
        if !self.errors.is_empty() && self.errors.iter().all(|(_, e)| e.code != "undefined-value") {
            return;
        }
        let mut missing: Vec<_> =
            forward.into_iter().map(|(key, (_, token))| (key, token)).collect();
        missing.sort_by_key(|(_, token)| token.start);
        for ((name, _), token) in missing {
            let name = self.values.names.spelling(name);
            let message = format!("expected a value that is defined, found `{name}`");
            let Err(Failed) = self.error::<()>(token, "undefined-value", message) else { continue };
        }
    }

    /// The number of the name that `token` is.
    fn name_of(&mut self, token: Token) -> NameId {
        self.values.names.number(self.text, token.start as usize, token.end as usize)
    }

    /// Reads `%name` and `#index`.
    pub(super) fn value_use(&mut self) -> Parsed<ValueUse> {
        let token = self.expect_kind(Kind::Percent, "a value")?;
        let mut index = 0;
        if self.token.kind == Kind::Hash {
            let text = self.spelling(self.token);
            match text[1..].parse() {
                Ok(n) => index = n,
                Err(_) => return self.unexpected("the number of a result"),
            }
            self.take();
        }
        let used = ValueUse { name: self.name_of(token), index, at: token.start };
        if self.record.is_some()
            && let Some(value) = self.defined_value(&used)
        {
            self.note_use(used, value);
        }
        Ok(used)
    }

    /// The value that `used` names, which has type `ty`.
    pub(super) fn resolve(&mut self, used: ValueUse, ty: Type) -> Parsed<Value> {
        let value = match self.values.entry(used.name) {
            None => {
                let value = self.forward_value(used, ty);
                self.note_use(used, value);
                value
            }
            Some(Entry { first, count, .. }) if used.index < count => {
                Value::new(first.index() + used.index as usize)
            }
            Some(Entry { count, .. }) => {
                let message = format!(
                    "expected a result number below {count} for `{}`, found {}",
                    self.values.names.spelling(used.name),
                    used.index
                );
                return self.error(used.token(), "result-number", message);
            }
        };
        self.check_type(used.token(), used.name, value, ty)?;
        Ok(value)
    }

    /// The type of what `used` names, if that is defined before.
    pub(super) fn defined_type(&self, used: &ValueUse) -> Option<Type> {
        Some(self.module.value_type(self.defined_value(used)?))
    }

    /// The value that `used` names, if that is defined before.
    fn defined_value(&self, used: &ValueUse) -> Option<Value> {
        let entry = self.values.entry(used.name).filter(|entry| used.index < entry.count)?;
        Some(Value::new(entry.first.index() + used.index as usize))
    }

    fn check_type(&mut self, token: Token, name: NameId, value: Value, ty: Type) -> Parsed<()> {
        let found = self.module.value_type(value);
        if found == ty {
            return Ok(());
        }
        let (found, expected) = (self.type_text(found), self.type_text(ty));
        let name = self.values.names.spelling(name);
        let message = format!("expected `{name}` to have type {expected}, found {found}");
        self.error(token, "value-type", message)
    }

    /// A value that stands in until `used` is defined.
    fn forward_value(&mut self, used: ValueUse, ty: Type) -> Value {
        let key = (used.name, used.index);
        if let Some(&(value, _)) = self.values.forward.get(&key) {
            return value;
        }
        let value = self.module.placeholder(ty);
        self.values.forward.insert(key, (value, used.token()));
        value
    }

    /// Makes `token` the name of an argument.
    pub(super) fn define_arg(&mut self, token: Token, value: Value) -> Parsed<()> {
        self.define(token, value, 1)
    }

    /// Makes `token` the name of results `first..first + count` of `op`.
    pub(super) fn define_results(
        &mut self,
        token: Token,
        op: Op,
        first: u32,
        count: u32,
    ) -> Parsed<()> {
        let first = self.module.result(op, first as usize);
        self.define(token, first, count)
    }

    /// Makes `token` the name of `count` values, from `first` on, and puts them in the place of
    /// what stood in for them.
    fn define(&mut self, token: Token, first: Value, count: u32) -> Parsed<()> {
        let name = self.name_of(token);
        self.note_definition(token, first, count);
        let again = self.values.bind(name, first, count);
        if !self.values.forward.is_empty() {
            for i in 0..count {
                self.settle(token, name, i, Value::new(first.index() + i as usize))?;
            }
        }
        if !again {
            return Ok(());
        }
        let name = self.spelling(token);
        let message = format!("expected a new name, found `{name}`, which is defined already");
        self.error(token, "redefinition", message)
    }

    /// Puts `value` in the place of what stood in for it.
    fn settle(&mut self, token: Token, name: NameId, index: u32, value: Value) -> Parsed<()> {
        let Some((stand_in, _)) = self.values.forward.remove(&(name, index)) else { return Ok(()) };
        let ty = self.module.value_type(stand_in);
        self.note_settled(stand_in, value);
        Module::replace_uses(self.module, stand_in, value);
        self.check_type(token, name, value, ty)
    }
}

//! Names of values and what they stand for.

use rustc_hash::FxHashMap;

use super::{Failed, Kind, Parsed, Parser, Token};
use crate::module::{Module, Op, Value};
use crate::types::Type;

/// A use of a value by name: `%name#index`.
#[derive(Clone, Copy)]
pub(super) struct ValueUse<'a> {
    pub(super) name: &'a str,
    pub(super) index: u32,
    pub(super) token: Token,
}

/// Uses before the definition, by name and index: what stands in, and the first use.
type Forward<'a> = FxHashMap<(&'a str, u32), (Value, Token)>;

/// What a name stands for.
#[derive(Clone, Copy)]
enum Binding {
    Arg(Value),
    /// So many results of an operation, from this one on.
    Results(Op, u32, u32),
}

#[derive(Clone, Copy)]
struct Entry {
    binding: Binding,
    /// How many isolated operations stand around the definition.
    level: u32,
}

/// The names in scope.
#[derive(Default)]
pub(super) struct Values<'a> {
    names: FxHashMap<&'a str, Entry>,
    /// What to restore when regions end.
    undo: Vec<(&'a str, Option<Entry>)>,
    forward: Forward<'a>,
    level: u32,
}

/// The state of [`Values`] when a region begins.
pub(super) struct Scope<'a> {
    undo: usize,
    /// The forward uses outside, while an isolated region is read.
    outside: Option<Forward<'a>>,
}

impl<'a> Values<'a> {
    pub(super) fn enter(&mut self, isolated: bool) -> Scope<'a> {
        self.level += u32::from(isolated);
        let outside = isolated.then(|| std::mem::take(&mut self.forward));
        Scope { undo: self.undo.len(), outside }
    }

    fn bind(&mut self, name: &'a str, binding: Binding) -> Option<Entry> {
        let entry = Entry { binding, level: self.level };
        let old = self.names.insert(name, entry);
        self.undo.push((name, old));
        // A name from around an isolated operation means nothing inside.
        old.filter(|old| old.level == self.level)
    }
}

impl<'a> Parser<'a> {
    /// Ends the scope of a region; its forward uses have to be resolved if it is isolated.
    pub(super) fn leave(&mut self, scope: Scope<'a>) {
        for (name, old) in self.values.undo.drain(scope.undo..).rev() {
            match old {
                Some(old) => self.values.names.insert(name, old),
                None => self.values.names.remove(name),
            };
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

    fn undefined(&mut self, forward: Forward<'a>) {
        // After another error a definition may just not have been read.
        if !self.errors.is_empty() && self.errors.iter().all(|(_, e)| e.code != "undefined-value") {
            return;
        }
        let mut missing: Vec<_> =
            forward.into_iter().map(|(key, (_, token))| (key, token)).collect();
        missing.sort_by_key(|(_, token)| token.start);
        for ((name, _), token) in missing {
            let message = format!("expected a value that is defined, found `{name}`");
            let Err(Failed) = self.error::<()>(token, "undefined-value", message) else { continue };
        }
    }

    /// Reads `%name` and `#index`.
    pub(super) fn value_use(&mut self) -> Parsed<ValueUse<'a>> {
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
        Ok(ValueUse { name: self.spelling(token), index, token })
    }

    /// The value that `used` names, which has type `ty`.
    pub(super) fn resolve(&mut self, used: ValueUse<'a>, ty: Type) -> Parsed<Value> {
        let known = self.values.names.get(used.name).filter(|e| e.level == self.values.level);
        let value = match known.map(|entry| entry.binding) {
            None => self.forward_value(used, ty),
            Some(Binding::Arg(value)) if used.index == 0 => value,
            Some(Binding::Results(op, first, count)) if used.index < count => {
                self.module.result(op, (first + used.index) as usize)
            }
            Some(binding) => {
                let count = if let Binding::Results(_, _, count) = binding { count } else { 1 };
                let message = format!(
                    "expected a result number below {count} for `{}`, found {}",
                    used.name, used.index
                );
                return self.error(used.token, "result-number", message);
            }
        };
        self.check_type(used.token, used.name, value, ty)?;
        Ok(value)
    }

    fn check_type(&mut self, token: Token, name: &str, value: Value, ty: Type) -> Parsed<()> {
        let found = self.module.value_type(value);
        if found == ty {
            return Ok(());
        }
        let (found, expected) = (self.type_text(found), self.type_text(ty));
        let message = format!("expected `{name}` to have type {expected}, found {found}");
        self.error(token, "value-type", message)
    }

    /// A value that stands in until `used` is defined.
    fn forward_value(&mut self, used: ValueUse<'a>, ty: Type) -> Value {
        let key = (used.name, used.index);
        if let Some(&(value, _)) = self.values.forward.get(&key) {
            return value;
        }
        let value = self.module.placeholder(ty);
        self.values.forward.insert(key, (value, used.token));
        value
    }

    /// Makes `token` the name of an argument.
    pub(super) fn define_arg(&mut self, token: Token, value: Value) -> Parsed<()> {
        let name = self.spelling(token);
        let old = self.values.bind(name, Binding::Arg(value));
        self.settle(token, name, 0, value)?;
        self.only(token, name, old)
    }

    /// Makes `token` the name of results `first..first + count` of `op`.
    pub(super) fn define_results(
        &mut self,
        token: Token,
        op: Op,
        first: u32,
        count: u32,
    ) -> Parsed<()> {
        let name = self.spelling(token);
        let old = self.values.bind(name, Binding::Results(op, first, count));
        if !self.values.forward.is_empty() {
            for i in 0..count {
                let value = self.module.result(op, (first + i) as usize);
                self.settle(token, name, i, value)?;
            }
        }
        self.only(token, name, old)
    }

    /// Puts `value` in the place of what stood in for it.
    fn settle(&mut self, token: Token, name: &'a str, index: u32, value: Value) -> Parsed<()> {
        if self.values.forward.is_empty() {
            return Ok(());
        }
        let Some((stand_in, _)) = self.values.forward.remove(&(name, index)) else { return Ok(()) };
        let ty = self.module.value_type(stand_in);
        Module::replace_uses(self.module, stand_in, value);
        self.check_type(token, name, value, ty)
    }

    fn only(&mut self, token: Token, name: &str, old: Option<Entry>) -> Parsed<()> {
        if old.is_none() {
            return Ok(());
        }
        let message = format!("expected a new name, found `{name}`, which is defined already");
        self.error(token, "redefinition", message)
    }
}

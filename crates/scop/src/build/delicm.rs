//! Delays the use of a scalar: what a loop gathers in a local variable is gathered in the element
//! of an array that the variable is stored into.
//!
//! ```c
//! for (int i = 0; i < n; i++) {
//!     float v = 0;                                     // out[i] = 0;
//!     for (int j = 0; j < n; j++) v += w[i][j] * x[j]; // out[i] += w[i][j] * x[j];
//!     out[i] = v;
//! }
//! ```
//!
//! One variable for all iterations keeps them in their order; elements do not, so that loops can
//! be interchanged and jammed. Generated code keeps elements in local variables again
//! (`accumulate.rs`). The value of each operation stays the same: both types are the same, and
//! nothing between the first and the last write looks at the array.
//!
//! After Doerfert, Grosser: Static Elimination of Loop-Invariant Code Motion, and Kruse, Grosser:
//! DeLICM, Scalar Dependence Removal at Zero Memory Cost, CGO 2018. Divergence: only where one
//! block writes the variable, gathers in it in a loop, and stores it as it is.

use tangram_presburger::formula::Formula;

use super::{Builder, Item, Raw};
use crate::access::{Access, Accesses};
use crate::c_tokens::{Token, tokens};

/// A variable that is stored into an element at the end of a block.
struct Store {
    /// The statement that writes the variable first, or ends its earlier value.
    first: usize,
    /// The statement that stores it.
    last: usize,
    variable: String,
    /// The element, as C.
    element: String,
}

impl Builder<'_> {
    /// Puts elements of arrays in the place of local variables, where nothing can notice.
    pub(super) fn delay_scalars(&mut self, order: &mut Vec<Item>) {
        let mut gone = vec![false; self.statements.len()];
        let mut blocks = vec![&*order];
        let mut stores = Vec::new();
        while let Some(items) = blocks.pop() {
            let own: Vec<usize> = items.iter().filter_map(statement).collect();
            stores.extend(own.iter().filter_map(|last| self.store(&own, *last)));
            blocks.extend(items.iter().filter_map(|item| match item {
                Item::Loop { body, .. } => Some(body),
                Item::Statement(_) => None,
            }));
        }
        // What is stored may be a variable that takes another one's place.
        stores.sort_by_key(|store| store.last);
        for store in &stores {
            self.delay(store, &mut gone);
        }
        if stores.is_empty() {
            return;
        }
        self.arrays.retain(|name| stores.iter().all(|store| store.variable != *name));
        let kept = |index: usize| gone[..index].iter().filter(|gone| !**gone).count();
        let places: Vec<Option<usize>> =
            (0..gone.len()).map(|index| (!gone[index]).then(|| kept(index))).collect();
        renumber(order, &places);
        let mut gone = gone.into_iter();
        self.statements.retain(|_| !gone.next().unwrap_or_default());
    }

    /// Finds out whether a statement stores a variable that only its block, of which `own` are the
    /// statements, uses.
    fn store(&self, own: &[usize], last: usize) -> Option<Store> {
        let raw = &self.statements[last];
        let Accesses { reads, writes, may_writes, .. } = &raw.accesses;
        let targets = targets(writes, may_writes);
        let ([read], [target]) = (reads.as_slice(), targets.as_slice()) else { return None };
        let variable = read.array().to_owned();
        let element = stored(&raw.text, &variable)?;
        let (local, array) = (self.names.get(&variable)?, self.names.get(target.array())?);
        let same = self.names.resolved(&local.element) == self.names.resolved(&array.element);
        let plain = self.names.is_plain_number(&local.element) && local.extents.is_empty();
        let private = local.local && !self.kept.contains(&variable);
        if !same || !plain || !private || array.extents.is_empty() {
            return None;
        }
        let of_variable = |raw: &Raw| raw.accesses.all().any(|a| a.array() == variable);
        let of_array = |raw: &Raw| raw.accesses.all().any(|a| a.array() == target.array());
        let uses: Vec<usize> =
            (0..self.statements.len()).filter(|at| of_variable(&self.statements[*at])).collect();
        let first = *uses.first().filter(|first| own.contains(first))?;
        let starts = uses.iter().find(|at| !is_kill(&self.statements[**at]))?;
        let start = &self.statements[*starts];
        let fresh = start.accesses.reads.iter().all(|read| read.array() != variable)
            && start.accesses.writes.iter().any(|write| write.array() == variable);
        let as_often = own.contains(starts) && start.conditions == raw.conditions;
        let alone = (first..last).all(|at| !of_array(&self.statements[at]));
        let inside = uses.iter().all(|at| {
            let inner = &self.statements[*at];
            is_inside(raw, inner) && !declares(&inner.text, &variable)
        });
        let gathers = uses.iter().any(|at| self.is_long(raw, &self.statements[*at]));
        let found = Store { first, last, variable, element };
        let whole = alone && inside && gathers && uses.last() == Some(&last);
        (fresh && as_often && whole).then_some(found)
    }

    /// Returns whether a statement is in a loop inside a block whose length is a parameter's:
    /// compilers unroll those of known lengths and have no need of this.
    fn is_long(&self, outer: &Raw, inner: &Raw) -> bool {
        let own = inner.conditions.iter().filter(|one| !outer.conditions.contains(one));
        let known = |one: &Formula| self.params.iter().any(|param| one.uses(param));
        inner.loops.len() > outer.loops.len() && own.into_iter().any(known)
    }

    fn delay(&mut self, store: &Store, gone: &mut [bool]) {
        let Store { first, last, variable, element } = store;
        let Accesses { writes, may_writes, .. } = &self.statements[*last].accesses;
        let Some(target) = targets(writes, may_writes).first().copied().cloned() else { return };
        let certain = !writes.is_empty();
        for (at, raw) in self.statements.iter_mut().enumerate().take(*last).skip(*first) {
            if is_kill(raw) && raw.accesses.kills.iter().all(|a| a.array() == variable) {
                gone[at] = true;
                continue;
            }
            raw.text = replaced(&raw.text, variable, element);
            raw.accesses.replace(variable, &target, certain);
        }
        gone[*last] = true;
    }
}

/// Returns whether a statement is in all loops of another one, whose variables it can use.
fn is_inside(outer: &Raw, inner: &Raw) -> bool {
    let mut loops = inner.loops.clone();
    loops.sort_unstable();
    loops.dedup();
    inner.loops.starts_with(&outer.loops) && loops.len() == inner.loops.len()
}

/// Returns whether a statement could declare a variable of its own of this name: a name stands in
/// front of it.
fn declares(text: &str, variable: &str) -> bool {
    let mut behind_name = false;
    tokens(text).any(|(_, token)| match token {
        Token::Name(name) => std::mem::replace(&mut behind_name, true) && name == variable,
        Token::Other(other) => {
            behind_name &= other.trim().is_empty() || other == "*";
            false
        }
    })
}

fn statement(item: &Item) -> Option<usize> {
    match item {
        Item::Statement(index) => Some(*index),
        Item::Loop { .. } => None,
    }
}

/// Lists the cells that are written and known: exactly, or once their array has its dimensions.
fn targets<'a>(writes: &'a [Access], may_writes: &'a [Access]) -> Vec<&'a Access> {
    let all = writes.iter().chain(may_writes);
    if all.clone().all(|access| access.exact || access.linear.is_some()) {
        all.collect()
    } else {
        Vec::new()
    }
}

/// Returns whether a statement does nothing but end values.
fn is_kill(raw: &Raw) -> bool {
    let Accesses { reads, writes, may_writes, kills } = &raw.accesses;
    raw.text.is_empty()
        && !kills.is_empty()
        && [reads, writes, may_writes].iter().all(|a| a.is_empty())
}

/// Returns the element of `element = variable`.
fn stored(text: &str, variable: &str) -> Option<String> {
    let left = text.trim().strip_suffix(variable)?.trim_end().strip_suffix('=')?.trim_end();
    let is_place = left.ends_with(|c: char| c == ']' || c.is_alphanumeric() || c == '_');
    let starts = left.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let plain = !left.contains(['=', '?', ';', ',', '\n', '"', '\'']) && !left.contains("++");
    (is_place && starts && plain && !left.contains("--")).then(|| left.to_owned())
}

/// Puts an element in the place of a variable.
fn replaced(text: &str, variable: &str, element: &str) -> String {
    let word = |(_, token)| match token {
        Token::Name(name) if name == variable => element.to_owned(),
        Token::Name(other) | Token::Other(other) => other.to_owned(),
    };
    tokens(text).map(word).collect()
}

/// Gives statements their new places; those without one go.
fn renumber(order: &mut Vec<Item>, places: &[Option<usize>]) {
    let mut open = vec![order];
    while let Some(items) = open.pop() {
        items.retain(|item| statement(item).is_none_or(|index| places[index].is_some()));
        for item in items {
            match item {
                Item::Statement(index) => *index = places[*index].unwrap_or_default(),
                Item::Loop { body, .. } => open.push(body),
            }
        }
    }
}

impl Accesses {
    /// Lets accesses to a variable be accesses to a cell; `certain`: its writes are.
    fn replace(&mut self, variable: &str, cell: &Access, certain: bool) {
        self.kills.retain(|access| access.array() != variable);
        for access in self.all_mut().filter(|access| access.array() == variable) {
            *access = cell.clone();
        }
        if !certain {
            let own = |access: &Access| access.array() == cell.array();
            self.may_writes.extend(self.writes.iter().filter(|access| own(access)).cloned());
            self.writes.retain(|access| !own(access));
        }
    }
}

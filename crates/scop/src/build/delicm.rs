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
//! nothing between the first and the last write looks at the element; what the variable starts from
//! may. Other elements of the array may be read, as in a factorisation: that they are others,
//! loops and conditions must say. `out[i] = v / n` becomes `out[i] = out[i] / n` if nothing reads
//! the variable behind that; what reads it behind `out[i] = v` reads the element.
//!
//! A variable of the function does the same for each of its values, if nothing reads the last one
//! behind the part.
//!
//! After Doerfert, Grosser: Static Elimination of Loop-Invariant Code Motion, and Kruse, Grosser:
//! DeLICM, Scalar Dependence Removal at Zero Memory Cost, CGO 2018. Divergence: only where one
//! block writes the variable, gathers in it in a loop, and stores it as it is.

use std::collections::BTreeSet;

use tangram_presburger::formula::{Comparison, Expr, Formula};
use tangram_presburger::{Budget, Relation, Space, Tuple};

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
    /// Whether the variable is stored as it is, so that nothing is left to do.
    plain: bool,
    /// What reads the variable behind the store.
    later: Vec<usize>,
}

/// What it may take to find out whether two elements are one.
const MEETING: u64 = 20_000;
/// Loops with constants as bounds are as long as a parameter could say from this bound on.
const LONG: u64 = 16;

impl Builder<'_> {
    /// Puts elements of arrays in the place of local variables, where nothing can notice.
    pub(super) fn delay_scalars(&mut self, order: &mut Vec<Item>) {
        let mut gone = vec![false; self.statements.len()];
        let mut blocks = vec![&*order];
        let mut stores = Vec::new();
        while let Some(items) = blocks.pop() {
            let own: Vec<usize> = items.iter().filter_map(statement).collect();
            let end = end(items);
            stores.extend(own.iter().filter_map(|last| self.store((&own, end), *last)));
            blocks.extend(items.iter().filter_map(|item| match item {
                Item::Loop { body, .. } => Some(body),
                Item::Statement(_) => None,
            }));
        }
        // What is stored may be a variable that takes another one's place.
        stores.sort_by_key(|store| store.last);
        let mut seen = BTreeSet::new();
        stores.retain(|store| seen.insert((store.variable.clone(), store.first)));
        for store in &stores {
            self.delay(store, &mut gone);
        }
        if stores.is_empty() {
            return;
        }
        let left = self.statements.iter().zip(&gone).filter(|(_, gone)| !**gone);
        let left: BTreeSet<&str> =
            left.flat_map(|(raw, _)| raw.accesses.all()).map(Access::array).collect();
        self.arrays.retain(|name| {
            left.contains(name.as_str()) || stores.iter().all(|store| store.variable != *name)
        });
        let kept = |index: usize| gone[..index].iter().filter(|gone| !**gone).count();
        let places: Vec<Option<usize>> =
            (0..gone.len()).map(|index| (!gone[index]).then(|| kept(index))).collect();
        renumber(order, &places);
        let mut gone = gone.into_iter();
        self.statements.retain(|_| !gone.next().unwrap_or_default());
    }

    /// Finds out whether a statement stores a variable that only its block uses, of which `own` are
    /// the statements and `end` is the last one, loops in it included.
    fn store(&self, (own, end): (&[usize], usize), last: usize) -> Option<Store> {
        let raw = &self.statements[last];
        let Accesses { reads, writes, may_writes, .. } = &raw.accesses;
        let targets = targets(writes, may_writes);
        let [target] = targets.as_slice() else { return None };
        let variable = self.gathered(reads)?;
        let (element, plain) = stored(&raw.text, &variable)?;
        let (local, array) = (self.names.get(&variable)?, self.names.get(target.array())?);
        let same = self.names.resolved(&local.element) == self.names.resolved(&array.element);
        let is_number = self.names.is_plain_number(&local.element);
        if !same || !is_number || array.extents.is_empty() {
            return None;
        }
        let of_variable = |raw: &Raw| raw.accesses.all().any(|a| a.array() == variable);
        let uses = self.lifetime(&variable, (own, end), last)?;
        let uses: Vec<usize> = uses.filter(|at| of_variable(&self.statements[*at])).collect();
        let first = *uses.first().filter(|first| own.contains(first))?;
        let starts = *uses.iter().find(|at| !is_kill(&self.statements[**at]))?;
        let start = &self.statements[starts];
        let fresh = start.accesses.reads.iter().all(|read| read.array() != variable)
            && start.accesses.writes.iter().any(|write| write.array() == variable);
        let as_often = own.contains(&starts) && start.conditions == raw.conditions;
        // What the variable starts from may be the element.
        let misses = |inner: &Raw, access: &Access| self.misses(raw, target, inner, access);
        let alone = (first..last).filter(|at| *at != starts).all(|at| {
            let inner = &self.statements[at];
            inner.accesses.all().all(|access| misses(inner, access))
        }) && reads.iter().all(|read| misses(raw, read));
        let inside = uses.iter().all(|at| {
            let inner = &self.statements[*at];
            is_inside(raw, inner) && !declares(&inner.text, &variable)
        });
        let gathers = uses.iter().any(|at| self.is_long(raw, &self.statements[*at]));
        let later: Vec<usize> = uses.iter().copied().filter(|at| *at > last).collect();
        // What a loop behind the store reads may be read again when all of the block has run. The
        // element has the variable's value only where that is what is stored.
        let stays = (plain || later.is_empty())
            && later.iter().all(|at| {
                let before = if own.contains(at) { *at } else { end + 1 };
                !writes_to(&self.statements[*at], &variable)
                    && !(last + 1..before).any(|at| writes_to(&self.statements[at], target.array()))
            });
        let whole = alone && inside && gathers && stays && uses.contains(&last);
        let found = Store { first, last, variable, element, plain, later };
        (fresh && as_often && whole).then_some(found)
    }

    /// Returns whether a statement in the block of another one certainly accesses other elements than
    /// the one that the other one writes.
    fn misses(&self, outer: &Raw, target: &Access, inner: &Raw, access: &Access) -> bool {
        if access.array() != target.array() {
            return true;
        }
        let (Some(own), Some(of_target)) = (exactly(access), exactly(target)) else { return false };
        if !is_inside(outer, inner) || own.len() != of_target.len() {
            return false;
        }
        let same = own.into_iter().zip(of_target);
        let same = same.map(|(a, b)| a.clone().compared(Comparison::Equal, b.clone()));
        let conditions = inner.conditions.iter().chain(&outer.conditions).cloned();
        let meets = Formula::all(same.chain(conditions).chain([access.condition.clone()]));
        let params: Vec<String> = self.params.iter().cloned().collect();
        let space = Space::set(params, Tuple::new("", &inner.loops));
        let budget = Budget::steps(MEETING);
        let found = Relation::such_that(space, &meets, &budget);
        found.and_then(|points| points.is_empty(&budget)).unwrap_or(false)
    }

    /// Returns the statements among which are all that use a value of a variable: the block where it
    /// is declared, if that is this one, from its declaration up to another one of the same name.
    ///
    /// One of the function instead has a value for each statement that gives it one; nothing if a
    /// value could be used in another block.
    fn lifetime(
        &self,
        variable: &str,
        (own, end): (&[usize], usize),
        last: usize,
    ) -> Option<std::ops::Range<usize>> {
        let declared = self.declarations.iter().filter(|(name, _)| name == variable);
        let start = own.first().copied().unwrap_or(0);
        let is_outer = self.dead.contains(variable);
        let places: Vec<usize> = match is_outer {
            true => self.values(variable)?,
            false => declared.map(|(_, at)| *at).collect(),
        };
        let Some(at) = places.iter().rposition(|at| (start..=last).contains(at)) else {
            return (!is_outer).then_some(0..self.statements.len());
        };
        let next = places.get(at + 1).copied().unwrap_or(usize::MAX);
        let uses = |at: usize| self.statements[at].accesses.all().any(|a| a.array() == variable);
        if is_outer && (end + 1..next.min(self.statements.len())).any(uses) {
            return None;
        }
        Some(places[at]..next.min(end + 1))
    }

    /// Returns the statements that give a variable a new value, if all others read what the one before
    /// them has given in the same iteration of its loops.
    fn values(&self, variable: &str) -> Option<Vec<usize>> {
        let mut all: Vec<usize> = Vec::new();
        for (at, raw) in self.statements.iter().enumerate() {
            let Accesses { reads, writes, .. } = &raw.accesses;
            let is_own = |access: &&Access| access.array() == variable;
            if !raw.accesses.all().any(|access| is_own(&access)) {
                continue;
            }
            let is_new = writes.iter().any(|a| is_own(&a)) && !reads.iter().any(|a| is_own(&a));
            let follows = all.last().is_some_and(|last| {
                let last = &self.statements[*last];
                let governs = |one: &Formula| raw.conditions.contains(one);
                raw.loops.starts_with(&last.loops) && last.conditions.iter().all(governs)
            });
            match all.last() {
                // In a loop inside, it is another value of the same block.
                Some(last) if is_new && follows && raw.loops != self.statements[*last].loops => {}
                _ if is_new => all.push(at),
                _ if follows => {}
                _ => return None,
            }
        }
        Some(all)
    }

    /// Returns the only variable among reads that is the part's own.
    fn gathered(&self, reads: &[Access]) -> Option<String> {
        let is_own = |name: &&str| {
            let local = self.names.get(name);
            local.is_some_and(|local| local.local && local.extents.is_empty())
                && !self.kept.iter().any(|kept| kept == name)
                || self.dead.contains(*name)
        };
        let mut own = reads.iter().map(Access::array).filter(is_own);
        let first = own.next()?;
        own.all(|other| other == first).then(|| first.to_owned())
    }

    /// Returns whether a statement is in a loop inside a block whose length is a parameter's, or
    /// long: compilers unroll those of short known lengths and have no need of this.
    fn is_long(&self, outer: &Raw, inner: &Raw) -> bool {
        let own = inner.conditions.iter().filter(|one| !outer.conditions.contains(one));
        let known = |one: &Formula| {
            one.has_constant(LONG) || self.params.iter().any(|param| one.uses(param))
        };
        // What ends where a loop around it has come to is as long as that one is.
        let follows = |one: &Formula| outer.loops.iter().any(|name| one.uses(name));
        let mut own = own;
        let is_long =
            own.clone().any(known) || (own.any(follows) && outer.conditions.iter().any(known));
        inner.loops.len() > outer.loops.len() && is_long
    }

    fn delay(&mut self, store: &Store, gone: &mut [bool]) {
        let Store { first, last, variable, element, plain, later } = store;
        let Accesses { writes, may_writes, .. } = &self.statements[*last].accesses;
        let Some(target) = targets(writes, may_writes).first().copied().cloned() else { return };
        let certain = !writes.is_empty();
        let kept = [*last].into_iter().filter(|_| !plain).chain(later.iter().copied());
        for at in (*first..*last).chain(kept) {
            let raw = &mut self.statements[at];
            if is_kill(raw) && raw.accesses.kills.iter().all(|a| a.array() == variable) {
                gone[at] = true;
                continue;
            }
            raw.text = replaced(&raw.text, variable, element);
            raw.accesses.replace(variable, &target, certain);
            gone[at] |= is_same(&raw.text, element);
        }
        gone[*last] |= plain;
    }
}

/// Returns the subscripts of a cell that is known exactly.
fn exactly(access: &Access) -> Option<Vec<&Expr>> {
    let known = access.exact && !access.pending;
    access.subscripts.iter().map(Option::as_ref).collect::<Option<Vec<_>>>().filter(|_| known)
}

/// Returns whether a statement is in all loops of another one, whose variables it can use.
fn is_inside(outer: &Raw, inner: &Raw) -> bool {
    let mut loops = inner.loops.clone();
    loops.sort_unstable();
    loops.dedup();
    inner.loops.starts_with(&outer.loops) && loops.len() == inner.loops.len()
}

/// Returns whether a statement could declare a variable of its own of this name: names alone stand
/// between it and a place where a declaration can begin.
fn declares(text: &str, variable: &str) -> bool {
    let (mut begins, mut behind_name) = (true, false);
    tokens(text).any(|(_, token)| match token {
        Token::Name(name) => {
            let declared = behind_name && name == variable;
            behind_name |= begins;
            begins = false;
            declared
        }
        Token::Other(other) => {
            let other = other.trim();
            behind_name &= other.is_empty() || other == "*";
            begins = other.ends_with([';', '{', '}', '(']) || (begins && other.is_empty());
            false
        }
    })
}

/// Returns the last statement of a block.
fn end(mut items: &[Item]) -> usize {
    loop {
        match items.last() {
            Some(Item::Statement(index)) => return *index,
            Some(Item::Loop { body, .. }) => items = body,
            None => return 0,
        }
    }
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

/// Returns whether a statement may write to an array or a variable.
fn writes_to(raw: &Raw, name: &str) -> bool {
    let Accesses { writes, may_writes, kills, .. } = &raw.accesses;
    [writes, may_writes, kills].into_iter().flatten().any(|access| access.array() == name)
}

/// Returns whether a statement does nothing but end values.
fn is_kill(raw: &Raw) -> bool {
    let Accesses { reads, writes, may_writes, kills } = &raw.accesses;
    raw.text.is_empty()
        && !kills.is_empty()
        && [reads, writes, may_writes].iter().all(|a| a.is_empty())
}

/// Returns the element of `element = variable`, or of an assignment of what is computed from the
/// variable, and which of both it is.
fn stored(text: &str, variable: &str) -> Option<(String, bool)> {
    let (left, right) = text.trim().split_once('=')?;
    let left = left.trim_end();
    let is_place = left.ends_with(|c: char| c == ']' || c.is_alphanumeric() || c == '_');
    let starts = left.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let plain = |text: &str| {
        !text.contains([';', '{', '\n', '"', '\'']) && !text.contains("++") && !text.contains("--")
    };
    let whole = left.matches('[').count() == left.matches(']').count();
    let of_names = whole && !left.contains(['?', ',']) && !right.starts_with('=');
    let assigns = right.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "");
    let once = !assigns.contains('=') && plain(left) && plain(right);
    let found = is_place && starts && of_names && once;
    found.then(|| (left.to_owned(), right.trim() == variable))
}

/// Returns whether a statement gives an element its own value.
fn is_same(text: &str, element: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    plain(text) == plain(&format!("{element} = {element}"))
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

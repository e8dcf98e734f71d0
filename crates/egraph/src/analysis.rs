//! Analyses: one piece of data per class, kept up to date as classes merge.

use crate::{EGraph, Id, Justification, Language};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::ops::BitOr;

/// What a merge changed: whether the result differs from the first and from the second input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DidMerge(pub bool, pub bool);

impl BitOr for DidMerge {
    type Output = DidMerge;

    fn bitor(self, other: Self) -> DidMerge {
        DidMerge(self.0 | other.0, self.1 | other.1)
    }
}

/// Data for each class, made from nodes and merged when classes are.
///
/// ```
/// use tangram_egraph::*;
///
/// define_language! {
///     enum Sum { Num(i32), "+" = Add([Id; 2]), Name(Symbol) }
/// }
///
/// #[derive(Default)]
/// struct Value;
/// impl Analysis<Sum> for Value {
///     type Data = Option<i32>;
///     fn make(egraph: &mut EGraph<Sum, Self>, node: &Sum, _id: Id) -> Option<i32> {
///         match node {
///             Sum::Num(n) => Some(*n),
///             Sum::Add([a, b]) => egraph[*a].data?.checked_add(egraph[*b].data?),
///             Sum::Name(_) => None,
///         }
///     }
///     fn merge(&mut self, to: &mut Option<i32>, from: Option<i32>) -> DidMerge {
///         merge_max(to, from)
///     }
///     fn modify(egraph: &mut EGraph<Sum, Self>, id: Id) {
///         if let Some(value) = egraph[id].data {
///             let number = egraph.add(Sum::Num(value));
///             egraph.union(id, number);
///         }
///     }
/// }
///
/// let mut egraph = EGraph::<Sum, Value>::default();
/// let sum = egraph.add_expr(&"(+ 1 (+ 2 3))".parse().unwrap());
/// egraph.rebuild();
/// assert_eq!(egraph.lookup(Sum::Num(6)), Some(egraph.find(sum)));
/// ```
pub trait Analysis<L: Language>: Sized {
    /// The data of a class.
    type Data: Debug;

    /// Makes the data of a new node; children need not be canonical.
    fn make(egraph: &mut EGraph<L, Self>, enode: &L, id: Id) -> Self::Data;

    /// Makes the data of a node again after that of a child changed.
    fn remake(egraph: &mut EGraph<L, Self>, enode: &L, id: Id) -> Self::Data {
        Self::make(egraph, enode, id)
    }

    /// Sees a union before it happens.
    #[allow(unused_variables)]
    fn pre_union(
        egraph: &EGraph<L, Self>,
        id1: Id,
        id2: Id,
        justification: &Option<Justification>,
    ) {
    }

    /// Merges `b` into `a` and says what changed.
    fn merge(&mut self, a: &mut Self::Data, b: Self::Data) -> DidMerge;

    /// May change the e-graph after a class was made or its data changed.
    #[allow(unused_variables)]
    fn modify(egraph: &mut EGraph<L, Self>, id: Id) {}

    /// Returns whether matching may go around cycles. Matches are always complete here; see the
    /// migration notes.
    fn allow_ematching_cycles(&self) -> bool {
        true
    }

    #[doc(hidden)]
    fn __nothing_to_do() -> Option<Self::Data> {
        None
    }
}

impl<L: Language> Analysis<L> for () {
    type Data = ();

    fn make(_: &mut EGraph<L, Self>, _: &L, _: Id) {}

    fn merge(&mut self, _: &mut (), (): ()) -> DidMerge {
        DidMerge(false, false)
    }

    #[inline(always)]
    fn __nothing_to_do() -> Option<()> {
        Some(())
    }
}

/// Keeps the larger value.
pub fn merge_max<T: Ord>(to: &mut T, from: T) -> DidMerge {
    keep(to, from, Ordering::Less)
}

/// Keeps the smaller value.
pub fn merge_min<T: Ord>(to: &mut T, from: T) -> DidMerge {
    keep(to, from, Ordering::Greater)
}

/// Replaces `to` by `from` if `to` compares to it as `losing`.
fn keep<T: Ord>(to: &mut T, from: T, losing: Ordering) -> DidMerge {
    let order = (*to).cmp(&from);
    if order == losing {
        *to = from;
        DidMerge(true, false)
    } else {
        DidMerge(false, order != Ordering::Equal)
    }
}

/// Keeps the value there is, and merges two with a function.
pub fn merge_option<T>(
    to: &mut Option<T>,
    from: Option<T>,
    merge_fn: impl FnOnce(&mut T, T) -> DidMerge,
) -> DidMerge {
    match (to.as_mut(), from) {
        (None, None) => DidMerge(false, false),
        (Some(_), None) => DidMerge(false, true),
        (None, from @ Some(_)) => {
            *to = from;
            DidMerge(true, false)
        }
        (Some(to), Some(from)) => merge_fn(to, from),
    }
}

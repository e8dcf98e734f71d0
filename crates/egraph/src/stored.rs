//! serde's traits, with the feature `serde-1`.
//!
//! Terms are strings, their s-expressions. An e-graph keeps everything: ids, what was pruned, and
//! proofs, so that a run can go on where another one ended.
//!
//! ```
//! use tangram_egraph::{EGraph, RecExpr, SymbolLang};
//! let term: RecExpr<SymbolLang> = "(+ a b)".parse().unwrap();
//! let mut egraph = EGraph::<SymbolLang, ()>::default();
//! let sum = egraph.add_expr(&term);
//! egraph.rebuild();
//! let text = serde_json::to_string(&egraph).unwrap();
//! let read: EGraph<SymbolLang, ()> = serde_json::from_str(&text).unwrap();
//! assert_eq!(read.lookup_expr(&term), Some(sum));
//! ```

use crate::core::Core;
use crate::egraph::{EGraph, OpTable};
use crate::{Analysis, FromOp, Id, Language, RecExpr, Symbol};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::Display;

impl Serialize for Symbol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Symbol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Symbol::new(Cow::<'de, str>::deserialize(deserializer)?))
    }
}

impl<L: Language + Display> Serialize for RecExpr<L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, L: FromOp> Deserialize<'de> for RecExpr<L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|error| D::Error::custom(format!("{error:?}")))
    }
}

/// An e-graph as it is stored.
#[derive(serde::Serialize, serde::Deserialize)]
struct Stored<N, L, D, C> {
    analysis: N,
    /// The node of each operator, all children zero.
    operators: Vec<L>,
    core: C,
    /// The data of each class, if the analysis has any.
    data: Vec<(Id, D)>,
    /// Nodes whose data is to be made again.
    stale: Vec<u32>,
    /// Nodes with data that equality leaves out.
    own_data: Vec<(u32, L)>,
    clean: bool,
}

impl<L, N> Serialize for EGraph<L, N>
where
    L: Language + Serialize,
    N: Analysis<L> + Serialize,
    N::Data: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let classes = self.pool().classes.iter();
        let mut own_data: Vec<(u32, &L)> =
            self.store.own_data.iter().map(|(&id, node)| (id, node)).collect();
        own_data.sort_by_key(|&(id, _)| id);
        let stored = StoredRef {
            analysis: &self.analysis,
            operators: &self.store.ops.templates,
            core: &self.store.core,
            data: classes.map(|class| (class.id, &class.data)).collect(),
            stale: self.stale.iter().copied().collect(),
            own_data,
            clean: self.clean,
        };
        stored.serialize(serializer)
    }
}

/// The same, borrowed.
#[derive(serde::Serialize)]
struct StoredRef<'a, N, L, D> {
    analysis: &'a N,
    operators: &'a [L],
    core: &'a Core,
    data: Vec<(Id, &'a D)>,
    stale: Vec<u32>,
    own_data: Vec<(u32, &'a L)>,
    clean: bool,
}

impl<'de, L, N> Deserialize<'de> for EGraph<L, N>
where
    L: Language + Deserialize<'de>,
    N: Analysis<L> + Deserialize<'de>,
    N::Data: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::<N, L, N::Data, Core>::deserialize(deserializer)?;
        let wrong = |what: &str| D::Error::custom(format!("expected an e-graph, found {what}"));
        let core =
            stored.core.restored().ok_or_else(|| wrong("tables that do not fit together"))?;
        if stored.operators.len() != core.number_of_ops() {
            return Err(wrong("another number of operators than their nodes"));
        }
        let mut egraph = EGraph::new(stored.analysis);
        egraph.store.ops = stored.operators.into_iter().collect::<OpTable<L>>();
        let mut covered = 0;
        for (id, data) in stored.data {
            if usize::from(id) >= core.number_of_ids() || core.find(id) != id {
                return Err(wrong("data of a class that is not there"));
            }
            egraph.put_class(crate::egraph::new_class(id, data));
            covered += 1;
        }
        if covered != core.class_ids().count() {
            return Err(wrong("classes without data"));
        }
        let inside = |&id: &u32| (id as usize) < core.number_of_ids();
        if !stored.stale.iter().chain(stored.own_data.iter().map(|(id, _)| id)).all(inside) {
            return Err(wrong("nodes that are not there"));
        }
        egraph.stale = stored.stale.into();
        egraph.store.own_data = stored.own_data.into_iter().collect();
        egraph.clean = stored.clean;
        egraph.store.core = core;
        Ok(egraph)
    }
}

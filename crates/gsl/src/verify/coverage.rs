//! What instances covered: types, ranks, extents, attribute values, operators, and pairs of these.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use super::condition::Features;
use crate::eval::AttrValue;
use crate::matching::show;

/// What the instances that were compared had.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Element types.
    pub types: BTreeSet<String>,
    /// Ranks.
    pub ranks: BTreeSet<i64>,
    /// Extents.
    pub extents: BTreeSet<i64>,
    /// The operations of the source.
    pub operators: BTreeSet<String>,
    /// For each attribute of a call its values; of a list its members.
    pub attributes: BTreeMap<String, BTreeSet<String>>,
    /// Kinds of numbers.
    pub values: BTreeSet<&'static str>,
    /// How many pairs of classes of such facts were tried together, and how many of those that
    /// matching instances have.
    pub pairs: (usize, usize),
    /// How many arms of conditionals were taken, of how many.
    pub branches: (usize, usize),
}

/// The most values of an attribute that are listed.
const LISTED: usize = 12;

impl Coverage {
    /// Notes an instance.
    pub(super) fn add(&mut self, features: &Features) {
        for (name, value) in features {
            let Some((_, attribute)) = name.split_once('.') else {
                if let AttrValue::Str(operator) = value {
                    self.operators.insert(operator.clone());
                }
                continue;
            };
            match (attribute, value) {
                ("dtype", AttrValue::Str(text)) => _ = self.types.insert(text.clone()),
                ("ndim", AttrValue::Int(n)) => _ = self.ranks.insert(*n),
                ("shape", AttrValue::Tuple(fields)) => self.extents.extend(ints(fields)),
                _ if attribute.starts_with("shape") => {}
                (_, AttrValue::Tuple(fields)) => {
                    let known = self.attributes.entry(attribute.to_owned()).or_default();
                    known.extend(fields.iter().map(show).take(LISTED));
                }
                _ => {
                    let known = self.attributes.entry(attribute.to_owned()).or_default();
                    known.insert(show(value));
                }
            }
        }
    }
}

fn ints(fields: &[AttrValue]) -> impl Iterator<Item = i64> + '_ {
    fields.iter().filter_map(|field| match field {
        AttrValue::Int(n) => Some(*n),
        _ => None,
    })
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>().join(", ");
        write!(f, "types {}", list(&mut self.types.iter().cloned()))?;
        write!(f, "; ranks {}", list(&mut self.ranks.iter().map(i64::to_string)))?;
        write!(f, "; extents {}", list(&mut self.extents.iter().map(i64::to_string)))?;
        for (name, values) in &self.attributes {
            let more = if values.len() > LISTED { ", ..." } else { "" };
            write!(f, "; {name} {}{more}", list(&mut values.iter().take(LISTED).cloned()))?;
        }
        write!(f, "; values {}", list(&mut self.values.iter().map(|v| (*v).to_owned())))?;
        if self.branches.1 > 0 {
            write!(f, "; branches {} of {}", self.branches.0, self.branches.1)?;
        }
        write!(f, "; {} of {} pairs of these", self.pairs.0, self.pairs.1)
    }
}

/// Pairs of facts that were seen together.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    seen: FxHashSet<u64>,
}

/// A covering array of pairs: each two classes of facts that occur together in an instance that
/// matches are to occur together in one that is compared.
///
/// A class of facts is an element type, a rank, a value of an attribute, or a bound of a list:
/// extents of `[2, 7, 1]` are those whose least is 1 and whose greatest is 4 or more.
#[derive(Clone, Debug, Default)]
pub(super) struct Covering {
    compared: FxHashSet<u64>,
    matched: FxHashSet<u64>,
}

impl Covering {
    /// The pairs of an instance.
    pub(super) fn pairs(facts: &Features) -> Vec<u64> {
        let classes: Vec<u64> = facts.iter().flat_map(classes).chain([types(facts)]).collect();
        let mut pairs = Vec::with_capacity(classes.len() * classes.len() / 2);
        for (i, a) in classes.iter().enumerate() {
            pairs.extend(classes[i + 1..].iter().map(|b| a.rotate_left(17) ^ b));
        }
        pairs
    }

    /// Returns whether some pair was not compared before.
    pub(super) fn is_new(&self, pairs: &[u64]) -> bool {
        pairs.iter().any(|pair| !self.compared.contains(pair))
    }

    /// Notes an instance that matches.
    pub(super) fn note(&mut self, pairs: &[u64], compared: bool) {
        self.matched.extend(pairs);
        if compared {
            self.compared.extend(pairs);
        }
    }

    /// How many pairs were compared, and how many match.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.compared.len(), self.matched.len())
    }
}

/// All element types of an instance as one fact: a cast of a cast depends on three of them.
fn types(facts: &Features) -> u64 {
    let mut hasher = FxHasher::default();
    for (name, value) in facts {
        if let (true, AttrValue::Str(text)) = (name.ends_with(".dtype"), value) {
            (name, text).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The classes that a fact is in.
fn classes((name, value): (&String, &AttrValue)) -> Vec<u64> {
    let class = |kind: &str, value: &dyn Fn(&mut FxHasher)| {
        let mut hasher = FxHasher::default();
        (name, kind).hash(&mut hasher);
        value(&mut hasher);
        hasher.finish()
    };
    match value {
        // Each extent is a member of the list of all.
        _ if name.contains(".shape[") => Vec::new(),
        AttrValue::Tuple(fields) => {
            let bound = |n: Option<i64>| n.map_or(-2, |n| n.clamp(-1, 4));
            let (least, greatest) = (bound(ints(fields).min()), bound(ints(fields).max()));
            vec![class("least", &|h| least.hash(h)), class("greatest", &|h| greatest.hash(h))]
        }
        AttrValue::Int(n) => vec![class("value", &|h| n.clamp(&-3, &6).hash(h))],
        _ => vec![class("value", &|h| hash_value(value, h))],
    }
}

/// Hashes what [`show`] would print, without printing where it is plain what that is.
fn hash_value(value: &AttrValue, hasher: &mut FxHasher) {
    match value {
        AttrValue::Int(n) => n.hash(hasher),
        AttrValue::Bool(b) => b.hash(hasher),
        AttrValue::Str(text) => text.hash(hasher),
        _ => show(value).hash(hasher),
    }
}

impl Pairs {
    /// Notes the pairs of an instance. Returns how many are new.
    pub(super) fn add(&mut self, features: &Features) -> usize {
        let facts: Vec<u64> = features
            .iter()
            .filter(|(name, _)| !name.ends_with(".shape"))
            .map(|(name, value)| {
                let mut hasher = FxHasher::default();
                name.hash(&mut hasher);
                hash_value(value, &mut hasher);
                hasher.finish()
            })
            .collect();
        let before = self.seen.len();
        for (i, a) in facts.iter().enumerate() {
            self.seen.extend(facts[i..].iter().map(|b| a.rotate_left(17) ^ b));
        }
        self.seen.len() - before
    }
}

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
    /// How many pairs of such facts were tried together.
    pub pairs: usize,
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
        write!(f, "; {} pairs of these", self.pairs)
    }
}

/// Pairs of facts that were seen together.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    seen: FxHashSet<u64>,
}

impl Pairs {
    /// Notes the pairs of an instance. Returns how many are new.
    pub(super) fn add(&mut self, features: &Features) -> usize {
        let facts: Vec<u64> = features
            .iter()
            .filter(|(name, _)| !name.ends_with(".shape"))
            .map(|(name, value)| {
                let mut hasher = FxHasher::default();
                (name, show(value)).hash(&mut hasher);
                hasher.finish()
            })
            .collect();
        let before = self.seen.len();
        for (i, a) in facts.iter().enumerate() {
            self.seen.extend(facts[i..].iter().map(|b| a.rotate_left(17) ^ b));
        }
        self.seen.len() - before
    }

    pub(super) fn count(&self) -> usize {
        self.seen.len()
    }
}

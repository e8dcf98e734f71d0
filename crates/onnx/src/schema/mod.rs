//! The schemas of ONNX's operators, and whether a model keeps to those of its own operator sets.
//!
//! The schema of an operator in a version of its operator set says which inputs, outputs and
//! attributes it has, and of which types. It is the version with the greatest number up to that of
//! the set: `Resize` of set 17 is that of version 13, which has no `keep_aspect_ratio_policy`.
//!
//! The table `operators.txt` is written by `python/generate_schemas.py` from the onnx package, and
//! a test compares both. Only lines of operators that are asked for are read.

mod check;
mod parse;
mod values;

pub use check::{Violation, violations};
pub(crate) use check::{gives, holds};

use std::collections::HashMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("operators.txt");

/// An operator in one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Schema {
    /// The first version of the operator set in which it holds.
    pub since: i64,
    /// What it takes.
    pub inputs: Formals,
    /// What it gives.
    pub outputs: Formals,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// The types that each variable stands for.
    variables: Vec<(&'static str, usize)>,
}

/// The inputs or outputs of an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Formals {
    /// How many there are at least.
    pub least: usize,
    /// How many there are at most; any number if absent.
    pub most: Option<usize>,
    list: Vec<Formal>,
}

/// An input or output of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Formal {
    /// A type variable or a type.
    pub ty: &'static str,
    /// How often it is there.
    pub times: Times,
}

/// How often an input or output is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Times {
    Once,
    Optional,
    /// Any number of times, each of one type.
    Many,
    /// Any number of times, each of a type of its own.
    Mixed,
}

/// An attribute of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Attribute {
    pub name: &'static str,
    /// The number of its kind.
    pub kind: i32,
    pub required: bool,
}

/// What the table says of an operator in a version of its operator set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// No version up to this one has the operator.
    Absent,
    /// It is not to be used any more.
    Deprecated,
    /// This is how it is used.
    Schema(&'static Schema),
}

impl Formals {
    /// The formal that stands for number `i`.
    pub(crate) fn at(&self, i: usize) -> Option<Formal> {
        let repeats = |formal: &&Formal| matches!(formal.times, Times::Many | Times::Mixed);
        self.list.get(i).or_else(|| self.list.last().filter(repeats)).copied()
    }
}

impl Schema {
    /// Whether inputs, outputs and attributes are those of `other`, whatever their types.
    pub(crate) fn is_used_alike(&self, other: &Schema) -> bool {
        (&self.inputs, &self.outputs, &self.attributes)
            == (&other.inputs, &other.outputs, &other.attributes)
    }

    /// The types that a formal type stands for.
    pub(crate) fn types(&self, formal: &'static str) -> Types {
        match self.variables.iter().find(|variable| variable.0 == formal) {
            Some(variable) => Types::OneOf(parse::set(TABLE, variable.1)),
            None => Types::Only(formal),
        }
    }
}

/// The types that an input or output may have.
#[derive(Clone, Debug)]
pub(crate) enum Types {
    /// Those that a variable stands for.
    OneOf(&'static [&'static str]),
    /// This one.
    Only(&'static str),
}

/// An operator in one version: domain, version, and the rest of its line, read when first asked
/// for.
type Entry = (&'static str, i64, &'static str, OnceLock<Option<Schema>>);

/// The versions of the operators of each name, oldest first.
fn index() -> &'static HashMap<&'static str, Vec<Entry>> {
    static INDEX: OnceLock<HashMap<&'static str, Vec<Entry>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: HashMap<&'static str, Vec<Entry>> = HashMap::new();
        for ((domain, name), since, rest) in TABLE.lines().filter_map(parse::head) {
            index.entry(name).or_default().push((domain, since, rest, OnceLock::new()));
        }
        index
    })
}

/// The names of all operators of ONNX, sorted.
pub fn operators() -> Vec<&'static str> {
    let mut all: Vec<&str> = index().keys().copied().collect();
    all.sort_unstable();
    all
}

/// Returns whether the table has operators of `domain`, where ONNX's own is `""`.
pub(crate) fn knows_domain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx.ml")
}

/// The greatest version of `domain` in which the table has something new.
pub(crate) fn newest(domain: &str) -> i64 {
    let of_domain = index().values().flatten().filter(|entry| entry.0 == domain);
    of_domain.map(|entry| entry.1).max().unwrap_or(0)
}

/// The schema of operator `name` in version `version` of `domain`.
pub(crate) fn find(domain: &str, name: &str, version: i64) -> Found {
    let fits = |entry: &&Entry| entry.0 == domain && entry.1 <= version;
    let newest = index().get(name).and_then(|all| all.iter().rev().find(fits));
    let Some((_, since, rest, parsed)) = newest else { return Found::Absent };
    match parsed.get_or_init(|| parse::schema(*since, rest)) {
        Some(schema) => Found::Schema(schema),
        None => Found::Deprecated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_can_be_read() {
        let mut found = (0, 0);
        for (name, versions) in index() {
            for (domain, since, rest, _) in versions {
                match parse::schema(*since, rest) {
                    Some(schema) => {
                        for formal in schema.inputs.list.iter().chain(&schema.outputs.list) {
                            let types = schema.types(formal.ty);
                            let known = matches!(&types, Types::OneOf(all) if !all.is_empty())
                                || matches!(types, Types::Only(ty) if ty.starts_with(char::is_lowercase));
                            assert!(known, "{domain} {name} {since}: {types:?}");
                        }
                        found.0 += 1;
                    }
                    None => {
                        assert_eq!(rest.trim(), "gone", "{domain} {name} {since}");
                        found.1 += 1;
                    }
                }
            }
        }
        assert!(found.0 > 500, "{found:?}");
        // `onnx.defs` calls these deprecated: Scatter 11, Upsample 10, GroupNormalization 18, and
        // of ai.onnx.ml TreeEnsembleClassifier 5 and TreeEnsembleRegressor 5.
        assert_eq!(found.1, 5, "deprecated versions");
    }

    #[test]
    fn the_version_decides() {
        let policy = "keep_aspect_ratio_policy";
        let has = |version| {
            let found = find("", "Resize", version);
            matches!(found, Found::Schema(s) if s.attributes.iter().any(|a| a.name == policy))
        };
        assert!(matches!(find("", "Resize", 13), Found::Schema(_)));
        assert_eq!([13, 17, 18, 19].map(has), [false, false, true, true]);
        assert!(matches!(find("", "Resize", 9), Found::Absent));
        assert!(matches!(find("", "Upsample", 10), Found::Deprecated));
        assert!(matches!(find("", "NoSuchOperator", 21), Found::Absent));
    }
}

//! What a schedule must keep to and what it should bring together.

use std::fmt;

use tangram_presburger::{Budget, Relation, Union};

use crate::Error;
use crate::schedule_tree::read::Reader;
use crate::yaml::Document;

/// Constraints on the schedule of a set of instances.
///
/// A pair of instances that is the same instance twice constrains nothing.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// The instances.
    pub domain: Union,
    /// What is known about the parameters.
    pub context: Option<Relation>,
    /// The first instance of each pair runs before the second.
    pub validity: Union,
    /// Pairs that a parallel loop may not take apart.
    pub coincidence: Union,
    /// Pairs that should run close to each other.
    pub proximity: Union,
    /// Pairs that keep [`Self::conditional_validity`] harmless where they run together.
    pub condition: Union,
    /// As validity, where a pair of [`Self::condition`] that shares an instance runs apart.
    pub conditional_validity: Union,
}

/// The keys of isl's form.
const KEYS: [&str; 7] = [
    "domain",
    "context",
    "validity",
    "coincidence",
    "proximity",
    "condition",
    "conditional_validity",
];

impl Constraints {
    /// Parses isl's form: `domain`, `context`, `validity`, `coincidence`, `proximity`,
    /// `condition`, `conditional_validity`.
    ///
    /// # Errors
    /// [`Error::Structure`], [`Error::Key`] and [`Error::Notation`] with the place;
    /// [`Error::MissingKey`] without a domain.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let document = Document::parse(text)?;
        let reader = Reader { document: &document, budget };
        let mut constraints = Self::default();
        for (key, value) in document.entries(document.root())? {
            let place = match key.as_str() {
                "domain" => &mut constraints.domain,
                "validity" => &mut constraints.validity,
                "coincidence" => &mut constraints.coincidence,
                "proximity" => &mut constraints.proximity,
                "condition" => &mut constraints.condition,
                "conditional_validity" => &mut constraints.conditional_validity,
                "context" => {
                    constraints.context = Some(reader.relation(key, *value)?);
                    continue;
                }
                _ => return Err(document.unknown_key(key, *value, &KEYS)),
            };
            *place = reader.union(key, *value)?;
        }
        if !document.entries(document.root())?.iter().any(|(key, _)| key == "domain") {
            return Err(Error::MissingKey { expected: "`domain`: the instances to schedule" });
        }
        Ok(constraints)
    }
}

impl fmt::Display for Constraints {
    /// Writes isl's form; what is empty is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "domain: \"{}\"", self.domain)?;
        if let Some(context) = &self.context {
            writeln!(f, "context: \"{context}\"")?;
        }
        let relations = [
            ("validity", &self.validity),
            ("coincidence", &self.coincidence),
            ("proximity", &self.proximity),
            ("condition", &self.condition),
            ("conditional_validity", &self.conditional_validity),
        ];
        for (key, union) in relations {
            if union.relations().next().is_some() {
                writeln!(f, "{key}: \"{union}\"")?;
            }
        }
        Ok(())
    }
}

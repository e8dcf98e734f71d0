//! What verification found out about a rule.

use std::fmt;

use super::coverage::Coverage;
use crate::ast::Exactness;

/// The verdict on a rule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Both sides are equal on every instance.
    Holds(Evidence),
    /// Both sides differ on some instances; a condition tells them from the others.
    HoldsIf {
        /// The condition, as it would be written after `where`.
        condition: String,
        /// The smallest instance on which the sides differ.
        counterexample: Counterexample,
        /// The others.
        evidence: Evidence,
    },
    /// Both sides differ.
    Wrong {
        /// The smallest instance on which the sides differ.
        counterexample: Counterexample,
        /// The instances on which they do not.
        evidence: Evidence,
    },
    /// Both sides are equal only as another promise allows than the one that the rule makes.
    HoldsAs {
        /// What it may promise.
        promise: Exactness,
        /// Its own promise is kept wherever inputs and constants are finite numbers.
        finite: bool,
        /// The smallest instance on which its own promise is broken.
        counterexample: Counterexample,
        /// All instances.
        evidence: Evidence,
    },
    /// Too little was compared to say anything.
    Unknown {
        /// What kind of thing stood in the way.
        doubt: Doubt,
        /// What stood in the way.
        why: String,
    },
}

/// What keeps a verdict from being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// No program has the form of the source, or satisfies the conditions.
    NeverMatches,
    /// Where it matches, the target mostly has another type than the source, or none: there no
    /// rewrite is made.
    Refused,
    /// Few instances could be compared, or a branch or operator is missing among them.
    Thin,
    /// Verification itself failed, which is a defect of it and says nothing of the rule.
    Defect,
}

/// On what a verdict rests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Instances on which both sides are equal as rational functions, or as expressions in
    /// unknown functions of one element.
    pub field: usize,
    /// Instances on which both sides are equal on integers, computed exactly.
    pub integers: usize,
    /// Instances on which both sides are equal up to rounding.
    pub rounded: usize,
    /// Instances whose results have no elements: both sides have the same type, and no more can
    /// be seen there. They are not among those that were compared.
    pub empty: usize,
    /// Instances with symbolic extents on which both sides are equal at several sizes.
    pub symbolic: usize,
    /// The greatest degree of a polynomial that was compared.
    pub degree: u32,
    /// Instances with symbolic extents on which both sides differ at some sizes, and where the
    /// rewrite is refused for that: extents of both sides are not known to be equal.
    pub guarded: usize,
    /// Instances that match and are refused because the target has another type or none.
    pub ill_typed: usize,
    /// Instances that match and are refused, because the target has another type or none.
    pub refused: usize,
    /// Why the first of them is refused.
    pub refusal: Option<String>,
    /// A condition that tells the refused instances from the others.
    pub guard: Option<String>,
    /// What the rule may promise: the greatest difference that was seen.
    pub promise: Option<Exactness>,
    /// How far the rule says that results may be apart beside rounding; 0 where it says nothing.
    pub tolerance: f64,
    /// Whether the driver was seen to fire the rule on an instance, equal operations of which are
    /// one.
    pub fires: bool,
    /// What the instances had that were compared.
    pub coverage: Coverage,
}

impl Evidence {
    /// How many instances were compared.
    pub fn count(&self) -> usize {
        self.field + self.integers + self.rounded
    }

    /// With what probability, at most, an instance on which the sides differ as rational
    /// functions passed for equal: degree / p. None where no instance was decided so.
    pub fn chance(&self) -> Option<f64> {
        (self.field > 0)
            .then(|| f64::from(self.degree.max(1)) / tangram_dialects::field::prime::P as f64)
    }
}

/// An instance on which source and target differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterexample {
    /// Inputs and constants: name, type, elements.
    pub leaves: Vec<Leaf>,
    /// Which value each named pattern matched, `c = v1`.
    pub matched: Vec<String>,
    /// The source as made, operation by operation.
    pub source: Vec<String>,
    /// Which output, and what both sides give there.
    pub difference: String,
    /// How many elements its inputs and constants have.
    pub size: usize,
}

/// An input or constant of a counterexample.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Its name in the rule.
    pub name: String,
    /// Its element type and extents.
    pub ty: String,
    /// Its elements in row-major order.
    pub elements: Vec<f64>,
}

impl Verdict {
    /// Whether the rule may be relied on.
    pub fn holds(&self) -> bool {
        matches!(self, Verdict::Holds(_))
    }

    /// Whether both sides were seen to differ, not only where an input is no finite number.
    pub fn is_wrong(&self) -> bool {
        match self {
            Verdict::Wrong { .. } | Verdict::HoldsIf { .. } => true,
            Verdict::HoldsAs { finite, .. } => !finite,
            _ => false,
        }
    }

    /// The instance on which both sides differ, if there is one.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match self {
            Verdict::Wrong { counterexample, .. }
            | Verdict::HoldsIf { counterexample, .. }
            | Verdict::HoldsAs { counterexample, .. } => Some(counterexample),
            _ => None,
        }
    }

    /// The instances on which both sides are equal, if any were compared.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Verdict::Holds(evidence)
            | Verdict::Wrong { evidence, .. }
            | Verdict::HoldsIf { evidence, .. }
            | Verdict::HoldsAs { evidence, .. } => Some(evidence),
            Verdict::Unknown { .. } => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Holds(evidence) => {
                let promise = evidence.promise.unwrap_or(Exactness::Exact).word();
                write!(f, "holds ({promise}")?;
                if evidence.tolerance > 0.0 {
                    write!(f, ", within {:?}", evidence.tolerance)?;
                }
                writeln!(f, ") on {evidence}")?;
                if !evidence.fires {
                    writeln!(f, "  it never fires where equal operations are one, as in models")?;
                }
                write!(f, "  tried: {}", evidence.coverage)
            }
            Verdict::HoldsAs { promise, finite, counterexample, evidence } => {
                let word = promise.word();
                if *finite {
                    writeln!(
                        f,
                        "right up to infinities: it holds for finite numbers, and for all where it \
                         says `{word}`"
                    )?
                } else {
                    let as_it_stands = "WRONG as it stands; it holds where it says no more than";
                    writeln!(f, "{as_it_stands} `{word}`")?;
                }
                writeln!(f, "  it holds so on {evidence}")?;
                write!(f, "{counterexample}")
            }
            Verdict::HoldsIf { condition, counterexample, evidence } => {
                writeln!(f, "WRONG without a further condition, perhaps `where {condition};`")?;
                writeln!(f, "  it holds on {evidence}")?;
                write!(f, "{counterexample}")
            }
            Verdict::Wrong { counterexample, evidence } => {
                writeln!(f, "WRONG (holds on {evidence})")?;
                write!(f, "{counterexample}")
            }
            Verdict::Unknown { why, .. } => write!(f, "unknown: {why}"),
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        write!(f, "{count} instance{}", if count == 1 { "" } else { "s" })?;
        let parts = [
            (self.field, "identically"),
            (self.integers, "on integers"),
            (self.rounded, "up to rounding"),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{n} {how}"));
        write!(f, " ({})", parts.collect::<Vec<_>>().join(", "))?;
        if let Some(chance) = self.chance() {
            write!(f, ", each wrong by chance {chance:.0e}")?;
        }
        if self.empty > 0 {
            write!(f, "; {} more without elements", self.empty)?;
        }
        if self.symbolic > 0 {
            write!(f, "; {} more with symbolic extents", self.symbolic)?;
        }
        if self.guarded > 0 {
            write!(f, "; {} more refused where extents are unknown", self.guarded)?;
        }
        if self.refused > 0 {
            write!(f, "; {} more refused by their types", self.refused)?;
            if let Some(guard) = &self.guard {
                write!(f, ", all but where {guard}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for leaf in &self.leaves {
            write!(f, "  {}: {}", leaf.name, leaf.ty)?;
            if leaf.elements.len() <= 16 {
                let list: Vec<String> = leaf.elements.iter().map(f64::to_string).collect();
                write!(f, " = [{}]", list.join(", "))?;
            }
            writeln!(f)?;
        }
        if !self.matched.is_empty() {
            writeln!(f, "  matched: {}", self.matched.join(", "))?;
        }
        for line in &self.source {
            writeln!(f, "  {line}")?;
        }
        write!(f, "  {}", self.difference)
    }
}

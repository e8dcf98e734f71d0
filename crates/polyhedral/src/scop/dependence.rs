//! Which instances depend on which, and why.

use tangram_presburger::count::PwQPolynomial;
use tangram_presburger::{Budget, Order, Relation, Tuple, Union};

use super::Scop;
use crate::Error;
use crate::flow::{Accesses, Flow};
use crate::schedule::Constraints;

/// What two accesses to one cell, in this order, are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Write, then read: the value passes.
    Flow,
    /// Read, then write: the value must not be lost too early.
    Anti,
    /// Write, then write: the last value must stay.
    Output,
    /// Read, then read: no order, but the value is at hand.
    Input,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Flow, Self::Anti, Self::Output, Self::Input];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Anti => "anti",
            Self::Output => "output",
            Self::Input => "input",
        }
    }
}

/// Which pairs of accesses count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// All pairs that touch one cell.
    Memory,
    /// Pairs without a certain write, or a kill, of the cell in between.
    Value,
}

/// Dependences of one kind.
#[derive(Debug, Clone)]
pub struct Dependence {
    /// The kind.
    pub kind: Kind,
    /// From an instance to `[later instance -> cell]`.
    pub tagged: Union,
}

impl Dependence {
    /// Returns the pairs of instances, without the cells.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn pairs(&self, budget: &Budget) -> Result<Union, Error> {
        let cells = self.tagged.range(budget)?.unwrap()?;
        Ok(self.tagged.apply_range(&cells.domain_map()?, budget)?)
    }

    /// Counts the instances at either end: how many others depend on, and how many that do.
    /// Each is a function of the parameters; nothing if there is no such instance.
    ///
    /// # Errors
    /// [`Error::Presburger`] if there are infinitely many, or the budget ends.
    pub fn ends(&self, budget: &Budget) -> Result<[Option<PwQPolynomial>; 2], Error> {
        let pairs = self.pairs(budget)?;
        let count = |ends: Union| Ok::<_, Error>(ends.card(budget)?.functions().first().cloned());
        Ok([count(pairs.domain(budget)?)?, count(pairs.range(budget)?)?])
    }
}

impl Scop {
    /// Finds the dependences of a kind, exactly.
    ///
    /// Memory-based ones are products of accesses and the order; value-based ones take a
    /// parametric lexicographic maximum for each pair of accesses.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn dependences(
        &self,
        kind: Kind,
        basis: Basis,
        budget: &Budget,
    ) -> Result<Dependence, Error> {
        let (sources, sinks) = match kind {
            Kind::Flow => (&self.may_writes, &self.reads),
            Kind::Anti => (&self.reads, &self.may_writes),
            Kind::Output => (&self.may_writes, &self.may_writes),
            Kind::Input => (&self.reads, &self.reads),
        };
        let tagged = match basis {
            Basis::Memory => self.touching(sources, sinks, budget)?,
            Basis::Value => self.nearest(kind, sinks, budget)?,
        };
        Ok(Dependence { kind, tagged })
    }

    /// Pairs of accesses to one cell in the order of the source: from an instance of `sources` to
    /// `[later instance of sinks -> cell]`.
    pub(crate) fn touching(
        &self,
        sources: &Union,
        sinks: &Union,
        budget: &Budget,
    ) -> Result<Union, Error> {
        let schedule = self.schedule.to_map(budget)?;
        let later = schedule.apply_range(&later(&schedule), budget)?;
        // From a source to [sink -> cell], where both touch the cell.
        let pairs = sources.apply_range(&sinks.range_map()?.inverse()?, budget)?;
        let instances = sinks.domain_map()?.apply_range(&schedule, budget)?.inverse()?;
        Ok(pairs.intersect_composition(&later, &instances, budget)?)
    }

    /// Sources that may be the nearest before a sink: no certain write lies in between.
    fn nearest(&self, kind: Kind, sinks: &Union, budget: &Budget) -> Result<Union, Error> {
        let mut accesses = Accesses {
            sink: sinks.clone(),
            must_source: self.must_writes.clone(),
            may_source: self.may_writes.clone(),
            kill: Union::empty(),
            schedule: self.schedule.to_map(budget)?,
        };
        match kind {
            // A kill ends a value; the cell may still not be used for two values at once.
            Kind::Flow => accesses.kill = self.kills.clone(),
            Kind::Output => {}
            Kind::Anti | Kind::Input => {
                // An instance reads before it writes: its own write hides its read.
                accesses.may_source = self.reads.subtract(&self.must_writes, budget)?;
                accesses.kill = std::mem::take(&mut accesses.must_source);
            }
        }
        accesses.may_dependence(budget)
    }

    /// Finds the writes that reads take their values from, as [`Accesses::flow`] does.
    ///
    /// # Errors
    /// As [`Self::dependences`].
    pub fn dataflow(&self, budget: &Budget) -> Result<Flow, Error> {
        let accesses = Accesses {
            sink: self.reads.clone(),
            must_source: self.must_writes.clone(),
            may_source: self.may_writes.clone(),
            kill: self.kills.clone(),
            schedule: self.schedule.to_map(budget)?,
        };
        accesses.flow(budget)
    }

    /// Returns the reads whose value comes, perhaps, from before the part.
    ///
    /// # Errors
    /// As [`Self::dependences`].
    pub fn live_in(&self, budget: &Budget) -> Result<Union, Error> {
        Ok(self.dataflow(budget)?.may_no_source)
    }

    /// Returns the writes whose value is, perhaps, still there after the part.
    ///
    /// Values of local arrays are not.
    ///
    /// # Errors
    /// As [`Self::dependences`].
    pub fn live_out(&self, budget: &Budget) -> Result<Union, Error> {
        let ends = self.must_writes.union(&self.kills)?;
        let hidden = self.touching(&self.may_writes, &ends, budget)?;
        // From [write -> [later -> cell]] to [write -> cell].
        let cells = hidden.range(budget)?.unwrap()?.range_map()?;
        let alive = self.may_writes.subtract(&hidden.apply_range(&cells, budget)?, budget)?;
        let names =
            self.arrays.iter().filter(|array| array.local && !array.kept).map(|array| &array.name);
        let names: Vec<&String> = names.collect();
        let outside = alive
            .relations()
            .filter(|relation| !names.contains(&&relation.space().output.name))
            .cloned();
        Ok(Union::collect(outside)?)
    }

    /// Returns what a schedule of the part must keep to and should bring together.
    ///
    /// Kept and brought together are all value-based dependences but input ones; storage
    /// stays as it is. Statements that only end values need no place in a schedule.
    ///
    /// # Errors
    /// As [`Self::dependences`].
    pub fn constraints(&self, budget: &Budget) -> Result<Constraints, Error> {
        let mut validity = Union::empty();
        for kind in [Kind::Flow, Kind::Anti, Kind::Output] {
            let pairs = self.dependences(kind, Basis::Value, budget)?.pairs(budget)?;
            validity = validity.union(&pairs)?;
        }
        Ok(Constraints {
            domain: Union::collect(self.effective().map(|statement| statement.domain.clone()))?,
            context: self.context.clone(),
            coincidence: validity.clone(),
            proximity: validity.clone(),
            validity,
            ..Constraints::default()
        })
    }
}

/// Relates each point of a schedule's tuple to all later ones.
fn later(schedule: &Union) -> Union {
    let mut outputs = schedule.relations().map(|piece| &piece.space().output);
    let first = outputs.next().cloned().unwrap_or_else(|| Tuple::anonymous(0));
    Relation::lexicographic(Vec::new(), first, Order::Less).into()
}

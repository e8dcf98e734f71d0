//! Static control parts: statements, what they access, and when.

mod dependence;
mod expand;

pub use dependence::{Basis, Dependence, Kind};
pub use expand::Expanded;

use tangram_presburger::{Budget, Relation, Union};

use crate::contraction::Update;
use crate::{Error, Fault, NodeKind, ScheduleTree};

/// A statement: a name, and its instances, the points of a set of that name.
///
/// What it does is its front end's to know, which finds the body by the name or by the position
/// among [`Scop::statements`]: a text of C, or an operation.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The name of its instances' tuple.
    pub name: String,
    /// The instances, over the loops around the statement.
    pub domain: Relation,
    /// The update of one element that it is, if its front end reads it as one.
    pub update: Option<Update>,
}

/// An array or, without extents, a scalar.
///
/// Its declaration, with the type of its elements and extents that are no numbers, is its front
/// end's to know, as the bodies of statements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// The name of its cells' tuple.
    pub name: String,
    /// The number of cells in each dimension, where it is a number.
    pub extents: Vec<Option<i128>>,
    /// Whether it is declared inside, so that nothing outside sees it.
    pub local: bool,
    /// Whether what follows the part may use it, although it is declared inside.
    pub kept: bool,
    /// Whether it is one piece of memory for all threads, although it is declared inside: it stands for
    /// a variable of the source, with a cell for each of its values.
    pub shared: bool,
    /// Whether its elements are known to be integers, which can be added up in any order.
    pub integer: bool,
}

/// A program part whose control and accesses are affine.
#[derive(Debug, Clone)]
pub struct Scop {
    /// What is known about the parameters.
    pub context: Option<Relation>,
    /// In source order.
    pub statements: Vec<Statement>,
    /// In order of first use.
    pub arrays: Vec<Array>,
    /// Instances to the cells that they read.
    pub reads: Union,
    /// Instances to the cells that they certainly write.
    pub must_writes: Union,
    /// Instances to the cells that they may write; holds the certain ones.
    pub may_writes: Union,
    /// Instances to the cells whose value ends with them.
    pub kills: Union,
    /// The order of the source.
    pub schedule: ScheduleTree,
}

impl Scop {
    /// Returns the instances of all statements.
    ///
    /// # Errors
    /// [`Error::Presburger`] for statements of one name in different spaces.
    pub fn domain(&self) -> Result<Union, Error> {
        Ok(Union::collect(self.statements.iter().map(|statement| statement.domain.clone()))?)
    }

    /// Lists the statements that do more than to end values, as a declaration does.
    pub fn effective(&self) -> impl Iterator<Item = &Statement> {
        let of = |statement: &Statement, accesses: &Union| {
            let input = |map: &Relation| map.space().input.as_ref().map(|t| t.name.clone());
            accesses.relations().any(|map| input(map).as_ref() == Some(&statement.name))
        };
        self.statements.iter().filter(move |statement| {
            !of(statement, &self.kills)
                || of(statement, &self.reads)
                || of(statement, &self.may_writes)
        })
    }

    /// Checks that all parts fit together: accesses start from instances, the schedule runs
    /// exactly these, no name occurs twice.
    ///
    /// # Errors
    /// [`Error::Presburger`] with the two spaces or sets that differ, [`Error::IllFormed`]
    /// for the schedule.
    pub fn check(&self, budget: &Budget) -> Result<(), Error> {
        self.schedule.check(budget)?;
        let domain = self.domain()?;
        let node = self.schedule.root();
        let NodeKind::Domain(scheduled) = self.schedule.kind(node) else {
            return Err(Error::IllFormed { node, fault: Fault::Root });
        };
        let mut sides = vec![(scheduled.clone(), domain.clone())];
        if !scheduled.is_equal(&domain, budget)? {
            sides.push((domain.clone(), scheduled.clone()));
        }
        for accesses in [&self.reads, &self.may_writes, &self.must_writes, &self.kills] {
            sides.push((accesses.domain(budget)?, domain.clone()));
        }
        sides.push((self.must_writes.clone(), self.may_writes.clone()));
        for (part, whole) in sides {
            if !part.is_subset(&whole, budget)? {
                let (expected, found) = (whole.to_string(), part.to_string());
                return Err(tangram_presburger::Error::Space { expected, found }.into());
            }
        }
        Ok(())
    }
}

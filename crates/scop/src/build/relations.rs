//! Sets and relations over the instances of statements.

use tangram_presburger::formula::{Comparison, Expr, Formula};
use tangram_presburger::{Budget, Error, Relation, Space, Tuple};

use super::Raw;
use crate::access::Access;

/// Makes sets and relations with the parameters of a part.
pub(super) struct Relations<'a> {
    pub params: Vec<String>,
    pub budget: &'a Budget,
}

impl Relations<'_> {
    /// Returns the instances of a statement for which conditions hold.
    pub fn instances(
        &self,
        name: &str,
        loops: &[String],
        conditions: impl IntoIterator<Item = Formula>,
    ) -> Result<Relation, Error> {
        let space = Space::set(self.params.clone(), Tuple::new(name, loops));
        Relation::such_that(space, &Formula::all(conditions), self.budget)
    }

    /// Returns the parameters for which all conditions hold.
    pub fn parameters(&self, conditions: &[Formula]) -> Result<Relation, Error> {
        let space = Space::set(self.params.clone(), Tuple::params());
        Relation::such_that(space, &Formula::all(conditions.iter().cloned()), self.budget)
    }

    /// Relates the instances of a statement to the cells of an access.
    pub fn cells(&self, name: &str, loops: &[String], access: &Access) -> Result<Relation, Error> {
        let values = access.subscripts.iter().enumerate();
        let equal = values.filter_map(|(at, value)| {
            Some(Expr::output(at).compared(Comparison::Equal, value.clone()?))
        });
        let such = Formula::all(equal.chain([access.condition.clone()]));
        let taken: Vec<&String> = self.params.iter().chain(loops).collect();
        let dims = output_names(&taken, access.subscripts.len());
        let cells = Tuple::new(access.array(), dims);
        let space = Space::map(self.params.clone(), Tuple::new(name, loops), cells);
        Relation::such_that(space, &such, self.budget)
    }
}

/// Returns the name of the instances of a statement by its position in the part.
pub(super) fn statement_name(index: usize) -> String {
    format!("S{index}")
}

/// Relates the instances of a statement, whatever the parameters, to the value of one of its loops;
/// `forwards`: else to its negative.
pub(super) fn loop_value(
    index: usize,
    raw: &Raw,
    depth: usize,
    forwards: bool,
) -> Result<Relation, Error> {
    let from = Tuple::new(statement_name(index), &raw.loops);
    let value = Expr::name(&raw.loops[depth]).times(if forwards { 1 } else { -1 });
    let equal = Expr::output(0).compared(Comparison::Equal, value);
    let to = Tuple::new("", output_names(&raw.loops.iter().collect::<Vec<_>>(), 1));
    let space = Space::map(Vec::new(), from, to);
    Relation::such_that(space, &equal, &Budget::unlimited())
}

/// Returns all points of a statement's tuple.
pub(super) fn all_instances(index: usize, raw: &Raw) -> Relation {
    let tuple = Tuple::new(statement_name(index), &raw.loops);
    Relation::universe(Space::set(Vec::new(), tuple))
}

/// Finds names for outputs that none of the columns before them have.
fn output_names(taken: &[&String], count: usize) -> Vec<String> {
    let name = |at: usize| {
        let mut name = format!("o{}", taken.len() + at);
        while taken.iter().any(|other| **other == name) {
            name.push('_');
        }
        name
    };
    (0..count).map(name).collect()
}

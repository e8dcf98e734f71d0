//! Mapping the iterations of bands to units that run side by side: blocks and threads.

use crate::{Conjunction, Division};
use tangram_presburger::{Relation, Space, Tuple, Union, is_name};

use super::{Editor, Piece, refuse};
use crate::units;
use crate::{Error, Node, NodeKind, ScheduleTree, Violation, legality};

impl Editor<'_> {
    /// Maps the first members of a band to units: the iteration `v` of member `i` runs on
    /// unit `v mod sizes[i]`, which is the parameter `names[i]` below.
    ///
    /// Above the band come a context that bounds the parameters, and a filter. The code of
    /// the tree is that of one unit; all units together run every instance once. As units do
    /// not wait for each other, no pair that a parallel loop keeps together may lead from one
    /// to another, unless they meet at a barrier in between.
    ///
    /// Other bands beside this one may have been mapped to units of the same name and number:
    /// the same units run both. Pairs of instances of one iteration of the loops around the
    /// band are looked at here; those with what stands beside it, and of other iterations, by
    /// [`Self::finish`], as more bands may be mapped and barriers may come.
    ///
    /// Returns the context.
    ///
    /// # Errors
    /// [`Error::Operand`] for names that are taken, that cannot be read, or sizes that do not fit,
    /// [`Error::Illegal`] if a dependence crosses units.
    ///
    /// # Source
    /// Verdoolaege et al., "Polyhedral parallel code generation for CUDA" (2013).
    pub fn map_to_units(
        &mut self,
        node: Node,
        names: &[&str],
        sizes: &[i128],
    ) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        let fits = !names.is_empty() && names.len() <= band.members.len();
        if !fits || sizes.len() != names.len() || sizes.iter().any(|size| *size <= 0) {
            return refuse(node, "a name and a positive size for each of the first members");
        }
        let distinct = (1..names.len()).all(|at| !names[..at].contains(&names[at]));
        if !distinct || names.iter().any(|name| !is_name(name)) {
            return refuse(node, "a different name of letters and digits for each member");
        }
        for (name, size) in names.iter().zip(sizes) {
            self.check_free(node, name, *size)?;
        }
        let active = self.tree.active(node, self.budget)?;
        let inside = self.of_one_iteration(node, &active)?;
        let mut filter = active.universe()?;
        let mut bounds = Conjunction::default();
        for (index, (member, (name, size))) in
            band.members.iter().zip(names.iter().zip(sizes)).enumerate()
        {
            let schedule = member.schedule.intersect_domain(&active, self.budget)?;
            if self.crosses(&inside, &schedule, *size)? {
                let violation = Violation::Coincident { member: index };
                return Err(Error::Illegal { node, violation });
            }
            let own = member.schedule.intersect_range(&on_unit(name, *size)?, self.budget)?;
            filter = filter.intersect(&own.domain(self.budget)?, self.budget)?;
            let mut low = vec![0; 1 + names.len()];
            low[1 + index] = 1;
            let mut high: Vec<i128> = low.iter().map(|value| -value).collect();
            high[0] = size - 1;
            bounds.inequalities.extend([low, high]);
        }
        let params: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let space = Space::set(params, Tuple::anonymous(0));
        let context = Relation::from_conjunctions(space, &[bounds])?;
        let filter = Piece::New(NodeKind::Filter(filter), vec![Piece::Old(node)]);
        self.replace(node, vec![Piece::New(NodeKind::Context(context), vec![filter])])
    }

    /// Ends the work on a tree whose bands may have been mapped to units.
    ///
    /// # Errors
    /// [`Error::Illegal`] if a statement is mapped to no unit while others are, or a pair leads
    /// from one unit to another and the units do not meet in between.
    pub fn finish(self) -> Result<ScheduleTree, Error> {
        self.check_units()?;
        Ok(self.tree)
    }

    /// Checks what [`Self::finish`] does.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn check_units(&self) -> Result<(), Error> {
        units::check(&self.tree, &self.coincidence, self.budget)
    }

    /// Refuses a name that is none of units beside the node.
    fn check_free(&self, node: Node, name: &str, size: i128) -> Result<(), Error> {
        let known = |params: &[String]| params.iter().any(|param| param == name);
        let tree = &self.tree;
        for other in tree.nodes() {
            match tree.kind(other) {
                NodeKind::Domain(set) | NodeKind::Extension(set) if known(&set.parameters()) => {
                    return refuse(node, "names that no parameter has");
                }
                NodeKind::Context(set) if known(&set.space().params) => {
                    if units::size_of(tree, other, name) != Some(size) {
                        return refuse(node, "as many units as elsewhere under the name");
                    }
                    if tree.is_above(other, node) || tree.is_above(node, other) {
                        return refuse(node, "names of units that nothing above or below has");
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps the pairs that run in one iteration of the loops around a node, both below it.
    fn of_one_iteration(&self, node: Node, active: &Union) -> Result<Union, Error> {
        let pairs = self.coincidence.intersect_domain(active, self.budget)?;
        let pairs = pairs.intersect_range(active, self.budget)?;
        let outer = self.tree.prefix(node, self.budget)?;
        Ok(pairs.intersect_composition(&outer, &outer.inverse()?, self.budget)?)
    }

    /// Returns whether a dependence leads from one unit to another.
    fn crosses(&self, pairs: &Union, schedule: &Union, size: i128) -> Result<bool, Error> {
        let units = Relation::from_conjunctions(
            Space::map(Vec::new(), Tuple::anonymous(1), Tuple::anonymous(1)),
            &[Conjunction {
                divisions: vec![Division { numerator: vec![0, 1, 0], denominator: size }],
                equalities: vec![vec![0, 1, -1, -size]],
                inequalities: Vec::new(),
            }],
        )?;
        let unit = schedule.apply_range(&units.into(), self.budget)?;
        let apart = legality::taken_apart(pairs, &unit, self.budget)?;
        Ok(!apart.is_empty(self.budget)?)
    }
}

/// Returns the values that unit `name` of `size` takes.
fn on_unit(name: &str, size: i128) -> Result<Union, Error> {
    let space = Space::set(vec![name.to_owned()], Tuple::anonymous(1));
    let part = Conjunction {
        divisions: vec![Division { numerator: vec![0, 0, 1], denominator: size }],
        equalities: vec![vec![0, -1, 1, -size]],
        inequalities: Vec::new(),
    };
    Ok(Relation::from_conjunctions(space, &[part])?.into())
}

//! Mapping the iterations of bands to units that run side by side: blocks and threads.

use crate::{Conjunction, Division};
use tangram_presburger::{Relation, Space, Tuple, Union};

use super::{Editor, Piece, refuse};
use crate::{Error, Node, NodeKind, Violation, legality};

impl Editor<'_> {
    /// Maps the first members of a band to units: the iteration `v` of member `i` runs on
    /// unit `v mod sizes[i]`, which is the parameter `names[i]` below.
    ///
    /// Above the band come a context that bounds the parameters, and a filter. The code of
    /// the tree is that of one unit; all units together run every instance once. As units do
    /// not wait for each other, no pair that a parallel loop keeps together may lead from one
    /// to another.
    ///
    /// Returns the context.
    ///
    /// # Errors
    /// [`Error::Operand`] for names that are taken or sizes that do not fit,
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
        if !distinct || names.iter().any(|name| self.is_taken(name)) {
            return refuse(node, "names that no parameter has");
        }
        let active = self.tree.active(node, self.budget)?;
        let mut filter = active.universe()?;
        let mut bounds = Conjunction::default();
        for (index, (member, (name, size))) in
            band.members.iter().zip(names.iter().zip(sizes)).enumerate()
        {
            let schedule = member.schedule.intersect_domain(&active, self.budget)?;
            if self.crosses(&schedule, *size)? {
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

    fn is_taken(&self, name: &str) -> bool {
        self.tree.nodes().any(|node| match self.tree.kind(node) {
            NodeKind::Domain(set) | NodeKind::Extension(set) => {
                set.parameters().iter().any(|param| param == name)
            }
            NodeKind::Context(set) => set.space().params.iter().any(|param| param == name),
            _ => false,
        })
    }

    /// Returns whether a dependence leads from one unit to another.
    fn crosses(&self, schedule: &Union, size: i128) -> Result<bool, Error> {
        let units = Relation::from_conjunctions(
            Space::map(Vec::new(), Tuple::anonymous(1), Tuple::anonymous(1)),
            &[Conjunction {
                divisions: vec![Division { numerator: vec![0, 1, 0], denominator: size }],
                equalities: vec![vec![0, 1, -1, -size]],
                inequalities: Vec::new(),
            }],
        )?;
        let unit = schedule.apply_range(&units.into(), self.budget)?;
        let apart = legality::taken_apart(&self.coincidence, &unit, self.budget)?;
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

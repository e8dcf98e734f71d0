//! Unroll and jam of a loop whose iterations run at a distance from each other.

use tangram_presburger::{Budget, Conjunction, Integer, Relation, Rows, Space, Tuple, Union};

use super::{Editor, refuse};
use crate::{Band, Error, Member, Node, NodeKind};

impl Editor<'_> {
    /// Runs `rows` iterations of a loop side by side in the loop below it, each `skew` iterations of
    /// that behind the one before:
    ///
    /// ```text
    /// for i: for j: S(i, j)
    ///
    /// for i by 4: for w: { S(i, w); S(i + 1, w - skew); S(i + 2, w - 2 * skew); .. }
    /// ```
    ///
    /// `node`: a band of one member over one of one member. Groups in which some iterations
    /// are missing run them in a loop. Returns the band of groups and the skewed loop; below it is that of
    /// the iterations side by side.
    ///
    /// # Errors
    /// [`Error::Operand`] for other bands or numbers, or where iterations side by side would depend on
    /// each other, [`Error::Illegal`] if a dependence would run backwards.
    pub fn jam_skewed(&mut self, node: Node, rows: i128, skew: i128) -> Result<Node, Error> {
        let child = self.tree.children(node).next();
        let inner = child.and_then(|child| Some((child, self.band(child).ok()?)));
        let (outer, Some((child, inner))) = (self.band(node)?, inner) else {
            return refuse(node, "a band over a band");
        };
        let ([outer], [inner], 2..=64) = (&outer.members[..], &inner.members[..], rows) else {
            return refuse(node, "bands of one member, and 2 to 64 iterations");
        };
        let both = outer.schedule.flat_range_product(&inner.schedule, self.budget)?;
        let around = self.values_around(node)?;
        let first = self.first_row(&around, &both)?;
        let member = |schedule| Member { schedule, coincident: false };
        let [group, skewed, row] = steps(rows, skew, first)?;
        let of = |step: Relation| both.apply_range(&step.into(), self.budget).map(member);
        let (group, skewed, row) = (of(group)?, of(skewed)?, of(row)?);
        let Some(whole) = self.whole_groups(&around, [&row, &skewed], rows)? else {
            return refuse(node, "a band with instances");
        };
        let depth = around.first().map_or(0, |(_, _, count)| *count);
        let any = Relation::universe(Space::set(Vec::new(), Tuple::anonymous(1)));
        let inside = whole.product(&any, self.budget)?.cast(None, isolated(depth + 2, 1))?;
        let groups = whole.cast(None, isolated(depth, 2))?;
        let make = |members, options| Band { members, permutable: false, options };
        let bands = vec![
            make(vec![group, skewed], groups.into()),
            make(vec![row], Union::from(inside).union(&unrolled()?)?),
        ];
        let below = self.children(child);
        let before = self.tree.clone();
        let top = self.replace_by_bands(node, bands, below)?;
        let points = self.tree.children(top).next().map(|points| self.tree.kind(points));
        match points {
            Some(NodeKind::Band(points)) if points.members[0].coincident => Ok(top),
            _ => {
                self.tree = before;
                refuse(node, "iterations side by side that do not depend on each other")
            }
        }
    }

    /// For each statement below a node, its instances to the values of all loops around the node, and
    /// how many these are.
    fn values_around(&self, node: Node) -> Result<Vec<(Relation, Option<Union>, usize)>, Error> {
        let mut above: Vec<Node> =
            std::iter::successors(self.tree.parent(node), |node| self.tree.parent(*node)).collect();
        above.reverse();
        let mut all = Vec::new();
        for statement in self.tree.active(node, self.budget)?.relations() {
            if statement.is_empty(self.budget)? {
                continue;
            }
            let instances = Union::from(statement.clone()).identity(self.budget)?;
            let (mut values, mut count) = (None::<Union>, 0);
            for node in &above {
                let NodeKind::Band(band) = self.tree.kind(*node) else { continue };
                for member in &band.members {
                    let own = instances.apply_range(&member.schedule, self.budget)?;
                    values = Some(match values {
                        Some(values) => values.flat_range_product(&own, self.budget)?,
                        None => own,
                    });
                    count += 1;
                }
            }
            all.push((statement.clone(), values, count));
        }
        Ok(all)
    }

    /// The first iteration of a loop, if that is one number for all statements; else 0.
    fn first_row(
        &self,
        around: &[(Relation, Option<Union>, usize)],
        loops: &Union,
    ) -> Result<i128, Error> {
        let mut least = None;
        for (statement, ..) in around {
            let own = loops.intersect_domain(&statement.clone().into(), self.budget)?;
            for values in own.range(self.budget)?.relations() {
                let ends = values.bounding_box(self.budget)?;
                let Some([(low, _), ..]) = ends.as_deref() else { continue };
                let Some(low) = low.as_ref().and_then(Integer::to_i128) else {
                    return Ok(0);
                };
                least = Some(least.map_or(low, |least: i128| least.min(low)));
            }
        }
        Ok(least.unwrap_or(0))
    }

    /// The groups of `rows` iterations, with iterations of the skewed loop, in which every statement has
    /// all instances: over the loops around, the group and the skewed loop.
    fn whole_groups(
        &self,
        around: &[(Relation, Option<Union>, usize)],
        [row, skewed]: [&Member; 2],
        rows: i128,
    ) -> Result<Option<Relation>, Error> {
        let budget: &Budget = self.budget;
        let mut whole: Option<Relation> = None;
        let own = row.schedule.flat_range_product(&skewed.schedule, budget)?;
        for (statement, values, depth) in around {
            let all = match values {
                Some(values) => values.flat_range_product(&own, budget)?,
                None => own.clone(),
            };
            let reached = all.intersect_domain(&statement.clone().into(), budget)?;
            let reached = reached.range(budget)?.coalesce(budget)?;
            let Some(reached) = reached.relations().next() else { continue };
            let groups = groups(*depth, rows)?;
            let some = groups.intersect_range(reached, budget)?.domain(budget)?;
            let missing = groups.range(budget)?.subtract(reached, budget)?;
            let partial = groups.intersect_range(&missing, budget)?.domain(budget)?;
            let own = some.subtract(&partial, budget)?;
            whole = Some(match whole {
                Some(whole) => whole.intersect(&own, budget)?,
                None => own,
            });
        }
        Ok(match whole {
            Some(whole) => Some(whole.coalesce(budget)?.remove_redundancies(budget)?),
            None => None,
        })
    }
}

/// From two loops to the group, the skewed loop and the place in the group.
fn steps(rows: i128, skew: i128, first: i128) -> Result<[Relation; 3], Error> {
    let make = |write: &dyn Fn(&mut Rows)| -> Result<Relation, Error> {
        let mut rows = Rows::new(0, 2, 1);
        write(&mut rows);
        let space = Space::map(Vec::new(), Tuple::anonymous(2), Tuple::anonymous(1));
        Ok(rows.relation(space)?)
    };
    let group = make(&|all| {
        let mut numerator = vec![0; all.columns()];
        (numerator[0], numerator[all.input(0)]) = (-first, 1);
        let column = all.floor(numerator, rows);
        all.output_is(0, &[], &[(column, 1)]);
    })?;
    let skewed = make(&|all| {
        let (row, column) = (all.input(0), all.input(1));
        all.output_is(0, &[-skew * first], &[(row, skew), (column, 1)]);
    })?;
    let row = make(&|all| {
        let row = all.input(0);
        all.output_is(0, &[-first], &[(row, 1)]);
    })?;
    Ok([group, skewed, row])
}

/// Relates outer loops, a group and a skewed loop to outer loops, a row of the group and that loop.
fn groups(depth: usize, rows: i128) -> Result<Relation, Error> {
    let count = depth + 2;
    let mut part = Conjunction::default();
    for at in (0..count).filter(|at| *at != depth) {
        let mut row = vec![0; 1 + 2 * count];
        (row[1 + at], row[1 + count + at]) = (1, -1);
        part.equalities.push(row);
    }
    let mut row = vec![0; 1 + 2 * count];
    (row[1 + depth], row[1 + count + depth]) = (-rows, 1);
    let mut above: Vec<i128> = row.iter().map(|value| -value).collect();
    above[0] = rows - 1;
    part.inequalities.extend([row, above]);
    let space = Space::map(Vec::new(), Tuple::anonymous(count), Tuple::anonymous(count));
    Ok(Relation::from_conjunctions(space, &[part])?)
}

/// The tuple of an option that isolates points of a band below `outer` loops.
fn isolated(outer: usize, own: usize) -> Tuple {
    let tuple = Tuple::wrapping(Tuple::anonymous(outer), Tuple::anonymous(own));
    Tuple { name: "isolate".to_owned(), ..tuple }
}

/// The option that what a band isolates is no loop.
fn unrolled() -> Result<Union, Error> {
    let tuple = Tuple::wrapping(Tuple::new("isolate", [""; 0]), Tuple::new("unroll", ["d"]));
    Ok(Relation::point(Space::set(Vec::new(), tuple), &[0])?.into())
}

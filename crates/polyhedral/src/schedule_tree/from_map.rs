//! From schedule maps to trees, a dimension at a time.
//!
//! A dimension in which every statement has one constant becomes a sequence, if the
//! constants differ, and nothing, if they do not. Any other dimension becomes a member of a
//! band. `{ A[i] -> [0, i]; B[i] -> [1, i] }` becomes a sequence of two filters over bands.

use std::collections::BTreeMap;

use crate::Conjunction;
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use crate::{Band, Error, Member, Node, NodeKind, ScheduleTree};

impl ScheduleTree {
    /// Makes a tree that runs instances in the order of a schedule map.
    ///
    /// `map` relates instances to points of one length, each to one. Instances at one point
    /// end at one leaf: the tree leaves their order open as well. Nothing is lost; bands
    /// promise nothing, as a map says nothing of dependences. A few projections for each
    /// statement and dimension.
    ///
    /// # Errors
    /// [`Error::ManyValued`] for an instance with several points:
    /// [`Self::from_map_with_copies`] makes instances of its own for them.
    /// [`Error::Presburger`] for points of different lengths, or if the budget ends.
    pub fn from_map(map: &Union, budget: &Budget) -> Result<Self, Error> {
        let statements = statements(map)?;
        for relation in &statements {
            if !relation.is_single_valued(budget)? {
                return Err(Error::ManyValued { statement: statement(relation) });
            }
        }
        let mut tree = Self::new(NodeKind::Domain(map.domain(budget)?));
        let root = tree.root();
        peel(&mut tree, root, &statements, budget)?;
        tree.close();
        Ok(tree)
    }

    /// Makes a tree as [`Self::from_map`]; an instance with several points is expanded.
    ///
    /// Below the expansion, `S_at[i, t0, t1]` stands for `S[i]` at the point `[t0, t1]`, for
    /// every statement with such an instance. [`Self::to_map_of_roots`] gives the map back.
    ///
    /// # Errors
    /// As [`Self::from_map`], but for instances with several points.
    pub fn from_map_with_copies(map: &Union, budget: &Budget) -> Result<Self, Error> {
        let mut statements = statements(map)?;
        let names: Vec<String> = statements.iter().map(statement).collect();
        let (mut expansion, mut contraction) = (Union::empty(), Union::empty());
        for relation in &mut statements {
            let (there, back) = if relation.is_single_valued(budget)? {
                let same = Union::from(relation.domain(budget)?).universe()?.identity(budget)?;
                (same.clone(), same)
            } else {
                let (copies, origin) = copied(relation, &names)?;
                *relation = copies;
                (Union::from(origin.inverse()?), Union::from(origin))
            };
            expansion = expansion.union(&there)?;
            contraction = contraction.union(&back)?;
        }
        let mut tree = Self::new(NodeKind::Domain(map.domain(budget)?));
        let root = tree.root();
        let node = tree.add(root, NodeKind::Expansion { contraction, expansion });
        peel(&mut tree, node, &statements, budget)?;
        tree.close();
        Ok(tree)
    }
}

/// Lists the relations of a map; all must lead to points of one length.
fn statements(map: &Union) -> Result<Vec<Relation>, Error> {
    let mut length = None;
    for relation in map.relations() {
        let (space, output) = (relation.space(), &relation.space().output);
        let plain = !space.is_set() && output.name.is_empty() && output.nested.is_none();
        let expected = *length.get_or_insert(output.dims.len());
        if !plain || expected != output.dims.len() {
            let expected = format!("a relation to points of {expected} dimensions");
            let found = space.to_string();
            return Err(tangram_presburger::Error::Space { expected, found }.into());
        }
    }
    Ok(map.relations().cloned().collect())
}

/// Returns the statement that a relation schedules.
pub(crate) fn statement(relation: &Relation) -> String {
    relation.space().input.as_ref().map_or(String::new(), |tuple| tuple.name.clone())
}

/// Returns the schedule of a relation's pairs, as instances, and the instance of each pair.
fn copied(relation: &Relation, names: &[String]) -> Result<(Relation, Relation), Error> {
    let space = relation.space();
    let input = space.input.clone().unwrap_or_default();
    let mut name = format!("{}_at", input.name);
    while names.contains(&name) {
        name.push('_');
    }
    let times: Vec<String> = (0..space.output.dims.len()).map(|at| format!("t{at}")).collect();
    let (params, inputs, outputs) = (space.params.len(), input.dims.len(), times.len());
    let copy = Tuple::new(name, input.dims.iter().cloned().chain(times));
    let pairs = |output: Tuple, first: usize, count: usize| -> Result<Relation, Error> {
        let mut parts = relation.narrow_conjunctions()?;
        for part in &mut parts {
            widen(part, 1 + params + inputs + outputs, count);
            for at in 0..count {
                let mut row = vec![0; 1 + params + inputs + outputs + count];
                (row[1 + params + first + at], row[1 + params + inputs + outputs + at]) = (1, -1);
                row.resize(row.len() + part.divisions.len(), 0);
                part.equalities.push(row);
            }
        }
        let space = Space::map(space.params.clone(), copy.clone(), output);
        Ok(Relation::from_conjunctions(space, &parts)?)
    };
    let schedule = pairs(Tuple::anonymous(outputs), inputs, outputs)?;
    Ok((schedule, pairs(input, 0, inputs)?))
}

/// Makes room for `count` columns of zeros in front of column `at`.
pub(crate) fn widen(part: &mut Conjunction, at: usize, count: usize) {
    let numerators = part.divisions.iter_mut().map(|division| &mut division.numerator);
    for row in part.equalities.iter_mut().chain(&mut part.inequalities).chain(numerators) {
        row.splice(at..at, std::iter::repeat_n(0, count));
    }
}

/// Relates points of `length` dimensions to one of these.
pub(crate) fn choice(dim: usize, length: usize) -> Result<Relation, Error> {
    let mut row = vec![0; 2 + length];
    (row[1 + dim], row[1 + length]) = (1, -1);
    let part = Conjunction { equalities: vec![row], ..Conjunction::default() };
    let space = Space::map(Vec::new(), Tuple::anonymous(length), Tuple::anonymous(1));
    Ok(Relation::from_conjunctions(space, &[part])?)
}

/// Adds the nodes for all dimensions below `root`.
fn peel(
    tree: &mut ScheduleTree,
    root: Node,
    statements: &[Relation],
    budget: &Budget,
) -> Result<(), Error> {
    let length = statements.first().map_or(0, |relation| relation.space().output.dims.len());
    let all = Dimensions { statements, length, budget };
    let mut open = vec![(root, (0..statements.len()).collect::<Vec<_>>(), 0)];
    while let Some((node, group, mut dim)) = open.pop() {
        let (mut at, mut members) = (node, Vec::new());
        while dim < length {
            let Some(places) = all.constants(&group, dim)? else {
                members.push(all.member(&group, dim)?);
                dim += 1;
                continue;
            };
            dim += 1;
            if places.len() > 1 {
                at = band(tree, at, std::mem::take(&mut members));
                let list = tree.add(at, NodeKind::Sequence);
                for (_, group) in places {
                    let filter = all.filter(&group)?;
                    open.push((tree.add(list, NodeKind::Filter(filter)), group, dim));
                }
                break;
            }
        }
        band(tree, at, members);
    }
    Ok(())
}

/// Adds a band, if there are members.
fn band(tree: &mut ScheduleTree, at: Node, members: Vec<Member>) -> Node {
    if members.is_empty() {
        return at;
    }
    tree.add(at, NodeKind::Band(Band { members, permutable: false, options: Union::empty() }))
}

struct Dimensions<'a> {
    statements: &'a [Relation],
    length: usize,
    budget: &'a Budget,
}

impl Dimensions<'_> {
    /// Groups statements by their constant in a dimension; nothing if one has none.
    fn constants(
        &self,
        group: &[usize],
        dim: usize,
    ) -> Result<Option<BTreeMap<i128, Vec<usize>>>, Error> {
        let mut places: BTreeMap<i128, Vec<usize>> = BTreeMap::new();
        for at in group {
            let Some(value) = self.constant(&self.statements[*at], dim)? else { return Ok(None) };
            places.entry(value).or_default().push(*at);
        }
        Ok(Some(places))
    }

    fn constant(&self, relation: &Relation, dim: usize) -> Result<Option<i128>, Error> {
        let range = relation.range(self.budget)?;
        let others = range.project_out(dim + 1..self.length, self.budget)?;
        let values = others.project_out(0..dim, self.budget)?;
        let Some(value) = values.sample(self.budget)?.and_then(|mut point| point.pop()) else {
            // A statement without instances is wherever it disturbs nobody.
            return Ok(Some(0));
        };
        let point = Relation::point(
            Space::set(Vec::new(), Tuple::anonymous(1)),
            std::slice::from_ref(&value),
        )?;
        let all = point.align_params(&values.space().params)?;
        Ok(values.is_subset(&all, self.budget)?.then_some(value).and_then(|v| v.to_i128()))
    }

    fn member(&self, group: &[usize], dim: usize) -> Result<Member, Error> {
        let choice = Union::from(choice(dim, self.length)?);
        let relations = group.iter().map(|at| self.statements[*at].clone());
        let schedule = Union::collect(relations)?.apply_range(&choice, self.budget)?;
        Ok(Member { schedule, coincident: false })
    }

    fn filter(&self, group: &[usize]) -> Result<Union, Error> {
        let mut sets = Union::empty();
        for at in group {
            let set = self.statements[*at].domain(self.budget)?;
            sets = sets.union(&Union::from(set).universe()?)?;
        }
        Ok(sets)
    }
}

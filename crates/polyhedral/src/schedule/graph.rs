//! Statements and the pairs of instances between them, as rows and generators.

use std::collections::BTreeMap;

use crate::Conjunction;
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use super::generators::Generators;
use super::linear::{dot, null_space};
use super::{Constraints, Error};

/// A schedule row of a statement: `[constant, parameters.., dimensions..]`.
pub(super) type Row = Vec<i128>;

/// A statement and its schedule so far.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub set: Relation,
    pub dims: usize,
    /// A basis of the directions in which the instances extend.
    directions: Vec<Vec<i128>>,
    pub rows: Vec<Row>,
}

/// Pairs of instances in one conjunction.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub kinds: Kinds,
    part: Conjunction,
    space: Space,
    /// Generators of the pairs, as far as the distance between both ends tells them apart.
    pub generators: Generators,
}

/// What pairs ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub validity: bool,
    pub coincidence: bool,
    pub proximity: bool,
}

/// The scheduling problem.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    pub params: Vec<String>,
    pub statements: Vec<Statement>,
    pub edges: Vec<Edge>,
}

impl Statement {
    fn new(set: Relation, params: usize, budget: &Budget) -> Result<Self, Error> {
        let dims = set.space().output.dims.len();
        let mut equations = Vec::new();
        for part in set.affine_hull(budget)?.narrow_conjunctions()? {
            equations.extend(part.equalities.iter().map(|row| row[1 + params..][..dims].to_vec()));
        }
        let directions = null_space(&equations, dims)?;
        Ok(Self { set, dims, directions, rows: Vec::new() })
    }

    /// Returns the directions that `rows`, beside those of the statement, leave in one place.
    ///
    /// Empty if the schedule already tells all instances apart.
    pub fn open_directions(&self, rows: &[&Row], params: usize) -> Result<Vec<Vec<i128>>, Error> {
        let along = |row: &Row| -> Result<Vec<i128>, Error> {
            let own = &row[1 + params..];
            Ok(self.directions.iter().map(|d| dot(own, d)).collect::<Result<_, _>>()?)
        };
        let all = self.rows.iter().chain(rows.iter().copied());
        let moved: Vec<Vec<i128>> = all.map(along).collect::<Result<_, _>>()?;
        let mut open = Vec::new();
        for vector in null_space(&moved, self.directions.len())? {
            let sums = (0..self.dims).map(|dim| {
                let column: Vec<i128> = self.directions.iter().map(|d| d[dim]).collect();
                dot(&vector, &column)
            });
            open.push(sums.collect::<Result<_, _>>()?);
        }
        Ok(open)
    }
}

impl Edge {
    /// The equations of the pairs, over `[1, parameters.., source.., sink.., divisions..]`.
    pub fn equalities(&self) -> &[Vec<i128>] {
        &self.part.equalities
    }
}

impl Graph {
    /// Reads off statements and pairs. The cost is that of the generators of each conjunction.
    pub fn new(constraints: &Constraints, budget: &Budget) -> Result<Self, Error> {
        let bounded = |union: &Union| match &constraints.context {
            Some(context) => union.intersect_params(context, budget),
            None => Ok(union.clone()),
        };
        let domain = bounded(&constraints.domain)?;
        let kinds = [
            (&constraints.validity, Kinds { validity: true, ..Kinds::default() }),
            (&constraints.conditional_validity, Kinds { validity: true, ..Kinds::default() }),
            (&constraints.coincidence, Kinds { coincidence: true, ..Kinds::default() }),
            (&constraints.proximity, Kinds { proximity: true, ..Kinds::default() }),
        ];
        let mut params = domain.parameters();
        for (union, _) in &kinds {
            let new: Vec<String> =
                union.parameters().into_iter().filter(|name| !params.contains(name)).collect();
            params.extend(new);
        }
        let mut graph = Self { params, statements: Vec::new(), edges: Vec::new() };
        let mut places = BTreeMap::new();
        for set in domain.relations() {
            let set = set.align_params(&graph.params)?;
            if !set.is_empty(budget)? {
                places.insert(key(&set.space().output), graph.statements.len());
                let count = graph.params.len();
                graph.statements.push(Statement::new(set, count, budget)?);
            }
        }
        for (union, kind) in kinds {
            let inside = bounded(union)?.intersect_domain(&domain, budget)?;
            let inside = inside.intersect_range(&domain, budget)?;
            for relation in inside.relations() {
                let relation = relation.align_params(&graph.params)?;
                graph.add(&relation, kind, &places, budget)?;
            }
        }
        Ok(graph)
    }

    fn add(
        &mut self,
        relation: &Relation,
        kinds: Kinds,
        places: &BTreeMap<String, usize>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let space = relation.space().clone();
        let input = space.input.as_ref().and_then(|input| places.get(&key(input)));
        let (Some(from), Some(to)) = (input, places.get(&key(&space.output))) else {
            return Ok(());
        };
        let relation = apart(relation, budget)?;
        for part in relation.narrow_conjunctions()? {
            let same = |edge: &&mut Edge| (edge.from, edge.to) == (*from, *to) && edge.part == part;
            if let Some(edge) = self.edges.iter_mut().find(same) {
                edge.kinds.validity |= kinds.validity;
                edge.kinds.coincidence |= kinds.coincidence;
                edge.kinds.proximity |= kinds.proximity;
                continue;
            }
            let generators = self.generators(&part, *from, *to)?;
            if !generators.rays.is_empty() {
                let (from, to, space) = (*from, *to, space.clone());
                self.edges.push(Edge { from, to, kinds, part, space, generators });
            }
        }
        Ok(())
    }

    /// Finds generators of pairs that suffice for the distances between statements.
    fn generators(&self, part: &Conjunction, from: usize, to: usize) -> Result<Generators, Error> {
        let (params, own) = (self.params.len(), self.statements[from].dims);
        Ok(if from == to {
            Generators::of_distances(part, params, own)?
        } else {
            Generators::of(part, params + own + self.statements[to].dims)?
        })
    }

    /// Keeps of an edge the pairs that rows of both ends leave in one place, if there are any.
    ///
    /// `rows` holds, for each new schedule row, that of the first and of the second end.
    pub fn narrowed(
        &self,
        edge: &Edge,
        rows: &[(&Row, &Row)],
        budget: &Budget,
    ) -> Result<Option<Edge>, Error> {
        let mut part = edge.part.clone();
        let shared = 1 + self.params.len();
        let cols = shared + self.statements[edge.from].dims;
        let dims = cols - 1 + self.statements[edge.to].dims;
        for (first, second) in rows {
            let mut row = vec![0; 1 + dims + part.divisions.len()];
            for (entry, value) in row.iter_mut().zip(*first) {
                *entry -= value;
            }
            for (index, value) in second.iter().enumerate() {
                row[if index < shared { index } else { cols + index - shared }] += value;
            }
            part.equalities.push(row);
        }
        let relation = Relation::from_conjunctions(edge.space.clone(), &[part])?;
        if relation.is_empty(budget)? {
            return Ok(None);
        }
        let Some(part) = relation.narrow_conjunctions()?.pop() else { return Ok(None) };
        let generators = self.generators(&part, edge.from, edge.to)?;
        Ok(Some(Edge { part, generators, ..edge.clone() }))
    }
}

/// Names a tuple; statements of one name may differ in their dimensions.
pub(super) fn key(tuple: &Tuple) -> String {
    format!("{}/{}", tuple.name, tuple.dims.len())
}

/// Removes pairs of an instance with itself.
fn apart(relation: &Relation, budget: &Budget) -> Result<Relation, Error> {
    let space = relation.space();
    if space.input.as_ref() != Some(&space.output) {
        return Ok(relation.clone());
    }
    let same = Relation::identity(space.params.clone(), space.output.clone());
    if relation.is_disjoint(&same, budget)? {
        return Ok(relation.clone());
    }
    Ok(relation.subtract(&same, budget)?)
}

//! One band: as many independent rows as keep all pairs in order at once.
//!
//! A program over many statements has an unknown for each of their coefficients, and its cost
//! grows with the cube of them. Beyond a few, statements share coefficients where they can.

use std::collections::HashSet;

use tangram_presburger::Budget;

use super::graph::{Edge, Graph, Row};
use super::integer_program::{Program, Solution};
use super::search::Search;
use super::shared::Shared;
use super::{Algorithm, Error, Options};

/// Coefficients of skewed loops stay below this, so that loops are not glued into one.
pub(super) const LARGEST: i128 = 16;

/// So few statements have coefficients of their own.
const FEW: usize = 16;

/// New schedule rows of some statements.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// For each statement, in the order given, one row for each member.
    pub of: Vec<Vec<Row>>,
    /// For each member, whether it keeps coincident pairs together.
    pub coincident: Vec<bool>,
    pub permutable: bool,
    /// Whether the distance of proximity pairs is bounded by a small constant.
    pub close: bool,
}

/// What a band must have to be of use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    /// Proximity pairs stay close.
    pub close: bool,
    /// The least number of coincident members.
    pub parallel: usize,
}

/// Some statements of a graph and the pairs among them.
pub(super) struct Part<'a> {
    pub graph: &'a Graph,
    pub statements: &'a [usize],
    pub edges: &'a [usize],
    pub options: &'a Options,
    pub budget: &'a Budget,
}

impl<'a> Part<'a> {
    fn edges(&self) -> impl Iterator<Item = &'a Edge> {
        let graph = self.graph;
        self.edges.iter().map(|edge| &graph.edges[*edge])
    }

    /// Finds the rows of a band: permutable ones, else one that carries as much as it can.
    ///
    /// Nothing if there is none; every single statement and every cycle of pairs that can
    /// be scheduled has one.
    pub fn rows(&self) -> Result<Option<Rows>, Error> {
        if self.options.algorithm == Algorithm::Feautrier && self.edges().any(|e| e.kinds.validity)
        {
            return self.carrying();
        }
        let rows = self.permutable(Wanted::default())?;
        if rows.is_some() { Ok(rows) } else { self.carrying() }
    }

    /// Finds the largest permutable band; nothing if it is empty, or as soon as it is not
    /// what is wanted.
    pub fn permutable(&self, wanted: Wanted) -> Result<Option<Rows>, Error> {
        if self.statements.len() > FEW
            && let Some(shared) = Shared::of(self.graph, self.statements, self.edges)?
        {
            let rows = self.largest(wanted, Some(&shared))?;
            if rows.is_some() || shared.exact {
                return Ok(rows);
            }
        }
        self.largest(wanted, None)
    }

    fn largest(&self, wanted: Wanted, shared: Option<&Shared>) -> Result<Option<Rows>, Error> {
        let mut found = Rows {
            of: vec![Vec::new(); self.statements.len()],
            coincident: Vec::new(),
            permutable: true,
            close: true,
        };
        let mut joined = true;
        let mut search = self.search(joined, shared)?;
        loop {
            let open = self.open(&found)?;
            if open.iter().all(Vec::is_empty) {
                break;
            }
            match self.next(&mut search, &open)? {
                Some((row, close)) => {
                    found.close &= close;
                    found.coincident.push(joined);
                    for (rows, row) in found.of.iter_mut().zip(row) {
                        rows.push(row);
                    }
                }
                // Without such pairs the same search would fail again.
                None if joined && self.edges().any(|edge| edge.kinds.coincidence) => {
                    joined = false;
                    search = self.search(joined, shared)?;
                }
                None => break,
            }
            let parallel = found.coincident.iter().filter(|flag| **flag).count();
            if (wanted.close && !found.close) || (!joined && parallel < wanted.parallel) {
                return Ok(None);
            }
            if self.options.outer_coincidence && !joined && found.coincident.is_empty() {
                return self.carrying();
            }
        }
        Ok((!found.coincident.is_empty()).then_some(found))
    }

    /// For each statement, the directions that its rows leave in one place.
    fn open(&self, found: &Rows) -> Result<Vec<Vec<Vec<i128>>>, Error> {
        let params = self.graph.params.len();
        let pairs = self.statements.iter().zip(&found.of);
        pairs
            .map(|(statement, rows)| {
                let rows: Vec<&Row> = rows.iter().collect();
                self.graph.statements[*statement].open_directions(&rows, params)
            })
            .collect()
    }

    /// Begins to look for rows; `joined` ones keep coincident pairs together.
    fn search<'b>(&self, joined: bool, shared: Option<&'b Shared>) -> Result<Search<'b>, Error>
    where
        'a: 'b,
    {
        let mut program = match shared {
            Some(shared) => Program::sharing(self.graph, shared),
            None => Program::new(self.graph, self.statements, 0),
        };
        for edge in self.edges() {
            let kinds = edge.kinds;
            if joined && kinds.coincidence {
                program.join(edge);
            } else if kinds.validity {
                program.keep(edge);
            }
            if kinds.proximity {
                program.bound(edge);
            }
        }
        program.limit(self.options.max_coefficient.map_or(LARGEST, |limit| limit.min(LARGEST)));
        program.search()
    }

    /// Finds one more row for each statement, and whether proximity pairs stay close.
    fn next(
        &self,
        search: &mut Search<'_>,
        open: &[Vec<Vec<i128>>],
    ) -> Result<Option<(Vec<Row>, bool)>, Error> {
        let found = self.independent(search, open)?;
        let program = &search.program;
        Ok(found.map(|solution| {
            let rows = self.statements.iter().map(|s| program.row(&solution, *s)).collect();
            (rows, program.distance_within(&solution, LARGEST))
        }))
    }

    /// Finds the least row that advances along an open direction of each statement.
    ///
    /// First forwards along all of them at once, which is right for most programs; then by
    /// branch and bound over directions and signs.
    fn independent(
        &self,
        search: &mut Search<'_>,
        open: &[Vec<Vec<i128>>],
    ) -> Result<Option<Solution>, Error> {
        let mut forwards = search.clone();
        forwards.advance_some(self.statements, open)?;
        let found = forwards.solve(None, self.budget)?;
        search.learn(&forwards)?;
        if found.is_some() {
            return Ok(found);
        }
        if self.statements.len() > 1 && !self.is_movable(search, open)? {
            return Ok(None);
        }
        let mut best: Option<Solution> = None;
        let mut stack = vec![search.clone()];
        // Deep searches are those of programs that have no such row.
        let mut left = 64 + 8 * self.statements.len();
        while let Some(mut branch) = stack.pop() {
            if left == 0 {
                break;
            }
            left -= 1;
            let found = branch.solve(best.as_ref(), self.budget)?;
            search.learn(&branch)?;
            let Some(solution) = found else { continue };
            let Some((statement, directions)) = self.idle(&branch.program, &solution, open) else {
                best = Some(solution);
                continue;
            };
            let mut branches = Vec::new();
            for direction in directions {
                for sign in [1, -1] {
                    let mut moved = branch.clone();
                    moved.advance(statement, direction, sign)?;
                    branches.push(moved);
                }
                branch.advance(statement, direction, 0)?;
            }
            branches.reverse();
            stack.extend(branches);
        }
        Ok(best)
    }

    /// Returns whether each statement, looked at alone, has a row that advances.
    ///
    /// A statement that has none would be found out again below each branch for another one.
    fn is_movable(&self, search: &mut Search<'_>, open: &[Vec<Vec<i128>>]) -> Result<bool, Error> {
        let mut seen = HashSet::new();
        for (statement, directions) in self.statements.iter().zip(open) {
            let changes = directions.iter().map(|d| search.program.change(*statement, d));
            let mut moves = directions.is_empty() || !seen.insert(changes.collect::<Vec<_>>());
            for (direction, sign) in directions.iter().flat_map(|d| [(d, 1), (d, -1)]) {
                if moves {
                    break;
                }
                let mut branch = search.clone();
                branch.advance(*statement, direction, sign)?;
                moves = branch.solve(None, self.budget)?.is_some();
                search.learn(&branch)?;
            }
            if !moves {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds a statement whose row does not advance along its open directions.
    fn idle<'b>(
        &self,
        program: &Program,
        solution: &Solution,
        open: &'b [Vec<Vec<i128>>],
    ) -> Option<(usize, &'b [Vec<i128>])> {
        let first = 1 + self.graph.params.len();
        let still = |row: &Row, direction: &[i128]| {
            row[first..].iter().zip(direction).map(|(a, b)| a * b).sum::<i128>() == 0
        };
        self.statements.iter().zip(open).find_map(|(statement, directions)| {
            let row = program.row(solution, *statement);
            let idle = !directions.is_empty() && directions.iter().all(|d| still(&row, d));
            idle.then_some((*statement, directions.as_slice()))
        })
    }

    /// Finds one row that carries as many pairs as it can.
    fn carrying(&self) -> Result<Option<Rows>, Error> {
        let held: Vec<&Edge> = self.edges().filter(|edge| edge.kinds.validity).collect();
        if held.is_empty() {
            return Ok(None);
        }
        let mut program = Program::new(self.graph, self.statements, 1 + held.len());
        for (index, edge) in held.iter().enumerate() {
            program.carry(edge, index);
        }
        program.carry_some();
        let mut limited = program.clone();
        limited.limit(LARGEST);
        let found = match limited.search()?.solve(None, self.budget)? {
            Some(solution) => Some(solution),
            None => program.clone().search()?.solve(None, self.budget)?,
        };
        Ok(found.filter(|solution| program.carried(solution) > 0).map(|solution| Rows {
            of: self.statements.iter().map(|s| vec![program.row(&solution, *s)]).collect(),
            coincident: vec![false],
            permutable: false,
            close: false,
        }))
    }
}

//! One schedule row as an integer program.
//!
//! The unknowns, all not negative and minimised in this order: the size of the parametric
//! bound on the distance of proximity pairs, its constant, the parameters in the schedule,
//! the dimensions in the schedule, the bound itself, and for each statement the parts of
//! its dimensions' coefficients (innermost first, so that outer loops stay outside), of
//! parameters and constant.
//!
//! # Source
//! U. Bondhugula, A. Hartono, J. Ramanujam, P. Sadayappan, "A practical automatic
//! polyhedral parallelizer and locality optimizer" (PLDI 2008), and for the order of the
//! unknowns S. Verdoolaege, "Scheduling for PPCG" (2017). Divergence: dependences enter
//! through their generators, so there are no multipliers among the unknowns.
//!
//! Statements may also share one set of coefficients (see `shared`): then those are the only
//! unknowns of statements, and the constants are left to the potentials of `offsets`.

use std::rc::Rc;

use super::Error;
use super::graph::{Edge, Graph, Row};
use super::offsets::Difference;
use super::places::Places;
use super::search::Search;
use super::shared::Shared;

const PARAMETRIC: usize = 0;
const CONSTANT: usize = 1;
const SCHEDULE_PARAMETERS: usize = 2;
const SCHEDULE_DIMENSIONS: usize = 3;
const BOUND: usize = 4;

/// The rows that a schedule row of some statements has to satisfy.
#[derive(Debug, Clone)]
pub(super) struct Program<'a> {
    graph: &'a Graph,
    /// Whose coefficients stand for those of all statements.
    shared: Option<&'a Shared>,
    /// First unknown of each statement of the row.
    first: Places<usize>,
    carried: usize,
    pub vars: usize,
    /// Rows that matter from the start on.
    pub definite: Vec<Vec<i128>>,
    /// What pairs ask for, of which little matters.
    pub held: Vec<Held>,
    /// What pairs ask for between the constants of statements that share coefficients.
    pub differences: Vec<Difference>,
}

/// A form over the unknowns that is not negative, or 0 for an equation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Held {
    pub form: Vec<i128>,
    pub equation: bool,
}

impl<'a> Program<'a> {
    /// Makes the program of a row for `statements`, with room for `carried` further unknowns,
    /// which are minimised before all others.
    pub fn new(graph: &'a Graph, statements: &[usize], carried: usize) -> Self {
        let params = graph.params.len();
        let mut vars = carried + BOUND + 2 * params;
        let unknowns = statements.iter().map(|statement| {
            let first = vars;
            vars += 2 * graph.statements[*statement].dims + params + 1;
            (*statement, first)
        });
        let first = unknowns.collect();
        let mut program = Self {
            graph,
            shared: None,
            first,
            carried,
            vars,
            definite: Vec::new(),
            held: Vec::new(),
            differences: Vec::new(),
        };
        program.define_sums(statements);
        program
    }

    /// Makes the program of a row for statements that share coefficients: those of one of them.
    pub fn sharing(graph: &'a Graph, shared: &'a Shared) -> Self {
        let mut program = Self::new(graph, &[shared.base], 0);
        // The constant and the parameters of the base have no columns of their own to speak of:
        // no form mentions them, so that the least solution has them 0.
        program.shared = Some(shared);
        program
    }

    /// How many statements the graph has.
    pub fn statements(&self) -> usize {
        self.graph.statements.len()
    }

    fn blank(&self) -> Vec<i128> {
        vec![0; 1 + self.vars]
    }

    fn at(&self, unknown: usize) -> usize {
        1 + self.carried + unknown
    }

    fn define_sums(&mut self, statements: &[usize]) {
        let params = self.graph.params.len();
        let mut parametric = self.blank();
        parametric[self.at(PARAMETRIC)] = 1;
        (0..2 * params).for_each(|p| parametric[self.at(BOUND + p)] = -1);
        let (mut in_params, mut in_dims) = (self.blank(), self.blank());
        in_params[self.at(SCHEDULE_PARAMETERS)] = 1;
        in_dims[self.at(SCHEDULE_DIMENSIONS)] = 1;
        for (first, dims) in statements.iter().filter_map(|s| self.place(*s)) {
            in_dims[1 + first..1 + first + 2 * dims].fill(-1);
            in_params[1 + first + 2 * dims..1 + first + 2 * dims + params].fill(-1);
        }
        self.definite.extend([parametric, in_params, in_dims]);
    }

    fn place(&self, statement: usize) -> Option<(usize, usize)> {
        Some((*self.first.get(statement)?, self.graph.statements[statement].dims))
    }

    /// Adds `factor` times a statement's row at a point to a form.
    fn add_value(
        &self,
        form: &mut [i128],
        statement: usize,
        factor: i128,
        head: &[i128],
        at: &[i128],
    ) {
        if let Some(shared) = self.shared {
            let at = shared.at_base(statement, at);
            return self.add_dims(form, shared.base, factor, &at);
        }
        let Some((first, dims)) = self.place(statement) else { return };
        self.add_dims(form, statement, factor, at);
        let params = 1 + first + 2 * dims;
        for (param, value) in head[1..].iter().enumerate() {
            form[params + param] += factor * value;
        }
        form[params + head.len() - 1] += factor * head[0];
    }

    fn add_dims(&self, form: &mut [i128], statement: usize, factor: i128, at: &[i128]) {
        let Some((first, dims)) = self.place(statement) else { return };
        for (dim, value) in at.iter().enumerate() {
            let column = 1 + first + 2 * (dims - 1 - dim);
            form[column] -= factor * value;
            form[column + 1] += factor * value;
        }
    }

    /// Returns the distance between both ends of an edge at a generator, as a form.
    ///
    /// Where coefficients are shared, it lacks the difference of the constants.
    fn distance(&self, edge: &Edge, at: &[i128]) -> Vec<i128> {
        let shared = 1 + self.graph.params.len();
        let split = shared + self.graph.statements[edge.from].dims;
        let mut form = self.blank();
        self.add_value(&mut form, edge.from, -1, &at[..shared], &at[shared..split]);
        self.add_value(&mut form, edge.to, 1, &at[..shared], &at[split..]);
        form
    }

    /// Holds `form`, to which the distance at a generator of an edge contributed `sign` times.
    fn hold_between(&mut self, form: Vec<i128>, edge: &Edge, at: &[i128], sign: i128) {
        if self.shared.is_some() && edge.from != edge.to && at[0] != 0 {
            let (from, to) = (edge.from, edge.to);
            self.differences.push(Difference::new(form, from, to, sign * at[0]));
        } else {
            self.hold(form);
        }
    }

    fn hold(&mut self, form: Vec<i128>) {
        // Unknowns are not negative: such a row says nothing.
        if form.iter().any(|v| *v < 0) {
            self.held.push(Held { form, equation: false });
        }
    }

    fn hold_zero(&mut self, mut form: Vec<i128>) {
        if form.iter().find(|v| **v != 0).is_some_and(|v| *v < 0) {
            form.iter_mut().for_each(|v| *v = -*v);
        }
        self.held.push(Held { form, equation: true });
    }

    /// Ends the list of what pairs ask for, and begins to look for a row.
    pub fn search(mut self) -> Result<Search<'a>, Error> {
        self.held.sort_unstable();
        self.held.dedup();
        self.differences.sort_unstable();
        self.differences.dedup();
        Search::new(Rc::new(self))
    }

    /// No pair runs backwards.
    pub fn keep(&mut self, edge: &Edge) {
        for ray in &edge.generators.rays {
            self.hold_between(self.distance(edge, ray), edge, ray, 1);
        }
        self.still(edge);
    }

    /// All pairs run together.
    pub fn join(&mut self, edge: &Edge) {
        for ray in &edge.generators.rays {
            let form = self.distance(edge, ray);
            if self.shared.is_some() && ray[0] != 0 {
                let opposite = form.iter().map(|v| -v).collect();
                self.hold_between(form, edge, ray, 1);
                self.hold_between(opposite, edge, ray, -1);
            } else {
                self.hold_zero(form);
            }
        }
        self.still(edge);
    }

    /// The distance does not grow along the lines of an edge.
    fn still(&mut self, edge: &Edge) {
        for line in &edge.generators.lines {
            self.hold_zero(self.distance(edge, line));
        }
    }

    /// The bound holds for the distance, in both directions where it may be negative.
    pub fn bound(&mut self, edge: &Edge) {
        let params = self.graph.params.len();
        let signs: &[i128] = if edge.kinds.validity { &[-1] } else { &[-1, 1] };
        let lines = edge
            .generators
            .lines
            .iter()
            .flat_map(|line| [line.clone(), line.iter().map(|v| -v).collect()]);
        let all: Vec<Row> = edge.generators.rays.iter().cloned().chain(lines).collect();
        for ray in &all {
            let distance = self.distance(edge, ray);
            for sign in signs {
                let mut form: Vec<i128> = distance.iter().map(|v| v * sign).collect();
                form[self.at(CONSTANT)] += ray[0];
                for param in 0..params {
                    form[self.at(BOUND + 2 * param)] -= ray[1 + param];
                    form[self.at(BOUND + 2 * param + 1)] += ray[1 + param];
                }
                self.hold_between(form, edge, ray, *sign);
            }
        }
    }

    /// Pairs run at least one apart, unless unknown `index` is paid for.
    pub fn carry(&mut self, edge: &Edge, index: usize) {
        for ray in &edge.generators.rays {
            let mut form = self.distance(edge, ray);
            form[0] = 0;
            // The forms are homogeneous: a vertex scaled by its first number needs that much.
            form[1 + 1 + index] += ray[0];
            form[0] -= ray[0];
            if form[0] == 0 { self.hold(form) } else { self.definite.push(form) }
        }
        self.still(edge);
        let mut most = self.blank();
        (most[0], most[1 + 1 + index]) = (1, -1);
        self.definite.push(most);
    }

    /// Of the further unknowns, the first counts the others, of which some stay unpaid.
    pub fn carry_some(&mut self) {
        let mut sum = self.blank();
        sum[1] = 1;
        sum[2..1 + self.carried].fill(-1);
        let mut most = self.blank();
        (most[0], most[1]) = (self.carried as i128 - 2, -1);
        self.definite.extend([sum, most]);
    }

    /// Bounds the coefficient of every dimension.
    pub fn limit(&mut self, largest: i128) {
        let mut rows = Vec::new();
        for (statement, first) in self.first.iter() {
            for pair in 0..self.graph.statements[statement].dims {
                let mut row = self.blank();
                row[0] = largest;
                (row[1 + first + 2 * pair], row[2 + first + 2 * pair]) = (-1, -1);
                rows.push(row);
            }
        }
        rows.into_iter().for_each(|row| self.hold(row));
    }

    /// Returns how much a statement's row changes along a direction, as a form.
    pub fn change(&self, statement: usize, direction: &[i128]) -> Vec<i128> {
        let mut form = self.blank();
        let head = vec![0; 1 + self.graph.params.len()];
        self.add_value(&mut form, statement, 1, &head, direction);
        form
    }

    /// Reads the row of a statement off a solution.
    pub fn row(&self, solution: &Solution, statement: usize) -> Row {
        let base = self.shared.map_or(statement, |shared| shared.base);
        let Some((first, dims)) = self.place(base) else { return Row::new() };
        let values = &solution.values[first..];
        let params = self.graph.params.len();
        let mut row = vec![values[2 * dims + params]];
        row.extend_from_slice(&values[2 * dims..2 * dims + params]);
        let own = (0..dims).map(|dim| {
            let column = 2 * (dims - 1 - dim);
            values[column + 1] - values[column]
        });
        match self.shared {
            None => row.extend(own),
            Some(shared) => {
                row[0] = solution.offsets.get(statement).copied().unwrap_or_default();
                row.extend(shared.of_base(statement, &own.collect::<Vec<_>>()));
            }
        }
        row
    }

    /// Says which of the further unknowns after the first stay unpaid.
    pub fn carried(&self, solution: &Solution) -> usize {
        solution.values[1..self.carried].iter().filter(|v| **v == 0).count()
    }

    /// Returns whether the distance of proximity pairs is at most `largest` for all parameters.
    pub fn distance_within(&self, solution: &Solution, largest: i128) -> bool {
        let bound = &solution.values[self.carried..];
        bound[PARAMETRIC] == 0 && bound[CONSTANT] <= largest
    }
}

/// Values of all unknowns; less is better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Solution {
    pub values: Vec<i128>,
    /// For each statement of the graph, its constant, where coefficients are shared.
    pub offsets: Vec<i128>,
}

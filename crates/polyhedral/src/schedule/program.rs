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

use std::rc::Rc;

use super::Error;
use super::graph::{Edge, Graph, Row};
use super::search::Search;

const PARAMETRIC: usize = 0;
const CONSTANT: usize = 1;
const SCHEDULE_PARAMETERS: usize = 2;
const SCHEDULE_DIMENSIONS: usize = 3;
const BOUND: usize = 4;

/// The rows that a schedule row of some statements has to satisfy.
#[derive(Debug, Clone)]
pub(super) struct Program<'a> {
    graph: &'a Graph,
    /// First unknown of each statement, by position among all statements.
    first: Vec<Option<usize>>,
    carried: usize,
    pub vars: usize,
    /// Rows that matter from the start on.
    pub definite: Vec<Vec<i128>>,
    /// What pairs ask for, of which little matters.
    pub held: Vec<Held>,
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
        let mut first = vec![None; graph.statements.len()];
        for statement in statements {
            first[*statement] = Some(vars);
            vars += 2 * graph.statements[*statement].dims + params + 1;
        }
        let (definite, held) = (Vec::new(), Vec::new());
        let mut program = Self { graph, first, carried, vars, definite, held };
        program.define_sums(statements);
        program
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
        Some((self.first[statement]?, self.graph.statements[statement].dims))
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
        let Some((first, dims)) = self.place(statement) else { return };
        for (dim, value) in at.iter().enumerate() {
            let column = 1 + first + 2 * (dims - 1 - dim);
            form[column] -= factor * value;
            form[column + 1] += factor * value;
        }
        let params = 1 + first + 2 * dims;
        for (param, value) in head[1..].iter().enumerate() {
            form[params + param] += factor * value;
        }
        form[params + head.len() - 1] += factor * head[0];
    }

    /// Returns the distance between both ends of an edge at a generator, as a form.
    fn distance(&self, edge: &Edge, at: &[i128]) -> Vec<i128> {
        let shared = 1 + self.graph.params.len();
        let split = shared + self.graph.statements[edge.from].dims;
        let mut form = self.blank();
        self.add_value(&mut form, edge.from, -1, &at[..shared], &at[shared..split]);
        self.add_value(&mut form, edge.to, 1, &at[..shared], &at[split..]);
        form
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
        Search::new(Rc::new(self))
    }

    /// No pair runs backwards.
    pub fn keep(&mut self, edge: &Edge) {
        for ray in &edge.generators.rays {
            self.hold(self.distance(edge, ray));
        }
        self.still(edge);
    }

    /// All pairs run together.
    pub fn join(&mut self, edge: &Edge) {
        for ray in &edge.generators.rays {
            self.hold_zero(self.distance(edge, ray));
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
                self.hold(form);
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
        for statement in 0..self.first.len() {
            let Some((first, dims)) = self.place(statement) else { continue };
            for pair in 0..dims {
                let mut row = self.blank();
                row[0] = largest;
                (row[1 + first + 2 * pair], row[2 + first + 2 * pair]) = (-1, -1);
                self.hold(row);
            }
        }
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
        let Some((first, dims)) = self.place(statement) else { return Row::new() };
        let values = &solution.values[first..];
        let params = self.graph.params.len();
        let mut row = vec![values[2 * dims + params]];
        row.extend_from_slice(&values[2 * dims..2 * dims + params]);
        row.extend((0..dims).map(|dim| {
            let column = 2 * (dims - 1 - dim);
            values[column + 1] - values[column]
        }));
        row
    }

    /// Says which of the further unknowns after the first stay unpaid.
    pub fn carried(&self, solution: &Solution) -> usize {
        solution.values[1..self.carried].iter().filter(|v| **v == 0).count()
    }

    /// Says whether the distance of proximity pairs is at most `largest` for all parameters.
    pub fn distance_within(&self, solution: &Solution, largest: i128) -> bool {
        let bound = &solution.values[self.carried..];
        bound[PARAMETRIC] == 0 && bound[CONSTANT] <= largest
    }
}

/// Values of all unknowns; less is better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Solution {
    pub values: Vec<i128>,
}

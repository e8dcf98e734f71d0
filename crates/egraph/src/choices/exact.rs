//! The exact way: an integer program whose cycles are forbidden as they turn up.
//!
//! One binary variable per node. Some node of each root is chosen; a chosen node needs a chosen
//! node in each class below; the sum of costs is least. Such a choice may go around in a circle:
//! then one more constraint forbids that circle, and the program is solved again. Before, the
//! e-graph is reduced to what the roots reach, and nodes that cannot be part of a best term are
//! dropped: those over a class without finite terms, those that need a superset of what a cheaper
//! sibling needs, and those whose cost alone exceeds that of the best term known.

use super::{Choices, Selection};
use microlp::{
    ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolutionStatus, SolveOptions,
    Variable,
};
use std::time::{Duration, Instant};

/// The outcome of exact extraction.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    /// The best selection found.
    pub selection: Selection,
    /// What it costs.
    pub cost: f64,
    /// No selection costs less than this.
    pub bound: f64,
    /// Whether the selection is proved to be the cheapest.
    pub optimal: bool,
    /// How many circles had to be forbidden.
    pub cuts: usize,
}

impl Exact {
    /// Returns how much more than necessary the selection may cost, relative to its cost.
    pub fn gap(&self) -> f64 {
        match self.cost > 0.0 {
            true => (self.cost - self.bound).max(0.0) / self.cost,
            false => 0.0,
        }
    }
}

impl Choices {
    /// Finds the cheapest selection for some roots, or the best within a time limit.
    ///
    /// `start` has to be a selection that is finite from the roots; `None` if it is not.
    pub fn exact(&self, start: &Selection, roots: &[usize], limit: Duration) -> Option<Exact> {
        let deadline = Instant::now() + limit;
        let cost = self.dag_cost(start, roots)?;
        let mut best =
            Exact { selection: start.clone(), cost, bound: 0.0, optimal: false, cuts: 0 };
        if limit.is_zero() {
            return Some(best);
        }
        let useful = self.useful(roots, cost);
        let mut circles: Vec<Vec<usize>> = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let model = Model::new(self, roots, &useful, &circles);
            let Some(solved) = model.solve(self, &best.selection, roots, left) else {
                return Some(best);
            };
            best.bound = best.bound.max(solved.bound.min(best.cost));
            let found = self.circles(&solved.chosen, roots);
            if found.is_empty() {
                let selection = Selection { chosen: solved.chosen };
                if let Some(cost) = self.dag_cost(&selection, roots)
                    && cost < best.cost
                {
                    (best.selection, best.cost) = (selection, cost);
                }
                if solved.proved {
                    (best.optimal, best.bound) = (true, best.cost);
                }
                return Some(best);
            }
            if left.is_zero() {
                return Some(best);
            }
            best.cuts += found.len();
            circles.extend(found);
        }
    }

    /// Tells for each node whether it may be part of a best term.
    fn useful(&self, roots: &[usize], cost: f64) -> Vec<bool> {
        let finite = self.cheapest_trees();
        let fits = |node: usize| {
            let choice = &self.nodes[node];
            let founded =
                choice.kids.iter().all(|&kid| finite.chosen[kid].is_some() && kid != choice.class);
            founded && choice.cost <= cost + 1e-9
        };
        let mut useful = vec![false; self.nodes.len()];
        let mut seen = vec![false; self.classes.len()];
        let mut stack: Vec<usize> = roots.to_vec();
        while let Some(class) = stack.pop() {
            if std::mem::replace(&mut seen[class], true) {
                continue;
            }
            let nodes: Vec<usize> =
                self.classes[class].iter().copied().filter(|&node| fits(node)).collect();
            for (at, &node) in nodes.iter().enumerate() {
                let beaten = nodes
                    .iter()
                    .enumerate()
                    .any(|(other, &rival)| self.beats(rival, node, other < at));
                if !beaten {
                    useful[node] = true;
                    stack.extend(&self.nodes[node].kids);
                }
            }
        }
        useful
    }

    /// Tells whether `rival` costs no more than `node` and needs nothing that it does not need.
    fn beats(&self, rival: usize, node: usize, first: bool) -> bool {
        let (rival, node) = (&self.nodes[rival], &self.nodes[node]);
        if rival.cost > node.cost || rival.kids.len() > node.kids.len() {
            return false;
        }
        let equal = rival.cost == node.cost && rival.kids == node.kids;
        (!equal || first) && rival.kids.iter().all(|kid| node.kids.binary_search(kid).is_ok())
    }

    /// Finds circles of chosen nodes that the roots reach, disjoint ones.
    fn circles(&self, chosen: &[Option<usize>], roots: &[usize]) -> Vec<Vec<usize>> {
        let mut state = vec![0u8; self.classes.len()];
        let mut circles = Vec::new();
        for &root in roots {
            let mut path: Vec<(usize, usize)> = vec![(root, 0)];
            if std::mem::replace(&mut state[root], 1) != 0 {
                continue;
            }
            while let Some((class, next)) = path.last_mut() {
                let kids = chosen[*class].map_or(&[][..], |node| &self.nodes[node].kids);
                let Some(&kid) = kids.get(*next) else {
                    state[*class] = 2;
                    path.pop();
                    continue;
                };
                *next += 1;
                if state[kid] == 0 {
                    state[kid] = 1;
                    path.push((kid, 0));
                } else if state[kid] == 1 {
                    let from = path.iter().position(|&(class, _)| class == kid).unwrap_or(0);
                    circles.push(
                        path[from..].iter().filter_map(|&(class, _)| chosen[class]).collect(),
                    );
                }
            }
        }
        circles
    }
}

struct Model {
    problem: Problem,
    vars: Vec<Option<Variable>>,
}

struct Solved {
    chosen: Vec<Option<usize>>,
    bound: f64,
    proved: bool,
}

impl Model {
    fn new(choices: &Choices, roots: &[usize], useful: &[bool], circles: &[Vec<usize>]) -> Self {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let var = |(node, &useful): (usize, &bool)| {
            useful.then(|| problem.add_binary_var(choices.nodes[node].cost))
        };
        let vars: Vec<Option<Variable>> = useful.iter().enumerate().map(var).collect();
        let any_of = |class: usize| {
            let mut sum = LinearExpr::empty();
            for &node in &choices.classes[class] {
                if let Some(var) = vars[node] {
                    sum.add(var, 1.0);
                }
            }
            sum
        };
        for &root in roots {
            problem.add_constraint(any_of(root), ComparisonOp::Ge, 1.0);
        }
        for (node, var) in vars.iter().enumerate() {
            let Some(var) = *var else { continue };
            for &kid in &choices.nodes[node].kids {
                let mut sum = any_of(kid);
                sum.add(var, -1.0);
                problem.add_constraint(sum, ComparisonOp::Ge, 0.0);
            }
        }
        for circle in circles {
            let mut sum = LinearExpr::empty();
            let used: Vec<Variable> = circle.iter().filter_map(|&node| vars[node]).collect();
            used.iter().for_each(|&var| sum.add(var, 1.0));
            problem.add_constraint(sum, ComparisonOp::Le, used.len() as f64 - 1.0);
        }
        Model { problem, vars }
    }

    /// Solves the program; `None` if that failed or took too long.
    fn solve(
        &self,
        choices: &Choices,
        start: &Selection,
        roots: &[usize],
        left: Duration,
    ) -> Option<Solved> {
        let mut hint = vec![0.0; choices.nodes.len()];
        for class in choices.reach(start, roots)? {
            hint[start.chosen[class]?] = 1.0;
        }
        let hint =
            self.vars.iter().enumerate().filter_map(|(node, var)| Some(((*var)?, hint[node])));
        let mut options = SolveOptions::default();
        options.time_limit = Some(left);
        options.warm_start = Some(hint.collect());
        let solution = self.problem.solve_with(options).ok()?.into_solution().ok()?;
        let mut chosen = vec![None; choices.classes.len()];
        for (class, nodes) in choices.classes.iter().enumerate() {
            let value =
                |node: &&usize| self.vars[**node].map_or(0.0, |var| solution.var_value(var));
            chosen[class] = nodes.iter().find(|node| value(node) > 0.5).copied();
        }
        let proved = solution.status() == SolutionStatus::Optimal;
        let bound = match proved {
            true => solution.objective(),
            false => solution.stats().best_bound.unwrap_or(0.0),
        };
        Some(Solved { chosen, bound, proved })
    }
}

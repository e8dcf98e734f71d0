//! The integer program, whose cycles are forbidden as they turn up.
//!
//! One binary variable per node. Some node of each root is chosen; a chosen node needs a chosen
//! node in each class below; the sum of costs is least. Such a choice may go around in a circle:
//! then one more constraint forbids that circle, and the program is solved again.

use super::{Choices, Exact, Selection};
use microlp::{
    ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolutionStatus, SolveOptions,
    Variable,
};
use std::time::{Duration, Instant};

impl Choices {
    /// Improves on an outcome until it is proved to be the best, or the time is over.
    pub(super) fn integer_program(
        &self,
        best: &mut Exact,
        roots: &[usize],
        useful: &[bool],
        deadline: Option<Instant>,
    ) {
        let mut circles: Vec<Vec<usize>> = Vec::new();
        loop {
            let now = Instant::now();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
            if left.is_some_and(|left| left.is_zero()) {
                return;
            }
            let model = Model::new(self, roots, useful, &circles);
            let Some(solved) = model.solve(self, &best.selection, roots, left) else {
                return;
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
                return;
            }
            best.cuts += found.len();
            circles.extend(found);
        }
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
            for kid in choices.nodes[node].distinct_kids() {
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
        left: Option<Duration>,
    ) -> Option<Solved> {
        let mut hint = vec![0.0; choices.nodes.len()];
        for class in choices.reach(start, roots)? {
            hint[start.chosen[class]?] = 1.0;
        }
        let hint =
            self.vars.iter().enumerate().filter_map(|(node, var)| Some(((*var)?, hint[node])));
        let mut options = SolveOptions::default();
        options.time_limit = left;
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

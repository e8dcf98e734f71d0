//! Steps of Fourier and Motzkin's elimination, and bounds of loops, as Python's lists and tuples.

use tangram::presburger::{
    Budget, EliminationStep, Error, Inequalities, Integer, LoopBounds, Relation,
};

use super::spaces::numbers;
use crate::integer::Number;

/// Rows `[constant, coefficients..]`.
type Rows = Vec<Vec<Number>>;
/// The variable, its lower and its upper bounds, their combinations, what is left, how many rows
/// of these were redundant, and how all of it is written.
pub(super) type StepForm = (String, Rows, Rows, Rows, Rows, usize, String);
/// The variable, its lower and its upper bounds, and how they are written.
pub(super) type BoundsForm = (String, Rows, Rows, String);
/// The names of the columns, and what was found.
pub(super) type Named<T> = (Vec<String>, Vec<T>);

fn rows(rows: Vec<Vec<Integer>>) -> Rows {
    rows.into_iter().map(numbers).collect()
}

fn step_form(step: EliminationStep) -> StepForm {
    let text = step.to_string();
    let EliminationStep { variable, lower, upper, combined, result, redundant } = step;
    let left = rows(result.rows().to_vec());
    (variable, rows(lower), rows(upper), rows(combined), left, redundant, text)
}

fn bounds_form(bounds: LoopBounds) -> BoundsForm {
    let text = bounds.to_string();
    (bounds.variable, rows(bounds.lower), rows(bounds.upper), text)
}

/// Eliminates variables one after the other from each disjunct.
pub(super) fn steps(
    relation: &Relation,
    variables: &[String],
    budget: &Budget,
) -> Result<Vec<Named<StepForm>>, Error> {
    let mut all = Vec::new();
    for mut system in Inequalities::of(relation)? {
        let names = system.names().to_vec();
        let mut steps = Vec::new();
        for variable in variables {
            let step = system.eliminate(variable, budget)?;
            system = step.result.clone();
            steps.push(step_form(step));
        }
        all.push((names, steps));
    }
    Ok(all)
}

/// Bounds loops over `order`, the outermost first, for each disjunct.
pub(super) fn loops(
    relation: &Relation,
    order: &[String],
    budget: &Budget,
) -> Result<Vec<Named<BoundsForm>>, Error> {
    let order: Vec<&str> = order.iter().map(String::as_str).collect();
    let mut all = Vec::new();
    for system in Inequalities::of(relation)? {
        let bounds = system.loop_bounds(&order, budget)?;
        all.push((system.names().to_vec(), bounds.into_iter().map(bounds_form).collect()));
    }
    Ok(all)
}

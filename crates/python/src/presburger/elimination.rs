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
/// The variable, its lower and its upper bounds, the stride and a row for the remainder, divisions
/// that rows use, the condition of an innermost loop, and how all of it is written.
pub(super) type BoundsForm =
    (String, Rows, Rows, (Number, Vec<Number>), Vec<(Vec<Number>, Number)>, Option<String>, String);
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
    let LoopBounds { variable, lower, upper, stride, offset, condition, divisions, .. } = bounds;
    let divisions = divisions.into_iter();
    let divisions = divisions.map(|one| (numbers(one.numerator), Number(one.denominator)));
    let stride = (Number(stride), numbers(offset));
    (variable, rows(lower), rows(upper), stride, divisions.collect(), condition, text)
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
    let named = |nest: Vec<LoopBounds>| {
        let names = nest.first().map(|bounds| bounds.names.clone()).unwrap_or_default();
        (names, nest.into_iter().map(bounds_form).collect())
    };
    Ok(relation.loop_bounds(&order, budget)?.into_iter().map(named).collect())
}

//! Decides whether a conjunction of affine constraints has an integer solution (Pugh 1991).
//!
//! Equalities go by unimodular changes of variables, inequalities by Fourier-Motzkin elimination
//! with tightened constants: exactly where a coefficient is 1, else through the real shadow, the
//! dark shadow and splinters. Differs from the paper in the treatment of equalities (Euclid on
//! columns instead of symmetric remainders) and in a budget, after which nothing is claimed.
//!
//! `2 <= 3 x <= 4` has the real point 1 but, by the dark shadow, integer points only if
//! `3 * 4 - 3 * 2 >= 4`, which holds: 1 is one. `4 <= 3 x <= 5` fails it, and the splinters
//! `3 x = 4` and `3 x = 5` have none.
//!
//! Integer sets have a decision procedure of their own (`solve/feasible` in `tangram-presburger`),
//! which is complete and needs a tableau. This one stays beside it: it answers small questions
//! about extents of tensors in 64 bits, thousands of times in a model, below the IR, which knows no
//! sets.

use num_integer::gcd;
use std::collections::HashMap;

/// Bounds the rows that one question may make.
const BUDGET: u32 = 6000;

/// Bounds entries between steps, so that sums and negations of a few of them cannot overflow.
const MAX_ENTRY: u128 = 1 << 120;

/// Is `coeffs * x + last`, read as `= 0` or as `>= 0`; the last entry is the constant.
pub(super) type Row = Vec<i128>;

/// Is a conjunction over one number of variables.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    pub(super) equalities: Vec<Row>,
    pub(super) inequalities: Vec<Row>,
}

/// Says that nothing was proved: overflow, the budget, or a solution exists.
struct Unproved;

/// Returns whether the system was proved to have no integer solution.
///
/// With the budget not spent and no overflow, false means that there is a solution.
pub(super) fn proves_empty(system: System) -> bool {
    let mut budget = BUDGET;
    empty(system, &mut budget).is_ok()
}

/// Succeeds where the system is empty. Depth: one level for each variable, and for a splinter.
fn empty(mut system: System, budget: &mut u32) -> Result<(), Unproved> {
    loop {
        if solve_equalities(&mut system)? || tighten(&mut system)? {
            return Ok(());
        }
        if !system.equalities.is_empty() {
            continue;
        }
        let Some(choice) = choose(&system.inequalities) else {
            return Err(Unproved);
        };
        let made = u32::try_from(choice.lower.len() * choice.upper.len()).unwrap_or(u32::MAX);
        *budget = budget.checked_sub(made.saturating_add(1)).ok_or(Unproved)?;
        if !choice.exact {
            return empty_inexact(&system, &choice, budget);
        }
        system.inequalities = shadow(&system.inequalities, &choice, false)?;
    }
}

/// Uses the shadows of a variable none of whose bounds has coefficient 1.
fn empty_inexact(system: &System, choice: &Choice, budget: &mut u32) -> Result<(), Unproved> {
    let rows = &system.inequalities;
    let real = System { inequalities: shadow(rows, choice, false)?, ..System::default() };
    if empty(real, budget).is_ok() {
        return Ok(());
    }
    let dark = System { inequalities: shadow(rows, choice, true)?, ..System::default() };
    empty(dark, budget)?;
    // A solution outside the dark shadow lies close above some lower bound.
    let x = choice.variable;
    let steepest = choice.upper.iter().map(|&row| -rows[row][x]).max().ok_or(Unproved)?;
    for &lower in &choice.lower {
        let a = rows[lower][x];
        let gap = a.checked_mul(steepest).ok_or(Unproved)? - a - steepest;
        for offset in 0..=gap.div_euclid(steepest) {
            *budget = budget.checked_sub(1).ok_or(Unproved)?;
            let mut splinter = system.clone();
            let mut row = rows[lower].clone();
            *row.last_mut().ok_or(Unproved)? -= offset;
            splinter.equalities.push(row);
            empty(splinter, budget)?;
        }
    }
    Ok(())
}

/// Removes every equality with its variable; true where one has no solution.
fn solve_equalities(system: &mut System) -> Result<bool, Unproved> {
    while let Some(mut row) = system.equalities.pop() {
        if row.iter().any(|entry| entry.unsigned_abs() > MAX_ENTRY) {
            return Err(Unproved);
        }
        let constant = row.len() - 1;
        loop {
            let nonzero = || (0..constant).filter(|&k| row[k] != 0);
            let Some(pivot) = nonzero().min_by_key(|&k| row[k].unsigned_abs()) else {
                if row[constant] != 0 {
                    return Ok(true);
                }
                break;
            };
            let Some(other) = nonzero().find(|&k| k != pivot) else {
                if row[constant] % row[pivot] != 0 {
                    return Ok(true);
                }
                let value = -(row[constant] / row[pivot]);
                for_rows(system, |row| {
                    add(row, constant, row[pivot], value)?;
                    row[pivot] = 0;
                    Ok(())
                })?;
                break;
            };
            // x_pivot stands for x_pivot' - times * x_other: a unimodular change of variables.
            let times = row[other].div_euclid(row[pivot]);
            let change = |row: &mut Row| add(row, other, row[pivot], -times);
            change(&mut row)?;
            for_rows(system, change)?;
        }
    }
    Ok(false)
}

fn for_rows(
    system: &mut System,
    mut change: impl FnMut(&mut Row) -> Result<(), Unproved>,
) -> Result<(), Unproved> {
    system.equalities.iter_mut().chain(&mut system.inequalities).try_for_each(&mut change)
}

fn add(row: &mut Row, at: usize, a: i128, b: i128) -> Result<(), Unproved> {
    let product = a.checked_mul(b).ok_or(Unproved)?;
    let sum = row[at].checked_add(product).filter(|sum| sum.unsigned_abs() <= MAX_ENTRY);
    row[at] = sum.ok_or(Unproved)?;
    Ok(())
}

/// Divides each inequality by its common factor, rounds its constant down, keeps the tightest of
/// parallel ones, and turns opposite ones into an equality; true where a contradiction is found.
fn tighten(system: &mut System) -> Result<bool, Unproved> {
    let mut tightest: HashMap<Row, i128> = HashMap::new();
    for mut row in std::mem::take(&mut system.inequalities) {
        if row.iter().any(|entry| entry.unsigned_abs() > MAX_ENTRY) {
            return Err(Unproved);
        }
        let constant = row.pop().ok_or(Unproved)?;
        let g = row.iter().fold(0, |g, &coeff| gcd(g, coeff));
        if g == 0 {
            if constant < 0 {
                return Ok(true);
            }
            continue;
        }
        row.iter_mut().for_each(|coeff| *coeff /= g);
        let constant = constant.div_euclid(g);
        let kept = tightest.entry(row).or_insert(constant);
        *kept = constant.min(*kept);
    }
    let mut rows: Vec<(Row, i128)> = tightest.iter().map(|(row, c)| (row.clone(), *c)).collect();
    rows.sort_unstable();
    for (mut row, constant) in rows {
        let opposite: Row = row.iter().map(|coeff| -coeff).collect();
        let other = tightest.get(&opposite).copied();
        let slack = other.map(|c| c.checked_add(constant).ok_or(Unproved)).transpose()?;
        row.push(constant);
        match slack {
            Some(slack) if slack < 0 => return Ok(true),
            Some(0) => system.equalities.push(row),
            _ => system.inequalities.push(row),
        }
    }
    Ok(false)
}

/// Is the variable to eliminate next, with the rows that bound it.
struct Choice {
    variable: usize,
    lower: Vec<usize>,
    upper: Vec<usize>,
    exact: bool,
}

/// Chooses a variable whose elimination is exact, if there is one, and makes fewest rows.
fn choose(rows: &[Row]) -> Option<Choice> {
    let variables = rows.first()?.len() - 1;
    let candidates = (0..variables).filter_map(|variable| {
        let with = |sign: i128| {
            (0..rows.len()).filter(|&row| rows[row][variable].signum() == sign).collect::<Vec<_>>()
        };
        let (lower, upper) = (with(1), with(-1));
        let unit = |side: &[usize]| side.iter().all(|&row| rows[row][variable].abs() == 1);
        let exact = unit(&lower) || unit(&upper);
        let used = !(lower.is_empty() && upper.is_empty());
        used.then_some(Choice { variable, lower, upper, exact })
    });
    candidates.min_by_key(|choice| (!choice.exact, choice.lower.len() * choice.upper.len()))
}

/// Eliminates the chosen variable: what its bounds say of the others, exact, real or dark.
fn shadow(rows: &[Row], choice: &Choice, dark: bool) -> Result<Vec<Row>, Unproved> {
    let x = choice.variable;
    let mut result: Vec<Row> = rows.iter().filter(|row| row[x] == 0).cloned().collect();
    for (&lower, &upper) in
        choice.lower.iter().flat_map(|l| choice.upper.iter().map(move |u| (l, u)))
    {
        let (a, b) = (rows[lower][x], -rows[upper][x]);
        let mut row = vec![0; rows[lower].len()];
        for (at, entry) in row.iter_mut().enumerate() {
            let low = rows[lower][at].checked_mul(b).ok_or(Unproved)?;
            let high = rows[upper][at].checked_mul(a).ok_or(Unproved)?;
            *entry = low.checked_add(high).ok_or(Unproved)?;
        }
        if dark {
            let margin = (a - 1).checked_mul(b - 1).ok_or(Unproved)?;
            let constant = row.last_mut().ok_or(Unproved)?;
            *constant = constant.checked_sub(margin).ok_or(Unproved)?;
        }
        result.push(row);
    }
    Ok(result)
}

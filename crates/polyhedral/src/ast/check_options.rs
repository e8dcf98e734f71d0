//! Options of code generation that would have no effect, because nothing has their name or shape.
//!
//! isl passes over an option that it does not know. A misspelt one is then as good as none, so all
//! of them are refused here, before code is made.

use std::ops::RangeInclusive;

use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use super::options::JAM_LIMIT;
use crate::ast::basic_set::BasicSet;
use crate::{Error, OptionFault};

/// Options of one dimension, of bands and of maps alike.
const KINDS: [&str; 3] = ["atomic", "separate", "unroll"];

/// Options of two values: a dimension and a number of iterations.
const JAMS: [&str; 2] = ["interleave", "jam"];

const OF_BANDS: &[&str] = &["atomic", "interleave", "isolate", "jam", "separate", "unroll"];

const OF_MAPS: &[&str] = &["atomic", "separate", "separation_class", "unroll"];

/// Returns what is wrong with an option of a band of `members` below `outer` dimensions.
pub(crate) fn band_fault(
    options: &Union,
    outer: usize,
    members: usize,
    budget: &Budget,
) -> Result<Option<OptionFault>, Error> {
    for set in options.relations() {
        if let Some(fault) = fault_of_set(set, outer, members, budget)? {
            return Ok(Some(fault));
        }
    }
    Ok(None)
}

fn fault_of_set(
    set: &Relation,
    outer: usize,
    members: usize,
    budget: &Budget,
) -> Result<Option<OptionFault>, Error> {
    let tuple = &set.space().output;
    let form = |name: &str, expected: String| {
        let (name, option) = (name.to_owned(), set.to_string());
        Ok(Some(OptionFault::Form { name, option, expected }))
    };
    if let Some(input) = &set.space().input {
        return form(&input.name, "a set: a band's options do not say where they hold".to_owned());
    }
    let (name, dims) = match tuple.sides() {
        Some((left, right)) if tuple.name == "isolate" => {
            // Those of the first members hold whatever the others are, and those without outer
            // dimensions whatever these are.
            if [0, outer].contains(&left.dims.len()) && right.dims.len() <= members {
                return Ok(None);
            }
            let expected = format!(
                "{} or none, and no more than {} of the band, `isolate[[...] -> [...]]`",
                counted(outer, "outer dimension"),
                counted(members, "member")
            );
            return form("isolate", expected);
        }
        Some((left, right)) if left.name == "isolate" && KINDS.contains(&&*right.name) => {
            (right.name, right.dims.len())
        }
        Some((left, right)) if left.name == "isolate" => return Ok(Some(unknown(&right, &KINDS))),
        Some(_) => return Ok(Some(unknown(tuple, OF_BANDS))),
        None => (tuple.name.clone(), tuple.dims.len()),
    };
    match name.as_str() {
        name if KINDS.contains(&name) && dims == 1 => absent(set, name, members, "member", budget),
        name if KINDS.contains(&name) => form(name, format!("one dimension, `{name}[0]`")),
        name if JAMS.contains(&name) && dims == 2 && set.space().params.is_empty() => {
            let expected = format!("a number of iterations from 2 to {JAM_LIMIT}");
            match parts_outside(set, 1, 2..=JAM_LIMIT, budget)?.is_empty() {
                false => form(name, expected),
                true => absent(set, name, members, "member", budget),
            }
        }
        name if JAMS.contains(&name) => {
            form(name, format!("a member and a number of iterations, `{name}[0, 2]`"))
        }
        "isolate" => form("isolate", "`isolate[[...] -> [...]]`".to_owned()),
        _ => Ok(Some(unknown(tuple, OF_BANDS))),
    }
}

/// Returns what is wrong with an option of a map to points of these tuples.
pub(crate) fn map_fault(
    options: &Union,
    times: &[Tuple],
    budget: &Budget,
) -> Result<Option<OptionFault>, Error> {
    for map in options.relations() {
        let tuple = &map.space().output;
        let form = |expected: String| {
            let (name, option) = (tuple.name.clone(), map.to_string());
            Ok(Some(OptionFault::Form { name, option, expected }))
        };
        let fits = match tuple.name.as_str() {
            "separation_class" => tuple
                .sides()
                .is_some_and(|(left, right)| (left.dims.len(), right.dims.len()) == (1, 1)),
            name if KINDS.contains(&name) => tuple.nested.is_none() && tuple.dims.len() == 1,
            _ => return Ok(Some(unknown(tuple, OF_MAPS))),
        };
        if !fits {
            let class = tuple.name == "separation_class";
            let shape = if class { "[[0] -> [1]]" } else { "[0]" };
            return form(format!("one dimension, `{}{shape}`", tuple.name));
        }
        let Some(input) = &map.space().input else {
            return form(format!("where it holds, as in `[i] -> {}[0]`", tuple.name));
        };
        let Some(first) = times.iter().find(|time| is_same(time, input)) else { continue };
        let fault = absent(map, &tuple.name, first.dims.len(), "dimension", budget)?;
        if fault.is_some() {
            return Ok(fault);
        }
    }
    Ok(None)
}

/// Returns what is wrong with the first option that speaks of other points than those of a map.
///
/// isl passes over them, and some programs give the same options to many maps.
pub fn idle_option(options: &Union, schedule: &Union) -> Option<OptionFault> {
    let times: Vec<&Tuple> = schedule.relations().map(|map| &map.space().output).collect();
    let first = times.first()?;
    options.relations().find_map(|map| {
        let input = map.space().input.as_ref()?;
        if times.iter().any(|time| is_same(time, input)) {
            return None;
        }
        let dims: Vec<&str> = first.dims.iter().map(|_| "*").collect();
        Some(OptionFault::Elsewhere {
            name: map.space().output.name.clone(),
            option: map.to_string(),
            expected: format!("{}[{}]", first.name, dims.join(", ")),
        })
    })
}

fn is_same(a: &Tuple, b: &Tuple) -> bool {
    (&a.name, a.dims.len()) == (&b.name, b.dims.len())
}

fn unknown(tuple: &Tuple, known: &'static [&'static str]) -> OptionFault {
    OptionFault::Unknown { name: tuple.name.clone(), known }
}

/// Says that a disjunct names no dimension, if one does: the first value of the tuple is outside.
///
/// What goes on without end, as `unroll[x] : x >= 2`, is for as many dimensions as there are.
fn absent(
    set: &Relation,
    name: &str,
    count: usize,
    what: &'static str,
    budget: &Budget,
) -> Result<Option<OptionFault>, Error> {
    let inside = 0..=count as i128 - 1;
    for part in parts_outside(set, 0, inside, budget)? {
        if !is_endless(&part, set.space(), budget)? {
            let (name, option) = (name.to_owned(), part.relation(set.space().clone())?.to_string());
            return Ok(Some(OptionFault::Absent { name, option, count, what }));
        }
    }
    Ok(None)
}

/// Returns the disjuncts in which no point has an output in a range.
fn parts_outside(
    set: &Relation,
    output: usize,
    range: RangeInclusive<i128>,
    budget: &Budget,
) -> Result<Vec<BasicSet>, Error> {
    let space = set.space();
    let col = first_output(space) + output;
    let mut found = Vec::new();
    for part in BasicSet::all_of(set)? {
        let mut inside = part.clone();
        for (bound, sign) in [(-range.start(), 1), (*range.end(), -1)] {
            let mut row = vec![0; inside.cols()];
            (row[0], row[col]) = (bound, sign);
            inside.part.inequalities.push(row);
        }
        let is_empty = |cell: &BasicSet| cell.relation(space.clone())?.is_empty(budget);
        if is_empty(&inside)? && !is_empty(&part)? {
            found.push(part);
        }
    }
    Ok(found)
}

/// Returns whether the first output of a disjunct that has points has no least or no greatest value.
fn is_endless(part: &BasicSet, space: &Space, budget: &Budget) -> Result<bool, Error> {
    let mut row = vec![0_i128; part.cols()];
    row[first_output(space)] = 1;
    let (least, greatest) = part.relaxation(budget)?.range(&row, budget)?;
    Ok(least.is_none() || greatest.is_none())
}

/// Returns the column of the first output.
fn first_output(space: &Space) -> usize {
    1 + space.params.len() + space.input.as_ref().map_or(0, |tuple| tuple.dims.len())
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

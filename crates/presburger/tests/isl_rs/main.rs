//! isl's own tests, from the checkout of the crate `isl-rs`, put to this library.
//!
//! Rows that do not pass: of `mupa_bin_tests`, the two whose texts go on behind their ends, `B[] }]`;
//! of `mpa_bin_tests`, one where isl has a value at arguments that the inner function has none for;
//! of `lexmin_tests`, one that takes more than the budget. The numbers below may only grow.
//!
//! `cargo test -p tangram-presburger --test isl_rs -- --nocapture` prints the pass list.

mod functions;
mod pip;
mod tables;
mod values;

use tables::rows;
use tangram_presburger::{
    Aff, Budget, Error, PwAff, PwMultiAff, RationalRelation, Relation, Union, UnionPwMultiAff,
};

type Row<'a> = &'a [String];
type Check = fn(Row<'_>, &Budget) -> Result<bool, Error>;

fn read(text: &str, budget: &Budget) -> Result<Union, Error> {
    Union::parse(text, budget)
}

fn same(a: &Union, b: &str, budget: &Budget) -> Result<bool, Error> {
    a.is_equal(&read(b, budget)?, budget)
}

fn parsed(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    same(&read(&row[0], budget)?, &row[1], budget)
}

/// What is printed is read as the same points.
fn reparsed(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let given = read(&row[0], budget)?;
    same(&given, &given.to_string(), budget)
}

fn functions(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let given = PwMultiAff::parse(&row[0], budget)?;
    given.is_equal(&PwMultiAff::parse(&given.to_string(), budget)?, budget)
}

fn rational(text: &str, budget: &Budget) -> Result<RationalRelation, Error> {
    RationalRelation::parse(text, budget)
}

fn coalesced(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    if row[1].contains("rat:") {
        let given = rational(&row[1], budget)?;
        let merged = given.coalesce(budget)?;
        let few = row[0] == "0" || merged.disjuncts() <= 1;
        return Ok(merged.is_equal(&given, budget)? && few);
    }
    let given = read(&row[1], budget)?;
    let merged = given.coalesce(budget)?;
    let parts: usize = merged.relations().map(|piece| piece.conjunctions().len()).sum();
    Ok(merged.is_equal(&given, budget)? && (row[0] == "0" || parts <= 1))
}

fn subset(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let inside = if row.iter().any(|text| text.contains("rat:")) {
        rational(&row[0], budget)?.is_subset(&rational(&row[1], budget)?, budget)?
    } else {
        read(&row[0], budget)?.is_subset(&read(&row[1], budget)?, budget)?
    };
    Ok(inside == (row[2] == "1"))
}

fn minimum(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    if row[0].contains("rat:") {
        let least = rational(&row[0], budget)?.lexmin(budget)?;
        return least.is_equal(&rational(&row[1], budget)?, budget);
    }
    same(&read(&row[0], budget)?.lexmin(budget)?, &row[1], budget)
}

fn single_valued(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    Ok(read(&row[0], budget)?.is_single_valued(budget)? == (row[1] == "1"))
}

fn bijective(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    Ok(read(&row[0], budget)?.is_bijective(budget)? == (row[1] == "1"))
}

fn subtracted(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let rest = read(&row[0], budget)?.subtract_domain(&read(&row[1], budget)?, budget)?;
    same(&rest, &row[2], budget)
}

fn convex(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let hull = Relation::parse(&row[0], budget)?.convex_hull(budget)?;
    same(&hull.into(), &row[1], budget)
}

fn simple(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let set = Relation::parse(&row[1], budget)?;
    let hull = match row[0].as_str() {
        "&isl_set_simple_hull" => set.simple_hull(budget)?,
        _ => set.unshifted_simple_hull(budget)?,
    };
    same(&hull.into(), &row[2], budget)
}

/// A gist agrees with what it simplifies wherever the context holds.
fn gist(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (map, context) = (read(&row[0], budget)?, read(&row[1], budget)?);
    let gist = map.gist(&context, budget)?.intersect(&context, budget)?;
    gist.is_equal(&map.intersect(&context, budget)?, budget)
}

fn expressions(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (Aff::parse(&row[0], budget)?, Aff::parse(&row[2], budget)?);
    let result = match row[1].as_str() {
        "+" => a.add(&b)?,
        "-" => a.sub(&b)?,
        "*" => a.mul(&b)?,
        _ => a.div(&b)?,
    };
    Ok(match Aff::parse(&row[3], budget)? {
        expected if expected.is_nan() => result.is_nan(),
        expected => result.is_plainly_equal(&expected),
    })
}

fn extremes(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (PwAff::parse(&row[0], budget)?, PwAff::parse(&row[2], budget)?);
    let result = if row[1] == "m" { a.min(&b, budget)? } else { a.max(&b, budget)? };
    match PwAff::parse(&row[3], budget)? {
        expected if expected.involves_nan() => Ok(result.involves_nan()),
        expected => result.is_equal(&expected, budget),
    }
}

fn unions_of_functions(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let given = UnionPwMultiAff::parse(&row[1], budget)?;
    let found = match row[0].as_str() {
        "&isl_union_pw_multi_aff_involves_nan" => given.involves_nan(),
        _ => given.involves_locals(),
    };
    Ok(found == (row[2] == "isl_bool_true"))
}

fn equal_functions(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (PwMultiAff::parse(&row[1], budget)?, PwMultiAff::parse(&row[2], budget)?);
    Ok(a.is_equal(&b, budget)? == (row[0] == "1"))
}

/// The least points are points, exist where there are points, and nothing precedes them.
fn least(set: &Relation, budget: &Budget) -> Result<bool, Error> {
    let least = set.lexmin(budget)?;
    let inside = least.is_subset(set, budget)?;
    let complete = set.params(budget)?.is_subset(&least.params(budget)?, budget)?;
    Ok(inside && complete && least.is_single_valued(budget)? && precedes(set, &least, budget)?)
}

/// Returns whether no point of `set` is before the point of `least` for the same parameters.
fn precedes(set: &Relation, least: &Relation, budget: &Budget) -> Result<bool, Error> {
    let space = set.space();
    let order = tangram_presburger::Order::Less;
    let less = Relation::lexicographic(space.params.clone(), space.output.clone(), order);
    let before = less.intersect_domain(set, budget)?.intersect_range(least, budget)?;
    before.is_empty(budget)
}

/// Tables: name, check, and how many rows pass at least.
const TABLES: [(&str, Check, usize); 39] = [
    ("parse_map_equal_tests", parsed, 52),
    ("output_tests", reparsed, 11),
    ("reparse_pw_multi_aff_tests", functions, 10),
    ("coalesce_tests", coalesced, 100),
    ("coalesce_unbounded_tests", coalesced, 13),
    ("subset_tests", subset, 8),
    ("lexmin_tests", minimum, 9),
    ("sv_tests", single_valued, 9),
    ("bijective_tests", bijective, 13),
    ("subtract_domain_tests", subtracted, 3),
    ("convex_hull_tests", convex, 5),
    ("simple_hull_tests", simple, 4),
    ("plain_gist_tests", gist, 3),
    ("aff_bin_tests", expressions, 19),
    ("pw_aff_bin_tests", extremes, 6),
    ("upma_test_tests", unions_of_functions, 8),
    ("pma_equal_tests", equal_functions, 4),
    ("set_conversion_tests", reparsed, 6),
    ("val_un_tests", values::unary, 47),
    ("val_bin_tests", values::binary, 76),
    ("opt_tests", values::optimum, 3),
    ("opt_pw_tests", values::optima, 4),
    ("aff_eval_tests", values::evaluated, 24),
    ("upma_bin_tests", functions::union_binary, 9),
    ("upma_bin_fail_tests", functions::union_refused, 1),
    ("upma_uset_tests", functions::union_and_set, 6),
    ("mpa_un_tests", functions::tuple_unary, 12),
    ("mpa_bin_tests", functions::tuple_binary, 28),
    ("mupa_un_tests", functions::multi_unary, 7),
    ("mupa_bin_tests", functions::multi_binary, 22),
    ("mupa_set_tests", functions::multi_and_set, 18),
    ("mupa_uset_tests", functions::multi_and_sets, 5),
    ("mupa_ma_tests", functions::multi_applied, 9),
    ("mupa_pa_tests", functions::multi_applied_once, 9),
    ("mupa_pma_tests", functions::multi_applied, 16),
    ("mupa_upma_tests", functions::multi_composed, 13),
    ("umap_bin_tests", functions::relations, 13),
    ("pullback_tests", functions::composed, 11),
    ("pwqp_gist_tests", functions::gist_of_polynomial, 5),
];

#[test]
fn the_tables_of_isl_pass() {
    let Some(folder) = tables::isl() else {
        println!("skipped: needs `cargo fetch --manifest-path tests/peers/isl/Cargo.toml`");
        return;
    };
    let source = std::fs::read_to_string(folder.join("isl_test.c")).expect("readable");
    let mut fewer = Vec::new();
    for (name, check, least) in TABLES {
        let all = rows(&source, name);
        let mut passed = 0;
        for row in &all {
            let budget = Budget::steps(3_000_000);
            match check(row, &budget) {
                Ok(true) => passed += 1,
                outcome => println!("  {name}: {row:?}: {outcome:?}"),
            }
        }
        println!("{name}: {passed} of {}", all.len());
        if passed < least || all.is_empty() {
            fewer.push(format!("{name}: {passed} of {}, expected {least}", all.len()));
        }
    }
    assert!(fewer.is_empty(), "{}", fewer.join("\n"));
}

#[test]
fn the_integer_programs_of_isl_pass() {
    let Some(folder) = tables::isl() else {
        println!("skipped: needs `cargo fetch --manifest-path tests/peers/isl/Cargo.toml`");
        return;
    };
    let files = folder.join("test_inputs").read_dir().expect("a folder").flatten();
    let mut paths: Vec<_> = files.map(|entry| entry.path()).collect();
    paths.sort();
    let (mut passed, mut all) = (0, 0);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "pip")) {
        let text = std::fs::read_to_string(path).expect("readable");
        all += 1;
        let budget = Budget::steps(3_000_000);
        match pip::read(&text).map(|set| least(&set?, &budget)) {
            Some(Ok(true)) => passed += 1,
            outcome => println!("  {}: {outcome:?}", path.display()),
        }
    }
    println!("integer programs: {passed} of {all}");
    assert!(passed >= PROGRAMS, "{passed} of {all}, expected {PROGRAMS}");
}

/// How many programs pass at least.
const PROGRAMS: usize = 17;

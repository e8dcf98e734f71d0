//! Tables of tuples of functions, and of functions of several spaces.

use tangram_presburger::count::PwQPolynomial;
use tangram_presburger::{
    Aff, Budget, Error, MultiAff, MultiPwAff, MultiUnionPwAff, PwAff, PwMultiAff, Relation, Union,
    UnionPwAff, UnionPwMultiAff,
};

use super::Row;

/// What is expected must also be read from what it is printed as.
fn multi(found: &MultiUnionPwAff, expected: &str, budget: &Budget) -> Result<bool, Error> {
    let printed = MultiUnionPwAff::parse(&found.to_string(), budget)?;
    let expected = MultiUnionPwAff::parse(expected, budget)?;
    Ok(found.is_equal(&expected, budget)? && printed.is_equal(&expected, budget)?)
}

fn tuple(found: &MultiPwAff, expected: &str, budget: &Budget) -> Result<bool, Error> {
    let printed = MultiPwAff::parse(&found.to_string(), budget)?;
    let expected = MultiPwAff::parse(expected, budget)?;
    Ok(found.is_equal(&expected, budget)? && printed.is_equal(&expected, budget)?)
}

fn union(found: &UnionPwMultiAff, expected: &str, budget: &Budget) -> Result<bool, Error> {
    found.is_equal(&UnionPwMultiAff::parse(expected, budget)?, budget)
}

pub fn union_binary(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let read = |text: &str| UnionPwMultiAff::parse(text, budget);
    let (a, b) = (read(&row[1])?, read(&row[2])?);
    let found = match row[0].trim_start_matches("&isl_union_pw_multi_aff_") {
        "add" => a.add(&b, budget)?,
        "union_add" => a.union_add(&b, budget)?,
        "pullback_union_pw_multi_aff" => a.pullback(&b, budget)?,
        _ => a.preimage_domain_wrapped_domain(&b, budget)?,
    };
    union(&found, &row[3], budget)
}

pub fn union_refused(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let read = |text: &str| UnionPwMultiAff::parse(text, budget);
    Ok(read(&row[1])?.union_add(&read(&row[2])?, budget).is_err())
}

pub fn union_and_set(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (UnionPwMultiAff::parse(&row[1], budget)?, Union::parse(&row[2], budget)?);
    let found = match row[0].as_str() {
        "&isl_union_pw_multi_aff_intersect_domain_wrapped_domain" => {
            a.intersect_domain_wrapped_domain(&b, budget)?
        }
        _ => a.intersect_domain_wrapped_range(&b, budget)?,
    };
    union(&found, &row[3], budget)
}

pub fn tuple_unary(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let given = MultiPwAff::parse(&row[1], budget)?;
    let found = match row[0].as_str() {
        "&isl_multi_pw_aff_range_factor_domain" => given.range_factor_domain(budget)?,
        _ => given.range_factor_range(budget)?,
    };
    tuple(&found, &row[2], budget)
}

pub fn tuple_binary(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (MultiPwAff::parse(&row[1], budget)?, MultiPwAff::parse(&row[2], budget)?);
    let found = match row[0].trim_start_matches("&isl_multi_pw_aff_") {
        "add" => a.add(&b, budget)?,
        "range_product" => a.range_product(&b, budget)?,
        "product" => a.product(&b, budget)?,
        _ => a.pullback(&b, budget)?,
    };
    tuple(&found, &row[3], budget)
}

pub fn multi_unary(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    multi(&MultiUnionPwAff::parse(&row[1], budget)?.range_factor_range()?, &row[2], budget)
}

pub fn multi_binary(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let read = |text: &str| MultiUnionPwAff::parse(text, budget);
    let (a, b) = (read(&row[1])?, read(&row[2])?);
    let found = match row[0].trim_start_matches("&isl_multi_union_pw_aff_") {
        "add" => a.add(&b, budget)?,
        "sub" => a.sub(&b, budget)?,
        "union_add" => a.union_add(&b, budget)?,
        _ => a.range_product(&b, budget)?,
    };
    multi(&found, &row[3], budget)
}

pub fn multi_and_set(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (MultiUnionPwAff::parse(&row[1], budget)?, Relation::parse(&row[2], budget)?);
    let found = match row[0].as_str() {
        "&isl_multi_union_pw_aff_intersect_range" => a.intersect_range(&b, budget)?,
        _ => a.intersect_params(&b, budget)?,
    };
    multi(&found, &row[3], budget)
}

pub fn multi_and_sets(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (MultiUnionPwAff::parse(&row[1], budget)?, Union::parse(&row[2], budget)?);
    multi(&a.intersect_domain(&b, budget)?, &row[3], budget)
}

pub fn multi_applied(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let a = MultiUnionPwAff::parse(&row[1], budget)?;
    if row[0].ends_with("apply_multi_aff") {
        MultiAff::parse(&row[2], budget)?;
    }
    multi(&a.apply(&PwMultiAff::parse(&row[2], budget)?, budget)?, &row[3], budget)
}

pub fn multi_applied_once(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (MultiUnionPwAff::parse(&row[1], budget)?, PwAff::parse(&row[2], budget)?);
    let found = a.apply_pw_aff(&b, budget)?;
    let printed = UnionPwAff::parse(&found.to_string(), budget)?;
    let expected = UnionPwAff::parse(&row[3], budget)?;
    Ok(found.is_equal(&expected, budget)? && printed.is_equal(&expected, budget)?)
}

pub fn multi_composed(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let a = MultiUnionPwAff::parse(&row[1], budget)?;
    multi(&a.pullback(&UnionPwMultiAff::parse(&row[2], budget)?, budget)?, &row[3], budget)
}

pub fn composed(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let found = MultiAff::parse(&row[0], budget)?.pullback(&MultiAff::parse(&row[1], budget)?)?;
    let expected = MultiAff::parse(&row[2], budget)?;
    let apart = |(a, b): (&Aff, &Aff)| !a.is_plainly_equal(b);
    let (found, expected) = (found.members(), expected.members());
    Ok(found.len() == expected.len() && !found.iter().zip(&expected).any(apart))
}

/// A gist has the expected values where the context holds.
pub fn gist_of_polynomial(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let read = |text: &str| PwQPolynomial::parse(text, budget);
    let context = Relation::parse(&row[1], budget)?;
    let within = |function: PwQPolynomial| function.intersect_domain(&context, budget);
    let found = within(read(&row[0])?.gist(&context, budget)?)?;
    found.is_equal(&within(read(&row[2])?)?, budget)
}

pub fn relations(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (a, b) = (Union::parse(&row[1], budget)?, Union::parse(&row[2], budget)?);
    let found = match row[0].trim_start_matches("&isl_union_map_intersect") {
        "" => a.intersect(&b, budget)?,
        "_domain_factor_domain" => a.intersect_domain_factor_domain(&b, budget)?,
        "_domain_factor_range" => a.intersect_domain_factor_range(&b, budget)?,
        "_range_factor_domain" => a.intersect_range_factor_domain(&b, budget)?,
        _ => a.intersect_range_factor_range(&b, budget)?,
    };
    found.is_equal(&Union::parse(&row[3], budget)?, budget)
}

//! Checks of loops and conditions: what each region is given and gives.

use tangram_ir::{Module, Op, Type, TypeData};

use super::super::verify::{Checked, Site};

const YIELD: &str = "scf.yield";

/// `scf.for`: bounds and counter have one type; what is carried keeps its types.
pub(super) fn check_for(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let operands = site.operands();
    let [low, high, step, inits @ ..] = &operands[..] else { return Ok(()) };
    site.same("one type of bounds and step", &[*low; 2], &[*high, *step])?;
    let counts = match site.context().type_data(*low) {
        TypeData::Index => true,
        TypeData::Integer { sign, .. } => *sign == tangram_ir::Signedness::Signless,
        _ => false,
    };
    if !counts {
        let found = site.text(&[*low]);
        return Err(site.error("operand-type", format_args!("expected integers, found {found}")));
    }
    let body = site.body(0)?;
    let arguments: Vec<Type> = std::iter::once(*low).chain(inits.iter().copied()).collect();
    site.arguments(body, &arguments)?;
    site.same("the region to yield", inits, &site.end(body, YIELD)?)
}

/// `scf.if`: both regions give the results; with results, both are there.
pub(super) fn check_if(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let flag = site.context().int_type(1);
    site.same("a condition of type", &[flag], &site.operands())?;
    site.branches(YIELD)
}

/// `scf.while`: the first region takes what the second gives; the second takes the results.
pub(super) fn check_while(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let (before, after) = (site.body(0)?, site.body(1)?);
    site.arguments(before, &site.operands())?;
    let tested = site.end(before, "scf.condition")?;
    let flag = site.context().int_type(1);
    let expected: Vec<Type> = std::iter::once(flag).chain(site.results()).collect();
    site.same("the first region to end with", &expected, &tested)?;
    site.arguments(after, &site.results())?;
    site.same("the second region to yield", &site.operands(), &site.end(after, YIELD)?)
}

/// `scf.execute_region`: each `scf.yield` gives the results.
pub(super) fn check_execute_region(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let body = site.body(0)?;
    site.arguments(body, &[])?;
    for block in module.blocks(module.region(op, 0)) {
        let end = module.last_op(block).filter(|&end| module.name_text(end) == YIELD);
        if let Some(end) = end {
            let found = site.types(module.operands(end));
            site.same("the region to yield", &site.results(), &found)?;
        }
    }
    Ok(())
}

/// `scf.parallel`: a counter for each lower bound, and a reduction for each result.
pub(super) fn check_parallel(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let sizes = site.segments()?;
    let &[low, high, step, inits] = &sizes[..] else { return Ok(()) };
    if low == 0 || high != low || step != low {
        let message =
            format!("expected as many bounds and steps, at least one, found {low}, {high}, {step}");
        return Err(site.error("segments", message));
    }
    let operands = site.operands();
    let (bounds, inits) = operands.split_at(operands.len().saturating_sub(inits));
    site.same("bounds and steps of types", &vec![site.index(); bounds.len()], bounds)?;
    site.same("results of types", inits, &site.results())?;
    let body = site.body(0)?;
    site.arguments(body, &vec![site.index(); low])?;
    let given = site.end(body, "scf.reduce")?;
    site.same("the region to reduce", inits, &given)
}

/// `scf.reduce`: a region with two arguments for each operand.
pub(super) fn check_reduce(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    site.inside(&["scf.parallel"])?;
    let (operands, regions) = (site.operands(), module.regions(op).len());
    if operands.len() != regions {
        let message = format!("expected {} regions, found {regions}", operands.len());
        return Err(site.error("region-count", message));
    }
    for (i, &ty) in operands.iter().enumerate() {
        let block = site.body(i)?;
        site.arguments(block, &[ty; 2])?;
        site.same("the region to return", &[ty], &site.end(block, "scf.reduce.return")?)?;
    }
    Ok(())
}

/// `scf.index_switch`: a region for each case and one more, each of which gives the results.
pub(super) fn check_switch(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    site.same("an operand of type", &[site.index()], &site.operands())?;
    let cases = module.attr(op, "cases").and_then(|attr| site.context().as_i64s(attr));
    let cases = cases.unwrap_or_default();
    let regions = module.regions(op).len();
    if regions != cases.len() + 1 {
        let message = format!("expected {} regions, found {regions}", cases.len() + 1);
        return Err(site.error("region-count", message));
    }
    let mut sorted = cases;
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("expected each case once, found {} again", twice[0]);
        return Err(site.error("case", message));
    }
    for i in 0..regions {
        site.body(i)?;
        site.gives_results(i, YIELD)?;
    }
    Ok(())
}

/// `scf.yield` ends a region of a loop, a condition or a region that is run once.
pub(super) fn check_yield(module: &Module, op: Op) -> Checked {
    const PARENTS: &[&str] =
        &["scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while"];
    Site::new(module, op).inside(PARENTS)
}

/// `scf.condition` ends the first region of `scf.while`.
pub(super) fn check_condition(module: &Module, op: Op) -> Checked {
    Site::new(module, op).inside(&["scf.while"])
}

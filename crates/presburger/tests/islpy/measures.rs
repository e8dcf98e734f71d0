//! The operations that give functions and numbers.

use tangram_presburger::count::{PwQPolynomial, Side};
use tangram_presburger::{Budget, Error, Inequalities, Integer, Relation};

pub type Measure = fn(&Relation, &Relation, &Budget) -> Result<String, Error>;
pub type Weighing = fn(&Relation, &PwQPolynomial, &Budget) -> Result<String, Error>;

/// On any two relations between the same tuples.
pub const MEASURES: [(&str, Measure); 15] = [
    ("card", |a, _, limit| Ok(a.card(limit)?.to_string())),
    ("card_range", |a, _, limit| Ok(a.range(limit)?.card(limit)?.to_string())),
    ("card_sum", |a, _, limit| Ok(a.card(limit)?.sum(limit)?.to_string())),
    ("dim_min", |a, _, limit| Ok(a.dim_min(0, limit)?.to_string())),
    ("dim_max", |a, _, limit| Ok(a.dim_max(0, limit)?.to_string())),
    ("set_dim_max", |a, _, limit| Ok(a.range(limit)?.dim_max(0, limit)?.to_string())),
    ("min_multi", |a, _, limit| Ok(a.min_multi_pw_aff(limit)?.to_string())),
    ("max_multi", |a, _, limit| Ok(a.max_multi_pw_aff(limit)?.to_string())),
    ("lexmin_function", |a, _, limit| Ok(a.lexmin_pw_multi_aff(limit)?.to_string())),
    ("lexmax_function", |a, _, limit| Ok(a.lexmax_pw_multi_aff(limit)?.to_string())),
    ("box", |a, _, limit| {
        let Some(bounds) = a.bounding_box(limit)? else { return Ok("none".into()) };
        let end = |end: &Option<Integer>| end.as_ref().map_or("?".into(), Integer::to_string);
        let ends = bounds.iter().map(|(low, high)| format!("{}:{}", end(low), end(high)));
        Ok(ends.collect::<Vec<_>>().join(" "))
    }),
    ("fixed_box", |a, _, limit| {
        let Some(found) = a.simple_fixed_box_hull(limit)? else { return Ok("none".into()) };
        let size: Vec<String> = found.size.iter().map(Integer::to_string).collect();
        Ok(format!("{}|{}", size.join(" "), found.offset))
    }),
    ("stride", |a, _, limit| {
        let stride = a.stride(0, limit)?;
        Ok(format!("{}|{}", stride.stride, stride.points(a.space(), 0)?))
    }),
    ("lattice_tile", |a, _, limit| {
        let tile = a.lattice_tile(limit)?;
        let mut points = Relation::universe(a.space().clone());
        for (dim, stride) in tile.iter().enumerate() {
            points = points.intersect(&stride.points(a.space(), dim)?, limit)?;
        }
        let size: Vec<String> = tile.iter().map(|stride| stride.stride.to_string()).collect();
        Ok(format!("{}|{points}", size.join(" ")))
    }),
    ("fourier_motzkin", fourier_motzkin),
];

/// On relations from a tuple to itself.
pub const PATHS: [(&str, Measure); 2] = [
    ("closure", |a, _, limit| {
        let (closure, exact) = a.transitive_closure(limit)?;
        Ok(format!("{exact}|{closure}"))
    }),
    ("power", |a, _, limit| {
        let (power, exact) = a.power(limit)?;
        Ok(format!("{exact}|{power}"))
    }),
];

/// On a relation and a quasi-polynomial of its outputs.
pub const WEIGHINGS: [(&str, Weighing); 6] = [
    ("sum", |a, weight, limit| Ok(over(a, weight, limit)?.sum(limit)?.to_string())),
    ("apply", |a, weight, limit| Ok(weight.apply(a, limit)?.to_string())),
    ("square_sum", |a, weight, limit| {
        let part = over(a, weight, limit)?;
        Ok(part.mul(weight, limit)?.sub(&part, limit)?.sum(limit)?.to_string())
    }),
    ("upper_bound", |a, weight, limit| bound(a, weight, Side::Upper, limit)),
    ("lower_bound", |a, weight, limit| bound(a, weight, Side::Lower, limit)),
    ("support", |a, weight, limit| Ok(over(a, weight, limit)?.support()?.to_string())),
];

fn over(a: &Relation, weight: &PwQPolynomial, limit: &Budget) -> Result<PwQPolynomial, Error> {
    weight.intersect_domain(&a.range(limit)?, limit)
}

fn bound(
    a: &Relation,
    weight: &PwQPolynomial,
    side: Side,
    limit: &Budget,
) -> Result<String, Error> {
    Ok(over(a, weight, limit)?.bound(side, limit)?.to_string())
}

/// On a grid so fine that rounding rational corners to it changes nothing.
const GRID: i64 = 720_720;

/// The inequalities of the first disjunct, divisions as dimensions, and those left without the
/// first output, all on the grid; separated by `|`.
fn fourier_motzkin(a: &Relation, _: &Relation, limit: &Budget) -> Result<String, Error> {
    let Some(system) = Inequalities::of(a)?.into_iter().next() else { return Ok("none".into()) };
    let first = a.space().params.len() + a.space().input.as_ref().map_or(0, |t| t.dims.len());
    let step = system.eliminate(&system.names()[first].clone(), limit)?;
    Ok(format!("{first}|{}|{}", on_grid(&system), on_grid(&step.result)))
}

fn on_grid(system: &Inequalities) -> String {
    // Names could be the words of the notation or those of divisions.
    let names: Vec<String> = (0..system.names().len()).map(|i| format!("x{i}")).collect();
    let grid = Integer::from(GRID);
    let row = |row: &Vec<Integer>| {
        let terms = row[1..].iter().zip(&names).map(|(factor, name)| format!(" + {factor} {name}"));
        format!("{}{} >= 0", row[0].mul(&grid), terms.collect::<String>())
    };
    let rows: Vec<String> = system.rows().iter().map(row).collect();
    let facts = if rows.is_empty() { "true".into() } else { rows.join(" and ") };
    format!("{{ [{}] : {facts} }}", names.join(", "))
}

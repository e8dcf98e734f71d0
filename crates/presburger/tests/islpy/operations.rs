//! The operations that give relations or answers.

use tangram_presburger::{Budget, Error, Relation};

/// An operation on two relations; its result as text.
pub type Operation = fn(&Relation, &Relation, &Budget) -> Result<Relation, Error>;
pub type Question = fn(&Relation, &Relation, &Budget) -> Result<bool, Error>;

/// On any two relations between the same tuples.
pub const RELATIONS: [(&str, Operation); 47] = [
    ("same", |a, _, _| Ok(a.clone())),
    ("intersect", |a, b, limit| a.intersect(b, limit)),
    ("union", |a, b, _| a.union(b)),
    ("subtract", |a, b, limit| a.subtract(b, limit)),
    ("symmetric", |a, b, limit| a.symmetric_difference(b, limit)),
    ("complement", |a, _, limit| a.complement(limit)),
    ("inverse", |a, _, _| a.inverse()),
    ("domain", |a, _, limit| a.domain(limit)),
    ("range", |a, _, limit| a.range(limit)),
    ("params", |a, _, limit| a.params(limit)),
    ("project_params", |a, _, limit| a.project_params(&["n"], limit)),
    ("lexmin", |a, _, limit| a.lexmin(limit)),
    ("lexmax", |a, _, limit| a.lexmax(limit)),
    ("least_output", |a, _, limit| a.range(limit)?.lexmin(limit)),
    ("compose", |a, b, limit| a.apply_range(&b.inverse()?, limit)),
    ("apply_domain", |a, b, limit| a.apply_domain(b, limit)),
    ("restrict", |a, b, limit| a.intersect_domain(&b.domain(limit)?, limit)),
    ("restrict_params", |a, b, limit| a.intersect_params(&b.params(limit)?, limit)),
    ("subtract_range", |a, b, limit| a.subtract_range(&b.range(limit)?, limit)),
    ("identity", |a, _, limit| {
        let tuple = a.space().output.clone();
        let all = Relation::identity(a.space().params.clone(), tuple);
        all.intersect_domain(&a.range(limit)?, limit)
    }),
    ("domain_map", |a, _, _| a.domain_map()),
    ("range_map", |a, _, _| a.range_map()),
    ("wrap", |a, _, _| a.wrap()),
    ("unwrap", |a, b, limit| a.wrap()?.intersect(&b.wrap()?, limit)?.unwrap()),
    ("product", |a, b, limit| a.product(b, limit)),
    ("zip", |a, b, limit| a.product(b, limit)?.zip()),
    ("range_product", |a, b, limit| a.range_product(b, limit)),
    ("domain_product", |a, b, limit| a.domain_product(b, limit)),
    ("curry", |a, b, limit| a.domain_product(b, limit)?.curry()),
    ("uncurry", |a, b, limit| a.range_product(b, limit)?.uncurry()),
    ("project", |a, _, limit| a.domain(limit)?.project_out(0..1, limit)),
    ("affine_hull", |a, _, limit| a.affine_hull(limit)),
    ("lattice_hull", |a, _, limit| a.lattice_hull(limit)),
    ("equalities", |a, _, limit| a.detect_equalities(limit)),
    // Divisions are always explicit here.
    ("compute_divs", |a, _, _| Ok(a.clone())),
    ("eliminate", |a, _, limit| a.eliminate(0..1, limit)),
    ("coalesce", |a, _, limit| a.coalesce(limit)),
    ("gist", |a, b, limit| a.gist(b, limit)),
    ("gist_params", |a, b, limit| {
        let all = Relation::universe(a.space().clone());
        a.gist(&all.intersect_params(&b.params(limit)?, limit)?, limit)
    }),
    ("make_disjoint", |a, _, limit| a.make_disjoint(limit)),
    ("redundancies", |a, _, limit| a.remove_redundancies(limit)),
    ("simple_hull", |a, _, limit| a.simple_hull(limit)),
    ("polyhedral_hull", |a, _, limit| a.polyhedral_hull(limit)),
    ("convex_hull", |a, _, limit| a.convex_hull(limit)),
    ("unshifted", |a, _, limit| a.unshifted_simple_hull(limit)),
    ("lift", |a, _, limit| a.range(limit)?.lift(limit)),
    ("sample", |a, _, limit| match a.sample(limit)? {
        Some(point) => Relation::point(a.space().clone(), &point),
        None => Ok(Relation::empty(a.space().clone())),
    }),
];

/// On two relations from a tuple to itself.
pub const STEPS: [(&str, Operation); 4] = [
    ("deltas", |a, _, limit| a.deltas(limit)),
    ("deltas_map", |a, _, limit| a.deltas_map(limit)),
    ("square", |a, _, limit| fixed_power(a, 2, limit)),
    ("fifth_power", |a, _, limit| fixed_power(a, 5, limit)),
];

fn fixed_power(a: &Relation, count: u64, limit: &Budget) -> Result<Relation, Error> {
    let count = std::num::NonZeroU64::new(count).expect("steps");
    a.fixed_power(count, limit)
}

pub const QUESTIONS: [(&str, Question); 9] = [
    ("subset", |a, b, limit| a.is_subset(b, limit)),
    ("strict_subset", |a, b, limit| a.intersect(b, limit)?.is_strict_subset(a, limit)),
    ("surjective", |a, b, limit| a.is_surjective_onto(&b.range(limit)?, limit)),
    ("equal", |a, b, limit| a.is_equal(b, limit)),
    ("disjoint", |a, b, limit| a.is_disjoint(b, limit)),
    ("empty", |a, b, limit| a.intersect(b, limit)?.is_empty(limit)),
    ("single", |a, _, limit| a.is_single_valued(limit)),
    ("injective", |a, _, limit| a.is_injective(limit)),
    ("bijective", |a, _, limit| a.is_bijective(limit)),
];

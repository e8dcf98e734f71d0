//! The example kernels: read, analysed and scheduled, with the loops that are known to be best.

mod support;

use support::budget;
use support::kernel::text;
use tangram_polyhedral::NodeKind;
use tangram_polyhedral::ScheduleTree;
use tangram_polyhedral::schedule::Options;
use tangram_scop::parts;

/// Depth of the deepest permutable band, and how many of its members are parallel.
fn best(tree: &ScheduleTree) -> (usize, usize) {
    let bands = tree.nodes().filter_map(|node| match tree.kind(node) {
        NodeKind::Band(band) if band.permutable => {
            let parallel = band.members.iter().filter(|member| member.coincident).count();
            Some((band.members.len(), parallel))
        }
        _ => None,
    });
    bands.max().unwrap_or_default()
}

/// Kernels with the depth and the parallel loops of their deepest permutable band.
const QUICK: &[(&str, (usize, usize))] = &[
    ("gemm", (3, 2)),
    ("two_products", (3, 2)),
    ("three_products", (3, 2)),
    ("atax", (2, 1)),
    ("bicg", (2, 1)),
    ("mvt", (2, 1)),
    ("gesummv", (2, 1)),
    ("gemver", (2, 2)),
    ("syrk", (3, 2)),
    // Rows are read below the one that is written: only columns are independent.
    ("trmm", (3, 1)),
    ("trisolv", (2, 0)),
    ("lu", (3, 0)),
    ("cholesky", (3, 0)),
    ("jacobi_1d", (2, 0)),
    ("jacobi_2d", (3, 0)),
];

const SLOW: &[(&str, (usize, usize))] = &[
    ("covariance", (3, 2)),
    // One buffer for all rows keeps both outer loops in their order.
    ("doitgen", (2, 1)),
    ("conv2d", (7, 4)),
    ("seidel_2d", (3, 0)),
    ("fdtd_2d", (3, 0)),
    // Row and column `k` are read on both sides of them: the outer loop stays alone.
    ("floyd_warshall", (2, 0)),
];

#[test]
fn kernels_have_the_loops_that_are_known() {
    check(QUICK);
}

#[test]
#[ignore = "takes half a minute"]
fn large_kernels_have_the_loops_that_are_known() {
    check(SLOW);
}

fn check(kernels: &[(&str, (usize, usize))]) {
    let mut wrong = Vec::new();
    for (name, expected) in kernels {
        let budget = budget();
        let found = parts(&text(name), &budget);
        let found = found.unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        assert_eq!(found.len(), 1, "{name}");
        let scop = &found[0].scop;
        let constraints = scop.constraints(&budget).expect("within the budget");
        // The source keeps its own dependences; a computed schedule is checked as it is made.
        constraints.check(&scop.schedule, &budget).unwrap_or_else(|e| panic!("{name}: {e}"));
        let scheduled = constraints.schedule(&Options::default(), None, &budget);
        let scheduled = scheduled.unwrap_or_else(|error| panic!("{name}: {error}"));
        let best = best(&scheduled.tree);
        if best != *expected {
            wrong.push(format!("{name}: found {best:?}, expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

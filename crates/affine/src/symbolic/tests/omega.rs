//! The decision procedure against enumeration of boxes.

use proptest::prelude::*;

use crate::symbolic::omega::{Row, System, proves_empty};

const SIDE: i128 = 6;

fn row() -> impl Strategy<Value = Row> {
    (proptest::collection::vec(-9i128..10, 3), -30i128..31).prop_map(|(mut row, constant)| {
        row.push(constant);
        row
    })
}

fn system() -> impl Strategy<Value = System> {
    let rows = |most| proptest::collection::vec(row(), 0..=most);
    (rows(1), rows(4)).prop_map(|(equalities, mut inequalities)| {
        for variable in 0..3 {
            let mut lower = vec![0; 4];
            lower[variable] = 1;
            let mut upper = vec![0, 0, 0, SIDE - 1];
            upper[variable] = -1;
            inequalities.extend([lower, upper]);
        }
        System { equalities, inequalities }
    })
}

fn has_point(system: &System) -> bool {
    let value = |row: &Row, p: [i128; 3]| row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
    let axis = || 0..SIDE;
    let mut points = axis().flat_map(|x| axis().flat_map(move |y| axis().map(move |z| [x, y, z])));
    points.any(|point| {
        system.equalities.iter().all(|row| value(row, point) == 0)
            && system.inequalities.iter().all(|row| value(row, point) >= 0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn boxes_are_decided(system in system()) {
        prop_assert_eq!(proves_empty(system.clone()), !has_point(&system), "{:?}", system);
    }
}

#[test]
fn splinters_are_needed() {
    // Pugh's example: 27 <= 11x + 13y <= 45 and -10 <= 7x - 9y <= 4 holds for rationals only.
    let rows = [[11, 13, -27], [-11, -13, 45], [7, -9, 10], [-7, 9, 4]];
    let inequalities = rows.iter().map(|row| row.to_vec()).collect();
    assert!(proves_empty(System { inequalities, equalities: Vec::new() }));
}

#[test]
fn huge_entries_claim_nothing() {
    let huge = i128::MAX;
    let inequalities = vec![vec![huge, -huge + 1, -1], vec![-huge, huge - 1, -1], vec![1, huge, 0]];
    assert!(!proves_empty(System { inequalities, equalities: vec![vec![huge, i128::MIN, 1]] }));
}

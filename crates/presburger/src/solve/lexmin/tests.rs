//! Minima of random systems, point by point.

use super::*;

fn row(numbers: &[i64]) -> Vec<Integer> {
    numbers.iter().map(|v| Integer::from(*v)).collect()
}

fn at(row: &[i64], point: &[i64]) -> i64 {
    row[0] + row[1..].iter().zip(point).map(|(a, b)| a * b).sum::<i64>()
}

fn small(row: &[Integer]) -> Vec<i64> {
    row.iter().map(|v| v.to_i64().expect("small")).collect()
}

/// The values of the one piece that has the parameters.
fn found(pieces: &[Piece], params: &[i64]) -> Option<Vec<i64>> {
    let mut values = Vec::new();
    for piece in pieces {
        let mut point = params.to_vec();
        for floor in &piece.floors {
            let den = floor.den.to_i64().expect("small");
            point.push(at(&small(&floor.num), &point).div_euclid(den));
        }
        if piece.context.iter().all(|row| at(&small(row), &point) >= 0) {
            values.push(piece.values.iter().map(|row| at(&small(row), &point)).collect());
        }
    }
    assert!(values.len() <= 1, "pieces are disjoint: {params:?} has {values:?}");
    values.pop()
}

#[test]
fn pieces_hold_the_least_points_and_no_others() {
    let mut state = 5_u64;
    let mut below = move |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 33) % bound) as i64
    };
    let side = 6;
    let (mut with, mut without) = (0, 0);
    for turn in 0..200 {
        let mut rows: Vec<Vec<i64>> = Vec::new();
        for _ in 0..2 + turn % 3 {
            let mut numbers: Vec<i64> = (0..5).map(|_| below(11) - 5).collect();
            numbers[0] = below(13) - 4;
            if turn % 4 == 0 {
                rows.push(numbers.iter().map(|v| -v).collect());
            }
            rows.push(numbers);
        }
        for unknown in 3..5 {
            let bound = |sign| (0..5).map(|col| i64::from(col == unknown) * sign).collect();
            let (low, mut high): (Vec<i64>, Vec<i64>) = (bound(1), bound(-1));
            high[0] = side;
            rows.extend([low, high]);
        }
        let query = Query {
            params: 2,
            unknowns: 2,
            rows: rows.iter().map(|r| row(r)).collect(),
            ..Query::default()
        };
        let budget = Budget::steps(200_000);
        let pieces = lexmin(&query, &budget).expect("small");
        for params in (-4..=4).flat_map(|a| (-4..=4).map(move |b| [a, b])) {
            let points = (0..=side).flat_map(|x| (0..=side).map(move |y| [x, y]));
            let inside = |p: &[i64; 2]| {
                let point = [params[0], params[1], p[0], p[1]];
                rows.iter().all(|row| at(row, &point) >= 0)
            };
            let expected = points.into_iter().find(inside).map(|point| point.to_vec());
            assert_eq!(found(&pieces, &params), expected, "{rows:?} at {params:?}");
            with += usize::from(expected.is_some());
            without += usize::from(expected.is_none());
        }
    }
    assert!(with > 1500 && without > 1500, "{with} and {without}");
}

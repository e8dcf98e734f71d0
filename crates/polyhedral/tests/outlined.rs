//! Loops over tiles that stand for several statements: every instance once, dependences kept.

use std::collections::HashMap;

use tangram_polyhedral::ast::{Ast, AstOptions, CStyle};
use tangram_polyhedral::contraction::{Cut, KERNEL, TileLoops};
use tangram_polyhedral::scop::{Scop, Statement};
use tangram_polyhedral::{Error, ScheduleTree};
use tangram_presburger::{Budget, Relation, Union};

/// `C[i][j] = 0; for k: C[i][j] += A[i][k] * B[k][j]; C[i][j] = D[i][j] + C[i][j]`, whose last
/// statement reads `read` of `C`.
fn part(read: &str) -> Scop {
    let budget = Budget::unlimited();
    let union = |text: &str| Union::parse(&format!("[n, m, l] -> {text}"), &budget).expect(text);
    let (ij, ijk) = ("0 <= i < n and 0 <= j < m", "0 <= i < n and 0 <= j < m and 0 <= k < l");
    let statement = |name: &str, text: &str| Statement {
        name: name.to_owned(),
        domain: union(text).single().expect("one set").clone(),
        update: None,
    };
    let map = union(&format!(
        "{{ I[i, j] -> [0, i, j, 0] : {ij}; S[i, j, k] -> [1, i, j, k] : {ijk}; \
           F[i, j] -> [2, i, j, 0] : {ij} }}"
    ));
    let writes = union(&format!(
        "{{ I[i, j] -> C[i, j] : {ij}; S[i, j, k] -> C[i, j] : {ijk}; F[i, j] -> E[i, j] : {ij} }}"
    ));
    Scop {
        context: Some(
            Relation::parse("[n, m, l] -> { : n >= 0 and m >= 0 and l >= 0 }", &budget)
                .expect("a context"),
        ),
        statements: vec![
            statement("I", &format!("{{ I[i, j] : {ij} }}")),
            statement("S", &format!("{{ S[i, j, k] : {ijk} }}")),
            statement("F", &format!("{{ F[i, j] : {ij} }}")),
        ],
        arrays: Vec::new(),
        reads: union(&format!(
            "{{ S[i, j, k] -> C[i, j] : {ijk}; S[i, j, k] -> A[i, k] : {ijk}; \
               S[i, j, k] -> B[k, j] : {ijk}; F[i, j] -> C[{read}] : {ij} and 0 <= {} < n }}",
            read.split(',').next().unwrap_or("i"),
        )),
        must_writes: writes.clone(),
        may_writes: writes,
        kills: Union::empty(),
        schedule: ScheduleTree::from_map(&map, &budget).expect("a tree"),
    }
}

fn tiles(sizes: [i128; 2], loops: Vec<(usize, i128)>) -> TileLoops {
    cut(sizes.map(Cut::Every), loops)
}

fn cut(cuts: [Cut; 2], loops: Vec<(usize, i128)>) -> TileLoops {
    let statements = vec![(0, vec![0, 1]), (1, vec![0, 1]), (2, vec![0, 1])];
    TileLoops { name: "T".to_owned(), statements, cuts: cuts.to_vec(), loops }
}

#[test]
fn tiles_run_every_instance_once_and_keep_the_order_of_each_element() {
    let budget = Budget::unlimited();
    let part = part("i, j");
    let constraints = part.constraints(&budget).expect("dependences");
    let every = [3, 4].map(Cut::Every);
    let even = [Cut::Even { size: 3, whole: 2 }, Cut::Every(4)];
    let both = [Cut::Even { size: 2, whole: 3 }, Cut::Even { size: 4, whole: 1 }];
    for (cuts, loops) in [every, even, both].into_iter().flat_map(|cuts| {
        let loops = [
            vec![(0, 1), (1, 1)],
            vec![(1, 1), (0, 1)],
            vec![(0, 2), (1, 1), (0, 1)],
            vec![(1, 2), (0, 3), (1, 1), (0, 1)],
        ];
        loops.map(|loops| (cuts, loops))
    }) {
        let tree = part.outlined(&cut(cuts, loops), &constraints, &budget).expect("legal");
        let options = AstOptions::default();
        let ast = Ast::of_tree(&tree, part.context.as_ref(), &options, &budget).expect("loops");
        for (n, m, l) in [(7, 9, 3), (3, 4, 1), (1, 1, 5), (0, 2, 2), (6, 8, 0), (13, 5, 2)] {
            let trace = ast.run(&[n, m, l], 1_000_000).expect("it ends");
            assert_eq!(trace.len() as i128, 2 * n * m + n * m * l);
            // For each element: its initial value, the iterations in order, what follows.
            let mut steps: HashMap<(i128, i128), i128> = HashMap::new();
            for instance in &trace {
                let step = match instance.statement.as_str() {
                    "I" => 0,
                    "S" => 1 + instance.point[2],
                    _ => 1 + l,
                };
                let next = steps.entry((instance.point[0], instance.point[1])).or_insert(0);
                assert_eq!(*next, step, "{instance:?}");
                *next += 1;
            }
            assert!(steps.values().all(|count| *count == 2 + l));
        }
    }
}

/// 13 rows in three tiles are 5, 4 and 4 of them.
#[test]
fn even_tiles_are_numbers() {
    let budget = Budget::unlimited();
    let part = part("i, j");
    let constraints = part.constraints(&budget).expect("dependences");
    let cuts = [Cut::Even { size: 5, whole: 1 }, Cut::Every(4)];
    let tree = part.outlined(&cut(cuts, vec![(1, 1), (0, 1)]), &constraints, &budget);
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let tree = tree.expect("legal");
    let ast = Ast::of_tree(&tree, part.context.as_ref(), &options, &budget).expect("loops");
    for (rows, tiles) in [(13, 3), (14, 4), (5, 1), (1, 1), (0, 0)] {
        let trace = ast.run(&[rows, 4, 3], 1_000_000).expect("it ends");
        let points: Vec<Vec<i128>> = trace.into_iter().map(|instance| instance.point).collect();
        assert_eq!(points, (0..tiles).map(|tile| vec![tile, 0]).collect::<Vec<_>>());
    }
}

#[test]
fn outlined_code_calls_tiles_alone() {
    let budget = Budget::unlimited();
    let part = part("i, j");
    let constraints = part.constraints(&budget).expect("dependences");
    let loops = vec![(1, 1), (0, 1)];
    let tree = part.outlined(&tiles([3, 4], loops), &constraints, &budget).expect("legal");
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let ast = Ast::of_tree(&tree, part.context.as_ref(), &options, &budget).expect("loops");
    let trace = ast.run(&[7, 9, 3], 1_000_000).expect("it ends");
    let points: Vec<Vec<i128>> = trace.into_iter().map(|instance| instance.point).collect();
    let expected: Vec<Vec<i128>> =
        [0, 4, 8].into_iter().flat_map(|j| [0, 3, 6].map(|i| vec![i, j])).collect();
    assert_eq!(points, expected);
}

/// What follows an element of the row below cannot be in one tile with it.
#[test]
fn tiles_that_break_a_dependence_are_refused() {
    let budget = Budget::unlimited();
    let part = part("i + 1, j");
    let constraints = part.constraints(&budget).expect("dependences");
    let refused = part.outlined(&tiles([3, 4], vec![(0, 1), (1, 1)]), &constraints, &budget);
    assert!(matches!(refused, Err(Error::Illegal { .. })), "{refused:?}");
}

/// Parts share the rows within all blocks: one that begins in the middle of a block runs to where
/// a block from there would end, and stops where the next part begins.
#[test]
fn blocks_are_shared_out_row_by_row() {
    let budget = Budget::unlimited();
    let part = part("i, j");
    let constraints = part.constraints(&budget).expect("dependences");
    let loops = tiles([3, 4], vec![(0, 2), (1, 1), (0, 1)]);
    let tree = part.outlined(&loops, &constraints, &budget).expect("legal");
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let ast = Ast::of_tree(&tree, part.context.as_ref(), &options, &budget).expect("loops");
    let mut style = CStyle::default();
    let outer = ast.outermost_loops(&style, false);
    assert_eq!(outer.iter().map(|one| one.dimension).collect::<Vec<_>>(), [0, 1]);
    let all = ast.outermost_loops(&style, true);
    let counts: Vec<&str> = all.iter().map(|one| one.count.as_str()).collect();
    assert_eq!(counts, ["(n - 1 - 0 + 3) / 3", "(m - 1 - 0 + 4) / 4"]);
    style.split = all;
    let text = ast.to_c(&style);
    assert_eq!(
        text,
        "for (int64_t c0 = 0 + first0 * 3; c0 <= min(n - 1, 0 + last0 * 3 - 1); c0 += 6)\n  \
         for (int64_t c1 = 0 + first1 * 4; c1 < 0 + last1 * 4; c1 += 4)\n    \
         for (int64_t c2 = c0; c2 <= min(min(n - 1, c0 + 5), 0 + last0 * 3 - 1); c2 += 3)\n      \
         T(c2, c1);\n"
    );
}

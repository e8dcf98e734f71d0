//! What makes generated code short, and that it still runs what the schedule says.

use tangram_polyhedral::ScheduleTree;
use tangram_polyhedral::ast::{Ast, AstOptions, Instance, MapInput};
use tangram_presburger::{Budget, Union};

fn of_map(schedule: &str) -> Ast {
    let budget = Budget::steps(5_000_000);
    let input = format!("{schedule}\n{{ : }}\n{{ }}\n");
    let input = MapInput::parse(&input, &budget).expect("an input");
    input.generate(&AstOptions::default(), &budget).expect("code")
}

fn of_tree(text: &str) -> Ast {
    let budget = Budget::steps(5_000_000);
    let tree = ScheduleTree::parse(text, &budget).expect("a tree");
    Ast::of_tree(&tree, None, &AstOptions::default(), &budget).expect("code")
}

/// Runs code and compares it with what a schedule map without parameters says.
fn check(ast: &Ast, schedule: &str) {
    let budget = Budget::steps(5_000_000);
    let mut due = Vec::new();
    for map in Union::parse(schedule, &budget).expect("a map").relations() {
        let input = map.space().input.clone().expect("a map");
        for point in map.points(&budget).expect("finitely many") {
            let point = tangram_presburger::narrow(&point).expect("small");
            let (instance, at) = point.split_at(input.dims.len());
            due.push((at.to_vec(), format!("{}{instance:?}", input.name)));
        }
    }
    due.sort();
    let due: Vec<String> = due.into_iter().map(|(_, instance)| instance).collect();
    let trace = ast.run(&[], 100_000).expect("an end");
    let name = |run: &Instance| format!("{}{:?}", run.statement, run.point);
    assert_eq!(trace.iter().map(name).collect::<Vec<_>>(), due, "{ast}");
}

/// How often a text stands in the code.
fn count(ast: &Ast, text: &str) -> usize {
    ast.to_string().matches(text).count()
}

#[test]
fn equations_of_one_dimension_are_one_step() {
    let schedule = "{ S[i] -> [i] : 0 <= i <= 30 and i mod 2 = 1 and i mod 3 = 2 }";
    let ast = of_map(schedule);
    assert_eq!((count(&ast, "c0 += 6"), count(&ast, "if")), (1, 0), "{ast}");
    check(&ast, schedule);
}

#[test]
fn the_step_of_an_outer_loop_gives_one_to_an_inner_loop() {
    let schedule = "{ S[i, j] -> [i, j] : 1 <= i <= 40 and i <= j <= 40 and i mod 4 = 1 and \
                    (4j - i + 9) mod 12 = 0 }";
    let ast = of_map(schedule);
    assert_eq!((count(&ast, "c1 += 3"), count(&ast, "if")), (1, 0), "{ast}");
    check(&ast, schedule);
}

#[test]
fn residues_that_move_with_an_outer_loop_share_a_loop() {
    // On each diagonal, A and B take turns: which of them is on even points depends on it.
    let schedule = "{ A[i, j] -> [i - j, i + j] : 0 <= i, j <= 6; \
                    B[i, j] -> [i - j, i + j + 1] : 0 <= i, j <= 6 }";
    let ast = of_map(schedule);
    assert_eq!((count(&ast, "for ("), count(&ast, "%")), (2, 0), "{ast}");
    check(&ast, schedule);
}

#[test]
fn forms_take_the_values_that_conditions_say() {
    let schedule = "[m] -> { S[i] -> [0, i] : i = 2m - 4 and m = 2; T[i] -> [1, i] : 0 <= i <= m }";
    let ast = of_map(schedule);
    assert_eq!(count(&ast, "S(0)"), 1, "{ast}");
    for m in 0..4 {
        let mut due = Vec::new();
        if m == 2 {
            due.push("S[0]".to_owned());
        }
        due.extend((0..=m).map(|i| format!("T[{i}]")));
        let trace = ast.run(&[m], 1000).expect("an end");
        let ran: Vec<String> =
            trace.iter().map(|run| format!("{}{:?}", run.statement, run.point)).collect();
        assert_eq!(ran, due, "{ast}");
    }
}

#[test]
fn a_wavefront_of_tiles_begins_where_there_is_one() {
    let ast = of_tree(
        "domain: \"[T, N] -> { S[t, i] : 0 <= t < T and 1 <= i < N - 1 }\"
child:
  schedule: \"[{ S[t, i] -> [(floor(t/32) + floor((t + i)/32))] }, { S[t, i] -> [(floor((t + i)/32))] }]\"
  child:
    schedule: \"[{ S[t, i] -> [(t)] }, { S[t, i] -> [(t + i)] }]\"
",
    );
    assert!(ast.to_string().contains("c0 = 0;"), "{ast}");
    // The point loops keep to the tile by its number: no division says again which it is.
    assert_eq!(count(&ast, "c2 / 32"), 0, "{ast}");
    let trace = ast.run(&[40, 70], 100_000).expect("an end");
    assert_eq!(trace.len(), 40 * 68);
    let tile = |x: i128| x.div_euclid(32);
    let mut order: Vec<Vec<i128>> = trace
        .iter()
        .map(|run| {
            let (t, x) = (run.point[0], run.point[0] + run.point[1]);
            vec![tile(t) + tile(x), tile(x), t, x]
        })
        .collect();
    let ran = order.clone();
    order.sort();
    order.dedup();
    assert_eq!(ran, order);
}

#[test]
fn equal_calls_share_a_condition() {
    let schedule = "[n] -> { S[] -> [0] : n <= 3 or n >= 8 or n = 5 }";
    let ast = of_map(schedule);
    assert_eq!((count(&ast, "S("), count(&ast, "if (")), (1, 1), "{ast}");
    for n in 0..12 {
        let runs = ast.run(&[n], 10).expect("an end").len();
        assert_eq!(runs, usize::from(n <= 3 || n >= 8 || n == 5), "{n}: {ast}");
    }
}

#[test]
fn what_outer_tile_loops_make_sure_of_is_in_no_bound() {
    // The first element of a tile of j is at least 0, since the tile is.
    let schedule = "{ S[i, j] -> [floor(i / 16) + floor(j / 16), floor(j / 16), i, j] : \
                    0 <= j < i < 52 }";
    let ast = of_map(schedule);
    assert_eq!(count(&ast, "c3 = 16 * c1;"), 1, "{ast}");
    check(&ast, schedule);
}

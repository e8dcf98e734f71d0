//! Bands mapped to units one after the other, and barriers at which units meet.
//!
//! Code of all units is run; a pair of instances is kept if both run on one unit in their order,
//! or on two between which all meet.

use std::collections::BTreeMap;

use tangram_polyhedral::ast::{Ast, AstOptions, CStyle, Launch};
use tangram_polyhedral::transform::{Editor, Script};
use tangram_polyhedral::units::BARRIER;
use tangram_polyhedral::{Error, ScheduleTree, Violation};
use tangram_presburger::{Budget, Union};

mod random;
use random::Dice;

const ROWS: &str = "domain: \"{ A[i] : 0 <= i < 4; B[i] : 0 <= i < 4 }\"
child:
  sequence:
  - filter: \"{ A[i] }\"
    child: { schedule: \"[{ A[i] -> [(i)] }]\" }
  - filter: \"{ B[i] }\"
    child: { schedule: \"[{ B[i] -> [(i)] }]\" }
";

fn budget() -> Budget {
    Budget::steps(200_000_000)
}

/// Applies steps and ends the work.
fn applied(text: &str, steps: &str, pairs: &str) -> Result<ScheduleTree, Error> {
    let budget = budget();
    let tree = ScheduleTree::parse(text, &budget)?;
    let mut editor = Editor::new(tree, Union::parse(pairs, &budget)?, &budget)?;
    let root = editor.tree().root();
    Script::parse(steps)?.apply(&mut editor, root)?;
    editor.finish()
}

/// The unit of an instance, how many barriers it has passed, and its place in the unit's code.
type Place = (i128, usize, usize);

/// Runs the code of all units; nothing if an instance runs twice or barriers differ.
fn run(tree: &ScheduleTree, units: i128) -> Option<BTreeMap<(String, Vec<i128>), Place>> {
    let ast = Ast::of_tree(tree, None, &AstOptions::default(), &budget()).expect("code");
    let mut places = BTreeMap::new();
    let mut barriers = None;
    for unit in 0..units {
        let params: Vec<i128> = ast.params().iter().map(|_| unit).collect();
        let mut met = 0;
        for (at, call) in ast.run(&params, 100_000).expect("an end").into_iter().enumerate() {
            if call.statement == BARRIER {
                met += 1;
            } else if places.insert((call.statement, call.point), (unit, met, at)).is_some() {
                return None;
            }
        }
        if *barriers.get_or_insert(met) != met {
            return None;
        }
    }
    Some(places)
}

/// Whether each pair keeps its order however fast units are.
fn keeps(tree: &ScheduleTree, units: i128, pairs: &[[(String, Vec<i128>); 2]]) -> bool {
    let Some(places) = run(tree, units) else { return false };
    pairs.iter().all(|[from, to]| match (places.get(from), places.get(to)) {
        (Some((a, met, at)), Some((b, later, place))) => match a == b {
            true => at < place,
            false => met < later,
        },
        _ => true,
    })
}

#[test]
fn siblings_share_units_where_no_pair_crosses() {
    let both = "find band; map_to_units t0 4; root; find band 1; map_to_units t0 4";
    let tree = applied(ROWS, both, "{ A[i] -> B[i] }").expect("each pair on one unit");
    let pair = |i| [("A".to_owned(), vec![i]), ("B".to_owned(), vec![i])];
    assert!(keeps(&tree, 4, &[0, 1, 2, 3].map(pair)));
    let crossing = applied(ROWS, both, "{ A[i] -> B[i - 1] }").expect_err("crosses");
    let violation = Violation::AcrossUnits { unit: "t0".to_owned() };
    assert!(matches!(crossing, Error::Illegal { violation: found, .. } if found == violation));
    for other in [
        "find band; map_to_units t0 4; root; find band 1; map_to_units t0 2",
        "find band; map_to_units t0 4; root; find band; map_to_units t0 4",
    ] {
        assert!(matches!(applied(ROWS, other, "{ }"), Err(Error::Step { .. })), "{other}");
    }
}

#[test]
fn what_is_mapped_to_no_unit_is_refused_in_the_end() {
    let once = "find band; map_to_units t0 4";
    for pairs in ["{ A[i] -> B[i - 1] }", "{ A[i] -> B[i] }", "{ }"] {
        let error = applied(ROWS, once, pairs).expect_err("every unit runs B");
        let violation = Violation::OnEveryUnit { statement: "B".into(), unit: "t0".into() };
        assert!(matches!(error, Error::Illegal { violation: found, .. } if found == violation));
    }
    applied(ROWS, "find band; map_to_units t0 1", "{ A[i] -> B[i - 1] }").expect("one unit");
}

/// The outer band goes to blocks, the inner one below the filters, and each filter's statements to
/// threads, which wait for each other in between.
#[test]
fn the_step_for_a_gpu_can_be_said() {
    let text = "domain: \"[N] -> { A[i, j] : 0 <= i < N and 0 <= j < 64; B[i, j] : 0 <= i < N and 0 <= j < 64 }\"
child:
  schedule: \"[{ A[i, j] -> [(i)]; B[i, j] -> [(i)] }, { A[i, j] -> [(j)]; B[i, j] -> [(j)] }]\"
  child:
    sequence:
    - filter: \"{ A[i, j] }\"
    - filter: \"{ B[i, j] }\"
";
    let reads = "{ A[i, j] -> B[i, k] : j <= k <= j + 1 }";
    let steps = "find band; split 1; map_to_units b0 16; find band 1; sink
root; find band 1; map_to_units t0 32; root; find band 2; map_to_units t0 32";
    let without = applied(text, steps, reads).expect_err("threads cross");
    assert!(without.to_string().contains("put a barrier between them"), "{without}");
    let with = format!("{steps}; root; find sequence; child 0; child 0; insert_barrier");
    let tree = applied(text, &with, reads).expect("threads meet");
    let launch = Launch::of_tree(&tree).expect("a kernel");
    assert_eq!((launch.blocks(), launch.threads()), ([16, 1, 1], [32, 1, 1]));
    let ast = Ast::of_tree(&tree, None, &AstOptions::default(), &budget()).expect("code");
    let code = ast.to_cuda("kernel", &launch, &CStyle::default());
    let at = |part: &str| code.find(part).unwrap_or_else(|| panic!("no {part} in {code}"));
    assert!(at("A(") < at("__syncthreads();") && at("__syncthreads();") < at("B("), "{code}");
    // Blocks do not wait for each other.
    let across = "{ A[i, j] -> B[i + 1, j] }";
    assert!(applied(text, &with, across).is_err());
}

#[test]
fn a_barrier_for_blocks_is_no_kernel() {
    let steps = "find band; map_to_units b0 4; root; find band 1; map_to_units b0 4; root
find sequence; child 0; child 0; insert_barrier";
    let tree = applied(ROWS, steps, "{ A[i] -> B[i - 1] }").expect("all units meet");
    assert!(matches!(Launch::of_tree(&tree), Err(Error::Operand { .. })));
}

/// A time loop over two statements, mapped in some way, with some pairs.
fn random_case(dice: &mut Dice) -> Result<bool, Error> {
    let (times, length, units) = (1 + dice.roll(3) as i128, 5_i128, 1 + dice.roll(3) as i128);
    let shift = dice.between(-1, 1);
    let tree = format!(
        "domain: \"{{ A[t, i] : 0 <= t < {times} and 0 <= i < {length}; \
         B[t, i] : 0 <= t < {times} and 0 <= i < {length} }}\"
child:
  schedule: \"[{{ A[t, i] -> [(t)]; B[t, i] -> [(t)] }}]\"
  child:
    sequence:
    - filter: \"{{ A[t, i] }}\"
      child: {{ schedule: \"[{{ A[t, i] -> [(i)] }}]\" }}
    - filter: \"{{ B[t, i] }}\"
      child: {{ schedule: \"[{{ B[t, i] -> [(i + {shift})] }}]\" }}
"
    );
    let mut steps = String::new();
    for (at, chance) in [(1, 95), (2, 90)] {
        if dice.chance(chance) {
            steps += &format!("root; find band {at}; map_to_units t0 {units}\n");
        }
    }
    for child in 0..2 {
        if dice.chance(40) {
            steps += &format!("root; find sequence; child {child}; child 0; insert_barrier\n");
        }
    }
    let (mut pairs, mut texts) = (Vec::new(), Vec::new());
    for _ in 0..1 + dice.roll(2) {
        let (from, to) = (["A", "B"][dice.roll(2)], ["A", "B"][dice.roll(2)]);
        let (dt, di) = (dice.between(0, 2), dice.between(-2, 2));
        texts.push(format!("{from}[t, i] -> {to}[t + {dt}, i + {di}]"));
        for (t, i) in (0..times).flat_map(|t| (0..length).map(move |i| (t, i))) {
            let ends = [(from.to_owned(), vec![t, i]), (to.to_owned(), vec![t + dt, i + di])];
            pairs.extend((ends[0] != ends[1]).then_some(ends));
        }
    }
    let budget = budget();
    let relation = Union::parse(&format!("{{ {} }}", texts.join("; ")), &budget)?;
    let parsed = ScheduleTree::parse(&tree, &budget)?;
    let mut editor = Editor::new(parsed, relation, &budget)?;
    // Without a check, as the code is judged by running it.
    let mut free = Editor::new(ScheduleTree::parse(&tree, &budget)?, Union::empty(), &budget)?;
    let root = editor.tree().root();
    let script = Script::parse(&steps)?;
    script.apply(&mut free, root)?;
    let free = free.into_tree();
    let mapped = steps.contains("map_to_units");
    let units = if mapped && free.to_string().contains("t0") { units } else { 1 };
    let right = keeps(&free, units, &pairs);
    let accepted = script.apply(&mut editor, root).is_ok() && editor.finish().is_ok();
    assert_eq!(accepted, right, "{tree}{steps}{}", texts.join("; "));
    Ok(accepted)
}

fn random_cases(count: u64) {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..count {
        match random_case(&mut Dice::new(seed)) {
            Ok(true) => accepted += 1,
            Ok(false) => refused += 1,
            // Not in order to start with.
            Err(Error::Illegal { .. }) => {}
            Err(error) => panic!("{seed}: {error}"),
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted * 20 > count && refused * 20 > count, "{accepted} and {refused} of {count}");
}

#[test]
fn mappings_are_accepted_where_every_run_is_right() {
    random_cases(150);
}

#[test]
#[ignore = "long: many mappings"]
fn many_mappings_are_accepted_where_every_run_is_right() {
    random_cases(5_000);
}

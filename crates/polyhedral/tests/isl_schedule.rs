//! isl's own scheduling problems: our schedules are legal, and beside isl's none has fewer
//! parallel or permutable loops in total.

mod peer;

use tangram_polyhedral::schedule::{Algorithm, Constraints, Fusion, Options};
use tangram_polyhedral::{Error, NodeKind, ScheduleTree};
use tangram_presburger::Budget;

/// Parallel members, and members of permutable bands.
fn members(tree: &ScheduleTree) -> [usize; 2] {
    let mut counts = [0; 2];
    for node in tree.nodes() {
        if let NodeKind::Band(band) = tree.kind(node) {
            counts[0] += band.members.iter().filter(|member| member.coincident).count();
            counts[1] += if band.permutable { band.members.len() } else { 0 };
        }
    }
    counts
}

/// Reads the options that a file asks for.
fn options(text: &str) -> Options {
    let asked = |option: &str| {
        text.lines().filter(|line| line.starts_with("# OPTIONS:")).any(|line| line.contains(option))
    };
    let largest = text.split_once("--schedule-max-coefficient=");
    let largest = largest.map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next());
    Options {
        algorithm: if asked("feautrier") { Algorithm::Feautrier } else { Algorithm::Pluto },
        fusion: if asked(" --schedule-whole-component") { Fusion::Max } else { Fusion::Smart },
        outer_coincidence: asked("--schedule-outer-coincidence"),
        max_coefficient: largest.flatten().and_then(|number| number.parse().ok()),
    }
}

#[test]
fn schedules_are_legal_and_as_parallel_as_those_of_isl() {
    let Some(inputs) = peer::inputs("schedule") else { return };
    let (mut ours, mut theirs, mut count, mut unread) = ([0; 2], [0; 2], 0, 0);
    for path in inputs.iter().filter(|path| path.extension().is_some_and(|end| end == "sc")) {
        let text = std::fs::read_to_string(path).expect("readable");
        let budget = Budget::steps(2_000_000_000);
        let name = path.file_stem().expect("a name").to_string_lossy();
        let constraints = Constraints::parse(&text, &budget);
        let constraints = match constraints {
            Ok(constraints) => constraints,
            // What the parser of sets does not know yet; counted below.
            Err(Error::Notation { .. }) => {
                unread += 1;
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let start = std::time::Instant::now();
        // The result is checked against the constraints before it is handed out.
        let scheduled = constraints.schedule(&options(&text), None, &budget);
        let scheduled = scheduled.unwrap_or_else(|error| panic!("{name}: {error}"));
        let time = start.elapsed();
        assert!(scheduled.fallback.is_none());
        scheduled.tree.check(&budget).unwrap_or_else(|error| panic!("{name}: {error}"));
        let peer = std::fs::read_to_string(path.with_extension("st")).expect("readable");
        let peer = match ScheduleTree::parse(&peer, &budget) {
            Ok(peer) => peer,
            Err(Error::Notation { .. }) => {
                unread += 1;
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let (own, other) = (members(&scheduled.tree), members(&peer));
        println!("{name}: parallel, permutable: {own:?}, isl {other:?}, {time:?}");
        for index in 0..2 {
            ours[index] += own[index];
            theirs[index] += other[index];
        }
        count += 1;
    }
    println!("{count} files: parallel, permutable: {ours:?}, isl {theirs:?}");
    assert_eq!(count + unread, 21);
    assert!(ours[0] >= theirs[0] && ours[1] >= theirs[1]);
}

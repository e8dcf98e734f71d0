//! Whatever text as a schedule tree: read or refused; what is read is printed as the same tree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tangram_polyhedral::ScheduleTree;
use tangram_presburger::Budget;

fuzz_target!(|text: &str| {
    let limit = Budget::steps(200_000);
    let Ok(tree) = ScheduleTree::parse(text, &limit) else { return };
    let printed = tree.to_string();
    let Ok(back) = ScheduleTree::parse(&printed, &limit) else {
        assert!(limit.used() > 200_000, "printed as a tree that is not read:\n{printed}");
        return;
    };
    assert_eq!(back.to_string(), printed, "the text is not stable");
    // A tree may be refused, or its code take too long.
    let limit = Budget::steps(200_000);
    let _ = tree.check(&limit);
    let _ = tree.to_map(&limit);
});

//! Whatever text: read or refused; what is read is printed as text that means the same set.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tangram_presburger::{Budget, Union};

fuzz_target!(|text: &str| {
    let limit = Budget::steps(100_000);
    let Ok(value) = Union::parse(text, &limit) else { return };
    let printed = value.to_string();
    let Ok(back) = Union::parse(&printed, &limit) else {
        assert!(limit.used() > 100_000, "{text} is printed {printed}, which is not read");
        return;
    };
    // A set that takes too long to compare is not compared.
    let same = back.is_equal(&value, &Budget::steps(200_000)).unwrap_or(true);
    assert!(same, "{text} is printed {printed}, which is another set");
});

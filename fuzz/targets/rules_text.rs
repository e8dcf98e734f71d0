//! Whatever rule file: read or refused; formatting is stable and keeps the rules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tangram_gsl::text::{format, parse, print};

fuzz_target!(|text: &str| {
    if let Ok(formatted) = format("fuzz.gsl", text) {
        let again = format("fuzz.gsl", &formatted);
        assert_eq!(again.as_ref(), Ok(&formatted), "formatting is not stable");
    }
    let Ok(rules) = parse(text) else { return };
    for rule in &rules {
        let printed = print(rule);
        let back = parse(&printed).unwrap_or_else(|e| panic!("not read again:\n{printed}\n{e}"));
        assert_eq!(back.as_slice(), std::slice::from_ref(rule), "another rule:\n{printed}");
    }
});

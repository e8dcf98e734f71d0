//! How many random cases a property is tested on.

use proptest::prelude::ProptestConfig;

/// The usual number, or more where `PROPTEST_CASES` asks for more.
pub fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(usual).max(usual))
}

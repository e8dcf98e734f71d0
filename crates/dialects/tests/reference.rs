//! The reference in `docs/` is the one that the definitions give.

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/nn-reference.md");

#[test]
fn the_reference_is_up_to_date() {
    let written = tangram_dialects::nn::reference();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PATH, &written).unwrap();
    }
    let found = std::fs::read_to_string(PATH).unwrap_or_default();
    let differs = written.lines().zip(found.lines()).find(|(a, b)| a != b);
    assert!(written == found, "run with BLESS=1 to write it anew; first difference: {differs:?}");
}

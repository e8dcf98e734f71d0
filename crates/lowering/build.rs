//! Names the state of the code that functions of C are written by.

fn main() {
    let crates = [
        "affine",
        "dialects",
        "ir",
        "kernel",
        "lowering",
        "machine",
        "polyhedral",
        "presburger",
        "target",
        "tensor",
    ];
    tangram_sources::name(env!("CARGO_PKG_VERSION"), &crates, &[]);
}

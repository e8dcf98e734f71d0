//! Names the state of the code and the rules that sessions are made by.

fn main() {
    let crates = [
        "affine",
        "dialects",
        "egraph",
        "features",
        "gsl",
        "ir",
        "kernel",
        "lowering",
        "machine",
        "native",
        "onnx",
        "passes",
        "polyhedral",
        "presburger",
        "rewrite",
        "saturate",
        "tangram",
        "tensor",
    ];
    tangram_sources::name(env!("CARGO_PKG_VERSION"), &crates, &["../../rules"]);
}

//! The tangram command.
fn main() {}

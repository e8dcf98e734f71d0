//! Cargo takes dependencies of a build only where there is a script; this one does nothing.

fn main() {}

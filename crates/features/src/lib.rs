//! Nothing but dependencies: the command and the Python package ask shared crates for the same
//! features through this one.
//!
//! Cargo compiles a crate once for each set of features, and all that depends on it again. Without
//! this, who installs the command and then the package, or runs the tests and then builds the
//! wheel, compiles every crate of the workspace twice. `cargo xtask tidy` says which features are
//! missing in `Cargo.toml`.

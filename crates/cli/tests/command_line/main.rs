//! Every command and every flag, as clap's definition lists them: a new flag is tried without a
//! line here, or the test says what it needs.
//!
//! The law: beside any other flag, a flag changes what is seen, or it is refused by name. Nothing
//! panics, whoever reads the output or nobody, and exit codes are those of `--help`.

mod commands;
mod desk;
mod flags;
mod kinds;
mod pipes;
mod shells;
mod wrong;

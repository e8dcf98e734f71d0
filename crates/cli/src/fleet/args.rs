//! What `tangram opt` takes for many models.

use std::path::PathBuf;

use clap::Args;

/// Arguments for many models.
#[derive(Args, Debug)]
#[command(next_help_heading = "Many models (INPUT is a folder or a pattern)")]
pub(crate) struct FleetArgs {
    /// Further models.
    #[arg(value_name = "INPUT")]
    pub(crate) more: Vec<PathBuf>,
    /// How many models are worked on at the same time; as many as there are cores if absent.
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Write the table to FILE too: as CSV, JSON or a page, as its name ends, or as text.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Vec<PathBuf>,
}

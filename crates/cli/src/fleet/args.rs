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
    /// The memory that all of them may take together, such as 8G: estimated from the files.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_memory: Option<u64>,
    /// Write the table to FILE too: as CSV, JSON or a page, as its name ends, or as text.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Vec<PathBuf>,
}

/// A number of bytes, with or without a unit.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "K" | "KB" | "KIB" => 1024.0,
        "M" | "MB" | "MIB" => 1_048_576.0,
        "G" | "GB" | "GIB" => 1_073_741_824.0,
        "T" | "TB" | "TIB" => 1_099_511_627_776.0,
        _ => return Err("expected a number of bytes, such as 500M or 8G".to_owned()),
    };
    match digits.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * factor) as u64),
        _ => Err("expected a number of bytes, such as 500M or 8G".to_owned()),
    }
}

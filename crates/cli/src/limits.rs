//! What evaluation on the command line may take: memory and time.

use std::time::Duration;

use clap::Args;
use tangram::tensor::budget;

use crate::values::{memory, seconds};

/// Limits of a command that evaluates models.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// The memory that the command may take, such as 8G; three quarters of what is free if absent.
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub(crate) max_memory: Option<u64>,
    /// Stop evaluating after so many seconds.
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) max_seconds: Option<Duration>,
}

impl Limits {
    /// Runs `work` within the limits.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        set_max_memory(self.max_memory);
        budget::within_time(self.max_seconds, work)
    }
}

/// Limits the memory of the process.
pub(crate) fn set_max_memory(most: Option<u64>) {
    if let Some(most) = most {
        budget::set_max_memory(usize::try_from(most).unwrap_or(usize::MAX));
    }
}

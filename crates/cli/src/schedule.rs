//! `tangram schedule`.

use std::process::ExitCode;

use tangram_polyhedral::schedule::{Algorithm, Constraints, Fusion, Options};
use tangram_presburger::Budget;

use crate::args::{AlgorithmArg, FuseArg, ScheduleArgs};
use crate::error::{self, Error};

impl From<FuseArg> for Fusion {
    fn from(arg: FuseArg) -> Self {
        match arg {
            FuseArg::None => Self::None,
            FuseArg::Smart => Self::Smart,
            FuseArg::Max => Self::Max,
        }
    }
}

impl From<AlgorithmArg> for Algorithm {
    fn from(arg: AlgorithmArg) -> Self {
        match arg {
            AlgorithmArg::Pluto => Self::Pluto,
            AlgorithmArg::Feautrier => Self::Feautrier,
        }
    }
}

/// Computes a schedule and prints its tree.
pub(crate) fn run(args: &ScheduleArgs) -> Result<ExitCode, Error> {
    let text = std::fs::read_to_string(&args.input).map_err(error::io(&args.input))?;
    let budget = args.max_steps.map_or_else(Budget::unlimited, Budget::steps);
    let options = Options {
        algorithm: args.algorithm.into(),
        fusion: args.fuse.into(),
        outer_coincidence: args.inner_parallel,
        max_coefficient: args.max_coefficient.map(Into::into),
    };
    let scheduled = Constraints::parse(&text, &budget)
        .and_then(|constraints| constraints.schedule(&options, None, &budget));
    match scheduled {
        Ok(scheduled) => {
            print!("{}", scheduled.tree);
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("{}: error: {error}", args.input.display());
            Ok(ExitCode::from(2))
        }
    }
}

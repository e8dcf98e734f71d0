//! `tangram schedule`.

use std::process::ExitCode;

use tangram_polyhedral::ScheduleTree;
use tangram_polyhedral::schedule::{Algorithm, Constraints, Fusion, Options};
use tangram_presburger::Budget;

use crate::args::{AlgorithmArg, FormatArg, FuseArg, ScheduleArgs};
use crate::error::{self, Error};
use crate::out;

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
            out::print(written(&scheduled.tree, args.format))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("{}: error: {}", args.input.display(), error::loops(&error));
            Ok(ExitCode::from(2))
        }
    }
}

/// Writes a tree as isl's text or as a picture.
pub(crate) fn written(tree: &ScheduleTree, format: FormatArg) -> String {
    match format {
        FormatArg::Text => tree.to_string(),
        FormatArg::Svg => tree.to_svg(),
    }
}

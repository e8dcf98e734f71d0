//! `tangram check`.

use crate::exit::ExitCode;
use std::path::PathBuf;

use clap::Args;
use tangram::check::{CheckOptions, Comparison, compare_files};
use tangram::dialects;
use tangram::onnx::Model;

use crate::error::{self, Error};
use crate::judge::{self, Judge};
use crate::limits::Limits;
use crate::opt::{NOT_POSSIBLE, read_data};
use crate::out;
use crate::values::{count, data, shape, share};

/// Arguments of `tangram check`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  tangram check model.onnx better.onnx\n  tangram check \
                        model.onnx better.onnx --runs 10 --data images=photo.npy")]
pub(crate) struct CheckArgs {
    /// One model.
    pub(crate) first: PathBuf,
    /// The other.
    pub(crate) second: PathBuf,
    /// How often both are evaluated: with other sizes where sizes are open, else other numbers.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count)]
    runs: usize,
    /// Where random numbers start.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The extents of an input, as `images=1,3,224,224`; others are chosen.
    #[arg(long, value_name = "INPUT=N,N", value_parser = shape)]
    shape: Vec<(String, Vec<usize>)>,
    /// The data of an input, as `images=photo.npy`, or an archive of several, `inputs.npz`; other
    /// inputs are random.
    #[arg(long, value_name = "INPUT=FILE.npy|FILE.npz", value_parser = data)]
    data: Vec<(String, PathBuf)>,
    /// Want results that are equal to the last bit.
    #[arg(long)]
    exact: bool,
    /// The largest difference that is allowed, as a share of the greatest magnitude in an output;
    /// what suits the element type if absent.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    tolerance: Option<f64>,
    /// Who runs both models: the reference kernels, or onnxruntime where Python has it.
    #[arg(long = "with", value_name = "ENGINE", value_enum, default_value_t = Judge::Tangram)]
    judge: Judge,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: Limits,
}

/// Compares both models.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, Error> {
    args.limits.within(|| check(args))
}

fn check(args: &CheckArgs) -> Result<ExitCode, Error> {
    let open = |path: &PathBuf| Model::open(path, dialects::context()).map_err(error::model(path));
    let (first, second) = (open(&args.first)?, open(&args.second)?);
    let options = CheckOptions {
        seed: args.seed,
        shapes: args.shape.clone(),
        data: read_data(&args.data)?,
        exact: args.exact,
        tolerance: args.tolerance,
    };
    let found = match args.judge {
        Judge::Tangram => compare_files(&first, &second, &options, args.runs),
        Judge::Onnxruntime => judge::by_onnxruntime(&first, &second, &options, args.runs, None)
            .map(|worst| Comparison { worst, ..Comparison::default() }),
    };
    match found {
        Ok(found) => {
            match args.json {
                true => out::print(out::json(serde_json::to_string_pretty(&found))?)?,
                false => out::print(&found)?,
            }
            Ok(ExitCode::from(u8::from(!found.holds())))
        }
        Err(reason) => {
            match args.json {
                true => {
                    out::print(serde_json::json!({ "not_possible": reason }).to_string() + "\n")?
                }
                false => out::say(format!("not possible: {reason}\n")),
            }
            Ok(ExitCode::from(NOT_POSSIBLE))
        }
    }
}

//! `tangram show`.

use std::process::ExitCode;

use tangram::dialects;
use tangram::onnx::Model;

use crate::args::{ShowArgs, ShowFormat};
use crate::error::{self, Error};
use crate::out;

/// Prints the program of a model.
pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode, Error> {
    let model = Model::open(&args.input, dialects::context()).map_err(error::model(&args.input))?;
    let text = match args.format {
        ShowFormat::Mlir => tangram::ir::text::print(&model.module),
        ShowFormat::Dot => tangram::picture::dot(&model),
        ShowFormat::Svg => {
            tangram::picture::svg(&model).map_err(|large| Error::Usage(large.to_string()))?
        }
    };
    match &args.output {
        Some(path) => out::write(path, &text)?,
        None => out::print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}

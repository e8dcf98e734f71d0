//! `tangram show`.

use std::process::ExitCode;

use tangram::dialects;
use tangram::ir::text;
use tangram::onnx::Model;
use tangram::picture::View;

use crate::args::{ShowArgs, ShowFormat};
use crate::error::{self, Error};
use crate::out;

/// Prints the program of a model.
pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode, Error> {
    let model = Model::open(&args.input, dialects::context()).map_err(error::model(&args.input))?;
    let text = match args.format {
        ShowFormat::Mlir if args.weights => text::print(&model.module),
        ShowFormat::Mlir => text::print_elided(&model.module),
        ShowFormat::Dot => tangram::picture::dot(&model),
        ShowFormat::Svg => {
            let view = View { around: args.around.clone(), limit: args.limit };
            tangram::picture::svg(&model, &view).map_err(|why| Error::Usage(why.to_string()))?
        }
    };
    out::deliver(args.output.as_deref(), &text)?;
    Ok(ExitCode::SUCCESS)
}

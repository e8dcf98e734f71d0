//! `tangram show`.

use crate::exit::ExitCode;

use tangram::dialects;
use tangram::ir::text;
use tangram::onnx::Model;
use tangram::picture::View;
use tangram::summary::Summary;

use crate::args::{ShowArgs, ShowFormat};
use crate::error::{self, Error};
use crate::{out, summary};

/// Prints what a model is, its program, or a picture of it.
pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode, Error> {
    let model = Model::open(&args.input, dialects::context()).map_err(error::model(&args.input))?;
    let model = args.edits.apply(model).map_err(error::model(&args.input))?;
    let text = match args.format {
        ShowFormat::Table => {
            let summary = Summary::of(&model).map_err(error::model(&args.input))?;
            tangram::shown(&summary::render(&summary)).into_owned()
        }
        ShowFormat::Json => {
            let summary = Summary::of(&model).map_err(error::model(&args.input))?;
            out::json(serde_json::to_string_pretty(&summary))?
        }
        ShowFormat::Mlir if args.weights => text::print(&model.module),
        ShowFormat::Mlir => text::print_elided(&model.module),
        ShowFormat::Dot => tangram::picture::dot(&model),
        ShowFormat::Svg => {
            let view = View { around: args.around.clone(), limit: args.limit, fold: !args.unfold };
            tangram::picture::svg(&model, &view).map_err(|why| Error::Usage(why.to_string()))?
        }
    };
    out::deliver(args.output.as_deref(), &text)?;
    Ok(ExitCode::SUCCESS)
}

//! `tangram flow`.

use crate::exit::ExitCode;

use tangram_polyhedral::flow::Accesses;
use tangram_presburger::Budget;

use crate::args::{FlowArgs, LOOP_STEPS};
use crate::error::{self, Error};
use crate::out;

/// Finds dependences and prints them.
pub(crate) fn run(args: &FlowArgs) -> Result<ExitCode, Error> {
    let text = out::read(&args.input)?;
    let budget = Budget::steps(args.max_steps.unwrap_or(LOOP_STEPS));
    let flow = Accesses::parse(&text, &budget).and_then(|accesses| accesses.flow(&budget));
    let flow = match flow {
        Ok(flow) => flow,
        Err(error) => return Ok(error::refuse(&args.input, &error, &[])),
    };
    if args.json {
        let relation = |union: &tangram_presburger::Union| union.to_string();
        let object = serde_json::json!({
            "must_dependence": relation(&flow.must_dependence),
            "may_dependence": relation(&flow.may_dependence),
            "must_no_source": relation(&flow.must_no_source),
            "may_no_source": relation(&flow.may_no_source),
        });
        out::print(format_args!("{object}\n"))?;
    } else {
        out::print(flow)?;
    }
    Ok(ExitCode::SUCCESS)
}

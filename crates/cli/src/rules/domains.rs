//! `tangram rules domains`.

use crate::exit::ExitCode;
use std::sync::Arc;

use tangram::dialects::{self, nn};
use tangram::gsl::rules::Natives;
use tangram::gsl::verify::{Domain, Effort, Space, domains};

use crate::error::Error;
use crate::out;

/// How many values of an attribute a line has.
const SHOWN: usize = 12;

/// Prints what attributes may be, and what they are in instances.
pub(super) fn show(operations: &[String], attempts: usize, json: bool) -> Result<ExitCode, Error> {
    let natives = Arc::new(Natives::default());
    let wanted: Vec<&str> = operations.iter().map(|name| bare(name)).collect();
    let known = |name: &str| nn::ops().any(|op| op.eval.is_some() && bare(op.def.name) == name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        return Err(Error::Usage(format!("`{unknown}` is no operation that is evaluated")));
    }
    let effort = Effort { attempts, ..Effort::default() };
    let found = domains(&dialects::context(), &natives, &effort, &wanted);
    if json {
        let attribute = |domain: &Domain| {
            serde_json::json!({
                "attribute": domain.attribute, "declared": domain.kind.to_string(),
                "absent": domain.absent, "instances": domain.instances,
                "values": domain.values, "lengths": domain.lengths,
            })
        };
        let list = found.iter().map(|space| {
            let attributes: Vec<_> = space.attributes.iter().map(attribute).collect();
            serde_json::json!({
                "operation": space.operation, "made": space.made, "evaluated": space.evaluated,
                "attributes": attributes,
            })
        });
        out::print(format!("{}\n", serde_json::Value::Array(list.collect())))?;
        return Ok(ExitCode::SUCCESS);
    }
    for space in &found {
        out::print(format!("{}: {}\n", space.operation, evaluated(space)))?;
        for domain in &space.attributes {
            let (name, kind) = (domain.attribute, domain.kind);
            out::print(format!("  {name}: {kind}\n      {}\n", values(domain)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How many instances there are, and what follows where there are none.
fn evaluated(space: &Space) -> String {
    match space.evaluated {
        0 => format!("none of {} programs evaluated, so rules with it are unknown", space.made),
        n => format!("{n} of {} programs evaluated", space.made),
    }
}

/// The name without its dialect.
fn bare(name: &str) -> &str {
    name.strip_prefix("nn.").unwrap_or(name)
}

/// The values, in the order of numbers where they are numbers.
fn values(domain: &Domain) -> String {
    let mut all: Vec<&str> = domain.values.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<f64>().unwrap_or(f64::INFINITY);
    all.sort_by(|a, b| number(a).total_cmp(&number(b)).then(a.cmp(b)));
    let lengths = match (domain.lengths.first(), domain.lengths.last()) {
        (Some(least), Some(most)) if least == most => Some(format!("{least} of")),
        (Some(least), Some(most)) => Some(format!("{least} to {most} of")),
        _ => None,
    };
    let more = all.len().saturating_sub(SHOWN);
    let shown = all.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    let given = match lengths {
        _ if domain.instances == 0 => None,
        Some(lengths) if shown.is_empty() => Some(format!("{lengths} nothing")),
        Some(lengths) => Some(format!("{lengths} {shown}{rest}")),
        None => Some(format!("{shown}{rest}")),
    };
    let all: Vec<String> =
        domain.absent.then(|| "absent".to_owned()).into_iter().chain(given).collect();
    if all.is_empty() { "no instance".to_owned() } else { all.join("; ") }
}

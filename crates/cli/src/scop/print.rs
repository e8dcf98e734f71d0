//! What `tangram scop --print` writes about a part.

use tangram_polyhedral::Error as Fault;
use tangram_polyhedral::optimise::Optimised;
use tangram_polyhedral::picture::Domains;
use tangram_polyhedral::schedule::Options;
use tangram_polyhedral::scop::{Basis, Kind, Scop};
use tangram_presburger::Budget;
use tangram_presburger::count::PwQPolynomial;
use tangram_scop::Part;

use super::{Outcome, ScopArgs, ScopPrint, optimised, recipe, report};
use crate::error;
use crate::out;
use crate::schedule::written;

/// Returns what `print` asks for about a part.
pub(super) fn show(
    part: &Part,
    print: ScopPrint,
    args: &ScopArgs,
    budget: &Budget,
) -> Result<String, Fault> {
    let scop = &part.scop;
    let options = Options { fusion: args.fuse.into(), ..Options::default() };
    Ok(match print {
        ScopPrint::Ast => {
            let Outcome { best, ast, .. } = optimised(part, args, budget)?;
            say_idle(part, args, &best);
            ast?.to_string()
        }
        ScopPrint::Report => report::report(part, &optimised(part, args, budget)?),
        ScopPrint::Score => report::score(&optimised(part, args, budget)?),
        ScopPrint::Tree => written(&scop.schedule, args.format),
        ScopPrint::Deps => dependences(scop, budget)?,
        ScopPrint::Schedule => {
            let constraints = scop.constraints(budget)?;
            let scheduled = constraints.schedule(&options, Some(&scop.schedule), budget)?;
            if let Some(reason) = &scheduled.fallback {
                let (name, line) = (args.input.display(), part.first_line);
                let reason = error::loops(reason);
                out::say(format!("{name}:{line}: note: the original schedule stays: {reason}\n"));
            }
            written(&scheduled.tree, args.format)
        }
        ScopPrint::Stats => stats(scop, budget)?,
        ScopPrint::Domains => domains(part, args, budget)?,
    })
}

/// Says what of `--tile` has no effect on a part.
fn say_idle(part: &Part, args: &ScopArgs, best: &Optimised) {
    let (name, line) = (args.input.display(), part.first_line);
    for idle in &best.idle {
        out::say(format!("{name}:{line}: note: {}\n", report::without(*idle)));
    }
}

fn dependences(scop: &Scop, budget: &Budget) -> Result<String, Fault> {
    let mut text = String::new();
    for kind in Kind::ALL {
        let found = scop.dependences(kind, Basis::Value, budget)?;
        text += &format!("{}: \"{}\"\n", kind.name(), found.tagged);
        let [sources, sinks] = found.ends(budget)?.map(count);
        let name = kind.name();
        text += &format!("{name}_ends: {{ sources: \"{sources}\", sinks: \"{sinks}\" }}\n");
    }
    text += "executions:\n";
    for runs in scop.schedule.executions(budget)?.functions() {
        text += &format!("- \"{runs}\"\n");
    }
    text += &format!("private: [ {} ]\n", scop.privatisable(budget)?.join(", "));
    text += &format!("live_in: \"{}\"\n", scop.live_in(budget)?);
    text += &format!("live_out: \"{}\"\n", scop.live_out(budget)?);
    Ok(text)
}

/// Writes how many instances there are at an end of dependences.
fn count(instances: Option<PwQPolynomial>) -> String {
    instances.map_or_else(|| "{ 0 }".to_owned(), |count| count.to_string())
}

fn stats(scop: &Scop, budget: &Budget) -> Result<String, Fault> {
    let parameters = scop.domain()?.parameters();
    let (scalars, arrays): (Vec<_>, Vec<_>) =
        scop.arrays.iter().partition(|array| array.extents.is_empty());
    let scalars = scalars.iter().filter(|scalar| !parameters.contains(&scalar.name));
    let mut text = format!(
        "statements: {}\narrays: {}\nscalars: {}\nparameters: {}\n",
        scop.effective().count(),
        arrays.len(),
        scalars.count(),
        parameters.join(", "),
    );
    for kind in Kind::ALL {
        let found = scop.dependences(kind, Basis::Value, budget)?;
        text += &format!("{} dependences: {}\n", kind.name(), found.tagged.relations().count());
    }
    Ok(text)
}

/// Draws the instances of a part: in the order of the source or, with tiles, the new one.
fn domains(part: &Part, args: &ScopArgs, budget: &Budget) -> Result<String, Fault> {
    let scop = &part.scop;
    let recipe = recipe(args);
    let tree = match recipe.tile {
        Some(_) => {
            let best = scop.optimise(&recipe, budget)?;
            say_idle(part, args, &best);
            best.tree
        }
        None => scop.schedule.clone(),
    };
    let flow = scop.dependences(Kind::Flow, Basis::Value, budget)?.pairs(budget)?;
    let picture = Domains {
        tree: &tree,
        dependences: Some(&flow),
        params: &args.set,
        order: true,
        tiles: true,
    };
    picture.to_svg(budget)
}

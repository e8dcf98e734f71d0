//! `tangram machine`, and `--machine` of the commands that weigh loops.

use crate::exit::ExitCode;
use std::path::Path;

use clap::Args;
use tangram_machine::{Machine, MachineError};

use crate::error::Error;
use crate::out;

/// Arguments of `tangram machine`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  tangram machine\n  tangram machine avx512\n  tangram machine \
                        --json > mine.json    # edit it, then: tangram scop k.c --machine mine.json"
)]
pub(crate) struct MachineArgs {
    /// `native` for this computer, an instruction set (`scalar`, `sse2`, `avx2`, `avx512`, `neon`),
    /// or a JSON file.
    #[arg(default_value = "native", value_name = "NAME|FILE", value_parser = named)]
    pub(crate) machine: Machine,
    /// Print JSON, as `--machine` reads it.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints what loops are weighed by.
pub(crate) fn run(args: &MachineArgs) -> Result<ExitCode, Error> {
    let text = if args.json { args.machine.to_json() + "\n" } else { table(&args.machine) };
    out::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads an argument that names a machine, or a file that describes one.
pub(crate) fn named(argument: &str) -> Result<Machine, String> {
    let unknown = match argument.parse::<Machine>() {
        Ok(machine) => return Ok(machine),
        Err(unknown) => unknown,
    };
    let path = Path::new(argument);
    if !path.exists() && path.components().count() == 1 && path.extension().is_none() {
        return Err(unknown.to_string());
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    Machine::from_json(&text).map_err(|fault| match fault {
        MachineError::Text { line, column, message } => {
            format!("{argument}:{line}:{column}: {}", tangram::message(&message))
        }
        other => format!("{argument}: {other}"),
    })
}

fn table(machine: &Machine) -> String {
    let lanes = format!("{} doubles, {} floats", machine.lanes(8), machine.lanes(4));
    let mut rows = vec![
        ("instruction set", format!("{} ({})", machine.isa, machine.name)),
        ("vectors", format!("{} of {lanes}", machine.vector_registers)),
        (
            "multiply-add",
            format!("{} cycles, {} a cycle", machine.fma_latency, machine.fma_per_cycle),
        ),
    ];
    for cache in &machine.caches {
        let text = format!(
            "{} KiB, {} ways, lines of {} bytes",
            cache.bytes >> 10,
            cache.ways,
            cache.line
        );
        rows.push((["cache", "L1", "L2", "L3", "L4"][cache.level.min(4)], text));
    }
    rows.push(("cores", machine.cores.to_string()));
    rows.iter().map(|(name, value)| format!("{name:<16} {value}\n")).collect()
}

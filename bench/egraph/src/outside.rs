//! What is measured from outside: processor time, peak memory, instructions.

use crate::{SMALL, median};
use std::process::Command;

/// How often shares are measured; the median is shown.
const TIMES: usize = 5;

/// The number of the smallest of the small terms.
const SMALLEST: &str = "5";

/// Returns the seconds of processor time used, which other work of the machine hardly changes.
///
/// All engines run in one thread.
pub fn processor_seconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}

/// Returns the most memory in KiB that this process has held, if the system tells.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().split(' ').next()?.parse().ok()
}

/// Compares peak memory on the large workloads, each run in a process of its own.
///
/// What a process takes for a term of three nodes, the program itself above all, is taken off.
pub fn memory() {
    println!("\n{:<18} {:>10} {:>10} {:>7}", "memory", "ours MiB", "egg MiB", "share");
    let peak = |engine: &str, workload: &str, size: &[&str]| {
        let output = this(&[]).args(["only", engine, workload]).args(size).output().ok()?.stdout;
        let text = String::from_utf8(output).ok()?;
        text.lines().find_map(|line| line.strip_prefix("peak KiB: ")?.parse::<f64>().ok())
    };
    for workload in ["math-10", "math-11", "sums-10", "sums-11", "math-dynamic-11", "repeat-59"] {
        let run = |engine| Some(peak(engine, workload, &[])? - peak(engine, "small", &[SMALLEST])?);
        match run("ours").zip(run("egg")) {
            Some((ours, egg)) => {
                let share = 100.0 * ours / egg;
                println!("{workload:<18} {:>10.1} {:>10.1} {share:>5.1} %", ours / 1024.0, egg / 1024.0);
            }
            None => println!("{workload:<18} absent: this system does not tell peak memory"),
        }
    }
}

/// Shows what explanations cost us: time and peak memory with them, as shares of those without.
pub fn explanations() {
    println!("\n{:<18} {:>10} {:>10}", "explanations", "time", "memory");
    let pairs = [("math-10", "math-explained-9", 10), ("sums-10", "sums-explained-9", 10)];
    for (plain, explained, size) in pairs {
        let run = |workload: &str| {
            let arguments = ["only", "ours", workload, &size.to_string()];
            let output = this(&[]).args(arguments).output().ok()?.stdout;
            let text = String::from_utf8(output).ok()?;
            let number = |before: &str| {
                let rest = text.split(before).nth(1)?;
                rest.split([',', '\n']).next()?.trim().parse::<f64>().ok()
            };
            Some((number("seconds: ")?, number("peak KiB: ")?))
        };
        let runs: Option<Vec<_>> = (0..TIMES).map(|_| run(plain).zip(run(explained))).collect();
        let Some(runs) = runs else {
            println!("{plain:<18} absent: this system does not tell peak memory");
            continue;
        };
        let mut times: Vec<f64> = runs.iter().map(|(plain, with)| with.0 / plain.0).collect();
        let mut memory: Vec<f64> = runs.iter().map(|(plain, with)| with.1 / plain.1).collect();
        println!("{plain:<18} {:>10.2} {:>10.2}", median(&mut times), median(&mut memory));
    }
}

/// Compares instructions on the small workloads, as valgrind counts them.
pub fn instructions() {
    println!("\n{:<24} {:>12} {:>12} {:>7}", "instructions", "ours", "egg", "share");
    let small = SMALL.iter().enumerate();
    let small = small.map(|(at, (name, _))| (format!("small {name}"), "small", at));
    let named = [("math-6", 6), ("math-8", 8), ("sums-7", 7), ("fib-30", 30)];
    let named = named.map(|(name, size)| (name.to_owned(), name, size));
    for (label, workload, size) in small.chain(named) {
        match count("ours", workload, size).zip(count("egg", workload, size)) {
            Some((ours, egg)) => {
                let share = 100.0 * ours as f64 / egg as f64;
                println!("{label:<24} {ours:>12} {egg:>12} {share:>5.1} %");
            }
            None => {
                println!("absent: valgrind cannot be run");
                return;
            }
        }
    }
}

fn count(engine: &str, workload: &str, size: usize) -> Option<u64> {
    let tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let mut command = this(&tool);
    let output = command.args(["only", engine, workload, &size.to_string()]).output().ok()?.stderr;
    let text = String::from_utf8_lossy(&output).into_owned();
    text.lines().find_map(|line| line.split("Collected : ").nth(1)?.trim().parse().ok())
}

/// Runs this program again, behind the words of another one.
fn this(before: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| "bench-egraph".into());
    match before {
        [] => Command::new(program),
        [tool, options @ ..] => {
            let mut command = Command::new(tool);
            command.args(options).arg(program);
            command
        }
    }
}

//! What stands around kernels in a file: headers, types, constants and macros.

use std::collections::BTreeSet;
use std::fmt::Write;

use tangram_polyhedral::ast::Ast;

use crate::c_tokens::words;
use crate::names::Root;
use crate::{Enumeration, Part};

const START: &str = "\
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TANGRAM_CUDA(call) \\
  do { \\
    cudaError_t tangram_error = (call); \\
    if (tangram_error != cudaSuccess) { \\
      fprintf(stderr, \"%s:%d: %s\\n\", __FILE__, __LINE__, cudaGetErrorString(tangram_error)); \\
      exit(EXIT_FAILURE); \\
    } \\
  } while (0)
";

/// Types that headers define, and the compiler for devices does not know by itself.
const STANDARD: [(&str, &str); 14] = [
    ("int8_t", "signed char"),
    ("int16_t", "short"),
    ("int32_t", "int"),
    ("int64_t", "long long"),
    ("uint8_t", "unsigned char"),
    ("uint16_t", "unsigned short"),
    ("uint32_t", "unsigned"),
    ("uint64_t", "unsigned long long"),
    ("intptr_t", "long long"),
    ("uintptr_t", "unsigned long long"),
    ("intmax_t", "long long"),
    ("uintmax_t", "unsigned long long"),
    ("ssize_t", "long long"),
    ("wchar_t", "int"),
];

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// To be compiled with its host functions.
    Program,
    /// Kernels alone, without any header.
    Kernels,
}

/// Returns whether a type is one that headers define.
pub(super) fn is_standard(name: &str) -> bool {
    matches!(name, "size_t" | "ptrdiff_t") || STANDARD.iter().any(|(own, _)| *own == name)
}

/// Writes what stands in front of the code of all parts.
pub(super) fn head(
    origin: &str,
    parts: &[&Part],
    bodies: &str,
    (root, output): (&Root, Output),
) -> String {
    let constants = constants(parts, bodies);
    let mut used: BTreeSet<&str> = words(bodies).collect();
    used.extend(constants.iter().flat_map(|own| words(&own.text)));
    let more = if output == Output::Kernels { " --device-only" } else { "" };
    let origin = tangram_target::comment(origin);
    let mut text = format!("/* Made from {origin} by `tangram scop --target cuda{more}`. */\n");
    if output == Output::Program {
        text.push_str(&root.text(START));
    }
    for line in Ast::macros().lines() {
        let name = line.trim_start_matches("#define ").split('(').next().unwrap_or_default();
        let full = format!("{}{name}", root.lower());
        if used.contains(full.as_str()) {
            let _ = writeln!(text, "{}", line.replacen(name, &full, 1));
        }
    }
    for (name, meaning) in types(parts, &used, output) {
        let _ = writeln!(text, "typedef {meaning} {name};");
    }
    for own in constants {
        let _ = writeln!(text, "{}", own.text);
    }
    text
}

/// Lists the types that have to be given their names, each once.
fn types<'a>(
    parts: &[&'a Part],
    used: &BTreeSet<&str>,
    output: Output,
) -> BTreeSet<(&'a str, &'a str)> {
    let named = parts.iter().flat_map(|part| &part.around.types);
    let named = named.map(|(name, meaning)| (name.as_str(), meaning.as_str()));
    let own = named.filter(|(name, _)| !is_standard(name));
    let standard: &[(&str, &str)] = match output {
        Output::Program => &[],
        Output::Kernels => &STANDARD,
    };
    own.chain(standard.iter().copied()).filter(|(name, _)| used.contains(name)).collect()
}

/// Lists the enumerations whose constants code uses, in their order.
fn constants<'a>(parts: &[&'a Part], bodies: &str) -> Vec<&'a Enumeration> {
    let mut used: BTreeSet<&str> = words(bodies).collect();
    let mut all: Vec<&Enumeration> = Vec::new();
    for own in parts.iter().flat_map(|part| &part.around.enumerations) {
        if !all.contains(&own) {
            all.push(own);
        }
    }
    // Later ones are written with earlier ones.
    let mut found = Vec::new();
    for own in all.into_iter().rev() {
        if own.names.iter().any(|name| used.contains(name.as_str())) {
            used.extend(words(&own.text));
            found.push(own);
        }
    }
    found.reverse();
    found
}

//! The example kernels, and C programs that compare two forms of them.

use std::fmt::Write;
use std::path::PathBuf;

use super::run;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/kernels"))
}

/// A kernel's text; its headers declare pure functions alone, so no preprocessor is needed.
pub fn text(name: &str) -> String {
    let text = std::fs::read_to_string(folder().join(format!("{name}.c"))).expect("readable");
    text.lines().filter(|line| !line.starts_with("#include")).map(|l| format!("{l}\n")).collect()
}

/// A parameter of a kernel: type, name, extents.
struct Parameter {
    element: String,
    name: String,
    extents: Vec<String>,
}

fn parameters(text: &str, name: &str) -> Vec<Parameter> {
    let start = text.find(&format!("{name}(")).expect("the function") + name.len() + 1;
    let end = start + text[start..].find("\n{").expect("a body");
    let list = text[start..end].trim_end().trim_end_matches(')');
    let parameter = |part: &str| {
        let (element, rest) = part.trim().split_once(' ').expect("a type and a name");
        let mut pieces = rest.split('[');
        let name = pieces.next().unwrap_or_default().trim().to_owned();
        let extents = pieces.map(|p| p.trim_end_matches(']').to_owned()).collect();
        Parameter { element: element.to_owned(), name, extents }
    };
    list.split(',').map(parameter).collect()
}

/// Writes a function that runs a kernel in two ways on the same data and compares all bytes.
fn comparison(name: &str, parameters: &[Parameter]) -> String {
    let mut code = format!("static int compare_{name}(const int *size) {{\n  int at = 0;\n");
    let (mut first, mut second, mut checks) = (Vec::new(), Vec::new(), String::new());
    for Parameter { element, name, extents } in parameters {
        if extents.is_empty() {
            let value = if element == "int" { "size[at++]" } else { "1.5" };
            let _ = writeln!(code, "  {element} {name} = {value};");
            first.push(name.clone());
            second.push(name.clone());
            continue;
        }
        let count: String = extents.iter().map(|extent| format!(" * ({extent})")).collect();
        let last = &extents[extents.len() - 1];
        let _ = writeln!(
            code,
            "  size_t n_{name} = 1{count};\n  {element} *a_{name} = fill_{element}(n_{name}, {last}), \
             *b_{name} = fill_{element}(n_{name}, {last});"
        );
        let _ = writeln!(
            checks,
            "  wrong |= memcmp(a_{name}, b_{name}, n_{name} * sizeof *a_{name});\n  \
             free(a_{name}); free(b_{name});"
        );
        first.push(format!("(void *)a_{name}"));
        second.push(format!("(void *)b_{name}"));
    }
    let _ = writeln!(
        code,
        "  before_{name}({});\n  after_{name}({});\n  int wrong = 0;\n{checks}  return wrong;\n}}",
        first.join(", "),
        second.join(", ")
    );
    code
}

const START: &str = "\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Large values on the diagonal keep solvers away from 0. */
#define FILL(type) static inline type *fill_##type(size_t n, size_t row) { \\
  type *a = malloc(n * sizeof *a); \\
  for (size_t i = 0; i < n; i++) \\
    a[i] = (type)((i * 7 + 3) % 11) / (type)7 + (i / row % row == i % row ? 40 : 0); \\
  return a; }
FILL(int)
FILL(double)
";

/// A kernel in two forms; the second one is a function of the same name and parameters.
pub struct Pair<'a> {
    pub name: &'a str,
    pub before: String,
    pub after: String,
}

/// Compiles kernels in both forms, runs them for several sizes, and lists those that differ.
///
/// `prelude` is C that both forms may use.
pub fn differing(pairs: &[Pair], prelude: &str, flags: &[&str]) -> Vec<String> {
    let mut program = format!("{START}{prelude}");
    let mut main = "int main(int n, char **v) {\n  int size[8], wrong = 0;\n  \
                    for (int i = 0; i < 8; i++) size[i] = atoi(v[1 + i % (n - 1)]);\n"
        .to_owned();
    for Pair { name, before, after } in pairs {
        if std::env::var("TANGRAM_ONLY").is_ok() {
            println!("{after}");
        }
        for (form, text) in [("before", before), ("after", after)] {
            let _ = writeln!(program, "#define {name} {form}_{name}\n{text}#undef {name}");
        }
        program.push_str("#undef min\n#undef max\n#undef floord\n#undef TANGRAM_SIMD\n");
        program.push_str(&comparison(name, &parameters(before, name)));
        let _ = writeln!(main, "  if (compare_{name}(size)) wrong = 1, puts(\"{name}\");");
    }
    program.push_str(&main);
    program.push_str("  return wrong;\n}\n");
    let flags = [&["-std=c99", "-Wall", "-Werror", "-Wno-unknown-pragmas"], flags].concat();
    let sizes: [&[&str]; 4] =
        [&["1", "1", "1"], &["7", "5", "9"], &["35", "70", "41"], &["3", "67", "34"]];
    let stem = format!("{}-{}", pairs.first().map_or("", |pair| pair.name), flags.len());
    let Some(runs) = run(&stem, &program, &flags, &sizes) else { return Vec::new() };
    let mut wrong = Vec::new();
    for (run, sizes) in runs.into_iter().zip(sizes) {
        if !run.status.success() {
            let out = String::from_utf8_lossy(&run.stdout).into_owned();
            wrong.push(format!("{sizes:?}: {out}{}", String::from_utf8_lossy(&run.stderr)));
        }
    }
    wrong
}

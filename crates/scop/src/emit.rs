//! Generated loops in the place of the parts that they were made from.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use tangram_polyhedral::ast::{Ast, CStyle, Kept, Statements};
use tangram_polyhedral::contraction::Contraction;

use crate::accumulate::Accumulators;
use crate::c_tokens::{replaced, words};
use crate::contraction::{Kernels, Panel, Tiles};
use crate::declare::is_small;
use crate::definitions::{HINT, SHARED, definitions, without_conditions};
use crate::guard::Guard;
use crate::macros::Hidden;
use crate::memory::{Memory, lasting};
use crate::names::{Root, free, of_earlier_run, unused};
use crate::source_range::places;
use crate::top_level::{definitions_at, macros};
use crate::{Declared, Part, Problem};

/// How loops are written into a file.
#[derive(Debug, Clone, Default)]
pub struct Emit {
    /// Whether outermost coincident loops get an OpenMP pragma.
    pub parallel: bool,
    /// Instances of statements from which on such a loop runs on several threads, as far as their
    /// number is known: it becomes a condition of the pragma. 0 if all loops do.
    pub threads_from: u64,
    /// Whether innermost coincident loops get a hint to vectorise.
    pub vectorize: bool,
    /// Places of parts among those that are rewritten, as several may begin on one line, and local
    /// variables of them of which each thread needs its own.
    pub private: Vec<(usize, String)>,
    /// Places of parts among those that are rewritten, and contractions of them of which the code has
    /// tiles.
    pub contractions: Vec<(usize, Contraction)>,
    /// Whether arrays that pointers lead to are known not to overlap: no code compares their ranges.
    pub no_alias: bool,
    /// Macros that are known somewhere in the file, beside those that it defines itself: new code is
    /// written behind the preprocessor, which would put something in their place again.
    pub macros: Vec<String>,
    /// The file behind the preprocessor, if there is one: what headers declare has its name, too.
    pub preprocessed: String,
}

/// Returns the conditions under which new code takes the place of a part: what it tests beside what it
/// needs anyway ([`Part::test`]).
///
/// # Errors
/// Why the part keeps its own loops whatever is tested.
pub fn guarded(part: &Part, ast: &Ast, emit: &Emit) -> Result<Vec<String>, String> {
    let style = style_of(part, &plain_style());
    let guard = Guard::of(part, ast, &style, (&Root::default(), emit.no_alias))?;
    Ok([guard.limits, guard.apart].concat())
}

/// How C is written, whatever the names in the file are.
fn plain_style() -> CStyle {
    let mut style = CStyle::default();
    style.index = "long long".into();
    style.indent = "    ".into();
    style
}

/// Puts code in the place of parts, with the pragmas that mark them.
///
/// `original` is the text before the preprocessor; a part without code keeps its lines, and so
/// does one with [`Part::ended`] variables, which generated loops would not set, and one for
/// which [`guarded`] finds no conditions.
/// Definitions that the code needs follow the last `#include` before the first part. All
/// other text stays as it is, byte for byte; new lines end as most lines do. Linear in the texts.
///
/// # Errors
/// [`Problem`] if a part does not stand in the file, as one from an included file, or if a
/// local array cannot be declared in front of the loops.
pub fn rewrite(
    original: &str,
    parts: &[(&Part, Option<&Ast>)],
    emit: &Emit,
) -> Result<String, Problem> {
    let lines: Vec<&str> = original.split_inclusive('\n').collect();
    let end = line_end(&lines);
    let (own, known) = (macros(original), of_earlier_run(original, &SHARED));
    let hides = |name: &&str| !is_given(name) && !known.contains(name);
    let macros: HashSet<&str> =
        own.iter().chain(&emit.macros).map(String::as_str).filter(hides).collect();
    let all = words(original).chain(words(&emit.preprocessed));
    let words: HashSet<&str> = all.chain(macros.iter().copied()).collect();
    let root = &Root::of(&words, &known);
    let mut style = plain_style();
    style.iterator = free(&words, &["c", "t", "it"], &root.text("tangram_c"));
    let local = free(&words, &["s", "sum", "acc"], &root.text("tangram_s"));
    style.hint = root.text(HINT);
    (style.parallel, style.vectorize) = (emit.parallel, emit.vectorize);
    style.threads_from = emit.threads_from;
    if ["floord", "min", "max"].iter().any(|name| words.contains(name)) {
        style.prefix = root.lower().into();
    }
    let all: Vec<&Part> = parts.iter().map(|(part, _)| *part).collect();
    let (mut text, mut from) = (String::new(), 0);
    let (mut first, mut kernels) = (None::<usize>, Kernels::default());
    for (at, ((part, ast), place)) in parts.iter().zip(places(original, &all)).enumerate() {
        let Some(ast) = ast.filter(|_| part.ended.is_empty()) else { continue };
        let Ok(guard) = Guard::of(part, ast, &style_of(part, &style), (root, emit.no_alias)) else {
            continue;
        };
        style.types.clone_from(&guard.types);
        let place = place?;
        if place.start < from {
            let message = "the part stands in another one".to_owned();
            return Err(Problem::new(part.first_line, message));
        }
        style.private = private((at, part), emit);
        style.parallel = emit.parallel && !part.threaded;
        first.get_or_insert(place.start);
        let within = part.first_line.saturating_sub(usize::from(!part.marked));
        let margin = margin(lines.get(within).copied().unwrap_or_default());
        text.push_str(&original[from..place.start]);
        // Code that shares the line of the part gets lines of its own.
        if !text.is_empty() && !text.ends_with('\n') {
            text.truncate(text.trim_end_matches([' ', '\t']).len());
            text.push_str(end);
        }
        let own = emit.contractions.iter().filter(|(of, _)| *of == at);
        let shape = (style.index.clone(), style.indent.clone());
        let tiles: Vec<Tiles> = own
            .filter_map(|(_, contraction)| {
                let shape = (shape.0.as_str(), shape.1.as_str());
                Tiles::new(
                    contraction,
                    part,
                    &mut kernels,
                    (&words, root),
                    shape,
                    emit.threads_from,
                )
            })
            .collect();
        style.shared_where = tiles.iter().flat_map(Tiles::shared_where).collect();
        let new = code(part, ast, &tiles, (&style, &local), margin)?;
        let within = match part.marked {
            true => lines[part.first_line..part.last_line - 1].concat(),
            false => original[place.clone()].to_owned(),
        };
        let fits = part.test.as_ref().map(|_| unused(&words, "fits"));
        let panels = match part.declared.is_empty() {
            true => tiles.iter().flat_map(Tiles::panels).collect(),
            // There is no other place for the loops of the source.
            false => Vec::new(),
        };
        let memory = Memory::of(part, &panels, &unused(&words, "memory"), root);
        let tests = fits.iter().cloned().chain(guard.limits.clone()).chain(guard.apart);
        let mut choice = Choice::of(part, &tiles, tests.collect(), &memory, &style.indent);
        let more = [choice.condition.clone(), choice.before.concat(), choice.first.concat()];
        let of_test = part.scop.statements.iter().flat_map(|own| &own.domain.space().params);
        let of_test = of_test.chain(part.members.iter().map(|member| &member.text));
        let code = more.iter().chain(of_test).chain([&new]);
        // What the preprocessor puts in the place of our names is read there, too.
        let behind = code.clone().map(|code| definitions(code, &style, root));
        let behind: Vec<String> = behind.map(|own| without_conditions(&own)).collect();
        let code = code.chain(&behind).map(String::as_str);
        let hidden = Hidden::of(&macros, code);
        choice.otherwise.clone_from(&hidden.behind);
        text.push_str(&ended(&hidden.before, end));
        let new = match (&part.test, fits) {
            (Some(test), Some(name)) => {
                let name = (name.as_str(), guard.limits.as_slice());
                tested(part, test, (&style, name), (&choice, &new, &within), margin)
            }
            _ => choice.either((&new, &within), &style.indent, margin),
        };
        text.push_str(&ended(&new, end));
        if choice.condition.is_empty() {
            text.push_str(&ended(&hidden.behind, end));
        }
        from = place.end;
        if !original[..from].ends_with('\n') {
            let behind = original[from..].split('\n').next().unwrap_or_default();
            let blank = behind.len() - behind.trim_start().len();
            if behind.trim().is_empty() {
                from = original.len().min(from + behind.len() + 1);
            } else if behind.trim_start().starts_with("//") {
                text.truncate(text.trim_end().len());
            } else {
                from += blank;
                text.push_str(margin);
            }
        }
    }
    text.push_str(&original[from..]);
    let Some(first) = first else { return Ok(text) };
    let needed = definitions(&text, &style, root) + kernels.text();
    if needed.is_empty() {
        return Ok(text);
    }
    let hidden = Hidden::of(&macros, [without_conditions(&needed).as_str()]);
    let needed = [hidden.before, needed, hidden.behind].concat();
    let offset = definitions_at(original, first);
    let broken = offset > 0 && !original[..offset].ends_with(['\n', '\u{feff}']);
    let start = if broken { end } else { "" };
    text.insert_str(offset, &format!("{start}{}", ended(&needed, end)));
    Ok(text)
}

/// Returns whether a macro is one that the compiler has from the start, as `__UINTPTR_TYPE__`.
fn is_given(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}

/// Returns how most lines end.
fn line_end(lines: &[&str]) -> &'static str {
    let count = |end: &str| lines.iter().filter(|line| line.ends_with(end)).count();
    if 2 * count("\r\n") > count("\n") { "\r\n" } else { "\n" }
}

/// Gives all lines of new text the same end.
fn ended(text: &str, end: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', end)
}

/// Returns what a line is indented by.
fn margin(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Says for which sizes the tiles of a part are worth their packing, where only a run knows these.
fn worth(part: &Part, tiles: &[Tiles]) -> Vec<String> {
    // What follows the part would not see variables that are declared in a branch.
    let mut all: Vec<String> = match part.declared.is_empty() {
        true => tiles.iter().filter_map(|tiles| tiles.worth()).collect(),
        false => Vec::new(),
    };
    let mut seen = HashSet::new();
    all.retain(|test| seen.insert(test.clone()));
    all
}

/// What chooses between new code and that of the source.
struct Choice {
    /// Lines in front of it: memory that the new code needs.
    before: Vec<String>,
    /// The condition, empty if new code always runs.
    condition: String,
    /// Lines at the start of new code.
    first: Vec<String>,
    /// Lines in front of the source's code.
    otherwise: String,
    /// Lines behind both.
    behind: Vec<String>,
}

impl Choice {
    /// `tests`: what has to hold for the new code to be right.
    fn of(part: &Part, tiles: &[Tiles], tests: Vec<String>, memory: &Memory, indent: &str) -> Self {
        let all: Vec<String> = [tests, worth(part, tiles)].concat();
        match memory.is_empty() {
            true => Self {
                before: Vec::new(),
                condition: all.join(" && "),
                first: Vec::new(),
                otherwise: String::new(),
                behind: Vec::new(),
            },
            false => Self {
                before: memory.allocated(&all, indent),
                condition: memory.condition(),
                first: memory.declared(),
                otherwise: String::new(),
                behind: vec![memory.freed()],
            },
        }
    }

    /// Writes two forms of the same loops, of which sizes choose one.
    fn either(&self, (new, old): (&str, &str), indent: &str, margin: &str) -> String {
        if self.condition.is_empty() {
            return new.to_owned();
        }
        let alone = self.before.is_empty();
        let mut text = if alone { String::new() } else { format!("{margin}{{\n") };
        let outer = if alone { margin.to_owned() } else { format!("{margin}{indent}") };
        for line in &self.before {
            let _ = writeln!(text, "{outer}{line}");
        }
        let _ = writeln!(text, "{outer}if ({}) {{", broken(&self.condition, &outer, indent));
        for line in &self.first {
            let _ = writeln!(text, "{outer}{indent}{line}");
        }
        let more = if alone { indent.to_owned() } else { indent.repeat(2) };
        for line in new.lines() {
            let _ = writeln!(text, "{more}{line}");
        }
        let own = format!("{}{}", self.otherwise, old.trim_end());
        let _ = writeln!(text, "{outer}}} else {{\n{own}\n{outer}}}");
        for line in &self.behind {
            let _ = writeln!(text, "{outer}{line}");
        }
        if !alone {
            let _ = writeln!(text, "{margin}}}");
        }
        text
    }
}

/// Writes new code and that of the source beside each other: the former runs where its
/// parameters are those that it was made for, and worth it.
fn tested(
    part: &Part,
    test: &Ast,
    (style, (name, limits)): (&CStyle, (&str, &[String])),
    (choice, new, old): (&Choice, &str, &str),
    margin: &str,
) -> String {
    let indent = &style.indent;
    let mut style = style_of(part, style);
    style.depth = if limits.is_empty() { 1 } else { 2 };
    (style.vectorize, style.parallel) = (false, false);
    let mut condition = test.to_c_with(&style, &Test { name });
    if !limits.is_empty() {
        // The condition is computed within these limits alone.
        condition = format!("{indent}if ({}) {{\n{condition}{indent}}}\n", limits.join(" && "));
    }
    let mut text = format!("{margin}{{\n{margin}{indent}int {name} = 0;\n");
    for line in condition.lines() {
        let _ = writeln!(text, "{margin}{line}");
    }
    let inner = choice.either((new, old), indent, &format!("{margin}{indent}"));
    let _ = writeln!(text, "{inner}{margin}}}");
    text
}

/// Breaks a long condition into lines.
fn broken(condition: &str, outer: &str, indent: &str) -> String {
    const LONGEST: usize = 90;
    if condition.len() + outer.len() < LONGEST {
        return condition.to_owned();
    }
    condition.replace(" && ", &format!(" &&\n{outer}{indent}{indent}"))
}

/// Notes that parameters are those that code was made for.
struct Test<'a> {
    name: &'a str,
}

impl Statements for Test<'_> {
    fn instance(&self, _: &str, _: &[String]) -> String {
        format!("{} = 1;", self.name)
    }
}

/// Lets parameters that are unsigned be signed, and writes members as such.
fn style_of(part: &Part, style: &CStyle) -> CStyle {
    let mut style = style.clone();
    let members = part.members.iter().map(|member| &member.name);
    let names: Vec<String> = members.chain(&part.unsigned).cloned().collect();
    let texts = part.parameters(&names, &style.index);
    style.params.extend(names.into_iter().zip(texts));
    style
}

/// Writes the loops of a part, indented by `margin`.
///
/// `local`: what the names of local variables start with.
fn code(
    part: &Part,
    ast: &Ast,
    tiles: &[Tiles],
    (style, local): (&CStyle, &str),
    margin: &str,
) -> Result<String, Problem> {
    let mut style = style_of(part, style);
    let locals = part.arrays.iter().filter(|array| array.local);
    let (outer, inner): (Vec<&Declared>, Vec<&Declared>) =
        locals.partition(|array| part.declared.contains(&array.name));
    let mut text = String::new();
    for check in &part.checks {
        let _ = writeln!(text, "{check}");
    }
    for array in outer {
        text.push_str(&declaration(array, part)?);
    }
    let lasts = !tiles.is_empty() && !part.declared.is_empty();
    let braces = !inner.is_empty() || part.braced || lasts;
    if braces {
        text.push_str("{\n");
        style.depth = 1;
        for array in inner {
            let _ = write!(text, "{}{}", style.indent, declaration(array, part)?);
        }
        if lasts {
            let panels: Vec<Panel> = tiles.iter().flat_map(Tiles::panels).collect();
            for line in lasting(&panels) {
                let _ = writeln!(text, "{}{line}", style.indent);
            }
        }
    }
    let of = part.scop.statements.iter().zip(&part.bodies).zip(&part.types);
    let bodies = of.map(|((s, body), types)| {
        let dims = s.domain.space().output.dims.as_slice();
        (s.name.as_str(), Called { text: &body.text, dims, types })
    });
    style.names = iterators(part, ast, style.iterator.as_str());
    let accumulators = Accumulators::new(&part.arrays, &part.flat, local);
    let iterator = style.iterator.clone();
    text.push_str(&ast.to_c_with(
        &style,
        &Source {
            bodies: bodies.collect(),
            iterator: &iterator,
            names: &style.names,
            accumulators,
            tiles,
        },
    ));
    let indent = if braces { style.indent.as_str() } else { "" };
    for value in &part.finals {
        let _ = writeln!(text, "{indent}{}", value.text);
    }
    if braces {
        text.push_str("}\n");
    }
    let mut indented = String::new();
    for line in text.lines() {
        let _ = writeln!(indented, "{margin}{line}");
    }
    Ok(indented)
}

/// Names iterators after the loop variables of the source that they are, where no statement means
/// something else by the name.
fn iterators(part: &Part, ast: &Ast, start: &str) -> BTreeMap<u32, String> {
    let of = |name: &str| part.scop.statements.iter().find(|s| s.name == name);
    let dims = |name: &str| of(name).map_or(&[][..], |s| &s.domain.space().output.dims);
    let mut names = ast.carried_dimensions(dims);
    let means_another = |name: &String| {
        part.scop.arrays.iter().any(|array| array.name == *name)
            || part.scop.statements.iter().zip(&part.bodies).any(|(statement, body)| {
                !statement.domain.space().output.dims.contains(name)
                    && words(&body.text).any(|word| word == name)
            })
    };
    names.retain(|_, name| !name.starts_with(start) && !means_another(name));
    names
}

/// Statements as they stand in the source.
struct Source<'a> {
    bodies: HashMap<&'a str, Called<'a>>,
    /// What the names of generated iterators start with.
    iterator: &'a str,
    /// Generated iterators with names of the source.
    names: &'a BTreeMap<u32, String>,
    accumulators: Accumulators<'a>,
    tiles: &'a [Tiles<'a>],
}

/// A statement with the names and types of the loop variables around it.
struct Called<'a> {
    text: &'a str,
    dims: &'a [String],
    types: &'a [String],
}

impl Source<'_> {
    /// Returns whether an argument is computed in the type of generated iterators.
    fn iterates(&self, argument: &str) -> bool {
        words(argument).any(|word| {
            if self.names.values().any(|name| name == word) {
                return true;
            }
            let rest = word.strip_prefix(self.iterator);
            rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
    }
}

impl<'a> Statements for Source<'a> {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        if let Some(text) = self.tiles.iter().find_map(|tiles| tiles.instance(name, arguments)) {
            return text;
        }
        let Some(Called { text, dims, types }) = self.bodies.get(name) else {
            return format!("{name}({});", arguments.join(", "));
        };
        // A number or a parameter, as an `int`, would make an `int` of a product.
        let wide = |(argument, element): (&String, &'a String)| {
            (!is_small(element) && !self.iterates(argument)).then_some(element.as_str())
        };
        let types: Vec<Option<&str>> = arguments.iter().zip(*types).map(wide).collect();
        let text = replaced(text, dims, arguments, &types);
        // A statement in braces ends by itself.
        if text.ends_with('}') { text } else { format!("{text};") }
    }

    fn kept(&self, iterator: &str, lines: &[String]) -> Option<Kept> {
        self.accumulators.keep(iterator, lines)
    }
}

/// Lists the private variables that each statement of a part writes.
fn private((at, part): (usize, &Part), emit: &Emit) -> HashMap<String, Vec<String>> {
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    for write in part.scop.may_writes.relations() {
        let (statement, array) = (write.space().input.as_ref(), &write.space().output.name);
        let own = |(of, name): &(usize, String)| *of == at && name == array;
        if let Some(statement) = statement.filter(|_| emit.private.iter().any(own)) {
            found.entry(statement.name.clone()).or_default().push(array.clone());
        }
    }
    found
}

fn declaration(array: &Declared, part: &Part) -> Result<String, Problem> {
    let problem = |message: String| Problem::new(part.first_line, message);
    let loops: HashSet<&String> =
        part.scop.statements.iter().flat_map(|s| &s.domain.space().output.dims).collect();
    let mut text = format!("{} {}", array.element, array.name);
    for extent in &array.extents {
        if extent.is_empty() || words(extent).any(|word| loops.iter().any(|l| *l == word)) {
            let name = &array.name;
            let reason = "a fixed size is needed to declare it in front of the loops";
            return Err(problem(format!("`{name}` is local to a loop: {reason}")));
        }
        let _ = write!(text, "[{extent}]");
    }
    text.push_str(";\n");
    Ok(text)
}

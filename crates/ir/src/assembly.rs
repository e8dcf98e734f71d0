//! Assembly formats: how the text of an operation looks beside its generic form.
//!
//! A format stands in the definition of an operation and is interpreted by one reader and one
//! printer. Its words are separated by spaces:
//!
//! | word | stands for |
//! | --- | --- |
//! | `` `to` `` | this keyword or punctuation |
//! | `$lhs` | an operand (or all of a variadic one), or an attribute |
//! | `attr-dict` | the attributes that nothing else in the format shows |
//! | `type($lhs)` | the type of an operand or result, or types separated by commas |
//! | `functional-type` | `(operand types) -> result types` |
//! | `( ... )?` | what is there if the first `$operand`, attribute or region in it is there |
//! | `space`, ``` `` ``` | a space, or none, where punctuation would have none, or one |
//! | `word(a, b)` | a directive, see [`Directive`] |
//!
//! Behind `;` stand types that the text does not say: `$index: index`, `$mask: i1`, `$rhs: $lhs`,
//! `$value: element($memref)`, `$token: !dialect.token`, `$value: own`, the type that the value has
//! where it is defined. Where neither says the type of an operand, it is that of another
//! one if the operation has [`Traits::SAME_TYPE`](crate::Traits::SAME_TYPE); types of results are
//! inferred. `"$lhs, $rhs attr-dict : type($result)"` in MLIR's words is here
//! ``$lhs `,` $rhs attr-dict `:` type($result)``.
//!
//! Source: the declarative assembly format of MLIR's ODS. Divergence: it is interpreted, and
//! loops, functions and the like are directives instead of C++.

use crate::op_def::OpDef;

/// A place for values in the definition of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    /// Operand number `.0` of the definition.
    Operand(usize),
    /// Result number `.0` of the definition.
    Result(usize),
}

/// A type that the text does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypeRule {
    Index,
    /// An integer of so many bits.
    Integer(u32),
    /// A type of a dialect, as text.
    Named(&'static str),
    /// The type that the value has, which is defined before.
    Own,
    /// The type of another place.
    Same(Group),
    /// The type of the elements of another place.
    Element(Group),
}

/// What stands before the dictionary of attributes that nothing else shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DictStyle {
    /// `{a = 1}`.
    Bare,
    /// `attributes {a = 1}`.
    Keyword,
    /// `attrs = {a = 1}`.
    Assigned,
}

/// A piece of a format.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Instr {
    Literal(&'static str),
    Operand(usize),
    Attr(&'static str),
    AttrDict(DictStyle),
    Type(Group),
    FunctionalType,
    /// Goes on at the instruction given unless the anchor is there.
    Unless(Anchor, usize),
    Region(usize, RegionStyle),
    /// Any number of regions, separated by commas.
    Regions,
    /// `cases(terminator)`: `case 3 {...} default {...}`: the regions but the first, and then that
    /// one, in which the terminator goes without saying where the operation has no results.
    Cases(Option<&'static str>),
    Directive(Directive, Vec<&'static str>),
}

/// What an optional part depends on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Anchor {
    Operand(usize),
    Attr(&'static str),
    Results,
    Region(usize),
}

/// How a region is written.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct RegionStyle {
    /// Whether the arguments of the entry block stand in front of the region.
    pub(crate) hidden_args: bool,
    /// The terminator that goes without saying where the operation has no results.
    pub(crate) terminator: Option<&'static str>,
    /// Whether the terminator goes without saying in any case.
    pub(crate) always: bool,
    /// Whether it is printed although it goes without saying.
    pub(crate) shown: bool,
    /// Whether it holds one operation, on the same line, whose results the terminator takes.
    pub(crate) inline: bool,
    /// Whether it stands on a line of its own with its arguments in front, and is not there where
    /// a payload stands for it.
    pub(crate) mapper: bool,
}

/// The directives: each has a reader in `text/parse/directives.rs` and a printer in
/// `text/print/directives.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Directive {
    /// `flags($flags, overflow, dialect.overflow)`: `overflow<nsw>`; none where absent.
    Flags,
    /// `enum($predicate, i64, eq, ne, ...)`: an integer by a word; `i64?` if there need not be
    /// one (`-` has none), `i64!` if it is 0 then, `i64"` if it stands in quotes.
    Enum,
    /// `word($pred, dialect<kind, eq, ne)`: the word in `#dialect<kind eq>`; with a prefix that ends
    /// in `<`, as `dialect.kind<`, the one in `#dialect.kind<eq>`. Any word where none is listed.
    Word,
    /// `bits($flags, i32, overflow, nsw, nuw)`: `overflow<nsw, nuw>` for an integer with these bits.
    Bits,
    /// `requires($callee)`: nothing; without this attribute the generic form is printed.
    Requires,
    /// `without($bundles, $res_attrs)`: nothing; with any of these operands or attributes the
    /// generic form is printed.
    Without,
    /// `text-function(dialect.func, dialect, void, ptr, ...)`: name, arguments, results and
    /// attributes of a function whose type is text: `!dialect.func<void (ptr, i32, ...)>`. What is
    /// listed behind the dialect begins types that have no `!dialect.` there; the first is that of
    /// no result.
    TextFunction,
    /// `keyword($isExact, exact)`: the word where the attribute is there.
    Keyword,
    /// `int($alignment, i32)`: a number without its type.
    Int,
    /// `symbol($sym_name)`: a string as `@name`.
    Symbol,
    /// `mixed($offsets, static_offsets)`: `[%0, 4]`.
    Mixed,
    /// `branch(0, $operands)`: `^bb1(%0 : i32)`.
    Branch,
    /// `switch`: the cases of `cf.switch`.
    Switch,
    /// `function`: name, arguments, results and attributes of a function.
    Function,
    /// `select-type`: `i32`, or `vector<2xi1>, vector<2xi32>`.
    SelectType,
    /// `map($map, $operands)`: `#map(%0)[%1]`.
    Map,
    /// `access($map, $indices)`: `[%0 + 1, %1]`.
    Access,
    /// `counted-loop`: `%i = %0 to %1 step %2 iter_args(%a = %b) -> (i32)`.
    CountedLoop,
    /// `affine-loop`: the same with maps as bounds.
    AffineLoop,
    /// `results`: ` -> (i32, f32)`, or nothing.
    Results,
    /// `one-result`: as `results`, a single type without parentheses.
    LooseResults,
    /// `while-header`: `(%a = %b) : (i32) -> i32`.
    WhileHeader,
    /// `nest`: `(%i, %j) = (%0, %1) to (%2, %3) step (%4, %5) init (%6)`.
    Nest,
    /// `callee-type`: the type of the first operand, which is that of a function.
    CalleeType,
    /// `type-attr($type)`: a type.
    TypeAttr,
    /// `structured`: `ins(%0 : t) outs(%1 : t)`.
    Structured,
    /// `generic-attributes(dialect, doc, indexing_maps, ...)`: the dictionary in front of the
    /// operands, with these attributes; iterators are of this dialect.
    GenericAttributes,
    /// `global`: visibility, name, type and value of a `memref.global`.
    Global,
    /// `module`: `@name`, if there is one.
    Module,
    /// `permutation($permutation)`: `(d0, d1) -> (d1, d0)`.
    Permutation,
    /// `choice($isWrite, read, write)`: one word for false and one for true.
    Choice,
    /// `all-results`: the types of all results, separated by commas.
    AllResults,
    /// `forall`: counters, bounds and outputs of `scf.forall`.
    Forall,
    /// `hidden($a, $b)`: nothing; attributes that the text leaves out.
    Hidden,
    /// `ints($permutation)`: `[1, 0]`; `ints($weights, i32)` of 32 bits each.
    Ints,
    /// `dma-start`: the operands of `memref.dma_start`, each buffer with its indices.
    DmaStart,
    /// `affine-nest`: counters, bounds, steps and reductions of `affine.parallel`.
    AffineNest,
    /// `angled($kind, dialect.kind)`: `<add>` for `#dialect.kind<add>`.
    Angled,
    /// `maps($indexing_maps)`: `indexing_maps = [...]` where they are not the implied ones.
    Maps,
    /// `payload(linalg.yield, fastmath, init)`: `{ arith.addf }` in the place of a region that holds
    /// this operation alone and the terminator named; its defaults are shown but for those of the
    /// attribute named, and `init` says that what is written is its first operand.
    Payload,
    /// `transfer-types`: nothing; the map, the bounds and the mask of a transfer between a vector
    /// and a tensor or buffer, where the text leaves them out.
    TransferTypes,
    /// `affine-dma($src_map, $tag_map)`: buffers with affine indices, one for each map, other
    /// values, and the types of the buffers.
    AffineDma,
    /// `outer-types`: nothing; the types that follow from those of two factors.
    OuterTypes,
    /// `tokens($dependencies, async, dialect.token)`: `async [%0]`: the word where there is a last
    /// result, which has this type like the operands. MLIR leaves a space where nothing stands, or
    /// none with `tight`.
    Tokens,
    /// `grid(blocks, $x, threads, $y, clusters, $z)`: `blocks(%i, %j, %k) in (%a = %0, %b = %1,
    /// %c = %2)` and so on: three counters and three sizes of the region, and the operands that the
    /// sizes are, from the one named on. The last of the three need not be there, and is then
    /// written first.
    Grid,
    /// `attributions($count, workgroup, $workgroup_attrs, private, $private_attrs)`:
    /// `workgroup(%a : t) private(%b : t)`: more arguments of the region, in two lists; the number
    /// says how many the first has.
    Attributions,
    /// `width($size)`: `: i64`, or nothing where the type is `index`.
    Width,
    /// `passed(args, $operands)`: `args(%0 : i32, %1 : f32)`, or nothing.
    Passed,
}

const DIRECTIVES: &[(&str, Directive)] = &[
    ("flags", Directive::Flags),
    ("enum", Directive::Enum),
    ("word", Directive::Word),
    ("bits", Directive::Bits),
    ("requires", Directive::Requires),
    ("without", Directive::Without),
    ("text-function", Directive::TextFunction),
    ("keyword", Directive::Keyword),
    ("int", Directive::Int),
    ("symbol", Directive::Symbol),
    ("mixed", Directive::Mixed),
    ("branch", Directive::Branch),
    ("switch", Directive::Switch),
    ("function", Directive::Function),
    ("select-type", Directive::SelectType),
    ("map", Directive::Map),
    ("access", Directive::Access),
    ("counted-loop", Directive::CountedLoop),
    ("affine-loop", Directive::AffineLoop),
    ("results", Directive::Results),
    ("one-result", Directive::LooseResults),
    ("while-header", Directive::WhileHeader),
    ("nest", Directive::Nest),
    ("callee-type", Directive::CalleeType),
    ("type-attr", Directive::TypeAttr),
    ("structured", Directive::Structured),
    ("generic-attributes", Directive::GenericAttributes),
    ("global", Directive::Global),
    ("module", Directive::Module),
    ("permutation", Directive::Permutation),
    ("choice", Directive::Choice),
    ("all-results", Directive::AllResults),
    ("forall", Directive::Forall),
    ("hidden", Directive::Hidden),
    ("ints", Directive::Ints),
    ("dma-start", Directive::DmaStart),
    ("affine-nest", Directive::AffineNest),
    ("angled", Directive::Angled),
    ("maps", Directive::Maps),
    ("payload", Directive::Payload),
    ("transfer-types", Directive::TransferTypes),
    ("outer-types", Directive::OuterTypes),
    ("affine-dma", Directive::AffineDma),
    ("tokens", Directive::Tokens),
    ("grid", Directive::Grid),
    ("attributions", Directive::Attributions),
    ("width", Directive::Width),
    ("passed", Directive::Passed),
];

/// How many counters each part of a grid has.
pub(crate) const AXES: usize = 3;

/// How results of parallel loops are combined, by MLIR's numbers.
pub(crate) const REDUCTIONS: &[&str] = &[
    "addf", "addi", "andi", "assign", "maximumf", "maxnumf", "maxs", "maxu", "minimumf", "minnumf",
    "mins", "minu", "mulf", "muli", "ori", "xori",
];

/// A format, ready to be interpreted.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) code: Vec<Instr>,
    pub(crate) rules: Vec<(Group, TypeRule)>,
    /// The attributes that the code shows.
    pub(crate) shown: Vec<&'static str>,
}

impl Program {
    /// Returns whether it writes where the arguments of its region come from.
    pub(crate) fn says_places(&self) -> bool {
        self.code.iter().any(|instr| {
            matches!(instr, Instr::Directive(Directive::Function | Directive::TextFunction, _))
        })
    }

    /// The arguments of the directive for a grid, if there is one.
    pub(crate) fn grid(&self) -> Option<&[&'static str]> {
        self.code.iter().find_map(|instr| match instr {
            Instr::Directive(Directive::Grid, args) => Some(&args[..]),
            _ => None,
        })
    }
}

/// The format of `def`; `None` if it has none, or one that is not understood.
pub(crate) fn compile(def: &'static OpDef) -> Option<Program> {
    let format = def.assembly?;
    let (body, rules) = format.split_once(';').unwrap_or((format, ""));
    let mut program = Program { code: Vec::new(), rules: Vec::new(), shown: Vec::new() };
    let mut open: Vec<usize> = Vec::new();
    for word in words(body) {
        match word {
            "(" => {
                open.push(program.code.len());
                // The anchor is found when the part ends.
                program.code.push(Instr::Unless(Anchor::Results, 0));
            }
            ")?" => {
                let start = open.pop()?;
                let anchor = anchor(&program.code[start + 1..], start + 1)?;
                let end = program.code.len();
                program.code[start] = Instr::Unless(anchor, end);
            }
            _ => program.code.push(instruction(def, word, &mut program.shown)?),
        }
    }
    for rule in rules.split(',').map(str::trim).filter(|rule| !rule.is_empty()) {
        let (place, ty) = rule.split_once(": ")?;
        let place = group(def, place.strip_prefix('$')?)?;
        let rule = match ty {
            "index" => TypeRule::Index,
            "own" => TypeRule::Own,
            _ if ty.starts_with('!') => TypeRule::Named(&ty[1..]),
            _ => match (ty.strip_prefix('$'), ty.strip_prefix('i')) {
                (Some(other), _) => TypeRule::Same(group(def, other)?),
                (None, Some(width)) => TypeRule::Integer(width.parse().ok()?),
                (None, None) => {
                    let other = ty.strip_prefix("element($")?.strip_suffix(')')?;
                    TypeRule::Element(group(def, other)?)
                }
            },
        };
        program.rules.push((place, rule));
    }
    open.is_empty().then_some(program)
}

/// The words of a format: a directive with its arguments is one.
fn words(text: &'static str) -> Vec<&'static str> {
    let (mut out, mut start, mut depth) = (Vec::new(), None, 0usize);
    for (i, c) in text.char_indices() {
        if c == ' ' && depth == 0 {
            if let Some(from) = start.take() {
                out.push(&text[from..i]);
            }
            continue;
        }
        let from = *start.get_or_insert(i);
        // A bracket alone begins an optional part; one behind a word, arguments.
        match c {
            '(' if i > from && !text[from..].starts_with('`') => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    out.extend(start.map(|from| &text[from..]));
    out
}

/// What the optional part `code`, which begins at `start`, depends on; parts inside do not count.
fn anchor(code: &[Instr], start: usize) -> Option<Anchor> {
    let mut inner = 0;
    code.iter().enumerate().find_map(|(i, instr)| match instr {
        _ if i < inner => None,
        Instr::Unless(_, end) => {
            inner = end - start;
            None
        }
        Instr::Operand(i) => Some(Anchor::Operand(*i)),
        Instr::Attr(name) => Some(Anchor::Attr(name)),
        Instr::Region(i, _) => Some(Anchor::Region(*i)),
        Instr::Type(Group::Operand(i)) => Some(Anchor::Operand(*i)),
        Instr::Type(Group::Result(_)) => Some(Anchor::Results),
        Instr::Directive(Directive::AllResults, _) => Some(Anchor::Results),
        Instr::Directive(
            Directive::Angled
            | Directive::Ints
            | Directive::Int
            | Directive::Word
            | Directive::Enum,
            args,
        ) => args.first()?.strip_prefix('$').map(Anchor::Attr),
        _ => None,
    })
}

fn group(def: &OpDef, name: &str) -> Option<Group> {
    let operand = def.operands.iter().position(|operand| operand.name == name);
    let result = || def.results.iter().position(|result| result.name == name);
    operand.map(Group::Operand).or_else(|| result().map(Group::Result))
}

fn instruction(
    def: &'static OpDef,
    word: &'static str,
    shown: &mut Vec<&'static str>,
) -> Option<Instr> {
    if let Some(literal) = word.strip_prefix('`') {
        return Some(Instr::Literal(literal.strip_suffix('`')?));
    }
    if let Some(name) = word.strip_prefix('$') {
        if let Some(Group::Operand(i)) = group(def, name) {
            return Some(Instr::Operand(i));
        }
        shown.push(name);
        return Some(Instr::Attr(name));
    }
    match word {
        "regions" => return Some(Instr::Regions),
        "space" => return Some(Instr::Literal(" ")),
        "attr-dict" => return Some(Instr::AttrDict(DictStyle::Bare)),
        "attr-dict-with-keyword" => return Some(Instr::AttrDict(DictStyle::Keyword)),
        "attr-dict-assigned" => return Some(Instr::AttrDict(DictStyle::Assigned)),
        "functional-type" => return Some(Instr::FunctionalType),
        _ => {}
    }
    let (name, rest) = word.split_once('(').unwrap_or((word, ")"));
    let inside = rest.strip_suffix(')')?;
    let args: Vec<&str> = inside.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
    match name {
        "cases" => {
            shown.push("cases");
            return Some(Instr::Cases(args.first().copied()));
        }
        "type" => return Some(Instr::Type(group(def, args.first()?.strip_prefix('$')?)?)),
        "region" => {
            let mut style = RegionStyle::default();
            for &arg in args.get(1..)? {
                match arg {
                    "hidden-args" => style.hidden_args = true,
                    "always" => style.always = true,
                    "shown" => style.shown = true,
                    "inline" => style.inline = true,
                    "mapper" => style.mapper = true,
                    terminator => style.terminator = Some(terminator),
                }
            }
            return Some(Instr::Region(args.first()?.parse().ok()?, style));
        }
        _ => {}
    }
    let directive = DIRECTIVES.iter().find(|entry| entry.0 == name)?.1;
    shown.extend(args.iter().filter_map(|arg| arg.strip_prefix('$')));
    shown.extend_from_slice(implied(directive));
    match directive {
        // What these name is shown elsewhere, or nowhere.
        Directive::Requires | Directive::Without => shown.truncate(shown.len() - args.len()),
        Directive::Mixed => shown.extend(args.get(1)),
        Directive::GenericAttributes => shown.extend(args.iter().skip(1)),
        _ => {}
    }
    Some(Instr::Directive(directive, args))
}

/// The attributes that a directive shows without naming them.
fn implied(directive: Directive) -> &'static [&'static str] {
    match directive {
        Directive::Function => {
            &["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"]
        }
        Directive::TextFunction => &["sym_name", "function_type", "arg_attrs", "res_attrs"],
        Directive::Switch => &["case_values", "case_operand_segments"],
        Directive::AffineLoop => &["lowerBoundMap", "upperBoundMap", "step"],
        Directive::Global => &["sym_visibility", "constant", "sym_name", "type", "initial_value"],
        Directive::Module => &["sym_name"],
        Directive::Forall => &["staticLowerBound", "staticUpperBound", "staticStep"],
        Directive::AffineNest => &[
            "reductions",
            "lowerBoundsMap",
            "lowerBoundsGroups",
            "upperBoundsMap",
            "upperBoundsGroups",
            "steps",
        ],
        Directive::CountedLoop => &["unsignedCmp"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_arguments_together() {
        let text = "$a ( `[` $b `]` )? enum($p, i64, eq) attr-dict `:` type($a)";
        let expected = [
            "$a",
            "(",
            "`[`",
            "$b",
            "`]`",
            ")?",
            "enum($p, i64, eq)",
            "attr-dict",
            "`:`",
            "type($a)",
        ];
        assert_eq!(words(text), expected);
    }
}

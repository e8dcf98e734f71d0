//! Combinations in C, several lanes at once: elements side by side of the result, or iterations
//! side by side that are combined at the end.
//!
//! Lanes are 16 whatever the vectors of the machine are, and are combined in one order: the same
//! program has the same bits everywhere. Where sums keep the order of their definition, iterations that
//! are combined have no lanes.

mod window;

use std::fmt::Write;

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::Binary;
use tangram_polyhedral::ast::{Ast, Statements};

pub(crate) use window::Window;

use super::body::{Scalars, c_type, index, literal, operator};
use super::kernel::Kernel;
use super::tile::{TILE, shared, whole_or_part};
use super::{Sharing, head, shared_out, tail};
use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::scop::{array, arrays};

/// How many elements are computed side by side.
pub(crate) const LANES: usize = 16;

/// As many iterations that are combined stand one after the other: a window of 5 by 5.
const MOST_UNROLLED: i64 = 25;

/// Which loop the lanes are iterations of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lanes {
    /// A loop of the result.
    Parallel(usize),
    /// A loop that is combined.
    Reduced(usize),
    /// None: one after the other.
    None,
}

impl Lanes {
    /// Chooses the loop along which all that is read and written lies side by side, none of `fixed`;
    /// with `exact`, none whose lanes would combine in another order than that of the loops.
    pub fn of(nest: &Nest, fixed: &[usize], tensors: &[Tensor], exact: bool) -> Lanes {
        let generic = &nest.generic;
        let combined = nest.finish.as_ref().map(|finish| finish.combined);
        let inputs = generic.inputs.iter().zip(&nest.inputs).enumerate();
        let inputs: Vec<_> = inputs
            .filter(|(at, _)| Some(*at) != combined)
            .map(|(_, (access, tensor))| crate::packing::steps(access, &tensors[*tensor]))
            .collect();
        let output = crate::packing::steps(&generic.output, &tensors[nest.output]);
        let step = |steps: &Vec<Option<Expr>>, at: usize| steps[at].as_ref()?.as_int();
        let beside = |at: usize| inputs.iter().all(|own| matches!(step(own, at), Some(0 | 1)));
        let long = |at: usize| generic.extents[at].as_int().is_none_or(|extent| extent >= 4);
        let free = nest.parallel().filter(|at| !fixed.contains(at));
        let parallel = free.into_iter().find(|at| long(*at) && step(&output, *at) == Some(1));
        if let Some(at) = parallel.filter(|at| beside(*at)) {
            return Lanes::Parallel(at);
        }
        let moves = |at: usize| inputs.iter().any(|own| step(own, at) == Some(1));
        let reduced = generic.reduced().find(|at| long(*at) && beside(*at) && moves(*at));
        let reduced = reduced.filter(|_| !exact || nest.is_free_of_order());
        match (reduced, parallel) {
            (Some(at), _) => Lanes::Reduced(at),
            (None, Some(at)) => Lanes::Parallel(at),
            (None, None) => Lanes::None,
        }
    }
}

/// Whether a nest by itself has lanes, and these read what lies side by side.
pub(crate) fn has_lanes(nest: &Nest, tensors: &[Tensor], exact: bool) -> bool {
    match Lanes::of(nest, &[], tensors, exact) {
        Lanes::Parallel(lane) => is_beside(nest, lane, tensors),
        Lanes::Reduced(_) => true,
        Lanes::None => false,
    }
}

/// Whether lanes read what lies side by side: compilers find no vectors in many iterations at once
/// that read every other element.
fn is_beside(nest: &Nest, lane: usize, tensors: &[Tensor]) -> bool {
    let combined = nest.finish.as_ref().map(|finish| finish.combined);
    let inputs = nest.generic.inputs.iter().zip(&nest.inputs).enumerate();
    inputs.filter(|(at, _)| Some(*at) != combined).all(|(_, (access, tensor))| {
        let steps = crate::packing::steps(access, &tensors[*tensor]);
        matches!(steps[lane].as_ref().and_then(Expr::as_int), Some(0 | 1))
    })
}

/// What is combined, if it is a sum of few iterations.
struct Taps {
    /// The reduced loops and their extents.
    loops: Vec<(usize, i64)>,
    count: i64,
}

fn taps(nest: &Nest) -> Option<Taps> {
    let generic = &nest.generic;
    // Compilers make branches of a chain of comparisons.
    let is_sum = generic.reduction.is_some_and(|own| own.combine == Binary::Add);
    let extent = |at: usize| Some((at, generic.extents[at].as_int()?));
    let loops: Vec<(usize, i64)> = generic.reduced().map(extent).collect::<Option<_>>()?;
    let count = loops.iter().try_fold(1_i64, |all, (_, extent)| all.checked_mul(*extent))?;
    (is_sum && (1..=MOST_UNROLLED).contains(&count)).then_some(Taps { loops, count })
}

impl Taps {
    /// Declares the iterators of a tap.
    fn declared(&self, number: i64) -> String {
        let (mut left, mut text) = (number, String::new());
        for (at, extent) in self.loops.iter().rev() {
            let _ = write!(text, "const int64_t i{at} = {}; ", left % extent);
            left /= extent;
        }
        text
    }
}

/// The function of a combination whose loops over tiles are those of `ast`.
pub(crate) fn function(
    nest: &Nest,
    (lanes, window): (Lanes, Option<Window>),
    tensors: &[Tensor],
    parameters: &Parameters,
    ast: &Ast,
) -> (String, Vec<Kernel>) {
    let nests = std::slice::from_ref(nest);
    let (order, _) = arrays(nests);
    let mut text = head(nests, tensors, parameters);
    let writer = Writer { nest, lanes, window, tensors, parameters, order: &order };
    let mut kernels = Vec::new();
    if let Some(window) = &window {
        text.push_str(&writer.before_windows(window));
        kernels.push(window.kernel(tensors[nest.output].element));
    }
    // Tiles of windows have all lanes, so no loop is as short as these.
    let sharing = Sharing { innermost: window.is_some(), ..Sharing::default() };
    text.push_str(&shared_out(ast, &writer, &sharing));
    text.push_str(&tail(nests));
    (text, kernels)
}

/// All of a combination in one row, whose iterators `fixed` are declared.
pub(crate) fn row(
    nest: &Nest,
    (fixed, exact): (&[usize], bool),
    tensors: &[Tensor],
    parameters: &Parameters,
    order: &[usize],
) -> String {
    let lanes = Lanes::of(nest, fixed, tensors, exact);
    let writer = Writer { nest, lanes, window: None, tensors, parameters, order };
    let mut text = String::new();
    for at in nest.parallel().filter(|at| !fixed.contains(at)) {
        let (extent, step) =
            (writer.extent(at), if lanes == Lanes::Parallel(at) { LANES } else { 1 });
        let _ = writeln!(text, "    for (int64_t i{at} = 0; i{at} < {extent}; i{at} += {step})");
    }
    let _ = write!(text, "    {{\n{}    }}\n", writer.tile());
    text
}

struct Writer<'a> {
    nest: &'a Nest,
    lanes: Lanes,
    /// The results that tiles have along another loop than that of the lanes.
    window: Option<Window>,
    tensors: &'a [Tensor],
    parameters: &'a Parameters,
    order: &'a [usize],
}

impl Writer<'_> {
    fn extent(&self, iterator: usize) -> String {
        let extent = &self.nest.generic.extents[iterator];
        self.parameters.text(extent)
    }

    /// The update of a lane by one iteration, with texts in the place of inputs.
    fn update(&self, acc: &str, indent: &str, known: Vec<(usize, String)>) -> String {
        let scalars = self.scalars(known);
        let (lines, value) = scalars.body(&self.nest.generic.body);
        let mut text: String = lines.iter().map(|line| format!("{indent}{line}\n")).collect();
        if let Some(reduction) = self.nest.generic.reduction {
            let element = self.tensors[self.nest.output].element;
            let _ = writeln!(text, "{indent}const {} before = {acc};", c_type(element));
            let both = operator(reduction.combine, element, "before", &value);
            let _ = writeln!(text, "{indent}{acc} = {both};");
        }
        text
    }

    fn scalars(&self, known: Vec<(usize, String)>) -> Scalars<'_> {
        Scalars {
            nest: self.nest,
            tensors: self.tensors,
            parameters: self.parameters,
            order: self.order,
            known,
        }
    }

    /// Stores a combined element.
    fn store(&self, value: &str, indent: &str) -> String {
        let lines = self.scalars(Vec::new()).stored(value.to_owned());
        lines.iter().map(|line| format!("{indent}{line}\n")).collect()
    }

    /// The heads of loops, all but one.
    fn loops(&self, except: Option<usize>) -> String {
        let mut text = String::new();
        for at in self.nest.generic.reduced().filter(|at| Some(*at) != except) {
            let extent = self.extent(at);
            let _ = writeln!(text, "    for (int64_t i{at} = 0; i{at} < {extent}; i{at}++)");
        }
        text
    }

    fn declared(&self, lanes: usize) -> String {
        let ty = c_type(self.tensors[self.nest.output].element);
        let initial = self.nest.generic.reduction.map(|reduction| literal(reduction.initial));
        let initial = initial.unwrap_or_else(|| "0".into());
        format!(
            "    {ty} acc[{lanes}];\n    for (int64_t l = 0; l < {lanes}; l++)\n        \
             acc[l] = {initial};\n"
        )
    }

    /// What is done for the iterators that are declared.
    fn tile(&self) -> String {
        match self.lanes {
            Lanes::Parallel(lane) => match &self.window {
                Some(window) => self.windows(lane, window),
                None => self.parallel(lane),
            },
            Lanes::Reduced(lane) => self.reduced(lane),
            Lanes::None => self.single(),
        }
    }

    /// The first lane of a tile: the last lanes are computed once more rather than by themselves,
    /// if they are of the same part of a call as those before them: where there is no other loop,
    /// parts share this one.
    fn first(&self, lane: usize) -> Option<String> {
        let is_whole = |extent: i64| extent % LANES as i64 == 0 || self.nest.parallel().count() > 1;
        let extent = self.nest.generic.extents[lane].as_int();
        let extent = extent.filter(|extent| *extent >= LANES as i64 && is_whole(*extent))?;
        Some(format!("    const int64_t first = tg_min(i{lane}, {});\n", extent - LANES as i64))
    }

    /// Lanes of the result.
    fn parallel(&self, lane: usize) -> String {
        let extent = &self.nest.generic.extents[lane];
        let first = self.first(lane);
        if let (Some(first), Some(text)) = (&first, self.unrolled(lane)) {
            return first.clone() + &text;
        }
        let mut text = self.declared(LANES);
        let loops = self.loops(None);
        let all = |count: &str| {
            format!(
                "{loops}{}    TANGRAM_SIMD\n    for (int64_t l = 0; l < {count}; l++) {{\n        \
                 const int64_t i{lane} = first + l;\n{}    }}\n",
                self.iteration(lane, count),
                self.store("acc[l]", "        ")
            )
        };
        match first {
            Some(first) => {
                text.push_str(&first);
                text.push_str(&all(&LANES.to_string()));
            }
            None => {
                let _ = writeln!(
                    text,
                    "    const int64_t first = i{lane}, lanes = tg_min({} - first, {LANES});",
                    self.extent(lane)
                );
                text.push_str(&whole_or_part("lanes", LANES, extent, all));
            }
        }
        text
    }

    /// Lanes of the result from `first` on, with all reduced iterations in a row: what is combined
    /// stays in registers. Nothing where there are many, or their number is not known.
    fn unrolled(&self, lane: usize) -> Option<String> {
        let generic = &self.nest.generic;
        let taps = taps(self.nest).filter(|_| is_beside(self.nest, lane, self.tensors))?;
        let padded: Vec<usize> =
            (0..generic.inputs.len()).filter(|at| generic.inputs[*at].outside.is_some()).collect();
        let fits = padded.iter().all(|&at| {
            let tensor = &self.tensors[self.nest.inputs[at]];
            let strides = crate::packing::strides(&generic.inputs[at], tensor);
            let test = self.scalars(Vec::new()).inside(at);
            strides.is_some_and(|strides| strides[lane].as_int() == Some(1))
                && !test.contains(&format!("i{lane}"))
        });
        if !fits {
            return None;
        }
        let (mut pointers, mut updates) = (String::new(), String::new());
        for &at in &padded {
            let ty = c_type(self.tensors[self.nest.inputs[at]].element);
            let one = generic.inputs[at].outside.map(literal)?;
            let all = vec![one; LANES].join(", ");
            let _ = writeln!(pointers, "    static const {ty} outside{at}[{LANES}] = {{{all}}};");
        }
        for number in 0..taps.count {
            let iterators = taps.declared(number);
            let mut known = Vec::new();
            for &at in &padded {
                let tensor = self.nest.inputs[at];
                let (access, of) = (&generic.inputs[at], &self.tensors[tensor]);
                let place = index(&access.map, &generic.symbols, &of.extents, self.parameters);
                let test = self.scalars(Vec::new()).inside(at);
                let (name, from) = (format!("from{at}_{number}"), array(tensor, self.order));
                let _ = writeln!(
                    pointers,
                    "    const {} *{name};\n    {{ {iterators}const int64_t i{lane} = first; \
                     {name} = {test} ? {from} + ({place}) : outside{at}; }}",
                    c_type(of.element)
                );
                known.push((at, format!("{name}[l]")));
            }
            let update = self.update("acc", "            ", known);
            let _ = writeln!(updates, "        {{\n            {iterators}\n{update}        }}");
        }
        let ty = c_type(self.tensors[self.nest.output].element);
        let initial = generic.reduction.map(|reduction| literal(reduction.initial))?;
        Some(format!(
            "{pointers}    TANGRAM_SIMD\n    for (int64_t l = 0; l < {LANES}; l++) {{\n        \
             const int64_t i{lane} = first + l;\n        {ty} acc = {initial};\n{updates}{}    }}\n",
            self.store("acc", "        ")
        ))
    }

    /// One iteration of all lanes. Whether an input is inside of its tensor is asked once for all of
    /// them, where no lane has a say in it.
    fn iteration(&self, lane: usize, count: &str) -> String {
        let generic = &self.nest.generic;
        let lanes = |known: Vec<(usize, String)>| {
            format!(
                "        TANGRAM_SIMD\n        for (int64_t l = 0; l < {count}; l++) {{\n            \
                 const int64_t i{lane} = first + l;\n{}        }}\n",
                self.update("acc[l]", "            ", known)
            )
        };
        let asked = generic.inputs.iter().enumerate().find_map(|(at, access)| {
            let outside = access.outside?;
            let test = self.scalars(Vec::new()).inside(at);
            (!test.contains(&format!("i{lane}"))).then_some((at, access, outside, test))
        });
        let Some((at, access, outside, test)) = asked else {
            return format!("    {{\n{}    }}\n", lanes(Vec::new()));
        };
        let tensor = self.nest.inputs[at];
        let extents = &self.tensors[tensor].extents;
        let place = index(&access.map, &generic.symbols, extents, self.parameters);
        let element = format!("{}[{place}]", array(tensor, self.order));
        format!(
            "    if {test} {{\n{}    }} else {{\n{}    }}\n",
            lanes(vec![(at, element)]),
            lanes(vec![(at, literal(outside))])
        )
    }

    /// Lanes of iterations, combined at the end.
    fn reduced(&self, lane: usize) -> String {
        let extent = self.extent(lane);
        let mut text = self.declared(LANES);
        let update = self.update("acc[l]", "                ", Vec::new());
        let _ = write!(
            text,
            "{}    {{\n        int64_t k = 0;\n        \
             for (; k + {LANES} <= {extent}; k += {LANES}) {{\n            \
             TANGRAM_SIMD\n            \
             for (int64_t l = 0; l < {LANES}; l++) {{\n                \
             const int64_t i{lane} = k + l;\n{update}            }}\n        }}\n        \
             for (int64_t l = 0; k + l < {extent}; l++) {{\n                \
             const int64_t i{lane} = k + l;\n{update}        }}\n    }}\n",
            self.loops(Some(lane)),
        );
        if let Some(reduction) = self.nest.generic.reduction {
            let element = self.tensors[self.nest.output].element;
            let both = operator(reduction.combine, element, "acc[l]", "acc[l + half]");
            let _ = write!(
                text,
                "    for (int64_t half = {}; half > 0; half /= 2)\n        \
                 for (int64_t l = 0; l < half; l++)\n            acc[l] = {both};\n",
                LANES / 2
            );
        }
        text.push_str(&self.store("acc[0]", "    "));
        text
    }

    /// One iteration after the other.
    fn single(&self) -> String {
        format!(
            "{}{}    {{\n{}    }}\n{}",
            self.declared(1),
            self.loops(None),
            self.update("acc[0]", "        ", Vec::new()),
            self.store("acc[0]", "    "),
        )
    }
}

impl Statements for Writer<'_> {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        if name != TILE {
            return format!("{name}({});", arguments.join(", "));
        }
        let mut text = String::from("{\n");
        for (iterator, value) in shared(self.nest).iter().zip(arguments) {
            let _ = writeln!(text, "    const int64_t i{iterator} = {value};");
        }
        text.push_str(&self.tile());
        text.push('}');
        text
    }
}

//! CUDA kernels from trees whose bands are mapped to blocks and threads.

use std::fmt::Write;

use tangram_presburger::Relation;

use crate::ast::{Ast, CStyle, Statements};
use crate::{Error, Node, NodeKind, ScheduleTree};

/// What CUDA calls the place of a block in its grid and of a thread in its block.
const UNITS: [(&str, &str); 6] = [
    ("b0", "blockIdx.x"),
    ("b1", "blockIdx.y"),
    ("b2", "blockIdx.z"),
    ("t0", "threadIdx.x"),
    ("t1", "threadIdx.y"),
    ("t2", "threadIdx.z"),
];

/// How many blocks and threads a kernel is launched with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Number of units by parameter: `b0` to `b2` for blocks, `t0` to `t2` for threads.
    sizes: [Option<i128>; 6],
}

impl Launch {
    /// Finds the sizes in the contexts of a tree, as
    /// [`Editor::map_to_units`](crate::transform::Editor::map_to_units) puts them there for
    /// the names `b0`, `b1`, `b2`, `t0`, `t1`, `t2`.
    ///
    /// # Errors
    /// [`Error::Operand`] for a tree without units, or with statements that are not below
    /// all of them: every unit would run these.
    pub fn of_tree(tree: &ScheduleTree) -> Result<Self, Error> {
        let mut sizes = [None; 6];
        for node in tree.nodes() {
            let NodeKind::Context(set) = tree.kind(node) else { continue };
            let mut found = false;
            for (at, (name, _)) in UNITS.iter().enumerate() {
                if let Some(size) = bound(set, name) {
                    sizes[at] = Some(size);
                    found = true;
                }
            }
            if found && branches_above(tree, node) {
                let expected = "units above all statements";
                return Err(Error::Operand { node, expected });
            }
        }
        if sizes.iter().all(Option::is_none) {
            let expected = "a tree that is mapped to units `b0` to `b2` or `t0` to `t2`";
            return Err(Error::Operand { node: tree.root(), expected });
        }
        Ok(Self { sizes })
    }

    /// A single thread.
    pub fn single() -> Self {
        Self { sizes: [None; 6] }
    }

    /// The same blocks, with so many threads along rows, and along columns, side by side.
    pub(crate) fn with_threads(mut self, [rows, columns]: [usize; 2]) -> Self {
        (self.sizes[3], self.sizes[4]) = (Some(columns as i128), Some(rows as i128));
        self
    }

    /// Writes blocks and threads as a launch has them in front of its arguments.
    pub fn configuration(&self) -> String {
        let dim = |sizes: [i128; 3]| format!("dim3({}, {}, {})", sizes[0], sizes[1], sizes[2]);
        format!("<<<{}, {}>>>", dim(self.blocks()), dim(self.threads()))
    }

    /// Returns in how many directions there are threads of a block.
    pub fn rank(&self) -> usize {
        self.sizes[3..].iter().flatten().count()
    }

    /// Returns the number of blocks in each direction.
    pub fn blocks(&self) -> [i128; 3] {
        std::array::from_fn(|at| self.sizes[at].unwrap_or(1))
    }

    /// Returns the number of threads of a block in each direction.
    pub fn threads(&self) -> [i128; 3] {
        std::array::from_fn(|at| self.sizes[3 + at].unwrap_or(1))
    }
}

/// What stands in front of the code of a kernel.
#[derive(Debug, Clone)]
pub struct KernelHead {
    /// The name.
    pub name: String,
    /// Arguments with their types: parameters that are no units, and what statements use.
    pub arguments: Vec<String>,
    /// Variables of which each thread has its own, without `;`.
    pub declarations: Vec<String>,
    /// How many blocks shall fit on a multiprocessor beside each other, if that bounds registers.
    pub beside: Option<usize>,
}

/// Reads `0 <= name < size` off a context.
fn bound(set: &Relation, name: &str) -> Option<i128> {
    let column = 1 + set.space().params.iter().position(|param| param == name)?;
    let [part] = &set.narrow_conjunctions().ok()?[..] else { return None };
    let row = part
        .inequalities
        .iter()
        .find(|row| row[column] == -1 && (1..row.len()).all(|at| at == column || row[at] == 0));
    Some(row?[0] + 1)
}

fn branches_above(tree: &ScheduleTree, node: Node) -> bool {
    let above = std::iter::successors(tree.parent(node), |node| tree.parent(*node));
    above.into_iter().any(|node| tree.children(node).nth(1).is_some())
}

impl Ast {
    /// Writes a kernel that runs the code of one unit, and a comment on how to launch it.
    ///
    /// Statements are called by their names, as in [`Self::to_c`]; parameters that are no
    /// units become arguments.
    pub fn to_cuda(&self, name: &str, launch: &Launch, style: &CStyle) -> String {
        let index = &style.index;
        let is_unit = |param: &&String| UNITS.iter().any(|(unit, _)| unit == param);
        let free: Vec<&str> =
            self.params().iter().filter(|param| !is_unit(param)).map(String::as_str).collect();
        let arguments: Vec<String> = free.iter().map(|param| format!("{index} {param}")).collect();
        let call = |name: &str, arguments: &[String]| format!("{name}({});", arguments.join(", "));
        let head =
            KernelHead { name: name.to_owned(), arguments, declarations: Vec::new(), beside: None };
        let text = self.to_kernel(&head, launch, style, &call);
        format!("{text}/* {name}{}({}); */\n", launch.configuration(), free.join(", "))
    }

    /// Writes a kernel as [`Self::to_cuda`] does, with `statements` in the place of calls.
    ///
    /// A unit has the name that the style gives the parameter.
    pub fn to_kernel(
        &self,
        head: &KernelHead,
        launch: &Launch,
        style: &CStyle,
        statements: &dyn Statements,
    ) -> String {
        let index = &style.index;
        let (name, arguments) = (&head.name, head.arguments.join(", "));
        let bounds = head.beside.map_or(String::new(), |beside| {
            let threads: i128 = launch.threads().iter().product();
            format!("__launch_bounds__({threads}, {beside}) ")
        });
        let mut text = format!("__global__ void {bounds}{name}({arguments})\n{{\n");
        for declaration in &head.declarations {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{}{declaration};", style.indent);
        }
        for ((unit, place), size) in UNITS.iter().zip(launch.sizes) {
            if size.is_some() {
                let unit = style.params.get(*unit).map_or(*unit, String::as_str);
                let _ = writeln!(text, "{}const {index} {unit} = {place};", style.indent);
            }
        }
        let inner = CStyle { depth: style.depth + 1, ..style.clone() };
        text.push_str(&self.to_c_with(&inner, statements));
        text.push_str("}\n");
        text
    }
}

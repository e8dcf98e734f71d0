//! CUDA kernels from trees whose bands are mapped to blocks and threads.

use std::fmt::Write;

use crate::ast::{Ast, CStyle, Statements};
use crate::units::{self, BARRIER};
use crate::{Error, NodeKind, ScheduleTree};

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
    /// [`Error::Operand`] for a tree without units, with statements that are not below all of
    /// them, as every unit would run these, with other numbers of units in other branches, and
    /// with a barrier for blocks, which do not wait for each other.
    pub fn of_tree(tree: &ScheduleTree) -> Result<Self, Error> {
        let mut sizes = [None; 6];
        // For each node, which units are above it.
        let mut above = vec![[false; 6]; tree.nodes().count()];
        for node in tree.nodes() {
            if let Some(parent) = tree.parent(node) {
                above[node.index()] = above[parent.index()];
            }
            let NodeKind::Context(set) = tree.kind(node) else { continue };
            for (at, (name, _)) in UNITS.iter().enumerate() {
                let Some(size) = units::bound(set, name) else { continue };
                if sizes[at].is_some_and(|other| other != size) {
                    let expected = "as many units as in other branches";
                    return Err(Error::Operand { node, expected });
                }
                (sizes[at], above[node.index()][at]) = (Some(size), true);
            }
        }
        if sizes.iter().all(Option::is_none) {
            let expected = "a tree that is mapped to units `b0` to `b2` or `t0` to `t2`";
            return Err(Error::Operand { node: tree.root(), expected });
        }
        for node in tree.nodes().filter(|node| matches!(tree.kind(*node), NodeKind::Leaf)) {
            // Blocks do not wait for each other, and all threads of one meet at a barrier.
            let needed = if units::is_barrier(tree, node) { 3 } else { 6 };
            if (0..needed).any(|at| sizes[at].is_some() && !above[node.index()][at]) {
                let expected = "units above all statements, and those of blocks above barriers";
                return Err(Error::Operand { node, expected });
            }
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

impl Ast {
    /// Writes a kernel that runs the code of one unit, and a comment on how to launch it.
    ///
    /// Statements are called by their names, as in [`Self::to_c`], but for [`BARRIER`], at which
    /// the threads of a block wait for each other; parameters that are no units become arguments.
    pub fn to_cuda(&self, name: &str, launch: &Launch, style: &CStyle) -> String {
        let index = &style.index;
        let is_unit = |param: &&String| UNITS.iter().any(|(unit, _)| unit == param);
        let free: Vec<&str> =
            self.params().iter().filter(|param| !is_unit(param)).map(String::as_str).collect();
        let arguments: Vec<String> = free.iter().map(|param| format!("{index} {param}")).collect();
        let call = |name: &str, arguments: &[String]| match name {
            BARRIER => "__syncthreads();".to_owned(),
            _ => format!("{name}({});", arguments.join(", ")),
        };
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

//! What `tangram scop` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{FormatArg, FuseArg, TargetArg};

/// What `tangram scop` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScopPrint {
    /// Value-based dependences of all kinds, with cells; live-in and live-out values.
    Deps,
    /// A computed schedule as a tree.
    Schedule,
    /// The order of the source as a tree.
    Tree,
    /// The generated loops, with calls of statements.
    Ast,
    /// What would be done to each part or why nothing is, and which results are the same bits.
    Report,
    /// The number by which a schedule was chosen, over that of the source: for benchmarks of the
    /// choice, as it predicts no time.
    #[value(hide = true)]
    Score,
    /// How many statements, arrays, parameters and dependences there are.
    Stats,
    /// The instances with their order, tiles and dependences, as SVG; needs `--set`.
    Domains,
}

/// Reads `N=8`.
fn setting(text: &str) -> Result<(String, i128), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value =
        value.trim().parse().map_err(|_| format!("expected an integer, found `{value}`"))?;
    Ok((name.trim().to_owned(), value))
}

/// A word of `--tile`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TileArg {
    Diamond,
    Size(u32),
}

fn tile(text: &str) -> Result<TileArg, String> {
    match text.trim() {
        "diamond" => Ok(TileArg::Diamond),
        size => size
            .parse()
            .map(TileArg::Size)
            .map_err(|_| format!("expected a size or `diamond`, found `{size}`")),
    }
}

/// Arguments of `tangram scop`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  tangram scop kernel.c -o fast.c\n  tangram scop -I include -DN=1000 kernel.c -o fast.c\n  tangram scop kernel.c \
                        --tile 32,0,64 --parallel\n  tangram scop stencil.c --tile diamond --parallel\n  tangram scop kernel.c --target cuda -o kernel.cu\n  tangram scop kernel.c --target cuda --device-only\n  tangram scop kernel.c --print deps\n  tangram scop kernel.c \
                        --print tree --format svg > tree.svg\n  tangram scop kernel.c --print \
                        domains --set n=8 > domains.svg\n\nA file \
                        with directives goes through the preprocessor, `cc -E`. What is not affine \
                        is reported with its place and reason."
)]
pub(crate) struct ScopArgs {
    /// The C file.
    pub(crate) input: PathBuf,
    /// Find parts beside those between `#pragma scop` and `#pragma endscop`; a file without
    /// these pragmas is looked through anyway.
    #[arg(long)]
    pub(crate) detect: bool,
    /// Where the preprocessor looks for headers, too.
    #[arg(short = 'I', value_name = "FOLDER")]
    pub(crate) include: Vec<PathBuf>,
    /// A macro for the preprocessor: the value 1, if none is given.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,
    /// A macro that the preprocessor is not to know.
    #[arg(short = 'U', value_name = "NAME")]
    pub(crate) undefine: Vec<String>,
    /// Where to write the new file instead of printing it.
    #[arg(short, long, conflicts_with = "print")]
    pub(crate) output: Option<PathBuf>,
    /// C with other loops, or CUDA: kernels of the parallel loops, with a host function for
    /// each part. `--tile` gives the threads of a block.
    #[arg(long, value_enum, default_value = "c", conflicts_with_all = ["print", "parallel"])]
    pub(crate) target: TargetArg,
    /// Kernels alone, in a file that includes nothing, for a compiler at run time such as NVRTC: a
    /// comment says how the host launches them.
    #[arg(long, requires = "target", conflicts_with = "print")]
    pub(crate) device_only: bool,
    /// What to print instead of C.
    #[arg(long, value_enum)]
    pub(crate) print: Option<ScopPrint>,
    /// Print trees as text or as a picture.
    #[arg(long, value_enum, default_value = "text", requires = "print")]
    pub(crate) format: FormatArg,
    /// Values of parameters for `--print domains`, as `n=8,m=5`.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = setting)]
    pub(crate) set: Vec<(String, i128)>,
    /// Sizes of tiles for the loops of each innermost band; 0 leaves a loop whole. `diamond` in
    /// front: tiles of a stencil that can all start at once.
    #[arg(long, value_name = "[diamond,]SIZES", value_delimiter = ',', value_parser = tile)]
    pub(crate) tile: Option<Vec<TileArg>>,
    /// The processor that the loops are for: `native`, `avx2`, `avx512`, `neon`, `sse2`, `scalar`, or
    /// a file as `tangram machine --json` writes it.
    #[arg(long, value_name = "NAME|FILE", default_value = "avx2",
          value_parser = crate::machine::named)]
    pub(crate) machine: tangram_machine::Machine,
    /// Put an OpenMP pragma in front of the outermost parallel loops. Tiles of which none is
    /// parallel run by wavefronts, those of stencils in blocks that start at once.
    #[arg(long)]
    pub(crate) parallel: bool,
    /// Put a hint in front of innermost parallel loops, and write vector code for contractions.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_value_t = true, default_missing_value = "true",
          action = clap::ArgAction::Set)]
    pub(crate) vectorize: bool,
    /// Arrays that pointers lead to do not overlap, as `restrict` would say: new loops run without
    /// comparing their ranges.
    #[arg(long)]
    pub(crate) no_alias: bool,
    /// Which statements share loops.
    #[arg(long, value_enum, default_value = "smart")]
    pub(crate) fuse: FuseArg,
    /// Stop the search in a part after so many elementary steps: its loops stay as they are. The
    /// default ends after about a second for each part, and sooner where a file has many.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
}

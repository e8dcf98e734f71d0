//! Handles of the names that folders and patterns ask for.

use std::sync::OnceLock;

use tangram_ir::{Context, Name, Str};

macro_rules! known {
    ($($field:ident = $text:literal),* $(,)?) => {
        /// Interned names.
        pub(crate) struct Known {
            $(pub(crate) $field: Name,)*
            pub(crate) predicate: Str,
            pub(crate) map: Str,
            pub(crate) lower: Str,
            pub(crate) upper: Str,
            pub(crate) step: Str,
            pub(crate) condition: Str,
            pub(crate) segments: Str,
        }

        impl Known {
            fn new(context: &Context) -> Known {
                Known {
                    $($field: context.name($text),)*
                    predicate: context.str("predicate"),
                    map: context.str("map"),
                    lower: context.str("lowerBoundMap"),
                    upper: context.str("upperBoundMap"),
                    step: context.str("step"),
                    condition: context.str("condition"),
                    segments: context.str("operandSegmentSizes"),
                }
            }
        }
    };
}

known! {
    addi = "arith.addi", subi = "arith.subi", muli = "arith.muli",
    andi = "arith.andi", ori = "arith.ori", xori = "arith.xori",
    shrsi = "arith.shrsi", shrui = "arith.shrui",
    cmpi = "arith.cmpi", select = "arith.select",
    negf = "arith.negf",
    extsi = "arith.extsi", extui = "arith.extui", trunci = "arith.trunci",
    extf = "arith.extf",
    index_cast = "arith.index_cast", index_castui = "arith.index_castui",
    bitcast = "arith.bitcast", uitofp = "arith.uitofp",
    apply = "affine.apply",
    alloc = "memref.alloc", alloca = "memref.alloca", dealloc = "memref.dealloc",
    memref_cast = "memref.cast",
}

impl Known {
    /// The names of `context`.
    pub(crate) fn of(context: &Context) -> &Known {
        context.extension::<OnceLock<Known>>().get_or_init(|| Known::new(context))
    }
}

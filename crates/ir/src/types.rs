//! Types and tensor dimensions.

use crate::attributes::Attr;
use crate::context::Str;

/// A handle of an interned type. Two types are equal when their handles are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Type(pub(crate) u32);

/// Whether an integer type has a sign; MLIR's default is to leave it to the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Signedness {
    /// `i32`: the operation says. Tensors of signed integers use this one.
    Signless,
    /// `si32`.
    Signed,
    /// `ui8`.
    Unsigned,
}

/// The floating-point formats, named as MLIR prints them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum FloatKind {
    F16,
    BF16,
    F32,
    F64,
    F80,
    F128,
    TF32,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    F8E4M3,
    F8E3M4,
    F8E4M3B11FNUZ,
    F6E2M3FN,
    F6E3M2FN,
    F4E2M1FN,
}

impl FloatKind {
    /// Every format, for tables.
    pub const ALL: [FloatKind; 18] = [
        FloatKind::F16,
        FloatKind::BF16,
        FloatKind::F32,
        FloatKind::F64,
        FloatKind::F80,
        FloatKind::F128,
        FloatKind::TF32,
        FloatKind::F8E4M3FN,
        FloatKind::F8E4M3FNUZ,
        FloatKind::F8E5M2,
        FloatKind::F8E5M2FNUZ,
        FloatKind::F8E8M0FNU,
        FloatKind::F8E4M3,
        FloatKind::F8E3M4,
        FloatKind::F8E4M3B11FNUZ,
        FloatKind::F6E2M3FN,
        FloatKind::F6E3M2FN,
        FloatKind::F4E2M1FN,
    ];

    /// The spelling in MLIR text.
    pub fn name(self) -> &'static str {
        match self {
            FloatKind::F16 => "f16",
            FloatKind::BF16 => "bf16",
            FloatKind::F32 => "f32",
            FloatKind::F64 => "f64",
            FloatKind::F80 => "f80",
            FloatKind::F128 => "f128",
            FloatKind::TF32 => "tf32",
            FloatKind::F8E4M3FN => "f8E4M3FN",
            FloatKind::F8E4M3FNUZ => "f8E4M3FNUZ",
            FloatKind::F8E5M2 => "f8E5M2",
            FloatKind::F8E5M2FNUZ => "f8E5M2FNUZ",
            FloatKind::F8E8M0FNU => "f8E8M0FNU",
            FloatKind::F8E4M3 => "f8E4M3",
            FloatKind::F8E3M4 => "f8E3M4",
            FloatKind::F8E4M3B11FNUZ => "f8E4M3B11FNUZ",
            FloatKind::F6E2M3FN => "f6E2M3FN",
            FloatKind::F6E3M2FN => "f6E3M2FN",
            FloatKind::F4E2M1FN => "f4E2M1FN",
        }
    }
}

/// One extent of a shaped type: a number, a symbolic expression, or unknown.
///
/// A symbolic extent is an interned [`Expr`](tangram_affine::symbolic::Expr), which is in a normal
/// form: extents that look alike are equal handles. See [`Context::dim`](crate::Context::dim).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Dim(i64);

/// A handle of an interned expression that an extent is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DimExpr(pub(crate) u32);

/// What a [`Dim`] holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DimKind {
    /// A number, at least 0.
    Static(i64),
    /// An expression over named symbols.
    Symbolic(DimExpr),
    /// Nothing is known.
    Unknown,
}

impl Dim {
    /// The extent of which nothing is known, printed `?`.
    pub const UNKNOWN: Dim = Dim(-1);

    /// A known extent; a negative number gives [`Dim::UNKNOWN`].
    pub fn fixed(extent: i64) -> Dim {
        if extent < 0 { Dim::UNKNOWN } else { Dim(extent) }
    }

    /// An extent given by an expression of a context.
    pub fn symbolic(expression: DimExpr) -> Dim {
        Dim(-2 - i64::from(expression.0))
    }

    /// What this extent holds.
    pub fn kind(self) -> DimKind {
        match self.0 {
            n if n >= 0 => DimKind::Static(n),
            -1 => DimKind::Unknown,
            n => DimKind::Symbolic(DimExpr((-2 - n) as u32)),
        }
    }

    /// The number, if it is one.
    pub fn as_static(self) -> Option<i64> {
        (self.0 >= 0).then_some(self.0)
    }

    /// Returns whether nothing is known.
    pub fn is_unknown(self) -> bool {
        self == Dim::UNKNOWN
    }
}

/// A ranked tensor type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// The extents, outermost first.
    pub dims: Box<[Dim]>,
    /// The element type.
    pub element: Type,
    /// MLIR's encoding attribute other than the one that carries symbolic extents.
    pub encoding: Option<Attr>,
}

/// What a type says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeData {
    /// `none`.
    None,
    /// `index`.
    Index,
    /// `i32`, `si8`, `ui64`.
    Integer {
        /// Bits.
        width: u32,
        /// Whether the type itself has a sign.
        sign: Signedness,
    },
    /// `f32` and the like.
    Float(FloatKind),
    /// `complex<f32>`.
    Complex(Type),
    /// `(i32, i32) -> i32`.
    Function {
        /// Argument types.
        inputs: Box<[Type]>,
        /// Result types.
        results: Box<[Type]>,
    },
    /// `tuple<i32, f32>`.
    Tuple(Box<[Type]>),
    /// `tensor<4x?xf32>`.
    Tensor(TensorType),
    /// `tensor<*xf32>`.
    UnrankedTensor(Type),
    /// `vector<4x[8]xf32>`.
    Vector {
        /// Extents, outermost first.
        dims: Box<[i64]>,
        /// For each extent, whether it scales with the machine.
        scalable: Box<[bool]>,
        /// The element type.
        element: Type,
    },
    /// `memref<4x?xf32, layout, space>`.
    MemRef {
        /// Extents, outermost first.
        dims: Box<[Dim]>,
        /// The element type.
        element: Type,
        /// The layout, if it is not the identity.
        layout: Option<Attr>,
        /// The memory space, if it is not the default.
        space: Option<Attr>,
    },
    /// `memref<*xf32, space>`.
    UnrankedMemRef {
        /// The element type.
        element: Type,
        /// The memory space, if it is not the default.
        space: Option<Attr>,
    },
    /// A dialect's type with parameters: `!nn.sequence<tensor<?xf32>>`.
    Dialect {
        /// The whole name, `nn.sequence`.
        name: Str,
        /// Parameters; a type is wrapped in a type attribute.
        params: Box<[Attr]>,
    },
    /// A type of a dialect that is not registered, as written after `!`.
    Opaque(Str),
}

//! Sparse matrices of a device's library: handles of matrices and vectors, and products of them.

use tangram_ir::{Absence, AttrDef, AttrKind, OpDef, OperandDef, ResultDef};

use super::super::{required, result, results, value, values};
use super::{DEPENDENCIES, TOKEN};

/// Whether a matrix stands as it is or turned, behind it: nothing where as it is.
macro_rules! mode {
    ($attr:literal) => {
        concat!(
            " ( `{` space word($",
            $attr,
            ", gpu<mat_transpose_mode, NON_TRANSPOSE, TRANSPOSE, CONJUGATE_TRANSPOSE) `}` )?"
        )
    };
}

/// The types of handles.
macro_rules! handle {
    (matrix) => {
        "!gpu.sparse.spmat_handle"
    };
    (dense) => {
        "!gpu.sparse.dntensor_handle"
    };
    (product) => {
        "!gpu.sparse.spgemmop_handle"
    };
}

/// The text of a new matrix: extents, which are indices, and buffers.
macro_rules! new_matrix {
    ($extents:literal, $buffers:literal, $types:literal, $rules:literal) => {
        concat!(
            tokens!(),
            $extents,
            " `,` ",
            $buffers,
            " attr-dict `:` ",
            $types,
            "; $spmat: ",
            handle!(matrix),
            ", ",
            $rules
        )
    };
}

/// Every definition of this file.
pub(super) static DEFS: &[OpDef] = &[
    OpDef {
        operands: &[
            DEPENDENCIES,
            value("memref", "the elements"),
            values("dims", "the extents: one of a vector, two of a matrix"),
        ],
        results: &[result("dnTensor", "the vector or matrix"), TOKEN],
        result_names: &["dnTensor", "asyncToken"],
        ..OpDef::new("gpu.create_dn_tensor", "a dense vector or matrix")
    }
    .text(concat!(
        tokens!(),
        "$memref `,` $dims attr-dict `:` type($dims) `into` type($memref); $dnTensor: ",
        handle!(dense)
    )),
    OpDef {
        operands: &[DEPENDENCIES, value("dnTensor", "the vector or matrix")],
        results: &[TOKEN],
        ..OpDef::new("gpu.destroy_dn_tensor", "gives up the handle of a dense vector or matrix")
    }
    .text(concat!(tokens!(), "$dnTensor attr-dict; $dnTensor: ", handle!(dense))),
    new("gpu.create_coo", "a matrix by the row and column of each element", COO).text(new_matrix!(
        "$rows `,` $cols `,` $nnz",
        "$rowIdxs `,` $colIdxs `,` $values",
        "type($rowIdxs) `,` type($colIdxs) `,` type($values)",
        "$rows: index, $cols: index, $nnz: index"
    )),
    new("gpu.create_coo_aos", "a matrix by the pair of row and column of each element", PAIRS)
        .text(new_matrix!(
            "$rows `,` $cols `,` $nnz",
            "$idxs `,` $values",
            "type($idxs) `,` type($values)",
            "$rows: index, $cols: index, $nnz: index"
        )),
    new("gpu.create_csr", "a matrix row by row", ROWS).text(new_matrix!(
        "$rows `,` $cols `,` $nnz",
        "$rowPos `,` $colIdxs `,` $values",
        "type($rowPos) `,` type($colIdxs) `,` type($values)",
        "$rows: index, $cols: index, $nnz: index"
    )),
    new("gpu.create_csc", "a matrix column by column", COLUMNS).text(new_matrix!(
        "$rows `,` $cols `,` $nnz",
        "$colPos `,` $rowIdxs `,` $values",
        "type($colPos) `,` type($rowIdxs) `,` type($values)",
        "$rows: index, $cols: index, $nnz: index"
    )),
    new("gpu.create_bsr", "a matrix of dense blocks, row by row of blocks", BLOCKS).text(
        new_matrix!(
            "$brows `,` $bcols `,` $bnnz `,` $rBlockSize `,` $cBlockSize",
            "$bRowPos `,` $bColIdxs `,` $values",
            "type($bRowPos) `,` type($bColIdxs) `,` type($values)",
            "$brows: index, $bcols: index, $bnnz: index, $rBlockSize: index, $cBlockSize: index"
        ),
    ),
    OpDef {
        operands: HALVED,
        results: &[result("spMat", "the matrix"), TOKEN],
        attrs: PRUNED,
        result_names: &["spMat", "asyncToken"],
        ..OpDef::new("gpu.create_2to4_spmat", "a matrix in which two of four elements are zero")
    }
    .text(concat!(
        tokens!(),
        "`{` space word($pruneFlag, gpu<prune_2to4_spmat_flag, NONE, PRUNE_ONLY, PRUNE_AND_CHECK) \
         `}` $rows `,` $cols `,` $memref attr-dict `:` type($memref); $rows: index, $cols: index, \
         $spMat: ",
        handle!(matrix)
    )),
    OpDef {
        operands: &[DEPENDENCIES, MATRIX],
        results: &[TOKEN],
        ..OpDef::new("gpu.destroy_sp_mat", "gives up the handle of a sparse matrix")
    }
    .text(concat!(tokens!(), "$spmat attr-dict; $spmat: ", handle!(matrix))),
    OpDef {
        operands: VECTORS,
        results: SIZE,
        attrs: TIMES_VECTOR,
        result_names: &["bufferSz", "asyncToken"],
        ..OpDef::new("gpu.spmv_buffer_size", "the bytes that `gpu.spmv` works in")
    }
    .text(concat!(
        tokens!(),
        "$spmatA",
        mode!("modeA"),
        " `,` $dnX `,` $dnY attr-dict `into` type-attr($computeType); $bufferSz: index, $spmatA: ",
        handle!(matrix),
        ", $dnX: ",
        handle!(dense),
        ", $dnY: ",
        handle!(dense)
    )),
    OpDef {
        operands: VECTORS_AND_BUFFER,
        results: &[TOKEN],
        attrs: TIMES_VECTOR,
        ..OpDef::new("gpu.spmv", "a sparse matrix times a vector, added to a vector")
    }
    .text(concat!(
        tokens!(),
        "$spmatA",
        mode!("modeA"),
        " `,` $dnX `,` $dnY `,` $buffer attr-dict `:` type($buffer) `into` \
         type-attr($computeType); $spmatA: ",
        handle!(matrix),
        ", $dnX: ",
        handle!(dense),
        ", $dnY: ",
        handle!(dense)
    )),
    OpDef {
        operands: MATRICES,
        results: &[results("bufferSzs", "the bytes, for each buffer"), TOKEN],
        attrs: PRODUCT,
        result_names: &["bufferSzs", "asyncToken"],
        ..OpDef::new("gpu.spmm_buffer_size", "the bytes that `gpu.spmm` works in")
    }
    .text(concat!(
        tokens!(),
        "$spmatA",
        mode!("modeA"),
        " `,` $dnmatB",
        mode!("modeB"),
        " `,` $dnmatC attr-dict `:` type($bufferSzs) `into` type-attr($computeType); $spmatA: ",
        handle!(matrix),
        ", $dnmatB: ",
        handle!(dense),
        ", $dnmatC: ",
        handle!(dense)
    )),
    OpDef {
        operands: MATRICES_AND_BUFFERS,
        results: &[TOKEN],
        attrs: PRODUCT,
        ..OpDef::new("gpu.spmm", "a sparse matrix times a dense one, added to a dense one")
    }
    .text(concat!(
        tokens!(),
        "$spmatA",
        mode!("modeA"),
        " `,` $dnmatB",
        mode!("modeB"),
        " `,` $dnmatC `,` $buffers attr-dict `:` type($buffers) `into` type-attr($computeType); \
         $spmatA: ",
        handle!(matrix),
        ", $dnmatB: ",
        handle!(dense),
        ", $dnmatC: ",
        handle!(dense)
    )),
    OpDef {
        operands: SAMPLED,
        results: SIZE,
        attrs: PRODUCT,
        result_names: &["bufferSz", "asyncToken"],
        ..OpDef::new("gpu.sddmm_buffer_size", "the bytes that `gpu.sddmm` works in")
    }
    .text(concat!(
        tokens!(),
        "$dnmatA",
        mode!("modeA"),
        " `,` $dnmatB",
        mode!("modeB"),
        " `,` $spmatC attr-dict `into` type-attr($computeType); $bufferSz: index, $dnmatA: ",
        handle!(dense),
        ", $dnmatB: ",
        handle!(dense),
        ", $spmatC: ",
        handle!(matrix)
    )),
    OpDef {
        operands: SAMPLED_AND_BUFFER,
        results: &[TOKEN],
        attrs: PRODUCT,
        ..OpDef::new("gpu.sddmm", "the elements of a product of dense matrices that are asked for")
    }
    .text(concat!(
        tokens!(),
        "$dnmatA",
        mode!("modeA"),
        " `,` $dnmatB",
        mode!("modeB"),
        " `,` $spmatC `,` $buffer attr-dict `:` type($buffer) `into` type-attr($computeType); \
         $dnmatA: ",
        handle!(dense),
        ", $dnmatB: ",
        handle!(dense),
        ", $spmatC: ",
        handle!(matrix)
    )),
    OpDef {
        operands: &[DEPENDENCIES],
        results: &[result("desc", "the handle"), TOKEN],
        result_names: &["desc", "asyncToken"],
        ..OpDef::new("gpu.spgemm_create_descr", "a handle of a product of sparse matrices")
    }
    .text(concat!(tokens!(), "attr-dict; $desc: ", handle!(product))),
    OpDef {
        operands: &[DEPENDENCIES, DESCRIPTION],
        results: &[TOKEN],
        ..OpDef::new("gpu.spgemm_destroy_descr", "gives up the handle of a product")
    }
    .text(concat!(tokens!(), "$desc attr-dict; $desc: ", handle!(product))),
    OpDef {
        operands: PRODUCTS_AND_BUFFER,
        results: &[result("bufferSzNew", "how many bytes it takes"), TOKEN],
        attrs: ESTIMATED,
        result_names: &["bufferSzNew", "asyncToken"],
        ..OpDef::new(
            "gpu.spgemm_work_estimation_or_compute",
            "a part of a product of sparse matrices, or the bytes that it takes",
        )
    }
    .text(concat!(
        tokens!(),
        "`{` space word($kind, gpu<spgemm_work_estimation_or_compute_kind, WORK_ESTIMATION, \
         COMPUTE) `}` $spmatA",
        mode!("modeA"),
        " `,` $spmatB",
        mode!("modeB"),
        " `,` $spmatC `,` $desc `,` $bufferSz `,` $buffer attr-dict `:` type-attr($computeType) \
         `into` type($buffer); $bufferSzNew: index, $bufferSz: index, $spmatA: ",
        handle!(matrix),
        ", $spmatB: ",
        handle!(matrix),
        ", $spmatC: ",
        handle!(matrix),
        ", $desc: ",
        handle!(product)
    )),
    OpDef {
        operands: PRODUCTS,
        results: &[TOKEN],
        attrs: PRODUCT,
        ..OpDef::new("gpu.spgemm_copy", "copies a product of sparse matrices into its matrix")
    }
    .text(concat!(
        tokens!(),
        "$spmatA",
        mode!("modeA"),
        " `,` $spmatB",
        mode!("modeB"),
        " `,` $spmatC `,` $desc attr-dict `:` type-attr($computeType); $spmatA: ",
        handle!(matrix),
        ", $spmatB: ",
        handle!(matrix),
        ", $spmatC: ",
        handle!(matrix),
        ", $desc: ",
        handle!(product)
    )),
    OpDef {
        operands: &[DEPENDENCIES, MATRIX],
        results: &[
            result("rows", "how many rows it has"),
            result("cols", "how many columns it has"),
            result("nnz", "how many elements it has"),
            TOKEN,
        ],
        result_names: &["rows", "cols", "nnz", "asyncToken"],
        ..OpDef::new("gpu.spmat_get_size", "the extents of a sparse matrix")
    }
    .text(concat!(
        tokens!(),
        "$spmat attr-dict; $rows: index, $cols: index, $nnz: index, $spmat: ",
        handle!(matrix)
    )),
    OpDef {
        operands: &[
            DEPENDENCIES,
            MATRIX,
            value("positions", "where each row begins"),
            value("coordinates", "the column of each element"),
            value("values", "the elements"),
        ],
        results: &[TOKEN],
        ..OpDef::new("gpu.set_csr_pointers", "gives a sparse matrix other buffers")
    }
    .text(concat!(
        tokens!(),
        "$spmat `,` $positions `,` $coordinates `,` $values attr-dict `:` type($positions) `,` \
         type($coordinates) `,` type($values); $spmat: ",
        handle!(matrix)
    )),
];

/// A new matrix of these operands.
const fn new(name: &'static str, summary: &'static str, operands: &'static [OperandDef]) -> OpDef {
    OpDef {
        operands,
        results: NEW_MATRIX,
        result_names: &["spmat", "asyncToken"],
        ..OpDef::new(name, summary)
    }
}

const NEW_MATRIX: &[ResultDef] = &[result("spmat", "the matrix"), TOKEN];
const SHAPE: [OperandDef; 3] = [
    value("rows", "how many rows"),
    value("cols", "how many columns"),
    value("nnz", "how many elements"),
];
const VALUES: OperandDef = value("values", "the elements");
const COLUMN_OF_EACH: OperandDef = value("colIdxs", "the column of each element");
const ROW_OF_EACH: OperandDef = value("rowIdxs", "the row of each element");
const COO: &[OperandDef] =
    &[DEPENDENCIES, SHAPE[0], SHAPE[1], SHAPE[2], ROW_OF_EACH, COLUMN_OF_EACH, VALUES];
const PAIRS: &[OperandDef] = &[
    DEPENDENCIES,
    SHAPE[0],
    SHAPE[1],
    SHAPE[2],
    value("idxs", "row and column of each element"),
    VALUES,
];
const ROWS: &[OperandDef] = &[
    DEPENDENCIES,
    SHAPE[0],
    SHAPE[1],
    SHAPE[2],
    value("rowPos", "where each row begins"),
    COLUMN_OF_EACH,
    VALUES,
];
const COLUMNS: &[OperandDef] = &[
    DEPENDENCIES,
    SHAPE[0],
    SHAPE[1],
    SHAPE[2],
    value("colPos", "where each column begins"),
    ROW_OF_EACH,
    VALUES,
];
const BLOCKS: &[OperandDef] = &[
    DEPENDENCIES,
    value("brows", "how many rows of blocks"),
    value("bcols", "how many columns of blocks"),
    value("bnnz", "how many blocks"),
    value("rBlockSize", "how many rows a block has"),
    value("cBlockSize", "how many columns a block has"),
    value("bRowPos", "where each row of blocks begins"),
    value("bColIdxs", "the column of each block"),
    VALUES,
];
const HALVED: &[OperandDef] = &[DEPENDENCIES, SHAPE[0], SHAPE[1], value("memref", "the elements")];
const MATRIX: OperandDef = value("spmat", "the matrix");
const BUFFER: OperandDef = value("buffer", "memory to work in");
const DESCRIPTION: OperandDef = value("desc", "the handle of the product");
const VECTORS: &[OperandDef] = &[
    DEPENDENCIES,
    value("spmatA", "the matrix"),
    value("dnX", "the vector that it is multiplied by"),
    value("dnY", "the vector that the product is added to"),
];
const MATRICES: &[OperandDef] = &[
    DEPENDENCIES,
    VECTORS[1],
    value("dnmatB", "the matrix that it is multiplied by"),
    value("dnmatC", "the matrix that the product is added to"),
];
const SAMPLED: &[OperandDef] = &[
    DEPENDENCIES,
    value("dnmatA", "the left factor"),
    value("dnmatB", "the right factor"),
    value("spmatC", "the matrix that says which elements, and that takes them"),
];
const PRODUCTS: &[OperandDef] = &[
    DEPENDENCIES,
    DESCRIPTION,
    value("spmatA", "the left factor"),
    value("spmatB", "the right factor"),
    value("spmatC", "the product"),
];
const VECTORS_AND_BUFFER: &[OperandDef] = &[VECTORS[0], VECTORS[1], VECTORS[2], VECTORS[3], BUFFER];
const MATRICES_AND_BUFFERS: &[OperandDef] =
    &[MATRICES[0], MATRICES[1], MATRICES[2], MATRICES[3], values("buffers", "memory to work in")];
const SAMPLED_AND_BUFFER: &[OperandDef] = &[SAMPLED[0], SAMPLED[1], SAMPLED[2], SAMPLED[3], BUFFER];
const PRODUCTS_AND_BUFFER: &[OperandDef] = &[
    PRODUCTS[0],
    PRODUCTS[1],
    PRODUCTS[2],
    PRODUCTS[3],
    PRODUCTS[4],
    value("bufferSz", "how many bytes the buffer has"),
    BUFFER,
];
const SIZE: &[ResultDef] = &[result("bufferSz", "how many bytes"), TOKEN];
const PRUNED: &[AttrDef] =
    &[required("pruneFlag", AttrKind::Any, "whether elements become zero, and are looked at")];

/// How a matrix stands.
const fn mode(name: &'static str, doc: &'static str) -> AttrDef {
    AttrDef::optional(name, AttrKind::Any, doc)
        .absent(Absence::Means("#gpu<mat_transpose_mode NON_TRANSPOSE>"))
}

const TIMES_VECTOR: &[AttrDef] = &[mode("modeA", "whether the first matrix is turned"), PRODUCT[2]];
const PRODUCT: &[AttrDef] = &[
    mode("modeA", "whether the first matrix is turned"),
    mode("modeB", "whether the second matrix is turned"),
    required("computeType", AttrKind::Type, "the type that is computed in"),
];
const ESTIMATED: &[AttrDef] = &[
    PRODUCT[0],
    PRODUCT[1],
    PRODUCT[2],
    required("kind", AttrKind::Any, "whether it estimates or computes"),
];

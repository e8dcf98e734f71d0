"""Programs of MLIR: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

from typing import assert_type

from tangram import mlir


@mlir.passes("drop-nops", "erases operations that do nothing")
def drop_nops(root: mlir.Operation, rewriter: mlir.OperationRewriter) -> None:
    for op in root.walk():
        if op.name == "toy.nop":
            rewriter.erase(op)
            op.nmae  # error
        rewriter.eraze(op)  # error


assert_type(drop_nops, mlir.Pass)
assert_type(mlir.rewrite("", "builtin.module(drop-nops)", [drop_nops], generic=True), str)

mlir.rewrite("", "canonicalize", [drop_nops], genric=True)  # error
mlir.rewrite("", ["canonicalize"])  # error
mlir.rewrites("")  # error
drop_nops.sumary  # error

//! Patterns, the rewriter and the drivers that change IR.

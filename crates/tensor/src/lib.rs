//! Dense tensor values and reference kernels: right first.

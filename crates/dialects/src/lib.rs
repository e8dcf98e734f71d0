//! Operation definitions: one readable place for each operation.

//! How big a module is.

use std::fmt;

use crate::module::Module;

/// Counts of a module, erased entities included, and the memory that they take.
///
/// Interned types, attributes and locations belong to the context and are not counted here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Operations.
    pub operations: usize,
    /// Results and arguments.
    pub values: usize,
    /// Operands.
    pub operands: usize,
    /// Blocks.
    pub blocks: usize,
    /// Regions.
    pub regions: usize,
    /// Bytes of the entities in the arenas.
    pub bytes: usize,
    /// Bytes of the resources.
    pub resource_bytes: usize,
}

impl Statistics {
    /// Bytes for each operation.
    pub fn bytes_per_operation(&self) -> f64 {
        self.bytes as f64 / self.operations.max(1) as f64
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics { operations, values, operands, blocks, regions, .. } = self;
        write!(
            f,
            "{operations} operations, {values} values, {operands} operands, {blocks} blocks, \
             {regions} regions: {} bytes, {:.1} an operation; {} bytes of resources",
            self.bytes,
            self.bytes_per_operation(),
            self.resource_bytes
        )
    }
}

impl Module {
    /// Counts what the module holds. O(resources).
    pub fn statistics(&self) -> Statistics {
        let resources = self.resources();
        Statistics {
            resource_bytes: resources
                .keys()
                .filter_map(|key| resources.find(key))
                .map(|bytes| bytes.len())
                .sum(),
            ..self.arena_statistics()
        }
    }
}

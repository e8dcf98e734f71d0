//! What a processor offers to loops: vectors, fused multiply-add, caches, cores.
//!
//! Whatever decides by cost reads one [`Machine`]: how many elements a vector has, how many
//! accumulators hide the latency of an addition, which tile stays in which cache. A machine is
//! that of this computer ([`Machine::native`]), a [known](Isa) instruction set with the caches
//! that its processors have at least, or a file:
//!
//! ```
//! use tangram_machine::{Isa, Machine};
//!
//! let machine = Machine::of(Isa::Avx2);
//! assert_eq!(machine.lanes(8), 4); // doubles in a vector of 32 bytes
//! assert_eq!(machine.chains(), 8); // 4 cycles of latency, 2 multiply-adds a cycle
//! assert_eq!(machine.cache(1).map(|cache| cache.bytes), Some(32 << 10));
//!
//! let text = machine.to_json();
//! assert_eq!(Machine::from_json(&text), Ok(machine));
//! ```
//!
//! Nothing here knows loops, arrays or costs: those are of the crates that ask.
//! `CostModel` of `tangram-saturate` is no machine: it is fitted to the operators of a runtime.

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod device;
mod file;
mod isa;
mod probe;

use serde::{Deserialize, Serialize};

pub use device::Device;
pub use file::MachineError;
pub use isa::Isa;

/// A processor, as far as generated loops depend on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Machine {
    /// What it is called in reports.
    pub name: String,
    /// The instruction set that code is generated for.
    pub isa: Isa,
    /// Bytes in a vector register.
    pub vector_bytes: usize,
    /// Vector registers that instructions can name.
    pub vector_registers: usize,
    /// Cycles from the start of a fused multiply-add until its result can be used.
    pub fma_latency: usize,
    /// Fused multiply-adds of whole vectors that start in a cycle.
    pub fma_per_cycle: usize,
    /// Data caches from the first level on, each larger than the one before.
    pub caches: Vec<Cache>,
    /// Cores that run threads, each with its own first level.
    pub cores: usize,
}

/// A level of cache that holds data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Cache {
    /// 1 for the level beside the core.
    pub level: usize,
    /// Bytes that one instance of it holds.
    pub bytes: usize,
    /// Lines that share a set: the associativity.
    pub ways: usize,
    /// Bytes in a line.
    pub line: usize,
}

impl Machine {
    /// Describes the processor that this program runs on.
    ///
    /// The instruction set and the caches are asked for. Latency and throughput cannot be: they
    /// are those of the instruction set ([`Isa`] has the sources). What the system hides, as some
    /// virtual machines hide caches, is filled in likewise.
    pub fn native() -> Self {
        probe::native()
    }

    /// Describes a processor with an instruction set, and the caches of its smaller members.
    pub fn of(isa: Isa) -> Self {
        isa::machine(isa)
    }

    /// Returns how many elements of `element_bytes` bytes a vector holds; at least 1.
    pub fn lanes(&self, element_bytes: usize) -> usize {
        (self.vector_bytes / element_bytes.max(1)).max(1)
    }

    /// Returns how many independent sums keep the multiply-add units busy.
    ///
    /// A sum that waits for itself starts once in `fma_latency` cycles; this many side by side
    /// start `fma_per_cycle` in each.
    pub fn chains(&self) -> usize {
        self.fma_latency * self.fma_per_cycle
    }

    /// Returns the cache of a level, if there is one.
    pub fn cache(&self, level: usize) -> Option<&Cache> {
        self.caches.iter().find(|cache| cache.level == level)
    }

    /// Returns the bytes that all cores together have in caches of their own, the first two levels:
    /// what several threads share out and use again does not come from further away.
    pub fn bytes_beside_cores(&self) -> usize {
        let own = self.cache(2).or(self.cache(1)).map_or(0, |cache| cache.bytes);
        own.saturating_mul(self.cores)
    }

    /// Returns the bytes in a line of the first cache.
    pub fn line(&self) -> usize {
        self.caches.first().map_or(isa::LINE, |cache| cache.line)
    }

    /// Returns the fused multiply-adds of elements of `element_bytes` bytes in a cycle.
    ///
    /// Twice this, times the clock, is the peak rate in operations a second of one core.
    pub fn fma_elements_per_cycle(&self, element_bytes: usize) -> usize {
        self.lanes(element_bytes) * self.fma_per_cycle
    }
}

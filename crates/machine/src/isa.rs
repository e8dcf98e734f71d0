//! Instruction sets, and a machine for each that its processors are at least as good as.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Cache, Machine, MachineError};

/// Bytes in a line of cache where nothing says otherwise: every x86 and nearly every Arm core.
pub(crate) const LINE: usize = 64;

/// A vector instruction set.
///
/// # Source
/// Latency and throughput of fused multiply-add on whole vectors: Agner Fog, "Instruction tables",
/// and uops.info. Four cycles and two a cycle hold for Intel since Skylake and AMD since Zen 2
/// (Haswell, Broadwell: five cycles), for AVX-512 on servers with two such units and on Zen 4 and
/// 5 (Zen 4 starts one of 64 bytes a cycle), and for Arm's Neoverse N1 and later.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Isa {
    /// No vectors, no fused multiply-add: C that any compiler translates.
    Scalar,
    /// 16 bytes and 16 registers: what every x86-64 has.
    Sse2,
    /// 32 bytes, 16 registers, fused multiply-add: x86-64-v3.
    Avx2,
    /// 64 bytes, 32 registers: x86-64-v4.
    Avx512,
    /// 16 bytes and 32 registers: what every 64-bit Arm has.
    Neon,
}

/// All instruction sets with what they are called.
const NAMES: [(Isa, &str); 5] = [
    (Isa::Scalar, "scalar"),
    (Isa::Sse2, "sse2"),
    (Isa::Avx2, "avx2"),
    (Isa::Avx512, "avx512"),
    (Isa::Neon, "neon"),
];

impl Isa {
    /// Lists every instruction set.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(isa, _)| *isa)
    }

    /// Returns the widest one that code can use on the processor that this program runs on.
    pub fn native() -> Self {
        crate::probe::isa()
    }

    /// Returns whether a processor with `here` runs code for one with this instruction set.
    ///
    /// ```
    /// use tangram_machine::Isa;
    ///
    /// assert!(Isa::Avx2.runs_on(Isa::Avx512) && !Isa::Avx512.runs_on(Isa::Avx2));
    /// ```
    pub fn runs_on(self, here: Self) -> bool {
        match self {
            Self::Avx2 => matches!(here, Self::Avx2 | Self::Avx512),
            Self::Avx512 | Self::Neon => here == self,
            // What every processor has that the system loads a library on.
            Self::Scalar | Self::Sse2 => true,
        }
    }

    /// Returns its name on the command line and in files.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(isa, _)| *isa == self).map_or("scalar", |(_, name)| name)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = MachineError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = NAMES.iter().find(|(_, name)| *name == text);
        named.map(|(isa, _)| *isa).ok_or_else(|| MachineError::Isa(text.to_owned()))
    }
}

/// Describes the smaller processors with an instruction set.
pub(crate) fn machine(isa: Isa) -> Machine {
    let (vector_bytes, vector_registers, fma_latency, fma_per_cycle) = match isa {
        // One addition a cycle is what is left of two units without fused operations.
        Isa::Scalar => (8, 16, 4, 1),
        Isa::Sse2 => (16, 16, 4, 1),
        Isa::Avx2 => (32, 16, 4, 2),
        Isa::Avx512 => (64, 32, 4, 2),
        Isa::Neon => (16, 32, 4, 2),
    };
    let name = isa.name().to_owned();
    let caches = caches(isa);
    let cores = 1;
    Machine { name, isa, vector_bytes, vector_registers, fma_latency, fma_per_cycle, caches, cores }
}

/// The caches of smaller processors: Haswell and Zen 2, Skylake servers, Neoverse N1.
fn caches(isa: Isa) -> Vec<Cache> {
    let (first, second) = match isa {
        Isa::Scalar | Isa::Sse2 | Isa::Avx2 => ((32 << 10, 8), (256 << 10, 8)),
        Isa::Avx512 => ((32 << 10, 8), (1 << 20, 16)),
        Isa::Neon => ((64 << 10, 4), (512 << 10, 8)),
    };
    // What one core may take of a last level that all share.
    let third = (2 << 20, 16);
    let levels = [first, second, third].into_iter().zip(1..);
    levels.map(|((bytes, ways), level)| Cache { level, bytes, ways, line: LINE }).collect()
}

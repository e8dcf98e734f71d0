//! What a device with blocks of threads offers to kernels.

/// A device, as far as generated kernels depend on it.
///
/// Figures that every device of compute capability 5.0 or more has: kernels are generated before
/// the device is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Device {
    /// Threads of a block that computes a tile, along its rows and its columns.
    pub threads: [usize; 2],
    /// Registers of 32 bits that a thread keeps sums in. A thread names 255, and blocks beside
    /// each other, which hide the latency of memory, share 65,536: with 64 for sums and as many
    /// for all else, two blocks of 256 threads fit.
    pub sum_registers: usize,
    /// Bytes that the threads of a block share, without asking for more.
    pub shared_bytes: usize,
}

impl Default for Device {
    fn default() -> Self {
        Self { threads: [16, 16], sum_registers: 64, shared_bytes: 48 << 10 }
    }
}

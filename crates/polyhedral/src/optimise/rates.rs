//! What the machine's description means for innermost loops.
//!
//! Loops are weighed before their elements are known to be single or double: all counts are for
//! doubles, the narrower vectors. A wrong guess changes what is tried first, never what is right.

use tangram_machine::Machine;

/// Bytes of an element.
const ELEMENT: usize = 8;
/// Cycles by which an addition in memory waits longer than one in a register. Forwarding from the
/// store takes four or five, part of which other work hides.
const FORWARDING: usize = 2;
/// Operations of a statement on integers. A sum of products of bytes takes two conversions, a product that
/// is two operations, and an addition; of 16 of these side by side compilers make so different code
/// (0.85 and 1.3 times as fast, gcc and clang) that only larger gains are taken.
const INTEGER: f64 = 12.0;
/// Arrays that take part in a tile: in a product of matrices two are read and one is written.
const ARRAYS: usize = 3;
/// Vectors that a thread takes at once, so that starting it costs little beside its work.
const VECTORS_PER_STRIP: usize = 64;

/// Vectors of results from which on a second thread ends a loop earlier. Two threads that are awake
/// need half a microsecond to start and to meet again: in rows of `x[j] = x[j] * c + y[j]`, 2048 vectors
/// of doubles took 1.8 us on one thread and 2.2 on two, 4096 took 3.6 and 3.1, 8192 took 8.2 and 5.5.
const VECTORS_FOR_THREADS: usize = 4096;

/// Returns how many instances of statements a loop has to have for several threads to be worth starting.
pub fn threads_from(machine: &Machine) -> u64 {
    (machine.lanes(ELEMENT) * VECTORS_FOR_THREADS) as u64
}

/// Costs in operations, sizes in iterations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// Elements in a vector.
    pub vector: f64,
    /// Operations of a statement on integers: their products take two, and operands of narrower types
    /// are converted.
    pub integer: f64,
    /// Operations in the time for which a sum in a register waits for itself.
    pub wait: f64,
    /// The same for a sum in memory.
    pub wait_in_memory: f64,
    /// An access to another line of the cache, for elements of which a line has several.
    pub jump: f64,
    /// Iterations that run side by side in one loop.
    pub jam: i128,
    /// Sums that keep a processor busy while each waits for itself.
    pub chains: i128,
    /// The size of a tile where what a loop goes through is used again.
    pub tile: i128,
    /// The size of a tile of a loop that runs on several threads: there are enough for all.
    pub shared_tile: i128,
    /// Iterations of a vector loop that a thread takes at once.
    pub strip: i128,
}

impl Rates {
    pub fn of(machine: &Machine) -> Self {
        let lanes = machine.lanes(ELEMENT);
        // Two loops side by side make a square of sums, which stays in the registers.
        let jam = power_of_two(machine.vector_registers.isqrt());
        let first = machine.cache(1).map_or(0, |cache| cache.bytes);
        let tile = power_of_two((first / (ARRAYS * ELEMENT)).isqrt()).max(jam);
        Self {
            vector: lanes as f64,
            integer: INTEGER,
            wait: machine.fma_latency as f64,
            wait_in_memory: (machine.fma_latency + FORWARDING) as f64,
            jump: (machine.line() / ELEMENT).max(1) as f64,
            jam: jam as i128,
            chains: machine.chains() as i128,
            tile: tile as i128,
            shared_tile: (tile / 2).max(1) as i128,
            strip: (lanes * VECTORS_PER_STRIP) as i128,
        }
    }
}

/// Returns the largest power of two that is at most `number`; 1 for 0.
fn power_of_two(number: usize) -> usize {
    number.checked_ilog2().map_or(1, |log| 1 << log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tangram_machine::Isa;

    #[test]
    fn a_tile_of_each_array_fits_in_the_first_cache() {
        for isa in Isa::all() {
            let machine = Machine::of(isa);
            let rates = Rates::of(&machine);
            let bytes = rates.tile * rates.tile * (ARRAYS * ELEMENT) as i128;
            assert!(bytes <= machine.cache(1).map_or(0, |cache| cache.bytes as i128), "{rates:?}");
            let sums = rates.jam * rates.jam;
            assert!(sums <= machine.vector_registers as i128, "{rates:?}");
        }
    }
}

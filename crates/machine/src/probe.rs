//! Asking the computer what it is.

use std::num::NonZero;
use std::thread::available_parallelism;

use crate::{Cache, Isa, Machine};

/// Describes this computer; what it does not say is taken from its instruction set.
pub(crate) fn native() -> Machine {
    let mut machine = crate::isa::machine(isa());
    machine.name = "native".to_owned();
    machine.cores = available_parallelism().map_or(1, NonZero::get);
    let found = caches();
    // Half an answer would mix the levels of two processors.
    if found.first().is_some_and(|cache| cache.level == 1) {
        machine.caches = found;
    }
    machine
}

/// Returns the widest instruction set that code can use here.
pub(crate) fn isa() -> Isa {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        let wide = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl");
        if wide {
            return Isa::Avx512;
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return Isa::Avx2;
        }
        if std::is_x86_feature_detected!("sse2") {
            return Isa::Sse2;
        }
    }
    if cfg!(target_arch = "aarch64") { Isa::Neon } else { Isa::Scalar }
}

/// Lists the caches that hold data, from the first level on.
fn caches() -> Vec<Cache> {
    let mut found = system_caches();
    if found.is_empty() {
        found = cpuid_caches();
    }
    found.sort_by_key(|cache| cache.level);
    found.dedup_by_key(|cache| cache.level);
    found
}

/// No processor has more caches; there are two of the first level.
#[cfg(target_os = "linux")]
const MOST_CACHES: usize = 16;

/// Reads the caches of the first core as Linux lists them, on any processor.
#[cfg(target_os = "linux")]
fn system_caches() -> Vec<Cache> {
    let folder = std::path::Path::new("/sys/devices/system/cpu/cpu0/cache");
    let numbered = (0..MOST_CACHES).map(|at| folder.join(format!("index{at}")));
    numbered.filter_map(|place| listed_cache(&place)).collect()
}

#[cfg(not(target_os = "linux"))]
fn system_caches() -> Vec<Cache> {
    Vec::new()
}

/// Reads one folder of that list; nothing for instructions, or what is not a cache.
#[cfg(target_os = "linux")]
fn listed_cache(folder: &std::path::Path) -> Option<Cache> {
    let text = |name| std::fs::read_to_string(folder.join(name)).ok();
    let number = |name| text(name)?.trim().parse::<usize>().ok().filter(|number| *number > 0);
    if text("type")?.trim() == "Instruction" {
        return None;
    }
    let size = text("size")?;
    let kibibytes: usize = size.trim().strip_suffix('K')?.parse().ok()?;
    Some(Cache {
        level: number("level")?,
        bytes: kibibytes.checked_mul(1 << 10).filter(|bytes| *bytes > 0)?,
        ways: number("ways_of_associativity")?,
        line: number("coherency_line_size")?,
    })
}

/// Asks the processor itself, where the system has no list.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn cpuid_caches() -> Vec<Cache> {
    use raw_cpuid::{CacheType, CpuId};

    let Some(caches) = CpuId::new().get_cache_parameters() else { return Vec::new() };
    let holds_data =
        caches.filter(|cache| matches!(cache.cache_type(), CacheType::Data | CacheType::Unified));
    let described = holds_data.map(|cache| {
        let (ways, line) = (cache.associativity(), cache.coherency_line_size());
        let bytes = cache.sets() * ways * line * cache.physical_line_partitions();
        Cache { level: usize::from(cache.level()), bytes, ways, line }
    });
    described.filter(|cache| cache.level > 0 && cache.bytes > 0).collect()
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn cpuid_caches() -> Vec<Cache> {
    Vec::new()
}

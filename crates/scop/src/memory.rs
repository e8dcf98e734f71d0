//! Memory that new code needs while it runs: arrays in the place of variables, and packed blocks.
//!
//! All of it is one piece, allocated in front of the part and freed behind it. Each array begins at a line
//! of the cache:
//!
//! ```c
//! void *memory_at = 0;
//! if (n > 0 && 1.0 * (n) <= 134217728)
//!     memory_at = __builtin_malloc(64 + (sizeof(double) * (n) + 63) / 64 * 64 + 122880);
//! if (memory_at) {
//!     char *memory = (char *)memory_at + 64 - (__UINTPTR_TYPE__)memory_at % 64;
//!     double *t_all = (void *)memory;
//!     memory += (sizeof(double) * (n) + 63) / 64 * 64;
//!     double *const a0_1 = (void *)memory;
//!     ...
//! } else { /* the loops of the source */ }
//! __builtin_free(memory_at);
//! ```
//!
//! Where there is none, the loops of the source run. Code of which they cannot stand in the same place,
//! as variables are declared in between that what follows uses, has packed blocks for each thread that
//! stay for as long as this does.

use crate::contraction::Panel;
use crate::names::Root;
use crate::{Declared, Part};

/// Elements of an array in the place of a variable: a gigabyte of doubles. Where systems promise more
/// memory than there is, a larger one would end the program instead of being refused.
const MOST_ALLOCATED: u64 = 1 << 27;
/// Bytes of a line of a cache, and what aligned vectors need.
const LINE: usize = 64;
/// What stands for the number of a thread, from 0, and of all that a loop may run on.
pub(crate) const THREAD: &str = "TANGRAM_THREAD";
const THREADS: &str = "TANGRAM_THREADS";

/// What the numbers of threads stand for.
pub(crate) const THREAD_DEFINITIONS: &str = "\
#if defined(_OPENMP)
extern int omp_get_max_threads(void);
extern int omp_get_thread_num(void);
#define TANGRAM_THREADS omp_get_max_threads()
#define TANGRAM_THREAD omp_get_thread_num()
#else
#define TANGRAM_THREADS 1
#define TANGRAM_THREAD 0
#endif
";

/// An array of a part's memory.
struct Array {
    /// Its declaration, up to the sign of the assignment.
    declared: String,
    /// Its bytes, as C.
    bytes: String,
}

/// The memory that new code of a part needs.
pub(crate) struct Memory {
    /// What the variable of its address is called.
    name: String,
    arrays: Vec<Array>,
    /// What has to hold of the arrays' sizes.
    conditions: Vec<String>,
}

impl Memory {
    /// `name`: one that nothing in the file has, nor with `_at` behind it. `root`: what macros begin with.
    pub fn of(part: &Part, panels: &[Panel], name: &str, root: &Root) -> Self {
        let mut memory = Self { name: name.to_owned(), arrays: Vec::new(), conditions: Vec::new() };
        for array in &part.allocated {
            memory.add(array);
        }
        for Panel { name, element, count, of_thread } in panels {
            let count = count.next_multiple_of(LINE);
            let bytes = match of_thread {
                true => format!("sizeof({element}) * {count} * (unsigned){}", root.text(THREADS)),
                false => format!("sizeof({element}) * {count}"),
            };
            memory.arrays.push(Array { declared: format!("{element} *const {name}"), bytes });
        }
        memory
    }

    /// Adds an array in the place of a variable.
    fn add(&mut self, Declared { name, element, extents, .. }: &Declared) {
        let each = extents.iter().map(|extent| format!("({extent})"));
        let count = each.collect::<Vec<_>>().join(" * ");
        // What is a number needs no test.
        let number = |extent: &String| extent.parse::<u64>().ok().filter(|value| *value > 0);
        let open = extents.iter().filter(|extent| number(extent).is_none());
        let positive = open.map(|extent| format!("{extent} > 0")).collect::<Vec<_>>();
        let known = extents.iter().try_fold(1_u64, |all, own| all.checked_mul(number(own)?));
        let fits = match known {
            Some(all) if all <= MOST_ALLOCATED => None,
            _ => Some(format!("1.0 * {count} <= {MOST_ALLOCATED}")),
        };
        for condition in positive.into_iter().chain(fits) {
            if !self.conditions.contains(&condition) {
                self.conditions.push(condition);
            }
        }
        let inner: String = extents[1..].iter().map(|extent| format!("[{extent}]")).collect();
        let place = if inner.is_empty() { format!("*{name}") } else { format!("(*{name})") };
        let declared = format!("{element} {place}{inner}");
        let bytes = format!("(sizeof({element}) * {count} + {}) / {LINE} * {LINE}", LINE - 1);
        self.arrays.push(Array { declared, bytes });
    }

    /// Returns whether none is needed.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// The condition under which there is some.
    pub fn condition(&self) -> String {
        format!("{}_at", self.name)
    }

    /// Allocates it where `wanted` holds, too.
    pub fn allocated(&self, wanted: &[String], indent: &str) -> Vec<String> {
        let all: Vec<&str> = wanted.iter().chain(&self.conditions).map(String::as_str).collect();
        let bytes: Vec<&str> = self.arrays.iter().map(|array| array.bytes.as_str()).collect();
        let name = &self.name;
        let call = format!("__builtin_malloc({LINE} + {})", bytes.join(" + "));
        match all.is_empty() {
            true => vec![format!("void *{name}_at = {call};")],
            false => vec![
                format!("void *{name}_at = 0;"),
                format!("if ({})", all.join(" && ")),
                format!("{indent}{name}_at = {call};"),
            ],
        }
    }

    /// Declares its arrays.
    pub fn declared(&self) -> Vec<String> {
        let name = &self.name;
        let mut lines = vec![format!(
            "char *{name} = (char *){name}_at + {LINE} - (__UINTPTR_TYPE__){name}_at % {LINE};"
        )];
        for (at, Array { declared, bytes }) in self.arrays.iter().enumerate() {
            lines.push(format!("{declared} = (void *){name};"));
            if at + 1 < self.arrays.len() {
                lines.push(format!("{name} += {bytes};"));
            }
        }
        lines
    }

    /// Frees it.
    pub fn freed(&self) -> String {
        format!("__builtin_free({}_at);", self.name)
    }
}

/// Declares packed blocks that stay, one for each thread.
pub(crate) fn lasting(panels: &[Panel]) -> Vec<String> {
    let mut lines = Vec::new();
    for Panel { name, element, count, of_thread } in panels {
        let own = if *of_thread { name.clone() } else { format!("{name}_own") };
        lines.push(format!(
            "static __thread {element} {own}[{count}] __attribute__((aligned({LINE})));"
        ));
        // The others use that of the thread that starts them.
        if !of_thread {
            lines.push(format!("{element} *const {name} = {own};"));
        }
    }
    lines
}

//! What each file in C has, whatever the model.

use crate::compiler::{contract, target};
use crate::session::Options;

/// How the text wants to be built: its vectors are as wide as the processor's that it is for.
pub(super) fn built_by(options: &Options) -> String {
    let target = target(&options.machine).join(" ");
    let target = if target.is_empty() { target } else { format!(" {target}") };
    let contract = contract(options.exact);
    format!(
        "/* Build it with: cc -O3{target} {contract} -fno-math-errno -fno-trapping-math -c, and link with -lm.\n\
         \x20  Any C11 compiler will do; without these flags the results are right, and it is slower. */\n"
    )
}

/// Loops declare iterators that some accesses do not use, as unrolled ones and those of one element.
pub(super) const DIAGNOSTICS: &str = "\
#if defined(__GNUC__)
#pragma GCC diagnostic ignored \"-Wunused-variable\"
#pragma GCC diagnostic ignored \"-Wunused-parameter\"
#pragma GCC diagnostic ignored \"-Wunused-function\"
#pragma GCC diagnostic ignored \"-Wpsabi\"
#endif

";

/// Compilers fuse products and sums where nothing else is said.
pub(super) const ROUNDING: &str = "\
/* Each product and each sum is rounded by itself. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize(\"fp-contract=off\")
#else
#pragma STDC FP_CONTRACT OFF
#endif

";

/// How calls are made, in parts where it is worth to wake a thread for each; `NAME` begins the
/// model's functions.
pub(super) const CALLS: &str = r"
struct NAME_threads {
    void (*parallel_for)(void *context, int64_t parts, void (*body)(void *work, int64_t part),
        void *work);
    void *context;
    int64_t threads;
};

static inline int64_t threads_of(const struct NAME_threads *threads)
{
    return threads && threads->parallel_for && threads->threads > 1 ? threads->threads : 1;
}

typedef int function(const int64_t *arguments, void *const *buffers, int64_t part, int64_t parts);

/* Several parts may find something at the same time: 1 for an index that is outside, 2 for an integer
   that is divided by zero. */
#if defined(__GNUC__)
#define ADD(faults, more) __atomic_fetch_or(faults, more, __ATOMIC_RELAXED)
#else
#define ADD(faults, more) (*(volatile int *)(faults) |= (more))
#endif

struct call {
    function *function;
    const int64_t *arguments;
    void *const *buffers;
    int64_t parts;
    int faults;
};

static void run_part(void *work, int64_t part)
{
    struct call *call = work;
    const int faults = call->function(call->arguments, call->buffers, part, call->parts);
    if (faults)
        ADD(&call->faults, faults);
}

/* About how many cycles a thread is woken for. */
#define GRAIN 20000

static inline int run(const struct NAME_threads *threads, function *function, const int64_t *arguments,
    void *const *buffers, int64_t cycles)
{
    const int64_t most = threads_of(threads), worth = 1 + cycles / GRAIN;
    struct call call = {function, arguments, buffers, worth < most ? worth : most, 0};
    if (call.parts <= 1)
        return function(arguments, buffers, 0, 1);
    threads->parallel_for(threads->context, call.parts, run_part, &call);
    return call.faults;
}
";

/// `name` with nothing that C does not take.
pub(super) fn identifier(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let text: String = name.chars().map(fits).collect();
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { text } else { format!("m_{text}") }
}

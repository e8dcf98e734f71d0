//! A device in C: loops and threads of the host in the place of blocks and threads.

use std::borrow::Cow;

use tangram_polyhedral::schedule::Options;
use tangram_presburger::Budget;
use tangram_scop::{Part, cuda, parts};

/// Stands for a device: memory of its own, full of what no kernel wrote.
pub const DEVICE: &str = "\
#include <stdbool.h>
typedef int cudaError_t;
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
static inline const char *cudaGetErrorString(cudaError_t error) { return error ? \"error\" : \"\"; }
static inline cudaError_t cudaGetLastError(void) { return cudaSuccess; }
static inline cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
static inline cudaError_t cudaMalloc(void **at, size_t size) {
  *at = malloc(size + 1);
  memset(*at, 0x5b, size);
  return cudaSuccess;
}
static inline cudaError_t cudaFree(void *at) { free(at); return cudaSuccess; }
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, int kind) {
  (void)kind;
  memcpy(to, from, size);
  return cudaSuccess;
}
#ifdef _OPENMP
#include <omp.h>
#endif
static __thread struct { int x, y, z; } blockIdx, threadIdx;
#define __shared__ static
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __syncthreads() _Pragma(\"omp barrier\")
#define dim3(x, y, z) x, y, z
#define LAUNCH(...) UNITS(__VA_ARGS__)
#define UNITS(bx, by, bz, tx, ty, tz) \\
 for (blockIdx.z = 0; blockIdx.z < bz; blockIdx.z++) \\
  for (blockIdx.y = 0; blockIdx.y < by; blockIdx.y++) \\
    for (blockIdx.x = bx - 1; blockIdx.x >= 0; blockIdx.x--) \\
      for (threadIdx.y = ty - 1; threadIdx.y >= 0; threadIdx.y--) \\
        for (threadIdx.x = 0; threadIdx.x < tx; threadIdx.x++)
/* Threads that wait for each other run at once, the blocks one after the other. */
#define TOGETHER(...) BLOCKS(__VA_ARGS__)
#define BLOCKS(bx, by, bz, tx, ty, tz) \\
  for (int run = (omp_set_dynamic(0), omp_set_num_threads((tx) * (ty)), 1); run; run = 0) \\
   _Pragma(\"omp parallel\") \\
   for (int unit = omp_get_thread_num(), go = 1; \\
        go && (threadIdx.x = unit % (tx), threadIdx.y = unit / (tx), 1); go = 0) \\
    for (blockIdx.z = 0; blockIdx.z < bz; blockIdx.z++) \\
      for (blockIdx.y = 0; blockIdx.y < by; blockIdx.y++) \\
        for (blockIdx.x = 0; blockIdx.x < bx; blockIdx.x++)
";

/// Writes launches as loops, what C does not know as nothing.
pub fn emulated(cuda: &str) -> String {
    let start = cuda.find("/* Made from").expect("a comment");
    let waiting: Vec<&str> = cuda
        .split("static __global__ void ")
        .skip(1)
        .filter(|text| text.split("\n}\n").next().is_some_and(|own| own.contains("__syncthreads")))
        .map(|text| text.split_once(", 2) ").map_or(text, |(_, rest)| rest))
        .filter_map(|text| text.split('(').next())
        .collect();
    let lines = cuda[start..].lines().filter(|line| !line.starts_with("#include"));
    let mut text = String::from(
        "#undef TANGRAM_CUDA\n#undef tangram_floord\n#undef tangram_min\n#undef tangram_max\n",
    );
    for line in lines {
        let line = line.replace("extern \"C\" ", "").replace("__global__ ", "");
        match (line.find("<<<"), line.find(">>>")) {
            (Some(from), Some(to)) => {
                let call = line[..from].rfind(|c: char| !c.is_alphanumeric() && c != '_');
                let (head, name) = line[..from].split_at(call.map_or(0, |at| at + 1));
                let (units, rest) = (&line[from + 3..to], &line[to + 3..]);
                let launch = if waiting.contains(&name) { "TOGETHER" } else { "LAUNCH" };
                text.push_str(&format!("{head}{launch}({units}) {name}{rest}\n"));
            }
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

/// Writes each marked part of a program as kernels of an emulated device, and calls them in its
/// place; says how many contractions have tiles. Parts that a device refuses stay as they are.
pub fn on_device(text: &str, threads: &[i128], steps: u64) -> (String, usize) {
    let found = parts(text, &super::budget()).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let mut lines: Vec<Cow<str>> = text.lines().map(Cow::from).collect();
    let (mut kernels, mut tiles) = (String::new(), 0);
    for (at, part) in found.iter().enumerate() {
        let Some((code, call, count)) = written(part, at, threads, &Budget::steps(steps)) else {
            continue;
        };
        kernels.push_str(&code);
        tiles += count;
        for line in &mut lines[part.first_line - 1..part.last_line] {
            *line = "".into();
        }
        lines[part.first_line - 1] = call.into();
    }
    let headers =
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    (format!("{headers}{DEVICE}{kernels}{}\n", lines.join("\n")), tiles)
}

/// The kernels of a part under a name of its own, the call, and the number of contractions.
fn written(
    part: &Part,
    at: usize,
    threads: &[i128],
    budget: &Budget,
) -> Option<(String, String, usize)> {
    let (part, code) = part.on_device(&Options::default(), threads, budget).ok()?;
    let text = cuda("a file", &[(&part, &code)], budget).ok()?;
    let head = text.lines().find(|line| line.starts_with("extern \"C\" void "))?;
    let (name, rest) = head["extern \"C\" void ".len()..].split_once('(')?;
    let call = match text.split("In the place of the part: ").nth(1) {
        Some(rest) => rest.split(" */").next()?.to_owned(),
        None => {
            // The function is all that the part is: its arguments have the parameters' names.
            let argument = |parameter: &str| match parameter.trim().split_once('*') {
                Some((ty, name)) => format!("({ty}*){name}"),
                None => parameter.split_whitespace().last().unwrap_or_default().to_owned(),
            };
            let list = rest.trim_end_matches(')');
            let all: Vec<String> =
                list.split(',').filter(|own| !own.trim().is_empty()).map(argument).collect();
            format!("{name}({});", all.join(", "))
        }
    };
    let own = |text: &str| text.replace(&format!("{name}("), &format!("{name}_on_device{at}("));
    let text = own(&emulated(&text)).replace("void void", "void");
    Some((text, own(&call), code.tiles().count()))
}

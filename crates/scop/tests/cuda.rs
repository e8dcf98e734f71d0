//! CUDA from C: the kernels, with loops in the place of blocks and threads, against the source.

mod support;

use std::process::Command;

use support::device::{DEVICE, emulated};
use support::kernel::{self, Pair, text};
use support::{budget, run};
use tangram_polyhedral::schedule::Options;
use tangram_scop::{cuda, detect, parts};

/// Writes the CUDA of a file.
fn made(text: &str, threads: &[i128]) -> Result<String, String> {
    let found = match text.contains("#pragma scop") {
        true => parts(text, &budget()).map_err(|problems| problems[0].to_string())?,
        false => detect(text, &budget()).map_err(|problems| problems[0].to_string())?.parts,
    };
    let mut codes = Vec::new();
    for part in &found {
        let code = part.on_device(&Options::default(), threads, &budget());
        codes.push(code.map_err(|error| error.to_string())?);
    }
    let pairs: Vec<_> = codes.iter().map(|(part, code)| (&**part, code)).collect();
    cuda("a file", &pairs, &budget()).map_err(|problem| problem.to_string())
}

fn check(names: &[&'static str], threads: &[i128], flags: &[&str]) {
    let pair = |name: &&'static str| {
        let before = text(name);
        let after = made(&before, threads).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(after.contains(&format!("extern \"C\" void {name}(")), "{after}");
        Pair { name, before, after: emulated(&after) }
    };
    let pairs: Vec<Pair> = names.iter().map(pair).collect();
    let wrong = kernel::differing(&pairs, DEVICE, flags);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const SANITIZED: &[&str] = &[
    "-O1",
    "-fopenmp",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover",
    "-Wno-unused",
    "-Wno-unknown-pragmas",
];

#[test]
fn kernels_compute_the_same_bits() {
    check(&["gemm", "atax", "gemver", "syrk", "trmm", "trisolv", "jacobi_1d"], &[2, 3], SANITIZED);
}

#[test]
fn kernels_with_loops_of_the_host_compute_the_same_bits() {
    check(&["jacobi_2d", "lu", "cholesky", "mvt", "gesummv"], &[3, 2], SANITIZED);
}

#[test]
#[ignore = "takes a minute"]
fn all_kernels_compute_the_same_bits_with_the_threads_that_are_chosen() {
    let small = &["gemm", "two_products", "three_products", "bicg", "syrk", "trmm"];
    check(small, &[], &["-O2", "-fopenmp", "-Wno-unused", "-Wno-unknown-pragmas"]);
    let large = &["covariance", "doitgen", "conv2d", "fdtd_2d", "floyd_warshall", "seidel_2d"];
    check(large, &[2, 4], &["-O2", "-fopenmp", "-Wno-unused", "-Wno-unknown-pragmas"]);
}

/// A part among other code: scalars, rows without size, local variables, odd types.
const MIXED: &str = "typedef float real;
double mixed(unsigned n, int m, double *x, real rows[][7], unsigned *hash)
{
  double sum = 0, last = -1;
#pragma scop
  for (int i = 0; i < n; i++) {
    double t, w[2];
    if (x[i] > 3) t = 1; else t = x[i];
    w[0] = t;
    w[1] = w[0] * 2;
    rows[i + 1][m] = w[1] + i / 2;
    hash[i] = (i * 2654435761u) >> 7;
    last = t;
  }
  for (int i = 0; i < n; i++)
    sum += x[i] * 0.5;
#pragma endscop
  return sum + last;
}
";

#[test]
fn a_part_among_other_code_is_a_function_of_its_own() {
    let code = made(MIXED, &[4]).expect("code");
    assert!(code.contains("extern \"C\" void mixed_part1("), "{code}");
    let call = code.split("In the place of the part: ").nth(1).expect("a call");
    let call = call.split(" */").next().expect("an end");
    assert!(call.contains("&last") && call.contains("(real *)rows"), "{call}");
    let start = MIXED.find("#pragma scop").expect("a start");
    let end = MIXED.find("#pragma endscop").expect("an end");
    let after = format!("{}{call}\n{}", &MIXED[..start], &MIXED[end + "#pragma endscop".len()..]);
    let program = format!(
        "#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{DEVICE}#define mixed before
{MIXED}#undef mixed
{}#define mixed after
{}
int main(void) {{
  for (int n = 0; n < 40; n += 13) {{
    static double x[40];
    static float one[41][7], two[41][7];
    static unsigned first[40], second[40];
    for (int i = 0; i < 40; i++) x[i] = i % 7;
    if (before(n, 3, x, one, first) != after(n, 3, x, two, second)) return 1;
    if (memcmp(one, two, sizeof one) || memcmp(first, second, sizeof first)) return 2;
  }}
  return 0;
}}
",
        emulated(&code),
        after.trim_start_matches("typedef float real;\n"),
    );
    let program = program.replacen("typedef float real;\n/* mixed", "/* mixed", 1);
    let flags = [SANITIZED, &["-std=c11"]].concat();
    let Some(runs) = run("mixed", &program, &flags, &[&[]]) else { return };
    let errors = String::from_utf8_lossy(&runs[0].stderr);
    assert!(runs[0].status.success(), "{:?}\n{errors}\n{program}", runs[0].status);
}

#[test]
fn names_of_the_source_are_apart_from_those_of_units() {
    let text = "void f(int n, double outer0, double *t0, double *x) {
#pragma scop
  for (int t = 0; t < n; t++)
    for (int i = 0; i < n; i++)
      x[i] = x[i] * outer0 + t0[t] * x[n + t];
#pragma endscop
}
";
    let code = made(text, &[]).expect("code");
    assert!(code.contains("const long long tangram_t0 = threadIdx.x;"), "{code}");
    assert!(!code.contains("long long outer0"), "{code}");
}

#[track_caller]
fn refuses(signature: &str, body: &str, message: &str) {
    let text = format!(
        "struct p {{ int a; }};\ndouble sq(double x);\nvoid f(int n, {signature}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    );
    let error = made(&text, &[]).expect_err("refused");
    assert!(error.contains(message) && error.starts_with(['4', '5']), "{error}");
}

#[test]
fn what_has_no_place_on_a_device_is_refused() {
    let every = |body: &str| format!("for (int i = 0; i < n; i++) {body}");
    refuses("double *x", &every("x[0] = x[0] * 2 + i;"), "no loop of the part is parallel");
    refuses("struct p *x", &every("x[i] = x[i + n];"), "only numbers can be copied");
    refuses("double **x", &every("x[i][0] = 1;"), "array of pointers");
    refuses("double *x, int *y", &every("x[i] = x[y[i] + 1000000];"), "parallel");
    refuses("double *x, double *z, int *y", &every("x[i] = z[y[i]];"), "`z` is used is not known");
    refuses("double *new", &every("new[i] = 1;"), "`new` is a word of CUDA's language");
    refuses("double *x, int lo", &every("x[i + lo] = 1;"), "`x` is used is not known");
    refuses("double *x", &every("x[i] = max(x[i], 1);"), "`max` is no function of the device");
    refuses("long double *x", &every("x[i] = 1;"), "only numbers can be copied");
}

/// What clang needs to check CUDA without CUDA's own headers.
const DECLARATIONS: &str = "\
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
__device__ void __syncthreads(void);
typedef int cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum { cudaSuccess };
struct dim3 { unsigned x, y, z; dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1); };
struct uint3 { unsigned x, y, z; };
extern const __device__ uint3 blockIdx, threadIdx;
extern \"C\" {
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError(void), cudaDeviceSynchronize(void), cudaFree(void *);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
int cudaConfigureCall(dim3, dim3, size_t = 0, void * = 0);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t = 0, void * = 0);
}
__device__ double sqrt(double);
";

#[test]
fn clang_reads_the_code_as_cuda() {
    let folder = std::env::temp_dir().join(format!("tangram-clang-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("cuda_runtime.h"), DECLARATIONS).expect("written");
    let mut texts = vec![("mixed", MIXED.to_owned())];
    texts.extend(["gemm", "cholesky", "jacobi_2d", "covariance"].map(|name| (name, text(name))));
    for (name, text) in texts {
        let code = made(&text, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let path = folder.join(format!("{name}.cu"));
        std::fs::write(&path, &code).expect("written");
        for side in ["--cuda-device-only", "--cuda-host-only"] {
            let mut clang = Command::new("clang-19");
            clang.args(["-x", "cuda", side, "-nocudainc", "-nocudalib", "-fsyntax-only", "-Wall"]);
            clang.args(["-Wno-unknown-cuda-version", "-Wno-unused", "-Werror", "-I"]);
            let Ok(output) = clang.arg(&folder).arg(&path).output() else {
                println!("skipped: needs clang-19");
                return;
            };
            let messages = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {messages}\n{code}");
        }
    }
    // A folder that stays behind does no harm.
    let _ = std::fs::remove_dir_all(folder);
}

/// Names that the file shares, and those of CUDA, are none of the source.
#[test]
fn new_names_are_none_of_the_source() {
    let source = |first: &str, second: &str| {
        format!(
            "enum {{ {first} = 3, device_x = 2 }};
void f(int n, int m, double {second}[n][m], double x[n][m]) {{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m && j < n; j++)
      x[i][j] += {second}[i][j] * {first} + device_x;
}}
"
        )
    };
    let code = made(&source("TANGRAM_CUDA", "tangram_error"), &[]).expect("code");
    assert!(code.contains("#define TANGRAM2_CUDA(call)"), "{code}");
    assert!(code.contains("cudaError_t tangram2_error"), "{code}");
    assert!(code.contains("TANGRAM2_CUDA(cudaFree(device_x_));"), "{code}");
    let code = made(&source("tangram_max", "TANGRAM2_CUDA"), &[]).expect("code");
    assert!(code.contains("#define TANGRAM3_CUDA(call)"), "{code}");
    let refused = made(&source("three", "blockIdx"), &[]).expect_err("refused");
    assert!(refused.contains("`blockIdx` is a word of CUDA's language"), "{refused}");
}

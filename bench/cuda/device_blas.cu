// The calls of BLAS that kernels are written with, by cuBLAS, on copies on the device.
//
// A copy is made when an array is registered, and comes back when all are released. Matrices are
// stored by rows: what cuBLAS reads by columns is their transpose.

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "cblas.h"
#include "device_time.h"

struct Copy {
  void *host, *device;
  size_t bytes;
};
static Copy copies[64];
static int count;
static cublasHandle_t handle;

static void stop(const char *what) {
  fprintf(stderr, "cuBLAS: %s\n", what);
  exit(EXIT_FAILURE);
}

static void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) stop(cublasGetStatusString(status));
}

static void check(cudaError_t error) {
  if (error != cudaSuccess) stop(cudaGetErrorString(error));
}

template <class T> static T *of(const T *host) {
  for (int at = 0; at < count; at++)
    if (copies[at].host == (const void *)host) return (T *)copies[at].device;
  stop("an array without a copy");
  return nullptr;
}

static cublasOperation_t turned(int transposed) {
  return transposed == CblasTrans ? CUBLAS_OP_N : CUBLAS_OP_T;
}

static cublasOperation_t plain(int transposed) {
  return transposed == CblasTrans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static cublasFillMode_t other(int side) {
  return side == CblasLower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

extern "C" void register_array(void *host, size_t bytes) {
  if (!handle) check(cublasCreate(&handle));
  Copy copy = {host, nullptr, bytes};
  check(cudaMalloc(&copy.device, bytes));
  check(cudaMemcpy(copy.device, host, bytes, cudaMemcpyHostToDevice));
  copies[count++] = copy;
}

extern "C" void begin_library(void) {
  check(cudaDeviceSynchronize());
  device_begin();
}

extern "C" void release_arrays(void) {
  check(cudaDeviceSynchronize());
  device_end();
  for (int at = 0; at < count; at++) {
    check(cudaMemcpy(copies[at].host, copies[at].device, copies[at].bytes, cudaMemcpyDeviceToHost));
    check(cudaFree(copies[at].device));
  }
  count = 0;
}

extern "C" void cblas_dgemm(int, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                            const double *b, int ldb, double beta, double *c, int ldc) {
  check(cublasDgemm(handle, plain(tb), plain(ta), n, m, k, &alpha, of(b), ldb, of(a), lda, &beta, of(c), ldc));
}

extern "C" void cblas_sgemm(int, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                            const float *b, int ldb, float beta, float *c, int ldc) {
  check(cublasSgemm(handle, plain(tb), plain(ta), n, m, k, &alpha, of(b), ldb, of(a), lda, &beta, of(c), ldc));
}

extern "C" void cblas_dsyrk(int, int side, int t, int n, int k, double alpha, const double *a, int lda,
                            double beta, double *c, int ldc) {
  check(cublasDsyrk(handle, other(side), turned(t), n, k, &alpha, of(a), lda, &beta, of(c), ldc));
}

extern "C" void cblas_dsyr2k(int, int side, int t, int n, int k, double alpha, const double *a, int lda,
                             const double *b, int ldb, double beta, double *c, int ldc) {
  check(cublasDsyr2k(handle, other(side), turned(t), n, k, &alpha, of(a), lda, of(b), ldb, &beta, of(c), ldc));
}

extern "C" void cblas_dsymm(int, int where, int side, int m, int n, double alpha, const double *a, int lda,
                            const double *b, int ldb, double beta, double *c, int ldc) {
  cublasSideMode_t mode = where == CblasLeft ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
  check(cublasDsymm(handle, mode, other(side), n, m, &alpha, of(a), lda, of(b), ldb, &beta, of(c), ldc));
}

extern "C" void cblas_dgemv(int, int t, int m, int n, double alpha, const double *a, int lda, const double *x,
                            int incx, double beta, double *y, int incy) {
  check(cublasDgemv(handle, turned(t), n, m, &alpha, of(a), lda, of(x), incx, &beta, of(y), incy));
}

extern "C" void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy) {
  check(cublasDaxpy(handle, n, &alpha, of(x), incx, of(y), incy));
}

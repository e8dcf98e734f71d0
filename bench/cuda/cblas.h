/* The part of the interface of BLAS that device_blas.cu has. */
#pragma once

#include <stddef.h>

enum { CblasRowMajor = 101 };
enum { CblasNoTrans = 111, CblasTrans = 112 };
enum { CblasUpper = 121, CblasLower = 122 };
enum { CblasLeft = 141 };

#ifdef __cplusplus
extern "C" {
#endif
/* Copies an array of the host to the device. */
void register_array(void *host, size_t bytes);
/* Begins to count time. */
void begin_library(void);
/* Ends to count time; copies all arrays back and frees the copies. */
void release_arrays(void);
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void cblas_dsyrk(int, int, int, int, int, double, const double *, int, double, double *, int);
void cblas_dsyr2k(int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_dsymm(int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_daxpy(int, double, const double *, int, double *, int);
#ifdef __cplusplus
}
#endif

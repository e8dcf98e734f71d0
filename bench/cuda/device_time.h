/* Counts the time from the last copy to the device up to the end of all kernels.
 *
 * Put in front of generated code by `-include`: allocations and copies begin anew, and the
 * synchronisation behind the kernels ends. With `-DDEVICE_TIME` the calls are those below. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
/* Seconds so far. */
double device_seconds(void);
/* Begins to count. */
void device_begin(void);
/* Adds the time since the beginning. */
void device_end(void);
#ifdef __cplusplus
}
#endif

#if defined(DEVICE_TIME) && defined(__cplusplus)
#include <cuda_runtime.h>

static inline cudaError_t timed_malloc(void **at, size_t size) {
  cudaError_t error = cudaMalloc(at, size);
  device_begin();
  return error;
}

static inline cudaError_t timed_copy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
  cudaError_t error = cudaMemcpy(to, from, size, kind);
  if (kind == cudaMemcpyHostToDevice) device_begin();
  return error;
}

static inline cudaError_t timed_end(void) {
  cudaError_t error = cudaDeviceSynchronize();
  device_end();
  return error;
}

#define cudaMalloc timed_malloc
#define cudaMemcpy timed_copy
#define cudaDeviceSynchronize timed_end
#endif

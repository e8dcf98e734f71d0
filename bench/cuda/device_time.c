/* The clock of device_time.h. */
#include "device_time.h"

#include <time.h>

static double total, start;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

double device_seconds(void) { return total; }

void device_begin(void) { start = now(); }

void device_end(void) { total += now() - start; }

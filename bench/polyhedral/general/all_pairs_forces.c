#include <math.h>
double x[700], y[700], m[700], fx[700], fy[700];

void kernel(void) {
  for (int i = 0; i < 700; i++) {
    fx[i] = 0;
    fy[i] = 0;
    for (int j = 0; j < 700; j++) {
      double dx = x[j] - x[i], dy = y[j] - y[i], r = dx * dx + dy * dy + 0.01;
      double f = m[j] / (r * sqrt(r));
      fx[i] += f * dx;
      fy[i] += f * dy;
    }
  }
}

#include <math.h>
float x[700][320], y[700][320];

void kernel(void) {
  for (int i = 0; i < 700; i++) {
    float top = x[i][0];
    for (int j = 1; j < 320; j++) top = x[i][j] > top ? x[i][j] : top;
    float sum = 0;
    for (int j = 0; j < 320; j++) {
      y[i][j] = expf(x[i][j] - top);
      sum += y[i][j];
    }
    for (int j = 0; j < 320; j++) y[i][j] /= sum;
  }
}

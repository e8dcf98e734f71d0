#include <math.h>
float x[900][256], scale[256], shift[256], y[900][256];

void kernel(void) {
  for (int i = 0; i < 900; i++) {
    float mean = 0, square = 0;
    for (int j = 0; j < 256; j++) mean += x[i][j];
    mean /= 256;
    for (int j = 0; j < 256; j++) square += (x[i][j] - mean) * (x[i][j] - mean);
    float by = 1 / sqrtf(square / 256 + 1e-5f);
    for (int j = 0; j < 256; j++) y[i][j] = (x[i][j] - mean) * by * scale[j] + shift[j];
  }
}

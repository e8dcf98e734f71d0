float x[64][3000], y[64][3000], a[64], b[64];

void kernel(void) {
  for (int c = 0; c < 64; c++)
    for (int t = 2; t < 3000; t++) y[c][t] = x[c][t] + a[c] * y[c][t - 1] - b[c] * y[c][t - 2];
}

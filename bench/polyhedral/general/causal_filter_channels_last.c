float x[1500][192], w[4][192], y[1497][192];

void kernel(void) {
  for (int t = 0; t < 1497; t++)
    for (int c = 0; c < 192; c++) {
      float s = 0;
      for (int k = 0; k < 4; k++) s += x[t + k][c] * w[k][c];
      y[t][c] = s;
    }
}

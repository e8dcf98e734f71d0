double band[20000][9], x[20008], y[20000];

void kernel(void) {
  for (int i = 0; i < 20000; i++) {
    y[i] = 0;
    for (int k = 0; k < 9; k++) y[i] += band[i][k] * x[i + k];
  }
}

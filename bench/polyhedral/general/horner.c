double c[24], x[30000], y[30000];

void kernel(void) {
  for (int i = 0; i < 30000; i++) {
    double v = c[23];
    for (int k = 22; k >= 0; k--) v = v * x[i] + c[k];
    y[i] = v;
  }
}

short x[60064], h[48];
int y[60016];

void kernel(void) {
  for (int n = 0; n < 60016; n++) {
    int s = 1 << 14;
    for (int k = 0; k < 48; k++) s += x[n + k] * h[k];
    y[n] = s >> 15;
  }
}

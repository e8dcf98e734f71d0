float l[230][230], x[230][150];

void kernel(void) {
  for (int i = 0; i < 230; i++)
    for (int r = 0; r < 150; r++) {
      float s = x[i][r];
      for (int k = 0; k < i; k++) s -= l[i][k] * x[k][r];
      x[i][r] = s / (l[i][i] + 9);
    }
}

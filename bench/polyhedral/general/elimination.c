double a[280][281];

void kernel(void) {
  for (int k = 0; k < 280; k++) {
    a[k][k] += 300;
    for (int i = k + 1; i < 280; i++) {
      double f = a[i][k] / a[k][k];
      for (int j = k + 1; j < 281; j++) a[i][j] -= f * a[k][j];
      a[i][k] = f;
    }
  }
}

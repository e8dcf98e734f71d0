double a[900][1100], b[1100][900];

void kernel(void) {
  for (int i = 0; i < 900; i++)
    for (int j = 0; j < 1100; j++) b[j][i] = 0.5 * a[i][j];
}

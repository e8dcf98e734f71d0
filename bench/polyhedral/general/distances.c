float a[420][20], b[380][20], d[420][380];

void kernel(void) {
  for (int i = 0; i < 420; i++)
    for (int j = 0; j < 380; j++) {
      d[i][j] = 0;
      for (int k = 0; k < 20; k++) d[i][j] += (a[i][k] - b[j][k]) * (a[i][k] - b[j][k]);
    }
}

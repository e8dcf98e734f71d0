double x[1700][900], sums[900], squares[900];

void kernel(void) {
  for (int j = 0; j < 900; j++) {
    sums[j] = 0;
    squares[j] = 0;
    for (int i = 0; i < 1700; i++) {
      sums[j] += x[i][j];
      squares[j] += x[i][j] * x[i][j];
    }
  }
}

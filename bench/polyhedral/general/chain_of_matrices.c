double p[260], m[260][260];

void kernel(void) {
  for (int l = 1; l < 259; l++)
    for (int i = 1; i + l < 260; i++) {
      double least = 1e300;
      for (int k = i; k < i + l; k++) {
        double q = m[i][k] + m[k + 1][i + l] + p[i - 1] * p[k] * p[i + l];
        least = q < least ? q : least;
      }
      m[i][i + l] = least;
    }
}

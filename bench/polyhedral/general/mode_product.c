double t[30][40][50], u[36][40], r[30][36][50];

void kernel(void) {
  for (int a = 0; a < 30; a++)
    for (int c = 0; c < 50; c++)
      for (int n = 0; n < 36; n++) {
        r[a][n][c] = 0;
        for (int b = 0; b < 40; b++) r[a][n][c] += t[a][b][c] * u[n][b];
      }
}

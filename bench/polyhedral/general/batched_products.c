float A[4000][5][9], B[4000][9][7], C[4000][5][7];

void kernel(void) {
  for (int b = 0; b < 4000; b++)
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 7; j++) {
        float s = 0;
        for (int k = 0; k < 9; k++) s += A[b][i][k] * B[b][k][j];
        C[b][i][j] = s;
      }
}

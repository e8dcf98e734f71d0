float A[96][90][2], B[90][110][2], C[96][110][2];

void kernel(void) {
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 110; j++) {
      float re = 0, im = 0;
      for (int k = 0; k < 90; k++) {
        re += A[i][k][0] * B[k][j][0] - A[i][k][1] * B[k][j][1];
        im += A[i][k][0] * B[k][j][1] + A[i][k][1] * B[k][j][0];
      }
      C[i][j][0] = re;
      C[i][j][1] = im;
    }
}

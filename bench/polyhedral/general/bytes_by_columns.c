signed char A[150][256], B[256][240];
int C[150][240];

void kernel(void) {
  for (int i = 0; i < 150; i++)
    for (int j = 0; j < 240; j++) C[i][j] = 0;
  for (int i = 0; i < 150; i++)
    for (int k = 0; k < 256; k++)
      for (int j = 0; j < 240; j++) C[i][j] += A[i][k] * B[k][j];
}

signed char A[210][384], B[190][384];
int C[210][190];

void kernel(void) {
  for (int i = 0; i < 210; i++)
    for (int j = 0; j < 190; j++) {
      int s = 0;
      for (int k = 0; k < 384; k++) s += A[i][k] * B[j][k];
      C[i][j] = s;
    }
}

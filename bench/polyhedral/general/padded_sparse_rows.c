int at[9000][8];
float value[9000][8], x[9000], y[9000];

void kernel(void) {
  for (int i = 0; i < 9000; i++) {
    float s = 0;
    for (int k = 0; k < 8; k++) s += value[i][k] * x[at[i][k] & 8191];
    y[i] = s;
  }
}

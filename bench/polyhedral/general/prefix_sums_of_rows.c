float x[800][700];

void kernel(void) {
  for (int i = 0; i < 800; i++)
    for (int j = 1; j < 700; j++) x[i][j] += x[i][j - 1];
}

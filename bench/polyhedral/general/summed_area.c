int x[600][700], s[601][701];

void kernel(void) {
  for (int i = 0; i < 600; i++)
    for (int j = 0; j < 700; j++) s[i + 1][j + 1] = x[i][j] + s[i][j + 1] + s[i + 1][j] - s[i][j];
}

int value[120], best[121][6001];

void kernel(void) {
  for (int c = 0; c <= 6000; c++) best[0][c] = 0;
  for (int i = 0; i < 120; i++)
    for (int c = 0; c <= 6000; c++) {
      int with = c >= 37 ? best[i][c - 37] + value[i] : 0;
      best[i + 1][c] = with > best[i][c] ? with : best[i][c];
    }
}

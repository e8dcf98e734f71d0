unsigned char in[482][642], out[480][640];

void kernel(void) {
  for (int y = 0; y < 480; y++)
    for (int x = 0; x < 640; x++) {
      int s = 0;
      for (int u = 0; u < 3; u++)
        for (int v = 0; v < 3; v++) s += in[y + u][x + v];
      out[y][x] = s / 9;
    }
}

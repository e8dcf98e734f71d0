float in[40][98][130], out[40][48][64];

void kernel(void) {
  for (int c = 0; c < 40; c++)
    for (int y = 0; y < 48; y++)
      for (int x = 0; x < 64; x++) {
        float top = in[c][2 * y][2 * x];
        for (int u = 0; u < 3; u++)
          for (int v = 0; v < 3; v++) top = in[c][2 * y + u][2 * x + v] > top ? in[c][2 * y + u][2 * x + v] : top;
        out[c][y][x] = top;
      }
}

float in[48][65][67], w[48][5][5], out[48][31][32], bias[48];

void kernel(void) {
  for (int c = 0; c < 48; c++)
    for (int y = 0; y < 31; y++)
      for (int x = 0; x < 32; x++) {
        float s = bias[c];
        for (int u = 0; u < 5; u++)
          for (int v = 0; v < 5; v++) s += in[c][2 * y + u][2 * x + v] * w[c][u][v];
        out[c][y][x] = s > 0 ? s : 0.01f * s;
      }
}

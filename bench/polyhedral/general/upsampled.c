float in[16][61][81], out[16][120][160];

void kernel(void) {
  for (int c = 0; c < 16; c++)
    for (int y = 0; y < 60; y++)
      for (int x = 0; x < 80; x++) {
        out[c][2 * y][2 * x] = in[c][y][x];
        out[c][2 * y][2 * x + 1] = 0.5f * (in[c][y][x] + in[c][y][x + 1]);
        out[c][2 * y + 1][2 * x] = 0.5f * (in[c][y][x] + in[c][y + 1][x]);
        out[c][2 * y + 1][2 * x + 1] = 0.25f * (in[c][y][x] + in[c][y][x + 1] + in[c][y + 1][x] + in[c][y + 1][x + 1]);
      }
}

double in[604][804], rows[604][800], out[600][800];

void kernel(void) {
  for (int y = 0; y < 604; y++)
    for (int x = 0; x < 800; x++)
      rows[y][x] = (in[y][x] + 4 * in[y][x + 1] + 6 * in[y][x + 2] + 4 * in[y][x + 3] + in[y][x + 4]) / 16;
  for (int y = 0; y < 600; y++)
    for (int x = 0; x < 800; x++)
      out[y][x] = (rows[y][x] + 4 * rows[y + 1][x] + 6 * rows[y + 2][x] + 4 * rows[y + 3][x] + rows[y + 4][x]) / 16;
}

float in[514][770], gx[512][768], gy[512][768], edge[512][768];

void kernel(void) {
  for (int y = 0; y < 512; y++)
    for (int x = 0; x < 768; x++)
      gx[y][x] = in[y][x + 2] - in[y][x] + 2 * (in[y + 1][x + 2] - in[y + 1][x]) + in[y + 2][x + 2] - in[y + 2][x];
  for (int y = 0; y < 512; y++)
    for (int x = 0; x < 768; x++)
      gy[y][x] = in[y + 2][x] - in[y][x] + 2 * (in[y + 2][x + 1] - in[y][x + 1]) + in[y + 2][x + 2] - in[y][x + 2];
  for (int y = 0; y < 512; y++)
    for (int x = 0; x < 768; x++) edge[y][x] = gx[y][x] * gx[y][x] + gy[y][x] * gy[y][x];
}

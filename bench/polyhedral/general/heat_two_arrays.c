double u[502][602], v[502][602];

void kernel(void) {
  for (int t = 0; t < 12; t++) {
    for (int y = 1; y < 501; y++)
      for (int x = 1; x < 601; x++)
        v[y][x] = u[y][x] + 0.1 * (u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1] - 4 * u[y][x]);
    for (int y = 1; y < 501; y++)
      for (int x = 1; x < 601; x++) u[y][x] = v[y][x];
  }
}

float p[3][404][504], c[404][504];

void kernel(void) {
  for (int t = 2; t < 20; t++)
    for (int y = 2; y < 402; y++)
      for (int x = 2; x < 502; x++)
        p[t % 3][y][x] = 2 * p[(t + 2) % 3][y][x] - p[(t + 1) % 3][y][x] +
            c[y][x] * (p[(t + 2) % 3][y - 1][x] + p[(t + 2) % 3][y + 1][x] + p[(t + 2) % 3][y][x - 1] +
                       p[(t + 2) % 3][y][x + 1] - 4 * p[(t + 2) % 3][y][x]);
}

unsigned char now[402][514], next[402][514];

void kernel(void) {
  for (int t = 0; t < 6; t++) {
    for (int y = 1; y < 401; y++)
      for (int x = 1; x < 513; x++) {
        int n = 0;
        for (int u = -1; u <= 1; u++)
          for (int v = -1; v <= 1; v++) n += now[y + u][x + v] & 1;
        next[y][x] = n == 3 || (n == 4 && (now[y][x] & 1));
      }
    for (int y = 1; y < 401; y++)
      for (int x = 1; x < 513; x++) now[y][x] = next[y][x];
  }
}

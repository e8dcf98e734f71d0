unsigned char now[64][64], before[95][95];
unsigned best[32][32];

void kernel(void) {
  for (int dy = 0; dy < 32; dy++)
    for (int dx = 0; dx < 32; dx++) {
      unsigned s = 0;
      for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++) {
          int d = now[y][x] - before[y + dy][x + dx];
          s += d < 0 ? -d : d;
        }
      best[dy][dx] = s;
    }
}

unsigned char rgb[640][480][3], grey[640][480];

void kernel(void) {
  for (int y = 0; y < 640; y++)
    for (int x = 0; x < 480; x++) grey[y][x] = (77 * rgb[y][x][0] + 150 * rgb[y][x][1] + 29 * rgb[y][x][2]) >> 8;
}

unsigned char image[700][800];
float level[256], out[700][800];

void kernel(void) {
  for (int y = 0; y < 700; y++)
    for (int x = 0; x < 800; x++) out[y][x] = level[image[y][x]] * 1.5f;
}

float re[90][120], im[90][120];
int steps[90][120];

void kernel(void) {
  for (int y = 0; y < 90; y++)
    for (int x = 0; x < 120; x++) {
      float a = 0, b = 0;
      int n = 0;
      for (int t = 0; t < 60; t++) {
        float s = a * a - b * b + re[y][x], r = 2 * a * b + im[y][x];
        int in = s * s + r * r < 4;
        a = in ? s : a;
        b = in ? r : b;
        n += in;
      }
      steps[y][x] = n;
    }
}

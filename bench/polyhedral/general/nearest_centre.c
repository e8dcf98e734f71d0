float points[3000][12], centres[40][12];
int nearest[3000];

void kernel(void) {
  for (int i = 0; i < 3000; i++) {
    float least = 1e30f;
    int at = 0;
    for (int c = 0; c < 40; c++) {
      float d = 0;
      for (int k = 0; k < 12; k++) d += (points[i][k] - centres[c][k]) * (points[i][k] - centres[c][k]);
      if (d < least) {
        least = d;
        at = c;
      }
    }
    nearest[i] = at;
  }
}

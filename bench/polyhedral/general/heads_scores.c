float Q[8][96][40], K[8][112][40], S[8][96][112];

void kernel(void) {
  for (int h = 0; h < 8; h++)
    for (int i = 0; i < 96; i++)
      for (int j = 0; j < 112; j++) {
        float s = 0;
        for (int d = 0; d < 40; d++) s += Q[h][i][d] * K[h][j][d];
        S[h][i][j] = s * 0.158f;
      }
}

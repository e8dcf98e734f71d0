float in[6][14][30][34], w[8][6][3][3][3], out[8][12][28][32];

void kernel(void) {
  for (int o = 0; o < 8; o++)
    for (int z = 0; z < 12; z++)
      for (int y = 0; y < 28; y++)
        for (int x = 0; x < 32; x++) {
          float s = 0;
          for (int c = 0; c < 6; c++)
            for (int a = 0; a < 3; a++)
              for (int b = 0; b < 3; b++)
                for (int d = 0; d < 3; d++) s += in[c][z + a][y + b][x + d] * w[o][c][a][b][d];
          out[o][z][y][x] = s;
        }
}

double wr[24][16], wi[24][16], xr[16][2000], xi[16][2000], power[24][2000];

void kernel(void) {
  for (int b = 0; b < 24; b++)
    for (int t = 0; t < 2000; t++) {
      double re = 0, im = 0;
      for (int m = 0; m < 16; m++) {
        re += wr[b][m] * xr[m][t] - wi[b][m] * xi[m][t];
        im += wr[b][m] * xi[m][t] + wi[b][m] * xr[m][t];
      }
      power[b][t] = re * re + im * im;
    }
}

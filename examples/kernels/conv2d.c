/* A convolution over a batch of images. */
void conv2d(int b, int co, int ci, int h, int w, double O[b][co][h][w],
            double I[b][ci][h + 2][w + 2], double W[co][ci][3][3])
{
#pragma scop
    for (int n = 0; n < b; n++)
        for (int o = 0; o < co; o++)
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    O[n][o][y][x] = 0;
                    for (int c = 0; c < ci; c++)
                        for (int u = 0; u < 3; u++)
                            for (int v = 0; v < 3; v++)
                                O[n][o][y][x] += I[n][c][y + u][x + v] * W[o][c][u][v];
                }
#pragma endscop
}

/* Two products of a matrix and a vector. */
void mvt(int n, double x[n], double y[n], double v[n], double w[n], double A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += A[i][j] * v[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[i] += A[j][i] * w[j];
#pragma endscop
}

/* Two matrix products in a chain. */
void two_products(int n, double D[n][n], double T[n][n], double A[n][n], double B[n][n],
                  double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[i][j] = 0;
            for (int k = 0; k < n; k++)
                T[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            D[i][j] = 0;
            for (int k = 0; k < n; k++)
                D[i][j] += T[i][k] * C[k][j];
        }
#pragma endscop
}

/* Three matrix products, the last of the results of the others. */
void three_products(int n, double G[n][n], double E[n][n], double F[n][n], double A[n][n],
                    double B[n][n], double C[n][n], double D[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            E[i][j] = 0;
            for (int k = 0; k < n; k++)
                E[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            F[i][j] = 0;
            for (int k = 0; k < n; k++)
                F[i][j] += C[i][k] * D[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            G[i][j] = 0;
            for (int k = 0; k < n; k++)
                G[i][j] += E[i][k] * F[k][j];
        }
#pragma endscop
}

/* A matrix updated by two outer products, then two products with vectors. */
void gemver(int n, double alpha, double beta, double A[n][n], double u[n], double v[n],
            double p[n], double q[n], double w[n], double x[n], double y[n], double z[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] += u[i] * v[j] + p[i] * q[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += beta * A[j][i] * y[j];
    for (int i = 0; i < n; i++)
        x[i] += z[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] += alpha * A[i][j] * x[j];
#pragma endscop
}

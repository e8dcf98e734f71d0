/* Covariances of the columns of a table. */
void covariance(int m, int n, double count, double data[n][m], double mean[m], double cov[m][m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        mean[j] = 0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= count;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] -= mean[j];
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            cov[i][j] = 0;
            for (int k = 0; k < n; k++)
                cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= count - 1;
            cov[j][i] = cov[i][j];
        }
#pragma endscop
}

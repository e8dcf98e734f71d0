"""Correlation and covariance of the PolyBench set, in words of our own.

The notation is that of `products.py`.
"""

from __future__ import annotations

from description import Kernel

KERNELS = [
    Kernel(
        name="correlation",
        sizes={"n": (401, 29), "m": (501, 37)},
        arrays="data:n,m corr:m,m mean:m dev:m",
        scalars="double count",
        values="401.0",
        flops="m * m * n",
        text="""
for (int j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++)
        mean[j] += data[i][j];
    mean[j] /= count;
}
for (int j = 0; j < m; j++) {
    dev[j] = 0.0;
    for (int i = 0; i < n; i++)
        dev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    dev[j] /= count;
    dev[j] = sqrt(dev[j]);
    dev[j] = dev[j] <= 0.1 ? 1.0 : dev[j];
}
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
        data[i][j] -= mean[j];
        data[i][j] /= sqrt(count) * dev[j];
    }
for (int i = 0; i < m - 1; i++) {
    corr[i][i] = 1.0;
    for (int j = i + 1; j < m; j++) {
        corr[i][j] = 0.0;
        for (int k = 0; k < n; k++)
            corr[i][j] += data[k][i] * data[k][j];
        corr[j][i] = corr[i][j];
    }
}
corr[m - 1][m - 1] = 1.0;""",
        inside="""
for (int j = 0; j < m; j++) {
    double s = 0.0;
    double d = 0.0;
    for (int i = 0; i < n; i++)
        s += data[i][j];
    mean[j] = s / count;
    for (int i = 0; i < n; i++)
        d += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    d = sqrt(d / count);
    dev[j] = d <= 0.1 ? 1.0 : d;
}
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
        data[i][j] = (data[i][j] - mean[j]) / (sqrt(count) * dev[j]);
for (int i = 0; i < m; i++)
    corr[i][i] = 1.0;
for (int i = 0; i < m - 1; i++)
    for (int j = i + 1; j < m; j++) {
        double s = 0.0;
        for (int k = 0; k < n; k++)
            s += data[k][i] * data[k][j];
        corr[i][j] = s;
        corr[j][i] = s;
    }""",
        order="""
for (int j = 0; j < m; j++) {
    mean[j] = 0.0;
    dev[j] = 0.0;
}
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
        mean[j] += data[i][j];
for (int j = 0; j < m; j++)
    mean[j] /= count;
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
        dev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
for (int j = 0; j < m; j++) {
    dev[j] = sqrt(dev[j] / count);
    dev[j] = dev[j] <= 0.1 ? 1.0 : dev[j];
}
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
        data[i][j] = (data[i][j] - mean[j]) / (sqrt(count) * dev[j]);
for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
        corr[i][j] = i == j ? 1.0 : 0.0;
for (int k = 0; k < n; k++)
    for (int i = 0; i < m - 1; i++)
        for (int j = i + 1; j < m; j++)
            corr[i][j] += data[k][i] * data[k][j];
for (int i = 0; i < m - 1; i++)
    for (int j = i + 1; j < m; j++)
        corr[j][i] = corr[i][j];""",
        transposed="data",
    ),
    Kernel(
        name="covariance",
        sizes={"n": (401, 29), "m": (501, 37)},
        arrays="data:n,m cov:m,m mean:m",
        scalars="double count",
        values="401.0",
        flops="m * m * n",
        text="""
for (int j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++)
        mean[j] += data[i][j];
    mean[j] /= count;
}
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
        data[i][j] -= mean[j];
for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
        cov[i][j] = 0.0;
        for (int k = 0; k < n; k++)
            cov[i][j] += data[k][i] * data[k][j];
        cov[i][j] /= count - 1.0;
        cov[j][i] = cov[i][j];
    }""",
        inside="""
for (int j = 0; j < m; j++) {
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += data[i][j];
    mean[j] = s / count;
}
for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
        double s = 0.0;
        for (int k = 0; k < n; k++)
            s += (data[k][i] - mean[i]) * (data[k][j] - mean[j]);
        cov[i][j] = s / (count - 1.0);
        cov[j][i] = cov[i][j];
    }""",
        order="""
for (int j = 0; j < m; j++)
    mean[j] = 0.0;
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
        mean[j] += data[i][j];
for (int j = 0; j < m; j++)
    mean[j] /= count;
for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
        data[i][j] -= mean[j];
for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
        cov[i][j] = 0.0;
for (int k = 0; k < n; k++)
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++)
            cov[i][j] += data[k][i] * data[k][j];
for (int i = 0; i < m; i++)
    for (int j = 0; j <= i; j++) {
        cov[i][j] /= count - 1.0;
        cov[j][i] = cov[i][j];
    }""",
        transposed="data",
        blas="""for (int j = 0; j < m; j++) mean[j] = 0.0;
for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) mean[j] += data[i * m + j];
for (int j = 0; j < m; j++) mean[j] /= count;
for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) data[i * m + j] -= mean[j];
cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, m, n, 1.0 / (count - 1.0), data, m, 0.0, cov, m);
for (int i = 0; i < m; i++) for (int j = i; j < m; j++) cov[j * m + i] = cov[i * m + j];""",
    ),
]

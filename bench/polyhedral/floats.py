"""Contractions of single precision beside the PolyBench set: a product of matrices, a convolution."""

from __future__ import annotations

from description import Kernel

KERNELS = [
    Kernel(
        name="sgemm",
        sizes={"ni": (501, 37), "nj": (553, 29), "nk": (601, 43)},
        arrays="C:ni,nj A:ni,nk B:nk,nj",
        element="float",
        scalars="float alpha, float beta",
        values="1.5f, 0.75f",
        flops="2 * ni * nj * nk",
        text="""
for (int i = 0; i < ni; i++) {
    for (int j = 0; j < nj; j++)
        C[i][j] *= beta;
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            C[i][j] += alpha * A[i][k] * B[k][j];
}""",
        inside="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
        C[i][j] *= beta;
        for (int k = 0; k < nk; k++)
            C[i][j] += alpha * A[i][k] * B[k][j];
    }""",
        order="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++)
        C[i][j] *= beta;
for (int k = 0; k < nk; k++)
    for (int j = 0; j < nj; j++)
        for (int i = 0; i < ni; i++)
            C[i][j] += alpha * A[i][k] * B[k][j];""",
        rows="""
for (int i = 0; i < ni; i++) {
    float *c = C[i];
    const float *a = A[i];
    for (int j = 0; j < nj; j++)
        c[j] *= beta;
    for (int k = 0; k < nk; k++) {
        const float *b = B[k];
        for (int j = 0; j < nj; j++)
            c[j] += alpha * a[k] * b[j];
    }
}""",
        transposed="A B",
        blas="""cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ni, nj, nk, alpha, A, nk, B, nj, beta, C, nj);""",
        equal=False,
    ),
    Kernel(
        name="conv2d",
        # The input has two rows and columns more than the output.
        sizes={
            "no": (61, 5),
            "nc": (63, 3),
            "ny": (55, 11),
            "nx": (57, 13),
            "my": (57, 13),
            "mx": (59, 15),
        },
        arrays="out:no,ny,nx in:nc,my,mx w:no,nc,3,3",
        element="float",
        flops="18 * no * nc * ny * nx",
        text="""
for (int o = 0; o < no; o++)
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            out[o][y][x] = 0;
            for (int c = 0; c < nc; c++)
                for (int u = 0; u < 3; u++)
                    for (int v = 0; v < 3; v++)
                        out[o][y][x] += in[c][y + u][x + v] * w[o][c][u][v];
        }""",
        inside="""
for (int o = 0; o < no; o++)
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            float s = 0;
            for (int c = 0; c < nc; c++)
                for (int u = 0; u < 3; u++)
                    for (int v = 0; v < 3; v++)
                        s += in[c][y + u][x + v] * w[o][c][u][v];
            out[o][y][x] = s;
        }""",
        order="""
for (int o = 0; o < no; o++)
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++)
            out[o][y][x] = 0;
for (int o = 0; o < no; o++)
    for (int c = 0; c < nc; c++)
        for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++)
                for (int y = 0; y < ny; y++)
                    for (int x = 0; x < nx; x++)
                        out[o][y][x] += in[c][y + u][x + v] * w[o][c][u][v];""",
        rows="""
for (int o = 0; o < no; o++)
    for (int y = 0; y < ny; y++) {
        float *to = out[o][y];
        for (int x = 0; x < nx; x++)
            to[x] = 0;
        for (int c = 0; c < nc; c++)
            for (int u = 0; u < 3; u++) {
                const float *from = in[c][y + u];
                const float *weights = w[o][c][u];
                for (int x = 0; x < nx; x++)
                    for (int v = 0; v < 3; v++)
                        to[x] += from[x + v] * weights[v];
            }
    }""",
        equal=False,
    ),
]

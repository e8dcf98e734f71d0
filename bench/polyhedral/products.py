"""Products of matrices and vectors of the PolyBench set, in words of our own.

Each kernel is written down three times: `text` as the textbook has it, `inside` with what
initialises or scales moved into the nest (or out of it), `order` with loops in another order.
`forms.py` makes C functions of these.
"""

from __future__ import annotations

from description import Kernel

GEMM = "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});"


def gemm(rows: str, columns: str, depth: str, alpha: str, beta: str, names: str) -> str:
    """A call of BLAS for a product of matrices without gaps between rows."""
    a, b, c = names.split()
    return GEMM.format(rows, columns, depth, alpha, a, depth, b, columns, beta, c, columns)


KERNELS = [
    Kernel(
        name="gemm",
        sizes={"ni": (501, 37), "nj": (553, 29), "nk": (601, 43)},
        arrays="C:ni,nj A:ni,nk B:nk,nj",
        scalars="double alpha, double beta",
        values="1.5, 0.75",
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
        rows="""
for (int i = 0; i < ni; i++) {
    double *c = C[i];
    const double *a = A[i];
    for (int j = 0; j < nj; j++)
        c[j] *= beta;
    for (int k = 0; k < nk; k++) {
        const double *b = B[k];
        for (int j = 0; j < nj; j++)
            c[j] += alpha * a[k] * b[j];
    }
}""",
        order="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++)
        C[i][j] *= beta;
for (int k = 0; k < nk; k++)
    for (int j = 0; j < nj; j++)
        for (int i = 0; i < ni; i++)
            C[i][j] += alpha * A[i][k] * B[k][j];""",
        transposed="A B",
        blas=gemm("ni", "nj", "nk", "alpha", "beta", "A B C"),
    ),
    Kernel(
        name="gemver",
        sizes={"n": (2001, 37)},
        arrays="A:n,n u1:n v1:n u2:n v2:n w:n x:n y:n z:n",
        scalars="double alpha, double beta",
        values="1.5, 0.75",
        flops="10 * n * n",
        text="""
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        x[i] = x[i] + beta * A[j][i] * y[j];
for (int i = 0; i < n; i++)
    x[i] = x[i] + z[i];
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        w[i] = w[i] + alpha * A[i][j] * x[j];""",
        inside="""
for (int i = 0; i < n; i++) {
    x[i] = z[i];
    for (int j = 0; j < n; j++) {
        A[j][i] += u1[j] * v1[i] + u2[j] * v2[i];
        x[i] += beta * A[j][i] * y[j];
    }
}
for (int i = 0; i < n; i++) {
    w[i] = 0.0;
    for (int j = 0; j < n; j++)
        w[i] += alpha * A[i][j] * x[j];
}""",
        order="""
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        x[i] += beta * A[j][i] * y[j];
for (int i = 0; i < n; i++)
    x[i] += z[i];
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        w[i] += alpha * A[i][j] * x[j];""",
        blas="""cblas_dger(CblasRowMajor, n, n, 1.0, u1, 1, v1, 1, A, n);
cblas_dger(CblasRowMajor, n, n, 1.0, u2, 1, v2, 1, A, n);
cblas_dgemv(CblasRowMajor, CblasTrans, n, n, beta, A, n, y, 1, 1.0, x, 1);
for (int i = 0; i < n; i++) x[i] += z[i];
cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, alpha, A, n, x, 1, 1.0, w, 1);""",
    ),
    Kernel(
        name="gesummv",
        sizes={"n": (2001, 37)},
        arrays="A:n,n B:n,n x:n y:n t:n",
        scalars="double alpha, double beta",
        values="1.5, 0.75",
        flops="4 * n * n",
        text="""
for (int i = 0; i < n; i++) {
    t[i] = 0.0;
    y[i] = 0.0;
    for (int j = 0; j < n; j++) {
        t[i] = A[i][j] * x[j] + t[i];
        y[i] = B[i][j] * x[j] + y[i];
    }
    y[i] = alpha * t[i] + beta * y[i];
}""",
        inside="""
for (int i = 0; i < n; i++) {
    double p = 0.0;
    double q = 0.0;
    for (int j = 0; j < n; j++) {
        p += A[i][j] * x[j];
        q += B[i][j] * x[j];
    }
    y[i] = alpha * p + beta * q;
}""",
        order="""
for (int i = 0; i < n; i++) {
    t[i] = 0.0;
    y[i] = 0.0;
}
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        t[i] += A[i][j] * x[j];
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        y[i] += B[i][j] * x[j];
for (int i = 0; i < n; i++)
    y[i] = alpha * t[i] + beta * y[i];""",
        blas="""cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, A, n, x, 1, 0.0, t, 1);
cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, beta, B, n, x, 1, 0.0, y, 1);
cblas_daxpy(n, alpha, t, 1, y, 1);""",
    ),
    Kernel(
        name="symm",
        sizes={"m": (401, 37), "n": (501, 29)},
        arrays="C:m,n A:m,m B:m,n",
        scalars="double alpha, double beta",
        values="1.5, 0.75",
        flops="2 * m * m * n",
        text="""
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
        t = 0.0;
        for (int k = 0; k < i; k++) {
            C[k][j] += alpha * B[i][j] * A[i][k];
            t += B[k][j] * A[i][k];
        }
        C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * t;
    }""",
        more="t",
        inside="""
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
        double s = 0.0;
        for (int k = 0; k < i; k++) {
            C[k][j] += alpha * B[i][j] * A[i][k];
            s += B[k][j] * A[i][k];
        }
        C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * s;
    }""",
        order="""
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
        C[i][j] *= beta;
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
        C[i][j] += alpha * A[i][i] * B[i][j];
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
        for (int k = 0; k < i; k++)
            C[i][j] += alpha * A[i][k] * B[k][j];
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
        for (int k = 0; k < i; k++)
            C[k][j] += alpha * A[i][k] * B[i][j];""",
        blas="cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, m, n, alpha, A, m, B, n, beta, C, n);",
    ),
    Kernel(
        name="syr2k",
        sizes={"n": (401, 37), "m": (351, 29)},
        arrays="C:n,n A:n,m B:n,m",
        scalars="double alpha, double beta",
        values="1.5, 0.75",
        flops="2 * n * n * m",
        text="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
        C[i][j] *= beta;
    for (int k = 0; k < m; k++)
        for (int j = 0; j <= i; j++)
            C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
}""",
        inside="""
for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
        C[i][j] *= beta;
        for (int k = 0; k < m; k++)
            C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }""",
        order="""
for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++)
        C[i][j] *= beta;
for (int k = 0; k < m; k++)
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            C[i][j] += alpha * (A[i][k] * B[j][k] + B[i][k] * A[j][k]);""",
        transposed="A B",
        blas="cblas_dsyr2k(CblasRowMajor, CblasLower, CblasNoTrans, n, m, alpha, A, m, B, m, beta, C, n);",
    ),
    Kernel(
        name="syrk",
        sizes={"n": (501, 37), "m": (451, 29)},
        arrays="C:n,n A:n,m",
        scalars="double alpha, double beta",
        values="1.5, 0.75",
        flops="n * n * m",
        text="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
        C[i][j] *= beta;
    for (int k = 0; k < m; k++)
        for (int j = 0; j <= i; j++)
            C[i][j] += alpha * A[i][k] * A[j][k];
}""",
        inside="""
for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
        double s = beta * C[i][j];
        for (int k = 0; k < m; k++)
            s += alpha * A[i][k] * A[j][k];
        C[i][j] = s;
    }""",
        rows="""
for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
        const double *a = A[i];
        const double *b = A[j];
        double s = beta * C[i][j];
        for (int k = 0; k < m; k++)
            s += alpha * a[k] * b[k];
        C[i][j] = s;
    }""",
        order="""
for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++)
        C[i][j] *= beta;
for (int k = 0; k < m; k++)
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            C[i][j] += alpha * A[i][k] * A[j][k];""",
        transposed="A",
        blas="cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, m, alpha, A, m, beta, C, n);",
    ),
    Kernel(
        name="trmm",
        sizes={"m": (501, 37), "n": (451, 29)},
        arrays="A:m,m B:m,n",
        scalars="double alpha",
        values="1.5",
        flops="m * m * n",
        text="""
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
        for (int k = i + 1; k < m; k++)
            B[i][j] += A[k][i] * B[k][j];
        B[i][j] = alpha * B[i][j];
    }""",
        inside="""
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
        double s = B[i][j];
        for (int k = i + 1; k < m; k++)
            s += A[k][i] * B[k][j];
        B[i][j] = alpha * s;
    }""",
        order="""
for (int i = 0; i < m; i++)
    for (int k = i + 1; k < m; k++)
        for (int j = 0; j < n; j++)
            B[i][j] += A[k][i] * B[k][j];
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
        B[i][j] *= alpha;""",
        transposed="A",
        blas="""cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, m, n, alpha, A, m, B, n);""",
    ),
    Kernel(
        name="2mm",
        sizes={"ni": (301, 37), "nj": (351, 29), "nk": (401, 43), "nl": (451, 31)},
        arrays="T:ni,nj A:ni,nk B:nk,nj C:nj,nl D:ni,nl",
        scalars="double alpha, double beta",
        values="1.5, 0.75",
        flops="2 * ni * nj * (nk + nl)",
        text="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
        T[i][j] = 0.0;
        for (int k = 0; k < nk; k++)
            T[i][j] += alpha * A[i][k] * B[k][j];
    }
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
        D[i][j] *= beta;
        for (int k = 0; k < nj; k++)
            D[i][j] += T[i][k] * C[k][j];
    }""",
        inside="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
        double s = 0.0;
        for (int k = 0; k < nk; k++)
            s += alpha * A[i][k] * B[k][j];
        T[i][j] = s;
    }
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
        double s = beta * D[i][j];
        for (int k = 0; k < nj; k++)
            s += T[i][k] * C[k][j];
        D[i][j] = s;
    }""",
        order="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++)
        T[i][j] = 0.0;
for (int i = 0; i < ni; i++)
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            T[i][j] += alpha * A[i][k] * B[k][j];
for (int j = 0; j < nl; j++)
    for (int i = 0; i < ni; i++)
        D[i][j] *= beta;
for (int k = 0; k < nj; k++)
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++)
            D[i][j] += T[i][k] * C[k][j];""",
        transposed="B C",
        blas=gemm("ni", "nj", "nk", "alpha", "0.0", "A B T") + gemm("ni", "nl", "nj", "1.0", "beta", "T C D"),
    ),
    Kernel(
        name="3mm",
        sizes={"ni": (301, 37), "nj": (321, 29), "nk": (341, 43), "nl": (351, 31), "nm": (361, 33)},
        arrays="E:ni,nj A:ni,nk B:nk,nj F:nj,nl C:nj,nm D:nm,nl G:ni,nl",
        flops="2 * ni * nj * nk + 2 * nj * nl * nm + 2 * ni * nl * nj",
        text="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
        E[i][j] = 0.0;
        for (int k = 0; k < nk; k++)
            E[i][j] += A[i][k] * B[k][j];
    }
for (int i = 0; i < nj; i++)
    for (int j = 0; j < nl; j++) {
        F[i][j] = 0.0;
        for (int k = 0; k < nm; k++)
            F[i][j] += C[i][k] * D[k][j];
    }
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
        G[i][j] = 0.0;
        for (int k = 0; k < nj; k++)
            G[i][j] += E[i][k] * F[k][j];
    }""",
        inside="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
        double s = 0.0;
        for (int k = 0; k < nk; k++)
            s += A[i][k] * B[k][j];
        E[i][j] = s;
    }
for (int i = 0; i < nj; i++)
    for (int j = 0; j < nl; j++) {
        double s = 0.0;
        for (int k = 0; k < nm; k++)
            s += C[i][k] * D[k][j];
        F[i][j] = s;
    }
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
        double s = 0.0;
        for (int k = 0; k < nj; k++)
            s += E[i][k] * F[k][j];
        G[i][j] = s;
    }""",
        order="""
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++)
        E[i][j] = 0.0;
for (int k = 0; k < nk; k++)
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            E[i][j] += A[i][k] * B[k][j];
for (int i = 0; i < nj; i++)
    for (int j = 0; j < nl; j++)
        F[i][j] = 0.0;
for (int j = 0; j < nl; j++)
    for (int i = 0; i < nj; i++)
        for (int k = 0; k < nm; k++)
            F[i][j] += C[i][k] * D[k][j];
for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++)
        G[i][j] = 0.0;
for (int i = 0; i < ni; i++)
    for (int k = 0; k < nj; k++)
        for (int j = 0; j < nl; j++)
            G[i][j] += E[i][k] * F[k][j];""",
        transposed="A D",
        blas=gemm("ni", "nj", "nk", "1.0", "0.0", "A B E")
        + gemm("nj", "nl", "nm", "1.0", "0.0", "C D F")
        + gemm("ni", "nl", "nj", "1.0", "0.0", "E F G"),
    ),
    Kernel(
        name="atax",
        sizes={"m": (1901, 37), "n": (2101, 41)},
        arrays="A:m,n x:n y:n t:m",
        flops="4 * m * n",
        text="""
for (int i = 0; i < n; i++)
    y[i] = 0.0;
for (int i = 0; i < m; i++) {
    t[i] = 0.0;
    for (int j = 0; j < n; j++)
        t[i] = t[i] + A[i][j] * x[j];
    for (int j = 0; j < n; j++)
        y[j] = y[j] + A[i][j] * t[i];
}""",
        inside="""
for (int i = 0; i < n; i++)
    y[i] = 0.0;
for (int i = 0; i < m; i++) {
    double s = 0.0;
    for (int j = 0; j < n; j++)
        s += A[i][j] * x[j];
    for (int j = 0; j < n; j++)
        y[j] += A[i][j] * s;
}""",
        order="""
for (int i = 0; i < m; i++)
    t[i] = 0.0;
for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
        t[i] += A[i][j] * x[j];
for (int j = 0; j < n; j++) {
    y[j] = 0.0;
    for (int i = 0; i < m; i++)
        y[j] += A[i][j] * t[i];
}""",
        blas="""cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, 1.0, A, n, x, 1, 0.0, t, 1);
cblas_dgemv(CblasRowMajor, CblasTrans, m, n, 1.0, A, n, t, 1, 0.0, y, 1);""",
    ),
    Kernel(
        name="bicg",
        sizes={"n": (1901, 37), "m": (2101, 41)},
        arrays="A:n,m s:m q:n p:m r:n",
        flops="4 * m * n",
        text="""
for (int j = 0; j < m; j++)
    s[j] = 0.0;
for (int i = 0; i < n; i++) {
    q[i] = 0.0;
    for (int j = 0; j < m; j++) {
        s[j] = s[j] + r[i] * A[i][j];
        q[i] = q[i] + A[i][j] * p[j];
    }
}""",
        inside="""
for (int j = 0; j < m; j++) {
    s[j] = 0.0;
    for (int i = 0; i < n; i++)
        s[j] += r[i] * A[i][j];
}
for (int i = 0; i < n; i++) {
    q[i] = 0.0;
    for (int j = 0; j < m; j++)
        q[i] += A[i][j] * p[j];
}""",
        order="""
for (int i = 0; i < n; i++)
    q[i] = 0.0;
for (int j = 0; j < m; j++) {
    s[j] = 0.0;
    for (int i = 0; i < n; i++) {
        s[j] += r[i] * A[i][j];
        q[i] += A[i][j] * p[j];
    }
}""",
        blas="""cblas_dgemv(CblasRowMajor, CblasTrans, n, m, 1.0, A, m, r, 1, 0.0, s, 1);
cblas_dgemv(CblasRowMajor, CblasNoTrans, n, m, 1.0, A, m, p, 1, 0.0, q, 1);""",
    ),
    Kernel(
        name="doitgen",
        sizes={"nr": (51, 7), "nq": (61, 11), "np": (131, 13)},
        arrays="A:nr,nq,np W:np,np s:np",
        flops="2 * nr * nq * np * np",
        text="""
for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
        for (int p = 0; p < np; p++) {
            s[p] = 0.0;
            for (int k = 0; k < np; k++)
                s[p] += A[r][q][k] * W[k][p];
        }
        for (int p = 0; p < np; p++)
            A[r][q][p] = s[p];
    }""",
        inside="""
for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
        for (int p = 0; p < np; p++) {
            double v = 0.0;
            for (int k = 0; k < np; k++)
                v += A[r][q][k] * W[k][p];
            s[p] = v;
        }
        for (int p = 0; p < np; p++)
            A[r][q][p] = s[p];
    }""",
        order="""
for (int q = 0; q < nq; q++)
    for (int r = 0; r < nr; r++) {
        for (int p = 0; p < np; p++)
            s[p] = 0.0;
        for (int k = 0; k < np; k++)
            for (int p = 0; p < np; p++)
                s[p] += A[r][q][k] * W[k][p];
        for (int p = 0; p < np; p++)
            A[r][q][p] = s[p];
    }""",
        transposed="W",
        blas="""double *all = malloc(sizeof *all * nr * nq * np);
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, nr * nq, np, np, 1.0, A, np, W, np, 0.0, all, np);
memcpy(A, all, sizeof *all * nr * nq * np); memcpy(s, A + (nr * nq - 1) * np, sizeof *s * np); free(all);""",
    ),
    Kernel(
        name="mvt",
        sizes={"n": (2001, 37)},
        arrays="A:n,n x1:n x2:n y1:n y2:n",
        flops="4 * n * n",
        text="""
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        x1[i] = x1[i] + A[i][j] * y1[j];
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        x2[i] = x2[i] + A[j][i] * y2[j];""",
        inside="""
for (int i = 0; i < n; i++) {
    x1[i] = 0.0;
    x2[i] = 0.0;
    for (int j = 0; j < n; j++) {
        x1[i] += A[i][j] * y1[j];
        x2[i] += A[j][i] * y2[j];
    }
}""",
        order="""
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        x1[i] += A[i][j] * y1[j];
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        x2[i] += A[j][i] * y2[j];""",
        blas="""cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, A, n, y1, 1, 1.0, x1, 1);
cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1.0, A, n, y2, 1, 1.0, x2, 1);""",
    ),
]

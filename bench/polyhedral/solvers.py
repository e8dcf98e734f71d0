"""Factorisations, solvers and dynamic programs of the PolyBench set, in words of our own.

The notation is that of `products.py`.
"""

from __future__ import annotations

from description import Kernel

KERNELS = [
    Kernel(
        name="cholesky",
        sizes={"n": (601, 37)},
        arrays="A:n,n",
        flops="n * n * n / 3",
        text="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++)
            A[i][j] -= A[i][k] * A[j][k];
        A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
        A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
}""",
        inside="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        double s = A[i][j];
        for (int k = 0; k < j; k++)
            s -= A[i][k] * A[j][k];
        A[i][j] = s / A[j][j];
    }
    double d = A[i][i];
    for (int k = 0; k < i; k++)
        d -= A[i][k] * A[i][k];
    A[i][i] = sqrt(d);
}""",
        rows="""
for (int i = 0; i < n; i++) {
    double *a = A[i];
    for (int j = 0; j < i; j++) {
        const double *b = A[j];
        double s = a[j];
        for (int k = 0; k < j; k++)
            s -= a[k] * b[k];
        a[j] = s / b[j];
    }
    double d = a[i];
    for (int k = 0; k < i; k++)
        d -= a[k] * a[k];
    a[i] = sqrt(d);
}""",
        order="""
for (int k = 0; k < n; k++) {
    A[k][k] = sqrt(A[k][k]);
    for (int i = k + 1; i < n; i++)
        A[i][k] /= A[k][k];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++)
            A[i][j] -= A[i][k] * A[j][k];
}""",
        blas="int info; char low = 'U'; dpotrf_(&low, &n, A, &n, &info);",
    ),
    Kernel(
        name="durbin",
        sizes={"n": (3001, 41)},
        arrays="r:n y:n z:n",
        flops="2 * n * n",
        fill="decay",
        text="""
y[0] = -r[0];
beta = 1.0;
alpha = -r[0];
for (int k = 1; k < n; k++) {
    beta = (1.0 - alpha * alpha) * beta;
    sum = 0.0;
    for (int i = 0; i < k; i++)
        sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++)
        z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++)
        y[i] = z[i];
    y[k] = alpha;
}""",
        more="alpha beta sum",
        inside="""
double a = -r[0];
double b = 1.0;
y[0] = a;
for (int k = 1; k < n; k++) {
    double s = 0.0;
    b = (1.0 - a * a) * b;
    for (int i = 0; i < k; i++)
        s += r[k - i - 1] * y[i];
    a = -(r[k] + s) / b;
    for (int i = 0; i < k; i++)
        z[i] = y[i] + a * y[k - i - 1];
    for (int i = 0; i < k; i++)
        y[i] = z[i];
    y[k] = a;
}""",
        order="""
double a = -r[0];
double b = 1.0;
y[0] = a;
for (int k = 1; k < n; k++) {
    double s = 0.0;
    b = (1.0 - a * a) * b;
    for (int i = k - 1; i >= 0; i--)
        s += r[i] * y[k - 1 - i];
    a = -(r[k] + s) / b;
    for (int i = k - 1; i >= 0; i--)
        z[i] = y[i] + a * y[k - i - 1];
    for (int i = k - 1; i >= 0; i--)
        y[i] = z[i];
    y[k] = a;
}""",
    ),
    Kernel(
        name="gramschmidt",
        sizes={"m": (307, 31), "n": (293, 23)},
        arrays="A:m,n R:n,n Q:m,n",
        fill="random",
        equal=False,
        flops="2 * m * n * n",
        text="""
for (int k = 0; k < n; k++) {
    norm = 0.0;
    for (int i = 0; i < m; i++)
        norm += A[i][k] * A[i][k];
    R[k][k] = sqrt(norm);
    for (int i = 0; i < m; i++)
        Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++) {
        R[k][j] = 0.0;
        for (int i = 0; i < m; i++)
            R[k][j] += Q[i][k] * A[i][j];
        for (int i = 0; i < m; i++)
            A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
}""",
        more="norm",
        inside="""
for (int k = 0; k < n; k++) {
    double s = 0.0;
    for (int i = 0; i < m; i++)
        s += A[i][k] * A[i][k];
    R[k][k] = sqrt(s);
    for (int i = 0; i < m; i++)
        Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++) {
        double d = 0.0;
        for (int i = 0; i < m; i++)
            d += Q[i][k] * A[i][j];
        R[k][j] = d;
        for (int i = 0; i < m; i++)
            A[i][j] -= Q[i][k] * d;
    }
}""",
        order="""
for (int k = 0; k < n; k++) {
    double s = 0.0;
    for (int i = 0; i < m; i++)
        s += A[i][k] * A[i][k];
    R[k][k] = sqrt(s);
    for (int i = 0; i < m; i++)
        Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++)
        R[k][j] = 0.0;
    for (int i = 0; i < m; i++)
        for (int j = k + 1; j < n; j++)
            R[k][j] += Q[i][k] * A[i][j];
    for (int i = 0; i < m; i++)
        for (int j = k + 1; j < n; j++)
            A[i][j] -= Q[i][k] * R[k][j];
}""",
    ),
    Kernel(
        name="lu",
        sizes={"n": (501, 37)},
        arrays="A:n,n",
        flops="2 * n * n * n / 3",
        text="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++)
            A[i][j] -= A[i][k] * A[k][j];
        A[i][j] /= A[j][j];
    }
    for (int j = i; j < n; j++)
        for (int k = 0; k < i; k++)
            A[i][j] -= A[i][k] * A[k][j];
}""",
        inside="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        double s = A[i][j];
        for (int k = 0; k < j; k++)
            s -= A[i][k] * A[k][j];
        A[i][j] = s / A[j][j];
    }
    for (int j = i; j < n; j++) {
        double s = A[i][j];
        for (int k = 0; k < i; k++)
            s -= A[i][k] * A[k][j];
        A[i][j] = s;
    }
}""",
        rows="""
for (int k = 0; k < n; k++) {
    const double *b = A[k];
    for (int i = k + 1; i < n; i++) {
        double *a = A[i];
        a[k] /= b[k];
        for (int j = k + 1; j < n; j++)
            a[j] -= a[k] * b[j];
    }
}""",
        order="""
for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
        A[i][k] /= A[k][k];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++)
            A[i][j] -= A[i][k] * A[k][j];
}""",
        blas="""int *pivots = malloc(n * sizeof *pivots), info;
dgetrf_(&n, &n, A, &n, pivots, &info); free(pivots);""",
        equal=False,
    ),
    Kernel(
        name="ludcmp",
        sizes={"n": (501, 37)},
        arrays="A:n,n b:n x:n y:n",
        flops="2 * n * n * n / 3",
        text="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        w = A[i][j];
        for (int k = 0; k < j; k++)
            w -= A[i][k] * A[k][j];
        A[i][j] = w / A[j][j];
    }
    for (int j = i; j < n; j++) {
        w = A[i][j];
        for (int k = 0; k < i; k++)
            w -= A[i][k] * A[k][j];
        A[i][j] = w;
    }
}
for (int i = 0; i < n; i++) {
    w = b[i];
    for (int j = 0; j < i; j++)
        w -= A[i][j] * y[j];
    y[i] = w;
}
for (int i = n - 1; i >= 0; i--) {
    w = y[i];
    for (int j = i + 1; j < n; j++)
        w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
}""",
        more="w",
        inside="""
for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        double s = A[i][j];
        for (int k = 0; k < j; k++)
            s -= A[i][k] * A[k][j];
        A[i][j] = s / A[j][j];
    }
    for (int j = i; j < n; j++) {
        double s = A[i][j];
        for (int k = 0; k < i; k++)
            s -= A[i][k] * A[k][j];
        A[i][j] = s;
    }
}
for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < i; j++)
        s -= A[i][j] * y[j];
    y[i] = s;
}
for (int i = n - 1; i >= 0; i--) {
    double s = y[i];
    for (int j = i + 1; j < n; j++)
        s -= A[i][j] * x[j];
    x[i] = s / A[i][i];
}""",
        order="""
for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
        A[i][k] /= A[k][k];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++)
            A[i][j] -= A[i][k] * A[k][j];
}
for (int i = 0; i < n; i++)
    y[i] = b[i];
for (int j = 0; j < n; j++)
    for (int i = j + 1; i < n; i++)
        y[i] -= A[i][j] * y[j];
for (int i = n - 1; i >= 0; i--) {
    x[i] = y[i];
    for (int j = i + 1; j < n; j++)
        x[i] -= A[i][j] * x[j];
    x[i] /= A[i][i];
}""",
    ),
    Kernel(
        name="trisolv",
        sizes={"n": (3001, 43)},
        arrays="L:n,n x:n b:n",
        flops="n * n",
        text="""
for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
        x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
}""",
        inside="""
for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < i; j++)
        s -= L[i][j] * x[j];
    x[i] = s / L[i][i];
}""",
        order="""
for (int i = 0; i < n; i++)
    x[i] = b[i];
for (int j = 0; j < n; j++) {
    x[j] /= L[j][j];
    for (int i = j + 1; i < n; i++)
        x[i] -= L[i][j] * x[j];
}""",
        blas="""memcpy(x, b, n * sizeof *x);
cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, L, n, x, 1);""",
    ),
    Kernel(
        name="deriche",
        sizes={"w": (1201, 37), "h": (901, 29)},
        arrays="in:w,h out:w,h y1:w,h y2:w,h",
        scalars="double a1, double a2, double b1, double b2",
        values="0.25, -0.125, 0.5, -0.0625",
        flops="16 * w * h",
        text="""
for (int i = 0; i < w; i++) {
    p = 0.0;
    q = 0.0;
    xa = 0.0;
    for (int j = 0; j < h; j++) {
        y1[i][j] = a1 * in[i][j] + a2 * xa + b1 * p + b2 * q;
        xa = in[i][j];
        q = p;
        p = y1[i][j];
    }
}
for (int i = 0; i < w; i++) {
    p = 0.0;
    q = 0.0;
    xa = 0.0;
    xb = 0.0;
    for (int j = h - 1; j >= 0; j--) {
        y2[i][j] = a2 * xa + a1 * xb + b1 * p + b2 * q;
        xb = xa;
        xa = in[i][j];
        q = p;
        p = y2[i][j];
    }
}
for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
        out[i][j] = y1[i][j] + y2[i][j];
for (int j = 0; j < h; j++) {
    p = 0.0;
    q = 0.0;
    xa = 0.0;
    for (int i = 0; i < w; i++) {
        y1[i][j] = a1 * out[i][j] + a2 * xa + b1 * p + b2 * q;
        xa = out[i][j];
        q = p;
        p = y1[i][j];
    }
}
for (int j = 0; j < h; j++) {
    p = 0.0;
    q = 0.0;
    xa = 0.0;
    xb = 0.0;
    for (int i = w - 1; i >= 0; i--) {
        y2[i][j] = a2 * xa + a1 * xb + b1 * p + b2 * q;
        xb = xa;
        xa = out[i][j];
        q = p;
        p = y2[i][j];
    }
}
for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
        out[i][j] = y1[i][j] + y2[i][j];""",
        more="p q xa xb",
        inside="""
for (int i = 0; i < w; i++) {
    double p1 = 0.0;
    double q1 = 0.0;
    double x1 = 0.0;
    for (int j = 0; j < h; j++) {
        y1[i][j] = a1 * in[i][j] + a2 * x1 + b1 * p1 + b2 * q1;
        x1 = in[i][j];
        q1 = p1;
        p1 = y1[i][j];
    }
}
for (int i = 0; i < w; i++) {
    double p2 = 0.0;
    double q2 = 0.0;
    double x2 = 0.0;
    double x3 = 0.0;
    for (int j = h - 1; j >= 0; j--) {
        y2[i][j] = a2 * x2 + a1 * x3 + b1 * p2 + b2 * q2;
        x3 = x2;
        x2 = in[i][j];
        q2 = p2;
        p2 = y2[i][j];
    }
}
for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
        out[i][j] = y1[i][j] + y2[i][j];
for (int j = 0; j < h; j++) {
    double p3 = 0.0;
    double q3 = 0.0;
    double x4 = 0.0;
    for (int i = 0; i < w; i++) {
        y1[i][j] = a1 * out[i][j] + a2 * x4 + b1 * p3 + b2 * q3;
        x4 = out[i][j];
        q3 = p3;
        p3 = y1[i][j];
    }
}
for (int j = 0; j < h; j++) {
    double p4 = 0.0;
    double q4 = 0.0;
    double x5 = 0.0;
    double x6 = 0.0;
    for (int i = w - 1; i >= 0; i--) {
        y2[i][j] = a2 * x5 + a1 * x6 + b1 * p4 + b2 * q4;
        x6 = x5;
        x5 = out[i][j];
        q4 = p4;
        p4 = y2[i][j];
    }
}
for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
        out[i][j] = y1[i][j] + y2[i][j];""",
        order="""
for (int i = 0; i < w; i++) {
    y1[i][0] = a1 * in[i][0];
    y1[i][1] = a1 * in[i][1] + a2 * in[i][0] + b1 * y1[i][0];
    for (int j = 2; j < h; j++)
        y1[i][j] = a1 * in[i][j] + a2 * in[i][j - 1] + b1 * y1[i][j - 1] + b2 * y1[i][j - 2];
    y2[i][h - 1] = 0.0;
    y2[i][h - 2] = a2 * in[i][h - 1];
    for (int j = h - 3; j >= 0; j--)
        y2[i][j] = a2 * in[i][j + 1] + a1 * in[i][j + 2] + b1 * y2[i][j + 1] + b2 * y2[i][j + 2];
    for (int j = 0; j < h; j++)
        out[i][j] = y1[i][j] + y2[i][j];
}
for (int j = 0; j < h; j++) {
    y1[0][j] = a1 * out[0][j];
    y1[1][j] = a1 * out[1][j] + a2 * out[0][j] + b1 * y1[0][j];
    for (int i = 2; i < w; i++)
        y1[i][j] = a1 * out[i][j] + a2 * out[i - 1][j] + b1 * y1[i - 1][j] + b2 * y1[i - 2][j];
    y2[w - 1][j] = 0.0;
    y2[w - 2][j] = a2 * out[w - 1][j];
    for (int i = w - 3; i >= 0; i--)
        y2[i][j] = a2 * out[i + 1][j] + a1 * out[i + 2][j] + b1 * y2[i + 1][j] + b2 * y2[i + 2][j];
}
for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
        out[i][j] = y1[i][j] + y2[i][j];""",
    ),
    Kernel(
        name="floyd_warshall",
        sizes={"n": (401, 37)},
        arrays="path:n,n",
        element="int",
        flops="2 * n * n * n",
        text="""
for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];""",
        inside="""
for (int i = 0; i < n; i++)
    path[i][i] = 0;
for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (path[i][k] + path[k][j] < path[i][j])
                path[i][j] = path[i][k] + path[k][j];""",
        order="""
for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];""",
    ),
    Kernel(
        name="nussinov",
        sizes={"n": (501, 41)},
        arrays="best:n,n base:n",
        element="int",
        fill="bases",
        flops="n * n * n / 3",
        text="""
for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
        best[i][j] = best[i][j] >= best[i][j - 1] ? best[i][j] : best[i][j - 1];
        best[i][j] = best[i][j] >= best[i + 1][j] ? best[i][j] : best[i + 1][j];
        if (i < j - 1)
            best[i][j] = best[i][j] >= best[i + 1][j - 1] + (base[i] + base[j] == 3) ? best[i][j]
                       : best[i + 1][j - 1] + (base[i] + base[j] == 3);
        else
            best[i][j] = best[i][j] >= best[i + 1][j - 1] ? best[i][j] : best[i + 1][j - 1];
        for (int k = i + 1; k < j; k++)
            best[i][j] = best[i][j] >= best[i][k] + best[k + 1][j] ? best[i][j]
                       : best[i][k] + best[k + 1][j];
    }""",
        inside="""
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        best[i][j] = 0;
for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
        int most = best[i][j - 1];
        most = most >= best[i + 1][j] ? most : best[i + 1][j];
        if (i < j - 1)
            most = most >= best[i + 1][j - 1] + (base[i] + base[j] == 3) ? most
                 : best[i + 1][j - 1] + (base[i] + base[j] == 3);
        for (int k = i + 1; k < j; k++)
            most = most >= best[i][k] + best[k + 1][j] ? most : best[i][k] + best[k + 1][j];
        best[i][j] = most;
    }""",
        order="""
for (int d = 1; d < n; d++)
    for (int i = 0; i < n - d; i++) {
        best[i][i + d] = best[i][i + d] >= best[i][i + d - 1] ? best[i][i + d] : best[i][i + d - 1];
        best[i][i + d] = best[i][i + d] >= best[i + 1][i + d] ? best[i][i + d] : best[i + 1][i + d];
        if (d > 1)
            best[i][i + d] = best[i][i + d] >= best[i + 1][i + d - 1] + (base[i] + base[i + d] == 3)
                ? best[i][i + d] : best[i + 1][i + d - 1] + (base[i] + base[i + d] == 3);
        for (int k = i + 1; k < i + d; k++)
            best[i][i + d] = best[i][i + d] >= best[i][k] + best[k + 1][i + d] ? best[i][i + d]
                : best[i][k] + best[k + 1][i + d];
    }""",
    ),
]

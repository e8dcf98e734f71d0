"""Stencils of the PolyBench set, in words of our own.

The notation is that of `products.py`.
"""

from __future__ import annotations

from description import Kernel

KERNELS = [
    Kernel(
        name="adi",
        sizes={"steps": (21, 5), "n": (401, 31)},
        arrays="u:n,n v:n,n p:n,n q:n,n",
        scalars="double a, double b, double c, double d, double e, double f",
        values="-0.125, 1.25, -0.125, -0.0625, 1.125, -0.0625",
        flops="30 * steps * n * n",
        text="""
for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
        v[0][i] = 1.0;
        p[i][0] = 0.0;
        q[i][0] = v[0][i];
        for (int j = 1; j < n - 1; j++) {
            p[i][j] = -c / (a * p[i][j - 1] + b);
            q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1]
                       - a * q[i][j - 1]) / (a * p[i][j - 1] + b);
        }
        v[n - 1][i] = 1.0;
        for (int j = n - 2; j >= 1; j--)
            v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++) {
        u[i][0] = 1.0;
        p[i][0] = 0.0;
        q[i][0] = u[i][0];
        for (int j = 1; j < n - 1; j++) {
            p[i][j] = -f / (d * p[i][j - 1] + e);
            q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j]
                       - d * q[i][j - 1]) / (d * p[i][j - 1] + e);
        }
        u[i][n - 1] = 1.0;
        for (int j = n - 2; j >= 1; j--)
            u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
}""",
        inside="""
for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
        v[0][i] = 1.0;
        v[n - 1][i] = 1.0;
        u[i][0] = 1.0;
        u[i][n - 1] = 1.0;
    }
    for (int i = 1; i < n - 1; i++) {
        p[i][0] = 0.0;
        q[i][0] = 1.0;
        for (int j = 1; j < n - 1; j++) {
            p[i][j] = -c / (a * p[i][j - 1] + b);
            q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1]
                       - a * q[i][j - 1]) / (a * p[i][j - 1] + b);
        }
        for (int j = n - 2; j >= 1; j--)
            v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++) {
        p[i][0] = 0.0;
        q[i][0] = 1.0;
        for (int j = 1; j < n - 1; j++) {
            p[i][j] = -f / (d * p[i][j - 1] + e);
            q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j]
                       - d * q[i][j - 1]) / (d * p[i][j - 1] + e);
        }
        for (int j = n - 2; j >= 1; j--)
            u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
}""",
        order="""
for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
        v[0][i] = 1.0;
        p[0][i] = 0.0;
        q[0][i] = v[0][i];
    }
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            p[j][i] = -c / (a * p[j - 1][i] + b);
            q[j][i] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1]
                       - a * q[j - 1][i]) / (a * p[j - 1][i] + b);
        }
    for (int i = 1; i < n - 1; i++)
        v[n - 1][i] = 1.0;
    for (int j = n - 2; j >= 1; j--)
        for (int i = 1; i < n - 1; i++)
            v[j][i] = p[j][i] * v[j + 1][i] + q[j][i];
    for (int i = 1; i < n - 1; i++) {
        u[i][0] = 1.0;
        p[i][0] = 0.0;
        q[i][0] = u[i][0];
        for (int j = 1; j < n - 1; j++) {
            p[i][j] = -f / (d * p[i][j - 1] + e);
            q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j]
                       - d * q[i][j - 1]) / (d * p[i][j - 1] + e);
        }
        u[i][n - 1] = 1.0;
        for (int j = n - 2; j >= 1; j--)
            u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
}""",
    ),
    Kernel(
        name="fdtd_2d",
        sizes={"steps": (31, 7), "nx": (1001, 29), "ny": (1201, 31)},
        arrays="ex:nx,ny ey:nx,ny hz:nx,ny source:steps",
        flops="11 * steps * nx * ny",
        text="""
for (int t = 0; t < steps; t++) {
    for (int j = 0; j < ny; j++)
        ey[0][j] = source[t];
    for (int i = 1; i < nx; i++)
        for (int j = 0; j < ny; j++)
            ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < nx; i++)
        for (int j = 1; j < ny; j++)
            ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < nx - 1; i++)
        for (int j = 0; j < ny - 1; j++)
            hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}""",
        inside="""
for (int t = 0; t < steps; t++) {
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++) {
            if (i == 0)
                ey[i][j] = source[t];
            else
                ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
            if (j > 0)
                ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
        }
    for (int i = 0; i < nx - 1; i++)
        for (int j = 0; j < ny - 1; j++)
            hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}""",
        order="""
for (int t = 0; t < steps; t++) {
    for (int j = 0; j < ny; j++) {
        ey[0][j] = source[t];
        for (int i = 1; i < nx; i++)
            ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    }
    for (int j = 1; j < ny; j++)
        for (int i = 0; i < nx; i++)
            ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int j = 0; j < ny - 1; j++)
        for (int i = 0; i < nx - 1; i++)
            hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}""",
    ),
    Kernel(
        name="heat_3d",
        sizes={"steps": (15, 5), "n": (121, 13)},
        arrays="A:n,n,n B:n,n,n",
        flops="30 * steps * n * n * n",
        text="""
for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k])
                    + 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k])
                    + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k])
                    + 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k])
                    + 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
}""",
        inside="""
for (int t = 0; t < 2 * steps; t++) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k])
                    + 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k])
                    + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                A[i][j][k] = B[i][j][k];
}""",
        order="""
for (int t = 0; t < steps; t++) {
    for (int k = 1; k < n - 1; k++)
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < n - 1; i++)
                B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k])
                    + 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k])
                    + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
    for (int k = 1; k < n - 1; k++)
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < n - 1; i++)
                A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k])
                    + 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k])
                    + 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
}""",
    ),
    Kernel(
        name="jacobi_1d",
        sizes={"steps": (51, 11), "n": (1000001, 97)},
        arrays="A:n B:n",
        flops="6 * steps * n",
        text="""
for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
        B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
        A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
}""",
        inside="""
for (int t = 0; t < 2 * steps; t++) {
    for (int i = 1; i < n - 1; i++)
        B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
        A[i] = B[i];
}""",
        order="""
for (int t = 0; t < steps; t++) {
    for (int i = n - 2; i > 0; i--)
        B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = n - 2; i > 0; i--)
        A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
}""",
    ),
    Kernel(
        name="jacobi_2d",
        sizes={"steps": (31, 7), "n": (1301, 37)},
        arrays="A:n,n B:n,n",
        flops="10 * steps * n * n",
        text="""
for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
}""",
        inside="""
for (int t = 0; t < 2 * steps; t++) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            A[i][j] = B[i][j];
}""",
        order="""
for (int t = 0; t < steps; t++) {
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++)
            B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++)
            A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
}""",
    ),
    Kernel(
        name="seidel_2d",
        sizes={"steps": (21, 5), "n": (801, 37)},
        arrays="A:n,n",
        flops="9 * steps * n * n",
        text="""
for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j]
                + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;""",
        inside="""
for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            double s = A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1];
            s += A[i][j - 1] + A[i][j] + A[i][j + 1];
            s += A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1];
            A[i][j] = s / 9.0;
        }""",
        order="""
for (int t = 0; t < steps; t++)
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++)
            A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j]
                + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;""",
    ),
]

//! Pairs of relations over the same spaces, in three groups.

/// A group's name and its pairs.
pub const GROUPS: [(&str, &[[&str; 2]]); 3] =
    [("small", &SMALL), ("compiler", &COMPILER), ("hard", &HARD)];

const SMALL: [[&str; 2]; 5] = [
    ["{ [i] -> [j] : 0 <= i, j < 10 }", "{ [i] -> [j] : 5 <= i <= j < 20 }"],
    ["[n] -> { [i] -> [j] : 0 <= i <= j < n }", "[n] -> { [i] -> [j] : 0 <= j <= i < n }"],
    ["[n] -> { [i] -> [j] : 0 <= i < n and j = 2i }", "[n] -> { [i] -> [j] : j = 2i and i >= 3 }"],
    [
        "[n] -> { [i] -> [j] : 0 <= i, j < n and (i + j) mod 2 = 0 }",
        "[n] -> { [i] -> [j] : 0 <= i, j < n and (i - j) mod 3 = 1 }",
    ],
    [
        "[n, m] -> { [i, k] -> [j] : 0 <= i < n and 0 <= k < m and i <= j <= i + k }",
        "[n, m] -> { [i, k] -> [j] : 1 <= i < n and 0 <= k <= i and j <= m }",
    ],
];

const COMPILER: [[&str; 2]; 4] = [
    // Tiles of a matrix product.
    [
        "[N] -> { S[i, j, k] -> [a, b, c, i, j, k] : 0 <= i, j, k < N and a = floor(i/32) and b = floor(j/32) and c = floor(k/32) }",
        "[N] -> { S[i, j, k] -> [a, b, c, i, j, k] : 0 <= i, j < N and 0 <= k < N - 1 and a = floor(i/32) and b = floor(j/32) and c = floor(k/32) }",
    ],
    // Dependences of a stencil, skewed.
    [
        "[T, N] -> { S[t, i] -> S[t + 1, o] : 0 <= t < T - 1 and 1 <= i, o < N - 1 and i - 1 <= o <= i + 1 }",
        "[T, N] -> { S[t, i] -> S[t + 1, o] : 0 <= t < T and 0 <= i < N and o = i }",
    ],
    // A convolution reads its input with a stride.
    [
        "[H, W] -> { C[h, w, r, s] -> I[a, b] : 0 <= h < H and 0 <= w < W and 0 <= r, s < 3 and a = 2h + r and b = 2w + s }",
        "[H, W] -> { C[h, w, r, s] -> I[a, b] : 0 <= h < H and 0 <= w < W and 0 <= r, s < 3 and a = 2h + r - 1 and b = 2w + s - 1 and a >= 0 and b >= 0 }",
    ],
    // A layout with a modulus.
    [
        "[N] -> { A[i, j] -> M[x, y, z] : 0 <= i, j < N and x = floor(i/4) and y = j and z = i mod 4 }",
        "[N] -> { A[i, j] -> M[x, y, z] : 0 <= i <= j < N and 4x + z = i and 0 <= z < 4 and y = j }",
    ],
];

const HARD: [[&str; 2]; 3] = [
    [
        "[n] -> { [i] -> [j] : exists a, b: 3a + 5b <= i <= 3a + 5b + 1 and 0 <= a, b <= n and 7a <= 4j <= 9b }",
        "[n] -> { [i] -> [j] : exists a: 2a <= i + j <= 3a + n and 0 <= a <= 7 and j <= i <= n }",
    ],
    [
        "[n, m] -> { [i, j] -> [k] : 2i + 3j <= 5k + n and 7k <= 3i + m and 0 <= i, j <= 50 and 3k >= j - 4 }",
        "[n, m] -> { [i, j] -> [k] : 5i - 2j <= 3k + m and 4k >= i - n and 0 <= j <= i <= 60 and 2k <= 3j + n }",
    ],
    [
        "{ [i, j] -> [k] : 0 <= i, j, k <= 40 and (2i + 3j) mod 5 = 1 and (i + k) mod 3 = 0 and 3i <= 2j + k }",
        "{ [i, j] -> [k] : 0 <= i, j, k <= 40 and (i + j + k) mod 4 = 2 and 5k >= i + j or i = j and k = 3 }",
    ],
];

/* Runs cnn.onnx, compiled, on a picture of one colour.
 *
 *     tangram compile examples/models/cnn.onnx --emit c -o cnn.c
 *     cc -O3 -march=native -fno-trapping-math -I. examples/native/main.c cnn.c -lm -o classify
 *     ./classify cnn.weights
 */
#include "cnn.h"
#include <stdio.h>
#include <stdlib.h>

/* `bytes` of a file, or nothing in particular, at a multiple of 64. */
static void *aligned(const char *path, size_t bytes)
{
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!block || (path && (!file || fread(block, 1, bytes, file) != bytes)))
        exit(fprintf(stderr, "%s: cannot be read\n", path ? path : "arena") > 0);
    if (file)
        fclose(file);
    return block;
}

int main(int count, char **arguments)
{
    const int64_t dims[] = {1, 32, 32}; /* batch, height, width */
    static float image[3 * 32 * 32], shares[10];
    for (int i = 0; i < 3 * 32 * 32; i++)
        image[i] = 0.5f;
    void *weights = aligned(count > 1 ? arguments[1] : "cnn.weights", CNN_WEIGHTS_BYTES);
    void *arena = aligned(NULL, cnn_arena_bytes(dims, NULL));
    const void *inputs[] = {image};
    void *outputs[] = {shares};
    if (cnn_run(weights, arena, inputs, outputs, dims, NULL) != 0)
        return 1;
    for (int i = 0; i < 10; i++)
        printf("%d %.6f\n", i, shares[i]);
    free(weights);
    free(arena);
    return 0;
}

/* Keep the best outputs of each input while outputs are examined in order. */
#ifndef SYNTF_BEST_H
#define SYNTF_BEST_H
#include "_buffers.h"
#include <math.h>

/* The best outputs found so far, `count` for each input, the best first.
 *
 * An output whose product dot * scale_out is at most `bounds` of an input is not among the best of
 * that input. So its level need not be computed. SPARE_BOUNDS, which no product exceeds, follow
 * those of the inputs, for loops over whole groups of inputs. */
enum { SPARE_BOUNDS = 8 };
typedef struct {
    Py_ssize_t count;
    int32_t *levels; /* -1 where no output was found yet */
    int32_t *outputs;
    float *bounds;
} Best;

/* Allocate levels and bounds, and return whether there was enough memory. */
static int start_best(Best *best, Py_ssize_t rows, Py_ssize_t count, int32_t *outputs)
{
    best->count = count;
    best->outputs = outputs;
    best->levels = malloc((size_t)(rows * count + 1) * sizeof *best->levels);
    best->bounds = malloc((size_t)(rows + SPARE_BOUNDS) * sizeof *best->bounds);
    if (!best->levels || !best->bounds)
        return 0;
    for (Py_ssize_t i = 0; i < rows * count; i++)
        best->levels[i] = -1;
    for (Py_ssize_t r = 0; r < rows + SPARE_BOUNDS; r++)
        best->bounds[r] = r < rows ? -INFINITY : INFINITY;
    return 1;
}

static void free_best(Best *best)
{
    free(best->levels);
    free(best->bounds);
}

/* Insert output w of input r if its level exceeds that of the last place.
 *
 * Outputs come in order, so those of equal level stay in order. A later level exceeds `last` only if
 * dot * (scale_in * scale_out) exceeds it too. The bound is lower by more than the error of these
 * products and of the quotient, which is below 2^-22 of their size. */
static inline void insert_best(Best *best, Py_ssize_t r, float scale_in, Py_ssize_t w, int32_t level)
{
    int32_t *levels = best->levels + r * best->count, *outputs = best->outputs + r * best->count;
    Py_ssize_t place = best->count - 1;
    if (level <= levels[place])
        return;
    for (; place > 0 && levels[place - 1] < level; place--) {
        levels[place] = levels[place - 1];
        outputs[place] = outputs[place - 1];
    }
    levels[place] = level;
    outputs[place] = (int32_t)w;
    int32_t last = levels[best->count - 1];
    if (last >= 0)
        best->bounds[r] = (float)last / scale_in * (1 - 1.0f / 65536);
}

#endif

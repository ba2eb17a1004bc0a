// The inner loops on a GPU: the integers of reference.py, bit for bit.
//
// The only floating-point steps that a result depends on are single products, one division and
// conversions, whose results IEEE 754 fixes. Sums are of integers, so the order of addition cannot
// change them. `widen` also estimates logarithms, but only to decide what it need not compute.
//
// A row of levels is padded to `stride` columns, a multiple of TILE_COLUMNS, of which `width` are
// outputs. Defined when this is compiled: STEPS, the number of 32 dimensions in a vector; COPIED, 1
// if the bigrams of TILE_COLUMNS outputs and all penalties are copied to shared memory.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define GRID 65535
#define TILE_ROWS 32
#define TILE_COLUMNS 256
#define GROUP_ROWS 512
#define TOGETHER 8
#define ALL 0xffffffffu
#define INFINITE __int_as_float(0x7f800000)

__device__ static void multiply_add(int *sum, const u32 *a, const u32 *b)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Add each of eight bits to a byte of its own.
__device__ static void add_bits(u32 *bytes, u32 bits)
{
    bytes[0] += ((bits & 15) * 0x204081) & 0x1010101;
    bytes[1] += ((bits >> 4) * 0x204081) & 0x1010101;
}

// Compute levels of cosine minus spelling penalty. A block of 256 threads handles TILE_COLUMNS
// columns of GROUP_ROWS rows, TILE_ROWS at a time: first all inner products, then the rest.
// Bit c of `incidence`, in rows of `stride` bits, tells whether output c has the bigram of the row.
extern "C" __global__ void __launch_bounds__(256, 3) rate(
    const uint4 *vectors_in, const u32 *vectors_out, const float *scale_in, const float *scale_out,
    const int *starts, const int *bigrams, const u8 *incidence, int incidence_rows,
    const u8 *count_in, const u8 *count_out, const u16 *penalty, int penalty_width,
    int penalty_size, int rows, int stride, u16 *levels)
{
    const int words = 8 * STEPS; // a vector's size in words of 32 bits
    const int quads = TILE_ROWS * words / 4, each = (quads + 255) / 256;
    __shared__ uint4 inputs[TILE_ROWS][2 * STEPS + 1];
    __shared__ u16 cosines[TILE_ROWS][TILE_COLUMNS + 8];
    __shared__ int ids[2 * 256]; // the bigrams of the rows, if they fit
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int first = blockIdx.x * TILE_COLUMNS;
    const int own = first + 8 * lane; // this thread's eight columns in the second part
#if COPIED
    extern __shared__ u32 copy[];
    const u8 *const having = (u8 *)copy + lane;
    const u16 *const penalties = (u16 *)(copy + 8 * incidence_rows);
    const int pitch = TILE_COLUMNS / 8;
    for (int place = thread; place < 8 * incidence_rows; place += 256)
        copy[place] = *(const u32 *)(incidence + (i64)(place / 8) * (stride / 8) + first / 8 +
                                     4 * (place % 8));
    for (int place = thread; place < penalty_size; place += 256)
        ((u16 *)(copy + 8 * incidence_rows))[place] = penalty[place];
#else
    const u8 *const having = incidence + first / 8 + lane;
    const u16 *const penalties = penalty;
    const i64 pitch = stride / 8;
#endif

    // The parts of 32 output vectors that this thread multiplies by, and the scales of the products.
    u32 outputs[STEPS][4][2];
    float scales[4][2];
    for (int part = 0; part < 4; part++) {
        const int column = first + 32 * warp + 8 * part;
        const u32 *vector = vectors_out + (i64)(column + lane / 4) * words;
        #pragma unroll
        for (int step = 0; step < STEPS; step++) {
            outputs[step][part][0] = vector[8 * step + lane % 4];
            outputs[step][part][1] = vector[8 * step + 4 + lane % 4];
        }
        scales[part][0] = scale_out[column + 2 * (lane % 4)];
        scales[part][1] = scale_out[column + 2 * (lane % 4) + 1];
    }
    u32 counts[2]; // of the bigrams of the eight columns, one byte each
    counts[0] = *(const u32 *)(count_out + own);
    counts[1] = *(const u32 *)(count_out + own + 4);

    const int start = blockIdx.y * GROUP_ROWS, stop = min(start + GROUP_ROWS, rows);
    uint4 next[each];
    int next_ids[2];
    for (int tile = start - TILE_ROWS; tile < stop; tile += TILE_ROWS) {
        // Load what the next tile needs. It arrives while this tile is computed.
        const int following = tile + TILE_ROWS;
        if (following < stop) {
            #pragma unroll
            for (int k = 0; k < each; k++)
                if (thread + 256 * k < quads)
                    next[k] = vectors_in[(i64)following * (words / 4) + thread + 256 * k];
            const int begin = starts[following], end = starts[min(following + TILE_ROWS, rows)];
            for (int k = 0; k < 2; k++)
                next_ids[k] = begin + thread + 256 * k < end ? bigrams[begin + thread + 256 * k] : 0;
        }
        if (tile >= start) {
            for (int above = 0; above < TILE_ROWS; above += 16) {
                int sums[4][4] = {};
                const int row = above + lane / 4;
                const u32 *upper = (const u32 *)inputs[row] + lane % 4;
                const u32 *lower = (const u32 *)inputs[row + 8] + lane % 4;
                #pragma unroll
                for (int step = 0; step < STEPS; step++) {
                    const u32 factors[4] = {upper[8 * step], lower[8 * step], upper[8 * step + 4],
                                            lower[8 * step + 4]};
                    for (int part = 0; part < 4; part++)
                        multiply_add(sums[part], factors, outputs[step][part]);
                }
                // A negative cosine gives level 0, as the penalty is not negative.
                for (int half = 0; half < 2; half++) {
                    const float scale = scale_in[min(tile + row + 8 * half, rows - 1)];
                    for (int part = 0; part < 4; part++) {
                        u32 found[2];
                        for (int j = 0; j < 2; j++) {
                            const float product = (float)sums[part][2 * half + j];
                            const float factor = __fmul_rn(scale, scales[part][j]);
                            found[j] = max(__float2int_rn(__fmul_rn(product, factor)), 0);
                        }
                        const int column = 32 * warp + 8 * part + 2 * (lane % 4);
                        *(u32 *)&cosines[row + 8 * half][column] = found[0] | found[1] << 16;
                    }
                }
            }
            __syncthreads();
            const int beginning = starts[tile];
            const int last = min(tile + (warp + 1) * (TILE_ROWS / 8), stop);
            for (int row = tile + warp * (TILE_ROWS / 8); row < last; row++) {
                // The number of shared bigrams of each of the eight columns, one byte each.
                u32 shared[2] = {0, 0};
                const int begin = starts[row], end = starts[row + 1];
                if (end - beginning <= 2 * 256) {
                    #pragma unroll 4
                    for (int j = begin; j < end; j++)
                        add_bits(shared, having[ids[j - beginning] * pitch]);
                } else {
                    for (int j = begin; j < end; j++)
                        add_bits(shared, having[bigrams[j] * pitch]);
                }
                const u16 *const lost = penalties + count_in[row];
                const uint4 eight = *(const uint4 *)&cosines[row - tile][8 * lane];
                const u32 pairs[4] = {eight.x, eight.y, eight.z, eight.w};
                u32 found[4];
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    u32 loss[2]; // 0 without a shared bigram
                    #pragma unroll
                    for (int k = 0; k < 2; k++) {
                        const u32 both = __byte_perm(shared[j / 2], 0, 0x4440 + 2 * (j % 2) + k);
                        const u32 count = __byte_perm(counts[j / 2], 0, 0x4440 + 2 * (j % 2) + k);
                        loss[k] = lost[both * penalty_width + count];
                    }
                    const u32 losses = loss[0] | loss[1] << 16;
                    found[j] = __vmaxu2(pairs[j], losses) - losses;
                }
                *(uint4 *)(levels + (i64)row * stride + own) =
                    make_uint4(found[0], found[1], found[2], found[3]);
            }
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < each; k++) {
            const int place = thread + 256 * k;
            if (place < quads)
                inputs[place / (2 * STEPS)][place % (2 * STEPS)] = next[k];
        }
        for (int k = 0; k < 2; k++)
            ids[thread + 256 * k] = next_ids[k];
        __syncthreads();
    }
}

__device__ static i64 sum_of_block(i64 value, i64 *shared)
{
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_xor_sync(ALL, value, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < blockDim.x / 32; warp++)
        value += shared[warp];
    return value;
}

__device__ static u64 most_of_block(u64 value, i64 *shared)
{
    for (int offset = 16; offset; offset /= 2)
        value = max(value, __shfl_xor_sync(ALL, value, offset));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = (i64)value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < blockDim.x / 32; warp++)
        value = max(value, (u64)shared[warp]);
    return value;
}

__device__ static i64 scaled(i64 weight, double scale)
{
    return __double2ll_rn(__dmul_rn((double)weight, scale));
}

// Count a level above 0 in its 16 bits. The compiler would make two branches of this.
__device__ static void count_level(u32 counts, u32 level)
{
    asm volatile("{ .reg .pred above; setp.ne.u32 above, %0, 0;"
                 "@above red.shared.add.u32 [%1], %2; }"
                 :: "r"(level), "r"(counts + ((level & 0xfffe) << 1)), "r"(1u << ((level & 1) << 4))
                 : "memory");
}

// Compute a row's sum before scaling, its scale, its highest level and its first best output, and
// extend `low` and `high` by the weight of that output. One block of threads handles one row. It
// counts each level and looks up the weight of a level once, not once for each output.
extern "C" __global__ void __launch_bounds__(1024) add_up(
    const u16 *levels, int stride, int width, const i64 *table, i64 total, i64 *sums,
    double *scales, int *tops, int *bests, i64 *low, i64 *high)
{
    extern __shared__ u32 counts[]; // of two levels in each word, 16 bits each; not of level 0
    __shared__ i64 shared[32];
    const int thread = threadIdx.x, threads = blockDim.x;
    const u16 *row = levels + (i64)blockIdx.x * stride;
    for (int place = thread; place < (GRID + 1) / 8; place += threads)
        ((uint4 *)counts)[place] = make_uint4(0, 0, 0, 0);
    __syncthreads();

    const u32 base = (u32)__cvta_generic_to_shared(counts);
    u32 positive = 0; // how many levels are above 0, at even and at odd places, 16 bits each
    int top = -1, best = 0;
    uint4 next = 8 * thread < stride ? *(const uint4 *)(row + 8 * thread) : make_uint4(0, 0, 0, 0);
    for (int column = 8 * thread; column < stride; column += 8 * threads) {
        const uint4 eight = next;
        if (column + 8 * threads < stride)
            next = *(const uint4 *)(row + column + 8 * threads);
        const u32 pairs[4] = {eight.x, eight.y, eight.z, eight.w};
        const u32 most = __vmaxu2(__vmaxu2(eight.x, eight.y), __vmaxu2(eight.z, eight.w));
        const int highest = (int)max(most & 0xffff, most >> 16);
        if (highest > top) {
            top = highest;
            best = column;
        }
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const u32 pair = pairs[j], even = pair & 0xffff, odd = pair >> 16;
            positive += __vminu2(pair, 0x10001);
            count_level(base, even);
            count_level(base, odd);
        }
    }
    while (row[best] != top && top >= 0)
        best++;
    const u64 first = most_of_block(((u64)(top + 1) << 32) | (ALL - (u32)best), shared);
    top = (int)(first >> 32) - 1;
    best = (int)(ALL - (u32)first);
    table += GRID - top; // now the weight of level 0
    const i64 positives = sum_of_block((positive & 0xffff) + (positive >> 16), shared);
    const i64 zeros = width - positives; // the padding is 0, too

    i64 sum = 0, counted = 0;
    for (int word = thread; word <= top / 2; word += threads) {
        const u32 both = counts[word];
        const i64 even = both & 0xffff, odd = both >> 16;
        counted += even + odd;
        if (even)
            sum += even * table[2 * word];
        if (odd && 2 * word < top)
            sum += odd * table[2 * word + 1];
    }
    // A count above 65,535 runs over, which lowers the total: then look up each output by itself.
    const bool fits = sum_of_block(counted, shared) == positives;
    if (!fits) {
        sum = 0;
        for (int column = thread; column < width; column += threads)
            sum += table[row[column]];
    }
    sum = sum_of_block(sum, shared) + (fits ? zeros * table[0] : 0);

    const double scale = __ddiv_rn((double)total, (double)sum);
    i64 used = 0;
    if (fits) {
        for (int word = thread; word <= top / 2; word += threads) {
            const u32 both = counts[word];
            const i64 even = both & 0xffff, odd = both >> 16;
            if (even)
                used += even * scaled(table[2 * word], scale);
            if (odd)
                used += odd * scaled(table[2 * word + 1], scale);
        }
    } else {
        for (int column = thread; column < width; column += threads)
            used += scaled(table[row[column]], scale);
    }
    used = sum_of_block(used, shared) + (fits ? zeros * scaled(table[0], scale) : 0);
    if (thread == 0) {
        sums[blockIdx.x] = sum;
        scales[blockIdx.x] = scale;
        tops[blockIdx.x] = top;
        bests[blockIdx.x] = best;
        const i64 weight = scaled(table[top], scale) + (total - used);
        atomicMin(low + best, weight);
        atomicMax(high + best, weight);
    }
}

// Extend `low` and `high` by all weights except that of each row's first best output. The logarithm
// of a weight is about slope·level + offset of the row; a weight is computed only if that estimate
// comes within `slack` of the extremes found before. Each thread handles four columns.
extern "C" __global__ void __launch_bounds__(128) widen(
    const u16 *levels, int stride, int width, int rows, const i64 *table, const double *scales,
    const int *tops, const int *bests, const float *offsets, float slope, float slack, i64 *low,
    i64 *high)
{
    const int own = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (own >= width)
        return;
    float least[4], most[4];
    i64 lowest[4], highest[4];
    for (int j = 0; j < 4; j++) {
        const bool valid = own + j < width;
        lowest[j] = valid ? low[own + j] : 0;
        highest[j] = valid ? high[own + j] : 0;
        least[j] = (valid ? logf((float)lowest[j]) : -INFINITE) + slack;
        most[j] = (valid ? highest[j] ? logf((float)highest[j]) : -INFINITE : INFINITE) - slack;
    }
    const int start = blockIdx.y * GROUP_ROWS, stop = min(start + GROUP_ROWS, rows);
    for (int begin = start; begin < stop; begin += TOGETHER) {
        ushort4 loaded[TOGETHER];
        #pragma unroll
        for (int k = 0; k < TOGETHER; k++) // the last row again, if there are no more
            loaded[k] = *(const ushort4 *)(levels + (i64)min(begin + k, stop - 1) * stride + own);
        #pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            const int row = min(begin + k, stop - 1);
            const int found[4] = {loaded[k].x, loaded[k].y, loaded[k].z, loaded[k].w};
            const float offset = offsets[row];
            float estimates[4];
            bool needed = false;
            for (int j = 0; j < 4; j++) {
                estimates[j] = fmaf((float)found[j], slope, offset);
                needed |= estimates[j] < least[j] || estimates[j] > most[j];
            }
            if (!needed)
                continue;
            for (int j = 0; j < 4; j++) {
                const bool inside = estimates[j] >= least[j] && estimates[j] <= most[j];
                if (inside || own + j >= width || own + j == bests[row])
                    continue;
                const i64 weight = scaled(table[GRID - tops[row] + found[j]], scales[row]);
                lowest[j] = min(lowest[j], weight);
                highest[j] = max(highest[j], weight);
                least[j] = min(least[j], estimates[j] + slack);
                most[j] = max(most[j], estimates[j] - slack);
            }
        }
    }
    for (int j = 0; j < 4 && own + j < width; j++) {
        atomicMin(low + own + j, lowest[j]);
        atomicMax(high + own + j, highest[j]);
    }
}

// Find the `count` outputs of highest level of a row, of equal ones the first. One block of 256
// threads handles one row. A key is level·width + (width − 1 − column); the keys are not sorted.
extern "C" __global__ void __launch_bounds__(256) nearest(
    const u16 *levels, int stride, int width, int count, i64 *keys)
{
    __shared__ int bins[256];
    __shared__ int digit, rest, place;
    const int thread = threadIdx.x;
    const u16 *row = levels + (i64)blockIdx.x * stride;
    i64 *found = keys + (i64)blockIdx.x * count;

    // The level of the last output that is found, one byte after the other.
    int last = 0, wanted = count;
    for (int shift = 8; shift >= 0; shift -= 8) {
        bins[thread] = 0;
        __syncthreads();
        for (int column = thread; column < width; column += 256)
            if (shift == 8 || row[column] >> 8 == last)
                atomicAdd(&bins[(row[column] >> shift) & 255], 1);
        __syncthreads();
        if (thread == 0) {
            rest = wanted;
            for (digit = 255; bins[digit] < rest; digit--)
                rest -= bins[digit];
            place = 0;
        }
        __syncthreads();
        last = shift == 8 ? digit : 256 * last + digit;
        wanted = rest;
        __syncthreads();
    }

    // Each thread looks at consecutive columns, so that the first of equal levels are found.
    const int each = (width + 255) / 256, start = thread * each, stop = min(start + each, width);
    int equal = 0;
    for (int column = start; column < stop; column++)
        equal += row[column] == last;
    bins[thread] = equal;
    __syncthreads();
    int rank = 0;
    for (int other = 0; other < thread; other++)
        rank += bins[other];
    for (int column = start; column < stop; column++) {
        const i64 key = (i64)row[column] * width + (width - 1 - column);
        if (row[column] > last)
            found[atomicAdd(&place, 1)] = key;
        else if (row[column] == last && rank < wanted)
            found[count - wanted + rank++] = key;
    }
}

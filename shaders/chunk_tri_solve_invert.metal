// (I + strictly_lower(a))^-1 of every chunk of BT rows and every head, by forward substitution over
// whole columns.
//
// Grid: x = chunk, y = HEADS heads, z = sequence. A thread solves a column, or two of 64, BLOCK
// rows at a time: first what the rows above the block contribute, then the block itself. Only the
// squares of BLOCK rows and columns on and below the diagonal are read; they are the only
// threadgroup memory, and rows that are solved lie where those of the matrix did. The host defines
// BT (16, 32 or 64) and THREADS (32), the types A_TYPE and A_INV_TYPE, and CHUNKS, whether that
// table is there.

#define WIDTH (BT < THREADS ? BT : THREADS)
#define COLUMNS (BT / WIDTH)
#define HEADS (THREADS / WIDTH)
#define QUADS (BT / 4)
#define BLOCK 16
#define SQUARE (BLOCK * BLOCK / 4)
#define SQUARES (BT / BLOCK * (BT / BLOCK + 1) / 2)
// Squares lie so far apart that neighbours share no banks.
#define PITCH (SQUARE + 4)

// Where a square begins, and where row i of it does. The squares are ordered by rows of them.
inline uint square_at(uint row, uint column) {
  const uint i = row / BLOCK;
  return (i * (i + 1) / 2 + column / BLOCK) * PITCH;
}
inline uint quad_at(uint row, uint column) {
  return square_at(row, column) + row % BLOCK * 4 + column % BLOCK / 4;
}

// A block's rows of a column: the two chains of each element, and in `even` in the end their sum.
struct block_column {
  float even[BLOCK];
  float odd[BLOCK];
};

// Adds what the rows of the block that begins at `above` contribute to N columns, j and j + WIDTH.
// Tile is "threadgroup float4*".
template <uint N, typename Tile>
inline void add_block(thread block_column* columns, Tile tile, uint begin, uint above, uint j) {
#pragma unroll 1
  for (uint k = 0; k < BLOCK; k += 4) {
    float x[N][4];
#pragma unroll
    for (uint n = 0; n < N; ++n) {
      // Squares above the diagonal are zero, and have no place.
      const uint column = j + n * WIDTH;
      const bool below = column / BLOCK <= above / BLOCK;
#pragma unroll
      for (uint e = 0; e < 4; ++e) {
        x[n][e] = below ? tile[quad_at(above, column) + (k + e) * 4][column % 4] : 0.0f;
      }
    }
#pragma unroll
    for (uint i = 0; i < BLOCK; ++i) {
      const float4 l = tile[square_at(begin, above) + i * 4 + k / 4];
#pragma unroll
      for (uint n = 0; n < N; ++n) {
        columns[n].even[i] = fma(-l.z, x[n][2], fma(-l.x, x[n][0], columns[n].even[i]));
        columns[n].odd[i] = fma(-l.w, x[n][3], fma(-l.y, x[n][1], columns[n].odd[i]));
      }
    }
  }
}

// Solves a block's rows of N columns, once the rows above it have contributed.
template <uint N, typename Tile>
inline void solve_block(thread block_column* columns, Tile tile, uint begin) {
#pragma unroll
  for (uint i = 0; i < BLOCK; ++i) {
#pragma unroll
    for (uint k = 0; k < i; k += 4) {
      const float4 l = tile[square_at(begin, begin) + i * 4 + k / 4];
#pragma unroll
      for (uint n = 0; n < N; ++n) {
        thread float* even = columns[n].even;
        thread float* odd = columns[n].odd;
        even[i] = fma(-l.x, even[k], even[i]);
        if (k + 1 < i) odd[i] = fma(-l.y, even[k + 1], odd[i]);
        if (k + 2 < i) even[i] = fma(-l.z, even[k + 2], even[i]);
        if (k + 3 < i) odd[i] = fma(-l.w, even[k + 3], odd[i]);
      }
    }
#pragma unroll
    for (uint n = 0; n < N; ++n) columns[n].even[i] += columns[n].odd[i];
  }
}

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void chunk_tri_solve_invert(device const A_TYPE* a [[buffer(0)]],
                                   device A_INV_TYPE* a_inv [[buffer(1)]],
                                   constant chunk_tri_solve_invert_params& p [[buffer(2)]],
                                   constant int* chunks
                                   [[buffer(3)]],  // the first row and the number of rows of each
                                   uint3 group [[threadgroup_position_in_grid]],
                                   uint thread_index [[thread_index_in_threadgroup]]) {
  const uint j = thread_index % WIDTH;
  // Known to be 0 where a head is a whole group.
  const uint own = HEADS == 1 ? 0 : thread_index / WIDTH;
  const uint head = min(group.y * HEADS + own, p.heads - 1);
  threadgroup float4 tiles[HEADS * SQUARES * PITCH];
  const uint tile = own * SQUARES * PITCH;
#if CHUNKS
  const uint start = uint(chunks[group.x * 2]), rows = uint(chunks[group.x * 2 + 1]);
#else
  const uint start = (p.first + group.x) * BT, rows = min(p.steps - start, uint(BT));
#endif
  const ulong stride = ulong(p.heads) * BT;
  const ulong base = (ulong(group.z) * p.steps + start) * stride + ulong(head) * BT;

#pragma unroll
  for (uint i = 0; i < BT; i += BLOCK) {
#pragma unroll
    for (uint k = 0; k <= i; k += BLOCK) {
#pragma unroll
      for (uint e = 0; e < SQUARE; e += WIDTH) {
        // Rows past the end are never used: any will do.
        const uint row = min(i + (e + j) / 4, rows - 1);
        tiles[tile + square_at(i, k) + e + j] =
            get_columns<BT, true>(a + base + row * stride, k + j % 4 * 4);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

#pragma unroll
  for (uint begin = 0; begin < BT; begin += BLOCK) {
    block_column columns[COLUMNS];
#pragma unroll
    for (uint n = 0; n < COLUMNS; ++n) {
#pragma unroll
      for (uint i = 0; i < BLOCK; ++i) {
        columns[n].even[i] = begin + i == j + n * WIDTH ? 1.0f : 0.0f;
        columns[n].odd[i] = 0.0f;
      }
    }
    // Above row 32 the second column is zero.
#pragma unroll
    for (uint above = 0; above < begin; above += BLOCK) {
      if (above < WIDTH)
        add_block<1>(columns, tiles + tile, begin, above, j);
      else
        add_block<COLUMNS>(columns, tiles + tile, begin, above, j);
    }
    if (begin < WIDTH)
      solve_block<1>(columns, tiles + tile, begin);
    else
      solve_block<COLUMNS>(columns, tiles + tile, begin);
    // No thread looks at these rows of the matrix any more.
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint n = 0; n < COLUMNS; ++n) {
      const uint column = j + n * WIDTH;
      if (column / BLOCK > begin / BLOCK) continue;
#pragma unroll
      for (uint i = 0; i < BLOCK; ++i) {
        tiles[tile + quad_at(begin, column) + i * 4][column % 4] = columns[n].even[i];
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // A group's last heads may be one too many: they do the last one's work again, and store nothing.
  const uint stored = group.y * HEADS + own < p.heads ? rows : 0;
  const uint column = j % QUADS * 4;
  device A_INV_TYPE* to = a_inv + base + j / QUADS * stride + column;
#pragma unroll 1
  for (uint i = 0; i < BT; i += BLOCK) {
    const bool above = column / BLOCK > i / BLOCK;
#pragma unroll
    for (uint step = 0; step < BLOCK; step += WIDTH / QUADS) {
      const uint e = step + j / QUADS;
      const float4 x = tiles[tile + quad_at(i, column) + e * 4];
      const float4 whole =
          float4(above ? 0.0f : x.x, above ? 0.0f : x.y, above ? 0.0f : x.z, above ? 0.0f : x.w);
      if (i + e < stored) put_columns_plain(to, 0, whole);
      to += WIDTH / QUADS * stride;
    }
  }
}

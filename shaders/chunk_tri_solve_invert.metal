// (I + strictly_lower(a))^-1 of every chunk of BT rows and every head, by forward substitution over
// whole columns.
//
// Grid: x = HEADS heads, y = chunk, z = sequence. BLOCK threads solve a chunk, in squares of BLOCK
// rows and columns: WIDE squares' columns at a time, of which a thread has one each, from the
// diagonal down. The matrix's squares on and below the diagonal pass through threadgroup memory,
// WIDE of them at a time, the next under way while these are used; a square is read before anything
// is stored over it. What has been solved stays there for the rows below. The host defines BT (16,
// 32 or 64) and THREADS (32), the types A_TYPE and A_INV_TYPE, and CHUNKS, whether that table is
// there.

#define BLOCK 16
#define BLOCKS (BT / BLOCK)
#define WIDE (BLOCKS > 1 ? 2 : 1)
#define HEADS (THREADS / BLOCK)
#define QUADS (BLOCK / 4)
#define SQUARE (BLOCK * QUADS)
#define APART (THREADS / (QUADS * HEADS * WIDE))
// Solved squares that are kept: one of the columns' first row, which has no other, and WIDE of each
// row below. The last row lies where the first did.
#define KEPT (BLOCKS > 2 ? WIDE * BLOCKS - 3 : BLOCKS)

// A block's rows of a thread's columns: the two chains of each element, and in `even` in the end
// their sum.
struct block_rows {
  float even[WIDE][BLOCK];
  float odd[WIDE][BLOCK];
};

// A thread's part of WIDE squares of the matrix, side by side, as it is stored.
struct squares_part {
  stored4<A_TYPE>::type quad[WIDE][QUADS];
};

// The squares of a row of them from column `above` on; one above the diagonal stays what it was.
inline void fetch(thread squares_part& s,
                  device const A_TYPE* a,
                  uint stride,
                  uint rows,
                  uint row,
                  uint above,
                  uint j) {
#pragma unroll
  for (uint e = 0; e < QUADS; ++e) {
    // Rows past the end are never used: any will do.
    const uint i = min(row * BLOCK + e * QUADS + j / QUADS, rows - 1);
    const uint at = i * stride + above * BLOCK + j % QUADS * 4;
    s.quad[0][e] = get_stored(a + at);
    if (WIDE > 1 && above < row) s.quad[WIDE - 1][e] = get_stored(a + at + BLOCK);
  }
}

// Puts squares where all threads find them. Quads is "threadgroup float4*".
template <typename Quads>
inline void put_squares(thread const squares_part& s, Quads squares) {
#pragma unroll
  for (uint n = 0; n < WIDE; ++n) {
#pragma unroll
    for (uint e = 0; e < QUADS; ++e) squares[n * SQUARE + e * BLOCK] = numbers(s.quad[n][e]);
  }
}

// Zeros, and the 1 of the diagonal where that is column `diagonal`'s.
inline void begin_rows(thread block_rows& x, uint diagonal, uint j) {
#pragma unroll
  for (uint n = 0; n < WIDE; ++n) {
    const float unit = n == diagonal ? float(j) : -1.0f;
#pragma unroll
    for (uint i = 0; i < BLOCK; ++i) {
      x.even[n][i] = unit == float(i) ? 1.0f : 0.0f;
      x.odd[n][i] = 0.0f;
    }
  }
}

// How far rows of solved squares lie apart, and squares: a row has a number of every thread.
#define ROW (THREADS / 4)
#define SOLVED (BLOCK * ROW)
inline uint solved_at(uint row) { return row == 0 ? 0 : (row * WIDE - WIDE + 1) * SOLVED; }

// Adds what solved rows above contribute to N columns, of which the thread has an `element` of each
// row's quad.
template <uint N, typename Quads>
inline void add_block(thread block_rows& x, Quads square, Quads solved, uint element) {
#pragma unroll 1
  for (uint k = 0; k < QUADS; ++k) {
    float above[N][4];
#pragma unroll
    for (uint n = 0; n < N; ++n) {
#pragma unroll
      for (uint e = 0; e < 4; ++e) above[n][e] = solved[n * SOLVED + e * ROW][element];
    }
#pragma unroll
    for (uint i = 0; i < BLOCK; ++i) {
      const float4 l = square[i * QUADS];
#pragma unroll
      for (uint n = 0; n < N; ++n) {
        x.even[n][i] = fma(-l.z, above[n][2], fma(-l.x, above[n][0], x.even[n][i]));
        x.odd[n][i] = fma(-l.w, above[n][3], fma(-l.y, above[n][1], x.odd[n][i]));
      }
    }
    square += 1;
    solved += 4 * ROW;
  }
}

// Solves the rows of N columns, once the rows above the block have contributed.
template <uint N, typename Quads>
inline void solve_block(thread block_rows& x, Quads square) {
#pragma unroll
  for (uint i = 0; i < BLOCK; ++i) {
#pragma unroll
    for (uint k = 0; k < i; k += 4) {
      const float4 l = square[i * QUADS + k / 4];
#pragma unroll
      for (uint n = 0; n < N; ++n) {
        thread float* even = x.even[n];
        thread float* odd = x.odd[n];
        even[i] = fma(-l.x, even[k], even[i]);
        if (k + 1 < i) odd[i] = fma(-l.y, even[k + 1], odd[i]);
        if (k + 2 < i) even[i] = fma(-l.z, even[k + 2], even[i]);
        if (k + 3 < i) odd[i] = fma(-l.w, even[k + 3], odd[i]);
      }
    }
#pragma unroll
    for (uint n = 0; n < N; ++n) x.even[n][i] += x.odd[n][i];
  }
}

// Puts the thread's numbers where the rows below, and those who store them, find them.
template <typename Quads>
inline void keep(thread const block_rows& x, Quads solved, uint element) {
#pragma unroll
  for (uint n = 0; n < WIDE; ++n) {
#pragma unroll
    for (uint i = 0; i < BLOCK; ++i) solved[n * SOLVED + i * ROW][element] = x.even[n][i];
  }
}

// Stores four columns of every APART-th row of a block.
template <typename Quads>
inline void store(device A_INV_TYPE* to, uint stride, uint rows, Quads solved) {
#pragma unroll
  for (uint i = 0; i < BLOCK; i += APART) {
    const float4 v = solved[i * ROW];
    if (i < rows) put_columns_plain(to, 0, v);
    to += APART * stride;
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
  threadgroup float4 squares[HEADS * WIDE * SQUARE];
  threadgroup float4 solved[KEPT * SOLVED];
  const uint own = thread_index / BLOCK, j = thread_index % BLOCK;
#if CHUNKS
  const uint start = uint(chunks[group.y * 2]), rows = uint(chunks[group.y * 2 + 1]);
#else
  const uint start = (p.first + group.y) * BT, rows = min(p.steps - start, uint(BT));
#endif
  const uint stride = p.heads * BT;
  const ulong base = (ulong(group.z) * p.steps + start) * stride;
  // A group's last head may be one too many: it does the last one's work again.
  a += base + min(group.x * HEADS + own, p.heads - 1) * BT;

  // Which four columns of WIDE squares the thread stores, of which head and from which row on.
  const uint quad = thread_index % QUADS, of = thread_index / QUADS % HEADS;
  const uint wide = thread_index / (QUADS * HEADS) % WIDE;
  const uint first = thread_index / (QUADS * HEADS * WIDE);
  const uint stored = group.x * HEADS + of < p.heads ? rows : 0;
  a_inv += base + (group.x * HEADS + of) * BT + wide * BLOCK + quad * 4;

  squares_part next = {};
  fetch(next, a, stride, rows, 0, 0, j);
#pragma unroll 1
  for (uint begin = 0; begin < BLOCKS; begin += WIDE) {
    for (uint i = first; i < begin * BLOCK; i += APART) {
      if (i < stored) put_columns_plain(a_inv + i * stride, begin * BLOCK, float4(0.0f));
    }
#pragma unroll 1
    for (uint row = begin; row < BLOCKS; ++row) {
      block_rows columns;
      begin_rows(columns, row - begin, j);
#pragma unroll 1
      for (uint pair = begin; pair <= row; pair += WIDE) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        put_squares(next, squares + own * WIDE * SQUARE + j);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (pair + WIDE <= row)
          fetch(next, a, stride, rows, row, pair + WIDE, j);
        else if (row + 1 < BLOCKS)
          fetch(next, a, stride, rows, row + 1, begin, j);
        else if (begin + WIDE < BLOCKS)
          fetch(next, a, stride, rows, begin + WIDE, begin + WIDE, j);

#pragma unroll 1
        for (uint above = pair; above <= row && above < pair + WIDE; ++above) {
          const uint square = (own * WIDE + above - pair) * SQUARE;
          const uint at = thread_index / 4, element = thread_index % 4;
          const uint higher = at + solved_at(above - begin);
          if (above < row && above == begin)
            add_block<1>(columns, squares + square, solved + higher, element);
          else if (above < row)
            add_block<WIDE>(columns, squares + square, solved + higher, element);
          else if (row == begin)
            solve_block<1>(columns, squares + square);
          else
            solve_block<WIDE>(columns, squares + square);
        }
      }
      const uint kept = solved_at(row + 1 < BLOCKS ? row - begin : 0);
      keep(columns, solved + kept + thread_index / 4, thread_index % 4);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint i = row * BLOCK + first;
      store(a_inv + i * stride + begin * BLOCK, stride, stored - min(stored, i),
            solved + kept + wide * SOLVED + first * ROW + of * QUADS + quad);
    }
  }
}

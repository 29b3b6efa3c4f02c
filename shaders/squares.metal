// The pieces of an inverse: what chunk_tri_solve_invert.metal, whose macros these are, is made of.

#define BLOCK 16
#define BLOCKS (BT / BLOCK)
#define WIDE (BLOCKS > 1 ? 2 : 1)
#define HEADS (THREADS / BLOCK)
#define QUADS (BLOCK / 4)
#define SQUARE (BLOCK * QUADS)
#define APART (THREADS / (QUADS * HEADS * WIDE))
// Squares of the matrix that pass at a time, and quads of their rows that are used together: 16-bit
// ones come sooner, and leave registers for more of a square.
#define PASSING (sizeof(A_TYPE) == 4 ? WIDE : 1)
#define TOGETHER (sizeof(A_TYPE) == 4 ? 1 : QUADS)
// Solved squares that are kept: one of the columns' first row, which has no other, and WIDE of each
// row below. The last row lies where the first did.
#define KEPT (BLOCKS > 2 ? WIDE * BLOCKS - 3 : BLOCKS)

// A block's rows of a thread's columns: the two chains of each element, and in `even` in the end
// their sum.
struct block_rows {
  float even[WIDE][BLOCK];
  float odd[WIDE][BLOCK];
};

// A thread's part of squares of the matrix, side by side, as it is stored.
struct squares_part {
  stored4<A_TYPE>::type quad[PASSING][QUADS];
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
    if (PASSING > 1 && above < row) s.quad[PASSING - 1][e] = get_stored(a + at + BLOCK);
  }
}

// Puts squares where all threads find them. Quads is "threadgroup float4*".
template <typename Quads>
inline void put_squares(thread const squares_part& s, Quads squares) {
#pragma unroll
  for (uint n = 0; n < PASSING; ++n) {
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

// Adds what four solved rows above contribute to N columns. The thread has an `element` of each
// row's quad.
template <uint N, typename Quads>
inline void add_quad(thread block_rows& x, Quads square, Quads solved, uint element) {
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
}

template <uint N, typename Quads>
inline void add_block(thread block_rows& x, Quads square, Quads solved, uint element) {
#pragma unroll 1
  for (uint k = 0; k < QUADS; k += TOGETHER) {
#pragma unroll
    for (uint n = 0; n < TOGETHER; ++n) {
      add_quad<N>(x, square + n, solved + n * 4 * ROW, element);
    }
    square += TOGETHER;
    solved += TOGETHER * 4 * ROW;
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

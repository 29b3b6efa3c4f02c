// (I + strictly_lower(a))^-1 of every chunk of BT rows and every head, by forward substitution over
// whole columns.
//
// Grid: x = HEADS heads, y = chunk, z = sequence. BLOCK threads solve a chunk, in squares of BLOCK
// rows and columns: WIDE squares' columns at a time, of which a thread has one each, from the
// diagonal down; squares.metal has the pieces. The matrix's squares on and below the diagonal pass
// through threadgroup memory, PASSING at a time, the next under way while these are used; a
// square is read before anything is stored over it. What has been solved stays there for the rows
// below. The host defines BT (16, 32 or 64) and THREADS (32), the types A_TYPE and A_INV_TYPE, and
// CHUNKS, whether that table is there.

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void chunk_tri_solve_invert(device const A_TYPE* a [[buffer(0)]],
                                   device A_INV_TYPE* a_inv [[buffer(1)]],
                                   constant chunk_tri_solve_invert_params& p [[buffer(2)]],
                                   constant int* chunks
                                   [[buffer(3)]],  // the first row and the number of rows of each
                                   uint3 group [[threadgroup_position_in_grid]],
                                   uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup float4 squares[HEADS * PASSING * SQUARE];
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
      for (uint come = begin; come <= row; come += PASSING) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        put_squares(next, squares + own * PASSING * SQUARE + j);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (come + PASSING <= row)
          fetch(next, a, stride, rows, row, come + PASSING, j);
        else if (row + 1 < BLOCKS)
          fetch(next, a, stride, rows, row + 1, begin, j);
        else if (begin + WIDE < BLOCKS)
          fetch(next, a, stride, rows, begin + WIDE, begin + WIDE, j);

#pragma unroll 1
        for (uint above = come; above <= row && above < come + PASSING; ++above) {
          const uint square = (own * PASSING + above - come) * SQUARE;
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

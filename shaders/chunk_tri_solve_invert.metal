// (I + strictly_lower(a))^-1 of every chunk of BT rows and every head, by forward substitution over
// whole columns.
//
// Grid: x = chunk, y = THREADS / BT heads, z = sequence. A thread keeps a column in registers; the
// tiles are the only threadgroup memory. The host defines BT (16, 32 or 64) and THREADS (64), the
// types A_TYPE and A_INV_TYPE, and CHUNKS, whether that table is there: the first row and
// the number of rows of each chunk.

#define HEADS (THREADS / BT)
#define QUADS (BT / 4)

// Rows First... of the column that this thread owns; rows above First are zero. Tile is
// "threadgroup const float4*".
template <uint First, typename Tile>
inline void solve_column(Tile tile, device A_INV_TYPE* to, ulong stride, uint rows, uint j) {
  float column[BT];
#pragma unroll
  for (uint i = First; i < BT; ++i) {
    float even = i == j ? 1.0f : 0.0f, odd = 0.0f;
#pragma unroll
    for (uint k = First; k < i; k += 4) {
      const float4 l = tile[(i * BT + k) / 4];
      even = fma(-l.x, column[k], even);
      if (k + 1 < i) odd = fma(-l.y, column[k + 1], odd);
      if (k + 2 < i) even = fma(-l.z, column[k + 2], even);
      if (k + 3 < i) odd = fma(-l.w, column[k + 3], odd);
    }
    column[i] = even + odd;
    if (i < rows) put_plain(to + i * stride, column[i]);
  }
}

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void chunk_tri_solve_invert(device const A_TYPE* a [[buffer(0)]],
                                   device A_INV_TYPE* a_inv [[buffer(1)]],
                                   constant chunk_tri_solve_invert_params& p [[buffer(2)]],
                                   constant int* chunks [[buffer(3)]],
                                   uint3 group [[threadgroup_position_in_grid]],
                                   uint thread_index [[thread_index_in_threadgroup]]) {
  // Columns below 32 are three times the work of the others: neighbouring groups give them to
  // different simdgroups.
  const uint j = BT == 64 ? thread_index ^ (group.x % 2 * 32) : thread_index % BT;
  // Known to be 0 where a block is a whole group: 8 % of the time.
  const uint block = HEADS == 1 ? 0 : thread_index / BT;
  const uint head = min(group.y * HEADS + block, p.heads - 1);
  threadgroup float4 tiles[HEADS * BT * QUADS];
#if CHUNKS
  const uint start = uint(chunks[group.x * 2]), rows = uint(chunks[group.x * 2 + 1]);
#else
  const uint start = (p.first + group.x) * BT, rows = min(p.steps - start, uint(BT));
#endif
  const ulong stride = ulong(p.heads) * BT;
  const ulong base = (ulong(group.z) * p.steps + start) * stride + ulong(head) * BT;

#pragma unroll
  for (uint e = 0; e < QUADS; ++e) {
    // Rows past the end are never used: any will do.
    const uint at = e * BT + thread_index % BT, row = min(at / QUADS, rows - 1), quad = at % QUADS;
    tiles[block * BT * QUADS + at] = get_columns<BT, true>(a + base + row * stride, quad * 4);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // A group's last heads may be one too many: they do the last one's work again, and store nothing.
  const uint stored = group.y * HEADS + block < p.heads ? rows : 0;
  device A_INV_TYPE* to = a_inv + base + j;
  if (BT <= 32 || j < 32) {
    solve_column<0>(tiles + block * BT * QUADS, to, stride, stored, j);
  } else {
#pragma unroll
    for (uint i = 0; i < 32; ++i) {
      if (i < stored) put_plain(to + i * stride, 0.0f);
    }
    solve_column<BT <= 32 ? 0 : 32>(tiles + block * BT * QUADS, to, stride, stored, j);
  }
}

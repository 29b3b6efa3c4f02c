// (I + strictly_lower(a))^-1 of every chunk of BT rows and every head, by forward substitution over
// whole columns.
//
// Grid: x = chunk, y = THREADS / BT heads, z = sequence. A thread solves a column, BLOCK rows at a
// time: first what the rows above the block contribute, then the block itself. The tiles are the
// only threadgroup memory: rows that are solved lie where those of the matrix did. The host defines
// BT (16, 32 or 64) and THREADS (64), the types A_TYPE and A_INV_TYPE, and CHUNKS, whether that
// table is there.

#define HEADS (THREADS / BT)
#define QUADS (BT / 4)
#define BLOCK 16

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void chunk_tri_solve_invert(device const A_TYPE* a [[buffer(0)]],
                                   device A_INV_TYPE* a_inv [[buffer(1)]],
                                   constant chunk_tri_solve_invert_params& p [[buffer(2)]],
                                   constant int* chunks
                                   [[buffer(3)]],  // the first row and the number of rows of each
                                   uint3 group [[threadgroup_position_in_grid]],
                                   uint thread_index [[thread_index_in_threadgroup]]) {
  // Columns below 32 are three times the work of the others: neighbouring groups give them to
  // different simdgroups.
  const uint j = BT == 64 ? thread_index ^ (group.x % 2 * 32) : thread_index % BT;
  // Known to be 0 where a block is a whole group: 8 % of the time.
  const uint block = HEADS == 1 ? 0 : thread_index / BT;
  const uint head = min(group.y * HEADS + block, p.heads - 1);
  threadgroup float4 tiles[HEADS * BT * QUADS];
  const uint tile = block * BT * QUADS;
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
    tiles[tile + at] = get_columns<BT, true>(a + base + row * stride, quad * 4);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // The same for a whole simdgroup: above it, its columns are zero.
  const uint first = j / 32 * 32;
#pragma unroll 1
  for (uint begin = 0; begin < BT; begin += BLOCK) {
    float even[BLOCK], odd[BLOCK];
#pragma unroll
    for (uint i = 0; i < BLOCK; ++i) {
      even[i] = begin + i == j ? 1.0f : 0.0f;
      odd[i] = 0.0f;
    }
    if (begin >= first) {
#pragma unroll 1
      for (uint k = first; k < begin; k += 4) {
        float x[4];
#pragma unroll
        for (uint e = 0; e < 4; ++e) x[e] = tiles[tile + (k + e) * QUADS + j / 4][j % 4];
#pragma unroll
        for (uint i = 0; i < BLOCK; ++i) {
          const float4 l = tiles[tile + (begin + i) * QUADS + k / 4];
          even[i] = fma(-l.z, x[2], fma(-l.x, x[0], even[i]));
          odd[i] = fma(-l.w, x[3], fma(-l.y, x[1], odd[i]));
        }
      }
#pragma unroll
      for (uint i = 0; i < BLOCK; ++i) {
#pragma unroll
        for (uint k = 0; k < i; k += 4) {
          const float4 l = tiles[tile + (begin + i) * QUADS + (begin + k) / 4];
          even[i] = fma(-l.x, even[k], even[i]);
          if (k + 1 < i) odd[i] = fma(-l.y, even[k + 1], odd[i]);
          if (k + 2 < i) even[i] = fma(-l.z, even[k + 2], even[i]);
          if (k + 3 < i) odd[i] = fma(-l.w, even[k + 3], odd[i]);
        }
        even[i] = even[i] + odd[i];
      }
    }
    // No thread looks at these rows of the matrix any more.
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint i = 0; i < BLOCK; ++i) tiles[tile + (begin + i) * QUADS + j / 4][j % 4] = even[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // A group's last heads may be one too many: they do the last one's work again, and store nothing.
  const uint stored = group.y * HEADS + block < p.heads ? rows : 0;
#pragma unroll
  for (uint e = 0; e < QUADS; ++e) {
    const uint at = e * BT + thread_index % BT, row = at / QUADS, quad = at % QUADS;
    if (row < stored) put_columns_plain(a_inv + base + row * stride, quad * 4, tiles[tile + at]);
  }
}

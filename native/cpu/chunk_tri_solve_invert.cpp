// chunk_tri_solve_invert on one path: X = (I + L)^-1 by forward substitution,
// X[i][j] = -sum of L[i][k] X[k][j] over k = j..i-1, as two chains of fma, even k and odd k.
#include "path.h"
#include "storage.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

// Copies, since the rows of an array lie far apart, often in one set of the cache.
struct tiles {
  float lower[64 * 64];               // -L
  float solved[64 * 64];              // X; what lies right of a row's diagonal block stays 0
  float even[16 * 64], odd[16 * 64];  // the chains of 16 rows, over k before their diagonal block
};
static_assert(sizeof(tiles) == INVERT_SCRATCH * sizeof(float), "work.h counts the tiles");

// One chunk of one head.
struct block {
  int64_t first_row, apart, rows;  // in elements, in elements, and how many
  bool streams;                    // the result is written past the caches
  const char *next, *next_end;     // what it prefetches
};

// Item i of a sequence: a chunk's head.
template <int N>
static block block_of(const dtape_chunk_tri_solve_invert_request &request, step_range steps,
                      int64_t i) {
  const int64_t step = steps.first + i / request.heads * N, head = i % request.heads;
  block block;
  block.apart = request.heads * N;
  block.rows = smaller(steps.last - step, N);
  block.first_row = step * block.apart + head * N;
  // A line of the cache is streamed whole or not at all.
  block.streams = N * bytes_of(request.a_inv.dtype) >= 64 &&
                  worth_streaming(request.a, request.a_inv, block.first_row);
  const int64_t next = (step + block.rows) * block.apart + head * N * N;
  const int64_t end = request.batch * request.steps * block.apart;
  block.next = element(request.a, smaller(next, end));
  block.next_end = element(request.a, smaller(next + N * N, end));
  return block;
}

template <int N>
static void copy_lower(tiles &at, const dtape_span &a, const block &block) {
  with_elements(a.data, a.dtype, [&](auto *from) {
    for (int64_t i = 0; i < N; ++i) {
      const int64_t diagonal = i / 16 * 16;
      for (int64_t j = 0; j <= diagonal; j += 16) {
        v16 row = all(0.0f);
        if (i < block.rows)
          row = mul(load(from + block.first_row + i * block.apart + j), all(-1.0f));
        store(at.lower + i * N + j, j < diagonal ? row : first(int(i - diagonal), row, all(0.0f)));
      }
    }
  });
}

// The chains of rows i0..i0+15 over k = j..i0-1, for 16 columns from j on.
template <int N>
static void multiply(tiles &at, int64_t i0, int64_t j) {
  for (int64_t r0 = 0; r0 < 16; r0 += PRODUCT_ROWS) {
    v16 even[PRODUCT_ROWS], odd[PRODUCT_ROWS];
    DTAPE_UNROLL
    for (int r = 0; r < PRODUCT_ROWS; ++r) even[r] = odd[r] = all(0.0f);
    for (int64_t k = j; k < i0; k += 2) {
      const v16 x = load(at.solved + k * N + j), next = load(at.solved + (k + 1) * N + j);
      DTAPE_UNROLL
      for (int r = 0; r < PRODUCT_ROWS; ++r) {
        const float *row = at.lower + (i0 + r0 + r) * N + k;
        even[r] = fma(all(row[0]), x, even[r]);
        odd[r] = fma(all(row[1]), next, odd[r]);
      }
    }
    DTAPE_UNROLL
    for (int r = 0; r < PRODUCT_ROWS; ++r) {
      store(at.even + (r0 + r) * N + j, even[r]);
      store(at.odd + (r0 + r) * N + j, odd[r]);
    }
  }
}

// Two lines of the next chunk. Each block prefetches as many elements as it has, so that the heads
// together go through memory in order.
DTAPE_INLINE void prefetch_next(block &block) {
  if (block.next >= block.next_end) return;
  __builtin_prefetch(block.next, 0, 2);
  __builtin_prefetch(block.next + 64, 0, 2);
  block.next += 128;
}

// What a row holds so far, up to the strip j of 16 columns, goes out by whole lines of the cache;
// the diagonal block ends the row.
template <int N, bool DIAGONAL, class Element>
DTAPE_INLINE void write_row(const block &block, const float *solved, Element *row, int64_t j) {
  constexpr int64_t line = 64 / sizeof *row;
  const int64_t end = DIAGONAL ? N : j + 16;
  if (!DIAGONAL && end % line != 0) return;
  for (int64_t column = j / line * line; column < end; column += 16) {
    if (block.streams) {
      stream(row + column, one_nan(load(solved + column)));
    } else {
      store(row + column, one_nan(load(solved + column)));
    }
  }
}

// Ends the chains of rows i0..i0+15 with k = i0.., for 16 columns from j on, and writes the rows to
// out. They stay in registers; in the diagonal block (j = i0) ones and zeros are set, not computed.
template <int N, bool DIAGONAL, class Element>
static void substitute(tiles &at, block &block, Element *out, int64_t i0, int64_t j) {
  static const float unit[31] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  v16 x[16];
  DTAPE_UNROLL
  for (int r = 0; r < 16; ++r) {
    const float *row = at.lower + (i0 + r) * N + i0;
    prefetch_next(block);
    v16 even = DIAGONAL ? all(0.0f) : load(at.even + r * N + j);
    v16 odd = DIAGONAL ? all(0.0f) : load(at.odd + r * N + j);
    DTAPE_UNROLL
    for (int k = 0; k < 16; k += 2) {
      if (k < r) even = fma(all(row[k]), x[k], even);
      if (k + 1 < r) odd = fma(all(row[k + 1]), x[k + 1], odd);
    }
    x[r] = add(even, odd);
    if (DIAGONAL) x[r] = first(r, x[r], load(unit + 15 - r));
    store(at.solved + (i0 + r) * N + j, x[r]);
    if (i0 + r < block.rows)
      write_row<N, DIAGONAL>(block, at.solved + (i0 + r) * N, out + r * block.apart, j);
  }
}

template <int N>
static void invert(tiles &at, const dtape_chunk_tri_solve_invert_request &request, block block) {
  copy_lower<N>(at, request.a, block);
  with_elements(request.a_inv.data, request.a_inv.dtype, [&](auto *a_inv) {
    for (int64_t i0 = 0; i0 < block.rows; i0 += 16) {
      auto *out = a_inv + block.first_row + i0 * block.apart;
      for (int64_t j = 0; j < i0; j += 16) {
        multiply<N>(at, i0, j);
        substitute<N, false>(at, block, out, i0, j);
      }
      substitute<N, true>(at, block, out, i0, i0);
    }
  });
}

// The items of all sequences follow each other; those from begin up to end are done.
template <int N>
static void invert_items(const dtape_chunk_tri_solve_invert_request &request, int64_t begin,
                         int64_t end, float *scratch) {
  tiles &at = *reinterpret_cast<tiles *>(scratch);
  std::memset(at.solved, 0, sizeof at.solved);
  for (int64_t s = 0, passed = 0; passed < end; ++s) {
    const step_range steps = sequence_steps(request, s);
    const int64_t items = chunks_of(steps, N) * request.heads;
    const int64_t last = smaller(items, end - passed);
    for (int64_t i = begin > passed ? begin - passed : 0; i < last; ++i)
      invert<N>(at, request, block_of<N>(request, steps, i));
    passed += items;
  }
  end_streams();
}

}  // namespace

void chunk_tri_solve_invert(const dtape_chunk_tri_solve_invert_request &request, int64_t begin,
                            int64_t end, float *scratch) {
  if (request.chunk == 16) {
    invert_items<16>(request, begin, end, scratch);
  } else if (request.chunk == 32) {
    invert_items<32>(request, begin, end, scratch);
  } else {
    invert_items<64>(request, begin, end, scratch);
  }
}

}  // namespace deltatape::cpu::DTAPE_PATH

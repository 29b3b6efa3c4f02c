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

template <int N>
static void copy_lower(tiles &at, const dtape_span &a, int64_t first_row, int64_t apart,
                       int64_t rows) {
  with_elements(a.data, a.dtype, [&](auto *from) {
    for (int64_t i = 0; i < N; ++i) {
      const int64_t block = i / 16 * 16;
      for (int64_t j = 0; j <= block; j += 16) {
        v16 row = all(0.0f);
        if (i < rows) row = mul(load(from + first_row + i * apart + j), all(-1.0f));
        store(at.lower + i * N + j, j < block ? row : first(int(i - block), row, all(0.0f)));
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

// Ends the chains of rows i0..i0+15 with k = i0.., for 16 columns from j on. The 16 rows stay in
// registers; in the diagonal block (j = i0) the ones and zeros are set, not computed.
template <int N, bool DIAGONAL>
static void substitute(tiles &at, int64_t i0, int64_t j) {
  static const float unit[31] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  v16 x[16];
  DTAPE_UNROLL
  for (int r = 0; r < 16; ++r) {
    const float *row = at.lower + (i0 + r) * N + i0;
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
  }
}

template <int N>
static void invert(tiles &at, const dtape_span &a, const dtape_span &a_inv, int64_t first_row,
                   int64_t apart, int64_t rows) {
  copy_lower<N>(at, a, first_row, apart, rows);
  for (int64_t i0 = 0; i0 < rows; i0 += 16) {
    for (int64_t j = 0; j < i0; j += 16) {
      multiply<N>(at, i0, j);
      substitute<N, false>(at, i0, j);
    }
    substitute<N, true>(at, i0, i0);
    for (int64_t i = i0; i < i0 + 16 && i < rows; ++i)
      write_floats(a_inv, first_row + i * apart, at.solved + i * N, N);
  }
}

// The items of all sequences follow each other; those from begin up to end are done.
template <int N>
static void invert_items(const dtape_chunk_tri_solve_invert_request &request, int64_t begin,
                         int64_t end, float *scratch) {
  tiles &at = *reinterpret_cast<tiles *>(scratch);
  std::memset(at.solved, 0, sizeof at.solved);
  const int64_t apart = request.heads * N;
  for (int64_t s = 0, passed = 0; passed < end; ++s) {
    const step_range steps = sequence_steps(request, s);
    const int64_t items = chunks_of(steps, N) * request.heads;
    const int64_t from = begin > passed ? begin - passed : 0;
    for (int64_t i = from; i < items && passed + i < end; ++i) {
      const int64_t step = steps.first + i / request.heads * N;
      invert<N>(at, request.a, request.a_inv, step * apart + i % request.heads * N, apart,
                smaller(steps.last - step, N));
    }
    passed += items;
  }
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

// Every argument of dtape_chunk_tri_solve_invert, broken in turn.
#include <algorithm>
#include <initializer_list>

#include "broken.h"
#include "session.h"

namespace {

using Args = dtape_chunk_tri_solve_invert_args;
using Invert = Call<Args>;

void make(Invert &call, int64_t batch) {
  call.args.batch = batch;
  call.args.steps = 21;
  call.args.heads = 2;
  call.args.chunk = 16;
  call.give("a", DTAPE_BF16);
  call.give("a_inv", DTAPE_F32);
}

void divide(Invert &call, std::initializer_list<int32_t> starts) {
  call.args.cu_seqlens_count = static_cast<int64_t>(starts.size());
  call.give("cu_seqlens");
  std::copy(starts.begin(), starts.end(), call.host<int32_t>("cu_seqlens"));
}

void refuses_broken_sizes(Invert &call) {
  refuses_a_broken_size(call, "batch", &Args::batch);
  refuses_a_broken_size(call, "steps", &Args::steps);
  refuses_a_broken_size(call, "heads", &Args::heads);
  for (const int64_t chunk : {int64_t{-16}, int64_t{0}, int64_t{15}, int64_t{48}, INT64_MAX}) {
    REFUSES(call, DTAPE_INVALID_ARGUMENT,
            "chunk: expected 16, 32 or 64, got " + std::to_string(chunk), args.chunk = chunk);
  }
}

void refuses_cu_seqlens_without_a_count(Invert &call, Invert &divided) {
  refuses_a_broken_size(divided, "cu_seqlens_count", &Args::cu_seqlens_count);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "cu_seqlens_count: expected 0 without cu_seqlens, got 2",
          args.cu_seqlens_count = 2);
  REFUSES(divided, DTAPE_INVALID_ARGUMENT, "cu_seqlens_count: expected 1 or more, got 0",
          args.cu_seqlens_count = 0);
  REFUSES(divided, DTAPE_INVALID_ARGUMENT, "batch: expected 1 with cu_seqlens, got 2",
          args.batch = 2);
}

void refuses_malformed_cu_seqlens(Invert &call) {
  int32_t *const starts = call.host<int32_t>("cu_seqlens");
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "cu_seqlens: expected 0 first, got cu_seqlens[0] = 1",
          starts[0] = 1);
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "cu_seqlens: expected values that never fall, got cu_seqlens[3] = 6 after 7",
          starts[2] = 7, starts[3] = 6);
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "cu_seqlens: expected 21 (steps) last, got cu_seqlens[4] = 20", starts[4] = 20);
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "cu_seqlens: expected 21 (steps) last, got cu_seqlens[0] = 0", args.cu_seqlens_count = 1);
}

void inverts_in_place(Invert &call) {
  call.args.a_inv.data = call.data("a");
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "a_inv: expected exactly the memory of a or none of it, got 2688 bytes of it",
          args.a_inv.dtype = DTAPE_F32);
  for (const int32_t dtype : {DTAPE_BF16, DTAPE_F16}) {
    call.args.a_inv.dtype = dtype;
    ACCEPTS(call, "in place, elements of one size");
  }
}

}  // namespace

int main(int count, char **words) {
  const Session session(device_name(count, words));
  Invert batch(session.stream);
  Invert divided(session.stream);
  make(batch, 2);
  make(divided, 1);
  divide(divided, {0, 5, 5, 20, 21});
  for (Invert *const call : {&batch, &divided}) {
    ACCEPTS(*call, "valid arguments");
    refuses_a_broken_struct(*call);
    refuses_broken_sizes(*call);
    refuses_broken_arrays(*call, {"cu_seqlens"}, "a", "a_inv");
  }
  refuses_cu_seqlens_without_a_count(batch, divided);
  refuses_malformed_cu_seqlens(divided);
  inverts_in_place(batch);
  return failed_checks != 0;
}

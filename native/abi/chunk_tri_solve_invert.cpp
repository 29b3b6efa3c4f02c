#include "abi/handles.h"
#include "abi/judge.h"
#include "abi/versioned.h"

using namespace deltatape;

namespace {

void judge_sizes(const dtape_chunk_tri_solve_invert_args &args) {
  refuse_negative({{"batch", args.batch},
                   {"steps", args.steps},
                   {"heads", args.heads},
                   {"cu_seqlens_count", args.cu_seqlens_count}});
  if (args.chunk != 16 && args.chunk != 32 && args.chunk != 64) {
    refuse(DTAPE_INVALID_ARGUMENT, "chunk: expected 16, 32 or 64, got %" PRId64, args.chunk);
  }
  const bool divided = args.cu_seqlens != nullptr;
  if (divided != (args.cu_seqlens_count != 0)) {
    refuse(DTAPE_INVALID_ARGUMENT, "cu_seqlens_count: expected %s, got %" PRId64,
           divided ? "1 or more" : "0 without cu_seqlens", args.cu_seqlens_count);
  }
  if (divided && args.batch != 1) {
    refuse(DTAPE_INVALID_ARGUMENT, "batch: expected 1 with cu_seqlens, got %" PRId64, args.batch);
  }
}

void judge_cu_seqlens(const dtape_chunk_tri_solve_invert_args &args) {
  if (args.cu_seqlens == nullptr) return;
  const int32_t *const at = args.cu_seqlens;
  const int64_t last = args.cu_seqlens_count - 1;
  if (at[0] != 0) {
    refuse(DTAPE_INVALID_ARGUMENT, "cu_seqlens: expected 0 first, got cu_seqlens[0] = %d", at[0]);
  }
  for (int64_t i = 1; i <= last; ++i) {
    if (at[i] >= at[i - 1]) continue;
    refuse(DTAPE_INVALID_ARGUMENT,
           "cu_seqlens: expected values that never fall, got cu_seqlens[%" PRId64 "] = %d after %d",
           i, at[i], at[i - 1]);
  }
  if (at[last] != args.steps) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "cu_seqlens: expected %" PRId64 " (steps) last, got cu_seqlens[%" PRId64 "] = %d",
           args.steps, last, at[last]);
  }
}

dtape_chunk_tri_solve_invert_request judged(const dtape_chunk_tri_solve_invert_args &args) {
  judge_sizes(args);
  dtape_chunk_tri_solve_invert_request request = {};
  request.batch = args.batch;
  request.steps = args.steps;
  request.heads = args.heads;
  request.chunk = args.chunk;
  request.cu_seqlens_count = args.cu_seqlens_count;
  request.cu_seqlens = args.cu_seqlens;

  Judge judge;
  const Shape shape("[B,T,H,BT]", {args.batch, args.steps, args.heads, args.chunk});
  request.a = judge.input("a", args.a, shape, kFloats);
  request.a_inv = judge.output("a_inv", args.a_inv, shape, kFloats, Presence::kRequired, "a");
  judge.host_array("cu_seqlens", args.cu_seqlens, {"[sequences + 1]", {args.cu_seqlens_count}},
                   sizeof *args.cu_seqlens);
  judge.refuse_overlap();
  judge_cu_seqlens(args);
  return request;
}

}  // namespace

dtape_status dtape_chunk_tri_solve_invert(dtape_stream *stream,
                                          const dtape_chunk_tri_solve_invert_args *args) {
  return guarded("chunk_tri_solve_invert", [&]() -> dtape_status {
    const StreamUse use(stream);
    const auto kernel = use.offered(use.host().chunk_tri_solve_invert);
    const dtape_chunk_tri_solve_invert_request request = judged(complete(args));
    if (!any_elements({request.a_inv})) return DTAPE_OK;
    return kernel(use.data(), &request);
  });
}

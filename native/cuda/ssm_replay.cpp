// The rollback: a request, its addresses and its launches.
#include "cuda/ssm_replay.h"

#include "cuda/ssm_shape.h"
#include "cuda/types.h"

namespace deltatape::cuda {
namespace {

struct Replay {
  const dtape_ssm_replay_request &r;
  // Entries to keep, -1 for sequences that are to be left alone.
  std::vector<int32_t> k;
  bool dense;
  bool columns;

  explicit Replay(const dtape_ssm_replay_request &request)
      : r(request),
        k(static_cast<size_t>(request.shape.batch)),
        dense(request.shape.tape == DTAPE_TAPE_DENSE),
        columns(request.shape.tape == DTAPE_TAPE_COLUMNS) {
    for (size_t b = 0; b < k.size(); ++b) {
      k[b] = is_skipped(r.shape, b) ? -1 : r.shape.k ? r.shape.k[b] : 0;
    }
  }

  SsmGeometry geometry() const {
    const int64_t columns_of_state = r.shape.state_dim;
    return dense ? SsmGeometry(columns_of_state, 128, 32, 1)
                 : SsmGeometry::of_sharing(columns_of_state, 256, 4);
  }

  std::vector<Address> tape(Arguments &arguments) const {
    if (dense) {
      return {arguments.read(r.da_log, "da_log"), arguments.read(r.dbx_log, "dbx_log"),
              arguments.read(r.mask, "mask")};
    }
    return {arguments.read(r.decay, "decay"), arguments.read(r.u, "u"), arguments.read(r.v, "v"),
            arguments.read(r.scale, "scale"), arguments.read(r.mask, "mask")};
  }

  Variant variant(const SsmLaunches &launches, const std::vector<Address> &tape) const {
    return dense ? dense_variant(launches, tape) : factored_variant(launches, tape);
  }

  Variant factored_variant(const SsmLaunches &launches, const std::vector<Address> &tape) const {
    Variant variant("ssm_replay", launches.geometry.threads, 4, launches.table());
    const bool aligned =
        is_aligned(tape[2], r.v.dtype) && (!columns || is_aligned(tape[0], r.decay.dtype));
    launches.geometry.set(variant, launches.from, launches.to, aligned);
    variant.set("CHUNK", launches.geometry.chunk());
    variant.set("COLUMNS", columns);
    variant.set("SCALED", is_present(r.scale));
    variant.set("U_TYPE", type_name(r.u.dtype));
    variant.set("V_TYPE", type_name(r.v.dtype));
    set_mask(variant, r.mask);
    return variant;
  }

  Variant dense_variant(const SsmLaunches &launches, const std::vector<Address> &tape) const {
    Variant variant("ssm_replay_dense", launches.geometry.threads, 0, launches.table());
    const bool aligned =
        is_aligned(tape[0], r.da_log.dtype) && is_aligned(tape[1], r.dbx_log.dtype);
    launches.geometry.set(variant, launches.from, launches.to, aligned);
    variant.set("DBX_TYPE", type_name(r.dbx_log.dtype));
    set_mask(variant, r.mask);
    return variant;
  }

  void run(Stream &stream, Arguments &arguments) const {
    const SsmStates from = SsmStates::read(r.state, r.shape, with_states(r.shape), arguments);
    const SsmStates to = SsmStates::write(r.state_out, r.shape, arguments);
    std::vector<Address> pointers = {from.address(), to.address()};
    const std::vector<Address> entries = tape(arguments);
    pointers.insert(pointers.end(), entries.begin(), entries.end());
    const SsmGeometry shared = geometry();
    const SsmLaunches launches = {r.shape, shared, from, to, &k, r.shape.steps};
    launches.each(variant(launches, entries), pointers,
                  [&](const Launch &launch) { stream.launch(launch, arguments); });
  }
};

}  // namespace

void ssm_replay(Stream &stream, const dtape_ssm_replay_request &request) {
  const dtape_ssm_shape &shape = request.shape;
  require_countable(shape);
  if (shape.batch == 0 || shape.heads * shape.head_dim * shape.state_dim == 0) return;
  const auto &r = request;
  const Replay replay(request);
  stream.call({r.state, r.decay, r.scale, r.u, r.v, r.da_log, r.dbx_log, r.mask, r.state_out},
              [&](Arguments &arguments) { replay.run(stream, arguments); });
}

}  // namespace deltatape::cuda

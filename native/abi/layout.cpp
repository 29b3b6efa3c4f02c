// How this library was compiled, for bindings that check their own declarations.
#include <cstddef>
#include <cstring>

#include "deltatape.h"

namespace {

struct Entry {
  const char *name;
  int64_t value;
};

#define STRUCT(type) {#type, sizeof(type)}
#define FIELD(type, field) {#type "." #field, offsetof(type, field)}

constexpr Entry kLayout[] = {
    STRUCT(dtape_input),
    FIELD(dtape_input, data),
    FIELD(dtape_input, dtype),
    FIELD(dtape_input, reserved),

    STRUCT(dtape_output),
    FIELD(dtape_output, data),
    FIELD(dtape_output, dtype),
    FIELD(dtape_output, reserved),

    STRUCT(dtape_device_info),
    FIELD(dtape_device_info, size),
    FIELD(dtape_device_info, threads),
    FIELD(dtape_device_info, reserved),
    FIELD(dtape_device_info, name),
    FIELD(dtape_device_info, path),
    FIELD(dtape_device_info, hardware),

    STRUCT(dtape_counters),
    FIELD(dtape_counters, size),
    FIELD(dtape_counters, dispatches),
    FIELD(dtape_counters, command_buffers),
    FIELD(dtape_counters, pipelines_compiled),
    FIELD(dtape_counters, bytes_wrapped),
    FIELD(dtape_counters, bytes_copied),

    STRUCT(dtape_ssm_step_record_args),
    FIELD(dtape_ssm_step_record_args, size),
    FIELD(dtape_ssm_step_record_args, flags),
    FIELD(dtape_ssm_step_record_args, batch),
    FIELD(dtape_ssm_step_record_args, steps),
    FIELD(dtape_ssm_step_record_args, heads),
    FIELD(dtape_ssm_step_record_args, groups),
    FIELD(dtape_ssm_step_record_args, head_dim),
    FIELD(dtape_ssm_step_record_args, state_dim),
    FIELD(dtape_ssm_step_record_args, states),
    FIELD(dtape_ssm_step_record_args, state_stride),
    FIELD(dtape_ssm_step_record_args, state_out_stride),
    FIELD(dtape_ssm_step_record_args, tape),
    FIELD(dtape_ssm_step_record_args, reserved),
    FIELD(dtape_ssm_step_record_args, x),
    FIELD(dtape_ssm_step_record_args, a_log),
    FIELD(dtape_ssm_step_record_args, b),
    FIELD(dtape_ssm_step_record_args, c),
    FIELD(dtape_ssm_step_record_args, d),
    FIELD(dtape_ssm_step_record_args, dt),
    FIELD(dtape_ssm_step_record_args, state),
    FIELD(dtape_ssm_step_record_args, mask),
    FIELD(dtape_ssm_step_record_args, has_initial),
    FIELD(dtape_ssm_step_record_args, slots),
    FIELD(dtape_ssm_step_record_args, y),
    FIELD(dtape_ssm_step_record_args, state_out),
    FIELD(dtape_ssm_step_record_args, decay),
    FIELD(dtape_ssm_step_record_args, scale),
    FIELD(dtape_ssm_step_record_args, da_log),
    FIELD(dtape_ssm_step_record_args, dbx_log),

    STRUCT(dtape_ssm_replay_args),
    FIELD(dtape_ssm_replay_args, size),
    FIELD(dtape_ssm_replay_args, flags),
    FIELD(dtape_ssm_replay_args, batch),
    FIELD(dtape_ssm_replay_args, steps),
    FIELD(dtape_ssm_replay_args, heads),
    FIELD(dtape_ssm_replay_args, groups),
    FIELD(dtape_ssm_replay_args, head_dim),
    FIELD(dtape_ssm_replay_args, state_dim),
    FIELD(dtape_ssm_replay_args, states),
    FIELD(dtape_ssm_replay_args, state_stride),
    FIELD(dtape_ssm_replay_args, state_out_stride),
    FIELD(dtape_ssm_replay_args, tape),
    FIELD(dtape_ssm_replay_args, reserved),
    FIELD(dtape_ssm_replay_args, state),
    FIELD(dtape_ssm_replay_args, decay),
    FIELD(dtape_ssm_replay_args, scale),
    FIELD(dtape_ssm_replay_args, u),
    FIELD(dtape_ssm_replay_args, v),
    FIELD(dtape_ssm_replay_args, da_log),
    FIELD(dtape_ssm_replay_args, dbx_log),
    FIELD(dtape_ssm_replay_args, mask),
    FIELD(dtape_ssm_replay_args, k),
    FIELD(dtape_ssm_replay_args, slots),
    FIELD(dtape_ssm_replay_args, state_out),

    STRUCT(dtape_chunk_tri_solve_invert_args),
    FIELD(dtape_chunk_tri_solve_invert_args, size),
    FIELD(dtape_chunk_tri_solve_invert_args, flags),
    FIELD(dtape_chunk_tri_solve_invert_args, batch),
    FIELD(dtape_chunk_tri_solve_invert_args, steps),
    FIELD(dtape_chunk_tri_solve_invert_args, heads),
    FIELD(dtape_chunk_tri_solve_invert_args, chunk),
    FIELD(dtape_chunk_tri_solve_invert_args, cu_seqlens_count),
    FIELD(dtape_chunk_tri_solve_invert_args, a),
    FIELD(dtape_chunk_tri_solve_invert_args, cu_seqlens),
    FIELD(dtape_chunk_tri_solve_invert_args, a_inv),
};

}  // namespace

int64_t dtape_layout(const char *name) {
  if (name == nullptr) return -1;
  for (const Entry &entry : kLayout) {
    if (std::strcmp(entry.name, name) == 0) return entry.value;
  }
  return -1;
}

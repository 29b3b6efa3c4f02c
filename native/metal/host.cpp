// The table of the device "metal". Its functions are written in Swift.
#include "hosts.h"
#include "metal/metal_host.h"

extern "C" const dtape_host dtape_metal_host = {
    "metal",
    /*fork_safe=*/0,
    /*reserved=*/0,
    dtape_metal_open,
    dtape_metal_close,
    dtape_metal_describe,
    dtape_metal_counters,
    dtape_metal_alloc,
    dtape_metal_free,
    dtape_metal_stream_open_own,
    dtape_metal_stream_wait,
    dtape_metal_stream_close,
    dtape_metal_ssm_step_record,
    dtape_metal_ssm_replay,
    dtape_metal_chunk_tri_solve_invert,
};

// The table of the device "metal". Its functions are written in Swift.
#include "hosts.h"
#include "metal/metal_host.h"

extern "C" const dtape_host dtape_metal_host = {
    "metal",
    /*fork_safe=*/0,
    /*reserved=*/0,
    metal_host_open,
    metal_host_close,
    metal_host_describe,
    metal_host_counters,
    metal_host_alloc,
    metal_host_free,
    metal_host_stream_open_own,
    metal_host_stream_wait,
    metal_host_stream_close,
    metal_host_ssm_step_record,
    metal_host_ssm_replay,
    metal_host_chunk_tri_solve_invert,
};

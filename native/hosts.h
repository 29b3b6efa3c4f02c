/* The devices that this library may be built with, each defined by its own folder. */
#ifndef DTAPE_HOSTS_H
#define DTAPE_HOSTS_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const dtape_host dtape_cpu_host;
#if defined(DTAPE_WITH_METAL)
extern const dtape_host dtape_metal_host;
#endif
#if defined(DTAPE_WITH_CUDA)
extern const dtape_host dtape_cuda_host;
#endif

#ifdef __cplusplus
}
#endif

#endif

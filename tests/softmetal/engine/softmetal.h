/* The shader engine: compiles Metal source for the CPU and runs its kernels on fibers.
 * A message is malloc'd; the caller frees it. Everything is thread-safe. */
#ifndef SOFTMETAL_H
#define SOFTMETAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOFTMETAL_BINDINGS 31

typedef struct softmetal_library softmetal_library;
typedef struct softmetal_function softmetal_function;

/* What stands at one [[buffer(n)]]; data is null where nothing was bound. */
typedef struct softmetal_binding {
  void *data;
  size_t bytes;
} softmetal_binding;

/* macros are "NAME=VALUE". Null with the compiler's messages in *error. Never released: a host
 * keeps its libraries, and equal texts share one. */
softmetal_library *softmetal_compile(const char *source, const char *const *macros, size_t count,
                                     int32_t fast_math, char **error);
size_t softmetal_function_count(const softmetal_library *library);
const softmetal_function *softmetal_function_at(const softmetal_library *library, size_t i);

const char *softmetal_function_name(const softmetal_function *function);
/* [[max_total_threads_per_threadgroup(n)]], or 0. */
uint32_t softmetal_function_max_threads(const softmetal_function *function);
/* Bytes of the threadgroup variables. */
uint32_t softmetal_function_threadgroup_bytes(const softmetal_function *function);

/* Runs groups[0] * groups[1] * groups[2] threadgroups and returns null, or what was wrong. */
char *softmetal_run(const softmetal_function *function, const uint32_t groups[3],
                    const uint32_t threads[3],
                    const softmetal_binding bindings[SOFTMETAL_BINDINGS]);

#ifdef __cplusplus
}
#endif

#endif

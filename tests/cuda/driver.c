/* A driver without a GPU, for tests: memory is the processor's, and a launch writes a line to the
 * file DRIVER_LOG instead of running. DRIVER_FAILS=NAME:CODE makes the function NAME fail. The GPU
 * is of the architecture DRIVER_ARCHITECTURE, "90" unless it is set; the driver is DRIVER_VERSION,
 * 13000. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 4096, kNoGpu = 100, kPrimary = 0x1000 };

struct piece {
  uintptr_t start;
  size_t bytes;
  unsigned kind;
};

static struct piece pieces[kMost];
static __thread uintptr_t contexts[8];
static __thread int depth;

static void note(const char *format, ...) {
  const char *path = getenv("DRIVER_LOG");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  va_list rest;
  va_start(rest, format);
  vfprintf(file, format, rest);
  va_end(rest);
  fclose(file);
}

static int fails(const char *name) {
  const char *which = getenv("DRIVER_FAILS");
  const size_t length = strlen(name);
  if (which == NULL || strncmp(which, name, length) != 0 || which[length] != ':') return 0;
  return atoi(which + length + 1);
}

#define CALL(name)                 \
  do {                             \
    const int code = fails(#name); \
    if (code != 0) return code;    \
  } while (0)

static int architecture(void) {
  const char *chosen = getenv("DRIVER_ARCHITECTURE");
  return chosen ? atoi(chosen) : 90;
}

static const struct piece *find(uintptr_t address) {
  for (size_t i = 0; i < kMost; ++i) {
    if (pieces[i].bytes && address >= pieces[i].start &&
        address < pieces[i].start + pieces[i].bytes)
      return &pieces[i];
  }
  return NULL;
}

static int add(uintptr_t start, size_t bytes, unsigned kind) {
  for (size_t i = 0; i < kMost; ++i) {
    if (pieces[i].bytes) continue;
    pieces[i] = (struct piece){start, bytes, kind};
    return 0;
  }
  return 2;
}

static int drop(uintptr_t start) {
  for (size_t i = 0; i < kMost; ++i) {
    if (pieces[i].bytes && pieces[i].start == start) {
      pieces[i].bytes = 0;
      free((void *)start);
      return 0;
    }
  }
  return 1;
}

int cuInit(unsigned flags) {
  CALL(cuInit);
  return flags ? 1 : 0;
}
/* NVRTC asks for it: there is none, as in an older driver. */
int cuGetExportTable(const void **table, const void *which) {
  (void)which;
  *table = NULL;
  return 500;
}
int cuDriverGetVersion(int *version) {
  const char *chosen = getenv("DRIVER_VERSION");
  *version = chosen ? atoi(chosen) : 13000;
  return 0;
}
int cuGetErrorName(int code, const char **name) {
  *name = code == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR";
  return 0;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == 719 ? "unspecified launch failure" : "some error";
  return 0;
}
int cuDeviceGetCount(int *count) {
  CALL(cuDeviceGetCount);
  *count = 1;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : kNoGpu;
}
int cuDeviceGetName(char *name, int length, int device) {
  snprintf(name, (size_t)length, "A driver for tests, GPU %d", device);
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? architecture() / 10 : architecture() % 10;
  return device;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  CALL(cuDevicePrimaryCtxRetain);
  *context = (void *)(uintptr_t)(kPrimary + device);
  return 0;
}
int cuCtxGetCurrent(void **context) {
  *context = depth ? (void *)contexts[depth - 1] : NULL;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = 0;
  return depth ? 0 : 201;
}
int cuCtxPushCurrent_v2(void *context) {
  contexts[depth++] = (uintptr_t)context;
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  *context = (void *)contexts[--depth];
  return 0;
}
int cuStreamCreate(void **stream, unsigned flags) {
  CALL(cuStreamCreate);
  *stream = malloc(1);
  return flags == 1 && depth ? 0 : 1;
}
int cuStreamDestroy_v2(void *stream) {
  free(stream);
  return 0;
}
int cuStreamGetCtx(void *stream, void **context) {
  (void)stream;
  *context = (void *)kPrimary;
  return 0;
}
int cuStreamSynchronize(void *stream) {
  (void)stream;
  CALL(cuStreamSynchronize);
  return depth ? 0 : 201;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  CALL(cuMemAlloc_v2);
  void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(memory, 0xff, bytes);
  *address = (uintptr_t)memory;
  return depth ? add(*address, bytes, 2) : 201;
}
int cuMemFree_v2(uint64_t address) {
  return drop(address);
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  CALL(cuMemHostAlloc);
  (void)flags;
  *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return depth ? add((uintptr_t)*memory, bytes, 1) : 201;
}
int cuMemFreeHost(void *memory) {
  return drop((uintptr_t)memory);
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  (void)stream;
  if (find(to) == NULL || find(to + bytes - 1) != find(to)) return 1;
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  (void)stream;
  CALL(cuMemcpyDtoHAsync_v2);
  if (find(from) == NULL || find(from + bytes - 1) != find(from)) return 1;
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return 0;
}
int cuPointerGetAttributes(unsigned count, int *attributes, void **into, uint64_t pointer) {
  const struct piece *piece = find(pointer);
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == 3) {
      *(uint64_t *)into[i] = piece ? pointer : 0;
    } else {
      *(unsigned *)into[i] = attributes[i] == 2 && piece ? piece->kind : 0;
    }
  }
  return 0;
}
int cuModuleLoadData(void **module, const void *code) {
  CALL(cuModuleLoadData);
  const char *text = code;
  if (memcmp(text, "\177ELF", 4) != 0) {
    note("ptx%s\n", strstr(text, ".f64") ? " with doubles" : "");
  }
  *module = malloc(1);
  return 0;
}
int cuModuleUnload(void *module) {
  free(module);
  return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  *function = strdup(name);
  return 0;
}
static int launch(const char *how, const char *function, const unsigned grid[3], unsigned threads) {
  const char *name = strstr(function, "runI");
  note("%s %s %u %u %u %u\n", how, name ? name + 4 : "?", grid[0], grid[1], grid[2], threads);
  return depth && grid[0] && grid[1] && grid[2] && grid[1] <= 65535 && grid[2] <= 65535 ? 0 : 1;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned ty, unsigned tz, unsigned shared, void *stream, void **arguments,
                   void **extra) {
  CALL(cuLaunchKernel);
  (void)ty, (void)tz, (void)shared, (void)stream, (void)arguments, (void)extra;
  const unsigned grid[] = {x, y, z};
  return launch("launch", function, grid, threads);
}
struct attribute {
  int which, unused, value;
  char rest[60];
};
struct configuration {
  unsigned grid[3], threads[3], shared;
  void *stream;
  const struct attribute *attributes;
  unsigned count;
};
int cuLaunchKernelEx(const struct configuration *asked, void *function, void **arguments,
                     void **extra) {
  CALL(cuLaunchKernelEx);
  (void)arguments, (void)extra;
  /* Programmatic stream serialization: the kernel may start before the last one has ended. */
  const int early = asked->count == 1 && asked->attributes->which == 6 && asked->attributes->value;
  if (!early || asked->threads[1] != 1 || asked->threads[2] != 1 || asked->shared) return 1;
  return launch("early launch", function, asked->grid, asked->threads[0]);
}

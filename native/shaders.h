/* The text of shaders/NAME.metal with the parts that it builds on before it, or null. */
#ifndef DTAPE_SHADERS_H
#define DTAPE_SHADERS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
const char *_Nullable dtape_shader(const char *_Nonnull name);
#else
const char *dtape_shader(const char *name);
#endif

#ifdef __cplusplus
}
#endif

#endif

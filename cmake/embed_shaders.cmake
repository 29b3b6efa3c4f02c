# Writes TO/NAME.metal, the whole text of each kernel, and TO/shaders.c, which holds them all.
#   cmake "-DKERNELS=NAME=PART,PART;..." -DFROM=FOLDER -DTO=FOLDER -P embed_shaders.cmake
set(arrays "")
set(entries "")
foreach(kernel IN LISTS KERNELS)
  string(REGEX MATCH "^(.*)=(.*)$" matched "${kernel}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "," ";" parts "${CMAKE_MATCH_2}")

  set(text "")
  foreach(part IN LISTS parts ITEMS ${name})
    file(READ "${FROM}/${part}.metal" own)
    string(APPEND text "#line 1 \"${part}.metal\"\n${own}")
  endforeach()
  file(WRITE "${TO}/${name}.metal" "${text}")

  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND arrays "static const char ${name}[] =\n    \"${text}\";\n\n")
  string(APPEND entries "    {\"${name}\", ${name}},\n")
endforeach()

file(
  WRITE "${TO}/shaders.c"
  "#include \"shaders.h\"

#include <stddef.h>
#include <string.h>

${arrays}static const struct {
  const char *name;
  const char *text;
} kernels[] = {
${entries}};

const char *dtape_shader(const char *name) {
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; ++i) {
    if (strcmp(kernels[i].name, name) == 0) return kernels[i].text;
  }
  return NULL;
}
"
)

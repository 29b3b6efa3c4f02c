# Writes a STRUCT(name) or FIELD(struct, name) line for everything that the header declares.
# cmake -DHEADER=... -DLIST=... -P layout_fields.cmake

file(STRINGS ${HEADER} lines)
set(struct "")
set(list "")
foreach(line IN LISTS lines)
  if(line MATCHES "^typedef struct ([a-z_]+) {")
    set(struct ${CMAKE_MATCH_1})
    string(APPEND list "STRUCT(${struct})\n")
  elseif(line MATCHES "^}")
    set(struct "")
  elseif(struct AND line MATCHES "^  [a-z].*[ *]([a-z_]+)(\\[[0-9]+\\])?;")
    string(APPEND list "FIELD(${struct}, ${CMAKE_MATCH_1})\n")
  endif()
endforeach()
file(WRITE ${LIST} "${list}")

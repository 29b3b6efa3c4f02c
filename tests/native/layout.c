/* What the library says of its structs is how a C compiler lays them out. */
#include <stddef.h>

#include "check.h"
#include "deltatape.h"

static int fields = 0;

static void has_layout(const char *name, size_t value) {
  ++fields;
  if (dtape_layout(name) != (int64_t)value) fail_check(__FILE__, __LINE__, "layout", name);
}

#define STRUCT(type) has_layout(#type, sizeof(type));
#define FIELD(type, field) has_layout(#type "." #field, offsetof(type, field));

static void knows_every_struct_and_field(void) {
#include "layout_fields.inc"
  CHECK(fields >= 88);
}

static void knows_nothing_else(void) {
  CHECK(dtape_layout("dtape_input.nothing") == -1);
  CHECK(dtape_layout("nothing") == -1);
  CHECK(dtape_layout("") == -1);
  CHECK(dtape_layout(NULL) == -1);
}

static void says_what_it_is(void) {
  CHECK(dtape_abi_version() == 1);
  CHECK_TEXT(dtape_version(), DTAPE_VERSION);
  CHECK_TEXT(dtape_status_name(DTAPE_OK), "ok");
  CHECK_TEXT(dtape_status_name(DTAPE_FORKED_CHILD), "forked child");
  CHECK_TEXT(dtape_status_name(-1), "unknown status");
}

int main(void) {
  knows_every_struct_and_field();
  knows_nothing_else();
  says_what_it_is();
  return failed_checks != 0;
}

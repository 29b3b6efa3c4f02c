// What the library says about itself.
#include "deltatape.h"

int32_t dtape_abi_version(void) {
  return 1;
}

const char *dtape_version(void) {
  return DTAPE_VERSION;
}

const char *dtape_status_name(dtape_status status) {
  switch (status) {
    case DTAPE_OK:
      return "ok";
    case DTAPE_INVALID_ARGUMENT:
      return "invalid argument";
    case DTAPE_UNSUPPORTED_DTYPE:
      return "unsupported dtype";
    case DTAPE_DEVICE_UNAVAILABLE:
      return "device unavailable";
    case DTAPE_NOT_OFFERED:
      return "not offered";
    case DTAPE_OUT_OF_MEMORY:
      return "out of memory";
    case DTAPE_DEVICE_ERROR:
      return "device error";
    case DTAPE_DEVICE_LOST:
      return "device lost";
    case DTAPE_FORKED_CHILD:
      return "forked child";
    default:
      return "unknown status";
  }
}

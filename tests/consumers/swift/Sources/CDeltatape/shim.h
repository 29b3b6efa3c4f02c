#include <deltatape.h>

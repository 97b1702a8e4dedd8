#include "admission/objects/objects.h"

#define ROW(constant, name, family) &constant,
const struct admitted_kind *const admitted_kinds[ADMITTED_KINDS] = {ADMITTED_LIST(ROW)};

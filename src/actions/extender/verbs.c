#include "extender/verbs.h"

#define ROW(constant, name, field, about)                                                          \
    [EXTENDER_##constant] = {#name, EXTENDER_PATH "/" #name, field, about},
const struct extender_verb extender_verbs[EXTENDER_VERBS] = {EXTENDER_VERB_LIST(ROW)};

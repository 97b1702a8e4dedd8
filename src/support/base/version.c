#include "base/version.h"

#ifndef EVENKEEL_COMMIT /* set by the Makefile, for this file only */
#define EVENKEEL_COMMIT "unknown"
#endif

const char *version_commit(void) {
    return EVENKEEL_COMMIT;
}

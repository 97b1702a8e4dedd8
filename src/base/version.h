/* What this build is; set by the Makefile, with a fallback for editors and single compiles. */
#pragma once

#ifndef EVENKEEL_VERSION
#define EVENKEEL_VERSION "0.1.0"
#endif
#ifndef EVENKEEL_COMMIT
#define EVENKEEL_COMMIT "unknown"
#endif

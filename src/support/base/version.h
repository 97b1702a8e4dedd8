/*
 * The version of this build. The Makefile sets its commit.
 */
#pragma once

#define EVENKEEL_VERSION "0.1.0"

/* Returns the abbreviated commit, with "-dirty" for a changed tree, or "unknown". A static
 * string. */
const char *version_commit(void);

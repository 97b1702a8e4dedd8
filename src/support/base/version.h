/*
 * What this build is. The Makefile says which commit it was made from.
 */
#pragma once

#define EVENKEEL_VERSION "0.1.0"

/* The abbreviated commit, with "-dirty" behind it for a changed tree, or "unknown". A static
 * string. */
const char *version_commit(void);

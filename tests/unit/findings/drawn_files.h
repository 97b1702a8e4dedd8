/* The good files that drawn.h draws from, and the states beside them. */
#pragma once

#include "unit/findings/drawn.h"

/* Sets the file, and the path of a pod's spec. */
void drawn_files_make(struct drawn *d);
/* Returns the List for files of this kind. The caller owns it. */
cJSON *drawn_files_state(enum drawn_subject subject);

/* The findings of a drawn file, as the commands find them. */
#pragma once

#include "unit/findings/drawn.h"

/* A file that is refused fails the test. */
void drawn_findings(const struct drawn *d, struct arena *arena, struct findings *f);

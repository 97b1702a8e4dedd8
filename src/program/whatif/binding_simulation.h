/*
 * `evenkeel simulate --binding F`: where Karmada's scheduler would put a binding's replicas, and
 * why, against clusters read from files, by the code that answers POST /clusters/v1.
 */
#pragma once

#include "config/configuration.h"

struct binding_simulation {
    const char *path;  /* of the binding */
    int64_t now_ms;    /* since 1970: of what status would say */
    struct str member; /* whose nodes and pods those of the state files are; "": nobody's */
};

/* Appends the object of explain/binding.h. Clusters are those of the configuration's state files,
 * options those of its `karmada`. The arena's steps bound the work. 0 or -errno, with a sentence.
 */
int binding_simulation_run(const struct configuration *c, const struct binding_simulation *how,
                           struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;

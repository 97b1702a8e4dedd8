/*
 * What the reasons mean for which a node is refused: kube-scheduler's own, as they stand in the
 * condition PodScheduled of a Pending pod, and Evenkeel's. One table, read by everything that
 * explains.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

struct reason_meaning {
    const char *text;  /* how the reason begins, as kube-scheduler or the engine writes it */
    const char *kind;  /* one word for programs: "Cordoned" */
    const char *words; /* of a node, after "3 nodes": "cordoned"; NULL: the reason itself says it */
    bool ours;         /* given by Evenkeel, for a node that kube-scheduler offered */
};

/* Never NULL: a reason that is not in the table has the kind "Other". Static. */
const struct reason_meaning *reason_meaning(struct str reason);
/* The words of the table, or the reason itself. */
struct str reason_words(struct str reason);

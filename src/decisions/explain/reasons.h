/*
 * The meanings of the reasons that refuse a node: kube-scheduler's own, as written in the condition
 * PodScheduled of a Pending pod, and Evenkeel's. All explanations use this one table.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

struct reason_meaning {
    const char *text;  /* the beginning of the reason of kube-scheduler or the engine */
    const char *kind;  /* one word for programs: "Cordoned" */
    const char *words; /* after "3 nodes": "cordoned"; NULL: use the reason itself */
    bool ours;         /* Evenkeel gives the reason, for a node that kube-scheduler offered */
};

/* Returns static memory, never NULL: a reason that is not in the table has the kind "Other". */
const struct reason_meaning *reason_meaning(struct str reason);
/* Returns the words of the table, or the reason itself. */
struct str reason_words(struct str reason);

/*
 * An answer of /explain, or several in one document (cli/merged.h), as a program reads it: its
 * decisions with their words and numbers, and their lists as they stand in the text.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "explain/subject.h"

#include <stdbool.h>
#include <stdint.h>

/* One decision. Texts are in the answer or in the arena; those of an older server are "". */
struct explained {
    struct str verb, result, time, group, kind, namespace, name, generate_name, message, node, by,
        from, policy, replica, uid;
    int64_t number, took_us, data_age_ms, candidates, known, passed, preferred; /* -1: not said */
    bool dry_run, cut;
    struct str ages, constraints, counts, datasets, leaving, dropped, scores, notes, warnings,
        patch; /* JSON */
};

struct explanation {
    struct str replica, version;
    struct str not_judged;                                          /* of a what-if */
    struct str cause, state, now, replicas, pod_from, pod_not_read; /* as cli/merged.h has them */
    struct explained *items;
    uint32_t count;
};

/* Members that are not known are skipped. 0, -EINVAL if it is no such answer, or -ENOMEM. */
int explanation_read(struct str json, struct arena *arena, struct explanation *ret,
                     struct err *err) MUST_CHECK;

/* What the decision is about. Older daemons decide about pods only, and do not say so. */
struct subject explained_subject(const struct explained *d);

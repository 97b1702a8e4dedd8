/*
 * Files of users, drawn at random, and the findings that a command prints about them.
 *
 * A drawn file is good: without a mistake it has no finding. Members, items and names that mean
 * nothing are in random order. Expectations are of k8s.io/api v0.36.3, open-cluster-management.io/
 * api v1.2.0 and karmada v1.18.1, and not of Evenkeel's own tables.
 */
#pragma once

#include "findings/findings.h"
#include "unit/unit.h"

#include <cJSON.h>

enum drawn_subject {
    SUBJECT_WORKLOAD, /* a Pod, or an object that makes pods */
    SUBJECT_PLACEMENT,
    SUBJECT_BINDING,
    SUBJECT_PROPAGATION, /* a PropagationPolicy, beside the Deployment that it selects */
    SUBJECT_POLICY,      /* a TopologyPolicy */
    SUBJECTS,
};

enum { DRAWN_PATH = 320, DRAWN_WANTED = 8 };

struct wanted {
    enum finding_code code;
    char path[DRAWN_PATH];
    const char *remedy; /* the beginning of the expected remedy */
};

struct drawn {
    uint64_t *random;
    enum drawn_subject subject;
    cJSON *file;           /* owned */
    cJSON *state;          /* owned; a List. A workload may have none: NULL */
    const char *spec;      /* the path of the pod's spec, for workloads */
    const char *scheduler; /* the version of kube-scheduler's configuration; NULL: there is none */
    struct wanted wanted[DRAWN_WANTED];
    uint32_t count;
};

/* Makes *ret a good file; drawn_free() frees it. `random` must outlive it. */
void draw(struct drawn *ret, enum drawn_subject subject, uint64_t *random);
void drawn_free(struct drawn *d);
/* Returns JSON written with ' in the place of ". The caller owns it. */
cJSON *drawn_json(const char *text);
/* Gives the file a state, if it has none. */
void drawn_need_state(struct drawn *d);

static inline uint32_t drawn_below(struct drawn *d, uint32_t n) {
    return unit_below(d->random, n);
}

/* ---- places ---- */

/* Returns the value at a path such as "spec.tolerations[1].key", which must be there. */
cJSON *drawn_at(const struct drawn *d, const char *path);
/* The value of the pod's spec with this name. */
cJSON *drawn_of_pod(const struct drawn *d, const char *name);
/* Replaces or adds a member. The object owns the value. */
void drawn_set(cJSON *object, const char *name, cJSON *value);
static inline void drawn_set_text(cJSON *object, const char *name, const char *text) {
    drawn_set(object, name, cJSON_CreateString(text));
}

/* An object of the file that has fields, and not keys of a user. */
struct place {
    cJSON *object;
    char path[DRAWN_PATH]; /* "": the root */
};
enum { DRAWN_PLACES = 128 };
/* Returns the number of places. */
uint32_t drawn_places(const struct drawn *d, struct place places[DRAWN_PLACES]);

/* Writes `word` with one letter more, less, swapped or in the other case. */
void drawn_misspell(struct drawn *d, const char *word, char *ret, size_t size);

/* ---- findings ---- */

/* Adds an expected finding. */
void drawn_want(struct drawn *d, enum finding_code code, const char *remedy, const char *path, ...)
    PRINTF_LIKE(4, 5);
/* Fails the test unless the command has exactly these findings. */
void drawn_check(struct drawn *d, const char *kind);

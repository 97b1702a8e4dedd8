/*
 * Requests of every kind in surroundings of every kind, numbered, for tests of what all of them
 * have in common.
 */
#pragma once

#include "handlers/explain.h"
#include "unit/handlers/called.h"

/* Whose surroundings there are, and which pods: settings[] and pods[] of torture.c. */
enum { TORTURE_SETTINGS = 6, TORTURE_PODS = 14 };

enum torture_verb {
    FILTER,
    FILTER_NODES,
    PRIORITIZE,
    PREEMPT,
    ADMIT,
    RECENT,
    OF_POD,
    WHAT_IF,
    VERBS
};
extern const char *const torture_verb_names[VERBS];

/* CUT in the middle, something EXTRA at the end, null for a pod, nothing but a pod. */
enum torture_malformed { WELL_FORMED, CUT, EXTRA, NO_POD, NO_REST, MALFORMED };

struct torture_scenario {
    enum torture_verb verb;
    int setting, pod;
    enum torture_malformed malformed;
    char body[4096]; /* made from these by torture_write_body() */
};
void torture_write_body(struct torture_scenario *s);
const char *torture_pod(int pod);

/* What requests only read, for a group of tests: policies and Fluid's objects of all settings. */
int torture_open(void **state);
int torture_close(void **state);

/* What requests change. Where decisions are to be read there are some. */
struct torture_world {
    struct called called;
    struct webhook webhook;
    struct webhook_endpoint reviews; /* of pods */
    struct explain *explain;
    struct ring *ring;
};
void torture_world_open(struct torture_world *w, int setting);
void torture_world_close(struct torture_world *w);

/* An answer as it would be sent, without what differs from run to run. */
struct torture_answer {
    int status;
    char text[32768];
};
/* `*during` is true while the handler runs. Hangs if the handler has left a lock of the cache. */
void torture_ask(struct torture_world *w, const struct torture_scenario *s, volatile bool *during,
                 struct torture_answer *ret);
/* Makes the decisions that RECENT and OF_POD tell. */
void torture_decide(struct torture_world *w);

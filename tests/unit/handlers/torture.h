/*
 * Requests of every kind with settings of every kind, by number, for tests of rules that hold for
 * all requests.
 */
#pragma once

#include "handlers/explain.h"
#include "unit/handlers/called.h"

/* The numbers of settings and of pods: settings[] and pods[] of torture.c. */
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

/* How a body is malformed: CUT in the middle, EXTRA text at the end, null for the pod, or only a
 * pod. */
enum torture_malformed { WELL_FORMED, CUT, EXTRA, NO_POD, NO_REST, MALFORMED };

struct torture_scenario {
    enum torture_verb verb;
    int setting, pod;
    enum torture_malformed malformed;
    char body[4096]; /* torture_write_body() makes it from the members above */
};
void torture_write_body(struct torture_scenario *s);
const char *torture_pod(int pod);

/* Setup and teardown of a group: the data that requests only read, which are policies and Fluid's
 * objects of all settings. */
int torture_open(void **state);
int torture_close(void **state);

/* The data that requests change. If a request reads decisions, there are some. */
struct torture_world {
    struct called called;
    struct webhook webhook;
    struct explain explain;
    struct ring *ring;
};
void torture_world_open(struct torture_world *w, int setting);
void torture_world_close(struct torture_world *w);

/* An answer as it would be sent, without the parts that differ from run to run. */
struct torture_answer {
    int status;
    char text[32768];
};
/* `*during` is true while the handler runs. Hangs if the handler still holds a lock of the cache.
 */
void torture_ask(struct torture_world *w, const struct torture_scenario *s, volatile bool *during,
                 struct torture_answer *ret);
/* Makes the decisions that RECENT and OF_POD return. */
void torture_decide(struct torture_world *w);

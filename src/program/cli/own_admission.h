/*
 * Distinguishes the admission of a pod from the admission of a sibling. The API server asks the
 * webhook before a pod of a controller has its name, so the admission is recorded under the name
 * that all pods of the controller begin with.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "model/topology.h"

/* A pod as the API server has it. */
struct created_pod {
    bool is_known; /* false: the pod was not read, so every admission may be the pod's own */
    int64_t created_ms;
    const struct spread_constraint *constraints; /* arena */
    uint32_t constraint_count;
};

/* Reads a Pod; "" and a pod without creationTimestamp are not known. Returns 0, -EINVAL or
 * -ENOMEM. */
int created_pod_read(struct str text, struct arena *arena, struct created_pod *ret,
                     struct err *err) MUST_CHECK;

enum own_admission {
    ADMISSION_NONE,      /* the decision is no admission */
    ADMISSION_OWN,       /* it names the pod, or its time and its patch fit the pod */
    ADMISSION_OF_SIBLING /* its time is another, or it added a constraint that the pod lacks */
};

/* Reads one decision of an answer. Returns ADMISSION_NONE if it cannot be read. */
enum own_admission own_admission_of(const struct created_pod *pod, struct str decision,
                                    struct arena *arena);

/*
 * The part of a what-if about the state of a pod in the API server: why it is Pending, and if nodes
 * pass for it now. Members of the answer's object: "cause" {`kind`, `summary`, `text`}, and "state"
 * {`uid`, `phase`, `nodeName`, `nominatedNodeName`, `schedulerName`, `createdAt`, `podScheduled`:
 * {`status`, `reason`, `message`, `since`}}.
 */
#pragma once

#include "base/json_writer.h"
#include "data/source.h"
#include "engine/simulate.h"

struct pod_now {
    struct str text; /* the Pod, as the API server has it */
    const struct pod *pod;
    const struct engine_options *options; /* used by the simulation */
    const struct simulation *simulation;  /* simulation of all nodes with all filters; NULL: no
                                             simulation */
    struct cache *cache;
    const struct policy *policy; /* gives the pod its constraints; NULL: none, or not known */
    struct fluid_source *fluid;  /* NULL: datasets are not known */
};

/* Writes nothing for a pod without creationTimestamp: it is not from an API server. */
void explain_put_now(const struct pod_now *now, struct arena *arena, struct json_writer *w);

/*
 * How a pod that the API server has is judged now, and why it is Pending: the part of a what-if
 * that is about a pod's state. Members of the answer's object: "cause" {`kind`, `text`}, and
 * "state"
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
    const struct engine_options *options; /* it was judged with */
    const struct simulation *simulation;  /* of all nodes, by all filters; NULL: not judged */
    struct cache *cache;
    struct fluid_source *fluid; /* NULL: nothing is known of data */
};

/* Writes nothing of a pod without creationTimestamp, which no API server has. */
void explain_put_now(const struct pod_now *now, struct arena *arena, struct json_writer *w);

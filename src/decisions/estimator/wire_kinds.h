/* The two operations that each message has: writing it as JSON, and converting it to an epoch. */
#pragma once

#include "base/json_writer.h"
#include "estimator/wire.h"
#include "estimator/wire_messages.h"

/* Puts a decoded message as one JSON value. Sorts its maps. */
typedef int wire_put_fn(const void *message, struct arena *arena, struct json_writer *w,
                        struct err *err);
/* Changes a message into the one that an encoder of the epoch would pack. */
typedef int wire_convert_fn(void *message, enum wire_epoch epoch, struct arena *arena,
                            struct err *err);

struct wire_kind {
    const char *name; /* upstream's name of the message */
    const ProtobufCMessageDescriptor *type;
    wire_put_fn *put;
    wire_convert_fn *convert;
};

/* wire_json.c */
wire_put_fn wire_put_quantity, wire_put_selector, wire_put_toleration, wire_put_claim,
    wire_put_requirements, wire_put_component_requirements, wire_put_component, wire_put_assumed,
    wire_put_replicas_request, wire_put_sets_request, wire_put_reference,
    wire_put_unschedulable_request, wire_put_max_replicas, wire_put_max_sets,
    wire_put_unschedulable_replicas;

/* wire_convert.c */
wire_convert_fn wire_convert_quantity, wire_convert_selector, wire_convert_toleration,
    wire_convert_claim, wire_convert_requirements, wire_convert_component_requirements,
    wire_convert_component, wire_convert_assumed, wire_convert_replicas_request,
    wire_convert_sets_request, wire_convert_reference, wire_convert_unschedulable_request,
    wire_convert_response;

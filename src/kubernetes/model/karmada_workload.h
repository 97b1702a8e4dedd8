/*
 * A Deployment or a ReplicaSet: the parts that are needed to find its newest pods.
 *
 * Decoded objects own nothing: strings and arrays live in the text or the reader's arena.
 */
#pragma once

#include "base/hash.h"
#include "model/object.h"

struct karmada_workload {
    struct object_meta meta;
    bool has_created;
    int64_t created_ms; /* creationTimestamp, since 1970 */
    struct label_selector selector;
    struct hash128 template; /* hash of spec.template: pod_template_decode() */
};
void karmada_workload_decode(struct json_reader *r, struct karmada_workload *ret);

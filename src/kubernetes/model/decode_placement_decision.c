#include "model/ocm.h"

#include "model/fields.h"

struct decided {
    struct str cluster, reason;
};

/* A PlacementDecision, while it is read. */
struct read_decision {
    struct object_meta meta;
    struct decided *items;
    uint32_t count;
};

static const struct json_field decided_fields[] = {
    JSON_TEXT("clusterName", struct decided, cluster),
    JSON_TEXT("reason", struct decided, reason),
};
static const struct json_field status_fields[] = {
    JSON_LIST("decisions", struct read_decision, items, count, UINT32_MAX, decided_fields),
};
static const struct json_field fields[] = {
    JSON_CALL("metadata", struct read_decision, meta, meta_read),
    JSON_WITHIN("status", status_fields),
};

void placement_decision_decode(struct json_reader *r, struct placement_decision *ret) {
    struct read_decision read = {.count = 0};
    json_fields(r, &JSON_ROWS(fields), &read);
    struct str *clusters =
        read.count > 0 ? arena_array(r->arena, read.count, sizeof *clusters) : NULL;
    *ret = (struct placement_decision){.meta = read.meta, .clusters = clusters};
    ret->cluster_count = clusters != NULL ? read.count : 0; /* also 0 if the arena has failed */
    for (uint32_t i = 0; i < ret->cluster_count; i++) {
        clusters[i] = read.items[i].cluster;
        ret->reasons = placement_reasons_add(ret->reasons, read.items[i].reason);
    }
    if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
}

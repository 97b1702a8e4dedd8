#include "model/ocm.h"

#include "base/json_fields.h"

struct decided {
    struct str cluster, reason;
};

static void decision_decode(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {JSON_TEXT("clusterName", struct decided, cluster),
                                               JSON_TEXT("reason", struct decided, reason)};
    json_fields(r, &JSON_ROWS(fields), into);
}

static void decisions_decode(struct json_reader *r, struct placement_decision *ret) {
    uint32_t count;
    const struct decided *items =
        json_array_of(r, sizeof *items, UINT32_MAX, decision_decode, &count);
    struct str *clusters = arena_array(r->arena, count, sizeof *clusters);
    ret->reasons = 0;
    ret->cluster_count = clusters != NULL ? count : 0; /* the arena says so */
    for (uint32_t i = 0; i < ret->cluster_count; i++) {
        clusters[i] = items[i].cluster;
        ret->reasons = placement_reasons_add(ret->reasons, items[i].reason);
    }
    ret->clusters = clusters;
}

static void status_decode(struct json_reader *r, struct placement_decision *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("decisions")))
            decisions_decode(r, ret);
    }
}

void placement_decision_decode(struct json_reader *r, struct placement_decision *ret) {
    struct str key;
    *ret = (struct placement_decision){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret);
    }
    if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* as kubectl reads it */
}

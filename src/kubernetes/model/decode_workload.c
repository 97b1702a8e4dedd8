#include "model/object.h"

/* Services and ReplicationControllers select with a plain map; without a map, or with an empty map,
 * they select nothing. */
static bool selects_with_map(enum object_kind kind) {
    return kind == OBJECT_SERVICE || kind == OBJECT_REPLICATION_CONTROLLER;
}

static void spec_decode(struct json_reader *r, enum object_kind kind, struct workload *workload) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (!str_eq(key, STR("selector")))
            continue;
        if (selects_with_map(kind)) {
            workload->selector.match_labels = labels_decode(r);
            workload->selector.present = workload->selector.match_labels.count > 0;
        } else {
            workload->selector = label_selector_decode(r);
        }
    }
}

void workload_decode(struct json_reader *r, enum object_kind kind, struct workload *ret) {
    struct str key;
    *ret = (struct workload){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, kind, ret);
    }
    if (ret->meta.namespace.n == 0)
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
}

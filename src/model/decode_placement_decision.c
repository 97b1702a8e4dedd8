#include "model/ocm.h"

static void decision_decode(struct json_reader *r, void *into) {
    static const struct json_string_field fields[] = {{{"clusterName", 11}, 0}};
    json_strings_of(r, fields, 1, into);
}

static void status_decode(struct json_reader *r, struct placement_decision *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("decisions")))
            ret->clusters = json_array_of(r, sizeof *ret->clusters, UINT32_MAX, decision_decode,
                                          &ret->cluster_count);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
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
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* as kubectl reads it */
}

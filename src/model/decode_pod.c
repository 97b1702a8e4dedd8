#include "model/object.h"

static void spec_decode(struct json_reader *r, enum pod_detail detail, struct pod *pod) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("nodeName")))
            pod->node_name = json_string(r);
        else if (detail == POD_PLACEMENT)
            (void)json_skip(r); /* counting needs no more; errors stay in r */
        else if (str_eq(key, STR("nodeSelector")))
            pod->affinity.node_selector = labels_decode(r);
        else if (str_eq(key, STR("affinity")))
            affinity_decode(r, &pod->affinity);
        else if (str_eq(key, STR("tolerations")))
            pod->tolerations = tolerations_decode(r);
        else if (str_eq(key, STR("topologySpreadConstraints")))
            pod->constraints = spread_constraints_decode(r, &pod->constraint_count);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

static void status_decode(struct json_reader *r, struct pod *pod) {
    static const struct json_string_field phase_field[] = {{{"phase", 5}, 0}};
    struct str phase = {0};
    json_strings_of(r, phase_field, 1, &phase);
    pod->finished = str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
}

void pod_decode(struct json_reader *r, enum pod_detail detail, struct pod *ret) {
    struct str key;
    *ret = (struct pod){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, detail, ret);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    if (ret->meta.namespace.n == 0)
        ret->meta.namespace = STR("default"); /* as kubectl reads it */
}

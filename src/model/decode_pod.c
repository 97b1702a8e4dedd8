#include "model/object.h"

/* Of a volume the name of its claim, if that is what it is. */
static struct str claim_decode(struct json_reader *r) {
    static const struct json_string_field name_field[] = {{{"claimName", 9}, 0}};
    struct str key, name = {0};
    if (!json_object(r))
        return name;
    while (json_member(r, &key))
        if (str_eq(key, STR("persistentVolumeClaim")))
            json_strings_of(r, name_field, 1, &name);
        else
            (void)json_skip(r); /* errors stay in r */
    return name;
}

/* Beyond LIMIT_CLAIMS they are passed over: nothing is refused for want of a better score. */
static void volumes_decode(struct json_reader *r, struct pod *pod) {
    struct str *claims = NULL;
    uint32_t count = 0, cap = 0;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct str name = claim_decode(r);
        if (name.n == 0 || count == LIMIT_CLAIMS)
            continue;
        claims = arena_push(r->arena, claims, count, &cap, sizeof *claims);
        if (claims == NULL)
            return; /* the arena says so */
        claims[count++] = name;
    }
    pod->claims = claims;
    pod->claim_count = count;
}

static void affinities_decode(struct json_reader *r, enum pod_detail detail, struct pod *pod) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (detail == POD_WHOLE && str_eq(key, STR("nodeAffinity")))
            node_affinity_decode(r, &pod->affinity);
        else if (str_eq(key, STR("podAffinity")))
            pod->beside = pod_affinity_decode(r);
        else if (str_eq(key, STR("podAntiAffinity")))
            pod->apart = pod_affinity_decode(r);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

static void spec_decode(struct json_reader *r, enum pod_detail detail, struct pod *pod,
                        struct requests_decoder *requests) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("nodeName")))
            pod->node_name = json_string(r);
        else if (requests_decode_spec(r, key, requests))
            continue;
        else if (str_eq(key, STR("affinity")))
            affinities_decode(r, detail, pod);
        else if (detail == POD_PLACEMENT)
            (void)json_skip(r); /* counting needs no more; errors stay in r */
        else if (str_eq(key, STR("nodeSelector")))
            pod->affinity.node_selector = labels_decode(r);
        else if (str_eq(key, STR("tolerations")))
            pod->tolerations = tolerations_decode(r);
        else if (str_eq(key, STR("topologySpreadConstraints")))
            pod->constraints = spread_constraints_decode(r, &pod->constraint_count);
        else if (str_eq(key, STR("volumes")))
            volumes_decode(r, pod);
        else if (str_eq(key, STR("schedulerName")))
            pod->scheduler = json_string(r);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

static void status_decode(struct json_reader *r, struct pod *pod,
                          struct requests_decoder *requests) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("phase"))) {
            struct str phase = json_string(r);
            pod->finished = str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
        } else if (!requests_decode_status(r, key, requests)) {
            (void)json_skip(r); /* not ours; errors stay in r */
        }
    }
}

void pod_decode(struct json_reader *r, enum pod_detail detail, struct pod *ret) {
    struct requests_decoder requests = {0};
    struct str key;
    *ret = (struct pod){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, detail, ret, &requests);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret, &requests);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    requests_finish(r, &requests, detail == POD_PLACEMENT, &ret->requests);
    if (ret->meta.namespace.n == 0)
        ret->meta.namespace = STR("default"); /* as kubectl reads it */
}

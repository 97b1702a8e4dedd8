/* What a replica needs, and the components of a workload that has several kinds of pods. */
#include "model/decode_binding.h"

#include "model/fields.h"

#include <stdlib.h>

struct written_request {
    struct request request;
    uint32_t at; /* in the order of the text */
};

static int by_name(const void *a, const void *b) {
    const struct written_request *left = a, *right = b;
    const int order = str_cmp(left->request.name, right->request.name);
    return order != 0 ? order : (left->at > right->at) - (left->at < right->at);
}

/* By name; of equal names the last counts. */
static void gather(struct json_reader *r, struct written_request *all, uint32_t all_count,
                   struct replica_requirements *ret) {
    struct request *requests = arena_array(r->arena, all_count, sizeof *requests);
    uint32_t count = 0;
    if (requests == NULL)
        return; /* the arena says so */
    if (!steps_take_sort(&r->arena->steps, all_count)) {
        json_fail(r, "too many resources");
        return;
    }
    if (all_count > 1)
        qsort(all, all_count, sizeof *all, by_name);
    for (uint32_t i = 0; i < all_count; i++) {
        count -= count > 0 && str_eq(requests[count - 1].name, all[i].request.name);
        requests[count++] = all[i].request;
    }
    ret->requests = requests;
    ret->request_count = count;
}

static void requests_decode(struct json_reader *r, struct replica_requirements *ret) {
    struct written_request *all = NULL;
    uint32_t count = 0, cap = 0;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct written_request *more = arena_push(r->arena, all, count, &cap, sizeof *all);
        if (more == NULL)
            return; /* the arena says so */
        all = more;
        all[count] = (struct written_request){.request.name = key, .at = count};
        all[count].request.amount = amount_decode(r, &all[count].request.text);
        count++;
    }
    gather(r, all, count, ret);
}

static void claim_decode(struct json_reader *r, struct replica_requirements *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("hardNodeAffinity")))
            node_selector_decode(r, &ret->claim);
        else if (str_eq(key, STR("nodeSelector")))
            ret->claim.node_selector = labels_decode(r);
        else if (str_eq(key, STR("tolerations")))
            ret->tolerations = tolerations_decode(r);
    }
}

void replica_requirements_decode(struct json_reader *r, struct replica_requirements *ret) {
    struct str key;
    *ret = (struct replica_requirements){0};
    if (!json_object(r))
        return;
    ret->given = true;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("nodeClaim")))
            claim_decode(r, ret);
        else if (str_eq(key, STR("resourceRequest")))
            requests_decode(r, ret);
        else if (str_eq(key, STR("namespace")))
            ret->namespace = json_string(r);
        else if (str_eq(key, STR("priorityClassName")))
            ret->priority_class = json_string(r);
    }
}

static void component_decode(struct json_reader *r, void *into) {
    struct component *component = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("name")))
            component->name = json_string(r);
        else if (str_eq(key, STR("replicas")))
            component->replicas = replicas_decode(r);
        else if (str_eq(key, STR("replicaRequirements")))
            replica_requirements_decode(r, &component->requirements);
    }
}

const struct component *components_decode(struct json_reader *r, uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct component), UINT32_MAX, component_decode, ret_count);
}

/* Decodes a replica's requirements, and the components of a workload with several kinds of pods. */
#include "model/binding.h"

#include "model/fields.h"

#include <stdlib.h>

struct written_request {
    struct request request;
    uint32_t at; /* position in the text */
};

static int by_name(const void *a, const void *b) {
    const struct written_request *left = a, *right = b;
    const int order = str_cmp(left->request.name, right->request.name);
    return order != 0 ? order : (left->at > right->at) - (left->at < right->at);
}

/* Sorts the requests by name; of equal names the last one counts. */
static void gather(struct json_reader *r, struct written_request *all, uint32_t all_count,
                   struct replica_requirements *ret) {
    struct request *requests = arena_array(r->arena, all_count, sizeof *requests);
    uint32_t count = 0;
    if (requests == NULL)
        return; /* the error stays in the arena */
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

static void requests_read(struct json_reader *r, void *into) {
    struct replica_requirements *ret = into;
    struct written_request *all = NULL;
    uint32_t count = 0, cap = 0;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct written_request *more = arena_push(r->arena, all, count, &cap, sizeof *all);
        if (more == NULL)
            return; /* the error stays in the arena */
        all = more;
        all[count] = (struct written_request){.request.name = key, .at = count};
        all[count].request.amount = amount_decode(r, &all[count].request.text);
        count++;
    }
    gather(r, all, count, ret);
}

static void hard_affinity_read(struct json_reader *r, void *into) {
    node_selector_decode(r, into);
}

static const struct json_field claim_fields[] = {
    JSON_CALL("hardNodeAffinity", struct replica_requirements, claim, hard_affinity_read),
    JSON_CALL("nodeSelector", struct replica_requirements, claim.node_selector, labels_read),
    JSON_CALL("tolerations", struct replica_requirements, tolerations, tolerations_read),
};
static const struct json_field requirements_fields[] = {
    JSON_WITHIN("nodeClaim", claim_fields),
    JSON_CALL_WHOLE("resourceRequest", requests_read),
    JSON_TEXT("namespace", struct replica_requirements, namespace),
    JSON_TEXT("priorityClassName", struct replica_requirements, priority_class),
};

void replica_requirements_decode(struct json_reader *r, struct replica_requirements *ret) {
    *ret = (struct replica_requirements){.given = json_peek(r) == JSON_OBJECT};
    json_fields(r, &JSON_ROWS(requirements_fields), ret);
}

static void requirements_read(struct json_reader *r, void *into) {
    replica_requirements_decode(r, into);
}

static const struct json_field component_fields[] = {
    JSON_TEXT("name", struct component, name),
    JSON_INTEGER("replicas", struct component, replicas, 0, INT32_MAX, .absent = 0),
    JSON_CALL("replicaRequirements", struct component, requirements, requirements_read),
};

static void component_read(struct json_reader *r, void *into) {
    json_fields(r, &JSON_ROWS(component_fields), into);
}

const struct component *components_decode(struct json_reader *r, uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct component), UINT32_MAX, component_read, ret_count);
}

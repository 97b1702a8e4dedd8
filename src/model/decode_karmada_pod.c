#include "model/karmada_pod.h"

#include "base/limits.h"
#include "model/fields.h"
#include "model/quantity.h"

/* ---- lists of amounts, by name ---- */

struct amount_list {
    struct resource *items;
    uint32_t count, cap;
};

/* The item of a name; a new one is 0. NULL: there are too many (no node has so many), or no
 * memory. */
static int64_t *amount_in(struct json_reader *r, struct amount_list *list, struct str name) {
    uint32_t low = 0, high = list->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = str_cmp(list->items[middle].name, name);
        if (order == 0)
            return &list->items[middle].amount;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (list->count == LIMIT_RESOURCES)
        return NULL;
    struct resource *items =
        arena_push(r->arena, list->items, list->count, &list->cap, sizeof *items);
    if (items == NULL)
        return NULL;
    list->items = items;
    memmove(items + low + 1, items + low, (list->count - low) * sizeof *items);
    items[low] = (struct resource){.name = name};
    list->count++;
    return &items[low].amount;
}

static void add(int64_t *to, int64_t amount) {
    if (__builtin_add_overflow(*to, amount, to))
        *to = INT64_MAX;
}

static void raise(int64_t *to, int64_t amount) {
    *to = amount > *to ? amount : *to;
}

static void merge(struct json_reader *r, struct amount_list *to, const struct amount_list *from,
                  void (*one)(int64_t *to, int64_t amount)) {
    for (uint32_t i = 0; i < from->count; i++) {
        int64_t *amount = amount_in(r, to, from->items[i].name);
        if (amount != NULL)
            one(amount, from->items[i].amount);
    }
}

static void amounts_decode(struct json_reader *r, struct amount_list *ret) {
    struct str key;
    *ret = (struct amount_list){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        const struct quantity q = quantity_decode(r, NULL);
        if (!resource_is_scheduled(key) && !str_eq(key, STR("pods")))
            continue;
        int64_t *amount = amount_in(r, ret, key);
        if (amount != NULL)
            *amount = q.nano <= 0               ? 0
                      : str_eq(key, STR("cpu")) ? quantity_milli_value(&q)
                                                : quantity_value(&q);
    }
}

/* ---- the object ---- */

/* As it is read. */
struct requests {
    struct amount_list containers, most, overhead; /* sum; most of an init container */
};

static void resources_decode(struct json_reader *r, struct amount_list *ret) {
    struct str key;
    *ret = (struct amount_list){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("requests")))
            amounts_decode(r, ret);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
}

static void containers_decode(struct json_reader *r, struct amount_list *into,
                              void (*one)(int64_t *to, int64_t amount)) {
    struct str key;
    *into = (struct amount_list){0};
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct amount_list own = {0};
        if (!json_object(r))
            continue;
        while (json_member(r, &key))
            if (str_eq(key, STR("resources")))
                resources_decode(r, &own);
            else
                (void)json_skip(r); /* not ours; errors stay in r */
        merge(r, into, &own, one);
    }
}

static void spec_decode(struct json_reader *r, struct karmada_pod *pod, struct requests *requests) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("nodeName")))
            pod->node_name = json_string(r);
        else if (str_eq(key, STR("containers")))
            containers_decode(r, &requests->containers, add);
        else if (str_eq(key, STR("initContainers")))
            containers_decode(r, &requests->most, raise);
        else if (str_eq(key, STR("overhead")))
            amounts_decode(r, &requests->overhead);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

/* Of conditions of one type the first counts. */
static void condition_decode(struct json_reader *r, struct karmada_pod *pod, bool *seen) {
    struct str key, type = {0}, status = {0}, reason = {0};
    bool has_transition = false;
    int64_t transition_ms = 0;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("type")))
            type = json_string(r);
        else if (str_eq(key, STR("status")))
            status = json_string(r);
        else if (str_eq(key, STR("reason")))
            reason = json_string(r);
        else if (str_eq(key, STR("lastTransitionTime")))
            has_transition = time_decode(r, &transition_ms);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    if (*seen || !str_eq(type, STR("PodScheduled")))
        return;
    *seen = true;
    pod->unschedulable = str_eq(status, STR("False")) && str_eq(reason, STR("Unschedulable"));
    pod->has_transition = has_transition;
    pod->transition_ms = transition_ms;
}

static void status_decode(struct json_reader *r, struct karmada_pod *pod) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("phase"))) {
            const struct str phase = json_string(r);
            pod->finished = str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
        } else if (str_eq(key, STR("conditions"))) {
            bool seen = false;
            if (json_array(r))
                while (json_element(r))
                    condition_decode(r, pod, &seen);
        } else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

void karmada_pod_decode(struct json_reader *r, struct karmada_pod *ret) {
    struct requests requests = {.containers = {0}};
    struct str key;
    *ret = (struct karmada_pod){.node_name = {0}};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, ret, &requests);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
    merge(r, &requests.containers, &requests.most, raise);
    merge(r, &requests.containers, &requests.overhead, add);
    ret->requests = (struct resources){requests.containers.items, requests.containers.count};
}

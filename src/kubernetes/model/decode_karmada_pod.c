#include "model/karmada_pod.h"

#include "base/limits.h"
#include "base/sorted.h"
#include "model/fields.h"
#include "model/quantity.h"

/* ---- lists of amounts, by name ---- */

/* Amounts, never below 0. A name that is not in the list may have up to `beyond`; a name in the
 * list may have up to `beyond` more than its amount. */
struct amount_list {
    struct resource *items;
    uint32_t count, cap;
    uint32_t others; /* items of resources that not every node has; at most LIMIT_RESOURCES */
    int64_t beyond;
};

static struct str resource_name(const void *items, size_t i) {
    return ((const struct resource *)items)[i].name;
}

static uint32_t place_of(const struct amount_list *list, struct str name, bool *ret_found) {
    return (uint32_t)sorted_place(list->items, list->count, resource_name, name, ret_found);
}

/* Returns the amount of a name; NULL if the name is not in the list. */
static int64_t *find_amount(const struct amount_list *list, struct str name) {
    bool found;
    const uint32_t at = place_of(list, name, &found);
    return found ? &list->items[at].amount : NULL;
}

/* Returns the amount of a name; a new name gets the amount 0. NULL: too many names, or no memory.
 */
static int64_t *amount_in(struct json_reader *r, struct amount_list *list, struct str name) {
    bool found;
    const uint32_t at = place_of(list, name, &found);
    const bool other = !resource_is_native(name);
    if (found)
        return &list->items[at].amount;
    if (other && list->others == LIMIT_RESOURCES)
        return NULL;
    struct resource *items =
        arena_push(r->arena, list->items, list->count, &list->cap, sizeof *items);
    if (items == NULL)
        return NULL;
    list->items = items;
    memmove(items + at + 1, items + at, (list->count - at) * sizeof *items);
    items[at] = (struct resource){.name = name};
    list->count++;
    list->others += other;
    return &items[at].amount;
}

static void add(int64_t *to, int64_t amount) {
    if (__builtin_add_overflow(*to, amount, to))
        *to = INT64_MAX;
}

static void raise(int64_t *to, int64_t amount) {
    *to = amount > *to ? amount : *to;
}

/* Merges `from` into `to`. `from` has the amounts of one object, or the largest amounts of several
 * objects: in `from` a name has at most the larger of its amount and `beyond`. */
static void merge(struct json_reader *r, struct amount_list *to, const struct amount_list *from,
                  void (*one)(int64_t *to, int64_t amount)) {
    int64_t beyond = from->beyond;
    for (uint32_t i = 0; i < from->count; i++) {
        int64_t *amount = amount_in(r, to, from->items[i].name);
        if (amount != NULL)
            one(amount, from->items[i].amount);
        else
            raise(&beyond, from->items[i].amount);
    }
    one(&to->beyond, beyond);
}

/* Reads amounts. An amount of 0 takes no place in the list, unless `zeros` is true. */
static void amounts_decode(struct json_reader *r, bool zeros, struct amount_list *ret) {
    struct str key;
    *ret = (struct amount_list){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        const struct quantity q = quantity_decode(r, NULL);
        if (!resource_is_scheduled(key) && !str_eq(key, STR("pods")))
            continue;
        const int64_t value = q.nano <= 0               ? 0
                              : str_eq(key, STR("cpu")) ? quantity_milli_value(&q)
                                                        : quantity_value(&q);
        int64_t *amount = value > 0 || zeros ? amount_in(r, ret, key) : find_amount(ret, key);
        if (amount != NULL)
            *amount = value;
        else
            raise(&ret->beyond, value);
    }
}

/* ---- the object ---- */

/* Requests of a pod that is being read: the sum of its containers, for each resource the largest
 * amount of an init container, and the overhead. */
struct requests {
    bool by_limits; /* a limit counts where a container has no request */
    struct amount_list containers, most, overhead;
};

/* Adds the limits of resources that have no request, not even a request of 0. */
static void fill_by_limits(struct json_reader *r, struct amount_list *to,
                           const struct amount_list *limits) {
    raise(&to->beyond, limits->beyond);
    for (uint32_t i = 0; i < limits->count; i++) {
        if (find_amount(to, limits->items[i].name) != NULL)
            continue;
        int64_t *amount = amount_in(r, to, limits->items[i].name);
        if (amount != NULL)
            *amount = limits->items[i].amount;
        else
            raise(&to->beyond, limits->items[i].amount);
    }
}

static void resources_decode(struct json_reader *r, bool by_limits, struct amount_list *ret) {
    struct amount_list limits = {0};
    struct str key;
    *ret = (struct amount_list){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("requests")))
            amounts_decode(r, by_limits, ret);
        else if (by_limits && str_eq(key, STR("limits")))
            amounts_decode(r, false, &limits);
    }
    fill_by_limits(r, ret, &limits);
}

static void containers_decode(struct json_reader *r, bool by_limits, struct amount_list *into,
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
                resources_decode(r, by_limits, &own);
        merge(r, into, &own, one);
    }
}

/* Reads the member of a pod's spec with this name. Returns false if the member has no requests. */
static bool requests_decode(struct json_reader *r, struct str key, struct requests *requests) {
    if (str_eq(key, STR("containers")))
        containers_decode(r, requests->by_limits, &requests->containers, add);
    else if (str_eq(key, STR("initContainers")))
        containers_decode(r, requests->by_limits, &requests->most, raise);
    else if (str_eq(key, STR("overhead")))
        amounts_decode(r, false, &requests->overhead);
    else
        return false;
    return true;
}

/* Sums up the requests, and returns the amounts above 0. */
static struct resources sum_of(struct json_reader *r, struct requests *requests,
                               int64_t *ret_beyond) {
    struct amount_list *all = &requests->containers;
    uint32_t count = 0;
    merge(r, all, &requests->most, raise);
    merge(r, all, &requests->overhead, add);
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].amount > 0)
            all->items[count++] = all->items[i];
    *ret_beyond = all->beyond;
    return (struct resources){all->items, count};
}

struct resources karmada_template_requests_decode(struct json_reader *r, int64_t *ret_beyond) {
    struct requests requests = {.by_limits = true};
    struct str key;
    if (json_object(r))
        while (json_member(r, &key))
            (void)requests_decode(r, key, &requests); /* the reader skips other members */
    return sum_of(r, &requests, ret_beyond);
}

static void spec_decode(struct json_reader *r, struct karmada_pod *pod, struct requests *requests) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (!requests_decode(r, key, requests) && str_eq(key, STR("nodeName")))
            pod->node_name = json_string(r);
}

/* Decodes a condition. If several conditions have one type, the first condition counts. */
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
            has_transition = json_time(r, &transition_ms);
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
        }
    }
}

void karmada_pod_decode(struct json_reader *r, struct karmada_pod *ret) {
    struct requests requests = {.by_limits = false};
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
    }
    ret->requests = sum_of(r, &requests, &ret->beyond);
}

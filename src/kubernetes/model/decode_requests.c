/*
 * Reads the requests of a pod from its spec and status. Container statuses are matched by name
 * through a sorted array, and lists of amounts are sorted, so the work is O(n log n) in the size of
 * the pod.
 */
#include "base/json_fields.h"
#include "base/limits.h"
#include "model/labels.h"
#include "model/names.h"
#include "model/quantity.h"
#include "model/resources.h"

#include <stdlib.h>

struct amount {
    struct str name;
    __int128 nano;
};

struct container {
    struct str name, image;
    struct amounts requests;
    bool always; /* restartPolicy is Always: such an init container is a sidecar */
    const struct host_port *ports;
    uint32_t port_count;
};

struct container_status {
    struct str name;
    bool reported; /* the status has `resources` */
    struct amounts actuated, allocated;
};

int host_port_cmp(const struct host_port *a, const struct host_port *b) {
    int order = (a->port > b->port) - (a->port < b->port);
    if (order == 0)
        order = str_cmp(a->protocol, b->protocol);
    return order != 0 ? order : str_cmp(a->ip, b->ip);
}

bool resource_is_extended(struct str name) {
    char quota[400] = "requests.";
    const size_t prefix = sizeof "requests." - 1;
    if (str_find(name, '/') == SIZE_MAX || str_has_prefix(name, STR("requests.")) ||
        memmem(name.p, name.n, KUBERNETES_DOMAIN, sizeof KUBERNETES_DOMAIN - 1) != NULL ||
        name.n > sizeof quota - prefix)
        return false;
    memcpy(quota + prefix, name.p, name.n);
    return label_key_valid((struct str){quota, prefix + name.n});
}

bool resource_is_native(struct str name) {
    return str_eq(name, STR("cpu")) || str_eq(name, STR("memory")) || str_eq(name, STR("pods")) ||
           str_eq(name, STR("ephemeral-storage"));
}

bool resource_is_scheduled(struct str name) {
    if (str_eq(name, STR("cpu")) || str_eq(name, STR("memory")) ||
        str_eq(name, STR("ephemeral-storage")))
        return true;
    if (str_has_prefix(name, STR("hugepages-")) ||
        str_has_prefix(name, STR("attachable-volumes-")) ||
        (name.n > 0 &&
         memmem(name.p, name.n, KUBERNETES_DOMAIN, sizeof KUBERNETES_DOMAIN - 1) != NULL))
        return true;
    return resource_is_extended(name);
}

/* ---- lists of amounts ---- */

/* Returns the index of the first item that does not sort before `name`. */
static uint32_t lower_bound(const struct amounts *list, struct str name) {
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(list->items[middle].name, name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct amounts *list, uint32_t at, struct str name) {
    return at < list->count && str_eq(list->items[at].name, name);
}

static __int128 amount_of(const struct amounts *list, struct str name) {
    uint32_t at = lower_bound(list, name);
    return is_at(list, at, name) ? list->items[at].nano : 0;
}

/* upstream: IsSupportedPodLevelResource() */
static bool is_of_level(struct str name) {
    return str_eq(name, STR("cpu")) || str_eq(name, STR("memory")) ||
           str_has_prefix(name, STR("hugepages-"));
}

/* Returns the item of a name; a new item has the amount 0. NULL: too many names, or no memory. */
static struct amount *place_of(struct json_reader *r, struct amounts *list, struct str name,
                               bool *ret_new) {
    uint32_t at = lower_bound(list, name);
    *ret_new = !is_at(list, at, name);
    if (!*ret_new)
        return &list->items[at];
    const bool other = !resource_is_native(name);
    if (other && list->others == LIMIT_RESOURCES)
        return NULL;
    if (list->cap == 0 && (list->items = arena_array(r->arena, 2, sizeof *list->items)) != NULL)
        list->cap = 2; /* most containers have cpu and memory */
    struct amount *items =
        arena_push(r->arena, list->items, list->count, &list->cap, sizeof *items);
    if (items == NULL)
        return NULL;
    list->items = items;
    memmove(items + at + 1, items + at, (list->count - at) * sizeof *items);
    items[at] = (struct amount){.name = name};
    list->count++;
    list->others += other;
    return &items[at];
}

static void amounts_decode(struct json_reader *r, struct amounts *ret) {
    struct str key;
    bool new;
    *ret = (struct amounts){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        __int128 nano = quantity_decode_nano(r);
        /* names without effect take no place; in pod-level requests even a 0 has an effect */
        if (!resource_is_scheduled(key) && !str_eq(key, STR("pods")))
            continue;
        if (nano == 0 && !resource_is_native(key) && !is_of_level(key) &&
            !is_at(ret, lower_bound(ret, key), key))
            continue;
        struct amount *place = place_of(r, ret, key, &new);
        if (place != NULL)
            place->nano = nano;
    }
}

/* Returns the sum, limited to QUANTITY_MAX_NANO as a and b are. */
static __int128 sum_of(__int128 a, __int128 b) {
    __int128 sum = a + b;
    if (sum > QUANTITY_MAX_NANO)
        return QUANTITY_MAX_NANO;
    return sum < -QUANTITY_MAX_NANO ? -QUANTITY_MAX_NANO : sum;
}

static void add(struct json_reader *r, struct amounts *to, const struct amounts *from) {
    bool new;
    for (uint32_t i = 0; i < from->count; i++) {
        struct amount *place = place_of(r, to, from->items[i].name, &new);
        if (place != NULL)
            place->nano = sum_of(place->nano, from->items[i].nano);
    }
}

static void raise_one(struct json_reader *r, struct amounts *to, struct str name, __int128 nano) {
    bool new;
    struct amount *place = place_of(r, to, name, &new);
    if (place != NULL && (new || nano > place->nano))
        place->nano = nano;
}

static void raise_to(struct json_reader *r, struct amounts *to, const struct amounts *from) {
    for (uint32_t i = 0; i < from->count; i++)
        raise_one(r, to, from->items[i].name, from->items[i].nano);
}

static bool same(const struct amounts *a, const struct amounts *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].nano != b->items[i].nano || !str_eq(a->items[i].name, b->items[i].name))
            return false;
    return true;
}

static struct resources resources_of(struct json_reader *r, const struct amounts *from,
                                     bool pods_too) {
    struct resource *items = arena_array(r->arena, from->count, sizeof *items);
    uint32_t count = 0;
    for (uint32_t i = 0; items != NULL && i < from->count; i++) {
        const struct amount *a = &from->items[i];
        const struct quantity q = {.nano = a->nano};
        if (!pods_too && str_eq(a->name, STR("pods")))
            continue;
        items[count++] = (struct resource){
            a->name, str_eq(a->name, STR("cpu")) ? quantity_milli_value(&q) : quantity_value(&q)};
    }
    return (struct resources){items, count};
}

struct resources allocatable_decode(struct json_reader *r) {
    struct amounts list;
    amounts_decode(r, &list);
    return resources_of(r, &list, true);
}

/* ---- reading ---- */

/* Reads {"requests": ...}. Returns false if the value is no object. */
static bool requests_member(struct json_reader *r, struct amounts *ret) {
    struct str key;
    if (!json_object(r))
        return false;
    while (json_member(r, &key))
        if (str_eq(key, STR("requests")))
            amounts_decode(r, ret);
    return true;
}

static void port_decode(struct json_reader *r, struct host_port *ret) {
    struct str key;
    *ret = (struct host_port){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("hostPort")))
            ret->port = (int32_t)json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("hostIP")))
            ret->ip = json_string(r);
        else if (str_eq(key, STR("protocol")))
            ret->protocol = json_string(r);
    }
    if (ret->ip.n == 0)
        ret->ip = STR("0.0.0.0");
    if (ret->protocol.n == 0)
        ret->protocol = STR("TCP");
}

static void ports_decode(struct json_reader *r, struct container *into) {
    struct host_port *ports = NULL, port;
    uint32_t count = 0, cap = 0;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        port_decode(r, &port);
        if (port.port <= 0 || count == LIMIT_HOST_PORTS)
            continue;
        ports = arena_push(r->arena, ports, count, &cap, sizeof *ports);
        if (ports == NULL)
            return; /* the arena has failed */
        ports[count++] = port;
    }
    into->ports = ports;
    into->port_count = count;
}

static void container_decode(struct json_reader *r, void *into) {
    struct container *c = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("name")))
            c->name = json_string(r);
        else if (str_eq(key, STR("image")))
            c->image = json_string(r);
        else if (str_eq(key, STR("resources")))
            (void)requests_member(r, &c->requests); /* {} requests nothing, as null does */
        else if (str_eq(key, STR("ports")))
            ports_decode(r, c);
        else if (str_eq(key, STR("restartPolicy")))
            c->always = str_eq(json_string(r), STR("Always"));
    }
}

static void status_decode(struct json_reader *r, void *into) {
    struct container_status *s = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("name")))
            s->name = json_string(r);
        else if (str_eq(key, STR("resources")))
            s->reported = requests_member(r, &s->actuated);
        else if (str_eq(key, STR("allocatedResources")))
            amounts_decode(r, &s->allocated);
    }
}

static void *containers_decode(struct json_reader *r, uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct container), UINT32_MAX, container_decode, ret_count);
}

static void *statuses_decode(struct json_reader *r, uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct container_status), UINT32_MAX, status_decode, ret_count);
}

bool requests_decode_spec(struct json_reader *r, struct str key, struct requests_decoder *d) {
    if (str_eq(key, STR("containers")))
        d->containers = containers_decode(r, &d->container_count);
    else if (str_eq(key, STR("initContainers")))
        d->init_containers = containers_decode(r, &d->init_container_count);
    else if (str_eq(key, STR("overhead")))
        amounts_decode(r, &d->overhead);
    else if (str_eq(key, STR("resources")))
        (void)requests_member(r, &d->level); /* {} requests nothing, as null does */
    else
        return false;
    return true;
}

bool requests_decode_status(struct json_reader *r, struct str key, struct requests_decoder *d) {
    if (str_eq(key, STR("containerStatuses")))
        d->statuses = statuses_decode(r, &d->status_count);
    else if (str_eq(key, STR("initContainerStatuses")))
        d->init_statuses = statuses_decode(r, &d->init_status_count);
    else if (str_eq(key, STR("resources")))
        d->level_reported = requests_member(r, &d->level_actuated);
    else if (str_eq(key, STR("allocatedResources")))
        amounts_decode(r, &d->level_allocated);
    else if (str_eq(key, STR("conditions")))
        d->conditions = json_skip(r);
    else
        return false;
    return true;
}

uint32_t requests_containers(const struct requests_decoder *d) {
    return d->init_container_count + d->container_count;
}

struct str requests_image(const struct requests_decoder *d, uint32_t container) {
    bool init = container < d->init_container_count;
    return init ? d->init_containers[container].image
                : d->containers[container - d->init_container_count].image;
}

/* ---- summing up ---- */

struct sum {
    struct json_reader *r;
    const struct requests_decoder *d;
    bool placed;
    struct container_status **by_name; /* sorted */
    uint32_t status_count;
    int infeasible; /* -1: not checked yet */
    struct amounts total;
};

/* Equal names keep their order, because upstream uses the last status of a name. */
static int compare_statuses(const void *a, const void *b) {
    const struct container_status *const *x = a, *const *y = b;
    int order = str_cmp((*x)->name, (*y)->name);
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

static void sort_statuses(struct sum *s) {
    uint32_t first = s->d->status_count, second = s->d->init_status_count;
    if (first + second == 0)
        return;
    s->by_name = arena_array(s->r->arena, (size_t)first + second, sizeof(void *));
    if (s->by_name == NULL)
        return;
    for (uint32_t i = 0; i < first + second; i++)
        s->by_name[i] = i < first ? &s->d->statuses[i] : &s->d->init_statuses[i - first];
    s->status_count = first + second;
    qsort(s->by_name, s->status_count, sizeof(void *), compare_statuses);
}

static const struct container_status *status_of(const struct sum *s, struct str name) {
    uint32_t low = 0, high = s->status_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_cmp(s->by_name[middle]->name, name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && str_eq(s->by_name[low - 1]->name, name) ? s->by_name[low - 1] : NULL;
}

struct condition {
    struct str type, reason;
};

/* Is a resize pending that the node cannot grant? upstream: IsPodResizeInfeasible(). */
static bool resize_infeasible(struct sum *s) {
    static const struct json_field fields[] = {
        JSON_TEXT("type", struct condition, type),
        JSON_TEXT("reason", struct condition, reason),
    };
    struct json_reader r;
    if (s->infeasible >= 0)
        return s->infeasible > 0;
    s->infeasible = 0;
    if (s->d->conditions.n == 0)
        return false;
    json_reader_init(&r, s->d->conditions, s->r->arena, "conditions");
    if (!json_array(&r))
        return false;
    while (json_element(&r)) {
        struct condition condition = {{0}, {0}};
        json_fields(&r, &JSON_ROWS(fields), &condition);
        if (str_eq(condition.type, STR("PodResizePending"))) {
            s->infeasible = str_eq(condition.reason, STR("Infeasible"));
            break;
        }
    }
    return s->infeasible > 0;
}

/* Returns the effective requests of a container or pod. upstream: determineEffectiveRequests(). */
static struct amounts effective(struct sum *s, const struct amounts *spec,
                                const struct amounts *actuated, const struct amounts *allocated) {
    struct amounts most = {0};
    if (same(spec, actuated) && same(spec, allocated))
        return *spec;
    raise_to(s->r, &most, actuated);
    raise_to(s->r, &most, allocated);
    if (!resize_infeasible(s))
        raise_to(s->r, &most, spec);
    return most;
}

static struct amounts container_amounts(struct sum *s, const struct container *c) {
    const struct container_status *status = s->placed ? status_of(s, c->name) : NULL;
    if (status == NULL || !status->reported)
        return c->requests;
    return effective(s, &c->requests, &status->actuated, &status->allocated);
}

/*
 * Init containers run one after the other, each beside the sidecars that were started before it.
 * For each container, only its own names can raise the peak: the names of sidecars have raised it
 * when the sidecar was added. So the work is linear in the number of names, however many containers
 * follow.
 */
static void sum_init_containers(struct sum *s, struct amounts *peak) {
    struct amounts sidecars = {0};
    for (uint32_t i = 0; i < s->d->init_container_count; i++) {
        const struct container *c = &s->d->init_containers[i];
        const struct amounts own = c->always ? container_amounts(s, c) : c->requests;
        if (c->always) {
            add(s->r, &s->total, &own);
            add(s->r, &sidecars, &own);
        }
        for (uint32_t n = 0; n < own.count; n++) {
            __int128 beside = amount_of(&sidecars, own.items[n].name);
            raise_one(s->r, peak, own.items[n].name,
                      c->always ? beside : sum_of(own.items[n].nano, beside));
        }
    }
}

static void sum_containers(struct sum *s) {
    struct amounts peak = {0};
    for (uint32_t i = 0; i < s->d->container_count; i++) {
        const struct amounts own = container_amounts(s, &s->d->containers[i]);
        if (i == 0)
            s->total = own; /* no other code uses this list later */
        else
            add(s->r, &s->total, &own);
    }
    sum_init_containers(s, &peak);
    raise_to(s->r, &s->total, &peak);
}

/* Pod-level requests (spec.resources) replace the sums of the containers. */
static void apply_pod_level(struct sum *s) {
    const struct requests_decoder *d = s->d;
    struct amounts level = d->level;
    bool new;
    if (s->placed && d->level_reported)
        level = effective(s, &d->level, &d->level_actuated, &d->level_allocated);
    for (uint32_t i = 0; i < d->level.count; i++) {
        struct str name = d->level.items[i].name;
        if (!is_of_level(name))
            continue;
        struct amount *total = place_of(s->r, &s->total, name, &new);
        const struct amount *wanted = place_of(s->r, &level, name, &new);
        if (total != NULL && wanted != NULL)
            total->nano = wanted->nano;
    }
}

/* ---- sums with defaults ---- */

static const struct {
    struct str name;
    __int128 missing_nano;
} filled_resources[FILLED] = {
    [FILLED_CPU] = {{"cpu", 3}, (__int128)100 * 1000000},
    [FILLED_MEMORY] = {{"memory", 6}, (__int128)(200 << 20) * 1000000000},
};

static __int128 filled_amount(const struct amounts *own, struct str name, __int128 missing) {
    uint32_t at = lower_bound(own, name);
    return is_at(own, at, name) ? own->items[at].nano : missing;
}

/* The same as sum_containers(), but for one resource, with `missing` for a container that does not
 * request it. */
static __int128 sum_filled(struct sum *s, struct str name, __int128 missing) {
    __int128 total = 0, sidecars = 0, peak = 0;
    for (uint32_t i = 0; i < s->d->container_count; i++) {
        const struct amounts own = container_amounts(s, &s->d->containers[i]);
        total = sum_of(total, filled_amount(&own, name, missing));
    }
    for (uint32_t i = 0; i < s->d->init_container_count; i++) {
        const struct container *c = &s->d->init_containers[i];
        const struct amounts own = c->always ? container_amounts(s, c) : c->requests;
        __int128 amount = filled_amount(&own, name, missing), beside = sum_of(amount, sidecars);
        if (c->always) {
            total = sum_of(total, amount);
            sidecars = beside;
        }
        peak = beside > peak ? beside : peak;
    }
    return peak > total ? peak : total;
}

static bool level_is_set(const struct requests_decoder *d) {
    for (uint32_t i = 0; i < d->level.count; i++)
        if (is_of_level(d->level.items[i].name))
            return true;
    return false;
}

/* Fills in defaults for cpu and memory. `sums` are the sums of the containers. upstream: for pods
 * on nodes, framework PodInfo.CalculateResource(): a pod with pod-level requests gets defaults only
 * for resources that it requests nowhere. For a pod to place, noderesources NewFit(), whose scorer
 * ignores pod-level requests. */
static void fill(const struct sum *s, const __int128 sums[static FILLED],
                 struct pod_requests *ret) {
    const struct requests_decoder *d = s->d;
    for (int i = 0; i < FILLED; i++) {
        struct str name = filled_resources[i].name;
        bool requested = is_at(&s->total, lower_bound(&s->total, name), name);
        bool of_level = is_at(&d->level, lower_bound(&d->level, name), name);
        struct quantity q = {.nano = amount_of(&s->total, name)};
        if (!s->placed || (!of_level && !(requested && level_is_set(d))))
            q.nano = sum_of(sums[i], amount_of(&d->overhead, name));
        ret->filled[i] = i == FILLED_CPU ? quantity_milli_value(&q) : quantity_value(&q);
    }
}

static int compare_ports(const void *a, const void *b) {
    return host_port_cmp(a, b);
}

static void gather_ports(struct json_reader *r, const struct requests_decoder *d,
                         struct pod_requests *ret) {
    struct host_port *ports = NULL;
    uint32_t count = 0, cap = 0;
    for (uint32_t i = 0; i < d->init_container_count + d->container_count; i++) {
        bool init = i < d->init_container_count;
        const struct container *c =
            init ? &d->init_containers[i] : &d->containers[i - d->init_container_count];
        if (init && !c->always)
            continue; /* an init container does not run as long as the pod */
        for (uint32_t p = 0; p < c->port_count && count < LIMIT_HOST_PORTS; p++) {
            ports = arena_push(r->arena, ports, count, &cap, sizeof *ports);
            if (ports == NULL)
                return; /* the arena has failed */
            ports[count++] = c->ports[p];
        }
    }
    if (count > 1)
        qsort(ports, count, sizeof *ports, compare_ports);
    ret->ports = ports;
    ret->port_count = count;
}

void requests_finish(struct json_reader *r, const struct requests_decoder *d, bool placed,
                     struct pod_requests *ret) {
    struct sum s = {.r = r, .d = d, .placed = placed, .infeasible = -1};
    *ret = (struct pod_requests){0};
    if (json_failed(r) || arena_failed(r->arena))
        return;
    if (placed)
        sort_statuses(&s);
    __int128 filled[FILLED]; /* computed first, because the sums change the lists */
    for (int i = 0; i < FILLED; i++)
        filled[i] = sum_filled(&s, filled_resources[i].name, filled_resources[i].missing_nano);
    sum_containers(&s);
    apply_pod_level(&s);
    add(r, &s.total, &d->overhead);
    ret->resources = resources_of(r, &s.total, false);
    fill(&s, filled, ret);
    gather_ports(r, d, ret);
}

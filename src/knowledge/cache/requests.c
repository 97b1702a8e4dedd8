/*
 * Requests of pods and resources of nodes. Equal requests are stored once, reference counted, and a
 * pod record has their id. Every pod event updates its node's sums: memory for a pod's amounts is
 * reserved before anything changes, so that adding and subtracting cannot fail.
 *
 * Sums wrap around, as upstream's, so that subtracting is the exact opposite of adding.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- interned requests ---- */

static uint64_t hash_of(const struct pod_requests *requests, struct pod_says says) {
    struct hash_state hash = hash_begin();
    hash_add_number(&hash, (uint64_t)requests->resources.count << 32 | requests->port_count);
    hash_add_number(&hash, (uint64_t)says.terms << 32 | says.reach);
    for (uint32_t i = 0; i < requests->resources.count; i++) {
        hash_add(&hash, requests->resources.items[i].name);
        hash_add_number(&hash, (uint64_t)requests->resources.items[i].amount);
    }
    for (uint32_t i = 0; i < requests->port_count; i++) {
        hash_add(&hash, requests->ports[i].ip);
        hash_add(&hash, requests->ports[i].protocol);
        hash_add_number(&hash, (uint64_t)requests->ports[i].port);
    }
    for (int i = 0; i < FILLED; i++)
        hash_add_number(&hash, (uint64_t)requests->filled[i]);
    return hash_end(hash);
}

struct requests_key {
    const struct pod_requests *requests;
    struct pod_says says;
};

static bool equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct requests_key *k = key;
    const struct pod_requests *wanted = k->requests;
    const struct requests_record *record = pool_at(&c->requests, id);
    if (record->terms != k->says.terms || record->reach != k->says.reach ||
        record->amount_count != wanted->resources.count ||
        record->port_count != wanted->port_count ||
        memcmp(record->filled, wanted->filled, sizeof record->filled) != 0)
        return false;
    for (uint32_t i = 0; i < record->amount_count; i++)
        if (record->amounts[i].amount != wanted->resources.items[i].amount ||
            !str_eq(intern_str(&c->strings, record->amounts[i].name),
                    wanted->resources.items[i].name))
            return false;
    for (uint32_t i = 0; i < record->port_count; i++)
        if (record->ports[i].port != wanted->ports[i].port ||
            !str_eq(intern_str(&c->strings, record->ports[i].ip), wanted->ports[i].ip) ||
            !str_eq(intern_str(&c->strings, record->ports[i].protocol), wanted->ports[i].protocol))
            return false;
    return true;
}

static void free_contents(struct cache *c, struct requests_record *record) {
    for (uint32_t i = 0; i < record->amount_count; i++)
        intern_unref(&c->strings, record->amounts[i].name);
    for (uint32_t i = 0; i < record->port_count; i++) {
        intern_unref(&c->strings, record->ports[i].ip);
        intern_unref(&c->strings, record->ports[i].protocol);
    }
    free(record->amounts);
    free(record->ports);
}

static uint64_t bytes_of_lists(const struct requests_record *record) {
    return record->amount_count * sizeof *record->amounts +
           record->port_count * sizeof *record->ports;
}

/* Fills a record. It counts each reference when it takes it, so that a failure can give back all of
 * them. */
static int fill(struct cache *c, struct requests_record *record,
                const struct pod_requests *requests) {
    uint32_t resources = requests->resources.count;
    if (resources > 0 && (record->amounts = calloc(resources, sizeof *record->amounts)) == NULL)
        return -ENOMEM;
    if (requests->port_count > 0 &&
        (record->ports = calloc(requests->port_count, sizeof *record->ports)) == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < resources; i++) {
        const struct resource *from = &requests->resources.items[i];
        record->amounts[i] =
            (struct amount_ids){intern_ref(&c->strings, from->name), 0, from->amount};
        record->amount_count++;
        if (record->amounts[i].name == INTERN_NONE)
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < requests->port_count; i++) {
        const struct host_port *from = &requests->ports[i];
        record->ports[i] = (struct port_ids){intern_ref(&c->strings, from->ip),
                                             intern_ref(&c->strings, from->protocol), from->port};
        record->port_count++;
        if (record->ports[i].ip == INTERN_NONE || record->ports[i].protocol == INTERN_NONE)
            return -ENOMEM;
    }
    return 0;
}

uint32_t requests_ref(struct cache *c, const struct pod_requests *requests, struct pod_says says) {
    const struct requests_key key = {requests, says};
    uint64_t hash = hash_of(requests, says);
    uint32_t id = hashmap_find(&c->requests_index, hash, equal, c, &key);
    if (id != HASHMAP_NONE) {
        terms_unref(c, says.terms); /* the record has references */
        reach_unref(c, says.reach);
        ((struct requests_record *)pool_at(&c->requests, id))->references++;
        return id;
    }
    if (hashmap_reserve(&c->requests_index) != 0)
        return POOL_NONE;
    id = pool_take(&c->requests);
    if (id == POOL_NONE)
        return POOL_NONE;
    struct requests_record *record = pool_at(&c->requests, id);
    *record = (struct requests_record){
        .hash = hash, .references = 1, .terms = says.terms, .reach = says.reach};
    memcpy(record->filled, requests->filled, sizeof record->filled);
    if (fill(c, record, requests) != 0) {
        free_contents(c, record);
        pool_give(&c->requests, id);
        return POOL_NONE;
    }
    c->list_bytes += bytes_of_lists(record);
    hashmap_insert(&c->requests_index, hash, id);
    return id;
}

void requests_unref(struct cache *c, uint32_t id) {
    struct requests_record *record = pool_at(&c->requests, id);
    if (--record->references > 0)
        return;
    hashmap_remove(&c->requests_index, record->hash, id);
    terms_unref(c, record->terms);
    reach_unref(c, record->reach);
    c->list_bytes -= bytes_of_lists(record);
    free_contents(c, record);
    pool_give(&c->requests, id);
}

/* ---- nodes ---- */

int node_records_grow(struct cache *c, uint32_t cap) {
    uint32_t from = topology_cap(c->nodes);
    struct node_record *records = realloc(c->node_records, cap * sizeof *records);
    if (records == NULL)
        return -ENOMEM;
    memset(records + from, 0, (cap - from) * sizeof *records);
    c->node_records = records;
    return 0;
}

/*
 * Lists are sorted by the ids of names. A pod may request many resources, and the pods of a node
 * very many together: so names are found by binary search, and new names are merged in one pass.
 */
static uint32_t index_of(const struct amount_list *list, uint32_t name) {
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->items[middle].name == name)
            return middle;
        if (list->items[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return list->count; /* the list does not have the name */
}

static int compare_names(const void *a, const void *b) {
    const struct amount_ids *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static int reserve(struct cache *c, struct amount_list *list, uint32_t more) {
    if (list->cap - list->count >= more)
        return 0;
    uint32_t cap = list->count + more < 4 ? 4 : list->count + more;
    struct amount_ids *items = realloc(list->items, cap * sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    c->list_bytes += (cap - list->cap) * sizeof *items;
    list->items = items;
    list->cap = cap;
    return 0;
}

/* Adds names that the list lacks; it has room for them. */
static void merge(struct amount_list *list, struct amount_ids *more, uint32_t count) {
    uint32_t old = list->count, to = old + count;
    qsort(more, count, sizeof *more, compare_names);
    while (count > 0) {
        bool is_old = old > 0 && list->items[old - 1].name > more[count - 1].name;
        list->items[--to] = is_old ? list->items[--old] : more[--count];
    }
}

void amount_list_free(struct cache *c, struct amount_list *list) {
    for (uint32_t i = 0; i < list->count; i++)
        intern_unref(&c->strings, list->items[i].name);
    c->list_bytes -= list->cap * sizeof *list->items;
    free(list->items);
    *list = (struct amount_list){0};
}

int node_requests_reserve(struct cache *c, uint32_t slot, uint32_t requests) {
    const struct requests_record *record = pool_at(&c->requests, requests);
    struct amount_list *list = &c->node_records[slot].requested;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < record->amount_count; i++)
        missing += index_of(list, record->amounts[i].name) == list->count;
    return reserve(c, list, missing);
}

static int64_t wrapped(int64_t sum, uint64_t more) {
    return (int64_t)((uint64_t)sum + more);
}

void node_requests_add(struct cache *c, uint32_t slot, uint32_t requests) {
    const struct requests_record *record = pool_at(&c->requests, requests);
    struct amount_list *list = &c->node_records[slot].requested;
    struct amount_ids first[RESOURCES_MOST]; /* names new on this node; [count] are set */
    uint32_t count = 0;
    c->node_records[slot].pods++;
    for (int i = 0; i < FILLED; i++)
        c->node_records[slot].filled[i] =
            wrapped(c->node_records[slot].filled[i], (uint64_t)record->filled[i]);
    for (uint32_t i = 0; i < record->amount_count; i++) {
        const struct amount_ids *amount = &record->amounts[i];
        uint32_t at = index_of(list, amount->name);
        if (at == list->count) {
            intern_ref_id(&c->strings, amount->name);
            first[count++] = (struct amount_ids){amount->name, 1, amount->amount};
            continue;
        }
        list->items[at].holders++;
        list->items[at].amount = wrapped(list->items[at].amount, (uint64_t)amount->amount);
    }
    if (count == 0)
        return;
    merge(list, first, count);
    list->count += count;
}

/* Keeps the list's memory: it may be reserved for the pod that comes next. */
void node_requests_take(struct cache *c, uint32_t slot, uint32_t requests) {
    const struct requests_record *record = pool_at(&c->requests, requests);
    struct amount_list *list = &c->node_records[slot].requested;
    uint32_t unnamed = 0, kept = 0;
    c->node_records[slot].pods--;
    for (int i = 0; i < FILLED; i++)
        c->node_records[slot].filled[i] =
            wrapped(c->node_records[slot].filled[i], -(uint64_t)record->filled[i]);
    for (uint32_t i = 0; i < record->amount_count; i++) {
        struct amount_ids *sum = &list->items[index_of(list, record->amounts[i].name)];
        sum->amount = wrapped(sum->amount, -(uint64_t)record->amounts[i].amount);
        unnamed += --sum->holders == 0;
    }
    if (unnamed == 0)
        return;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].holders > 0)
            list->items[kept++] = list->items[i];
        else
            intern_unref(&c->strings, list->items[i].name);
    list->count = kept;
}

int amount_list_make(struct cache *c, const struct resources *from, struct amount_list *ret) {
    *ret = (struct amount_list){0};
    if (from->count > 0 && reserve(c, ret, from->count) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t name = intern_ref(&c->strings, from->items[i].name);
        if (name == INTERN_NONE) {
            amount_list_free(c, ret);
            return -ENOMEM;
        }
        ret->items[ret->count++] = (struct amount_ids){name, 1, from->items[i].amount};
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, compare_names);
    return 0;
}

void node_set(struct cache *c, uint32_t slot, struct amount_list allocatable, bool unschedulable) {
    struct node_record *record = &c->node_records[slot];
    c->saying_nodes += (allocatable.count > 0) - (record->allocatable.count > 0);
    amount_list_free(c, &record->allocatable);
    record->allocatable = allocatable;
    if (record->unschedulable != unschedulable)
        c->changes++; /* changes the result of cache_changes() */
    record->unschedulable = unschedulable;
}

void node_set_images(struct cache *c, uint32_t slot, uint8_t *images) {
    image_list_free(c, c->node_records[slot].images);
    c->node_records[slot].images = images;
}

void node_forget(struct cache *c, uint32_t slot) {
    node_set(c, slot, (struct amount_list){0}, false);
    node_set_images(c, slot, NULL);
}

void node_release(struct cache *c, uint32_t slot) {
    node_forget(c, slot);
    amount_list_free(c, &c->node_records[slot].requested);
}

void node_records_free(struct cache *c) {
    for (uint32_t slot = 0; slot < topology_cap(c->nodes); slot++)
        node_release(c, slot);
    free(c->node_records);
}

/* ---- reading ---- */

struct cache_node cache_node(const struct cache_view *v, uint32_t slot) {
    const struct node_record *record = &v->cache->node_records[slot];
    return (struct cache_node){
        .unschedulable = record->unschedulable,
        .filled = {record->filled[FILLED_CPU], record->filled[FILLED_MEMORY]},
        .pods = record->pods};
}

bool cache_any_allocatable(const struct cache_view *v) {
    return v->cache->saying_nodes > 0;
}

static int64_t amount_in(const struct amount_list *list, uint32_t name) {
    uint32_t at = index_of(list, name);
    return at == list->count ? 0 : list->items[at].amount;
}

struct cache_resource cache_node_resource(const struct cache_view *v, uint32_t slot,
                                          struct str name) {
    const struct node_record *record = &v->cache->node_records[slot];
    uint32_t id = intern_find(&v->cache->strings, name);
    if (id == INTERN_NONE)
        return (struct cache_resource){0};
    return (struct cache_resource){amount_in(&record->allocatable, id),
                                   amount_in(&record->requested, id)};
}

static const struct requests_record *requests_of(const struct cache_view *v, uint32_t pod) {
    const struct pod_record *record = pool_at(&v->cache->pods, pod);
    return pool_at(&v->cache->requests, record->requests);
}

int64_t cache_pod_request(const struct cache_view *v, const struct cache_pod *pod,
                          struct str name) {
    const struct requests_record *record = requests_of(v, pod->id);
    uint32_t low = 0, high = record->amount_count;
    while (low < high) { /* the amounts are sorted by name as decoded */
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(intern_str(&v->cache->strings, record->amounts[middle].name), name);
        if (order == 0)
            return record->amounts[middle].amount;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* Is this port wanted, at exactly this address, or at any address if it is empty? */
static bool is_wanted(const struct pod_requests *wanted, struct host_port port) {
    uint32_t low = 0, high = wanted->port_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (host_port_cmp(&wanted->ports[middle], &port) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == wanted->port_count)
        return false;
    const struct host_port *found = &wanted->ports[low];
    return str_empty(port.ip) ? found->port == port.port && str_eq(found->protocol, port.protocol)
                              : host_port_cmp(found, &port) == 0;
}

/* upstream: kube-scheduler framework HostPortInfo.CheckConflict() */
static bool takes_any(const struct cache *c, const struct requests_record *record,
                      const struct pod_requests *wanted) {
    static const struct str any = {"0.0.0.0", 7}, nowhere = {"", 0};
    for (uint32_t i = 0; i < record->port_count; i++) {
        struct host_port port = {intern_str(&c->strings, record->ports[i].ip),
                                 intern_str(&c->strings, record->ports[i].protocol),
                                 record->ports[i].port};
        struct host_port everywhere = {any, port.protocol, port.port};
        if (str_eq(port.ip, any)) /* conflicts with every address */
            port.ip = nowhere;
        if (is_wanted(wanted, port) || is_wanted(wanted, everywhere))
            return true;
    }
    return false;
}

bool cache_pod_takes_port(const struct cache_view *v, const struct cache_pod *pod,
                          const struct pod_requests *wanted) {
    return takes_any(v->cache, requests_of(v, pod->id), wanted);
}

int cache_port_holders(const struct cache_view *v, const struct pod_requests *wanted,
                       struct arena *arena, uint32_t **ret) {
    const struct cache *c = v->cache;
    uint32_t *holders = arena_array(arena, topology_slots(c->nodes), sizeof *holders);
    bool *takes = arena_array(arena, c->requests.end, sizeof *takes);
    bool any = false;
    if (holders == NULL || takes == NULL)
        return -ENOMEM;
    for (POOL_EACH(&c->requests, id)) {
        const struct requests_record *record = pool_at(&c->requests, id);
        if (view_take(v, 1 + record->port_count) != 0)
            return -E2BIG;
        any |= takes[id] = takes_any(c, record, wanted);
    }
    if (any && view_take(v, c->pods.count) != 0)
        return -E2BIG;
    if (any)
        for (POOL_EACH(&c->pods, id)) {
            const struct pod_record *pod = pool_at(&c->pods, id);
            holders[pod->node] += takes[pod->requests];
        }
    *ret = holders;
    return 0;
}

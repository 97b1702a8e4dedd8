#include "members/internal.h"

#include "base/limits.h"
#include "model/karmada_workload.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- life ---- */

static int open_contents(void **ret, struct err *err) {
    static _Atomic uint64_t serial;
    struct member_contents *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for a member cluster");
    c->serial = atomic_fetch_add(&serial, 1) + 1;
    pool_init(&c->rooms, sizeof(struct node_rooms));
    pool_init(&c->pods, sizeof(struct bound_pod));
    pool_init(&c->vectors, sizeof(struct request_vector));
    workloads_init(c);
    quotas_init(c);
    const struct topology_options options = {.strings = &c->strings,
                                             .max_feasibilities = LIMIT_MEMBER_FEASIBILITIES,
                                             .max_feasibility_bytes = LIMIT_MEMBER_REMEMBERED,
                                             .max_column_bytes = LIMIT_MEMBER_REMEMBERED,
                                             .max_tree_bytes = LIMIT_MEMBER_REMEMBERED};
    const int r = topology_new(&options, &c->topology, err);
    if (r == 0)
        *ret = c;
    else
        free(c);
    return r;
}

static void close_contents(void *contents) {
    struct member_contents *c = contents;
    if (c == NULL)
        return;
    bound_pods_done(c);
    workloads_done(c);
    quotas_done(c);
    rooms_done(c);
    topology_free(c->topology);
    intern_done(&c->strings);
    intern_done(&c->zones);
    for (int i = 0; i < NODE_NATIVES; i++)
        free(c->native[i]);
    free(c->zone_births);
    free(c->slots);
    free(c->room_of);
    free(c->scalar_begin);
    free(c->scalars);
    free(c->names);
    free(c);
}

/* ---- memory ---- */

/* Returns the bytes in use: memory that a burst took and gave back does not count. */
static uint64_t kept_bytes(const struct member_contents *c) {
    enum { INDEX_BYTES = 10 }; /* bytes of a place in an index */
    enum { ROW_BYTES = (3 + 2 * NODE_NATIVES) * sizeof(uint32_t) };
    return workloads_bytes(c) + quotas_bytes(c) + topology_kept_bytes(c->topology) +
           c->strings.bytes + c->zones.bytes + c->list_bytes +
           c->rooms.count * (sizeof(struct node_rooms) + INDEX_BYTES) +
           c->pods.count * (sizeof(struct bound_pod) + INDEX_BYTES) +
           c->vectors.count * (sizeof(struct request_vector) + INDEX_BYTES) +
           (uint64_t)c->cap * ROW_BYTES + c->scalar_cap * sizeof *c->scalars +
           c->name_cap * sizeof *c->names + c->zone_cap * sizeof *c->zone_births;
}

/* Deployments and ReplicaSets may fill half of the limit; the rest is for kinds that replicas
 * need. */
static uint64_t limit_of(const struct member_contents *c, uint32_t kind) {
    return kind == MEMBER_DEPLOYMENTS || kind == MEMBER_REPLICA_SETS ? c->max_bytes / 2
                                                                     : c->max_bytes;
}

/* Call it after keeping an object. Returns -ENOSPC if too much is kept: the kind's listing then
 * fails. */
static int weigh(struct member_contents *c, uint32_t kind, struct err *err) {
    if (c->max_bytes == 0 || kept_bytes(c) <= limit_of(c, kind))
        return 0;
    c->too_large |= MEMBER_KIND(kind);
    return err_set(err, -ENOSPC,
                   "more than %llu bytes of the member cluster would be kept: raise "
                   "estimator.limits.memberBytes, or have fewer objects in it",
                   (unsigned long long)limit_of(c, kind));
}

static const char *why_not(int r) {
    return r == -E2BIG ? "more labels, or a longer selector, than are kept of" : "no memory for";
}

void member_limit(struct informer *informer, uint64_t max_bytes) {
    ((struct member_contents *)informer_write(informer))->max_bytes = max_bytes;
    informer_write_done(informer);
}

uint64_t member_too_large(struct informer *informer) {
    const uint64_t kinds = ((const struct member_contents *)informer_read(informer))->too_large;
    informer_read_done(informer);
    return kinds;
}

/* ---- nodes ---- */

/* A node and its taints, including the taint of a cordon. */
struct decoded_node {
    struct node node;
    struct candidate candidate;
};

static void decode_node(struct json_reader *r, struct informer_object *ret) {
    struct decoded_node *d = ret->decoded = arena_alloc(r->arena, sizeof *d);
    if (d == NULL)
        return; /* the caller reports a failed arena */
    node_decode(r, &d->node);
    ret->meta = d->node.meta;
    d->candidate = (struct candidate){d->node.meta.name, d->node.meta.labels, d->node.taints,
                                      d->node.taint_count};
    if (!d->node.unschedulable)
        return;
    struct taint *taints =
        arena_array_unset(r->arena, (size_t)d->node.taint_count + 1, sizeof *taints);
    if (taints == NULL)
        return;
    if (d->node.taint_count > 0)
        memcpy(taints, d->node.taints, d->node.taint_count * sizeof *taints);
    taints[d->candidate.taint_count++] = cordon_taint;
    d->candidate.taints = taints;
}

static void remove_node(struct member_contents *c, struct str name) {
    const uint32_t room = rooms_find(c, name);
    if (room == HASHMAP_NONE)
        return;
    rooms_clear_node(c, room);
    topology_remove(c->topology, name);
}

static int keep_node(struct member_contents *c, const struct informer_object *object,
                     struct err *err) {
    const struct decoded_node *d = object->decoded;
    const uint32_t room = rooms_hold(c, d->node.meta.name);
    int r = room != POOL_NONE ? rooms_set_node(c, room, &d->node, object->arena) : -ENOMEM;
    if (r == 0)
        r = topology_apply(c->topology, &d->candidate);
    if (r == 0)
        rooms_at(c, room)->slot = topology_slot(c->topology, d->node.meta.name);
    if (room != POOL_NONE)
        rooms_unhold(c, room);
    if (r == 0)
        return 0;
    remove_node(c, d->node.meta.name);
    return err_set(err, r, "no memory for node '%.*s'", STR_ARG(d->node.meta.name));
}

static int apply_node(void *contents, const struct informer_object *object, struct err *err) {
    const int r = keep_node(contents, object, err);
    return r == 0 ? weigh(contents, object->kind, err) : r;
}

static int forget_node(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    remove_node(contents, gone->meta.name);
    return 0;
}

static uint32_t count_nodes(const void *contents) {
    const struct member_contents *c = contents;
    return topology_stats(c->topology).candidates;
}

/* ---- pods ---- */

static void decode_pod(struct json_reader *r, struct informer_object *ret) {
    struct karmada_pod *pod = ret->decoded = arena_alloc(r->arena, sizeof *pod);
    if (pod == NULL)
        return; /* the caller reports a failed arena */
    karmada_pod_decode(r, pod);
    ret->meta = pod->meta;
}

/* Keeps a pod that waits for a node: its Deployment counts it. */
static int keep_waiting(struct member_contents *c, const struct karmada_pod *pod) {
    const struct kept_object kept = {
        .meta = &pod->meta, .has_since = pod->has_transition, .since_ms = pod->transition_ms};
    if (pod->unschedulable && !pod->finished)
        return workloads_apply(c, TABLE_WAITING_PODS, &kept);
    workloads_remove(c, TABLE_WAITING_PODS, pod->meta.namespace, pod->meta.name);
    return 0;
}

static int apply_pod(void *contents, const struct informer_object *object, struct err *err) {
    const struct karmada_pod *pod = object->decoded;
    const int waiting = keep_waiting(contents, pod), bound = bound_pods_apply(contents, pod);
    const int r = bound != 0 ? bound : waiting;
    if (r == 0)
        return weigh(contents, object->kind, err);
    return err_set(err, r, "%s pod '%.*s/%.*s'", why_not(r), STR_ARG(pod->meta.namespace),
                   STR_ARG(pod->meta.name));
}

static int remove_pod(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    bound_pods_remove(contents, gone->meta.namespace, gone->meta.name);
    workloads_remove(contents, TABLE_WAITING_PODS, gone->meta.namespace, gone->meta.name);
    return 0;
}

static uint32_t count_pods(const void *contents) {
    const struct member_contents *c = contents;
    return c->pods.count;
}

/* ---- workloads ---- */

struct decoded_workload {
    struct karmada_workload workload;
    struct str selector; /* the bytes of the selector in the object's JSON */
};

/* Finds the selector of the next workload; the reader does not move, and reports mistakes when it
 * reads the workload. */
static struct str peek_selector(const struct json_reader *r) {
    struct json_reader ahead = *r;
    struct str key, selector = {0};
    if (!json_object(&ahead))
        return selector;
    while (json_member(&ahead, &key)) {
        if (!str_eq(key, STR("spec")) || json_peek(&ahead) != JSON_OBJECT)
            continue;
        if (!json_object(&ahead))
            break;
        while (json_member(&ahead, &key)) {
            const struct str value = json_skip(&ahead);
            if (str_eq(key, STR("selector")))
                selector = value;
        }
    }
    return json_failed(&ahead) ? (struct str){0} : selector;
}

static void decode_workload(struct json_reader *r, struct informer_object *ret) {
    struct decoded_workload *d = ret->decoded = arena_alloc(r->arena, sizeof *d);
    if (d == NULL)
        return; /* the caller reports a failed arena */
    if (ret->kind == MEMBER_DEPLOYMENTS)
        d->selector = peek_selector(r);
    karmada_workload_decode(r, &d->workload);
    ret->meta = d->workload.meta;
}

static int table_of(uint32_t kind) {
    return kind == MEMBER_DEPLOYMENTS ? TABLE_DEPLOYMENTS : TABLE_REPLICA_SETS;
}

static int apply_workload(void *contents, const struct informer_object *object, struct err *err) {
    const struct decoded_workload *d = object->decoded;
    const struct kept_object kept = {.meta = &d->workload.meta,
                                     .template = d->workload.template,
                                     .has_since = d->workload.has_created,
                                     .since_ms = d->workload.created_ms,
                                     .selector = d->selector};
    const int r = workloads_apply(contents, table_of(object->kind), &kept);
    if (r == 0)
        return weigh(contents, object->kind, err);
    return err_set(err, r, "%s '%.*s/%.*s'", why_not(r), STR_ARG(kept.meta->namespace),
                   STR_ARG(kept.meta->name));
}

static int remove_workload(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    workloads_remove(contents, table_of(gone->kind), gone->meta.namespace, gone->meta.name);
    return 0;
}

/* ---- quotas ---- */

static void decode_quota(struct json_reader *r, struct informer_object *ret) {
    struct quota *quota = ret->decoded = arena_alloc(r->arena, sizeof *quota);
    if (quota == NULL)
        return; /* the caller reports a failed arena */
    quota_decode(r, quota);
    ret->meta = quota->meta;
}

static int apply_quota(void *contents, const struct informer_object *object, struct err *err) {
    const struct quota *quota = object->decoded;
    const int r = quotas_apply(contents, quota, object->arena);
    if (r == 0)
        return weigh(contents, object->kind, err);
    return err_set(err, -ENOMEM, "no memory for quota '%.*s/%.*s'", STR_ARG(quota->meta.namespace),
                   STR_ARG(quota->meta.name));
}

static int remove_quota(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    quotas_remove(contents, gone->meta.namespace, gone->meta.name);
    return 0;
}

/* ---- listings ---- */

enum { WAITING_PODS = MEMBER_KINDS }; /* records in addition to those of the kinds */

static struct pool *records(void *contents, uint32_t kind) {
    struct member_contents *c = contents;
    struct pool *const pools[MEMBER_KINDS + 1] = {
        [MEMBER_NODES] = topology_records(c->topology),
        [MEMBER_PODS] = &c->pods,
        [MEMBER_DEPLOYMENTS] = &c->tables[TABLE_DEPLOYMENTS].objects,
        [MEMBER_REPLICA_SETS] = &c->tables[TABLE_REPLICA_SETS].objects,
        [MEMBER_QUOTAS] = &c->quotas.quotas,
        [WAITING_PODS] = &c->tables[TABLE_WAITING_PODS].objects};
    return pools[kind];
}

static void drop(void *contents, uint32_t kind, uint32_t id) {
    struct member_contents *c = contents;
    if (kind == MEMBER_NODES)
        remove_node(c, topology_name(c->topology, id));
    else if (kind == MEMBER_PODS)
        bound_pods_drop(c, id);
    else if (kind == MEMBER_QUOTAS)
        quotas_drop(c, id);
    else
        workloads_drop(c, kind == WAITING_PODS ? TABLE_WAITING_PODS : table_of(kind), id);
}

/* Drops all objects of a kind that is too large: they would take the room of the next listing. */
static void listed(void *contents, uint32_t kind, enum informer_listing how) {
    struct member_contents *c = contents;
    if (how == LISTING_FAILS && (c->too_large & MEMBER_KIND(kind)) != 0) {
        const uint64_t too_large = c->too_large;
        informer_list(&member_store, c, kind, LISTING_BEGINS);
        informer_list(&member_store, c, kind, LISTING_ENDS);
        c->too_large = too_large;
        bound_pods_trim(c);
    } else if (how == LISTING_ENDS) {
        c->too_large &= ~MEMBER_KIND(kind);
    }
}

static const uint32_t also[MEMBER_KINDS] = {[MEMBER_PODS] = WAITING_PODS};
static const struct informer_kind kinds[MEMBER_KINDS] = {
    [MEMBER_NODES] = {KIND_NODE, decode_node, apply_node, forget_node, count_nodes},
    [MEMBER_PODS] = {KIND_POD, decode_pod, apply_pod, remove_pod, count_pods},
    [MEMBER_DEPLOYMENTS] = {KIND_DEPLOYMENT, decode_workload, apply_workload, remove_workload,
                            NULL},
    [MEMBER_REPLICA_SETS] = {KIND_REPLICA_SET, decode_workload, apply_workload, remove_workload,
                             NULL},
    [MEMBER_QUOTAS] = {KIND_RESOURCE_QUOTA, decode_quota, apply_quota, remove_quota, NULL},
};
const struct informer_store member_store = {.what = "a member cluster",
                                            .kinds = kinds,
                                            .kind_count = MEMBER_KINDS,
                                            .open = open_contents,
                                            .close = close_contents,
                                            .records = records,
                                            .drop = drop,
                                            .also = also,
                                            .listed = listed};

/* ---- views ---- */

static struct estimator_nodes nodes_of(const struct member_contents *c) {
    struct estimator_nodes nodes = {.count = c->count,
                                    .slots = c->slots,
                                    .scalar_begin = c->scalar_begin,
                                    .scalars = c->scalars,
                                    .names = c->names,
                                    .name_count = c->name_count};
    for (int i = 0; i < NODE_NATIVES; i++)
        nodes.native[i] = c->native[i];
    return nodes;
}

int member_view_open(struct informer *informer, struct member_view *ret) {
    const uint64_t needed =
        MEMBER_KIND(MEMBER_NODES) | MEMBER_KIND(MEMBER_PODS) | MEMBER_KIND(MEMBER_QUOTAS);
    const struct member_contents *c = informer_read(informer);
    while (c->unsorted && !(c->too_large & needed)) {
        informer_read_done(informer);
        const int r = rows_sort(informer_write(informer));
        informer_write_done(informer);
        if (r != 0)
            return r;
        c = informer_read(informer);
    }
    if (c->too_large & needed) {
        informer_read_done(informer);
        return -ENOSPC;
    }
    *ret = (struct member_view){.informer = informer, .contents = c, .nodes = nodes_of(c)};
    topology_view_open(c->topology, &ret->topology);
    return 0;
}

/* Keeps what the view built if the contents are still the view's. */
static void publish(struct member_view *v, uint64_t serial) {
    const struct member_contents *now = informer_write(v->informer);
    for (uint32_t left = LIMIT_PUBLISHED; now->serial == serial && left > 0; left--)
        if (!topology_publish(&v->topology))
            break;
    informer_write_done(v->informer);
}

void member_view_close(struct member_view *v) {
    const uint64_t serial = v->contents->serial;
    informer_read_done(v->informer);
    if (v->topology.built > 0)
        publish(v, serial);
    topology_view_close(&v->topology);
    *v = (struct member_view){.informer = NULL};
}

struct member_stats member_stats(struct informer *informer) {
    const struct member_contents *c = informer_read(informer);
    const struct member_stats stats = {.nodes = count_nodes(c),
                                       .pods = c->pods.count,
                                       .vectors = c->vectors.count,
                                       .bytes = kept_bytes(c)};
    informer_read_done(informer);
    return stats;
}

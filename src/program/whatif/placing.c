#include "whatif/placing.h"

#include "base/limits.h"
#include "extender/policy_overrides.h"
#include "findings/state/nodes.h"
#include "model/fixed_pod.h"
#include "state/files.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <stdlib.h>

struct work {
    const struct placing_question *q;
    struct simulation_setup setup;
    struct arena *arena; /* has the memory of the answer */
    struct arena one;    /* has the memory of one placed pod, reset after each pod */
    struct str *lost;    /* names of removed nodes, sorted */
    struct str *texts;   /* pods that have to move, as JSON in the files */
    uint32_t lost_count, text_count, text_cap;
    bool replica_pending; /* a replica is Pending, not only pods that had to move */
    struct placing *out;
};

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory to place the pods");
}

/* ---- removed nodes, and the pods on them ---- */

static int compare_names(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool is_lost(const struct work *w, struct str node) {
    return w->lost_count > 0 &&
           bsearch(&node, w->lost, w->lost_count, sizeof node, compare_names) != NULL;
}

/* Finds the nodes that have the label, and copies their names. */
static int find_nodes(struct work *w, const char *label, struct err *err) {
    struct str text = str_of(label), value;
    size_t equals = str_find(text, '=');
    uint32_t before = w->lost_count;
    struct cache_view view;
    if (equals == SIZE_MAX)
        return err_set(err, -EINVAL, "--without wants KEY=VALUE, not '%s'", label);
    const struct str key = {text.p, equals}, wanted = {text.p + equals + 1, text.n - equals - 1};
    cache_view_open(w->setup.cache, &view);
    const struct topology *nodes = view.nodes.topology;
    struct str *lost = arena_array(w->arena, (size_t)before + topology_slots(nodes), sizeof *lost);
    for (uint32_t i = 0; lost != NULL && i < before; i++)
        lost[i] = w->lost[i];
    for (uint32_t slot = 0; lost != NULL && slot < topology_slots(nodes); slot++)
        if (topology_is_known(nodes, slot) && topology_label(nodes, slot, key, &value) &&
            str_eq(value, wanted))
            lost[w->lost_count++] = arena_str(w->arena, topology_name(nodes, slot));
    cache_view_close(&view);
    if (lost == NULL || arena_failed(w->arena))
        return out_of_memory(err);
    w->lost = lost;
    if (w->lost_count == before)
        return err_set(err, -EINVAL, "--without: no node has the label '%s'", label);
    return 0;
}

/* Is the pod created again on another node? Pods of DaemonSets and static pods of a kubelet go with
 * their node. */
static bool has_to_move(const struct work *w, const struct pod *pod) {
    return !pod->finished && !pod->meta.terminating && is_lost(w, pod->node_name) &&
           !pod_is_tied(pod);
}

static int take_pod(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    struct work *w = ctx;
    struct object object;
    (void)json_peek(r); /* skips blanks before the object */
    const char *begin = r->p;
    object_read(r, object_kind_of(type), POD_RUNNING, &object);
    if (json_failed(r) || arena_failed(r->arena) || object.kind != OBJECT_POD ||
        !has_to_move(w, &object.pod))
        return 0; /* objects_walk() ends with the error in r */
    w->texts = arena_push(w->arena, w->texts, w->text_count, &w->text_cap, sizeof *w->texts);
    if (w->texts == NULL)
        return out_of_memory(err);
    w->texts[w->text_count++] = arena_str(w->arena, (struct str){begin, (size_t)(r->p - begin)});
    return 0;
}

/* Reads the pods again from the files, because the cache keeps only the parts that it counts by. */
static int find_pods(struct work *w, struct err *err) {
    const struct configuration *c = w->q->pods.configuration;
    struct manifests files = {.count = 0};
    if (c->state.path_count == 0)
        return err_set(err, -EINVAL, "--without wants --state: pods are read from its files");
    int r = manifests_list(c->state.paths, c->state.path_count, "state", &files, err);
    if (r == 0)
        r = manifests_read(&files, LIMIT_STATE_BYTES, err);
    if (r == 0)
        r = state_files_walk(&files, take_pod, w, err);
    manifests_done(&files);
    return r;
}

static int take_away(struct work *w, struct err *err) {
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < w->q->without_count; i++)
        r = find_nodes(w, w->q->without[i], err);
    if (r != 0 || w->lost_count == 0)
        return r;
    qsort(w->lost, w->lost_count, sizeof *w->lost, compare_names);
    r = find_pods(w, err);
    cache_write_begin(w->setup.cache);
    for (uint32_t i = 0; i < w->lost_count; i++) {
        const struct object node = {.kind = OBJECT_NODE, .meta = {.name = w->lost[i]}};
        bool again = i > 0 && str_eq(w->lost[i], w->lost[i - 1]);
        if (!again)
            cache_remove(w->setup.cache, &node);
        w->out->lost_nodes += !again;
    }
    cache_write_end(w->setup.cache);
    return r;
}

/* ---- placing one pod ---- */

static int simulate(struct work *w, const struct pod *pod, struct str from,
                    const struct engine_options *options, struct simulation *ret, struct err *err) {
    const bool has_named = w->setup.has_named && from.n == 0;
    return engine_simulate(options, w->setup.cache, pod, has_named ? &w->setup.named : NULL,
                           &w->one, ret, err);
}

/* Simulates again with reports, which take long if there are many domains. */
static int find_cause(struct work *w, const struct pod *pod, struct str from,
                      struct engine_options *options, struct err *err) {
    struct simulation s;
    options->reports = true;
    int r = simulate(w, pod, from, options, &s, err);
    if (r != 0)
        return r;
    struct findings *findings = from.n == 0 ? w->q->pods.findings : NULL;
    if (findings != NULL)
        (void)findings_of_nodes(w->setup.cache, pod, &s.filter, str_of(w->setup.spec), findings);
    w->out->cause = simulation_cause(&s, findings, w->arena);
    return 0;
}

/* Counts a Pending pod. Returns true for the first Pending pod and, if no cause was found for that
 * pod, for the first Pending replica. */
static bool needs_cause(struct work *w, struct str from) {
    const bool first_replica = from.n == 0 && !w->replica_pending;
    const bool first = w->out->pending++ == 0;
    w->replica_pending = w->replica_pending || from.n == 0;
    return str_empty(w->out->cause) && (first || first_replica);
}

static int place(struct work *w, struct pod *pod, struct str from, struct err *err) {
    struct engine_options options;
    struct simulation s;
    struct placing *out = w->out;
    const char *unjudged_claims = out->unknown.claims;
    pod->node_name = STR("");
    int r = simulation_prepare(&w->setup, pod, &w->one, &options, err);
    if (r == 0)
        r = simulate(w, pod, from, &options, &s, err);
    if (r != 0)
        return r;
    out->pods = arena_push(w->arena, out->pods, out->count, &out->cap, sizeof *out->pods);
    if (out->pods == NULL)
        return out_of_memory(err);
    struct placed_pod *placed = &out->pods[out->count++];
    *placed = (struct placed_pod){.namespace = arena_str(w->arena, pod->meta.namespace),
                                  .name = arena_str(w->arena, pod->meta.name),
                                  .from = arena_str(w->arena, from)};
    out->unknown = s.filter.unknown;
    out->unknown.configuration = w->setup.not_read;
    if (unjudged_claims != NULL)
        out->unknown.claims = unjudged_claims; /* the answer of an earlier pod may have set it */
    out->constrained = out->constrained || simulation_is_constrained(&s);
    uint32_t best = simulation_best(&s);
    if (best == UINT32_MAX) {
        placed->reason = simulation_reasons(&s, w->arena);
        return needs_cause(w, from) ? find_cause(w, pod, from, &options, err) : 0;
    }
    placed->node = arena_str(w->arena, s.scored.names[best]);
    placed->total = s.score.totals[best];
    struct object object = {.kind = OBJECT_POD};
    object.pod = *pod;
    object.pod.node_name = placed->node;
    cache_write_begin(w->setup.cache);
    r = cache_apply(w->setup.cache, &object);
    cache_write_end(w->setup.cache);
    return r == 0 ? 0 : out_of_memory(err);
}

static int move_pods(struct work *w, struct err *err) {
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < w->text_count; i++) {
        struct object object;
        r = object_decode(w->texts[i], OBJECT_POD, POD_SCORED, &w->one, &object, err);
        if (r == 0) {
            struct str from = object.pod.node_name;
            cache_write_begin(w->setup.cache);
            cache_remove(w->setup.cache, &object);
            cache_write_end(w->setup.cache);
            r = place(w, &object.pod, from, err);
        }
        arena_reset(&w->one);
    }
    return r;
}

static int place_replicas(struct work *w, struct err *err) {
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < w->q->replicas; i++) {
        struct pod pod = w->setup.pod;
        struct strbuf name = {0};
        strbuf_appendf(&name, "%.*s%sreplica-%u", STR_ARG(pod.meta.name),
                       pod.meta.name.n > 0 ? "-" : "", i + 1);
        pod.meta.name = pod.meta.uid = arena_str(&w->one, strbuf_str(&name));
        strbuf_done(&name);
        r = place(w, &pod, STR(""), err);
        arena_reset(&w->one);
    }
    return r;
}

int placing_run(const struct placing_question *q, struct arena *arena, struct placing *ret,
                struct err *err) {
    struct work w = {.q = q, .arena = arena, .out = ret};
    *ret = (struct placing){.count = 0};
    arena_init(&w.one, LIMIT_REQUEST_ARENA);
    int r = simulation_open(&q->pods, arena, &w.setup, err);
    if (r == 0)
        r = take_away(&w, err);
    /* moved pods count as present, unless no other pod is placed */
    if (r == 0 && q->pods.pod != NULL)
        r = move_pods(&w, err);
    if (r == 0)
        r = placed_domains_count(&w.setup.options, w.setup.cache, &w.setup.pod, arena,
                                 &ret->domains, err);
    if (r == 0)
        r = q->pods.pod != NULL ? place_replicas(&w, err) : move_pods(&w, err);
    if (r == 0)
        r = placed_domains_add(&w.setup.options, w.setup.cache, &w.setup.pod, arena, &ret->domains,
                               err);
    if (r == 0 && q->pods.findings != NULL)
        (void)findings_of_nodes(w.setup.cache, &w.setup.pod, NULL, str_of(w.setup.spec),
                                q->pods.findings);
    arena_done(&w.one);
    return r == 0 && arena_failed(arena) ? out_of_memory(err) : r;
}

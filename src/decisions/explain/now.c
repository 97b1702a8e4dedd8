#include "explain/now.h"

#include "data/fluid/store.h"
#include "explain/pending.h"

#include <cjson/cJSON.h>

/* ---- every filter alone ---- */

static int ask_filter(const struct pod_now *now, uint32_t f, struct arena *arena,
                      uint32_t *refusing, struct pending_question *q) {
    const struct candidates *nodes = &now->simulation->filtered;
    struct engine_options options = *now->options;
    struct filter_result result;
    options.filters = 1u << f;
    options.reports = false;
    int r = engine_filter(&options, now->cache, now->pod, nodes, arena, &result, NULL);
    for (uint32_t i = 0; r == 0 && i < nodes->count; i++) {
        if (result.verdicts[i] == VERDICT_PASS)
            continue;
        refusing[i] |= 1u << f;
        if (q->filter_reasons[f].n == 0)
            q->filter_reasons[f] = result.reason_texts[result.reasons[i]];
    }
    return r;
}

/* Finds all filters that refuse a node; the engine, like kube-scheduler, names only the first. */
static void ask_filters(const struct pod_now *now, struct arena *arena,
                        struct pending_question *q) {
    uint32_t *refusing = arena_array(arena, q->nodes, sizeof *refusing);
    for (uint32_t f = 0; f < PENDING_FILTERS; f++)
        if (refusing == NULL || ask_filter(now, f, arena, refusing, q) != 0)
            return;
    q->refusing = refusing;
}

/* ---- a taint that keeps the pod off ---- */

/* Returns how far a node is from passing: the number of filters that refuse it. A node excluded by
 * the pod's nodeSelector comes last. */
static int distance(uint32_t refusing) {
    enum { FAR = 100 };
    return __builtin_popcount(refusing) + ((refusing & FILTER_NODE_AFFINITY) != 0 ? FAR : 0);
}

static uint32_t find_tainted(const struct pod_now *now, const struct pending_question *q,
                             const struct cache_view *view) {
    uint32_t best = q->nodes;
    for (uint32_t i = 0; q->refusing != NULL && i < q->nodes; i++)
        if ((q->refusing[i] & FILTER_TAINT_TOLERATION) != 0 &&
            (best == q->nodes || distance(q->refusing[i]) < distance(q->refusing[best])))
            best = i;
    return best < q->nodes ? topology_find(&view->nodes, now->simulation->filtered.names[best])
                           : TOPOLOGY_NONE;
}

/* Returns "key=value:effect" of the first untolerated taint of that node, or "". */
static struct str find_taint(const struct pod_now *now, const struct pending_question *q,
                             struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_EXPLAINED_CAUSE};
    struct cache_view view;
    struct candidate node = {0};
    cache_view_open(now->cache, &view);
    uint32_t slot = find_tainted(now, q, &view);
    if (slot != TOPOLOGY_NONE && topology_describe(view.nodes.topology, slot, arena, &node) != 0)
        node.taint_count = 0; /* no memory: answer without the taint */
    cache_view_close(&view);
    for (uint32_t i = 0; text.n == 0 && i < node.taint_count; i++) {
        const struct taint *taint = &node.taints[i];
        if (!taints_tolerated(taint, 1, now->pod->tolerations))
            taint_print(taint, &text);
    }
    return arena_str(arena, strbuf_str(&text));
}

/* ---- a dataset that is not ready ---- */

/* upstream: Fluid's PersistentVolumeClaim has the name of its Dataset, whose phase is "" or
 * "NotBound" until it can be mounted. */
static bool is_unready(const struct fluid_store *store, const char *namespace, const char *name,
                       struct str *ret_phase) {
    const cJSON *dataset = fluid_store_get(
        store, (struct fluid_key){.kind = FLUID_DATASET, .namespace = namespace, .name = name});
    const char *phase = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(dataset, "status"), "phase"));
    *ret_phase = str_of(phase != NULL ? phase : "");
    return dataset != NULL && (str_empty(*ret_phase) || str_eq(*ret_phase, STR("NotBound")) ||
                               str_eq(*ret_phase, STR("Failed")));
}

static void find_dataset(const struct pod_now *now, struct arena *arena,
                         struct pending_question *q) {
    struct fluid_set *held = fluid_hold(now->fluid);
    const struct pod_data *data = fluid_set_data(held);
    const char *namespace = arena_cstr(arena, now->pod->meta.namespace);
    struct str phase;
    for (uint32_t i = 0; data != NULL && namespace != NULL && i < now->pod->claim_count; i++) {
        const char *claim = arena_cstr(arena, now->pod->claims[i]);
        if (claim == NULL || !is_unready(data->store, namespace, claim, &phase))
            continue;
        q->unready_dataset = str_of(claim);
        q->unready_phase = arena_str(arena, phase);
        break;
    }
    fluid_release(held);
}

/* ---- the members ---- */

static void put_some(struct json_writer *w, struct str key, struct str value) {
    if (value.n > 0)
        json_put_member(w, key, value);
}

static void put_state(const struct pod_state *s, struct json_writer *w) {
    json_key(w, STR("state"));
    json_begin_object(w);
    put_some(w, STR("uid"), s->uid);
    put_some(w, STR("phase"), s->phase);
    put_some(w, STR("nodeName"), s->node);
    put_some(w, STR("nominatedNodeName"), s->nominated_node);
    put_some(w, STR("schedulerName"), s->scheduler);
    put_some(w, STR("createdAt"), s->created);
    if (s->status.n > 0) {
        json_key(w, STR("podScheduled"));
        json_begin_object(w);
        json_put_member(w, STR("status"), s->status);
        put_some(w, STR("reason"), s->reason);
        put_some(w, STR("message"), s->message);
        put_some(w, STR("since"), s->since);
        json_end_object(w);
    }
    json_end_object(w);
}

static void put_cause(const struct pending_question *q, struct json_writer *w) {
    char bytes[LIMIT_EXPLAINED_CAUSE];
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    CLEANUP(strbuf_done) struct strbuf summary = {.max = LIMIT_EXPLAINED_CAUSE};
    const char *kind = pending_say(q, &text);
    if (strbuf_failed(&text)) {
        text.failed = text.no_memory = false;
        text.n = text.n > sizeof bytes - 4 ? sizeof bytes - 4 : text.n;
        strbuf_append_str(&text, STR(" ..."));
    }
    json_key(w, STR("cause"));
    json_begin_object(w);
    json_put_member(w, STR("kind"), str_of(kind));
    if (pending_summarize(q, kind, &summary))
        json_put_member(w, STR("summary"), strbuf_str(&summary));
    json_key(w, STR("text"));
    json_put_text(w, strbuf_str(&text));
    json_end_object(w);
}

void explain_put_now(const struct pod_now *now, struct arena *arena, struct json_writer *w) {
    struct pod_state state;
    struct pending_question q = {.state = &state, .pod = now->pod, .policy = now->policy};
    if (pod_state_decode(now->text, arena, &state, NULL) != 0 || str_empty(state.created))
        return; /* the pod is not from an API server */
    if (now->simulation != NULL) {
        q.now = &now->simulation->filter;
        q.nodes = now->simulation->filtered.count;
        if (pod_state_is_pending(&state))
            ask_filters(now, arena, &q);
        q.taint = find_taint(now, &q, arena);
    }
    find_dataset(now, arena, &q);
    put_cause(&q, w);
    put_state(&state, w);
}

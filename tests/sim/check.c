#include "sim/check.h"

#include "cache/kube_source.h"
#include "sim/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS = 3, NODE_NAMES = 10 };

/* Selectors of counters, and whether the model's labels match them. */
static struct {
    struct arena arena;
    struct selector selectors[QUESTIONS];
} questions;

void checks_open(void) {
    static const char *const texts[QUESTIONS] = {
        "{\"matchLabels\":{\"app\":\"a\"}}",
        "{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"Exists\"}]}",
        "{}",
    };
    arena_init(&questions.arena, 1 << 20);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        struct json_reader r;
        json_reader_init(&r, str_of(texts[i]), &questions.arena, "selector");
        struct label_selector selector = label_selector_decode(&r);
        if (selector_compile(&selector, (struct labels){0}, &questions.arena,
                             &questions.selectors[i], NULL) != 0)
            abort();
    }
}

void checks_close(void) {
    arena_done(&questions.arena);
}

static bool matches(uint32_t question, const int8_t labels[SIM_LABELS]) {
    return question == 0 ? labels[0] == 1 : question == 1 ? labels[1] >= 0 : true;
}

/* The view sees all, and builds what is missing. */
static void open_view(struct sim *s, struct cache_view *ret) {
    cache_view_open(s->cache, ret);
}

static uint32_t node_slot(const struct cache_view *view, uint32_t node) {
    char text[16];
    (void)snprintf(text, sizeof text, "node-%u", node);
    return topology_find(&view->nodes, str_of(text));
}

static const struct thing *model_node(const struct sim *s, uint32_t node) {
    const struct model_kind *nodes = &s->model.kinds[OBJECT_NODE];
    for (uint32_t i = 0; i < nodes->count; i++)
        if (nodes->entries[i].slot == node)
            return &nodes->entries[i].thing;
    return NULL;
}

/* ---- pods ---- */

struct count {
    uint32_t of_node[NODE_NAMES], total;
};

static struct count count(const struct sim *s, uint32_t namespace, uint32_t question) {
    const struct model_kind *pods = &s->model.kinds[OBJECT_POD];
    struct count count = {.total = 0};
    for (uint32_t i = 0; i < pods->count; i++) {
        const struct thing *pod = &pods->entries[i].thing;
        if (thing_namespace(pods->entries[i].slot) != namespace || pod->terminating ||
            !matches(question, pod->labels))
            continue;
        count.of_node[pod->node]++;
        count.total++;
    }
    return count;
}

static void check_counter(struct sim *s, uint32_t namespace, uint32_t question) {
    struct count want = count(s, namespace, question);
    struct cache_view view;
    const uint32_t *counts;
    char text[16];
    (void)snprintf(text, sizeof text, "ns-%u", namespace);
    open_view(s, &view);
    int r = cache_counter(&view, str_of(text), &questions.selectors[question], &counts);
    uint32_t total = 0;
    for (uint32_t slot = 0; r == 0 && slot < topology_slots(view.nodes.topology); slot++)
        total += counts[slot];
    if (r != 0 || total != want.total)
        sim_fail(s, "%s, selector %u: %u pods in the cache, %u in the model (%d)", text, question,
                 total, want.total, r);
    for (uint32_t node = 0; r == 0 && node < NODE_NAMES; node++) {
        uint32_t slot = node_slot(&view, node);
        if (slot != TOPOLOGY_NONE && counts[slot] != want.of_node[node])
            sim_fail(s, "%s, selector %u: %u pods on node %u in the cache, %u in the model", text,
                     question, counts[slot], node, want.of_node[node]);
    }
    cache_view_close(&view);
}

/* ---- nodes ---- */

static void check_domains(struct sim *s, const struct cache_view *view,
                          const struct topology_column *column, uint32_t key) {
    uint32_t of_value[SIM_LABEL_VALUES] = {TOPOLOGY_NONE, TOPOLOGY_NONE, TOPOLOGY_NONE};
    for (uint32_t node = 0; node < NODE_NAMES; node++) {
        const struct thing *thing = model_node(s, node);
        uint32_t slot = node_slot(view, node);
        if ((slot != TOPOLOGY_NONE) != (thing != NULL))
            sim_fail(s, "node %u is %sknown to the cache", node,
                     slot == TOPOLOGY_NONE ? "not " : "");
        if (thing == NULL || slot == TOPOLOGY_NONE)
            continue;
        uint32_t domain = column->domain_of[slot];
        int8_t value = thing->labels[key];
        uint32_t *first = value < 0 ? NULL : &of_value[value];
        if (first != NULL && *first == TOPOLOGY_NONE)
            *first = domain;
        if (domain != (first != NULL ? *first : TOPOLOGY_NONE) ||
            (first != NULL && domain == TOPOLOGY_NONE))
            sim_fail(s, "node %u: in domain %u of key %u, value %d", node, domain, key, value);
    }
    bool distinct = (of_value[1] != of_value[2] || of_value[1] == TOPOLOGY_NONE) &&
                    (of_value[0] == TOPOLOGY_NONE ||
                     (of_value[0] != of_value[1] && of_value[0] != of_value[2]));
    if (!distinct || (of_value[0] != TOPOLOGY_NONE && of_value[0] != column->empty))
        sim_fail(s, "key %u: domains %u, %u, %u, and %u for empty", key, of_value[0], of_value[1],
                 of_value[2], column->empty);
}

static void check_column(struct sim *s, uint32_t key) {
    struct cache_view view;
    struct topology_column column;
    open_view(s, &view);
    int r = topology_column(&view.nodes, str_of(thing_label_key(OBJECT_NODE, key)), &column);
    if (r == 0)
        check_domains(s, &view, &column, key);
    else
        sim_fail(s, "no column of key %u: %d", key, r);
    cache_view_close(&view);
}

static void check_flags(struct sim *s) {
    static const struct node_affinity any;
    struct cache_view view;
    const uint8_t *flags;
    open_view(s, &view);
    int r = topology_feasibility(&view.nodes, &any, (struct tolerations){0}, &flags);
    for (uint32_t node = 0; r == 0 && node < NODE_NAMES; node++) {
        const struct thing *thing = model_node(s, node);
        uint32_t slot = node_slot(&view, node);
        if (thing == NULL || slot == TOPOLOGY_NONE)
            continue;
        unsigned want =
            CANDIDATE_KNOWN | CANDIDATE_AFFINITY | (thing->tainted ? 0 : CANDIDATE_TAINTS);
        if (flags[slot] != want)
            sim_fail(s, "node %u: flags %u, should be %u", node, flags[slot], want);
    }
    if (r != 0)
        sim_fail(s, "no feasibility: %d", r);
    cache_view_close(&view);
}

/* ---- workloads ---- */

static const enum object_kind owner_kinds[] = {OBJECT_OTHER, OBJECT_REPLICATION_CONTROLLER,
                                               OBJECT_REPLICA_SET, OBJECT_STATEFUL_SET};

/* Does what selects the asking pod, its services and its owner, pick `other`, too? The labels of a
 * ReplicationController take the place of its services'. */
static bool selected_alike(const struct sim *s, uint32_t slot, enum object_kind owner,
                           const int8_t asking[SIM_LABELS], const int8_t other[SIM_LABELS]) {
    bool picked = true;
    int8_t merged[SIM_LABELS];
    memset(merged, -1, sizeof merged);
    for (uint32_t kind = OBJECT_SERVICE; kind < OBJECT_KINDS; kind++) {
        const struct model_kind *workloads = &s->model.kinds[kind];
        for (uint32_t i = 0; i < workloads->count; i++) {
            const struct model_entry *entry = &workloads->entries[i];
            uint8_t selector = entry->thing.selector;
            bool asked = kind == OBJECT_SERVICE
                             ? thing_namespace(entry->slot) == thing_namespace(slot) &&
                                   thing_selects(selector, asking)
                             : kind == owner && entry->slot == slot && selector > 0;
            if (asked && kind <= OBJECT_REPLICATION_CONTROLLER)
                thing_want(selector, merged);
            else if (asked)
                picked = picked && thing_selects(selector, other);
        }
    }
    return picked && thing_has(other, merged);
}

static struct labels make_labels(const int8_t values[SIM_LABELS], struct label room[SIM_LABELS]) {
    uint32_t n = 0;
    for (uint32_t key = 0; key < SIM_LABELS; key++)
        if (values[key] >= 0)
            room[n++] = (struct label){str_of(thing_label_key(OBJECT_POD, key)),
                                       str_of(thing_label_value(values[key]))};
    return (struct labels){room, n};
}

static void random_labels(struct sim *s, int8_t ret[SIM_LABELS]) {
    for (uint32_t key = 0; key < SIM_LABELS; key++)
        ret[key] = (int8_t)sim_between(s, -1, SIM_LABEL_VALUES - 1);
}

/* The default selector of some pod, owned by the workload of number `slot` of some kind. */
static void check_default_selector(struct sim *s, uint32_t slot) {
    enum object_kind owner = owner_kinds[sim_below(s, 4)];
    int8_t asking[SIM_LABELS], other[SIM_LABELS];
    struct label asking_room[SIM_LABELS], other_room[SIM_LABELS];
    char namespace[16], name[16];
    random_labels(s, asking);
    (void)snprintf(namespace, sizeof namespace, "ns-%u", thing_namespace(slot));
    (void)snprintf(name, sizeof name, "%.4s-%u",
                   owner == OBJECT_OTHER ? "none" : thing_resource(owner), slot);
    struct object_meta meta = {
        .namespace = str_of(namespace),
        .labels = make_labels(asking, asking_room),
        .controller_kind = owner == OBJECT_REPLICATION_CONTROLLER ? STR("ReplicationController")
                           : owner == OBJECT_REPLICA_SET          ? STR("ReplicaSet")
                                                                  : STR("StatefulSet"),
        .controller_name = str_of(name),
        .controller_api = owner == OBJECT_REPLICATION_CONTROLLER ? STR("v1") : STR("apps/v1"),
    };
    struct arena arena;
    struct cache_view view;
    struct selector selector;
    arena_init(&arena, 1 << 20);
    open_view(s, &view);
    int r = cache_default_selector(&view, &meta, &arena, &selector, NULL);
    for (uint32_t i = 0; r == 0 && i < 4; i++) {
        random_labels(s, other);
        struct labels labels = make_labels(other, other_room);
        if (selector_matches(&selector, labels_lookup, &labels) !=
            selected_alike(s, slot, owner, asking, other))
            sim_fail(s, "the default selector in %s under %s is wrong", namespace, name);
    }
    cache_view_close(&view);
    arena_done(&arena);
}

/* ---- together ---- */

static void check_counts(struct sim *s) {
    struct cache_stats stats = cache_stats(s->cache);
    uint32_t want[OBJECT_KINDS], workloads = 0;
    bool ready = true;
    for (uint32_t kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++) {
        want[kind] = s->model.kinds[kind].count;
        workloads += kind >= OBJECT_SERVICE ? want[kind] : 0;
        ready = ready && s->model.kinds[kind].synced;
    }
    if (stats.nodes != want[OBJECT_NODE] || stats.pods != want[OBJECT_POD] ||
        stats.namespaces != want[OBJECT_NAMESPACE] || stats.workloads != workloads)
        sim_fail(s,
                 "the cache has %u nodes, %u pods, %u namespaces, %u workloads; the model %u, %u, "
                 "%u, %u",
                 stats.nodes, stats.pods, stats.namespaces, stats.workloads, want[OBJECT_NODE],
                 want[OBJECT_POD], want[OBJECT_NAMESPACE], workloads);
    if (cache_ready(s->cache) != ready)
        sim_fail(s, "the cache is %sready", ready ? "not " : "");
    if (ready)
        path_taken(s, PATH_READY);
}

void check_kind(struct sim *s, enum object_kind kind, uint32_t slot) {
    check_counts(s);
    if (kind == OBJECT_NODE) {
        for (uint32_t key = 0; key < SIM_LABELS; key++)
            check_column(s, key);
        check_flags(s);
        check_counter(s, (uint32_t)sim_below(s, SIM_NAMESPACES), QUESTIONS - 1);
    } else if (kind == OBJECT_POD) {
        for (uint32_t namespace = 0; namespace < SIM_NAMESPACES; namespace ++)
            for (uint32_t i = 0; i < QUESTIONS; i++)
                if (slot == SIM_SLOTS || thing_namespace(slot) == namespace)
                    check_counter(s, namespace, i);
    } else if (kind >= OBJECT_SERVICE) {
        check_default_selector(s, slot % thing_slots(kind));
    }
}

void check_everything(struct sim *s) {
    for (uint32_t kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++)
        for (uint32_t i = 0; i < (kind >= OBJECT_SERVICE ? 8 : 1); i++)
            check_kind(s, (enum object_kind)kind, kind >= OBJECT_SERVICE ? i : SIM_SLOTS);
}

void check_stats(const struct kube_watch *w) {
    struct reflector_stats stats;
    const struct oracle *o = &w->oracle;
    reflector_stats(w->reflector, &stats);
    if (stats.synced != o->synced || stats.listings != o->listings || stats.watches != o->watches ||
        stats.bookmarks != o->bookmarks || stats.events != o->events ||
        stats.refused != o->refused || stats.heard_ms != o->heard_ms)
        sim_fail(w->sim,
                 "%s: counts %d listings %llu watches %llu bookmarks %llu events %llu refused "
                 "%llu heard %lld, should be %d %llu %llu %llu %llu %llu %lld",
                 thing_resource(w->kind), stats.synced, (unsigned long long)stats.listings,
                 (unsigned long long)stats.watches, (unsigned long long)stats.bookmarks,
                 (unsigned long long)stats.events, (unsigned long long)stats.refused,
                 (long long)stats.heard_ms, o->synced, (unsigned long long)o->listings,
                 (unsigned long long)o->watches, (unsigned long long)o->bookmarks,
                 (unsigned long long)o->events, (unsigned long long)o->refused,
                 (long long)o->heard_ms);
}

void check_age(struct sim *s) {
    int64_t oldest_ms = INT64_MAX;
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++)
        if (s->watches[kind] != NULL && s->watches[kind]->oracle.heard_ms != INT64_MIN &&
            s->watches[kind]->oracle.heard_ms < oldest_ms)
            oldest_ms = s->watches[kind]->oracle.heard_ms;
    kube_source_poll(s->source);
    int64_t want_ms = oldest_ms == INT64_MAX ? 0 : sim_now(s) - oldest_ms;
    if (cache_age_ms(s->cache) != want_ms)
        sim_fail(s, "the cache is %lld ms old, should be %lld ms",
                 (long long)cache_age_ms(s->cache), (long long)want_ms);
}

/* ---- the server ---- */

static const struct model_entry *find_entry(const struct model_kind *k, uint32_t slot) {
    for (uint32_t i = 0; i < k->count; i++)
        if (k->entries[i].slot == slot)
            return &k->entries[i];
    return NULL;
}

static void check_truth_of(struct sim *s, enum object_kind kind) {
    const struct model_kind *k = &s->model.kinds[kind];
    uint32_t held = 0, odd = 0;
    for (uint32_t slot = 0; slot < thing_slots(kind); slot++) {
        const struct thing *thing = &s->server.things[kind][slot];
        const struct model_entry *entry = find_entry(k, slot);
        held += thing_held(kind, thing);
        if (thing->exists && thing->bulk == BULK_REFUSED) { /* as it was, or not at all */
            held -= thing_held(kind, thing) && entry == NULL;
            odd += !thing_held(kind, thing) && entry != NULL;
            continue;
        }
        if (thing_held(kind, thing) != (entry != NULL))
            sim_fail(s, "%s %u is %s", thing_resource(kind), slot,
                     entry != NULL ? "gone, and nobody noticed" : "there, and nobody noticed");
        else if (entry != NULL && (entry->thing.revision != thing->revision ||
                                   entry->thing.incarnation != thing->incarnation))
            sim_fail(s, "%s %u is known as of %llu, the server has %llu", thing_resource(kind),
                     slot, (unsigned long long)entry->thing.revision,
                     (unsigned long long)thing->revision);
    }
    if (k->count != held + odd)
        sim_fail(s, "%u %s, the server has %u", k->count, thing_resource(kind), held + odd);
}

void check_truth(struct sim *s) {
    for (uint32_t kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++)
        if (s->watches[kind] != NULL)
            check_truth_of(s, (enum object_kind)kind);
    if (!cache_ready(s->cache))
        sim_fail(s, "the cache is not ready");
}

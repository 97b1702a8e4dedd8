/*
 * Any state and any pod, through filter, prioritize and preempt:
 *
 *     {"state": {"kind": "List", "items": [...]}, "pod": {...}}
 *
 * Fluid's objects of the state say which datasets the pod mounts. Two caches are fed alike, one
 * with the usual limits and one with tiny ones (1 to 8, by the length of the input): both must
 * answer alike, also when the same is asked again, and again after every object has come a second
 * time.
 */
#include "cache/cache.h"
#include "data/fluid/mounted.h"
#include "engine/engine.h"
#include "fuzz/fuzz.h"

enum { NODES_MAX = 64, ARENA_BYTES = 64 << 20 };

struct world {
    struct cache *caches[2]; /* the usual limits, tiny limits */
    struct arena arena;      /* the pod, and the names of nodes */
    struct fluid_store *store;
    struct pod pod;
    struct str names[NODES_MAX + 1]; /* of the candidates: the last one is not known */
    uint32_t name_count;
};

/* ---- options: default constraints, an ordered rule, and all algorithms ---- */

static const struct spread_constraint defaults[] = {
    {.topology_key = {"zone", 4}, .max_skew = 1, .min_domains = 2, .hard = true},
    {.topology_key = {"rack", 4}, .max_skew = 2, .min_domains = 1, .honor_taints = true},
};
static const struct spread_constraint terms[] = {
    {.topology_key = {"region", 6}, .max_skew = 1, .min_domains = 1, .honor_affinity = true},
    {.topology_key = {"zone", 4}, .max_skew = 1, .min_domains = 1, .hard = true},
};
static const struct str namespaces[] = {{"ordered", 7}};
static const struct ordered_rule rules[] = {
    {.name = {"rule", 4},
     .namespaces = namespaces,
     .namespace_count = 1,
     .terms = terms,
     .term_count = 2},
};
static const struct engine_options options = {.default_constraints = defaults,
                                              .default_constraint_count = 2,
                                              .empty_selector_counts_all = true,
                                              .count_flights = true,
                                              .ordered_rules = rules,
                                              .ordered_rule_count = 1,
                                              .spread_weight = 1,
                                              .ordered_weight = 2,
                                              .locality_weight = 3};

/* ---- the state ---- */

static int apply(void *ctx, const struct object *object, struct err *err) {
    struct world *w = ctx;
    (void)err;
    for (int i = 0; i < 2; i++) {
        cache_write_begin(w->caches[i]);
        require(cache_apply(w->caches[i], object) == 0);
        cache_write_end(w->caches[i]);
    }
    if (object->kind == OBJECT_NODE && w->name_count < NODES_MAX)
        w->names[w->name_count++] = arena_str(&w->arena, object->meta.name);
    return 0;
}

static void read_state(struct world *w, struct str state) {
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, ARENA_BYTES);
    w->name_count = 0;
    int r = objects_read(state, POD_RUNNING, &arena, apply, w, &err);
    require((r == 0) == (err.code == 0)); /* what came before an error is there all the same */
    w->names[w->name_count++] = STR("nowhere");
    arena_done(&arena);
}

static void read_data(struct world *w, struct str state) {
    cJSON *doc = cJSON_ParseWithLength(state.p, state.n);
    const cJSON *object;
    cJSON_ArrayForEach(object, doc_array(doc, "items")) {
        (void)fluid_store_put(w->store, object, NULL); /* refused ones are not there */
    }
    cJSON_Delete(doc);
    (void)fluid_find_mounted(w->store, &w->pod, &w->arena, NULL); /* then there are no datasets */
}

/* ---- questions ---- */

static void filter(struct world *w, struct arena *arena) {
    const struct candidates candidates = {w->names, w->name_count};
    struct filter_result got[2];
    struct err err[2] = {{0}, {0}};
    int r[2];
    for (int i = 0; i < 2; i++)
        r[i] = engine_filter(&options, w->caches[i], &w->pod, &candidates, arena, &got[i], &err[i]);
    require(r[0] == r[1] && strcmp(err[0].text, err[1].text) == 0);
    if (r[0] != 0)
        return;
    require(got[0].skipped == got[1].skipped && got[0].applied_count == got[1].applied_count);
    for (uint32_t c = 0; c < w->name_count; c++)
        require(
            got[0].verdicts[c] == got[1].verdicts[c] &&
            str_eq(got[0].reason_texts[got[0].reasons[c]], got[1].reason_texts[got[1].reasons[c]]));
}

static void prioritize(struct world *w, struct arena *arena) {
    const struct candidates candidates = {w->names, w->name_count};
    struct score_result got[2];
    struct err err[2] = {{0}, {0}};
    int r[2];
    for (int i = 0; i < 2; i++)
        r[i] = engine_score(&options, w->caches[i], &w->pod, &candidates, arena, &got[i], &err[i]);
    require(r[0] == r[1] && strcmp(err[0].text, err[1].text) == 0);
    if (r[0] != 0)
        return;
    require(got[0].column_count == got[1].column_count);
    for (uint32_t c = 0; c < w->name_count; c++) {
        require(got[0].priorities[c] == got[1].priorities[c]);
        require(got[0].priorities[c] >= 0 && got[0].priorities[c] <= ENGINE_MAX_PRIORITY);
        for (uint32_t a = 0; a < got[0].column_count; a++)
            require(got[0].columns[a].raw[c] == got[1].columns[a].raw[c] &&
                    got[0].columns[a].normalized[c] == got[1].columns[a].normalized[c]);
    }
}

static void preempt(struct world *w, struct arena *arena) {
    const struct preemption preemption = {w->names[0], &w->pod.meta, 1};
    bool *fits[2];
    int r[2];
    for (int i = 0; i < 2; i++)
        r[i] =
            engine_preempt(&options, w->caches[i], &w->pod, &preemption, 1, arena, &fits[i], NULL);
    require(r[0] == r[1] && (r[0] != 0 || fits[0][0] == fits[1][0]));
}

static void ask(struct world *w, uint32_t limit) {
    for (int times = 0; times < 2; times++) {
        struct arena arena;
        arena_init(&arena, ARENA_BYTES);
        filter(w, &arena);
        prioritize(w, &arena);
        preempt(w, &arena);
        arena_done(&arena);
    }
    struct cache_stats stats = cache_stats(w->caches[1]);
    require(stats.columns <= limit && stats.counters <= limit && stats.feasibilities <= limit);
}

/* ---- an input ---- */

/* The two parts of the input; empty where it has none. */
static void split(struct world *w, struct str text, struct str *ret_state, struct str *ret_pod) {
    struct json_reader r;
    struct str key;
    *ret_state = *ret_pod = STR("");
    json_reader_init(&r, text, &w->arena, "input");
    if (!json_object(&r))
        return;
    while (json_member(&r, &key)) {
        struct str part = json_skip(&r);
        if (str_eq(key, STR("state")))
            *ret_state = part;
        else if (str_eq(key, STR("pod")))
            *ret_pod = part;
    }
}

static bool read_pod(struct world *w, struct str text) {
    struct json_reader r;
    json_reader_init(&r, text, &w->arena, "pod");
    pod_decode(&r, POD_WHOLE, &w->pod);
    return json_finish(&r, NULL) == 0;
}

static int try_input(const uint8_t *bytes, size_t n) {
    const uint32_t limit = 1 + (uint32_t)(n % 8);
    const struct cache_options limits[2] = {
        {0}, {.max_counters = limit, .max_feasibilities = limit, .max_columns = limit}};
    struct world w = {.store = fluid_store_new()};
    struct str state, pod;
    arena_init(&w.arena, ARENA_BYTES);
    split(&w, (struct str){(const char *)bytes, n}, &state, &pod);
    if (read_pod(&w, pod)) {
        for (int i = 0; i < 2; i++)
            require(cache_new(&limits[i], &w.caches[i], NULL) == 0);
        read_state(&w, state);
        read_data(&w, state);
        ask(&w, limit);
        read_state(&w, state);
        ask(&w, limit);
        cache_free(w.caches[0]);
        cache_free(w.caches[1]);
    }
    fluid_store_free(w.store);
    arena_done(&w.arena);
    return 0;
}

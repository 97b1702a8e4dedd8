/*
 * Any bytes as an API server's review: every answer is JSON to our own reader and allows the pod; a
 * patched pod is JSON too, differs from the pod that came in by what the patch adds alone (or,
 * where data is concerned, on paths that are ours), and is left alone when it comes in again.
 */
#include "admission/placements/placements.h"
#include "admission/pods/pods.h"
#include "base/json_reader.h"
#include "fuzz/fuzz.h"

static const size_t ARENA_BYTES = 64u << 20;

/* ---- a cluster, data and policies that live as long as the fuzzer ---- */

static struct cache *cache;
static struct policy policies[3];
static uint32_t policy_count;
static struct fluid_profile profile;
static struct pod_data known_data = {.options = {.profile = &profile, .scale_in = true}};

static const char *const data_texts[] = {
    "{\"apiVersion\":\"data.fluid.io/v1alpha1\",\"kind\":\"Dataset\",\"metadata\":{\"name\":\"d\","
    "\"namespace\":\"shop\"},\"status\":{\"phase\":\"Bound\",\"runtimes\":[{\"name\":\"d\","
    "\"namespace\":\"shop\",\"type\":\"alluxio\"}]}}",
    "{\"apiVersion\":\"data.fluid.io/v1alpha1\",\"kind\":\"AlluxioRuntime\",\"metadata\":{\"name\":"
    "\"d\",\"namespace\":\"shop\"},\"spec\":{\"fuse\":{\"nodeSelector\":{\"disk\":\"ssd\"}}}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"d\","
    "\"namespace\":\"shop\",\"labels\":{\"fluid.io/s-shop-d\":\"true\"}}}",
};

static const char *const policy_texts[] = {
    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"priority\":3,\"match\":{\"namespaceSelector\":{"
    "\"matchLabels\":{\"team\":\"shop\"}},\"objectSelector\":{\"matchLabels\":{\"tier\":\"web\"}}},"
    "\"pods\":{\"spread\":[{"
    "\"topologyKey\":\"zone\",\"minDomains\":2,\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}}",
    "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"priority\":2,\"match\":{\"objectSelector\":{"
    "\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"DoesNotExist\"}]}},\"pods\":{\"spread\":"
    "[{"
    "\"topologyKey\":\"rack\",\"whenUnsatisfiable\":\"ScheduleAnyway\",\"nodeTaintsPolicy\":"
    "\"Honor\"},{\"topologyKey\":\"rack\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}}",
    "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"pods\":{\"locality\":{\"mode\":\"Required\","
    "\"tiers\":[{"
    "\"topologyKey\":\"zone\",\"weight\":9}]},\"spread\":[{\"topologyKey\":\"region\","
    "\"whenUnsatisfiable\":\"ScheduleAnyway\"},{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
    "\"DoNotSchedule\"}]}}}",
};

static void set_up_data(struct arena *arena) {
    struct fluid_store *store = fluid_store_new();
    require(store != NULL && fluid_profile_default(arena, &profile, NULL) == 0);
    for (size_t i = 0; i < sizeof data_texts / sizeof data_texts[0]; i++) {
        CLEANUP(doc_free) cJSON *object = cJSON_Parse(data_texts[i]);
        require(object != NULL && fluid_store_put(store, object, NULL) == 0);
    }
    known_data.store = store;
}

static void set_up(void) {
    static struct arena arena;
    struct object namespace;
    arena_init(&arena, ARENA_BYTES);
    set_up_data(&arena);
    require(cache_new(&(struct cache_options){0}, &cache, NULL) == 0);
    require(object_decode(STR("{\"metadata\":{\"name\":\"shop\",\"labels\":{\"team\":\"shop\"}}}"),
                          OBJECT_NAMESPACE, POD_RUNNING, &arena, &namespace, NULL) == 0);
    cache_write_begin(cache);
    require(cache_apply(cache, &namespace) == 0);
    cache_write_end(cache);
    for (; policy_count < sizeof policies / sizeof policies[0]; policy_count++) {
        struct json_reader r;
        json_reader_init(&r, str_of(policy_texts[policy_count]), &arena, "policy");
        policy_decode(&r, &policies[policy_count]);
        require(json_finish(&r, NULL) == 0 && str_empty(policies[policy_count].problem));
    }
}

/* ---- what must hold ---- */

static void check_json(struct str text, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, text, arena, "text");
    (void)json_skip(&r); /* json_finish() says whether it could be read */
    require(json_finish(&r, NULL) == 0);
}

/* `whole` is `part` with more bytes in between: nothing of the pod is lost or written anew. A list
 * that was null or [] is replaced: that may lose four bytes. */
static void check_kept(struct str part, struct str whole) {
    size_t at = 0, lost = 0;
    for (size_t i = 0; i < part.n; i++) {
        size_t next = at;
        if (strchr(" \t\r\n", part.p[i]) != NULL)
            continue; /* blanks within an empty list go with it */
        while (next < whole.n && whole.p[next] != part.p[i])
            next++;
        if (next < whole.n)
            at = next + 1;
        else
            lost++;
    }
    require(lost <= 4);
}

/* Is nothing else patched, and otherwise what is the data plugins' to edit? Those may replace. */
static bool only_spread(const struct patch *patch) {
    bool only = true;
    for (uint32_t i = 0; i < patch->count; i++) {
        struct str path = patch->operations[i].path;
        bool spread = str_has_prefix(path, STR("/spec/topologySpreadConstraints")) ||
                      str_eq(path, STR("/spec"));
        require(spread || str_has_prefix(path, STR("/spec/affinity")) ||
                str_has_prefix(path, STR("/metadata/annotations")) ||
                str_has_suffix(path, STR("/mountPropagation")));
        only = only && spread;
    }
    return only;
}

/* They grow with the pod and what is added to it, no faster, and come to an end. */
static void check_steps(const struct review_answer *answer, size_t object_bytes) {
    enum { FEW = 4096, PER_BYTE = 8 };
    require(answer->steps <= FEW + (uint64_t)object_bytes * PER_BYTE);
    require(answer->gave_up == (answer->steps > LIMIT_REVIEW_STEPS));
}

static enum admission admit(const struct review *review, struct arena *arena, struct patch *patch) {
    const struct pod_options options = {.head.policies = policies,
                                        .head.policy_count = policy_count,
                                        .cache = cache,
                                        .data = &known_data};
    struct review_answer answer;
    struct strbuf out = {0};
    enum admission result =
        admit_object(&admitted_pods, &options.head, review, arena, patch, &answer);
    check_steps(&answer, review->object.n);
    require(answer.allowed && str_eq(answer.uid, review->uid));
    require(result != ADMISSION_PATCHED || patch->count > 0);
    require(result != ADMISSION_UNCHANGED || patch->count == 0);
    require((result == ADMISSION_FAILED) == (answer.warning_count > 0));
    require(review_encode(&answer, &out) == 0);
    check_json(strbuf_str(&out), arena);
    strbuf_done(&out);
    return result;
}

/* ---- Placements ---- */

static enum admission admit_placement(const struct review *review, uint64_t random,
                                      struct arena *arena, struct patch *patch) {
    const struct policy_namespace namespace = {.name = review->namespace};
    const struct placement_options options = {.namespace = &namespace,
                                              .mode = PLACEMENT_SCORES,
                                              .inject_scores = true,
                                              .owns = true,
                                              .shards = 4,
                                              .random = random};
    struct review_answer answer;
    enum admission result =
        admit_object(&admitted_placements, &options.head, review, arena, patch, &answer);
    check_steps(&answer, review->object.n + review->old_object.n);
    require(answer.allowed != (result == ADMISSION_DENIED));
    require(result != ADMISSION_PATCHED || patch->count > 0);
    require(result == ADMISSION_PATCHED || result == ADMISSION_FAILED || patch->count == 0);
    require(result != ADMISSION_FAILED || answer.warning_count > 0);
    return result;
}

/* What is made of a Placement stays so, whatever key would be drawn. */
static void try_placement(struct review review, struct arena *arena) {
    struct patch patch, again;
    if (admit_placement(&review, 1, arena, &patch) != ADMISSION_PATCHED)
        return;
    check_json(patch.document, arena);
    review.object = patch.document;
    require(admit_placement(&review, 2, arena, &again) == ADMISSION_UNCHANGED);
    review.old_object = patch.document; /* and is stored */
    review.operation = STR("UPDATE");
    require(admit_placement(&review, 3, arena, &again) == ADMISSION_UNCHANGED);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct arena arena;
    struct review review;
    struct patch patch;
    struct err err = {0};
    if (cache == NULL)
        set_up();
    arena_init(&arena, ARENA_BYTES);
    int r = review_decode((struct str){(const char *)bytes, n}, &arena, &review, &err);
    require((r == 0) == (err.code == 0));
    if (r == 0 && admit(&review, &arena, &patch) == ADMISSION_PATCHED) {
        struct str before = review.object;
        check_json(patch.document, &arena);
        if (only_spread(&patch))
            check_kept(before, patch.document);
        review.object = patch.document;
        require(admit(&review, &arena, &patch) == ADMISSION_UNCHANGED);
        require(str_eq(patch.document, review.object));
    } else if (r == 0) {
        try_placement(review, &arena);
    }
    arena_done(&arena);
    return 0;
}

/*
 * Any document as a pod and the cluster that its data is in:
 *
 *     {"objects": [...], "pod": {...}, "profile": "YAML, or the default when absent"}
 *
 * with a policy that asks for locality or without, as the length of the input has it.
 *
 * In every mode an answer comes out, with a sentence where nothing was done; in FLUID_CORRECT a
 * second call changes nothing, and no required term is added to a pod that had some: each of the
 * new ones has all that one of the old ones had.
 */
#include "admission/pods/fluid_edits.h"
#include "data/fluid/mutate.h"
#include "data/fluid/terms.h"
#include "fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>

/* A pod as a webhook reads it. */
struct given {
    struct str text;
    struct pod pod;
    struct pod_details details;
};

static bool read_pod(struct str text, struct arena *arena, struct given *ret) {
    struct json_reader r;
    *ret = (struct given){.text = text};
    json_reader_init(&r, text, arena, "Pod");
    pod_decode(&r, POD_WHOLE, &ret->pod);
    return json_finish(&r, NULL) == 0 &&
           pod_details_read_metadata(text, arena, &ret->details, NULL) == 0 &&
           pod_details_read_spec(text, arena, &ret->details, NULL) == 0;
}

static bool has_all(const struct requirement_hashes *term, const struct requirement_hashes *of) {
    struct steps no_limit = {0};
    for (uint32_t i = 0; i < of->count; i++)
        if (!terms_have(term, of->items[i], &no_limit))
            return false;
    return true;
}

static struct requirement_hashes *hash_all(const struct written_affinity *a, struct arena *arena) {
    struct steps no_limit = {0};
    struct requirement_hashes *hashes = arena_array(arena, a->term_count, sizeof *hashes);
    require(hashes != NULL);
    for (uint32_t i = 0; i < a->term_count; i++)
        require(terms_hash(&a->terms[i], &no_limit, arena, &hashes[i]) == 0);
    return hashes;
}

static void check_not_widened(const struct written_affinity *before,
                              const struct written_affinity *after, struct arena *arena) {
    const struct requirement_hashes *old = hash_all(before, arena), *new = hash_all(after, arena);
    if (!before->required)
        return;
    for (uint32_t i = 0; i < after->term_count; i++) {
        bool narrower = false;
        for (uint32_t k = 0; k < before->term_count; k++)
            narrower = narrower || str_eq(after->terms[i].text, before->terms[k].text) ||
                       (old[k].count > 0 && has_all(&new[i], &old[k]));
        require(narrower);
    }
}

static void check_outcome(const struct fluid_outcome *o, enum fluid_compat compat) {
    require(o->code == 200 || o->result == FLUID_DENIED);
    require((o->result == FLUID_EDITED) == (o->message[0] == '\0'));
    require(compat != FLUID_CORRECT || o->code != 500);
    for (size_t i = 0; i < o->note_count; i++)
        require(o->notes[i][0] != '\0');
}

static int two_places(const void *ctx, const char *label, const char *key, const struct str **ret,
                      uint32_t *ret_count) {
    static const struct str zones[] = {{"a", 1}, {"b", 1}};
    (void)ctx, (void)label;
    *ret = zones;
    *ret_count = strcmp(key, "zone") == 0 ? 2 : 0;
    return 0;
}

/* 0, or -EINVAL where the pod has a member twice. */
static int edit(const struct given *pod, const struct fluid_edits *edits, struct patch *ret) {
    struct err err = {0};
    patch_init(ret, pod->text, ret->arena);
    int r = fluid_edits_write(edits, &pod->details, ret, &err);
    require(r == 0 || (r == -EINVAL && strstr(err.text, "twice") != NULL));
    return r;
}

static void ask(const struct fluid_store *store, const struct fluid_options *options,
                const struct fluid_locality *locality, struct str text) {
    struct arena arena;
    struct fluid_outcome outcome;
    struct given pod, again;
    struct patch patch = {.arena = &arena};
    arena_init(&arena, 64u << 20);
    arena.steps.max = 16 * LIMIT_REVIEW_STEPS; /* of all that is asked below */
    if (read_pod(text, &arena, &pod)) {
        struct fluid_question q = {.pod = &pod.pod,
                                   .details = &pod.details,
                                   .namespace = STR("default"),
                                   .is_placed = !str_empty(pod.pod.node_name),
                                   .locality = locality};
        require(fluid_mutate(store, options, &q, &arena, &outcome, NULL) == 0);
        check_outcome(&outcome, options->compat);
        require(!steps_spent(&arena.steps) && outcome.steps <= 4096 + 64 * text.n);
        if (outcome.result == FLUID_EDITED && edit(&pod, &outcome.edits, &patch) == 0) {
            require(read_pod(patch.document, &arena, &again));
            if (options->compat == FLUID_CORRECT) {
                check_not_widened(&pod.details.affinity, &again.details.affinity, &arena);
                q.pod = &again.pod;
                q.details = &again.details;
                require(fluid_mutate(store, options, &q, &arena, &outcome, NULL) == 0);
                require(outcome.result == FLUID_EDITED);
                require(edit(&again, &outcome.edits, &patch) == 0 && patch.count == 0);
            }
        }
    }
    arena_done(&arena);
}

/* Objects come through our own reader, which is stricter than the library that edits them. */
static bool is_json(struct str text) {
    struct arena arena;
    struct json_reader r;
    arena_init(&arena, 1 << 20);
    json_reader_init(&r, text, &arena, "input");
    (void)json_skip(&r); /* json_finish() says whether it could be read */
    int failed = json_finish(&r, NULL);
    arena_done(&arena);
    return failed == 0;
}

static int try_input(const uint8_t *bytes, size_t n) {
    if (!is_json((struct str){(const char *)bytes, n}))
        return 0;
    cJSON *doc = cJSON_ParseWithLength((const char *)bytes, n);
    const cJSON *object, *pod = doc_object(doc, "pod");
    char *printed = pod != NULL ? cJSON_PrintUnformatted(pod) : NULL;
    struct fluid_store *store = fluid_store_new();
    struct fluid_profile profile;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, 16u << 20);
    require(store != NULL);
    cJSON_ArrayForEach(object, doc_array(doc, "objects")) {
        (void)fluid_store_put(store, object, NULL); /* refused ones are not there */
    }
    const char *text = doc_string(doc, "profile");
    int r = text[0] == '\0' ? fluid_profile_default(&arena, &profile, &err)
                            : fluid_profile_parse(str_of(text), &arena, &profile, &err);
    require((r == 0) == (err.text[0] == '\0'));
    for (int mode = 0; mode < 3 && r == 0 && printed != NULL; mode++) {
        struct fluid_options options = {.profile = &profile,
                                        .compat = (enum fluid_compat)mode,
                                        .scale_in = n % 2 == 0,
                                        .original_fuse = n % 3 == 0};
        static const struct fluid_tier tiers[] = {{"kubernetes.io/hostname", 100}, {"zone", 20}};
        const struct fluid_locality locality = {.tiers = tiers,
                                                .tier_count = (uint32_t)(n / 7 % 3),
                                                .required = n % 5 == 0,
                                                .keep_others_off = n % 11 > 4,
                                                .places = two_places};
        ask(store, &options, n % 7 > 3 ? &locality : NULL, str_of(printed));
    }
    fluid_store_free(store);
    cJSON_free(printed);
    cJSON_Delete(doc);
    arena_done(&arena);
    return 0;
}

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
#include "data/fluid/affinity.h"
#include "data/fluid/mutate.h"
#include "data/fluid/terms.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

/* To the byte: cJSON_Compare() knows no repeated members. */
static bool is_same(const cJSON *a, const cJSON *b) {
    char *first = cJSON_PrintUnformatted(a), *second = cJSON_PrintUnformatted(b);
    require(first != NULL && second != NULL);
    bool same = strcmp(first, second) == 0;
    cJSON_free(first);
    cJSON_free(second);
    return same;
}

static bool has_all(const cJSON *list, const cJSON *of) {
    const cJSON *wanted;
    struct steps no_limit = {0};
    cJSON_ArrayForEach(wanted, of) {
        if (!terms_have(list, wanted, &no_limit))
            return false;
    }
    return true;
}

static void check_not_widened(const cJSON *before, const cJSON *after) {
    const cJSON *old_terms = affinity_required_terms(affinity_of(before)), *old, *new;
    if (doc_object(affinity_of(before), AFFINITY_REQUIRED) == NULL)
        return;
    cJSON_ArrayForEach(new, affinity_required_terms(affinity_of(after))) {
        bool narrower = false;
        cJSON_ArrayForEach(old, old_terms) {
            const char *const lists[] = {"matchExpressions", "matchFields"};
            narrower = narrower || is_same(new, old) ||
                       (old->child != NULL &&
                        has_all(doc_array(new, lists[0]), doc_array(old, lists[0])) &&
                        has_all(doc_array(new, lists[1]), doc_array(old, lists[1])));
        }
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

static cJSON *two_places(const void *ctx, const char *label, const char *key) {
    (void)ctx, (void)label;
    return cJSON_Parse(strcmp(key, "zone") == 0 ? "[\"a\",\"b\"]" : "[]");
}

static void ask(const struct fluid_store *store, const struct fluid_options *options,
                const struct fluid_locality *locality, const cJSON *given) {
    struct arena arena;
    struct fluid_outcome outcome;
    cJSON *pod = cJSON_Duplicate(given, true);
    bool is_placed = doc_string(doc_object(given, "spec"), "nodeName")[0] != '\0';
    struct fluid_question q = {
        .pod = pod, .namespace = "default", .is_placed = is_placed, .locality = locality};
    arena_init(&arena, 64u << 20);
    require(pod != NULL && fluid_mutate(store, options, &q, &arena, &outcome, NULL) == 0);
    check_outcome(&outcome, options->compat);
    if (outcome.result == FLUID_EDITED && options->compat == FLUID_CORRECT) {
        cJSON *once = cJSON_Duplicate(pod, true);
        require(once != NULL);
        check_not_widened(given, pod);
        require(fluid_mutate(store, options, &q, &arena, &outcome, NULL) == 0);
        require(outcome.result == FLUID_EDITED && is_same(once, pod));
        cJSON_Delete(once);
    }
    cJSON_Delete(pod);
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    cJSON *doc = cJSON_ParseWithLength((const char *)bytes, n);
    const cJSON *object, *pod = doc_object(doc, "pod");
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
    for (int mode = 0; mode < 3 && r == 0 && pod != NULL; mode++) {
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
        ask(store, &options, n % 7 > 3 ? &locality : NULL, pod);
    }
    fluid_store_free(store);
    cJSON_Delete(doc);
    arena_done(&arena);
    return 0;
}

/*
 * The review of a Placement, for tests: its input and its output. Keys are not random: with
 * RANDOM_KEY and four shards a new key is s3-0a1b2c3d of evenkeel-3.
 */
#pragma once

#include "admission/placements/placements.h"
#include "unit/unit.h"

#define RANDOM_KEY (3ull << 32 | 0x0a1b2c3d)
#define KEY "s3-0a1b2c3d"
#define GATE_OF(shard, key)                                                                        \
    "\"managedCluster.scores(\\\"evenkeel-" shard "\\\").exists(s, s.name == \\\"" key             \
    "\\\" && s.value > 0)\""
#define GATE GATE_OF("3", KEY)
#define OURS_OF(shard, key, weight)                                                                \
    "{\"scoreCoordinate\":{\"type\":\"AddOn\",\"addOn\":{\"resourceName\":\"evenkeel-" shard       \
    "\",\"scoreName\":\"" key "\"}},\"weight\":" weight "}"
#define OURS OURS_OF("3", KEY, "10")
#define BUILT_IN(name, weight)                                                                     \
    "{\"scoreCoordinate\":{\"type\":\"BuiltIn\",\"builtIn\":\"" name "\"},\"weight\":" weight "}"
#define NOTE_KEY "placements.evenkeel.io/injected"
/* The annotation with KEY; `more` is the text behind the resource. */
#define NOTE(more)                                                                                 \
    "\"" NOTE_KEY "\":\"{\\\"key\\\":\\\"" KEY "\\\",\\\"resource\\\":\\\"evenkeel-3\\\"" more "}" \
    "\""
#define ADDED(words) ",\\\"added\\\":[" words "]"
#define MODE(word) "\"placements.evenkeel.io/mode\":\"" word "\""
#define TERM(when)                                                                                 \
    "{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Label\",\"whenUnsatisfiable\":\"" when "\"}"
#define SOFT "\"spreadPolicy\":{\"spreadConstraints\":[" TERM("ScheduleAnyway") "]}"
#define HARD "\"spreadPolicy\":{\"spreadConstraints\":[" TERM("DoNotSchedule") "]}"
/* A whole Placement. `annotations`: members without braces, or ""; `spec`: members of spec. */
#define PLACEMENT(annotations, spec)                                                               \
    "{\"metadata\":{\"name\":\"p\",\"annotations\":{" annotations "}},\"spec\":{" spec "}}"
#define PLAIN(spec) "{\"metadata\":{\"name\":\"p\"},\"spec\":{" spec "}}"

struct reviewed {
    struct arena arena;
    struct policy_namespace namespace;
    struct placement_options
        options; /* mode Scores, with injection and ownership, until a test changes them */
    struct review review;
    struct patch patch;
    struct review_answer answer;
    enum admission result;
};

static inline void reviewed_open(struct reviewed *f) {
    *f = (struct reviewed){.namespace = {.name = STR("ns")}};
    arena_init(&f->arena, 64u << 20);
    f->options = (struct placement_options){.namespace = &f->namespace,
                                            .mode = PLACEMENT_SCORES,
                                            .inject_scores = true,
                                            .owns = true,
                                            .shards = 4,
                                            .random = RANDOM_KEY};
}

static inline void reviewed_close(struct reviewed *f) {
    arena_done(&f->arena);
}

/* Reviews the object; `old` is NULL if it is created. Returns the resulting document, in the arena.
 */
static inline struct str reviewed_admit(struct reviewed *f, struct str object, const char *old) {
    f->review = (struct review){.uid = STR("u"),
                                .group = STR("cluster.open-cluster-management.io"),
                                .resource = STR("placements"),
                                .operation = old != NULL ? STR("UPDATE") : STR("CREATE"),
                                .namespace = STR("ns"),
                                .object = object,
                                .old_object = str_of(old != NULL ? old : "")};
    f->result = admit_object(&admitted_placements, &f->options.head, &f->review, &f->arena,
                             &f->patch, &f->answer);
    return f->patch.document;
}

/* Fails the test if a second review changes the document. */
static inline void reviewed_again(struct reviewed *f, struct str document, const char *old) {
    f->options.random++; /* a new key would differ */
    assert_true(str_eq(reviewed_admit(f, document, old), document));
    assert_int_equal(f->patch.count, 0);
    f->options.random--;
}

static inline void reviewed_becomes(struct reviewed *f, const char *object, const char *old,
                                    const char *want) {
    const struct str got = reviewed_admit(f, str_of(object), old);
    assert_str(got, want);
    assert_true(f->answer.allowed);
    assert_int_equal(f->result,
                     strcmp(object, want) == 0 ? ADMISSION_UNCHANGED : ADMISSION_PATCHED);
    const enum admission result = f->result;
    const uint32_t warnings = f->answer.warning_count;
    reviewed_again(f, got, old);
    f->result = result;
    f->answer.warning_count = warnings;
}

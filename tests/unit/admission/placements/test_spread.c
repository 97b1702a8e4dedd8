/*
 * What the webhook makes of Placements. Expectations are from OCM's scheduler: predicates are ORed;
 * built-in prioritizers of one name are merged, the last counts, and an AddOn counts as often as it
 * is listed; `Spread` with a weight is a misconfiguration (pkg/placement schedule.go, v1.2.0).
 */
#include "base/limits.h"
#include "unit/admission/placements/reviewed.h"

static int setup(void **state) {
    static struct reviewed f;
    reviewed_open(&f);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    reviewed_close(*state);
    return 0;
}

#define POLICY(entries)                                                                            \
    "\"prioritizerPolicy\":{\"mode\":\"Additive\",\"configurations\":[" entries "]}"
#define ALL_ADDED ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\",\\\"predicates\\\",\\\"gate\\\"")
#define ONLY_GATE                                                                                  \
    "\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{\"celExpressions\":[" GATE     \
    "]}}}]"
#define GATED_PREDICATE(labels)                                                                    \
    "{\"requiredClusterSelector\":{\"labelSelector\":{\"matchLabels\":{" labels                    \
    "}},\"celSelector\":{\"celExpressions\":[" GATE "]}}}"
#define PREDICATE(labels)                                                                          \
    "{\"requiredClusterSelector\":{\"labelSelector\":{\"matchLabels\":{" labels "}}}}"

static void created(void **state) {
    struct reviewed *f = *state;
    static const struct {
        const char *object, *want;
    } rows[] = {
        /* soft: the prioritizer alone, in a policy made for it */
        {PLAIN(SOFT), "{\"metadata\":{\"name\":\"p\",\"annotations\":{" NOTE(
                          ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\"")) "}},\"spec\":{" SOFT
                                                                            "," POLICY(OURS) "}}"},
        {PLACEMENT("", SOFT ",\"prioritizerPolicy\":null"),
         PLACEMENT(NOTE(ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\"")), SOFT "," POLICY(OURS))},
        {PLACEMENT("", SOFT ",\"prioritizerPolicy\":{}"),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")),
                   SOFT ",\"prioritizerPolicy\":{\"configurations\":[" OURS "]}")},
        /* hard: a gate in a predicate made for it */
        {PLACEMENT("\"a\":\"b\"", HARD),
         PLACEMENT("\"a\":\"b\"," NOTE(ALL_ADDED), HARD "," ONLY_GATE "," POLICY(OURS))},
        {PLACEMENT("", HARD ",\"predicates\":[]," POLICY("")),
         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"predicates\\\",\\\"gate\\\"")),
                   HARD "," ONLY_GATE "," POLICY(OURS))},
        /* every predicate gets one, an empty one, too; what is unknown stays */
        {PLACEMENT("", "\"x\":1.50," HARD ",\"predicates\":[" PREDICATE(
                           "\"a\":\"b\"") ",{}," PREDICATE("\"c\":\"d\"") "]," POLICY("")),
         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                   "\"x\":1.50," HARD ",\"predicates\":[" GATED_PREDICATE(
                       "\"a\":\"b\"") ","
                                      "{\"requiredClusterSelector\":{\"celSelector\":{"
                                      "\"celExpressions\":[" GATE
                                      "]}}}," GATED_PREDICATE("\"c\":\"d\"") "]," POLICY(OURS))},
        /* beside the user's own CEL */
        {PLACEMENT("", HARD ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                            "\"celExpressions\":[\"a == \\\"\\u00e9\\\"\"]}}}]," POLICY("")),
         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")), HARD
                   ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                   "\"celExpressions\":[\"a == \\\"\\u00e9\\\"\"," GATE "]}}}]," POLICY(OURS))},
        /* one hard term among soft ones is enough */
        {PLACEMENT("", "\"spreadPolicy\":{\"spreadConstraints\":[" TERM("ScheduleAnyway") "," TERM(
                           "DoNotSchedule") "]}," POLICY("")),
         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"predicates\\\",\\\"gate\\\"")),
                   "\"spreadPolicy\":{\"spreadConstraints\":[" TERM("ScheduleAnyway") "," TERM(
                       "DoNotSchedule") "]}," POLICY(OURS) "," ONLY_GATE)},
        {PLACEMENT("", "\"spreadPolicy\":{\"spreadConstraints\":[" TERM("DoNotSchedule") "," TERM(
                           "ScheduleAnyway") "]}," POLICY("")),
         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"predicates\\\",\\\"gate\\\"")),
                   "\"spreadPolicy\":{\"spreadConstraints\":[" TERM("DoNotSchedule") "," TERM(
                       "ScheduleAnyway") "]}," POLICY(OURS) "," ONLY_GATE)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool twice = i + 2 >= sizeof rows / sizeof rows[0]; /* both are of one key */
        reviewed_becomes(f, rows[i].object, NULL, rows[i].want);
        assert_int_equal(f->answer.warning_count, twice);
    }
}

/* What takes the place of builtIn: Spread, and with which weight it is remembered. */
static void spread_is_replaced(void **state) {
    struct reviewed *f = *state;
#define WEIGHT(w) ",\\\"weight\\\":" w ADDED("\\\"score\\\"")
    static const struct {
        const char *object, *want;
    } rows[] = {
        {PLACEMENT("", SOFT "," POLICY(BUILT_IN("Spread", "2") "," BUILT_IN("Steady", "3"))),
         PLACEMENT(NOTE(WEIGHT("2")), SOFT "," POLICY(OURS "," BUILT_IN("Steady", "3")))},
        {PLACEMENT("", SOFT "," POLICY(BUILT_IN("Steady", "3") "," BUILT_IN("Spread", "-10"))),
         PLACEMENT(NOTE(WEIGHT("-10")), SOFT "," POLICY(BUILT_IN("Steady", "3") "," OURS))},
        /* the last of them counts for OCM, and none may be left */
        {PLACEMENT("", SOFT "," POLICY(BUILT_IN("Spread", "2") "," BUILT_IN(
                           "Steady", "3") "," BUILT_IN("Spread", "5"))),
         PLACEMENT(NOTE(WEIGHT("5")), SOFT "," POLICY(OURS "," BUILT_IN("Steady", "3")))},
        /* with weight 0 it is not run */
        {PLACEMENT("", SOFT "," POLICY(BUILT_IN("Spread", "0"))),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")),
                   SOFT "," POLICY(BUILT_IN("Spread", "0") "," OURS))},
        {PLACEMENT("", SOFT "," POLICY(BUILT_IN("Spread", "2") "," BUILT_IN("Spread", "0"))),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")),
                   SOFT "," POLICY(BUILT_IN("Spread", "2") "," BUILT_IN("Spread", "0") "," OURS))},
        /* the CRD's defaults: type BuiltIn, weight 1 */
        {PLACEMENT("", SOFT "," POLICY("{\"scoreCoordinate\":{\"builtIn\":\"Spread\"}}")),
         PLACEMENT(NOTE(WEIGHT("1")), SOFT "," POLICY(OURS))},
        {PLACEMENT("", SOFT "," POLICY("{\"scoreCoordinate\":{\"builtIn\":\"spread\"}}")),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")),
                   SOFT "," POLICY("{\"scoreCoordinate\":{\"builtIn\":\"spread\"}}," OURS))},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        reviewed_becomes(f, rows[i].object, NULL, rows[i].want);
}

/* An entry is worth 1,000: 10 times a score of 100. */
static void outweighs_the_others(void **state) {
    struct reviewed *f = *state;
    static const struct {
        const char *mode, *entries;
        uint32_t ours;
        bool is_weak;
    } rows[] = {
        {"Additive", "", 1, false}, /* Balance 200, Steady 100 */
        {"Exact", BUILT_IN("Balance", "4"), 1, false},
        {"Exact", BUILT_IN("Balance", "-5"), 2, false}, /* as much is not enough */
        {"Exact", BUILT_IN("Balance", "10") "," BUILT_IN("Balance", "4"), 1, false},
        {"Exact", BUILT_IN("Steady", "9"), 1, false},
        {"Exact", BUILT_IN("Steady", "10"), 2, false},
        {"Additive", BUILT_IN("Balance", "4"), 1, false},
        {"Additive", BUILT_IN("Balance", "5"), 2, false},
        {"Additive", BUILT_IN("ResourceAllocatableCPU", "3"), 1, false},
        {"Additive", BUILT_IN("ResourceAllocatableMemory", "4"), 2, false},
        {"Exact", OURS_OF("x", "a", "10") "," OURS_OF("x", "a", "10"), 5, false},
        {"Exact", OURS_OF("x", "a", "-10"), 3, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        uint32_t ours = 0;
        strbuf_appendf(&text,
                       "{\"spec\":{" SOFT
                       ",\"prioritizerPolicy\":{\"mode\":\"%s\",\"configurations\":[%s]}}}",
                       rows[i].mode, rows[i].entries);
        struct str got = reviewed_admit(f, strbuf_str(&text), NULL);
        got = arena_str(&f->arena, got);
        for (const char *at = arena_cstr(&f->arena, got);
             (at = strstr(at, "\"scoreName\":\"" KEY)) != NULL; at++)
            ours++;
        assert_int_equal(ours, rows[i].ours);
        assert_int_equal(f->answer.warning_count, rows[i].is_weak);
        reviewed_again(f, got, NULL);
    }
}

/* 31 entries of an AddOn at weight 10 are apart by 62,000; with 32 of ours 16 are outweighed. */
static void outweighs_within_limits(void **state) {
    struct reviewed *f = *state;
    for (uint32_t theirs = 15; theirs <= 17; theirs++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_append_str(&text,
                          STR("{\"spec\":{" SOFT ",\"prioritizerPolicy\":{\"mode\":\"Exact\","
                              "\"configurations\":["));
        for (uint32_t i = 0; i < theirs; i++)
            strbuf_appendf(&text, "%s" OURS_OF("x", "a", "10"), i > 0 ? "," : "");
        strbuf_append_str(&text, STR("]}}}"));
        const struct str got = reviewed_admit(f, strbuf_str(&text), NULL);
        assert_int_equal(f->answer.warning_count, theirs > 15);
        if (theirs > 15)
            assert_str(f->answer.warnings[0], "evenkeel: spec.prioritizerPolicy: its own "
                                              "prioritizers may outweigh the spread");
        const uint32_t warnings = f->answer.warning_count;
        reviewed_again(f, arena_str(&f->arena, got), NULL);
        assert_int_equal(f->answer.warning_count, warnings);
    }
    /* 31,000 are outweighed by 32 entries, and by no fewer */
    CLEANUP(strbuf_done) struct strbuf most = {0};
    strbuf_append_str(&most, STR("{\"spec\":{" SOFT ",\"prioritizerPolicy\":{\"mode\":\"Exact\","
                                 "\"configurations\":[" OURS_OF("x", "a", "5")));
    for (uint32_t i = 0; i < 15; i++)
        strbuf_append_str(&most, STR("," OURS_OF("x", "a", "10")));
    strbuf_append_str(&most, STR("]}}}"));
    (void)reviewed_admit(f, strbuf_str(&most), NULL);
    assert_int_equal(f->answer.warning_count, 0);
    /* behind a gate it needs no more than one */
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text, "{\"spec\":{" HARD "," POLICY("%s") "}}", BUILT_IN("Balance", "10"));
    const char *got = arena_cstr(&f->arena, reviewed_admit(f, strbuf_str(&text), NULL));
    got = strstr(got, "\"scoreName\":\"" KEY);
    assert_non_null(got);
    assert_null(strstr(got + 1, "\"scoreName\":\"" KEY));
}

/* ---- what goes again ---- */

#define GATED(more) PLACEMENT(NOTE(ALL_ADDED), HARD "," ONLY_GATE "," POLICY(OURS) more)

static void removed(void **state) {
    struct reviewed *f = *state;
    static const struct {
        const char *object, *old, *want;
    } rows[] = {
        /* all that was made goes, the user's own stays */
        {PLACEMENT(NOTE(ALL_ADDED), "\"numberOfClusters\":2," ONLY_GATE "," POLICY(OURS)),
         GATED(""), "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"numberOfClusters\":2}}"},
        {PLACEMENT("\"a\":\"b\"," NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                   "\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]," POLICY(
                       BUILT_IN("Steady", "3") "," OURS)),
         GATED(""),
         PLACEMENT("\"a\":\"b\"", "\"predicates\":[" PREDICATE("\"a\":\"b\"") "]," POLICY(
                                      BUILT_IN("Steady", "3")))},
        /* the object is the user's: the list goes alone */
        {PLACEMENT(NOTE(ADDED("\\\"score\\\"")), POLICY(OURS)),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)),
         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"prioritizerPolicy\":{\"mode\":\"Additive\"}}"
         "}"},
        /* ... or has become so */
        {PLACEMENT(NOTE(ALL_ADDED),
                   "\"prioritizerPolicy\":{\"mode\":\"Exact\",\"configurations\":[" OURS "]}"),
         GATED(""),
         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"prioritizerPolicy\":{\"mode\":\"Exact\"}}}"},
        /* mode Off is as if there were no terms */
        {PLACEMENT(MODE("Off") "," NOTE(ALL_ADDED), HARD "," ONLY_GATE "," POLICY(OURS)), GATED(""),
         PLACEMENT(MODE("Off"), HARD)},
        /* hard terms become soft ones */
        {PLACEMENT(NOTE(ALL_ADDED), SOFT "," ONLY_GATE "," POLICY(OURS)), GATED(""),
         PLACEMENT(NOTE(ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\"")), SOFT "," POLICY(OURS))},
        /* ... also where selectors that select nothing stand beside the gate */
        {PLACEMENT(NOTE(ALL_ADDED),
                   SOFT ",\"predicates\":[{\"requiredClusterSelector\":{\"labelSelector\":{"
                        "\"matchLabels\":{},\"matchExpressions\":[]},\"claimSelector\":null,"
                        "\"celSelector\":{\"celExpressions\":[" GATE "]}}}]," POLICY(OURS)),
         GATED(""),
         PLACEMENT(NOTE(ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\"")), SOFT "," POLICY(OURS))},
        /* an empty predicate, which the user has put in the place of ours, stays */
        {PLACEMENT(NOTE(ALL_ADDED), SOFT ",\"predicates\":[{}]," POLICY(OURS)), GATED(""),
         PLACEMENT(NOTE(ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\"")),
                   SOFT ",\"predicates\":[{}]," POLICY(OURS))},
        /* ... and what is unknown beside the gate's list */
        {PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                   SOFT ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{\"x\":1,"
                        "\"celExpressions\":[" GATE "]}}}]," POLICY(OURS)),
         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")), HARD "," POLICY(OURS)),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")),
                   SOFT ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{\"x\":1}}}"
                        "]," POLICY(OURS))},
        /* expressions of the user's stay */
        {PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                   "\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                   "\"celExpressions\":[" GATE ",\"a\"," GATE "]}}}]"),
         GATED(""),
         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"predicates\":[{\"requiredClusterSelector\":{"
         "\"celSelector\":{\"celExpressions\":[\"a\"]}}}]}}"},
        /* the user's list has lost ours already */
        {PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")),
                   POLICY(BUILT_IN("Steady", "3"))),
         PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)),
         "{\"metadata\":{\"name\":\"p\"},\"spec\":{" POLICY(BUILT_IN("Steady", "3")) "}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reviewed_becomes(f, rows[i].object, rows[i].old, rows[i].want);
        assert_int_equal(f->answer.warning_count, 0);
    }
    /* what the user has put beside a gate of ours stays, whatever stands behind it */
    static const char *const labels[] = {
        "{\"matchLabels\":{\"a\":\"b\"}}",
        "{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[]}",
        "{\"matchExpressions\":null,\"matchLabels\":{\"a\":\"b\"},\"x\":{}}",
        "{\"matchLabels\":{},\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}",
    };
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf gated = {0}, without = {0};
        strbuf_appendf(&gated,
                       PLACEMENT(NOTE(ALL_ADDED),
                                 SOFT ",\"predicates\":[{\"requiredClusterSelector\":{"
                                      "\"claimSelector\":%s,\"celSelector\":{"
                                      "\"celExpressions\":[" GATE "]}}}]," POLICY(OURS)) "%c",
                       labels[i], '\0');
        strbuf_appendf(&without,
                       PLACEMENT(NOTE(ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\"")),
                                 SOFT ",\"predicates\":[{\"requiredClusterSelector\":{"
                                      "\"claimSelector\":%s}}]," POLICY(OURS)) "%c",
                       labels[i], '\0');
        reviewed_becomes(f, gated.p, GATED(""), without.p);
    }
    /* builtIn: Spread comes back where it was; what OCM does then is said */
    reviewed_becomes(
        f,
        PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")),
                  POLICY(BUILT_IN("Balance", "4") "," OURS "," BUILT_IN("Steady", "3"))),
        PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")),
                  SOFT "," POLICY(BUILT_IN("Balance", "4") "," OURS "," BUILT_IN("Steady", "3"))),
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{" POLICY(
            BUILT_IN("Balance", "4") "," BUILT_IN("Spread", "2") "," BUILT_IN("Steady", "3")) "}}");
    assert_int_equal(f->answer.warning_count, 1);
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]), "does not know builtIn Spread");
}

/* ---- a change ---- */

#define UNGATED PLACEMENT(NOTE(ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS))

static void changed(void **state) {
    struct reviewed *f = *state;
    static const struct {
        const char *object, *old, *want;
    } rows[] = {
        /* terms on a live one: what selects nothing else yet, and no gate */
        {PLACEMENT("", HARD "," POLICY("")), PLACEMENT("", POLICY("")),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")), HARD "," POLICY(OURS))},
        /* soft ones become hard: whoever publishes brings the gate */
        {PLACEMENT(NOTE(ADDED("\\\"score\\\"")), HARD "," POLICY(OURS)), UNGATED,
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")), HARD "," POLICY(OURS))},
        {PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                   HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "," PREDICATE(
                       "\"c\":\"d\"") "]," POLICY(OURS)),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")), HARD "," POLICY(OURS)),
         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                   HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "," GATED_PREDICATE(
                       "\"c\":\"d\"") "]," POLICY(OURS))},
        /* all of ours is dropped, by GitOps or `kubectl replace`: it comes back with its key */
        {PLACEMENT("\"a\":\"b\"", HARD), GATED(""),
         PLACEMENT("\"a\":\"b\"," NOTE(ALL_ADDED), HARD "," ONLY_GATE "," POLICY(OURS))},
        /* the user adds predicates beside the one that we made */
        {PLACEMENT(NOTE(ALL_ADDED), HARD ",\"predicates\":[{\"requiredClusterSelector\":{"
                                         "\"celSelector\":{\"celExpressions\":[" GATE
                                         "]}}}," PREDICATE("\"a\":\"b\"") "]," POLICY(OURS)),
         GATED(""),
         PLACEMENT(NOTE(ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\",\\\"gate\\\"")),
                   HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]," POLICY(OURS))},
        /* a list of the user's own, without ours: the weight that it has counts */
        {PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")),
                   SOFT "," POLICY(BUILT_IN("Spread", "4"))),
         PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)),
         PLACEMENT(NOTE(",\\\"weight\\\":4" ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS))},
        {PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")), SOFT "," POLICY("")),
         PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)),
         PLACEMENT(NOTE(ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS))},
        /* ours in another weight, and twice */
        {PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")),
                   SOFT "," POLICY(BUILT_IN("Steady", "1") "," OURS_OF("3", KEY, "9") "," OURS)),
         PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)),
         PLACEMENT(NOTE(",\\\"weight\\\":2" ADDED("\\\"score\\\"")),
                   SOFT "," POLICY(BUILT_IN("Steady", "1") "," OURS))},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        f->options.random = RANDOM_KEY;
        reviewed_becomes(f, rows[i].object, rows[i].old, rows[i].want);
    }
}

/* An annotation is believed as far as it is well-formed. */
static void broken_annotations(void **state) {
    struct reviewed *f = *state;
#define OTHER_NOTE(text) PLACEMENT("\"" NOTE_KEY "\":\"" text "\"", SOFT "," POLICY(""))
    static const char *const broken[] = {
        OTHER_NOTE(""),
        OTHER_NOTE("{"),
        OTHER_NOTE("3"),
        OTHER_NOTE("null"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-00000001\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-00000001\\\",\\\"resource\\\":\\\"evenkeel-2\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-0000001\\\",\\\"resource\\\":\\\"evenkeel-1\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-000000001\\\",\\\"resource\\\":\\\"evenkeel-1\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-0000000G\\\",\\\"resource\\\":\\\"evenkeel-1\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-0000000A\\\",\\\"resource\\\":\\\"evenkeel-1\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s01-00000001\\\",\\\"resource\\\":\\\"evenkeel-01\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1000-00000001\\\",\\\"resource\\\":\\\"evenkeel-1000\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s-00000001\\\",\\\"resource\\\":\\\"evenkeel-\\\"}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-00000001\\\",\\\"resource\\\":\\\"evenkeel-1\\\","
                   "\\\"weight\\\":11}"),
        OTHER_NOTE("{\\\"key\\\":\\\"s1-00000001\\\",\\\"resource\\\":\\\"evenkeel-1\\\","
                   "\\\"added\\\":{}}"),
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        reviewed_becomes(f, broken[i], NULL,
                         PLACEMENT(NOTE(ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)));
    /* well-formed: the key is kept */
    reviewed_becomes(f,
                     OTHER_NOTE("{\\\"x\\\":[1],\\\"key\\\":\\\"s999-ffffffff\\\",\\\"resource\\\":"
                                "\\\"evenkeel-999\\\"}"),
                     NULL,
                     PLACEMENT("\"" NOTE_KEY "\":\"{\\\"key\\\":\\\"s999-ffffffff\\\",\\\"resource"
                               "\\\":\\\"evenkeel-999\\\",\\\"added\\\":[\\\"score\\\"]}\"",
                               SOFT "," POLICY(OURS_OF("999", "s999-ffffffff", "10"))));
    /* what is stored comes before what a user writes; without either, what is in use */
    reviewed_becomes(f,
                     PLACEMENT("\"" NOTE_KEY
                               "\":\"{\\\"key\\\":\\\"s1-00000001\\\",\\\"resource\\\":"
                               "\\\"evenkeel-1\\\"}\"",
                               SOFT "," POLICY(OURS)),
                     UNGATED, UNGATED);
    f->options.random = 1;
    reviewed_becomes(f, PLACEMENT("\"" NOTE_KEY "\":\"broken\"", SOFT "," POLICY(OURS)),
                     PLACEMENT("\"" NOTE_KEY "\":\"broken\"", SOFT "," POLICY(OURS)), UNGATED);
    reviewed_becomes(
        f, PLACEMENT("", HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]," POLICY("")),
        PLACEMENT("", HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]," POLICY("")),
        PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                  HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]," POLICY(OURS)));
    /* what the annotation made anew says is believed when it is reviewed once more */
    reviewed_becomes(
        f, PLACEMENT("", HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]"),
        PLACEMENT("", HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]"),
        PLACEMENT(NOTE(ADDED("\\\"prioritizerPolicy\\\",\\\"score\\\",\\\"gate\\\"")),
                  HARD ",\"predicates\":[" GATED_PREDICATE("\"a\":\"b\"") "]," POLICY(OURS)));
}

/* A gate of another's key would let nothing pass: what was copied without its annotation goes. */
static void copies(void **state) {
    struct reviewed *f = *state;
#define ALIEN GATE_OF("1", "s1-00000001")
    reviewed_becomes(f,
                     PLACEMENT("", HARD
                               ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                               "\"celExpressions\":[\"a\"," ALIEN ",\"b\"," ALIEN
                               "]}}}]," POLICY(OURS_OF("1", "s1-00000001", "10"))),
                     NULL,
                     PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")), HARD
                               ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                               "\"celExpressions\":[\"a\",\"b\"," GATE "]}}}]," POLICY(OURS)));
    reviewed_becomes(
        f,
        PLACEMENT("",
                  "\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                  "\"celExpressions\":[" ALIEN "]}}}]," POLICY(OURS_OF("1", "s1-00000001", "10"))),
        NULL,
        PLACEMENT("", "\"predicates\":[{\"requiredClusterSelector\":{}}],\"prioritizerPolicy\":{"
                      "\"mode\":\"Additive\"}"));
    /* one of them is enough, alone or beside the Placement's own */
    static const char *const gates[] = {ALIEN, ALIEN "," GATE, GATE "," ALIEN, GATE "," GATE};
    for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf object = {0};
        strbuf_appendf(&object,
                       PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")), HARD
                                 ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                                 "\"celExpressions\":[\"a\",%s]}}}]," POLICY(OURS)) "%c",
                       gates[i], '\0');
        reviewed_becomes(f, object.p, NULL,
                         PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"gate\\\"")),
                                   HARD ",\"predicates\":[{\"requiredClusterSelector\":{"
                                        "\"celSelector\":{\"celExpressions\":[\"a\"," GATE
                                        "]}}}]," POLICY(OURS)));
    }
    /* nearly a gate is the user's own */
    static const char *const theirs[] = {
        "\"managedCluster.scores(\\\"evenkeel-1\\\").exists(s, s.name == \\\"s2-00000001\\\" && "
        "s.value > 0)\"",
        "\"managedCluster.scores(\\\"evenkeel-1\\\").exists(s, s.name == \\\"s1-00000001\\\" && "
        "s.value > 1)\"",
        "\"managedCluster.scores(\\\"evenkeel-1\\\").all(s, s.name == \\\"s1-00000001\\\" && "
        "s.value > 0)\"",
        "\"managedCluster.scores(\\\"demo\\\").exists(s, s.name == \\\"s1-00000001\\\" && s.value "
        "> 0)\"",
        "\"!managedCluster.scores(\\\"evenkeel-1\\\").exists(s, s.name == \\\"s1-00000001\\\" && "
        "s.value > 0)\"",
        "\"managedCluster.scores(\\\")\"",
        "\"\"",
    };
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_appendf(&text,
                       "{\"spec\":{\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                       "\"celExpressions\":[%s]}}}]}}",
                       theirs[i]);
        const struct str object = arena_str(&f->arena, strbuf_str(&text));
        assert_true(str_eq(reviewed_admit(f, object, NULL), object));
        assert_int_equal(f->result, ADMISSION_UNCHANGED);
    }
}

/* ---- who is left alone ---- */

#define DISABLED "\"cluster.open-cluster-management.io/experimental-scheduling-disable\":\"true\""

static void left_alone(void **state) {
    struct reviewed *f = *state;
    static const char *const objects[] = {
        PLACEMENT(DISABLED, HARD),
        PLACEMENT(DISABLED "," NOTE(ALL_ADDED), ONLY_GATE "," POLICY(OURS)),
        PLACEMENT(MODE("Off"), HARD "," POLICY(BUILT_IN("Balance", "3"))),
        PLAIN("\"numberOfClusters\":0"),
        PLAIN("\"spreadPolicy\":{}"),
        "{\"metadata\":{\"name\":\"p\",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"},\"spec\":"
        "{" HARD "}}",
    };
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        reviewed_becomes(f, objects[i], NULL, objects[i]);
        reviewed_becomes(f, objects[i], GATED(""), objects[i]);
        assert_int_equal(f->answer.warning_count, 0);
    }
    /* "True" is not "true" */
    reviewed_admit(f,
                   STR(PLACEMENT("\"cluster.open-cluster-management.io/experimental-scheduling-"
                                 "disable\":\"True\"",
                                 SOFT)),
                   NULL);
    assert_int_equal(f->result, ADMISSION_PATCHED);
}

/* A gate without scores selects nothing: nothing is injected until somebody publishes them. */
static void nobody_publishes(void **state) {
    struct reviewed *f = *state;
    f->options.inject_scores = false;
    reviewed_becomes(f, PLACEMENT(MODE("Scores"), HARD), NULL, PLACEMENT(MODE("Scores"), HARD));
    assert_int_equal(f->answer.warning_count, 1);
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]), "mode Scores is off here");
    reviewed_becomes(f, PLACEMENT(MODE("Scores"), SOFT "," POLICY(BUILT_IN("Spread", "2"))), NULL,
                     PLACEMENT(MODE("Scores"), SOFT "," POLICY(BUILT_IN("Spread", "2"))));
    assert_int_equal(f->answer.warning_count, 2);
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]), "does not know builtIn Spread");
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[1]), "mode Scores is off here");
    f->options.owns = false; /* nothing else decides here, either: OCM is expected to */
    reviewed_becomes(f, PLACEMENT(MODE("Scores"), HARD), PLAIN(""),
                     PLACEMENT(MODE("Scores"), HARD));
    /* what is live stays; what is copied, or is not asked for any more, does not */
    reviewed_becomes(f, GATED(""), GATED(""), GATED(""));
    reviewed_becomes(f, PLACEMENT("", HARD), GATED(""), PLACEMENT("", HARD));
    reviewed_becomes(f, GATED(""), NULL, "{\"metadata\":{\"name\":\"p\"},\"spec\":{" HARD "}}");
    reviewed_becomes(f, PLACEMENT(NOTE(ALL_ADDED), ONLY_GATE "," POLICY(OURS)), GATED(""),
                     "{\"metadata\":{\"name\":\"p\"},\"spec\":{}}");
    assert_int_equal(f->answer.warning_count, 0);
    reviewed_becomes(f, PLACEMENT("", SOFT "," POLICY(BUILT_IN("Spread", "2"))), NULL,
                     PLACEMENT("", SOFT "," POLICY(BUILT_IN("Spread", "2"))));
    assert_int_equal(f->answer.warning_count, 1);
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]), "does not know builtIn Spread");
}

/* Scores will be published, but not before somebody leads: until then a gate selects nothing. */
static void nobody_leads(void **state) {
    struct reviewed *f = *state;
    f->options.is_waiting = true;
    reviewed_becomes(f, PLACEMENT("", HARD "," POLICY("")), NULL,
                     PLACEMENT(NOTE(ADDED("\\\"score\\\"")), HARD "," POLICY(OURS)));
    assert_int_equal(f->answer.warning_count, 1);
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]),
                    "no replica of Evenkeel leads at the moment");
    /* soft terms need no gate; the gate that a live one has stays */
    reviewed_becomes(f, PLACEMENT("", SOFT "," POLICY("")), NULL, UNGATED);
    assert_int_equal(f->answer.warning_count, 0);
    reviewed_becomes(f, GATED(""), GATED(""), GATED(""));
    assert_int_equal(f->answer.warning_count, 0);
}

#define GIVEN DISABLED ",\"placements.evenkeel.io/disabled-ocm\":\"true\""

static void owned(void **state) {
    struct reviewed *f = *state;
    reviewed_becomes(f, PLACEMENT(MODE("Owner"), HARD), NULL,
                     PLACEMENT(MODE("Owner") "," GIVEN, HARD));
    reviewed_becomes(f, PLACEMENT(MODE("Owner"), HARD), PLACEMENT("", HARD),
                     PLACEMENT(MODE("Owner"), HARD));
    reviewed_becomes(f, PLACEMENT(MODE("Owner"), HARD), GATED(""), PLACEMENT(MODE("Owner"), HARD));
    reviewed_becomes(f, PLACEMENT(MODE("Owner"), "\"numberOfClusters\":1"), NULL,
                     PLACEMENT(MODE("Owner"), "\"numberOfClusters\":1"));
    /* what is OCM's to say is left: it does not read the Placement */
    reviewed_becomes(f, PLACEMENT(MODE("Owner"), SOFT "," POLICY(BUILT_IN("Spread", "2"))), NULL,
                     PLACEMENT(MODE("Owner") "," GIVEN, SOFT "," POLICY(BUILT_IN("Spread", "2"))));
    assert_int_equal(f->answer.warning_count, 0);
    /* a copy loses its gate */
    reviewed_becomes(
        f, PLACEMENT(MODE("Owner") "," NOTE(ALL_ADDED), HARD "," ONLY_GATE "," POLICY(OURS)), NULL,
        PLACEMENT(MODE("Owner") "," GIVEN, HARD));
    f->options.mode = PLACEMENT_OWNER;
    reviewed_becomes(f, PLACEMENT("", SOFT), NULL, PLACEMENT(GIVEN, SOFT));
    reviewed_becomes(f, PLACEMENT(MODE("Off"), SOFT), NULL, PLACEMENT(MODE("Off"), SOFT));
    reviewed_becomes(f, PLAIN(""), NULL, PLAIN(""));
    /* the controller does not decide what has CEL, nor what has another mode */
    static const char *const others[] = {
        PLACEMENT(MODE("Owner"), SOFT ",\"predicates\":[{},{\"requiredClusterSelector\":{"
                                      "\"celSelector\":{\"celExpressions\":[\"a\"]}}}]"),
        PLACEMENT(MODE("owner"), SOFT),
        PLACEMENT(MODE(""), SOFT),
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        reviewed_becomes(f, others[i], NULL, others[i]);
    /* no controller: nobody would decide it */
    f->options.owns = false;
    reviewed_becomes(f, PLACEMENT(MODE("Owner"), HARD), NULL, PLACEMENT(MODE("Owner"), HARD));
}

static void unknown_modes(void **state) {
    struct reviewed *f = *state;
    f->options.mode = PLACEMENT_OFF;
    reviewed_becomes(f, PLACEMENT(MODE("scores"), SOFT), NULL, PLACEMENT(MODE("scores"), SOFT));
    assert_int_equal(f->answer.warning_count, 1);
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]),
                    "'scores' is none of Scores, Owner, Off");
    /* nobody would publish its scores: it changes nothing, whatever the configuration says */
    f->options.mode = PLACEMENT_SCORES;
    reviewed_becomes(f, PLACEMENT(MODE("scores"), HARD), NULL, PLACEMENT(MODE("scores"), HARD));
}

/* ---- what nobody can have meant ---- */

#define OF_KEY(key, type) "{\"topologyKey\":\"" key "\",\"topologyKeyType\":\"" type "\"}"
#define TERMS(list) "\"spreadPolicy\":{\"spreadConstraints\":[" list "]}"
#define GROUPED(selector) "\"placements.evenkeel.io/spread-group\":\"" selector "\""

static void terms_that_nobody_can_have_meant(void **state) {
    struct reviewed *f = *state;
    static const struct {
        const char *object, *warning;
    } rows[] = {
        {PLACEMENT(MODE("Owner"), TERMS(OF_KEY("zone", "Label") "," OF_KEY("zone", "Claim"))),
         NULL},
        {PLACEMENT(MODE("Owner"), TERMS(OF_KEY("zone", "Label") "," OF_KEY("a", "Label") "," OF_KEY(
                                      "zone", "Label"))),
         "two spread terms have the same label 'zone'"},
        {PLACEMENT(MODE("Owner"), TERMS(OF_KEY("zone", "Claim") "," OF_KEY("zone", "Claim"))),
         "two spread terms have the same claim 'zone'"},
        {PLACEMENT(MODE("Owner") "," GROUPED("a in (b)"), SOFT), NULL},
        {PLACEMENT(MODE("Owner") "," GROUPED("a in (b"), SOFT), "there is no spread group"},
        {PLACEMENT(MODE("Owner") "," GROUPED("a in (b"), ""), NULL}, /* nobody asks */
    };
    f->options.mode = PLACEMENT_OFF;
    f->options.owns = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reviewed_becomes(f, rows[i].object, NULL, rows[i].object);
        assert_int_equal(f->answer.warning_count, rows[i].warning != NULL);
        if (rows[i].warning != NULL)
            assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]), rows[i].warning);
    }
    const int most = LIMIT_SPREAD_GROUP_TEXT;
    for (int bytes = most; bytes <= most + 1; bytes++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_appendf(&text, PLACEMENT(MODE("Owner") "," GROUPED("a=b%*s"), SOFT), bytes - 3, "");
        strbuf_append_char(&text, '\0');
        reviewed_becomes(f, text.p, NULL, text.p);
        assert_int_equal(f->answer.warning_count, bytes > most);
    }
}

/* ---- what is refused ---- */

static void negative_numbers(void **state) {
    struct reviewed *f = *state;
    static const struct {
        const char *object, *old;
        bool refused;
    } rows[] = {
        {PLAIN("\"numberOfClusters\":-1"), NULL, true},
        {PLAIN("\"numberOfClusters\":-99999999999"), NULL, true},
        {PLAIN("\"numberOfClusters\":-1," HARD), PLAIN("\"numberOfClusters\":1"), true},
        {PLAIN("\"numberOfClusters\":-1"), PLAIN("\"numberOfClusters\":-2"), true},
        {PLACEMENT(DISABLED, "\"numberOfClusters\":-1"), NULL, true},
        {PLAIN("\"numberOfClusters\":-1"), PLAIN("\"numberOfClusters\":-1"), false},
        {PLAIN("\"numberOfClusters\":0"), NULL, false},
        {PLAIN("\"numberOfClusters\":null"), NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)reviewed_admit(f, str_of(rows[i].object), rows[i].old);
        assert_int_equal(f->answer.allowed, !rows[i].refused);
        assert_int_equal(f->result, rows[i].refused ? ADMISSION_DENIED : ADMISSION_UNCHANGED);
        assert_int_equal(f->answer.code, rows[i].refused ? 422 : 200);
        assert_int_equal(f->patch.count, 0);
    }
    (void)reviewed_admit(f, STR(PLAIN("\"numberOfClusters\":-7")), NULL);
    assert_str(f->answer.message,
               "spec.numberOfClusters: -7 is negative, which would crash Open Cluster Management's "
               "controller; without it, all clusters are selected");
}

/* Whatever is wrong is the API server's to refuse: the object stays as it came, with a warning. */
static void unreadable(void **state) {
    struct reviewed *f = *state;
    static const struct {
        const char *object, *why;
    } rows[] = {
        {PLAIN("\"spreadPolicy\":3"), "Placement.spec.spreadPolicy"},
        {PLAIN("\"numberOfClusters\":1.5," HARD), "Placement.spec.numberOfClusters"},
        {PLAIN(HARD ",\"predicates\":[3]"), "Placement.spec.predicates[0]"},
        {PLAIN(HARD ",\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                    "\"celExpressions\":[3]}}}]"),
         "celExpressions"},
        {PLAIN(HARD "," POLICY("{\"scoreCoordinate\":{\"type\":\"BuildIn\"}}")),
         "did you mean 'BuiltIn'?"},
        {"{\"metadata\":{\"annotations\":{\"" NOTE_KEY "\":3}},\"spec\":{" HARD "}}",
         "annotations"},
        {"[]", "Placement"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct str object = str_of(rows[i].object);
        assert_true(str_eq(reviewed_admit(f, object, NULL), object));
        assert_true(f->answer.allowed);
        assert_int_equal(f->result, ADMISSION_FAILED);
        assert_int_equal(f->answer.warning_count, 1);
        assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]), rows[i].why);
    }
    /* of what is stored only what can be read counts */
    reviewed_becomes(f, PLACEMENT("", SOFT "," POLICY("")), "{\"spec\":3}",
                     PLACEMENT(NOTE(ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)));
    reviewed_becomes(f, PLACEMENT("", SOFT "," POLICY("")), "",
                     PLACEMENT(NOTE(ADDED("\\\"score\\\"")), SOFT "," POLICY(OURS)));
}

/* ---- policies ---- */

static struct policy policy_of(struct reviewed *f, const char *spec) {
    struct policy policy;
    struct json_reader r;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text, "{\"metadata\":{\"name\":\"fleet\"},\"spec\":{%s}}", spec);
    json_reader_init(&r, arena_str(&f->arena, strbuf_str(&text)), &f->arena, "policy");
    policy_decode(&r, &policy);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_str(policy.problem, "");
    return policy;
}

#define ZONES                                                                                      \
    "\"placements\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"                 \
    "\"DoNotSchedule\"}]}"

static void terms_of_policies(void **state) {
    struct reviewed *f = *state;
    struct policy policy = policy_of(f, ZONES);
    f->options.head.policies = &policy;
    f->options.head.policy_count = 1;
    reviewed_becomes(f, PLACEMENT("", POLICY("")), NULL,
                     PLACEMENT(NOTE(ADDED("\\\"score\\\",\\\"predicates\\\",\\\"gate\\\"")),
                               POLICY(OURS) "," ONLY_GATE));
    assert_str(f->answer.annotations[0].key, "policy");
    /* a term of its own: nothing of a policy */
    reviewed_becomes(f, PLACEMENT("", SOFT "," POLICY("")), NULL, UNGATED);
    reviewed_becomes(f, PLACEMENT(MODE("Off"), ""), NULL, PLACEMENT(MODE("Off"), ""));
    reviewed_becomes(f, PLACEMENT(MODE("Owner"), ""), NULL, PLACEMENT(MODE("Owner") "," GIVEN, ""));
    policy = policy_of(f, "\"mode\":\"Audit\"," ZONES);
    reviewed_becomes(f, PLACEMENT("", ""), NULL, PLACEMENT("", ""));
    assert_str(f->answer.warnings[0], "evenkeel: policy 'fleet' (Audit) would spread by zone");
    policy =
        policy_of(f, "\"match\":{\"namespaceSelector\":{\"matchLabels\":{\"a\":\"b\"}}}," ZONES);
    reviewed_becomes(f, PLACEMENT("", ""), NULL, PLACEMENT("", ""));
    assert_contains(arena_cstr(&f->arena, f->answer.warnings[0]), "namespace 'ns' is not known");
    const struct label label = {STR("a"), STR("b")};
    f->namespace.labels = (struct labels){&label, 1};
    f->namespace.known = true;
    (void)reviewed_admit(f, STR(PLACEMENT("", "")), NULL);
    assert_int_equal(f->result, ADMISSION_PATCHED);
}

/* ---- limits ---- */

static void many_predicates(void **state) {
    struct reviewed *f = *state;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_append_str(&text, STR("{\"spec\":{" HARD ",\"predicates\":["));
    for (uint32_t i = 0; i < 500; i++)
        strbuf_append_str(&text, i > 0 ? STR(",{}") : STR("{}"));
    strbuf_append_str(&text, STR("]}}"));
    const struct str got = arena_str(&f->arena, reviewed_admit(f, strbuf_str(&text), NULL));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    assert_int_equal(f->patch.count, 502);
    reviewed_again(f, got, NULL);
}

/* Wherever memory ends, the Placement is as it came or as it should be, and that is said. */
static void short_memory(void **state) {
    struct reviewed *f = *state;
    const struct str object = STR(PLACEMENT("", HARD ",\"predicates\":[{}]," POLICY("")));
    uint32_t failed = 0, patched = 0;
    for (size_t bytes = 1 << 10; bytes < 96 << 10; bytes += 509) {
        arena_done(&f->arena);
        arena_init(&f->arena, bytes);
        (void)reviewed_admit(f, object, NULL);
        assert_true(f->answer.allowed);
        if (f->result == ADMISSION_FAILED) {
            assert_true(f->patch.count == 0);
            assert_true(f->answer.warning_count > 0);
            failed++;
        } else {
            assert_int_equal(f->result, ADMISSION_PATCHED);
            patched++;
        }
    }
    assert_true(failed > 3 && patched > 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(created),
        TEST(spread_is_replaced),
        TEST(outweighs_the_others),
        TEST(outweighs_within_limits),
        TEST(removed),
        TEST(changed),
        TEST(broken_annotations),
        TEST(copies),
        TEST(left_alone),
        TEST(nobody_publishes),
        TEST(nobody_leads),
        TEST(owned),
        TEST(unknown_modes),
        TEST(terms_that_nobody_can_have_meant),
        TEST(negative_numbers),
        TEST(unreadable),
        TEST(terms_of_policies),
        TEST(many_predicates),
        TEST(short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

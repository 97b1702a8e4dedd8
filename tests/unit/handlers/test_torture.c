/*
 * Requests of every kind, and the Nth allocation of each fails, for every N until it makes fewer:
 * the answer's too. Whatever is answered is what is answered with memory, or says that
 * memory ran out: no opinion, 503, or a pod that is allowed with a warning and lacks what the
 * warning speaks of. The same request once more has the good answer: nothing was spoiled, and no
 * lock is held. Nothing leaks.
 *
 * Sanitizers and valgrind have a malloc() of their own, see unit/short_memory.h: there the tests
 * are skipped.
 */
#include "base/base64.h"
#include "base/log.h"
#include "unit/handlers/torture.h"
#include "unit/short_memory.h"

#include <cJSON.h>
#include <stdio.h>
#include <unistd.h>

/* ---- asking ---- */

static void ask(struct torture_world *w, const struct torture_scenario *s, bool fails,
                struct torture_answer *ret) {
    volatile bool ignored;
    torture_ask(w, s, fails ? &armed : &ignored, ret);
}

static void open_for(struct torture_world *w, const struct torture_scenario *s) {
    torture_world_open(w, s->setting);
    if (s->verb == RECENT || s->verb == OF_POD)
        torture_decide(w);
}

/* What the extender answers when it has no opinion: as of data that is too old. */
static void no_opinion(const struct torture_scenario *s, struct torture_answer *ret) {
    struct torture_world w;
    open_for(&w, s);
    w.called.x.stale_after_ms = 100;
    cache_heard(w.called.c.cache, OBJECT_NODE, w.called.c.clock.at_ms);
    w.called.c.clock.at_ms += 500;
    ask(&w, s, false, ret);
    torture_world_close(&w);
}

/* ---- is it right? ---- */

static bool says_memory(const char *text) {
    return strstr(text, "memory") != NULL;
}

/* The operations of a review's answer; NULL: none. */
static cJSON *patch_of(const cJSON *response) {
    const char *base64 = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(response, "patch"));
    struct arena arena;
    struct str text;
    if (base64 == NULL)
        return NULL;
    arena_init(&arena, 1 << 20);
    assert_true(base64_decode(str_of(base64), &arena, &text));
    cJSON *patch = cJSON_ParseWithLength(text.p, text.n);
    arena_done(&arena);
    assert_true(cJSON_IsArray(patch));
    return patch;
}

static bool has_operation(const cJSON *patch, const cJSON *wanted) {
    const cJSON *operation;
    cJSON_ArrayForEach(operation, patch) {
        if (cJSON_Compare(operation, wanted, true))
            return true;
    }
    return false;
}

/* The line by which a pod tells what was done to it tells less where less was done. */
static bool is_own_annotation(const cJSON *operation) {
    char *text = cJSON_PrintUnformatted(operation);
    bool is = strstr(text, "pods.evenkeel.io") != NULL && strstr(text, "/metadata/annotations");
    cJSON_free(text);
    return is;
}

/* By the policy, to a pod that would have been refused before it came to that. */
static bool is_spread(const cJSON *operation) {
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(operation, "path"));
    return strncmp(path, "/spec/topologySpreadConstraints", 31) == 0;
}

/* minDomains stays where the plugin that pins the pod to a zone, which comes before, has failed. */
static bool is_spread_as(const cJSON *patch, const cJSON *operation) {
    cJSON *all = cJSON_Duplicate(patch, true), *one = cJSON_Duplicate(operation, true);
    cJSON *constraint, *other;
    cJSON_ArrayForEach(constraint, cJSON_GetObjectItemCaseSensitive(one, "value")) {
        cJSON_DeleteItemFromObjectCaseSensitive(constraint, "minDomains");
    }
    cJSON_ArrayForEach(other, all) {
        cJSON_ArrayForEach(constraint, cJSON_GetObjectItemCaseSensitive(other, "value")) {
            cJSON_DeleteItemFromObjectCaseSensitive(constraint, "minDomains");
        }
    }
    bool is = is_spread(operation) && has_operation(all, one);
    cJSON_Delete(all);
    cJSON_Delete(one);
    return is;
}

/* Allowed, with a warning of ours, and nothing is done to the pod that ought not to be. */
static bool is_lesser_review(const char *text, const char *good) {
    cJSON *ours = cJSON_Parse(text), *theirs = cJSON_Parse(good);
    const cJSON *response = cJSON_GetObjectItemCaseSensitive(ours, "response"), *operation;
    const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(response, "warnings"), *warning;
    cJSON *patch = patch_of(response);
    cJSON *whole = patch_of(cJSON_GetObjectItemCaseSensitive(theirs, "response"));
    bool told = false, denied = strstr(good, "\"allowed\":false") != NULL;
    bool is = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(response, "allowed"));
    cJSON_ArrayForEach(warning, warnings) {
        told = told || says_memory(cJSON_GetStringValue(warning));
    }
    cJSON_ArrayForEach(operation, patch) {
        is = is && (has_operation(whole, operation) || is_own_annotation(operation) ||
                    is_spread_as(whole, operation) || (denied && is_spread(operation)));
    }
    cJSON_Delete(ours);
    cJSON_Delete(theirs);
    cJSON_Delete(patch);
    cJSON_Delete(whole);
    return is && told;
}

struct wanted {
    struct torture_answer good, no_opinion;
};

static bool is_same(const struct torture_answer *a, const struct torture_answer *b) {
    return a->status == b->status && strcmp(a->text, b->text) == 0;
}

static bool is_fine(const struct torture_scenario *s, const struct torture_answer *a,
                    const struct wanted *wanted) {
    const char *error = "{\"NodeNames\":[],\"Error\":\"";
    const struct torture_answer *good = &wanted->good;
    bool is_error = strncmp(a->text, error, strlen(error)) == 0;
    if (is_same(a, good) || (s->verb < ADMIT && is_same(a, &wanted->no_opinion)))
        return true;
    if (a->status == 500 || a->status == 503)
        return a->status == 500 || says_memory(a->text);
    if (a->status != good->status)
        return false;
    switch (s->verb) {
    case FILTER:
    case FILTER_NODES:
        return is_error && says_memory(a->text);
    case ADMIT:
        return is_lesser_review(a->text, good->text);
    case WHAT_IF:
        if (strstr(a->text, "\"findingsOmitted\":1") != NULL)
            return true;
        return says_memory(a->text) && (strstr(a->text, "\"result\":\"no opinion\"") != NULL ||
                                        strstr(a->text, "\"result\":\"failed\"") != NULL);
    default:
        return false;
    }
}

static _Noreturn void complain(const struct torture_scenario *s, long n, const char *what,
                               const struct torture_answer *a, const struct torture_answer *good) {
    (void)fflush(stdout);
    (void)fprintf(stderr,
                  "%s (setting %d, pod %d, malformed %d), allocation %ld%s: %s\n%s\n-> %d %s\n"
                  "good %d %s\n",
                  torture_verb_names[s->verb], s->setting, s->pod, (int)s->malformed, n,
                  lasting ? " and all after" : "", what, s->body, a->status, a->text, good->status,
                  good->text);
    _fail(__FILE__, __LINE__);
}

/* False: the request makes no more than n allocations. */
static bool fail_one(const struct torture_scenario *s, long n, const struct wanted *wanted) {
    static struct torture_world w;
    static struct torture_answer answer, again;
    open_for(&w, s);
    ask(&w, s, true, &answer);
    bool failed = has_failed;
    if (!is_fine(s, &answer, wanted))
        complain(s, n, "not right", &answer, &wanted->good);
    ask(&w, s, false, &again);
    if (!is_same(&again, &wanted->good))
        complain(s, n, "not right once more", &again, &wanted->good);
    torture_world_close(&w);
    return failed;
}

static long scenarios, failures;

static void torture(struct torture_scenario *s) {
    static struct wanted wanted;
    static struct torture_world w;
    torture_write_body(s);
    open_for(&w, s);
    ask(&w, s, false, &wanted.good);
    torture_world_close(&w);
    no_opinion(s, &wanted.no_opinion);
    scenarios++;
    for (int all_after = 0; all_after < 2; all_after++)
        for (long n = 0;; n++) {
            long before = blocks;
            arm(n, all_after != 0);
            bool failed = fail_one(s, n, &wanted);
            if (blocks != before)
                complain(s, n, "leaks", &wanted.good, &wanted.good);
            if (!failed)
                break;
            failures++;
        }
}

/* ---- the tables ---- */

static void well_formed(void **state) {
    (void)state;
    if (!OWN_MALLOC || !can_fail())
        skip();
    for (enum torture_verb verb = 0; verb < VERBS; verb++)
        for (int setting = 0; setting < TORTURE_SETTINGS; setting++)
            for (int pod = 0; pod < TORTURE_PODS; pod++) {
                struct torture_scenario s = {.verb = verb, .setting = setting, .pod = pod};
                if ((verb != RECENT && verb != OF_POD) || pod == 0)
                    torture(&s);
            }
    print_message("# %ld scenarios, %ld failures\n", scenarios, failures);
    assert_true(scenarios >= 500);
    assert_true(failures > 26000);
}

static void malformed(void **state) {
    (void)state;
    if (!OWN_MALLOC || !can_fail())
        skip();
    for (enum torture_verb verb = 0; verb < VERBS; verb++)
        for (enum torture_malformed how = CUT; how < MALFORMED; how++) {
            struct torture_scenario s = {.verb = verb, .setting = 1, .pod = 4, .malformed = how};
            if (verb != RECENT && verb != OF_POD)
                torture(&s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed),
        cmocka_unit_test(malformed),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO); /* warnings are what is tested */
    (void)alarm(300);                                /* a lock that is held */
    return cmocka_run_group_tests_name("handlers, out of memory", tests, torture_open,
                                       torture_close);
}

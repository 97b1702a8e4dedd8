/*
 * Pods as Fluid's own webhook (1.1, June 2026) mutated them, recorded in data/fluid-pods.json: an
 * array of
 *
 *     {"name": ..., "namespace": of the request, "objects": in the cluster, "pod": ...,
 *      "profile": YAML, "extra_invocations": how often more than once the webhook was called,
 *      "observed": [{"n": times, "out": {"allowed", "code", "message", "pod"}}, ...]}
 *
 * Upstream's order is random: where it was asked several times, our answer must be one of those
 * observed. Documents are compared by meaning: members that are null or empty are absent, the order
 * of terms and of requirements does not count.
 *
 * Every case runs twice. In FLUID_HEAD the answer must be upstream's. In FLUID_CORRECT it must be
 * too, unless the table `differences` says why not; a difference listed there that is none fails as
 * well. Cases in which a plugin has work to do that only Fluid's webhook does are `not_covered`, in
 * both modes and both ways again.
 */
#include "base/file.h"
#include "data/fluid/mutate.h"

#include "unit/data/fluid/world.h"

#include <errno.h>

#define DATA "tests/conformance/data/fluid-pods.json"
enum { CASES_MAX = 256 };

struct listed {
    const char *name, *reason;
};

static const struct listed not_covered[] = {
    {"81 serverless, fuse daemonset missing", "FuseSidecar: the FUSE client as a container is "
                                              "Fluid's business, and no question of placement"},
    {"82 serverless ok", "FuseSidecar: the FUSE client as a container is Fluid's business, and no "
                         "question of placement"},
    {"83 serverless unprivileged", "FuseSidecar: the FUSE client as a container is Fluid's "
                                   "business, and no question of placement"},
    {"84 serverless unknown platform", "FuseSidecar: the FUSE client as a container is Fluid's "
                                       "business, and no question of placement"},
    {"85 deprecated fuse.sidecar label", "FuseSidecar: the FUSE client as a container is Fluid's "
                                         "business, and no question of placement"},
    {"86 serverless twice (reinvoke)", "FuseSidecar: the FUSE client as a container is Fluid's "
                                       "business, and no question of placement"},
    {"serverless + required existing affinity; no affinity injected",
     "FuseSidecar: the FUSE client as a container is Fluid's business, and no question of "
     "placement"},
};

static const struct listed differences[] = {
    {"11 two datasets both fuse sel x20",
     "a pod needs all of its datasets: their conditions are AND-ed, upstream ORs them"},
    {"12 two datasets both fuse sel + existing req x20",
     "a pod needs all of its datasets: their conditions are AND-ed, upstream ORs them"},
    {"13 two datasets both required x20",
     "a pod needs all of its datasets: their conditions are AND-ed, upstream ORs them"},
    {"20 pod nodeAffinity req empty term only + fuse sel",
     "a pod whose required term matches no node keeps it: upstream widens it"},
    {"21 reinvocation default profile, no zone aff", "called again, nothing is added twice"},
    {"23 reinvocation fuse sel", "called again, nothing is added twice"},
    {"25 reinvocation no dataset", "called again, nothing is added twice"},
    {"26 pvc missing", "what Fluid lacks or has not ready does not keep a pod from being created: "
                       "admitted as it came"},
    {"27 dataset NotBound", "what Fluid lacks or has not ready does not keep a pod from being "
                            "created: admitted as it came"},
    {"32 dataset no runtime in status", "what Fluid lacks or has not ready does not keep a pod "
                                        "from being created: admitted as it came"},
    {"33 runtime CR missing", "what Fluid lacks or has not ready does not keep a pod from being "
                              "created: admitted as it came"},
    {"38 ns empty both",
     "only an API server that does not work could ask that: admitted as it came"},
    {"42 init container mounts", "init containers mount datasets too"},
    {"44 thin runtime",
     "no node carries a label of a ThinRuntime's workers: a preference for it says nothing"},
    {"46 referenced dataset (virtual ref/ds)",
     "nodes carry the label of the physical dataset, never that of the reference"},
    {"47 one ok one missing pvc", "what Fluid lacks or has not ready does not keep a pod from "
                                  "being created: admitted as it came"},
    {"60 required=[node,zone]", "required tiers are AND-ed, as Fluid's manual says"},
    {"72 duplicate plugin listed twice", "a plugin that runs twice adds nothing twice"},
    {"73 preferred-only nodeAffinity hides nodeSelector dup check",
     "the node selector that names a zone is looked at, whatever else the pod prefers"},
    {"75 fuse nodeSelector on zone suppresses cache affinity",
     "what RequireNodeWithFuse added is not the pod's own word about locality"},
    {"76 user already has fluid.io/s- label pref (not detected)",
     "the pod's own preference for the dataset's label is its word about locality"},
    {"78 matchFields-only required + required label",
     "a pod that may use one node only has its place: another condition could only keep it "
     "pending"},
    {"97 daemonset-style matchFields + without dataset",
     "a pod that may use one node only has its place: a preference says nothing"},
    {"94 native terminology: required empty list in pod",
     "an invalid list of required terms is the API server's to refuse, not ours to fill"},
    {"pvc label managed-by wrong dataset", "what Fluid lacks or has not ready does not keep a pod "
                                           "from being created: admitted as it came"},
    {"pvc label s- prefix any value, dataset missing",
     "what Fluid lacks or has not ready does not keep a pod from being created: admitted as it "
     "came"},
    {"runtime CR deleted after bound -> status accessor err path",
     "what Fluid lacks or has not ready does not keep a pod from being created: admitted as it "
     "came"},
    {"unknown runtime type", "what Fluid lacks or has not ready does not keep a pod from being "
                             "created: admitted as it came"},
};

/* ---- documents by meaning ---- */

static bool is_nothing(const cJSON *item) {
    return cJSON_IsNull(item) || ((cJSON_IsObject(item) || cJSON_IsArray(item)) && !item->child);
}

/* Takes out the members of objects that say nothing, and sorts the others. */
static void strip(cJSON *item) {
    for (cJSON *child = item->child, *next; child != NULL; child = next) {
        next = child->next;
        strip(child);
        if (cJSON_IsObject(item) && is_nothing(child))
            cJSON_Delete(cJSON_DetachItemViaPointer(item, child));
    }
    for (int sorted = cJSON_IsObject(item) ? cJSON_GetArraySize(item) : 0; sorted > 0; sorted--) {
        cJSON *least = cJSON_GetArrayItem(item, 0); /* of those not moved to the end yet */
        for (int i = 1; i < sorted; i++)
            if (strcmp(cJSON_GetArrayItem(item, i)->string, least->string) < 0)
                least = cJSON_GetArrayItem(item, i);
        assert_true(cJSON_AddItemToArray(item, cJSON_DetachItemViaPointer(item, least)));
    }
}

static char *print(const cJSON *item) {
    char *text = cJSON_PrintUnformatted(item);
    assert_non_null(text);
    return text;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts an array by the text of its items; `unique` drops repeated ones. */
static void sort_array(cJSON *array, bool unique) {
    int count = cJSON_GetArraySize(array);
    if (count == 0)
        return;
    char **texts = calloc((size_t)count, sizeof *texts);
    assert_non_null(texts);
    for (int i = 0; i < count; i++) {
        texts[i] = print(cJSON_GetArrayItem(array, 0));
        cJSON_DeleteItemFromArray(array, 0);
    }
    qsort(texts, (size_t)count, sizeof *texts, by_text);
    for (int i = 0; i < count; i++)
        if (!unique || i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
            assert_true(cJSON_AddItemToArray(array, cJSON_Parse(texts[i])));
    for (int i = 0; i < count; i++)
        cJSON_free(texts[i]);
    free(texts);
}

/* One form for all documents that mean the same. `sets`: required terms are sets of sets; else
 * repetition counts. */
static cJSON *canonical(const cJSON *pod, bool sets) {
    cJSON *copy = cJSON_Duplicate(pod, true), *term;
    assert_non_null(copy);
    strip(copy);
    cJSON *affinity = doc_at(copy, "spec.affinity.nodeAffinity");
    cJSON *required =
        doc_array(doc_object(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
                  "nodeSelectorTerms");
    cJSON *preferred = doc_array(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    cJSON_ArrayForEach(term, required) {
        sort_array(doc_array(term, "matchExpressions"), sets);
        sort_array(doc_array(term, "matchFields"), sets);
    }
    cJSON_ArrayForEach(term, preferred) {
        sort_array(doc_array(doc_object(term, "preference"), "matchExpressions"), false);
    }
    sort_array(required, sets);
    sort_array(preferred, false);
    return copy;
}

/* ---- one case ---- */

struct run {
    struct arena arena;
    struct fluid_store *store;
    struct fluid_profile profile;
    struct fluid_outcome outcome;
    cJSON *pod; /* what came out; NULL when denied */
    bool refused_profile;
};

static void set_up(struct run *r, const cJSON *test) {
    struct err err = {0};
    const cJSON *object;
    const char *profile = doc_string(test, "profile");
    arena_init(&r->arena, 16u << 20);
    r->store = fluid_store_new();
    assert_non_null(r->store);
    cJSON_ArrayForEach(object, doc_array(test, "objects")) {
        int code = fluid_store_put(r->store, object, &err);
        if (code != 0 && code != -ENOTSUP)
            fail_msg("%s", err.text);
    }
    int code = profile[0] == '<'
                   ? fluid_profile_default(&r->arena, &r->profile, &err)
                   : fluid_profile_parse(str_of(profile), &r->arena, &r->profile, &err);
    r->refused_profile = code != 0;
}

static void tear_down(struct run *r) {
    cJSON_Delete(r->pod);
    fluid_store_free(r->store);
    arena_done(&r->arena);
}

/* Calls the webhook's code as often as the case says, on what came out before. */
static void ask(struct run *r, const cJSON *test, enum fluid_compat compat) {
    int calls = 1 + (int)cJSON_GetNumberValue(doc_at(test, "extra_invocations"));
    struct fluid_options options = {.profile = &r->profile, .compat = compat};
    struct err err = {0};
    char *given = print(doc_object(test, "pod"));
    struct str document = arena_str(&r->arena, str_of(given));
    cJSON_free(given);
    for (int i = 0; i < calls && r->outcome.result != FLUID_DENIED; i++) {
        struct world_pod pod;
        world_read(document, &r->arena, &pod);
        struct fluid_question question = {.pod = &pod.pod,
                                          .details = &pod.details,
                                          .is_placed = pod.is_placed,
                                          .namespace = str_of(doc_string(test, "namespace"))};
        assert_int_equal(fluid_mutate(r->store, &options, &question, &r->arena, &r->outcome, &err),
                         0);
        if (r->outcome.result == FLUID_EDITED)
            document = world_edit(&pod, &r->outcome.edits, &r->arena);
    }
    if (r->outcome.result != FLUID_DENIED)
        r->pod = cJSON_ParseWithLength(document.p, document.n);
}

static bool equals(const struct run *r, const cJSON *out, bool sets) {
    if (cJSON_IsString(out) || r->refused_profile)
        return cJSON_IsString(out) && r->refused_profile;
    bool allowed = cJSON_IsTrue(doc_at(out, "allowed"));
    if (!allowed || r->pod == NULL)
        return !allowed && r->pod == NULL && r->outcome.message[0] != '\0' &&
               (int)cJSON_GetNumberValue(doc_at(out, "code")) == r->outcome.code;
    cJSON *ours = canonical(r->pod, sets), *theirs = canonical(doc_object(out, "pod"), sets);
    bool equal = cJSON_Compare(ours, theirs, true);
    cJSON_Delete(ours);
    cJSON_Delete(theirs);
    return equal;
}

static const char *reason_for(const struct listed *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].reason;
    return NULL;
}

static void explain(const struct run *r, const cJSON *test) {
    char *wanted = print(doc_array(test, "observed"));
    char *got = r->pod != NULL ? print(r->pod) : NULL;
    print_error("got %d %s %s\nwant one of %s\n", r->outcome.code,
                r->outcome.message != NULL ? r->outcome.message : "", got != NULL ? got : "",
                wanted);
    cJSON_free(wanted);
    cJSON_free(got);
}

/* ---- the tests ---- */

static unsigned equal_count[3], different_count[3], uncovered_count[3];

static void judge(const cJSON *test, enum fluid_compat compat) {
    const char *name = doc_string(test, "name");
    struct run r = {0};
    const cJSON *observed;
    bool equal = false;
    set_up(&r, test);
    if (!r.refused_profile)
        ask(&r, test, compat);
    cJSON_ArrayForEach(observed, doc_array(test, "observed")) {
        equal = equal || equals(&r, doc_at(observed, "out"), compat == FLUID_CORRECT);
    }
    const char *uncovered = reason_for(not_covered, sizeof not_covered / sizeof *not_covered, name);
    const char *different =
        compat == FLUID_CORRECT
            ? reason_for(differences, sizeof differences / sizeof *differences, name)
            : NULL;
    if (r.outcome.left_to_fluid != (uncovered != NULL))
        fail_msg("'%s' is %slisted as not covered", name, uncovered != NULL ? "wrongly " : "not ");
    if (uncovered == NULL && equal && different != NULL)
        fail_msg("'%s' is listed as different (%s) and is not", name, different);
    if (uncovered == NULL && !equal && different == NULL) {
        explain(&r, test);
        fail_msg("'%s' is different, and not listed", name);
    }
    uncovered_count[compat] += uncovered != NULL;
    different_count[compat] += different != NULL;
    equal_count[compat] += uncovered == NULL && different == NULL;
    tear_down(&r);
}

static void answers_as_upstream(void **state) {
    judge(*state, FLUID_HEAD);
}

static void answers_correctly(void **state) {
    judge(*state, FLUID_CORRECT);
}

/* A listed name must be that of a case: else a renamed one would be excused for ever. */
static const cJSON *find_case(const cJSON *cases, const char *name) {
    const cJSON *test;
    cJSON_ArrayForEach(test, cases) {
        if (strcmp(doc_string(test, "name"), name) == 0)
            return test;
    }
    return NULL;
}

static void lists_name_cases(void **state) {
    for (size_t i = 0; i < sizeof not_covered / sizeof *not_covered; i++)
        assert_non_null(find_case(*state, not_covered[i].name));
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        assert_non_null(find_case(*state, differences[i].name));
    print_message("# as upstream (head): %u equal, %u not covered\n", equal_count[FLUID_HEAD],
                  uncovered_count[FLUID_HEAD]);
    print_message("# correct: %u equal, %u listed differences, %u not covered\n",
                  equal_count[FLUID_CORRECT], different_count[FLUID_CORRECT],
                  uncovered_count[FLUID_CORRECT]);
}

int main(void) {
    static struct CMUnitTest tests[2 * CASES_MAX + 1];
    struct strbuf file = {.max = 4u << 20};
    struct err err;
    size_t count = 0;
    cJSON *test;
    if (file_read(DATA, 4u << 20, &file, &err) != 0) {
        print_error("%s\n", err.text);
        return 1;
    }
    cJSON *cases = cJSON_ParseWithLength(file.p, file.n);
    if (!cJSON_IsArray(cases) || cJSON_GetArraySize(cases) > CASES_MAX) {
        print_error("cannot read " DATA "\n");
        return 1;
    }
    for (int mode = 0; mode < 2; mode++) {
        cJSON_ArrayForEach(test, cases) {
            tests[count++] = (struct CMUnitTest){.name = doc_string(test, "name"),
                                                 .test_func = mode == 0 ? answers_as_upstream
                                                                        : answers_correctly,
                                                 .initial_state = test};
        }
    }
    tests[count++] = (struct CMUnitTest){
        .name = "lists name cases", .test_func = lists_name_cases, .initial_state = cases};
    int failed = _cmocka_run_group_tests("fluid pods", tests, count, NULL, NULL);
    cJSON_Delete(cases);
    strbuf_done(&file);
    return failed;
}

/*
 * What a user writes is worked on in steps that grow with it, and no faster: doubling any list
 * makes at most 2.2 times the steps. Where all of it is too much, the pod stays as it came.
 */
#include "base/limits.h"
#include "unit/data/fluid/world.h"

#include <stdio.h>
#include <stdlib.h>

/* A pod as text; %u's of `item` are the number of the item. */
struct list {
    const char *name, *before, *item, *after;
};

#define POD(spec) "{'metadata':{'labels':{'fuse.serverful.fluid.io/inject':'true'}},'spec':{" spec
#define CLAIM "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'d'}}]"
#define AFFINITY CLAIM ",'affinity':{'nodeAffinity':{"
#define REQUIRED AFFINITY "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':["
#define PREFERRED AFFINITY "'preferredDuringSchedulingIgnoredDuringExecution':["

static const struct list lists[] = {
    {"values", POD(REQUIRED "{'matchExpressions':[{'key':'k','operator':'In','values':["), "'v%u'",
     "]}]}]}}}}}"},
    {"terms", POD(REQUIRED), "{'matchExpressions':[{'key':'k%u','operator':'Exists'}]}", "]}}}}}"},
    {"equal terms", POD(REQUIRED),
     "{'matchExpressions':[{'key':'k','operator':'In','values':['a','b']}]}", "]}}}}}"},
    {"requirements", POD(REQUIRED "{'matchExpressions':["), "{'key':'k%u','operator':'Exists'}",
     "]}]}}}}}"},
    {"fields", POD(REQUIRED "{'matchFields':["),
     "{'key':'metadata.name','operator':'NotIn','values':['n%u']}", "]}]}}}}}"},
    {"preferences", POD(PREFERRED),
     "{'weight':1,'preference':{'matchExpressions':[{'key':'k%u','operator':'Exists'}]}}", "]}}}}"},
    {"selector", POD(CLAIM ",'nodeSelector':{"), "'k%u':'v'", "}}}"},
    {"volumes", POD("'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'d'}},"),
     "{'name':'v%u','emptyDir':{}}", "]}}"},
    {"mounts", POD(CLAIM ",'containers':[{'name':'c','volumeMounts':["),
     "{'name':'v','mountPath':'/%u'}", "]}]}}"},
};

static char *write_pod(const struct list *list, uint32_t count) {
    struct strbuf text = {0};
    strbuf_append_str(&text, str_of(list->before));
    for (uint32_t i = 0; i < count; i++) {
        const char *number = strstr(list->item, "%u");
        strbuf_append_str(&text, i > 0 ? STR(",") : STR(""));
        if (number == NULL)
            strbuf_append_str(&text, str_of(list->item));
        else
            strbuf_appendf(&text, "%.*s%u%s", (int)(number - list->item), list->item, i,
                           number + 2);
    }
    strbuf_append_str(&text, str_of(list->after));
    strbuf_append_char(&text, '\0');
    assert_false(strbuf_failed(&text));
    return text.p;
}

static uint64_t steps_of(struct world *w, const struct list *list, uint32_t count) {
    char *pod = write_pod(list, count);
    world_mutate(w, pod);
    free(pod);
    return w->outcome.steps;
}

static int setup(void **state) {
    static struct world w;
    world_init(&w);
    world_dataset(&w, "d", "'fuse':{'nodeSelector':{'disk':'ssd'}}", "");
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    world_done(*state);
    return 0;
}

static void no_list_costs_more_than_its_length(void **state) {
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (uint32_t count = 64; count <= 256; count *= 2) {
            uint64_t once = steps_of(*state, &lists[i], count);
            uint64_t twice = steps_of(*state, &lists[i], 2 * count);
            if (once < count || (double)twice > 2.2 * (double)once)
                fail_msg("%u %s take %lu steps, twice as many %lu", count, lists[i].name,
                         (unsigned long)once, (unsigned long)twice);
        }
}

static void mutate_many_values(struct world *w, const char *before, uint32_t terms) {
    struct strbuf item = {0};
    strbuf_append_str(&item, STR("{'matchExpressions':[{'key':'k%u','operator':'In','values':["));
    for (uint32_t i = 0; i < 3800; i++)
        strbuf_appendf(&item, "%s'v%u'", i > 0 ? "," : "", i);
    strbuf_append(&item, "]}]}", 5);
    const struct list list = {"terms", before, item.p, "]}}}}}"};
    (void)steps_of(w, &list, terms);
    strbuf_done(&item);
}

/* A pod that froze a thread for half a minute. */
static void many_values_in_many_terms_are_merged(void **state) {
    struct world *w = *state;
    mutate_many_values(w, POD(REQUIRED), 32);
    assert_int_equal(w->outcome.result, FLUID_EDITED);
    assert_in_range(w->outcome.steps, 32 * 3800, 4 * 32 * 3800);
}

/* Each of them is looked through for every dataset. */
static void mutate_many_requirements(struct world *w, const char *before, uint32_t terms) {
    struct strbuf item = {0};
    strbuf_append_str(&item, STR("{'matchExpressions':[{'key':'t%u','operator':'Exists'}"));
    for (uint32_t i = 1; i < 1000; i++)
        strbuf_appendf(&item, ",{'key':'k%u','operator':'Exists'}", i);
    strbuf_append(&item, "]}", 3);
    const struct list list = {"terms", before, item.p, "]}}}}}"};
    (void)steps_of(w, &list, terms);
    strbuf_done(&item);
}

static void too_much_is_left_alone(void **state) {
    struct world *w = *state;
    struct strbuf before = {0};
    strbuf_append_str(&before, STR("{'metadata':{'labels':{'fuse.serverful.fluid.io/inject':'true'"
                                   "}},'spec':{'volumes':["));
    for (uint32_t i = 0; i < 8; i++) {
        char name[8], selector[64];
        (void)snprintf(name, sizeof name, "d%u", i);
        (void)snprintf(selector, sizeof selector, "'fuse':{'nodeSelector':{'disk%u':'ssd'}}", i);
        world_dataset(w, name, selector, "");
        strbuf_appendf(&before, "%s{'name':'v%u','persistentVolumeClaim':{'claimName':'%s'}}",
                       i > 0 ? "," : "", i, name);
    }
    strbuf_append_str(&before, STR("],'affinity':{'nodeAffinity':{"
                                   "'requiredDuringSchedulingIgnoredDuringExecution':{"
                                   "'nodeSelectorTerms':["));
    strbuf_append_char(&before, '\0');
    mutate_many_requirements(w, before.p, 64);
    strbuf_done(&before);
    assert_int_equal(w->outcome.result, FLUID_FAILED);
    assert_non_null(strstr(w->outcome.message, "RequireNodeWithFuse: it takes more than"));
    assert_in_range(w->outcome.steps, LIMIT_REVIEW_STEPS, LIMIT_REVIEW_STEPS + 4 * 1000);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(no_list_costs_more_than_its_length),
        TEST(many_values_in_many_terms_are_merged),
        TEST(too_much_is_left_alone),
    };
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}

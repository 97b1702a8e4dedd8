#include "data/fluid/profile.h"

#include "data/fluid/plugin.h"
#include "unit/data/fluid/world.h"

#include <errno.h>

static int parse(struct arena *arena, const char *yaml, struct fluid_profile *ret,
                 struct err *err) {
    *err = (struct err){0};
    return fluid_profile_parse(str_of(yaml), arena, ret, err);
}

/* "A B" for a chain. */
static const char *names(const struct fluid_chain *chain, char *ret, size_t size) {
    struct strbuf out = {0};
    for (uint32_t i = 0; i < chain->count; i++)
        strbuf_appendf(&out, "%s%s", i > 0 ? " " : "", chain->plugins[i]->name);
    assert_true(out.n < size);
    memcpy(ret, out.n > 0 ? out.p : "", out.n);
    ret[out.n] = '\0';
    strbuf_done(&out);
    return ret;
}

static void default_is_that_of_fluid(void **state) {
    (void)state;
    char text[512];
    struct world w;
    world_init(&w);
    const struct fluid_profile *p = &w.profile;
    assert_string_equal(names(&p->chains[FLUID_SERVERFUL][true], text, sizeof text),
                        "FilePrefetcher RequireNodeWithFuse NodeAffinityWithCache "
                        "MountPropagationInjector DatasetUsageInjector");
    assert_string_equal(names(&p->chains[FLUID_SERVERFUL][false], text, sizeof text),
                        "PreferNodesWithoutCache");
    assert_string_equal(names(&p->chains[FLUID_SERVERLESS][true], text, sizeof text),
                        "FilePrefetcher FuseSidecar DatasetUsageInjector");
    assert_int_equal(p->chains[FLUID_SERVERLESS][false].count, 0);
    assert_int_equal(p->tiers.preferred_count, 3);
    assert_string_equal(p->tiers.preferred[2].name, "topology.kubernetes.io/region");
    assert_int_equal(p->tiers.preferred[2].weight, 20);
    assert_int_equal(p->tiers.required_count, 1);
    assert_string_equal(p->tiers.required[0], "fluid.io/node");
    assert_int_equal(p->design_tiers.preferred_count, 1);
    assert_int_equal(p->design_tiers.preferred[0].weight, 100);
    world_done(&w);
}

static void reads_what_users_write(void **state) {
    (void)state;
    char text[512];
    struct arena arena;
    struct fluid_profile p;
    struct err err;
    arena_init(&arena, 1u << 20);
    int r =
        parse(&arena,
              "plugins:\n"
              "  serverful:\n"
              "    withDataset: [PreferNodesWithCache, RequireNodesWithFuse, ScaleInExclusion,\n"
              "      MountPropagationInjector, MountPropagationInjector]\n"
              "  serverless: {other: 1}\n"
              "  elsewhere: {}\n"
              "extra: [1, 2]\n"
              "pluginConfig:\n"
              "- {name: Unknown, args: 'x: ['}\n"
              "- {name: NodeAffinityWithCache, args: 'preferred: [{name: a, weight: 1}]'}\n"
              "- {name: NodeAffinityWithCache, args: '{preferred: [{name: b, weight: 2},"
              " {name: c}, {name: b, weight: -9, why: no}], required: ~}'}\n"
              "- {name: PreferNodesWithCache, args: ''}\n",
              &p, &err);
    if (r != 0)
        fail_msg("%s", err.text);
    assert_string_equal(names(&p.chains[FLUID_SERVERFUL][true], text, sizeof text),
                        "PreferNodesWithCache RequireNodesWithFuse ScaleInExclusion "
                        "MountPropagationInjector MountPropagationInjector");
    assert_int_equal(p.chains[FLUID_SERVERFUL][false].count, 0);
    assert_int_equal(p.tiers.preferred_count, 2);
    assert_string_equal(p.tiers.preferred[0].name, "b");
    assert_int_equal(p.tiers.preferred[0].weight, -9);
    assert_int_equal(p.tiers.preferred[1].weight, 0);
    assert_int_equal(p.tiers.required_count, 0);
    assert_int_equal(p.design_tiers.preferred_count, 0);
    assert_int_equal(parse(&arena, "", &p, &err), 0);
    assert_int_equal(p.tiers.preferred_count, 0);
    arena_done(&arena);
}

static void refuses_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"plugins: {serverful: {withDataset: [Nope]}}", "unknown plugin 'Nope'"},
        {"plugins: {serverful: {withDataset: Nope}}", "plugins.serverful.withDataset"},
        {"plugins: []", "profile.plugins"},
        {"plugins: [", "profile: line 2, column 1"},
        {"pluginConfig: [{name: NodeAffinityWithCache, args: {preferred: []}}]", "args"},
        {"pluginConfig: [{name: NodeAffinityWithCache, args: '[]'}]", "expected an object"},
        {"pluginConfig: [{name: NodeAffinityWithCache, args: 'preferred: [{name: a, weight: "
         "abc}]'}]",
         "pluginConfig: args.preferred"},
        {"pluginConfig: [{name: NodeAffinityWithCache, args: 'preferred: [{weight: 3000000000}]'}]",
         "weight"},
        {"pluginConfig: [{name: NodeAffinityWithCache, args: 'required: [{}]'}]", "args.required"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena arena;
        struct fluid_profile p = {.tiers.required_count = 77};
        struct err err;
        arena_init(&arena, 1u << 20);
        assert_int_equal(parse(&arena, cases[i].yaml, &p, &err), -EINVAL);
        assert_contains(err.text, cases[i].want);
        assert_int_equal(p.tiers.required_count, 77); /* untouched */
        arena_done(&arena);
    }
}

static void lists_have_limits(void **state) {
    (void)state;
    struct strbuf chain = {0}, tiers = {0};
    struct err err;
    struct arena arena;
    struct fluid_profile p;
    arena_init(&arena, 1u << 20);
    strbuf_appendf(&chain, "plugins: {serverful: {withDataset: [");
    strbuf_appendf(&tiers, "pluginConfig: [{name: NodeAffinityWithCache, args: 'required: [");
    for (int i = 0; i < 65; i++) {
        if (i <= FLUID_CHAIN_MAX)
            strbuf_appendf(&chain, "FuseSidecar,");
        strbuf_appendf(&tiers, "t%d,", i);
    }
    strbuf_appendf(&chain, "]}}%c", '\0');
    strbuf_appendf(&tiers, "]'}]%c", '\0');
    assert_int_equal(parse(&arena, chain.p, &p, &err), -EINVAL);
    assert_contains(err.text, "more than 32 plugins");
    assert_int_equal(parse(&arena, tiers.p, &p, &err), -EINVAL);
    assert_contains(err.text, "more than 64 tiers");
    strbuf_done(&chain);
    strbuf_done(&tiers);
    arena_done(&arena);
}

static void memory_can_run_out(void **state) {
    (void)state;
    int failures = 0;
    for (size_t max = 0; max < 200000; max += 2048) {
        struct arena arena;
        struct fluid_profile p;
        struct err err = {0};
        arena_init(&arena, max);
        int r = fluid_profile_default(&arena, &p, &err);
        assert_true(r == 0 || r == -ENOMEM);
        failures += r != 0;
        arena_done(&arena);
    }
    assert_true(failures > 0 && failures < 97);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_is_that_of_fluid), cmocka_unit_test(reads_what_users_write),
        cmocka_unit_test(refuses_what_is_wrong),    cmocka_unit_test(lists_have_limits),
        cmocka_unit_test(memory_can_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "conformance/scenario.h"

#include <stdio.h>

enum { NODES_MAX = 32, CONSTRAINTS_MAX = 8, SKEW_LIMIT = 100, SCENARIOS_MAX = 64 };

static struct str keep(struct cluster *c, struct strbuf *text) {
    struct str kept = arena_str(&c->arena, strbuf_str(text));
    strbuf_done(text);
    assert_false(arena_failed(&c->arena));
    return kept;
}

/* ---- verdicts ---- */

static uint32_t all_nodes(const struct cluster *c, struct str *names) {
    assert_true(c->node_count <= NODES_MAX);
    for (uint32_t i = 0; i < c->node_count; i++)
        names[i] = c->nodes[i].meta.name;
    return c->node_count;
}

struct str scenario_verdicts(struct cluster *c, const struct pod *pod) {
    static const char letters[] = "SUR";
    struct str names[NODES_MAX];
    struct candidates candidates = {names, all_nodes(c, names)};
    struct filter_result result;
    struct err err;
    struct strbuf text = {0};
    if (engine_filter(&c->options, c->cache, pod, &candidates, &c->arena, &result, &err) != 0)
        fail_msg("%s", err.text);
    if (result.skipped)
        return STR("Skip");
    for (uint32_t i = 0; i < candidates.count; i++)
        strbuf_append_char(&text, letters[result.verdicts[i]]);
    return keep(c, &text);
}

/* ---- scores ---- */

static void put_numbers(struct strbuf *text, const int64_t *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        strbuf_appendf(text, "%s%lld", i > 0 ? "," : "", (long long)numbers[i]);
}

struct str scenario_scores(struct cluster *c, const struct pod *pod, const char *candidates) {
    struct str names[NODES_MAX], rest = str_of(candidates);
    struct candidates asked = {names, 0};
    struct score_result result;
    struct err err;
    struct strbuf text = {0};
    while (next_word(&rest, " ", &names[asked.count])) {
        asked.count++;
        assert_true(asked.count < NODES_MAX);
    }
    if (engine_score(&c->options, c->cache, pod, &asked, &c->arena, &result, &err) != 0)
        fail_msg("%s", err.text);
    if (result.column_count == 0)
        return STR("Skip");
    assert_string_equal(result.columns[0].algorithm, "spread");
    put_numbers(&text, result.columns[0].normalized, asked.count);
    strbuf_append_str(&text, STR(" ["));
    put_numbers(&text, result.columns[0].raw, asked.count);
    strbuf_append_char(&text, ']');
    return keep(c, &text);
}

/* ---- tables ---- */

/* The pod's constraints (or the default ones), to be changed for one question after the other. */
struct probe {
    struct cluster *cluster;
    struct pod pod;
    struct engine_options options;
    struct spread_constraint constraints[CONSTRAINTS_MAX];
    uint32_t count;
};

static void probe_open(struct probe *p, struct cluster *c, const struct pod *pod) {
    const struct spread_constraint *from =
        pod->constraint_count > 0 ? pod->constraints : c->options.default_constraints;
    *p = (struct probe){.cluster = c, .pod = *pod, .options = c->options};
    p->count =
        pod->constraint_count > 0 ? pod->constraint_count : c->options.default_constraint_count;
    assert_true(p->count <= CONSTRAINTS_MAX);
    if (pod->constraint_count > 0)
        p->pod.constraints = p->constraints;
    else
        p->options.default_constraints = p->constraints;
    for (uint32_t i = 0; i < p->count; i++)
        p->constraints[i] = from[i];
}

static enum verdict ask(struct probe *p, struct str node, bool *ret_skipped) {
    struct arena arena;
    struct filter_result result;
    struct err err;
    arena_init(&arena, 16u << 20);
    int r = engine_filter(&p->options, p->cluster->cache, &p->pod, &(struct candidates){&node, 1},
                          &arena, &result, &err);
    if (r != 0)
        fail_msg("%s", err.text);
    enum verdict verdict = result.verdicts[0];
    *ret_skipped = result.skipped;
    arena_done(&arena);
    return verdict;
}

/* The least maxSkew with which constraint i lets the node pass, the others passing anyway. */
static int32_t skew_at(struct probe *p, uint32_t i, struct str node, int32_t min_domains) {
    struct spread_constraint kept[CONSTRAINTS_MAX];
    int32_t low = -SKEW_LIMIT, high = SKEW_LIMIT; /* fails with low, passes with high */
    bool skipped;
    memcpy(kept, p->constraints, sizeof kept);
    for (uint32_t j = 0; j < p->count; j++)
        p->constraints[j].max_skew = INT32_MAX;
    p->constraints[i].min_domains = min_domains;
    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        p->constraints[i].max_skew = middle;
        if (ask(p, node, &skipped) == VERDICT_PASS)
            high = middle;
        else
            low = middle;
    }
    memcpy(p->constraints, kept, sizeof kept);
    assert_true(low > -SKEW_LIMIT && high < SKEW_LIMIT);
    return high;
}

/* Has the node every hard key? */
static bool has_keys(const struct probe *p, const struct labels *labels) {
    struct str value;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->constraints[i].hard &&
            !labels_lookup(labels, p->constraints[i].topology_key, &value))
            return false;
    return true;
}

/* What constraint i says about its domains; `empty` is the same question without any pod, which
 * tells whether the incoming pod counts itself. */
static void put_table(struct strbuf *text, struct probe *p, struct probe *empty, uint32_t i) {
    const struct cluster *c = p->cluster;
    struct str seen[NODES_MAX];
    uint32_t seen_count = 0;
    int32_t min = 0;
    for (uint32_t n = 0; n < c->node_count; n++) {
        const struct object_meta *node = &c->nodes[n].meta;
        struct str value = {0};
        if (!has_keys(p, &node->labels) ||
            !labels_lookup(&node->labels, p->constraints[i].topology_key, &value))
            continue;
        uint32_t at = 0;
        while (at < seen_count && !str_eq(seen[at], value))
            at++;
        if (at < seen_count)
            continue;
        seen[seen_count++] = value;
        int32_t above_zero = skew_at(p, i, node->name, INT32_MAX);
        int32_t count = above_zero - skew_at(empty, i, node->name, INT32_MAX);
        bool domain = count != 0 || skew_at(p, i, node->name, 1) == above_zero;
        min = above_zero - skew_at(p, i, node->name, p->constraints[i].min_domains);
        strbuf_appendf(text, "%.*s:", STR_ARG(value));
        strbuf_appendf(text, domain ? "%d " : "- ", count);
    }
    strbuf_appendf(text, "min %d", min);
}

struct str scenario_tables(struct cluster *c, const struct pod *pod) {
    struct cluster nodes_only;
    struct probe p, empty;
    struct strbuf text = {0};
    bool skipped;
    probe_open(&p, c, pod);
    (void)ask(&p, c->nodes[0].meta.name, &skipped);
    if (skipped)
        return STR("Skip");
    cluster_copy(c, false, &nodes_only);
    probe_open(&empty, &nodes_only, pod);
    for (uint32_t i = 0; i < p.count; i++) {
        if (!p.constraints[i].hard)
            continue;
        if (text.n > 0)
            strbuf_append_str(&text, STR("; "));
        put_table(&text, &p, &empty, i);
    }
    cluster_close(&nodes_only);
    return keep(c, &text);
}

/* ---- a test per scenario ---- */

int scenario_run_all(const char *group, const void *scenarios, size_t count, size_t size,
                     CMUnitTestFunction run) {
    static struct CMUnitTest tests[SCENARIOS_MAX];
    assert_true(count <= SCENARIOS_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)scenarios + i * size;
        tests[i] = (struct CMUnitTest){.name = ((const struct scenario_name *)at)->name,
                                       .test_func = run,
                                       .initial_state = (void *)(uintptr_t)at};
    }
    return cluster_run_tests(group, tests, count);
}

/*
 * The recorded answers of Kubernetes' own PodTopologySpread plugin, case by case: every verdict,
 * raw score and normalised score must be equal. One JSON object a line: in.{Pod,Nodes,Pods,Cand} ->
 * out.{PreFilter,Filter,PreScore,Raw,Norm}. Filter covers all nodes of the case, the scores its
 * Cand. The plugin recorded is one for which the selector {} counts no pod.
 */
#include "base/file.h"
#include "engine/engine.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

static const char data_path[] = "tests/conformance/data/pod-topology-spread.jsonl";

struct vector {
    struct arena arena;
    struct cache *cache;
    struct pod pod;
    struct str nodes[64], cand[64];
    uint32_t node_count, cand_count;
    struct str verdicts, raw, norm; /* JSON objects by node name */
    struct str prefilter, prescore;
};

static void apply(struct vector *v, const struct object *object) {
    cache_write_begin(v->cache);
    assert_int_equal(cache_apply(v->cache, object), 0);
    cache_write_end(v->cache);
}

static void read_in(struct json_reader *r, struct vector *v) {
    struct str key;
    assert_true(json_object(r));
    while (json_member(r, &key)) {
        if (str_eq(key, STR("Pod")))
            pod_decode(r, POD_WHOLE, &v->pod);
        else if (json_array(r))
            while (json_element(r)) {
                struct object o = {.kind = OBJECT_NODE};
                if (str_eq(key, STR("Nodes"))) {
                    node_decode(r, &o.node);
                    v->nodes[v->node_count++] = o.meta.name;
                    apply(v, &o);
                } else if (str_eq(key, STR("Pods"))) {
                    o.kind = OBJECT_POD;
                    pod_decode(r, POD_RUNNING, &o.pod);
                    apply(v, &o);
                } else {
                    v->cand[v->cand_count++] = json_string(r);
                }
            }
    }
}

static void read_out(struct json_reader *r, struct vector *v) {
    struct str key;
    assert_true(json_object(r));
    while (json_member(r, &key)) {
        if (str_eq(key, STR("PreFilter")))
            v->prefilter = json_string(r);
        else if (str_eq(key, STR("PreScore")))
            v->prescore = json_string(r);
        else if (str_eq(key, STR("Filter")))
            v->verdicts = json_skip(r);
        else if (str_eq(key, STR("Raw")))
            v->raw = json_skip(r);
        else if (str_eq(key, STR("Norm")))
            v->norm = json_skip(r);
        else
            (void)json_skip(r);
    }
}

static void vector_read(struct str line, struct vector *v) {
    struct json_reader r;
    struct str key;
    struct err err;
    const struct cache_options limits = cluster_limits();
    *v = (struct vector){0};
    arena_init(&v->arena, 64 << 20);
    assert_int_equal(cache_new(&limits, &v->cache, NULL), 0);
    json_reader_init(&r, line, &v->arena, "vector");
    assert_true(json_object(&r));
    while (json_member(&r, &key)) {
        if (str_eq(key, STR("in")))
            read_in(&r, v);
        else if (str_eq(key, STR("out")))
            read_out(&r, v);
        else
            (void)json_skip(&r);
    }
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
}

static void vector_done(struct vector *v) {
    cache_free(v->cache);
    arena_done(&v->arena);
}

/* The member `name` of a recorded object: its string, or the text of its number. */
static struct str recorded(struct vector *v, struct str json, struct str name) {
    struct json_reader r;
    struct str key, found = {0};
    json_reader_init(&r, json, &v->arena, "recorded");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (!str_eq(key, name))
                (void)json_skip(&r);
            else
                found = json_peek(&r) == JSON_STRING ? json_string(&r) : json_number_text(&r);
        }
    return found;
}

static const struct engine_options options = {
    .system_defaults = true, .spread_weight = 1, .ordered_weight = 1};

static unsigned compare_filter(struct vector *v, unsigned line) {
    static const char letters[] = "SUR";
    struct filter_result result;
    struct err err;
    struct candidates all = {v->nodes, v->node_count};
    unsigned wrong = 0;
    if (engine_filter(&options, v->cache, &v->pod, &all, &v->arena, &result, &err) != 0)
        fail_msg("line %u: %s", line, err.text);
    if (result.skipped != str_eq(v->prefilter, STR("Skip"))) {
        wrong++;
        print_error("line %u: PreFilter recorded %.*s\n", line, STR_ARG(v->prefilter));
    }
    for (uint32_t i = 0; i < v->node_count && !result.skipped; i++) {
        struct str want = recorded(v, v->verdicts, v->nodes[i]);
        if (want.n == 1 && want.p[0] == letters[result.verdicts[i]])
            continue;
        wrong++;
        print_error("line %u: node %.*s: verdict %c, recorded %.*s\n", line, STR_ARG(v->nodes[i]),
                    letters[result.verdicts[i]], STR_ARG(want));
    }
    return wrong;
}

static unsigned compare_score(struct vector *v, unsigned line) {
    struct score_result result;
    struct err err;
    struct candidates cand = {v->cand, v->cand_count};
    unsigned wrong = 0;
    if (engine_score(&options, v->cache, &v->pod, &cand, &v->arena, &result, &err) != 0)
        fail_msg("line %u: %s", line, err.text);
    bool skipped = result.column_count == 0;
    /* with no candidates there is nothing to score, whatever PreScore said */
    if (v->cand_count > 0 && skipped != str_eq(v->prescore, STR("Skip"))) {
        wrong++;
        print_error("line %u: PreScore recorded %.*s\n", line, STR_ARG(v->prescore));
    }
    for (uint32_t i = 0; i < v->cand_count && !skipped; i++) {
        int64_t raw = -1, norm = -1;
        (void)str_to_i64(recorded(v, v->raw, v->cand[i]), &raw);
        (void)str_to_i64(recorded(v, v->norm, v->cand[i]), &norm);
        if (raw == result.columns[0].raw[i] && norm == result.columns[0].normalized[i])
            continue;
        wrong++;
        print_error("line %u: node %.*s: raw %lld norm %lld, recorded %lld %lld\n", line,
                    STR_ARG(v->cand[i]), (long long)result.columns[0].raw[i],
                    (long long)result.columns[0].normalized[i], (long long)raw, (long long)norm);
    }
    return wrong;
}

static void every_recorded_case_agrees(void **state) {
    (void)state;
    struct strbuf file = {0};
    struct err err;
    if (file_read(data_path, 64 << 20, &file, &err) != 0)
        fail_msg("%s", err.text);
    struct str rest = strbuf_str(&file);
    unsigned cases = 0, wrong = 0;
    while (rest.n > 0) {
        size_t end = str_find(rest, '\n');
        struct str line = {rest.p, end == SIZE_MAX ? rest.n : end};
        rest = (struct str){rest.p + line.n + 1, rest.n > line.n ? rest.n - line.n - 1 : 0};
        if (line.n == 0)
            continue;
        struct vector v;
        vector_read(line, &v);
        cases++;
        wrong += compare_filter(&v, cases) + compare_score(&v, cases);
        vector_done(&v);
    }
    strbuf_done(&file);
    assert_int_equal(cases, 200);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_recorded_case_agrees)};
    return CLUSTER_RUN_TESTS("pod topology spread", tests);
}

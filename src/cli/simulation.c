#include "cli/simulation.h"

#include "base/file.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/table.h"
#include "cli/scheduler_profile.h"
#include "daemon/source.h"
#include "volumes/store.h"
#include "yaml/yaml.h"

#include <errno.h>
#include <stdlib.h>

enum { WAIT_MS = 60000 }; /* for an API server to list everything */

static void source_cleanup(struct source **source) {
    source_free(*source);
}

/* ---- input ---- */

static int decode_pod(struct str json, struct arena *arena, struct pod *ret, struct err *err) {
    struct json_reader r;
    json_reader_init(&r, json, arena, "Pod");
    struct str kind = json_peek_member(&r, STR("kind"));
    struct str version = json_peek_member(&r, STR("apiVersion"));
    pod_decode(&r, POD_SCORED, ret);
    int failed = json_finish(&r, err);
    if (failed == 0 && !str_eq(kind, STR("Pod")))
        return err_set(err, -EINVAL, "kind is '%.*s'; expected one Pod", STR_ARG(kind));
    if (failed == 0 && object_kind_of(object_type_of(version, kind)) != OBJECT_POD)
        return err_set(err, -EINVAL, "apiVersion is '%.*s'; expected v1", STR_ARG(version));
    return failed;
}

int simulation_read_pod(const char *path, struct arena *arena, struct pod_file *ret_file,
                        struct pod *ret, struct err *err) {
    struct strbuf bytes = {0};
    struct yaml_json json;
    int r = file_read(path, LIMIT_CONFIG_BYTES, &bytes, err);
    if (r == 0) {
        r = yaml_to_json(strbuf_str(&bytes), false, arena, &json, err);
        if (r == 0 && json.document_count != 1)
            r = err_set(err, -EINVAL, "%zu documents; expected one Pod", json.document_count);
        if (r == 0)
            r = pod_file_read(json.documents[0], arena, ret_file, err);
        if (r == 0)
            r = decode_pod(ret_file->pod, arena, ret, err);
        if (r != 0)
            r = err_wrap(err, "pod file '%s'", path);
    }
    strbuf_done(&bytes);
    return r;
}

static int split_names(const char *list, struct arena *arena, struct candidates *ret,
                       struct err *err) {
    struct str rest = arena_str(arena, str_of(list));
    struct str *names = NULL;
    uint32_t count = 0, cap = 0;
    for (;;) {
        size_t comma = str_find(rest, ',');
        struct str name = str_trim((struct str){rest.p, comma == SIZE_MAX ? rest.n : comma});
        names = arena_push(arena, names, count, &cap, sizeof *names);
        if (names == NULL)
            return err_set(err, -ENOMEM, "no memory for the list of candidates");
        if (name.n > 0)
            names[count++] = name;
        if (comma == SIZE_MAX)
            break;
        rest = (struct str){rest.p + comma + 1, rest.n - comma - 1};
    }
    *ret = (struct candidates){names, count};
    return 0;
}

/* ---- running ---- */

/* What matches nothing would look like a policy that is not for the pod. */
static void warn_of_broken(struct policy_source *source) {
    uint32_t count;
    struct policies *held = policies_hold(source);
    const struct policy *items = policies_items(held, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!str_empty(items[i].problem))
            LOG_W("a policy cannot work", LOG_STR("policy", items[i].name),
                  LOG_STR("why", items[i].problem));
    policies_release(held);
}

int simulation_load_data(const struct configuration *c, struct simulation_data *ret,
                         struct err *err) {
    const struct fluid_source_options fluid = {.paths = c->state.paths,
                                               .path_count = c->state.path_count,
                                               .profile = c->webhook.fluid.profile,
                                               .compat = c->webhook.fluid.compat,
                                               .scale_in = c->webhook.fluid.scale_in,
                                               .plugin_budget_ms =
                                                   c->webhook.fluid.plugin_budget_ms};
    *ret = (struct simulation_data){.fluid = NULL};
    int r = policy_source_new(c->policies.paths, c->policies.path_count, &ret->policies, err);
    if (r == 0)
        r = policy_source_load(ret->policies, err);
    if (r == 0)
        warn_of_broken(ret->policies);
    if (r != 0 || fluid.path_count == 0)
        return r;
    r = fluid_source_new(&fluid, &ret->fluid, err);
    return r == 0 ? fluid_source_load(ret->fluid, err) : r;
}

void simulation_data_done(struct simulation_data *d) {
    fluid_source_free(d->fluid);
    policy_source_free(d->policies);
}

int simulation_load(const struct configuration *c, struct volume_store *volumes, struct cache **ret,
                    struct err *err) {
    CLEANUP(source_cleanup) struct source *source = NULL;
    struct cache *cache = NULL;
    int r = cache_new(&(struct cache_options){0}, &cache, err);
    if (r != 0)
        return r;
    r = source_new(c, cache, &source, err);
    if (r == 0 && volumes != NULL)
        source_follow(source, volume_store_follower(volumes));
    if (r == 0)
        r = source_start(source, err);
    if (r == 0)
        r = source_wait(source, WAIT_MS, err);
    if (r == 0)
        *ret = cache;
    else {
        source_free(source); /* before the cache that it writes to */
        source = NULL;
        cache_free(cache);
    }
    return r;
}

/* The controller of a workload's pod, which gives default constraints their selector. */
static int add_owner(struct cache *cache, const struct pod_file *file, struct arena *arena,
                     struct err *err) {
    struct object owner;
    struct str version, kind;
    struct json_reader r;
    if (file->owner.n == 0)
        return 0;
    json_reader_init(&r, file->owner, arena, "Workload");
    kind = json_peek_member(&r, STR("kind"));
    version = json_peek_member(&r, STR("apiVersion"));
    enum object_kind known = object_kind_of(object_type_of(version, kind));
    if (known == OBJECT_OTHER)
        return 0;
    int e = object_decode(file->owner, known, POD_SCORED, arena, &owner, err);
    cache_write_begin(cache);
    if (e == 0 && cache_apply(cache, &owner) != 0)
        e = err_set(err, -ENOMEM, "no memory for the workload");
    cache_write_end(cache);
    return e;
}

int simulation_open(const struct simulation_question *q, struct arena *arena,
                    struct simulation_setup *ret, struct err *err) {
    struct object incoming = {.kind = OBJECT_POD};
    struct pod_file file = {.pod = STR("{}")};
    *ret = (struct simulation_setup){.options = q->configuration->engine,
                                     .has_named = q->candidates != NULL};
    ret->options.filters = q->filters;
    ret->options.in_tree = true;
    int r = simulation_load(q->configuration, NULL, &ret->cache, err);
    if (r == 0 && q->pod_path != NULL)
        r = simulation_read_pod(q->pod_path, arena, &file, &incoming.pod, err);
    if (r == 0)
        r = add_owner(ret->cache, &file, arena, err);
    if (r == 0 && q->scheduler_path != NULL)
        r = scheduler_profile_read(q->scheduler_path, file.pod, arena, &ret->added, err);
    if (r == 0 && q->candidates != NULL)
        r = split_names(q->candidates, arena, &ret->named, err);
    if (r == 0)
        r = simulation_load_data(q->configuration, &ret->data, err);
    if (r != 0)
        return r;
    ret->scoring = (struct pod_scoring){
        .fluid = ret->data.fluid, .policies = ret->data.policies, .cache = ret->cache};
    ret->pod = incoming.pod;
    if (ret->added.required)
        ret->options.added_affinity = &ret->added;
    cache_write_begin(ret->cache);
    if (q->pod_path != NULL)
        cache_remove(ret->cache, &incoming); /* a pod that is asked about is no neighbour */
    cache_write_end(ret->cache);
    return 0;
}

void simulation_close(struct simulation_setup *s) {
    simulation_data_done(&s->data);
    cache_free(s->cache);
}

int simulation_run(const struct simulation_question *q, struct arena *arena, struct simulation *ret,
                   struct err *err) {
    CLEANUP(simulation_close) struct simulation_setup setup;
    struct engine_options options;
    int r = simulation_open(q, arena, &setup, err);
    options = setup.options;
    if (r == 0)
        r = pod_scoring_prepare(&setup.scoring, &setup.pod, arena, &options, err);
    return r != 0 ? r
                  : engine_simulate(&options, setup.cache, &setup.pod,
                                    setup.has_named ? &setup.named : NULL, arena, ret, err);
}

struct str simulation_reasons(const struct simulation *s, struct arena *arena) {
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    for (uint32_t reason = 1; reason < s->filter.reason_count; reason++) {
        uint32_t nodes = 0;
        for (uint32_t i = 0; i < s->filtered.count; i++)
            nodes += s->filter.reasons[i] == reason;
        if (nodes > 0)
            strbuf_appendf(&text, "%s%u node%s: %s: %.*s", text.n > 0 ? "; " : "", nodes,
                           nodes == 1 ? "" : "s", s->filter.reason_filters[reason],
                           STR_ARG(s->filter.reason_texts[reason]));
    }
    if (text.n == 0)
        strbuf_append_str(&text, STR("there are no nodes"));
    struct str kept = arena_str(arena, strbuf_str(&text));
    strbuf_done(&text);
    return kept;
}

const char simulation_unconstrained[] =
    "no spread constraint applies: the pod has none, and none comes by default; those that a\n"
    "TopologyPolicy gives it on its creation are shown by --admit\n";

bool simulation_is_constrained(const struct simulation *s) {
    return s->filter.applied_count > 0 || s->score.applied_count > 0;
}

uint32_t simulation_best(const struct simulation *s) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0, scored = 0; i < s->filtered.count; i++) {
        bool passed = s->filter.verdicts[i] == VERDICT_PASS;
        bool same = s->scored.names == s->filtered.names;
        if (passed &&
            (best == UINT32_MAX || s->score.totals[same ? i : scored] > s->score.totals[best]))
            best = same ? i : scored;
        scored += passed;
    }
    return best;
}

/* ---- printing ---- */

static const char *const verdict_names[] = {"Pass", "Unschedulable",
                                            "UnschedulableAndUnresolvable"};

static void put_scores(struct json_writer *w, const struct score_column *column, uint32_t i) {
    json_key(w, STR("raw"));
    json_put_integer(w, column->raw[i]);
    json_key(w, STR("normalized"));
    json_put_integer(w, column->normalized[i]);
}

/* Those of kube-scheduler's own plugins, by plugin, and the sum of all by their weights. */
static void put_in_tree(struct json_writer *w, const struct score_result *score, uint32_t i) {
    json_key(w, STR("inTree"));
    json_begin_object(w);
    for (uint32_t p = 0; p < score->in_tree_count; p++) {
        json_key(w, str_of(score->in_tree[p].plugin));
        json_put_integer(w, score->in_tree[p].scores[i]);
    }
    json_end_object(w);
    json_key(w, STR("total"));
    json_put_integer(w, score->totals[i]);
}

/* What a row says that was refused, and by which filter. */
static void put_verdict(struct json_writer *w, const struct filter_result *filter, uint32_t i) {
    uint8_t reason = filter->reasons[i];
    json_begin_object(w);
    json_put_member(w, STR("verdict"), str_of(verdict_names[filter->verdicts[i]]));
    json_put_member(w, STR("filter"), str_of(filter->reason_filters[reason]));
    json_put_member(w, STR("reason"), filter->reason_texts[reason]);
    json_end_object(w);
}

static void put_not_judged(struct json_writer *w, uint32_t filters, uint32_t unknown) {
    char bytes[512]; /* names of filters fit */
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    engine_put_not_judged(filters, unknown, &text);
    json_put_member(w, STR("notJudged"), strbuf_str(&text));
}

static void put_node_scores(struct json_writer *w, const struct simulation *s, uint32_t i) {
    json_key(w, s->scored.names[i]);
    json_begin_object(w);
    if (s->score.column_count > 0) {
        put_scores(w, &s->score.columns[0], i);
        json_key(w, STR("priority"));
        json_put_integer(w, s->score.priorities[i]);
    }
    for (uint32_t c = 1; c < s->score.column_count; c++) {
        bool ordered = strcmp(s->score.columns[c].algorithm, "ordered_spread") == 0;
        json_key(w, ordered ? STR("orderedSpread") : str_of(s->score.columns[c].algorithm));
        json_begin_object(w);
        put_scores(w, &s->score.columns[c], i);
        json_end_object(w);
    }
    put_in_tree(w, &s->score, i);
    json_end_object(w);
}

void simulation_print_json(const struct simulation_question *q, const struct simulation *s,
                           struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("filter"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < s->filtered.count; i++) {
        json_key(&w, s->filtered.names[i]);
        put_verdict(&w, &s->filter, i);
    }
    json_end_object(&w);
    json_key(&w, STR("score"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < s->scored.count; i++)
        put_node_scores(&w, s, i);
    json_end_object(&w);
    put_not_judged(&w, q->filters, s->filter.unknown);
    json_end_object(&w);
    strbuf_append_char(out, '\n');
}

/* One line of the table: a node and, if it was scored, where. */
struct line {
    uint32_t filtered, scored; /* scored: UINT32_MAX if it was not */
};

static int64_t rank(const struct simulation *s, const struct line *line) {
    if (s->filter.verdicts[line->filtered] != VERDICT_PASS)
        return -1 - s->filter.verdicts[line->filtered];
    return line->scored == UINT32_MAX ? 0 : s->score.totals[line->scored];
}

static int compare_lines(const void *a, const void *b, void *ctx) {
    const struct simulation *s = ctx;
    const struct line *x = a, *y = b;
    int64_t left = rank(s, x), right = rank(s, y);
    if (left != right)
        return left > right ? -1 : 1;
    return (x->filtered > y->filtered) - (x->filtered < y->filtered);
}

static void put_line(struct table *t, const struct simulation *s, const struct line *line) {
    bool scored = line->scored != UINT32_MAX && s->score.column_count > 0;
    table_cell(t, s->filtered.names[line->filtered]);
    table_cell(t, str_of(verdict_names[s->filter.verdicts[line->filtered]]));
    if (scored) {
        table_number(t, s->score.priorities[line->scored]);
        table_number(t, s->score.columns[0].normalized[line->scored]);
        table_number(t, s->score.columns[0].raw[line->scored]);
    } else {
        for (int i = 0; i < 3; i++)
            table_cell(t, STR("-"));
    }
    if (line->scored != UINT32_MAX)
        table_number(t, s->score.totals[line->scored]);
    else
        table_cell(t, STR("-"));
    table_cell(t, s->filter.reason_texts[s->filter.reasons[line->filtered]]);
}

bool simulation_print_table(const struct simulation_question *q, const struct simulation *s,
                            struct arena *arena, struct strbuf *out) {
    static const char *const headings[] = {"NODE", "VERDICT", "PRIORITY", "NORMALIZED",
                                           "RAW",  "TOTAL",   "REASON"};
    struct line *lines = arena_array(arena, s->filtered.count, sizeof *lines);
    struct table t;
    if (lines == NULL)
        return false;
    bool same = s->scored.names == s->filtered.names; /* otherwise: those that passed, in order */
    for (uint32_t i = 0, next = 0; i < s->filtered.count; i++) {
        bool scored = same || s->filter.verdicts[i] == VERDICT_PASS;
        lines[i] = (struct line){i, scored ? next++ : UINT32_MAX};
    }
    struct simulation copy = *s;
    qsort_r(lines, s->filtered.count, sizeof *lines, compare_lines, &copy);
    table_init(&t, headings, sizeof headings / sizeof headings[0], arena);
    t.right_aligned = 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5;
    for (uint32_t i = 0; i < s->filtered.count; i++)
        put_line(&t, s, &lines[i]);
    bool good = table_render(&t, out);
    strbuf_append_str(out, STR("not judged: "));
    engine_put_not_judged(q->filters, s->filter.unknown, out);
    strbuf_append_char(out, '\n');
    if (s->scored.count > 0 && !simulation_is_constrained(s))
        strbuf_append_str(out, str_of(simulation_unconstrained));
    return good;
}

#include "cache/neighbours.h"
#include "engine/algorithm.h"
#include "engine/choice.h"
#include "engine/claims.h"
#include "engine/in_tree.h"
#include "engine/pod_affinity.h"
#include "engine/priority.h"
#include "engine/spread.h"

#include <errno.h>
#include <stdlib.h>

const char *const verdict_names[] = {[VERDICT_PASS] = "Pass",
                                     [VERDICT_UNSCHEDULABLE] = "Unschedulable",
                                     [VERDICT_UNRESOLVABLE] = "UnschedulableAndUnresolvable"};

static const struct algorithm *const scorers[ENGINE_ALGORITHMS] = {
    &spread_algorithm, &ordered_spread_algorithm, &locality_algorithm};

/* The filters, in the order of kube-scheduler's default plugins; ours are last. upstream:
 * pkg/scheduler/apis/config/v1/default_plugins.go */
static const struct {
    uint32_t bit;
    const struct algorithm *algorithm;
} filters[] = {
    {FILTER_NODE_UNSCHEDULABLE, &node_unschedulable_algorithm},
    {FILTER_NODE_NAME, &node_name_algorithm},
    {FILTER_TAINT_TOLERATION, &taint_algorithm},
    {FILTER_NODE_AFFINITY, &affinity_algorithm},
    {FILTER_NODE_PORTS, &ports_algorithm},
    {FILTER_NODE_RESOURCES_FIT, &fit_algorithm},
    {FILTER_VOLUME_BINDING, &volume_binding_algorithm},
    {FILTER_VOLUME_ZONE, &volume_zone_algorithm},
    {FILTER_POD_TOPOLOGY_SPREAD, &spread_algorithm},
    {FILTER_INTER_POD_AFFINITY, &pod_affinity_algorithm},
    {FILTER_ORDERED_SPREAD, &ordered_spread_algorithm},
};
enum { FILTERS_OF_VOLUMES = FILTER_VOLUME_BINDING | FILTER_VOLUME_ZONE };
enum { SCORERS = ENGINE_ALGORITHMS, FILTERS = sizeof filters / sizeof filters[0], KEY_SHOWN = 250 };

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory to judge the pod");
}

/* Returns the first KEY_SHOWN bytes of a key at most, without a part of a character: reasons become
 * JSON. */
static struct str shown(struct str key) {
    size_t n = key.n;
    if (n > KEY_SHOWN)
        for (n = KEY_SHOWN; n > 0 && ((unsigned char)key.p[n] & 0xc0) == 0x80; n--)
            continue;
    return (struct str){key.p, n};
}

uint8_t reason_add(struct evaluation *e, const char *before, struct str key, const char *after) {
    char bytes[1024];
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    strbuf_appendf(&text, "%s%.*s%s", before, STR_ARG(shown(key)), after);
    struct str kept = arena_str(e->arena, strbuf_str(&text));
    if (e->reason_count >= REASON_REST) {
        kept = STR("one of the pod's constraints beyond those that can be named");
        e->reason_count = REASON_REST;
    }
    e->reasons[e->reason_count] = kept;
    e->reason_filters[e->reason_count] = e->running == NULL ? "" : e->running->plugin;
    return (uint8_t)e->reason_count++;
}

struct applied_constraint *applied_add(struct evaluation *e,
                                       const struct spread_constraint *constraint,
                                       enum constraint_origin origin) {
    struct applied_constraint *grown =
        arena_push(e->arena, e->applied, e->applied_count, &e->applied_cap, sizeof *grown);
    if (grown == NULL)
        return NULL;
    e->applied = grown;
    struct applied_constraint *added = &e->applied[e->applied_count++];
    *added = (struct applied_constraint){.constraint = constraint, .origin = origin};
    return added;
}

/* ---- one evaluation: a view, and the candidates' slots in it ---- */

static int evaluation_open(struct evaluation *e, const struct candidates *candidates,
                           struct err *err) {
    uint32_t *slots = arena_array_unset(e->arena, candidates->count, sizeof *slots);
    e->reasons = arena_array(e->arena, REASONS_MAX, sizeof *e->reasons);
    e->reason_filters = arena_array(e->arena, REASONS_MAX, sizeof *e->reason_filters);
    if (slots == NULL || e->reasons == NULL || e->reason_filters == NULL)
        return out_of_memory(err);
    e->reason_filters[0] = "";
    topology_find_all(&e->view->nodes, candidates->names, candidates->count, slots);
    e->slots = slots;
    e->count = candidates->count;
    e->reason_count = 1;
    (void)reason_add(e, "node is not in the cache yet", STR(""), "");
    return 0;
}

/* The kind of the pod's own constraints to compile. */
enum wanted_constraints { WANT_NONE, WANT_HARD, WANT_SOFT };

static int prepare(struct evaluation *e, enum wanted_constraints wanted) {
    if (feasibility_question_init(&e->feasibility, &e->pod->affinity, e->pod->tolerations) != 0)
        return -ENOMEM;
    if ((e->filters & FILTER_NODE_AFFINITY) != 0 && e->options->added_affinity != NULL &&
        e->options->added_affinity->required &&
        feasibility_question_init(&e->added, e->options->added_affinity, (struct tolerations){0}) !=
            0)
        return -ENOMEM;
    if ((e->filters & FILTER_INTER_POD_AFFINITY) != 0 && pod_affinity_prepare(e) != 0)
        return -ENOMEM;
    if ((e->filters & FILTERS_OF_VOLUMES) != 0 && claims_prepare(e) != 0)
        return -ENOMEM;
    if (e->in_tree && in_tree_prepare(e) != 0)
        return -ENOMEM;
    if (wanted == WANT_NONE || e->pod->constraint_count == 0)
        return 0;
    e->own = arena_array(e->arena, e->pod->constraint_count, sizeof *e->own);
    if (e->own == NULL)
        return -ENOMEM;
    e->own_failed = constraints_compile(e, wanted == WANT_HARD);
    return e->own_failed == -ENOMEM ? -ENOMEM : 0;
}

/* The common part of the engine's three calls: runs `work` under a view. */
typedef int work_fn(struct evaluation *e, void *result, struct err *err);

static int evaluate(struct evaluation *e, struct cache *cache, const struct candidates *candidates,
                    work_fn *work, void *result, struct err *err) {
    struct steps steps = {.used = 0};
    struct cache_view view;
    cache_view_open(cache, &view);
    steps.max = e->options->max_steps != 0
                    ? e->options->max_steps
                    : LIMIT_ENGINE_STEPS +
                          (uint64_t)LIMIT_ENGINE_STEPS_A_NODE * topology_slots(view.nodes.topology);
    view.nodes.steps = &steps;
    view.nodes.asker = hash_str(e->pod->meta.namespace);
    e->steps = &steps;
    e->view = &view;
    int r = evaluation_open(e, candidates, err);
    if (r == 0)
        r = work(e, result, err);
    cache_view_close(&view);
    e->steps = NULL; /* steps and view end with this function */
    e->view = NULL;
    if (r == -E2BIG)
        return err_set(err, -E2BIG, "the pod takes more than %llu steps to evaluate",
                       (unsigned long long)steps.max);
    if (r == -ENODATA)
        return err_set(err, -ENODATA, "%s", CACHE_LABELS_NOT_KEPT);
    return r;
}

static int run(struct evaluation *e, enum wanted_constraints wanted, struct cache *cache,
               const struct candidates *candidates, work_fn *work, void *result, struct err *err) {
    int r = prepare(e, wanted);
    if (r == 0)
        r = evaluate(e, cache, candidates, work, result, err);
    if (r == -ENOMEM || (r == 0 && arena_failed(e->arena)))
        return out_of_memory(err);
    return r;
}

/* ---- the filters that apply to the pod ---- */

struct speakers {
    const struct algorithm *algorithms[FILTERS];
    void *states[FILTERS];
    uint64_t node_steps[FILTERS], pod_steps[FILTERS];
    uint32_t applied[FILTERS], applied_count[FILTERS]; /* first constraint, and their number */
    uint32_t count;
};

uint32_t engine_filters_named(struct str name) {
    for (size_t i = 0; i < FILTERS; i++)
        if (str_eq(name, str_of(filters[i].algorithm->plugin)))
            return filters[i].bit == FILTER_POD_TOPOLOGY_SPREAD ? (uint32_t)FILTERS_OF_EXTENDER
                                                                : filters[i].bit;
    return 0;
}

bool filter_is_of_volumes(const char *name) {
    return (engine_filters_named(str_of(name)) & FILTERS_OF_VOLUMES) != 0;
}

void engine_filters_put(uint32_t wanted, const char *between, struct strbuf *out) {
    const char *before = "";
    for (size_t i = 0; i < FILTERS; i++)
        if ((wanted & filters[i].bit) != 0 && filters[i].bit != FILTER_ORDERED_SPREAD) {
            strbuf_appendf(out, "%s%s", before, filters[i].algorithm->plugin);
            before = between;
        }
}

void engine_put_not_judged(uint32_t wanted, const struct filter_unknown *unknown,
                           struct strbuf *out) {
    size_t before = out->n;
    engine_filters_put(FILTERS_ALL & ~wanted, ", ", out);
    if (unknown->claims != NULL)
        strbuf_appendf(out, "%sthe pod's claims (%s)", out->n > before ? ", " : "",
                       unknown->claims);
    strbuf_appendf(out, "%slimits and capacity of volumes, devices", out->n > before ? ", " : "");
    if (unknown->terms > 0)
        strbuf_appendf(out, ", anti-affinity of %u pods (too long)", unknown->terms);
    if (unknown->resources)
        strbuf_append_str(out,
                          STR(", NodeResourcesFit (no node reports its allocatable resources)"));
    if (unknown->configuration.n > 0)
        strbuf_appendf(out, ", %.*s", STR_ARG(unknown->configuration));
}

/* Removes the pod itself, which may be counted on its previous node: it is not one of the other
 * pods. */
static void forget_own_place(const struct evaluation *e, const struct algorithm *algorithm,
                             void *state) {
    struct cache_pod own;
    if (algorithm->remove_pod != NULL && cache_pod_find(e->view, &e->pod->meta, &own) &&
        own.reserved)
        algorithm->remove_pod(e, state, &own);
}

static uint32_t filters_of(const struct engine_options *options) {
    return options->filters != 0 ? options->filters : FILTERS_OF_EXTENDER;
}

static enum wanted_constraints constraints_of_filter(uint32_t wanted) {
    return (wanted & FILTER_POD_TOPOLOGY_SPREAD) != 0 ? WANT_HARD : WANT_NONE;
}

static int prefilter(struct evaluation *e, struct speakers *ret, struct err *err) {
    ret->count = 0;
    for (size_t i = 0; i < FILTERS; i++) {
        if ((e->filters & filters[i].bit) == 0)
            continue;
        e->running = filters[i].algorithm;
        e->node_steps = e->pod_steps = 1;
        uint32_t applied = e->applied_count;
        int r = e->running->prefilter(e, &ret->states[ret->count], err);
        if (r == ALGORITHM_SKIP)
            continue;
        if (r != 0)
            return r;
        forget_own_place(e, e->running, ret->states[ret->count]);
        ret->node_steps[ret->count] = e->node_steps;
        ret->pod_steps[ret->count] = e->pod_steps;
        ret->applied[ret->count] = applied;
        ret->applied_count[ret->count] = e->applied_count - applied;
        ret->algorithms[ret->count++] = e->running;
    }
    return 0;
}

/* ---- filter ---- */

typedef struct filter_status judge_fn(const struct evaluation *e, void *state, uint32_t slot);

/* Judges the candidates that have passed so far. */
static void judge_all(struct evaluation *e, judge_fn *judge, void *state,
                      struct filter_result *out) {
    for (uint32_t i = 0; i < e->count; i++) {
        if (out->verdicts[i] != VERDICT_PASS)
            continue;
        struct filter_status j = {VERDICT_UNSCHEDULABLE, REASON_UNKNOWN_NODE};
        if (e->slots[i] != TOPOLOGY_NONE)
            j = judge(e, state, e->slots[i]);
        out->verdicts[i] = (uint8_t)j.verdict;
        out->reasons[i] = j.reason;
    }
}

static void refuse_unknown(const struct evaluation *e, struct filter_result *out) {
    for (uint32_t i = 0; i < e->count; i++)
        if (e->slots[i] == TOPOLOGY_NONE && out->verdicts[i] == VERDICT_PASS) {
            out->verdicts[i] = VERDICT_UNSCHEDULABLE;
            out->reasons[i] = REASON_UNKNOWN_NODE;
        }
}

static int report_domains(struct evaluation *e, const struct speakers *speakers,
                          const struct filter_result *judged) {
    int r = 0;
    for (uint32_t a = 0; r == 0 && a < speakers->count; a++)
        if (speakers->algorithms[a]->domains != NULL)
            r = domains_report(e, speakers->algorithms[a], speakers->states[a], judged,
                               e->applied + speakers->applied[a], speakers->applied_count[a]);
    return r;
}

/* Refuses every node, for the reason of a prefilter. */
static struct filter_status reject(const struct evaluation *e, void *state, uint32_t slot) {
    (void)state;
    (void)slot;
    return (struct filter_status){VERDICT_UNRESOLVABLE, e->rejected};
}

static int filter_work(struct evaluation *e, void *result, struct err *err) {
    struct filter_result *out = result;
    struct speakers speakers;
    out->verdicts = arena_array(e->arena, e->count, 1);
    out->reasons = arena_array(e->arena, e->count, 1);
    if (out->verdicts == NULL || out->reasons == NULL)
        return -ENOMEM;
    int r = prefilter(e, &speakers, err);
    if (r != 0)
        return r;
    if (e->rejected != 0)
        judge_all(e, reject, NULL, out);
    for (uint32_t a = 0; a < speakers.count; a++)
        if (speakers.algorithms[a]->preselect != NULL)
            judge_all(e, speakers.algorithms[a]->preselect, speakers.states[a], out);
    for (uint32_t a = 0; r == 0 && a < speakers.count; a++) {
        e->running = speakers.algorithms[a];
        r = evaluation_take(e, e->count * speakers.node_steps[a]);
        if (r == 0 && e->running->filter_all != NULL) {
            refuse_unknown(e, out);
            e->running->filter_all(e, speakers.states[a], out->verdicts, out->reasons);
        } else if (r == 0) {
            judge_all(e, e->running->filter, speakers.states[a], out);
        }
    }
    if (r != 0)
        return r;
    out->skipped = speakers.count == 0;
    out->unknown = (struct filter_unknown){
        .terms = (e->filters & FILTER_INTER_POD_AFFINITY) != 0 ? cache_terms_unknown(e->view) : 0,
        .resources = (e->filters & FILTER_NODE_RESOURCES_FIT) != 0 && !resources_are_known(e),
        .claims = claims_unknown(e)};
    if ((e->filters & FILTERS_OF_VOLUMES) != 0 && e->claims.unjudged == NULL)
        out->claims = e->options->claims;
    out->reason_texts = e->reasons;
    out->reason_filters = e->reason_filters;
    out->reason_count = e->reason_count;
    out->applied = e->applied;
    out->applied_count = e->applied_count;
    out->known = topology_stats(e->view->nodes.topology).candidates;
    return e->options->reports ? report_domains(e, &speakers, out) : 0;
}

int engine_filter(const struct engine_options *options, struct cache *cache, const struct pod *pod,
                  const struct candidates *candidates, struct arena *arena,
                  struct filter_result *ret, struct err *err) {
    struct evaluation question = {
        .options = options, .pod = pod, .filters = filters_of(options), .arena = arena};
    return run(&question, constraints_of_filter(question.filters), cache, candidates, filter_work,
               ret, err);
}

/* ---- score ---- */

bool engine_weighs(const struct engine_options *options) {
    for (size_t a = 0; a < SCORERS; a++)
        if (scorers[a]->weight(options) > 0)
            return true;
    return false;
}

/*
 * Turns the sums into priorities. Chosen nodes get the highest, all others at most half of it: if
 * the others had only one step less, NodeResourcesFit and similar plugins would often send the pod
 * elsewhere, and the pod would count in the wrong place.
 */
static int prioritize(struct evaluation *e, const int64_t *sums, int64_t scale,
                      struct score_result *out) {
    uint32_t most = e->options->max_priority > 0 ? e->options->max_priority : ENGINE_MAX_PRIORITY;
    if (!e->options->choose) {
        priorities_of(sums, e->count, scale, (int32_t)most, out->priorities);
        return 0;
    }
    bool *chosen = arena_array(e->arena, e->count, sizeof *chosen);
    if (chosen == NULL)
        return -ENOMEM;
    int r = choose(e, sums, chosen, &out->chosen);
    if (r != 0)
        return r;
    uint32_t steps = out->chosen.count > 0 ? most / 2 : most;
    priorities_of(sums, e->count, scale, (int32_t)steps, out->priorities);
    for (uint32_t i = 0; i < e->count; i++) {
        out->preferred += chosen[i];
        if (chosen[i])
            out->priorities[i] = (int32_t)most;
    }
    return 0;
}

/* Combines the scores of the algorithms that did not skip into priorities. Returns 0 or -errno. */
static int combine(struct evaluation *e, struct score_result *out, const uint32_t *weights) {
    int64_t *sums = arena_array(e->arena, e->count, sizeof *sums), scale = 0;
    if (sums == NULL)
        return -ENOMEM;
    for (uint32_t a = 0; a < out->column_count; a++) {
        scale += (int64_t)weights[a] * ENGINE_MAX_NORMALIZED;
        for (uint32_t i = 0; i < e->count; i++)
            sums[i] += weights[a] * out->columns[a].normalized[i];
    }
    if (scale == 0)
        return 0;
    return prioritize(e, sums, scale, out);
}

/* Does this algorithm score the pod? */
static bool is_scored(const struct evaluation *e, const struct algorithm *algorithm) {
    bool replaced = algorithm == &spread_algorithm && e->rule != NULL && e->rule->all_keys;
    return !replaced && algorithm->weight(e->options) > 0;
}

static int score_work(struct evaluation *e, void *result, struct err *err) {
    struct score_result *out = result;
    uint32_t weights[SCORERS];
    *out = (struct score_result){.priorities =
                                     arena_array(e->arena, e->count, sizeof *out->priorities)};
    if (out->priorities == NULL)
        return -ENOMEM;
    int r = ordered_rule_of_scores(e);
    for (size_t a = 0; r == 0 && a < SCORERS; a++) {
        struct score_column *column = &out->columns[out->column_count];
        if (!is_scored(e, scorers[a]))
            continue;
        *column = (struct score_column){
            .algorithm = scorers[a]->name,
            .raw = arena_array(e->arena, e->count, sizeof *column->raw),
            .normalized = arena_array(e->arena, e->count, sizeof *column->normalized),
        };
        if (column->raw == NULL || column->normalized == NULL)
            return -ENOMEM;
        r = scorers[a]->score(e, column->raw, column->normalized, err);
        if (r == 0)
            weights[out->column_count++] = scorers[a]->weight(e->options);
        else if (r == ALGORITHM_SKIP)
            r = 0;
    }
    if (r != 0)
        return r;
    out->applied = e->applied;
    out->applied_count = e->applied_count;
    out->datasets = e->datasets;
    out->dataset_count = e->dataset_count;
    r = combine(e, out, weights);
    return r == 0 && e->in_tree ? in_tree_score(e, out, err) : r;
}

int engine_score(const struct engine_options *options, struct cache *cache, const struct pod *pod,
                 const struct candidates *candidates, struct arena *arena, struct score_result *ret,
                 struct err *err) {
    struct evaluation question = {
        .options = options, .pod = pod, .in_tree = options->in_tree, .arena = arena};
    bool spread =
        (spread_algorithm.weight(options) > 0 || options->in_tree) && candidates->count > 0;
    return run(&question, spread ? WANT_SOFT : WANT_NONE, cache, candidates, score_work, ret, err);
}

/* ---- preempt ---- */

struct preempt_work {
    const struct preemption *preemptions;
    bool *fits;
};

static int compare_ids(const void *a, const void *b) {
    const struct cache_pod *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Returns the victims on this node that the cache knows, each once; the others change no count. */
static uint32_t known_victims(const struct evaluation *e, const struct preemption *p, uint32_t slot,
                              struct cache_pod *out) {
    uint32_t count = 0, unique = 0;
    for (uint32_t i = 0; i < p->victim_count; i++)
        if (cache_pod_find(e->view, &p->victims[i], &out[count]) && out[count].slot == slot)
            count++;
    qsort(out, count, sizeof *out, compare_ids);
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || out[unique - 1].id != out[i].id)
            out[unique++] = out[i];
    return unique;
}

static bool fits_without(const struct evaluation *e, const struct algorithm *algorithm, void *state,
                         uint32_t slot, const struct cache_pod *victims, uint32_t count) {
    for (uint32_t i = 0; algorithm->remove_pod != NULL && i < count; i++)
        algorithm->remove_pod(e, state, &victims[i]);
    bool fits = algorithm->filter(e, state, slot).verdict == VERDICT_PASS;
    for (uint32_t i = 0; algorithm->remove_pod != NULL && i < count; i++)
        algorithm->restore_pod(e, state, &victims[i]);
    return fits && (algorithm->preselect == NULL ||
                    algorithm->preselect(e, state, slot).verdict == VERDICT_PASS);
}

/* Would the pod fit on the node after one preemption? Returns 0, -E2BIG or -ENOMEM. */
static int preempt_one(struct evaluation *e, const struct speakers *speakers,
                       const struct preemption *p, uint32_t slot, bool *ret_fits) {
    uint64_t steps = 1 + p->victim_count;
    for (uint32_t a = 0; a < speakers->count; a++)
        steps += speakers->node_steps[a] + p->victim_count * speakers->pod_steps[a];
    if (evaluation_take(e, steps) != 0)
        return -E2BIG;
    struct cache_pod *victims = arena_array(e->arena, p->victim_count, sizeof *victims);
    if (victims == NULL)
        return -ENOMEM;
    uint32_t n = known_victims(e, p, slot, victims);
    *ret_fits = speakers->count == 0 || slot != TOPOLOGY_NONE;
    for (uint32_t a = 0; *ret_fits && a < speakers->count; a++) {
        e->running = speakers->algorithms[a];
        *ret_fits = fits_without(e, e->running, speakers->states[a], slot, victims, n);
    }
    return 0;
}

static int preempt_run(struct evaluation *e, void *result, struct err *err) {
    struct preempt_work *work = result;
    struct speakers speakers;
    int r = prefilter(e, &speakers, err);
    for (uint32_t i = 0; r == 0 && i < e->count; i++)
        r = preempt_one(e, &speakers, &work->preemptions[i], e->slots[i], &work->fits[i]);
    return r;
}

int engine_preempt(const struct engine_options *options, struct cache *cache, const struct pod *pod,
                   const struct preemption *preemptions, uint32_t count, struct arena *arena,
                   bool **ret_fits, struct err *err) {
    struct evaluation question = {
        .options = options, .pod = pod, .filters = filters_of(options), .arena = arena};
    struct preempt_work work = {preemptions, arena_array(arena, count, sizeof(bool))};
    struct str *names = arena_array(arena, count, sizeof *names);
    if (work.fits == NULL || names == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < count; i++)
        names[i] = preemptions[i].node;
    struct candidates candidates = {names, count};
    int r = run(&question, constraints_of_filter(question.filters), cache, &candidates, preempt_run,
                &work, err);
    if (r == 0)
        *ret_fits = work.fits;
    return r;
}

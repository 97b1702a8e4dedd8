#include "data/fluid/mutate.h"

#include "base/limits.h"
#include "data/fluid/affinity.h"
#include "model/fluid.h"

#include <errno.h>

enum choice { CHOICE_NONE, CHOICE_POLICY, CHOICE_SERVERFUL, CHOICE_SERVERLESS };

static bool is_true(const struct labels *labels, const char *key) {
    return str_eq(fluid_value(labels, key), STR("true"));
}

/* ---- is the pod one of Fluid's? ---- */

/* Does the pod's label, or without it the namespace's label, opt in as in the original design? */
static bool opted_in(const struct fluid_question *q) {
    struct str own = fluid_value(&q->pod->meta.labels, FLUID_LABEL_OPT_IN);
    if (str_empty(own) && q->namespace_labels != NULL)
        own = fluid_value(q->namespace_labels, FLUID_LABEL_OPT_IN);
    return str_eq(own, STR("enabled"));
}

static enum choice choose(const struct fluid_options *o, const struct fluid_question *q) {
    const struct labels *labels = &q->pod->meta.labels;
    const char *platform = o->serverless_platform_key;
    struct str any;
    if (is_true(labels, FLUID_LABEL_SERVERLESS) || is_true(labels, FLUID_LABEL_SIDECAR) ||
        (platform != NULL && labels_lookup(labels, str_of(platform), &any)))
        return CHOICE_SERVERLESS;
    if (is_true(labels, FLUID_LABEL_SERVERFUL) || (o->compat == FLUID_CORRECT && opted_in(q)))
        return CHOICE_SERVERFUL;
    return q->locality != NULL ? CHOICE_POLICY : CHOICE_NONE;
}

/* Returns the reason why the pod must not be changed, or NULL. */
static const char *opt_out(const struct fluid_options *o, const struct labels *labels) {
    if (str_eq(fluid_value(labels, FLUID_LABEL_INJECTION), STR("false")))
        return "the pod's label '" FLUID_LABEL_INJECTION "' opts out";
    if (is_true(labels, FLUID_LABEL_DONE))
        return "the pod has its sidecar already";
    if (o->compat == FLUID_CORRECT &&
        str_eq(fluid_value(labels, FLUID_LABEL_OPT_IN), STR("disabled")))
        return "the pod's label '" FLUID_LABEL_OPT_IN "' opts out";
    return NULL;
}

/* Checks the namespace: if the pod names a namespace, it must be the request's namespace. */
static int check_namespace(const struct fluid_question *q, struct err *err) {
    struct str own = q->details->namespace;
    if (!str_empty(own) && !str_eq(own, q->namespace))
        return err_set(err, -EACCES, "the pod's namespace '%.*s' is not the request's, '%.*s'",
                       STR_ARG(own), STR_ARG(q->namespace));
    if (str_empty(q->namespace))
        return err_set(err, -EINVAL, "neither the pod nor the request has a namespace");
    return 0;
}

/* ---- running a chain ---- */

static int run_timed(const struct fluid_options *o, struct fluid_edit *e,
                     const struct fluid_plugin *plugin, bool *ret_stop, struct err *err) {
    int64_t start = o->plugin_budget_ms > 0 ? o->clock->now_ms(o->clock) : 0;
    int r = plugin->mutate(e, ret_stop, err);
    int64_t took = o->plugin_budget_ms > 0 ? o->clock->now_ms(o->clock) - start : 0;
    if (r == 0 && took > o->plugin_budget_ms)
        r = err_set(err, -ETIMEDOUT, "took %lld ms, more than its limit of %lld ms",
                    (long long)took, (long long)o->plugin_budget_ms);
    return r;
}

static int run_one(const struct fluid_options *o, struct fluid_edit *e,
                   const struct fluid_plugin *plugin, bool *ret_stop, struct fluid_outcome *outcome,
                   struct err *err) {
    *ret_stop = false;
    if (plugin->places && e->compat == FLUID_CORRECT && e->is_placed) {
        fluid_note(e, "%s does not place a pod that has a node already", plugin->name);
        return 0;
    }
    outcome->ran[outcome->ran_count++] = plugin;
    int r = run_timed(o, e, plugin, ret_stop, err);
    if (r != 0)
        (void)err_wrap(err, "%s", plugin->name); /* the code stays */
    return r;
}

/* Does the plugin add the profile's tiers, which a policy's tiers replace? */
static bool is_tiered(const struct fluid_plugin *plugin) {
    return plugin == &fluid_node_affinity_with_cache || plugin == &fluid_prefer_nodes_with_cache;
}

static int run_chain(const struct fluid_options *o, struct fluid_edit *e,
                     const struct fluid_chain *chain, bool scale_in, struct fluid_outcome *outcome,
                     struct err *err) {
    bool stop = false;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < chain->count && !stop; i++)
        if (e->locality == NULL || !is_tiered(chain->plugins[i]))
            r = run_one(o, e, chain->plugins[i], &stop, outcome, err);
    if (r == 0 && e->locality != NULL)
        r = run_one(o, e, &fluid_policy_locality, &stop, outcome, err);
    if (r == 0 && scale_in)
        r = run_one(o, e, &fluid_scale_in_exclusion, &stop, outcome, err);
    return r;
}

static const struct fluid_chain *find_chain(const struct fluid_options *o, enum choice choice,
                                            bool with_dataset) {
    static const struct fluid_chain policy_chains[2] = {
        [true] = {{&fluid_require_node_with_fuse}, 1}};
    if (choice == CHOICE_POLICY)
        return &policy_chains[with_dataset];
    return &o->profile->chains[choice == CHOICE_SERVERFUL ? FLUID_SERVERFUL : FLUID_SERVERLESS]
                              [with_dataset];
}

static int edit(const struct fluid_options *o, const struct fluid_question *q, enum choice choice,
                const struct fluid_datasets *datasets, struct arena *arena,
                struct fluid_outcome *outcome, struct err *err) {
    struct fluid_edit e = {.pod = q->pod,
                           .details = q->details,
                           .datasets = datasets,
                           .profile = o->profile,
                           .is_placed = q->is_placed,
                           .locality = q->locality,
                           .compat = choice == CHOICE_POLICY ? FLUID_CORRECT : o->compat,
                           .original_fuse = o->original_fuse,
                           .steps = &arena->steps,
                           .arena = arena};
    bool with_dataset = datasets->count > 0;
    uint64_t steps = arena->steps.used;
    if (affinity_begin(&e) != 0)
        return err_set(err, -ENOMEM, "out of memory");
    bool scale_in = o->scale_in && with_dataset && choice != CHOICE_SERVERLESS;
    int r = run_chain(o, &e, find_chain(o, choice, with_dataset), scale_in, outcome, err);
    outcome->edits = e.edits;
    outcome->steps = arena->steps.used - steps;
    outcome->notes = e.notes;
    outcome->note_count = e.note_count;
    outcome->left_to_fluid = e.left_to_fluid;
    return r;
}

/* ---- the question as a whole ---- */

static int skip_unasked(struct fluid_outcome *ret) {
    ret->result = FLUID_SKIPPED;
    ret->message = "no label asks for Fluid";
    ret->unasked = true;
    return 0;
}

/* Denies the pod as upstream does; in FLUID_CORRECT admits it unchanged. */
static int refuse(const struct fluid_options *o, int code, struct fluid_outcome *ret, int r) {
    ret->result = o->compat == FLUID_CORRECT ? FLUID_FAILED : FLUID_DENIED;
    ret->code = o->compat == FLUID_CORRECT ? 200 : code;
    return r;
}

/* Finds the datasets that the pod mounts. */
static int find_datasets(const struct fluid_query *about, const struct fluid_question *q,
                         struct arena *arena, struct fluid_datasets *ret, struct err *err) {
    const struct pod_details *d = q->details;
    struct fluid_query query = *about;
    struct str *claims = arena_array(arena, d->claim_count, sizeof *claims);
    const char *namespace = arena_cstr(arena, q->namespace);
    if (claims == NULL || namespace == NULL)
        return err_set(err, -ENOMEM, "cannot resolve the pod's volumes: out of memory");
    for (uint32_t i = 0; i < d->claim_count; i++)
        claims[i] = d->claims[i].claim;
    query.claims = claims;
    query.claim_count = d->claim_count;
    query.namespace = namespace;
    query.unbound_too = is_true(&d->annotations, FLUID_SKIP_PRECHECK);
    return fluid_resolve(&query, arena, ret, err);
}

static int answer(const struct fluid_store *store, const struct fluid_options *o,
                  const struct fluid_question *q, struct arena *arena, struct fluid_outcome *ret,
                  struct err *err) {
    const struct fluid_query query = {
        .store = store, .from_workers = o->compat == FLUID_CORRECT, .missing = &ret->missing};
    struct fluid_datasets datasets = {0};
    int r = check_namespace(q, err);
    if (r != 0)
        return refuse(o, r == -EACCES ? 403 : 500, ret, r);
    ret->message = opt_out(o, &q->pod->meta.labels);
    enum choice choice = choose(o, q);
    if (ret->message != NULL) {
        ret->result = FLUID_SKIPPED;
        return 0;
    }
    if (choice == CHOICE_NONE && o->compat == FLUID_CORRECT)
        return skip_unasked(ret);
    r = find_datasets(&query, q, arena, &datasets, err);
    if (r != 0 && choice == CHOICE_POLICY && o->compat == FLUID_CORRECT && !q->locality->required) {
        ret->result = FLUID_SKIPPED;
        return r;
    }
    if (r != 0)
        return refuse(o, 500, ret, r);
    if (choice == CHOICE_NONE)
        return skip_unasked(ret);
    r = edit(o, q, choice, &datasets, arena, ret, err);
    ret->result = r == 0 ? FLUID_EDITED : FLUID_FAILED;
    return r;
}

int fluid_mutate(const struct fluid_store *store, const struct fluid_options *options,
                 const struct fluid_question *question, struct arena *arena,
                 struct fluid_outcome *ret, struct err *err) {
    struct fluid_outcome outcome = {.code = 200};
    struct err why = {0};
    int r = answer(store, options, question, arena, &outcome, &why);
    if (r != 0)
        outcome.message = arena_cstr(arena, str_of(why.text));
    else if (outcome.message == NULL)
        outcome.message = "";
    if (r == -ENOMEM || arena_failed(arena))
        return err_set(err, -ENOMEM, "cannot work out the pod's data: out of memory");
    *ret = outcome;
    return 0;
}

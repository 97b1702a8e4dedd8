#include "data/fluid/mutate.h"

#include "base/limits.h"
#include "data/fluid/affinity.h"

#include <errno.h>

enum choice { CHOICE_NONE, CHOICE_POLICY, CHOICE_SERVERFUL, CHOICE_SERVERLESS };

static bool is_true(const cJSON *labels, const char *key) {
    return strcmp(doc_string(labels, key), "true") == 0;
}

static const cJSON *metadata_of(const cJSON *pod, const char *what) {
    return doc_object(doc_object(pod, "metadata"), what);
}

/* ---- which pods are Fluid's ---- */

/* The design's opt-in: the pod's word, else that of its namespace. */
static bool opted_in(const struct fluid_question *q, const cJSON *labels) {
    const char *own = doc_string(labels, "Fluid-Injection");
    if (own[0] != '\0')
        return strcmp(own, "enabled") == 0;
    return strcmp(doc_string(q->namespace_labels, "Fluid-Injection"), "enabled") == 0;
}

static enum choice choose(const struct fluid_options *o, const struct fluid_question *q) {
    const cJSON *labels = metadata_of(q->pod, "labels");
    const char *platform = o->serverless_platform_key;
    if (is_true(labels, "serverless.fluid.io/inject") ||
        is_true(labels, "fuse.sidecar.fluid.io/inject") ||
        (platform != NULL && cJSON_GetObjectItemCaseSensitive(labels, platform) != NULL))
        return CHOICE_SERVERLESS;
    if (is_true(labels, "fuse.serverful.fluid.io/inject") ||
        (o->compat == FLUID_CORRECT && opted_in(q, labels)))
        return CHOICE_SERVERFUL;
    return q->locality != NULL ? CHOICE_POLICY : CHOICE_NONE;
}

/* Why nothing is to be done, or NULL. */
static const char *opt_out(const struct fluid_options *o, const cJSON *pod) {
    const cJSON *labels = metadata_of(pod, "labels");
    if (strcmp(doc_string(labels, "fluid.io/enable-injection"), "false") == 0)
        return "the pod's label 'fluid.io/enable-injection' opts out";
    if (is_true(labels, "done.sidecar.fluid.io/inject"))
        return "the pod has its sidecar already";
    if (o->compat == FLUID_CORRECT &&
        strcmp(doc_string(labels, "Fluid-Injection"), "disabled") == 0)
        return "the pod's label 'Fluid-Injection' opts out";
    return NULL;
}

/* The pod's namespace: its own, which must be the request's, or the request's. */
static int find_namespace(const struct fluid_question *q, const char **ret, struct err *err) {
    const char *own = doc_string(doc_object(q->pod, "metadata"), "namespace");
    if (own[0] != '\0' && strcmp(own, q->namespace) != 0)
        return err_set(err, -EACCES, "the pod's namespace '%s' is not the request's, '%s'", own,
                       q->namespace);
    if (q->namespace[0] == '\0')
        return err_set(err, -EINVAL, "neither the pod nor the request has a namespace");
    *ret = q->namespace;
    return 0;
}

/* ---- running a chain ---- */

static int run_timed(const struct fluid_options *o, struct fluid_edit *e,
                     const struct fluid_plugin *plugin, bool *ret_stop, struct err *err) {
    int64_t start = o->plugin_budget_ms > 0 ? o->clock->now_ms(o->clock) : 0;
    int r = plugin->mutate(e, ret_stop, err);
    int64_t took = o->plugin_budget_ms > 0 ? o->clock->now_ms(o->clock) - start : 0;
    if (r == 0 && took > o->plugin_budget_ms)
        r = err_set(err, -ETIMEDOUT, "took %lld ms, more than its %lld ms", (long long)took,
                    (long long)o->plugin_budget_ms);
    return r;
}

static int run_one(const struct fluid_options *o, struct fluid_edit *e,
                   const struct fluid_plugin *plugin, bool *ret_stop, struct fluid_outcome *outcome,
                   struct err *err) {
    *ret_stop = false;
    if (plugin->places && e->compat == FLUID_CORRECT && e->is_placed) {
        fluid_note(e, "%s does not place a pod that has its node", plugin->name);
        return 0;
    }
    outcome->ran[outcome->ran_count++] = plugin;
    int r = run_timed(o, e, plugin, ret_stop, err);
    if (r != 0)
        (void)err_wrap(err, "%s", plugin->name); /* the code stays */
    return r;
}

/* The profile's tiers, of which a policy's take the place. */
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
    const cJSON *affinity = affinity_of(q->pod);
    CLEANUP(doc_free) cJSON *given = affinity != NULL ? cJSON_Duplicate(affinity, true) : NULL;
    if (affinity != NULL && given == NULL)
        return err_set(err, -ENOMEM, "out of memory");
    struct fluid_edit e = {.pod = q->pod,
                           .given = given,
                           .datasets = datasets,
                           .profile = o->profile,
                           .is_placed = q->is_placed,
                           .locality = q->locality,
                           .compat = choice == CHOICE_POLICY ? FLUID_CORRECT : o->compat,
                           .original_fuse = o->original_fuse,
                           .steps.max = LIMIT_PLUGIN_STEPS,
                           .arena = arena};
    bool with_dataset = datasets->count > 0;
    bool scale_in = o->scale_in && with_dataset && choice != CHOICE_SERVERLESS;
    int r = run_chain(o, &e, find_chain(o, choice, with_dataset), scale_in, outcome, err);
    outcome->steps = e.steps.used;
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

/* Upstream denies the pod. */
static int refuse(const struct fluid_options *o, int code, struct fluid_outcome *ret, int r) {
    ret->result = o->compat == FLUID_CORRECT ? FLUID_FAILED : FLUID_DENIED;
    ret->code = o->compat == FLUID_CORRECT ? 200 : code;
    return r;
}

static int answer(const struct fluid_store *store, const struct fluid_options *o,
                  const struct fluid_question *q, struct arena *arena, struct fluid_outcome *ret,
                  struct err *err) {
    const char *namespace = "";
    struct fluid_datasets datasets = {0};
    int r = find_namespace(q, &namespace, err);
    if (r != 0)
        return refuse(o, r == -EACCES ? 403 : 500, ret, r);
    ret->message = opt_out(o, q->pod);
    enum choice choice = choose(o, q);
    if (ret->message != NULL) {
        ret->result = FLUID_SKIPPED;
        return 0;
    }
    if (choice == CHOICE_NONE && o->compat == FLUID_CORRECT)
        return skip_unasked(ret);
    struct fluid_query query = {.store = store,
                                .pod = q->pod,
                                .namespace = namespace,
                                .from_workers = o->compat == FLUID_CORRECT,
                                .missing = &ret->missing};
    r = fluid_resolve(&query, arena, &datasets, err);
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

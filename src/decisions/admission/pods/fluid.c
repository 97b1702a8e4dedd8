/*
 * The plugin "fluid": runs the plugins of data/fluid for the pod, and writes their edits into the
 * patch (admission/pods/fluid_edits.h).
 */
#include "model/fluid.h"
#include "admission/pods/fluid_edits.h"
#include "admission/pods/pods.h"
#include "model/fixed_pod.h"

#include <errno.h>

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory to edit the pod");
}

/* ---- the answer ---- */

/* Returns "RequireNodeWithFuse, NodeAffinityWithCache; ds needs no label", cut to a readable
 * length. "" for a pod without Fluid's data. */
static struct str note_of(const struct fluid_outcome *outcome, struct arena *arena) {
    char bytes[1024];
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    if (outcome->result == FLUID_SKIPPED && !outcome->unasked)
        strbuf_appendf(&text, "%s", outcome->message);
    for (uint32_t i = 0; i < outcome->ran_count; i++)
        strbuf_appendf(&text, "%s%s", i > 0 ? ", " : "ran: ", outcome->ran[i]->name);
    for (size_t i = 0; i < outcome->note_count; i++)
        strbuf_appendf(&text, "%s%s", text.n > 0 ? "; " : "", outcome->notes[i]);
    return arena_str(arena, strbuf_str(&text));
}

static int answer(const struct pod_question *q, const struct fluid_outcome *outcome,
                  const struct pod_details *pod, struct patch *patch, struct admission_outcome *ret,
                  struct err *err) {
    switch (outcome->result) {
    case FLUID_DENIED:
        ret->refused = outcome->code;
        ret->cause = str_of(outcome->message);
        return 0;
    case FLUID_FAILED:
        return err_set(err, -EINVAL, "%s", outcome->message);
    case FLUID_EDITED:
    case FLUID_SKIPPED:
        break;
    }
    ret->note = note_of(outcome, q->head.arena);
    if (arena_failed(q->head.arena))
        return no_memory(err);
    return outcome->result == FLUID_EDITED ? fluid_edits_write(&outcome->edits, pod, patch, err)
                                           : 0;
}

/* Copies the keys that were not found: their strings belong to a store that may go away. */
static int tell_missing(const struct pod_question *q, const struct fluid_missing *missing,
                        struct err *err) {
    if (pod_options(q)->missing == NULL)
        return 0;
    for (size_t i = 0; i < missing->count; i++) {
        const struct fluid_key *key = &missing->keys[i];
        const char *namespace = arena_cstr(q->head.arena, str_of(key->namespace));
        const char *name = arena_cstr(q->head.arena, str_of(key->name));
        if (namespace == NULL || name == NULL)
            return no_memory(err);
        pod_options(q)->missing->keys[i] = (struct fluid_key){key->kind, namespace, name};
    }
    pod_options(q)->missing->count = missing->count;
    return 0;
}

/* Fluid's own webhook changes mirror pods, too. The kubelet runs these pods from its files, so a
 * change has no effect. */
static bool is_mirror(const struct pod_question *q) {
    return pod_options(q)->data->options.compat == FLUID_CORRECT &&
           pod_is_mirror(&q->details.annotations);
}

/* ---- the policy's locality ---- */

/* The function `places` of struct fluid_locality. Returns no places if there are too many: such a
 * term would be of no use. */
static int places(const void *ctx, const char *label, const char *key, const struct str **ret,
                  uint32_t *ret_count) {
    const struct pod_question *q = ctx;
    const struct label wanted = {str_of(label), STR("true")};
    struct str *found = NULL;
    struct cache_view view;
    uint32_t count = 0;
    cache_view_open(pod_options(q)->cache, &view);
    int r = steps_take(&q->head.arena->steps, topology_slots(view.nodes.topology))
                ? topology_places(&view.nodes, wanted, str_of(key), q->head.arena, &found, &count)
                : -E2BIG;
    cache_view_close(&view);
    *ret = found;
    *ret_count = r == 0 ? count : 0;
    return r == -ENOMEM ? r : 0;
}

static bool asks_locality(const struct policy *policy) {
    return policy != NULL && policy->locality != POLICY_LOCALITY_DISABLED;
}

/* Returns the policy's percentage of a weight; preferences weigh at least 1. */
static int32_t share(int32_t weight, const struct policy *policy) {
    int32_t percent = policy->tier_percent > 0 ? policy->tier_percent : 100;
    int32_t part = weight * percent / 100;
    return part > 0 ? part : 1;
}

/* Sets *ret to NULL if no policy asks for locality. Returns 0 or -ENOMEM. */
static int policy_locality(const struct pod_question *q, struct fluid_locality *room,
                           const struct fluid_locality **ret) {
    const struct policy *policy = q->locality_policy;
    *ret = NULL;
    if (!asks_locality(policy))
        return 0;
    struct fluid_tier *tiers = arena_array(q->head.arena, policy->tier_count, sizeof *tiers);
    for (uint32_t i = 0; tiers != NULL && i < policy->tier_count; i++)
        tiers[i] = (struct fluid_tier){arena_cstr(q->head.arena, policy->tiers[i].topology_key),
                                       share(policy->tiers[i].weight, policy)};
    *room = (struct fluid_locality){.tiers = tiers,
                                    .tier_count = policy->tier_count,
                                    .host_weight = share(100, policy),
                                    .required = policy->locality == POLICY_LOCALITY_REQUIRED,
                                    .keep_others_off = policy->keep_others_off,
                                    .requires_others_off = policy->requires_others_off,
                                    .places = places,
                                    .ctx = q};
    *ret = room;
    return arena_failed(q->head.arena) ? -ENOMEM : 0;
}

static bool has_fluid_label(const struct labels *labels) {
    for (uint32_t i = 0; i < labels->count; i++) {
        struct str key = labels->items[i].key;
        if (memmem(key.p, key.n, FLUID_DOMAIN, sizeof FLUID_DOMAIN - 1) != NULL ||
            str_eq(key, STR(FLUID_LABEL_OPT_IN)))
            return true;
    }
    return false;
}

/* Most pods have nothing to do with data; labels and policies show this without a search. Returns
 * true for every pod that fluid_mutate() edits. */
static bool is_concerned(const struct pod_question *q) {
    const struct fluid_options *o = &pod_options(q)->data->options;
    return o->compat != FLUID_CORRECT || o->serverless_platform_key != NULL ||
           has_fluid_label(&q->pod.meta.labels) || has_fluid_label(&q->namespace_labels) ||
           asks_locality(q->locality_policy);
}

static int run(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err) {
    const struct pod_question *q = pod_question(question);
    if (pod_options(q)->data == NULL || is_mirror(q) || q->pod.meta.terminating || !is_concerned(q))
        return 0;
    const struct str fixed = pod_fixed_because(&q->pod, &q->details.annotations);
    struct fluid_locality room;
    const struct fluid_locality *locality;
    struct pod_details details = q->details;
    if (policy_locality(q, &room, &locality) != 0)
        return no_memory(err);
    if (!steps_take_bytes(&q->head.arena->steps, patch->document.n))
        return err_set(err, -E2BIG, "no steps left to read the pod's spec");
    int r = pod_details_read_spec(patch->document, q->head.arena, &details, err);
    if (r != 0)
        return r;
    const struct fluid_question about = {.pod = &q->pod,
                                         .details = &details,
                                         .namespace = q->head.review->namespace,
                                         .namespace_labels =
                                             q->namespace_known ? &q->namespace_labels : NULL,
                                         .is_placed = !str_empty(fixed),
                                         .locality = locality};
    struct fluid_outcome outcome;
    r = fluid_mutate(pod_options(q)->data->store, &pod_options(q)->data->options, &about,
                     q->head.arena, &outcome, err);
    if (r == 0)
        r = tell_missing(q, &outcome.missing, err);
    return r == 0 ? answer(q, &outcome, &details, patch, ret, err) : r;
}

const struct admission_plugin pod_plugin_fluid = {.name = "fluid", .settled_too = true, .run = run};

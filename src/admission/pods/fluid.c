/*
 * The plugin "fluid": Fluid's own plugins edit a copy of the pod as a tree, and what they edited
 * becomes a patch. The tree may be unable to hold what else is in a pod (large numbers, say), so
 * operations elsewhere than on the paths that they own are an error, never carried out.
 */
#include "admission/patch_diff.h"
#include "admission/pods/plugin.h"
#include "model/placement.h"

#include <errno.h>

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory to edit the pod");
}

/* ---- what may be edited ---- */

static bool is_within(struct str path, struct str parent) {
    return str_has_prefix(path, parent) && (path.n == parent.n || path.p[parent.n] == '/');
}

static bool is_owned(struct str path) {
    bool in_container =
        is_within(path, STR("/spec/containers")) || is_within(path, STR("/spec/initContainers"));
    return is_within(path, STR("/spec/affinity")) ||
           is_within(path, STR("/metadata/annotations")) ||
           (in_container && str_has_suffix(path, STR("/mountPropagation")));
}

static int add_edits(struct patch *patch, const cJSON *pod, struct arena *arena, struct err *err) {
    uint32_t first = patch->count;
    char *printed = cJSON_PrintUnformatted(pod);
    struct str edited = arena_str(arena, str_of(printed != NULL ? printed : ""));
    cJSON_free(printed);
    if (str_empty(edited))
        return no_memory(err);
    int r = patch_diff(patch, edited, err);
    for (uint32_t i = first; r == 0 && i < patch->count; i++)
        if (!is_owned(patch->operations[i].path))
            r = err_set(err, -EINVAL, "'%.*s' would change with the edit",
                        STR_ARG(patch->operations[i].path));
    return r;
}

/* ---- what is asked ---- */

/* NULL when out of memory. */
static cJSON *labels_tree(const struct pod_question *q) {
    cJSON *labels = cJSON_CreateObject();
    for (uint32_t i = 0; labels != NULL && i < q->namespace_labels.count; i++) {
        const struct label *label = &q->namespace_labels.items[i];
        const char *key = arena_cstr(q->arena, label->key);
        const char *value = arena_cstr(q->arena, label->value);
        if (key == NULL || value == NULL || doc_set(labels, key, cJSON_CreateString(value)) != 0) {
            cJSON_Delete(labels);
            labels = NULL;
        }
    }
    return labels;
}

/* "RequireNodeWithFuse, NodeAffinityWithCache; ds needs no label", cut where it is too long for
 * people. Nothing of a pod that has nothing to do with Fluid. */
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
                  const cJSON *pod, struct patch *patch, struct pod_outcome *ret, struct err *err) {
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
    ret->note = note_of(outcome, q->arena);
    if (arena_failed(q->arena))
        return no_memory(err);
    return outcome->result == FLUID_EDITED ? add_edits(patch, pod, q->arena, err) : 0;
}

/* Hands on what was not found: the pod's tree and, unless it is held, the store go away. */
static int tell_missing(const struct pod_question *q, const struct fluid_missing *missing,
                        struct err *err) {
    if (q->missing == NULL)
        return 0;
    for (size_t i = 0; i < missing->count; i++) {
        const struct fluid_key *key = &missing->keys[i];
        const char *namespace = arena_cstr(q->arena, str_of(key->namespace));
        const char *name = arena_cstr(q->arena, str_of(key->name));
        if (namespace == NULL || name == NULL)
            return no_memory(err);
        q->missing->keys[i] = (struct fluid_key){key->kind, namespace, name};
    }
    q->missing->count = missing->count;
    return 0;
}

/* Upstream edits mirror pods too; they are the kubelet's, and nothing it does follows from them. */
static bool is_mirror(const struct pod_question *q) {
    struct str value;
    return q->data->options.compat == FLUID_CORRECT &&
           labels_lookup(&q->annotations, STR("kubernetes.io/config.mirror"), &value);
}

/* ---- what the policy asks ---- */

static int open_places(struct cache *cache, const char *label, const char *key, struct arena *arena,
                       struct str **ret, uint32_t *ret_count) {
    const struct label wanted = {str_of(label), STR("true")};
    struct cache_view view;
    cache_view_open(cache, false, &view);
    int r = topology_places(&view.nodes, wanted, str_of(key), arena, ret, ret_count);
    cache_view_close(&view);
    return r;
}

/* See fluid_locality. Too many places are as good as none: the term would be of no use. */
static cJSON *places(const void *ctx, const char *label, const char *key) {
    const struct pod_question *q = ctx;
    struct str *found;
    uint32_t count;
    CLEANUP(doc_free) cJSON *list = cJSON_CreateArray();
    int r = open_places(q->cache, label, key, q->arena, &found, &count);
    if (list == NULL || r == -ENOMEM)
        return NULL;
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        const char *value = arena_cstr(q->arena, found[i]);
        if (value == NULL || doc_push(list, cJSON_CreateString(value)) != 0)
            return NULL;
    }
    cJSON *ready = list;
    list = NULL;
    return ready;
}

static bool asks_locality(const struct policy *policy) {
    return policy != NULL && policy->locality != POLICY_LOCALITY_OFF;
}

/* *ret is NULL where no policy asks for locality. 0 or -ENOMEM. */
static int policy_locality(const struct pod_question *q, struct fluid_locality *room,
                           const struct fluid_locality **ret) {
    const struct policy *policy = q->policy;
    *ret = NULL;
    if (!asks_locality(policy))
        return 0;
    struct fluid_tier *tiers = arena_array(q->arena, policy->tier_count, sizeof *tiers);
    for (uint32_t i = 0; tiers != NULL && i < policy->tier_count; i++)
        tiers[i] = (struct fluid_tier){arena_cstr(q->arena, policy->tiers[i].topology_key),
                                       policy->tiers[i].weight};
    *room = (struct fluid_locality){.tiers = tiers,
                                    .tier_count = policy->tier_count,
                                    .required = policy->locality == POLICY_LOCALITY_REQUIRED,
                                    .keep_others_off = policy->keep_others_off_cache_nodes,
                                    .places = places,
                                    .ctx = q};
    *ret = room;
    return arena_failed(q->arena) ? -ENOMEM : 0;
}

static bool has_fluid_label(const struct labels *labels) {
    for (uint32_t i = 0; i < labels->count; i++) {
        struct str key = labels->items[i].key;
        if (memmem(key.p, key.n, "fluid.io/", 9) != NULL || str_eq(key, STR("Fluid-Injection")))
            return true;
    }
    return false;
}

/* Most pods have nothing to do with data, which these labels and their policies tell: every one
 * that fluid_mutate() looks at is among them. To make a tree of a pod takes longer than all else.
 */
static bool is_concerned(const struct pod_question *q) {
    const struct fluid_options *o = &q->data->options;
    return o->compat != FLUID_CORRECT || o->serverless_platform_key != NULL ||
           has_fluid_label(&q->pod.meta.labels) || has_fluid_label(&q->namespace_labels) ||
           asks_locality(q->policy);
}

static int run(const struct pod_question *q, struct patch *patch, struct pod_outcome *ret,
               struct err *err) {
    if (q->data == NULL || is_mirror(q) || q->pod.meta.terminating || !is_concerned(q))
        return 0;
    const char *namespace = arena_cstr(q->arena, q->review->namespace);
    const struct str placement = pod_placement(&q->pod, &q->annotations);
    struct fluid_locality room;
    const struct fluid_locality *locality;
    if (policy_locality(q, &room, &locality) != 0)
        return no_memory(err);
    CLEANUP(doc_free) cJSON *namespace_labels = q->namespace_known ? labels_tree(q) : NULL;
    CLEANUP(doc_free) cJSON *pod = cJSON_ParseWithLength(patch->document.p, patch->document.n);
    if (namespace == NULL || (q->namespace_known && namespace_labels == NULL))
        return no_memory(err);
    if (pod == NULL)
        return err_set(err, -EINVAL, "no memory for the pod as a tree, or it is none");
    const struct fluid_question question = {.pod = pod,
                                            .namespace = namespace,
                                            .namespace_labels = namespace_labels,
                                            .is_placed = !str_empty(placement),
                                            .locality = locality};
    struct fluid_outcome outcome;
    int r = fluid_mutate(q->data->store, &q->data->options, &question, q->arena, &outcome, err);
    if (r == 0)
        r = tell_missing(q, &outcome.missing, err);
    return r == 0 ? answer(q, &outcome, pod, patch, ret, err) : r;
}

const struct pod_plugin pod_plugin_fluid = {.name = "fluid", .settled_too = true, .run = run};

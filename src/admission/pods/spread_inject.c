#include "admission/pods/spread_inject.h"

#include "admission/pods/pods.h"
#include "admission/pods/spread_defaults.h"
#include "admission/pods/spread_plan.h"
#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const struct str spread_revision_key = {"pod-template-hash", 17};

/* Labels that controllers give to the pods of one revision, or to one pod. With one of the latter
 * in its selector a constraint would count a single pod, and spread nothing. */
static bool tells_pods_apart(struct str key) {
    static const struct str keys[] = {
        {"pod-template-hash", 17},                        /* ReplicaSet */
        {"rollouts-pod-template-hash", 26},               /* Argo Rollouts */
        {"controller-revision-hash", 24},                 /* StatefulSet, DaemonSet */
        {"pod-template-generation", 23},                  /* DaemonSet */
        {"statefulset.kubernetes.io/pod-name", 34},       /* one pod */
        {"apps.kubernetes.io/pod-index", 28},             /* one pod */
        {"batch.kubernetes.io/job-completion-index", 40}, /* one pod */
        {"leaderworkerset.sigs.k8s.io/worker-index", 40}, /* one pod of each group */
        /* of operators that make their pods themselves: one pod */
        {"spark-exec-id", 13},                       /* Spark */
        {"training.kubeflow.org/replica-index", 35}, /* Kubeflow's training jobs */
        {"strimzi.io/pod-name", 19},                 /* Strimzi */
        {"cnpg.io/instanceName", 20},                /* CloudNativePG */
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (str_eq(key, keys[i]))
            return true;
    return false;
}

int spread_group(const struct labels *pod, struct arena *arena, struct labels *ret) {
    struct label *items = arena_array(arena, pod->count, sizeof *items);
    *ret = (struct labels){.items = items};
    for (uint32_t i = 0; items != NULL && i < pod->count; i++)
        if (!tells_pods_apart(pod->items[i].key))
            items[ret->count++] = pod->items[i];
    return items != NULL ? 0 : -ENOMEM;
}

/* ---- what the API server would say ---- */

static int check_keys(const struct spread_constraint *c, const struct selector *selector,
                      struct steps *steps, struct err *err) {
    if (c->match_label_key_count > 0 && !c->selector.present)
        return err_set(err, -EINVAL, "matchLabelKeys without a labelSelector");
    for (uint32_t k = 0; k < c->match_label_key_count; k++) {
        struct str key = c->match_label_keys[k];
        if (!steps_take(steps, selector->count))
            return err_set(err, -E2BIG, "no steps left to check it");
        if (!label_key_valid(key))
            return err_set(err, -EINVAL, "'%.*s' is not a label key", STR_ARG(key));
        for (uint32_t i = 0; i < selector->count; i++)
            if (str_eq(selector->items[i].key, key))
                return err_set(err, -EINVAL, "'%.*s' is in labelSelector and in matchLabelKeys",
                               STR_ARG(key));
    }
    return 0;
}

/* By key and whenUnsatisfiable; equal ones as they stand in the pod. */
static int compare_constraints(const void *a, const void *b) {
    const struct spread_constraint *x = *(const struct spread_constraint *const *)a,
                                   *y = *(const struct spread_constraint *const *)b;
    int order = str_cmp(x->topology_key, y->topology_key);
    if (order == 0)
        order = (x->hard > y->hard) - (x->hard < y->hard);
    return order != 0 ? order : (x > y) - (x < y);
}

/* For each constraint whether one before it has its key and its whenUnsatisfiable. A pod may have
 * thousands, so they are sorted instead of compared each with each. NULL: no memory, or no steps.
 */
static const bool *find_repeats(const struct pod *pod, struct arena *arena) {
    uint32_t count = pod->constraint_count;
    const struct spread_constraint **sorted = arena_array(arena, count, sizeof(void *));
    bool *repeats = arena_array(arena, count, sizeof *repeats);
    uint64_t depth = 1;
    while (count >> depth != 0)
        depth++;
    if (sorted == NULL || repeats == NULL || !steps_take(&arena->steps, count * depth))
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &pod->constraints[i];
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, compare_constraints);
    for (uint32_t i = 1; i < count; i++)
        repeats[sorted[i] - pod->constraints] =
            sorted[i]->hard == sorted[i - 1]->hard &&
            str_eq(sorted[i]->topology_key, sorted[i - 1]->topology_key);
    return repeats;
}

int spread_check(const struct pod *pod, uint32_t first, struct arena *arena, struct err *err) {
    if (first >= pod->constraint_count)
        return 0;
    const bool *repeats = find_repeats(pod, arena);
    if (repeats == NULL)
        return err_set(err, arena_failed(arena) ? -ENOMEM : -E2BIG,
                       "nothing left to check topologySpreadConstraints with");
    for (uint32_t i = first; i < pod->constraint_count; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        struct selector selector;
        if (!steps_take(&arena->steps, c->match_label_key_count))
            return err_set(err, -E2BIG, "no steps left to check it");
        int r = selector_compile(&c->selector, (struct labels){0}, arena, &selector, err);
        if (r == 0)
            r = check_keys(c, &selector, &arena->steps, err);
        if (r == 0 && repeats[i])
            r = err_set(err, -EINVAL, "the pair of topologyKey and whenUnsatisfiable repeats");
        if (r != 0)
            return err_wrap(err, "spec.topologySpreadConstraints[%u]", i);
    }
    return 0;
}

/* ---- the plugin ---- */

static bool has_group(const struct pod *pod) {
    for (uint32_t i = 0; i < pod->meta.labels.count; i++)
        if (!tells_pods_apart(pod->meta.labels.items[i].key))
            return true;
    return false;
}

static void write_group(const struct pod *pod, struct json_writer *w) {
    struct str hash;
    json_key(w, STR("labelSelector"));
    json_begin_object(w);
    json_key(w, STR("matchLabels"));
    json_begin_object(w);
    for (uint32_t i = 0; i < pod->meta.labels.count; i++)
        if (!tells_pods_apart(pod->meta.labels.items[i].key))
            json_put_member(w, pod->meta.labels.items[i].key, pod->meta.labels.items[i].value);
    json_end_object(w);
    json_end_object(w);
    if (!labels_lookup(&pod->meta.labels, spread_revision_key, &hash))
        return;
    json_key(w, STR("matchLabelKeys"));
    json_begin_array(w);
    json_put_string(w, spread_revision_key);
    json_end_array(w);
}

static void write_inclusion(struct json_writer *w, struct str key,
                            enum policy_inclusion inclusion) {
    if (inclusion != POLICY_INCLUSION_DEFAULT)
        json_put_member(w, key, inclusion == POLICY_HONOR ? STR("Honor") : STR("Ignore"));
}

/* A zone whose nodes are all tainted would hold the least pods for ever, so taints are heeded
 * unless the policy says otherwise; Kubernetes' own default is to ignore them. */
static void write_constraint(const struct policy_spread *s, bool with_min_domains,
                             const struct pod *pod, struct json_writer *w) {
    json_begin_object(w);
    json_key(w, STR("maxSkew"));
    json_put_integer(w, s->max_skew);
    json_put_member(w, STR("topologyKey"), s->topology_key);
    json_put_member(w, STR("whenUnsatisfiable"),
                    s->hard ? STR("DoNotSchedule") : STR("ScheduleAnyway"));
    if (with_min_domains && s->min_domains > 0) {
        json_key(w, STR("minDomains"));
        json_put_integer(w, s->min_domains);
    }
    write_inclusion(w, STR("nodeAffinityPolicy"), s->node_affinity);
    write_inclusion(w, STR("nodeTaintsPolicy"),
                    s->node_taints == POLICY_IGNORE ? POLICY_IGNORE : POLICY_HONOR);
    write_group(pod, w);
    json_end_object(w);
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for the constraints");
}

/* So many constraints, each with the pod's group: is that what a pod can be given? */
static int check_size(const struct pod_question *q, uint32_t constraints, struct err *err) {
    const struct labels *labels = &q->pod.meta.labels;
    size_t bytes = 0;
    for (uint32_t i = 0; i < labels->count; i++)
        bytes += labels->items[i].key.n + labels->items[i].value.n;
    if (!steps_take(&q->head.arena->steps, (uint64_t)labels->count * (1 + constraints)))
        return err_set(err, -E2BIG, "no steps left to write constraints");
    return bytes <= LIMIT_PATCH_BYTES / constraints
               ? 0
               : err_set(err, -E2BIG, "the pod's labels are too long to be a selector");
}

/* Appends to the pod's list item by item, or gives it one: in one pass over the pod. */
static int write_patch(const struct pod_question *q, const enum spread_fate *fates,
                       struct strbuf *text, struct patch *patch, struct err *err) {
    static const struct str list[] = {{"spec", 4}, {"topologySpreadConstraints", 25}, {"-", 1}};
    const struct policy *policy = q->policy;
    struct arena *arena = q->head.arena;
    struct patch_change *changes = arena_array(arena, policy->spread_count, sizeof *changes);
    bool has_list = q->pod.constraint_count > 0;
    struct json_writer w = {.out = text};
    uint32_t count = 0;
    if (!has_list)
        json_begin_array(&w);
    for (uint32_t i = 0; changes != NULL && i < policy->spread_count; i++) {
        if (!spread_is_injected(fates[i]))
            continue;
        write_constraint(&policy->spread[i], fates[i] != SPREAD_FEWER_DOMAINS, &q->pod, &w);
        if (!has_list)
            continue;
        if (strbuf_failed(text))
            return no_memory(err);
        changes[count++] =
            (struct patch_change){PATCH_ADD, list, 3, arena_str(arena, strbuf_str(text))};
        strbuf_clear(text);
        w.comma = false;
    }
    if (!has_list) {
        json_end_array(&w);
        if (changes != NULL)
            changes[count++] =
                (struct patch_change){PATCH_ADD, list, 2, arena_str(arena, strbuf_str(text))};
    }
    if (strbuf_failed(text) || arena_failed(arena))
        return no_memory(err);
    return patch_apply(patch, changes, count, err);
}

static int inject(const struct pod_question *q, const enum spread_fate *fates, uint32_t constraints,
                  struct patch *patch, struct err *err) {
    struct strbuf text = {0};
    int r = check_size(q, constraints, err);
    if (r == 0)
        r = write_patch(q, fates, &text, patch, err);
    strbuf_done(&text);
    return r;
}

/* ---- what is said of it ---- */

/* Why a constraint is not, or not wholly, what the policy asks for; NULL: it is. */
static const char *excuse(enum spread_fate fate) {
    static const char *const words[SPREAD_FATES] = {
        [SPREAD_FEWER_DOMAINS] = "is added without minDomains: the pod may use fewer domains",
        [SPREAD_NO_NODE_HAS_KEY] = "is left out: no node that the pod may use has that label",
        [SPREAD_OWN_AFFINITY] = "is left out: the pod's own podAffinity keeps its group together",
        [SPREAD_OWN_ANTI_AFFINITY] = "is left out: the pod's own podAntiAffinity does more",
    };
    return words[fate];
}

static int warn(const struct pod_question *q, const enum spread_fate *fates,
                struct admission_outcome *ret) {
    struct str *warnings = arena_array(q->head.arena, q->policy->spread_count, sizeof *warnings);
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (uint32_t i = 0; warnings != NULL && i < q->policy->spread_count; i++) {
        if (excuse(fates[i]) == NULL)
            continue;
        strbuf_clear(&text);
        strbuf_appendf(&text, "policy '%.*s': the constraint on '%.*s' %s",
                       STR_ARG(q->policy->name), STR_ARG(q->policy->spread[i].topology_key),
                       excuse(fates[i]));
        warnings[ret->warning_count++] = arena_str(q->head.arena, strbuf_str(&text));
    }
    ret->warnings = warnings;
    return strbuf_failed(&text) || arena_failed(q->head.arena) ? -ENOMEM : 0;
}

/* Appends the keys of the constraints that have come to this, behind a word. */
static void list(const struct policy *policy, const enum spread_fate *fates, enum spread_fate fate,
                 const char *word, struct strbuf *out) {
    const char *before = word;
    for (uint32_t i = 0; i < policy->spread_count; i++) {
        if (fates[i] != fate)
            continue;
        strbuf_appendf(out, "%s%s%.*s", before == word && out->n > 0 ? "; " : "", before,
                       STR_ARG(policy->spread[i].topology_key));
        before = ", ";
    }
}

/* "added: zone; the pod's own: region; left out (NoNodeHasKey): zones" */
static int note(const struct pod_question *q, const enum spread_fate *fates,
                struct admission_outcome *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    char word[80];
    list(q->policy, fates, SPREAD_INJECTED, "added: ", &text);
    for (int fate = SPREAD_OWN + 1; fate < SPREAD_FATES; fate++) {
        (void)snprintf(word, sizeof word, "%s (%s): ",
                       spread_is_injected((enum spread_fate)fate) ? "added without minDomains"
                                                                  : "left out",
                       spread_reason((enum spread_fate)fate)); /* fits */
        list(q->policy, fates, (enum spread_fate)fate, word, &text);
    }
    list(q->policy, fates, SPREAD_OWN, "the pod's own: ", &text);
    ret->note = arena_str(q->head.arena, strbuf_str(&text));
    return strbuf_failed(&text) || arena_failed(q->head.arena) ? -ENOMEM : 0;
}

static uint32_t tally(const struct pod_question *q, const enum spread_fate *fates) {
    struct spread_tally *counts = q->head.options->spread;
    uint32_t injected = 0;
    if (counts != NULL)
        counts->policy = q->policy->name;
    for (uint32_t i = 0; i < q->policy->spread_count; i++) {
        injected += spread_is_injected(fates[i]);
        if (counts != NULL)
            counts->fates[fates[i]]++;
    }
    return injected;
}

/* The note, with what is kept of kube-scheduler's defaults. */
static int note_kept(const struct pod_question *q, const struct policy_spread *kept, uint32_t count,
                     struct admission_outcome *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_append_str(&text, ret->note);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append_str(&text, i == 0 ? STR("; kept of the defaults: ") : STR(", "));
        strbuf_append_str(&text, kept[i].topology_key);
    }
    ret->note = arena_str(q->head.arena, strbuf_str(&text));
    return strbuf_failed(&text) || arena_failed(q->head.arena) ? -ENOMEM : 0;
}

/* Injects what the policy asks for, and the defaults that the pod would lose by it. */
static int inject_all(const struct pod_question *q, const enum spread_fate *fates, uint32_t added,
                      struct patch *patch, struct admission_outcome *ret, struct err *err) {
    const struct policy_spread *kept = NULL;
    uint32_t count = q->policy->spread_count, more = 0;
    if (spread_defaults(q, &kept, &more) != 0)
        return no_memory(err);
    if (more == 0)
        return inject(q, fates, added, patch, err);
    struct arena *arena = q->head.arena;
    struct policy_spread *all = arena_array(arena, count + more, sizeof *all);
    enum spread_fate *all_fates = arena_array(arena, count + more, sizeof *all_fates);
    if (all == NULL || all_fates == NULL || note_kept(q, kept, more, ret) != 0)
        return no_memory(err);
    memcpy(all, q->policy->spread, count * sizeof *all);
    memcpy(all_fates, fates, count * sizeof *all_fates);
    for (uint32_t i = 0; i < more; i++) {
        all[count + i] = kept[i];
        all_fates[count + i] = SPREAD_INJECTED;
    }
    struct policy policy = *q->policy;
    struct pod_question whole = *q;
    policy.spread = all;
    policy.spread_count = count + more;
    whole.policy = &policy;
    return inject(&whole, all_fates, added + more, patch, err);
}

static int run(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err) {
    const struct pod_question *q = pod_question(question);
    enum spread_fate *fates;
    if (q->policy == NULL || q->policy->spread_count == 0)
        return 0;
    if (!steps_take(&q->head.arena->steps,
                    (uint64_t)q->policy->spread_count * (1 + q->pod.constraint_count)))
        return err_set(err, -E2BIG, "no steps left to look through the pod's constraints");
    if (!has_group(&q->pod)) {
        ret->note = STR("the pod has no labels that would make a group");
        return 0;
    }
    if (spread_plan(q, &fates) != 0 || note(q, fates, ret) != 0 || warn(q, fates, ret) != 0)
        return no_memory(err);
    uint32_t added = tally(q, fates);
    return added == 0 ? 0 : inject_all(q, fates, added, patch, ret, err);
}

const struct admission_plugin pod_plugin_spread = {.name = "spread", .run = run};

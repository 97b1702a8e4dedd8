#include "admission/pods/spread_inject.h"

#include "admission/pods/pods.h"

#include <errno.h>

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
                      struct err *err) {
    if (c->match_label_key_count > 0 && !c->selector.present)
        return err_set(err, -EINVAL, "matchLabelKeys without a labelSelector");
    for (uint32_t k = 0; k < c->match_label_key_count; k++) {
        struct str key = c->match_label_keys[k];
        if (!label_key_valid(key))
            return err_set(err, -EINVAL, "'%.*s' is not a label key", STR_ARG(key));
        for (uint32_t i = 0; i < selector->count; i++)
            if (str_eq(selector->items[i].key, key))
                return err_set(err, -EINVAL, "'%.*s' is in labelSelector and in matchLabelKeys",
                               STR_ARG(key));
    }
    return 0;
}

int spread_check(const struct pod *pod, uint32_t first, struct arena *arena, struct err *err) {
    for (uint32_t i = first; i < pod->constraint_count; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        struct selector selector;
        int r = selector_compile(&c->selector, (struct labels){0}, arena, &selector, err);
        if (r == 0)
            r = check_keys(c, &selector, err);
        for (uint32_t j = 0; r == 0 && j < i; j++)
            if (pod->constraints[j].hard == c->hard &&
                str_eq(pod->constraints[j].topology_key, c->topology_key))
                r = err_set(err, -EINVAL, "the pair of topologyKey and whenUnsatisfiable repeats");
        if (r != 0)
            return err_wrap(err, "spec.topologySpreadConstraints[%u]", i);
    }
    return 0;
}

/* ---- the plugin ---- */

static bool has_own(const struct pod *pod, struct str topology_key) {
    for (uint32_t i = 0; i < pod->constraint_count; i++)
        if (str_eq(pod->constraints[i].topology_key, topology_key))
            return true;
    return false;
}

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

static void write_constraint(const struct policy_spread *s, const struct pod *pod,
                             struct json_writer *w) {
    json_begin_object(w);
    json_key(w, STR("maxSkew"));
    json_put_integer(w, s->max_skew);
    json_put_member(w, STR("topologyKey"), s->topology_key);
    json_put_member(w, STR("whenUnsatisfiable"),
                    s->hard ? STR("DoNotSchedule") : STR("ScheduleAnyway"));
    if (s->min_domains > 0) {
        json_key(w, STR("minDomains"));
        json_put_integer(w, s->min_domains);
    }
    write_inclusion(w, STR("nodeAffinityPolicy"), s->node_affinity);
    write_inclusion(w, STR("nodeTaintsPolicy"), s->node_taints);
    write_group(pod, w);
    json_end_object(w);
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for the constraints");
}

/* The list itself (depth 2) or its next item (3). */
static int add(const struct pod_question *q, struct patch *patch, const struct strbuf *text,
               uint32_t depth, struct err *err) {
    const struct str list[] = {STR("spec"), STR("topologySpreadConstraints"), STR("-")};
    struct str value = arena_str(q->head.arena, strbuf_str(text));
    if (strbuf_failed(text) || arena_failed(q->head.arena))
        return no_memory(err);
    return patch_add(patch, list, depth, value, err);
}

/* Appends to the pod's list, or gives it one. */
static int inject(const struct pod_question *q, struct patch *patch, struct err *err) {
    const struct policy *policy = q->policy;
    bool has_list = q->pod.constraint_count > 0;
    struct strbuf text = {0};
    struct json_writer w = {.out = &text};
    int r = 0;
    if (!has_list)
        json_begin_array(&w);
    for (uint32_t i = 0; r == 0 && i < policy->spread_count; i++) {
        if (has_own(&q->pod, policy->spread[i].topology_key))
            continue;
        write_constraint(&policy->spread[i], &q->pod, &w);
        if (has_list) {
            r = add(q, patch, &text, 3, err);
            strbuf_clear(&text);
            w.comma = false;
        }
    }
    if (!has_list) {
        json_end_array(&w);
        r = add(q, patch, &text, 2, err);
    }
    strbuf_done(&text);
    return r;
}

/* "added zone; own: region". *ret_added: how many. 0 or -ENOMEM. */
static int note_of(const struct pod_question *q, struct str *ret, uint32_t *ret_added) {
    struct strbuf added = {0}, own = {0}, note = {0};
    *ret_added = 0;
    for (uint32_t i = 0; i < q->policy->spread_count; i++) {
        struct str key = q->policy->spread[i].topology_key;
        struct strbuf *list = has_own(&q->pod, key) ? &own : &added;
        *ret_added += list == &added;
        strbuf_appendf(list, "%s%.*s", list->n > 0 ? ", " : "", STR_ARG(key));
    }
    if (added.n > 0)
        strbuf_appendf(&note, "added: %.*s", (int)added.n, added.p);
    if (own.n > 0)
        strbuf_appendf(&note, "%sthe pod's own: %.*s", note.n > 0 ? "; " : "", (int)own.n, own.p);
    *ret = arena_str(q->head.arena, strbuf_str(&note));
    bool failed = strbuf_failed(&added) || strbuf_failed(&own) || strbuf_failed(&note);
    strbuf_done(&added);
    strbuf_done(&own);
    strbuf_done(&note);
    return failed || arena_failed(q->head.arena) ? -ENOMEM : 0;
}

static int run(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err) {
    const struct pod_question *q = pod_question(question);
    uint32_t added;
    if (q->policy == NULL || q->policy->spread_count == 0)
        return 0;
    if (!has_group(&q->pod)) {
        ret->note = STR("the pod has no labels that would make a group");
        return 0;
    }
    if (note_of(q, &ret->note, &added) != 0)
        return no_memory(err);
    return added == 0 ? 0 : inject(q, patch, err);
}

const struct admission_plugin pod_plugin_spread = {.name = "spread", .run = run};

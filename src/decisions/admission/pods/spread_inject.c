#include "admission/pods/spread_inject.h"

#include "admission/pods/group.h"
#include "admission/pods/spread_defaults.h"
#include "admission/pods/spread_plan.h"
#include "admission/pods/spread_renew.h"
#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the API server's rules ---- */

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

/* Orders by key and whenUnsatisfiable; equal constraints by their place in the pod. */
static int compare_constraints(const void *a, const void *b) {
    const struct spread_constraint *x = *(const struct spread_constraint *const *)a,
                                   *y = *(const struct spread_constraint *const *)b;
    int order = str_cmp(x->topology_key, y->topology_key);
    if (order == 0)
        order = (x->hard > y->hard) - (x->hard < y->hard);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Returns for each constraint: does an earlier constraint have the same key and whenUnsatisfiable?
 * A pod may have thousands of constraints, so they are sorted, not compared in pairs. NULL: no
 * memory, or no steps. */
static const bool *find_repeats(const struct pod *pod, struct arena *arena) {
    uint32_t count = pod->constraint_count;
    const struct spread_constraint **sorted = arena_array(arena, count, sizeof(void *));
    bool *repeats = arena_array(arena, count, sizeof *repeats);
    if (sorted == NULL || repeats == NULL || !steps_take_sort(&arena->steps, count))
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
                       "no memory or no steps left to check topologySpreadConstraints");
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

static void write_inclusion(struct json_writer *w, struct str key,
                            enum policy_inclusion inclusion) {
    if (inclusion != POLICY_INCLUSION_DEFAULT)
        json_put_member(w, key, inclusion == POLICY_HONOR ? STR("Honor") : STR("Ignore"));
}

/* A zone with only tainted nodes would always hold the fewest pods. So taints are honored unless
 * the policy says otherwise; Kubernetes' default is to ignore them. */
static void write_constraint(const struct policy_spread *s, enum spread_form form,
                             const struct pod_group *group, struct json_writer *w) {
    json_begin_object(w);
    json_key(w, STR("maxSkew"));
    json_put_integer(w, s->max_skew);
    json_put_member(w, STR("topologyKey"), s->topology_key);
    json_put_member(w, STR("whenUnsatisfiable"),
                    s->hard && form != SPREAD_SOFT ? STR("DoNotSchedule") : STR("ScheduleAnyway"));
    if (form == SPREAD_WHOLE && s->min_domains > 0) {
        json_key(w, STR("minDomains"));
        json_put_integer(w, s->min_domains);
    }
    write_inclusion(w, STR("nodeAffinityPolicy"), s->node_affinity);
    write_inclusion(w, STR("nodeTaintsPolicy"),
                    s->node_taints == POLICY_IGNORE ? POLICY_IGNORE : POLICY_HONOR);
    pod_group_write(group, w);
    json_end_object(w);
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for the constraints");
}

/* The constraints to inject, and the group that they count. */
struct injection {
    const struct pod_question *q;
    const enum spread_fate *fates;
    const uint32_t *places; /* places of the constraints to replace, as set by spread_renew() */
    uint32_t place_count;   /* the number of the policy's constraints; later ones are new */
    const struct pod_group *group;
    uint32_t count;
};

/* Checks that a pod has room for all these constraints, each with the selector of its group. */
static int check_size(const struct injection *in, struct err *err) {
    struct cost cost = pod_group_cost(in->group);
    if (!steps_take(&in->q->head.arena->steps, cost.steps * (1 + in->count)))
        return err_set(err, -E2BIG, "no steps left to write constraints");
    return cost.bytes <= LIMIT_PATCH_BYTES / in->count
               ? 0
               : err_set(err, -E2BIG, "the pod's labels are too long to be a selector");
}

static const struct str list_path[] = {{"spec", 4}, {"topologySpreadConstraints", 25}, {"-", 1}};

/* A renewed constraint keeps its form. */
static enum spread_form form_of(const struct injection *in, uint32_t i) {
    const struct policy_spread *wanted = &in->q->policy->spread[i];
    if (in->fates[i] != SPREAD_RENEWED)
        return spread_form(in->fates[i]);
    const struct spread_constraint *was = &in->q->pod.constraints[in->places[i]];
    if (was->hard != wanted->hard)
        return SPREAD_SOFT;
    return was->min_domains == wanted->min_domains ? SPREAD_WHOLE : SPREAD_WITHOUT_MIN_DOMAINS;
}

/* Does the policy have a preference on that key, too? The API server refuses two preferences on a
 * key. */
static bool has_soft_twin(const struct injection *in, uint32_t i) {
    const struct policy *policy = in->q->policy;
    for (uint32_t j = 0; spread_form(in->fates[i]) == SPREAD_SOFT && j < policy->spread_count; j++)
        if (!policy->spread[j].hard &&
            str_eq(policy->spread[j].topology_key, policy->spread[i].topology_key))
            return true;
    return false;
}

/* Replaces a renewed constraint, or appends a new one. */
static struct patch_change change_of(const struct injection *in, uint32_t i, struct str value) {
    struct arena *arena = in->q->head.arena;
    struct str *path = arena_array(arena, 3, sizeof *path);
    char place[12];
    if (i >= in->place_count || in->places[i] == SPREAD_NO_PLACE || path == NULL)
        return (struct patch_change){PATCH_ADD, list_path, 3, value};
    (void)snprintf(place, sizeof place, "%u", in->places[i]); /* the text fits */
    path[0] = list_path[0];
    path[1] = list_path[1];
    path[2] = arena_str(arena, str_of(place));
    return (struct patch_change){PATCH_REPLACE, path, 3, value};
}

/* Appends the items to the pod's list, or adds the list, in one pass over the pod. */
static int write_patch(const struct injection *in, struct strbuf *text, struct patch *patch,
                       struct err *err) {
    const struct pod_question *q = in->q;
    const struct policy *policy = q->policy;
    struct arena *arena = q->head.arena;
    struct patch_change *changes = arena_array(arena, policy->spread_count, sizeof *changes);
    bool has_list = q->pod.constraint_count > 0;
    struct json_writer w = {.out = text};
    uint32_t count = 0;
    if (!has_list)
        json_begin_array(&w);
    for (uint32_t i = 0; changes != NULL && i < policy->spread_count; i++) {
        if (!spread_is_injected(in->fates[i]) || has_soft_twin(in, i))
            continue;
        write_constraint(&policy->spread[i], form_of(in, i), in->group, &w);
        if (!has_list)
            continue;
        if (strbuf_failed(text))
            return no_memory(err);
        changes[count++] = change_of(in, i, arena_str(arena, strbuf_str(text)));
        strbuf_clear(text);
        w.comma = false;
    }
    if (!has_list) {
        json_end_array(&w);
        if (changes != NULL)
            changes[count++] =
                (struct patch_change){PATCH_ADD, list_path, 2, arena_str(arena, strbuf_str(text))};
    }
    if (strbuf_failed(text) || arena_failed(arena))
        return no_memory(err);
    return patch_apply(patch, changes, count, err);
}

static int inject(const struct injection *in, struct patch *patch, struct err *err) {
    struct strbuf text = {0};
    int r = check_size(in, err);
    if (r == 0)
        r = write_patch(in, &text, patch, err);
    strbuf_done(&text);
    return r;
}

/* ---- notes and warnings ---- */

/* Does a hard constraint exclude nodes for good? Then pods stay pending when the other nodes are
 * full, though the policy asks for it. */
static bool is_narrow(enum spread_fate fate, const struct spread_reach *reach) {
    enum spread_form form = spread_form(fate);
    return reach->lacking > 0 && (form == SPREAD_WHOLE || form == SPREAD_WITHOUT_MIN_DOMAINS);
}

/* Adds a warning about constraint i; the list has room. `text` is the end of the warning, and is
 * cleared. */
static void add_warning(const struct pod_question *q, uint32_t i, struct strbuf *text,
                        struct str *warnings, struct admission_outcome *ret) {
    struct arena *arena = q->head.arena;
    warnings[ret->warning_count++] = arena_printf(
        arena, "policy '%.*s': the constraint on '%.*s' %.*s", STR_ARG(q->policy->name),
        STR_ARG(q->policy->spread[i].topology_key), STR_ARG(strbuf_str(text)));
    arena->failed = arena->failed || strbuf_failed(text);
    strbuf_clear(text);
}

static int warn(const struct pod_question *q, const enum spread_fate *fates,
                const struct spread_reach *reach, struct admission_outcome *ret) {
    const uint32_t count = q->policy->spread_count;
    struct str *warnings = arena_array(q->head.arena, 2 * (size_t)count, sizeof *warnings);
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (uint32_t i = 0; warnings != NULL && i < count; i++) {
        if (spread_excuse(fates[i]) != NULL) {
            strbuf_append_str(&text, str_of(spread_excuse(fates[i])));
            add_warning(q, i, &text, warnings, ret);
        }
        if (is_narrow(fates[i], &reach[i])) {
            strbuf_appendf(&text,
                           "keeps the pod from %u of the %u nodes that it may use: they lack that "
                           "label",
                           reach[i].lacking, reach[i].allowed);
            add_warning(q, i, &text, warnings, ret);
        }
    }
    ret->warnings = warnings;
    return strbuf_failed(&text) || arena_failed(q->head.arena) ? -ENOMEM : 0;
}

/* Appends the keys of the constraints with this fate, after a word. */
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

static const char *done_to(enum spread_fate fate) {
    static const char *const forms[] = {[SPREAD_WHOLE] = "added",
                                        [SPREAD_WITHOUT_MIN_DOMAINS] = "added without minDomains",
                                        [SPREAD_SOFT] = "added as a preference",
                                        [SPREAD_NOT] = "left out"};
    if (fate == SPREAD_TERMS_CHANGED)
        return "made a preference";
    return fate == SPREAD_RENEWED ? "made again" : forms[spread_form(fate)];
}

/* Writes the note "added: zone; the pod's own: region; left out (NoNodeHasKey): zones". */
static int note(const struct pod_question *q, const enum spread_fate *fates,
                struct admission_outcome *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    char word[80];
    list(q->policy, fates, SPREAD_INJECTED, "added: ", &text);
    for (int fate = SPREAD_OWN + 1; fate < SPREAD_FATES; fate++) {
        (void)snprintf(word, sizeof word, "%s (%s): ", done_to((enum spread_fate)fate),
                       spread_reason((enum spread_fate)fate)); /* the text fits */
        list(q->policy, fates, (enum spread_fate)fate, word, &text);
    }
    list(q->policy, fates, SPREAD_OWN, "the pod's own: ", &text);
    ret->note = arena_str(q->head.arena, strbuf_str(&text));
    return strbuf_failed(&text) || arena_failed(q->head.arena) ? -ENOMEM : 0;
}

static uint32_t count_injected(const struct policy *policy, const enum spread_fate *fates) {
    uint32_t injected = 0;
    for (uint32_t i = 0; i < policy->spread_count; i++)
        injected += spread_is_injected(fates[i]);
    return injected;
}

/* Call after the constraints are in the patch: planned constraints may still be discarded, and do
 * not count. */
static void tally(const struct pod_question *q, const enum spread_fate *fates) {
    struct spread_tally *counts = pod_options(q)->spread;
    if (counts == NULL)
        return;
    counts->policy = q->policy->name;
    counts->each = fates;
    for (uint32_t i = 0; i < q->policy->spread_count; i++)
        counts->fates[fates[i]]++;
}

/* Writes the note, with the defaults of kube-scheduler that are kept. */
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

/* Injects the policy's constraints, and the defaults that the pod would lose by them. */
static int inject_all(const struct injection *in, struct patch *patch,
                      struct admission_outcome *ret, struct err *err) {
    const struct pod_question *q = in->q;
    const struct policy_spread *kept = NULL;
    uint32_t count = q->policy->spread_count, more = 0;
    if (spread_defaults(q, &kept, &more) != 0)
        return no_memory(err);
    if (more == 0)
        return inject(in, patch, err);
    struct arena *arena = q->head.arena;
    struct policy_spread *all = arena_array(arena, count + more, sizeof *all);
    enum spread_fate *fates = arena_array(arena, count + more, sizeof *fates);
    if (all == NULL || fates == NULL || note_kept(q, kept, more, ret) != 0)
        return no_memory(err);
    memcpy(all, q->policy->spread, count * sizeof *all);
    memcpy(fates, in->fates, count * sizeof *fates);
    for (uint32_t i = 0; i < more; i++) {
        all[count + i] = kept[i];
        fates[count + i] = SPREAD_INJECTED;
    }
    struct policy policy = *q->policy;
    struct pod_question whole = *q;
    policy.spread = all;
    policy.spread_count = count + more;
    whole.policy = &policy;
    const struct injection every = {&whole,          fates,     in->places,
                                    in->place_count, in->group, in->count + more};
    return inject(&every, patch, err);
}

/* Writes the note for a pod that gets no constraint at all. */
static void leave_alone(const struct pod_question *q, const struct pod_group *group,
                        struct admission_outcome *ret) {
    struct spread_tally *counts = pod_options(q)->spread;
    enum spread_fate fate = SPREAD_NO_GROUP;
    ret->note = STR("the pod has no labels that would make a group");
    if (group->source == GROUP_MEMBER) {
        fate = SPREAD_UNIT_MEMBER;
        ret->note = STR("the pod is one of a unit, and only the first pod of a unit is spread");
    } else if (group->source == GROUP_GANG) {
        fate = SPREAD_GANG;
        ret->note = arena_printf(
            q->head.arena,
            "the pod is one of a unit without a first pod ('%.*s'), and such a unit is not spread",
            STR_ARG(group->unit.name));
    }
    if (counts == NULL)
        return;
    counts->policy = q->policy->name;
    counts->fates[fate] += q->policy->spread_count;
}

static int run(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err) {
    const struct pod_question *q = pod_question(question);
    struct pod_group group;
    struct spread_reach *reach;
    enum spread_fate *fates;
    if (q->policy == NULL || q->policy->spread_count == 0)
        return 0;
    if (!steps_take(&q->head.arena->steps,
                    (uint64_t)q->policy->spread_count * (1 + q->pod.constraint_count)))
        return err_set(err, -E2BIG, "no steps left to look through the pod's constraints");
    int r = pod_group_find(q, &group);
    if (r != 0)
        return r == -E2BIG ? err_set(err, r, "no steps left to find its group") : no_memory(err);
    if (!pod_group_is_found(&group)) {
        leave_alone(q, &group, ret);
        return arena_failed(q->head.arena) ? no_memory(err) : 0;
    }
    uint32_t *places = arena_array(q->head.arena, q->policy->spread_count, sizeof *places);
    r = places == NULL ? -ENOMEM : spread_plan(q, &fates, &reach);
    if (r == 0)
        r = spread_renew(q, &group, fates, places);
    if (r == -E2BIG)
        return err_set(err, r, "no steps left to look at the pod's own terms and constraints");
    if (r != 0 || note(q, fates, ret) != 0 || warn(q, fates, reach, ret) != 0)
        return no_memory(err);
    const struct injection in = {
        q, fates, places, q->policy->spread_count, &group, count_injected(q->policy, fates)};
    r = in.count == 0 ? 0 : inject_all(&in, patch, ret, err);
    if (r == 0)
        tally(q, fates);
    return r;
}

const struct admission_plugin pod_plugin_spread = {.name = "spread", .run = run};

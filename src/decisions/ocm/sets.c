/*
 * Finds the available clusters of a Placement: bindings of its namespace -> sets -> clusters.
 * upstream: scheduling_controller.go getValidManagedClusterSetBindings(), getEligibleClusterSets(),
 * getAvailableClusters(); sdk-go cluster/v1beta2 BuildClusterSelector().
 */
#include "ocm/internal.h"

#include <stdlib.h>

static int compare_names(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Makes sorted copies of names, in the arena. */
static int sort_names(struct deciding *x, const struct str *names, uint32_t count,
                      struct str **ret) {
    struct str *copies = arena_array(x->arena, count, sizeof *copies);
    if (copies == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&x->arena->steps, count))
        return -E2BIG;
    if (count > 0)
        memcpy(copies, names, count * sizeof *copies);
    qsort(copies, count, sizeof *copies, compare_names);
    *ret = copies;
    return 0;
}

static bool has_name(const struct str *sorted, uint32_t count, struct str name) {
    return bsearch(&name, sorted, count, sizeof *sorted, compare_names) != NULL;
}

/* ---- the sets ---- */

/* Fills the decision's sets. A binding counts if a set has its name. */
static int find_sets(struct deciding *x) {
    const struct placement *p = x->placement;
    struct str *wanted = NULL;
    uint32_t count = 0;
    const struct str *bound = fleet_bindings(x->view, p->meta.namespace, &count);
    struct str *sets = arena_array(x->arena, count, sizeof *sets);
    if (sets == NULL)
        return -ENOMEM;
    int r = deciding_steps(x, count);
    if (r == 0)
        r = sort_names(x, p->sets, p->set_count, &wanted);
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        if (fleet_set_find(x->view, bound[i]) == NULL)
            continue;
        x->d->binding_count++;
        if (p->set_count == 0 || has_name(wanted, p->set_count, bound[i]))
            sets[x->d->set_count++] = bound[i];
    }
    x->d->sets = sets;
    return r;
}

/* ---- the clusters of the sets ---- */

/* Finds the clusters whose label names one of these sets. */
static int find_by_label(struct deciding *x, const struct str *sets, uint32_t set_count,
                         uint8_t *ret_flags) {
    struct topology_column column;
    int r = topology_column(&x->view->clusters, STR(CLUSTER_SET_LABEL), &column);
    uint8_t *chosen = r == 0 ? arena_alloc(x->arena, column.domains) : NULL;
    if (r == 0 && chosen == NULL)
        r = -ENOMEM;
    if (r == 0)
        r = deciding_steps(x, column.domains + x->left_count / 4);
    for (uint32_t domain = 0; r == 0 && domain < column.domains; domain++)
        chosen[domain] =
            topology_domain_used(&column, domain) &&
            has_name(sets, set_count, topology_value(&x->view->clusters, &column, domain));
    for (uint32_t i = 0; r == 0 && i < x->left_count; i++) {
        const uint32_t domain = column.domain_of[x->left[i]];
        ret_flags[i] = domain != TOPOLOGY_NONE && chosen[domain];
    }
    return r;
}

/* Adds the clusters that a set's selector matches. */
static int find_by_selector(struct deciding *x, const struct fleet_set *set, uint8_t *scratch,
                            uint8_t *flags) {
    memset(scratch, 1, x->left_count);
    int r = match_slots(x, &set->selector, x->left, x->left_count, scratch, NULL);
    for (uint32_t i = 0; r == 0 && i < x->left_count; i++)
        flags[i] |= scratch[i];
    return r;
}

static int stop_at_set(struct deciding *x, const struct fleet_set *set) {
    const struct str texts[] = {STR("failed to get clusterset: "), set->name,
                                STR(", clusters, Error: "), set->problem};
    deciding_stop(x, OCM_UNTOUCHED, STR(""), deciding_join(x, texts, 4));
    return arena_failed(x->arena) ? -ENOMEM : 0;
}

/* Sets the flag of each cluster in x->left that is in one of the sets. */
static int find_members(struct deciding *x, uint8_t *flags) {
    const struct ocm_decision *d = x->d;
    struct str *by_label = arena_array(x->arena, d->set_count, sizeof *by_label);
    uint8_t *scratch = arena_alloc(x->arena, x->left_count);
    uint32_t by_label_count = 0;
    if (by_label == NULL || scratch == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < d->set_count; i++) {
        const struct fleet_set *set = fleet_set_find(x->view, d->sets[i]);
        if (set->type == CLUSTER_SET_BY_LABEL)
            by_label[by_label_count++] = set->name;
        else if (set->problem.n > 0)
            return stop_at_set(x, set);
    }
    int r = by_label_count == 0 ? 0 : find_by_label(x, by_label, by_label_count, flags);
    for (uint32_t i = 0; r == 0 && i < d->set_count; i++) {
        const struct fleet_set *set = fleet_set_find(x->view, d->sets[i]);
        if (set->type == CLUSTER_SET_BY_SELECTOR)
            r = find_by_selector(x, set, scratch, flags);
    }
    return r;
}

/* ---- the names in the question ---- */

static int compare_absent(const void *a, const void *b) {
    return str_cmp(((const struct ocm_absent *)a)->name, ((const struct ocm_absent *)b)->name);
}

/* Lists the names of the question that are not available, and keeps only the clusters that the
 * question names. */
static int keep_names(struct deciding *x) {
    const struct ocm_question *q = x->question;
    uint32_t *slots = arena_array(x->arena, q->name_count, sizeof *slots);
    struct ocm_absent *absent = arena_array(x->arena, q->name_count, sizeof *absent);
    uint8_t *wanted = arena_alloc(x->arena, x->slots);
    uint32_t count = 0, unique = 0, left = 0;
    if (slots == NULL || absent == NULL || wanted == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&x->arena->steps, q->name_count))
        return -E2BIG;
    topology_find_all(&x->view->clusters, q->names, q->name_count, slots);
    for (uint32_t i = 0; i < q->name_count; i++) {
        const uint32_t slot = slots[i];
        const bool known = slot != TOPOLOGY_NONE;
        const bool terminating = known && (x->facts[slot] & SLOT_TERMINATING) != 0;
        if (known && !terminating && x->in_sets[slot] != 0)
            wanted[slot] = 1;
        else
            absent[count++] = (struct ocm_absent){q->names[i], !known        ? OCM_NOT_KNOWN
                                                               : terminating ? OCM_TERMINATING
                                                                             : OCM_NOT_IN_SETS};
    }
    qsort(absent, count, sizeof *absent, compare_absent);
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || !str_eq(absent[unique - 1].name, absent[i].name))
            absent[unique++] = absent[i];
    for (uint32_t i = 0; i < x->left_count; i++)
        if (wanted[x->left[i]] != 0)
            x->left[left++] = x->left[i];
    x->left_count = left;
    x->d->absent = absent;
    x->d->absent_count = unique;
    return 0;
}

struct str ocm_absence_text(enum ocm_absence why) {
    switch (why) {
    case OCM_NOT_KNOWN:
        return STR("there is no ManagedCluster of this name");
    case OCM_TERMINATING:
        return STR("the ManagedCluster is being deleted");
    case OCM_NOT_IN_SETS:
        break;
    }
    return STR("the ManagedCluster is in none of the sets that the Placement may use");
}

/* ---- the step ---- */

/* Keeps the known clusters that are in a set and not being deleted. */
static int keep_members(struct deciding *x, const uint8_t *flags) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < x->left_count; i++) {
        const uint32_t slot = x->left[i];
        x->in_sets[slot] = flags[i];
        const bool without = x->question->without != NULL && x->question->without[slot] != 0;
        if (flags[i] != 0 && (x->facts[slot] & SLOT_TERMINATING) == 0 && !without)
            x->left[left++] = slot;
    }
    x->left_count = left;
    return x->question->has_names ? keep_names(x) : 0;
}

int decide_sets(struct deciding *x) {
    uint8_t *flags = arena_alloc(x->arena, x->order.count);
    uint32_t *available;
    x->in_sets = arena_alloc(x->arena, x->slots);
    if (flags == NULL || x->in_sets == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < x->order.count; i++)
        if ((x->facts[x->order.slots[i]] & SLOT_KNOWN) != 0)
            x->left[x->left_count++] = x->order.slots[i];
    int r = deciding_steps(x, x->order.count / 4);
    if (r == 0)
        r = find_sets(x);
    if (r == 0)
        r = find_members(x, flags);
    if (r == 0 && x->d->outcome == OCM_UNTOUCHED)
        x->left_count = 0;
    if (r == 0)
        r = keep_members(x, flags);
    if (r != 0)
        return r;
    available = arena_array(x->arena, x->left_count, sizeof *available);
    if (available == NULL)
        return -ENOMEM;
    if (x->left_count > 0)
        memcpy(available, x->left, x->left_count * sizeof *available);
    x->d->available = available;
    x->d->available_count = x->left_count;
    return 0;
}

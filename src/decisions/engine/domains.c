#include "engine/algorithm.h"

#include <stdlib.h>

/* Adds a judged candidate to its domain. */
static void add_candidate(struct domain_report *d, enum verdict verdict, uint8_t reason) {
    d->nodes++;
    if (verdict == VERDICT_PASS) {
        d->passed++;
        return;
    }
    uint32_t i = 0;
    while (i < d->refused_count && d->refused[i].reason != reason)
        i++;
    if (i == DOMAIN_REFUSALS)
        return;
    if (i == d->refused_count)
        d->refused[d->refused_count++].reason = reason;
    d->refused[i].nodes++;
}

static int compare_reports(const void *a, const void *b) {
    const struct domain_report *x = a, *y = b;
    if (x->allowed != y->allowed)
        return x->allowed ? -1 : 1;
    if (x->pods != y->pods)
        return x->pods < y->pods ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static int report_one(struct evaluation *e, const struct algorithm *algorithm, void *state,
                      const struct filter_result *judged, uint32_t constraint,
                      struct applied_constraint *applied) {
    uint32_t slots = topology_slots(e->view->nodes.topology);
    struct domain_sheet sheet = {.of = arena_array_unset(e->arena, slots, sizeof *sheet.of)};
    if (sheet.of == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++)
        sheet.of[slot] = TOPOLOGY_NONE;
    if (algorithm->domains(e, state, constraint, &sheet) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t slot = e->slots[i];
        if (slot != TOPOLOGY_NONE && sheet.of[slot] != TOPOLOGY_NONE)
            add_candidate(&sheet.items[sheet.of[slot]], (enum verdict)judged->verdicts[i],
                          judged->reasons[i]);
    }
    qsort(sheet.items, sheet.count, sizeof *sheet.items, compare_reports);
    applied->reports = sheet.items;
    applied->report_count = sheet.count;
    return 0;
}

int domains_report(struct evaluation *e, const struct algorithm *algorithm, void *state,
                   const struct filter_result *judged, struct applied_constraint *applied,
                   uint32_t count) {
    /* Steps for one node: the prefixes of a rule, a name, and its place in the order. */
    enum { STEPS_A_NODE = 2 * ENGINE_MAX_ORDERED_TERMS + 16 };
    uint64_t slots = topology_slots(e->view->nodes.topology);
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < count && i < LIMIT_EXPLAINED_CONSTRAINTS; i++) {
        if (evaluation_take(e, slots * STEPS_A_NODE + (uint64_t)e->count * DOMAIN_REFUSALS) != 0)
            return 0;
        r = report_one(e, algorithm, state, judged, i, &applied[i]);
    }
    return r;
}

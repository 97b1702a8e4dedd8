/*
 * The clusters of a Placement in mode Scores that are left out: OCM does not select them despite
 * their items, or their items cannot be written. Each is tried again when it changes or its time is
 * over, and is left out for twice as long the next time.
 */
#include "hub/owned_internal.h"

#include <errno.h>
#include <stdlib.h>

enum {
    REFUSED_MAX_MS = 6 * 3600000, /* the longest time for which a cluster is left out */
    TIMES_MAX = 10,
};

void scored_done(struct owned *o) {
    for (uint32_t i = 0; i < o->refused_count; i++)
        strbuf_done(&o->refused[i].name);
    free(o->refused);
    o->refused = NULL;
    o->refused_count = o->refused_cap = 0;
}

static struct owned_refused *make_refused(struct owned *o, struct str cluster) {
    if (o->refused == NULL || o->refused_count == o->refused_cap) {
        const uint32_t cap = o->refused_cap > 0 ? 2 * o->refused_cap : 4;
        struct owned_refused *more = realloc(o->refused, cap * sizeof *more);
        if (more == NULL)
            return NULL; /* it will be found again */
        o->refused = more;
        o->refused_cap = cap;
    }
    struct owned_refused *r = &o->refused[o->refused_count];
    *r = (struct owned_refused){.times = 0};
    strbuf_append_str(&r->name, cluster);
    if (strbuf_failed(&r->name)) {
        strbuf_done(&r->name);
        return NULL;
    }
    o->refused_count++;
    return r;
}

/* `known`: an earlier refusal of the cluster, or NULL. Returns NULL without memory. */
static struct owned_refused *refuse(struct owned *o, struct owned_refused *known,
                                    struct str cluster, uint64_t inputs, int64_t now_ms,
                                    int64_t for_ms) {
    struct owned_refused *r = known != NULL ? known : make_refused(o, cluster);
    if (r == NULL)
        return NULL;
    const int64_t longer = for_ms << (r->times < TIMES_MAX ? r->times : TIMES_MAX);
    r->inputs = inputs;
    r->until_ms =
        now_ms + (longer < REFUSED_MAX_MS || for_ms > REFUSED_MAX_MS ? longer : REFUSED_MAX_MS);
    r->times++;
    r->unwritable = false;
    return r;
}

bool scored_refuse(struct owned *o, struct str cluster, uint64_t inputs, int64_t now_ms,
                   int64_t for_ms) {
    struct owned_refused *known = NULL;
    for (uint32_t i = 0; known == NULL && i < o->refused_count; i++)
        if (str_eq(strbuf_str(&o->refused[i].name), cluster))
            known = &o->refused[i];
    struct owned_refused *r = refuse(o, known, cluster, inputs, now_ms, for_ms);
    if (r != NULL)
        r->unwritable = true;
    return r != NULL;
}

bool scored_refuse_slot(struct placement_round *x, uint32_t slot) {
    const uint32_t place = x->scores.refused_at != NULL ? x->scores.refused_at[slot] : 0;
    return refuse(x->o, place > 0 ? &x->o->refused[place - 1] : NULL, ocm_cluster_name(&x->d, slot),
                  fleet_cluster(x->q->view, slot)->inputs, x->q->now_ms,
                  x->q->settings->refused_ms) != NULL;
}

void scored_find_due(struct placement_round *x) {
    for (uint32_t i = 0; x->scores.refused_at != NULL && i < x->d.plan.selected_count; i++) {
        const uint32_t place = x->scores.refused_at[x->d.plan.selected[i]];
        if (place > 0)
            x->o->refused[place - 1].is_due = true;
    }
}

/* Is the refusal over? The cluster has changed, OCM selects it after all, or it has its item. */
static bool is_past(const struct placement_round *x, const struct owned_refused *r, uint32_t slot,
                    const uint8_t *has, const uint8_t *selected) {
    return (r->unwritable ? has : selected)[slot] != 0 ||
           fleet_cluster(x->q->view, slot)->inputs != r->inputs;
}

int scored_leave_out(struct placement_round *x, const uint8_t *has) {
    struct owned *o = x->o;
    const struct topology *t = x->q->view->clusters.topology;
    uint32_t left = 0;
    if (o->refused_count == 0)
        return 0;
    x->scores.without = arena_alloc(x->arena, x->is.slots);
    x->scores.refused_at = arena_array(x->arena, x->is.slots, sizeof *x->scores.refused_at);
    uint8_t *selected = arena_alloc(x->arena, x->is.slots);
    if (x->scores.without == NULL || x->scores.refused_at == NULL || selected == NULL)
        return err_set(x->err, -ENOMEM, "no memory for the clusters that are refused");
    for (const struct fleet_decision *d = x->is.existing; d != NULL; d = d->next)
        for (uint32_t i = 0; i < d->slot_count; i++)
            selected[d->slots[i]] = 1;
    for (uint32_t i = 0; i < o->refused_count; i++) {
        struct owned_refused *r = &o->refused[i];
        const uint32_t slot = topology_slot(t, strbuf_str(&r->name));
        const bool is_known = slot != TOPOLOGY_NONE && topology_is_known(t, slot);
        if (!is_known || is_past(x, r, slot, has, selected)) {
            strbuf_done(&r->name);
            continue;
        }
        if (r->until_ms > x->q->now_ms) {
            x->scores.without[slot] = 1;
            x->ret->refused++;
            owned_wake_in(x, r->until_ms - x->q->now_ms);
        }
        r->is_due = false;
        o->refused[left++] = *r;
        x->scores.refused_at[slot] = left;
    }
    o->refused_count = left;
    return 0;
}

/* Is the cluster left out? Also true if its time is over, but only the next write shows if its
 * score can be written. */
static bool is_refused(const struct placement_round *x, const struct owned_refused *r) {
    return r->until_ms > x->q->now_ms || (r->unwritable && r->is_due);
}

struct ocm_condition scored_refused_condition(struct placement_round *x) {
    struct strbuf text = {0};
    enum { SHOWN = 5 };
    uint32_t count = 0;
    strbuf_append_str(&text, STR("these clusters are left out, because OCM does not select them, "
                                 "or their scores cannot be written: "));
    for (uint32_t i = 0; i < x->o->refused_count; i++) {
        if (!is_refused(x, &x->o->refused[i]) || count++ >= SHOWN)
            continue;
        strbuf_append_str(&text, count > 1 ? STR(", ") : STR(""));
        strbuf_append_str(&text, strbuf_str(&x->o->refused[i].name));
    }
    if (count > SHOWN)
        strbuf_appendf(&text, " and %u more", count - SHOWN);
    struct ocm_condition c = {owned_spread_condition, OCM_FALSE, STR("RefusedClusters"),
                              arena_str(x->arena, strbuf_str(&text))};
    strbuf_done(&text);
    return c;
}

bool scored_takes_refused(const struct placement_round *x) {
    for (uint32_t i = 0; x->scores.refused_at != NULL && i < x->is.decision_count; i++) {
        const uint32_t place = x->scores.refused_at[x->is.decisions[i]];
        if (place > 0 && is_refused(x, &x->o->refused[place - 1]))
            return true;
    }
    return false;
}

/*
 * Chooses the order in which items are added and removed. Hard terms must hold after each write.
 * OCM reads items cluster by cluster while it decides, so a decision may miss an item and have a
 * later item: the terms must hold with every combination of the items that OCM may not have seen.
 *
 * Domains are nested. Two clusters with the same domain of the last hard term have the same domains
 * of all hard terms. So only one cluster of each domain is tried: the fullest domain first to
 * remove an item, the emptiest domain first to add an item.
 */
#include "base/hash.h"
#include "hub/owned_internal.h"

#include <errno.h>

enum { TRIES = 32 }; /* domains to try before giving up */

struct domain {
    uint64_t hash;
    uint32_t count; /* number of its clusters that have an item */
    bool used, tried;
};

struct ordering {
    const struct scored_changes *changes;
    const uint64_t *hashes; /* [slots]: hash of the cluster's domain under the last hard term */
    const uint64_t *of_term[PLACEMENT_TERMS]; /* [slots]: hash by term; NULL: not made yet */
    uint8_t *worst;                           /* [slots]: the worst set of items for a term */
    bool waits;                               /* a change would hold if OCM had seen all items */
    struct domain *domains;                   /* a table of `mask` + 1 places, never full */
    uint32_t mask;
};

/* ---- domains ---- */

static struct domain *domain_of(const struct ordering *o, uint32_t slot) {
    const uint64_t hash = o->hashes[slot];
    uint32_t at = (uint32_t)hash & o->mask;
    while (o->domains[at].used && o->domains[at].hash != hash)
        at = (at + 1) & o->mask;
    return &o->domains[at];
}

static uint32_t last_hard_term(const struct placement_round *x) {
    uint32_t last = 0;
    for (uint32_t t = 0; t < x->d.term_count; t++)
        if (x->d.terms[t].hard)
            last = t;
    return last;
}

/* Hashes each cluster's domain of this term. Returns NULL without memory or steps. */
static const uint64_t *hash_domains(struct placement_round *x, uint32_t last) {
    uint64_t *hashes = arena_array(x->arena, x->is.slots, sizeof *hashes);
    for (uint32_t t = 0; hashes != NULL && t <= last; t++) {
        const struct placement_term *term = &x->d.terms[t];
        const struct str key = term->is_claim ? claim_key(term->key, x->arena) : term->key;
        struct topology_column column;
        if (topology_column(&x->q->view->clusters, key, &column) != 0)
            return NULL;
        for (uint32_t slot = 0; slot < x->is.slots; slot++)
            hashes[slot] = hash_mix(hashes[slot], column.domain_of[slot]);
    }
    return hashes;
}

static void enter(struct ordering *o, uint32_t slot, uint32_t count) {
    struct domain *d = domain_of(o, slot);
    d->hash = o->hashes[slot];
    d->used = true;
    d->count += count;
}

static bool begin(const struct scored_changes *c, struct ordering *ret) {
    struct placement_round *x = c->x;
    const uint64_t passes = last_hard_term(x) + 3 + TRIES; /* most passes over all clusters */
    if (!steps_take(&x->arena->steps, passes * x->is.slots))
        return false;
    const uint32_t most = c->has_count + c->add_count;
    *ret = (struct ordering){.changes = c, .hashes = hash_domains(x, last_hard_term(x)), .mask = 1};
    while (ret->mask <= most) /* twice as many places, at least */
        ret->mask = 2 * ret->mask + 1;
    ret->mask = 2 * ret->mask + 1;
    ret->domains = arena_array(x->arena, (size_t)ret->mask + 1, sizeof *ret->domains);
    ret->worst = arena_alloc(x->arena, x->is.slots);
    if (ret->hashes == NULL || ret->domains == NULL || ret->worst == NULL)
        return false; /* no steps are left, or the arena has failed */
    for (uint32_t slot = 0; slot < x->is.slots; slot++)
        if (c->has[slot] != 0 && x->is.fits[slot] != 0)
            enter(ret, slot, 1);
    for (uint32_t i = 0; i < c->add_count; i++)
        enter(ret, c->add[i], 0);
    for (uint32_t i = 0; i < c->remove_count; i++)
        enter(ret, c->remove[i], 0);
    return true;
}

/* ---- tries ---- */

/* Returns a cluster of a domain not tried yet; TOPOLOGY_NONE: all were tried. A cluster that does
 * not fit comes first: it bears on no term. */
static uint32_t next_try(const struct ordering *o, const uint32_t *slots, uint32_t count,
                         bool fullest) {
    uint32_t best = TOPOLOGY_NONE, best_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct domain *d = domain_of(o, slots[i]);
        if (o->changes->x->is.fits[slots[i]] == 0)
            return slots[i];
        if (d->tried ||
            (best != TOPOLOGY_NONE && (fullest ? d->count <= best_count : d->count >= best_count)))
            continue;
        best = slots[i];
        best_count = d->count;
    }
    return best;
}

/* Does the term hold for the worst set of items that OCM may see? If a cluster is added: all
 * unseen items of its domain, and no unseen item of other domains. If it is removed, the
 * reverse. */
static bool holds_at_worst(struct ordering *o, const uint8_t *flags, uint32_t slot, uint32_t term,
                           bool goes) {
    const struct scored_changes *c = o->changes;
    struct placement_round *x = c->x;
    if (o->of_term[term] == NULL)
        o->of_term[term] = hash_domains(x, term);
    const uint64_t *hashes = o->of_term[term];
    if (hashes == NULL || !steps_take(&x->arena->steps, x->is.slots)) {
        x->now.failed = x->now.failed != 0 ? x->now.failed : hashes == NULL ? -ENOMEM : -E2BIG;
        return false;
    }
    for (uint32_t i = 0; i < x->is.slots; i++)
        o->worst[i] =
            c->unseen[i] != 0 && i != slot ? (hashes[i] == hashes[slot]) != goes : flags[i];
    return goes ? owned_terms_hold(x, o->worst) : !owned_is_above(x, o->worst, slot);
}

/* Do hard terms hold with these items, whichever unseen items OCM sees? */
static bool holds_for_ocm(struct ordering *o, const uint8_t *flags, uint32_t slot, bool goes) {
    const struct scored_changes *c = o->changes;
    const struct placement_round *x = c->x;
    if (c->unseen == NULL || x->is.fits[slot] == 0)
        return true;
    /* if OCM misses an added item but sees the removal, too few clusters would be left */
    bool hold = c->unseen[slot] == 0 && (!goes || c->unseen_adds == 0);
    for (uint32_t t = 0; hold && t < x->d.term_count; t++)
        hold = !x->d.terms[t].hard || holds_at_worst(o, flags, slot, t, goes);
    return hold;
}

/* Returns a cluster whose change leaves hard terms intact; TOPOLOGY_NONE: no tried cluster does. */
static uint32_t one_that_holds(struct ordering *o, const uint32_t *slots, uint32_t count,
                               bool goes) {
    struct placement_round *x = o->changes->x;
    uint8_t *flags = arena_alloc(x->arena, x->is.slots);
    if (flags == NULL)
        return TOPOLOGY_NONE; /* the arena has failed */
    memcpy(flags, o->changes->has, x->is.slots);
    for (uint32_t i = 0; i < TRIES; i++) {
        const uint32_t slot = next_try(o, slots, count, goes);
        if (slot == TOPOLOGY_NONE)
            break;
        flags[slot] ^= 1;
        const bool holds = owned_terms_hold(x, flags);
        if (holds && holds_for_ocm(o, flags, slot, goes))
            return slot;
        o->waits = o->waits || holds;
        flags[slot] ^= 1;
        domain_of(o, slot)->tried = true;
        if (x->now.failed != 0 || x->is.fits[slot] == 0)
            break; /* the others cannot be tried */
    }
    return TOPOLOGY_NONE;
}

/* OCM has room for all items but one. Does it leave out the new cluster, or a cluster to be
 * removed? It takes the clusters with the highest sums, then the first by name. */
static bool leaves_nobody_wanted_out(const struct scored_changes *c, uint32_t added) {
    const struct placement_round *x = c->x;
    uint32_t last = added;
    for (uint32_t slot = 0; slot < x->is.slots; slot++) {
        if (c->has[slot] == 0 || x->is.fits[slot] == 0)
            continue;
        const int64_t sum = x->d.sums[slot], least = x->d.sums[last];
        if (sum < least || (sum == least && str_cmp(ocm_cluster_name(&x->d, slot),
                                                    ocm_cluster_name(&x->d, last)) > 0))
            last = slot;
    }
    bool goes = last == added;
    for (uint32_t i = 0; i < c->remove_count; i++)
        goes = goes || c->remove[i] == last;
    return goes;
}

/* Chooses an item to add. Adding before removing keeps OCM from having too few clusters; it needs
 * room for the item in OCM, or OCM must leave out a cluster that may go. */
static uint32_t one_that_comes(struct ordering *o) {
    const struct scored_changes *c = o->changes;
    const uint32_t target = c->x->target.count;
    bool wait = c->has_count > target;
    for (uint32_t i = 0; i < c->remove_count; i++) /* OCM has room once these are gone */
        wait = wait || (c->has_count == target && c->x->is.fits[c->remove[i]] == 0);
    if (wait)
        return TOPOLOGY_NONE;
    const uint32_t slot = one_that_holds(o, c->add, c->add_count, false);
    const bool may = slot == TOPOLOGY_NONE || c->has_count < target || !c->x->d.summed ||
                     leaves_nobody_wanted_out(c, slot);
    return may ? slot : TOPOLOGY_NONE;
}

/*
 * Adds an item where OCM has room for it, or leaves it out until another one goes; otherwise
 * removes one, so that one cluster is missing for a moment. If numberOfClusters is 1, the next item
 * is added before the old one goes: OCM takes one of the two clusters, and one cluster is always
 * even. If no order is even at each moment, the order is the plan's.
 */
int scored_next_of_hard(const struct scored_changes *c, uint32_t *ret) {
    struct ordering o;
    const struct placement *p = &c->x->is.placement;
    *ret = c->add_count > 0 ? c->add[0] : TOPOLOGY_NONE;
    if (p->has_number && p->number == 1 && c->has_count == 1 && c->add_count == 1)
        return 0;
    if (!begin(c, &o))
        return err_set(c->x->err, arena_failed(c->x->arena) ? -ENOMEM : -E2BIG,
                       "too many clusters to find which score comes next");
    uint32_t slot = one_that_comes(&o);
    const bool comes_later = slot == TOPOLOGY_NONE && o.waits;
    for (uint32_t i = 0; i <= o.mask; i++)
        o.domains[i].tried = false;
    if (slot == TOPOLOGY_NONE)
        slot = one_that_holds(&o, c->remove, c->remove_count, true);
    if (c->x->now.failed != 0)
        return err_set(c->x->err, c->x->now.failed, "cannot find which score comes next");
    if (slot != TOPOLOGY_NONE && comes_later && c->x->is.fits[slot] != 0)
        slot = TOPOLOGY_NONE;
    if (slot == TOPOLOGY_NONE && c->unseen == NULL)
        slot = c->remove_count > 0 ? c->remove[0] : *ret;
    *ret = slot;
    return 0;
}

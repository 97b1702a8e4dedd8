/*
 * A Placement in mode Scores. OCM's controller decides by items of AddOnPlacementScores: 100 for
 * each cluster of the plan, nothing for others. A prioritizer of the highest weight and, for hard
 * terms, a gate in every predicate read them (model/injected.h). The webhook adds both to a new
 * Placement, with a key that no item has; this file writes the Placement's own key once its items
 * are there, as for a Placement that is older.
 *
 *     plan -> items, one write at a time -> what the Placement lacks -> OCM decides -> as planned?
 *
 * Hard terms hold once OCM heeds the items, because it sees them in the order of their writes: an
 * item is added only where there is room for it (hub/scored_order.c). A decision of OCM may still
 * miss an item and have a later one, so an item changes only if terms hold whichever other items
 * OCM has seen: its decisions show which. OCM watches Placements separately, so an older Placement
 * gets its gate after the prioritizer, when OCM has seen its items. Without hard terms, items are
 * added before others are removed.
 *
 * A cluster is refused if OCM does not select it within a time, though it has its item, too few
 * clusters are selected and nothing else is under way: Evenkeel does not know what keeps OCM from
 * it, for example a CEL expression. It is left out until it changes, or a longer time is over
 * (hub/scored_refused.c).
 *
 * hub/scored_sweep.h removes the items of deleted Placements.
 */
#include "admission/placements/decision.h"
#include "base/hash.h"
#include "base/limits.h"
#include "hub/owned_internal.h"

#include <errno.h>

enum {
    PATIENCE_MS = 5000, /* after this time a condition reports that OCM has not answered yet */
    SLOWEST_TIMES = 3,
    SLOWEST_MAX_MS = 600000,
    SILENT_TIMES = 10, /* times refused_after(): then silence counts as a refusal */
    STATUS_MS = 500,   /* OCM's status may be this much later than its decisions */
    HEED_MS = 250,     /* OCM ends within this time a decision that it has begun */
};

/* ---- the present state ---- */

/* Hashes the versions of OCM's decisions: another hash means that OCM has written. */
static uint64_t hash_of_versions(const struct placement_round *x) {
    uint64_t hash = 0; /* a sum, because the order of the decisions does not matter */
    for (const struct fleet_decision *d = x->is.existing; d != NULL; d = d->next)
        hash += hash_mix(hash_str(d->name), hash_str(d->version));
    return hash;
}

/* Does the Placement already have its own key, so that OCM heeds its items? */
static bool had_own_key(const struct placement_round *x) {
    return x->is.injected.valid && injected_key_eq(x->is.injected.key, x->ret->key);
}

static bool is_gated(const struct placement_round *x) {
    bool any = false;
    for (uint32_t i = 0; i < x->is.placement.predicate_count; i++)
        any = any || x->is.placement.predicates[i].is_gated;
    return any;
}

/* Does the Placement wait for its first gate? Until then OCM also selects clusters without an item.
 * A gate that somebody has removed is put back at once. */
static bool lacks_first_gate(const struct placement_round *x) {
    const bool was_gated = had_own_key(x) && x->is.injected.gated;
    return owned_has_hard_terms(x) && !is_gated(x) && !was_gated;
}

/* Marks the clusters that have the Placement's item. [slots]. NULL: no memory or steps are left. */
static uint8_t *find_published(struct placement_round *x, uint32_t *ret_count) {
    const struct injected_key key = x->ret->key;
    const struct fleet_scores *scores =
        fleet_scores_find(x->q->view, arena_printf(x->arena, INJECTED_RESOURCE, key.shard));
    const uint32_t name =
        fleet_score_name(x->q->view, arena_printf(x->arena, INJECTED_SCORE, key.shard, key.number));
    uint8_t *flags = arena_alloc(x->arena, x->is.slots);
    *ret_count = 0;
    if (flags == NULL || !steps_take(&x->arena->steps, x->is.slots))
        return NULL;
    for (uint32_t slot = 0; scores != NULL && name != INTERN_NONE && slot < x->is.slots; slot++)
        if (fleet_score_of(scores, slot, name).value > 0) {
            flags[slot] = 1;
            ++*ret_count;
        }
    return flags;
}

enum { MEMORY_MS = 1000 }; /* the wait before a refusal that found no memory is tried again */

/* Plans at once without the clusters that were refused. */
static void plan_without(struct placement_round *x, bool are_noted) {
    owned_wake_in(x, are_noted ? 0 : MEMORY_MS);
}

/* ---- has OCM answered? ---- */

static int64_t refused_after(const struct placement_round *x) {
    int64_t slow = SLOWEST_TIMES * x->q->slowest_ms;
    slow = slow < SLOWEST_MAX_MS ? slow : SLOWEST_MAX_MS;
    return slow > x->q->settings->refused_after_ms ? slow : x->q->settings->refused_after_ms;
}

static uint64_t hash_of_decisions(const struct placement_round *x) {
    uint64_t hash = 0; /* a sum, because the order of the decisions does not matter */
    for (uint32_t i = 0; i < x->is.decision_count; i++)
        hash += hash_mix(1, x->is.decisions[i]);
    return hash;
}

/* Counts the clusters that OCM has selected and has no reason to take away. Leaves out `going`. */
static uint32_t count_kept(const struct placement_round *x, uint32_t going) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->is.decision_count; i++) {
        const uint32_t slot = x->is.decisions[i];
        const bool is_member = x->scores.members == NULL || x->scores.members[slot] != 0;
        count += slot != going && x->is.fits[slot] != 0 && is_member;
    }
    return count;
}

/* Notes OCM's decisions: a later difference from them is OCM's answer. `going`: the cluster that
 * OCM shall take away; TOPOLOGY_NONE: no cluster. */
static void note_decisions(struct placement_round *x, uint32_t going) {
    x->o->asked_count = count_kept(x, going);
    x->o->asked_decisions = hash_of_decisions(x);
}

/* Has OCM answered since the last write, here or for another Placement? An OCM that does not run,
 * or that only takes clusters away, refuses no cluster. */
static bool is_alive(const struct placement_round *x) {
    return x->o->asked_decisions != hash_of_decisions(x) || x->q->answered_ms > x->o->asked_ms;
}

/* Begins to wait for OCM, and begins anew when it takes clusters away. A new leader has not seen
 * what OCM wrote before. */
static void begin_asking(struct placement_round *x) {
    struct owned *o = x->o;
    const bool shrank = count_kept(x, TOPOLOGY_NONE) < o->asked_count;
    if (o->asks && !shrank)
        return;
    o->asks = true;
    o->asked_ms = x->q->now_ms;
    if (shrank || o->versions == 0)
        note_decisions(x, TOPOLOGY_NONE);
    if (o->versions == 0)
        o->versions = hash_of_versions(x);
}

/* Is OCM's time for an answer over? OCM then refuses the clusters that it has not selected. */
static bool is_over(const struct placement_round *x) {
    const int64_t waited = x->q->now_ms - x->o->asked_ms, after = refused_after(x);
    return waited >= after && (is_alive(x) || waited >= SILENT_TIMES * after);
}

static int refuse_all(struct placement_round *x, const uint32_t *slots, uint32_t count) {
    bool are_noted = true;
    for (uint32_t i = 0; i < count; i++)
        are_noted = scored_refuse_slot(x, slots[i]) && are_noted;
    x->o->asks = false;
    plan_without(x, are_noted);
    return 0;
}

/* Does OCM say that it decides nothing? It may have found a mistake that Evenkeel cannot see, such
 * as a CEL expression that does not compile. Then it refuses no cluster. */
static int find_mistake(struct placement_round *x, bool *ret, struct str *ret_message) {
    struct status_condition ocms;
    int r = status_find(x->is.state.status, x->d.conditions[CONDITION_MISCONFIGURED].type, x->arena,
                        &ocms, x->err);
    *ret = r == 0 && str_eq(ocms.status, ocm_status_names[OCM_TRUE]);
    *ret_message = *ret ? ocms.message : STR("");
    return r;
}

/* ---- which items OCM has not seen ---- */

/* Does OCM evaluate CEL, which Evenkeel does not? Then it may refuse a cluster and not answer. */
static bool has_expressions(const struct placement_round *x) {
    bool any = false;
    for (uint32_t i = 0; i < x->is.placement.predicate_count; i++)
        any = any || x->is.placement.predicates[i].has_cel;
    return any;
}

/*
 * Finds items that OCM may not have seen. Once it heeds items, it selects only clusters with an
 * item, as many as it has room for. If it has no room, its decisions show nothing.
 */
static int find_unseen(struct scored_changes *p) {
    struct placement_round *x = p->x;
    const uint64_t number =
        x->is.placement.has_number ? (uint64_t)x->is.placement.number : UINT64_MAX;
    uint8_t *unseen = arena_alloc(x->arena, x->is.slots);
    uint32_t both = 0, gone = 0;
    if (unseen == NULL || !steps_take(&x->arena->steps, x->is.slots))
        return err_set(x->err, unseen == NULL ? -ENOMEM : -E2BIG,
                       "too many clusters to find which scores OCM has seen");
    for (uint32_t i = 0; i < x->is.decision_count; i++)
        unseen[x->is.decisions[i]] = 1;
    for (uint32_t slot = 0; slot < x->is.slots; slot++) {
        const bool has = p->has[slot] != 0, decided = unseen[slot] != 0;
        const bool counts =
            x->is.fits[slot] != 0 && (x->scores.without == NULL || x->scores.without[slot] == 0);
        unseen[slot] = counts && has != decided;
        both += counts && has && decided;
        gone += counts && !has && decided;
        p->unseen_adds += counts && has && !decided;
    }
    if (both >= number) /* it has no room */
        p->unseen_adds = 0;
    for (uint32_t slot = 0; p->unseen_adds == 0 && slot < x->is.slots; slot++)
        unseen[slot] = unseen[slot] != 0 && p->has[slot] == 0;
    if (gone + p->unseen_adds > 0)
        p->unseen = unseen;
    return 0;
}

/* Does an item wait so long for OCM that the condition must report it? */
static bool is_waited_for(const struct scored_changes *p) {
    const struct owned *o = p->x->o;
    return p->unseen != NULL && o->asks && p->x->q->now_ms - o->asked_ms >= PATIENCE_MS;
}

/* Waits for OCM's answer to the items before the next one. *ret_goes_on: has waited long enough. */
static int wait_to_be_seen(struct scored_changes *p, bool *ret_goes_on) {
    struct placement_round *x = p->x;
    const bool may_refuse = has_expressions(x);
    begin_asking(x);
    const int64_t waited = x->q->now_ms - x->o->asked_ms,
                  after = may_refuse ? HEED_MS : refused_after(x);
    *ret_goes_on = may_refuse ? waited >= after : is_over(x);
    if (waited < PATIENCE_MS)
        owned_wake_in(x, PATIENCE_MS - waited);
    if (!*ret_goes_on) {
        owned_wake_in(x, waited < after ? after - waited : after);
        return 0;
    }
    uint32_t *missing = arena_array(x->arena, p->unseen_adds, sizeof *missing), count = 0;
    if (missing == NULL)
        return err_set(x->err, -ENOMEM, "no memory for the scores of a Placement");
    for (uint32_t slot = 0; slot < x->is.slots; slot++)
        if (p->unseen[slot] != 0 && p->has[slot] != 0)
            missing[count++] = slot;
    bool mistaken;
    struct str message;
    int r = find_mistake(x, &mistaken, &message);
    *ret_goes_on = r == 0 && !mistaken && (may_refuse || count == 0);
    if (r == 0 && mistaken)
        owned_wake_in(x, after);
    if (*ret_goes_on)
        p->unseen = NULL;
    return r != 0 || mistaken || *ret_goes_on ? r : refuse_all(x, missing, count);
}

/* ---- which item comes next ---- */

static int find_changes(struct scored_changes *p) {
    struct placement_round *x = p->x;
    uint8_t *wants = arena_alloc(x->arena, x->is.slots);
    p->add = arena_array(x->arena, x->target.count, sizeof *p->add);
    p->remove = arena_array(x->arena, p->has_count, sizeof *p->remove);
    if (wants == NULL || p->add == NULL || p->remove == NULL)
        return err_set(x->err, -ENOMEM, "no memory for the scores of a Placement");
    for (uint32_t i = 0; i < x->target.count; i++) {
        wants[x->target.slots[i]] = 1;
        if (p->has[x->target.slots[i]] == 0)
            p->add[p->add_count++] = x->target.slots[i];
    }
    for (uint32_t slot = 0; slot < x->is.slots; slot++)
        if (p->has[slot] != 0 && wants[slot] == 0)
            p->remove[p->remove_count++] = slot;
    return 0;
}

/* A write begins: from now on OCM has something to answer. `going`: as in note_decisions(). */
static void begin_writing(struct placement_round *x, uint32_t going) {
    x->o->asks = false;
    x->o->versions = hash_of_versions(x);
    note_decisions(x, going);
}

/* Returns how long the AddOnPlacementScore of that cluster must not be written. */
static int64_t denied_ms(struct placement_round *x, uint32_t slot) {
    const struct str cluster = ocm_cluster_name(&x->d, slot);
    return x->q->denied_ms == NULL
               ? 0
               : x->q->denied_ms(x->q->ctx, arena_printf(x->arena, "%.*s/" INJECTED_RESOURCE,
                                                         STR_ARG(cluster), x->ret->key.shard));
}

/* Finds the AddOnPlacementScore of that cluster. */
static bool find_object(struct placement_round *x, uint32_t slot, struct fleet_score_object *ret) {
    const struct str resource = arena_printf(x->arena, INJECTED_RESOURCE, x->ret->key.shard);
    return fleet_score_object(x->q->view, ocm_cluster_name(&x->d, slot), resource, ret);
}

/* OCM reads the items one by one while it decides: if an item is removed just after another one was
 * added, it may miss both. */
static bool wait_for_heed(struct placement_round *x) {
    const struct owned *o = x->o;
    const int64_t left = o->last_ms + HEED_MS - x->q->now_ms;
    const bool waits = o->last.what == OWNED_SCORE && o->last.comes && left > 0;
    if (waits)
        owned_wake_in(x, left);
    return waits;
}

/* Without hard terms items go in any order, so an object that is denied holds up no other. */
static uint32_t next_of_soft(const struct scored_changes *p) {
    struct placement_round *x = p->x;
    if (p->add_count > 0)
        return p->add[0];
    for (uint32_t i = 0; i < p->remove_count && steps_take(&x->arena->steps, 1); i++)
        if (denied_ms(x, p->remove[i]) == 0)
            return p->remove[i];
    return p->remove[0];
}

/* *ret is TOPOLOGY_NONE if the next item must wait. */
static int next_of_hard(struct scored_changes *p, uint32_t *ret) {
    bool goes_on = true;
    int r = scored_next_of_hard(p, ret);
    if (r != 0 || *ret != TOPOLOGY_NONE || p->unseen == NULL)
        return r;
    r = wait_to_be_seen(p, &goes_on);
    return r == 0 && goes_on ? scored_next_of_hard(p, ret) : r;
}

static int write_item(struct scored_changes *p) {
    struct placement_round *x = p->x;
    const bool hard = owned_has_hard_terms(x);
    struct fleet_score_object object;
    uint32_t slot = TOPOLOGY_NONE;
    int r = 0;
    if (hard)
        r = next_of_hard(p, &slot);
    else
        slot = next_of_soft(p);
    if (r != 0 || slot == TOPOLOGY_NONE ||
        (hard && p->has[slot] != 0 && x->is.fits[slot] != 0 && wait_for_heed(x)))
        return r;
    const int64_t denied = denied_ms(x, slot);
    if (p->has[slot] != 0 && denied > 0) {
        owned_wake_in(x, denied);
        return 0;
    }
    const bool exists = find_object(x, slot, &object);
    const bool is_full = exists && object.item_count >= LIMIT_SCORE_ITEMS; /* of other Placements */
    if (exists || denied > 0) /* a new object has no item yet */
        begin_writing(x, p->has[slot] != 0 ? slot : TOPOLOGY_NONE);
    if (p->has[slot] == 0 && (denied > 0 || is_full)) {
        plan_without(x, scored_refuse(x->o, ocm_cluster_name(&x->d, slot),
                                      fleet_cluster(x->q->view, slot)->inputs, x->q->now_ms,
                                      denied > 0 ? denied : x->q->settings->refused_ms));
        return 0;
    }
    x->o->inputs = fleet_cluster(x->q->view, slot)->inputs;
    return scored_write_item(x, slot, p->has[slot] == 0);
}

/* ---- the marks that the Placement lacks ---- */

static enum admission edit(struct placement_round *x, bool inject, bool gate, struct patch *patch) {
    const struct placement_live live = {
        .policies = x->q->policies,
        .view = x->q->view,
        .namespace = x->q->namespace,
        .json = fleet_placement_json(x->q->view, x->q->namespace, x->q->name),
        .inject = inject,
        .without_gate = !gate,
        .key = x->ret->key};
    return placement_live_edit(&live, x->arena, patch);
}

int scored_leave(struct placement_round *x, bool *ret_done) {
    struct patch patch;
    *ret_done = true;
    if (!x->is.has_ours || edit(x, false, false, &patch) != ADMISSION_PATCHED)
        return 0;
    *ret_done = false;
    return x->is.doubt == DOUBT_NONE ? scored_write_injection(x, patch.document) : 0;
}

/* ---- OCM's decisions ---- */

/* Lists the targets that are not among OCM's decisions. */
static uint32_t find_missing(struct placement_round *x, uint32_t *missing) {
    uint8_t *has = arena_alloc(x->arena, x->is.slots);
    uint32_t count = 0;
    for (uint32_t i = 0; has != NULL && i < x->is.decision_count; i++)
        has[x->is.decisions[i]] = 1;
    for (uint32_t i = 0; has != NULL && i < x->target.count; i++)
        if (has[x->target.slots[i]] == 0)
            missing[count++] = x->target.slots[i];
    return count;
}

static struct ocm_condition unknown(const char *reason, const char *message) {
    return (struct ocm_condition){owned_spread_condition, OCM_UNKNOWN, str_of(reason),
                                  str_of(message)};
}

static struct ocm_condition waiting_for_scores(void) {
    return unknown("WaitingForScores",
                   "OCM has not decided by all scores yet: it is slow, or does not run");
}

static struct ocm_condition misconfigured(struct placement_round *x, struct str message) {
    return (struct ocm_condition){
        owned_spread_condition, OCM_UNKNOWN, ocm_spread_reason_names[OCM_SPREAD_MISCONFIGURED],
        arena_printf(x->arena, "OCM does not decide it: %.*s", STR_ARG(message))};
}

/* Makes the condition for an OCM that has not answered for some time. The condition names OCM's
 * own reason, if OCM gives a reason. */
static int waiting_condition(struct placement_round *x, struct ocm_condition *ret) {
    bool mistaken;
    struct str message;
    int r = find_mistake(x, &mistaken, &message);
    *ret = mistaken ? misconfigured(x, message) : waiting_for_scores();
    return r;
}

static int write_condition(struct placement_round *x, struct ocm_condition condition) {
    const struct status_wanted wanted = {.conditions = &condition, .condition_count = 1};
    return owned_write_status(x, &wanted);
}

/* OCM writes a Placement's status after its decisions. If we wrote the status in between, our
 * write or OCM's would be out of date. So our write waits for OCM's, though not for long. */
static int wait_for_status(struct placement_round *x, bool *ret_waits) {
    struct owned *o = x->o;
    int64_t selected;
    int r = status_selected(x->is.state.status, x->arena, &selected, x->err);
    const bool behind = (selected > 0 ? selected : 0) != x->is.decision_count;
    if (behind && !o->behind)
        o->behind_ms = x->q->now_ms;
    o->behind = behind;
    const int64_t left = o->behind_ms + STATUS_MS - x->q->now_ms;
    *ret_waits = r == 0 && behind && left > 0;
    if (*ret_waits)
        owned_wake_in(x, left);
    return r;
}

/* Returns the condition when nothing of mode Scores stands in the way. */
static struct ocm_condition condition_now(struct placement_round *x) {
    return x->ret->refused > 0 ? scored_refused_condition(x) : owned_spread_now(x);
}

static int mend_condition(struct placement_round *x) {
    const struct ocm_condition condition = condition_now(x);
    return owned_mend_condition(x, &condition);
}

/* OCM has all items, but its decisions are not as planned. */
static int wait_for_ocm(struct placement_round *x, const uint32_t *missing, uint32_t count) {
    struct owned *o = x->o;
    begin_asking(x);
    const int64_t waited = x->q->now_ms - o->asked_ms, after = refused_after(x);
    const bool has_room = x->is.decision_count < x->target.count;
    if (waited < PATIENCE_MS)
        owned_wake_in(x, PATIENCE_MS - waited);
    owned_wake_in(x, waited < after ? after - waited : after);
    bool mistaken;
    struct str message;
    int r = find_mistake(x, &mistaken, &message);
    if (r != 0)
        return r;
    if (waited >= PATIENCE_MS && mistaken)
        return write_condition(x, misconfigured(x, message));
    if (is_over(x) && has_room && count > 0)
        return refuse_all(x, missing, count);
    if (waited < PATIENCE_MS)
        return mend_condition(x);
    if (scored_takes_refused(x))
        return write_condition(x, scored_refused_condition(x));
    if (waited < after || has_room)
        return write_condition(x, waiting_for_scores());
    return write_condition(x, unknown("Outweighed",
                                      "OCM decides otherwise: prioritizers of the Placement "
                                      "outweigh the spread"));
}

/* ---- when the gate may be added ---- */

/* Would adding the gate now remove clusters? OCM watches Placements and scores separately, and may
 * not have seen our scores yet. */
static bool may_lose(const struct placement_round *x) {
    return x->is.decision_count > 0 && lacks_first_gate(x);
}

/* Has OCM seen the items? It has if it has written decisions since it was made to heed them, and
 * these have all planned clusters. If it writes nothing, or refuses a cluster, it gets the time
 * that a refused cluster has; an OCM that does not run lists both anew when it starts. */
static int find_heeding(struct placement_round *x, bool *ret) {
    struct owned *o = x->o;
    uint32_t *missing = arena_array(x->arena, x->target.count, sizeof *missing);
    *ret = false;
    if (missing == NULL)
        return err_set(x->err, -ENOMEM, "no memory for decisions");
    if (!had_own_key(x))
        return 0; /* OCM must heed the items first */
    const bool all = find_missing(x, missing) == 0;
    begin_asking(x);
    const bool wrote = o->versions != hash_of_versions(x);
    const int64_t waited = x->q->now_ms - o->asked_ms, after = refused_after(x);
    *ret = (all && wrote) || waited >= after;
    if (!*ret)
        owned_wake_in(x, after - waited);
    return 0;
}

static int look_at_decisions(struct placement_round *x) {
    struct owned *o = x->o;
    uint32_t *missing = arena_array(x->arena, x->target.count, sizeof *missing);
    if (missing == NULL)
        return err_set(x->err, -ENOMEM, "no memory for decisions");
    const uint32_t count = find_missing(x, missing);
    if (count > 0 || x->is.decision_count != x->target.count)
        return wait_for_ocm(x, missing, count);
    const int64_t waited = x->q->now_ms - o->asked_ms;
    if (o->asks && waited < refused_after(x)) /* otherwise it was something else */
        x->ret->answered_ms = waited + 1;
    o->asks = false;
    return write_condition(x, condition_now(x));
}

/* ---- a look ---- */

/* Keeps the decisions of a Placement that cannot be decided. */
static int keep(struct placement_round *x) {
    x->ret->result = OWNED_KEPT;
    x->ret->kept = owned_why_kept(x);
    return write_condition(x, owned_kept_condition(x));
}

static int leave_undone(struct placement_round *x) {
    const struct ocm_condition condition =
        unknown("Undone", "the entries that make OCM use the scores were taken away more than "
                          "three times in an hour: OCM decides without the scores");
    x->ret->result = OWNED_KEPT;
    x->ret->left_undone = true;
    if (x->ret->undone)
        x->ret->note = condition.message;
    return write_condition(x, condition);
}

static int keep_as_it_is(struct placement_round *x) {
    x->ret->result = OWNED_KEPT;
    x->ret->kept = "NotInjected";
    return write_condition(
        x, unknown("NotInjected",
                   "the Placement is too large for the entries that make OCM use the scores"));
}

/* OCM may have decided as planned before it heeded the items: then it has nothing to write, and its
 * decisions count as they are. */
static int wait_to_gate(struct placement_round *x) {
    uint32_t *missing = arena_array(x->arena, x->target.count, sizeof *missing);
    if (missing == NULL)
        return err_set(x->err, -ENOMEM, "no memory for decisions");
    if (x->is.decision_count == x->target.count && find_missing(x, missing) == 0)
        return write_condition(x, condition_now(x));
    const int64_t waited = x->q->now_ms - x->o->asked_ms;
    if (waited >= PATIENCE_MS)
        return write_condition(x, waiting_for_scores());
    owned_wake_in(x, PATIENCE_MS - waited);
    return mend_condition(x);
}

static int inject(struct placement_round *x, bool gate) {
    struct patch patch;
    const bool had_gate = had_own_key(x) && x->is.injected.gated;
    const enum admission lacks = edit(x, true, gate, &patch);
    if (lacks == ADMISSION_FAILED || lacks == ADMISSION_DENIED)
        return keep_as_it_is(x);
    /* adding a gate for the first time undoes nobody's removal */
    const bool is_new = gate && !had_gate && lacks == ADMISSION_PATCHED;
    if (!(is_new && had_own_key(x)) &&
        owned_note_undone(x, lacks == ADMISSION_UNCHANGED, had_own_key(x)))
        return leave_undone(x);
    if (lacks == ADMISSION_UNCHANGED)
        return gate ? look_at_decisions(x) : wait_to_gate(x);
    begin_writing(x, TOPOLOGY_NONE);
    return scored_write_injection(x, patch.document);
}

static int publish(struct placement_round *x, const uint8_t *has, uint32_t has_count) {
    struct scored_changes p = {.x = x, .has = has, .has_count = has_count};
    bool heeds = true, waits;
    int r = find_changes(&p);
    if (r != 0)
        return r;
    if (p.add_count + p.remove_count > 0) {
        if (owned_has_hard_terms(x) && had_own_key(x) && is_gated(x))
            r = find_unseen(&p);
        if (r != 0)
            return r;
        struct ocm_condition condition = condition_now(x);
        if (is_waited_for(&p))
            r = waiting_condition(x, &condition);
        if (r == 0)
            r = owned_mend_condition(x, &condition);
        return r == 0 && x->ret->write.what == OWNED_NOTHING ? write_item(&p) : r;
    }
    if (may_lose(x))
        r = find_heeding(x, &heeds);
    if (r == 0)
        r = wait_for_status(x, &waits);
    return r == 0 && !waits ? inject(x, heeds) : r;
}

/* Returns the members: clusters with an item, and until the first gate all that OCM has decided.
 * [slots]. NULL: no memory. */
static const uint8_t *find_members(struct placement_round *x, const uint8_t *has) {
    bool foreign;
    if (!lacks_first_gate(x))
        return has;
    const uint8_t *own = owned_find_own(x, &foreign);
    uint8_t *members = arena_alloc(x->arena, x->is.slots);
    for (uint32_t slot = 0; own != NULL && members != NULL && slot < x->is.slots; slot++)
        members[slot] = has[slot] | own[slot];
    return own != NULL ? members : NULL;
}

/* Sets d.current, the last decision. Once OCM heeds items, these are the members: OCM replaces a
 * cluster that goes before we know of it. A new Placement, whose items OCM never heeded, has no
 * cluster to keep. */
static int take_for_current(struct placement_round *x, const uint8_t *has, uint32_t has_count) {
    const bool heeds = had_own_key(x);
    const uint32_t most = has_count + x->d.current_count;
    uint32_t *slots = arena_array(x->arena, most, sizeof *slots), count = 0;
    if (slots == NULL)
        return -ENOMEM;
    x->scores.at_once = x->is.injected.valid && !heeds;
    x->is.decisions = x->d.current;
    x->is.decision_count = x->d.current_count;
    if (!heeds)
        return 0;
    for (uint32_t slot = 0; slot < x->is.slots; slot++)
        if (has[slot] != 0 || (x->scores.members[slot] != 0 && x->is.fits[slot] != 0))
            slots[count++] = slot;
    x->d.current = slots;
    x->d.current_count = count;
    owned_note_lost(x);
    return 0;
}

int scored_look(struct placement_round *x) {
    uint32_t has_count;
    x->ret->has_key = true;
    if (x->is.marked && x->is.doubt == DOUBT_NONE) { /* left from mode Owner, and half removed */
        owned_write_annotations(x, false);
        return 0;
    }
    const uint8_t *has = find_published(x, &has_count);
    if (has == NULL)
        return err_set(x->err, arena_failed(x->arena) ? -ENOMEM : -E2BIG,
                       "too many clusters to look for scores");
    int r = scored_leave_out(x, has);
    if (r != 0)
        return r;
    if (had_own_key(x) && (x->scores.members = find_members(x, has)) == NULL)
        return err_set(x->err, -ENOMEM, "no memory for the members of a Placement");
    r = owned_decide(x);
    if (r != 0)
        return r;
    if (x->d.outcome != OCM_DECIDED || owned_hub_is_empty(x) || owned_name_is_too_long(x))
        return x->is.doubt == DOUBT_NONE ? keep(x) : 0;
    if (take_for_current(x, has, has_count) != 0)
        return err_set(x->err, -ENOMEM, "no memory for the scores of a Placement");
    x->ret->result = OWNED_DECIDED;
    scored_find_due(x);
    r = owned_choose(x);
    if (r != 0 || x->is.doubt != DOUBT_NONE)
        return r;
    return publish(x, has, has_count);
}

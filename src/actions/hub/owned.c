#include "hub/owned.h"

#include "base/hash.h"
#include "hub/denied_objects.h"
#include "hub/owned_internal.h"
#include "hub/placement_status.h"
#include "policy/match.h"

#include <errno.h>
#include <stdlib.h>

/* A write that the watch has not shown after this time is forgotten. Exception: an answered write
 * that may have removed a cluster; its object stays in doubt. */
enum { FORGET_MS = 30000 };
enum { SAY_STEPS = 100000 }; /* steps for a condition */

const char *const owned_reason_names[MOVED_REASONS] = {[MOVED_INFEASIBLE] = "infeasible",
                                                       [MOVED_SIZE] = "size",
                                                       [MOVED_SPREAD] = "spread",
                                                       [MOVED_SCORE] = "score"};

const struct str owned_spread_condition = {"SpreadSatisfied", 15};

/* ---- life ---- */

void owned_write_done(struct owned_write *w) {
    strbuf_done(&w->path);
    strbuf_done(&w->body);
    strbuf_done(&w->item);
    strbuf_done(&w->object);
    strbuf_done(&w->version);
    strbuf_done(&w->contents);
    *w = (struct owned_write){.what = OWNED_NOTHING};
}

void owned_done(struct owned *o) {
    strbuf_done(&o->target);
    owned_write_done(&o->last);
    scored_done(o);
}

void owned_taken(struct owned *o, struct owned_write *w, int64_t now_ms) {
    owned_write_done(&o->last);
    o->last = *w;
    o->last.path = o->last.body = (struct strbuf){0};
    o->progress = OWNED_UNDER_WAY;
    o->last_ms = now_ms;
    *w = (struct owned_write){.path = w->path, .body = w->body};
}

void owned_ended(struct owned *o, enum write_end end, int status, int64_t now_ms) {
    if (o->progress != OWNED_UNDER_WAY)
        return; /* the watch has shown it already */
    o->last_ms = now_ms;
    const bool cannot = is_denial(status) || (end == WRITE_GONE && o->last.version.n == 0);
    if (o->last.what == OWNED_SCORE && o->last.comes && cannot) {
        /* for example, the cluster has no namespace: the other clusters need not wait for it */
        const struct str object = strbuf_str(&o->last.object);
        (void)scored_refuse(o, (struct str){object.p, str_find(object, '/')}, o->inputs, now_ms,
                            DENIAL_MS);
    }
    if (end == WRITE_DONE || end == WRITE_CONFLICT) /* the watch will show another version */
        o->progress = OWNED_ANSWERED;
    else if (end == WRITE_FAILED && (status == 0 || status >= 500))
        o->progress = OWNED_UNKNOWN;
    else
        o->progress = OWNED_IDLE;
}

/* ---- the last write ---- */

/* Finds a PlacementDecision whatever its labels are. */
static const struct fleet_decision *find_decision(void *ctx, struct str name) {
    const struct placement_round *x = ctx;
    return fleet_decision_find(x->q->view, x->q->namespace, name);
}

static bool is_score_seen(struct placement_round *x, struct str object, struct str version) {
    struct fleet_score_object o;
    const size_t at = str_find(object, '/');
    const struct str resource = {object.p + at + 1, object.n - at - 1};
    return fleet_score_object(x->q->view, (struct str){object.p, at}, resource, &o)
               ? !str_eq(o.version, version)
               : version.n > 0;
}

static bool is_seen(struct placement_round *x) {
    const struct owned_write *last = &x->o->last;
    const struct str version = strbuf_str(&last->version);
    if (last->what == OWNED_SCORE)
        return is_score_seen(x, strbuf_str(&last->object), version);
    if (last->what != OWNED_DECISION)
        return !str_eq(x->is.state.version, version);
    const struct fleet_decision *d = find_decision(x, strbuf_str(&last->object));
    return d == NULL ? version.n > 0 : !str_eq(d->version, version);
}

void owned_look_for_last(struct placement_round *x) {
    struct owned *o = x->o;
    x->is.doubt = DOUBT_NONE;
    if (o->progress == OWNED_IDLE)
        return;
    const int64_t left = FORGET_MS - (x->q->now_ms - o->last_ms);
    const bool is_late = left <= 0 && o->progress != OWNED_UNDER_WAY;
    const bool takes = o->last.what == OWNED_DECISION && o->last.version.n > 0;
    if (is_seen(x) || (is_late && !(takes && o->progress == OWNED_ANSWERED))) {
        o->progress = OWNED_IDLE;
        return;
    }
    x->ret->wake_ms = left > 0 ? left : FORGET_MS;
    /* a score that arrives late could let one cluster too many pass: wait for it */
    if ((o->progress != OWNED_UNKNOWN || o->last.what == OWNED_SCORE) && !is_late)
        x->is.doubt = DOUBT_WAIT;
    else if (o->last.what == OWNED_DECISION) /* other writes remove no cluster */
        x->is.doubt = DOUBT_OBJECT;
}

void owned_wake_in(struct placement_round *x, int64_t ms) {
    if (ms < x->ret->wake_ms)
        x->ret->wake_ms = ms > 0 ? ms : 0;
}

/* ---- the marks of mode Scores ---- */

static void note_key(struct placement_round *x, struct injected_key key) {
    x->is.has_ours = true;
    if (!x->ret->has_noted_key)
        x->ret->noted_key = key;
    x->ret->has_noted_key = true;
}

/* Notes the keys that the Placement names. Items with these keys are in use, whatever its mode is
 * now: OCM may heed them. */
static void find_ours(struct placement_round *x) {
    const struct placement *p = &x->is.placement;
    struct injected_key key;
    struct str text;
    for (uint32_t i = 0; i < p->predicate_count; i++)
        if (p->predicates[i].is_gated)
            note_key(x, p->predicates[i].gate);
    for (uint32_t i = 0; i < p->prioritizer_count; i++)
        if (p->prioritizers[i].type == PRIORITIZER_ADD_ON && p->prioritizers[i].has_add_on &&
            injected_key_read(p->prioritizers[i].resource, p->prioritizers[i].score, &key))
            note_key(x, key);
    if (labels_lookup(&p->annotations, STR(PLACEMENT_INJECTED_ANNOTATION), &text)) {
        injected_read(text, x->arena, &x->is.injected);
        if (x->is.injected.valid)
            note_key(x, x->is.injected.key);
        x->is.has_ours = true;
    }
    x->ret->has_key = x->is.has_ours;
    x->ret->key = injected_key_of(p->meta.uid, x->q->settings->shards);
}

/* Forgets the state of an earlier Placement with the same name. */
static void forget_another(struct placement_round *x) {
    const uint64_t uid = hash_str(x->is.placement.meta.uid) | 1;
    struct owned *o = x->o;
    if (o->uid != 0 && o->uid != uid) {
        scored_done(o);
        strbuf_clear(&o->target);
        o->has_target = o->asks = o->waits = o->denied = false;
        o->reasons = 0;
        o->disabling = DISABLING_UNKNOWN;
        o->undone = 0;
        o->warned = o->warned_number = false;
    }
    o->uid = uid;
}

/* ---- who decides the Placement ---- */

/* *ret_found is false if the Placement does not exist, or is terminating. */
static int read_placement(struct placement_round *x, bool *ret_found) {
    const struct owned_question *q = x->q;
    const struct str json = fleet_placement_json(q->view, q->namespace, q->name);
    struct json_reader r;
    struct str value;
    *ret_found = json.n > 0;
    if (json.n == 0)
        return 0;
    json_reader_init(&r, json, x->arena, PLACEMENT_KIND);
    placement_decode_as(&r, (struct placement_reading){.is_stored = true}, &x->is.placement);
    int failed = json_finish(&r, x->err);
    if (failed != 0)
        return failed;
    *ret_found = !x->is.placement.meta.terminating;
    x->ret->uid = x->is.placement.meta.uid;
    x->is.state = fleet_placement_state(q->view, q->namespace, q->name);
    x->is.existing = fleet_decisions(q->view, q->namespace, q->name);
    x->is.slots = topology_slots(q->view->clusters.topology);
    const struct labels *annotations = &x->is.placement.annotations;
    x->is.disabled = labels_lookup(annotations, STR(PLACEMENT_DISABLE_ANNOTATION), &value) &&
                     str_eq(value, STR("true"));
    x->is.marked = labels_lookup(annotations, STR(PLACEMENT_DISABLED_ANNOTATION), &value);
    return 0;
}

/* Has somebody else disabled OCM for a Placement that asks for none of our modes? Then somebody
 * else decides the Placement. */
static bool is_others(const struct placement_round *x, bool asked) {
    return !asked && x->is.disabled && !x->is.marked && x->is.placement.term_count == 0;
}

static int find_mode(struct placement_round *x) {
    struct str mode = STR("");
    const bool given =
        labels_lookup(&x->is.placement.annotations, STR(PLACEMENT_MODE_ANNOTATION), &mode);
    const bool asked = given && str_eq(mode, STR("Owner"));
    const bool wanted = asked || (!given && x->q->settings->mode == PLACEMENT_OWNER);
    const bool by_scores =
        given ? str_eq(mode, STR("Scores")) : x->q->settings->mode == PLACEMENT_SCORES;
    const bool scored = by_scores && !x->q->settings->without_scores;
    x->ret->mode = OWNED_OTHERS;
    if (!wanted && !by_scores && !x->is.marked)
        return 0;
    int r = wanted || by_scores
                ? policy_terms_in_fleet(x->q->view, x->q->policies, &x->is.placement.meta, x->arena,
                                        &x->is.policy)
                : 0;
    if (r != 0)
        return err_set(x->err, r, "no memory for the policies of a Placement");
    const bool has_terms = x->is.placement.term_count > 0 || x->is.policy.count > 0;
    x->ret->own_terms = x->is.placement.term_count > 0;
    x->is.scores_off = by_scores && !scored && has_terms;
    if (scored && has_terms && !x->is.disabled)
        x->ret->mode = OWNED_SCORED;
    else if (!wanted || !has_terms)
        x->ret->mode = x->is.marked ? OWNED_LEAVING : OWNED_OTHERS;
    else if (!is_others(x, asked))
        x->ret->mode = OWNED_OURS;
    return 0;
}

/* ---- conditions ---- */

enum {
    SAID_AFTER_MS = 1000, /* an even Placement's condition mentions no shorter waits */
    DENIED_MS = 1000,     /* for this time the status may contradict our condition */
    SAY_AGAIN_MS = 60000, /* between two writes that change only a message */
};

/* The message names kept clusters, and these change with their scores. So a status in which only
 * the message is new is written at most once a minute. */
static void hold_message(struct placement_round *x, struct ocm_condition *c) {
    struct status_condition there;
    struct err ignored; /* status_patch() reports an unreadable status */
    struct owned *o = x->o;
    const uint64_t said = hash_str(c->message);
    const int64_t left = o->said_ms + SAY_AGAIN_MS - x->q->now_ms;
    if (status_find(x->is.state.status, c->type, x->arena, &there, &ignored) != 0 ||
        !str_eq(there.status, ocm_status_names[c->status]) || !str_eq(there.reason, c->reason) ||
        str_eq(there.message, c->message) || said == o->said)
        return;
    if (o->said != 0 && left > 0) {
        c->message = there.message;
        owned_wake_in(x, left);
        return;
    }
    o->said = said;
    o->said_ms = x->q->now_ms;
}

/* If terms hold, does not mention moves that wait for a moment only, because scores change. */
struct ocm_condition owned_spread_now(struct placement_round *x) {
    struct ocm_condition c = x->is.spread.condition;
    struct owned *o = x->o;
    if (x->ret->waiting > 0 && !o->waits)
        o->waits_since_ms = x->q->now_ms;
    o->waits = x->ret->waiting > 0;
    const int64_t left = o->waits ? o->waits_since_ms + SAID_AFTER_MS - x->q->now_ms : 0;
    if (o->waits && c.status == OCM_TRUE && left > 0)
        owned_wake_in(x, left);
    else if (o->waits)
        c.message = arena_printf(x->arena, "%.*s; moves towards the plan wait", STR_ARG(c.message));
    hold_message(x, &c);
    return c;
}

int owned_mend_condition(struct placement_round *x, const struct ocm_condition *condition) {
    const struct status_wanted wanted = {.conditions = condition, .condition_count = 1};
    struct owned *o = x->o;
    bool denied = false;
    int r = status_denies(x->is.state.status, condition, x->arena, &denied, x->err);
    if (denied && !o->denied)
        o->denied_since_ms = x->q->now_ms;
    o->denied = denied;
    if (r != 0 || !denied)
        return r;
    const int64_t left = o->denied_since_ms + DENIED_MS - x->q->now_ms;
    if (left <= 0)
        return owned_write_status(x, &wanted);
    owned_wake_in(x, left);
    return 0;
}

/* ---- the decision ---- */

/* Wakes when the first of the scores that count now expires. */
static int wake_for_scores(struct placement_round *x) {
    const struct placement *p = &x->is.placement;
    for (uint32_t i = 0; i < p->prioritizer_count; i++) {
        const struct placement_prioritizer *by = &p->prioritizers[i];
        const struct fleet_scores *scores =
            by->type == PRIORITIZER_ADD_ON && by->has_add_on && by->weight != 0
                ? fleet_scores_find(x->q->view, by->resource)
                : NULL;
        if (scores == NULL)
            continue;
        if (!steps_take(&x->arena->steps, x->d.available_count))
            return err_set(x->err, -E2BIG, "too many prioritizers");
        for (uint32_t k = 0; k < x->d.available_count; k++) {
            const struct fleet_score s = fleet_score_of(scores, x->d.available[k], INTERN_NONE);
            if (s.has_end && s.valid_until_ms >= x->q->wall_ms) /* it counts until its end */
                owned_wake_in(x, s.valid_until_ms - x->q->wall_ms + 1);
        }
    }
    return 0;
}

const uint8_t *owned_find_own(struct placement_round *x, bool *ret_foreign) {
    const struct str uid = x->is.placement.meta.uid;
    uint8_t *own = arena_alloc(x->arena, x->is.slots);
    *ret_foreign = false;
    for (const struct fleet_decision *d = x->is.existing; own != NULL && d != NULL; d = d->next) {
        const bool foreign = layout_is_foreign(d, uid);
        *ret_foreign = *ret_foreign || foreign;
        for (uint32_t i = 0; !foreign && i < d->slot_count; i++)
            own[d->slots[i]] = 1;
    }
    return own; /* NULL: the arena has failed */
}

static int leave_out_foreign(struct placement_round *x, const uint8_t *own) {
    uint32_t *current = arena_array(x->arena, x->d.current_count, sizeof *current), count = 0;
    if (current == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < x->d.current_count; i++)
        if (own[x->d.current[i]] != 0)
            current[count++] = x->d.current[i];
    x->d.current = current;
    x->d.current_count = count;
    return 0;
}

void owned_note_lost(struct placement_round *x) {
    x->ret->has_lost = x->ret->has_lost || x->d.stranger_count > 0;
    if (!x->d.filtered && x->d.outcome != OCM_DECIDED)
        return; /* it is not known which clusters fit */
    for (uint32_t i = 0; i < x->d.current_count; i++)
        x->ret->has_lost = x->ret->has_lost || x->is.fits[x->d.current[i]] == 0;
}

int owned_decide(struct placement_round *x) {
    bool foreign;
    const uint8_t *own = owned_find_own(x, &foreign);
    if (own == NULL)
        return err_set(x->err, -ENOMEM, "no memory for a decision");
    const struct ocm_question question = {
        .placement = &x->is.placement,
        .policy = x->is.policy,
        .now_ms = x->q->wall_ms,
        .with_domains = true,
        .reachable = true,
        .members = x->scores.members == NULL && foreign ? own : x->scores.members,
        .without = x->scores.without};
    int r = ocm_decide(x->q->view, &question, x->arena, &x->d, x->err);
    if (r != 0)
        return r;
    x->is.fits = arena_alloc(x->arena, x->is.slots);
    if (x->is.fits == NULL || leave_out_foreign(x, own) != 0)
        return err_set(x->err, -ENOMEM, "no memory for a decision");
    for (uint32_t i = 0; x->d.filtered && i < x->d.available_count; i++)
        x->is.fits[x->d.available[i]] = ocm_passes_filters(&x->d, x->d.available[i]);
    owned_note_lost(x);
    if (x->d.has_requeue)
        owned_wake_in(x, x->d.requeue_ms + 1); /* after that time, not at its last moment */
    r = ocm_spread_judge(&x->d, x->d.current, x->d.current_count, x->arena, &x->is.spread);
    if (r != 0)
        return err_set(x->err, r, "cannot judge how even the clusters of a Placement are");
    x->ret->skewed = x->is.spread.condition.status == OCM_FALSE;
    x->ret->plan_skewed = x->d.has_spread && x->d.spread.condition.status == OCM_FALSE;
    return wake_for_scores(x);
}

/* A PlacementDecision names its Placement in a label; no label value is longer. */
enum { LABEL_VALUE_MAX = 63 };

bool owned_name_is_too_long(const struct placement_round *x) {
    return x->q->name.n > LABEL_VALUE_MAX;
}

bool owned_hub_is_empty(const struct placement_round *x) {
    return x->is.existing != NULL && fleet_lacks_all(x->q->view);
}

const char *owned_why_kept(const struct placement_round *x) {
    return owned_name_is_too_long(x)                          ? "NameTooLong"
           : owned_hub_is_empty(x)                            ? "NoClustersKnown"
           : x->d.cel_unknown && x->ret->mode != OWNED_SCORED ? "CELNotEvaluated"
           : x->d.outcome == OCM_UNTOUCHED                    ? "ClusterSetInvalid"
                                                              : "Misconfigured";
}

struct ocm_condition owned_kept_condition(const struct placement_round *x) {
    static const struct {
        const char *word, *message;
    } table[] = {
        {"NameTooLong", "the Placement's name has more than 63 bytes, and PlacementDecisions have "
                        "it as the value of a label"},
        {"NoClustersKnown",
         "the hub has no ManagedCluster, no ManagedClusterSet, or no ManagedClusterSetBinding"},
        {"CELNotEvaluated", "a predicate has a celSelector, which Owner mode does not evaluate"},
        {"ClusterSetInvalid", "the selector of a ManagedClusterSet does not compile"},
    };
    const char *word = owned_why_kept(x);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(word, table[i].word) == 0)
            return (struct ocm_condition){
                owned_spread_condition, OCM_UNKNOWN, str_of(word),
                arena_printf(x->arena, "%s: decisions stay as they are", table[i].message)};
    return x->is.spread.condition; /* Misconfigured */
}

/* Keeps the decisions. Our condition gives the reason; for a misconfiguration OCM's own does so,
 * too, unless OCM writes it. */
static int keep_decisions(struct placement_round *x) {
    const struct ocm_condition both[] = {owned_kept_condition(x), x->d.conditions[0]};
    x->ret->result = OWNED_KEPT;
    x->ret->kept = owned_why_kept(x);
    const bool ours_alone = strcmp(x->ret->kept, "Misconfigured") != 0 || !x->is.disabled;
    const struct status_wanted wanted = {.conditions = both, .condition_count = ours_alone ? 1 : 2};
    return x->is.doubt == DOUBT_NONE ? owned_write_status(x, &wanted) : 0;
}

/* Does the Placement keep its decisions? A misconfigured Placement without decisions is decided: it
 * gets the empty object that consumers wait for. */
static bool cannot_decide(const struct placement_round *x) {
    const bool bad = x->d.outcome != OCM_DECIDED || x->d.group_problem.n > 0;
    return owned_name_is_too_long(x) || x->d.cel_unknown || x->d.outcome == OCM_UNTOUCHED ||
           x->d.group_count == 0 || owned_hub_is_empty(x) || (bad && x->is.existing != NULL);
}

/* ---- somebody removes our marks ---- */

enum { PUT_BACK_MAX = 3, PUT_BACK_MS = 3600000 };

bool owned_note_undone(struct placement_round *x, bool is_set, bool was_set) {
    struct owned *o = x->o;
    if (is_set) {
        if (o->undone > PUT_BACK_MAX)
            o->undone = 0;
        o->disabling = DISABLING_SET;
        return false;
    }
    if (o->disabling != DISABLING_UNDONE && (o->disabling != DISABLING_UNKNOWN || was_set)) {
        o->disabling = DISABLING_UNDONE;
        if (o->undone == 0 || x->q->now_ms - o->undone_ms >= PUT_BACK_MS) {
            o->undone = 0;
            o->undone_ms = x->q->now_ms;
        }
        x->ret->undone = ++o->undone > PUT_BACK_MAX;
    }
    return o->undone > PUT_BACK_MAX;
}

static int leave_undone(struct placement_round *x) {
    const struct ocm_condition condition = {
        owned_spread_condition, OCM_UNKNOWN, STR("Undone"),
        STR("the annotation " PLACEMENT_DISABLE_ANNOTATION
            " was taken away more than three times in an hour: OCM decides")};
    const struct status_wanted wanted = {.conditions = &condition, .condition_count = 1};
    x->ret->result = OWNED_KEPT;
    x->ret->left_undone = true;
    x->ret->kept = "Undone";
    if (x->ret->undone)
        x->ret->note = condition.message;
    return x->is.doubt == DOUBT_NONE ? owned_write_status(x, &wanted) : 0;
}

/* ---- writes ---- */

/* Lists the clusters that an object in doubt holds with and without the write. */
static int find_doubt(struct placement_round *x, struct layout_doubt *ret) {
    const struct str names = strbuf_str(&x->o->last.contents);
    const struct topology *t = x->q->view->clusters.topology;
    uint32_t *slots = arena_array(x->arena, names.n / 2 + 1, sizeof *slots);
    *ret = (struct layout_doubt){.name = STR("")};
    if (x->is.doubt != DOUBT_OBJECT || x->o->last.what != OWNED_DECISION)
        return 0;
    if (slots == NULL)
        return err_set(x->err, -ENOMEM, "no memory for a write");
    *ret = (struct layout_doubt){strbuf_str(&x->o->last.object), slots, 0};
    for (size_t at = 0; at < names.n;) {
        const struct str name = str_of(names.p + at);
        const uint32_t slot = topology_slot(t, name);
        at += name.n + 1;
        if (slot != TOPOLOGY_NONE)
            slots[ret->count++] = slot;
    }
    return 0;
}

static int write_final_status(struct placement_round *x, const struct layout *layout) {
    struct ocm_condition conditions[OCM_CONDITIONS + 1];
    struct status_group *groups = arena_array(x->arena, x->target.group_count, sizeof *groups);
    struct str *names = arena_array(x->arena, layout->count, sizeof *names);
    if (groups == NULL || names == NULL)
        return err_set(x->err, -ENOMEM, "no memory for a status");
    for (uint32_t i = 0; i < layout->count; i++) {
        struct status_group *g = &groups[layout->objects[i].group];
        names[i] = layout->objects[i].name;
        if (g->object_count++ == 0)
            g->objects = &names[i]; /* names are in the order of groups */
    }
    for (uint32_t g = 0; g < x->target.group_count; g++) {
        groups[g].name = x->target.groups[g].name;
        groups[g].cluster_count = x->target.groups[g].count;
    }
    memcpy(conditions, x->d.conditions, sizeof x->d.conditions);
    conditions[OCM_CONDITIONS] = owned_spread_now(x);
    const struct status_wanted wanted = {.has_decision = true,
                                         .selected = x->target.count,
                                         .groups = groups,
                                         .group_count = x->target.group_count,
                                         .conditions = conditions,
                                         .condition_count = OCM_CONDITIONS + 1};
    return owned_write_status(x, &wanted);
}

/* A write that changes only reasons waits until the reasons stay the same for this time: labels may
 * change back and forth, and scores change which clusters are kept. */
enum { REASONS_MS = 1500 };

static int write_reasons(struct placement_round *x, const struct layout *layout) {
    struct owned *o = x->o;
    const struct layout_object *object;
    uint64_t wanted;
    int r = owned_find_reasons(x, layout, &object, &wanted);
    if (r != 0)
        return err_set(x->err, r, "cannot make the reasons of PlacementDecisions");
    if (object == NULL) {
        o->reasons = 0;
        return 0;
    }
    if (o->reasons != wanted)
        o->reasons_ms = x->q->now_ms;
    o->reasons = wanted;
    const int64_t left = o->reasons_ms + REASONS_MS - x->q->now_ms;
    if (left > 0) {
        owned_wake_in(x, left);
        return 0;
    }
    const struct layout_write write = {.verb = LAYOUT_CLUSTERS,
                                       .object = object,
                                       .existing = object->existing,
                                       .slots = object->slots,
                                       .count = object->count};
    return owned_write_decision(x, &write, NULL);
}

static int write_decisions(struct placement_round *x) {
    const struct layout_question question = {.placement = x->q->name,
                                             .groups = x->target.groups,
                                             .group_count = x->target.group_count,
                                             .existing = x->is.existing,
                                             .slots = x->is.slots,
                                             .owner_uid = x->is.placement.meta.uid,
                                             .find = find_decision,
                                             .ctx = x};
    struct layout layout;
    struct layout_write write;
    struct layout_progress progress = {.question = &question, .layout = &layout, .ctx = x};
    int r = find_doubt(x, &progress.doubt);
    if (r != 0)
        return r;
    r = layout_make(&question, x->arena, &layout);
    if (r == 0 && layout.count + layout.unwanted_count > 1) {
        progress.holds = owned_holds;
        progress.alike = owned_alike;
        progress.tries = owned_tries(x);
    }
    if (r == 0)
        r = layout_next(&progress, x->arena, &write);
    if (r != 0)
        return err_set(x->err, r, "no memory for PlacementDecisions");
    if (write.verb == LAYOUT_RIGHT && x->is.doubt != DOUBT_NONE)
        return 0;
    if (write.verb == LAYOUT_RIGHT) {
        r = write_final_status(x, &layout);
        const bool stays = x->is.spread.reason == OCM_SPREAD_KEY_UNKNOWN;
        return r != 0 || stays || x->ret->write.what != OWNED_NOTHING ? r
                                                                      : write_reasons(x, &layout);
    }
    const struct str object =
        write.verb == LAYOUT_DELETE ? write.existing->name : write.object->name;
    const bool doubted = progress.doubt.name.n > 0;
    if (x->is.doubt == DOUBT_WAIT ||
        (x->is.doubt == DOUBT_OBJECT && !str_eq(object, progress.doubt.name)))
        return 0;
    if (x->is.doubt == DOUBT_NONE) {
        const struct ocm_condition condition = owned_spread_now(x);
        r = owned_mend_condition(x, &condition);
        if (r != 0 || x->ret->write.what != OWNED_NOTHING)
            return r;
    }
    if (write.verb == LAYOUT_META && !str_eq(write.existing->placement, x->q->name)) {
        x->o->has_target = false; /* the target is chosen once the object's clusters count again */
        x->ret->moves = 0;
    }
    return owned_write_decision(x, &write, doubted ? &progress.doubt : NULL);
}

/* ---- a look ---- */

static int look_at_ours(struct placement_round *x) {
    const bool undone = owned_note_undone(x, x->is.disabled, x->is.marked);
    bool clean = true;
    int r = owned_decide(x);
    if (r != 0)
        return r;
    /* OCM does not heed the marks now, or must decide without them */
    if (x->is.disabled || undone || cannot_decide(x))
        r = scored_leave(x, &clean);
    if (r != 0 || !clean)
        return r;
    if (undone)
        return leave_undone(x);
    if (cannot_decide(x))
        return keep_decisions(x);
    x->ret->result = OWNED_DECIDED;
    if (!x->is.disabled) {
        if (x->is.doubt == DOUBT_NONE)
            owned_write_annotations(x, true);
        return 0;
    }
    r = owned_choose(x);
    if (r != 0 || x->is.doubt == DOUBT_WAIT)
        return r;
    return write_decisions(x);
}

static int leave(struct placement_round *x) {
    const struct status_wanted wanted = {.without = owned_spread_condition};
    bool clean;
    if (x->is.doubt != DOUBT_NONE)
        return 0;
    int r = scored_leave(x, &clean);
    if (r == 0 && clean)
        r = owned_write_status(x, &wanted);
    if (r == 0 && x->ret->write.what == OWNED_NOTHING)
        owned_write_annotations(x, false);
    return r;
}

/* Only the Placement's outline, or only a part of its decisions, is known: the decisions stay. */
static int keep_too_large(struct placement_round *x) {
    const struct ocm_condition condition = {owned_spread_condition, OCM_UNKNOWN, STR("TooLarge"),
                                            STR(FLEET_TOO_LARGE ": decisions stay as they are")};
    const struct status_wanted wanted = {.conditions = &condition, .condition_count = 1};
    if (x->ret->mode == OWNED_OTHERS)
        return 0;
    x->ret->result = OWNED_KEPT;
    x->ret->kept = "TooLarge";
    x->ret->has_key = x->ret->mode == OWNED_SCORED;
    return x->is.doubt == DOUBT_NONE && !x->is.state.status_cut ? owned_write_status(x, &wanted)
                                                                : 0;
}

/* OCM's controller crashes at a negative number: decisions stay, with a condition. */
static int keep_negative(struct placement_round *x) {
    struct owned_answer *ret = x->ret;
    const struct ocm_condition condition = {
        owned_spread_condition, OCM_UNKNOWN, ocm_spread_reason_names[OCM_SPREAD_MISCONFIGURED],
        arena_printf(x->arena, OCM_NEGATIVE_NUMBER ": decisions stay as they are",
                     x->is.placement.number)};
    const struct status_wanted wanted = {.conditions = &condition, .condition_count = 1};
    ret->result = OWNED_KEPT;
    ret->kept = "Misconfigured";
    ret->has_key = ret->mode == OWNED_SCORED;
    if (x->is.doubt != DOUBT_NONE)
        return 0;
    const int r = owned_write_status(x, &wanted);
    ret->crashes = r == 0 && ret->write.what != OWNED_NOTHING && !x->o->warned_number;
    x->o->warned_number = true;
    if (ret->crashes)
        ret->warning = condition.message;
    return r;
}

/* Writes a condition, with steps of its own, for a Placement that takes too many steps. */
static void say_too_many_steps(struct placement_round *x) {
    const struct ocm_condition condition = {
        owned_spread_condition, OCM_UNKNOWN, STR("TooManySteps"),
        STR("the Placement takes more steps to decide than it may: it has too many predicates, "
            "prioritizers or groups for so many clusters; decisions stay as they are")};
    const struct status_wanted wanted = {.conditions = &condition, .condition_count = 1};
    const bool is_ours = x->ret->mode == OWNED_OURS || x->ret->mode == OWNED_SCORED;
    struct err *const reported = x->err;
    struct err ignored;
    x->arena->steps = (struct steps){.max = SAY_STEPS};
    x->err = &ignored;
    if (is_ours && x->is.doubt == DOUBT_NONE && owned_write_status(x, &wanted) != 0)
        owned_write_done(&x->ret->write);
    x->err = reported;
}

/* Shrinks a body, which may wait long for its turn among a thousand others. */
static void fit_body(struct strbuf *body) {
    char *p = body->n > 0 && !strbuf_failed(body) ? realloc(body->p, body->n) : NULL;
    if (p == NULL)
        return; /* the body stays larger than necessary */
    body->p = p;
    body->cap = body->n;
}

/* Writes the status of a Placement that OCM decides: without our condition, or with a condition
 * if the Placement asks for mode Scores, which is off. */
static int write_left_condition(struct placement_round *x) {
    const struct ocm_condition off = {
        owned_spread_condition, OCM_UNKNOWN, STR("ScoresOff"),
        STR("mode Scores is off here (ocm.scores), so OCM decides without the spread terms: set "
            "ocm.scores, or the mode Owner")};
    const struct status_wanted wanted = {.without = owned_spread_condition},
                               told = {.conditions = &off, .condition_count = 1};
    const struct str status = x->is.state.status;
    if (x->is.scores_off)
        return owned_write_status(x, &told);
    const bool has_condition = status.n > 0 && memmem(status.p, status.n, owned_spread_condition.p,
                                                      owned_spread_condition.n) != NULL;
    return x->is.has_ours || has_condition ? owned_write_status(x, &wanted) : 0;
}

/* Removes the marks of mode Scores if the webhook has not removed them. */
static int leave_scores(struct placement_round *x) {
    bool clean;
    if (x->is.disabled || x->is.doubt != DOUBT_NONE)
        return 0;
    int r = write_left_condition(x);
    return r == 0 && x->ret->write.what == OWNED_NOTHING ? scored_leave(x, &clean) : r;
}

/* Returns an error if a count failed or ended early: such a look has no answer. */
static int end_of_counts(struct placement_round *x) {
    if (arena_failed(x->arena) || x->now.failed == -ENOMEM)
        return err_set(x->err, -ENOMEM, "no memory for a Placement");
    if (x->now.failed != 0 || steps_spent(&x->arena->steps))
        return err_set(x->err, -E2BIG, "the moves of a Placement take more steps than they may");
    return 0;
}

int owned_look(struct owned *o, const struct owned_question *q, struct arena *arena,
               struct owned_answer *ret, struct err *err) {
    struct placement_round x = {.o = o, .q = q, .arena = arena, .ret = ret, .err = err};
    bool found = false;
    *ret = (struct owned_answer){.mode = OWNED_GONE, .wake_ms = INT64_MAX, .waits_ms = INT64_MAX};
    int r = read_placement(&x, &found);
    if (r != 0 || !found)
        return r;
    forget_another(&x);
    find_ours(&x);
    owned_look_for_last(&x);
    ret->write_is_out = o->progress != OWNED_IDLE;
    r = find_mode(&x);
    o->warned_number = o->warned_number && x.is.placement.number < 0;
    if (r == 0 && x.is.state.too_large)
        r = keep_too_large(&x);
    else if (r == 0 && x.is.placement.number < 0 &&
             (ret->mode == OWNED_OURS || ret->mode == OWNED_SCORED))
        r = keep_negative(&x);
    else if (r == 0 && ret->mode == OWNED_OURS)
        r = look_at_ours(&x);
    else if (r == 0 && ret->mode == OWNED_LEAVING)
        r = leave(&x);
    else if (r == 0 && ret->mode == OWNED_SCORED)
        r = scored_look(&x);
    else if (r == 0)
        r = leave_scores(&x);
    if (r == 0 && ret->mode != OWNED_OURS && ret->mode != OWNED_SCORED) {
        o->disabling = DISABLING_UNKNOWN;
        o->undone = 0;
    }
    ret->leaves_none = ret->moves > 0 && x.target.count == 0;
    if (r == 0)
        r = end_of_counts(&x);
    if (r != 0) {
        ret->result = OWNED_FAILED;
        owned_write_done(&ret->write);
    }
    if (r == -E2BIG)
        say_too_many_steps(&x);
    fit_body(&ret->write.body);
    return r;
}

#include "hub/planner.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/time.h"
#include "hub/planner_internal.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

enum {
    VIEW_MS = 5,            /* a view may delay the watch for this time and one plan */
    REST_MS = 50,           /* the longest rest for the watch afterwards */
    POLL_MS = 1000,         /* how often to check if policies have changed */
    RETRY_MS = 60000,       /* after a plan that failed; doubles */
    RETRY_MAX_MS = 3600000, /* ... up to this */
    PLAN_BYTES = 256 << 20,
    /* PLAN_STEPS: 25 ms at 5 ns a step. KEY_STEPS: 20 ms at 20 ns a step, for columns, trees and
     * the order of clusters, which only their first user makes. So no wait is longer than 50 ms. */
    PLAN_STEPS = 5000000,
    KEY_STEPS = 1000000,
    TURN_STEPS = 100000, /* a namespace loses a turn each time its plans have taken this number of
                            steps */
};

const struct event_reason planner_reasons[PLANNER_REASONS] = {
    [PLANNER_SPREAD] = {"Spread", EVENT_NORMAL, PLACEMENT_KIND,
                        "Evenkeel has decided the Placement for the first time"},
    [PLANNER_MOVED] = {"Moved", EVENT_NORMAL, PLACEMENT_KIND,
                       "the Placement moves to or from clusters; the note has the reason and the "
                       "first of them"},
    [PLANNER_EMPTIED] = {"Emptied", EVENT_WARNING, PLACEMENT_KIND,
                         "the Placement moves away from all clusters that it has; the note has the "
                         "reason and the first of them"},
    [PLANNER_KEY_UNKNOWN] = {"KeyUnknown", EVENT_WARNING, PLACEMENT_KIND,
                             "no cluster that passes OCM's filters has the label or claim of a "
                             "term; the note has the key"},
    [PLANNER_MISCONFIGURED] = {"Misconfigured", EVENT_WARNING, PLACEMENT_KIND,
                               "numberOfClusters is negative, which crashes OCM's placement "
                               "controller; decisions stay as they are"},
    [PLANNER_UNDONE] =
        {"Undone", EVENT_WARNING, PLACEMENT_KIND,
         "OCM's disable annotation, or the entries that mode Scores adds, were taken away more "
         "than three times in an hour: Evenkeel leaves the Placement to OCM"},
};

static int64_t now_ms(const struct planner *p) {
    return p->options.clock->now_ms(p->options.clock);
}

/* ---- calls from elsewhere ---- */

void planner_changed(void *ctx, struct str namespace, struct str name) {
    struct planner *p = ctx;
    mutex_lock(&p->mutex);
    if (p->leads) /* a new leader plans all */
        planner_mark_name(p, (struct planner_key){namespace, name});
    mutex_unlock(&p->mutex);
}

void planner_changed_all(void *ctx) {
    struct planner *p = ctx;
    mutex_lock(&p->mutex);
    p->all_dirty = true;
    condition_signal(&p->wake);
    mutex_unlock(&p->mutex);
}

void planner_lead(struct planner *p, bool leads) {
    mutex_lock(&p->mutex);
    if (p->leads != leads) {
        p->leads = leads;
        placement_history_lead(p->options.history, leads);
        p->restart = p->all_dirty = true;
        condition_signal(&p->wake);
    }
    mutex_unlock(&p->mutex);
}

bool planner_next(struct planner *p, struct strbuf *ret_name, struct planner_offer *ret) {
    mutex_lock(&p->mutex);
    const uint32_t id = planner_take_offer(p);
    if (id != POOL_NONE) {
        const struct planner_record *r = planner_record(p, id);
        *ret = (struct planner_offer){r->pending.what, r->urgent};
        strbuf_append_str(ret_name, strbuf_str(&r->name));
    }
    mutex_unlock(&p->mutex);
    return id != POOL_NONE;
}

void planner_take(struct planner *p, struct str name, struct write *ret) {
    struct fleet_view view;
    fleet_view_open(p->options.fleet, &view);
    mutex_lock(&p->mutex);
    const uint32_t id = planner_find(p, planner_key_of(name));
    if (id != POOL_NONE && p->leads)
        planner_take_write(p, id, &view, ret);
    mutex_unlock(&p->mutex);
    fleet_view_close(&view);
}

void planner_ended(struct planner *p, struct str name, const struct write_result *result) {
    mutex_lock(&p->mutex);
    const uint32_t id = planner_find(p, planner_key_of(name));
    if (id != POOL_NONE)
        planner_end_write(p, id, result);
    mutex_unlock(&p->mutex);
}

/* ---- one Placement, on the thread ---- */

static void hear_news(struct planner_record *r) {
    struct planner_news *news = &r->news;
    if (news->taken)
        owned_taken(&r->owned, &news->write, news->taken_ms);
    if (news->ended)
        owned_ended(&r->owned, news->end, news->status, news->ended_ms);
    owned_write_done(&news->write);
    *news = (struct planner_news){.taken = false};
}

static void record_event(const struct planner *p, const struct owned_question *q, struct str uid,
                         enum planner_reason which, struct str note) {
    const struct event_reason *reason = &planner_reasons[which];
    const struct event event = {
        .regarding = {STR(OCM_GROUP "/v1beta1"), STR(PLACEMENT_KIND), q->namespace, q->name, uid},
        .type = reason->type,
        .reason = str_of(reason->name),
        .note = note};
    (void)event_record(p->options.events, &event); /* Events may be lost */
}

static void record_events(const struct planner *p, const struct owned_question *q,
                          const struct owned_answer *a) {
    const enum planner_reason which = a->undone        ? PLANNER_UNDONE
                                      : a->leaves_none ? PLANNER_EMPTIED
                                      : a->first       ? PLANNER_SPREAD
                                                       : PLANNER_MOVED;
    if (a->moves > 0 || a->undone)
        record_event(p, q, a->uid, which, a->note);
    if (a->warning.n > 0)
        record_event(p, q, a->uid, a->crashes ? PLANNER_MISCONFIGURED : PLANNER_KEY_UNKNOWN,
                     a->warning);
}

/* Lists the keys of all records. Returns false if some were not planned yet, or without memory. */
static bool find_keys(struct planner *p, uint64_t **ret, uint32_t *ret_count) {
    mutex_lock(&p->mutex);
    bool good = !p->all_dirty && p->again_ms == INT64_MAX;
    *ret_count = 0;
    *ret = malloc((2 * p->records.count + 1) * sizeof **ret);
    for (POOL_EACH(&p->records, id)) {
        const struct planner_record *r = planner_record(p, id);
        good = good && (r->planned || planner_key_of(strbuf_str(&r->name)).name.n == 0);
        if (*ret != NULL && r->has_key)
            (*ret)[(*ret_count)++] = injected_key_number(r->key);
        if (*ret != NULL && r->has_noted_key)
            (*ret)[(*ret_count)++] = injected_key_number(r->noted_key);
    }
    mutex_unlock(&p->mutex);
    if (good && *ret != NULL)
        return true;
    free(*ret);
    return false;
}

enum { SWEEP_RETRY_MS = 1000 };

/* Looks for items that belong to no Placement. Lists the Placements' keys again for each write:
 * there may be a new Placement by then. */
static int sweep(struct planner *p, struct planner_record *r, const struct owned_question *q,
                 struct owned_answer *ret, struct err *err) {
    uint64_t *keys;
    uint32_t count;
    if (!find_keys(p, &keys, &count)) {
        *ret = (struct owned_answer){.mode = OWNED_OTHERS, .wake_ms = SWEEP_RETRY_MS};
        return 0;
    }
    score_sweep_use(&p->sweep, keys, count);
    if (p->sweep.at == p->sweep.objects.n)
        score_sweep_begin(&p->sweep, q->view);
    return score_sweep_look(&p->sweep, &r->owned, q, &p->arena, ret, err);
}

static int64_t denied_ms(void *ctx, struct str object) {
    struct planner *p = ctx;
    mutex_lock(&p->mutex);
    const int64_t left_ms = denied_objects_left_ms(&p->denied, object, now_ms(p));
    mutex_unlock(&p->mutex);
    return left_ms;
}

static int look(struct planner *p, struct planner_record *r, struct fleet_view *view,
                struct owned_answer *ret, uint64_t *ret_steps) {
    const struct planner_key key = planner_key_of(strbuf_str(&r->name));
    struct steps steps = {.max = KEY_STEPS};
    struct owned_question q = {.view = view,
                               .wall_ms = p->options.wall_us() / 1000,
                               .now_ms = now_ms(p),
                               .settings = &p->options.settings,
                               .slowest_ms = p->slowest_ms,
                               .answered_ms = p->answered_ms,
                               .denied_ms = denied_ms,
                               .ctx = p};
    struct err err = {0};
    if (p->held != NULL)
        q.policies.items = policies_items(p->held, &q.policies.count);
    q.namespace = key.namespace;
    q.name = key.name;
    arena_reset(&p->arena);
    p->arena.steps = (struct steps){.max = PLAN_STEPS};
    view->clusters.steps = &steps;
    const int64_t before_ns = clock_ns(p->options.clock);
    const int result = key.name.n > 0 ? owned_look(&r->owned, &q, &p->arena, ret, &err)
                                      : sweep(p, r, &q, ret, &err);
    view->clusters.steps = NULL;
    *ret_steps = steps.used + p->arena.steps.used;
    planner_metrics_look(&p->metrics, ret, clock_ns(p->options.clock) - before_ns);
    if (key.name.n > 0)
        placement_history_look(p->options.history, key.namespace, key.name, ret, q.wall_ms);
    if (ret->answered_ms > p->slowest_ms)
        p->slowest_ms = ret->answered_ms;
    if (ret->answered_ms > 0)
        p->answered_ms = q.now_ms;
    if (result != 0)
        LOG_W("a Placement cannot be planned", LOG_STR("placement", strbuf_str(&r->name)),
              LOG_STR("err", str_of(err.text)));
    else
        record_events(p, &q, ret);
    return result;
}

static void set_wake(struct planner *p, struct planner_record *r, int64_t wait_ms) {
    const int64_t now = now_ms(p);
    r->wake_ms = wait_ms < INT64_MAX - now ? now + wait_ms : INT64_MAX;
    if (r->wake_ms < p->next_wake_ms)
        p->next_wake_ms = r->wake_ms;
}

/* Sets r->urgent until the writes that leave clusters are seen. */
static void note_urgent(struct planner_record *r, const struct owned_answer *a) {
    const bool writes = a->write.what == OWNED_DECISION || a->write.what == OWNED_SCORE;
    const bool lost = a->has_lost && a->result == OWNED_DECIDED;
    r->urgent = lost || (r->urgent && (writes || a->write_is_out));
}

/* Publishes the look's answer; the mutex is held. If a write was taken meanwhile, the answer is out
 * of date and is dropped. Returns true if there is a new write to offer. */
static bool publish(struct planner *p, uint32_t id, struct owned_answer *a, uint64_t takes) {
    struct planner_record *r = planner_record(p, id);
    owned_write_done(&r->pending);
    if (r->takes != takes) {
        owned_write_done(&a->write);
        return false; /* the end of that write marks the Placement again */
    }
    r->pending = a->write;
    r->planned = true;
    if (!a->write_is_out && r->written != 0)
        planner_set_waits(p, id, STR("")); /* its write is seen, or too old to wait for */
    if (!a->write_is_out || a->write.item.n > 0)
        planner_set_waits(p, id, a->write.item.n > 0 ? strbuf_str(&a->write.object) : STR(""));
    if (r->failures == 0 || a->has_key)
        planner_set_key(p, id, a->has_key ? &a->key : NULL,
                        a->has_noted_key ? &a->noted_key : NULL);
    const bool is_new = a->write.what != OWNED_NOTHING && !r->offered;
    note_urgent(r, a);
    if (is_new)
        planner_offer(p, id);
    if (a->mode == OWNED_GONE && r->owned.progress != OWNED_UNDER_WAY && !r->news.taken &&
        !r->under_way && !turns_waits(&r->dirty) && !r->offered)
        planner_drop(p, id);
    return is_new;
}

static int64_t retry_ms(uint32_t failures) {
    int64_t ms = RETRY_MS;
    for (uint32_t i = 1; i < failures && ms < RETRY_MAX_MS; i++)
        ms *= 2;
    return ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS;
}

/* Returns true if there is a new write to offer. */
static bool plan_one(struct planner *p, uint32_t id, struct fleet_view *view) {
    struct owned_answer a;
    uint64_t steps;
    mutex_lock(&p->mutex);
    struct planner_record *r = planner_record(p, id); /* records do not move */
    hear_news(r);
    const uint64_t takes = r->takes;
    mutex_unlock(&p->mutex);
    const int result = look(p, r, view, &a, &steps);
    const struct planner_counts counts = {.owned = a.mode == OWNED_OURS,
                                          .scored = a.mode == OWNED_SCORED,
                                          .own_terms = a.own_terms,
                                          .skewed = a.skewed,
                                          .waiting = a.waiting,
                                          .refused = a.refused};
    r->failures = result != 0 ? r->failures + 1 : 0;
    planner_metrics_replace(&p->metrics, &r->counts, &counts);
    r->counts = counts;
    set_wake(p, r, result != 0 && result != -EINVAL ? retry_ms(r->failures) : a.wake_ms);
    mutex_lock(&p->mutex);
    turns_charge(&p->dirty, &r->dirty, steps);
    const bool is_new = publish(p, id, &a, takes);
    mutex_unlock(&p->mutex);
    return is_new;
}

/* ---- the thread ---- */

static void forget_all(struct planner *p) {
    p->first_ready = POOL_NONE;
    score_sweep_done(&p->sweep);
    for (POOL_EACH(&p->records, id))
        planner_drop(p, id);
    p->next_wake_ms = INT64_MAX;
}

static void mark_visited(void *ctx, struct str namespace, struct str name) {
    struct planner *p = ctx;
    mutex_lock(&p->mutex);
    planner_mark_name(p, (struct planner_key){namespace, name});
    mutex_unlock(&p->mutex);
}

/* Marks all Placements of the fleet, and all records: their Placement may be gone. */
static void mark_all(struct planner *p) {
    struct fleet_view view;
    mutex_lock(&p->mutex);
    p->all_dirty = false;
    for (POOL_EACH(&p->records, id))
        planner_mark(p, id);
    mutex_unlock(&p->mutex);
    fleet_view_open(p->options.fleet, &view);
    fleet_placements_each(&view, mark_visited, p);
    fleet_view_close(&view);
    mutex_lock(&p->mutex);
    planner_mark_sweep(p); /* the sweep waits until all marked Placements are planned */
    mutex_unlock(&p->mutex);
}

static void mark_due(struct planner *p) {
    const int64_t now = now_ms(p);
    if (p->next_wake_ms > now)
        return;
    p->next_wake_ms = INT64_MAX;
    mutex_lock(&p->mutex);
    for (POOL_EACH(&p->records, id)) {
        struct planner_record *r = planner_record(p, id);
        if (r->wake_ms <= now) {
            r->wake_ms = INT64_MAX;
            planner_mark(p, id);
        } else if (r->wake_ms < p->next_wake_ms) {
            p->next_wake_ms = r->wake_ms;
        }
    }
    mutex_unlock(&p->mutex);
}

/* Holds the newest set of policies. Returns true if the set is a new one. */
static bool policies_changed(struct planner *p) {
    if (p->options.policies == NULL)
        return false;
    struct policies *now = policies_hold(p->options.policies);
    const bool changed = now != p->held;
    if (p->held != NULL)
        policies_release(p->held);
    p->held = now;
    return changed;
}

/* May a Placement be planned now? The mutex is held. */
static bool has_turn(const struct planner *p) {
    return now_ms(p) < p->rest_until_ms ? turns_any_free(&p->dirty) : turns_any(&p->dirty);
}

static uint32_t take_dirty(struct planner *p) {
    mutex_lock(&p->mutex);
    const uint32_t id = !p->restart && has_turn(p) ? planner_take_dirty(p) : POOL_NONE;
    mutex_unlock(&p->mutex);
    return id;
}

/* Begins a rest from planning after a view. When a view ends, a waiting watch gets the lock once,
 * and then reads its next event: without a rest it would apply only one event for each plan, and a
 * namespace with long plans would delay everybody's events. Namespaces with short plans need not
 * wait for the end of the rest. */
static void begin_rest(struct planner *p, int64_t until_ms) {
    const int64_t now = now_ms(p), over_ms = now - until_ms;
    if (over_ms > 0)
        p->rest_until_ms = now + (over_ms < REST_MS ? over_ms : REST_MS);
}

static void plan_some(struct planner *p) {
    struct fleet_view view;
    bool is_new = false;
    const int64_t until_ms = now_ms(p) + VIEW_MS;
    fleet_view_open(p->options.fleet, &view);
    do {
        const uint32_t id = take_dirty(p);
        if (id == POOL_NONE)
            break;
        is_new = plan_one(p, id, &view);
    } while (!is_new && now_ms(p) < until_ms); /* a write does not wait for more plans */
    fleet_view_close(&view);
    begin_rest(p, until_ms);
    if (is_new)
        p->options.on_ready(p->options.ctx);
}

enum duty { DUTY_STOP, DUTY_NOTHING, DUTY_ALL, DUTY_SOME };

/* Waits for the next duty, at most POLL_MS. */
static enum duty wait_for_duty(struct planner *p) {
    const bool ready = p->options.is_ready(p->options.ctx);
    const int64_t now = now_ms(p);
    const int64_t rest_ms = p->rest_until_ms - now;
    int64_t wait_ms = p->next_wake_ms - now < POLL_MS ? p->next_wake_ms - now : POLL_MS;
    enum duty duty = DUTY_NOTHING;
    mutex_lock(&p->mutex);
    if (p->restart)
        forget_all(p);
    p->restart = false;
    if (p->again_ms <= now) {
        p->again_ms = INT64_MAX;
        p->all_dirty = true;
    }
    const bool works = ready && p->leads;
    const bool idle = !works || (!p->all_dirty && !has_turn(p));
    if (rest_ms > 0 && rest_ms < wait_ms)
        wait_ms = rest_ms;
    if (!p->stopping && idle && wait_ms > 0)
        (void)condition_wait_until(&p->wake, &p->mutex,
                                   clock_real()->now_ms(clock_real()) + (works ? wait_ms : 100));
    if (p->stopping)
        duty = DUTY_STOP;
    else if (works && p->leads && !p->restart)
        duty = p->all_dirty ? DUTY_ALL : DUTY_SOME;
    mutex_unlock(&p->mutex);
    return duty;
}

static void *run(void *arg) {
    struct planner *p = arg;
    (void)pthread_setname_np(pthread_self(), "planner"); /* for people */
    for (;;) {
        const enum duty duty = wait_for_duty(p);
        if (duty == DUTY_STOP)
            return NULL;
        if (duty == DUTY_NOTHING)
            continue;
        if (policies_changed(p) || duty == DUTY_ALL)
            mark_all(p);
        mark_due(p);
        plan_some(p);
    }
}

/* ---- life ---- */

int planner_new(const struct planner_options *options, struct planner **ret, struct err *err) {
    struct planner *p = calloc(1, sizeof *p);
    if (p == NULL)
        return err_set(err, -ENOMEM, "no memory to plan Placements");
    p->options = *options;
    if (p->options.clock == NULL)
        p->options.clock = clock_real();
    if (p->options.wall_us == NULL)
        p->options.wall_us = kube_wall_us;
    pool_init(&p->records, sizeof(struct planner_record));
    turns_init(&p->dirty, TURN_STEPS);
    denied_objects_init(&p->denied);
    p->first_ready = POOL_NONE;
    p->next_wake_ms = p->again_ms = INT64_MAX;
    arena_init(&p->arena, PLAN_BYTES);
    mutex_init(&p->mutex);
    condition_init(&p->wake);
    planner_metrics_start(&p->metrics);
    int r = pthread_create(&p->thread, NULL, run, p);
    if (r != 0) {
        planner_metrics_stop(&p->metrics);
        free(p);
        return err_set_errno(err, r, "cannot start the planner's thread");
    }
    *ret = p;
    return 0;
}

void planner_stop(struct planner *p) {
    mutex_lock(&p->mutex);
    p->stopping = true;
    condition_signal(&p->wake);
    mutex_unlock(&p->mutex);
    (void)pthread_join(p->thread, NULL); /* joined once, by the owner */
}

void planner_free(struct planner *p) {
    if (p == NULL)
        return;
    forget_all(p);
    planner_metrics_stop(&p->metrics);
    if (p->held != NULL)
        policies_release(p->held);
    arena_done(&p->arena);
    pool_done(&p->records);
    turns_done(&p->dirty);
    denied_objects_done(&p->denied);
    hashmap_done(&p->index);
    hashmap_done(&p->by_key);
    hashmap_done(&p->by_waiting);
    condition_done(&p->wake);
    mutex_done(&p->mutex);
    free(p);
}

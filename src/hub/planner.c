#include "hub/planner.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/time.h"
#include "hub/planner_internal.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

enum {
    VIEW_MS = 10,     /* for so long a view may hold up the watch, and one plan longer */
    POLL_MS = 1000,   /* how often it is looked whether policies have changed */
    RETRY_MS = 60000, /* after a plan that failed */
    PLAN_BYTES = 256 << 20,
    PLAN_STEPS = 100000000,
};

const struct event_reason planner_reasons[PLANNER_REASONS] = {
    [PLANNER_SPREAD] = {"Spread", EVENT_NORMAL, PLACEMENT_KIND,
                        "Evenkeel has decided the Placement for the first time"},
    [PLANNER_MOVED] = {"Moved", EVENT_NORMAL, PLACEMENT_KIND,
                       "the Placement moves to or from clusters; the note has the reason and the "
                       "first of them"},
    [PLANNER_UNDONE] = {"Undone", EVENT_WARNING, PLACEMENT_KIND,
                        "OCM's disable annotation was taken away more than three times in an hour: "
                        "Evenkeel leaves the Placement to OCM"},
};

/* What the writer has done with a write, until the planner's thread looks. */
struct news {
    bool taken, ended;
    struct owned_write write; /* that was taken, without path and body */
    int64_t taken_ms, ended_ms;
    enum write_end end;
    int status;
};

enum list { DIRTY, READY, LISTS }; /* to be planned; to be written */

struct record {
    struct strbuf name; /* "NAMESPACE/NAME" */
    bool dirty, offered;
    uint32_t next[LISTS];
    uint64_t takes;             /* counted */
    struct owned_write pending; /* to be taken */
    struct news news;
    /* The thread's. */
    struct owned owned;
    struct planner_counts counts;
    int64_t wake_ms; /* INT64_MAX: it does not wait for a time */
};

struct ends {
    uint32_t first, last;
};

struct planner {
    struct planner_options options;
    pthread_t thread;
    struct mutex mutex; /* guards what is below */
    struct condition wake;
    bool stopping, leads, restart, all_dirty;
    struct pool records; /* records are freed by the thread alone */
    struct hashmap index;
    struct ends lists[LISTS];
    /* The thread's. */
    struct arena arena;
    struct policies *held;
    int64_t next_wake_ms;
    struct planner_metrics metrics;
};

static struct record *record_at(const struct planner *p, uint32_t id) {
    return pool_at(&p->records, id);
}

static int64_t now_ms(const struct planner *p) {
    return p->options.clock->now_ms(p->options.clock);
}

/* ---- records; the mutex is held ---- */

/* Of a Placement. */
struct key {
    struct str namespace, name;
};

static struct key key_of(struct str text) {
    const size_t at = str_find(text, '/');
    return (struct key){{text.p, at}, {text.p + at + 1, text.n - at - 1}};
}

static uint64_t hash_of(struct key key) {
    struct hash_state state = hash_begin();
    hash_add(&state, key.namespace);
    hash_add(&state, key.name);
    return hash_end(state);
}

static bool is_named(const void *ctx, uint32_t id, const void *wanted) {
    const struct key key = key_of(strbuf_str(&record_at(ctx, id)->name)), *other = wanted;
    return str_eq(key.name, other->name) && str_eq(key.namespace, other->namespace);
}

static uint32_t find_record(const struct planner *p, struct key key) {
    return hashmap_find(&p->index, hash_of(key), is_named, p, &key);
}

static uint32_t make_record(struct planner *p, struct key key) {
    struct strbuf name = {0};
    strbuf_append_str(&name, key.namespace);
    strbuf_append_char(&name, '/');
    strbuf_append_str(&name, key.name);
    const bool good = !strbuf_failed(&name) && hashmap_reserve(&p->index) == 0;
    const uint32_t id = good ? pool_take(&p->records) : POOL_NONE;
    if (id == POOL_NONE) {
        strbuf_done(&name);
        return POOL_NONE;
    }
    record_at(p, id)->name = name;
    record_at(p, id)->wake_ms = INT64_MAX;
    hashmap_insert(&p->index, hash_of(key), id);
    return id;
}

static void append(struct planner *p, enum list list, uint32_t id) {
    struct ends *ends = &p->lists[list];
    record_at(p, id)->next[list] = POOL_NONE;
    if (ends->last == POOL_NONE)
        ends->first = id;
    else
        record_at(p, ends->last)->next[list] = id;
    ends->last = id;
}

static uint32_t take_first(struct planner *p, enum list list) {
    struct ends *ends = &p->lists[list];
    const uint32_t id = ends->first;
    if (id == POOL_NONE)
        return POOL_NONE;
    ends->first = record_at(p, id)->next[list];
    if (ends->first == POOL_NONE)
        ends->last = POOL_NONE;
    return id;
}

static void empty_lists(struct planner *p) {
    for (enum list list = 0; list < LISTS; list++)
        p->lists[list] = (struct ends){POOL_NONE, POOL_NONE};
}

static void mark_dirty(struct planner *p, uint32_t id) {
    struct record *r = record_at(p, id);
    if (r->dirty)
        return;
    r->dirty = true;
    append(p, DIRTY, id);
    condition_signal(&p->wake);
}

static void mark_name(struct planner *p, struct key key) {
    uint32_t id = find_record(p, key);
    id = id == HASHMAP_NONE ? make_record(p, key) : id;
    if (id != POOL_NONE)
        mark_dirty(p, id);
    else
        p->all_dirty = true; /* there is no memory: tried again */
}

static void drop_record(struct planner *p, uint32_t id) {
    static const struct planner_counts none;
    struct record *r = record_at(p, id);
    planner_metrics_replace(&p->metrics, &r->counts, &none);
    const struct key key = key_of(strbuf_str(&r->name));
    placement_history_forget(p->options.history, key.namespace, key.name);
    hashmap_remove(&p->index, hash_of(key), id);
    owned_write_done(&r->pending);
    owned_write_done(&r->news.write);
    owned_done(&r->owned);
    strbuf_done(&r->name);
    pool_give(&p->records, id);
}

/* ---- calls from elsewhere ---- */

void planner_changed(void *ctx, struct str namespace, struct str name) {
    struct planner *p = ctx;
    mutex_lock(&p->mutex);
    if (p->leads) /* who begins to lead looks at all */
        mark_name(p, (struct key){namespace, name});
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

bool planner_next(struct planner *p, struct strbuf *ret_name) {
    mutex_lock(&p->mutex);
    const uint32_t id = take_first(p, READY);
    if (id != POOL_NONE) {
        record_at(p, id)->offered = false;
        strbuf_append_str(ret_name, strbuf_str(&record_at(p, id)->name));
    }
    mutex_unlock(&p->mutex);
    return id != POOL_NONE;
}

void planner_take(struct planner *p, struct str name, struct write *ret) {
    mutex_lock(&p->mutex);
    const uint32_t id = find_record(p, key_of(name));
    struct record *r = id != HASHMAP_NONE ? record_at(p, id) : NULL;
    if (r != NULL && p->leads && r->pending.what != OWNED_NOTHING) {
        ret->verb = r->pending.verb;
        strbuf_append_str(&ret->path, strbuf_str(&r->pending.path));
        strbuf_append_str(&ret->body, strbuf_str(&r->pending.body));
        owned_write_done(&r->news.write);
        r->news = (struct news){.taken = true, .write = r->pending, .taken_ms = now_ms(p)};
        r->pending = (struct owned_write){.what = OWNED_NOTHING};
        r->takes++;
    }
    mutex_unlock(&p->mutex);
}

void planner_ended(struct planner *p, struct str name, const struct write_result *result) {
    mutex_lock(&p->mutex);
    const uint32_t id = find_record(p, key_of(name));
    if (id != HASHMAP_NONE) {
        struct news *news = &record_at(p, id)->news;
        news->ended = true;
        news->ended_ms = now_ms(p);
        news->end = result->end;
        news->status = result->status;
        mark_dirty(p, id);
    }
    mutex_unlock(&p->mutex);
}

/* ---- one Placement, on the thread ---- */

static void hear_news(struct record *r) {
    struct news *news = &r->news;
    if (news->taken)
        owned_taken(&r->owned, &news->write, news->taken_ms);
    if (news->ended)
        owned_ended(&r->owned, news->end, news->status, news->ended_ms);
    owned_write_done(&news->write);
    *news = (struct news){.taken = false};
}

static void record_event(const struct planner *p, const struct owned_question *q,
                         const struct owned_answer *a) {
    const enum planner_reason which = a->undone  ? PLANNER_UNDONE
                                      : a->first ? PLANNER_SPREAD
                                                 : PLANNER_MOVED;
    const struct event_reason *reason = &planner_reasons[which];
    const struct event event = {.regarding = {STR(OCM_GROUP "/v1beta1"), STR(PLACEMENT_KIND),
                                              q->namespace, q->name, a->uid},
                                .type = reason->type,
                                .reason = str_of(reason->name),
                                .note = a->note};
    if (a->moves > 0 || a->undone)
        (void)event_record(p->options.events, &event); /* Events may be lost */
}

static int look(struct planner *p, struct record *r, struct fleet_view *view,
                struct owned_answer *ret) {
    const struct key key = key_of(strbuf_str(&r->name));
    struct steps steps = {.max = PLAN_STEPS};
    struct owned_question q = {.view = view,
                               .wall_ms = p->options.wall_us() / 1000,
                               .now_ms = now_ms(p),
                               .settings = &p->options.settings};
    struct err err = {0};
    if (p->held != NULL)
        q.policies.items = policies_items(p->held, &q.policies.count);
    q.namespace = key.namespace;
    q.name = key.name;
    arena_reset(&p->arena);
    p->arena.steps = (struct steps){.max = PLAN_STEPS};
    view->clusters.steps = &steps;
    const int64_t before_ns = clock_ns(p->options.clock);
    const int result = owned_look(&r->owned, &q, &p->arena, ret, &err);
    view->clusters.steps = NULL;
    planner_metrics_look(&p->metrics, ret, clock_ns(p->options.clock) - before_ns);
    placement_history_look(p->options.history, key.namespace, key.name, ret, q.wall_ms);
    if (result != 0)
        LOG_W("a Placement cannot be planned", LOG_STR("placement", strbuf_str(&r->name)),
              LOG_STR("err", str_of(err.text)));
    else
        record_event(p, &q, ret);
    return result;
}

static void set_wake(struct planner *p, struct record *r, int64_t wait_ms) {
    const int64_t now = now_ms(p);
    r->wake_ms = wait_ms < INT64_MAX - now ? now + wait_ms : INT64_MAX;
    if (r->wake_ms < p->next_wake_ms)
        p->next_wake_ms = r->wake_ms;
}

/* The mutex is held. A write that was taken meanwhile makes the answer one of yesterday. */
static bool publish(struct planner *p, uint32_t id, struct owned_answer *a, uint64_t takes) {
    struct record *r = record_at(p, id);
    owned_write_done(&r->pending);
    if (r->takes != takes) {
        owned_write_done(&a->write);
        return false; /* its end makes it dirty */
    }
    r->pending = a->write;
    const bool is_new = a->write.what != OWNED_NOTHING && !r->offered;
    if (is_new) {
        r->offered = true;
        append(p, READY, id);
    }
    if (a->mode == OWNED_GONE && r->owned.progress != OWNED_UNDER_WAY && !r->news.taken &&
        !r->dirty && !r->offered)
        drop_record(p, id);
    return is_new;
}

/* Returns whether there is something new to be written. */
static bool plan_one(struct planner *p, uint32_t id, struct fleet_view *view) {
    struct owned_answer a;
    mutex_lock(&p->mutex);
    struct record *r = record_at(p, id); /* which stays where it is */
    r->dirty = false;
    hear_news(r);
    const uint64_t takes = r->takes;
    mutex_unlock(&p->mutex);
    const int result = look(p, r, view, &a);
    const struct planner_counts counts = {a.mode == OWNED_OURS, a.own_terms, a.skewed, a.waiting};
    planner_metrics_replace(&p->metrics, &r->counts, &counts);
    r->counts = counts;
    set_wake(p, r, result != 0 && result != -EINVAL ? RETRY_MS : a.wake_ms);
    mutex_lock(&p->mutex);
    const bool is_new = publish(p, id, &a, takes);
    mutex_unlock(&p->mutex);
    return is_new;
}

/* ---- the thread ---- */

static void forget_all(struct planner *p) {
    empty_lists(p);
    for (POOL_EACH(&p->records, id))
        drop_record(p, id);
    p->next_wake_ms = INT64_MAX;
}

static void mark_visited(void *ctx, struct str namespace, struct str name) {
    struct planner *p = ctx;
    mutex_lock(&p->mutex);
    mark_name(p, (struct key){namespace, name});
    mutex_unlock(&p->mutex);
}

/* Those that are known, and those that are not known any more. */
static void mark_all(struct planner *p) {
    struct fleet_view view;
    mutex_lock(&p->mutex);
    p->all_dirty = false;
    for (POOL_EACH(&p->records, id))
        mark_dirty(p, id);
    mutex_unlock(&p->mutex);
    fleet_view_open(p->options.fleet, &view);
    fleet_placements_each(&view, mark_visited, p);
    fleet_view_close(&view);
}

static void mark_due(struct planner *p) {
    const int64_t now = now_ms(p);
    if (p->next_wake_ms > now)
        return;
    p->next_wake_ms = INT64_MAX;
    mutex_lock(&p->mutex);
    for (POOL_EACH(&p->records, id)) {
        struct record *r = record_at(p, id);
        if (r->wake_ms <= now) {
            r->wake_ms = INT64_MAX;
            mark_dirty(p, id);
        } else if (r->wake_ms < p->next_wake_ms) {
            p->next_wake_ms = r->wake_ms;
        }
    }
    mutex_unlock(&p->mutex);
}

/* Policies are replaced as a set. */
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

static uint32_t take_dirty(struct planner *p) {
    mutex_lock(&p->mutex);
    const uint32_t id = p->restart ? POOL_NONE : take_first(p, DIRTY);
    mutex_unlock(&p->mutex);
    return id;
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
    } while (!is_new && now_ms(p) < until_ms); /* a write waits for no other plan */
    fleet_view_close(&view);
    if (is_new)
        p->options.on_ready(p->options.ctx);
}

enum duty { DUTY_STOP, DUTY_NOTHING, DUTY_ALL, DUTY_SOME };

/* Waits until there is something to do, but not for ever. */
static enum duty wait_for_duty(struct planner *p) {
    const bool ready = p->options.is_ready(p->options.ctx);
    const int64_t now = now_ms(p);
    int64_t wait_ms = p->next_wake_ms - now < POLL_MS ? p->next_wake_ms - now : POLL_MS;
    enum duty duty = DUTY_NOTHING;
    mutex_lock(&p->mutex);
    if (p->restart)
        forget_all(p);
    p->restart = false;
    const bool works = ready && p->leads;
    const bool idle = !works || (!p->all_dirty && p->lists[DIRTY].first == POOL_NONE);
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
    pool_init(&p->records, sizeof(struct record));
    empty_lists(p);
    p->next_wake_ms = INT64_MAX;
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
    hashmap_done(&p->index);
    condition_done(&p->wake);
    mutex_done(&p->mutex);
    free(p);
}

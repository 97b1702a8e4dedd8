/*
 * Fair by namespace: while a Placement of namespace n waits to be planned, or a write of it waits
 * to be sent, the crowd has as many turns before it as base/turns.h, hub/planner.h and
 * kube/write/queue.h allow. It counts what the planner looks at, and what the queue begins; which
 * writes of n wait is known from what the queue was asked for.
 */
#include "hub/planner_internal.h"
#include "kube/write/queue.h"
#include "sim/hub/world.h"

#include <stdlib.h>

/* ---- plans ---- */

enum {
    /* A namespace loses a turn for so many steps that a plan of it takes (hub/planner.c). */
    TURN_STEPS = 100000,
    /* One that was begun when n began to wait, and the turn of the crowd. */
    MOST_PLANS = 2,
};

struct fair_planner {
    const struct planner *planner;
    bool leads;
    unsigned ahead; /* plans of the crowd since a Placement of n began to wait */
    uint64_t lost;  /* turns, by the last plan of n */
};

static struct fair_planner planners[REPLICAS];
static struct world *current;

/* The linker puts these in the place of what they are called after (--wrap). */
int __real_owned_look(struct owned *o, const struct owned_question *q, struct arena *arena,
                      struct owned_answer *ret, struct err *err);
int __wrap_owned_look(struct owned *o, const struct owned_question *q, struct arena *arena,
                      struct owned_answer *ret, struct err *err);
void __real_planner_lead(struct planner *p, bool leads);
void __wrap_planner_lead(struct planner *p, bool leads);
int __real_write_lane_want(struct write_lane *lane, struct str name, int64_t now_ms,
                           int64_t delay_ms);
int __wrap_write_lane_want(struct write_lane *lane, struct str name, int64_t now_ms,
                           int64_t delay_ms);
void __real_write_lane_rank(struct write_lane *lane, struct str name, bool urgent);
void __wrap_write_lane_rank(struct write_lane *lane, struct str name, bool urgent);
int __real_write_lane_new(struct write_queue *q, const struct write_lane_options *options,
                          struct write_lane **ret, struct err *err);
int __wrap_write_lane_new(struct write_queue *q, const struct write_lane_options *options,
                          struct write_lane **ret, struct err *err);
void __real_write_lane_free(struct write_lane *lane);
void __wrap_write_lane_free(struct write_lane *lane);
void __real_write_queue_next(struct write_queue *q, int64_t now_ms, struct write_next *ret);
void __wrap_write_queue_next(struct write_queue *q, int64_t now_ms, struct write_next *ret);
void __real_write_item_end(struct write_item *item, int64_t now_ms, enum write_end end,
                           int64_t retry_after_ms);
void __wrap_write_item_end(struct write_item *item, int64_t now_ms, enum write_end end,
                           int64_t retry_after_ms);

static struct fair_planner *find_planner(const struct planner *p) {
    struct fair_planner *f = planners;
    while (f < planners + REPLICAS && f->planner != p)
        f++;
    return f < planners + REPLICAS ? f : NULL;
}

void fair_use(struct world *w, unsigned number, const struct planner *p) {
    current = w;
    planners[number] = (struct fair_planner){.planner = p};
}

/* Who begins or ceases to lead forgets who waits. */
void __wrap_planner_lead(struct planner *p, bool leads) {
    struct fair_planner *f = find_planner(p);
    if (f != NULL && f->leads != leads)
        *f = (struct fair_planner){.planner = p, .leads = leads};
    __real_planner_lead(p, leads);
}

static bool waits_to_be_planned(const struct planner *p) {
    for (POOL_EACH(&p->records, id)) {
        const struct planner_record *r = planner_record(p, id);
        if (turns_waits(&r->dirty) &&
            str_eq(planner_key_of(strbuf_str(&r->name)).namespace, STR(NAMESPACE)))
            return true;
    }
    return false;
}

int __wrap_owned_look(struct owned *o, const struct owned_question *q, struct arena *arena,
                      struct owned_answer *ret, struct err *err) {
    struct fair_planner *f = find_planner(q->ctx);
    const bool waits = f != NULL && waits_to_be_planned(f->planner);
    const int result = __real_owned_look(o, q, arena, ret, err);
    if (f == NULL)
        return result;
    if (str_eq(q->namespace, STR(NAMESPACE))) {
        const uint64_t steps = arena->steps.used + q->view->clusters.steps->used;
        f->ahead = 0;
        f->lost = (steps + TURN_STEPS - 1) / TURN_STEPS;
    } else if (str_eq(q->namespace, STR(CROWD_NAMESPACE))) {
        f->ahead = waits ? f->ahead + 1 : 0;
        if (waits)
            happen(current, PLANNED_BEFORE);
        if (f->ahead > MOST_PLANS + f->lost)
            world_fail(current,
                       "unfair: a Placement of " NAMESPACE " waits for %u plans of the "
                       "crowd, and has lost %llu turns",
                       f->ahead, (unsigned long long)f->lost);
    }
    return result;
}

/* ---- writes ---- */

enum {
    LANES = 3,      /* of hub/placement_decisions.c, which take turns */
    NAMESPACES = 3, /* n, the crowd, and the sweep's, which is none */
    RANKS = 2,
    LINES = REPLICAS * LANES,
    /* A write of n is the last of so many of its rank; writes of the other rank alternate with
     * them, and the first may be one of these. */
    OF_RANK = LANES * NAMESPACES - 1,
    MOST_WRITES = 2 * OF_RANK + 1,
};

/* An object of n, as the lane has it. */
struct fair_item {
    bool urgent, waits, under_way;
    bool again; /* while under way: it is wanted */
    bool fails; /* it waits for a while, nobody here knows for how long */
};

struct fair_lane {
    const struct write_queue *queue;
    const struct write_lane *lane;
    struct fair_item items[PLACEMENTS];
    bool crowd_urgent[MOST_CROWD];
    /* Writes of the crowd since one of n began to wait: of the lane and rank, and of all. */
    unsigned ahead[RANKS], all_ahead[RANKS];
};

static struct fair_lane lanes[LINES];

static struct fair_lane *find_lane(const struct write_lane *lane) {
    struct fair_lane *at = lanes;
    while (at < lanes + LINES && at->lane != lane)
        at++;
    if (at == lanes + LINES)
        abort();
    return at;
}

/* The number in the name of a Placement of this namespace; `count`: it has none. */
static unsigned number_in(struct str name, struct str namespace, unsigned count) {
    const struct planner_key key = planner_key_of(name);
    int64_t number = 0;
    const struct str digits = {key.name.p + 1, key.name.n > 0 ? key.name.n - 1 : 0};
    const bool is_one = str_eq(key.namespace, namespace) && str_to_i64(digits, &number);
    return is_one && number < count ? (unsigned)number : count;
}

static struct fair_item *find_item(struct fair_lane *lane, struct str name) {
    const unsigned i = number_in(name, STR(NAMESPACE), PLACEMENTS);
    return i < PLACEMENTS ? &lane->items[i] : NULL;
}

static bool waits_in(const struct fair_lane *lane, unsigned rank) {
    bool waits = false;
    for (unsigned i = 0; i < PLACEMENTS; i++)
        waits = waits || (lane->items[i].waits && lane->items[i].urgent == (rank > 0));
    return waits;
}

/* Where none of n waits any more, the next one begins to wait. */
static void forget_served(struct fair_lane *lane) {
    for (unsigned rank = 0; rank < RANKS; rank++)
        if (!waits_in(lane, rank))
            lane->ahead[rank] = lane->all_ahead[rank] = 0;
}

int __wrap_write_lane_new(struct write_queue *q, const struct write_lane_options *options,
                          struct write_lane **ret, struct err *err) {
    const int result = __real_write_lane_new(q, options, ret, err);
    if (result == 0)
        *find_lane(NULL) = (struct fair_lane){.queue = q, .lane = *ret};
    return result;
}

int __wrap_write_lane_want(struct write_lane *lane, struct str name, int64_t now_ms,
                           int64_t delay_ms) {
    const int result = __real_write_lane_want(lane, name, now_ms, delay_ms);
    struct fair_item *item = find_item(find_lane(lane), name);
    if (item != NULL && item->under_way)
        item->again = true;
    else if (item != NULL && !item->fails && delay_ms == 0 && result == 0)
        item->waits = true;
    return result;
}

void __wrap_write_lane_rank(struct write_lane *lane, struct str name, bool urgent) {
    struct fair_lane *at = find_lane(lane);
    struct fair_item *item = find_item(at, name);
    const unsigned i = number_in(name, STR(CROWD_NAMESPACE), MOST_CROWD);
    __real_write_lane_rank(lane, name, urgent);
    if (i < MOST_CROWD)
        at->crowd_urgent[i] = urgent;
    if (item != NULL)
        item->urgent = urgent;
    forget_served(at);
}

void __wrap_write_lane_free(struct write_lane *lane) {
    if (lane != NULL)
        *find_lane(lane) = (struct fair_lane){.lane = NULL};
    __real_write_lane_free(lane);
}

/* A write of the crowd has begun in this lane and rank. */
static void count_crowd(const struct fair_lane *of, unsigned of_rank) {
    for (struct fair_lane *at = lanes; at < lanes + LINES; at++)
        for (unsigned rank = 0; rank < RANKS; rank++) {
            if (at->queue != of->queue || !waits_in(at, rank))
                continue;
            happen(current, WRITTEN_BEFORE);
            at->all_ahead[rank]++;
            at->ahead[rank] += at == of && rank == of_rank;
            if (at->ahead[rank] > 1 || at->all_ahead[rank] > MOST_WRITES)
                world_fail(current,
                           "unfair: a write of " NAMESPACE " waits for %u writes of the "
                           "crowd, %u of them in its own line",
                           at->all_ahead[rank], at->ahead[rank]);
        }
}

void __wrap_write_queue_next(struct write_queue *q, int64_t now_ms, struct write_next *ret) {
    __real_write_queue_next(q, now_ms, ret);
    if (ret->item == NULL)
        return;
    struct fair_lane *at = find_lane(write_item_lane(ret->item));
    const struct str name = write_item_name(ret->item);
    struct fair_item *item = find_item(at, name);
    const unsigned i = number_in(name, STR(CROWD_NAMESPACE), MOST_CROWD);
    if (i < MOST_CROWD)
        count_crowd(at, at->crowd_urgent[i]);
    if (item == NULL)
        return;
    *item = (struct fair_item){.urgent = item->urgent, .under_way = true};
    at->ahead[item->urgent] = at->all_ahead[item->urgent] = 0;
    forget_served(at);
}

void __wrap_write_item_end(struct write_item *item, int64_t now_ms, enum write_end end,
                           int64_t retry_after_ms) {
    struct fair_item *of = find_item(find_lane(write_item_lane(item)), write_item_name(item));
    if (of != NULL) {
        of->fails = end != WRITE_DONE && end != WRITE_NEEDLESS;
        of->waits = of->again && !of->fails;
        of->under_way = of->again = false;
    }
    __real_write_item_end(item, now_ms, end, retry_after_ms);
}

#include "kube/write/queue.h"

#include "base/back_off.h"
#include "base/hash.h"
#include "base/hashmap.h"
#include "base/turns.h"
#include "kube/client/timers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    GATE_MS = 1000, /* between two checks of a gate that is shut */
    BUSY_MS = 1000, /* wait for a busy server that sent no Retry-After */
    US = 1000,      /* microseconds in a millisecond */
    SECOND_US = 1000 * 1000,
};

enum item_state {
    ITEM_UNDER_WAY, /* being written, or in no heap yet */
    ITEM_WAITS,
    ITEM_RESTS, /* wants no write; stays only to delay its next write */
};

enum rank { URGENT, COMMON, RANKS };

/* An object. It is in one of the lane's heaps or lists, unless it is under way. */
struct write_item {
    struct write_lane *lane;
    struct kube_timer turn; /* only `place` is used, and `ctx`, which is the item */
    struct turn due[RANKS]; /* links of the lists in which the item waits once its time has come */
    enum item_state state;
    bool urgent;
    uint32_t id;
    unsigned failures;  /* number of failures in a row */
    int64_t floor_ms;   /* no write before this time */
    int64_t wanted_ms;  /* while under way: when it is wanted again; INT64_MAX: never */
    bool by_conflict;   /* a conflict has put its turn later than floor_ms */
    bool refreshed;     /* while under way: a fresh version of the object has come */
    size_t name_length; /* length of the name after this struct */
    char name[];
};

struct write_lane {
    struct write_queue *queue;
    struct write_lane *next;
    struct write_lane_options options;
    struct timers waiting;   /* items by the time when their turn comes */
    struct turns due[RANKS]; /* items whose time has come, by namespace */
    uint64_t begun[RANKS];   /* the number of the last write */
    struct timers resting;   /* items by the time when they can be forgotten */
    int64_t floor_ms;        /* no write before this time: because of the pace, or after a refused
                                write */
    struct hashmap ids;
    struct write_item **items; /* by id; NULL: the id is free */
    uint32_t *free_ids;        /* the first `free_count` are ids whose item is gone */
    uint32_t id_count;         /* every id below this has had an item */
    uint32_t free_count;
    unsigned count, rest_count;
};

struct write_queue {
    struct write_limits limits;
    uint64_t random;
    struct write_lane *lanes;
    int64_t floor_ms; /* no write before this time: the server is busy */
    int64_t token_us; /* the time in which the bucket regains one token */
    int64_t full_us;  /* when the bucket will be full again */
    unsigned under_way;
    uint64_t begun;   /* number of writes so far */
    bool urgent_last; /* the last write was urgent */
};

/* ---- how writes end ---- */

enum write_end write_end_of(int error, int status, int64_t retry_after_ms) {
    if (error != 0)
        return WRITE_FAILED;
    if (status >= 200 && status < 300)
        return WRITE_DONE;
    if (status == 429 || (status == 503 && retry_after_ms >= 0))
        return WRITE_BUSY;
    return status == 404                    ? WRITE_GONE
           : status == 409                  ? WRITE_CONFLICT
           : status == 401 || status == 403 ? WRITE_REFUSED
                                            : WRITE_FAILED;
}

/* ---- items ---- */

static int64_t max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool has_name(const void *ctx, uint32_t id, const void *key) {
    const struct write_lane *lane = ctx;
    const struct write_item *item = lane->items[id];
    return str_eq((struct str){item->name, item->name_length}, *(const struct str *)key);
}

static struct write_item *find(const struct write_lane *lane, struct str name) {
    uint32_t id = hashmap_find(&lane->ids, hash_str(name), has_name, lane, &name);
    return id != HASHMAP_NONE ? lane->items[id] : NULL;
}

static struct timers *heap_of(struct write_item *item) {
    return item->state == ITEM_RESTS ? &item->lane->resting : &item->lane->waiting;
}

static enum rank rank_of(const struct write_item *item) {
    return item->urgent ? URGENT : COMMON;
}

static struct turn *due_of(struct write_item *item) {
    return &item->due[rank_of(item)];
}

static struct turns *due_list_of(struct write_item *item) {
    return &item->lane->due[rank_of(item)];
}

static void take_out(struct write_item *item) {
    if (item->turn.place.waits)
        timers_remove(heap_of(item), &item->turn);
    turns_give_up(due_of(item));
    item->lane->rest_count -= item->state == ITEM_RESTS;
    item->state = ITEM_UNDER_WAY;
}

static void put(struct write_item *item, enum item_state state, int64_t at_ms) {
    take_out(item);
    item->state = state;
    item->lane->rest_count += state == ITEM_RESTS;
    timers_add(heap_of(item), &item->turn, at_ms);
}

static void leave_turns(struct write_item *item) {
    for (enum rank rank = 0; rank < RANKS; rank++)
        turns_leave(&item->lane->due[rank], &item->due[rank]);
}

/* Items of one namespace share its turns; items without a namespace share turns, too. */
static bool join_turns(struct write_item *item, struct str name) {
    const size_t at = str_find(name, '/');
    const struct str namespace = {name.p, at < name.n ? at : 0};
    bool good = true;
    for (enum rank rank = 0; rank < RANKS; rank++)
        good = good && turns_join(&item->lane->due[rank], &item->due[rank], namespace);
    if (!good)
        leave_turns(item);
    return good;
}

static void item_free(struct write_item *item) {
    struct write_lane *lane = item->lane;
    take_out(item);
    leave_turns(item);
    hashmap_remove(&lane->ids, hash_str(write_item_name(item)), item->id);
    lane->items[item->id] = NULL;
    lane->free_ids[lane->free_count++] = item->id;
    lane->count--;
    free(item);
}

/* Frees resting items: if they are wanted again, they may be written at once. */
static void forget_rested(struct write_lane *lane, int64_t now_ms) {
    while (lane->resting.first != NULL && lane->resting.first->place.at_ms <= now_ms)
        item_free(lane->resting.first->ctx);
}

static int item_new(struct write_lane *lane, struct str name, struct write_item **ret) {
    if (lane->count == lane->options.objects)
        return -ENOSPC;
    int r = hashmap_reserve(&lane->ids);
    struct write_item *item = r == 0 ? calloc(1, sizeof *item + name.n) : NULL;
    if (item != NULL)
        item->lane = lane;
    if (item == NULL || !join_turns(item, name)) {
        free(item);
        return -ENOMEM;
    }
    item->id = lane->free_count > 0 ? lane->free_ids[--lane->free_count] : lane->id_count++;
    lane->items[item->id] = item;
    lane->count++;
    item->turn.ctx = item;
    item->floor_ms = INT64_MIN;
    item->wanted_ms = INT64_MAX;
    item->name_length = name.n;
    memcpy(item->name, name.p, name.n);
    hashmap_insert(&lane->ids, hash_str(name), item->id);
    *ret = item;
    return 0;
}

struct str write_item_name(const struct write_item *item) {
    return (struct str){item->name, item->name_length};
}

struct write_lane *write_item_lane(const struct write_item *item) {
    return item->lane;
}

/* ---- wishes ---- */

int write_lane_want(struct write_lane *lane, struct str name, int64_t now_ms, int64_t delay_ms) {
    int64_t at_ms = now_ms + delay_ms;
    forget_rested(lane, now_ms);
    struct write_item *item = find(lane, name);
    if (item == NULL) {
        int r = item_new(lane, name, &item);
        if (r == 0)
            put(item, ITEM_WAITS, at_ms);
        return r;
    }
    if (item->state == ITEM_UNDER_WAY)
        item->wanted_ms = at_ms < item->wanted_ms ? at_ms : item->wanted_ms;
    else if (item->state == ITEM_RESTS)
        put(item, ITEM_WAITS,
            max(at_ms, item->by_conflict ? item->turn.place.at_ms : item->floor_ms));
    else if (item->turn.place.waits && !item->by_conflict &&
             max(at_ms, item->floor_ms) < item->turn.place.at_ms)
        put(item, ITEM_WAITS, max(at_ms, item->floor_ms));
    return 0;
}

void write_lane_rank(struct write_lane *lane, struct str name, bool urgent) {
    struct write_item *item = find(lane, name);
    if (item == NULL || item->urgent == urgent)
        return;
    const bool is_due = turns_waits(due_of(item));
    turns_give_up(due_of(item));
    item->urgent = urgent;
    if (is_due)
        turns_wait(due_list_of(item), due_of(item));
}

void write_lane_drop(struct write_lane *lane, struct str name) {
    struct write_item *item = find(lane, name);
    if (item == NULL)
        return;
    item->wanted_ms = INT64_MAX;
    if (item->state == ITEM_WAITS)
        put(item, ITEM_RESTS, item->by_conflict ? item->turn.place.at_ms : item->floor_ms);
}

void write_lane_refresh(struct write_lane *lane, struct str name, int64_t now_ms) {
    struct write_item *item = find(lane, name);
    if (item == NULL)
        return;
    item->refreshed = true;
    if (item->by_conflict)
        put(item, item->state, max(now_ms, item->floor_ms));
    item->by_conflict = false;
}

unsigned write_lane_count(const struct write_lane *lane) {
    return lane->count - lane->rest_count;
}

/* ---- turns ---- */

/* Returns when the token bucket has a token. The bucket is full at full_us, and has its first token
 * (burst - 1) x token_us earlier. */
static int64_t token_ms(const struct write_queue *q) {
    if (q->full_us == INT64_MIN)
        return INT64_MIN;
    return (q->full_us - (int64_t)(q->limits.burst - 1) * q->token_us + US - 1) / US;
}

static void take_token(struct write_queue *q, int64_t now_ms) {
    q->full_us = max(q->full_us, now_ms * US) + q->token_us;
}

/* Moves the items whose time has come to the lists where they wait for their turns. */
static void make_due(struct write_lane *lane, int64_t now_ms) {
    while (lane->waiting.first != NULL && lane->waiting.first->place.at_ms <= now_ms) {
        struct write_item *item = lane->waiting.first->ctx;
        timers_remove(&lane->waiting, &item->turn);
        turns_wait(due_list_of(item), due_of(item));
    }
}

/* Returns when the lane's next write may begin. Asks the lane's gate only when that time has come;
 * if the gate is shut, not again for GATE_MS. */
static int64_t turn_of(struct write_lane *lane, int64_t now_ms, int64_t *ret_limit_ms) {
    make_due(lane, now_ms);
    const bool is_due = turns_any(&lane->due[URGENT]) || turns_any(&lane->due[COMMON]);
    if (!is_due && lane->waiting.first == NULL)
        return INT64_MAX;
    const int64_t at_ms = max(is_due ? now_ms : lane->waiting.first->place.at_ms, lane->floor_ms);
    if (at_ms > now_ms)
        return at_ms;
    *ret_limit_ms = lane->options.may_write_ms != NULL
                        ? lane->options.may_write_ms(lane->options.ctx)
                        : INT64_MAX;
    return *ret_limit_ms > 0 ? at_ms : now_ms + GATE_MS;
}

/* The lane that has the next turn of a rank. */
struct choice {
    struct write_lane *lane; /* NULL: no lane */
    int64_t limit_ms;
};

/* Lanes take turns: the lane whose last write of the rank is the oldest is next. */
static void compare_lane(struct choice choices[RANKS], struct write_lane *lane, int64_t limit_ms) {
    for (enum rank rank = 0; rank < RANKS; rank++) {
        const struct write_lane *first = choices[rank].lane;
        if (turns_any(&lane->due[rank]) &&
            (first == NULL || lane->begun[rank] < first->begun[rank]))
            choices[rank] = (struct choice){lane, limit_ms};
    }
}

/* If items of both ranks wait, the ranks take turns. */
static enum rank choose_rank(const struct write_queue *q, const struct choice choices[RANKS]) {
    const bool both = choices[URGENT].lane != NULL && choices[COMMON].lane != NULL;
    if (both)
        return q->urgent_last ? COMMON : URGENT;
    return choices[URGENT].lane != NULL ? URGENT : COMMON;
}

static void begin(struct write_lane *lane, enum rank rank, int64_t now_ms, struct write_next *ret) {
    struct write_queue *q = lane->queue;
    struct turn *turn = turns_next(&lane->due[rank]);
    ret->item = LIST_ITEM(struct write_item, due[rank], turn);
    ret->item->by_conflict = ret->item->refreshed = false;
    ret->item->wanted_ms = INT64_MAX;
    take_out(ret->item);
    lane->floor_ms = now_ms + lane->options.pace_ms;
    lane->begun[rank] = ++q->begun;
    q->urgent_last = rank == URGENT;
    q->under_way++;
    take_token(q, now_ms);
}

void write_queue_next(struct write_queue *q, int64_t now_ms, struct write_next *ret) {
    struct choice choices[RANKS] = {{NULL, 0}, {NULL, 0}};
    int64_t first_ms = INT64_MAX;
    *ret = (struct write_next){.wait_ms = INT64_MAX};
    if (q->under_way == q->limits.under_way)
        return; /* a write that ends makes room */
    const int64_t least_ms = max(q->floor_ms, token_ms(q));
    for (struct write_lane *lane = q->lanes; lane != NULL; lane = lane->next) {
        int64_t limit_ms = INT64_MAX;
        const int64_t at_ms = turn_of(lane, now_ms, &limit_ms);
        first_ms = at_ms < first_ms ? at_ms : first_ms;
        if (at_ms <= now_ms)
            compare_lane(choices, lane, limit_ms);
    }
    if (first_ms == INT64_MAX)
        return;
    first_ms = max(first_ms, least_ms);
    if (first_ms > now_ms) {
        ret->wait_ms = first_ms - now_ms;
        return;
    }
    const enum rank rank = choose_rank(q, choices);
    assert(choices[rank].lane != NULL); /* an item whose time has come is in one of the lists */
    ret->limit_ms = choices[rank].limit_ms;
    begin(choices[rank].lane, rank, now_ms, ret);
}

/* ---- ends ---- */

static int64_t wait_of(struct write_item *item) {
    const struct write_lane_options *o = &item->lane->options;
    const struct back_off b = {o->retry_ms, o->retry_max_ms, o->jitter_percent};
    return back_off_ms(&b, item->failures++, &item->lane->queue->random);
}

static void end_well(struct write_item *item, int64_t now_ms, int64_t again_ms) {
    item->failures = 0;
    item->floor_ms = now_ms + again_ms;
    if (item->wanted_ms == INT64_MAX)
        put(item, ITEM_RESTS, item->floor_ms);
    else
        put(item, ITEM_WAITS, max(item->wanted_ms, item->floor_ms));
}

static void end_badly(struct write_item *item, int64_t now_ms, enum write_end end,
                      int64_t retry_after_ms) {
    struct write_lane *lane = item->lane;
    struct write_queue *q = lane->queue;
    int64_t at_ms = now_ms + max(wait_of(item), retry_after_ms);
    item->floor_ms = at_ms;
    if (end == WRITE_BUSY) {
        q->floor_ms = max(q->floor_ms, now_ms + max(retry_after_ms, BUSY_MS));
    } else if (end == WRITE_REFUSED && lane->options.refused_ms > 0) {
        item->floor_ms = at_ms = now_ms + lane->options.refused_ms;
        lane->floor_ms = max(lane->floor_ms, at_ms);
    } else if (end == WRITE_CONFLICT) {
        item->by_conflict = !item->refreshed;
        item->floor_ms = now_ms;
        if (item->refreshed)
            at_ms = item->wanted_ms != INT64_MAX ? max(item->wanted_ms, now_ms) : now_ms;
    }
    put(item, ITEM_WAITS, at_ms);
}

void write_item_end(struct write_item *item, int64_t now_ms, enum write_end end,
                    int64_t retry_after_ms) {
    struct write_lane *lane = item->lane;
    assert(item->state == ITEM_UNDER_WAY);
    lane->queue->under_way--;
    if (end == WRITE_DONE) {
        end_well(item, now_ms, lane->options.again_ms);
    } else if (end == WRITE_NEEDLESS) {
        lane->queue->full_us -= lane->queue->token_us; /* its token was not used */
        end_well(item, now_ms, 0);
    } else if (end == WRITE_GONE && item->wanted_ms == INT64_MAX) {
        item->floor_ms = now_ms + wait_of(item);
        put(item, ITEM_RESTS, item->floor_ms + lane->options.retry_max_ms);
    } else {
        end_badly(item, now_ms, end, retry_after_ms);
    }
}

/* ---- life ---- */

int write_queue_new(const struct write_limits *limits, struct write_queue **ret, struct err *err) {
    struct write_queue *q = calloc(1, sizeof *q);
    if (q == NULL)
        return err_set(err, -ENOMEM, "no memory for a queue of writes");
    assert(limits->under_way > 0 && limits->burst > 0);
    assert(limits->per_second > 0 && limits->per_second <= SECOND_US);
    q->limits = *limits;
    q->token_us = (SECOND_US + limits->per_second - 1) / limits->per_second;
    q->random = limits->seed;
    q->floor_ms = q->full_us = INT64_MIN;
    *ret = q;
    return 0;
}

void write_queue_free(struct write_queue *q) {
    assert(q == NULL || q->lanes == NULL);
    free(q);
}

int write_lane_new(struct write_queue *q, const struct write_lane_options *options,
                   struct write_lane **ret, struct err *err) {
    struct write_lane *lane = calloc(1, sizeof *lane);
    assert(options->objects > 0);
    if (lane != NULL) {
        lane->items = calloc(options->objects, sizeof(struct write_item *));
        lane->free_ids = calloc(options->objects, sizeof *lane->free_ids);
    }
    if (lane == NULL || lane->items == NULL || lane->free_ids == NULL) {
        if (lane != NULL) {
            free(lane->items);
            free(lane->free_ids);
        }
        free(lane);
        return err_set(err, -ENOMEM, "no memory for a queue of writes");
    }
    lane->queue = q;
    lane->options = *options;
    lane->floor_ms = INT64_MIN;
    for (enum rank rank = 0; rank < RANKS; rank++)
        turns_init(&lane->due[rank], 0);
    lane->next = q->lanes;
    q->lanes = lane;
    *ret = lane;
    return 0;
}

void write_lane_free(struct write_lane *lane) {
    if (lane == NULL)
        return;
    struct write_lane **at = &lane->queue->lanes;
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    for (uint32_t id = 0; id < lane->id_count; id++)
        if (lane->items[id] != NULL)
            item_free(lane->items[id]);
    for (enum rank rank = 0; rank < RANKS; rank++)
        turns_done(&lane->due[rank]);
    hashmap_done(&lane->ids);
    free(lane->items);
    free(lane->free_ids);
    free(lane);
}

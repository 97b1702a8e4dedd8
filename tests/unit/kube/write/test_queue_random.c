/*
 * Two controllers with a handful of objects each, and a server that loses requests and answers,
 * refuses, is busy, or lets somebody else write the same objects; their gate shuts and opens, and
 * what they want changes all the time. At every moment the queue's promises are checked; when the
 * server is well again and the gate open, all objects are soon as they are wanted.
 *
 * TEST_SEED repeats a sequence (with EVENKEEL_TEST_SEQUENCES=1), EVENKEEL_TEST_SEQUENCES says how
 * many there are.
 */
#include "kube/write/queue.h"

#include "base/random.h"
#include "unit/unit.h"

#include <stdio.h>

enum {
    SEQUENCES = 2000,
    LANES = 2,
    OBJECTS = 5,
    CHAOS_MS = 120000,
    QUIET_MS = 180000,
    UNDER_WAY = 3,
    BURST = 4,
    INTERVAL_MS = 250,
    RETRY_MS = 500,
    RETRY_MAX_MS = 16000,
    JITTER = 20,
    SENT = 4096, /* remembered beginnings */
    ANSWER_MS = 3000,
    NEWS_MS = 1500, /* until the watch brings a change */
    REFUSED_MS = 4000,
};

/* What the server has, and what the controller has seen of it. */
struct version {
    int64_t number; /* the resourceVersion */
    int value;
};

struct object {
    char name[8];
    struct version stored, seen, news;
    int64_t news_ms; /* when the watch brings it; INT64_MAX: nothing is on its way */
    int wanted;
    /* of the write under way */
    struct write_item *item;
    int64_t answer_ms, deadline_ms;
    struct version on_top_of;
    int written;
    /* of the last one */
    int64_t not_before_ms;
    int64_t stale_until_ms; /* after a conflict, unless news comes first */
    bool news_came;         /* since the last write began */
};

struct controller {
    struct write_lane *lane;
    struct write_lane_options options;
    struct object objects[OBJECTS];
    int64_t gate_shut_ms; /* when it shuts; INT64_MAX: it stays open; before now: it is shut */
    int64_t last_ms, refused_until_ms;
};

static struct world {
    uint64_t seed, random;
    int64_t now_ms, busy_until_ms, look_ms;
    bool quiet;
    struct write_queue *queue;
    struct controller controllers[LANES];
    int64_t sent_ms[SENT];
    unsigned sent, under_way;
} world;

static uint64_t below(uint64_t n) {
    return random_below(&world.random, n);
}

static bool chance(unsigned percent) {
    return !world.quiet && below(100) < percent;
}

#define CHECK(condition, what)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("TEST_SEED=%llu, at %lld ms: %s", (unsigned long long)world.seed,             \
                     (long long)world.now_ms, what);                                               \
    } while (0)

/* ---- the controllers ---- */

static int64_t may_write_ms(void *ctx) {
    const struct controller *c = ctx;
    return c->gate_shut_ms > world.now_ms ? c->gate_shut_ms - world.now_ms : 0;
}

static void want(struct controller *c, struct object *o) {
    if (o->seen.value != o->wanted)
        CHECK(write_lane_want(c->lane, str_of(o->name), world.now_ms, (int64_t)below(3) * 100) == 0,
              "there is no place");
}

static struct object *object_of(struct controller *c, struct str name) {
    for (int i = 0; i < OBJECTS; i++)
        if (str_eq(str_of(c->objects[i].name), name))
            return &c->objects[i];
    fail_msg("an object that nobody wants");
    return NULL;
}

static struct controller *controller_of(const struct write_lane *lane) {
    struct controller *c = world.controllers;
    while (c->lane != lane)
        c++;
    return c;
}

/* ---- the server ---- */

static void store(struct object *o, int value) {
    o->stored = (struct version){o->stored.number + 1, value};
    o->news = o->stored;
    o->news_ms = world.now_ms + (int64_t)below(NEWS_MS);
}

static void end(struct controller *c, struct object *o, enum write_end how,
                int64_t retry_after_ms) {
    struct write_item *item = o->item;
    o->item = NULL;
    world.under_way--;
    if (how == WRITE_BUSY)
        world.busy_until_ms = world.now_ms + (retry_after_ms > 0 ? retry_after_ms : 0);
    if (how == WRITE_REFUSED && c->options.refused_ms > 0)
        c->refused_until_ms = world.now_ms + c->options.refused_ms;
    o->not_before_ms = world.now_ms + (how == WRITE_DONE ? c->options.again_ms
                                       : how == WRITE_FAILED || how == WRITE_BUSY ? RETRY_MS
                                                                                  : 0);
    o->stale_until_ms =
        how == WRITE_CONFLICT && !o->news_came ? world.now_ms + RETRY_MS : INT64_MIN;
    write_item_end(item, world.now_ms, how, retry_after_ms);
}

/* The answer to what is under way. */
static void answer(struct controller *c, struct object *o) {
    bool late = world.now_ms >= o->deadline_ms;
    bool lost = chance(10), fails = chance(10), conflict = o->on_top_of.number != o->stored.number;
    if (chance(5))
        end(c, o, WRITE_REFUSED, -1);
    else if (chance(10))
        end(c, o, WRITE_BUSY, below(2) == 0 ? -1 : (int64_t)below(8) * 1000);
    else if (fails)
        end(c, o, WRITE_FAILED, -1);
    else if (conflict)
        end(c, o, WRITE_CONFLICT, -1);
    else {
        store(o, o->written);
        end(c, o, lost || late ? WRITE_FAILED : WRITE_DONE, -1);
    }
}

/* ---- the queue's promises ---- */

static void check_rate(void) {
    unsigned last = world.sent - 1;
    for (unsigned back = 1; back <= 64 && back <= last; back++) {
        int64_t span_ms = world.sent_ms[last % SENT] - world.sent_ms[(last - back) % SENT];
        /* back + 1 writes: burst of them at once, each of the others an interval later */
        int64_t least_ms = ((int64_t)back + 1 - BURST) * INTERVAL_MS;
        CHECK(span_ms >= least_ms, "the rate was exceeded");
    }
}

static void send(struct controller *c, struct object *o, const struct write_next *next) {
    o->item = next->item;
    world.under_way++;
    if (o->seen.value == o->wanted) {
        end(c, o, WRITE_NEEDLESS, -1);
        return;
    }
    CHECK(world.under_way <= UNDER_WAY, "too many at the same time");
    CHECK(may_write_ms(c) > 0, "the gate is shut");
    CHECK(next->limit_ms <= may_write_ms(c), "it may take longer than the gate is open");
    CHECK(world.now_ms >= o->not_before_ms, "too soon after the last one");
    CHECK(world.now_ms >= o->stale_until_ms, "too soon after a conflict");
    CHECK(world.now_ms >= world.busy_until_ms, "the server is busy");
    CHECK(world.now_ms >= c->refused_until_ms, "the controller was refused");
    CHECK(world.now_ms >= c->last_ms + c->options.pace_ms, "the lane's pace was exceeded");
    c->last_ms = world.now_ms;
    world.sent_ms[world.sent++ % SENT] = world.now_ms;
    check_rate();
    o->news_came = false;
    o->on_top_of = o->seen;
    o->written = o->wanted;
    o->deadline_ms = next->limit_ms == INT64_MAX ? INT64_MAX : world.now_ms + next->limit_ms;
    o->answer_ms = world.now_ms + 1 + (int64_t)below(ANSWER_MS);
    o->answer_ms = o->answer_ms < o->deadline_ms ? o->answer_ms : o->deadline_ms;
}

static void turn(void) {
    struct write_next next;
    for (int i = 0; i <= 10 * OBJECTS; i++) {
        write_queue_next(world.queue, world.now_ms, &next);
        if (next.item == NULL) {
            CHECK(next.wait_ms > 0, "it waits for nothing");
            world.look_ms = next.wait_ms == INT64_MAX ? INT64_MAX : world.now_ms + next.wait_ms;
            return;
        }
        struct controller *c = controller_of(write_item_lane(next.item));
        struct object *o = object_of(c, write_item_name(next.item));
        CHECK(o->item == NULL, "two writes of an object at the same time");
        send(c, o, &next);
    }
    CHECK(false, "it never waits");
}

/* ---- the world ---- */

static void change_gate(struct controller *c) {
    c->gate_shut_ms = below(3) == 0   ? INT64_MIN
                      : below(2) == 0 ? INT64_MAX
                                      : world.now_ms + (int64_t)below(10000);
}

/* Something that nobody asked for. */
static void disturb(struct controller *c, struct object *o) {
    switch (below(8)) {
    case 0:
        change_gate(c);
        break;
    case 1: /* somebody else writes */
        store(o, (int)below(4));
        break;
    case 2: /* everything is to be otherwise */
        for (int i = 0; i < OBJECTS; i++) {
            c->objects[i].wanted = (int)below(4);
            want(c, &c->objects[i]);
        }
        break;
    case 3:
        write_lane_drop(c->lane, str_of(o->name));
        want(c, o); /* after all */
        break;
    default:
        o->wanted = (int)below(4);
        want(c, o);
    }
}

static void step_object(struct controller *c, struct object *o) {
    if (o->item != NULL && o->answer_ms <= world.now_ms)
        answer(c, o);
    if (o->news_ms <= world.now_ms) {
        o->seen = o->news;
        o->news_ms = INT64_MAX;
        o->news_came = true;
        o->stale_until_ms = INT64_MIN;
        write_lane_refresh(c->lane, str_of(o->name), world.now_ms);
        want(c, o);
    }
}

static void step(void) {
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < OBJECTS; j++)
            step_object(&world.controllers[i], &world.controllers[i].objects[j]);
    if (chance(60)) {
        struct controller *c = &world.controllers[below(LANES)];
        disturb(c, &c->objects[below(OBJECTS)]);
    }
    turn();
}

static int64_t next_ms(void) {
    int64_t at_ms = world.look_ms;
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < OBJECTS; j++) {
            const struct object *o = &world.controllers[i].objects[j];
            if (o->item != NULL && o->answer_ms < at_ms)
                at_ms = o->answer_ms;
            at_ms = o->news_ms < at_ms ? o->news_ms : at_ms;
        }
    int64_t disturbed_ms = world.now_ms + 1 + (int64_t)below(300);
    return !world.quiet && disturbed_ms < at_ms ? disturbed_ms : at_ms;
}

/* The next moment something happens; false: nothing will before `until_ms`. */
static bool advance(int64_t until_ms) {
    int64_t at_ms = next_ms();
    if (at_ms >= until_ms)
        return false;
    CHECK(at_ms >= world.now_ms, "time goes backwards");
    world.now_ms = at_ms;
    return true;
}

static void check_end(void) {
    for (int i = 0; i < LANES; i++) {
        CHECK(write_lane_count(world.controllers[i].lane) == 0, "something is left");
        for (int j = 0; j < OBJECTS; j++) {
            const struct object *o = &world.controllers[i].objects[j];
            CHECK(o->stored.value == o->wanted, "an object is not as it is wanted");
        }
    }
}

static void open_world(uint64_t seed) {
    const struct write_limits limits = {
        .under_way = UNDER_WAY, .burst = BURST, .per_second = 1000 / INTERVAL_MS, .seed = seed};
    world = (struct world){.seed = seed, .random = seed, .now_ms = 1000000, .look_ms = INT64_MAX};
    assert_int_equal(write_queue_new(&limits, &world.queue, NULL), 0);
    for (int i = 0; i < LANES; i++) {
        struct controller *c = &world.controllers[i];
        c->options = (struct write_lane_options){.objects = OBJECTS,
                                                 .pace_ms = i == 0 ? 400 : 0,
                                                 .again_ms = i == 0 ? 0 : 1500,
                                                 .retry_ms = RETRY_MS,
                                                 .retry_max_ms = RETRY_MAX_MS,
                                                 .refused_ms = i == 0 ? REFUSED_MS : 0,
                                                 .jitter_percent = JITTER,
                                                 .may_write_ms = may_write_ms,
                                                 .ctx = c};
        c->gate_shut_ms = INT64_MAX;
        assert_int_equal(write_lane_new(world.queue, &c->options, &c->lane, NULL), 0);
        for (int j = 0; j < OBJECTS; j++) {
            c->objects[j] = (struct object){.news_ms = INT64_MAX};
            (void)snprintf(c->objects[j].name, sizeof c->objects[j].name, "o%d", j); /* fits */
        }
    }
}

static void close_world(void) {
    for (int i = 0; i < LANES; i++)
        write_lane_free(world.controllers[i].lane);
    write_queue_free(world.queue);
}

static void play(uint64_t seed) {
    open_world(seed);
    int64_t until_ms = world.now_ms + CHAOS_MS;
    do
        step();
    while (advance(until_ms));
    world.quiet = true;
    for (int i = 0; i < LANES; i++)
        world.controllers[i].gate_shut_ms = INT64_MAX;
    until_ms = world.now_ms + QUIET_MS;
    do
        step();
    while (advance(until_ms));
    check_end();
    close_world();
}

static uint64_t number_of(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void test_sequences(void **state) {
    uint64_t seed = number_of("TEST_SEED", 1);
    uint64_t count = number_of("EVENKEEL_TEST_SEQUENCES", SEQUENCES);
    (void)state;
    for (uint64_t i = 0; i < count; i++)
        play(seed + i);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sequences)};
    return cmocka_run_group_tests_name("queue of writes at random", tests, NULL, NULL);
}

/*
 * Conservative mode against everything that may happen to bindings, in random order: the real
 * handlers on a cache of the real engine; kube-scheduler, the API server and the watch are the
 * test's. A scheduler gives up on calls and asks again, its calls come late; a binding is refused,
 * or lands and the answer is lost, or lands long after everybody has given up; the watch lags. What
 * is checked is the promise: whenever a pod lands in the API server, its zone has at most maxSkew
 * pods more than the emptiest one. And once faults are over, every pod is bound, without a record
 * having to run out.
 *
 * TEST_SEED repeats a history (with EVENKEEL_TEST_SEQUENCES=1), EVENKEEL_TEST_SEQUENCES says how
 * many there are. The file itself is included, so that its neighbours can be the test's.
 */
#define http_defer test_defer
#define http_deferral_answer test_answer
#define kube_bind test_bind
#include "handlers/extender_bind.c"

#include "base/log.h"
#include "unit/cluster_builder.h"
#include "unit/handlers/called.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { HISTORIES = 1500, STEPS = 250, PODS = 14, TTL_MS = 1000000, LIST = 64 };

static const char node_names[] = "aboqx"; /* zones 1, 1, 3, 2, 2 */

enum phase {
    WAITING, /* for the scheduler */
    CHOSEN,  /* a node for it; bind is not called yet */
    CALLED,  /* the scheduler waits for bind's answer */
};

struct pod_model {
    unsigned uid; /* changes when it is deleted and made again */
    enum phase phase;
    char chosen;
    unsigned call; /* that the scheduler waits for */
    char on;       /* its node in the API server, or 0 */
};

/* What is to happen later, in any order: a bind call that was sent and left behind, or a binding in
 * the API server. */
struct later {
    uint32_t pod;
    unsigned uid;
    char node;
};

struct post {
    struct later what;
    kube_bind_fn *done;
    void *ctx;
};

struct world {
    uint64_t random;
    struct called called;
    struct ordered_rule rule;
    char spec[160]; /* of the pods */
    int max_skew;
    struct pod_model pods[PODS];
    unsigned last_uid, last_call;
    struct later stale[LIST], late[LIST], events[LIST];
    uint32_t stale_count, late_count, event_count;
    struct post posts[LIST];
    uint32_t post_count;
    unsigned landed; /* in all histories */
};

static struct world w; /* one, for kube_bind() and for the message of a failure */
static uint64_t w_seed;

static uint32_t below(uint32_t n) {
    return unit_below(&w.random, n);
}

static bool chance(uint32_t percent) {
    return below(100) < percent;
}

static struct later take(struct later *list, uint32_t *count, uint32_t at) {
    struct later taken = list[at];
    memmove(list + at, list + at + 1, (--*count - at) * sizeof *list);
    return taken;
}

static void put(struct later *list, uint32_t *count, struct later what) {
    assert_true(*count < LIST);
    list[(*count)++] = what;
}

/* ---- the API server ---- */

static int zone_of(char node) {
    return node < 'o' ? 0 : node < 'q' ? 1 : 2;
}

/* The promise. */
static void check_skew(char node) {
    int count[3] = {0}, least = INT32_MAX;
    for (int i = 0; i < PODS; i++)
        if (w.pods[i].on != 0)
            count[zone_of(w.pods[i].on)]++;
    for (int z = 0; z < 3; z++)
        least = count[z] < least ? count[z] : least;
    if (count[zone_of(node)] - least > w.max_skew)
        fail_msg("%d/%d/%d pods after one landed on %c", count[0], count[1], count[2], node);
}

/* Bindings never change, and are of one pod. */
static bool land(struct later what) {
    struct pod_model *pod = &w.pods[what.pod];
    if (pod->uid != what.uid || pod->on != 0)
        return false;
    pod->on = what.node;
    w.landed++;
    put(w.events, &w.event_count, what);
    check_skew(what.node);
    return true;
}

int test_bind(struct kube_client *client, struct clock *clock, const struct kube_binding *what,
              int64_t timeout_ms, kube_bind_fn *done, void *ctx, struct err *err) {
    unsigned numbers[2] = {0}; /* "POD.UID" */
    (void)client, (void)clock, (void)timeout_ms, (void)err;
    for (size_t i = 0, number = 0; i < what->uid.n; i++)
        if (what->uid.p[i] == '.')
            number++;
        else
            numbers[number] = numbers[number] * 10 + (unsigned)(what->uid.p[i] - '0');
    assert_int_equal(w.post_count, 0); /* of a namespace's pods one at a time */
    w.posts[w.post_count++] = (struct post){{numbers[0], numbers[1], what->node.p[0]}, done, ctx};
    return 0;
}

static void answer_post(enum kube_bound outcome) {
    struct post post = w.posts[--w.post_count];
    post.done(post.ctx, outcome, outcome == KUBE_BOUND ? "" : "something");
}

/* What binding.c would say after it has looked. */
static void post_succeeds(void) {
    struct later what = w.posts[0].what;
    const struct pod_model *pod = &w.pods[what.pod];
    (void)land(what); /* or it has landed before */
    answer_post(pod->uid == what.uid && pod->on == what.node ? KUBE_BOUND : KUBE_NOT_BOUND);
}

static void post_ends(void) {
    uint32_t how = below(100);
    if (w.post_count == 0)
        return;
    if (how < 55) {
        post_succeeds();
    } else if (how < 70) {
        const struct pod_model *pod = &w.pods[w.posts[0].what.pod];
        bool here = pod->uid == w.posts[0].what.uid && pod->on == w.posts[0].what.node;
        answer_post(here ? KUBE_UNKNOWN : KUBE_NOT_BOUND);
    } else {
        if (how < 80)
            (void)land(w.posts[0].what);
        else if (how < 95)
            put(w.late, &w.late_count, w.posts[0].what);
        answer_post(KUBE_UNKNOWN);
    }
}

/* It lands, and the answer is still to come. */
static void post_lands(void) {
    if (w.post_count > 0)
        (void)land(w.posts[0].what);
}

static void late_one_lands(void) {
    if (w.late_count > 0)
        (void)land(take(w.late, &w.late_count, below(w.late_count)));
}

/* ---- the watch ---- */

static void put_pod(char text[512], uint32_t pod, unsigned uid, const char *spec) {
    (void)snprintf(text, 512,
                   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"default\",\"uid\":\"%u.%u\","
                   "\"labels\":{\"foo\":\"\"}},\"spec\":{%s}}",
                   pod, pod, uid, spec);
}

static void show_next(void) {
    char text[512], spec[32];
    if (w.event_count == 0)
        return;
    struct later e = take(w.events, &w.event_count, 0);
    (void)snprintf(spec, sizeof spec, "\"nodeName\":\"%c\"", e.node);
    put_pod(text, e.pod, e.uid, e.node == 0 ? "" : spec);
    struct object seen = cluster_object(&w.called.c, OBJECT_POD, text);
    if (e.node == 0)
        cluster_remove(&w.called.c, &seen);
    else
        cluster_apply(&w.called.c, &seen);
}

/* A pending pod is deleted, and another one comes. Landed ones stay: a minimum that falls is
 * nobody's fault. */
static void delete_one(void) {
    uint32_t i = below(PODS);
    if (w.pods[i].on != 0)
        return;
    put(w.events, &w.event_count, (struct later){i, w.pods[i].uid, 0});
    w.pods[i] = (struct pod_model){.uid = ++w.last_uid};
}

/* ---- the scheduler ---- */

struct http_deferral *test_defer(const struct http_request *request) {
    (void)request;
    return (struct http_deferral *)(uintptr_t)w.last_call;
}

void test_answer(struct http_deferral *d, struct http_response *response) {
    bool bound = memmem(response->text.p, response->text.n, "\"Error\":\"\"", 10) != NULL;
    strbuf_done(&response->text);
    for (uint32_t i = 0; i < PODS; i++)
        if (w.pods[i].phase == CALLED && w.pods[i].call == (uintptr_t)d && !bound)
            w.pods[i].phase = WAITING;
}

static void filter(uint32_t i) {
    char pod[512], body[1024], passed[8];
    struct called *called = &w.called;
    put_pod(pod, i, w.pods[i].uid, w.spec);
    (void)snprintf(body, sizeof body, "{\"Pod\":%s,\"NodeNames\":[\"a\",\"b\",\"o\",\"q\",\"x\"]}",
                   pod);
    call_handler(called, extender_filter, body);
    const struct strbuf *text = &called->response.text;
    const char *list = memmem(text->p, text->n, "\"NodeNames\":[", 13);
    uint32_t count = 0;
    assert_non_null(list);
    for (list += 13; *list != ']'; list++)
        if (strchr(node_names, *list) != NULL)
            passed[count++] = *list;
    w.pods[i].phase = count > 0 ? CHOSEN : WAITING;
    w.pods[i].chosen = count > 0 ? passed[below(count)] : 0;
}

static void call_bind(struct later what) {
    char body[256];
    (void)snprintf(body, sizeof body,
                   "{\"PodName\":\"p%u\",\"PodNamespace\":\"default\",\"PodUID\":\"%u.%u\","
                   "\"Node\":\"%c\"}",
                   what.pod, what.pod, what.uid, what.node);
    call_handler(&w.called, extender_bind, body);
}

static void bind_chosen(uint32_t i) {
    w.pods[i].phase = CALLED;
    w.pods[i].call = ++w.last_call;
    call_bind((struct later){i, w.pods[i].uid, w.pods[i].chosen});
}

/* Its own watch lags, too: it may ask about a pod that has landed. */
static void go_on(void) {
    uint32_t i = below(PODS);
    struct pod_model *pod = &w.pods[i];
    if (pod->phase == WAITING && (pod->on == 0 || chance(10)))
        filter(i);
    else if (pod->phase == CHOSEN)
        bind_chosen(i);
}

/* On a decision, a call, or a call that is still on its way here. */
static void give_up(void) {
    uint32_t i = below(PODS);
    struct pod_model *pod = &w.pods[i];
    if (pod->phase == CHOSEN && chance(30) && w.stale_count < LIST)
        put(w.stale, &w.stale_count, (struct later){i, pod->uid, pod->chosen});
    pod->phase = WAITING;
}

static void stale_call_comes(void) {
    if (w.stale_count == 0)
        return;
    w.last_call++; /* nobody waits for it */
    call_bind(take(w.stale, &w.stale_count, below(w.stale_count)));
}

static void time_passes(void) {
    (void)atomic_fetch_add(&w.called.c.clock.at_ms, below(100));
    cache_write_begin(w.called.c.cache);
    cache_expire(w.called.c.cache);
    cache_write_end(w.called.c.cache);
}

/* ---- histories ---- */

static void open_world(uint64_t seed) {
    struct called *called = &w.called;
    struct cluster *c = &called->c;
    w = (struct world){.random = seed, .landed = w.landed};
    cluster_open_with(c, (struct cache_options){.reservation_ttl_ms = TTL_MS});
    cache_write_begin(c->cache);
    cache_sync_begin(c->cache, CACHE_ALL_KINDS);
    cache_sync_end(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
    cluster_nodes(c, "a b o q x");
    w.max_skew = chance(70) ? 1 : 2;
    c->options.count_flights = true;
    if (chance(50)) { /* only Evenkeel knows of it */
        w.rule.pods = cluster_selector(
            c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}");
        w.rule.terms = cluster_constraints(c, w.max_skew == 1 ? "1/zone/nil" : "2/zone/nil",
                                           &w.rule.term_count);
        c->options.ordered_rules = &w.rule;
        c->options.ordered_rule_count = 1;
    } else {
        (void)snprintf(w.spec, sizeof w.spec,
                       "\"topologySpreadConstraints\":[{\"maxSkew\":%d,\"topologyKey\":\"zone\","
                       "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{"
                       "\"matchLabels\":{\"foo\":\"\"}}}]",
                       w.max_skew);
    }
    called->x = (struct extender){.cache = c->cache,
                                  .options = &c->options,
                                  .reservations = RESERVATIONS_CONSERVATIVE,
                                  .client = (struct kube_client *)&w, /* not NULL */
                                  .bind_timeout_ms = INT32_MAX};
    assert_int_equal(bind_queue_new(&called->x.bindings), 0);
    arena_init(&called->arena, 1 << 20);
    for (uint32_t i = 0; i < PODS; i++)
        w.pods[i].uid = ++w.last_uid;
}

static void close_world(void) {
    bind_queue_free(w.called.x.bindings);
    called_done(&w.called);
}

static void act(void) {
    static const struct {
        void (*run)(void);
        uint32_t weight;
    } actions[] = {
        {go_on, 45},           {post_ends, 18},     {show_next, 15},
        {give_up, 6},          {late_one_lands, 4}, {post_lands, 3},
        {stale_call_comes, 3}, {delete_one, 2},     {time_passes, 4},
    };
    uint32_t at = below(100), i = 0;
    while (at >= actions[i].weight)
        at -= actions[i++].weight;
    actions[i].run();
}

static uint32_t unbound(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < PODS; i++)
        count += w.pods[i].on == 0;
    return count;
}

/* Nothing fails any more. */
static void calm(void) {
    while (w.stale_count > 0)
        stale_call_comes();
    while (w.post_count > 0)
        post_succeeds();
    while (w.event_count > 0)
        show_next();
}

static void the_faults_are_over(void) {
    calm();
    w.late_count = 0;
    for (uint32_t round = 0; unbound() > 0; round++) {
        if (round > PODS)
            fail_msg("%u pods are never bound", unbound());
        for (uint32_t i = 0; i < PODS; i++) {
            if (w.pods[i].on == 0)
                filter(i);
            if (w.pods[i].phase == CHOSEN && w.pods[i].on == 0)
                bind_chosen(i);
            calm();
        }
    }
}

static void nothing_is_left(void) {
    struct cache_stats stats = cache_stats(w.called.c.cache);
    assert_int_equal(stats.pods, PODS);
    assert_int_equal(stats.reservations, 0);
    assert_int_equal(stats.flights, 0);
}

static int report(void **state) {
    (void)state;
    if (w_seed != 0)
        print_error("repeat with TEST_SEED=%llu EVENKEEL_TEST_SEQUENCES=1\n",
                    (unsigned long long)w_seed);
    return 0;
}

static void no_moment_is_uneven(void **state) {
    (void)state;
    const char *wish = getenv("EVENKEEL_TEST_SEQUENCES");
    unsigned long histories = wish != NULL ? strtoul(wish, NULL, 10) : HISTORIES;
    uint64_t seed = unit_seed();
    for (unsigned long h = 0; h < histories; h++) {
        w_seed = seed + h;
        open_world(w_seed);
        for (int step = 0; step < STEPS; step++)
            act();
        the_faults_are_over();
        nothing_is_left();
        close_world();
    }
    w_seed = 0;
    assert_int_equal(w.landed, histories * PODS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(no_moment_is_uneven, report),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("bindings, random", tests, NULL, NULL);
}

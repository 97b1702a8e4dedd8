/* Members that come, go and are replaced while others ask. */
#include "base/metrics.h"
#include "members/member.h"

#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 4 };

static struct members *make(int64_t stale_after_ms, const char *const *sources, size_t count) {
    struct members *m = NULL;
    struct err err = {0};
    if (members_new(sources, count, stale_after_ms, &m, &err) != 0)
        fail_msg("%s", err.text);
    members_start(m);
    return m;
}

static int add(struct members *m, const char *name, const char *server, const char *token,
               struct err *err) {
    struct arena arena;
    arena_init(&arena, 1 << 16);
    const struct kube_access access = {.server = arena_cstr(&arena, str_of(server)),
                                       .token = arena_cstr(&arena, str_of(token)),
                                       .namespace = "default",
                                       .source = "a test"};
    const int r = members_add(m, str_of(name), &arena, &access, err);
    assert_null(arena.chunks);
    arena_done(&arena);
    return r;
}

static void add_well(struct members *m, const char *name, const char *server, const char *token) {
    struct err err = {0};
    if (add(m, name, server, token, &err) != 0)
        fail_msg("%s", err.text);
}

static void add_unknown(struct members *m, const char *name) {
    struct arena arena;
    arena_init(&arena, 1 << 16);
    assert_int_equal(members_add(m, str_of(name), &arena, NULL, NULL), 0);
    arena_done(&arena);
}

static int state_of(struct members *m, const char *name) {
    struct member *member = members_hold(m, str_of(name));
    const int state = member != NULL ? (int)member_state(member) : -1;
    member_release(member);
    return state;
}

/* Until it has been tried. */
static void begin(struct members *m, const char *name) {
    struct member *member = members_hold(m, str_of(name));
    while (!member_is_listed(member)) {
        members_poll(m);
        (void)sched_yield();
    }
    member_release(member);
}

#define NOWHERE "http://127.0.0.1:1"

static void come_and_go(void **state) {
    static const char *const fixed[] = {"m5"};
    struct members *m = make(0, fixed, 1);
    struct err err = {0};
    uint32_t count;
    (void)state;
    add_well(m, "m7", NOWHERE, "a");
    add_well(m, "m1", NOWHERE, "a");
    add_unknown(m, "m6");
    assert_null(members_hold_only(m, &count));
    assert_int_equal(count, 4);
    assert_int_equal(state_of(m, "m1"), MEMBER_SYNCING);
    assert_int_equal(state_of(m, "m5"), MEMBER_SYNCING);
    assert_int_equal(state_of(m, "m6"), MEMBER_NO_ACCESS);
    assert_int_equal(state_of(m, "m7"), MEMBER_SYNCING);
    assert_int_equal(state_of(m, "m8"), -1);
    members_remove(m, STR("m1"));
    members_remove(m, STR("m1"));
    members_remove(m, STR("m5")); /* stays for good */
    members_remove(m, STR("m6"));
    assert_int_equal(state_of(m, "m1"), -1);
    assert_int_equal(state_of(m, "m5"), MEMBER_SYNCING);
    assert_int_equal(state_of(m, "m6"), -1);
    assert_int_equal(add(m, "m5", NOWHERE, "a", &err), -EEXIST);
    assert_contains(err.text, "member cluster 'm5'");
    assert_int_equal(add(m, "M5", NOWHERE, "a", &err), -EINVAL);
    assert_contains(err.text, "'M5'");
    members_remove(m, STR("m7"));
    struct member *only = members_hold_only(m, &count);
    assert_int_equal(count, 1);
    assert_str(member_name(only), "m5");
    member_release(only);
    members_free(m);
}

/* What is held stays, and so does the thread that it has a place on. */
static void held_while_it_goes(void **state) {
    struct members *m = make(0, NULL, 0);
    struct member_view v;
    (void)state;
    add_well(m, "m1", NOWHERE, "a");
    begin(m, "m1");
    assert_int_equal(members_loops(m), 1);
    struct member *held = members_hold(m, STR("m1")), *again = members_hold(m, STR("m1"));
    members_remove(m, STR("m1"));
    assert_null(members_hold(m, STR("m1")));
    members_poll(m);
    assert_int_equal(members_loops(m), 1);
    assert_str(member_name(held), "m1");
    assert_int_equal(member_state(held), MEMBER_SYNCING);
    assert_int_equal(member_view_open(member_informer(held), &v), 0);
    assert_int_equal(v.nodes.count, 0);
    member_view_close(&v);
    member_release(held);
    members_poll(m);
    assert_int_equal(members_loops(m), 1);
    member_release(again);
    members_poll(m);
    assert_int_equal(members_loops(m), 0);
    members_free(m);
}

static void add_many(struct members *m, int from, int to) {
    char name[16];
    for (int i = from; i < to; i++) {
        (void)snprintf(name, sizeof name, "m%d", i);
        add_well(m, name, NOWHERE, "a");
    }
    for (int i = from; i < to; i++) {
        (void)snprintf(name, sizeof name, "m%d", i);
        begin(m, name);
    }
}

static void remove_many(struct members *m, int from, int to) {
    char name[16];
    for (int i = from; i < to; i++) {
        (void)snprintf(name, sizeof name, "m%d", i);
        members_remove(m, str_of(name));
    }
    members_poll(m);
}

static void sixteen_a_thread(void **state) {
    struct members *m = make(0, NULL, 0);
    (void)state;
    assert_int_equal(members_loops(m), 0);
    add_many(m, 0, 15);
    assert_int_equal(members_loops(m), 1);
    add_many(m, 15, 16);
    assert_int_equal(members_loops(m), 1);
    add_many(m, 16, 17);
    assert_int_equal(members_loops(m), 2);
    remove_many(m, 3, 4);
    add_many(m, 17, 18); /* takes the place that is free */
    assert_int_equal(members_loops(m), 2);
    add_many(m, 18, 33);
    assert_int_equal(members_loops(m), 2);
    for (int round = 0; round < 3; round++) {
        remove_many(m, 4, 33);
        assert_in_range(members_loops(m), 1, 2);
        add_many(m, 4, 33);
        assert_int_equal(members_loops(m), 2);
    }
    remove_many(m, 0, 33);
    assert_int_equal(members_loops(m), 0);
    members_free(m);
}

/* ---- replaced ---- */

static void expect_token(const struct api_call *call, const char *token) {
    char want[32];
    (void)snprintf(want, sizeof want, "Bearer %s", token);
    assert_str(api_header(call, "Authorization"), want);
}

/* The listings of a member's kinds, empty; that of nodes, which becomes the last of `calls`, has no
 * end yet. */
static void take_listings(struct api *api, struct api_call calls[static KINDS], const char *token) {
    for (int i = 0, others = 0; i < KINDS; i++) {
        struct api_call call = {0};
        api_take(api, &call);
        expect_token(&call, token);
        const bool of_nodes = str_has_prefix(call.path, STR("/api/v1/nodes?watch=1"));
        calls[of_nodes ? KINDS - 1 : others] = call;
        if (!of_nodes)
            assert_true(api_say(&calls[others++], STREAM MARKER("7")));
    }
    assert_true(str_has_prefix(calls[KINDS - 1].path, STR("/api/v1/nodes")));
}

static void await_state(struct members *m, const char *name, int want) {
    while (state_of(m, name) != want) {
        members_poll(m);
        (void)sched_yield();
    }
}

struct fixture {
    struct api api, other;
    struct members *m;
    struct api_call calls[KINDS], next[KINDS];
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.m = make(0, NULL, 0)};
    api_init(&f.api);
    api_init(&f.other);
    add_well(f.m, "m1", f.api.url, "old");
    members_poll(f.m);
    take_listings(&f.api, f.calls, "old");
    assert_int_equal(state_of(f.m, "m1"), MEMBER_SYNCING);
    assert_true(api_say(&f.calls[KINDS - 1], STREAM MARKER("7")));
    await_state(f.m, "m1", MEMBER_SYNCED);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    members_free(f->m);
    for (int i = 0; i < KINDS; i++) {
        api_call_done(&f->calls[i]);
        api_call_done(&f->next[i]);
    }
    api_done(&f->api);
    api_done(&f->other);
    return 0;
}

static void other_token(void **state) {
    struct fixture *f = *state;
    struct member *old = members_hold(f->m, STR("m1"));
    add_well(f->m, "m1", f->api.url, "wrong"); /* never heard: replaced before it has begun */
    add_well(f->m, "m1", f->api.url, "new");
    members_poll(f->m);
    take_listings(&f->api, f->next, "new");
    members_poll(f->m);
    assert_int_equal(state_of(f->m, "m1"), MEMBER_SYNCED);
    struct member *now = members_hold(f->m, STR("m1"));
    assert_ptr_equal(now, old);
    member_release(now);
    assert_true(api_say(&f->next[KINDS - 1], STREAM MARKER("7")));
    do {
        assert_int_equal(state_of(f->m, "m1"), MEMBER_SYNCED);
        members_poll(f->m);
        now = members_hold(f->m, STR("m1"));
        member_release(now);
    } while (now == old);
    assert_int_equal(member_state(old), MEMBER_SYNCED);
    member_release(old);
    members_poll(f->m);
    api_wait_gone(&f->calls[0]);
    assert_int_equal(members_loops(f->m), 1);
}

/* One that is being listed, and is replaced meanwhile, leaves nothing behind. */
static void replaced_while_listed(void **state) {
    struct fixture *f = *state;
    add_well(f->m, "m1", f->api.url, "wrong");
    members_poll(f->m);
    for (int i = 0; i < KINDS; i++)
        api_take(&f->api, &f->next[i]);
    add_well(f->m, "m1", f->api.url, "new");
    members_poll(f->m);
    for (int i = 0; i < KINDS; i++)
        api_wait_gone(&f->next[i]);
    assert_int_equal(state_of(f->m, "m1"), MEMBER_SYNCED);
    members_remove(f->m, STR("m1"));
    members_poll(f->m);
    assert_int_equal(members_loops(f->m), 0);
}

/* It may be another cluster. */
static void other_server(void **state) {
    struct fixture *f = *state;
    add_well(f->m, "m1", f->other.url, "old");
    assert_int_equal(state_of(f->m, "m1"), MEMBER_SYNCING);
    members_poll(f->m);
    take_listings(&f->other, f->next, "old");
    assert_true(api_say(&f->next[KINDS - 1], STREAM MARKER("7")));
    await_state(f->m, "m1", MEMBER_SYNCED);
}

/* The same address behind another proxy may be another cluster. */
static void other_proxy(void **state) {
    static const char *const a[] = {"a: b", "c: d"}, *const b[] = {"a: b", "c: e"};
    static const struct {
        const char *url;
        const char *const *headers;
        size_t count;
        bool same; /* as the row before */
    } rows[] = {{NULL, NULL, 0, true}, {"x", NULL, 0, false}, {"y", NULL, 0, false},
                {"y", NULL, 0, true},  {"y", a, 1, false},    {"y", a, 2, false},
                {"y", a, 2, true},     {"y", b, 2, false},    {NULL, NULL, 0, false}};
    struct member *before = calloc(1, sizeof *before), *now = calloc(1, sizeof *now);
    (void)state;
    assert_non_null(before);
    assert_non_null(now);
    before->access.server = "https://h";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        now->access = (struct kube_access){.server = "https://h",
                                           .proxy_url = rows[i].url,
                                           .proxy_headers = rows[i].headers,
                                           .proxy_header_count = rows[i].count};
        if (member_asks_same(before, now) != rows[i].same)
            fail_msg("row %zu", i);
        before->access = now->access;
    }
    before->access.server = NULL;
    assert_false(member_asks_same(before, now));
    assert_false(member_asks_same(now, before));
    free(before);
    free(now);
}

/* ... so what was known of it is not given out. */
static void other_proxy_of_a_member(void **state) {
    CLEANUP(arena_done) struct arena arena;
    struct fixture *f = *state;
    arena_init(&arena, 1 << 16);
    const struct kube_access access = {.server = arena_cstr(&arena, str_of(f->api.url)),
                                       .token = "old",
                                       .namespace = "default",
                                       .source = "a test",
                                       .proxy_url = NOWHERE};
    assert_int_equal(members_add(f->m, STR("m1"), &arena, &access, NULL), 0);
    assert_int_equal(state_of(f->m, "m1"), MEMBER_SYNCING);
}

static void no_access_any_more(void **state) {
    struct fixture *f = *state;
    add_unknown(f->m, "m1");
    assert_int_equal(state_of(f->m, "m1"), MEMBER_NO_ACCESS);
    assert_true(members_listed(f->m));
    members_poll(f->m);
    api_wait_gone(&f->calls[0]);
}

static void gone_while_replaced(void **state) {
    struct fixture *f = *state;
    add_well(f->m, "m1", f->api.url, "new");
    members_poll(f->m);
    take_listings(&f->api, f->next, "new");
    members_remove(f->m, STR("m1"));
    assert_int_equal(state_of(f->m, "m1"), -1);
    members_poll(f->m);
    assert_int_equal(members_loops(f->m), 0);
}

/* ---- under load ---- */

enum { CALLERS = 8, MEMBERS = 50, CHANGES = 200 };

struct load {
    struct members *m;
    _Atomic bool over;
    _Atomic uint64_t answers;
    _Atomic bool wrong; /* one that never goes was not found */
};

static void *ask(void *ctx) {
    struct load *load = ctx;
    unsigned turn = 0;
    while (!load->over) {
        char name[16];
        struct member_view v;
        (void)snprintf(name, sizeof name, "m%u", turn++ % MEMBERS);
        struct member *member = members_hold(load->m, str_of(name));
        if (member == NULL) {
            load->wrong = load->wrong || strcmp(name, "m7") != 0;
            continue;
        }
        load->wrong = load->wrong || !str_eq(member_name(member), str_of(name));
        (void)member_state(member);
        if (member_view_open(member_informer(member), &v) == 0)
            member_view_close(&v);
        member_release(member);
        if (turn % 16 == 0) { /* looks at all of them */
            CLEANUP(strbuf_done) struct strbuf out = {0};
            metrics_render(&out);
        }
        load->answers++;
    }
    return NULL;
}

static void one_of_fifty(void **state) {
    struct load load = {.m = make(0, NULL, 0)};
    CLEANUP(strbuf_done) struct strbuf out = {0};
    pthread_t callers[CALLERS];
    (void)state;
    add_many(load.m, 0, MEMBERS);
    assert_int_equal(members_loops(load.m), 4);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, ask, &load), 0);
    for (int i = 0; i < CHANGES; i++) {
        const uint64_t before = load.answers;
        if (i % 4 == 0)
            members_remove(load.m, STR("m7"));
        else if (i % 4 == 1)
            add_unknown(load.m, "m7");
        else
            add_well(load.m, "m7", NOWHERE, i % 4 == 2 ? "a" : "b");
        members_poll(load.m);
        if (i % 20 == 0)
            metrics_render(&out);
        while (load.answers == before)
            (void)sched_yield();
    }
    load.over = true;
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(callers[i], NULL), 0);
    assert_false(load.wrong);
    members_poll(load.m);
    members_poll(load.m);
    assert_int_equal(members_loops(load.m), 4);
    members_free(load.m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_and_go),
        cmocka_unit_test(held_while_it_goes),
        cmocka_unit_test(sixteen_a_thread),
        cmocka_unit_test_setup_teardown(other_token, setup, teardown),
        cmocka_unit_test_setup_teardown(replaced_while_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(other_server, setup, teardown),
        cmocka_unit_test(other_proxy),
        cmocka_unit_test_setup_teardown(other_proxy_of_a_member, setup, teardown),
        cmocka_unit_test_setup_teardown(no_access_any_more, setup, teardown),
        cmocka_unit_test_setup_teardown(gone_while_replaced, setup, teardown),
        cmocka_unit_test(one_of_fifty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

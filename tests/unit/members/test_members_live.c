/* Members whose API servers answer: which kinds a member needs for which question. */
#include "members/members.h"

#include "base/file.h"

#include "unit/kube/api.h"
#include "unit/unit.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { NODES, PODS, DEPLOYMENTS, REPLICA_SETS, QUOTAS, KINDS };
static const char *const paths[KINDS] = {"/api/v1/nodes?", "/api/v1/pods?",
                                         "/apis/apps/v1/deployments?", "/apis/apps/v1/replicasets?",
                                         "/api/v1/resourcequotas?"};

struct server {
    struct api api;
    struct api_call calls[KINDS];
    struct members *members;
};

static void start_stale(struct server *s, struct members_options options, int64_t stale_after_ms) {
    static char config[] = "/tmp/evenkeel-live-XXXXXX.yaml";
    char text[400], source[80];
    const char *const sources[] = {source};
    struct err err = {0};
    *s = (struct server){.members = NULL};
    api_init(&s->api);
    const int fd = mkstemps(config, 5);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    (void)snprintf(text, sizeof text,
                   "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                   "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                   "clusters: [{name: c, cluster: {server: '%s'}}]\n"
                   "users: [{name: u, user: {}}]\n",
                   s->api.url);
    assert_int_equal(file_write_atomic(config, str_of(text), 0600, NULL), 0);
    (void)snprintf(source, sizeof source, "m1=%s", config);
    if (members_new(sources, 1, stale_after_ms, &s->members, &err) != 0)
        fail_msg("%s", err.text);
    members_configure(s->members, &options);
    assert_int_equal(unlink(config), 0);
    memcpy(config + strlen("/tmp/evenkeel-live-"), "XXXXXX", 6); /* of the next test */
    members_start(s->members);
}

static void start(struct server *s, struct members_options options) {
    start_stale(s, options, 60000);
}

static void finish(struct server *s) {
    members_stop(s->members);
    members_free(s->members);
    for (int k = 0; k < KINDS; k++)
        api_call_done(&s->calls[k]);
    api_done(&s->api);
}

#define STREAM "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
#define MARKER                                                                                     \
    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Any\",\"metadata\":{\"resourceVersion\":\"9\"," \
    "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define FORBIDDEN                                                                                  \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"forbidden\",\"code\":403}"

enum reply { BEGIN, LIST, REFUSE }; /* a listing that does not end yet, one of nothing, none */

static void list_none(struct server *s, int kind) {
    assert_true(api_say(&s->calls[kind], MARKER));
}

/* Takes the requests of so many kinds, in any order, once each, and replies. */
static void take(struct server *s, int count, const enum reply replies[KINDS]) {
    for (; count > 0; count--) {
        struct api_call call = {0};
        int kind = 0;
        api_take(&s->api, &call);
        while (kind < KINDS - 1 && !str_has_prefix(call.path, str_of(paths[kind])))
            kind++;
        assert_true(str_has_prefix(call.path, str_of(paths[kind])));
        assert_int_equal(s->calls[kind].text.n, 0);
        s->calls[kind] = call;
        if (replies[kind] == REFUSE)
            api_answer(&s->calls[kind], 403, "", FORBIDDEN);
        else
            assert_true(api_say(&s->calls[kind], STREAM));
        if (replies[kind] == LIST)
            list_none(s, kind);
    }
}

static enum member_state now(const struct server *s,
                             enum member_state (*state_of)(const struct member *m)) {
    struct member *member = members_hold(s->members, STR("m1"));
    const enum member_state state = state_of(member);
    member_release(member);
    return state;
}

/* Another thread makes it so. */
static void becomes(const struct server *s, enum member_state (*state_of)(const struct member *m),
                    enum member_state state) {
    const time_t until = time(NULL) + 60;
    while (now(s, state_of) != state) {
        assert_true(time(NULL) < until);
        sched_yield();
    }
}

/* Replicas are estimated by nodes and pods, whether or not the workloads may be listed. */
static void without_workloads(void **state) {
    struct server s;
    (void)state;
    start(&s, (struct members_options){.quotas = false});
    take(&s, 4,
         (const enum reply[KINDS]){
             [PODS] = BEGIN, [NODES] = LIST, [DEPLOYMENTS] = REFUSE, [REPLICA_SETS] = LIST});
    assert_int_equal(s.calls[QUOTAS].text.n, 0); /* nobody asks for them */
    assert_int_equal(now(&s, member_state), MEMBER_SYNCING);
    list_none(&s, PODS);
    becomes(&s, member_state, MEMBER_SYNCED);
    assert_int_equal(now(&s, member_workloads_state), MEMBER_SYNCING);
    finish(&s);
}

static void without_nodes(void **state) {
    struct server s;
    (void)state;
    start(&s, (struct members_options){.quotas = false});
    take(&s, 4,
         (const enum reply[KINDS]){
             [NODES] = BEGIN, [PODS] = LIST, [DEPLOYMENTS] = LIST, [REPLICA_SETS] = LIST});
    becomes(&s, member_workloads_state, MEMBER_SYNCED); /* nodes have no part in them */
    assert_int_equal(now(&s, member_state), MEMBER_SYNCING);
    list_none(&s, NODES);
    becomes(&s, member_state, MEMBER_SYNCED);
    finish(&s);
}

/* Events on both kinds that tell how much room there is, which have been read when this returns. */
static void tell(struct server *s, unsigned round) {
    char node[200], pod[300];
    (void)snprintf(
        node, sizeof node,
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"metadata\":{\"name\":\"n%u\","
        "\"resourceVersion\":\"%u\"}}}\n",
        round, 10 + round);
    (void)snprintf(
        pod, sizeof pod,
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%u\","
        "\"namespace\":\"d\",\"resourceVersion\":\"%u\"},\"spec\":{\"nodeName\":\"n1\"}}}\n",
        round, 10 + round);
    assert_true(api_say(&s->calls[NODES], node));
    assert_true(api_say(&s->calls[PODS], pod));
    struct member *member = members_hold(s->members, STR("m1"));
    const time_t until = time(NULL) + 60;
    for (struct member_stats stats = {0}; stats.nodes < round || stats.pods < round;) {
        stats = member_stats(member_informer(member));
        assert_true(time(NULL) < until);
        sched_yield();
    }
    member_release(member);
}

/* The first word after a silence may come before what was missed. */
static void who_was_silent_catches_up_first(void **state) {
    struct server s;
    unsigned round = 1;
    const time_t until = time(NULL) + 60;
    (void)state;
    start_stale(&s, (struct members_options){.quotas = false}, 200);
    take(&s, 4,
         (const enum reply[KINDS]){
             [NODES] = LIST, [PODS] = LIST, [DEPLOYMENTS] = LIST, [REPLICA_SETS] = LIST});
    becomes(&s, member_state, MEMBER_STALE);
    members_poll(s.members);
    tell(&s, round);
    assert_int_equal(now(&s, member_state), MEMBER_STALE);
    while (now(&s, member_state) != MEMBER_SYNCED) { /* once it was heard for two polls */
        assert_true(time(NULL) < until);
        tell(&s, ++round);
        members_poll(s.members);
        members_poll(s.members);
    }
    finish(&s);
}

/* Before it is listed it has not been silent: once it is, it answers, without another poll. */
static void who_is_listed_answers(void **state) {
    struct server s;
    (void)state;
    start_stale(&s, (struct members_options){.quotas = false}, 60000);
    members_poll(s.members);
    take(&s, 4,
         (const enum reply[KINDS]){
             [NODES] = LIST, [PODS] = LIST, [DEPLOYMENTS] = LIST, [REPLICA_SETS] = LIST});
    while (now(&s, member_state) == MEMBER_SYNCING)
        sched_yield();
    assert_int_equal(now(&s, member_state), MEMBER_SYNCED);
    finish(&s);
}

/* With the gate nothing is answered without them. */
static void with_quotas(void **state) {
    struct server s;
    (void)state;
    start(&s, (struct members_options){.quotas = true});
    take(&s, 5,
         (const enum reply[KINDS]){[NODES] = LIST,
                                   [PODS] = LIST,
                                   [DEPLOYMENTS] = LIST,
                                   [REPLICA_SETS] = LIST,
                                   [QUOTAS] = BEGIN});
    becomes(&s, member_workloads_state, MEMBER_SYNCED);
    assert_int_equal(now(&s, member_state), MEMBER_SYNCING);
    list_none(&s, QUOTAS);
    becomes(&s, member_state, MEMBER_SYNCED);
    finish(&s);
}

enum { SILENT = 5, LISTING_MS = 30000 };

/* An API server for many, which accepts and says nothing. */
struct silent {
    struct api api;
    struct clock_fake clock;
    struct members *members;
    struct api_call calls[SILENT * (KINDS - 1)];
    uint32_t count;
};

static void add_silent(struct silent *s, int i) {
    CLEANUP(arena_done) struct arena arena;
    char name[16], token[16];
    arena_init(&arena, 1 << 16);
    (void)snprintf(name, sizeof name, "m%d", i);
    (void)snprintf(token, sizeof token, "t%d", i);
    const struct kube_access access = {.server = arena_cstr(&arena, str_of(s->api.url)),
                                       .namespace = "default",
                                       .token = arena_cstr(&arena, str_of(token))};
    assert_int_equal(members_add(s->members, str_of(name), &arena, &access, NULL), 0);
}

static void begin_silent(struct silent *s, int count) {
    *s = (struct silent){.count = 0};
    api_init(&s->api);
    clock_fake_init(&s->clock, 1000);
    assert_int_equal(members_new(NULL, 0, 0, &s->members, NULL), 0);
    members_configure(s->members, &(struct members_options){.clock = &s->clock.clock});
    for (int i = 0; i < count; i++)
        add_silent(s, i);
    members_start(s->members);
}

/* Takes the requests of so many members, and how many of them are of the last one. */
static int take_silent(struct silent *s, int members) {
    int of_last = 0;
    for (int i = 0; i < members * (KINDS - 1); i++) {
        struct api_call *call = &s->calls[s->count++];
        api_take(&s->api, call);
        of_last += str_eq(api_header(call, "Authorization"), STR("Bearer t4"));
    }
    return of_last;
}

static void finish_silent(struct silent *s) {
    members_stop(s->members);
    members_free(s->members);
    for (uint32_t i = 0; i < s->count; i++)
        api_call_done(&s->calls[i]);
    api_done(&s->api);
}

/* Four begin; who is silent for too long keeps neither the fifth waiting, nor the process. */
static void silent_ones_are_not_waited_for(void **state) {
    static struct silent s;
    (void)state;
    begin_silent(&s, SILENT);
    assert_int_equal(take_silent(&s, SILENT - 1), 0);
    s.clock.at_ms += LISTING_MS - 1;
    members_poll(s.members);
    assert_true(api_is_quiet(&s.api));
    s.clock.at_ms++;
    members_poll(s.members);
    assert_int_equal(take_silent(&s, 1), KINDS - 1);
    assert_false(members_listed(s.members));
    s.clock.at_ms += LISTING_MS - 1;
    members_poll(s.members);
    assert_false(members_listed(s.members));
    s.clock.at_ms++;
    members_poll(s.members);
    assert_true(members_listed(s.members));
    finish_silent(&s);
}

/* Who joins a process that is ready does not make it unready. */
static void who_joins_later_is_not_waited_for(void **state) {
    static struct silent s;
    (void)state;
    begin_silent(&s, 1);
    (void)take_silent(&s, 1);
    assert_false(members_listed(s.members));
    for (uint32_t i = 0; i < s.count; i++)
        assert_true(api_say(&s.calls[i], STREAM MARKER));
    const time_t until = time(NULL) + 60;
    while (!members_listed(s.members))
        assert_true(time(NULL) < until);
    add_silent(&s, 1);
    members_poll(s.members);
    (void)take_silent(&s, 1);
    assert_true(members_listed(s.members));
    finish_silent(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_workloads),
        cmocka_unit_test(without_nodes),
        cmocka_unit_test(who_was_silent_catches_up_first),
        cmocka_unit_test(who_is_listed_answers),
        cmocka_unit_test(with_quotas),
        cmocka_unit_test(silent_ones_are_not_waited_for),
        cmocka_unit_test(who_joins_later_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

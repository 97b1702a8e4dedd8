/*
 * Members as Karmada's API server has them: one fake API server is Karmada's, another one the
 * member's. A Cluster comes, is listed, gets another token, and goes.
 */
#include "members/karmada.h"

#include "base/log.h"
#include "base/metrics.h"
#include "fleet/karmada.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CLUSTERS "/apis/cluster.karmada.io/v1alpha1/clusters"
#define SECRET_PATH "/api/v1/namespaces/karmada-cluster/secrets/m1"

enum { KINDS = 4 };

struct fixture {
    struct api karmada, member;
    struct kube_access access;
    struct kube_client *client;
    struct members *members;
    struct informer *clusters;
    struct karmada_members *from;
    struct clock_fake clock; /* of Secrets */
    int64_t stale_after_ms;
    bool is_strict; /* as a daemon; the member's fake API server knows no TLS */
    struct api_call watch, secret, calls[KINDS], next[KINDS];
};

static void start_karmada(struct fixture *f, int64_t listing_ms) {
    const struct karmada_members_options options = {
        .members = f->members,
        .clusters = f->clusters,
        .client = f->client,
        .rules = {.secret_namespace = STR("karmada-cluster"), .plain_http = !f->is_strict},
        .listing_ms = listing_ms,
        .stale_after_ms = f->stale_after_ms,
        .clock = &f->clock.clock};
    struct err err;
    assert_int_equal(karmada_members_start(&options, &f->from, &err), 0);
}

static void start_watch(struct fixture *f) {
    const struct informer_watch watch = {.client = f->client};
    assert_int_equal(informer_new(&karmada_store, NULL, &f->clusters, NULL), 0);
    assert_int_equal(informer_watch(f->clusters, &watch, NULL), 0);
}

static int setup(void **state) {
    static const char *const fixed[] = {"fixed"};
    static struct fixture f;
    struct err err = {0};
    f = (struct fixture){.client = NULL};
    clock_fake_init(&f.clock, 1000);
    api_init(&f.karmada);
    api_init(&f.member);
    f.access = (struct kube_access){.server = f.karmada.url, .namespace = "default"};
    assert_int_equal(kube_client_new(&f.access, NULL, &f.client, &err), 0);
    assert_int_equal(members_new(fixed, 1, 0, &f.members, &err), 0);
    members_start(f.members);
    start_watch(&f);
    start_karmada(&f, 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    karmada_members_stop(f->from);
    members_stop(f->members);
    informer_stop(f->clusters);
    kube_client_free(f->client);
    karmada_members_free(f->from);
    members_free(f->members);
    informer_free(f->clusters);
    for (int i = 0; i < KINDS; i++) {
        api_call_done(&f->calls[i]);
        api_call_done(&f->next[i]);
    }
    api_call_done(&f->watch);
    api_call_done(&f->secret);
    api_done(&f->karmada);
    api_done(&f->member);
    metrics_reset();
    return 0;
}

/* With the fixture's settings as they are now. */
static void start_again(struct fixture *f, int64_t listing_ms) {
    api_expect(&f->karmada, &f->watch, "GET", CLUSTERS "?watch=1*");
    karmada_members_free(f->from);
    informer_free(f->clusters);
    api_call_done(&f->watch);
    start_watch(f);
    start_karmada(f, listing_ms);
}

static void poll_all(struct fixture *f) {
    karmada_members_poll(f->from);
    members_poll(f->members);
    (void)sched_yield();
}

/* For what must not happen: long enough for it. */
static void settle(struct fixture *f) {
    for (int i = 0; i < 50; i++) {
        poll_all(f);
        (void)usleep(400);
    }
}

static int state_of(struct fixture *f, const char *name) {
    struct member *member = members_hold(f->members, str_of(name));
    const int state = member != NULL ? (int)member_state(member) : -1;
    member_release(member);
    return state;
}

static void await_state(struct fixture *f, const char *name, int want) {
    while (state_of(f, name) != want)
        poll_all(f);
}

/* Polls until a request is there. */
static void await_call(struct fixture *f, struct api *api, struct api_call *call,
                       const char *path) {
    while (api_is_quiet(api))
        poll_all(f);
    api_expect(api, call, "GET", path);
}

/* Of an event: the Cluster `name` at the member's API server with another `version`. */
static void show_cluster(struct fixture *f, const char *type, const char *name, const char *spec) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    static int version = 10;
    strbuf_appendf(&out,
                   "{\"type\":\"%s\",\"object\":{\"kind\":\"Cluster\",\"apiVersion\":"
                   "\"cluster.karmada.io/v1alpha1\",\"metadata\":{\"name\":\"%s\","
                   "\"uid\":\"of %s\",\"resourceVersion\":\"%d\"},\"spec\":{%s}}}\n",
                   type, name, name, version++, spec);
    strbuf_append_char(&out, '\0');
    assert_true(api_say(&f->watch, out.p));
}

static const char *spec_of(const struct api *api) {
    static char text[400];
    (void)snprintf(text, sizeof text,
                   "\"syncMode\":\"Push\",\"apiEndpoint\":\"%s\",\"secretRef\":{\"namespace\":"
                   "\"karmada-cluster\",\"name\":\"m1\"}",
                   api->url);
    return text;
}

/* "a" and "b", with a CA that nobody looks at over plain HTTP */
#define SECRET_A "{\"kind\":\"Secret\",\"data\":{\"caBundle\":\"\",\"token\":\"YQ==\"}}"
#define SECRET_B "{\"kind\":\"Secret\",\"data\":{\"caBundle\":\"\",\"token\":\"Yg==\"}}"

static void begin_watch(struct fixture *f) {
    assert_false(karmada_members_listed(f->from));
    assert_false(members_complete(f->members));
    api_expect(&f->karmada, &f->watch, "GET", CLUSTERS "?watch=1*");
    assert_true(api_say(&f->watch, STREAM));
}

static void end_list(struct fixture *f) {
    assert_true(api_say(&f->watch, MARKER("9")));
    while (!members_complete(f->members))
        poll_all(f);
}

static void answer_listings(struct fixture *f, struct api *api, struct api_call *calls,
                            const char *authorization) {
    for (int i = 0; i < KINDS; i++) {
        while (api_is_quiet(api))
            poll_all(f);
        api_take(api, &calls[i]);
        assert_str(api_header(&calls[i], "Authorization"), authorization);
        assert_true(api_say(&calls[i], STREAM MARKER("7")));
    }
}

static void bring_m1(struct fixture *f) {
    begin_watch(f);
    show_cluster(f, "ADDED", "m1", spec_of(&f->member));
    settle(f);
    assert_int_equal(state_of(f, "m1"), -1); /* not before the listing has ended */
    end_list(f);
    assert_int_equal(state_of(f, "m1"), MEMBER_NO_ACCESS); /* before its Secret is read */
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    assert_false(karmada_members_listed(f->from));
    api_answer(&f->secret, 200, "", SECRET_A);
    answer_listings(f, &f->member, f->calls, "Bearer a");
    await_state(f, "m1", MEMBER_SYNCED);
    assert_true(karmada_members_listed(f->from));
}

static void comes_and_goes(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    show_cluster(f, "DELETED", "m1", "");
    await_state(f, "m1", -1);
    assert_int_equal(state_of(f, "fixed"), MEMBER_SYNCING);
    poll_all(f);
    assert_int_equal(members_loops(f->members), 0);
    assert_true(api_is_quiet(&f->karmada));
}

/* The Cluster changes, but not where it is, and its Secret is asked for. */
static void change_in_place(struct fixture *f, const char *more) {
    char text[500];
    (void)snprintf(text, sizeof text, "%s%s", spec_of(&f->member), more);
    show_cluster(f, "MODIFIED", "m1", text);
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
}
#define NOT_VERIFIED ",\"insecureSkipTLSVerification\":true"
#define PULL ",\"syncMode\":\"Pull\""

/* Any change of the Cluster has its Secret read again. */
static void another_token(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    show_cluster(f, "MODIFIED", "m1", "\"syncMode\":\"Push\"");
    await_state(f, "m1", MEMBER_NO_ACCESS);
    show_cluster(f, "MODIFIED", "m1", spec_of(&f->member));
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    api_answer(&f->secret, 200, "", SECRET_B);
    answer_listings(f, &f->member, f->next, "Bearer b");
    await_state(f, "m1", MEMBER_SYNCED);
}

/* ... at the same place, where the member stays until the one with the new token is listed. */
static void another_token_in_place(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    change_in_place(f, PULL);
    api_answer(&f->secret, 200, "", SECRET_B);
    answer_listings(f, &f->member, f->next, "Bearer b");
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
}

static void the_same_token(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    change_in_place(f, PULL);
    api_answer(&f->secret, 200, "", SECRET_A);
    settle(f);
    assert_true(api_is_quiet(&f->member));
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
}

static int begin_log(void) {
    const int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_INFO, LOG_LOGFMT, log);
    return log;
}

static void end_log(int log, char *text, size_t size) {
    const ssize_t n = pread(log, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    assert_int_equal(close(log), 0);
}

static void a_secret_that_is_gone(void **state) {
    struct fixture *f = *state;
    char text[2000];
    bring_m1(f);
    const int log = begin_log();
    change_in_place(f, PULL);
    api_answer(&f->secret, 404, "", "{}");
    await_state(f, "m1", MEMBER_NO_ACCESS);
    end_log(log, text, sizeof text);
    assert_contains(text, "the Secret 'karmada-cluster/m1' is not there");
}

static const char *other_ref(const struct api *api, const char *namespace, const char *name) {
    static char text[400];
    (void)snprintf(text, sizeof text,
                   "\"apiEndpoint\":\"%s\",\"secretRef\":{\"namespace\":\"%s\",\"name\":\"%s\"}",
                   api->url, namespace, name);
    return text;
}

/* Ends the log; returns how often it says so. */
static unsigned end_log_counting(int log, const char *what) {
    char text[4000];
    unsigned count = 0;
    end_log(log, text, sizeof text);
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

/* A Cluster names a Secret of another namespace: it is not even read, and the member whose Secret
 * it is goes on. */
static void a_secret_elsewhere(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    const int log = begin_log();
    show_cluster(f, "ADDED", "m2", other_ref(&f->member, "kube-system", "m2"));
    await_state(f, "m2", MEMBER_NO_ACCESS);
    f->clock.at_ms += 60000;
    settle(f);
    assert_int_equal(state_of(f, "m2"), MEMBER_NO_ACCESS);
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
    assert_true(api_is_quiet(&f->karmada));
    assert_true(api_is_quiet(&f->member));
    assert_int_equal(end_log_counting(log, "names a Secret in namespace 'kube-system'"), 1);
}

/* A Cluster names the Secret of another member: its token is sent nowhere, and that member goes on.
 */
static void a_secret_of_another(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    const int log = begin_log();
    show_cluster(f, "ADDED", "m2", other_ref(&f->member, "karmada-cluster", "m1"));
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    api_answer(&f->secret, 200, "", SECRET_A);
    settle(f);
    assert_int_equal(state_of(f, "m2"), MEMBER_NO_ACCESS);
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
    assert_true(api_is_quiet(&f->member));
    assert_int_equal(end_log_counting(log, "which has another name than the Cluster"), 1);
}

/* ... which Karmada has made for it, under a name of its own. */
static void a_secret_that_it_owns(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    show_cluster(f, "ADDED", "m2", other_ref(&f->member, "karmada-cluster", "m1"));
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    api_answer(
        &f->secret, 200, "",
        "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"cluster.karmada.io/v1alpha1\","
        "\"kind\":\"Cluster\",\"name\":\"m2\",\"uid\":\"of m2\",\"controller\":true}]},"
        "\"data\":{\"caBundle\":\"\",\"token\":\"Yg==\"}}");
    answer_listings(f, &f->member, f->next, "Bearer b");
    await_state(f, "m2", MEMBER_SYNCED);
}

/* The Secret is not even read for such an endpoint. */
static void in_clear(void **state) {
    struct fixture *f = *state;
    f->is_strict = true;
    start_again(f, 0);
    begin_watch(f);
    const int log = begin_log();
    show_cluster(f, "ADDED", "m1", spec_of(&f->member));
    end_list(f);
    await_state(f, "m1", MEMBER_NO_ACCESS);
    f->clock.at_ms += 60000;
    settle(f);
    assert_int_equal(state_of(f, "m1"), MEMBER_NO_ACCESS);
    assert_true(karmada_members_listed(f->from)); /* nothing is waited for */
    assert_true(api_is_quiet(&f->karmada));
    assert_true(api_is_quiet(&f->member));
    assert_int_equal(end_log_counting(log, "Evenkeel sends no token over plain HTTP"), 1);
}

/* The status of a Cluster, which changes all the time, is nothing to the member. */
static void another_status(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    show_cluster(f, "MODIFIED", "m1", spec_of(&f->member));
    show_cluster(f, "ADDED", "m2",
                 "\"apiEndpoint\":\"x\",\"secretRef\":{\"namespace\":\"karmada-cluster\","
                 "\"name\":\"m2\"}");
    await_call(f, &f->karmada, &f->secret, "/api/v1/namespaces/karmada-cluster/secrets/m2");
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
    settle(f);
    assert_true(api_is_quiet(&f->karmada));
}

/* Every five minutes. */
static void secrets_are_read_again(void **state) {
    enum { EARLIEST_MS = 300000, SPREAD_MS = 30000 };
    struct fixture *f = *state;
    bring_m1(f);
    f->clock.at_ms += EARLIEST_MS - 1;
    settle(f);
    assert_true(api_is_quiet(&f->karmada));
    f->clock.at_ms += 1 + SPREAD_MS;
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    api_answer(&f->secret, 200, "", SECRET_B);
    answer_listings(f, &f->member, f->next, "Bearer b");
}

/* Every half a minute while the member is not listed: its token may be old. */
static void a_token_that_is_refused(void **state) {
    enum { AGAIN_MS = 30000 };
    struct fixture *f = *state;
    begin_watch(f);
    show_cluster(f, "ADDED", "m1", spec_of(&f->member));
    end_list(f);
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    api_answer(&f->secret, 200, "", SECRET_A);
    while (api_is_quiet(&f->member))
        poll_all(f);
    f->clock.at_ms += AGAIN_MS - 1;
    settle(f);
    assert_true(api_is_quiet(&f->karmada));
    f->clock.at_ms++;
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
}

static void list_again(struct fixture *f) {
    assert_true(api_say(&f->watch, EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410}")));
    await_call(f, &f->karmada, &f->watch, CLUSTERS "?watch=1*");
    assert_true(api_say(&f->watch, STREAM));
}

/* What a new listing does not show is gone, and what one has shown that broke off, too. */
static void listed_again(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    show_cluster(f, "ADDED", "m2", "\"syncMode\":\"Pull\"");
    await_state(f, "m2", MEMBER_NO_ACCESS);
    list_again(f);
    show_cluster(f, "ADDED", "m1", spec_of(&f->member));
    show_cluster(f, "ADDED", "m3", "\"syncMode\":\"Pull\"");
    assert_true(api_say(&f->watch, MARKER("19")));
    await_state(f, "m2", -1);
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
    assert_int_equal(state_of(f, "m3"), MEMBER_NO_ACCESS);
    assert_true(api_is_quiet(&f->karmada));
    list_again(f);
    show_cluster(f, "ADDED", "m4", "\"syncMode\":\"Pull\"");
    show_cluster(f, "ADDED", "m3", "\"syncMode\":\"Push\"");
    while (karmada_members_find(f->from, STR("m4")) != KARMADA_MEMBER_THERE)
        poll_all(f);
    api_close(&f->watch);
    await_call(f, &f->karmada, &f->watch, CLUSTERS "?resourceVersion=19");
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
    char list[600];
    (void)snprintf(list, sizeof list,
                   "{\"kind\":\"ClusterList\",\"apiVersion\":\"cluster.karmada.io/"
                   "v1alpha1\",\"metadata\":{\"resourceVersion\":\"29\"},\"items\":[{\"metadata\":{"
                   "\"name\":\"m1\"},\"spec\":{%s}}]}",
                   spec_of(&f->member));
    api_answer(&f->watch, 200, "", list);
    await_state(f, "m4", -1);
    await_state(f, "m3", -1);
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
}

/* Then a name that is not known may be that of a new Cluster. */
static void karmada_is_silent(void **state) {
    enum { STALE_MS = 1500 };
    struct fixture *f = *state;
    f->stale_after_ms = STALE_MS;
    start_again(f, 0);
    begin_watch(f);
    end_list(f);
    while (members_complete(f->members))
        settle(f);
}

/* However long their Secrets take, and however many have to wait: all are members, for an unknown
 * one would be an error. */
static void before_their_secrets(void **state) {
    enum { MANY = 40 };
    struct fixture *f = *state;
    char name[16];
    begin_watch(f);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "many%d", i);
        show_cluster(f, "ADDED", name, spec_of(&f->member));
    }
    end_list(f);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "many%d", i);
        assert_int_equal(state_of(f, name), MEMBER_NO_ACCESS);
    }
    show_cluster(f, "ADDED", "later", spec_of(&f->member));
    while (karmada_members_find(f->from, STR("later")) != KARMADA_MEMBER_THERE)
        (void)sched_yield();
    karmada_members_poll(f->from);
    assert_int_equal(state_of(f, "later"), MEMBER_NO_ACCESS);
    show_cluster(f, "DELETED", "later", "");
    await_state(f, "later", -1);
    assert_false(karmada_members_listed(f->from));
}

/* The Cluster changes to that, and its Secret cannot be read. */
static void change_without_secret(struct fixture *f, const char *spec, const char *more) {
    char text[400];
    (void)snprintf(text, sizeof text, "%s%s", spec, more);
    show_cluster(f, "MODIFIED", "m1", text);
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
}

/* What another API server has is not what is known. */
static void another_server_without_secret(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    change_without_secret(f, spec_of(&f->karmada), "");
    assert_int_equal(state_of(f, "m1"), MEMBER_NO_ACCESS);
    api_answer(&f->secret, 403, "", "{}");
    for (int i = 0; i < 100; i++)
        poll_all(f);
    assert_int_equal(state_of(f, "m1"), MEMBER_NO_ACCESS);
}

static void another_proxy_without_secret(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    change_without_secret(f, spec_of(&f->member), ",\"proxyURL\":\"http://127.0.0.1:1\"");
    assert_int_equal(state_of(f, "m1"), MEMBER_NO_ACCESS);
}

/* Which nobody is told where there is no proxy. */
static void a_header_without_a_proxy(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    change_without_secret(f, spec_of(&f->member), ",\"proxyHeader\":{\"a\":\"b\"}");
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
}

/* At the same place the old credentials do, and the log does not say otherwise. */
static void same_place_without_secret(void **state) {
    struct fixture *f = *state;
    char text[2000];
    bring_m1(f);
    const int log = begin_log();
    change_in_place(f, NOT_VERIFIED);
    api_answer(&f->secret, 403, "", "{}");
    for (text[0] = '\0'; strstr(text, "status 403") == NULL;) {
        const ssize_t n = pread(log, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        poll_all(f);
    }
    end_log(log, text, sizeof text);
    assert_contains(text, "asked with the credentials that were read last");
    assert_null(strstr(text, "not known"));
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
}

/* A Secret that is being read for the Cluster as it was keeps nobody from the change. */
static void another_server_while_reading(void **state) {
    struct fixture *f = *state;
    const time_t until = time(NULL) + 20; /* a read that is waited for would take longer */
    bring_m1(f);
    change_in_place(f, NOT_VERIFIED);
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
    show_cluster(f, "MODIFIED", "m1", spec_of(&f->karmada));
    while (state_of(f, "m1") != MEMBER_NO_ACCESS) {
        assert_true(time(NULL) < until);
        poll_all(f);
    }
    /* that of the new one is read, and the old one's is not waited for */
    await_call(f, &f->karmada, &f->next[0], SECRET_PATH);
}

static void no_secret(void **state) {
    struct fixture *f = *state;
    begin_watch(f);
    show_cluster(f, "ADDED", "m1", spec_of(&f->member));
    end_list(f);
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    api_answer(&f->secret, 404, "", "{}");
    await_state(f, "m1", MEMBER_NO_ACCESS);
    while (!karmada_members_listed(f->from))
        poll_all(f);
}

static void may_not_read_secrets(void **state) {
    struct fixture *f = *state;
    begin_watch(f);
    show_cluster(f, "ADDED", "m1", spec_of(&f->member));
    end_list(f);
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    api_answer(&f->secret, 403, "", "{}");
    await_state(f, "m1", MEMBER_NO_ACCESS);
}

/* The configured one stays, and what Karmada says of it is not asked for. */
static void configured_too(void **state) {
    struct fixture *f = *state;
    char text[2000];
    begin_watch(f);
    show_cluster(f, "ADDED", "fixed", spec_of(&f->member));
    show_cluster(f, "ADDED", "m2", "\"syncMode\":\"Push\"");
    const int log = begin_log();
    end_list(f);
    await_state(f, "m2", MEMBER_NO_ACCESS);
    show_cluster(f, "MODIFIED", "fixed", "\"syncMode\":\"Push\"");
    show_cluster(f, "ADDED", "m3", "\"syncMode\":\"Push\"");
    await_state(f, "m3", MEMBER_NO_ACCESS);
    end_log(log, text, sizeof text);
    assert_contains(text, "cannot be asked: it is estimated as not known\" member=m2");
    assert_null(strstr(text, "not known\" member=fixed"));
    assert_int_equal(state_of(f, "fixed"), MEMBER_SYNCING);
    assert_true(karmada_members_listed(f->from));
    assert_true(api_is_quiet(&f->karmada));
    show_cluster(f, "DELETED", "fixed", "");
    show_cluster(f, "DELETED", "m2", "");
    await_state(f, "m2", -1);
    assert_int_equal(state_of(f, "fixed"), MEMBER_SYNCING);
}

/* A process that is ready stays so, however long the Secret of a Cluster that joins later takes. */
static void joins_later(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    show_cluster(f, "ADDED", "m2", spec_of(&f->member));
    await_call(f, &f->karmada, &f->secret, SECRET_PATH);
    assert_int_equal(state_of(f, "m2"), MEMBER_NO_ACCESS);
    assert_true(karmada_members_listed(f->from));
}

static void note_name(void *ctx, struct str name) {
    struct strbuf *names = ctx;
    strbuf_appendf(names, "%.*s ", STR_ARG(name));
}

/* As they are known, whether they can be asked or not. */
static void names_of_clusters(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf names = {0};
    begin_watch(f);
    show_cluster(f, "ADDED", "m2", "\"syncMode\":\"Pull\"");
    poll_all(f);
    assert_false(karmada_members_each(f->from, note_name, &names));
    assert_int_equal(karmada_members_find(f->from, STR("m2")), KARMADA_MEMBER_UNKNOWN);
    assert_int_equal(names.n, 0);
    show_cluster(f, "ADDED", "fixed", "\"syncMode\":\"Pull\"");
    end_list(f);
    await_state(f, "m2", MEMBER_NO_ACCESS);
    assert_true(karmada_members_each(f->from, note_name, &names));
    assert_str(strbuf_str(&names), "m2 fixed ");
    assert_int_equal(karmada_members_find(f->from, STR("m2")), KARMADA_MEMBER_THERE);
    assert_int_equal(karmada_members_find(f->from, STR("m")), KARMADA_MEMBER_GONE);
    show_cluster(f, "DELETED", "m2", "");
    await_state(f, "m2", -1);
    assert_int_equal(karmada_members_find(f->from, STR("m2")), KARMADA_MEMBER_GONE);
}

/* A hiccup at the start does not make a process ready that knows nothing. */
static void a_first_failure_is_waited_for(void **state) {
    enum { LONG_MS = 1000000 };
    struct fixture *f = *state;
    start_again(f, LONG_MS);
    api_expect(&f->karmada, &f->watch, "GET", CLUSTERS "?watch=1*");
    api_answer(&f->watch, 503, "", "{}");
    api_expect(&f->karmada, &f->secret, "GET", CLUSTERS "?*"); /* it has failed, and goes on */
    poll_all(f);
    poll_all(f);
    assert_false(karmada_members_listed(f->from));
}

/* An API server that does not have the kind, as before its APIService is there, does not say that
 * there are no clusters. */
static void kind_is_not_there(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf names = {0};
    api_expect(&f->karmada, &f->watch, "GET", CLUSTERS "?watch=1*");
    api_answer(&f->watch, 404, "", "404 page not found\n");
    while (!karmada_members_listed(f->from)) /* it has been tried */
        poll_all(f);
    poll_all(f);
    assert_false(members_complete(f->members));
    assert_false(karmada_members_each(f->from, note_name, &names));
    assert_int_equal(karmada_members_find(f->from, STR("m1")), KARMADA_MEMBER_UNKNOWN);
}

/* ... nor when it had it: what was known stays. */
static void kind_is_gone(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf names = {0};
    bring_m1(f);
    assert_true(api_say(&f->watch, EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410}")));
    await_call(f, &f->karmada, &f->watch, CLUSTERS "?watch=1*");
    api_answer(&f->watch, 404, "", "404 page not found\n");
    while (metric_now("evenkeel_watch_errors_total{resource=\"member clusters\"}") < 1)
        poll_all(f);
    poll_all(f);
    assert_true(karmada_members_each(f->from, note_name, &names));
    assert_str(strbuf_str(&names), "m1 ");
    assert_int_equal(karmada_members_find(f->from, STR("m1")), KARMADA_MEMBER_THERE);
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
}

static void karmada_is_away(void **state) {
    struct fixture *f = *state;
    bring_m1(f);
    api_deafen(&f->karmada);
    api_close(&f->watch);
    for (int i = 0; i < 100; i++)
        poll_all(f);
    assert_int_equal(state_of(f, "m1"), MEMBER_SYNCED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comes_and_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(another_token, setup, teardown),
        cmocka_unit_test_setup_teardown(another_token_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_token, setup, teardown),
        cmocka_unit_test_setup_teardown(a_secret_that_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_secret_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(a_secret_of_another, setup, teardown),
        cmocka_unit_test_setup_teardown(a_secret_that_it_owns, setup, teardown),
        cmocka_unit_test_setup_teardown(in_clear, setup, teardown),
        cmocka_unit_test_setup_teardown(another_status, setup, teardown),
        cmocka_unit_test_setup_teardown(secrets_are_read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_that_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(listed_again, setup, teardown),
        cmocka_unit_test_setup_teardown(karmada_is_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(before_their_secrets, setup, teardown),
        cmocka_unit_test_setup_teardown(another_server_without_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(another_proxy_without_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(a_header_without_a_proxy, setup, teardown),
        cmocka_unit_test_setup_teardown(same_place_without_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(another_server_while_reading, setup, teardown),
        cmocka_unit_test_setup_teardown(no_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(may_not_read_secrets, setup, teardown),
        cmocka_unit_test_setup_teardown(configured_too, setup, teardown),
        cmocka_unit_test_setup_teardown(joins_later, setup, teardown),
        cmocka_unit_test_setup_teardown(names_of_clusters, setup, teardown),
        cmocka_unit_test_setup_teardown(a_first_failure_is_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(kind_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(kind_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(karmada_is_away, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

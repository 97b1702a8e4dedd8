/* The rules of leader election one by one: what is asked, when, and who leads. */
#include "base/time.h"
#include "kube/election/lease.h"
#include "unit/kube/election/lease_store.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

#define NOON_US 1700000000000000 /* 2023-11-14T22:13:20Z */
#define OTHERS                                                                                     \
    "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15,\"acquireTime\":"                   \
    "\"2020-01-01T00:00:00.000000Z\",\"renewTime\":\"2020-01-01T00:00:00.000000Z\","               \
    "\"leaseTransitions\":7}"

/* A candidate, the server it talks to, and the time of both. */
struct desk {
    struct lease *lease;
    struct lease_store *store;
    struct lease_store own_store;
    int64_t now_ms, wall_us;
    struct lease_next next;
    struct strbuf answer;
};

static void open_as(struct desk *d, const char *identity, uint64_t seed,
                    struct lease_store *store) {
    const struct lease_options options = {
        .namespace = "evenkeel", .name = "controller", .identity = identity, .seed = seed};
    *d = (struct desk){.now_ms = 1000000, .wall_us = NOON_US};
    d->store = store != NULL ? store : &d->own_store;
    assert_int_equal(lease_new(&options, &d->lease, NULL), 0);
}

static void open_desk(struct desk *d) {
    open_as(d, "me", 1, NULL);
}

static void close_desk(struct desk *d) {
    lease_free(d->lease);
    lease_store_done(&d->own_store);
    strbuf_done(&d->answer);
}

static enum lease_step ask(struct desk *d) {
    lease_next(d->lease, d->now_ms, d->wall_us, &d->next);
    return d->next.step;
}

static bool leads(const struct desk *d) {
    return lease_leading(d->lease, d->now_ms);
}

static void pass(struct desk *d, int64_t ms) {
    d->now_ms += ms;
    d->wall_us += ms * 1000;
}

static void expect_request(struct desk *d, const char *method) {
    assert_int_equal(ask(d), LEASE_SEND);
    assert_string_equal(d->next.method, method);
}

/* Nothing to do for this long. */
static void expect_wait(struct desk *d, int64_t least_ms, int64_t most_ms) {
    assert_int_equal(ask(d), LEASE_WAIT);
    assert_in_range(d->next.wait_ms, least_ms, most_ms);
}

static void end_with(struct desk *d, int status, const char *body, int64_t retry_after_ms) {
    const struct kube_result result = {
        .status = status, .error_text = "", .retry_after_ms = retry_after_ms, .body = str_of(body)};
    lease_on_end(d->lease, d->now_ms, &result);
}

static void end_unanswered(struct desk *d, int error, const char *text) {
    const struct kube_result result = {.error = error, .error_text = text, .retry_after_ms = -1};
    lease_on_end(d->lease, d->now_ms, &result);
}

/* The server does what it was asked, and its answer arrives. */
static void serve(struct desk *d) {
    int status = lease_store_call(d->store, d->next.method, d->next.path, d->next.body, &d->answer);
    const struct kube_result result = {
        .status = status, .error_text = "", .retry_after_ms = -1, .body = strbuf_str(&d->answer)};
    lease_on_end(d->lease, d->now_ms, &result);
}

/* One request of this kind, served. */
static void serve_one(struct desk *d, const char *method) {
    expect_request(d, method);
    serve(d);
}

static void wait_out(struct desk *d) {
    assert_int_equal(ask(d), LEASE_WAIT);
    pass(d, d->next.wait_ms);
}

/* A Lease created and led at d->now_ms. */
static void open_leading(struct desk *d) {
    open_desk(d);
    serve_one(d, "GET");
    serve_one(d, "POST");
    assert_true(leads(d));
}

/* Somebody else's Lease, seen once. */
static void open_waiting(struct desk *d, const char *spec) {
    open_desk(d);
    lease_store_set(d->store, spec);
    serve_one(d, "GET");
    assert_false(leads(d));
}

static struct lease_stats stats(const struct desk *d) {
    struct lease_stats s;
    lease_stats(d->lease, &s);
    return s;
}

static void assert_spec(const struct desk *d, const char *member, const char *want) {
    assert_str(lease_store_spec(d->store, member), want);
}

/* ---- options ---- */

static void refused(struct lease_options options, const char *why) {
    struct err err = {0};
    struct lease *lease = NULL;
    assert_int_equal(lease_new(&options, &lease, &err), -EINVAL);
    assert_contains(err.text, why);
    assert_null(lease);
}

static void test_options_must_hold_together(void **state) {
    (void)state;
    struct lease_options good = {.namespace = "a", .name = "b", .identity = "me"}, o = good;
    assert_int_equal(lease_options_check(&o, NULL), 0);
    o = lease_options_complete(&good);
    assert_int_equal(o.duration_ms, 15000);
    assert_int_equal(o.renew_deadline_ms, 10000);
    assert_int_equal(o.retry_ms, 2000);
    o = good, o.duration_ms = 60000;
    o = lease_options_complete(&o);
    assert_int_equal(o.renew_deadline_ms, 40000);
    assert_int_equal(o.retry_ms, 8000);
    o = good, o.duration_ms = 1000;
    assert_int_equal(lease_options_check(&o, NULL), 0);
    o = good, o.name = "Leader";
    refused(o, "'Leader' is no name for a lease");
    o = good, o.name = "a/b";
    refused(o, "'a/b' is no name");
    o = good, o.namespace = "";
    refused(o, "'' is no namespace");
    o = good, o.namespace = NULL;
    refused(o, "'' is no namespace");
    o = good, o.identity = "";
    refused(o, "no identity");
    o = good, o.identity = "a b";
    refused(o, "'a b' is no identity");
    o = good, o.duration_ms = o.renew_deadline_ms = 10000;
    refused(o, "the renew deadline (10000 ms) must be shorter than the lease duration (10000 ms)");
    o = good, o.duration_ms = 15500;
    refused(o, "whole seconds, not 15500 ms");
    o = good, o.retry_ms = -1;
    refused(o, "retry period must be longer");
    o = good, o.renew_deadline_ms = 2400;
    refused(o, "the renew deadline (2400 ms) must be longer than 1.2 x the retry period (2000 ms)");
    o.renew_deadline_ms = 2401;
    assert_int_equal(lease_options_check(&o, NULL), 0);
}

static void test_how_long_names_may_be(void **state) {
    (void)state;
    char text[300];
    struct lease_options good = {.namespace = "a", .name = "b", .identity = "me"}, o;
    memset(text, 'a', sizeof text);
    text[63] = '\0';
    o = good, o.namespace = text;
    assert_int_equal(lease_options_check(&o, NULL), 0);
    text[63] = 'a', text[64] = '\0';
    refused(o, "is no namespace");
    text[64] = 'a', text[253] = '\0';
    o = good, o.name = text;
    assert_int_equal(lease_options_check(&o, NULL), 0);
    text[253] = 'a', text[254] = '\0';
    refused(o, "is no name");
    text[254] = 'a', text[256] = '\0';
    o = good, o.identity = text;
    assert_int_equal(lease_options_check(&o, NULL), 0);
    text[256] = 'a', text[257] = '\0';
    refused(o, "is no identity");
}

static void test_identities_are_unique(void **state) {
    (void)state;
    char a[LEASE_IDENTITY_SIZE], b[LEASE_IDENTITY_SIZE];
    struct lease_options o = {.namespace = "a", .name = "b", .identity = a};
    assert_int_equal(lease_identity(a, NULL), 0);
    assert_int_equal(lease_identity(b, NULL), 0);
    assert_string_not_equal(a, b);
    assert_int_equal(lease_options_check(&o, NULL), 0);
    const char *uuid = strrchr(a, '_');
    assert_true(uuid != NULL && uuid > a);
    assert_int_equal(strlen(uuid + 1), 36);
    assert_int_equal(uuid[15], '4');
    assert_non_null(strchr("89ab", uuid[20]));
}

static void assert_time(int64_t wall_us, const char *want) {
    char text[KUBE_TIME_SIZE];
    kube_time_text(wall_us, text);
    assert_string_equal(text, want);
}

static void test_time_texts(void **state) {
    (void)state;
    assert_time(0, "1970-01-01T00:00:00.000000Z");
    assert_time(NOON_US + 42, "2023-11-14T22:13:20.000042Z");
    assert_time(-1, "1969-12-31T23:59:59.999999Z");
    assert_time(-1000000, "1969-12-31T23:59:59.000000Z");
    assert_time(951868799999999, "2000-02-29T23:59:59.999999Z");
    assert_time(INT64_MAX, "9999-12-31T23:59:59.999999Z");
    assert_time(INT64_MIN, "0001-01-01T00:00:00.000000Z");
    struct clock *boot = kube_clock_boot();
    int64_t real_ms = clock_real()->now_ms(clock_real()), before_ms = boot->now_ms(boot);
    assert_true(before_ms >= real_ms && before_ms > 0);
    assert_true(boot->now_ms(boot) >= before_ms);
    assert_true(kube_wall_us() > NOON_US);
}

/* ---- what is written ---- */

static void test_the_first_creates_the_lease(void **state) {
    (void)state;
    struct desk d;
    open_desk(&d);
    expect_request(&d, "GET");
    assert_true(str_empty(d.next.body));
    assert_int_equal(d.next.timeout_ms, 5000);
    serve(&d);
    assert_false(leads(&d));
    expect_request(&d, "POST");
    assert_str(d.next.body,
               "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
               "\"namespace\":\"evenkeel\",\"name\":\"controller\"},\"spec\":{"
               "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
               "\"acquireTime\":\"2023-11-14T22:13:20.000000Z\","
               "\"renewTime\":\"2023-11-14T22:13:20.000000Z\",\"leaseTransitions\":0}}");
    pass(&d, 300);
    serve(&d);
    assert_true(leads(&d));
    assert_int_equal(lease_until_ms(d.lease), d.now_ms - 300 + 10000); /* of the beginning */
    assert_str(lease_holder(d.lease), "me");
    assert_str(lease_uid(d.lease), "uid-1");
    expect_wait(&d, 1700, 1700);
    close_desk(&d);
}

static void test_renewals_keep_everything_else(void **state) {
    (void)state;
    struct desk d;
    open_desk(&d);
    expect_request(&d, "GET");
    end_with(&d, 200,
             "{\"metadata\":{\"name\":\"controller\",\"labels\":{\"a\":\"\\u00e9\"},"
             "\"managedFields\":[{\"manager\":\"x\"}],\"uid\":\"u\",\"resourceVersion\":\"0012\","
             "\"finalizers\":[\"f\"]},\"kind\":\"Lease\",\"spec\":{\"strategy\":\"S\","
             "\"holderIdentity\":\"me\",\"leaseTransitions\":3,\"renewTime\":\"x\","
             "\"acquireTime\":\"y\",\"leaseDurationSeconds\":1,\"new\":{\"renewTime\":1.50}},"
             "\"apiVersion\":\"coordination.k8s.io/v1\",\"status\":{\"spec\":null}}\n",
             -1);
    expect_request(&d, "PUT");
    assert_str(
        d.next.body,
        "{\"metadata\":{\"name\":\"controller\",\"labels\":{\"a\":\"\\u00e9\"},"
        "\"uid\":\"u\",\"resourceVersion\":\"0012\",\"finalizers\":[\"f\"]},"
        "\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\","
        "\"status\":{\"spec\":null},\"spec\":{\"strategy\":\"S\",\"new\":{\"renewTime\":1.50},"
        "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,\"acquireTime\":\"y\","
        "\"renewTime\":\"2023-11-14T22:13:20.000000Z\",\"leaseTransitions\":3}}");
    close_desk(&d);
}

static void test_a_lease_without_a_record_is_free(void **state) {
    (void)state;
    struct desk d;
    open_desk(&d);
    expect_request(&d, "GET");
    end_with(&d, 200,
             "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":"
             "{\"holderIdentity\":null,\"renewTime\":null}}",
             -1);
    expect_request(&d, "PUT");
    assert_str(d.next.body,
               "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{"
               "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
               "\"acquireTime\":\"2023-11-14T22:13:20.000000Z\","
               "\"renewTime\":\"2023-11-14T22:13:20.000000Z\",\"leaseTransitions\":1}}");
    close_desk(&d);
}

/* ---- leading ---- */

static void test_a_leader_renews_at_a_steady_pace(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    struct str acquired = lease_store_spec(d.store, "acquireTime");
    char first[64];
    (void)snprintf(first, sizeof first, "%.*s", (int)acquired.n, acquired.p);
    for (int i = 0; i < 20; i++) {
        expect_wait(&d, i == 0 ? 2000 : 1500, i == 0 ? 2000 : 1500);
        pass(&d, d.next.wait_ms);
        expect_request(&d, "PUT"); /* without reading first */
        assert_int_equal(d.next.timeout_ms, 5000);
        pass(&d, 500);
        serve(&d);
        assert_int_equal(lease_until_ms(d.lease), d.now_ms - 500 + 10000);
        assert_spec(&d, "acquireTime", first);
        assert_spec(&d, "leaseTransitions", "0");
    }
    assert_spec(&d, "renewTime", "\"2023-11-14T22:14:00.000000Z\"");
    struct lease_stats s = stats(&d);
    assert_int_equal(s.acquired, 1);
    assert_int_equal(s.renewals, 20);
    assert_int_equal(s.slow + s.conflicts + s.failures, 0);
    assert_int_equal(s.renewed_ms, d.now_ms - 500);
    close_desk(&d);
}

static void test_a_leader_that_cannot_renew_stops_in_time(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    int64_t until_ms = d.now_ms + 10000;
    wait_out(&d);
    expect_request(&d, "PUT");
    pass(&d, 5000); /* hangs */
    end_unanswered(&d, -ETIMEDOUT, "nobody answers");
    assert_string_equal(lease_problem(d.lease),
                        "cannot update lease 'evenkeel/controller': nobody answers");
    expect_request(&d, "GET"); /* the write may have been done */
    assert_int_equal(d.next.timeout_ms, until_ms - d.now_ms);
    end_unanswered(&d, -ECONNREFUSED, "refused");
    assert_string_equal(lease_problem(d.lease), "cannot read lease 'evenkeel/controller': refused");
    expect_wait(&d, 2000, 2000);
    pass(&d, until_ms - 1 - d.now_ms);
    assert_true(leads(&d));
    pass(&d, 1);
    assert_false(leads(&d));
    assert_int_equal(lease_until_ms(d.lease), until_ms);
    serve_one(&d, "GET"); /* back: it is still ours */
    assert_false(leads(&d));
    serve_one(&d, "PUT");
    assert_true(leads(&d));
    assert_string_equal(lease_problem(d.lease), "");
    assert_spec(&d, "leaseTransitions", "0");
    assert_int_equal(stats(&d).acquired, 2);
    assert_int_equal(stats(&d).failures, 2);
    close_desk(&d);
}

static void test_a_late_answer_does_not_make_a_leader(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    wait_out(&d);
    expect_request(&d, "PUT");
    pass(&d, 30000); /* the process stood still */
    assert_false(leads(&d));
    serve(&d);
    assert_false(leads(&d));
    assert_int_equal(stats(&d).acquired, 1);
    expect_wait(&d, 2000, 4400);
    pass(&d, d.next.wait_ms);
    serve_one(&d, "GET"); /* no fast path for who does not lead */
    serve_one(&d, "PUT");
    assert_true(leads(&d));
    close_desk(&d);
}

static void test_a_conflict_is_read_and_tried_once_more(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    wait_out(&d);
    lease_store_label(d.store);
    serve_one(&d, "PUT");
    serve_one(&d, "GET");
    serve_one(&d, "PUT");
    assert_int_equal(lease_until_ms(d.lease), d.now_ms + 10000);
    assert_int_equal(stats(&d).slow, 1);
    assert_int_equal(stats(&d).renewals, 1);
    assert_int_equal(stats(&d).conflicts, 1);
    assert_int_equal(stats(&d).failures, 0);
    wait_out(&d);
    lease_store_label(d.store);
    serve_one(&d, "PUT");
    serve_one(&d, "GET");
    lease_store_label(d.store); /* a second writer that is always there */
    serve_one(&d, "PUT");
    assert_contains(lease_problem(d.lease), "it is Conflict (HTTP 409)");
    expect_wait(&d, 2000, 2000);
    pass(&d, 2000);
    serve_one(&d, "GET"); /* what we have is old */
    serve_one(&d, "PUT");
    assert_int_equal(stats(&d).failures, 1);
    assert_int_equal(stats(&d).renewals, 2);
    assert_true(leads(&d));
    close_desk(&d);
}

static void test_a_deleted_lease_is_made_anew(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    wait_out(&d);
    lease_store_delete(d.store);
    serve_one(&d, "PUT"); /* does not bring it back: it names the uid */
    assert_false(d.store->exists);
    serve_one(&d, "GET");
    assert_false(leads(&d));
    serve_one(&d, "POST");
    assert_true(leads(&d));
    assert_spec(&d, "leaseTransitions", "0");
    close_desk(&d);
}

/* Its leader may not know yet. */
static void test_a_deleted_lease_is_nobody_elses_at_once(void **state) {
    (void)state;
    struct desk d;
    open_waiting(&d, OTHERS);
    int64_t begun_ms = d.now_ms;
    lease_store_delete(d.store);
    wait_out(&d);
    while (d.now_ms < begun_ms + 15000) {
        serve_one(&d, "GET");
        assert_string_equal(lease_problem(d.lease), "");
        wait_out(&d);
    }
    assert_int_equal(d.now_ms, begun_ms + 15000);
    serve_one(&d, "GET");
    serve_one(&d, "POST");
    assert_true(leads(&d));
    assert_spec(&d, "leaseTransitions", "0");
    close_desk(&d);
    open_waiting(&d, OTHERS); /* it comes back: a new record, a new time */
    wait_out(&d);
    expect_request(&d, "GET");
    end_with(&d, 200, "[]", -1); /* what was seen is not forgotten */
    wait_out(&d);
    lease_store_delete(d.store);
    serve_one(&d, "GET");
    pass(&d, 6000);
    lease_store_set(d.store, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15}");
    serve_one(&d, "GET");
    pass(&d, 14999);
    serve_one(&d, "GET");
    expect_wait(&d, 1, 1);
    close_desk(&d);
}

static void test_who_finds_another_holder_stops_at_once(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    wait_out(&d);
    lease_store_set(d.store, OTHERS);
    serve_one(&d, "PUT");
    assert_true(leads(&d)); /* does not know why yet */
    serve_one(&d, "GET");
    assert_false(leads(&d));
    assert_str(lease_holder(d.lease), "other");
    expect_wait(&d, 2000, 4400);
    close_desk(&d);
}

/* Somebody leads: we, or another one whose record has not stood still for its duration. */
static void test_who_holds_it_is_known(void **state) {
    (void)state;
    struct desk d;
    open_waiting(&d, OTHERS);
    const int64_t until_ms = d.now_ms + 15000;
    assert_int_equal(lease_held_until_ms(d.lease), until_ms);
    wait_out(&d);
    serve_one(&d, "GET"); /* the same record */
    assert_int_equal(lease_held_until_ms(d.lease), until_ms);
    lease_store_set(d.store, "{\"holderIdentity\":\"\",\"leaseDurationSeconds\":1}");
    wait_out(&d);
    expect_request(&d, "GET");
    end_with(&d, 200, "[]", -1); /* which says nothing */
    assert_int_equal(lease_held_until_ms(d.lease), until_ms);
    close_desk(&d);
    open_leading(&d);
    assert_int_equal(lease_held_until_ms(d.lease), lease_until_ms(d.lease));
    assert_true(leads(&d));
    close_desk(&d);
    open_desk(&d);
    assert_true(lease_held_until_ms(d.lease) == INT64_MIN);
    close_desk(&d);
}

/* ---- waiting ---- */

static void test_candidates_spread_out(void **state) {
    (void)state;
    struct desk d;
    int64_t least = INT64_MAX, most = 0;
    open_waiting(&d, OTHERS);
    for (int i = 0; i < 200; i++) {
        lease_store_set(d.store, OTHERS);
        d.store->spec.p[19] = (char)('a' + i % 26); /* it is renewed, under changing names */
        expect_wait(&d, 2000, 4400);
        least = d.next.wait_ms < least ? d.next.wait_ms : least;
        most = d.next.wait_ms > most ? d.next.wait_ms : most;
        pass(&d, d.next.wait_ms);
        serve_one(&d, "GET");
        assert_string_equal(lease_problem(d.lease), "");
    }
    assert_true(least < 2100 && most > 4300);
    assert_int_equal(stats(&d).failures, 0);
    close_desk(&d);
}

/* Polls somebody's dead Lease while another one labels it; returns when we took it, after we had
 * seen it first. */
static int64_t time_to_take(struct desk *d, const char *spec) {
    open_waiting(d, spec);
    int64_t begun_ms = d->now_ms;
    while (!leads(d)) {
        assert_true(d->now_ms - begun_ms < 1000000);
        if (ask(d) == LEASE_WAIT) {
            pass(d, d->next.wait_ms);
            continue;
        }
        if (strcmp(d->next.method, "GET") == 0)
            lease_store_label(d->store);
        serve(d);
    }
    return d->now_ms - begun_ms;
}

/* Whatever changes in a record keeps it alive, each member by itself: 15 seconds from then on. */
static void test_any_change_is_a_sign_of_life(void **state) {
    (void)state;
    static const char *const specs[] = {
#define SPEC(holder, duration, acquired, renewed, transitions)                                     \
    "{\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":" duration                        \
    ",\"acquireTime\":\"2020-01-01T00:00:0" acquired                                               \
    ".000000Z\",\"renewTime\":\"2020-01-01T00:00:0" renewed                                        \
    ".000000Z\",\"leaseTransitions\":" transitions "}"
        SPEC("third", "15", "0", "0", "7"), SPEC("other", "14", "0", "0", "7"),
        SPEC("other", "15", "1", "0", "7"), SPEC("other", "15", "0", "1", "7"),
        SPEC("other", "15", "0", "0", "8"),
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct desk d;
        open_waiting(&d, OTHERS);
        int64_t from_ms = d.now_ms;
        bool changed = false;
        while (!leads(&d)) {
            assert_true(d.now_ms - from_ms <= 15000);
            if (ask(&d) == LEASE_WAIT) {
                pass(&d, d.next.wait_ms);
                continue;
            }
            if (!changed && d.now_ms - from_ms >= 5000) {
                lease_store_set(d.store, specs[i]);
                changed = true;
                from_ms = d.now_ms;
            }
            serve(&d);
        }
        assert_int_equal(d.now_ms - from_ms, i == 1 ? 14000 : 15000);
        close_desk(&d);
    }
}

static void test_a_dead_leader_is_followed_after_its_duration(void **state) {
    (void)state;
    struct desk d;
    assert_int_equal(time_to_take(&d, OTHERS), 15000); /* to the moment */
    assert_spec(&d, "leaseTransitions", "8");
    assert_spec(&d, "holderIdentity", "\"me\"");
    struct str acquired = lease_store_spec(d.store, "acquireTime");
    assert_true(str_eq(acquired, lease_store_spec(d.store, "renewTime")));
    close_desk(&d);
    assert_int_equal(time_to_take(&d, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":60}"),
                     60000);
    close_desk(&d);
    assert_int_equal(time_to_take(&d, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":3}"),
                     3000);
    close_desk(&d);
    assert_int_equal(time_to_take(&d, "{\"holderIdentity\":\"other\"}"), 15000);
    close_desk(&d);
    assert_int_equal(time_to_take(&d, "{\"holderIdentity\":\"\",\"leaseTransitions\":2147483647}"),
                     0);
    assert_spec(&d, "leaseTransitions", "2147483647");
    close_desk(&d);
}

static void test_a_lost_race_is_no_lead(void **state) {
    (void)state;
    struct desk d;
    open_desk(&d);
    serve_one(&d, "GET");
    expect_request(&d, "POST");
    lease_store_set(d.store, OTHERS);
    serve(&d);
    assert_false(leads(&d));
    assert_int_equal(stats(&d).conflicts, 1);
    expect_wait(&d, 2000, 4400);
    close_desk(&d);
}

/* ---- answers that are none ---- */

static void expect_problem(struct desk *d, int status, const char *body, const char *problem) {
    end_with(d, status, body, -1);
    assert_contains(lease_problem(d->lease), problem);
    assert_false(leads(d));
    expect_wait(d, 2000, 4400);
    pass(d, d->next.wait_ms);
    expect_request(d, "GET");
}

static void test_answers_that_are_none(void **state) {
    (void)state;
    struct desk d;
    open_desk(&d);
    expect_request(&d, "GET");
    expect_problem(&d, 404, "<html>no such page</html>", "HTML page");
    expect_problem(&d, 200, "", "cannot read lease 'evenkeel/controller'");
    expect_problem(&d, 200, "{\"kind\":\"Lease\",\"metadata\":{}}", "no resourceVersion");
    expect_problem(&d, 200, "{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"1\"}}",
                   "expected a Lease, found kind 'Pod'");
    expect_problem(&d, 200, "{\"kind\":\"Lease\",\"spec\":{\"leaseTransitions\":-1}}",
                   "leaseTransitions");
    expect_problem(&d, 403,
                   "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"you may not\"}",
                   "cannot read lease 'evenkeel/controller': you may not (HTTP 403)");
    expect_problem(&d, 500, "", "(HTTP 500)");
    serve(&d);
    expect_request(&d, "POST");
    expect_problem(&d, 201, "{}", "cannot create lease");
    assert_int_equal(stats(&d).failures, 8);
    close_desk(&d);
}

static void test_a_leader_does_not_believe_a_proxy(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    wait_out(&d);
    expect_request(&d, "PUT");
    end_with(&d, 404, "<html>no such page</html>", -1);
    assert_true(leads(&d));
    wait_out(&d);
    expect_request(&d, "GET");
    end_with(&d, 404, "{\"kind\":\"Status\",\"reason\":\"ServiceUnavailable\"}", -1);
    assert_true(leads(&d));
    wait_out(&d);
    serve_one(&d, "GET");
    expect_request(&d, "PUT");
    end_with(&d, 200, /* an admission webhook has its own ideas */
             "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"99\"},"
             "\"spec\":{\"holderIdentity\":\"you\"}}",
             -1);
    assert_false(leads(&d));
    assert_contains(lease_problem(d.lease), "another holder");
    close_desk(&d);
}

static void test_a_write_that_changes_nothing_does_not_count(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    int64_t until_ms = lease_until_ms(d.lease);
    wait_out(&d);
    expect_request(&d, "PUT");
    d.next.method = "GET"; /* the answer is the Lease as it was */
    d.next.path = "/apis/coordination.k8s.io/v1/namespaces/evenkeel/leases/controller";
    d.next.body = STR("");
    serve(&d);
    assert_contains(lease_problem(d.lease), "written nothing");
    assert_int_equal(lease_until_ms(d.lease), until_ms);
    close_desk(&d);
}

static void test_renew_times_only_grow(void **state) {
    (void)state;
    struct desk d;
    static const int64_t walls[] = {NOON_US, NOON_US - 31536000000000, 0, INT64_MIN, NOON_US + 9};
    char last[64] = "";
    open_leading(&d);
    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++) {
        wait_out(&d);
        d.wall_us = walls[i];
        serve_one(&d, "PUT");
        struct str time = lease_store_spec(d.store, "renewTime");
        assert_true(str_cmp(time, str_of(last)) > 0);
        (void)snprintf(last, sizeof last, "%.*s", (int)time.n, time.p);
    }
    assert_string_equal(last, "\"2023-11-14T22:13:20.000009Z\"");
    close_desk(&d);
}

static void test_retry_after_is_obeyed_within_reason(void **state) {
    (void)state;
    struct desk d;
    open_desk(&d);
    expect_request(&d, "GET");
    end_with(&d, 429, "", 9000);
    expect_wait(&d, 9000, 9000);
    pass(&d, 9000);
    expect_request(&d, "GET");
    end_with(&d, 503, "", 600000);
    expect_wait(&d, 15000, 15000);
    pass(&d, 15000);
    serve_one(&d, "GET");
    serve_one(&d, "POST");
    int64_t until_ms = lease_until_ms(d.lease);
    wait_out(&d);
    expect_request(&d, "PUT");
    end_with(&d, 429, "", 1000);
    expect_wait(&d, 2000, 2000); /* our pace is slower */
    pass(&d, 2000);
    expect_request(&d, "GET");
    end_with(&d, 429, "", 3000);
    expect_wait(&d, 3000, 3000);
    pass(&d, 3000);
    expect_request(&d, "GET");
    end_with(&d, 429, "", 600000); /* not so long that we could not try again */
    expect_wait(&d, 2000, 2000);
    assert_true(d.now_ms + d.next.wait_ms < until_ms);
    close_desk(&d);
    open_leading(&d);
    wait_out(&d);
    expect_request(&d, "PUT");
    end_with(&d, 429, "", 600000);
    expect_wait(&d, 6000, 6000); /* one retry period before the end */
    close_desk(&d);
}

/* ---- stopping ---- */

static void test_a_leader_gives_the_lease_back(void **state) {
    (void)state;
    struct desk d, next;
    open_leading(&d);
    lease_stop(d.lease, d.now_ms, 3000);
    assert_false(leads(&d));
    expect_request(&d, "PUT");
    assert_int_equal(d.next.timeout_ms, 3000);
    serve(&d);
    assert_int_equal(ask(&d), LEASE_DONE);
    assert_spec(&d, "holderIdentity", "\"\"");
    assert_spec(&d, "leaseDurationSeconds", "1");
    assert_spec(&d, "leaseTransitions", "0");
    assert_false(leads(&d));
    open_as(&next, "next", 2, d.store);
    serve_one(&next, "GET");
    serve_one(&next, "PUT");
    assert_true(leads(&next));
    assert_spec(&next, "leaseTransitions", "1");
    lease_stop(d.lease, d.now_ms, 3000); /* again */
    assert_int_equal(ask(&d), LEASE_DONE);
    close_desk(&next);
    close_desk(&d);
}

static void test_who_never_wrote_has_nothing_to_give_back(void **state) {
    (void)state;
    struct desk d;
    open_waiting(&d, OTHERS);
    lease_stop(d.lease, d.now_ms, 3000);
    assert_int_equal(ask(&d), LEASE_DONE);
    close_desk(&d);
    open_desk(&d);
    expect_request(&d, "GET");
    lease_stop(d.lease, d.now_ms, 3000);
    end_unanswered(&d, -ECANCELED, "canceled");
    assert_int_equal(ask(&d), LEASE_DONE);
    close_desk(&d);
}

static void test_stopping_in_the_middle_of_a_request(void **state) {
    (void)state;
    struct desk d;
    open_desk(&d); /* the answer comes: it is ours, and is given back */
    serve_one(&d, "GET");
    expect_request(&d, "POST");
    lease_stop(d.lease, d.now_ms, 3000);
    serve(&d);
    assert_false(leads(&d));
    assert_int_equal(stats(&d).acquired, 0);
    serve_one(&d, "PUT");
    assert_int_equal(ask(&d), LEASE_DONE);
    assert_spec(&d, "holderIdentity", "\"\"");
    close_desk(&d);
    open_desk(&d); /* it does not come: look whether it is ours */
    serve_one(&d, "GET");
    expect_request(&d, "POST");
    lease_stop(d.lease, d.now_ms, 3000);
    (void)lease_store_call(d.store, d.next.method, d.next.path, d.next.body, &d.answer);
    end_unanswered(&d, -ECANCELED, "canceled");
    serve_one(&d, "GET");
    serve_one(&d, "PUT");
    assert_int_equal(ask(&d), LEASE_DONE);
    assert_spec(&d, "holderIdentity", "\"\"");
    close_desk(&d);
    open_desk(&d); /* it was not done, and is not done now */
    serve_one(&d, "GET");
    expect_request(&d, "POST");
    lease_stop(d.lease, d.now_ms, 3000);
    end_unanswered(&d, -ECANCELED, "canceled");
    serve_one(&d, "GET");
    assert_int_equal(ask(&d), LEASE_DONE);
    assert_false(d.store->exists);
    close_desk(&d);
}

static void test_stopping_before_taking_over_leaves_it_alone(void **state) {
    (void)state;
    struct desk d;
    open_waiting(&d, OTHERS);
    pass(&d, 20000);
    serve_one(&d, "GET"); /* would be taken next */
    lease_stop(d.lease, d.now_ms, 3000);
    assert_int_equal(ask(&d), LEASE_DONE);
    assert_spec(&d, "holderIdentity", "\"other\"");
    close_desk(&d);
    open_leading(&d);
    lease_store_set(d.store, OTHERS);
    lease_stop(d.lease, d.now_ms, 3000);
    serve_one(&d, "PUT");
    serve_one(&d, "GET");
    assert_int_equal(ask(&d), LEASE_DONE);
    assert_spec(&d, "holderIdentity", "\"other\"");
    close_desk(&d);
}

static void test_releasing_is_tried_again_but_not_for_ever(void **state) {
    (void)state;
    struct desk d;
    open_leading(&d);
    lease_store_label(d.store);
    lease_stop(d.lease, d.now_ms, 3000);
    serve_one(&d, "PUT");
    serve_one(&d, "GET"); /* at once */
    serve_one(&d, "PUT");
    assert_int_equal(ask(&d), LEASE_DONE);
    assert_spec(&d, "holderIdentity", "\"\"");
    close_desk(&d);

    open_leading(&d); /* one who writes without end */
    lease_stop(d.lease, d.now_ms, 3000);
    int puts = 0;
    for (; ask(&d) == LEASE_SEND && puts < 100; serve(&d))
        if (strcmp(d.next.method, "PUT") == 0) {
            puts++;
            lease_store_label(d.store);
        }
    assert_int_equal(d.next.step, LEASE_DONE);
    assert_int_equal(puts, 5);
    close_desk(&d);

    open_leading(&d); /* a server that is unwell */
    lease_stop(d.lease, d.now_ms, 600);
    expect_request(&d, "PUT");
    assert_int_equal(d.next.timeout_ms, 600);
    end_with(&d, 500, "", -1);
    assert_contains(lease_problem(d.lease), "cannot release lease");
    expect_wait(&d, 200, 400);
    pass(&d, d.next.wait_ms);
    expect_request(&d, "GET");
    assert_in_range(d.next.timeout_ms, 200, 400);
    pass(&d, d.next.timeout_ms);
    end_unanswered(&d, -ETIMEDOUT, "slow");
    wait_out(&d);
    assert_int_equal(ask(&d), LEASE_DONE);
    close_desk(&d);
}

/* ---- how long it takes, over many seeds ---- */

/* Lets a candidate do what it has to do at this moment; returns when it wants to be asked again. */
static int64_t run_now(struct desk *d) {
    while (ask(d) == LEASE_SEND)
        serve(d);
    return d->next.step == LEASE_WAIT ? d->now_ms + d->next.wait_ms : INT64_MAX;
}

/* Milliseconds from the death, or orderly end, of a leader to the next one. */
static int64_t handover(uint64_t seed, bool orderly) {
    struct desk a, b;
    uint64_t random = seed;
    open_as(&a, "a", seed, NULL);
    open_as(&b, "b", seed + 1, a.store);
    int64_t end_ms = a.now_ms + 30000 + unit_below(&random, 4000);
    int64_t a_ms = a.now_ms, b_ms = a.now_ms + unit_below(&random, 4000);
    while (!leads(&b)) {
        bool first = a_ms <= b_ms && a_ms <= end_ms;
        int64_t at_ms = first ? a_ms : b_ms;
        if (orderly && at_ms >= end_ms && a_ms < INT64_MAX) {
            pass(&a, end_ms - a.now_ms);
            lease_stop(a.lease, a.now_ms, 3000);
            (void)run_now(&a); /* done within the moment */
            a_ms = INT64_MAX;
            continue;
        }
        struct desk *d = first ? &a : &b;
        pass(d, at_ms - d->now_ms);
        *(first ? &a_ms : &b_ms) = run_now(d);
        assert_false(leads(&b) && lease_leading(a.lease, b.now_ms));
    }
    close_desk(&b);
    int64_t took_ms = b.now_ms - end_ms;
    close_desk(&a);
    return took_ms;
}

static void test_handovers_take_no_longer_than_they_must(void **state) {
    (void)state;
    int64_t longest_ms = 0, shortest_ms = INT64_MAX;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        int64_t ms = handover(seed, false);
        longest_ms = ms > longest_ms ? ms : longest_ms;
        shortest_ms = ms < shortest_ms ? ms : shortest_ms;
        assert_in_range(handover(seed, true), 0, 4400);
    }
    assert_in_range(shortest_ms, 10000, 15000);
    assert_in_range(longest_ms, 15000, 15000 + 4400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_must_hold_together),
        cmocka_unit_test(test_how_long_names_may_be),
        cmocka_unit_test(test_any_change_is_a_sign_of_life),
        cmocka_unit_test(test_identities_are_unique),
        cmocka_unit_test(test_time_texts),
        cmocka_unit_test(test_the_first_creates_the_lease),
        cmocka_unit_test(test_renewals_keep_everything_else),
        cmocka_unit_test(test_a_lease_without_a_record_is_free),
        cmocka_unit_test(test_a_leader_renews_at_a_steady_pace),
        cmocka_unit_test(test_a_leader_that_cannot_renew_stops_in_time),
        cmocka_unit_test(test_a_late_answer_does_not_make_a_leader),
        cmocka_unit_test(test_a_conflict_is_read_and_tried_once_more),
        cmocka_unit_test(test_a_deleted_lease_is_made_anew),
        cmocka_unit_test(test_a_deleted_lease_is_nobody_elses_at_once),
        cmocka_unit_test(test_who_finds_another_holder_stops_at_once),
        cmocka_unit_test(test_who_holds_it_is_known),
        cmocka_unit_test(test_candidates_spread_out),
        cmocka_unit_test(test_a_dead_leader_is_followed_after_its_duration),
        cmocka_unit_test(test_a_lost_race_is_no_lead),
        cmocka_unit_test(test_answers_that_are_none),
        cmocka_unit_test(test_a_leader_does_not_believe_a_proxy),
        cmocka_unit_test(test_a_write_that_changes_nothing_does_not_count),
        cmocka_unit_test(test_renew_times_only_grow),
        cmocka_unit_test(test_retry_after_is_obeyed_within_reason),
        cmocka_unit_test(test_a_leader_gives_the_lease_back),
        cmocka_unit_test(test_who_never_wrote_has_nothing_to_give_back),
        cmocka_unit_test(test_stopping_in_the_middle_of_a_request),
        cmocka_unit_test(test_stopping_before_taking_over_leaves_it_alone),
        cmocka_unit_test(test_releasing_is_tried_again_but_not_for_ever),
        cmocka_unit_test(test_handovers_take_no_longer_than_they_must),
    };
    return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}

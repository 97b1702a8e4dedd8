/* The recorder of events, with a client that is the test itself. */
#include "kube/events/events.h"

#include "base/json_reader.h"
#include "base/log.h"
#include "kube/events/event_text.h"
#include "unit/http/fixture.h"
#include "unit/kube/fake_client.h"
#include "unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

#define PODS "/apis/events.k8s.io/v1/namespaces/shop/events"

static struct kube_client client;
static struct event_recorder *recorder;

static int set_up(void **state) {
    (void)state;
    fake_init(&client);
    log_use_clock(&client.clock.clock);
    const struct event_options options = {.client = &client,
                                          .clock = &client.clock.clock,
                                          .instance = "host_1",
                                          .seed = 1,
                                          .io = &fake_io};
    return event_recorder_new(&options, &recorder, NULL);
}

static int tear_down(void **state) {
    (void)state;
    event_recorder_free(recorder);
    return 0;
}

/* ---- saying and hearing ---- */

static struct event pod_event(const char *name, const char *note) {
    return (struct event){
        .regarding = {STR("v1"), STR("Pod"), STR("shop"), str_of(name), STR("uid-1")},
        .type = EVENT_NORMAL,
        .reason = STR("Spread"),
        .action = STR("Placing"),
        .note = str_of(note)};
}

static void say(const char *name, const char *note) {
    const struct event event = pod_event(name, note);
    event_record(recorder, &event);
    fake_run(&client);
}

static int64_t counted(const char *result) {
    char series[64];
    (void)snprintf(series, sizeof series, "evenkeel_events_total{result=\"%s\"}",
                   result); /* fits */
    return (int64_t)metric_now(series);
}

static void expect(const char *method, const char *path) {
    assert_non_null(client.request);
    assert_string_equal(client.request->method, method);
    assert_string_equal(client.request->path, path);
}

static void expect_nothing(void) {
    assert_null(client.request);
}

/* The new event's name, from its body. */
static void name_of(char ret[static EVENT_NAME_SIZE]) {
    CLEANUP(arena_done) struct arena arena;
    struct json_reader r;
    struct str key, name = {0};
    arena_init(&arena, 1 << 16);
    json_reader_init(&r, client.request->body, &arena, "Event");
    assert_true(json_object(&r));
    while (json_member(&r, &key))
        if (str_eq(key, STR("metadata")))
            name = json_peek_member(&r, STR("name")), (void)json_skip(&r);
        else
            (void)json_skip(&r);
    assert_int_equal(json_finish(&r, NULL), 0);
    (void)snprintf(ret, EVENT_NAME_SIZE, "%.*s", STR_ARG(name));
}

/* A new event is written; its name. */
static void take_new(char ret[static EVENT_NAME_SIZE]) {
    expect("POST", PODS "?fieldManager=evenkeel");
    assert_null(client.request->content_type);
    name_of(ret);
    fake_answer(&client, 201, STR("{}"), -1);
}

static bool body_has(const char *part) {
    struct str body = client.request->body;
    return memmem(body.p, body.n, part, strlen(part)) != NULL;
}

/* ---- what is written ---- */

static void test_a_new_event(void **state) {
    (void)state;
    say("web-1", "it fits \"zone a\"");
    expect("POST", PODS "?fieldManager=evenkeel");
    char name[EVENT_NAME_SIZE], want[1024];
    name_of(name);
    assert_true(strncmp(name, "web-1.", 6) == 0);
    assert_int_equal(strlen(name), 6 + 16); /* nanoseconds of this century */
    (void)snprintf(want, sizeof want,
                   "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{"
                   "\"namespace\":\"shop\",\"name\":\"%s\"},"
                   "\"eventTime\":\"2023-11-14T22:13:20.000000Z\","
                   "\"reportingController\":\"evenkeel.io/evenkeel\","
                   "\"reportingInstance\":\"host_1\",\"action\":\"Placing\",\"reason\":\"Spread\","
                   "\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"shop\","
                   "\"name\":\"web-1\",\"uid\":\"uid-1\"},\"note\":\"it fits \\\"zone a\\\"\","
                   "\"type\":\"Normal\"}",
                   name);
    assert_str(client.request->body, want);
    fake_answer(&client, 201, STR("{}"), -1);
    expect_nothing();
    fake_done(&client);
    assert_int_equal(counted("created"), 1);
}

static void test_an_event_about_no_namespace(void **state) {
    (void)state;
    const struct event event = {.regarding = {.kind = STR("Node"), .name = STR("n1")},
                                .type = EVENT_WARNING,
                                .reason = STR("Gone")};
    event_record(recorder, &event);
    fake_run(&client);
    expect("POST", "/apis/events.k8s.io/v1/namespaces/default/events?fieldManager=evenkeel");
    assert_true(body_has("\"regarding\":{\"kind\":\"Node\",\"name\":\"n1\"},"));
    assert_true(body_has("\"action\":\"Gone\",\"reason\":\"Gone\""));
    assert_true(body_has("\"type\":\"Warning\""));
    fake_answer(&client, 201, STR("{}"), -1);
    event_record(NULL, &event);
}

static void test_repetitions_are_a_series(void **state) {
    (void)state;
    char first[EVENT_NAME_SIZE], path[512], second[EVENT_NAME_SIZE];
    say("web-1", "a");
    take_new(first);
    fake_pass(&client, 60000);
    say("web-1", "a");
    (void)snprintf(path, sizeof path, PODS "/%s?fieldManager=evenkeel", first);
    expect("PATCH", path);
    assert_string_equal(client.request->content_type, "application/merge-patch+json");
    assert_str(client.request->body,
               "{\"series\":{\"count\":2,\"lastObservedTime\":\"2023-11-14T22:14:20.000000Z\"}}");
    fake_answer(&client, 200, STR("{}"), -1);
    for (int i = 0; i < 9; i++) { /* for 4.5 minutes */
        fake_pass(&client, 30000);
        say("web-1", "a");
        expect_nothing();
    }
    fake_pass(&client, 29999);
    expect_nothing();
    fake_pass(&client, 1);
    expect("PATCH", path);
    assert_true(body_has("\"count\":11,\"lastObservedTime\":\"2023-11-14T22:18:50.000000Z\""));
    fake_answer(&client, 200, STR("{}"), -1);
    fake_done(&client);
    fake_pass(&client, 360000 - 30000); /* since the last of them */
    say("web-1", "a");
    expect("PATCH", path); /* still of the series, and long since it was written */
    assert_true(body_has("\"count\":12,"));
    fake_answer(&client, 200, STR("{}"), -1);
    fake_pass(&client, 360001);
    fake_done(&client);
    say("web-1", "a");
    take_new(second);
    assert_string_not_equal(first, second);
    say("web-1", "a");
    (void)snprintf(path, sizeof path, PODS "/%s?fieldManager=evenkeel", second);
    expect("PATCH", path);
    fake_answer(&client, 200, STR("{}"), -1);
    assert_int_equal(counted("created"), 2);
    assert_int_equal(counted("updated"), 4);
    assert_int_equal(counted("aggregated"), 12);
}

static void test_events_that_differ_are_different(void **state) {
    (void)state;
    char names[7][EVENT_NAME_SIZE];
    struct event events[7];
    for (int i = 0; i < 7; i++)
        events[i] = pod_event("web-1", "a");
    events[1].note = STR("b");
    events[2].reason = STR("Other");
    events[3].action = STR("Other");
    events[4].type = EVENT_WARNING;
    events[5].regarding.uid = STR("uid-2");
    events[6].regarding.kind = STR("ReplicaSet");
    for (int i = 0; i < 7; i++) {
        event_record(recorder, &events[i]);
        fake_run(&client);
        take_new(names[i]);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
    fake_done(&client);
}

static void test_repetitions_before_it_is_written(void **state) {
    (void)state;
    char name[EVENT_NAME_SIZE];
    const struct event event = pod_event("web-1", "a");
    event_record(recorder, &event);
    event_record(recorder, &event);
    fake_run(&client);
    assert_true(body_has("\"series\":{\"count\":2,"));
    take_new(name);
    expect_nothing(); /* the server knows all */
    say("web-2", "a");
    say("web-2", "a"); /* while the first is on its way */
    assert_false(body_has("series"));
    take_new(name);
    expect("PATCH", client.request->path);
    assert_true(body_has("\"count\":2,"));
    say("web-2", "a");
    fake_answer(&client, 200, STR("{}"), -1);
    expect_nothing(); /* the third waits */
    assert_int_equal(fake_next_timer(&client), 300000);
    fake_pass(&client, 300000);
    assert_true(body_has("\"count\":3,"));
    fake_answer(&client, 200, STR("{}"), -1);
    fake_done(&client);
}

/* ---- limits ---- */

static void test_one_object_has_a_limit(void **state) {
    (void)state;
    char name[EVENT_NAME_SIZE], note[16];
    for (int i = 0; i < 30; i++) {
        (void)snprintf(note, sizeof note, "note %d", i);
        say("web-1", note);
        if (i < 25)
            take_new(name);
        expect_nothing();
        fake_pass(&client, 1000);
    }
    assert_int_equal(counted("limited"), 5);
    say("web-2", "another");
    take_new(name);
    struct event warning = pod_event("web-1", "another");
    warning.type = EVENT_WARNING;
    event_record(recorder, &warning);
    fake_run(&client);
    take_new(name);
    say("web-1", "note 0"); /* repetitions are no new events */
    fake_answer(&client, 200, STR("{}"), -1);
    fake_pass(&client, 300000 - 30000 - 1);
    say("web-1", "x");
    expect_nothing();
    fake_pass(&client, 1);
    say("web-1", "x");
    take_new(name);
    say("web-1", "y");
    expect_nothing();
    fake_pass(&client, 300000);
    say("web-1", "y");
    take_new(name);
}

static void test_all_together_have_a_pace(void **state) {
    (void)state;
    enum { COUNT = 200 };
    static char names[COUNT][EVENT_NAME_SIZE];
    for (int i = 0; i < COUNT; i++) {
        struct event event = pod_event("web-1", "a");
        char uid[16];
        (void)snprintf(uid, sizeof uid, "uid-%d", i);
        event.regarding.uid = str_of(uid);
        event_record(recorder, &event);
    }
    fake_run(&client);
    for (int i = 0; i < COUNT; i++) {
        if (i >= 10) {
            expect_nothing();
            assert_int_equal(fake_next_timer(&client), 200);
            fake_pass(&client, 200);
        }
        take_new(names[i]);
        for (int j = 0; j < i; j++) /* though all happened in one microsecond */
            assert_string_not_equal(names[i], names[j]);
    }
    fake_done(&client);
}

static void test_too_many_wait(void **state) {
    (void)state;
    char name[16], made[EVENT_NAME_SIZE];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "web-%d", i);
        const struct event event = pod_event(name, "a");
        event_record(recorder, &event);
    }
    assert_int_equal(counted("dropped"), 300 - 256);
    fake_run(&client);
    for (int i = 0; i < 256; i++) { /* the oldest are there, in order */
        fake_pass(&client, 200);
        (void)snprintf(name, sizeof name, "\"web-%d\"", i);
        assert_true(body_has(name));
        take_new(made);
    }
    expect_nothing();
    say("web-299", "a"); /* there is room again */
    fake_pass(&client, 200);
    take_new(made);
}

static void test_the_quietest_is_forgotten(void **state) {
    (void)state;
    char name[16], made[EVENT_NAME_SIZE];
    for (int i = 0; i < 512; i++) {
        (void)snprintf(name, sizeof name, "web-%d", i);
        say(name, "a");
        fake_pass(&client, 200);
        take_new(made);
    }
    for (int i = 0; i < 2; i++) { /* the first one is behind, the second the quietest */
        say("web-0", "a");
        if (i == 0)
            fake_answer(&client, 200, STR("{}"), -1);
    }
    expect_nothing();
    say("web-512", "a");
    take_new(made);
    say("web-1", "a");
    take_new(made);
    say("web-3", "a");
    expect("PATCH", client.request->path);
    fake_answer(&client, 200, STR("{}"), -1);
    assert_int_equal(counted("dropped"), 0);
    fake_pass(&client, 300000);
    assert_true(body_has("\"count\":3,"));
    fake_answer(&client, 200, STR("{}"), -1);
}

/* Everything is behind, waits or is on its way: what is on its way and what waits must stay. */
static void test_what_is_needed_is_not_forgotten(void **state) {
    (void)state;
    char name[16], made[EVENT_NAME_SIZE];
    for (int i = 0; i < 512; i++) {
        (void)snprintf(name, sizeof name, "web-%d", i);
        say(name, "a");
        fake_pass(&client, 200);
        take_new(made);
    }
    say("web-0", "a"); /* on its way */
    expect("PATCH", client.request->path);
    say("new-1", "a"); /* waits, in the place of web-1 */
    for (int i = 2; i < 512; i++) {
        (void)snprintf(name, sizeof name, "web-%d", i);
        say(name, "a");
    }
    assert_int_equal(counted("dropped"), 0);
    say("new-2", "a"); /* in the place of web-2 */
    assert_int_equal(counted("dropped"), 1);
    assert_true(body_has("\"count\":2,"));
    fake_answer(&client, 200, STR("{}"), -1);
    fake_pass(&client, 200);
    assert_true(body_has("\"new-1\""));
    take_new(made);
    fake_pass(&client, 200);
    assert_true(body_has("\"new-2\"")); /* before counts */
    take_new(made);
    for (int i = 3; i < 512; i++) {
        fake_pass(&client, 200);
        expect("PATCH", client.request->path);
        fake_answer(&client, 200, STR("{}"), -1);
    }
    fake_done(&client);
}

/* ---- when it does not work ---- */

static void test_what_fails_is_tried_again(void **state) {
    (void)state;
    char name[EVENT_NAME_SIZE], again[EVENT_NAME_SIZE];
    say("web-1", "a");
    name_of(name);
    for (int i = 0; i < 11; i++) {
        if (i % 3 == 0)
            fake_fail(&client, -ECONNREFUSED);
        else
            fake_answer(&client, i % 3 == 1 ? 503 : 401, STR("no"), -1);
        say("web-2", "b"); /* waits behind it */
        expect_nothing();
        assert_in_range(fake_next_timer(&client), 10000, 12500);
        fake_pass(&client, 9999);
        expect_nothing();
        fake_pass(&client, 2501);
        name_of(again);
        assert_string_equal(name, again);
    }
    fake_fail(&client, -ECONNREFUSED);
    assert_int_equal(counted("failed"), 1);
    assert_true(body_has("web-2"));
    fake_answer(&client, 429, STR(""), 30000);
    assert_int_equal(fake_next_timer(&client), 30000);
    fake_pass(&client, 30000);
    fake_answer(&client, 429, STR(""), 3600000);
    assert_int_equal(fake_next_timer(&client), 60000);
    fake_pass(&client, 60000);
    fake_answer(&client, 409, STR(""), -1); /* an earlier try was done after all */
    assert_int_equal(counted("created"), 1);
    expect("PATCH", client.request->path); /* but it counted fewer */
    assert_true(body_has("\"count\":11,"));
    for (int i = 0; i < 11; i++) { /* as often as the first time */
        fake_fail(&client, -ETIMEDOUT);
        fake_pass(&client, 12500);
        assert_true(body_has("\"count\":11,")); /* the server still does not know */
    }
    fake_answer(&client, 200, STR("{}"), -1);
    fake_done(&client);
}

static void test_what_is_refused_is_given_up(void **state) {
    (void)state;
    char name[EVENT_NAME_SIZE];
    say("web-1", "a");
    fake_answer(&client, 403,
                STR("{\"kind\":\"Status\",\"message\":\"being terminated\",\"code\":403}"), -1);
    expect_nothing();
    assert_int_equal(counted("failed"), 1);
    fake_done(&client);
    say("web-1", "a"); /* it was not, so this is a new one */
    take_new(name);
    for (int i = 0; i < 300; i++) { /* and none of them takes a place in the queue */
        char pod[16];
        (void)snprintf(pod, sizeof pod, "pod-%d", i);
        say(pod, "a");
        fake_pass(&client, 200);
        fake_answer(&client, 422, STR(""), -1);
    }
    assert_int_equal(counted("dropped"), 0);
    assert_int_equal(counted("failed"), 301);
}

static void test_what_has_expired_is_made_anew(void **state) {
    (void)state;
    char name[EVENT_NAME_SIZE], again[EVENT_NAME_SIZE];
    say("web-1", "a");
    take_new(name);
    say("web-1", "a");
    fake_answer(&client, 404, STR(""), -1);
    expect("POST", PODS "?fieldManager=evenkeel");
    assert_true(body_has("\"series\":{\"count\":2,"));
    take_new(again);
    assert_string_equal(name, again);
    fake_done(&client);
    assert_int_equal(counted("failed"), 0);
}

/* ---- texts ---- */

static void assert_clean(struct str text, size_t max, const char *want) {
    struct strbuf out = {0};
    strbuf_append_str(&out, STR("x"));
    event_put_clean(&out, text, max);
    assert_str(((struct str){out.p + 1, out.n - 1}), want);
    strbuf_done(&out);
}

static void test_texts_are_cut_and_cleaned(void **state) {
    (void)state;
    assert_clean(STR(""), 8, "");
    assert_clean(STR("12345678"), 8, "12345678");
    assert_clean(STR("123456789"), 8, "12345...");
    assert_clean(STR("1234\xc3\xa9xyz"), 8, "1234...");
    assert_clean(STR("123\xc3\xa9xyz"), 8, "123\xc3\xa9xyz");
    assert_clean(STR("a\xff"
                     "b"),
                 8,
                 "a\xef\xbf\xbd"
                 "b");
    assert_clean(STR("\xff\xff\xff"), 8, "\xef\xbf\xbd...");
    char note[3000], name[EVENT_NAME_SIZE];
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    struct event event = pod_event("web-1", note);
    event.reason = event.action = (struct str){note, 200};
    event_record(recorder, &event);
    fake_run(&client);
    struct str body = client.request->body;
    assert_true(body.n < 1024 + 2 * 128 + 600);
    assert_true(body_has("nnn...\",\"type\""));
    take_new(name);
}

static void assert_name(const char *object, const char *prefix) {
    const struct event event = pod_event(object, "a");
    char name[EVENT_NAME_SIZE], want[EVENT_NAME_SIZE + 16];
    event_name(&event, 0xfedcba9876543210, name);
    (void)snprintf(want, sizeof want, "%s.fedcba9876543210", prefix);
    assert_string_equal(name, want);
}

static void test_names_are_what_the_api_takes(void **state) {
    (void)state;
    char name[300];
    assert_name("web-1", "web-1");
    assert_name("a.b-c", "a.b-c");
    assert_name("system:node", "evenkeel");
    assert_name("../../secrets/x", "evenkeel");
    assert_name("Upper", "evenkeel");
    assert_name("-a", "evenkeel");
    assert_name("a-", "evenkeel");
    assert_name("a..b", "evenkeel");
    assert_name("a.-b", "evenkeel");
    assert_name("", "evenkeel");
    memset(name, 'a', sizeof name);
    name[236] = '\0';
    assert_name(name, name);
    name[236] = 'a';
    name[237] = '\0';
    assert_name(name, "evenkeel");
    static const char *const bad[] = {
        "../x", "A", "a/b",
        "a?b",  "-", "a123456789-123456789-123456789-123456789-123456789-123456789-123"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct event event = pod_event("web-1", "a");
        event.regarding.namespace = str_of(bad[i]);
        event_record(recorder, &event);
    }
    fake_run(&client);
    expect_nothing();
    assert_int_equal(counted("dropped"), 6);
}

/* ---- threads ---- */

static void *stop(void *limit_ms) {
    event_recorder_stop(recorder, *(int64_t *)limit_ms);
    return NULL;
}

static void test_stopping_writes_what_is_left(void **state) {
    (void)state;
    pthread_t thread;
    int64_t limit_ms = 5000;
    char name[EVENT_NAME_SIZE];
    say("web-1", "a");
    take_new(name);
    for (int i = 0; i < 3; i++) /* two are written, two are not */
        say("web-1", "a");
    fake_answer(&client, 200, STR("{}"), -1);
    expect_nothing();
    assert_int_equal(pthread_create(&thread, NULL, stop, &limit_ms), 0);
    int patches = 0;
    while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
        fake_run(&client);
        if (client.request != NULL) {
            assert_true(body_has("\"count\":4,"));
            patches++;
            fake_answer(&client, 200, STR("{}"), -1);
        }
        (void)sched_yield();
    }
    assert_int_equal(patches, 1);
    fake_done(&client);
    say("web-2", "b");
    expect_nothing();
    assert_int_equal(counted("dropped"), 1);
    fake_done(&client);
}

static void test_stopping_has_a_limit(void **state) {
    (void)state;
    pthread_t thread;
    int64_t limit_ms = 5000;
    say("web-1", "a"); /* hangs */
    say("web-2", "b");
    assert_int_equal(pthread_create(&thread, NULL, stop, &limit_ms), 0);
    while (fake_next_timer(&client) != 0) /* until stop has begun */
        (void)sched_yield();
    fake_run(&client);
    fake_pass(&client, 4999);
    assert_non_null(client.request);
    assert_int_equal(pthread_tryjoin_np(thread, NULL), EBUSY);
    fake_pass(&client, 1);
    assert_null(client.request);
    assert_int_equal(pthread_join(thread, NULL), 0);
    fake_done(&client);
}

static void test_stopping_gives_a_sick_server_up(void **state) {
    (void)state;
    pthread_t thread;
    int64_t limit_ms = 5000;
    say("web-1", "a");
    fake_fail(&client, -ECONNREFUSED);
    assert_int_equal(pthread_create(&thread, NULL, stop, &limit_ms), 0);
    while (fake_next_timer(&client) != 0)
        (void)sched_yield();
    fake_run(&client);
    assert_int_equal(fake_next_timer(&client), 5000); /* the next try would come too late */
    fake_pass(&client, 5000);
    assert_int_equal(pthread_join(thread, NULL), 0);
    fake_done(&client);
}

enum { TALKERS = 4, TALKS = 2000 };

static void *talk(void *ctx) {
    uint64_t random = *(uint64_t *)ctx;
    for (int i = 0; i < TALKS; i++) {
        char name[16], note[16];
        (void)snprintf(name, sizeof name, "web-%u", (unsigned)unit_below(&random, 20));
        (void)snprintf(note, sizeof note, "%u", (unsigned)unit_below(&random, 30));
        const struct event event = pod_event(name, note);
        event_record(recorder, &event);
    }
    return NULL;
}

static void test_many_threads(void **state) {
    (void)state;
    pthread_t threads[TALKERS];
    uint64_t seeds[TALKERS];
    int left = TALKERS;
    for (int i = 0; i < TALKERS; i++) {
        seeds[i] = (uint64_t)i;
        assert_int_equal(pthread_create(&threads[i], NULL, talk, &seeds[i]), 0);
    }
    while (left > 0) {
        fake_pass(&client, 100);
        if (client.request != NULL)
            fake_answer(&client, strcmp(client.request->method, "POST") == 0 ? 201 : 200, STR("{}"),
                        -1);
        if (pthread_tryjoin_np(threads[left - 1], NULL) == 0)
            left--;
    }
    while (fake_next_timer(&client) >= 0 || client.request != NULL) {
        fake_pass(&client, 300000);
        if (client.request != NULL)
            fake_answer(&client, strcmp(client.request->method, "POST") == 0 ? 201 : 200, STR("{}"),
                        -1);
    }
    /* Each was written, counted, or is missed. */
    assert_int_equal(counted("created") + counted("aggregated") + counted("limited") +
                         counted("dropped"),
                     TALKERS * TALKS);
    assert_true(counted("created") > 20);
    assert_int_equal(counted("failed"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_new_event),
        TEST(test_an_event_about_no_namespace),
        TEST(test_repetitions_are_a_series),
        TEST(test_events_that_differ_are_different),
        TEST(test_repetitions_before_it_is_written),
        TEST(test_one_object_has_a_limit),
        TEST(test_all_together_have_a_pace),
        TEST(test_too_many_wait),
        TEST(test_the_quietest_is_forgotten),
        TEST(test_what_is_needed_is_not_forgotten),
        TEST(test_what_fails_is_tried_again),
        TEST(test_what_is_refused_is_given_up),
        TEST(test_what_has_expired_is_made_anew),
        TEST(test_texts_are_cut_and_cleaned),
        TEST(test_names_are_what_the_api_takes),
        TEST(test_stopping_writes_what_is_left),
        TEST(test_stopping_has_a_limit),
        TEST(test_stopping_gives_a_sick_server_up),
        TEST(test_many_threads),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}

/*
 * Questions to the estimators of many clusters, over real connections: of a listener of this
 * project, of sockets where nobody accepts, and of ports where nobody listens. What answers in time
 * counts; the rest is unknown, and nobody waits longer than until the deadline.
 */
#include "estimators/estimators.h"

#include "base/mutex.h"
#include "estimator/wire.h"
#include "grpc/listener.h"
#include "net/address.h"

#include "unit/unit.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLUSTERS = 100, DEADLINE_MS = 500, GUARD_MS = 30000 };

static struct grpc_dialer *dialer;
static struct estimators *estimators;
static struct grpc_listener *listener;
static int silent = -1;
static char silent_address[ADDRESS_TEXT_SIZE];
static int greeted[CLUSTERS];
static unsigned greeted_count;

static struct mutex lock = MUTEX_INITIALIZER; /* guards the next three */
static struct condition changed;
static int64_t answers[CLUSTERS];
static unsigned answered;

/* ---- an estimator: the number in the cluster's name ---- */

static void count_replicas(void *ctx, const struct grpc_request *q,
                           struct grpc_response *response) {
    struct wire_replicas question;
    struct err err;
    int64_t number;
    (void)ctx;
    assert_int_equal(wire_replicas_decode(q->message, q->arena, &question, &err), 0);
    assert_str(q->object, "kind=Deployment, name=a/b");
    /* field 1, the cluster, comes first: nothing of another question stands before it */
    assert_true(q->message.n >= question.cluster.n + 2 && q->message.p[0] == 0x0a);
    assert_int_equal(q->message.p[1], question.cluster.n);
    assert_memory_equal(q->message.p + 2, question.cluster.p, question.cluster.n);
    if (!str_to_i64((struct str){question.cluster.p + 1, question.cluster.n - 1}, &number)) {
        response->status = GRPC_UNKNOWN;
        (void)err_set(&response->err, -1, "cluster name does not match");
        return;
    }
    wire_response_encode(number == 7 ? -1 : (int32_t)number, WIRE_BOTH, &response->message);
}

static const struct grpc_method methods[] = {{"MaxAvailableReplicas", count_replicas}};
static const struct grpc_service service = {
    .path = WIRE_SERVICE, .methods = methods, .method_count = 1};
static const struct http_tls_options no_tls = {.cert_file = NULL};

static int set_up(void **state) {
    static const struct grpc_dial_tls plaintext = {.ca_file = NULL};
    const struct grpc_listener_options options = {
        .address = "127.0.0.1:0", .threads = 1, .service = &service, .tls = &no_tls};
    struct err err;
    (void)state;
    condition_init(&changed);
    answered = 0;
    return address_listen("127.0.0.1:0", silent_address, &silent, &err) != 0 ||
                   grpc_listener_start(&options, clock_real(), &listener, &err) != 0 ||
                   grpc_dialer_start(&plaintext, clock_real(), &dialer, &err) != 0 ||
                   estimators_new(dialer, clock_real(), &estimators, &err) != 0
               ? -1
               : 0;
}

static int tear_down(void **state) {
    (void)state;
    grpc_dialer_stop(dialer);
    estimators_free(estimators);
    grpc_listener_stop(listener, 0);
    (void)close(silent);
    while (greeted_count > 0)
        (void)close(greeted[--greeted_count]);
    condition_done(&changed);
    return 0;
}

/* ---- asking ---- */

static void keep_answers(void *ctx, const int64_t *got, uint32_t count) {
    (void)ctx;
    mutex_lock(&lock);
    memcpy(answers, got, count * sizeof *got);
    answered++;
    condition_broadcast(&changed);
    mutex_unlock(&lock);
}

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

/* Those that have connected to the silent one are greeted, as by a server of HTTP/2 that then never
 * says a word again. */
static void greet(void) {
    static const char settings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    for (int fd; greeted_count < CLUSTERS && (fd = accept(silent, NULL, NULL)) >= 0;) {
        greeted[greeted_count++] = fd;
        assert_int_equal(write(fd, settings, sizeof settings), sizeof settings);
    }
}

/* Returns how long it took. */
static int64_t ask(const struct str *clusters, uint32_t count, int64_t deadline_ms) {
    struct err err;
    const int64_t began_ms = now_ms();
    const unsigned before = answered;
    const struct estimators_question q = {.object = STR("kind=Deployment, name=a/b"),
                                          .clusters = clusters,
                                          .count = count,
                                          .deadline_ms = began_ms + deadline_ms};
    assert_int_equal(estimators_ask(estimators, &q, keep_answers, NULL, &err), 0);
    mutex_lock(&lock);
    while (answered == before && condition_wait_until(&changed, &lock, began_ms + GUARD_MS))
        continue;
    assert_int_equal(answered, before + 1);
    mutex_unlock(&lock);
    return now_ms() - began_ms;
}

static void add(struct str cluster, const char *first, const char *second) {
    const char *addresses[] = {first, second};
    struct err err;
    if (estimators_add(estimators, cluster, addresses, second != NULL ? 2 : 1, &err) != 0)
        fail_msg("%s", err.text);
}

/* Until the clusters that have an estimator answer: connections take a moment. */
static void ask_until(const struct str *clusters, uint32_t count, uint32_t known) {
    const int64_t until_ms = now_ms() + GUARD_MS;
    for (uint32_t n = 0; n != known;) {
        assert_true(now_ms() < until_ms);
        greet();
        (void)ask(clusters, count, DEADLINE_MS);
        n = 0;
        for (uint32_t i = 0; i < count; i++)
            n += answers[i] != ESTIMATE_UNKNOWN;
    }
}

/* Every third answers, every third is a port where nobody listens, every third never says a word.
 */
static void one_deadline_for_all(void **state) {
    static char texts[CLUSTERS][8];
    struct str clusters[CLUSTERS];
    (void)state;
    for (unsigned i = 0; i < CLUSTERS; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "m%u", i);
        clusters[i] = str_of(texts[i]);
        add(clusters[i],
            i % 3 == 0   ? grpc_listener_address(listener)
            : i % 3 == 1 ? "127.0.0.1:1"
                         : silent_address,
            NULL);
    }
    ask_until(clusters, CLUSTERS, 34);
    while (greeted_count < 33) { /* all of them have a connection by the deadline */
        greet();
        (void)ask(clusters, CLUSTERS, DEADLINE_MS);
    }
    assert_int_equal(greeted_count, 33);
    const int64_t took_ms = ask(clusters, CLUSTERS, DEADLINE_MS);
    assert_true(took_ms >= DEADLINE_MS - 1 && took_ms <= DEADLINE_MS + 1000);
    for (unsigned i = 0; i < CLUSTERS; i++)
        assert_int_equal(answers[i], i % 3 == 0 ? (int64_t)i : ESTIMATE_UNKNOWN);
}

static void failures_are_unknown(void **state) {
    const struct str clusters[] = {STR("m5"), STR("m7"), STR("nameless"), STR("m9")};
    (void)state;
    add(clusters[0], "127.0.0.1:1", grpc_listener_address(listener)); /* the second one answers */
    add(clusters[1], grpc_listener_address(listener), NULL);          /* -1 */
    add(clusters[2], grpc_listener_address(listener), NULL);          /* an error */
    ask_until(clusters, 4, 1);
    assert_int_equal(answers[0], 5);
    add(clusters[0], "127.0.0.1:1", NULL); /* it is there */
    (void)ask(clusters, 1, DEADLINE_MS);
    assert_int_equal(answers[0], 5);
    estimators_remove(estimators, clusters[0]);
    estimators_remove(estimators, clusters[0]);
    (void)ask(clusters, 4, DEADLINE_MS);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(answers[i], ESTIMATE_UNKNOWN);
}

static void nobody_is_asked(void **state) {
    (void)state;
    (void)ask(NULL, 0, DEADLINE_MS);
}

static void wrong_addresses(void **state) {
    static const char *const wrong[] = {"",           "host",  "host:", ":1",    "host:0",
                                        "host:65536", "::1:1", "[]:1",  "host:x"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct err err;
        print_message("# '%s'\n", wrong[i]);
        assert_true(estimators_add(estimators, STR("m"), &wrong[i], 1, &err) < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_deadline_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures_are_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_is_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_addresses, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Clients that take every connection there is, each from a loopback address of its own, and those
 * who must be served all the same.
 */
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

#define HELLO "GET /hello HTTP/1.1\r\nHost: test\r\n\r\n"

struct flood {
    struct net *net;
    int count;
};

static struct flood *flood_new(int count) {
    struct flood *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->net = calloc((size_t)count, sizeof *f->net);
    assert_non_null(f->net);
    return f;
}

static void flood_free(struct flood *f) {
    for (int i = 0; i < f->count; i++)
        net_close(&f->net[i]);
    free(f->net);
    free(f);
}

/* One more connection, which says `text`. */
static struct net *flood_add(struct flood *f, const char *from, const char *address,
                             const char *text) {
    struct net *net = &f->net[f->count++];
    assert_true(net_open_from(net, from, address));
    (void)net_say(net, text);
    return net;
}

static bool answered(const char *from, const char *address) {
    struct net net;
    struct net_answer answer = {0};
    assert_true(net_open_from(&net, from, address));
    bool good = net_say(&net, HELLO) && net_hear(&net, &answer) && answer.status == 200;
    net_answer_done(&answer);
    net_close(&net);
    return good;
}

static void start(struct served *s, unsigned connections, unsigned per_address) {
    served_init(s);
    s->options.limits.connections = connections;
    s->options.limits.connections_per_address = per_address;
    served_start(s);
}

/* As the ops listener is: one address may have all of it. */
static void test_probes(void **state) {
    (void)state;
    struct served s;
    start(&s, 64, 64);
    struct flood *f = flood_new(64);
    struct net_answer answer = {0};
    for (int i = 0; i < 64; i++)
        assert_true(net_hear(flood_add(f, "127.0.0.2", served_address(&s), HELLO), &answer));
    for (int i = 0; i < 10; i++) {
        assert_true(answered("127.0.0.3", served_address(&s))); /* beside them */
        assert_true(answered("127.0.9.1", served_address(&s)));
        assert_true(answered("127.0.0.2", served_address(&s))); /* among them */
    }
    net_answer_done(&answer);
    flood_free(f);
    served_done(&s);
}

/* As the webhook is: four addresses may have all of it. */
static void test_four_addresses(void **state) {
    (void)state;
    static const char begun[] = "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: "
                                "application/json\r\nContent-Length: 9\r\n\r\n{";
    static const char *const texts[] = {"", HELLO, "GET /hello HTTP/1.1\r\n", begun};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        struct served s;
        struct net client;
        struct net_answer answer = {0};
        start(&s, 128, 32);
        assert_true(net_open_from(&client, "127.0.5.1", served_address(&s)));
        assert_true(net_say(&client, HELLO));
        assert_true(net_hear(&client, &answer)); /* it has waited longest when the flood comes */
        struct flood *f = flood_new(256);
        for (int i = 0; i < 256; i++) {
            char from[32];
            (void)snprintf(from, sizeof from, "127.0.0.%d", 2 + i % 4);
            (void)flood_add(f, from, served_address(&s), texts[t]);
        }
        assert_true(answered("127.0.6.1", served_address(&s)));
        assert_true(net_say(&client, HELLO));
        assert_true(net_hear(&client, &answer)); /* and still has its connection */
        net_answer_done(&answer);
        net_close(&client);
        flood_free(f);
        served_done(&s);
    }
}

/* Connections come and go as fast as they can, from as many threads as there are addresses. */
struct storm {
    const char *address;
    char from[32];
    _Atomic bool *over;
    pthread_t thread;
};

static void *storm(void *arg) {
    const struct storm *s = arg;
    struct net nets[64];
    for (int i = 0; i < 64; i++)
        nets[i] = (struct net){.fd = -1};
    for (int i = 0; !atomic_load(s->over); i = (i + 1) % 64) {
        net_close(&nets[i]);
        if (net_open_from(&nets[i], s->from, s->address))
            (void)net_say(&nets[i], i % 2 == 0 ? HELLO : "GET /hello HTTP/1.1\r\n");
    }
    for (int i = 0; i < 64; i++)
        net_close(&nets[i]);
    return NULL;
}

static void test_storm(void **state) {
    (void)state;
    enum { STORMS = 3 };
    struct served s;
    struct storm storms[STORMS];
    struct net client;
    struct net_answer answer = {0};
    _Atomic bool over = false;
    served_init(&s);
    s.options.limits.connections = s.options.limits.connections_per_address = 16;
    /* libmicrohttpd (0.9.75) does not see an end that comes together with the last bytes */
    s.options.limits.header_ms = s.options.limits.idle_ms = 1000;
    served_start(&s);
    assert_true(net_open_from(&client, "127.0.5.1", served_address(&s)));
    for (int i = 0; i < STORMS; i++) {
        storms[i] = (struct storm){.address = served_address(&s), .over = &over};
        (void)snprintf(storms[i].from, sizeof storms[i].from, "127.0.0.%d", i + 2);
        assert_int_equal(pthread_create(&storms[i].thread, NULL, storm, &storms[i]), 0);
    }
    for (int i = 0; i < 200; i++) {
        assert_true(net_say(&client, HELLO));
        assert_true(net_hear(&client, &answer));
        assert_int_equal(answer.status, 200);
    }
    atomic_store(&over, true);
    for (int i = 0; i < STORMS; i++)
        assert_int_equal(pthread_join(storms[i].thread, NULL), 0);
    net_close(&client);
    net_answer_done(&answer);
    metric_becomes("evenkeel_http_connections{listener=\"test\"}", 0);
    served_done(&s);
}

static void tell_files(struct pki *pki, struct served *s, char files[3][512]) {
    static const char *const names[] = {"server.pem", "server.key", "ca.pem"};
    pki_init(pki);
    pki_make(pki, &(struct pki_wish){.name = "ca", .cn = "client CA", .ca = true});
    pki_make(pki, &(struct pki_wish){.name = "server", .cn = "server"});
    pki_make(pki, &(struct pki_wish){
                      .name = "client", .issuer = "ca", .cn = "client", .for_clients = true});
    for (int i = 0; i < 3; i++)
        (void)snprintf(files[i], 512, "%s", pki_path(pki, names[i]));
    s->options.tls = (struct http_tls_options){
        .cert_file = files[0], .key_file = files[1], .client_ca_file = files[2]};
}

/* Among strangers of its own address a client with a certificate gets in, and stays. */
static void test_verified_clients(void **state) {
    (void)state;
    struct pki pki;
    struct served s;
    struct net client;
    struct net_answer answer = {0};
    char files[3][512];
    served_init(&s);
    s.options.limits.connections = s.options.limits.connections_per_address = 16;
    tell_files(&pki, &s, files);
    served_start(&s);
    struct flood *f = flood_new(64);
    for (int i = 0; i < 32; i++)
        (void)flood_add(f, "127.0.0.1", served_address(&s), "");
    const struct net_tls tls = {.cert_file = pki_path(&pki, "client.pem"),
                                .key_file = pki_path(&pki, "client.key")};
    assert_true(net_open_tls(&client, served_address(&s), &tls));
    assert_true(net_post(&client, "/echo", 10, &answer));
    assert_int_equal(answer.status, 200);
    for (int i = 0; i < 32; i++)
        (void)flood_add(f, "127.0.0.1", served_address(&s), "");
    assert_true(net_post(&client, "/echo", 10, &answer));
    assert_int_equal(answer.status, 200);
    net_answer_done(&answer);
    net_close(&client);
    flood_free(f);
    served_done(&s);
    pki_done(&pki);
}

/* A body of n bytes, of which `missing` do not come. */
static struct net *begin_body(struct flood *f, const char *from, const char *address, size_t n,
                              size_t missing) {
    char head[256];
    (void)snprintf(head, sizeof head,
                   "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   n);
    struct net *net = flood_add(f, from, address, head);
    char *bytes = calloc(1, n);
    assert_non_null(bytes);
    (void)net_send(net, bytes, n - missing);
    free(bytes);
    return net;
}

#define HELD "evenkeel_http_bytes_held{listener=\"test\"}"
#define EVICTED "evenkeel_http_connections_evicted_total{listener=\"test\",reason=\"bytes\"}"

static int status_of_post(const char *from, const char *address, size_t n) {
    struct net net;
    struct net_answer answer = {0};
    assert_true(net_open_from(&net, from, address));
    assert_true(net_post(&net, "/echo", n, &answer));
    int status = answer.status;
    net_answer_done(&answer);
    net_close(&net);
    return status;
}

/* A few connections hold all the bytes there are, in bodies that lack their last one: whoever holds
 * less gets room, and whoever would hold most does not. */
static void test_bodies_that_do_not_end(void **state) {
    (void)state;
    enum { EACH = 512 << 10, ATTACKERS = 8 };
    struct served s;
    served_init(&s);
    s.options.limits.body_bytes = s.options.limits.bodies_in_flight = ATTACKERS * EACH;
    served_start(&s);
    struct flood *f = flood_new(16);
    struct net *modest = begin_body(f, "127.0.5.1", served_address(&s), 100000, 1);
    for (int i = 0; i < ATTACKERS - 1; i++)
        (void)begin_body(f, "127.0.0.2", served_address(&s), EACH, 1);
    metric_becomes(HELD, 99999 + (ATTACKERS - 1) * (EACH - 1));
    assert_int_equal(metric_now(EVICTED), 0);
    assert_int_equal(status_of_post("127.0.0.2", served_address(&s), EACH), 503); /* as large */
    assert_int_equal(metric_now(EVICTED), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(status_of_post("127.0.6.1", served_address(&s), EACH), 200);
        assert_int_equal(status_of_post("127.0.0.3", served_address(&s), EACH), 200);
        (void)begin_body(f, "127.0.0.2", served_address(&s), EACH, 1);
    }
    assert_true(metric_now(EVICTED) >= 1);
    struct net_answer answer = {0};
    assert_true(net_say(modest, "x"));
    assert_true(net_hear(modest, &answer)); /* it has kept its room all the time */
    assert_int_equal(answer.status, 200);
    net_answer_done(&answer);
    flood_free(f);
    served_done(&s);
}

/* The same with answers that nobody reads. */
static void test_answers_that_are_not_read(void **state) {
    (void)state;
    struct served s;
    struct net client;
    struct net_answer answer = {0};
    served_init(&s);
    s.options.limits.bodies_in_flight = 4 * MUCH;
    served_start(&s);
    struct flood *f = flood_new(8);
    for (int i = 0; i < 8; i++) {
        char first[12];
        struct net *net = flood_add(f, "127.0.0.2", served_address(&s),
                                    "GET /much HTTP/1.1\r\nHost: test\r\n\r\n");
        assert_int_equal(recv(net->fd, first, sizeof first, MSG_WAITALL), sizeof first);
    }
    assert_true(net_open_from(&client, "127.0.5.1", served_address(&s)));
    assert_true(net_say(&client, "GET /much HTTP/1.1\r\nHost: test\r\n\r\n"));
    assert_true(net_hear(&client, &answer));
    assert_int_equal(answer.status, 200);
    net_answer_done(&answer);
    net_close(&client);
    flood_free(f);
    served_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_four_addresses),
        cmocka_unit_test(test_storm),
        cmocka_unit_test(test_verified_clients),
        cmocka_unit_test(test_bodies_that_do_not_end),
        cmocka_unit_test(test_answers_that_are_not_read),
    };
    return cmocka_run_group_tests_name("floods", tests, NULL, NULL);
}

/* A GET that a person waits for: its error says which part takes too long. */
#include "kube/client/get.h"

#include "unit/certs/issued.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOON_MS = 100, LONG_MS = 60000, FULL = 8 };

struct fixture {
    struct api api;
    struct kube_access access;
    struct kube_client *client;
    struct api_call call;
    struct kube_get get;
    struct strbuf body;
    char pipe[256]; /* what the plugin prints is written here */
    const char *args[1];
    void *folder;
};

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.body.max = 100};
    if (make_folder(&f.folder) != 0)
        return -1;
    (void)snprintf(f.pipe, sizeof f.pipe, "%s/pipe", (const char *)f.folder); /* fits */
    assert_int_equal(mkfifo(f.pipe, 0600), 0);
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    kube_client_free(f->client);
    strbuf_done(&f->body);
    api_call_done(&f->call);
    api_done(&f->api);
    return remove_folder(&f->folder);
}

static void open_client(struct fixture *f) {
    struct err err;
    if (kube_client_new(&f->access, NULL, &f->client, &err) != 0)
        fail_msg("%s", err.text);
}

static void expect_late(struct fixture *f, const char *why) {
    struct err err = {0};
    int status = -1;
    assert_int_equal(kube_get_end(&f->get, &status, &err), -ETIMEDOUT);
    assert_string_equal(err.text, why);
    assert_int_equal(status, -1);
}

static void expect_answer(struct fixture *f) {
    struct err err = {0};
    int status = -1;
    if (kube_get_end(&f->get, &status, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(status, 200);
    assert_str(strbuf_str(&f->body), "{}");
}

/* ---- the answer ---- */

static void test_within(void **state) {
    struct fixture *f = *state;
    struct err err;
    int status = 0;
    open_client(f);
    assert_int_equal(kube_get_within(f->client, "/api", SOON_MS, &f->body, &status, &err),
                     -ETIMEDOUT);
    assert_string_equal(err.text, "it accepts the connection and does not answer within 100 ms");
    assert_int_equal(err.code, -ETIMEDOUT);
    api_deafen(&f->api);
    assert_int_equal(kube_get_within(f->client, "/api", SOON_MS, &f->body, &status, &err),
                     -ECONNREFUSED);
    assert_int_equal(status, 0);
}

static void test_a_slow_answer(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf why = {.max = 256};
    open_client(f);
    kube_get_start(&f->get, f->client, "/api", LONG_MS, LONG_MS, &f->body);
    api_expect(&f->api, &f->call, "GET", "/api");
    assert_true(kube_get_wait_credentials(&f->get, LONG_MS)); /* it needs none */
    assert_false(kube_get_wait(&f->get, SOON_MS));
    assert_int_equal(kube_get_stage(&f->get), KUBE_STAGE_ANSWER);
    kube_get_say_late(&f->get, &why);
    assert_str(strbuf_str(&why), "it accepts the connection and does not answer within 100 ms");
    api_answer(&f->call, 200, "", "{}");
    assert_true(kube_get_wait(&f->get, LONG_MS));
    expect_answer(f);
}

/* The time limit of the request counts, not an earlier wait; and the last wait, if it is given up.
 */
static void test_the_limit_that_passed(void **state) {
    struct fixture *f = *state;
    open_client(f);
    kube_get_start(&f->get, f->client, "/api", 0, 3 * SOON_MS, &f->body);
    assert_false(kube_get_wait(&f->get, 1));
    assert_true(kube_get_wait(&f->get, LONG_MS));
    expect_late(f, "it accepts the connection and does not answer within 300 ms");
    kube_get_start(&f->get, f->client, "/api", 0, LONG_MS, &f->body);
    assert_false(kube_get_wait(&f->get, SOON_MS));
    expect_late(f, "it accepts the connection and does not answer within 100 ms");
}

/* ---- the connection ---- */

/* A listener with a full queue takes no further connection: the kernel drops the first packet. */
static void test_no_connection(void **state) {
    struct fixture *f = *state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int full[FULL], fd = socket(AF_INET, SOCK_STREAM, 0);
    char url[64];
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    for (int i = 0; i < FULL; i++) {
        full[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(full[i], (struct sockaddr *)&at, sizeof at); /* some stay under way */
    }
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(at.sin_port));
    f->access.server = url;
    open_client(f);
    kube_get_start(&f->get, f->client, "/api", 0, LONG_MS, &f->body);
    assert_false(kube_get_wait(&f->get, SOON_MS));
    assert_int_equal(kube_get_stage(&f->get), KUBE_STAGE_CONNECTION);
    expect_late(f, "it does not accept the connection within 100 ms");
    for (int i = 0; i < FULL; i++)
        assert_int_equal(close(full[i]), 0);
    assert_int_equal(close(fd), 0);
}

/* ---- the name ---- */

#define UNKNOWN_HOST "api.invalid"

static sem_t go_on;

/* The one that libcurl calls, on a thread that it makes: DNS does not answer for this name. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (name == NULL || strcmp(name, UNKNOWN_HOST) != 0) {
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
        return real(name, service, req, pai);
    }
    (void)sem_comes(&go_on);
    return EAI_AGAIN;
}

static void test_no_name(void **state) {
    struct fixture *f = *state;
    assert_int_equal(sem_init(&go_on, 0, 0), 0);
    f->access.server = "http://" UNKNOWN_HOST;
    open_client(f);
    kube_get_start(&f->get, f->client, "/api", 0, LONG_MS, &f->body);
    assert_false(kube_get_wait(&f->get, SOON_MS));
    assert_int_equal(kube_get_stage(&f->get), KUBE_STAGE_NAME);
    expect_late(f, "its name is not resolved within 100 ms");
    (void)sem_post(&go_on);
}

/* ---- credentials ---- */

/* A plugin that answers with the bytes of a pipe. */
static void use_plugin(struct fixture *f) {
    f->args[0] = f->pipe;
    f->access.exec = (struct kube_exec){.command = "/bin/cat",
                                        .args = f->args,
                                        .arg_count = 1,
                                        .api_version = "client.authentication.k8s.io/v1"};
}

static void let_plugin_answer(struct fixture *f) {
    static const char text[] =
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication."
        "k8s.io/v1\",\"status\":{\"token\":\"from-the-plugin\"}}";
    int fd = open(f->pipe, O_WRONLY | O_CLOEXEC); /* returns when the plugin reads */
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(close(fd), 0);
}

static void test_no_credentials(void **state) {
    struct fixture *f = *state;
    use_plugin(f);
    open_client(f);
    kube_get_start(&f->get, f->client, "/api", 2 * SOON_MS, LONG_MS, &f->body);
    assert_true(kube_get_wait(&f->get, LONG_MS));
    expect_late(f, "the credential plugin of the kubeconfig gives no credentials within 200 ms");
    kube_get_start(&f->get, f->client, "/api", 0, SOON_MS, &f->body);
    assert_true(kube_get_wait(&f->get, LONG_MS));
    expect_late(f, "the credential plugin of the kubeconfig gives no credentials within 100 ms");
}

/* The time limit of the answer begins when the credentials are there. */
static void test_slow_credentials(void **state) {
    struct fixture *f = *state;
    use_plugin(f);
    open_client(f);
    kube_get_start(&f->get, f->client, "/api", LONG_MS, SOON_MS, &f->body);
    assert_false(kube_get_wait_credentials(&f->get, 2 * SOON_MS));
    assert_int_equal(kube_get_stage(&f->get), KUBE_STAGE_CREDENTIALS);
    let_plugin_answer(f);
    assert_true(kube_get_wait_credentials(&f->get, LONG_MS));
    api_expect(&f->api, &f->call, "GET", "/api");
    assert_str(api_header(&f->call, "Authorization"), "Bearer from-the-plugin");
    assert_true(kube_get_wait(&f->get, LONG_MS));
    expect_late(f, "it accepts the connection and does not answer within 100 ms");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_within),           TEST(test_a_slow_answer), TEST(test_the_limit_that_passed),
        TEST(test_no_connection),    TEST(test_no_name),       TEST(test_no_credentials),
        TEST(test_slow_credentials),
    };
    return cmocka_run_group_tests_name("get", tests, NULL, NULL);
}

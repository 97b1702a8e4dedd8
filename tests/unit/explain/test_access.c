/*
 * Who may read explanations, asked over HTTP: callers on the machine itself, and callers who show
 * the whole token. A request whose Host is no name of this machine counts as one from elsewhere
 * (http/origin.h), so that the test needs no second address.
 */
#include "explain/access.h"

#include "base/file.h"
#include "base/log.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TOKEN "sesame-1"

struct fixture {
    struct served s;
    struct explain_access *access;
    char folder[64], token_file[96];
    int log[2]; /* a pipe */
};

static void guarded(void *ctx, const struct http_request *request, struct http_response *response) {
    struct fixture *f = ctx;
    if (explain_access_check(f->access, request, response))
        http_answer_text(response, 200, "welcome");
}
static const struct http_route rows[] = {{"GET", "/guarded", "guarded", guarded, HTTP_ANY}};
static const struct http_routes routes = HTTP_ROUTES(rows);

static void write_token(struct fixture *f, const char *bytes) {
    struct err err;
    if (file_write_atomic(f->token_file, str_of(bytes), 0600, &err) != 0)
        fail_msg("%s", err.text);
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.folder = "/tmp/evenkeel-test-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    (void)snprintf(f.token_file, sizeof f.token_file, "%s/token", f.folder); /* fits */
    assert_int_equal(pipe2(f.log, O_NONBLOCK), 0);
    log_setup(LOG_ERROR, LOG_LOGFMT, f.log[1]);
    served_init(&f.s);
    f.s.options.services[0] = (struct http_service){.routes = &routes, .ctx = &f};
    served_start(&f.s);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    served_done(&f->s);
    explain_access_free(f->access);
    (void)unlink(f->token_file); /* there may be none */
    (void)close(f->log[0]);
    (void)close(f->log[1]);
    return rmdir(f->folder);
}

static void open_access(struct fixture *f, const char *token) {
    struct err err;
    if (token != NULL)
        write_token(f, token);
    if (explain_access_new(token != NULL ? f->token_file : NULL, &f->access, &err) != 0)
        fail_msg("%s", err.text);
}

/* The status of an answer. `authorization`: the header's value, NULL: none. `reason`: part of the
 * text, if there must be one. */
static int ask(struct fixture *f, const char *host, const char *authorization, const char *reason) {
    char request[512];
    struct net_answer answer = {0};
    struct net net;
    (void)snprintf(request, sizeof request, "GET /guarded HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", host,
                   authorization != NULL ? "Authorization: " : "",
                   authorization != NULL ? authorization : "", authorization != NULL ? "\r\n" : "");
    assert_true(net_open(&net, served_address(&f->s)));
    assert_true(net_say(&net, request));
    assert_true(net_hear(&net, &answer));
    net_close(&net);
    if (reason != NULL)
        assert_contains(answer.body.p, reason);
    assert_int_equal(strstr(answer.body.p, "welcome") != NULL, answer.status == 200);
    int status = answer.status;
    net_answer_done(&answer);
    return status;
}

static int ask_with(struct fixture *f, const char *authorization) {
    return ask(f, "evenkeel.example.com", authorization, NULL);
}

/* How many lines were logged since the last call; the last must contain `part`. */
static int logged(struct fixture *f, const char *part) {
    char text[4096];
    int lines = 0;
    ssize_t n = read(f->log[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_contains(text, lines > 0 ? part : "");
    return lines;
}

/* ---- tokens ---- */

/* One byte of the token is wrong, wherever it stands, or it is longer or shorter. */
static void only_the_whole_token(void **state) {
    struct fixture *f = *state;
    static const char *const wrong[] = {
        "Bearer Xesame-1",
        "Bearer sesaXe-1",
        "Bearer sesame-X",
        "Bearer sesame-",
        "Bearer s",
        "Bearer esame-1",
        "Bearer sesame-11" /* longer */,
        "Bearer ssesame-1",
        "Bearer SESAME-1",
        "Bearer sesame 1",
        "Bearer sesame-1, Bearer",
    };
    open_access(f, TOKEN);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (ask_with(f, wrong[i]) != 401)
            fail_msg("%s", wrong[i]);
    assert_int_equal(ask_with(f, "Bearer " TOKEN), 200);
    assert_int_equal(ask_with(f, "Bearer   " TOKEN), 200); /* blanks are none of it */
}

/* The scheme is Bearer, whole, whatever else stands there. */
static void only_bearer(void **state) {
    struct fixture *f = *state;
    static const char *const wrong[] = {
        "",
        "B",
        "Bearer",
        "Bearer ",
        "Bearers " TOKEN,
        "Basic  " TOKEN,
        "Xearer " TOKEN,
        "BearerX" TOKEN,
        TOKEN,
    };
    open_access(f, TOKEN);
    assert_int_equal(ask_with(f, NULL), 401);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (ask_with(f, wrong[i]) != 401)
            fail_msg("%s", wrong[i]);
    assert_int_equal(ask_with(f, "Bearer " TOKEN), 200);
}

/* White space around a token in a file is none of it, as people write files. */
static void a_token_in_a_file(void **state) {
    struct fixture *f = *state;
    open_access(f, " \n" TOKEN "\r\n");
    assert_int_equal(ask_with(f, "Bearer " TOKEN), 200);
}

/* No token, or an empty one, is shown by nobody. */
static void without_a_token(void **state) {
    struct fixture *f = *state;
    static const char *const shown[] = {"Bearer", "Bearer ", "Bearer  ", "Bearer \t", "Bearer x"};
    open_access(f, NULL);
    assert_int_equal(ask(f, "evenkeel.example.com", NULL, "explain.tokenFile"), 403);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        assert_int_equal(ask_with(f, shown[i]), 403);
    explain_access_poll(f->access); /* there is no file to look at */
    assert_int_equal(logged(f, ""), 0);
}

static void the_machine_itself(void **state) {
    struct fixture *f = *state;
    open_access(f, TOKEN);
    assert_int_equal(ask(f, "localhost:8080", NULL, NULL), 200);
    assert_int_equal(ask(f, "localhost:8080", "Bearer wrong", NULL), 200);
    assert_int_equal(ask(f, "evenkeel.example.com", NULL, "Authorization: Bearer"), 401);
}

/* ---- the file ---- */

static void a_new_token(void **state) {
    struct fixture *f = *state;
    open_access(f, TOKEN);
    write_token(f, "sesame-2");
    assert_int_equal(ask_with(f, "Bearer " TOKEN), 200); /* it has not been looked at */
    explain_access_poll(f->access);
    assert_int_equal(ask_with(f, "Bearer " TOKEN), 401);
    assert_int_equal(ask_with(f, "Bearer sesame-2"), 200);
    assert_int_equal(logged(f, ""), 0);
}

/* A token that cannot be read is logged once, and the one before stays; a good one counts again. */
static void a_bad_token(void **state) {
    struct fixture *f = *state;
    open_access(f, TOKEN);
    write_token(f, " \n");
    for (int i = 0; i < 3; i++)
        explain_access_poll(f->access);
    assert_int_equal(logged(f, "is empty"), 1);
    assert_int_equal(ask_with(f, "Bearer " TOKEN), 200);
    assert_int_equal(ask_with(f, "Bearer "), 401);
    assert_int_equal(unlink(f->token_file), 0);
    for (int i = 0; i < 3; i++)
        explain_access_poll(f->access);
    assert_int_equal(logged(f, "token of explain.tokenFile: cannot open"), 1);
    assert_int_equal(ask_with(f, "Bearer " TOKEN), 200);
    write_token(f, "sesame-3");
    explain_access_poll(f->access);
    assert_int_equal(ask_with(f, "Bearer sesame-3"), 200);
}

static void a_bad_token_at_start(void **state) {
    struct fixture *f = *state;
    struct err err = {0};
    assert_int_equal(explain_access_new(f->token_file, &f->access, &err), -ENOENT);
    assert_contains(err.text, "token of explain.tokenFile: ");
    write_token(f, "\n");
    assert_int_equal(explain_access_new(f->token_file, &f->access, &err), -EINVAL);
    assert_contains(err.text, "is empty");
    assert_null(f->access);
    explain_access_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_the_whole_token), TEST(only_bearer),          TEST(a_token_in_a_file),
        TEST(without_a_token),      TEST(the_machine_itself),   TEST(a_new_token),
        TEST(a_bad_token),          TEST(a_bad_token_at_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What evenkeel's times are compared with: its own HTTPS listener, set up like the extender's, with
 * a handler that sends the request's body back and does nothing else.
 *
 *     echo_server CERT.pem KEY.pem
 *
 * POST /echo answers with the body; POST /echo?bytes=N with N bytes of it, repeated if need be. It
 * says on standard output where it listens ("serving echo=127.0.0.1:41235") and ends on SIGTERM.
 */
#include "config/configuration.h"
#include "http/http.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void echo(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    int64_t bytes = (int64_t)request->body.n;
    if (str_has_prefix(request->query, STR("bytes=")) &&
        !str_to_i64((struct str){request->query.p + 6, request->query.n - 6}, &bytes))
        bytes = 0;
    size_t left = request->body.n > 0 && bytes > 0 ? (size_t)bytes : 0;
    (void)strbuf_reserve(&response->text, left); /* failing shows below */
    for (size_t n; left > 0 && !strbuf_failed(&response->text); left -= n) {
        n = left < request->body.n ? left : request->body.n;
        strbuf_append(&response->text, request->body.p, n);
    }
    http_answer_json(response, 200);
}

static unsigned cpu_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        (void)fprintf(stderr, "usage: echo_server CERT.pem KEY.pem\n");
        return 2;
    }
    sigset_t signals;
    struct err err = {0};
    struct configuration c;
    struct http_listener *listener;
    (void)sigemptyset(&signals); /* these fail only on bad arguments */
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    configuration_init(&c);
    static const struct http_route row[] = {{"POST", "/echo", "echo", echo, HTTP_JSON}};
    static const struct http_routes routes = HTTP_ROUTES(row);
    const struct http_listener_options options = {
        .name = "echo",
        .address = "127.0.0.1:0",
        .threads = cpu_count(),
        .limits = c.extender.limits,
        .tls = {.cert_file = argv[1], .key_file = argv[2]},
        .services = {{.routes = &routes}},
    };
    if (http_listener_start(&options, clock_real(), &listener, &err) != 0) {
        (void)fprintf(stderr, "echo_server: %s\n", err.text);
        return EXIT_FAILURE;
    }
    (void)printf("serving echo=%s\n", http_listener_address(listener));
    (void)fflush(stdout); /* whoever waits for the line notices that it does not come */
    int ended_by;
    (void)sigwait(&signals, &ended_by); /* fails only on bad arguments */
    http_listener_stop(listener, 0);
    configuration_done(&c);
    return EXIT_SUCCESS;
}

#include "unit/kube/api.h"

#include "base/clock.h"
#include "unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

/* By the wall clock, because clang's thread sanitizer does not know sem_clockwait(). */
bool sem_comes(sem_t *sem) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until); /* cannot fail on Linux */
    until.tv_sec += PATIENCE_MS / 1000;
    while (sem_timedwait(sem, &until) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

void wait_sem(sem_t *sem, const char *what) {
    if (!sem_comes(sem))
        fail_msg("waited in vain for %s", what);
}

/* ---- life ---- */

/* A socket of the API server's port; of any free one while the API server has none. */
static int bind_port(struct api *api) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(api->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    const int on = 1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    api->port = ntohs(at.sin_port);
    return fd;
}

void api_init(struct api *api) {
    *api = (struct api){.listen_fd = -1};
    api->port_fd = bind_port(api);
    (void)snprintf(api->url, sizeof api->url, "http://127.0.0.1:%d", api->port); /* it fits */
    api_listen(api);
}

void api_deafen(struct api *api) {
    assert_int_equal(close(api->listen_fd), 0);
    api->listen_fd = -1;
}

void api_listen(struct api *api) {
    api->listen_fd = bind_port(api);
    assert_int_equal(listen(api->listen_fd, API_CONNECTIONS), 0);
}

static void end_connection(struct api_connection *c) {
    if (c->fd >= 0)
        (void)close(c->fd); /* the other side may be gone already */
    c->fd = -1;
    strbuf_done(&c->in);
}

void api_done(struct api *api) {
    for (unsigned i = 0; i < api->count; i++)
        end_connection(&api->connections[i]);
    if (api->listen_fd >= 0)
        (void)close(api->listen_fd); /* nothing can be lost */
    (void)close(api->port_fd);
    *api = (struct api){.listen_fd = -1, .port_fd = -1};
}

/* ---- requests ---- */

/* Bytes of the first request in `in`, SIZE_MAX when it is not whole. */
static size_t request_length(const struct strbuf *in, size_t *ret_head) {
    const char *end = in->n > 0 ? memmem(in->p, in->n, "\r\n\r\n", 4) : NULL;
    if (end == NULL)
        return SIZE_MAX;
    size_t head = (size_t)(end - in->p) + 4;
    const char *length = memmem(in->p, head, "\r\nContent-Length: ", 18);
    size_t body = length != NULL ? strtoul(length + 18, NULL, 10) : 0;
    *ret_head = head;
    return in->n - head >= body ? head + body : SIZE_MAX;
}

static struct str cut(struct str *rest, char at) {
    size_t n = str_find(*rest, at);
    assert_true(n != SIZE_MAX);
    struct str part = {rest->p, n};
    *rest = (struct str){rest->p + n + 1, rest->n - n - 1};
    return part;
}

/* Moves a whole request out of the connection. */
static bool take_request(struct api *api, unsigned i, struct api_call *call) {
    struct strbuf *in = &api->connections[i].in;
    size_t head = 0, n = request_length(in, &head);
    if (n == SIZE_MAX)
        return false;
    call->api = api;
    call->connection = i;
    strbuf_append(&call->text, in->p, n);
    assert_false(strbuf_failed(&call->text));
    in->n -= n;
    memmove(in->p, in->p + n, in->n);
    struct str rest = {call->text.p, head};
    call->method = cut(&rest, ' ');
    call->path = cut(&rest, ' ');
    call->head = (struct str){call->text.p, head};
    call->body = (struct str){call->text.p + head, n - head};
    return true;
}

static void accept_one(struct api *api) {
    assert_true(api->count < API_CONNECTIONS);
    int fd = accept4(api->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    api->connections[api->count++] = (struct api_connection){.fd = fd};
}

static void receive(struct api_connection *c) {
    char bytes[1 << 14];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0)
        strbuf_append(&c->in, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        end_connection(c);
}

/* Waits until something has come or `wait_ms` are over: false. */
static bool serve(struct api *api, int64_t wait_ms) {
    struct pollfd fds[API_CONNECTIONS + 1] = {{api->listen_fd, POLLIN, 0}};
    for (unsigned i = 0; i < api->count; i++)
        fds[i + 1] = (struct pollfd){api->connections[i].fd, POLLIN, 0}; /* -1 is passed over */
    if (poll(fds, api->count + 1, wait_ms > 0 ? (int)wait_ms : 0) == 0)
        return false;
    for (unsigned i = api->count; i > 0; i--)
        if (fds[i].revents != 0)
            receive(&api->connections[i - 1]);
    if (fds[0].revents != 0)
        accept_one(api);
    return true;
}

void api_take(struct api *api, struct api_call *call) {
    int64_t until_ms = now_ms() + PATIENCE_MS;
    api_call_done(call);
    for (;;) {
        for (unsigned i = 0; i < api->count; i++)
            if (take_request(api, i, call))
                return;
        if (!serve(api, until_ms - now_ms()))
            fail_msg("waited in vain for a request");
    }
}

void api_expect(struct api *api, struct api_call *call, const char *method, const char *path) {
    api_take(api, call);
    struct str wanted = str_of(path);
    bool prefix = str_has_suffix(wanted, STR("*"));
    wanted.n -= prefix;
    if (str_eq(call->method, str_of(method)) &&
        (prefix ? str_has_prefix(call->path, wanted) : str_eq(call->path, wanted)))
        return;
    fail_msg("got '%.*s %.*s', want '%s %s'", STR_ARG(call->method), STR_ARG(call->path), method,
             path);
}

bool api_is_quiet(struct api *api) {
    while (serve(api, 0))
        ;
    for (unsigned i = 0; i < api->count; i++)
        if (api->connections[i].in.n > 0)
            return false;
    return true;
}

struct str api_header(const struct api_call *call, const char *name) {
    struct str rest = call->head;
    (void)cut(&rest, '\n');
    while (rest.n > 2) {
        struct str line = cut(&rest, '\n');
        if (str_eq_nocase(cut(&line, ':'), str_of(name)))
            return str_trim(line);
    }
    return STR("");
}

void api_call_done(struct api_call *call) {
    strbuf_done(&call->text);
    *call = (struct api_call){.api = call->api};
}

/* ---- answers ---- */

static struct api_connection *connection_of(struct api_call *call) {
    return &call->api->connections[call->connection];
}

static bool send_all(int fd, struct str text) {
    while (text.n > 0) {
        ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        text = (struct str){text.p + n, text.n - (size_t)n};
    }
    return true;
}

bool api_say(struct api_call *call, const char *text) {
    return send_all(connection_of(call)->fd, str_of(text));
}

void api_answer(struct api_call *call, int status, const char *headers, const char *body) {
    struct strbuf answer = {0};
    const char *type =
        strcasestr(headers, "content-type:") != NULL ? "" : "Content-Type: application/json\r\n";
    strbuf_appendf(&answer, "HTTP/1.1 %d Whatever\r\n%s%sContent-Length: %zu\r\n\r\n", status, type,
                   headers, strlen(body));
    strbuf_append_str(&answer, str_of(body));
    assert_false(strbuf_failed(&answer));
    (void)send_all(connection_of(call)->fd, strbuf_str(&answer)); /* it may have given up */
    strbuf_done(&answer);
}

void api_close(struct api_call *call) {
    end_connection(connection_of(call));
}

void api_reset(struct api_call *call) {
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(
        setsockopt(connection_of(call)->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    end_connection(connection_of(call));
}

void api_wait_gone(struct api_call *call) {
    int64_t until_ms = now_ms() + PATIENCE_MS;
    while (connection_of(call)->fd >= 0)
        if (!serve(call->api, until_ms - now_ms()))
            fail_msg("the connection was never closed");
}

/*
 * One peer, stage by stage: look up the name, connect to its addresses one after the other, do the
 * TLS handshake, wait for the server's SETTINGS. After a failure the peer goes on to the next
 * address; after the last address it waits, and begins anew. All of this runs on the dialer's
 * thread.
 */
#include "grpc/dial_internal.h"

#include "base/back_off.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int64_t now_ms(const struct grpc_peer *p) {
    return p->dialer->clock->now_ms(p->dialer->clock);
}

/* ---- reports ---- */

static void enter(struct grpc_peer *p, enum grpc_peer_stage stage) {
    struct grpc_dialer *d = p->dialer;
    p->stage = stage;
    mutex_lock(&d->lock);
    p->report.stage = stage;
    if (stage == GRPC_PEER_READY) {
        p->report.failures = 0;
        p->report.connected_ms = now_ms(p);
    }
    (void)snprintf(p->report.address, sizeof p->report.address, "%s",
                   p->addresses[p->address]); /* fits */
    condition_broadcast(&d->changed);
    mutex_unlock(&d->lock);
}

/* Keeps one failure for all addresses of a name: the failure in the latest stage. */
static void remember(struct grpc_peer *p, const struct err *failure) {
    if (p->stage < p->failed_at)
        return;
    p->failed_at = p->stage;
    p->failure = *failure;
}

static void report_failure(struct grpc_peer *p) {
    struct grpc_dialer *d = p->dialer;
    mutex_lock(&d->lock);
    p->report.failed_at = p->failed_at;
    p->report.failure = p->failure;
    p->report.failures++;
    mutex_unlock(&d->lock);
    p->failed_at = GRPC_PEER_WAITS;
}

/* ---- the end of a connection ---- */

void grpc_peer_disconnect(struct grpc_peer *p) {
    grpc_client_free(p->client);
    p->client = NULL;
    /* close() alone is not enough: if a child process that is just starting still has the
     * descriptor, epoll keeps it. */
    if (p->fd >= 0)
        (void)epoll_ctl(p->dialer->poll_fd, EPOLL_CTL_DEL, p->fd, NULL); /* epoll may not have it */
    if (p->stream != NULL)
        grpc_stream_close(p->stream);
    else if (p->fd >= 0)
        (void)close(p->fd); /* nothing was sent */
    p->stream = NULL;
    p->fd = -1;
    lookup_free(p->lookup);
    p->lookup = NULL;
}

/* Returns the pause in ms. It doubles each time that all addresses have failed once more. */
static int64_t pause_ms(const struct grpc_peer *p) {
    static const struct back_off b = {LIMIT_GRPC_REDIAL_MS, LIMIT_GRPC_REDIAL_MAX_MS,
                                      .jitter_percent = 0};
    const unsigned failures = p->report.failures; /* only this thread changes it */
    return back_off_ms(&b, failures > 0 ? (failures - 1) / (unsigned)p->address_count : 0, NULL);
}

static void begin_address(struct grpc_peer *p);
static void connect_next(struct grpc_peer *p);

/* Call it when the address has failed: goes on to the name's next address, to the next name, or to
 * a pause. A peer that was ready for a while is dialled again at once, because another server
 * probably replaces the one that left. */
static void fail(struct grpc_peer *p, const struct err *failure) {
    const bool was_ready = p->stage == GRPC_PEER_READY;
    const int64_t ready_ms = was_ready ? now_ms(p) - p->report.connected_ms : 0;
    remember(p, failure);
    grpc_peer_disconnect(p);
    if (!was_ready && p->next_found < p->found.count) {
        connect_next(p);
        return;
    }
    report_failure(p);
    if (!was_ready && p->address + 1 < p->address_count) {
        p->address++;
        begin_address(p);
        return;
    }
    p->due_ms = now_ms(p) + (ready_ms >= LIMIT_GRPC_REDIAL_MS ? 0 : pause_ms(p));
    enter(p, GRPC_PEER_WAITS);
}

/* ---- stages ---- */

static void wait_for(struct grpc_peer *p, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = p};
    if (events == p->waits_for)
        return;
    p->waits_for = events;
    (void)epoll_ctl(p->dialer->poll_fd, EPOLL_CTL_MOD, p->fd, &event); /* epoll has it */
}

static void begin_address(struct grpc_peer *p) {
    struct err err = {0};
    (void)lookup_split(p->addresses[p->address], p->host,
                       p->port); /* grpc_peer_add() has checked the form */
    p->found.count = p->next_found = 0;
    const int r = lookup_start(p->host, p->port, p->dialer->wake_fd, &p->lookup, &err);
    p->is_queued = r == -EAGAIN;
    if (p->is_queued) {
        p->due_ms = now_ms(p) + LIMIT_GRPC_REDIAL_MS;
        if (p->stage != GRPC_PEER_WAITS)
            enter(p, GRPC_PEER_WAITS);
        return;
    }
    enter(p, GRPC_PEER_LOOKS_UP);
    p->due_ms = now_ms(p) + LIMIT_GRPC_DIAL_MS;
    if (r != 0)
        fail(p, &err);
}

void grpc_peer_begin(struct grpc_peer *p) {
    p->address = 0;
    begin_address(p);
}

/* Begins to connect. Returns 0 if the connection is under way. */
static int open_socket(struct grpc_peer *p, size_t at) {
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = p};
    const struct sockaddr *to = (const struct sockaddr *)&p->found.items[at].address;
    p->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (p->fd < 0)
        return -errno;
    p->waits_for = EPOLLOUT;
    if (epoll_ctl(p->dialer->poll_fd, EPOLL_CTL_ADD, p->fd, &event) != 0)
        return -errno;
    if (connect(p->fd, to, p->found.items[at].length) != 0 && errno != EINPROGRESS)
        return -errno;
    return 0;
}

/* Connects to the next of the name's addresses; at least one must be left. */
static void connect_next(struct grpc_peer *p) {
    struct err err = {0};
    enter(p, GRPC_PEER_CONNECTS);
    while (p->next_found < p->found.count) {
        grpc_peer_disconnect(p);
        p->due_ms = now_ms(p) + LIMIT_GRPC_DIAL_MS;
        const int code = open_socket(p, p->next_found++);
        if (code == 0)
            return;
        (void)err_set_errno(&err, -code, "connect");
        remember(p, &err);
    }
    fail(p, &err);
}

static void look_up(struct grpc_peer *p) {
    struct err err = {0};
    const int r = lookup_result(p->lookup, &p->found, &err);
    if (r == -EAGAIN)
        return;
    lookup_free(p->lookup);
    p->lookup = NULL;
    if (r != 0) {
        fail(p, &err);
        return;
    }
    connect_next(p);
}

static int find_credentials(struct grpc_dialer *d, struct err *err) {
    enum {
        KEPT_MS = 1000
    }; /* so that peers that are dialled together share one reading of the
          files */
    struct grpc_dial_credentials *loaded;
    const int64_t at_ms = d->clock->now_ms(d->clock);
    if (!grpc_dial_tls_is_on(&d->tls) ||
        (d->credentials != NULL && at_ms - d->credentials_ms < KEPT_MS))
        return 0;
    const int r = grpc_dial_credentials_load(&d->tls, &loaded, err);
    if (r != 0)
        return r;
    grpc_dial_credentials_unref(d->credentials);
    d->credentials = loaded;
    d->credentials_ms = at_ms;
    return 0;
}

static int make_session(struct grpc_peer *p, struct err *err) {
    struct grpc_dialer *d = p->dialer;
    const struct grpc_client_options options = {.authority = p->addresses[p->address],
                                                .secure = d->credentials != NULL,
                                                .clock = d->clock,
                                                .budget = &d->budget};
    const int r = grpc_client_new(&options, &p->client, err);
    return r == 0 ? grpc_stream_dial(p->fd, d->credentials, p->host, &p->stream, err) : r;
}

static void connected(struct grpc_peer *p) {
    struct err err = {0};
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0)
        code = errno;
    if (code != 0) {
        (void)err_set_errno(&err, code, "connect");
        fail(p, &err);
        return;
    }
    enter(p, GRPC_PEER_SHAKES_HANDS);
    int r = find_credentials(p->dialer, &err);
    if (r == 0)
        r = make_session(p, &err);
    if (r != 0)
        fail(p, &err);
}

static void shake_hands(struct grpc_peer *p) {
    struct err err = {0};
    const int r = grpc_stream_handshake(p->stream, &err);
    if (r == -EAGAIN)
        wait_for(p, grpc_stream_waits_to_send(p->stream) ? EPOLLOUT : EPOLLIN);
    else if (r != 0)
        fail(p, &err);
    else
        enter(p, GRPC_PEER_GREETS);
}

/* ---- calls ---- */

/* Returns 0, or the reason why the connection must end. */
static int receive(struct grpc_peer *p, struct err *err) {
    enum { PIECES = 16 };
    char piece[16 << 10];
    for (int i = 0;
         grpc_client_takes_input(p->client) && (i < PIECES || grpc_stream_has_more(p->stream));
         i++) {
        const ssize_t n = grpc_stream_read(p->stream, piece, sizeof piece);
        if (n == -EAGAIN)
            return 0;
        if (n <= 0)
            return grpc_stream_problem(p->stream, (int)n, err);
        const int r = grpc_client_receive(p->client, (struct str){piece, (size_t)n}, err);
        if (r != 0)
            return r;
    }
    return 0;
}

static int send_output(struct grpc_peer *p, struct err *err) {
    for (struct str out; (out = grpc_client_output(p->client)).n > 0;) {
        const ssize_t n = grpc_stream_write(p->stream, out.p, out.n);
        if (n == -EAGAIN)
            return 0;
        if (n <= 0)
            return grpc_stream_problem(p->stream, n == 0 ? -EPIPE : (int)n, err);
        grpc_client_sent(p->client, (size_t)n);
    }
    return 0;
}

static void talk(struct grpc_peer *p) {
    struct err err = {0};
    int r = receive(p, &err);
    const int64_t calls_ms = grpc_client_tick(p->client);
    if (r == 0)
        r = send_output(p, &err);
    const bool has_output = grpc_client_output(p->client).n > 0;
    if (r == 0 && grpc_client_is_over(p->client))
        r = grpc_client_problem(p->client, &err);
    if (r != 0) {
        fail(p, &err);
        return;
    }
    wait_for(p, (grpc_client_takes_input(p->client) ? (uint32_t)EPOLLIN : 0) |
                    (has_output ? (uint32_t)EPOLLOUT : 0));
    if (p->stage == GRPC_PEER_GREETS && grpc_client_is_greeted(p->client))
        enter(p, GRPC_PEER_READY);
    if (p->stage == GRPC_PEER_READY)
        p->due_ms = calls_ms;
}

/* ---- the steps of a peer ---- */

static void end_try(struct grpc_peer *p) {
    static const char *const texts[GRPC_PEER_STAGES] = {
        [GRPC_PEER_LOOKS_UP] = "the server's name was not resolved in time",
        [GRPC_PEER_CONNECTS] = "nothing answered in time",
        [GRPC_PEER_SHAKES_HANDS] = "TLS was not agreed in time",
        [GRPC_PEER_GREETS] = "the server did not answer in HTTP/2 in time",
    };
    struct err err = {0};
    (void)err_set(&err, -ETIMEDOUT, "%s", texts[p->stage]);
    fail(p, &err);
}

void grpc_peer_go_on(struct grpc_peer *p, bool has_event) {
    if (p->stage == GRPC_PEER_WAITS) {
        if (p->is_queued)
            begin_address(p);
        else if (now_ms(p) >= p->due_ms)
            grpc_peer_begin(p);
    } else if (p->stage != GRPC_PEER_READY && now_ms(p) >= p->due_ms) {
        end_try(p);
        return;
    }
    if (p->stage == GRPC_PEER_LOOKS_UP)
        look_up(p);
    else if (p->stage == GRPC_PEER_CONNECTS && has_event)
        connected(p);
    if (p->stage == GRPC_PEER_SHAKES_HANDS)
        shake_hands(p);
    if (p->stage == GRPC_PEER_GREETS || p->stage == GRPC_PEER_READY)
        talk(p);
}

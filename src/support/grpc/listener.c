/*
 * The acceptor's thread gives each connection to a worker, in turn. A worker waits for its
 * connections by epoll, level-triggered: for input while the session takes input, for room while it
 * has output. Complete calls wait for their turn (base/turns.h); while some wait, the worker reads
 * its connections every ROUND_NS. Once a second it checks all connections for ended time limits.
 */
#include "grpc/listener.h"

#include "base/limits.h"
#include "base/list.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/turns.h"
#include "grpc/session.h"
#include "grpc/stream.h"
#include "net/acceptor.h"
#include "net/address.h"
#include "net/door.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NAME "estimator" /* the listener's name in the log and in metrics */

enum {
    TICK_MS = 1000,
    EVENTS = 64,
    PIECE = 16 << 10,
    PIECES = 4,       /* pieces read from one connection before other connections have their turn */
    TURN_NS = 200000, /* time for calls of one connection; a single longer call may exceed it */
    ROUND_NS = 1000000, /* time for calls; then connections are read again */
};

struct connection {
    struct list link;
    struct turn turn;
    struct address_key peer_key;
    struct worker *worker;
    struct grpc_stream *stream;    /* owned */
    struct grpc_session *session;  /* owned */
    struct slot *slot;             /* NULL: no worker has it yet */
    bool busy;                     /* the last state reported to the slot */
    int fd;                        /* of the stream */
    bool handshaken, heard, ended; /* ended: no more input will come */
    uint32_t waits_for;            /* EPOLLIN, EPOLLOUT */
    int64_t begun_ms;
    char peer[ADDRESS_TEXT_SIZE];
};

struct worker {
    struct grpc_listener *listener;
    pthread_t thread;
    bool started;
    int poll_fd, wake_fd;
    struct list connections; /* used by the worker's thread only, like the next */
    struct turns turns;
    int64_t ticked_ms;
    bool drained;

    struct mutex lock; /* guards the next member */
    struct list arrived;
};

struct grpc_listener {
    const struct grpc_service *service;
    struct http_tls_options tls_options;
    struct clock *clock;
    struct grpc_budget budget;
    struct tls *tls; /* NULL: plaintext */
    struct grpc_credentials *credentials;
    struct acceptor *acceptor;
    struct worker *workers;
    unsigned worker_count, next;
    struct door door;
    _Atomic bool draining, stopping;
    char address[ADDRESS_TEXT_SIZE];
    struct metric metric;
    struct mutex lock; /* guards no data, only needed for the condition */
    struct condition idle;
};

static int64_t now_ms(const struct grpc_listener *l) {
    return l->clock->now_ms(l->clock);
}

/* ---- a connection ---- */

static void end_connection(struct connection *c) {
    struct grpc_listener *l = c->worker->listener;
    list_remove(&c->link);
    turns_leave(&c->worker->turns, &c->turn);
    grpc_session_free(c->session);
    slots_leave(l->door.slots, c->fd);
    /* close() alone is not enough: if a child process that is just starting still has the
     * descriptor, epoll keeps it. */
    (void)epoll_ctl(c->worker->poll_fd, EPOLL_CTL_DEL, c->fd, NULL); /* epoll may not have it */
    grpc_stream_close(c->stream);
    free(c);
    if (door_count(&l->door, -1) > 0 || !atomic_load(&l->draining))
        return;
    mutex_lock(&l->lock);
    condition_signal(&l->idle);
    mutex_unlock(&l->lock);
}

static void wait_for(struct connection *c, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (events == c->waits_for)
        return;
    c->waits_for = events;
    (void)epoll_ctl(c->worker->poll_fd, EPOLL_CTL_MOD, c->fd, &event); /* epoll has it */
}

/* Goes on with the handshake. Returns false if the connection must end. */
static bool shake_hands(struct connection *c) {
    struct err err;
    const int r = grpc_stream_handshake(c->stream, &err);
    if (r == -EAGAIN) {
        wait_for(c, grpc_stream_waits_to_send(c->stream) ? EPOLLOUT : EPOLLIN);
        return true;
    }
    if (r != 0) {
        LOG_D("a handshake failed", LOG_CSTR("listener", NAME), LOG_CSTR("peer", c->peer),
              LOG_CSTR("err", err.text));
        return false;
    }
    c->handshaken = true;
    if (tls_wants_client(c->worker->listener->tls))
        slots_verified(c->worker->listener->door.slots, c->slot);
    return true;
}

static void receive(struct connection *c) {
    char piece[PIECE];
    struct err err;
    for (int i = 0; !c->ended && grpc_session_takes_input(c->session) &&
                    (i < PIECES || grpc_stream_has_more(c->stream));
         i++) {
        const ssize_t n = grpc_stream_read(c->stream, piece, sizeof piece);
        if (n == -EAGAIN)
            return;
        c->ended = n <= 0;
        c->heard = c->heard || n > 0;
        if (n > 0 && grpc_session_receive(c->session, (struct str){piece, (size_t)n}, &err) != 0) {
            LOG_D("a connection is ended", LOG_CSTR("listener", NAME), LOG_CSTR("peer", c->peer),
                  LOG_CSTR("err", err.text));
            c->ended = true;
        }
    }
}

/* Sends output. Returns false if nothing can be sent any more. */
static bool send_output(struct connection *c) {
    for (struct str out; (out = grpc_session_output(c->session)).n > 0;) {
        const ssize_t n = grpc_stream_write(c->stream, out.p, out.n);
        if (n == -EAGAIN)
            return true;
        if (n <= 0)
            return false;
        grpc_session_sent(c->session, (size_t)n);
    }
    return true;
}

/* Sets the slot busy or idle: connections that wait for an answer are closed last. */
static void tell_slot(struct connection *c) {
    const bool busy = grpc_session_calls(c->session) > 0;
    if (busy == c->busy)
        return;
    c->busy = busy;
    if (busy)
        slots_busy(c->worker->listener->door.slots, c->slot);
    else
        slots_idle(c->worker->listener->door.slots, c->slot);
}

/* Sends the output, and waits for the next event. Returns false if the connection must end. */
static bool send_and_wait(struct connection *c) {
    if (!send_output(c))
        return false;
    const bool has_output = grpc_session_output(c->session).n > 0;
    const bool is_done = c->ended && !grpc_session_has_work(c->session);
    if (!has_output && (is_done || grpc_session_is_over(c->session)))
        return false;
    const bool reads = !c->ended && grpc_session_takes_input(c->session);
    wait_for(c, (reads ? (uint32_t)EPOLLIN : 0) | (has_output ? (uint32_t)EPOLLOUT : 0));
    tell_slot(c);
    if (grpc_session_has_work(c->session))
        turns_wait(&c->worker->turns, &c->turn);
    return true;
}

/* Continues as far as possible without waiting. Returns false if the connection must end. */
static bool go_on(struct connection *c) {
    if (!c->handshaken && !shake_hands(c))
        return false;
    if (!c->handshaken)
        return true;
    receive(c);
    return send_and_wait(c);
}

/* ---- a worker ---- */

/* Answers calls of the connection; it has its turn. If the connection was not read meanwhile, TLS
 * may hold received bytes, for which the descriptor reports no event. */
static void serve(struct connection *c) {
    const int64_t until_ns = clock_now_ns() + TURN_NS;
    while (grpc_session_has_work(c->session)) {
        grpc_session_work(c->session);
        if (clock_now_ns() >= until_ns)
            break;
    }
    const bool was_read = (c->waits_for & EPOLLIN) != 0;
    if (!(was_read ? send_and_wait(c) : go_on(c)))
        end_connection(c);
}

/* Serves some turns. Returns true if calls still wait for their turn. */
static bool serve_some(struct worker *w) {
    const int64_t until_ns = clock_now_ns() + ROUND_NS;
    for (struct turn *turn; (turn = turns_next(&w->turns)) != NULL;) {
        serve(LIST_ITEM(struct connection, turn, turn));
        if (clock_now_ns() >= until_ns)
            return true;
    }
    return false;
}

static void take_arrived(struct worker *w) {
    uint64_t count;
    (void)!read(w->wake_fd, &count, sizeof count); /* the number of wake-ups does not matter */
    mutex_lock(&w->lock);
    while (!list_empty(&w->arrived)) {
        struct connection *c = LIST_ITEM(struct connection, link, w->arrived.next);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        list_remove(&c->link);
        list_append(&w->connections, &c->link);
        c->waits_for = EPOLLIN;
        c->slot = slots_start(w->listener->door.slots, c->fd);
        const struct address_key caller = address_key_caller(c->peer_key);
        const struct str owner = {(const char *)caller.bytes, sizeof caller.bytes};
        if (!turns_join(&w->turns, &c->turn, owner) ||
            epoll_ctl(w->poll_fd, EPOLL_CTL_ADD, c->fd, &event) != 0 ||
            (w->drained && !c->handshaken))
            end_connection(c);
        else if (w->drained)
            grpc_session_shutdown(c->session);
    }
    mutex_unlock(&w->lock);
}

static bool is_late(const struct connection *c, int64_t at_ms) {
    return (!c->handshaken || !c->heard) && at_ms - c->begun_ms > LIMIT_GRPC_BEGIN_MS;
}

static void look_at_all(struct worker *w, bool drains) {
    const int64_t at_ms = now_ms(w->listener);
    for (struct list *at = w->connections.next, *next; at != &w->connections; at = next) {
        struct connection *c = LIST_ITEM(struct connection, link, at);
        next = at->next;
        const bool late = is_late(c, at_ms);
        if (late)
            door_count_late(&w->listener->door);
        if (late || (drains && !c->handshaken)) {
            end_connection(c);
            continue;
        }
        if (!c->handshaken)
            continue;
        const bool stuck = !grpc_session_tick(c->session);
        if (stuck)
            door_count_late(&w->listener->door);
        if (drains)
            grpc_session_shutdown(c->session);
        if (stuck || !go_on(c))
            end_connection(c);
    }
}

static void *run(void *arg) {
    struct worker *w = arg;
    struct grpc_listener *l = w->listener;
    struct epoll_event events[EVENTS];
    bool more = false;
    while (!atomic_load(&l->stopping)) {
        const int count = epoll_wait(w->poll_fd, events, EVENTS, more ? 0 : TICK_MS);
        for (int i = 0; i < count; i++) {
            struct connection *c = events[i].data.ptr;
            if (c == NULL)
                take_arrived(w);
            else if (!go_on(c))
                end_connection(c);
        }
        const bool drains = atomic_load(&l->draining) && !w->drained;
        if (drains || now_ms(l) - w->ticked_ms >= TICK_MS) {
            w->ticked_ms = now_ms(l);
            w->drained = w->drained || drains;
            look_at_all(w, drains);
        }
        more =
            serve_some(w); /* this comes last, because reading connections may have brought calls */
    }
    while (!list_empty(&w->connections))
        end_connection(LIST_ITEM(struct connection, link, w->connections.next));
    return NULL;
}

static void wake(struct worker *w) {
    const uint64_t one = 1;
    (void)!write(w->wake_fd, &one, sizeof one); /* a full eventfd wakes the thread as well */
}

/* ---- accepting ---- */

static struct connection *new_connection(struct grpc_listener *l, struct worker *w, int fd,
                                         const struct sockaddr *peer) {
    struct connection *c = calloc(1, sizeof *c);
    struct err err;
    if (c == NULL)
        return NULL;
    list_init(&c->link);
    c->worker = w;
    c->peer_key = address_key(peer);
    c->fd = fd;
    c->begun_ms = now_ms(l);
    c->handshaken = l->credentials == NULL;
    address_text(peer, c->peer);
    if (grpc_session_new(l->service, l->clock, &l->budget, &c->session, &err) != 0 ||
        grpc_stream_open(fd, l->credentials, &c->stream, &err) != 0) {
        grpc_session_free(c->session);
        free(c);
        return NULL;
    }
    grpc_session_defer(c->session);
    return c;
}

static void on_accepted(void *ctx, int fd, const struct sockaddr *peer, socklen_t peer_length) {
    struct grpc_listener *l = ctx;
    struct worker *w = &l->workers[l->next++ % l->worker_count];
    (void)peer_length;
    if (!door_admit(&l->door, fd, peer))
        return;
    struct connection *c = new_connection(l, w, fd, peer);
    if (c == NULL) {
        door_turn_back(&l->door, fd);
        (void)close(fd); /* nothing is lost: no bytes were read or written */
        return;
    }
    (void)door_count(&l->door, 1);
    mutex_lock(&w->lock);
    list_append(&w->arrived, &c->link);
    mutex_unlock(&w->lock);
    wake(w);
}

/* ---- life ---- */

static int start_worker(struct grpc_listener *l, struct worker *w, struct err *err) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    w->listener = l;
    list_init(&w->connections);
    turns_init(&w->turns, 0);
    list_init(&w->arrived);
    mutex_init(&w->lock);
    w->ticked_ms = now_ms(l);
    w->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->poll_fd < 0 || w->wake_fd < 0 ||
        epoll_ctl(w->poll_fd, EPOLL_CTL_ADD, w->wake_fd, &event) != 0)
        return err_set_errno(err, errno, "cannot wait for connections");
    const int r = pthread_create(&w->thread, NULL, run, w);
    w->started = r == 0;
    return r == 0 ? 0 : err_set_errno(err, r, "cannot start a thread");
}

static int start_workers(struct grpc_listener *l, unsigned count, struct err *err) {
    l->workers = calloc(count, sizeof *l->workers);
    if (l->workers == NULL)
        return err_set(err, -ENOMEM, "no memory for a listener");
    for (unsigned i = 0; i < count; i++) {
        l->worker_count = i + 1;
        l->workers[i].poll_fd = l->workers[i].wake_fd = -1;
        const int r = start_worker(l, &l->workers[i], err);
        if (r != 0)
            return r;
    }
    return 0;
}

/* Opens the door. Its gauge of connections gets a second name, evenkeel_estimator_connections. */
static int open_door(struct grpc_listener *l, const struct grpc_listener_options *options,
                     struct err *err) {
    const unsigned most = options->connections, of_one = options->connections_per_address;
    const struct door_options door = {
        .listener = NAME,
        .connections = most > 0 ? most : LIMIT_GRPC_CONNECTIONS,
        .per_address = of_one > 0 ? of_one : LIMIT_GRPC_CONNECTIONS_PER_ADDRESS,
        .asks_for_certificates = l->tls != NULL && tls_wants_client(l->tls),
    };
    const int r = door_open(&l->door, &door, err);
    if (r != 0)
        return r;
    l->metric = (struct metric){.name = "evenkeel_estimator_connections",
                                .labels = "",
                                .help = "Connections of the estimator's listener.",
                                .kind = METRIC_GAUGE,
                                .same_as = &l->door.connections};
    metric_register(&l->metric);
    return 0;
}

static int open_all(struct grpc_listener *l, const struct grpc_listener_options *options,
                    struct err *err) {
    int fd, r = 0;
    if (l->tls_options.cert_file != NULL) {
        r = tls_open(&l->tls_options, NAME, &l->tls, err);
        if (r == 0)
            r = grpc_credentials_new(l->tls, &l->credentials, err);
    }
    if (r == 0)
        r = open_door(l, options, err);
    if (r == 0)
        r = start_workers(l, options->threads, err);
    if (r == 0)
        r = address_listen(options->address, l->address, &fd, err);
    if (r != 0)
        return r;
    r = acceptor_start(fd, on_accepted, l, &l->acceptor, err);
    if (r != 0)
        (void)close(fd); /* nobody has connected */
    return r;
}

int grpc_listener_start(const struct grpc_listener_options *options, struct clock *clock,
                        struct grpc_listener **ret, struct err *err) {
    struct grpc_listener *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, -ENOMEM, "no memory for a listener");
    l->service = options->service;
    l->tls_options = *options->tls;
    l->clock = clock;
    l->budget.max = LIMIT_GRPC_ALL_BYTES;
    mutex_init(&l->lock);
    condition_init(&l->idle);
    const int r = open_all(l, options, err);
    if (r == 0)
        *ret = l;
    else
        grpc_listener_stop(l, 0);
    return r;
}

const char *grpc_listener_address(const struct grpc_listener *l) {
    return l->address;
}

void grpc_listener_poll_files(struct grpc_listener *l) {
    if (l != NULL && l->tls != NULL)
        tls_poll(l->tls);
}

static void wake_all(struct grpc_listener *l) {
    for (unsigned i = 0; i < l->worker_count; i++)
        if (l->workers[i].started)
            wake(&l->workers[i]);
}

void grpc_listener_drain(struct grpc_listener *l) {
    if (l == NULL || atomic_load(&l->draining))
        return;
    acceptor_stop(l->acceptor);
    l->acceptor = NULL;
    atomic_store(&l->draining, true);
    wake_all(l);
}

static void stop_worker(struct worker *w) {
    if (w->started)
        (void)pthread_join(w->thread, NULL); /* fails for misuse only */
    while (!list_empty(&w->arrived))
        end_connection(LIST_ITEM(struct connection, link, w->arrived.next));
    if (w->poll_fd >= 0)
        (void)close(w->poll_fd);
    if (w->wake_fd >= 0)
        (void)close(w->wake_fd);
    turns_done(&w->turns);
    mutex_done(&w->lock);
}

void grpc_listener_stop(struct grpc_listener *l, int64_t limit_ms) {
    if (l == NULL)
        return;
    const int64_t until_ms = clock_real()->now_ms(clock_real()) + limit_ms;
    grpc_listener_drain(l);
    mutex_lock(&l->lock);
    while (door_count(&l->door, 0) > 0 && condition_wait_until(&l->idle, &l->lock, until_ms))
        continue;
    mutex_unlock(&l->lock);
    atomic_store(&l->stopping, true);
    wake_all(l);
    for (unsigned i = 0; i < l->worker_count; i++)
        stop_worker(&l->workers[i]);
    free(l->workers);
    grpc_credentials_free(l->credentials);
    tls_close(l->tls);
    metric_unregister(&l->metric); /* this metric is a second name of a metric of the door */
    door_close(&l->door);
    condition_done(&l->idle);
    mutex_done(&l->lock);
    free(l);
}

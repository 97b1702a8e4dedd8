/*
 * A listener's life.
 *
 * Starting: our own code first does all steps whose failure needs a reason (addresses,
 * certificates). libmicrohttpd gets no listening socket; connections are handed to it.
 *
 * Stopping: the acceptor ends first, so no connection comes in; then we wait for the requests under
 * way; then we close the connections and wait for their end; the watchdog watches them until then.
 * libmicrohttpd stops last, without connections, because version 0.9.75 reads a missing response if
 * it refuses a request while it stops. The last wait has no limit, because a worker without CPU
 * time may be late by any time; libmicrohttpd would also wait for its workers' threads.
 */
#include "http/listener.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/mutex.h"
#include "http/large.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void listener_wait_for(struct http_listener *l) {
    (void)atomic_fetch_add(&l->in_flight, 1);
}

/* Sequentially consistent on purpose: either this thread sees `stopping`, or the stopping thread
 * sees 0. */
void listener_waited_for(struct http_listener *l) {
    if (atomic_fetch_sub(&l->in_flight, 1) != 1 || !atomic_load(&l->stopping))
        return;
    mutex_lock(&l->mutex);
    condition_signal(&l->idle);
    mutex_unlock(&l->mutex);
}

/* ---- callbacks of the threads: acceptor, watchdog, workers ---- */

/* Receives libmicrohttpd's messages, mostly about clients that went away. During the start, the
 * last one is kept for the text of the error. */
static void on_complaint(void *listener, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
static void on_complaint(void *listener, const char *fmt, va_list args) {
    struct http_listener *l = listener;
    char text[256];
    connection_on_complaint(fmt, args);
    if (l->daemon != NULL && !log_wants(LOG_DEBUG))
        return;
    (void)vsnprintf(text, sizeof text, fmt, args); /* for people: may be cut */
    text[strcspn(text, "\n")] = '\0';
    if (l->daemon == NULL)
        memcpy(l->complaint, text, sizeof l->complaint);
    LOG_D("libmicrohttpd", LOG_CSTR("listener", l->options.name), LOG_CSTR("text", text));
}

/*
 * Gives connections to the workers in turn. libmicrohttpd gives a connection to worker number
 * (descriptor modulo threads), so we move the descriptor to the next free number of that worker.
 */
static int take_turn(struct http_listener *l, int fd) {
    const int threads = (int)l->options.threads, wanted = (int)(l->turn++ % l->options.threads);
    int at = fd;
    for (int tries = 0; at >= 0 && at % threads != wanted && tries < 2 * threads; tries++) {
        int next = fcntl(fd, F_DUPFD_CLOEXEC, at + 1);
        if (at != fd)
            (void)close(at); /* another number of the same socket */
        at = next;
    }
    if (at < 0 || at == fd)
        return fd;   /* no descriptor is free: any worker will do */
    (void)close(fd); /* `at` is the same socket */
    return at;
}

/* Hands a connection to libmicrohttpd, which closes it if it refuses. */
static void hand_over(struct http_listener *l, int fd, const struct sockaddr *peer,
                      socklen_t length) {
    listener_wait_for(l); /* a shutdown waits for its first request, or its end */
    if (MHD_add_connection(l->daemon, fd, peer, length) == MHD_YES)
        return;
    door_turn_back(&l->door, fd);
    listener_waited_for(l);
}

/* Called on the acceptor's thread. */
static void on_accepted(void *listener, int accepted, const struct sockaddr *peer,
                        socklen_t length) {
    struct http_listener *l = listener;
    const int fd = take_turn(l, accepted);
    if (door_admit(&l->door, fd, peer))
        hand_over(l, fd, peer, length);
}

/* ---- starting ---- */

void http_tune_memory(void) {
    enum { MMAP_FROM = 2 << 20, KEEP_PER_ARENA = 8 << 20 };
    /* Called before there are threads, as the header demands. The values are only advice, so
     * failures do not matter. */
    (void)mallopt(M_MMAP_THRESHOLD, MMAP_FROM);      /* NOLINT(concurrency-mt-unsafe) */
    (void)mallopt(M_TRIM_THRESHOLD, KEEP_PER_ARENA); /* NOLINT(concurrency-mt-unsafe) */
}

static int check_options(const struct http_listener_options *options, struct err *err) {
    const struct http_tls_options *tls = &options->tls;
    if ((tls->cert_file == NULL) != (tls->key_file == NULL))
        return err_set(err, -EINVAL, "a certificate needs a key and a key needs a certificate");
    if (tls->cert_file != NULL && tls->handed_over)
        return err_set(err, -EINVAL, "a certificate is in a file or handed over, not both");
    if (tls->client_ca_file != NULL && tls->client_ca_handed_over)
        return err_set(err, -EINVAL, "the client CA is in a file or handed over, not both");
    bool asks = tls->client_ca_file != NULL || tls->client_ca_handed_over;
    if (tls->cert_file == NULL && !tls->handed_over && asks)
        return err_set(err, -EINVAL,
                       "client certificates need TLS, and no certificate is configured");
    if (!asks && tls->allowed_subject_count > 0)
        return err_set(err, -EINVAL, "allowed client subjects need a client CA");
    if (options->threads == 0 || options->limits.connections < options->threads)
        return err_set(
            err, -EINVAL,
            "at least one thread is needed, and at least as many connections as threads");
    return 0;
}

/* The value of an option is a number, or a pointer to a function or data. */
#define OPTION(option, value, pointer)                                                             \
    { (option), (intptr_t)(value), (void *)(uintptr_t)(pointer) }

/* libmicrohttpd's timeout counts silence; it must not end a request that has time left. */
static unsigned longest_ms(const struct http_limits *limits) {
    unsigned ms = limits->idle_ms > limits->request_ms ? limits->idle_ms : limits->request_ms;
    return ms > limits->header_ms ? ms : limits->header_ms;
}

/* Returns a limit that gives each worker more connections than slots.c admits in all. A worker
 * (0.9.75) that reaches its own limit locks a mutex that it already holds, and hangs. */
static unsigned most_connections(const struct http_listener *l) {
    return (2 * l->options.limits.connections + 1) * l->options.threads;
}

/* Uses poll() and not epoll: with epoll, libmicrohttpd (0.9.75) polls without a pause while a
 * client is in its handshake, so a silent client would use a whole processor until its time is up.
 * A worker has at most LIMIT_HTTP_CONNECTIONS, which are not too many for poll(). */
static int start_daemon(struct http_listener *l, struct err *err) {
    const struct http_limits *limits = &l->options.limits;
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
                     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     (l->tls != NULL ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls_options[] = {
        OPTION(MHD_OPTION_HTTPS_PRIORITIES, 0, TLS_PRIORITIES),
        OPTION(MHD_OPTION_HTTPS_CERT_CALLBACK, 0, connection_on_certificate),
        OPTION(MHD_OPTION_END, 0, NULL),
    };
    struct MHD_OptionItem none[] = {OPTION(MHD_OPTION_END, 0, NULL)};
    struct MHD_OptionItem options[] = {
        OPTION(MHD_OPTION_EXTERNAL_LOGGER, on_complaint, l),
        OPTION(MHD_OPTION_NOTIFY_CONNECTION, connection_on_notify, l),
        OPTION(MHD_OPTION_URI_LOG_CALLBACK, connection_on_request_line, l),
        OPTION(MHD_OPTION_NOTIFY_COMPLETED, connection_on_completed, l),
        OPTION(MHD_OPTION_CONNECTION_MEMORY_LIMIT, LIMIT_HTTP_HEADER_BYTES, NULL),
        OPTION(MHD_OPTION_CONNECTION_MEMORY_INCREMENT, LIMIT_HTTP_HEADER_BYTES / 2, NULL),
        OPTION(MHD_OPTION_CONNECTION_LIMIT, most_connections(l), NULL),
        OPTION(MHD_OPTION_CONNECTION_TIMEOUT, longest_ms(limits) / 1000 + 1, NULL),
        OPTION(MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL), /* framing.c is strict instead */
        OPTION(MHD_OPTION_THREAD_POOL_SIZE, l->options.threads > 1 ? l->options.threads : 0, NULL),
        OPTION(MHD_OPTION_ARRAY, 0, l->tls != NULL ? tls_options : none),
        OPTION(MHD_OPTION_END, 0, NULL),
    };
    l->daemon = MHD_start_daemon(flags, 0, NULL, NULL, connection_on_request, l, MHD_OPTION_ARRAY,
                                 options, MHD_OPTION_END);
    if (l->daemon == NULL)
        return err_set(err, -EIO, "libmicrohttpd does not start: %s",
                       l->complaint[0] != '\0' ? l->complaint : "it gave no reason");
    return 0;
}

/* Undoes all steps of the start that were done. */
static void release(struct http_listener *l) {
    acceptor_stop(l->acceptor);
    MHD_stop_daemon(l->daemon); /* NULL is fine */
    large_free(l->large);
    watchdog_stop(l->watchdog);
    stats_free(l->stats);
    door_close(&l->door);
    free(l->receiving);
    tls_close(l->tls);
    condition_done(&l->idle);
    mutex_done(&l->mutex);
    free(l);
}

static struct http_listener *make(const struct http_listener_options *options,
                                  struct clock *clock) {
    struct http_listener *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    condition_init(&l->idle);
    mutex_init(&l->mutex);
    l->options = *options;
    l->clock = clock;
    l->router = (struct router){l->options.services};
    assert(options->services[HTTP_SERVICES - 1].routes == NULL);
    l->budget.max = options->limits.bodies_in_flight;
    return l;
}

/* Opens the door, the statistics and the lists of connections. */
static int open_books(struct http_listener *l, struct err *err) {
    const struct http_limits *limits = &l->options.limits;
    const struct door_options door = {
        .listener = l->options.name,
        .connections = limits->connections,
        .per_address = limits->connections_per_address,
        .asks_for_certificates = l->tls != NULL && tls_wants_client(l->tls),
    };
    const int r = door_open(&l->door, &door, err);
    if (r != 0)
        return r;
    l->stats = stats_new(l->options.name, l->options.services, &l->budget);
    l->receiving = calloc(l->options.threads, sizeof *l->receiving);
    if (l->stats == NULL || l->receiving == NULL)
        return err_set(err, -ENOMEM, "out of memory");
    for (unsigned i = 0; i < l->options.threads; i++)
        list_init(&l->receiving[i]);
    return 0;
}

static int start(struct http_listener *l, struct err *err) {
    const struct http_listener_options *options = &l->options;
    int fd = -1, r = check_options(options, err);
    if (r == 0 && (options->tls.cert_file != NULL || options->tls.handed_over))
        r = tls_open(&options->tls, options->name, &l->tls, err);
    if (r == 0)
        r = open_books(l, err);
    if (r == 0)
        r = watchdog_start(l->clock, door_count_late, &l->door, &l->watchdog, err);
    if (r == 0 && options->large_threads > 0)
        r = large_start(options->large_threads, &l->large, err);
    if (r == 0)
        r = start_daemon(l, err);
    if (r == 0)
        r = address_listen(options->address, l->address, &fd, err);
    if (r == 0)
        r = acceptor_start(fd, on_accepted, l, &l->acceptor, err);
    if (r != 0 && fd >= 0)
        (void)close(fd); /* nothing was accepted on it */
    return r;
}

unsigned http_threads(void) {
    enum { THREADS_MAX = 64 };
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : (unsigned)cpus;
}

int http_listener_start(const struct http_listener_options *options, struct clock *clock,
                        struct http_listener **ret, struct err *err) {
    struct http_listener *l = make(options, clock);
    int r = l != NULL ? start(l, err) : err_set(err, -ENOMEM, "out of memory");
    if (r == 0) {
        *ret = l;
        return 0;
    }
    if (l != NULL)
        release(l);
    (void)err_wrap(err, "cannot start listener '%s'", options->name); /* r is the code */
    return r;
}

const char *http_listener_address(const struct http_listener *l) {
    return l->address;
}

void http_listener_poll_files(struct http_listener *l) {
    if (l != NULL && l->tls != NULL)
        tls_poll(l->tls);
}

int http_listener_set_certificate(struct http_listener *l, struct str certificate, struct str key,
                                  const char *from, struct err *err) {
    assert(l->options.tls.handed_over);
    return tls_set_pair(l->tls, certificate, key, from, err);
}

int http_listener_set_client_ca(struct http_listener *l, struct str bundle, const char *from,
                                struct err *err) {
    assert(l->options.tls.client_ca_handed_over);
    return tls_set_trust(l->tls, bundle, from, err);
}

/* ---- stopping ---- */

enum { LAST_WORD_MS = 250 };

void http_listener_drain(struct http_listener *l) {
    if (l != NULL)
        atomic_store(&l->draining, true);
}

/* Waits until no request is under way, or drain_ms are over. */
static void wait_until_idle(struct http_listener *l, unsigned drain_ms) {
    int64_t until_ms = clock_real()->now_ms(clock_real()) + drain_ms;
    mutex_lock(&l->mutex);
    atomic_store(&l->stopping, true);
    while (atomic_load(&l->in_flight) > 0 && condition_wait_until(&l->idle, &l->mutex, until_ms))
        ;
    mutex_unlock(&l->mutex);
}

void http_listener_stop(struct http_listener *l, unsigned drain_ms) {
    if (l == NULL)
        return;
    http_listener_drain(l);
    acceptor_stop(l->acceptor);
    l->acceptor = NULL;
    wait_until_idle(l, drain_ms);
    const unsigned waited = large_stop(l->large);
    if (deferrals_give_up(l) + waited > 0)
        wait_until_idle(l, LAST_WORD_MS); /* until those answers are sent */
    slots_close_all(l->door.slots);
    release(l);
}

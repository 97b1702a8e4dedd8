#include "daemon/server.h"

#include "base/log.h"
#include "daemon/leadership.h"
#include "daemon/process_metrics.h"
#include "daemon/source.h"
#include "daemon/webhook_certificates.h"
#include "daemon/webhook_server.h"
#include "handlers/explain.h"
#include "handlers/extender.h"
#include "handlers/extender_verbs.h"
#include "handlers/ops.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct server {
    const struct configuration *configuration;
    struct cache *cache;
    struct source *source;
    struct leadership *leadership; /* NULL: every replica is to be asked */
    struct engine_options engine;
    struct extender extender;
    struct ops ops;
    struct ring *decisions; /* NULL: they are not recorded */
    struct explain *explain;
    struct http_route extender_routes[EXTENDER_VERBS], ops_routes[7];
    struct http_listener *extender_listener, *ops_listener;
    struct webhook_server *webhook;            /* NULL: off */
    struct webhook_certificates *certificates; /* NULL: in files */
    int signals;                               /* a signalfd */
};

/* ---- listeners ---- */

static const struct http_limits ops_limits = {
    .body_bytes = LIMIT_OPS_BODY,
    .bodies_in_flight = 4 * LIMIT_OPS_BODY,
    .connections = 64,
    .connections_per_address = 64,
    .header_ms = LIMIT_HTTP_HEADER_MS,
    .request_ms = LIMIT_HTTP_REQUEST_MS,
    .idle_ms = LIMIT_HTTP_IDLE_MS,
};

static void make_routes(struct server *s) {
    struct ops *o = &s->ops;
    for (size_t i = 0; i < EXTENDER_VERBS; i++)
        s->extender_routes[i] = (struct http_route){.method = "POST",
                                                    .path = extender_verbs[i].path,
                                                    .name = extender_verbs[i].name,
                                                    .handle = extender_verbs[i].handle,
                                                    .ctx = &s->extender,
                                                    .json = true};
    s->ops_routes[0] = (struct http_route){"GET", "/livez", "livez", ops_livez, o, false};
    s->ops_routes[1] = (struct http_route){"GET", "/readyz", "readyz", ops_readyz, o, false};
    s->ops_routes[2] = (struct http_route){"GET", "/metrics", "metrics", ops_metrics, o, false};
    s->ops_routes[3] = (struct http_route){"GET", "/version", "version", ops_version, o, false};
    s->ops_routes[4] =
        (struct http_route){"GET", "/explain", "explain", explain_recent, s->explain, false};
    s->ops_routes[5] =
        (struct http_route){"GET", "/explain/pods/*", "explain", explain_pod, s->explain, false};
    s->ops_routes[6] =
        (struct http_route){"POST", "/explain", "explain", explain_trial, s->explain, true};
}

static int start_ops(struct server *s, struct err *err) {
    const char *address = s->configuration->ops.listen;
    if (address[0] == '\0' || str_eq(str_of(address), STR("0")))
        return 0;
    struct http_listener_options options = {.name = "ops",
                                            .address = address,
                                            .threads = 1,
                                            .limits = ops_limits,
                                            .routes = s->ops_routes,
                                            .route_count = 7};
    return http_listener_start(&options, clock_real(), &s->ops_listener, err);
}

static int start_extender(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    struct http_listener_options options = {.name = "extender",
                                            .address = c->extender.listen,
                                            .threads = http_threads(c->extender.threads),
                                            .limits = c->extender.limits,
                                            .tls = c->extender.tls,
                                            .routes = s->extender_routes,
                                            .route_count = EXTENDER_VERBS};
    return http_listener_start(&options, clock_real(), &s->extender_listener, err);
}

/* ---- the main loop ---- */

static void poll_files(struct server *s) {
    source_poll(s->source);
    http_listener_poll_files(s->extender_listener);
    webhook_server_poll(s->webhook);
    explain_poll(s->explain);
    atomic_store(&s->ops.unlisted, !webhook_server_settled(s->webhook));
    cache_write_begin(s->cache);
    cache_expire(s->cache);
    cache_write_end(s->cache);
}

/* Waits for at most timeout_ms; the signal that came, or 0. */
static int next_signal(const struct server *s, int64_t timeout_ms) {
    struct pollfd waiting = {.fd = s->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&waiting, 1, timeout_ms > 0 ? (int)timeout_ms : 0) <= 0)
        return 0;
    return read(s->signals, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

/* Serves until SIGTERM or SIGINT, which is returned. */
static int serve_until_stopped(struct server *s) {
    for (;;) {
        int signal_number = next_signal(s, s->configuration->state.poll_ms);
        if (signal_number == SIGTERM || signal_number == SIGINT)
            return signal_number;
        if (signal_number == SIGHUP) {
            source_reload(s->source);
            webhook_server_reload(s->webhook);
        }
        poll_files(s);
    }
}

/* Not ready any more, but serving on, while load balancers and schedulers notice. True: told to
 * stop at once. */
static bool linger(struct server *s, int64_t delay_ms) {
    int64_t until_ms = clock_real()->now_ms(clock_real()) + delay_ms;
    for (;;) {
        int64_t left_ms = until_ms - clock_real()->now_ms(clock_real());
        if (left_ms <= 0)
            return false;
        int64_t step_ms = s->configuration->state.poll_ms;
        int signal_number = next_signal(s, left_ms < step_ms ? left_ms : step_ms);
        if (signal_number == SIGTERM || signal_number == SIGINT)
            return true;
        poll_files(s);
    }
}

static void end_now(int signal_number) {
    (void)signal_number;
    _exit(EXIT_SUCCESS);
}

/* While a listener waits for its requests nobody reads the signalfd. Nothing is left that would
 * have to be written, so the second signal may end the process where it stands. */
static void let_signals_end(void) {
    const struct sigaction action = {.sa_handler = end_now};
    sigset_t set;
    (void)sigemptyset(&set); /* these fail only on bad arguments */
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static unsigned left_until(int64_t until_ms) {
    int64_t left_ms = until_ms - clock_real()->now_ms(clock_real());
    return left_ms > 0 ? (unsigned)left_ms : 0;
}

static void shut_down(struct server *s, int signal_number) {
    atomic_store(&s->ops.draining, true);
    http_listener_drain(s->extender_listener);
    webhook_server_drain(s->webhook);
    int64_t delay_ms = signal_number == SIGINT ? 0 : s->configuration->shutdown.delay_ms;
    LOG_I("shutting down; a second signal ends at once", LOG_INT("delay_ms", delay_ms));
    bool at_once = linger(s, delay_ms);
    let_signals_end();
    int64_t until_ms =
        clock_real()->now_ms(clock_real()) + (at_once ? 0 : s->configuration->shutdown.drain_ms);
    http_listener_stop(s->extender_listener, left_until(until_ms));
    s->extender_listener = NULL;
    explain_set_webhook(s->explain, NULL);
    atomic_store(&s->extender.fluid, NULL); /* which are the webhook's */
    atomic_store(&s->extender.policies, NULL);
    webhook_certificates_serve(s->certificates, NULL);
    webhook_server_stop(s->webhook, left_until(until_ms));
}

/* ---- start and end ---- */

static int open_signals(struct server *s, struct err *err) {
    sigset_t set;
    (void)sigemptyset(&set); /* these fail only on bad arguments */
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    int r = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (r != 0)
        return err_set_errno(err, r, "cannot block signals");
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals < 0 ? err_set_errno(err, errno, "cannot make a signalfd") : 0;
}

/* A binding gives up before the connection that waits for it is closed. */
static int64_t bind_timeout_ms(const struct http_limits *limits) {
    enum { MARGIN_MS = 1000 };
    return limits->request_ms > 2 * MARGIN_MS ? limits->request_ms - MARGIN_MS
                                              : limits->request_ms / 2;
}

static int start_webhook(struct server *s, struct err *err) {
    const struct webhook_server_options options = {.configuration = s->configuration,
                                                   .cache = s->cache,
                                                   .client = source_client(s->source),
                                                   .elector = s->ops.elector,
                                                   .decisions = s->decisions};
    int r = webhook_server_start(&options, &s->webhook, err);
    if (r != 0)
        return r;
    webhook_certificates_serve(s->certificates, webhook_server_listener(s->webhook));
    explain_set_webhook(s->explain, webhook_server_webhook(s->webhook));
    atomic_store(&s->extender.fluid, webhook_server_fluid(s->webhook));
    atomic_store(&s->extender.policies, webhook_server_policies(s->webhook));
    atomic_store(&s->ops.unlisted, !webhook_server_settled(s->webhook));
    return 0;
}

/* From now on pods can be bound; an earlier process may have begun to. */
static void set_client(struct server *s) {
    const struct configuration *c = s->configuration;
    s->extender.client = source_client(s->source);
    /* files never show what became of a pod */
    s->extender.assume = c->reservations.assume && s->extender.client != NULL;
    if (s->extender.client != NULL && c->reservations.mode == RESERVATIONS_CONSERVATIVE)
        s->extender.settled_ms = clock_real()->now_ms(clock_real()) + c->reservations.settle_ms;
}

static int start(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    struct cache_options options = {.max_counters = c->cache.max_counters,
                                    .max_eligibilities = c->cache.max_eligibilities,
                                    .reservation_ttl_ms = c->reservations.ttl_ms};
    http_tune_memory();
    int r = open_signals(s, err);
    if (r == 0)
        r = cache_new(&options, &s->cache, err);
    if (r != 0)
        return r;
    s->engine = c->engine;
    s->engine.count_flights = c->reservations.mode == RESERVATIONS_CONSERVATIVE;
    s->extender = (struct extender){.cache = s->cache,
                                    .options = &s->engine,
                                    .stale_after_ms = c->kubernetes.stale_after_ms,
                                    .reservations = c->reservations.mode,
                                    .bind_timeout_ms = bind_timeout_ms(&c->extender.limits)};
    if (c->reservations.mode == RESERVATIONS_CONSERVATIVE &&
        (r = bind_queue_new(&s->extender.bindings)) != 0)
        return err_set(err, r, "no memory to start");
    if (c->explain.decisions > 0 && (r = ring_new(c->explain.decisions, &s->decisions)) != 0)
        return err_set(err, r, "no memory for %u decisions", c->explain.decisions);
    s->extender.decisions = s->decisions;
    r = explain_new(&s->extender, c->explain.token_file, &s->explain, err);
    if (r != 0)
        return r;
    s->ops.cache = s->cache;
    s->ops.stale_after_ms = c->kubernetes.stale_after_ms;
    make_routes(s);
    process_metrics_start(s->cache);
    extender_metrics_start();
    r = source_new(c, s->cache, &s->source, err);
    if (r == 0)
        set_client(s);
    if (r == 0)
        r = leadership_start(c, source_access(s->source), source_client(s->source), &s->leadership,
                             err);
    if (r != 0)
        return r;
    s->ops.elector = leadership_elector(s->leadership);
    r = webhook_certificates_start(c, source_access(s->source), source_client(s->source),
                                   &s->certificates, err);
    if (r != 0)
        return r;
    s->ops.has_certificate = webhook_certificates_ready(s->certificates);
    atomic_store(&s->ops.unlisted, source_client(s->source) != NULL);
    r = start_ops(s, err);
    if (r == 0)
        r = start_extender(s, err);
    if (r == 0)
        r = start_webhook(s, err);
    if (r == 0) /* last: it makes /readyz good, and then all listeners must be there */
        r = source_start(s->source, err);
    return r;
}

static void finish(struct server *s) {
    if (s->extender_listener != NULL)
        http_listener_stop(s->extender_listener, 0);
    webhook_certificates_serve(s->certificates, NULL);
    if (s->ops_listener != NULL)
        http_listener_stop(s->ops_listener, 0);
    webhook_server_stop(s->webhook, 0);
    webhook_certificates_stop(s->certificates);
    explain_free(s->explain);
    leadership_stop(s->leadership);
    if (s->cache != NULL)
        process_metrics_stop();
    extender_metrics_stop();
    source_free(s->source);          /* ends the bindings that are under way */
    webhook_server_free(s->webhook); /* after the client, whose thread feeds it */
    webhook_certificates_free(s->certificates);
    ring_free(s->decisions);
    bind_queue_free(s->extender.bindings);
    cache_free(s->cache);
    if (s->signals >= 0)
        (void)close(s->signals); /* a signalfd has nothing to lose */
}

int server_run(const struct configuration *configuration, struct err *err) {
    struct server s = {.configuration = configuration, .signals = -1};
    int r = start(&s, err);
    if (r == 0) {
        LOG_I("serving", LOG_CSTR("extender", http_listener_address(s.extender_listener)),
              LOG_CSTR("webhook", webhook_server_address(s.webhook)),
              LOG_CSTR("ops",
                       s.ops_listener == NULL ? "off" : http_listener_address(s.ops_listener)));
        shut_down(&s, serve_until_stopped(&s));
        LOG_I("stopped");
    }
    finish(&s);
    return r;
}

#include "daemon/server.h"

#include "base/log.h"
#include "daemon/components.h"
#include "daemon/descriptors.h"
#include "daemon/polling.h"
#include "grpc/listener.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct daemon {
    struct server server;
    struct polling polling;
    int signals; /* a signalfd */
};

/* ---- the main loop ---- */

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

static void poll_all(struct daemon *d) {
    if (polling_files(&d->polling, now_ms()))
        components_poll_files(&d->server);
    components_poll(&d->server);
}

/* Waits for at most timeout_ms. Returns the signal that arrived, or 0. */
static int next_signal(const struct daemon *d, int64_t timeout_ms) {
    struct pollfd waiting = {.fd = d->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&waiting, 1, timeout_ms > 0 ? (int)timeout_ms : 0) <= 0)
        return 0;
    return read(d->signals, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

/* Serves until SIGTERM or SIGINT arrives, and returns that signal. */
static int serve_until_stopped(struct daemon *d) {
    for (;;) {
        int signal_number = next_signal(d, polling_wait_ms(&d->polling, now_ms()));
        if (signal_number == SIGTERM || signal_number == SIGINT)
            return signal_number;
        if (signal_number == SIGHUP)
            components_reload(&d->server);
        poll_all(d);
    }
}

/* Goes on serving while load balancers and schedulers notice that it is not ready any more. Returns
 * true if a signal asks to stop at once. */
static bool linger(struct daemon *d, int64_t delay_ms) {
    int64_t until_ms = now_ms() + delay_ms;
    for (;;) {
        int64_t left_ms = until_ms - now_ms();
        if (left_ms <= 0)
            return false;
        int64_t step_ms = polling_wait_ms(&d->polling, now_ms());
        int signal_number = next_signal(d, left_ms < step_ms ? left_ms : step_ms);
        if (signal_number == SIGTERM || signal_number == SIGINT)
            return true;
        poll_all(d);
    }
}

static void end_now(int signal_number) {
    (void)signal_number;
    _exit(EXIT_SUCCESS);
}

/* Lets the next signal end the process: while listeners wait for their requests, nothing reads the
 * signalfd, and no data is left to write. */
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

/* Shuts down, except for components_end(). */
static void shut_down(struct daemon *d, int signal_number) {
    const struct configuration *c = d->server.configuration;
    atomic_store(&d->server.ops.draining, true);
    components_drain(&d->server);
    int64_t delay_ms = signal_number == SIGINT ? 0 : c->shutdown.delay_ms;
    LOG_I("shutting down; a second signal ends at once", LOG_INT("delay_ms", delay_ms));
    bool at_once = linger(d, delay_ms);
    let_signals_end();
    d->server.drain_until_ms = now_ms() + (at_once ? 0 : c->shutdown.drain_ms);
}

/* ---- start and end ---- */

static int open_signals(struct daemon *d, struct err *err) {
    sigset_t set;
    (void)sigemptyset(&set); /* these fail only on bad arguments */
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    int r = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (r != 0)
        return err_set_errno(err, r, "cannot block signals");
    d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return d->signals < 0 ? err_set_errno(err, errno, "cannot make a signalfd") : 0;
}

static const char *address_of(const struct http_listener *listener) {
    return listener == NULL ? "off" : http_listener_address(listener);
}

static int start(struct daemon *d, struct err *err) {
    http_tune_memory();
    descriptors_prepare(d->server.configuration);
    int r = open_signals(d, err);
    return r == 0 ? components_start(&d->server, err) : r;
}

static void warn_of_door(void *ctx, const struct configuration_problem *p) {
    (void)ctx;
    LOG_W("an open door", LOG_CSTR("setting", p->path), LOG_CSTR("why", p->text),
          LOG_CSTR("advice", p->advice));
}

static void warn_of_removed(void *ctx, const struct configuration_problem *p) {
    (void)ctx;
    LOG_W("a setting has no effect", LOG_CSTR("setting", p->path), LOG_CSTR("why", p->text),
          LOG_CSTR("advice", p->advice));
}

int server_run(const struct configuration *configuration, struct err *err) {
    struct daemon d = {.server.configuration = configuration, .signals = -1};
    configuration_removed_found(configuration, warn_of_removed, NULL);
    int r = start(&d, err);
    if (r == 0) {
        LOG_I("serving", LOG_CSTR("extender", address_of(d.server.extender_listener)),
              LOG_CSTR("webhook", address_of(d.server.webhook_listener)),
              LOG_CSTR("ops", address_of(d.server.ops_listener)),
              LOG_CSTR("probes", address_of(d.server.probe_listener)),
              LOG_CSTR("estimator", d.server.estimator_listener == NULL
                                        ? "off"
                                        : grpc_listener_address(d.server.estimator_listener)));
        configuration_open_doors(configuration, warn_of_door, NULL);
        polling_init(&d.polling, configuration->state.poll_ms, now_ms());
        shut_down(&d, serve_until_stopped(&d));
    }
    components_end(&d.server);
    if (r == 0)
        LOG_I("stopped");
    if (d.signals >= 0)
        (void)close(d.signals); /* closing a signalfd loses no data */
    return r;
}

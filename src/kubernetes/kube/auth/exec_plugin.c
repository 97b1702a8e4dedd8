/*
 * Two threads take turns: the caller's thread prepares a run while the phase is IDLE, and sets
 * ASKED; the object's own thread runs the plugin, and sets DONE; the caller's thread takes the
 * result, and sets IDLE. The mutex guards the phase, which decides which thread may use `info` and
 * `result`; no thread holds it while the plugin runs.
 */
#include "kube/auth/exec_plugin.h"

#include "base/back_off.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/secret.h"
#include "base/time.h"
#include "kube/auth/exec_credential.h"
#include "kube/auth/exec_process.h"
#include "kube/auth/exec_start.h"
#include "kube/auth/reload.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NEVER INT64_MAX

enum {
    BACKOFF_MS = 5000,
    BACKOFF_MAX_MS = 60000,
    REFUSED_MS = 5000,     /* shortest time between two runs that a 401 causes */
    EXPIRED_MS = 5000,     /* how long an answer is used that had already expired on arrival */
    EARLY_MAX_MS = 60000,  /* the plugin runs at most this long before the answer expires, and not
                              before nine tenths ... */
    EARLY_FROM_MS = 10000, /* ... of its life; not early at all if its life is shorter than this */
    HINT_BYTES = 200,      /* bytes of installHint in an error */
    INFO_BYTES = 4 << 20,
};

enum phase { IDLE, ASKED, RUNNING, DONE };

/* The result of a run. */
struct result {
    int code;
    struct err err;
    struct secret token, certificate, key;
    int64_t life_ms;  /* time until the answer expires; NEVER */
    int64_t ended_ms; /* of the clock */
};

struct exec_plugin {
    const struct kube_access *access; /* borrowed */
    struct clock *clock;              /* borrowed */
    void (*wake)(void *ctx);
    void *ctx;
    int64_t time_limit_ms;
    struct arena arena; /* memory of `start` */
    struct exec_start start;
    int stop_fd; /* eventfd: written once, by exec_plugin_free() */

    pthread_t thread;
    struct mutex mutex; /* guards phase and stopping */
    struct condition asked;
    enum phase phase;
    bool stopping;
    struct strbuf info;   /* "KUBERNETES_EXEC_INFO={...}"; the caller may use it while IDLE */
    struct result result; /* only the plugin's thread may use it until DONE */

    /* for the caller's thread only */
    struct reload reload;
    struct secret token, certificate, key; /* the last good answer */
    uint64_t tls_version;
    bool answered, refused; /* answered: there is an answer; refused: it must not be used any
                               more */
    int64_t answered_ms;    /* when the run that gave the answer ended */
    int64_t early_ms, expires_ms;
    int64_t refused_ms; /* when a 401 last started a run; INT64_MIN: never */
    struct err failure; /* failure of the last run; code 0: no failure */
    int64_t not_before_ms;
    unsigned failures; /* number of failures since the last answer */
};

/* ---- the plugin's thread ---- */

static void result_done(struct result *r) {
    secret_done(&r->token);
    secret_done(&r->certificate);
    secret_done(&r->key);
}

static int keep(struct result *result, const struct exec_credential *c, struct err *err) {
    if (secret_set(&result->token, c->token) != 0 ||
        secret_set(&result->certificate, c->certificate) != 0 ||
        secret_set(&result->key, c->key) != 0)
        return err_set(err, -ENOMEM, "no memory for its output");
    result->life_ms = c->expires_ms == NEVER ? NEVER : c->expires_ms - kube_wall_us() / 1000;
    return 0;
}

static void arena_cleanup(struct arena *arena) {
    arena_done(arena);
}

static int read_answer(struct exec_plugin *p, struct str text, struct result *result,
                       struct err *err) {
    CLEANUP(arena_cleanup) struct arena arena;
    struct exec_credential credential;
    arena_init(&arena, 4ull * LIMIT_KUBE_EXEC_BYTES);
    int r = exec_credential_read(text, p->access->exec.api_version, &arena, &credential, err);
    if (r == 0) {
        r = keep(result, &credential, err);
        exec_credential_wipe(&credential);
    }
    if (r != 0)
        (void)err_wrap(err, "'%s'", p->start.argv[0]); /* r says the same */
    return r;
}

static int add_hint(const struct exec_plugin *p, int code, struct err *err) {
    char hint[HINT_BYTES + 1];
    struct err said = *err;
    if (p->access->exec.install_hint == NULL)
        return code;
    (void)snprintf(hint, sizeof hint, "%s", p->access->exec.install_hint); /* cut: for people */
    for (char *c = hint; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return err_set(err, code, "%.256s; %s", said.text, hint);
}

static int run_plugin(struct exec_plugin *p, struct result *result, struct err *err) {
    CLEANUP(secret_buffer_done) struct strbuf out = {0};
    const struct exec_command command = {.argv = p->start.argv,
                                         .envp = p->start.envp,
                                         .time_limit_ms = p->time_limit_ms,
                                         .stop_fd = p->stop_fd};
    int r = secret_buffer_init(&out, LIMIT_KUBE_EXEC_BYTES, err);
    if (r == 0)
        r = exec_run(&command, &out, err);
    if (r == -ENOENT || r == -EACCES)
        r = add_hint(p, r, err);
    return r == 0 ? read_answer(p, strbuf_str(&out), result, err) : r;
}

static void fill(struct exec_plugin *p, struct result *result) {
    result->code = run_plugin(p, result, &result->err);
    if (result->code != 0)
        (void)err_wrap(&result->err, "credential plugin"); /* the code says the same */
    result->ended_ms = p->clock->now_ms(p->clock);
}

static void *run(void *arg) {
    struct exec_plugin *p = arg;
    (void)pthread_setname_np(pthread_self(), "kube-exec"); /* for people */
    mutex_lock(&p->mutex);
    while (!p->stopping) {
        if (p->phase != ASKED) {
            condition_wait(&p->asked, &p->mutex);
            continue;
        }
        p->phase = RUNNING;
        mutex_unlock(&p->mutex);
        fill(p, &p->result);
        mutex_lock(&p->mutex);
        p->phase = DONE;
        if (p->stopping || p->wake == NULL)
            continue;
        mutex_unlock(&p->mutex);
        p->wake(p->ctx);
        mutex_lock(&p->mutex);
    }
    mutex_unlock(&p->mutex);
    return NULL;
}

/* ---- life ---- */

/* Blocks signals in the new thread: the main thread handles them. */
static int start_thread(struct exec_plugin *p, struct err *err) {
    sigset_t all, before;
    (void)sigfillset(&all); /* cannot fail */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&p->thread, NULL, run, p);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0 ? 0 : err_set_errno(err, r, "cannot start a thread for the credential plugin");
}

/* Frees all but the thread. */
static void free_parts(struct exec_plugin *p) {
    reload_done(&p->reload);
    result_done(&p->result);
    secret_done(&p->token);
    secret_done(&p->certificate);
    secret_done(&p->key);
    strbuf_done(&p->info);
    arena_done(&p->arena);
    if (p->stop_fd >= 0)
        (void)close(p->stop_fd); /* nothing to lose */
    condition_done(&p->asked);
    mutex_done(&p->mutex);
    free(p);
}

int exec_plugin_new(const struct exec_plugin_options *options, struct exec_plugin **ret,
                    struct err *err) {
    int64_t limit_ms = options->time_limit_ms;
    struct exec_plugin *p = calloc(1, sizeof *p);
    if (p == NULL)
        return err_set(err, -ENOMEM, "no memory for a credential plugin");
    p->access = options->access;
    p->clock = options->clock;
    p->wake = options->wake;
    p->ctx = options->ctx;
    p->time_limit_ms = limit_ms > 0 ? limit_ms : LIMIT_KUBE_EXEC_MS;
    p->info.max = INFO_BYTES;
    p->refused_ms = p->not_before_ms = INT64_MIN;
    p->stop_fd = eventfd(0, EFD_CLOEXEC);
    arena_init(&p->arena, 4ull * LIMIT_CONFIG_BYTES);
    mutex_init(&p->mutex);
    condition_init(&p->asked);
    int r = p->stop_fd >= 0 ? 0 : err_set_errno(err, errno, "cannot make an eventfd");
    if (r == 0)
        r = exec_start_build(&p->access->exec, &p->arena, &p->start, err);
    if (r == 0)
        r = start_thread(p, err);
    if (r != 0) {
        free_parts(p);
        return r;
    }
    reload_init(&p->reload, RELOAD_EXEC, p->access);
    *ret = p;
    return 0;
}

void exec_plugin_free(struct exec_plugin *p) {
    if (p == NULL)
        return;
    mutex_lock(&p->mutex);
    p->stopping = true;
    condition_signal(&p->asked);
    mutex_unlock(&p->mutex);
    (void)eventfd_write(p->stop_fd, 1);  /* cannot fail: the only write */
    (void)pthread_join(p->thread, NULL); /* our own thread, joined once */
    free_parts(p);
}

/* ---- the caller's side ---- */

static bool same_secret(const struct secret *a, const struct secret *b) {
    return str_eq(secret_str(a), secret_str(b));
}

static void move_secret(struct secret *to, struct secret *from) {
    secret_done(to);
    *to = *from;
    *from = (struct secret){0};
}

static void take_answer(struct exec_plugin *p) {
    struct result *r = &p->result;
    int64_t life_ms = r->life_ms > 0 ? r->life_ms : EXPIRED_MS;
    int64_t early_ms = life_ms / 10 < EARLY_MAX_MS ? life_ms / 10 : EARLY_MAX_MS;
    if (!same_secret(&p->certificate, &r->certificate) || !same_secret(&p->key, &r->key))
        p->tls_version++;
    move_secret(&p->token, &r->token);
    move_secret(&p->certificate, &r->certificate);
    move_secret(&p->key, &r->key);
    p->answered = true;
    p->refused = false;
    p->answered_ms = r->ended_ms;
    p->expires_ms = life_ms == NEVER ? NEVER : r->ended_ms + life_ms;
    p->early_ms =
        life_ms < EARLY_FROM_MS || life_ms == NEVER ? p->expires_ms : p->expires_ms - early_ms;
    p->failure.code = 0;
    p->failures = 0;
    reload_ok(&p->reload);
}

static bool usable(const struct exec_plugin *p, int64_t now_ms) {
    return p->answered && !p->refused && now_ms < p->expires_ms;
}

static void take_failure(struct exec_plugin *p, int64_t now_ms) {
    static const struct back_off b = {BACKOFF_MS, BACKOFF_MAX_MS, .jitter_percent = 0};
    p->failure = p->result.err;
    p->not_before_ms = p->result.ended_ms + back_off_ms(&b, p->failures++, NULL);
    if (usable(p, now_ms))
        reload_refused(&p->reload, &p->failure);
    else
        reload_refused_quietly(&p->reload);
}

static enum phase phase_of(struct exec_plugin *p) {
    mutex_lock(&p->mutex);
    enum phase phase = p->phase;
    mutex_unlock(&p->mutex);
    return phase;
}

static enum phase set_phase(struct exec_plugin *p, enum phase phase) {
    mutex_lock(&p->mutex);
    p->phase = phase;
    condition_signal(&p->asked);
    mutex_unlock(&p->mutex);
    return phase;
}

/* Takes the result from the thread. */
static enum phase take_result(struct exec_plugin *p, int64_t now_ms) {
    if (p->result.code == 0)
        take_answer(p);
    else
        take_failure(p, now_ms);
    result_done(&p->result);
    return set_phase(p, IDLE);
}

static enum phase ask(struct exec_plugin *p, struct str ca, int64_t now_ms) {
    strbuf_clear(&p->info);
    strbuf_append_str(&p->info, STR("KUBERNETES_EXEC_INFO="));
    exec_credential_info(p->access, ca, &p->info);
    strbuf_append_char(&p->info, '\0');
    if (strbuf_failed(&p->info)) {
        p->result.ended_ms = now_ms;
        (void)err_set(&p->result.err, -ENOMEM,
                      "no memory for the input of a credential plugin"); /* the next line takes it
                                                                          */
        take_failure(p, now_ms);
        return IDLE;
    }
    *p->start.info = p->info.p;
    return set_phase(p, ASKED);
}

int exec_plugin_get(struct exec_plugin *p, struct str ca, struct exec_answer *ret,
                    struct err *err) {
    int64_t now_ms = p->clock->now_ms(p->clock);
    enum phase phase = phase_of(p);
    if (phase == DONE)
        phase = take_result(p, now_ms);
    bool good = usable(p, now_ms);
    if (phase == IDLE && (!good || now_ms >= p->early_ms) && now_ms >= p->not_before_ms)
        phase = ask(p, ca, now_ms);
    if (good) {
        *ret = (struct exec_answer){.token = secret_str(&p->token),
                                    .certificate = secret_str(&p->certificate),
                                    .key = secret_str(&p->key),
                                    .tls_version = p->tls_version};
        return 0;
    }
    if (phase != IDLE)
        return err_set(err, -EAGAIN, "credential plugin '%s' is at work", p->start.argv[0]);
    return err_set(err, p->failure.code, "%s", p->failure.text);
}

void exec_plugin_refused(struct exec_plugin *p, int64_t began_ms) {
    if (!p->answered || p->refused || began_ms < p->answered_ms)
        return;
    if (p->refused_ms != INT64_MIN && began_ms < p->refused_ms + REFUSED_MS)
        return; /* the new answer was refused, too: do not run for every request */
    p->refused = true;
    p->refused_ms = began_ms;
}

#include "controllers/serving_certificate.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "certs/authority.h"
#include "certs/inspect.h"
#include "certs/rotation.h"
#include "kube/client/status.h"
#include "kube/objects/tls_secret.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TICK_MS = 10000,   /* how often dates are looked at: clocks jump */
    LEARN_MS = 5000,   /* for API servers to learn of a new bundle */
    WRITE_MS = 60000,  /* between two writes of ours */
    RETRY_MS = 1000,   /* after a failure, doubled up to WRITE_MS */
    EXPIRES_DAYS = 14, /* when to warn */
    SECONDS_PER_DAY = 86400,
};

enum { WRITTEN, CONFLICT, FAILED, RESULTS };

struct certificate_keeper {
    struct certificate_keeper_options options;
    struct kube_io io;
    bool stopped;

    /* what the watch said */
    bool listed, exists, named, ours; /* named: in the listing that is under way */
    char uid[64], version[64];
    struct strbuf ca, ca_key, certificate, key;

    struct strbuf trusted; /* the bundle as last handed over */
    bool pair_waits, had_pair;
    int64_t pair_at_ms; /* when the pair that waits may be handed over */

    struct kube_request request;
    struct strbuf body;
    char collection[192], path[512];
    bool under_way;
    const char *why;               /* the reason of the write under way */
    int64_t write_at_ms, retry_ms; /* not before; the present wait between failures */
    bool said_absent, said_foreign;
    enum { NO_END, NEAR_END, ENDED } said_end; /* of the present certificate */

    struct kube_timer timer;
    char label[RESULTS][32];
    struct metric writes[RESULTS];
};

static int64_t now_ms(const struct certificate_keeper *k) {
    return k->options.clock->now_ms(k->options.clock);
}

/* By the clock of those who judge our certificates, so that replicas agree whatever theirs say. */
static int64_t now_s(const struct certificate_keeper *k) {
    return k->io.server_us(k->options.client) / 1000000;
}

static void report(struct certificate_keeper *k, enum event_type type, const char *reason,
                   const char *note) {
    const struct event event = {.regarding = {STR("v1"), STR("Secret"),
                                              str_of(k->options.namespace), str_of(k->options.name),
                                              str_of(k->uid)},
                                .type = type,
                                .reason = str_of(reason),
                                .note = str_of(note)};
    event_record(k->options.events, &event);
}

#define SECRET(k)                                                                                  \
    LOG_CSTR("namespace", (k)->options.namespace), LOG_CSTR("secret", (k)->options.name)

/* ---- handing over ---- */

/* Clients who trust the bundle from before trust this leaf, whatever the time. */
static bool is_trusted(const struct certificate_keeper *k) {
    const struct certificate_trust trust = {.chain_pem = strbuf_str(&k->certificate),
                                            .ca_pem = strbuf_str(&k->trusted),
                                            .at_any_time = true};
    return certificate_verify(&trust, NULL, NULL) == 0;
}

static void hand_over_bundle(struct certificate_keeper *k) {
    k->pair_waits = k->certificate.n > 0 && k->key.n > 0;
    k->pair_at_ms = k->had_pair && !is_trusted(k) ? now_ms(k) + LEARN_MS : now_ms(k);
    strbuf_clear(&k->trusted);
    strbuf_append_str(&k->trusted, strbuf_str(&k->ca));
    k->said_end = NO_END;
    k->options.on_bundle(k->options.ctx, strbuf_str(&k->ca), strbuf_str(&k->certificate));
}

static void hand_over_pair(struct certificate_keeper *k) {
    if (!k->pair_waits || now_ms(k) < k->pair_at_ms)
        return;
    k->pair_waits = false;
    k->had_pair = true;
    k->options.on_pair(k->options.ctx, strbuf_str(&k->certificate), strbuf_str(&k->key));
}

/* Of one that nobody here renews. */
static void warn_of_end(struct certificate_keeper *k) {
    CLEANUP(arena_done) struct arena arena;
    struct certificate *chain;
    size_t count;
    char note[160];
    arena_init(&arena, LIMIT_CONFIG_BYTES);
    if (k->said_end == ENDED || k->certificate.n == 0 ||
        certificates_read(strbuf_str(&k->certificate), &arena, &chain, &count, NULL) != 0)
        return;
    int64_t left_s = chain[0].not_after_s - now_s(k);
    bool ended = left_s <= 0, near = left_s < (int64_t)EXPIRES_DAYS * SECONDS_PER_DAY;
    if (!near || (k->said_end == NEAR_END && !ended))
        return;
    k->said_end = ended ? ENDED : NEAR_END;
    if (ended)
        (void)snprintf(note, sizeof note, "the webhook's certificate has expired"); /* these fit */
    else
        (void)snprintf(note, sizeof note, "the webhook's certificate expires in %lld hours",
                       (long long)(left_s / 3600));
    LOG_W(ended ? "the webhook's certificate has expired, and API servers refuse it: whoever fills "
                  "the Secret must renew it"
                : "the webhook's certificate ends soon: whoever fills the Secret must renew it",
          SECRET(k), LOG_INT("not_after", chain[0].not_after_s));
    report(k, EVENT_WARNING, "CertificateExpires", note);
}

/* ---- writing ---- */

static void failed(struct certificate_keeper *k, int result, const char *problem) {
    metric_add(&k->writes[result], 1);
    k->retry_ms = k->retry_ms == 0 ? RETRY_MS : 2 * k->retry_ms;
    k->retry_ms = k->retry_ms > WRITE_MS ? WRITE_MS : k->retry_ms;
    k->write_at_ms = now_ms(k) + k->retry_ms;
    if (result != CONFLICT)
        LOG_E("cannot write the webhook's certificate", SECRET(k), LOG_CSTR("err", problem));
}

static void send(struct certificate_keeper *k, const struct rotation *made) {
    const struct tls_secret texts = {.version = str_of(k->version),
                                     .ca = strbuf_str(&made->ca),
                                     .ca_key = strbuf_str(&made->ca_key),
                                     .certificate = strbuf_str(&made->certificate),
                                     .key = strbuf_str(&made->key)};
    k->body.max = LIMIT_KUBE_BODY;
    strbuf_clear(&k->body);
    if (k->exists)
        tls_secret_put_patch(&k->body, &texts);
    else
        tls_secret_put_new(&k->body, str_of(k->options.namespace), str_of(k->options.name), &texts);
    if (strbuf_failed(&k->body)) {
        failed(k, FAILED, "no memory");
        return;
    }
    k->request.method = k->exists ? "PATCH" : "POST";
    k->request.path = k->exists ? k->path : k->collection;
    k->request.content_type = k->exists ? "application/merge-patch+json" : NULL;
    k->request.body = strbuf_str(&k->body);
    k->why = made->why;
    k->under_way = true;
    k->io.request_start(k->options.client, &k->request);
}

/* Is it ours to write? Says so once if not. */
static bool may_write(struct certificate_keeper *k) {
    if (!k->exists || k->ours)
        return true;
    if (!k->said_foreign) {
        LOG_E("the Secret holds certificates that Evenkeel has not made: they are served as they "
              "are, and not renewed",
              SECRET(k));
        report(k, EVENT_WARNING, "CertificateNotOurs",
               "its certificates were not made by Evenkeel, which serves them and will not renew "
               "them: use webhook.certificates.mode Secret, or another secretName");
    }
    k->said_foreign = true;
    return false;
}

static void renew(struct certificate_keeper *k) {
    if (now_ms(k) < k->write_at_ms || !may_write(k))
        return;
    const struct rotation_request request = {.now = {strbuf_str(&k->ca), strbuf_str(&k->ca_key),
                                                     strbuf_str(&k->certificate),
                                                     strbuf_str(&k->key)},
                                             .trusted = strbuf_str(&k->trusted),
                                             .hosts = k->options.hosts,
                                             .host_count = k->options.host_count,
                                             .now_s = now_s(k)};
    CLEANUP(rotation_done) struct rotation made = {.why = NULL};
    struct err err = {0};
    if (rotation_plan(&request, &made, &err) != 0)
        failed(k, FAILED, err.text);
    else if (made.why != NULL)
        send(k, &made);
}

/* Does what there is to do now, and comes back when there may be more. */
static void consider(struct certificate_keeper *k) {
    if (!k->listed)
        return;
    hand_over_pair(k);
    if (!k->under_way && k->options.self_signed)
        renew(k);
    if (!k->options.self_signed || !k->ours)
        warn_of_end(k);
    if (!k->options.self_signed && !k->exists && !k->said_absent)
        LOG_W("the Secret with the webhook's certificate is not there yet", SECRET(k));
    k->said_absent = !k->exists;
    int64_t now = now_ms(k), next = now + TICK_MS;
    if (k->pair_waits && k->pair_at_ms < next)
        next = k->pair_at_ms;
    if (k->write_at_ms > now && k->write_at_ms < next)
        next = k->write_at_ms;
    k->io.timer_start(k->options.client, &k->timer, next - now);
}

static void on_timer(void *ctx) {
    consider(ctx);
}

/* How it went; what is there now comes through the watch. */
static void on_done(void *ctx, const struct kube_result *result) {
    struct certificate_keeper *k = ctx;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_KUBE_BODY);
    k->under_way = false;
    key_done(&k->body); /* there is a key in it */
    if (k->stopped)
        return;
    if (result->error != 0) {
        failed(k, FAILED, result->error_text);
    } else if (result->status == 200 || result->status == 201) {
        char note[160];
        metric_add(&k->writes[WRITTEN], 1);
        k->retry_ms = 0;
        k->write_at_ms = now_ms(k) + WRITE_MS;
        LOG_I("issued a certificate for the webhook", SECRET(k), LOG_CSTR("because", k->why));
        (void)snprintf(note, sizeof note, "issued: %s", k->why); /* fits */
        report(k, EVENT_NORMAL, "CertificateIssued", note);
    } else {
        struct kube_status status;
        char text[512];
        kube_status_read(result->body, result->status, &arena, &status);
        (void)snprintf(text, sizeof text, "%.*s", STR_ARG(status.message)); /* cut is fine */
        failed(k, result->status == 409 ? CONFLICT : FAILED, text);
    }
    consider(k);
}

/* ---- the watch's sink ---- */

static bool put(struct strbuf *to, struct str text) {
    if (str_eq(strbuf_str(to), text))
        return false;
    key_done(to);
    strbuf_append_str(to, text);
    return true;
}

static int apply(void *ctx, struct str object, struct err *err) {
    struct certificate_keeper *k = ctx;
    CLEANUP(arena_done) struct arena arena;
    struct tls_secret s;
    arena_init(&arena, 2 * LIMIT_KUBE_BODY);
    int r = tls_secret_read(object, &arena, &s, err);
    if (r != 0)
        return r;
    bool changed = put(&k->ca, s.ca);
    changed |= put(&k->certificate, s.certificate);
    changed |= put(&k->key, s.key);
    (void)put(&k->ca_key, s.ca_key); /* of no interest to others */
    k->exists = k->named = true;
    k->ours = s.ours;
    k->said_foreign = k->said_foreign && !s.ours;
    (void)snprintf(k->uid, sizeof k->uid, "%.*s", STR_ARG(s.uid));             /* a UUID */
    (void)snprintf(k->version, sizeof k->version, "%.*s", STR_ARG(s.version)); /* a number */
    if (changed)
        hand_over_bundle(k);
    consider(k);
    return 0;
}

static void wipe(struct certificate_keeper *k) {
    key_done(&k->ca);
    key_done(&k->ca_key);
    key_done(&k->certificate);
    key_done(&k->key);
}

/* The pair stays in use, and the bundle trusted. */
static void forget(struct certificate_keeper *k) {
    if (k->exists)
        LOG_W("the Secret with the webhook's certificate is gone", SECRET(k));
    k->exists = k->ours = k->pair_waits = false;
    k->version[0] = k->uid[0] = '\0';
    wipe(k);
}

static int remove_object(void *ctx, struct str object, struct err *err) {
    (void)object, (void)err; /* there is but one */
    forget(ctx);
    consider(ctx);
    return 0;
}

static void sync_begin(void *ctx) {
    struct certificate_keeper *k = ctx;
    k->named = false;
}

static void sync_end(void *ctx) {
    struct certificate_keeper *k = ctx;
    k->listed = true;
    if (!k->named)
        forget(k);
    consider(k);
}

struct reflector_sink certificate_keeper_sink(struct certificate_keeper *k) {
    return (struct reflector_sink){k, sync_begin, sync_end, apply, remove_object};
}

/* ---- life ---- */

static void register_metrics(struct certificate_keeper *k) {
    static const char *const results[RESULTS] = {"success", "conflict", "error"};
    for (int i = 0; i < RESULTS; i++) {
        (void)snprintf(k->label[i], sizeof k->label[i], "result=\"%s\"", results[i]); /* fits */
        k->writes[i] =
            (struct metric){.name = "evenkeel_certificate_writes_total",
                            .help = "Attempts to write a new certificate into the Secret.",
                            .labels = k->label[i],
                            .kind = METRIC_COUNTER};
        metric_register(&k->writes[i]);
    }
}

int certificate_keeper_new(const struct certificate_keeper_options *options,
                           struct certificate_keeper **ret, struct err *err) {
    struct certificate_keeper *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory to keep certificates");
    k->options = *options;
    k->io = kube_io_or_real(options->io);
    if (k->options.clock == NULL)
        k->options.clock = clock_real();
    /* Names of Kubernetes are at most 63 and 253 bytes long; longer ones are answered with 404. */
    (void)snprintf(k->collection, sizeof k->collection,
                   "/api/v1/namespaces/%s/secrets?fieldManager=evenkeel", options->namespace);
    (void)snprintf(k->path, sizeof k->path,
                   "/api/v1/namespaces/%s/secrets/%s?fieldManager=evenkeel", options->namespace,
                   options->name);
    k->request = (struct kube_request){.on_done = on_done, .ctx = k};
    k->timer = (struct kube_timer){.fn = on_timer, .ctx = k};
    k->write_at_ms = INT64_MIN;
    register_metrics(k);
    *ret = k;
    return 0;
}

static void stop(void *ctx) {
    struct certificate_keeper *k = ctx;
    k->stopped = true;
    k->io.request_cancel(k->options.client, &k->request);
    k->io.timer_cancel(k->options.client, &k->timer);
}

void certificate_keeper_free(struct certificate_keeper *k) {
    if (k == NULL)
        return;
    k->io.run(k->options.client, stop, k);
    for (int i = 0; i < RESULTS; i++)
        metric_unregister(&k->writes[i]);
    wipe(k);
    key_done(&k->body);
    strbuf_done(&k->trusted);
    free(k);
}

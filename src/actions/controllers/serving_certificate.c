#include "controllers/serving_certificate.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "certs/authority.h"
#include "certs/inspect.h"
#include "certs/rotation.h"
#include "controllers/reasons.h"
#include "kube/objects/tls_secret.h"
#include "model/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TICK_MS = 10000,   /* between two checks of dates: clocks jump */
    LEARN_MS = 5000,   /* the time in which API servers load a new bundle */
    WRITE_MS = 60000,  /* between two of our writes */
    RETRY_MS = 1000,   /* after a failure, doubled up to WRITE_MS */
    EXPIRES_DAYS = 14, /* days before the end when to warn */
    SECONDS_PER_DAY = 86400,
};

enum { WRITTEN, CONFLICT, FAILED, RESULTS };

const struct certificate_names certificate_of_webhook = {
    "the webhook", "webhook", "use webhook.certificates.mode Secret, or another secretName"};
const struct certificate_names certificate_of_extender = {
    "the extender", "extender", "use extender.certificates.mode Secret, or another secretName"};
const struct certificate_names certificate_of_client = {
    "kube-scheduler", "client", "set another extender.certificates.clientSecretName, or empty it"};

struct certificate_controller {
    struct certificate_controller_options options;
    struct kube_io io;
    struct write_handle *writes;

    /* as the watch showed the Secret */
    bool listed, exists, named, ours; /* named: in the listing that is under way */
    char uid[64], version[64];
    struct strbuf ca, ca_key, certificate, key;

    struct strbuf trusted;           /* the bundle as last handed over */
    struct strbuf kept_ca, kept_key; /* the last good authority, with keep_authority */
    bool pair_waits, had_pair;
    int64_t pair_at_ms; /* when the pair that waits may be handed over */

    const char *why;     /* the reason of the write under way */
    bool with_authority; /* that write replaces the authority */
    bool said_absent, said_empty, said_foreign, said_unsigned;
    enum { NO_END, NEAR_END, ENDED } said_end; /* present certificate's end, as last reported */

    struct kube_timer timer;
    char label[RESULTS][64];
    struct metric results[RESULTS];
};

static int64_t now_ms(const struct certificate_controller *k) {
    return k->options.clock->now_ms(k->options.clock);
}

/* Returns the API server's time: it checks our certificates, and replicas agree on its clock. */
static int64_t now_s(const struct certificate_controller *k) {
    return k->io.server_us(k->options.client) / 1000000;
}

static void report(struct certificate_controller *k, enum controller_reason why, const char *note) {
    const struct event_reason *reason = &controller_reasons[why];
    const struct event event = {.regarding = {STR("v1"), STR(SECRET_KIND),
                                              str_of(k->options.namespace), str_of(k->options.name),
                                              str_of(k->uid)},
                                .type = reason->type,
                                .reason = str_of(reason->name),
                                .note = str_of(note)};
    event_record(k->options.events, &event);
}

#define SECRET(k)                                                                                  \
    LOG_CSTR("of", (k)->options.names->of), LOG_CSTR("namespace", (k)->options.namespace),         \
        LOG_CSTR("secret", (k)->options.name)

/* ---- the kept authority ---- */

static bool has_certificates(struct str pem) {
    CLEANUP(arena_done) struct arena arena;
    struct certificate *all;
    size_t count;
    arena_init(&arena, LIMIT_CONFIG_BYTES);
    return certificates_read(pem, &arena, &all, &count, NULL) == 0;
}

/* Has the Secret lost the kept authority? It has no authority's certificate, or another one with
 * the kept key. A user who wants another authority replaces the key, too. */
static bool has_lost_authority(const struct certificate_controller *k) {
    bool fits = false;
    if (k->kept_ca.n == 0 || str_eq(strbuf_str(&k->ca), strbuf_str(&k->kept_ca)))
        return false;
    return !has_certificates(strbuf_str(&k->ca)) ||
           (certificate_has_key(strbuf_str(&k->kept_ca), strbuf_str(&k->ca_key), &fits, NULL) ==
                0 &&
            fits);
}

/* ---- handing over ---- */

/* Does a client that trusts the last bundle trust this leaf, dates aside? */
static bool is_trusted(const struct certificate_controller *k) {
    const struct certificate_trust trust = {.chain_pem = strbuf_str(&k->certificate),
                                            .ca_pem = strbuf_str(&k->trusted),
                                            .at_any_time = true};
    return certificate_verify(&trust, NULL, NULL) == 0;
}

/* Hands over neither bundle nor pair if the Secret is about to get its authority back. */
static void hand_over_bundle(struct certificate_controller *k) {
    if (k->ours && has_lost_authority(k)) {
        k->pair_waits = false;
        return;
    }
    k->pair_waits = k->certificate.n > 0 && k->key.n > 0;
    k->pair_at_ms = k->had_pair && !is_trusted(k) ? now_ms(k) + LEARN_MS : now_ms(k);
    strbuf_clear(&k->trusted);
    strbuf_append_str(&k->trusted, strbuf_str(&k->ca));
    k->said_end = NO_END;
    if (k->options.on_bundle != NULL)
        k->options.on_bundle(k->options.ctx, strbuf_str(&k->ca), strbuf_str(&k->certificate));
}

static void hand_over_pair(struct certificate_controller *k) {
    if (!k->pair_waits || now_ms(k) < k->pair_at_ms)
        return;
    k->pair_waits = false;
    k->had_pair = true;
    if (k->options.on_pair != NULL)
        k->options.on_pair(k->options.ctx, strbuf_str(&k->certificate), strbuf_str(&k->key));
}

/* Warns of the end of a certificate that this process does not renew. */
static void warn_of_end(struct certificate_controller *k) {
    CLEANUP(arena_done) struct arena arena;
    const char *of = k->options.names->of;
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
        (void)snprintf(note, sizeof note, "%s's certificate has expired", of); /* the texts fit */
    else
        (void)snprintf(note, sizeof note, "%s's certificate expires in %lld hours", of,
                       (long long)(left_s / 3600));
    LOG_W(ended
              ? "a certificate has expired, and is refused: whoever fills the Secret must renew it"
              : "a certificate ends soon: whoever fills the Secret must renew it",
          SECRET(k), LOG_INT("not_after", chain[0].not_after_s));
    report(k, REASON_CERTIFICATE_EXPIRES, note);
}

/* ---- writing ---- */

static void put_write(struct certificate_controller *k, const struct rotation *made,
                      struct write *ret) {
    const struct tls_secret texts = {.version = str_of(k->version),
                                     .ca = strbuf_str(&made->ca),
                                     .ca_key = strbuf_str(&made->ca_key),
                                     .certificate = strbuf_str(&made->certificate),
                                     .key = strbuf_str(&made->key)};
    ret->verb = k->exists ? WRITE_MERGE : WRITE_CREATE;
    strbuf_appendf(&ret->path, "/api/v1/namespaces/%s/secrets", k->options.namespace);
    if (k->exists) {
        strbuf_appendf(&ret->path, "/%s", k->options.name);
        tls_secret_put_patch(&ret->body, &texts);
    } else {
        tls_secret_put_new(&ret->body, str_of(k->options.namespace), str_of(k->options.name),
                           &texts);
    }
    k->why = made->why;
    k->with_authority = made->authority_is_new && k->trusted.n > 0;
}

/* Is the Secret ours to write? If not, reports it once. */
static bool may_write(struct certificate_controller *k) {
    if (!k->exists || k->ours)
        return true;
    if (!k->said_foreign) {
        LOG_E("the Secret holds certificates that Evenkeel has not made: they are served as they "
              "are, and not renewed",
              SECRET(k));
        char note[256];
        (void)snprintf(
            note, sizeof note,
            "its certificates were not made by Evenkeel, which %s will not renew them: %s",
            k->options.signer == NULL ? "serves them and" : "uses none of them and",
            k->options.names->advice); /* fits */
        report(k, REASON_CERTIFICATE_NOT_OURS, note);
    }
    k->said_foreign = true;
    return false;
}

/* Plans again with the kept authority put back; the other parts of the Secret may still be good. */
static int plan_again(const struct certificate_controller *k, struct rotation_request *request,
                      struct rotation *ret, struct err *err) {
    const char *why = ret->why;
    rotation_done(ret);
    *ret = (struct rotation){.why = NULL};
    request->now.ca = strbuf_str(&k->kept_ca);
    request->now.ca_key = strbuf_str(&k->kept_key);
    int r = rotation_plan(request, ret, err);
    if (r == 0 && ret->why == NULL) {
        strbuf_append_str(&ret->ca, request->now.ca);
        strbuf_append_str(&ret->ca_key, request->now.ca_key);
        strbuf_append_str(&ret->certificate, request->now.certificate);
        strbuf_append_str(&ret->key, request->now.key);
    }
    ret->why = why;
    return r;
}

/* Is the signer's authority ours to sign with? If not, reports it once. */
static bool may_sign(struct certificate_controller *k) {
    const struct certificate_controller *signer = k->options.signer;
    bool foreign = signer != NULL && signer->exists && !signer->ours;
    if (foreign && !k->said_unsigned) {
        LOG_E("the certificate is neither made nor renewed: the authority that would sign it is "
              "in a Secret that Evenkeel has not made",
              SECRET(k), LOG_CSTR("signer", signer->options.name));
        report(k, REASON_CERTIFICATE_NOT_OURS,
               "the certificate is neither made nor renewed, because Evenkeel has no authority to "
               "sign it: the other Secret was not made by Evenkeel");
    }
    k->said_unsigned = foreign;
    return !foreign;
}

static int plan_server(const struct certificate_controller *k, struct rotation *ret,
                       struct err *err) {
    struct rotation_request request = {.now = {strbuf_str(&k->ca), strbuf_str(&k->ca_key),
                                               strbuf_str(&k->certificate), strbuf_str(&k->key)},
                                       .trusted = strbuf_str(&k->trusted),
                                       .hosts = k->options.hosts,
                                       .host_count = k->options.host_count,
                                       .now_s = now_s(k)};
    int r = rotation_plan(&request, ret, err);
    bool lost = r == 0 && ret->authority_is_new && has_lost_authority(k);
    return lost ? plan_again(k, &request, ret, err) : r;
}

static int plan_client(const struct certificate_controller *k, struct rotation *ret,
                       struct err *err) {
    const struct rotation_client_request request = {
        .ca = strbuf_str(&k->options.signer->ca),
        .ca_key = strbuf_str(&k->options.signer->ca_key),
        .now = {.ca = strbuf_str(&k->ca),
                .certificate = strbuf_str(&k->certificate),
                .key = strbuf_str(&k->key)},
        .common_name = k->options.common_name,
        .days = k->options.days,
        .now_s = now_s(k)};
    return rotation_plan_client(&request, ret, err);
}

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    struct certificate_controller *k = ctx;
    CLEANUP(rotation_done) struct rotation made = {.why = NULL};
    (void)name; /* there is only one Secret */
    if (!may_write(k) || !may_sign(k))
        return 0;
    int r = k->options.signer != NULL ? plan_client(k, &made, err) : plan_server(k, &made, err);
    if (r == 0 && made.why != NULL)
        put_write(k, &made, ret);
    return r;
}

/* Does all that is due now, and sets the timer for the next check. */
static void consider(struct certificate_controller *k) {
    if (!k->listed)
        return;
    hand_over_pair(k);
    if (k->options.self_signed && may_write(k) && may_sign(k))
        writer_want(k->writes, str_of(k->options.name), 0);
    if (!k->options.self_signed || !k->ours)
        warn_of_end(k);
    if (!k->options.self_signed && !k->exists && !k->said_absent)
        LOG_W("the Secret with the certificate is not there yet", SECRET(k));
    k->said_absent = !k->exists;
    bool is_empty = k->exists && (k->certificate.n == 0 || k->key.n == 0);
    if (!k->options.self_signed && is_empty && !k->said_empty)
        LOG_W("the Secret has no certificate yet: whoever fills it must put tls.crt and tls.key "
              "into it",
              SECRET(k));
    k->said_empty = is_empty;
    int64_t now = now_ms(k), next = now + TICK_MS;
    if (k->pair_waits && k->pair_at_ms < next)
        next = k->pair_at_ms;
    k->io.timer_start(k->options.client, &k->timer, next - now);
}

static void on_timer(void *ctx) {
    consider(ctx);
}

void certificate_controller_look(struct certificate_controller *k) {
    consider(k);
}

/* The watch shows the Secret's new content. */
static void done(void *ctx, struct str name, const struct write_result *result) {
    struct certificate_controller *k = ctx;
    bool conflict = result->end == WRITE_CONFLICT;
    char note[160];
    (void)name; /* there is only one Secret */
    if (result->end == WRITE_DONE) {
        metric_add(&k->results[WRITTEN], 1);
        LOG_I("issued a certificate", SECRET(k), LOG_CSTR("because", k->why));
        if (k->with_authority && k->options.keep_authority)
            LOG_W("a new authority signs the next certificates: kube-scheduler reads its caFile at "
                  "its start only, so start it again with the new ca.crt",
                  SECRET(k));
        (void)snprintf(note, sizeof note, "issued: %s", k->why); /* fits */
        report(k, REASON_CERTIFICATE_ISSUED, note);
    } else {
        metric_add(&k->results[conflict ? CONFLICT : FAILED], 1);
        if (!conflict)
            LOG_E("cannot write a certificate", SECRET(k), LOG_STR("err", result->problem));
    }
}

/* ---- the watch's sink ---- */

static bool put(struct strbuf *to, struct str text) {
    if (str_eq(strbuf_str(to), text))
        return false;
    key_done(to);
    strbuf_append_str(to, text);
    return true;
}

/* Keeps a copy of the authority for the case that the Secret loses it. */
static void keep_authority(struct certificate_controller *k) {
    CLEANUP(authority_freep) struct authority *a = NULL;
    if (!k->options.keep_authority || !k->ours ||
        authority_load(strbuf_str(&k->ca), strbuf_str(&k->ca_key), &a, NULL) != 0)
        return;
    (void)put(&k->kept_ca, strbuf_str(&k->ca)); /* a change does not matter, here and below */
    (void)put(&k->kept_key, strbuf_str(&k->ca_key));
}

static int apply(void *ctx, struct str object, struct err *err) {
    struct certificate_controller *k = ctx;
    CLEANUP(arena_done) struct arena arena;
    struct tls_secret s;
    arena_init(&arena, 2 * LIMIT_KUBE_BODY);
    int r = tls_secret_read(object, &arena, &s, err);
    if (r != 0)
        return r;
    bool changed = put(&k->ca, s.ca);
    changed |= put(&k->certificate, s.certificate);
    changed |= put(&k->key, s.key);
    (void)put(&k->ca_key, s.ca_key); /* it is handed over to nobody */
    k->exists = k->named = true;
    k->ours = s.ours;
    k->said_foreign = k->said_foreign && !s.ours;
    keep_authority(k);
    (void)snprintf(k->uid, sizeof k->uid, "%.*s", STR_ARG(s.uid));             /* a UUID */
    (void)snprintf(k->version, sizeof k->version, "%.*s", STR_ARG(s.version)); /* a number */
    if (changed)
        hand_over_bundle(k);
    writer_refresh(k->writes, str_of(k->options.name));
    consider(k);
    return 0;
}

static void wipe(struct certificate_controller *k) {
    key_done(&k->ca);
    key_done(&k->ca_key);
    key_done(&k->certificate);
    key_done(&k->key);
}

/* Forgets the deleted Secret. Its pair stays in use, and its bundle trusted. */
static void forget(struct certificate_controller *k) {
    if (k->exists)
        LOG_W("the Secret with the certificate is gone", SECRET(k));
    k->exists = k->ours = k->pair_waits = false;
    k->version[0] = k->uid[0] = '\0';
    wipe(k);
}

static int remove_object(void *ctx, struct str object, struct err *err) {
    (void)object, (void)err; /* there is only one object */
    forget(ctx);
    consider(ctx);
    return 0;
}

static void sync_begin(void *ctx) {
    struct certificate_controller *k = ctx;
    k->named = false;
}

static void sync_end(void *ctx) {
    struct certificate_controller *k = ctx;
    k->listed = true;
    if (!k->named)
        forget(k);
    consider(k);
}

struct reflector_sink certificate_controller_sink(struct certificate_controller *k) {
    return (struct reflector_sink){k, sync_begin, sync_end, apply, remove_object, NULL};
}

/* ---- life ---- */

static void register_metrics(struct certificate_controller *k) {
    static const char *const results[RESULTS] = {"success", "conflict", "error"};
    for (int i = 0; i < RESULTS; i++) {
        (void)snprintf(k->label[i], sizeof k->label[i], "certificate=\"%s\",result=\"%s\"",
                       k->options.names->label, results[i]); /* fits */
        k->results[i] =
            (struct metric){.name = "evenkeel_certificate_writes_total",
                            .help = "Attempts to write a new certificate into the Secret.",
                            .labels = k->label[i],
                            .kind = METRIC_COUNTER};
        metric_register(&k->results[i]);
    }
}

int certificate_controller_new(const struct certificate_controller_options *options,
                               struct certificate_controller **ret, struct err *err) {
    struct certificate_controller *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory to keep certificates");
    k->options = *options;
    k->io = kube_io_or_real(options->io);
    if (k->options.clock == NULL)
        k->options.clock = clock_real();
    k->timer = (struct kube_timer){.fn = on_timer, .ctx = k};
    register_metrics(k);
    const struct write_owner owner = {.what = "secrets",
                                      .lane = {.objects = 1,
                                               .again_ms = WRITE_MS,
                                               .retry_ms = RETRY_MS,
                                               .retry_max_ms = WRITE_MS},
                                      .make = make,
                                      .done = done,
                                      .ctx = k};
    int r = writer_join(options->writer, &owner, &k->writes, err);
    if (r == 0)
        *ret = k;
    else
        certificate_controller_free(k);
    return r;
}

void certificate_controller_free(struct certificate_controller *k) {
    if (k == NULL)
        return;
    k->io.timer_cancel(k->options.client, &k->timer);
    writer_leave(k->writes);
    for (int i = 0; i < RESULTS; i++)
        metric_unregister(&k->results[i]);
    wipe(k);
    strbuf_done(&k->trusted);
    strbuf_done(&k->kept_ca);
    key_done(&k->kept_key);
    free(k);
}

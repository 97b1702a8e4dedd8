#include "controllers/ca_bundle.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "certs/bundle.h"
#include "certs/inspect.h"
#include "controllers/reasons.h"
#include "kube/objects/webhook_configuration.h"
#include "model/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MANAGER "evenkeel"

enum {
    JITTER_MS = 500,
    REACTION_MS = 8000, /* a rewrite within this time of our repair is an answer to it */
    ANSWER_MS = 1000,   /* the first wait after an answer; each answer doubles it */
    ANSWER_MAX_MS = 300000,
    RETRY_MS = 1000, /* after a failure, doubled */
    RETRY_MAX_MS = 60000,
    ARENA_BYTES = 2 * LIMIT_KUBE_EVENT,
};

enum { WRITTEN, CONFLICT, FAILED, RESULTS };

/* The object's state when it was last checked. */
enum state { UNKNOWN, RIGHT, WRONG, ABSENT };

struct ca_bundle_controller {
    struct ca_bundle_controller_options options;
    struct write_handle *writes;
    struct strbuf bundle, certificate; /* the bundle and the certificate that are wanted */

    bool exists, named;   /* named: in the listing that is under way */
    struct strbuf object; /* the configuration as the watch showed it last */
    enum state state;
    int64_t right_ms;  /* when the bundle last became right; INT64_MIN: never */
    int64_t answer_ms; /* the present wait before a repair; 0: write at once */
    bool planned;      /* a write was requested and not made yet */
    char uid[64];      /* the object's uid; "" if it is longer than a real uid */

    char what[320], label[RESULTS + 1][320];
    struct metric is_right, foreign, results[RESULTS];
};

static int64_t now_ms(const struct ca_bundle_controller *k) {
    return k->options.clock->now_ms(k->options.clock);
}

static void report(struct ca_bundle_controller *k, struct str uid, enum controller_reason why,
                   const char *note) {
    const struct event_reason *reason = &controller_reasons[why];
    const struct event event = {.regarding = {STR(WEBHOOKS_API),
                                              str_of(webhook_kinds[k->options.kind].kind), STR(""),
                                              str_of(k->options.name), uid},
                                .type = reason->type,
                                .reason = str_of(reason->name),
                                .note = str_of(note)};
    event_record(k->options.events, &event);
}

/* ---- judging ---- */

/* Marks our entries that have another bundle. Returns the number of our entries. */
static uint32_t compare(const struct ca_bundle_controller *k, struct webhook_configuration *c,
                        uint32_t *ret_wrong) {
    uint32_t ours = 0;
    *ret_wrong = 0;
    for (uint32_t i = 0; i < c->entry_count; i++) {
        struct webhook_entry *e = &c->entries[i];
        bool covered = false;
        if (certificate_covers(strbuf_str(&k->certificate), e->host, &covered, NULL) != 0 ||
            !covered)
            continue;
        ours++;
        e->wrong = !bundle_same(e->bundle, strbuf_str(&k->bundle));
        *ret_wrong += e->wrong;
    }
    return ours;
}

/* Requests a write. A write that is already planned keeps its time. */
static void plan(struct ca_bundle_controller *k, int64_t delay_ms) {
    if (!k->planned)
        writer_want(k->writes, str_of(k->options.name), delay_ms);
    k->planned = true;
}

static void plan_nothing(struct ca_bundle_controller *k) {
    k->planned = false;
    writer_drop(k->writes, str_of(k->options.name));
}

/* Reports that another writer changed a right caBundle, and chooses the wait before the repair. */
static void blame(struct ca_bundle_controller *k, const struct webhook_configuration *c) {
    char note[700];
    metric_add(&k->foreign, 1);
    k->answer_ms = now_ms(k) - k->right_ms >= REACTION_MS ? 0
                   : k->answer_ms == 0                    ? ANSWER_MS
                                                          : 2 * k->answer_ms;
    k->answer_ms = k->answer_ms > ANSWER_MAX_MS ? ANSWER_MAX_MS : k->answer_ms;
    LOG_W("the webhook's caBundle was rewritten by somebody else",
          LOG_CSTR("configuration", k->options.name),
          LOG_STR(c->writer_owns_bundle ? "manager" : "perhaps", c->writer),
          LOG_INT("mended_in_ms", k->answer_ms));
    if (c->writer_owns_bundle)
        (void)snprintf(
            note, sizeof note,
            "field manager '%.*s' rewrote the caBundle, which Evenkeel is about to repair; make "
            "the manager leave webhooks[].clientConfig.caBundle alone",
            STR_ARG(c->writer)); /* fits, here and below: 256 bytes of it at most */
    else
        (void)snprintf(
            note, sizeof note,
            "somebody removed the caBundle, which Evenkeel is about to repair; API servers "
            "do not say who, but '%.*s' was the last other field manager of the object",
            STR_ARG(c->writer));
    report(k, c->uid, REASON_CA_BUNDLE_REWRITTEN, note);
}

static void became_right(struct ca_bundle_controller *k) {
    if (k->state != RIGHT) {
        LOG_I("API servers are told to trust the webhook's certificate",
              LOG_CSTR("configuration", k->options.name));
        k->right_ms = now_ms(k);
    }
    k->state = RIGHT;
    plan_nothing(k);
}

static void became_wrong(struct ca_bundle_controller *k, const struct webhook_configuration *c) {
    if (k->state == RIGHT)
        blame(k, c);
    /* if the object, or our certificate, is new, no other writer is at fault: do not wait */
    int64_t wait_ms = k->state == RIGHT || k->state == WRONG ? k->answer_ms : 0;
    k->state = WRONG;
    plan(k, wait_ms + (int64_t)random_below(&k->options.seed, JITTER_MS));
}

static void judge(struct ca_bundle_controller *k) {
    CLEANUP(arena_done) struct arena arena;
    struct webhook_configuration c;
    struct err err = {0};
    uint32_t wrong;
    arena_init(&arena, ARENA_BYTES);
    if (!k->exists || k->bundle.n == 0)
        return;
    if (webhook_configuration_read(strbuf_str(&k->object), STR(MANAGER), &arena, &c, &err) != 0) {
        LOG_E("cannot read the webhook's configuration", LOG_CSTR("configuration", k->options.name),
              LOG_ERRTEXT(&err));
        return;
    }
    (void)snprintf(k->uid, sizeof k->uid, "%.*s", c.uid.n < sizeof k->uid ? (int)c.uid.n : 0,
                   c.uid.p); /* fits */
    if (compare(k, &c, &wrong) == 0) {
        LOG_W("no webhook of the configuration calls a name that the certificate is for",
              LOG_CSTR("configuration", k->options.name));
        k->state = UNKNOWN;
        plan_nothing(k);
    } else if (wrong == 0) {
        became_right(k);
    } else {
        became_wrong(k, &c);
    }
    metric_set(&k->is_right, k->state == RIGHT);
}

/* ---- writing ---- */

/* The same words for the same error, so that the Event counts repetitions. */
static void report_failure(struct ca_bundle_controller *k, struct str problem) {
    char note[700];
    (void)snprintf(note, sizeof note,
                   "the caBundle is wrong and could not be repaired: %.*s; until then API servers "
                   "do not trust Evenkeel's answers",
                   (int)(problem.n < 500 ? problem.n : 500), problem.p); /* fits */
    report(k, str_of(k->uid), REASON_CA_BUNDLE_NOT_REPAIRED, note);
}

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    struct ca_bundle_controller *k = ctx;
    CLEANUP(arena_done) struct arena arena;
    struct webhook_configuration c;
    uint32_t wrong;
    arena_init(&arena, ARENA_BYTES);
    k->planned = false;
    if (!k->exists ||
        webhook_configuration_read(strbuf_str(&k->object), STR(MANAGER), &arena, &c, err) != 0)
        return 0;                 /* an unreadable object was logged when it arrived */
    (void)compare(k, &c, &wrong); /* the number was logged */
    if (wrong == 0)
        return 0;
    ret->verb = WRITE_STRATEGIC;
    strbuf_appendf(&ret->path, "%s/", webhook_kinds[k->options.kind].path);
    strbuf_append_str(&ret->path, name);
    webhook_configuration_put_patch(&ret->body, &c, strbuf_str(&k->bundle));
    return 0;
}

/* The watch shows the object's new version, also after a conflict or a deletion. */
static void done(void *ctx, struct str name, const struct write_result *result) {
    struct ca_bundle_controller *k = ctx;
    bool conflict = result->end == WRITE_CONFLICT || result->end == WRITE_GONE;
    metric_add(&k->results[result->end == WRITE_DONE ? WRITTEN : conflict ? CONFLICT : FAILED], 1);
    if (conflict && !k->planned)
        writer_drop(k->writes, name);
    if (conflict || result->end == WRITE_DONE)
        return;
    LOG_E("cannot write the webhook's caBundle", LOG_CSTR("configuration", k->options.name),
          LOG_STR("err", result->problem));
    if (result->status != 0) /* otherwise nobody would take the Event either */
        report_failure(k, result->problem);
}

/* ---- the watch's sink ---- */

static int apply(void *ctx, struct str object, struct err *err) {
    struct ca_bundle_controller *k = ctx;
    k->object.max = LIMIT_KUBE_EVENT;
    strbuf_clear(&k->object);
    strbuf_append_str(&k->object, object);
    if (strbuf_failed(&k->object))
        return err_set(err, -ENOMEM, "no memory for a webhook's configuration");
    k->exists = k->named = true;
    writer_refresh(k->writes, str_of(k->options.name));
    judge(k);
    return 0;
}

static void gone(struct ca_bundle_controller *k) {
    k->exists = false;
    plan_nothing(k);
    metric_set(&k->is_right, 0);
    if (k->state == ABSENT)
        return;
    LOG_W("the webhook's configuration is missing: no API server calls Evenkeel, and Evenkeel does "
          "not create it again",
          LOG_CSTR("configuration", k->options.name));
    report(k, STR(""), REASON_CONFIGURATION_MISSING,
           "the configuration is missing, so API servers do not call Evenkeel; apply it again, or "
           "remove it from webhook.certificates");
    k->state = ABSENT;
}

static int remove_object(void *ctx, struct str object, struct err *err) {
    (void)object, (void)err; /* there is only one object */
    gone(ctx);
    return 0;
}

static void sync_begin(void *ctx) {
    struct ca_bundle_controller *k = ctx;
    k->named = false;
}

static void sync_end(void *ctx) {
    struct ca_bundle_controller *k = ctx;
    if (!k->named)
        gone(k);
}

struct reflector_sink ca_bundle_controller_sink(struct ca_bundle_controller *k) {
    return (struct reflector_sink){k, sync_begin, sync_end, apply, remove_object, NULL};
}

void ca_bundle_controller_trust(struct ca_bundle_controller *k, struct str bundle,
                                struct str certificate) {
    if (bundle_same(bundle, strbuf_str(&k->bundle)) &&
        str_eq(certificate, strbuf_str(&k->certificate)))
        return;
    strbuf_clear(&k->bundle);
    strbuf_append_str(&k->bundle, bundle);
    strbuf_clear(&k->certificate);
    strbuf_append_str(&k->certificate, certificate);
    if (k->state == RIGHT)
        k->state = UNKNOWN; /* if it is wrong now, our new certificate is the cause */
    judge(k);
}

/* ---- life ---- */

static void register_metrics(struct ca_bundle_controller *k) {
    static const char *const results[RESULTS] = {"success", "conflict", "error"};
    char *label = k->label[RESULTS];
    const char *prefix = k->options.kind == WEBHOOK_VALIDATING ? "validating/" : "";
    (void)snprintf(label, sizeof k->label[0], "configuration=\"%s%s\"", prefix, k->options.name);
    k->is_right = (struct metric){.name = "evenkeel_webhook_configuration_right",
                                  .help = "Whether the configuration exists and makes API servers "
                                          "trust the webhook's certificate.",
                                  .labels = label,
                                  .kind = METRIC_GAUGE};
    k->foreign = (struct metric){.name = "evenkeel_ca_bundle_foreign_writes_total",
                                 .help = "Times that somebody else made a right caBundle wrong.",
                                 .labels = label,
                                 .kind = METRIC_COUNTER};
    metric_register(&k->is_right);
    metric_register(&k->foreign);
    for (int i = 0; i < RESULTS; i++) {
        (void)snprintf(k->label[i], sizeof k->label[0], "configuration=\"%s%s\",result=\"%s\"",
                       prefix, k->options.name, results[i]);
        k->results[i] = (struct metric){.name = "evenkeel_ca_bundle_writes_total",
                                        .help = "Attempts to write a caBundle.",
                                        .labels = k->label[i],
                                        .kind = METRIC_COUNTER};
        metric_register(&k->results[i]);
    }
}

int ca_bundle_controller_new(const struct ca_bundle_controller_options *options,
                             struct ca_bundle_controller **ret, struct err *err) {
    struct ca_bundle_controller *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory to keep a caBundle");
    k->options = *options;
    if (k->options.clock == NULL)
        k->options.clock = clock_real();
    k->right_ms = INT64_MIN;
    (void)snprintf(k->what, sizeof k->what, "%s/%s", webhook_kinds[options->kind].resource,
                   options->name); /* fits */
    register_metrics(k);
    const struct write_owner owner = {
        .what = k->what,
        .lane = {.objects = 1, .retry_ms = RETRY_MS, .retry_max_ms = RETRY_MAX_MS},
        .make = make,
        .done = done,
        .ctx = k};
    int r = writer_join(options->writer, &owner, &k->writes, err);
    if (r == 0)
        *ret = k;
    else
        ca_bundle_controller_free(k);
    return r;
}

void ca_bundle_controller_free(struct ca_bundle_controller *k) {
    if (k == NULL)
        return;
    writer_leave(k->writes);
    metric_unregister(&k->is_right);
    metric_unregister(&k->foreign);
    for (int i = 0; i < RESULTS; i++)
        metric_unregister(&k->results[i]);
    strbuf_done(&k->bundle);
    strbuf_done(&k->certificate);
    strbuf_done(&k->object);
    free(k);
}

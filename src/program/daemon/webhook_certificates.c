#include "daemon/webhook_certificates.h"

#include "base/clock.h"
#include "controllers/ca_bundle.h"
#include "controllers/serving_certificate.h"
#include "daemon/listener_certificate.h"
#include "kube/election/lease.h"
#include "kube/watch/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVENTS_MS = 2000 };

/* One watched object, and the controller that it feeds. */
struct watched {
    struct named_watch watch;
    struct ca_bundle_controller *controller; /* NULL for the Secret */
};

struct webhook_certificates {
    char identity[LEASE_IDENTITY_SIZE], from[384];
    struct kube_client *client;
    struct writer *writer;
    struct event_recorder *events;
    struct certificate_controller *controller;
    struct watched *watched; /* owned: the Secret, then the configurations */
    size_t count;
    struct listener_certificate served;
};

/* ---- handing over ---- */

/* Runs on the client's thread, like on_bundle(). */
static void on_pair(void *ctx, struct str certificate, struct str key) {
    struct webhook_certificates *c = ctx;
    listener_certificate_set_pair(&c->served, certificate, key);
}

static void on_bundle(void *ctx, struct str bundle, struct str certificate) {
    struct webhook_certificates *c = ctx;
    for (size_t i = 0; i < c->count; i++)
        if (c->watched[i].controller != NULL)
            ca_bundle_controller_trust(c->watched[i].controller, bundle, certificate);
}

void webhook_certificates_serve(struct webhook_certificates *c, struct http_listener *listener) {
    if (c != NULL)
        listener_certificate_serve(&c->served, listener);
}

_Atomic bool *webhook_certificates_ready(struct webhook_certificates *c) {
    return c != NULL ? &c->served.ready : NULL;
}

/* ---- starting ---- */

/* Returns the kind of watched object i. Object 0 is the Secret; mutating configurations follow,
 * then validating configurations. */
static enum webhook_kind kind_at(const struct configuration_certificates *o, size_t i) {
    return i <= o->configuration_count ? WEBHOOK_MUTATING : WEBHOOK_VALIDATING;
}

static const char *name_at(const struct configuration_certificates *o, size_t i) {
    return i <= o->configuration_count ? o->configurations[i - 1]
                                       : o->validating[i - 1 - o->configuration_count];
}

static int make_controllers(struct webhook_certificates *c,
                            const struct configuration_certificates *o, const char *namespace,
                            struct err *err) {
    const struct certificate_controller_options options = {.names = &certificate_of_webhook,
                                                           .client = c->client,
                                                           .writer = c->writer,
                                                           .events = c->events,
                                                           .namespace = namespace,
                                                           .name = o->secret,
                                                           .self_signed =
                                                               o->mode == CERTIFICATES_SELF_SIGNED,
                                                           .hosts = o->hosts,
                                                           .host_count = o->host_count,
                                                           .on_bundle = on_bundle,
                                                           .on_pair = on_pair,
                                                           .ctx = c};
    int r = certificate_controller_new(&options, &c->controller, err);
    for (size_t i = 1; r == 0 && i < c->count; i++) {
        const struct ca_bundle_controller_options bundle = {.writer = c->writer,
                                                            .events = c->events,
                                                            .kind = kind_at(o, i),
                                                            .name = name_at(o, i),
                                                            .seed = (uint64_t)clock_now_ns() ^
                                                                    (uint64_t)getpid() << 32};
        r = ca_bundle_controller_new(&bundle, &c->watched[i].controller, err);
    }
    return r;
}

/* Starts the watches. All controllers exist before the first watch can deliver an object. */
static int watch_all(struct webhook_certificates *c, const struct configuration_certificates *o,
                     const char *namespace, struct err *err) {
    char secrets[192];
    (void)snprintf(secrets, sizeof secrets, "/api/v1/namespaces/%s/secrets", namespace); /* fits */
    const struct named_watch_options secret = {.resource = "secrets",
                                               .path = secrets,
                                               .name = o->secret,
                                               .sink = certificate_controller_sink(c->controller)};
    int r = named_watch_start(&c->watched[0].watch, c->client, &secret, err);
    for (size_t i = 1; r == 0 && i < c->count; i++) {
        struct watched *w = &c->watched[i];
        const struct webhook_kind_row *row = &webhook_kinds[kind_at(o, i)];
        const struct named_watch_options options = {.resource = row->resource,
                                                    .path = row->path,
                                                    .name = name_at(o, i),
                                                    .sink =
                                                        ca_bundle_controller_sink(w->controller)};
        r = named_watch_start(&w->watch, c->client, &options, err);
    }
    return r;
}

static int begin(struct webhook_certificates *c, const struct configuration_certificates *o,
                 const struct kube_access *access, struct err *err) {
    const char *namespace = o->namespace != NULL ? o->namespace : access->namespace;
    c->count = 1 + o->configuration_count + o->validating_count;
    c->watched = calloc(c->count, sizeof *c->watched);
    if (c->watched == NULL)
        return err_set(err, -ENOMEM, "no memory for the webhook's certificate");
    (void)snprintf(c->from, sizeof c->from, "Secret %s/%s", namespace, o->secret); /* fits */
    int r = lease_identity(c->identity, err);
    if (r != 0)
        return r;
    const struct event_options events = {
        .client = c->client, .instance = c->identity, .seed = (uint64_t)clock_now_ns()};
    r = event_recorder_new(&events, &c->events, err);
    if (r == 0)
        r = make_controllers(c, o, namespace, err);
    return r == 0 ? watch_all(c, o, namespace, err) : r;
}

int webhook_certificates_start(const struct configuration *configuration,
                               const struct kube_access *access, struct kube_client *client,
                               struct writer *writer, struct webhook_certificates **ret,
                               struct err *err) {
    *ret = NULL;
    if (configuration->webhook.certificates.mode == CERTIFICATES_FILES || client == NULL ||
        !configuration_listens(configuration->webhook.listen))
        return 0;
    struct webhook_certificates *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for the webhook's certificate");
    c->client = client;
    c->writer = writer;
    listener_certificate_init(&c->served, "webhook", c->from, false);
    int r = begin(c, &configuration->webhook.certificates, access, err);
    if (r == 0)
        *ret = c;
    else
        webhook_certificates_free(c);
    return r;
}

/* ---- stopping ---- */

/* Frees watches before the controllers that they feed. */
void webhook_certificates_free(struct webhook_certificates *c) {
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count && c->watched != NULL; i++)
        named_watch_done(&c->watched[i].watch);
    certificate_controller_free(c->controller);
    for (size_t i = 0; i < c->count && c->watched != NULL; i++)
        ca_bundle_controller_free(c->watched[i].controller);
    free(c->watched);
    event_recorder_stop(c->events, EVENTS_MS);
    event_recorder_free(c->events);
    listener_certificate_done(&c->served);
    free(c);
}

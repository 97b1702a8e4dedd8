#include "daemon/extender_certificates.h"

#include "base/clock.h"
#include "controllers/serving_certificate.h"
#include "daemon/listener_certificate.h"
#include "kube/election/lease.h"
#include "kube/watch/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS_MS = 2000, SECRETS = 2 };

/* A watched Secret. The first is the listener's, the second kube-scheduler's. */
struct secret {
    struct certificate_controller *controller;
    struct named_watch watch;
};

struct extender_certificates {
    char identity[LEASE_IDENTITY_SIZE], from[384], path[192]; /* names and path for the Secrets */
    struct kube_client *client;
    struct writer *writer;
    struct event_recorder *events;
    struct secret secrets[SECRETS];
    struct listener_certificate served;
};

/* ---- handing over; on the client's thread ---- */

static void on_pair(void *ctx, struct str certificate, struct str key) {
    struct extender_certificates *c = ctx;
    listener_certificate_set_pair(&c->served, certificate, key);
}

static void on_bundle(void *ctx, struct str bundle, struct str certificate) {
    struct extender_certificates *c = ctx;
    (void)certificate; /* needed only by API servers, for the webhook */
    listener_certificate_set_client_ca(&c->served, bundle);
    if (c->secrets[1].controller != NULL)
        certificate_controller_look(c->secrets[1].controller);
}

/* ---- starting ---- */

static int make_controllers(struct extender_certificates *c,
                            const struct configuration_certificates *o, const char *namespace,
                            struct err *err) {
    bool makes = o->mode == CERTIFICATES_SELF_SIGNED;
    const struct certificate_controller_options server = {.names = &certificate_of_extender,
                                                          .client = c->client,
                                                          .writer = c->writer,
                                                          .events = c->events,
                                                          .namespace = namespace,
                                                          .name = o->secret,
                                                          .self_signed = makes,
                                                          .keep_authority = makes,
                                                          .hosts = o->hosts,
                                                          .host_count = o->host_count,
                                                          .on_bundle = on_bundle,
                                                          .on_pair = on_pair,
                                                          .ctx = c};
    int r = certificate_controller_new(&server, &c->secrets[0].controller, err);
    const struct certificate_controller_options scheduler = {.names = &certificate_of_client,
                                                             .client = c->client,
                                                             .writer = c->writer,
                                                             .events = c->events,
                                                             .namespace = namespace,
                                                             .name = o->client_secret,
                                                             .self_signed = true,
                                                             .signer = c->secrets[0].controller,
                                                             .common_name = str_of(o->client_name),
                                                             .days = (int)o->client_days};
    return r == 0 && makes ? certificate_controller_new(&scheduler, &c->secrets[1].controller, err)
                           : r;
}

static int watch(struct extender_certificates *c, struct secret *s, const char *name,
                 struct err *err) {
    const struct named_watch_options options = {.resource = "secrets",
                                                .path = c->path,
                                                .name = name,
                                                .sink = certificate_controller_sink(s->controller)};
    return named_watch_start(&s->watch, c->client, &options, err);
}

/* Makes all controllers before the first watch can deliver an object. */
static int begin(struct extender_certificates *c, const struct configuration_certificates *o,
                 const struct kube_access *access, struct err *err) {
    const char *namespace = o->namespace != NULL ? o->namespace : access->namespace;
    (void)snprintf(c->from, sizeof c->from, "Secret %s/%s", namespace, o->secret); /* these fit */
    (void)snprintf(c->path, sizeof c->path, "/api/v1/namespaces/%s/secrets", namespace);
    int r = lease_identity(c->identity, err);
    if (r != 0)
        return r;
    const struct event_options events = {
        .client = c->client, .instance = c->identity, .seed = (uint64_t)clock_now_ns()};
    r = event_recorder_new(&events, &c->events, err);
    if (r == 0)
        r = make_controllers(c, o, namespace, err);
    if (r == 0)
        r = watch(c, &c->secrets[0], o->secret, err);
    if (r == 0 && c->secrets[1].controller != NULL)
        r = watch(c, &c->secrets[1], o->client_secret, err);
    return r;
}

int extender_certificates_start(const struct configuration *configuration,
                                const struct kube_access *access, struct kube_client *client,
                                struct writer *writer, struct extender_certificates **ret,
                                struct err *err) {
    const struct configuration_certificates *o = &configuration->extender.certificates;
    *ret = NULL;
    if (o->mode == CERTIFICATES_FILES || client == NULL ||
        !configuration_listens(configuration->extender.listen))
        return 0;
    if (configuration_secrets_meet(configuration, access->namespace))
        return err_set(err, -EINVAL,
                       "two certificates are to be in one Secret of namespace '%s': give each its "
                       "own: extender.certificates.secretName and clientSecretName, "
                       "webhook.certificates.secretName",
                       access->namespace);
    struct extender_certificates *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for the extender's certificate");
    c->client = client;
    c->writer = writer;
    listener_certificate_init(&c->served, "extender", c->from, true);
    int r = begin(c, o, access, err);
    if (r == 0)
        *ret = c;
    else
        extender_certificates_free(c);
    return r;
}

void extender_certificates_serve(struct extender_certificates *c, struct http_listener *listener) {
    if (c != NULL)
        listener_certificate_serve(&c->served, listener);
}

_Atomic bool *extender_certificates_ready(struct extender_certificates *c) {
    return c != NULL ? &c->served.ready : NULL;
}

/* ---- stopping ---- */

/* Frees watches before their controllers, and a client's certificate before its signer. */
void extender_certificates_free(struct extender_certificates *c) {
    if (c == NULL)
        return;
    for (size_t i = 0; i < SECRETS; i++)
        named_watch_done(&c->secrets[i].watch);
    for (size_t i = SECRETS; i-- > 0;)
        certificate_controller_free(c->secrets[i].controller);
    event_recorder_stop(c->events, EVENTS_MS);
    event_recorder_free(c->events);
    listener_certificate_done(&c->served);
    free(c);
}

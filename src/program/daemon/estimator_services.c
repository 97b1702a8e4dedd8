#include "daemon/estimator_services.h"

#include "base/clock.h"
#include "controllers/estimator_services.h"
#include "kube/watch/watch.h"
#include "kube/watch/watch_metrics.h"

#include <errno.h>
#include <stdlib.h>

struct estimator_services_door {
    const struct karmada_members *members;
    struct estimator_services_controller *controller;
    struct kube_watch *watch;
    struct watch_metrics metrics;
    struct strbuf path; /* the path of the watch, which borrows it */
};

static bool each(void *ctx, void (*use)(void *ctx, struct str name), void *use_ctx) {
    const struct estimator_services_door *d = ctx;
    return karmada_members_each(d->members, use, use_ctx);
}

static enum karmada_member find(void *ctx, struct str name) {
    const struct estimator_services_door *d = ctx;
    return karmada_members_find(d->members, name);
}

static int start_controller(struct estimator_services_door *d, const struct configuration *c,
                            const struct servers *servers, const struct leadership *leadership,
                            struct err *err) {
    const enum server_role role = purpose_server(c, PURPOSE_ESTIMATOR_SERVICES);
    struct estimator_services_options options = {
        .each = each,
        .find = find,
        .ctx = d,
        .namespace = str_of(c->karmada_estimators.service_namespace),
        .prefix = str_of(c->karmada_estimators.service_prefix),
        .port = ESTIMATOR_PORT,
        .client = servers_client(servers, role),
        .writer = servers_writer(servers, role),
        .elector = leadership_elector(leadership, PURPOSE_ESTIMATOR_SERVICES)};
    if (!estimator_address_parse(str_of(c->estimator.service_host), &options.host,
                                 &options.target_port)) /* the address was checked before */
        return err_set(err, -EINVAL, "estimator.serviceHost is no HOST:PORT");
    return estimator_services_start(&options, &d->controller, err);
}

static int start_watch(struct estimator_services_door *d, const struct configuration *c,
                       const struct servers *servers, struct err *err) {
    struct kube_client *client =
        servers_client(servers, purpose_server(c, PURPOSE_ESTIMATOR_SERVICES));
    strbuf_appendf(&d->path, "/api/v1/namespaces/%s/services",
                   c->karmada_estimators.service_namespace);
    strbuf_append_char(&d->path, '\0');
    if (strbuf_failed(&d->path))
        return err_set(err, -ENOMEM, "no memory for Services of estimators");
    const struct reflector_options options = {.resource = "estimator services",
                                              .path = d->path.p,
                                              .sink = estimator_services_sink(d->controller),
                                              .seed = clock_seed()};
    const int r = kube_watch_start(client, NULL, &options, &d->watch, err);
    if (r == 0)
        watch_metrics_register(&d->metrics, d->watch, clock_real(), options.resource);
    return r;
}

int estimator_services_door_start(const struct configuration *configuration,
                                  const struct servers *servers,
                                  const struct leadership *leadership,
                                  const struct karmada_members *members,
                                  struct estimator_services_door **ret, struct err *err) {
    *ret = NULL;
    if (!purpose_is_wanted(configuration, PURPOSE_ESTIMATOR_SERVICES) || members == NULL)
        return 0;
    struct estimator_services_door *d = calloc(1, sizeof *d);
    if (d == NULL)
        return err_set(err, -ENOMEM, "no memory for Services of estimators");
    d->members = members;
    int r = start_controller(d, configuration, servers, leadership, err);
    if (r == 0)
        r = start_watch(d, configuration, servers, err);
    if (r != 0) {
        estimator_services_door_stop(d);
        return r;
    }
    *ret = d;
    return 0;
}

void estimator_services_door_stop(struct estimator_services_door *d) {
    if (d == NULL)
        return;
    watch_metrics_unregister(&d->metrics);
    kube_watch_free(d->watch);
    estimator_services_free(d->controller);
    strbuf_done(&d->path);
    free(d);
}

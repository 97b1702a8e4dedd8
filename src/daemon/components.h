/*
 * The parts that a running process is made of, in the order in which they start: what is known
 * comes before the doors that answer by it. They stop in the opposite order, and are freed, in that
 * order again, when all have stopped, because the API client's thread works for some that start
 * after it.
 *
 * Threads: everything here belongs to the main thread; readiness is asked by the ops listener's.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "config/configuration.h"
#include "engine/engine.h"
#include "handlers/extender.h"
#include "handlers/extender_verbs.h"
#include "handlers/ops.h"
#include "handlers/webhook.h"

struct known_data;
struct known_policies;
struct leadership;
struct source;
struct webhook_certificates;

enum { OPS_ROUTES = 7, READINESS_CHECKS = 8 };

/* What components hand to each other. A member belongs to the component that is named like it. */
struct server {
    const struct configuration *configuration;
    struct cache *cache;
    struct ring *decisions; /* NULL: they are not recorded */
    struct source *source;
    struct leadership *leadership;             /* NULL: every replica is to be asked */
    struct webhook_certificates *certificates; /* NULL: in files */
    struct known_policies *policies;
    struct known_data *data; /* NULL: nothing is known of data */
    struct engine_options engine;
    struct extender extender;
    struct webhook webhook;
    struct webhook_endpoint webhook_endpoints[ADMITTED_KINDS];
    struct explain *explain;
    struct ops ops;
    struct ops_check checks[READINESS_CHECKS];
    struct http_route extender_routes[EXTENDER_VERBS], webhook_routes[ADMITTED_KINDS],
        ops_routes[OPS_ROUTES];
    struct http_listener *extender_listener, *webhook_listener, *ops_listener; /* NULL: off */
    int64_t drain_until_ms; /* of clock_real(), for components_end(); 0: they are cut off */
};

/* What a component does not need is NULL. */
struct component {
    const char *name;
    int (*start)(struct server *s, struct err *err);
    void (*poll)(struct server *s);   /* about once a second */
    void (*reload)(struct server *s); /* SIGHUP */
    void (*drain)(struct server *s);  /* still serving, but soon no more */
    void (*stop)(struct server *s);   /* also after a start that failed */
    void (*free)(struct server *s);
    /* Lines of /readyz, whose ctx will be the server. One without a name is none. */
    struct ops_check ready[2];
};

/* Starts them. Whatever comes of it, components_end() is next. 0 or -errno. */
int components_start(struct server *s, struct err *err) MUST_CHECK;
void components_poll(struct server *s);
void components_reload(struct server *s);
void components_drain(struct server *s);
/* Requests that are under way may take until s->drain_until_ms. */
void components_end(struct server *s);

/*
 * The parts of a running process, in the order in which they start: data (the cache, policies and
 * so on) before the listeners that answer from it. They stop in the opposite order. They are freed
 * in the opposite order, too, but only after all components have stopped, because the API client's
 * thread works for components that start after it.
 *
 * Threads: all calls belong to the main thread. The ops listener's thread calls the checks of
 * readiness.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "config/configuration.h"
#include "engine/engine.h"
#include "extender/service.h"
#include "handlers/clusters.h"
#include "handlers/estimator.h"
#include "handlers/explain.h"
#include "handlers/ops.h"
#include "handlers/topology.h"
#include "handlers/webhook.h"

struct estimator_services_door;
struct extender_certificates;
struct known_evenness;
struct known_fleet;
struct known_karmada;
struct known_data;
struct tracked_estimators;
struct known_policies;
struct karmada_members;
struct leadership;
struct members;
struct owned_placements;
struct servers;
struct source;
struct informer;
struct webhook_certificates;

/* The objects that components share. Each member belongs to the component with the same name. */
struct server {
    const struct configuration *configuration;
    struct cache *cache;
    struct ring *decisions; /* NULL: decisions are not recorded */
    struct servers *servers;
    struct source *source;
    struct leadership *leadership;
    struct webhook_certificates *certificates;           /* NULL: the certificate is in files */
    struct extender_certificates *extender_certificates; /* NULL: the certificate is in files */
    struct known_policies *policies; /* for pods, and for questions about the fleet */
    /* The hub's policies; equal to `policies` if the hub is the same server; NULL: no Placements
     * are decided. */
    struct known_policies *placement_policies;
    struct known_data *data;                            /* NULL: no datasets are used */
    struct known_fleet *fleet;                          /* NULL: the process knows no fleet */
    struct known_karmada *karmada;                      /* NULL: nothing needs Karmada's clusters */
    struct owned_placements *owned_placements;          /* NULL: no Placements are decided */
    struct members *members;                            /* NULL: no estimator listens */
    struct karmada_members *karmada_members;            /* NULL: no members from Karmada */
    struct estimator_services_door *estimator_services; /* NULL: no Services are written */
    struct tracked_estimators *asked_estimators;        /* NULL: estimators are not asked */
    struct informer *volumes;                           /* NULL: no pods are admitted */
    struct evenness_latest *latest;                     /* the latest report of evenness */
    struct known_evenness *evenness;
    struct engine_options engine;
    struct extender extender;
    struct webhook webhook;
    struct explain explain;
    struct topology_door topology;
    struct clusters clusters;
    struct http_subjects fleet_subjects; /* callers that may ask about fleets */
    struct ops ops;
    struct ops_check *checks; /* lines of /readyz, of all components */
    struct http_listener *extender_listener, *webhook_listener, *ops_listener,
        *probe_listener; /* NULL: it is off */
    struct estimator estimator;
    struct grpc_service estimator_service;
    struct grpc_listener *estimator_listener; /* NULL: it is off */
    int64_t drain_until_ms; /* end of the drain by clock_real(), for components_end(); 0: requests
                               are cut off */
};

/* One component. Steps that the component does not need are NULL. */
struct server_component {
    const char *name;
    int (*start)(struct server *s, struct err *err);
    void (*poll)(struct server *s);       /* called at least once a second */
    void (*poll_files)(struct server *s); /* called every state.pollInterval */
    void (*reload)(struct server *s);     /* called at SIGHUP */
    void (*drain)(struct server *s);      /* the component still serves, but will stop soon */
    void (*stop)(struct server *s);       /* called after a failed start, too */
    void (*free)(struct server *s);
    /* Lines of /readyz; their ctx becomes the server. A row without a name is empty. */
    struct ops_check ready[2];
};

/* Starts all components. Always call components_end(), also if this fails. Returns 0 or -errno. */
int components_start(struct server *s, struct err *err) MUST_CHECK;
void components_poll(struct server *s);
void components_poll_files(struct server *s);
void components_reload(struct server *s);
void components_drain(struct server *s);
/* Requests that are under way may take until s->drain_until_ms. */
void components_end(struct server *s);

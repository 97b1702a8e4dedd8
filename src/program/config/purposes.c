#include "config/purposes.h"

#include <assert.h>
#include <stdio.h>

/* ---- conditions that turn a purpose on ---- */

static bool extender_listens(const struct configuration *c) {
    return configuration_listens(c->extender.listen);
}

static bool reserves(const struct configuration *c) {
    return c->reservations.mode != RESERVATIONS_OFF && extender_listens(c);
}

static bool controls(const struct configuration *c) {
    return (c->policies.watch || c->data.label_leaving_nodes) && configuration_reviews_pods(c);
}

static bool keeps_certificates(const struct configuration *c) {
    return (c->extender.certificates.mode != CERTIFICATES_FILES && extender_listens(c)) ||
           (c->webhook.certificates.mode != CERTIFICATES_FILES &&
            configuration_listens(c->webhook.listen));
}

static bool decides_placements(const struct configuration *c) {
    return c->ocm.enabled;
}

static bool takes_members(const struct configuration *c) {
    return configuration_estimates(c) && c->estimator.from_karmada;
}

static bool keeps_services(const struct configuration *c) {
    return takes_members(c) && c->estimator.services;
}

/* Without Karmada's API server, estimators are found by DNS. */
static bool looks_for_estimators(const struct configuration *c) {
    return configuration_asks_estimators(c) && server_is_set(&c->karmada_server);
}

/* ---- the table ---- */

#define NEED(need) (1u << (need))

static const struct {
    const char *name;
    bool (*wanted)(const struct configuration *c);
    uint32_t kinds; /* NEED() bits: the purpose watches the kinds with these needs */
    enum server_role server;
    bool writes;
    const char *lease; /* the suffix of the Lease's name; NULL: no leader is elected */
} purposes[PURPOSES] = {
    [PURPOSE_PODS] = {.name = "pods",
                      .wanted = configuration_serves_pods,
                      .kinds = NEED(KIND_FOR_ALL) | NEED(KIND_FOR_DEFAULTS) |
                               NEED(KIND_FOR_POLICIES) | NEED(KIND_FOR_VOLUMES) |
                               NEED(KIND_FOR_DATA),
                      .server = SERVER_CLUSTER},
    [PURPOSE_RESERVATIONS] = {.name = "reservations",
                              .wanted = reserves,
                              .server = SERVER_CLUSTER,
                              .lease = ""},
    [PURPOSE_CONTROLLERS] = {.name = "controllers",
                             .wanted = controls,
                             .server = SERVER_CLUSTER,
                             .writes = true,
                             .lease = "-controllers"},
    [PURPOSE_CERTIFICATES] = {.name = "certificates",
                              .wanted = keeps_certificates,
                              .server = SERVER_CLUSTER,
                              .writes = true},
    [PURPOSE_FLEET] = {.name = "fleet",
                       .wanted = configuration_keeps_fleet,
                       .kinds = NEED(KIND_FOR_FLEET),
                       .server = SERVER_HUB},
    [PURPOSE_OCM] = {.name = "ocm",
                     .wanted = decides_placements,
                     .kinds = NEED(KIND_FOR_FLEET) | NEED(KIND_FOR_PLACEMENTS) |
                              NEED(KIND_FOR_PLACEMENT_POLICIES),
                     .server = SERVER_HUB,
                     .writes = true,
                     .lease = "-ocm"},
    [PURPOSE_MEMBERS] = {.name = "members",
                         .wanted = takes_members,
                         .kinds = NEED(KIND_FOR_MEMBERS),
                         .server = SERVER_KARMADA},
    [PURPOSE_ESTIMATOR_SERVICES] = {.name = "estimator services",
                                    .wanted = keeps_services,
                                    .server = SERVER_KARMADA,
                                    .writes = true,
                                    .lease = "-karmada"},
    [PURPOSE_ESTIMATORS] = {.name = "estimators",
                            .wanted = looks_for_estimators,
                            .server = SERVER_KARMADA},
};

const char *purpose_name(enum purpose purpose) {
    return purposes[purpose].name;
}

bool purpose_is_wanted(const struct configuration *c, enum purpose purpose) {
    return purposes[purpose].wanted(c);
}

enum server_role purpose_server(const struct configuration *c, enum purpose purpose) {
    return server_or_cluster(c, purposes[purpose].server);
}

static bool works_at(const struct configuration *c, enum purpose p, enum server_role role) {
    return purpose_is_wanted(c, p) && purpose_server(c, p) == role;
}

/* ---- kinds ---- */

/* Is the need of a kind on? Some needs have a setting of their own, which counts for every
 * purpose. */
static bool is_on(const struct configuration *c, enum kind_need need) {
    switch (need) {
    case KIND_FOR_DEFAULTS:
        return c->engine.system_defaults || c->engine.default_constraint_count > 0;
    case KIND_FOR_POLICIES:
    case KIND_FOR_VOLUMES:
    case KIND_FOR_PLACEMENT_POLICIES:
        return c->policies.watch;
    case KIND_FOR_DATA:
        return c->webhook.fluid.watch;
    case KIND_OF_MEMBERS:
        return false;
    case KIND_FOR_ALL:
    case KIND_FOR_FLEET:
    case KIND_FOR_PLACEMENTS:
    case KIND_FOR_MEMBERS:
        break;
    }
    return true;
}

bool kind_is_watched(const struct configuration *c, const struct watched_kind *kind,
                     enum server_role role) {
    bool wanted = false;
    for (enum purpose p = 0; p < PURPOSES; p++)
        wanted = wanted || ((purposes[p].kinds & NEED(kind->need)) != 0 && works_at(c, p, role));
    return wanted && is_on(c, kind->need);
}

/* ---- servers ---- */

bool server_is_used(const struct configuration *c, enum server_role role) {
    for (enum purpose p = 0; p < PURPOSES; p++)
        if (works_at(c, p, role))
            return true;
    return false;
}

bool server_is_written(const struct configuration *c, enum server_role role) {
    for (enum purpose p = 0; p < PURPOSES; p++)
        if (purposes[p].writes && works_at(c, p, role))
            return true;
    return false;
}

/* ---- Leases ---- */

bool lease_is_wanted(const struct configuration *c, enum purpose purpose) {
    return c->leader_election.enabled && purposes[purpose].lease != NULL &&
           purpose_is_wanted(c, purpose);
}

bool server_elects(const struct configuration *c, enum server_role role) {
    for (enum purpose p = 0; p < PURPOSES; p++)
        if (lease_is_wanted(c, p) && purpose_server(c, p) == role)
            return true;
    return false;
}

void lease_name(const struct configuration *c, enum purpose purpose,
                char ret[static LEASE_NAME_SIZE]) {
    assert(purposes[purpose].lease != NULL);
    (void)snprintf(ret, LEASE_NAME_SIZE, "%s%s", c->leader_election.name,
                   purposes[purpose].lease); /* a name has at most 253 bytes */
}

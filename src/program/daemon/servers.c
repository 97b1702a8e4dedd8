#include "daemon/servers.h"

#include "base/limits.h"
#include "base/log.h"
#include "config/purposes.h"
#include "kube/election/lease.h"
#include "kube/events/events.h"
#include "kube/write/writer.h"

#include <errno.h>
#include <stdlib.h>

enum { EVENTS_MS = 2000 };

struct servers {
    const struct configuration *configuration;
    char identity[LEASE_IDENTITY_SIZE];
    struct kube_loop *loop; /* the loop of all clients; NULL: no client is open */
    struct {
        struct arena arena; /* has the memory of `access` */
        struct kube_access access;
        struct kube_client *client;
        struct writer *writer;         /* NULL: no writes to this server */
        struct event_recorder *events; /* may be NULL */
    } by_role[SERVER_ROLES];
};

int servers_new(const struct configuration *c, struct servers **ret, struct err *err) {
    struct servers *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for API clients");
    s->configuration = c;
    for (size_t i = 0; i < SERVER_ROLES; i++)
        arena_init(&s->by_role[i].arena, 4u * LIMIT_CONFIG_BYTES);
    *ret = s;
    return 0;
}

int servers_open(struct servers *s, enum server_role role, struct err *err) {
    struct kube_access *access = &s->by_role[role].access;
    if (s->by_role[role].client != NULL)
        return 0;
    int r = server_access(s->configuration, role, &s->by_role[role].arena, access, err);
    if (r == 0 && s->loop == NULL)
        r = kube_loop_new(NULL, &s->loop, err);
    if (r == 0)
        r = kube_client_new_on(s->loop, access, &s->by_role[role].client, err);
    if (r == 0)
        LOG_I("watching an API server", LOG_CSTR("server", access->server),
              LOG_CSTR("source", access->source), LOG_CSTR_IF("role", access->role));
    return r;
}

/* Returns the limits of writes. A hub gets more writes than a cluster, to which only status is
 * written. */
static struct write_limits limits_of(const struct configuration *c, enum server_role role) {
    if (!purpose_is_wanted(c, PURPOSE_OCM) || purpose_server(c, PURPOSE_OCM) != role)
        return (struct write_limits){0}; /* 0: the writer's defaults */
    return (struct write_limits){.under_way = c->ocm.writes_in_flight,
                                 .burst = c->ocm.writes_per_second,
                                 .per_second = c->ocm.writes_per_second,
                                 .seed = clock_seed()};
}

int servers_prepare_writes(struct servers *s, enum server_role role, struct err *err) {
    const struct configuration *c = s->configuration;
    const bool writes = server_is_written(c, role);
    const struct writer_options writer = {.client = s->by_role[role].client,
                                          .limits = limits_of(c, role)};
    const struct event_options events = {
        .client = s->by_role[role].client, .instance = s->identity, .seed = clock_seed()};
    int r = s->identity[0] == '\0' ? lease_identity(s->identity, err) : 0;
    if (r == 0 && writes)
        r = writer_new(&writer, &s->by_role[role].writer, err);
    if (r == 0 && (writes || server_elects(c, role)))
        r = event_recorder_new(&events, &s->by_role[role].events, err);
    return r;
}

void servers_poll(struct servers *s) {
    for (size_t i = 0; i < SERVER_ROLES; i++)
        if (s->by_role[i].client != NULL)
            kube_compare_clocks(s->by_role[i].client);
}

void servers_free(struct servers *s) {
    if (s == NULL)
        return;
    for (size_t i = 0; i < SERVER_ROLES; i++) {
        event_recorder_stop(s->by_role[i].events, EVENTS_MS);
        event_recorder_free(s->by_role[i].events);
        writer_free(s->by_role[i].writer);
    }
    for (size_t i = 0; i < SERVER_ROLES; i++)
        kube_client_free(s->by_role[i].client);
    kube_loop_free(s->loop);
    for (size_t i = 0; i < SERVER_ROLES; i++)
        arena_done(&s->by_role[i].arena);
    free(s);
}

struct kube_client *servers_client(const struct servers *s, enum server_role role) {
    return s->by_role[role].client;
}

struct writer *servers_writer(const struct servers *s, enum server_role role) {
    return s->by_role[role].writer;
}

struct event_recorder *servers_events(const struct servers *s, enum server_role role) {
    return s->by_role[role].events;
}

const char *servers_identity(const struct servers *s) {
    return s->identity;
}

const struct kube_access *servers_access(const struct servers *s, enum server_role role) {
    return &s->by_role[role].access;
}

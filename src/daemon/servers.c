#include "daemon/servers.h"

#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

struct servers {
    const struct configuration *configuration;
    struct kube_loop *loop; /* of all clients; NULL: none is open */
    struct {
        struct arena arena; /* of the access */
        struct kube_access access;
        struct kube_client *client;
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

void servers_poll(struct servers *s) {
    for (size_t i = 0; i < SERVER_ROLES; i++)
        if (s->by_role[i].client != NULL)
            kube_compare_clocks(s->by_role[i].client);
}

void servers_free(struct servers *s) {
    if (s == NULL)
        return;
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

const struct kube_access *servers_access(const struct servers *s, enum server_role role) {
    return &s->by_role[role].access;
}

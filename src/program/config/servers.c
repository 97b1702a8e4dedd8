#include "config/servers.h"

const struct configuration_server *server_settings(const struct configuration *c,
                                                   enum server_role role) {
    return role == SERVER_HUB       ? &c->hub
           : role == SERVER_KARMADA ? &c->karmada_server
                                    : &c->kubernetes;
}

const char *server_name(enum server_role role) {
    return role == SERVER_HUB ? "hub" : role == SERVER_KARMADA ? "karmada" : NULL;
}

bool server_is_set(const struct configuration_server *settings) {
    return settings->kubeconfig != NULL || settings->in_cluster;
}

enum server_role server_or_cluster(const struct configuration *c, enum server_role role) {
    return server_is_set(server_settings(c, role)) ? role : SERVER_CLUSTER;
}

enum server_role server_of(const struct configuration *c, const struct watched_kind *kind) {
    return server_or_cluster(c, kind->server);
}

int server_access(const struct configuration *c, enum server_role role, struct arena *arena,
                  struct kube_access *ret, struct err *err) {
    const struct configuration_server *settings = server_settings(c, role);
    int r = settings->in_cluster ? kube_access_in_cluster(arena, ret, err)
                                 : kube_access_from_kubeconfig(settings->kubeconfig,
                                                               settings->context, arena, ret, err);
    if (r != 0 && role == SERVER_HUB)
        return err_wrap(err, "the fleet's hub");
    if (r != 0 && role == SERVER_KARMADA)
        return err_wrap(err, "Karmada's API server");
    ret->role = server_name(role);
    return r;
}

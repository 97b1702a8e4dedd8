#include "config/servers.h"

const struct configuration_server *server_settings(const struct configuration *c,
                                                   enum server_role role) {
    (void)role; /* there is one */
    return &c->kubernetes;
}

bool server_is_set(const struct configuration_server *settings) {
    return settings->kubeconfig != NULL || settings->in_cluster;
}

int server_access(const struct configuration *c, enum server_role role, struct arena *arena,
                  struct kube_access *ret, struct err *err) {
    const struct configuration_server *settings = server_settings(c, role);
    return settings->in_cluster ? kube_access_in_cluster(arena, ret, err)
                                : kube_access_from_kubeconfig(settings->kubeconfig,
                                                              settings->context, arena, ret, err);
}

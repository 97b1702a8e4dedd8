#include "config/servers.h"

const struct configuration_server *server_settings(const struct configuration *c,
                                                   enum server_role role) {
    return role == SERVER_HUB ? &c->hub : &c->kubernetes;
}

bool server_is_set(const struct configuration_server *settings) {
    return settings->kubeconfig != NULL || settings->in_cluster;
}

enum server_role server_of(const struct configuration *c, const struct watched_kind *kind) {
    return server_is_set(server_settings(c, kind->server)) ? kind->server : SERVER_CLUSTER;
}

static bool is_wanted(const struct configuration *c, enum kind_need need) {
    return need == KIND_FOR_FLEET ? configuration_keeps_fleet(c)
                                  : need != KIND_FROM_FILES && configuration_serves_pods(c);
}

bool server_is_used(const struct configuration *c, enum server_role role) {
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (is_wanted(c, watched_kinds[i].need) && server_of(c, &watched_kinds[i]) == role)
            return true;
    return false;
}

int server_access(const struct configuration *c, enum server_role role, struct arena *arena,
                  struct kube_access *ret, struct err *err) {
    const struct configuration_server *settings = server_settings(c, role);
    int r = settings->in_cluster ? kube_access_in_cluster(arena, ret, err)
                                 : kube_access_from_kubeconfig(settings->kubeconfig,
                                                               settings->context, arena, ret, err);
    if (r != 0 && role == SERVER_HUB)
        return err_wrap(err, "the fleet's hub");
    ret->role = role == SERVER_HUB ? "hub" : NULL;
    return r;
}

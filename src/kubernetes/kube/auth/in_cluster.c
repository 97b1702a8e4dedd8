/*
 * Every pod with a service account has the API server's address in its environment, and a mounted
 * folder with the token and the CA. upstream: client-go rest/config.go InClusterConfig,
 * tools/clientcmd inClusterClientConfig.
 */
#include "kube/auth/in_cluster.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

enum { NAMESPACE_BYTES = 4096 };

struct address {
    struct str host, port;
};

/* Reading is safe: the environment of this program does not change while it runs. */
static struct address address_from_environment(void) {
    const char *host = getenv("KUBERNETES_SERVICE_HOST"); /* NOLINT(concurrency-mt-unsafe) */
    const char *port = getenv("KUBERNETES_SERVICE_PORT"); /* NOLINT(concurrency-mt-unsafe) */
    return (struct address){str_of(host), str_of(port)};
}

static bool is_file(const char *folder, const char *name) {
    char path[4096];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

bool in_cluster_at(const char *folder) {
    struct address address = address_from_environment();
    return address.host.n > 0 && address.port.n > 0 && is_file(folder, "token");
}

/* ---- the parts ---- */

static const char *path_in(const char *folder, const char *name, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 4096};
    strbuf_appendf(&path, "%s/%s", folder, name);
    return arena_cstr(arena, strbuf_str(&path));
}

static bool is_host(struct str host) {
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] <= ' ' || host.p[i] == 0x7f || strchr("/@?#[]\\", host.p[i]) != NULL)
            return false;
    return host.n > 0;
}

static int server_url(struct arena *arena, const char **ret, struct err *err) {
    struct address address = address_from_environment();
    CLEANUP(strbuf_done) struct strbuf url = {.max = 4096};
    int64_t port;
    if (address.host.n == 0 || address.port.n == 0)
        return err_set(err, -ENOENT,
                       "this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                       "not set; name a kubeconfig");
    if (!is_host(address.host))
        return err_set(err, -EINVAL, "KUBERNETES_SERVICE_HOST='%.*s' is not a host",
                       STR_ARG(address.host));
    if (!str_to_i64(address.port, &port) || port < 1 || port > 65535)
        return err_set(err, -EINVAL, "KUBERNETES_SERVICE_PORT='%.*s' is not a port",
                       STR_ARG(address.port));
    bool ipv6 = str_find(address.host, ':') != SIZE_MAX;
    strbuf_appendf(&url, ipv6 ? "https://[%s]:%d" : "https://%s:%d", address.host.p, (int)port);
    *ret = arena_cstr(arena, strbuf_str(&url));
    return 0;
}

static const char *namespace_in(const char *folder, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 2 * NAMESPACE_BYTES};
    const char *path = path_in(folder, "namespace", arena);
    if (path == NULL || file_read(path, NAMESPACE_BYTES, &text, NULL) != 0)
        return "default"; /* as upstream: the account works anyway */
    struct str name = str_trim(strbuf_str(&text));
    return name.n > 0 ? arena_cstr(arena, name) : "default";
}

static const char *source_of(const char *folder, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 8192};
    strbuf_appendf(&text, "the service account in '%s'", folder);
    return arena_cstr(arena, strbuf_str(&text));
}

int in_cluster_access(const char *folder, struct arena *arena, struct kube_access *ret,
                      struct err *err) {
    struct kube_access access = {.source = source_of(folder, arena)};
    int r = server_url(arena, &access.server, err);
    if (r != 0)
        return r;
    if (!is_file(folder, "token"))
        return err_set(err, -ENOENT,
                       "no service account: there is no file '%s/token'; "
                       "does the pod say automountServiceAccountToken: false?",
                       folder);
    access.token_file = path_in(folder, "token", arena);
    access.ca.file = path_in(folder, "ca.crt", arena);
    access.namespace = namespace_in(folder, arena);
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for the address of the API server");
    *ret = access;
    return 0;
}

bool kube_access_is_in_cluster(void) {
    return in_cluster_at(FOLDER);
}

int kube_access_in_cluster(struct arena *arena, struct kube_access *ret, struct err *err) {
    return in_cluster_access(FOLDER, arena, ret, err);
}

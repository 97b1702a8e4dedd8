/*
 * The address of an API server and the access to it, from a kubeconfig's current context or a
 * service account inside a cluster. Plain values; kube/auth/credentials.h makes the credentials of
 * a request from them.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* A PEM text, or the name of a file that holds it; the file is read again when it changes. At most
 * one member is set. */
struct kube_pem {
    struct str data;  /* decoded from base64 */
    const char *file; /* absolute, or relative to the working directory */
};

struct kube_exec_env {
    const char *name, *value;
};

/* A program that prints an ExecCredential. upstream: client-go plugin/pkg/client/auth/exec. */
struct kube_exec {
    const char *command; /* NULL: no program. A relative path with a '/' was joined to the
                            kubeconfig's folder */
    const char *const *args;
    size_t arg_count;
    const struct kube_exec_env *env; /* added to this process's environment */
    size_t env_count;
    const char *api_version;  /* client.authentication.k8s.io/v1 or v1beta1 */
    const char *install_hint; /* NULL: none */
    bool provide_cluster_info;
    const char *cluster_config; /* a part of the cluster information: the JSON of the cluster's
                                   extension client.authentication.k8s.io/exec; NULL: no extension
                                   */
    int64_t limit_ms;           /* run time of the program; 0: LIMIT_KUBE_EXEC_MS */
};

struct kube_access {
    const char *server;               /* "https://10.0.0.1:6443", no slash at the end */
    const char *tls_server_name;      /* the name that the server's certificate must have; NULL: the
                                         host of `server` */
    const char *proxy_url;            /* http, https or socks5; NULL: no proxy */
    const char *const *proxy_headers; /* lines for the proxy alone: "Name: value" */
    size_t proxy_header_count;
    const char *namespace; /* namespace of the context; "default" if the context names none */
    const char *source;    /* the origin of this access, for messages: "kubeconfig '/x' (context
                              'y')" */
    const char *role; /* the label `server` of metrics, and the name in logs: "hub"; NULL: no label,
                         for the API server of the cluster that Evenkeel works for */
    bool insecure_skip_tls_verify;
    bool unmeasured;                                /* no metrics, because many servers have this
                                                       role */
    bool multiplex;                                 /* use one HTTP/2 connection if the server
                                                       offers it */
    struct kube_pem ca;                             /* not set: the system's authorities */
    struct kube_pem client_certificate, client_key; /* both or neither */
    const char *token, *token_file;  /* `token_file` is preferred, as in client-go; `token` is used
                                        only while the file cannot be read */
    const char *username, *password; /* basic authentication: both or neither; never with a token */
    struct kube_exec exec;           /* used only if no other credential is set */
};

/*
 * Reads a kubeconfig and picks a context (`context` NULL: its current-context). `path` NULL: the
 * files in $KUBECONFIG (a list is merged, the first file with an entry wins, missing files are
 * skipped), then ~/.kube/config. Relative paths in a file are relative to that file. Everything is
 * allocated in the arena, secrets too. Returns 0, or -errno with a sentence that names the file,
 * the entry and the remedy.
 *
 * As in client-go (tools/clientcmd), unused entries may be wrong, unknown fields are ignored, and a
 * plain http server gets no credentials. Unlike in client-go: a server without a scheme is https;
 * the user that a context names must exist; impersonation and auth-provider are refused; if there
 * is *-data and the name of a file, *-data is used; an exec need not have interactiveMode; the mode
 * Always is refused, because a daemon has no terminal.
 */
int kube_access_from_kubeconfig(const char *path, const char *context, struct arena *arena,
                                struct kube_access *ret, struct err *err) MUST_CHECK;

/* The same, but `server` replaces the kubeconfig's server, as with `kubectl --server`: the CA and
 * the credentials stay, tls-server-name is dropped. `server` NULL: nothing is replaced. */
int kube_access_overriding(const char *server, const char *path, const char *context,
                           struct arena *arena, struct kube_access *ret,
                           struct err *err) MUST_CHECK;
/* Access to the server at this address, with the system's CAs and without credentials. */
int kube_access_without_credentials(const char *server, struct arena *arena,
                                    struct kube_access *ret, struct err *err) MUST_CHECK;

/* Is this process a pod with a service account? */
bool kube_access_is_in_cluster(void);
/* Takes KUBERNETES_SERVICE_HOST and _PORT (the address, so no DNS is needed), and the mounted
 * token, CA and namespace. */
int kube_access_in_cluster(struct arena *arena, struct kube_access *ret,
                           struct err *err) MUST_CHECK;
/* Finds the access of a command: to the server of the kubeconfig or context. If both are NULL: in a
 * pod, to the API server of the pod's cluster; elsewhere, to the server that kubectl would use. */
int kube_access_of_command(const char *path, const char *context, struct arena *arena,
                           struct kube_access *ret, struct err *err) MUST_CHECK;

/*
 * How a member cluster is asked, as Karmada's own controllers do: where its API server is from the
 * Cluster (cluster.karmada.io/v1alpha1), with what credentials from the Secret that it names.
 * upstream: karmada pkg/util/membercluster_client.go, BuildClusterConfig (v1.18.1).
 *
 * As there: a bearer token of the Secret's key `token`, which must not be empty; the CA of its key
 * `caBundle`, which must be there unless the Cluster skips verification; the Cluster's proxy, and
 * headers for the proxy alone. Not as there: no token is sent over http://, and bytes in a token or
 * a header that would end its line are refused here, and not by the HTTP library.
 *
 * Thread-safe.
 */
#pragma once

#include "kube/auth/access.h"
#include "model/object.h"

/* Of a Cluster, what its access depends on. Borrowed from the JSON and the arena. */
struct member_cluster {
    struct object_meta meta;
    struct str endpoint;                      /* spec.apiEndpoint; "": none */
    struct str secret_namespace, secret_name; /* spec.secretRef; "": none */
    struct str proxy_url;
    struct str proxy_headers; /* spec.proxyHeader, its JSON; "": none */
    bool insecure_skip_tls_verify;
    bool pull; /* spec.syncMode: an agent in the member asks Karmada, which may not reach it */
};

/* Reads the Cluster that comes next. Errors stay in the reader. */
void member_cluster_decode(struct json_reader *r, struct member_cluster *ret);
/* Copies it, of meta name and uid, into an arena. False: no memory. */
bool member_cluster_copy(const struct member_cluster *from, struct arena *arena,
                         struct member_cluster *ret);
/* Do both lead to the same access? The Secret aside. */
bool member_cluster_same(const struct member_cluster *a, const struct member_cluster *b);
/* A hash of where it is asked, which is its API server and the proxy in front of it: where that
 * differs it may be another cluster. */
uint64_t member_cluster_place(const struct member_cluster *c);
/* Is there an API server and a Secret? */
bool member_cluster_has_access(const struct member_cluster *c);

/* Which Secrets may be read for Clusters, and where their tokens may be sent. */
struct member_access_rules {
    /* Where Karmada keeps them: those of other namespaces are refused. */
    struct str secret_namespace;
    bool plain_http; /* tokens are sent over http://, too; in tests only */
};
/* May the Secret that the Cluster names be read for it? Whoever may create a Cluster names any
 * Secret and any endpoint, and the token of the one is sent to the other. 0, or -EPERM with the
 * reason. */
int member_cluster_check(const struct member_cluster *c, const struct member_access_rules *rules,
                         struct err *err) MUST_CHECK;

/* `secret`: the Secret as JSON. Everything is allocated in the arena. *ret_hash differs where the
 * access does. 0, -EPERM if the Secret is not the Cluster's own, -EINVAL with what is wrong, or
 * -ENOMEM. */
int member_cluster_access(const struct member_cluster *c, struct str secret, struct arena *arena,
                          struct kube_access *ret, uint64_t *ret_hash, struct err *err) MUST_CHECK;

/*
 * Finds a member cluster's API server and credentials, as Karmada's own controllers do: the address
 * is in the Cluster (cluster.karmada.io/v1alpha1), the credentials in the Secret that it names.
 * upstream: karmada pkg/util/membercluster_client.go, BuildClusterConfig (v1.18.1).
 *
 * As upstream: the bearer token is the Secret's `token`, which must not be empty; the CA is its
 * `caBundle`, required unless the Cluster skips verification; the Cluster's proxy is used, and its
 * headers go to the proxy alone. Unlike upstream: no token is sent over http://, and this code, not
 * the HTTP library, refuses bytes that would end the line of a token or a header.
 *
 * Thread-safe.
 */
#pragma once

#include "kube/auth/access.h"
#include "model/karmada.h"

/* Do both Clusters lead to the same access, apart from the Secret's contents? */
bool karmada_access_same(const struct karmada_cluster *a, const struct karmada_cluster *b);
/* Returns a hash of its API server and its proxy: with another hash it may be another member
 * cluster. */
uint64_t karmada_access_place(const struct karmada_cluster *c);
/* Does the Cluster name an API server and a Secret? */
bool karmada_access_is_named(const struct karmada_cluster *c);

/* Limits which Secrets are read for Clusters, and where their tokens are sent. */
struct karmada_access_rules {
    /* The namespace where Karmada keeps these Secrets; others are refused. */
    struct str secret_namespace;
    bool plain_http; /* send tokens over http://, too; in tests only */
};
/* May the Cluster's Secret be read? Everybody who may create a Cluster can name any Secret and any
 * endpoint, and the Secret's token is sent to that endpoint. Returns 0, or -EPERM with the
 * reason. */
int karmada_access_check(const struct karmada_cluster *c, const struct karmada_access_rules *rules,
                         struct err *err) MUST_CHECK;

/* Makes the access. `secret` is JSON. Everything is allocated in the arena. *ret_hash changes with
 * the access. Returns 0, -EPERM if the Secret is not the Cluster's own, -EINVAL with the mistake,
 * or -ENOMEM. */
int karmada_access_read(const struct karmada_cluster *c, struct str secret, struct arena *arena,
                        struct kube_access *ret, uint64_t *ret_hash, struct err *err) MUST_CHECK;

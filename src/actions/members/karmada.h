/*
 * The member clusters of Karmada: a member for each Cluster object on Karmada's API server, asked
 * with the credentials of the Secret that the Cluster names (members/karmada_access.h).
 *
 * A Cluster is a member from the poll that sees it. The member answers that the number is not known
 * (-1) until its Secret has been read and its objects are listed, and while it has no API server or
 * no usable credentials, as in Pull mode. A cluster that is no member would be an error, for which
 * karmada-scheduler ignores the answers for all clusters. karmada_members_find() also finds
 * Clusters that no poll has seen yet. If a configured member has the same name, it is used. While
 * Karmada's API server is away, or does not have the kind (an aggregated API server serves it),
 * members stay, and an unknown name may be a new Cluster's.
 *
 * Clusters are watched. Secrets are not, because that needs permission to list all of them: the
 * named Secret is read when the Cluster comes or changes, about every five minutes, and every half
 * a minute while the member is not listed or has been silent for over a minute, for example with an
 * expired token. A Secret that cannot be read leaves the member as it is; a missing one, or one
 * without a token, takes the credentials away. So does another API server or proxy in the Cluster,
 * before its Secret is read: the old objects may be another cluster's.
 *
 * Threads: functions marked "Any thread" from any; all others from the thread of the set.
 */
#pragma once

#include "members/karmada_access.h"
#include "members/members.h"

struct karmada_members;

struct karmada_members_options {
    struct members *members;           /* borrowed, as the client, until karmada_members_stop() */
    struct informer *clusters;         /* Karmada's Clusters (fleet/karmada.h), watched */
    struct kube_client *client;        /* of Karmada's API server */
    struct karmada_access_rules rules; /* borrowed, too */
    int64_t stale_after_ms; /* after this silence the Clusters count as incomplete; 0: never */
    /* After how long karmada_members_listed() stops waiting for a first listing that fails;
     * KARMADA_LISTING_MS outside of tests. */
    int64_t listing_ms;
    struct clock *clock; /* for reading Secrets; borrowed; NULL: the machine's */
};
enum { KARMADA_LISTING_MS = 30000 };

/* Returns 0 or -ENOMEM. */
int karmada_members_start(const struct karmada_members_options *options,
                          struct karmada_members **ret, struct err *err) MUST_CHECK;
/* Adds, removes and changes members. Call about once a second, before members_poll(). NULL is
 * fine. */
void karmada_members_poll(struct karmada_members *k);
/* Are the Clusters listed and all their Secrets asked for, or has that taken too long? Once true it
 * stays true: later Clusters are not waited for. True for NULL. Any thread. */
bool karmada_members_listed(const struct karmada_members *k);

/* Visits the names of the known Clusters. The Clusters stay the same while `use` runs; `use`
 * must not call this API. Returns false before the first listing. Any thread until
 * karmada_members_stop(). */
bool karmada_members_each(const struct karmada_members *k, void (*use)(void *ctx, struct str name),
                          void *ctx);
enum karmada_member { KARMADA_MEMBER_UNKNOWN, KARMADA_MEMBER_THERE, KARMADA_MEMBER_GONE };
/* Is there a Cluster of this name? Any thread, as above. */
enum karmada_member karmada_members_find(const struct karmada_members *k, struct str name);

/* Stops reading Secrets. Members stay. NULL is fine. */
void karmada_members_stop(struct karmada_members *k);
void karmada_members_free(struct karmada_members *k);

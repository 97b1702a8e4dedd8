/*
 * Member clusters as Karmada's API server has them: a member for each Cluster object, asked with
 * the credentials of the Secret that it names (members/cluster_access.h).
 *
 * A Cluster is a member from the poll that sees it. It answers that it does not know until its
 * Secret has been read and it is listed, and as long as it has no API server or no usable
 * credentials, as those in Pull mode may: an unknown cluster would be an error, with which
 * karmada-scheduler passes over the answers of all. karmada_members_find() finds those that no poll
 * has seen yet. A name that is configured, too, is that of the configured member. While Karmada's
 * API server is away, members stay as they are, and a name that is not known may be that of a new
 * one. So while it does not have the kind, which another API server behind it serves.
 *
 * Clusters are watched. Secrets are not, for that takes the right to list all of them: the named
 * one is read when the Cluster comes or changes, every five minutes, and every half a minute while
 * the member is not listed or has not been heard for more than a minute, as when its token is not
 * good any more. One that cannot be read leaves the member as it is; one that is not there, or has
 * no token, takes the credentials away. So does another API server or another proxy in the Cluster,
 * before the Secret is read: what is known may be of another cluster.
 *
 * Threads: what says so from any, everything else belongs to the thread of the set.
 */
#pragma once

#include "members/cluster_access.h"
#include "members/members.h"

struct karmada_members;

struct karmada_members_options {
    struct members *members;          /* borrowed, as the client, until karmada_members_stop() */
    struct kube_client *client;       /* of Karmada's API server */
    struct member_access_rules rules; /* borrowed likewise */
    int64_t stale_after_ms; /* its silence, after which new Clusters may be unknown; 0: never */
    /* How long a first listing of the Clusters that fails is waited for, by who asks whether they
     * are listed; KARMADA_LISTING_MS but in tests. */
    int64_t listing_ms;
    struct clock *clock; /* of when Secrets are read; borrowed; NULL: the machine's */
};
enum { KARMADA_LISTING_MS = 30000 };

/* Begins to watch. 0 or -errno. */
int karmada_members_start(const struct karmada_members_options *options,
                          struct karmada_members **ret, struct err *err) MUST_CHECK;
/* About once a second: members come, go and change. Before members_poll(). NULL is fine. */
void karmada_members_poll(struct karmada_members *k);
/* Are the Clusters listed, and was each Secret asked for? Or has that been tried for long enough?
 * Once true it stays true: a Cluster that joins later is not waited for. True for NULL. Any
 * thread. */
bool karmada_members_listed(const struct karmada_members *k);

/* The names of the Clusters, in their order, as they are known now. They stand still during `use`,
 * which calls nothing of this. False: they are not known, as before the first listing. Any thread
 * until karmada_members_stop(). */
bool karmada_members_each(const struct karmada_members *k, void (*use)(void *ctx, struct str name),
                          void *ctx);
enum karmada_member { KARMADA_MEMBER_UNKNOWN, KARMADA_MEMBER_THERE, KARMADA_MEMBER_GONE };
/* Is there a Cluster of this name? Likewise. O(log Clusters). */
enum karmada_member karmada_members_find(const struct karmada_members *k, struct str name);

/* Asks nothing any more. Members stay. NULL is fine. */
void karmada_members_stop(struct karmada_members *k);
void karmada_members_free(struct karmada_members *k);

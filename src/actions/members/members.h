/*
 * The member clusters that an estimator answers for, by name. Each has a store of its own, filled
 * by watches at its API server, or by state files. What happens to one is no matter of the others'.
 *
 * Members come and go while the process runs. A caller holds the member that it asks; one that has
 * gone ends when nobody holds it. The set is locked only to find a member and to exchange a
 * pointer, never while one begins, lists or ends.
 *
 * A member that gets other credentials for the same API server is replaced: the old one goes on
 * answering until the new one is listed, because what it watches is the same cluster, or until it
 * is stale, when both would answer that they do not know. One that gets another API server, or
 * another proxy in front of it, which decides what is behind an address, may be another cluster:
 * its numbers are not given out any more.
 *
 * Sixteen members share a thread that talks to their API servers, each on one connection if the
 * server speaks HTTP/2; and four at most make their first listings at the same time, so that a
 * process with many members starts within its memory. One that is not listed within half a minute,
 * as when its API server accepts and is silent, goes on beside the four, and is not waited for any
 * more. The place of a member that has gone is taken
 * by the next one.
 *
 * Threads: members_hold() to members_listed(), and all of a member that is held, from any, until
 * members_stop(); everything else belongs to one thread.
 */
#pragma once

#include "base/clock.h"
#include "kube/auth/access.h"
#include "members/store.h"

struct members;
struct member;

/*
 * One of these texts, taken apart; borrowed from it:
 *   NAME                              the cluster of the state files, or of the process
 *   NAME=KUBECONFIG[#CONTEXT]         its API server
 *   NAME=SERVER,KUBECONFIG[#CONTEXT]  the same, at the address SERVER, "https://10.0.0.7:6443"
 *   NAME=SERVER                       the API server at that address, without credentials
 * upstream: flags --master and --kubeconfig of karmada-scheduler-estimator.
 */
struct member_source {
    struct str name;
    struct str server;     /* "": the kubeconfig's */
    struct str kubeconfig; /* "": SERVER alone, state files, or members_use_cluster() */
    struct str context;    /* "": its current one */
};
/* False: the name is empty or no DNS-1123 subdomain, or a file or a context is missing behind its
 * sign. */
bool member_source_parse(struct str text, struct member_source *ret);
/* Is it the cluster of the state files, or of the process? */
bool member_source_is_files(const struct member_source *source);

/* With members that stay for good: reads their kubeconfigs, asks nothing yet. Texts are borrowed
 * for the call; all names differ. 0 or -errno, with the member named. */
int members_new(const char *const *sources, size_t count, int64_t stale_after_ms,
                struct members **ret, struct err *err) MUST_CHECK;
/* How members are watched; nothing of it without this call, which is before all that follow. */
struct members_options {
    bool quotas;         /* their ResourceQuotas, too */
    uint64_t max_bytes;  /* kept of each; 0: no limit */
    struct clock *clock; /* of pauses, and of how long is waited for a first listing; borrowed;
                            NULL: the real one */
};
void members_configure(struct members *m, const struct members_options *options);
/* The member without a kubeconfig is the cluster of this API server, and not of state files. NULL
 * for the kubeconfig: the cluster in which this pod runs. Before members_start(). Without such a
 * member nothing is read. 0 or -errno, with the member named. */
int members_use_cluster(struct members *m, const char *kubeconfig, const char *context,
                        struct err *err) MUST_CHECK;
/* The store that state files fill; NULL: none. Register its follower before the files are read. */
struct informer *members_of_files(const struct members *m);
/* Registers the metric, and begins to list and watch. */
void members_start(struct members *m);
/* Call it about once a second. Starts pending members, retries after a pause those that could not
 * be watched, which the log has said, and stops those that were removed. */
void members_poll(struct members *m);
/* Asks nothing any more, and none is held any more. NULL is fine. */
void members_stop(struct members *m);
void members_free(struct members *m);

/* ---- coming and going ---- */

/* One more member, or other credentials for the one of this name. `access` and its texts are in
 * `arena`, which the set takes over: it is empty when this returns, whatever it returns. NULL: the
 * cluster is known, but nobody can ask it; it answers that it does not know. 0; -EEXIST: the name
 * is that of a member that stays for good; -EINVAL: it is no name; -ENOMEM. After an error the
 * set is as it was. */
int members_add(struct members *m, struct str name, struct arena *arena,
                const struct kube_access *access, struct err *err) MUST_CHECK;
/* One that is not there, or stays for good, is fine. */
void members_remove(struct members *m, struct str name);

/* Are these all members, so that another name is unknown? True unless it was said otherwise: while
 * those who know are not heard, it may be that of a member to come. */
void members_set_complete(struct members *m, bool is_complete);
/* Threads that talk to API servers now. */
uint32_t members_loops(const struct members *m);
int64_t members_stale_after_ms(const struct members *m);
const struct members_options *members_configured(const struct members *m);

/* ---- asking ---- */

/* Held until member_release(). NULL: there is none. O(log members). */
struct member *members_hold(struct members *m, struct str name);
/* If there is one member only, likewise; NULL: there are *ret_count. */
struct member *members_hold_only(struct members *m, uint32_t *ret_count);
/* NULL is fine. */
void member_release(struct member *m);
/* As was set. */
bool members_complete(const struct members *m);
/* Are all members listed, or has it at least been tried? One that cannot even begin, as with a CA
 * that is no certificate, has been tried, and one that is not listed within half a minute. Once
 * true it stays true: members that join later are not waited for. So those of the start must be in
 * the set: ask karmada_members_listed() first. */
bool members_listed(struct members *m);

enum member_state {
    MEMBER_SYNCING, /* not all is listed yet */
    MEMBER_SYNCED,
    MEMBER_STALE,     /* its API server has been silent for too long */
    MEMBER_NO_ACCESS, /* its API server or credentials for it are not known */
    MEMBER_TOO_LARGE, /* more would be kept of it than may be */
    MEMBER_STATES,
};
/* Why a member in that state does not answer. Static. */
const char *member_state_text(enum member_state state);
/* Of one that is held, as the rest: of its nodes and pods, and of its ResourceQuotas, if they are
 * watched. */
enum member_state member_state(const struct member *m);
/* Of its pods, Deployments and ReplicaSets, which its credentials need not allow to list. */
enum member_state member_workloads_state(const struct member *m);
struct str member_name(const struct member *m);
struct informer *member_informer(const struct member *m);

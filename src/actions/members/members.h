/*
 * The member clusters that an estimator answers for, by name. Each has its own store, filled by
 * watches at its API server or by state files. Members do not affect each other.
 *
 * Members come and go while the process runs. A caller holds the member that it asks; a removed
 * member ends when no caller holds it. The set is locked only to find a member or to exchange a
 * pointer, never while a member begins, lists or ends.
 *
 * A member that gets other credentials for the same API server is replaced. The old one watches the
 * same cluster, so it answers until the new one is listed, or until it is stale itself. With
 * another API server, or another proxy in front of it, which chooses the server, it may be another
 * cluster: the old one does not answer any more.
 *
 * Sixteen members share a thread that talks to their API servers, each on one connection if the
 * server speaks HTTP/2. At most four make their first listings at the same time, so that a process
 * with many members starts within its memory. A listing that takes half a minute, for example
 * because the API server is silent, goes on beside the four, and nothing waits for it any more. A
 * new member takes the place of a removed one.
 *
 * Threads: members_hold() to members_listed(), and functions of a held member, from any thread
 * until members_stop(); everything else belongs to one thread.
 */
#pragma once

#include "base/clock.h"
#include "kube/auth/access.h"
#include "members/store.h"

struct members;
struct member;

/*
 * A parsed text: NAME, NAME=KUBECONFIG, NAME=SERVER or NAME=SERVER,KUBECONFIG; the kubeconfig may
 * be followed by #CONTEXT. Borrows from the text.
 */
struct member_source {
    struct str name;
    struct str server;     /* "": the server of the kubeconfig */
    struct str kubeconfig; /* "": SERVER alone, state files, or members_use_cluster() */
    struct str context;    /* "": the kubeconfig's current context */
};
/* Returns false if the name is empty or no DNS-1123 subdomain, or if no file or context follows
 * '=', ',' or '#'. */
bool member_source_parse(struct str text, struct member_source *ret);
/* Is the source the cluster of the state files, or of the process? */
bool member_source_is_files(const struct member_source *source);

/* Makes a set of fixed members: reads their kubeconfigs, connects to no server yet. Texts are
 * borrowed for the call; all names differ. Returns 0 or -errno; the sentence names the member. */
int members_new(const char *const *sources, size_t count, int64_t stale_after_ms,
                struct members **ret, struct err *err) MUST_CHECK;
/* How members are watched; default: all zero. members_configure() comes before all calls below. */
struct members_options {
    bool quotas;         /* watches their ResourceQuotas, too */
    uint64_t max_bytes;  /* kept of each member; 0: no limit */
    struct clock *clock; /* for pauses and for the time of a first listing; borrowed; NULL: the real
                            one */
};
void members_configure(struct members *m, const struct members_options *options);
/* Makes the member without a kubeconfig the cluster of this API server, instead of state files.
 * NULL for the kubeconfig: the cluster in which this pod runs. Before members_start(). Reads
 * nothing without such a member. Returns 0 or -errno; the sentence names the member. */
int members_use_cluster(struct members *m, const char *kubeconfig, const char *context,
                        struct err *err) MUST_CHECK;
/* Returns the store for state files, or NULL. Register its follower before reading the files. */
struct informer *members_of_files(const struct members *m);
/* Registers the metric, and begins to list and watch. */
void members_start(struct members *m);
/* Call it about once a second. Starts pending members and stops removed ones. Retries, after a
 * pause, members that could not be watched; that was logged. */
void members_poll(struct members *m);
/* Stops all watches; callers must not hold members any more. NULL is fine. */
void members_stop(struct members *m);
void members_free(struct members *m);

/* ---- coming and going ---- */

/* Adds a member, or gives other credentials to the member of this name. `access` and its texts are
 * in `arena`, which the set takes over: in any case it is empty when this returns. NULL: the
 * cluster is known but has no access, so its answers are "not known". Returns 0; -EEXIST: the name
 * is a fixed member's; -EINVAL: it is not valid; -ENOMEM. After an error the set is unchanged. */
int members_add(struct members *m, struct str name, struct arena *arena,
                const struct kube_access *access, struct err *err) MUST_CHECK;
/* Does nothing for an unknown name or a fixed member. */
void members_remove(struct members *m, struct str name);

/* Sets whether the set has all members, so that any other name is unknown; true at first. While
 * the source of members does not answer, another name may be a new member's. */
void members_set_complete(struct members *m, bool is_complete);
/* Returns the number of threads that talk to API servers now. */
uint32_t members_loops(const struct members *m);
int64_t members_stale_after_ms(const struct members *m);
const struct members_options *members_configured(const struct members *m);

/* ---- asking ---- */

/* Returns a member, held until member_release(), or NULL. O(log members). */
struct member *members_hold(struct members *m, struct str name);
/* Holds the only member. Returns NULL if there is not exactly one member: there are *ret_count. */
struct member *members_hold_only(struct members *m, uint32_t *ret_count);
/* NULL is fine. */
void member_release(struct member *m);
/* Returns the value of members_set_complete(). */
bool members_complete(const struct members *m);
/* Are all members listed, or at least tried? A member was tried if it cannot even begin, for
 * example with a CA that is no certificate, or is not listed within half a minute. Once true it
 * stays true: later members are not waited for. The first members must be in the set by then: ask
 * karmada_members_listed() first. */
bool members_listed(struct members *m);

enum member_state {
    MEMBER_SYNCING, /* not all objects are listed yet */
    MEMBER_SYNCED,
    MEMBER_STALE,     /* its API server has been silent for too long */
    MEMBER_NO_ACCESS, /* its API server or its credentials are not known */
    MEMBER_TOO_LARGE, /* its objects take more bytes than allowed */
    MEMBER_STATES,
};
/* Returns why a member in that state does not answer. Static. */
const char *member_state_text(enum member_state state);
/* Returns the state of a held member's nodes and pods, and of its ResourceQuotas if watched. */
enum member_state member_state(const struct member *m);
/* Returns the state of the member's pods, Deployments and ReplicaSets; its credentials need not
 * allow these. */
enum member_state member_workloads_state(const struct member *m);
struct str member_name(const struct member *m);
struct informer *member_informer(const struct member *m);

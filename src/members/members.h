/*
 * The member clusters that an estimator answers for, by name. Each has a store of its own, filled
 * by watches at its API server, or by state files. What happens to one is no matter of the others'.
 *
 * Sixteen members share a thread that talks to their API servers, each on one connection if the
 * server speaks HTTP/2; and four at most make their first listings at the same time, so that a
 * process with many members starts within its memory.
 *
 * Threads: members_find(), member_state() and views of its store from any, between members_start()
 * and members_stop(); everything else belongs to one thread.
 */
#pragma once

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

/* Reads kubeconfigs, asks nothing yet. Texts are borrowed; all names differ. 0 or -errno, with the
 * member named. */
int members_new(const char *const *sources, size_t count, int64_t stale_after_ms,
                struct members **ret, struct err *err) MUST_CHECK;
/* The member without a kubeconfig is the cluster of this API server, and not of state files. NULL
 * for the kubeconfig: the cluster in which this pod runs. Before members_start(). Without such a
 * member nothing is read. 0 or -errno, with the member named. */
int members_use_cluster(struct members *m, const char *kubeconfig, const char *context,
                        struct err *err) MUST_CHECK;
/* The store that state files fill; NULL: none. Register its follower before the files are read. */
struct informer *members_of_files(const struct members *m);
/* Registers the metric, and begins to list and watch. */
void members_start(struct members *m);
/* About once a second: begins with more of them, and again with those that could not be watched,
 * which has been logged then. */
void members_poll(struct members *m);
/* Asks nothing any more. NULL is fine. */
void members_stop(struct members *m);
void members_free(struct members *m);

uint32_t members_count(const struct members *m);
/* By place, below members_count(); in the order of names. */
struct member *members_at(const struct members *m, uint32_t i);
/* NULL: there is none. O(log members). */
struct member *members_find(const struct members *m, struct str name);

enum member_state {
    MEMBER_SYNCING, /* not all is listed yet */
    MEMBER_SYNCED,
    MEMBER_STALE, /* its API server has been silent for too long */
    MEMBER_STATES,
};
enum member_state member_state(const struct member *m);
/* Are all members listed, or their listings at least tried? */
bool members_listed(const struct members *m);
struct str member_name(const struct member *m);
struct informer *member_informer(const struct member *m);

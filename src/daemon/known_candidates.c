#include "daemon/known_candidates.h"

#include "base/clock.h"
#include "candidates/kinds.h"

#include <errno.h>
#include <stdlib.h>

struct known_candidates {
    struct informer *stores[CANDIDATE_KINDS]; /* NULL: the cache keeps them */
    int64_t stale_after_ms[CANDIDATE_KINDS];
};

static int start_store(struct informer **ret, const struct candidate_kind *kind,
                       enum server_role role, const struct servers *servers, struct source *source,
                       struct err *err) {
    struct kube_client *client = servers_client(servers, role);
    int r = informer_new(kind->store, NULL, ret, err);
    if (r != 0)
        return r;
    if (client != NULL)
        return informer_watch(
            *ret, &(struct informer_watch){.client = client, .seed = clock_seed()}, err);
    source_follow(source, informer_follower(*ret));
    return 0;
}

int known_candidates_start(const struct configuration *c, const struct servers *servers,
                           struct source *source, struct known_candidates **ret, struct err *err) {
    *ret = NULL;
    if (!c->fleet.clusters)
        return 0;
    struct known_candidates *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for the clusters of a fleet");
    *ret = k;
    int r = 0;
    for (size_t i = 0; r == 0 && i < CANDIDATE_KINDS; i++) {
        enum server_role role = server_of(c, &watched_kinds[candidate_kinds[i].row]);
        k->stale_after_ms[i] = server_settings(c, role)->stale_after_ms;
        if (!candidate_kinds[i].cached)
            r = start_store(&k->stores[i], &candidate_kinds[i], role, servers, source, err);
    }
    return r;
}

static bool all(const struct known_candidates *k, bool (*is)(struct informer *i)) {
    for (size_t i = 0; k != NULL && i < CANDIDATE_KINDS; i++)
        if (k->stores[i] != NULL && !is(k->stores[i]))
            return false;
    return true;
}

bool known_candidates_listed(const struct known_candidates *k) {
    return all(k, informer_listed);
}

bool known_candidates_synced(const struct known_candidates *k) {
    return all(k, informer_synced);
}

bool known_candidates_fresh(const struct known_candidates *k) {
    for (size_t i = 0; k != NULL && i < CANDIDATE_KINDS; i++)
        if (k->stores[i] != NULL && informer_age_ms(k->stores[i]) > k->stale_after_ms[i])
            return false;
    return true;
}

void known_candidates_stop(struct known_candidates *k) {
    for (size_t i = 0; k != NULL && i < CANDIDATE_KINDS; i++)
        informer_stop(k->stores[i]);
}

void known_candidates_free(struct known_candidates *k) {
    for (size_t i = 0; k != NULL && i < CANDIDATE_KINDS; i++)
        informer_free(k->stores[i]);
    free(k);
}

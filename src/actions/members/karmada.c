#include "members/karmada.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/sorted.h"
#include "kube/client/fetch.h"
#include "kube/client/path.h"
#include "members/karmada_clusters.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    READING_AT_ONCE = 32, /* Secrets, of SECRET_BYTES at most */
    AGAIN_MS = 300000,
    TROUBLED_AGAIN_MS = 30000,
    SILENT_MS = 75000, /* an API server shows a sign of life about once a minute */
    SECRET_BYTES = 1 << 18,
};

/* ---- members ---- */

/* A Cluster's member, and the Secret read for it. */
struct tracked {
    struct karmada_members *owner;
    struct arena arena; /* owns the cluster */
    struct member_cluster cluster;
    uint64_t serial;  /* of the cluster */
    uint64_t place;   /* of the cluster, member_cluster_place() */
    bool is_there;    /* is among the Clusters, in this pass */
    bool is_outdated; /* its Cluster has changed while its Secret is read, in this pass */
    bool is_added;    /* to the set */
    bool is_asked;    /* reading its Secret has ended, or is not possible */
    bool has_access;  /* ... with credentials */
    bool is_foreign;  /* the name is that of a configured member */
    uint64_t access;  /* hash of the credentials */
    uint64_t asked;   /* the place for which they are */
    int64_t again_ms; /* when its Secret is due */
    int64_t read_ms;  /* when its Secret was read last */
    uint64_t said;    /* hash of the last message; 0: none */
    struct kube_fetch secret;
};

struct karmada_members {
    struct karmada_members_options options;
    struct informer *clusters;
    struct tracked **items; /* sorted by name; owned */
    uint32_t count, cap, reading;
    uint64_t seen; /* the last applied change of the Clusters */
    bool followed; /* each Cluster is tracked */
    bool tried;    /* ... or the Clusters could not be listed for too long */
    int64_t started_ms;
    _Atomic bool listed;
};

static int64_t now_ms(const struct karmada_members *k) {
    struct clock *clock = k->options.clock != NULL ? k->options.clock : clock_real();
    return clock->now_ms(clock);
}

static void end_tracked(struct tracked *t) {
    kube_fetch_end(&t->secret);
    arena_done(&t->arena);
    free(t);
}

/* Logs a message once, until there is another one. */
static void log_once(struct tracked *t, const struct err *err) {
    const char *what =
        t->has_access ? "a cluster of Karmada is asked with the credentials that were read last"
                      : "a cluster of Karmada cannot be asked: it is estimated as not known";
    const uint64_t hash = hash_mix(hash_str(str_of(what)), hash_str(str_of(err->text))) | 1;
    if (t->said == hash)
        return;
    t->said = hash;
    LOG_W(what, LOG_STR("member", t->cluster.meta.name), LOG_ERRTEXT(err));
}

/* Adds the member, with an access or, for NULL, without one. */
static void give_access(struct tracked *t, struct arena *arena, const struct kube_access *access,
                        uint64_t hash) {
    struct err err;
    if (t->is_added && t->has_access == (access != NULL) && (access == NULL || t->access == hash))
        return;
    const int r = members_add(t->owner->options.members, t->cluster.meta.name, arena, access, &err);
    if (r == -EEXIST && !t->is_foreign)
        LOG_I("a cluster of Karmada is a configured member, which stays",
              LOG_STR("member", t->cluster.meta.name));
    else if (r != 0 && r != -EEXIST)
        log_once(t, &err);
    t->is_foreign = r == -EEXIST;
    if (r != 0)
        return;
    t->is_added = true;
    t->has_access = access != NULL;
    t->access = hash;
    t->asked = t->place;
}

static void give_no_access(struct tracked *t) {
    struct arena none;
    arena_init(&none, LIMIT_CONFIG_BYTES);
    give_access(t, &none, NULL, 0);
    arena_done(&none);
}

static void take_access_away(struct tracked *t, const struct err *err) {
    give_no_access(t);
    log_once(t, err);
}

/* Takes the access away: the old objects may be another cluster's, and no answer must use them
 * while the Secret is read, however long that takes. */
static void leave_place(struct tracked *t) {
    LOG_I("a cluster of Karmada has another address: it is not known until its Secret is read",
          LOG_STR("member", t->cluster.meta.name));
    give_no_access(t);
}

/* ---- Secrets ---- */

static int check_secret(const struct tracked *t, struct err *err) {
    const struct member_cluster *c = &t->cluster;
    return kube_path_segment(c->secret_namespace) && kube_path_segment(c->secret_name)
               ? member_cluster_check(c, &t->owner->options.rules, err)
               : err_set(err, -EINVAL, "spec.secretRef names no Secret");
}

static void read_secret(struct tracked *t) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 1024};
    struct err err;
    if (check_secret(t, &err) != 0) {
        t->again_ms = INT64_MAX;
        t->is_asked = true;
        take_access_away(t, &err);
        return;
    }
    strbuf_appendf(&path, "/api/v1/namespaces/%.*s/secrets/%.*s",
                   STR_ARG(t->cluster.secret_namespace), STR_ARG(t->cluster.secret_name));
    if (!strbuf_failed(&path) &&
        kube_fetch_start(&t->secret, strbuf_str(&path), TROUBLED_AGAIN_MS) == 0)
        t->owner->reading++; /* otherwise the next poll tries again */
}

static void use_secret(struct tracked *t) {
    CLEANUP(arena_done) struct arena arena;
    struct kube_access access;
    struct err err;
    uint64_t hash = 0;
    arena_init(&arena, 4u * SECRET_BYTES);
    const int r =
        t->secret.status == 404
            ? err_set(&err, -ENOENT, "the Secret '%.*s/%.*s' is not there",
                      STR_ARG(t->cluster.secret_namespace), STR_ARG(t->cluster.secret_name))
            : member_cluster_access(&t->cluster, strbuf_str(&t->secret.body), &arena, &access,
                                    &hash, &err);
    if (r == 0) {
        t->said = 0;
        give_access(t, &arena, &access, hash);
    } else
        take_access_away(t, &err);
}

/* Uses the answer of a request that is over. A Secret that cannot be read changes nothing. */
static void end_reading(struct tracked *t) {
    const struct kube_fetch *secret = &t->secret;
    t->owner->reading--;
    t->is_asked = true;
    t->read_ms = now_ms(t->owner);
    if (secret->error == 0 && (secret->status == 200 || secret->status == 404)) {
        t->again_ms = t->read_ms + AGAIN_MS + (int64_t)(hash_str(t->cluster.meta.name) % 30000);
        use_secret(t);
    } else {
        struct err err;
        (void)err_set(&err, -EIO, "its Secret cannot be read: status %d, error %d", secret->status,
                      -secret->error);
        t->again_ms = t->read_ms + TROUBLED_AGAIN_MS;
        log_once(t, &err);
    }
    kube_fetch_forget(&t->secret);
}

/* Does the Cluster's member get no events? Perhaps its token is not valid any more. */
static bool is_troubled(const struct tracked *t) {
    struct member *member = members_hold(t->owner->options.members, t->cluster.meta.name);
    if (member == NULL)
        return false;
    const bool troubled =
        member_state(member) != MEMBER_SYNCED ||
        informer_kinds_age_ms(member_informer(member),
                              MEMBER_KIND(MEMBER_NODES) | MEMBER_KIND(MEMBER_PODS)) > SILENT_MS;
    member_release(member);
    return troubled;
}

static void look_after(struct tracked *t) {
    if (kube_fetch_ended(&t->secret))
        end_reading(t);
    if (t->secret.under_way || t->owner->reading >= READING_AT_ONCE)
        return;
    const int64_t now = now_ms(t->owner);
    if (!t->is_asked || now >= t->again_ms ||
        (t->again_ms != INT64_MAX && now >= t->read_ms + TROUBLED_AGAIN_MS && is_troubled(t)))
        read_secret(t);
}

/* ---- the Clusters ---- */

static struct str tracked_name(const void *items, size_t i) {
    return ((struct tracked *const *)items)[i]->cluster.meta.name;
}

static uint32_t find_tracked(const struct karmada_members *k, struct str name, bool *ret_found) {
    return (uint32_t)sorted_place(k->items, k->count, tracked_name, name, ret_found);
}

/* Sets a new or changed Cluster; its Secret is then read anew. Returns false without memory. */
static bool set_cluster(struct tracked *t, const struct known_cluster *from) {
    struct arena arena;
    struct member_cluster cluster;
    arena_init(&arena, KARMADA_CLUSTER_ARENA);
    if (!member_cluster_copy(&from->cluster, &arena, &cluster)) {
        arena_done(&arena);
        return false;
    }
    arena_done(&t->arena);
    t->arena = arena;
    t->cluster = cluster;
    t->serial = from->serial;
    t->place = member_cluster_place(&cluster);
    t->again_ms = 0;
    t->is_asked = false;
    return true;
}

static struct tracked *track(struct karmada_members *k, uint32_t at) {
    struct tracked *t = calloc(1, sizeof *t);
    if (t == NULL ||
        !sorted_insert(&k->items, &k->count, &k->cap, sizeof(struct tracked *), at, &t)) {
        free(t);
        return NULL;
    }
    t->owner = k;
    kube_fetch_init(&t->secret, k->options.client, SECRET_BYTES);
    arena_init(&t->arena, KARMADA_CLUSTER_ARENA);
    return t;
}

static void untrack(struct karmada_members *k, uint32_t at) {
    struct tracked *t = k->items[at];
    sorted_remove(k->items, &k->count, sizeof(struct tracked *), at);
    k->reading -= t->secret.under_way;
    end_tracked(t);
}

static void cancel_reading(struct tracked *t) {
    t->owner->reading -= t->secret.under_way;
    kube_fetch_cancel(&t->secret);
}

/* Tracks a new or changed Cluster. Returns false without memory, or if its request is outdated. */
static bool take_cluster(struct karmada_members *k, const struct known_cluster *from) {
    bool found;
    const uint32_t at = find_tracked(k, from->cluster.meta.name, &found);
    struct tracked *t = found ? k->items[at] : track(k, at);
    if (t == NULL)
        return false;
    t->is_there = true;
    if (found && t->serial == from->serial)
        return true;
    t->is_outdated = t->secret.under_way;
    const bool taken = !t->is_outdated && set_cluster(t, from);
    if (!taken && !found)
        untrack(k, at);
    return taken;
}

/* Returns false if some Clusters could not be tracked. Cancels no requests, because the informer's
 * lock is held. */
static bool take_clusters(struct karmada_members *k, const struct clusters *c) {
    bool all = true;
    for (uint32_t i = 0; i < k->count; i++)
        k->items[i]->is_there = k->items[i]->is_outdated = false;
    for (uint32_t i = 0; i < c->count; i++)
        all = take_cluster(k, c->items[i]) && all;
    return all;
}

static void forget_gone(struct karmada_members *k) {
    for (uint32_t i = k->count; i-- > 0;) {
        struct tracked *t = k->items[i];
        if (t->is_there)
            continue;
        if (t->is_added) {
            LOG_I("a cluster of Karmada is gone", LOG_STR("member", t->cluster.meta.name));
            members_remove(k->options.members, t->cluster.meta.name);
        }
        untrack(k, i);
    }
}

static bool cancel_outdated(struct karmada_members *k) {
    bool any = false;
    for (uint32_t i = 0; i < k->count; i++)
        if (k->items[i]->is_outdated) {
            cancel_reading(k->items[i]);
            any = true;
        }
    return any;
}

static bool read_clusters(struct karmada_members *k) {
    const bool all = take_clusters(k, informer_read(k->clusters));
    informer_read_done(k->clusters);
    return all;
}

/* Removes no member while Karmada's API server does not answer. Reads the states before the
 * Clusters, so that the next call follows a listing that ends meanwhile. */
static void follow_clusters(struct karmada_members *k) {
    const bool tried = informer_listed(k->clusters), complete = informer_complete(k->clusters);
    const uint64_t changes = informer_changes(k->clusters);
    bool all = true;
    if (complete && changes != k->seen) {
        all = read_clusters(k);
        if (!all && cancel_outdated(k))
            all = read_clusters(k);
        forget_gone(k);
        if (all)
            k->seen = changes;
    }
    k->followed = complete && all;
    k->tried = all && (complete || (tried && now_ms(k) - k->started_ms >= k->options.listing_ms));
}

/* A Cluster is a member from the poll that sees it, before its Secret has been read: an unknown
 * cluster would be an error. */
static void ask_for_members(struct karmada_members *k) {
    bool asked = true;
    for (uint32_t i = 0; i < k->count; i++) {
        struct tracked *t = k->items[i];
        if (!t->is_added && !t->is_foreign)
            give_no_access(t);
        if (!t->is_added)
            continue;
        if (member_cluster_has_access(&t->cluster)) {
            if (t->has_access && t->asked != t->place)
                leave_place(t);
            look_after(t);
        } else if (!t->is_asked) { /* the Cluster is new or has changed */
            struct err err;
            (void)err_set(&err, -ENOENT, "its Cluster has no apiEndpoint or no secretRef%s",
                          t->cluster.pull ? ", as in Pull mode" : "");
            cancel_reading(t);
            t->is_asked = true;
            take_access_away(t, &err);
        }
        asked = asked && t->is_asked;
    }
    if (k->tried && asked)
        atomic_store(&k->listed, true);
    members_set_complete(k->options.members, k->followed && (k->options.stale_after_ms <= 0 ||
                                                             informer_age_ms(k->clusters) <=
                                                                 k->options.stale_after_ms));
}

/* ---- life ---- */

int karmada_members_start(const struct karmada_members_options *options,
                          struct karmada_members **ret, struct err *err) {
    struct karmada_members *k = calloc(1, sizeof *k);
    *ret = k;
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    k->options = *options;
    k->started_ms = now_ms(k);
    members_set_complete(options->members, false);
    int r = informer_new(&karmada_clusters, NULL, &k->clusters, err);
    const struct informer_watch watch = {.client = options->client, .seed = clock_seed()};
    if (r == 0)
        r = informer_watch(k->clusters, &watch, err);
    return r;
}

void karmada_members_poll(struct karmada_members *k) {
    if (k == NULL)
        return;
    follow_clusters(k);
    ask_for_members(k);
}

bool karmada_members_listed(const struct karmada_members *k) {
    return k == NULL || atomic_load(&k->listed);
}

bool karmada_members_each(const struct karmada_members *k, void (*use)(void *ctx, struct str name),
                          void *ctx) {
    if (!informer_complete(k->clusters))
        return false;
    const struct clusters *c = informer_read(k->clusters);
    for (uint32_t i = 0; i < c->count; i++)
        use(ctx, c->items[i]->cluster.meta.name);
    informer_read_done(k->clusters);
    return true;
}

enum karmada_member karmada_members_find(const struct karmada_members *k, struct str name) {
    bool found;
    if (!informer_complete(k->clusters))
        return KARMADA_MEMBER_UNKNOWN;
    (void)karmada_clusters_find(informer_read(k->clusters), name, &found);
    informer_read_done(k->clusters);
    return found ? KARMADA_MEMBER_THERE : KARMADA_MEMBER_GONE;
}

void karmada_members_stop(struct karmada_members *k) {
    if (k == NULL)
        return;
    informer_stop(k->clusters);
    for (uint32_t i = 0; i < k->count; i++)
        cancel_reading(k->items[i]);
}

void karmada_members_free(struct karmada_members *k) {
    if (k == NULL)
        return;
    karmada_members_stop(k);
    while (k->count > 0)
        untrack(k, k->count - 1);
    informer_free(k->clusters);
    free(k->items);
    free(k);
}

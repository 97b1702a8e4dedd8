#include "members/karmada.h"

#include "base/hash.h"
#include "base/log.h"
#include "fleet/karmada.h"
#include "kube/client/path.h"
#include "kube/client/readings.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    READING_AT_ONCE = 32, /* number of Secrets, of SECRET_BYTES at most */
    SILENT_MS = 75000,    /* an API server shows a sign of life about once a minute */
    SECRET_BYTES = 1 << 18,
};

/* ---- members ---- */

/* A Cluster's member, and the Secret read for it. */
struct tracked {
    struct kube_reading secret; /* the item of the readings */
    struct karmada_members *owner;
    struct karmada_cluster *cluster; /* the parts for its access; owned */
    uint64_t place;                  /* karmada_access_place() of the cluster */
    bool is_added;                   /* the member is in the set */
    bool has_access;                 /* ... with credentials */
    bool is_foreign;                 /* the name is that of a configured member */
    uint64_t access;                 /* hash of the credentials */
    uint64_t asked;                  /* the place to which these credentials belong */
};

struct karmada_members {
    struct karmada_members_options options;
    struct kube_readings secrets; /* items are struct tracked */
    uint64_t seen;                /* the last applied change of the Clusters */
    bool followed;                /* each Cluster is tracked */
    bool tried;                   /* ... or the Clusters could not be listed for too long */
    int64_t started_ms;
    _Atomic bool listed;
};

static struct tracked *tracked_at(const struct karmada_members *k, uint32_t i) {
    return (struct tracked *)(void *)k->secrets.items[i];
}

/* Logs a message, unless the Cluster's last logged message was the same. */
static void log_once(struct tracked *t, const struct err *err) {
    const char *what =
        t->has_access ? "a cluster of Karmada is asked with the credentials that were read last"
                      : "a cluster of Karmada cannot be asked: it is estimated as not known";
    if (kube_reading_is_news(&t->secret,
                             hash_mix(hash_str(str_of(what)), hash_str(str_of(err->text)))))
        LOG_W(what, LOG_CSTR("member", t->secret.name), LOG_ERRTEXT(err));
}

/* Adds the member, with an access or, for NULL, without one. */
static void give_access(struct tracked *t, struct arena *arena, const struct kube_access *access,
                        uint64_t hash) {
    struct err err;
    if (t->is_added && t->has_access == (access != NULL) && (access == NULL || t->access == hash))
        return;
    const int r =
        members_add(t->owner->options.members, t->cluster->meta.name, arena, access, &err);
    if (r == -EEXIST && !t->is_foreign)
        LOG_I("a cluster of Karmada is also a configured member: the configured member stays",
              LOG_CSTR("member", t->secret.name));
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
          LOG_CSTR("member", t->secret.name));
    give_no_access(t);
}

/* ---- Secrets ---- */

static int check_secret(const struct tracked *t, struct err *err) {
    const struct karmada_access *a = &t->cluster->access;
    return kube_path_segment(a->secret_namespace) && kube_path_segment(a->secret_name)
               ? karmada_access_check(t->cluster, &t->owner->options.rules, err)
               : err_set(err, -EINVAL, "spec.secretRef names no Secret");
}

static void read_secret(struct tracked *t) {
    const struct karmada_access *a = &t->cluster->access;
    CLEANUP(strbuf_done) struct strbuf path = {.max = 1024};
    struct err err;
    if (check_secret(t, &err) != 0) {
        t->secret.again_ms = INT64_MAX;
        t->secret.is_asked = true;
        take_access_away(t, &err);
        return;
    }
    strbuf_appendf(&path, "/api/v1/namespaces/%.*s/secrets/%.*s", STR_ARG(a->secret_namespace),
                   STR_ARG(a->secret_name));
    if (!strbuf_failed(&path)) /* otherwise the next poll tries again */
        kube_reading_start(&t->secret, strbuf_str(&path));
}

static void use_secret(struct tracked *t) {
    const struct kube_fetch *secret = &t->secret.fetch;
    const struct karmada_access *a = &t->cluster->access;
    CLEANUP(arena_done) struct arena arena;
    struct kube_access access;
    struct err err;
    uint64_t hash = 0;
    arena_init(&arena, 4u * SECRET_BYTES);
    const int r = secret->status == 404
                      ? err_set(&err, -ENOENT, "the Secret '%.*s/%.*s' is not there",
                                STR_ARG(a->secret_namespace), STR_ARG(a->secret_name))
                      : karmada_access_read(t->cluster, strbuf_str(&secret->body), &arena, &access,
                                            &hash, &err);
    if (r == 0) {
        t->secret.said = 0;
        give_access(t, &arena, &access, hash);
    } else
        take_access_away(t, &err);
}

/* Uses the answer of a request that is over. A Secret that cannot be read changes nothing. */
static void end_reading(struct tracked *t, int result, const struct err *err) {
    if (result == 0)
        use_secret(t);
    else
        log_once(t, err);
    kube_fetch_forget(&t->secret.fetch);
}

/* Does the Cluster's member get no events? Perhaps its token is not valid any more. */
static bool is_troubled(const struct tracked *t) {
    struct member *member = members_hold(t->owner->options.members, t->cluster->meta.name);
    if (member == NULL)
        return false;
    const bool troubled =
        member_state(member) != MEMBER_SYNCED ||
        informer_kinds_age_ms(member_informer(member),
                              MEMBER_KIND(MEMBER_NODES) | MEMBER_KIND(MEMBER_PODS)) > SILENT_MS;
    member_release(member);
    return troubled;
}

static bool is_due(const struct tracked *t) {
    const struct kube_reading *r = &t->secret;
    const int64_t now = kube_readings_now_ms(r->owner);
    return !r->is_asked || now >= r->again_ms ||
           (r->again_ms != INT64_MAX && now >= r->read_ms + KUBE_READINGS_TROUBLED_MS &&
            is_troubled(t));
}

static void look_after(struct tracked *t) {
    struct err err;
    int result;
    if (kube_reading_ended(&t->secret, &result, &err))
        end_reading(t, result, &err);
    if (kube_reading_may_start(&t->secret) && is_due(t))
        read_secret(t);
}

/* ---- the Clusters ---- */

/* Keeps the parts of a new or changed Cluster that its access depends on. Returns false without
 * memory. */
static bool set_cluster(struct tracked *t, const struct karmada_cluster *from) {
    const struct karmada_cluster parts = {.meta = {.name = from->meta.name, .uid = from->meta.uid},
                                          .access = from->access,
                                          .pull = from->pull};
    size_t bytes;
    struct karmada_cluster *copy = karmada_cluster_copy(&parts, &bytes);
    if (copy == NULL)
        return false;
    free(t->cluster);
    t->cluster = copy;
    t->place = karmada_access_place(copy);
    kube_reading_renew(&t->secret);
    return true;
}

/* Tracks a new or changed Cluster. Returns false without memory. */
static bool take_cluster(struct karmada_members *k, const struct karmada_cluster *from) {
    struct tracked *t = (struct tracked *)(void *)kube_readings_take(&k->secrets, from->meta.name);
    if (t == NULL)
        return false;
    t->owner = k;
    if (t->cluster != NULL && karmada_access_same(t->cluster, from))
        return true;
    const bool taken = set_cluster(t, from);
    t->secret.is_there = t->cluster != NULL;
    return taken;
}

/* Returns false if some Clusters could not be tracked. */
static bool take_clusters(struct karmada_members *k) {
    struct karmada_view view;
    bool all = true;
    kube_readings_begin(&k->secrets);
    karmada_view_open(k->options.clusters, &view);
    for (uint32_t slot = 0; slot < topology_slots(view.clusters.topology); slot++) {
        const struct karmada_cluster *cluster = karmada_member(&view, slot);
        all = (cluster == NULL || take_cluster(k, cluster)) && all;
    }
    karmada_view_close(&view);
    kube_readings_end(&k->secrets);
    return all;
}

static void forget_gone(struct kube_reading *item) {
    const struct tracked *t = (const struct tracked *)(const void *)item;
    if (!t->is_added)
        return;
    LOG_I("a cluster of Karmada is gone", LOG_CSTR("member", item->name));
    members_remove(t->owner->options.members, str_of(item->name));
}

static void free_cluster(struct kube_reading *item) {
    free(((struct tracked *)(void *)item)->cluster);
}

/* Removes no member while Karmada's API server does not answer. Reads the states before the
 * Clusters, so that the next call follows a listing that ends meanwhile. */
static void follow_clusters(struct karmada_members *k) {
    struct informer *clusters = k->options.clusters;
    const bool tried = informer_listed(clusters), complete = informer_complete(clusters);
    const uint64_t changes = informer_changes(clusters);
    bool all = true;
    if (complete && changes != k->seen) {
        all = take_clusters(k);
        if (all)
            k->seen = changes;
    }
    k->followed = complete && all;
    k->tried = all && (complete || (tried && kube_readings_now_ms(&k->secrets) - k->started_ms >=
                                                 k->options.listing_ms));
}

/* Takes the access away: the Cluster names no API server or no Secret. */
static void leave_unasked(struct tracked *t) {
    struct err err;
    (void)err_set(&err, -ENOENT, "its Cluster has no apiEndpoint or no secretRef%s",
                  t->cluster->pull ? ", as in Pull mode" : "");
    kube_reading_cancel(&t->secret);
    t->secret.is_asked = true;
    take_access_away(t, &err);
}

/* A Cluster is a member from the poll that sees it, before its Secret has been read: an unknown
 * cluster would be an error. */
static void ask_for_members(struct karmada_members *k) {
    bool asked = true;
    for (uint32_t i = 0; i < k->secrets.count; i++) {
        struct tracked *t = tracked_at(k, i);
        if (!t->is_added && !t->is_foreign)
            give_no_access(t);
        if (!t->is_added)
            continue;
        if (karmada_access_is_named(t->cluster)) {
            if (t->has_access && t->asked != t->place)
                leave_place(t);
            look_after(t);
        } else if (!t->secret.is_asked) { /* the Cluster is new or has changed */
            leave_unasked(t);
        }
        asked = asked && t->secret.is_asked;
    }
    if (k->tried && asked)
        atomic_store(&k->listed, true);
    members_set_complete(k->options.members, k->followed && (k->options.stale_after_ms <= 0 ||
                                                             informer_age_ms(k->options.clusters) <=
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
    k->secrets = (struct kube_readings){.client = options->client,
                                        .clock = options->clock,
                                        .what = "its Secret",
                                        .item_size = sizeof(struct tracked),
                                        .max_body = SECRET_BYTES,
                                        .at_once = READING_AT_ONCE,
                                        .timeout_ms = KUBE_READINGS_TROUBLED_MS,
                                        .gone = forget_gone,
                                        .release = free_cluster};
    k->started_ms = kube_readings_now_ms(&k->secrets);
    members_set_complete(options->members, false);
    return 0;
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
    struct karmada_view view;
    if (!informer_complete(k->options.clusters))
        return false;
    karmada_view_open(k->options.clusters, &view);
    for (uint32_t slot = 0; slot < topology_slots(view.clusters.topology); slot++)
        if (karmada_member(&view, slot) != NULL)
            use(ctx, karmada_member(&view, slot)->meta.name);
    karmada_view_close(&view);
    return true;
}

enum karmada_member karmada_members_find(const struct karmada_members *k, struct str name) {
    struct karmada_view view;
    if (!informer_complete(k->options.clusters))
        return KARMADA_MEMBER_UNKNOWN;
    karmada_view_open(k->options.clusters, &view);
    const uint32_t slot = topology_slot(view.clusters.topology, name);
    const bool found = slot != TOPOLOGY_NONE && karmada_member(&view, slot) != NULL;
    karmada_view_close(&view);
    return found ? KARMADA_MEMBER_THERE : KARMADA_MEMBER_GONE;
}

void karmada_members_stop(struct karmada_members *k) {
    if (k != NULL)
        kube_readings_stop(&k->secrets);
}

void karmada_members_free(struct karmada_members *k) {
    if (k == NULL)
        return;
    kube_readings_done(&k->secrets);
    free(k);
}

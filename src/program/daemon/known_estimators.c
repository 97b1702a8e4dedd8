#include "daemon/known_estimators.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/sorted.h"
#include "estimator/service_name.h"
#include "estimators/discovery.h"
#include "fleet/karmada.h"
#include "kube/client/fetch.h"
#include "kube/client/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    READING_AT_ONCE = 8, /* Services */
    READING_MS = 10000,
    AGAIN_MS = 300000,
    TROUBLED_AGAIN_MS = 30000,
    SERVICE_BYTES = 1 << 18,
};

/* The estimator of one cluster, and the Service that is read for it. */
struct tracked {
    struct known_estimators *owner;
    char *cluster;
    bool is_fixed; /* its address is configured */
    bool is_there; /* this pass found the Cluster */
    bool is_added;
    struct estimator_addresses addresses; /* if is_added */
    int64_t again_ms;                     /* when to read its Service again */
    uint64_t said;                        /* hash of the last logged error; 0: none */
    uint64_t unreached;                   /* likewise, of the last connection error */
    struct kube_fetch service;
};

struct known_estimators {
    struct known_estimators_options options;
    struct estimator_services services;
    struct grpc_dialer *dialer;
    struct estimators *estimators;
    struct tracked **items; /* by cluster; owned */
    uint32_t count, cap, reading;
    bool has_seen;
    uint64_t seen; /* the last seen version of the Clusters */
};

static int64_t now_ms(const struct known_estimators *k) {
    struct clock *clock = k->options.clock != NULL ? k->options.clock : clock_real();
    return clock->now_ms(clock);
}

/* ---- tracked estimators ---- */

static struct str cluster_name(const void *items, size_t i) {
    return str_of(((struct tracked *const *)items)[i]->cluster);
}

static uint32_t find_tracked(const struct known_estimators *k, struct str cluster,
                             bool *ret_found) {
    return (uint32_t)sorted_place(k->items, k->count, cluster_name, cluster, ret_found);
}

/* Adds an estimator. Returns NULL without memory. */
static struct tracked *track(struct known_estimators *k, uint32_t at, struct str cluster) {
    struct tracked *t = calloc(1, sizeof *t);
    char *name = t != NULL ? str_dup(cluster) : NULL;
    if (name == NULL ||
        !sorted_insert(&k->items, &k->count, &k->cap, sizeof(struct tracked *), at, &t)) {
        free(name);
        free(t);
        return NULL;
    }
    t->owner = k;
    t->cluster = name;
    kube_fetch_init(&t->service, k->options.client, SERVICE_BYTES);
    return t;
}

static void cancel_reading(struct tracked *t) {
    t->owner->reading -= t->service.under_way;
    kube_fetch_cancel(&t->service);
}

static void free_tracked(struct tracked *t) {
    kube_fetch_end(&t->service);
    free(t->cluster);
    free(t);
}

/* ---- addresses ---- */

/* Logs an error once, until another error follows. */
static void log_once(struct tracked *t, const struct err *err) {
    const uint64_t hash = hash_str(str_of(err->text)) | 1;
    if (t->said == hash)
        return;
    t->said = hash;
    LOG_W("the estimator of a cluster is not found: what fits is not known to it",
          LOG_CSTR("cluster", t->cluster), LOG_ERRTEXT(err));
}

static bool same_addresses(const struct estimator_addresses *a,
                           const struct estimator_addresses *b) {
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->texts[i], b->texts[i]) != 0)
            return false;
    return true;
}

static int use_addresses(struct tracked *t, const struct estimator_addresses *found,
                         struct err *err) {
    const char *texts[GRPC_PEER_ADDRESSES];
    struct estimators *estimators = t->owner->estimators;
    if (t->is_added && same_addresses(&t->addresses, found))
        return 0;
    for (size_t i = 0; i < found->count; i++)
        texts[i] = found->texts[i];
    if (t->is_added)
        estimators_remove(estimators, str_of(t->cluster));
    const int r = estimators_add(estimators, str_of(t->cluster), texts, found->count, err);
    t->is_added = r == 0;
    t->addresses = *found;
    if (r == 0)
        LOG_D("the estimator of a cluster is asked", LOG_CSTR("cluster", t->cluster),
              LOG_CSTR("address", texts[0]));
    return r;
}

/* Logs why the dialer has no connection to the estimator: a question about its cluster only shows
 * that the answer is not known. */
static void follow_connection(struct tracked *t) {
    struct grpc_peer_report report;
    if (!t->is_added || !estimators_report(t->owner->estimators, str_of(t->cluster), &report))
        return;
    if (report.stage == GRPC_PEER_READY) {
        if (t->unreached != 0)
            LOG_I("the estimator of a cluster is connected again", LOG_CSTR("cluster", t->cluster),
                  LOG_CSTR("address", report.address));
        t->unreached = 0;
        return;
    }
    const uint64_t where = hash_str(str_of(t->addresses.texts[0])),
                   hash = hash_mix(where, hash_str(str_of(report.failure.text))) | 1;
    if (report.failures < t->addresses.count || t->unreached == hash)
        return; /* not all addresses were tried, or nothing is new */
    t->unreached = hash;
    LOG_W("the estimator of a cluster is not connected: what fits is not known to it",
          LOG_CSTR("cluster", t->cluster), LOG_CSTR("address", report.address),
          LOG_ERRTEXT(&report.failure),
          LOG_CSTR("advice", "`evenkeel check estimator` says what a karmada-scheduler would see"));
}

/* Takes the addresses from the Service; .p NULL: no Service. A bad Service changes no address. */
static void use_service(struct tracked *t, struct str service) {
    CLEANUP(arena_done) struct arena arena;
    struct estimator_addresses found;
    struct err err;
    arena_init(&arena, 4u * SERVICE_BYTES);
    int r = estimator_service_addresses(&t->owner->services, str_of(t->cluster), service, &arena,
                                        &found, &err);
    if (r == 0)
        r = use_addresses(t, &found, &err);
    if (r == 0)
        t->said = 0;
    else
        log_once(t, &err);
    t->again_ms =
        now_ms(t->owner) +
        (r == 0 ? AGAIN_MS + (int64_t)(hash_str(str_of(t->cluster)) % 30000) : TROUBLED_AGAIN_MS);
}

/* ---- Services ---- */

/* Returns false if the Service's name is not valid in a path. */
static bool write_path(struct tracked *t, struct strbuf *path) {
    CLEANUP(strbuf_done) struct strbuf name = {0};
    const struct estimator_services *services = &t->owner->services;
    estimator_service_name(services->prefix, str_of(t->cluster), &name);
    if (strbuf_failed(&name) || !kube_path_segment(strbuf_str(&name)))
        return false;
    strbuf_appendf(path, "/api/v1/namespaces/%.*s/services/%.*s", STR_ARG(services->namespace),
                   STR_ARG(strbuf_str(&name)));
    return !strbuf_failed(path);
}

static void read_service(struct tracked *t) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 1024};
    if (!write_path(t, &path)) {
        struct err err;
        (void)err_set(&err, -EINVAL, "no Service can have its name");
        log_once(t, &err);
        t->again_ms = INT64_MAX;
        return;
    }
    if (kube_fetch_start(&t->service, strbuf_str(&path), READING_MS) == 0)
        t->owner->reading++; /* otherwise a later poll tries again */
}

static void end_reading(struct tracked *t) {
    const struct kube_fetch *service = &t->service;
    struct err err;
    t->owner->reading--;
    if (service->error == 0 && service->status == 200) {
        use_service(t, strbuf_str(&service->body));
    } else if (service->error == 0 && service->status == 404) {
        use_service(t, (struct str){0});
    } else {
        (void)err_set(&err, -EIO, "its Service cannot be read: status %d, error %d",
                      service->status, -service->error);
        log_once(t, &err);
        t->again_ms = now_ms(t->owner) + TROUBLED_AGAIN_MS;
    }
    kube_fetch_forget(&t->service);
}

static void look_after(struct tracked *t) {
    follow_connection(t);
    if (kube_fetch_ended(&t->service))
        end_reading(t);
    if (t->is_fixed || t->service.under_way || now_ms(t->owner) < t->again_ms)
        return;
    if (t->owner->options.client == NULL)
        use_service(t, (struct str){0});
    else if (t->owner->reading < READING_AT_ONCE)
        read_service(t);
}

/* ---- Clusters that come and go ---- */

/* Tracks all Clusters. Cancels nothing: the view's lock is held. Returns false without memory. */
static bool take_clusters(struct known_estimators *k, const struct karmada_view *view) {
    const bool without_pull = k->options.configuration->karmada_estimators.disable_in_pull_mode;
    const uint32_t slots = topology_slots(view->clusters.topology);
    for (uint32_t i = 0; i < k->count; i++)
        k->items[i]->is_there = k->items[i]->is_fixed;
    for (uint32_t slot = 0; slot < slots; slot++) {
        const struct karmada_cluster *cluster = karmada_member(view, slot);
        bool found;
        if (cluster == NULL || (cluster->pull && without_pull))
            continue;
        const uint32_t at = find_tracked(k, cluster->meta.name, &found);
        struct tracked *t = found ? k->items[at] : track(k, at, cluster->meta.name);
        if (t == NULL)
            return false;
        t->is_there = true;
    }
    return true;
}

static void forget_gone(struct known_estimators *k) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        struct tracked *t = k->items[i];
        if (t->is_there) {
            k->items[kept++] = t;
            continue;
        }
        cancel_reading(t);
        if (t->is_added)
            estimators_remove(k->estimators, str_of(t->cluster));
        free_tracked(t);
    }
    k->count = kept;
}

static void follow_clusters(struct known_estimators *k) {
    struct karmada_view view;
    if (k->options.karmada == NULL)
        return;
    const uint64_t changes = informer_changes(k->options.karmada);
    if (k->has_seen && changes == k->seen)
        return;
    karmada_view_open(k->options.karmada, &view);
    k->has_seen = take_clusters(k, &view);
    karmada_view_close(&view);
    if (k->has_seen)
        forget_gone(k);
    k->seen = changes;
}

/* ---- life ---- */

static int add_fixed(struct known_estimators *k, struct err *err) {
    const struct configuration *c = k->options.configuration;
    for (size_t i = 0; i < c->karmada_estimators.address_count; i++) {
        struct estimator_location given = {.cluster = {0}};
        struct estimator_addresses one = {.count = 1};
        bool found;
        (void)estimator_location_parse(str_of(c->karmada_estimators.addresses[i]), &given);
        const uint32_t at = find_tracked(k, given.cluster, &found);
        if (found)
            return err_set(err, -EINVAL, "karmada.estimators.addresses: '%.*s' is there twice",
                           STR_ARG(given.cluster));
        struct tracked *t = track(k, at, given.cluster);
        if (t == NULL)
            return err_set(err, -ENOMEM, "no memory for estimators");
        t->is_fixed = true;
        memcpy(one.texts[0], given.address, sizeof given.address);
        const int r = use_addresses(t, &one, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int known_estimators_start(const struct known_estimators_options *options,
                           struct known_estimators **ret, struct err *err) {
    const struct configuration *c = options->configuration;
    const struct grpc_dial_tls tls = {.ca_file = c->karmada_estimators.ca_file,
                                      .cert_file = c->karmada_estimators.cert_file,
                                      .key_file = c->karmada_estimators.key_file,
                                      .insecure_skip_verify =
                                          c->karmada_estimators.insecure_skip_verify};
    *ret = NULL;
    if (!configuration_asks_estimators(c))
        return 0;
    struct known_estimators *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for estimators");
    *ret = k;
    k->options = *options;
    k->services =
        (struct estimator_services){.prefix = str_of(c->karmada_estimators.service_prefix),
                                    .namespace = str_of(c->karmada_estimators.service_namespace),
                                    .port = (uint16_t)c->karmada_estimators.port};
    int r = grpc_dialer_start(&tls, clock_real(), &k->dialer, err);
    if (r == 0)
        r = estimators_new(k->dialer, clock_real(), &k->estimators, err);
    return r == 0 ? add_fixed(k, err) : r;
}

void known_estimators_poll(struct known_estimators *k) {
    if (k == NULL)
        return;
    follow_clusters(k);
    for (uint32_t i = 0; i < k->count; i++)
        look_after(k->items[i]);
}

struct estimators *known_estimators_asked(const struct known_estimators *k) {
    return k != NULL ? k->estimators : NULL;
}

void known_estimators_stop(struct known_estimators *k) {
    if (k == NULL)
        return;
    for (uint32_t i = 0; i < k->count; i++)
        cancel_reading(k->items[i]);
    grpc_dialer_stop(k->dialer);
    k->dialer = NULL;
}

void known_estimators_free(struct known_estimators *k) {
    if (k == NULL)
        return;
    for (uint32_t i = 0; i < k->count; i++)
        free_tracked(k->items[i]);
    free(k->items);
    estimators_free(k->estimators);
    free(k);
}

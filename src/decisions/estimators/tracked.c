#include "estimators/tracked.h"

#include "base/hash.h"
#include "base/log.h"
#include "estimator/service_name.h"
#include "fleet/karmada.h"
#include "kube/client/path.h"
#include "kube/client/readings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    READING_AT_ONCE = 8, /* Services that are read at once */
    READING_MS = 10000,
    SERVICE_BYTES = 1 << 18,
};

/* The estimator of one cluster, and the Service that is read for it. */
struct tracked {
    struct kube_reading
        service; /* first member: an item of `readings`; an item with a configured address stays */
    struct tracked_estimators *owner;
    bool is_added;
    struct estimator_addresses addresses; /* valid if is_added is true */
    uint64_t unreached;                   /* hash of the last connection error; 0: none */
};

struct tracked_estimators {
    struct tracked_estimators_options options;
    struct grpc_dialer *dialer;
    struct estimators *estimators;
    struct kube_readings readings; /* the items are struct tracked */
    bool has_seen;
    uint64_t seen; /* the last seen version of the Clusters */
};

/* Returns the estimator of a cluster, new or known; NULL without memory. */
static struct tracked *track(struct tracked_estimators *k, struct str cluster) {
    struct tracked *t = (struct tracked *)(void *)kube_readings_take(&k->readings, cluster);
    if (t != NULL)
        t->owner = k;
    return t;
}

/* ---- addresses ---- */

/* Logs an error once, until another error follows. */
static void log_once(struct tracked *t, const struct err *err) {
    if (kube_reading_is_news(&t->service, hash_str(str_of(err->text))))
        LOG_W("the estimator of a cluster is not found: there is no accurate estimate for the "
              "cluster",
              LOG_CSTR("cluster", t->service.name), LOG_ERRTEXT(err));
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
        estimators_remove(estimators, str_of(t->service.name));
    const int r = estimators_add(estimators, str_of(t->service.name), texts, found->count, err);
    t->is_added = r == 0;
    t->addresses = *found;
    if (r == 0)
        LOG_D("the estimator of a cluster is asked", LOG_CSTR("cluster", t->service.name),
              LOG_CSTR("address", texts[0]));
    return r;
}

/* Logs why the dialer has no connection to the estimator: a question about its cluster only shows
 * that the answer is not known. */
static void follow_connection(struct tracked *t) {
    struct grpc_peer_report report;
    if (!t->is_added || !estimators_report(t->owner->estimators, str_of(t->service.name), &report))
        return;
    if (report.stage == GRPC_PEER_READY) {
        if (t->unreached != 0)
            LOG_I("the estimator of a cluster is connected again",
                  LOG_CSTR("cluster", t->service.name), LOG_CSTR("address", report.address));
        t->unreached = 0;
        return;
    }
    const uint64_t where = hash_str(str_of(t->addresses.texts[0])),
                   hash = hash_mix(where, hash_str(str_of(report.failure.text))) | 1;
    if (report.failures < t->addresses.count || t->unreached == hash)
        return; /* not all addresses were tried, or nothing is new */
    t->unreached = hash;
    LOG_W("the estimator of a cluster is not connected: there is no accurate estimate for the "
          "cluster",
          LOG_CSTR("cluster", t->service.name), LOG_CSTR("address", report.address),
          LOG_ERRTEXT(&report.failure),
          LOG_CSTR("advice", "`evenkeel check estimator` says what a karmada-scheduler would see"));
}

/* Takes the addresses from the Service; .p NULL: no Service. A bad Service changes no address. */
static void use_service(struct tracked *t, struct str service) {
    CLEANUP(arena_done) struct arena arena;
    struct estimator_addresses found;
    struct err err;
    arena_init(&arena, 4u * SERVICE_BYTES);
    int r = estimator_service_addresses(&t->owner->options.services, str_of(t->service.name),
                                        service, &arena, &found, &err);
    if (r == 0)
        r = use_addresses(t, &found, &err);
    if (r == 0) {
        t->service.said = 0;
    } else {
        kube_reading_again(&t->service, true);
        log_once(t, &err);
    }
}

/* ---- Services ---- */

/* Returns false if the Service's name is not valid in a path. */
static bool write_path(struct tracked *t, struct strbuf *path) {
    CLEANUP(strbuf_done) struct strbuf name = {0};
    const struct estimator_services *services = &t->owner->options.services;
    estimator_service_name(services->prefix, str_of(t->service.name), &name);
    if (strbuf_failed(&name) || !kube_path_segment(strbuf_str(&name)))
        return false;
    strbuf_appendf(path, "/api/v1/namespaces/%.*s/services/%.*s", STR_ARG(services->namespace),
                   STR_ARG(strbuf_str(&name)));
    return !strbuf_failed(path);
}

static void read_service(struct tracked *t) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 1024};
    struct err err;
    if (write_path(t, &path)) {
        kube_reading_start(&t->service, strbuf_str(&path));
        return;
    }
    (void)err_set(&err, -EINVAL, "no Service can have its name");
    log_once(t, &err);
    t->service.again_ms = INT64_MAX;
}

static void end_reading(struct tracked *t, int result, const struct err *err) {
    const struct kube_fetch *service = &t->service.fetch;
    if (result != 0)
        log_once(t, err);
    else
        use_service(t, service->status == 200 ? strbuf_str(&service->body) : (struct str){0});
    kube_fetch_forget(&t->service.fetch);
}

static void look_after(struct tracked *t) {
    struct err err;
    int result;
    follow_connection(t);
    if (kube_reading_ended(&t->service, &result, &err))
        end_reading(t, result, &err);
    if (t->service.stays || kube_readings_now_ms(&t->owner->readings) < t->service.again_ms)
        return;
    if (t->owner->options.client != NULL) {
        if (kube_reading_may_start(&t->service))
            read_service(t);
        return;
    }
    kube_reading_again(&t->service, false);
    use_service(t, (struct str){0});
}

/* ---- Clusters that come and go ---- */

/* Tracks all Clusters. Returns false without memory. */
static bool take_clusters(struct tracked_estimators *k, const struct karmada_view *view) {
    const bool without_pull = k->options.without_pull;
    bool all = true;
    for (uint32_t slot = 0; slot < topology_slots(view->clusters.topology); slot++) {
        const struct karmada_cluster *cluster = karmada_member(view, slot);
        if (cluster != NULL && !(cluster->pull && without_pull))
            all = track(k, cluster->meta.name) != NULL && all;
    }
    return all;
}

static void forget_gone(struct kube_reading *item) {
    const struct tracked *t = (const struct tracked *)(const void *)item;
    if (t->is_added)
        estimators_remove(t->owner->estimators, str_of(item->name));
}

static void follow_clusters(struct tracked_estimators *k) {
    struct karmada_view view;
    if (k->options.karmada == NULL)
        return;
    const uint64_t changes = informer_changes(k->options.karmada);
    if (k->has_seen && changes == k->seen)
        return;
    kube_readings_begin(&k->readings);
    karmada_view_open(k->options.karmada, &view);
    k->has_seen = take_clusters(k, &view);
    karmada_view_close(&view);
    kube_readings_end(&k->readings);
    k->seen = changes;
}

/* ---- life ---- */

static int add_fixed(struct tracked_estimators *k, struct err *err) {
    for (size_t i = 0; i < k->options.address_count; i++) {
        struct estimator_location given = {.cluster = {0}};
        struct estimator_addresses one = {.count = 1};
        (void)estimator_location_parse(str_of(k->options.addresses[i]), &given);
        struct tracked *t = track(k, given.cluster);
        if (t == NULL)
            return err_set(err, -ENOMEM, "no memory for estimators");
        if (t->service.stays)
            return err_set(err, -EINVAL, "karmada.estimators.addresses: '%.*s' is there twice",
                           STR_ARG(given.cluster));
        t->service.stays = true;
        memcpy(one.texts[0], given.address, sizeof given.address);
        const int r = use_addresses(t, &one, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int tracked_estimators_start(const struct tracked_estimators_options *options,
                             struct tracked_estimators **ret, struct err *err) {
    struct tracked_estimators *k = calloc(1, sizeof *k);
    *ret = k;
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for estimators");
    k->options = *options;
    k->readings = (struct kube_readings){.client = options->client,
                                         .clock = options->clock,
                                         .what = "its Service",
                                         .item_size = sizeof(struct tracked),
                                         .max_body = SERVICE_BYTES,
                                         .at_once = READING_AT_ONCE,
                                         .timeout_ms = READING_MS,
                                         .gone = forget_gone};
    int r = grpc_dialer_start(&options->tls, clock_real(), &k->dialer, err);
    if (r == 0)
        r = estimators_new(k->dialer, clock_real(), &k->estimators, err);
    return r == 0 ? add_fixed(k, err) : r;
}

void tracked_estimators_poll(struct tracked_estimators *k) {
    if (k == NULL)
        return;
    follow_clusters(k);
    for (uint32_t i = 0; i < k->readings.count; i++)
        look_after((struct tracked *)(void *)k->readings.items[i]);
}

struct estimators *tracked_estimators_asked(const struct tracked_estimators *k) {
    return k != NULL ? k->estimators : NULL;
}

void tracked_estimators_stop(struct tracked_estimators *k) {
    if (k == NULL)
        return;
    kube_readings_stop(&k->readings);
    grpc_dialer_stop(k->dialer);
    k->dialer = NULL;
}

void tracked_estimators_free(struct tracked_estimators *k) {
    if (k == NULL)
        return;
    kube_readings_done(&k->readings);
    estimators_free(k->estimators);
    free(k);
}

#include "controllers/estimator_services.h"

#include "base/dns_name.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/sorted.h"
#include "estimator/service_name.h"
#include "kube/client/path.h"
#include "kube/objects/external_service.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LOOK_MS = 1000,  /* between two checks of all Services */
    AGAIN_MS = 5000, /* between two writes of one Service */
    RETRY_MS = 5000,
    RETRY_MAX_MS = 60000,
    REFUSED_MS = 60000,
    NOWHERE_MS = 30000, /* after a creation that found no namespace */
    AT_ONCE = 1000,     /* writes planned at the same time; the other Services wait */
    NAME_MAX_BYTES = 63,
    ARENA_BYTES = 2 * LIMIT_KUBE_EVENT,
};

/* A Service of the namespace whose name begins with our prefix. */
struct kept_service {
    struct strbuf name, uid, version; /* owned */
    bool ours, right, terminating;
    bool shown;    /* the listing under way has shown the Service */
    uint64_t seen; /* the pass that found its Cluster */
    bool said;     /* it was logged that the Service is not ours */
};

struct estimator_services_controller {
    struct estimator_services_options options;
    struct kube_io io;
    struct write_handle *writes;
    struct kube_timer timer;
    struct kept_service **items; /* by name; owned */
    uint32_t count, cap;
    bool listed;         /* the Services were listed at least once */
    uint64_t pass;       /* the number of the present check */
    struct strbuf name;  /* room for the name of one Service */
    struct strbuf names; /* names of the Services to write; a NUL ends each name */
    uint32_t name_count;
    /* Hashes of the Clusters that get no Service: those of the last pass, sorted, and of this
     * pass. */
    uint64_t *left_out, *leaving_out; /* owned */
    uint32_t left_out_count, leaving_out_count, left_out_cap;
    bool failed;          /* the last write failed, which was logged */
    int64_t not_until_ms; /* no write is made before this time */
};

static int64_t now_ms(const struct estimator_services_controller *s) {
    return s->options.clock->now_ms(s->options.clock);
}

static int64_t may_write_ms(void *ctx) {
    const struct estimator_services_controller *s = ctx;
    return elector_remaining_ms(s->options.elector);
}

/* ---- names ---- */

/* upstream: apimachinery validation IsDNS1035Label, the rule for names of Services. */
static bool is_service_name(struct str name) {
    return dns_label_valid(name) && name.p[0] >= 'a';
}

bool estimator_address_parse(struct str text, struct str *ret_host, uint16_t *ret_port) {
    const size_t colon = str_find(text, ':');
    int64_t port = ESTIMATOR_PORT;
    *ret_host = colon == SIZE_MAX ? text : (struct str){text.p, colon};
    if (colon != SIZE_MAX) {
        const struct str number = {text.p + colon + 1, text.n - colon - 1};
        if (number.n == 0 || number.p[0] == '+' || !str_to_i64(number, &port))
            return false;
    }
    *ret_port = (uint16_t)port;
    return dns_subdomain_valid(*ret_host) && port >= 1 && port <= UINT16_MAX;
}

/* Returns the Service's name, borrowed until the next call; "" without memory. */
static struct str name_of(struct estimator_services_controller *s, struct str cluster) {
    strbuf_clear(&s->name);
    estimator_service_name(s->options.prefix, cluster, &s->name);
    return strbuf_failed(&s->name) ? STR("") : strbuf_str(&s->name);
}

static struct str cluster_of(const struct estimator_services_controller *s, struct str name) {
    return estimator_service_cluster(s->options.prefix, name);
}

/* ---- the Services, as the watch shows them ---- */

static void free_kept(struct kept_service *k) {
    strbuf_done(&k->name);
    strbuf_done(&k->uid);
    strbuf_done(&k->version);
    free(k);
}

static struct str kept_name(const void *items, size_t i) {
    return strbuf_str(&((struct kept_service *const *)items)[i]->name);
}

static uint32_t place_of(const struct estimator_services_controller *s, struct str name,
                         bool *ret_found) {
    return (uint32_t)sorted_place(s->items, s->count, kept_name, name, ret_found);
}

static struct kept_service *kept_of(const struct estimator_services_controller *s,
                                    struct str name) {
    bool found;
    const uint32_t at = place_of(s, name, &found);
    return found ? s->items[at] : NULL;
}

static bool set_text(struct strbuf *text, struct str to) {
    strbuf_clear(text);
    strbuf_append_str(text, to);
    return !strbuf_failed(text);
}

/* Returns the Service at this place, new if it was not found; NULL without memory. */
static struct kept_service *take_place(struct estimator_services_controller *s, uint32_t at,
                                       bool found, struct str name) {
    if (found)
        return s->items[at];
    struct kept_service *k = calloc(1, sizeof *k);
    if (k == NULL)
        return NULL;
    k->name.max = k->uid.max = k->version.max = LIMIT_KUBE_EVENT;
    if (!set_text(&k->name, name) ||
        !sorted_insert(&s->items, &s->count, &s->cap, sizeof(struct kept_service *), at, &k)) {
        free_kept(k);
        return NULL;
    }
    return k;
}

static void forget(struct estimator_services_controller *s, uint32_t at) {
    free_kept(s->items[at]);
    sorted_remove(s->items, &s->count, sizeof(struct kept_service *), at);
}

static struct external_service wanted_of(const struct estimator_services_controller *s,
                                         struct str name) {
    return (struct external_service){.namespace = s->options.namespace,
                                     .name = name,
                                     .host = s->options.host,
                                     .port = s->options.port,
                                     .target_port = s->options.target_port};
}

static int apply(void *ctx, struct str object, struct err *err) {
    struct estimator_services_controller *s = ctx;
    CLEANUP(arena_done) struct arena arena;
    struct external_service_seen seen;
    bool found;
    arena_init(&arena, ARENA_BYTES);
    const int r = external_service_read(object, &arena, &seen, err);
    if (r != 0)
        return r;
    if (str_empty(cluster_of(s, seen.name)))
        return 0;
    const uint32_t at = place_of(s, seen.name, &found);
    struct kept_service *k = take_place(s, at, found, seen.name);
    if (k == NULL || !set_text(&k->uid, seen.uid) || !set_text(&k->version, seen.version))
        return err_set(err, -ENOMEM, "no memory for Service '%.*s'", STR_ARG(seen.name));
    const struct external_service wanted = wanted_of(s, seen.name);
    k->shown = true;
    k->said = k->said && !seen.ours;
    k->ours = seen.ours;
    k->terminating = seen.terminating;
    k->right = external_service_says(&seen, &wanted);
    writer_refresh(s->writes, seen.name);
    return 0;
}

static int remove_service(void *ctx, struct str object, struct err *err) {
    struct estimator_services_controller *s = ctx;
    CLEANUP(arena_done) struct arena arena;
    struct external_service_seen seen;
    bool found;
    arena_init(&arena, ARENA_BYTES);
    const int r = external_service_read(object, &arena, &seen, err);
    if (r != 0)
        return r;
    const uint32_t at = place_of(s, seen.name, &found);
    if (found)
        forget(s, at);
    return 0;
}

static void sync_begin(void *ctx) {
    struct estimator_services_controller *s = ctx;
    for (uint32_t i = 0; i < s->count; i++)
        s->items[i]->shown = false;
}

static void sync_end(void *ctx) {
    struct estimator_services_controller *s = ctx;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i]->shown)
            s->items[kept++] = s->items[i];
        else
            free_kept(s->items[i]);
    s->count = kept;
    s->listed = true;
}

struct reflector_sink estimator_services_sink(struct estimator_services_controller *s) {
    return (struct reflector_sink){.ctx = s,
                                   .sync_begin = sync_begin,
                                   .sync_end = sync_end,
                                   .apply = apply,
                                   .remove = remove_service};
}

/* ---- finding wrong Services ---- */

static int by_hash(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool add_left_out(struct estimator_services_controller *s, uint64_t hash) {
    enum { FIRST = 16 };
    if (s->leaving_out_count == s->left_out_cap) {
        const uint32_t cap = s->left_out_cap > 0 ? 2 * s->left_out_cap : FIRST;
        uint64_t *before = reallocarray(s->left_out, cap, sizeof *before);
        s->left_out = before != NULL ? before : s->left_out;
        uint64_t *now = reallocarray(s->leaving_out, cap, sizeof *now);
        s->leaving_out = now != NULL ? now : s->leaving_out;
        if (before == NULL || now == NULL)
            return false;
        s->left_out_cap = cap;
    }
    s->leaving_out[s->leaving_out_count++] = hash;
    return true;
}

static void leave_out(struct estimator_services_controller *s, struct str cluster) {
    const uint64_t hash = hash_str(cluster);
    const bool said = s->left_out_count > 0 &&
                      bsearch(&hash, s->left_out, s->left_out_count, sizeof hash, by_hash) != NULL;
    if (add_left_out(s, hash) && !said)
        LOG_W("a cluster of Karmada gets no Service: its name would be longer than 63 bytes, or no "
              "DNS label; set a shorter karmada.estimators.servicePrefix",
              LOG_STR("cluster", cluster));
}

static void want(struct estimator_services_controller *s, struct str name) {
    if (s->name_count == AT_ONCE)
        return;
    strbuf_append_str(&s->names, name);
    strbuf_append_char(&s->names, '\0');
    s->name_count++;
}

static void look_at_cluster(void *ctx, struct str cluster) {
    struct estimator_services_controller *s = ctx;
    const struct str name = name_of(s, cluster);
    if (!is_service_name(name)) {
        leave_out(s, cluster);
        return;
    }
    struct kept_service *k = kept_of(s, name);
    if (k == NULL) {
        want(s, name);
        return;
    }
    k->seen = s->pass;
    if (k->ours && !k->right && !k->terminating)
        want(s, name);
    if (!k->ours && !k->said) {
        k->said = true;
        LOG_W(
            "a Service with the name of a cluster's estimator is not Evenkeel's: it is left as it "
            "is; label it app.kubernetes.io/managed-by: evenkeel, or delete it",
            LOG_STR("namespace", s->options.namespace), LOG_STR("service", name));
    }
}

static void note_what_is_wrong(struct estimator_services_controller *s) {
    s->pass++;
    s->leaving_out_count = 0;
    if (!s->options.each(s->options.ctx, look_at_cluster, s))
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct kept_service *k = s->items[i];
        if (k->ours && !k->terminating && k->seen != s->pass)
            want(s, strbuf_str(&k->name));
    }
    if (s->leaving_out_count > 0)
        qsort(s->leaving_out, s->leaving_out_count, sizeof *s->leaving_out, by_hash);
    uint64_t *before = s->left_out;
    s->left_out = s->leaving_out;
    s->left_out_count = s->leaving_out_count;
    s->leaving_out = before;
}

static void look(void *ctx) {
    struct estimator_services_controller *s = ctx;
    strbuf_clear(&s->names);
    s->name_count = 0;
    if (s->listed && may_write_ms(s) > 0 && now_ms(s) >= s->not_until_ms)
        note_what_is_wrong(s);
    if (!strbuf_failed(&s->names))
        writer_want_each(s->writes, strbuf_str(&s->names));
    s->io.timer_start(s->options.client, &s->timer, LOOK_MS);
}

/* ---- writing ---- */

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    struct estimator_services_controller *s = ctx;
    const struct kept_service *k = kept_of(s, name);
    const struct str namespace = s->options.namespace;
    const struct external_service wanted = wanted_of(s, name);
    const enum karmada_member is = s->options.find(s->options.ctx, cluster_of(s, name));
    (void)err; /* the writer notices a body that does not fit */
    if (!s->listed || now_ms(s) < s->not_until_ms || (k != NULL && (!k->ours || k->terminating)))
        return 0;
    if (is == KARMADA_MEMBER_THERE && k == NULL) {
        ret->verb = WRITE_CREATE;
        strbuf_appendf(&ret->path, "/api/v1/namespaces/%.*s/services", STR_ARG(namespace));
        external_service_put_new(&ret->body, &wanted);
        return 0;
    }
    if (k == NULL || !kube_path_segment(name))
        return 0;
    if (is == KARMADA_MEMBER_THERE && !k->right) {
        ret->verb = WRITE_MERGE;
        external_service_put_patch(&ret->body, &wanted, strbuf_str(&k->version));
    } else if (is == KARMADA_MEMBER_GONE) {
        write_delete(ret, strbuf_str(&k->uid));
    }
    if (ret->verb != WRITE_NOTHING)
        strbuf_appendf(&ret->path, "/api/v1/namespaces/%.*s/services/%.*s", STR_ARG(namespace),
                       STR_ARG(name));
    return 0;
}

static void done(void *ctx, struct str name, const struct write_result *result) {
    struct estimator_services_controller *s = ctx;
    const bool nowhere =
        result->end == WRITE_GONE && kept_of(s, name) == NULL &&
        s->options.find(s->options.ctx, cluster_of(s, name)) == KARMADA_MEMBER_THERE;
    if (nowhere) /* there is no such namespace */
        s->not_until_ms = now_ms(s) + NOWHERE_MS;
    if (result->end == WRITE_CONFLICT)
        return; /* the watch will show the present version */
    const bool failed = nowhere || (result->end != WRITE_DONE && result->end != WRITE_GONE);
    if (failed && !s->failed)
        LOG_W("an estimator's Service was not written", LOG_STR("namespace", s->options.namespace),
              LOG_STR("service", name), LOG_INT("status", result->status),
              LOG_STR("err", result->problem));
    else if (result->end == WRITE_DONE)
        LOG_I("wrote an estimator's Service", LOG_STR("namespace", s->options.namespace),
              LOG_STR("service", name));
    s->failed = failed;
}

/* ---- life ---- */

int estimator_services_start(const struct estimator_services_options *options,
                             struct estimator_services_controller **ret, struct err *err) {
    struct estimator_services_controller *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for Services of estimators");
    s->options = *options;
    if (s->options.clock == NULL)
        s->options.clock = clock_real();
    s->io = kube_io_or_real(options->io);
    s->name.max = LIMIT_KUBE_EVENT;
    s->names.max = AT_ONCE * (NAME_MAX_BYTES + 1);
    s->timer = (struct kube_timer){.fn = look, .ctx = s};
    const struct write_owner owner = {.what = "services",
                                      .lane = {.objects = 2 * AT_ONCE,
                                               .again_ms = AGAIN_MS,
                                               .retry_ms = RETRY_MS,
                                               .retry_max_ms = RETRY_MAX_MS,
                                               .refused_ms = REFUSED_MS,
                                               .may_write_ms = may_write_ms,
                                               .ctx = s},
                                      .make = make,
                                      .done = done,
                                      .ctx = s};
    const int r = writer_join(options->writer, &owner, &s->writes, err);
    if (r != 0) {
        free(s);
        return r;
    }
    *ret = s;
    s->io.timer_start(s->options.client, &s->timer, 0);
    return 0;
}

void estimator_services_free(struct estimator_services_controller *s) {
    if (s == NULL)
        return;
    s->io.timer_cancel(s->options.client, &s->timer);
    writer_leave(s->writes);
    for (uint32_t i = 0; i < s->count; i++)
        free_kept(s->items[i]);
    free(s->items);
    free(s->left_out);
    free(s->leaving_out);
    strbuf_done(&s->name);
    strbuf_done(&s->names);
    free(s);
}

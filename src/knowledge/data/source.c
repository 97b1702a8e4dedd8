#include "data/source.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mutex.h"
#include "data/fluid/profile.h"
#include "model/fluid.h"
#include "model/labels.h"
#include "state/file_source.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    PROFILE_ARENA_BYTES = 16 << 20,
    PLUGIN_BUDGET_MS = 100, /* a tenth of the shortest timeoutSeconds of a webhook, 1 s */
};

struct fluid_set {
    struct arena arena;        /* memory for the profile */
    struct fluid_store *store; /* owned; NULL: the objects are live */
    struct fluid_live *live;
    struct fluid_profile profile;
    struct pod_data data;
    _Atomic unsigned holders;
};

struct fluid_source {
    struct fluid_source_options options;
    uint64_t seen;          /* last fingerprint of the profile's file; 0: no file */
    struct mutex mutex;     /* guards `now`: hold it to take or replace `now` */
    struct fluid_set *now;  /* held; NULL before the first load */
    struct fluid_set *next; /* owned: the set that is being read */
    struct file_follower follower;
};

/* ---- sets ---- */

static void unref(struct fluid_set *set) {
    if (set == NULL || atomic_fetch_sub(&set->holders, 1) > 1)
        return;
    fluid_store_free(set->store);
    arena_done(&set->arena);
    free(set);
}

static struct fluid_set *set_new(const struct fluid_source_options *o) {
    struct fluid_set *set = calloc(1, sizeof *set);
    if (set == NULL)
        return NULL;
    arena_init(&set->arena, PROFILE_ARENA_BYTES);
    atomic_init(&set->holders, 1);
    set->live = o->live;
    if (set->live == NULL)
        set->store = fluid_store_new();
    set->data = (struct pod_data){.store = o->live != NULL ? fluid_live_store(o->live) : set->store,
                                  .options = {.profile = &set->profile,
                                              .compat = o->compat,
                                              .scale_in = o->scale_in && o->compat == FLUID_CORRECT,
                                              .plugin_budget_ms = PLUGIN_BUDGET_MS,
                                              .clock = clock_real()}};
    if (set->store != NULL || set->live != NULL)
        return set;
    unref(set);
    return NULL;
}

void fluid_release(struct fluid_set *held) {
    if (held != NULL && held->live != NULL)
        fluid_live_release(held->live);
    unref(held);
}

struct fluid_set *fluid_hold(struct fluid_source *s) {
    if (s == NULL)
        return NULL;
    mutex_lock(&s->mutex);
    struct fluid_set *set = s->now;
    if (set != NULL)
        (void)atomic_fetch_add(&set->holders, 1); /* the old number is not used */
    mutex_unlock(&s->mutex);
    if (set != NULL && set->live != NULL)
        fluid_live_hold(set->live);
    return set;
}

const struct pod_data *fluid_set_data(const struct fluid_set *held) {
    return held != NULL ? &held->data : NULL;
}

static void replace(struct fluid_source *s, struct fluid_set *with) {
    mutex_lock(&s->mutex);
    struct fluid_set *old = s->now;
    s->now = with;
    mutex_unlock(&s->mutex);
    unref(old);
}

/* ---- life ---- */

int fluid_source_new(const struct fluid_source_options *options, struct fluid_source **ret,
                     struct err *err) {
    struct fluid_source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for Fluid's objects");
    s->options = *options;
    mutex_init(&s->mutex);
    *ret = s;
    return 0;
}

void fluid_source_free(struct fluid_source *s) {
    if (s == NULL)
        return;
    unref(s->now);
    unref(s->next);
    mutex_done(&s->mutex);
    free(s);
}

/* ---- the profile's file ---- */

/* Keeps the file's fingerprint. Call it before the file is read, so that a later change is noticed.
 */
static int look(struct fluid_source *s, struct err *err) {
    struct manifests profile = {0};
    const char *path = s->options.profile;
    int r = manifests_list(&path, path != NULL, "profile", &profile, err);
    s->seen = r == 0 ? manifests_fingerprint(&profile) : 0;
    manifests_done(&profile);
    return r;
}

bool fluid_source_changed(struct fluid_source *s) {
    const uint64_t before = s->seen;
    (void)look(s, NULL); /* a deleted file is a change, too */
    return s->seen != before;
}

/* ---- reading ---- */

static int read_profile(const char *path, struct fluid_set *set, struct err *err) {
    struct strbuf text = {0};
    if (path == NULL)
        return fluid_profile_default(&set->arena, &set->profile, err);
    int r = file_read(path, LIMIT_CONFIG_BYTES, &text, err);
    if (r == 0)
        r = fluid_profile_parse(strbuf_str(&text), &set->arena, &set->profile, err);
    strbuf_done(&text);
    return r == 0 ? 0 : err_wrap(err, "Fluid profile '%s'", path);
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for Fluid's objects");
}

static void give_up(struct fluid_source *s) {
    unref(s->next);
    s->next = NULL;
}

static int begin(struct fluid_source *s, struct err *err) {
    give_up(s);
    s->next = set_new(&s->options);
    return s->next != NULL ? 0 : no_memory(err);
}

/* Completes the set and replaces the old one. */
static int end(struct fluid_source *s, struct err *err) {
    int r = read_profile(s->options.profile, s->next, err);
    if (r == 0) {
        replace(s, s->next);
        s->next = NULL;
    }
    give_up(s);
    return r;
}

int fluid_source_load(struct fluid_source *s, struct err *err) {
    int r = look(s, err);
    if (r == 0)
        r = begin(s, err);
    return r == 0 ? end(s, err) : r;
}

/* ---- state files ---- */

static int begin_following(void *ctx, struct err *err) {
    (void)look(ctx, NULL); /* end() reports errors of the file */
    return begin(ctx, err);
}

/* Searches for slashes, which are rare in a pod's text: this is much faster than memmem(). */
static bool has_dataset_label(struct str json) {
    static const char label[] = FLUID_LABEL_DATASET;
    const size_t length = sizeof label - 1, domain = strcspn(label, "/");
    const char *end = json.p + json.n, *at = json.p;
    while ((at = memchr(at, '/', (size_t)(end - at))) != NULL) {
        if ((size_t)(at - json.p) >= domain && (size_t)(end - at) >= length - domain &&
            memcmp(at - domain, label, length) == 0)
            return true;
        at++;
    }
    return false;
}

/* Takes an object. Skips objects that are not Fluid's, which are nearly all objects of a cluster.
 */
static int take(void *ctx, const struct file_object *object, struct err *err) {
    const struct fluid_source *s = ctx;
    enum fluid_kind kind;
    if (!fluid_kind_of(object->type, &kind))
        return 0;
    /* few pods have the label, and parsing all pods would take most of the time */
    if (kind == FLUID_WORKER && !has_dataset_label(object->json))
        return 0;
    CLEANUP(doc_free) cJSON *doc = cJSON_ParseWithLength(object->json.p, object->json.n);
    if (doc == NULL)
        return err_set(err, -EINVAL, "a %s cannot be read", fluid_kind_name(kind));
    return fluid_store_put_as(s->next->store, kind, doc, err);
}

static int end_following(void *ctx, struct err *err) {
    const struct fluid_source *s = ctx;
    int r = end(ctx, err);
    if (r == 0) /* `now` is safe: only this thread replaces it */
        LOG_I("Fluid's objects read", LOG_INT("objects", fluid_store_count(s->now->data.store)));
    return r;
}

static void give_up_following(void *ctx) {
    give_up(ctx);
}

struct file_follower *fluid_source_follower(struct fluid_source *s) {
    s->follower =
        (struct file_follower){s, begin_following, take, end_following, give_up_following, NULL};
    return &s->follower;
}

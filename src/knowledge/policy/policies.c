/*
 * A set is an array of policies and the batches that own their strings. A new set of existing
 * batches costs a copy of the array, so a change of one policy among thousands does not decode the
 * others.
 */
#include "policy/policies.h"

#include "base/limits.h"
#include "base/mutex.h"
#include "base/sorted.h"
#include "policy/batch.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct policies {
    struct policy *items; /* owned, like the following; strings are the batches' */
    uint32_t count;
    struct policy_batch **batches; /* held */
    uint32_t batch_count;
    _Atomic unsigned holders;
};

/* A policy of the API server. */
struct live {
    struct policy_batch *batch; /* held */
    struct str name;            /* the batch's */
    bool listed;                /* seen in the present listing */
    bool fresh;                 /* not in any complete listing yet */
    struct policy_note note;
};

struct policy_source {
    char **paths; /* owned */
    size_t path_count;
    uint64_t seen; /* fingerprint of the files at the last load; 0: not listed */

    struct mutex building;      /* guards the inputs of sets, and building them */
    struct policy_batch *files; /* held; NULL before the first load */
    struct live *live;          /* owned; sorted by name */
    uint32_t live_count, live_cap;
    bool listing;
    void (*on_change)(void *ctx); /* NULL: not wanted */
    void *on_change_ctx;

    struct policy_tallies *tallies; /* owned */

    struct mutex mutex;   /* guards the pointer `now`: hold it to read or replace `now` */
    struct policies *now; /* held */
};

/* ---- sets ---- */

static struct policies *policies_new(uint32_t policies, uint32_t batches) {
    struct policies *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->items = calloc(policies + 1, sizeof *p->items); /* never 0 bytes */
    p->batches = calloc(batches + 1, sizeof *p->batches);
    atomic_init(&p->holders, 1);
    if (p->items != NULL && p->batches != NULL)
        return p;
    policies_release(p);
    return NULL;
}

void policies_release(struct policies *held) {
    if (atomic_fetch_sub(&held->holders, 1) > 1)
        return;
    for (uint32_t i = 0; i < held->batch_count; i++)
        policy_batch_release(held->batches[i]);
    free(held->batches);
    free(held->items);
    free(held);
}

struct policies *policies_hold(struct policy_source *s) {
    mutex_lock(&s->mutex);
    struct policies *p = s->now;
    (void)atomic_fetch_add(&p->holders, 1); /* the old number does not matter */
    mutex_unlock(&s->mutex);
    return p;
}

const struct policy *policies_items(const struct policies *held, uint32_t *ret_count) {
    *ret_count = held->count;
    return held->items;
}

static void replace(struct policy_source *s, struct policies *with) {
    mutex_lock(&s->mutex);
    struct policies *old = s->now;
    s->now = with;
    mutex_unlock(&s->mutex);
    policies_release(old);
}

static struct str live_name(const void *items, size_t i) {
    return ((const struct live *)items)[i].name;
}

/* Returns the index of a name among the API server's policies, or the index where it must be
 * inserted. */
static uint32_t live_at(const struct policy_source *s, struct str name, bool *ret_found) {
    return (uint32_t)sorted_place(s->live, s->live_count, live_name, name, ret_found);
}

static void add_batch(struct policies *p, struct policy_batch *b) {
    uint32_t count;
    const struct policy *items = policy_batch_items(b, &count);
    for (uint32_t i = 0; i < count; i++)
        p->items[p->count++] = items[i];
    if (b != NULL)
        p->batches[p->batch_count++] = policy_batch_hold(b);
}

/* Puts the present policies in force; `files` are the policies of files. The caller holds
 * s->building. */
static int build(struct policy_source *s, struct policy_batch *files) {
    uint32_t count;
    (void)policy_batch_items(files, &count); /* only the count is needed */
    struct policies *p = policies_new(count + s->live_count, 1 + s->live_count);
    if (p == NULL)
        return -ENOMEM;
    add_batch(p, files);
    for (uint32_t i = 0; i < p->count; i++) {
        bool found;
        (void)live_at(s, p->items[i].name, &found); /* only `found` is needed */
        if (found)
            p->items[i].problem =
                STR("the API server has a policy of this name, and that policy is used");
    }
    for (uint32_t i = 0; i < s->live_count; i++)
        add_batch(p, s->live[i].batch);
    policies_sort(p->items, p->count);
    replace(s, p);
    return 0;
}

/* ---- life ---- */

int policy_source_new(const char *const *paths, size_t count, struct policy_source **ret,
                      struct err *err) {
    struct policy_source *s = calloc(1, sizeof *s);
    if (s != NULL) {
        mutex_init(&s->mutex);
        mutex_init(&s->building);
        s->now = policies_new(0, 0);
        s->tallies = policy_tallies_new();
        s->paths = calloc(count + 1, sizeof *s->paths);
        while (s->paths != NULL && s->path_count < count &&
               (s->paths[s->path_count] = strdup(paths[s->path_count])) != NULL)
            s->path_count++;
        if (s->now != NULL && s->tallies != NULL && s->paths != NULL && s->path_count == count) {
            *ret = s;
            return 0;
        }
        policy_source_free(s);
    }
    return err_set(err, -ENOMEM, "no memory for the list of policy files");
}

void policy_source_free(struct policy_source *s) {
    if (s == NULL)
        return;
    if (s->now != NULL)
        policies_release(s->now);
    policy_batch_release(s->files);
    for (uint32_t i = 0; i < s->live_count; i++)
        policy_batch_release(s->live[i].batch);
    free(s->live);
    for (size_t i = 0; s->paths != NULL && i < s->path_count; i++)
        free(s->paths[i]);
    free(s->paths);
    policy_tallies_free(s->tallies);
    mutex_done(&s->building);
    mutex_done(&s->mutex);
    free(s);
}

struct policy_tallies *policy_source_tallies(struct policy_source *s) {
    return s->tallies;
}

/* ---- files ---- */

bool policy_source_changed(struct policy_source *s) {
    struct manifests files;
    bool listed =
        manifests_list((const char *const *)s->paths, s->path_count, "policy", &files, NULL) == 0;
    bool changed = listed ? manifests_fingerprint(&files) != s->seen : s->seen != 0;
    manifests_done(&files);
    return s->path_count > 0 && changed;
}

int policy_source_load(struct policy_source *s, struct err *err) {
    struct policy_batch *files = NULL;
    int r = policy_batch_read((const char *const *)s->paths, s->path_count, &files, &s->seen, err);
    if (r != 0)
        return r;
    mutex_lock(&s->building);
    r = build(s, files);
    if (r == 0) {
        struct policy_batch *old = s->files;
        s->files = files;
        files = old;
    }
    mutex_unlock(&s->building);
    policy_batch_release(files);
    return r == 0 ? 0 : err_set(err, r, "no memory for policies");
}

/* ---- policies of an API server ---- */

/* Puts the caller's change in force, unless a listing is under way. The caller holds s->building.
 */
static int take_effect(struct policy_source *s, struct err *err) {
    int r = s->listing ? 0 : build(s, s->files);
    return r == 0 ? 0 : err_set(err, r, "no memory for policies");
}

static int make_room(struct policy_source *s, struct err *err) {
    if (s->live_count == LIMIT_POLICIES)
        return err_set(err, -E2BIG, "more than %d policies", LIMIT_POLICIES);
    if (s->live_count < s->live_cap)
        return 0;
    uint32_t cap = s->live_cap == 0 ? 16 : 2 * s->live_cap;
    struct live *grown = reallocarray(s->live, cap, sizeof *grown);
    if (grown == NULL)
        return err_set(err, -ENOMEM, "no memory for policies");
    s->live = grown;
    s->live_cap = cap;
    return 0;
}

/* Puts a policy in place of the old policy of its name; takes over `batch` on success. The caller
 * holds s->building. */
static int put(struct policy_source *s, struct policy_batch *batch, struct err *err) {
    uint32_t count;
    bool found;
    struct policy_note note = {.written_ms = INT64_MIN};
    bool fresh = s->listing;
    struct str name = policy_batch_items(batch, &count)[0].name;
    uint32_t at = live_at(s, name, &found);
    if (found) {
        note = s->live[at].note;
        fresh = s->live[at].fresh;
        policy_batch_release(s->live[at].batch);
    } else {
        int r = make_room(s, err);
        if (r != 0)
            return r;
        memmove(s->live + at + 1, s->live + at, (s->live_count - at) * sizeof *s->live);
        s->live_count++;
    }
    s->live[at] =
        (struct live){.batch = batch, .name = name, .listed = true, .fresh = fresh, .note = note};
    return 0;
}

static void drop(struct policy_source *s, uint32_t at) {
    policy_batch_release(s->live[at].batch);
    sorted_remove(s->live, &s->live_count, sizeof *s->live, at);
}

void policy_live_on_change(struct policy_source *s, void (*fn)(void *ctx), void *ctx) {
    s->on_change = fn;
    s->on_change_ctx = ctx;
}

/* Ends a change; `r` is the result of take_effect(). */
static int announce(const struct policy_source *s, int r) {
    if (r == 0 && !s->listing && s->on_change != NULL)
        s->on_change(s->on_change_ctx);
    return r;
}

void policy_live_begin(struct policy_source *s) {
    mutex_lock(&s->building);
    for (uint32_t i = 0; i < s->live_count; i++)
        s->live[i].listed = false;
    s->listing = true;
    mutex_unlock(&s->building);
}

int policy_live_apply(struct policy_source *s, struct str object, struct err *err) {
    struct policy_batch *batch = NULL;
    int r = policy_batch_decode(object, &batch, err);
    if (r != 0)
        return r;
    mutex_lock(&s->building);
    r = put(s, batch, err);
    if (r != 0)
        policy_batch_release(batch);
    else
        r = take_effect(s, err);
    mutex_unlock(&s->building);
    return announce(s, r);
}

int policy_live_remove(struct policy_source *s, struct str name, struct err *err) {
    bool found;
    int r = 0;
    mutex_lock(&s->building);
    uint32_t at = live_at(s, name, &found);
    if (found) {
        drop(s, at);
        r = take_effect(s, err);
    }
    mutex_unlock(&s->building);
    return announce(s, r);
}

void policy_live_each(struct policy_source *s, policy_live_fn *fn, void *ctx) {
    uint32_t count;
    bool more = true;
    mutex_lock(&s->building);
    for (uint32_t i = 0; more && i < s->live_count; i++)
        more = fn(ctx, policy_batch_items(s->live[i].batch, &count),
                  policy_batch_status(s->live[i].batch), &s->live[i].note);
    mutex_unlock(&s->building);
}

int policy_live_end(struct policy_source *s, struct err *err) {
    mutex_lock(&s->building);
    for (uint32_t i = s->live_count; i-- > 0;) {
        s->live[i].fresh = false;
        if (!s->live[i].listed)
            drop(s, i);
    }
    s->listing = false;
    int r = take_effect(s, err);
    mutex_unlock(&s->building);
    return announce(s, r);
}

void policy_live_abort(struct policy_source *s) {
    mutex_lock(&s->building);
    for (uint32_t i = s->live_count; i-- > 0;)
        if (s->live[i].fresh)
            drop(s, i);
    mutex_unlock(&s->building);
}

#include "admit/policies.h"

#include "base/limits.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define API_VERSION STR("evenkeel.io/v1alpha1")
#define KIND STR("TopologyPolicy")
enum { POLICY_ARENA_BYTES = 64 << 20 };

struct policies {
    struct manifests files; /* their texts are the policies' strings */
    struct arena arena;
    struct policy *items;
    uint32_t count, cap;
    _Atomic unsigned holders;
};

struct policy_source {
    char **paths; /* owned */
    size_t path_count;
    uint64_t seen; /* fingerprint of the files at the last load; 0: they could not be listed */
    pthread_mutex_t mutex; /* of `now`, for the moment in which it is taken or replaced */
    struct policies *now;  /* held */
};

/* ---- sets ---- */

static struct policies *policies_new(void) {
    struct policies *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    arena_init(&p->arena, POLICY_ARENA_BYTES);
    atomic_init(&p->holders, 1);
    return p;
}

void policies_release(struct policies *held) {
    if (atomic_fetch_sub(&held->holders, 1) > 1)
        return;
    arena_done(&held->arena);
    manifests_done(&held->files);
    free(held);
}

struct policies *policies_hold(struct policy_source *s) {
    (void)pthread_mutex_lock(&s->mutex); /* cannot fail: it is destroyed after its users */
    struct policies *p = s->now;
    (void)atomic_fetch_add(&p->holders, 1); /* the old number says nothing */
    (void)pthread_mutex_unlock(&s->mutex);
    return p;
}

const struct policy *policies_items(const struct policies *held, uint32_t *ret_count) {
    *ret_count = held->count;
    return held->items;
}

static void replace(struct policy_source *s, struct policies *with) {
    (void)pthread_mutex_lock(&s->mutex); /* cannot fail: it is destroyed after its users */
    struct policies *old = s->now;
    s->now = with;
    (void)pthread_mutex_unlock(&s->mutex);
    policies_release(old);
}

/* ---- life ---- */

int policy_source_new(const char *const *paths, size_t count, struct policy_source **ret,
                      struct err *err) {
    struct policy_source *s = calloc(1, sizeof *s);
    if (s != NULL) {
        (void)pthread_mutex_init(&s->mutex, NULL); /* does not fail in glibc */
        s->now = policies_new();
        s->paths = calloc(count + 1, sizeof *s->paths);
        while (s->paths != NULL && s->path_count < count &&
               (s->paths[s->path_count] = strdup(paths[s->path_count])) != NULL)
            s->path_count++;
        if (s->now != NULL && s->paths != NULL && s->path_count == count) {
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
    for (size_t i = 0; s->paths != NULL && i < s->path_count; i++)
        free(s->paths[i]);
    free(s->paths);
    (void)pthread_mutex_destroy(&s->mutex); /* nobody uses it any more */
    free(s);
}

bool policy_source_changed(struct policy_source *s) {
    struct manifests files;
    bool listed =
        manifests_list((const char *const *)s->paths, s->path_count, "policy", &files, NULL) == 0;
    bool changed = listed ? manifests_fingerprint(&files) != s->seen : s->seen != 0;
    manifests_done(&files);
    return s->path_count > 0 && changed;
}

/* ---- reading ---- */

static void add(struct json_reader *r, struct policies *p) {
    struct policy policy;
    policy_decode(r, &policy);
    for (uint32_t i = 0; i < p->count; i++)
        if (str_eq(p->items[i].name, policy.name))
            json_fail(r, "a second policy with the name '%.*s'", STR_ARG(policy.name));
    if (p->count == LIMIT_POLICIES)
        json_fail(r, "more than %d policies", LIMIT_POLICIES);
    if (json_failed(r))
        return;
    struct policy *items = arena_push(&p->arena, p->items, p->count, &p->cap, sizeof *items);
    if (items == NULL)
        return; /* the reader will say so */
    p->items = items;
    p->items[p->count++] = policy;
}

/* The object that comes next; `kind` is what it is when it does not say. */
static void read_policy(struct json_reader *r, struct str kind, struct policies *p) {
    struct str own = json_peek_member(r, STR("kind"));
    struct str version = json_peek_member(r, STR("apiVersion"));
    if (!str_empty(own) || !str_empty(version)) {
        kind = own;
        if (!str_eq(version, API_VERSION))
            json_fail(r, "apiVersion is '%.*s'; expected '%.*s'", STR_ARG(version),
                      STR_ARG(API_VERSION));
    }
    if (!str_eq(kind, KIND))
        json_fail(r, "kind is '%.*s'; expected %.*s", STR_ARG(kind), STR_ARG(KIND));
    if (!json_failed(r))
        add(r, p);
}

static void read_document(struct json_reader *r, struct policies *p) {
    struct str key, kind = json_peek_member(r, STR("kind"));
    bool typed = str_eq(kind, STR("TopologyPolicyList"));
    if (!typed && !str_eq(kind, STR("List"))) {
        read_policy(r, (struct str){0}, p);
        return;
    }
    if (json_object(r))
        while (json_member(r, &key)) {
            if (!str_eq(key, STR("items")))
                (void)json_skip(r); /* apiVersion, kind, metadata; errors stay in r */
            else if (json_array(r))
                while (json_element(r))
                    read_policy(r, typed ? KIND : (struct str){0}, p);
        }
}

static int read_all(struct policies *p, struct err *err) {
    for (size_t i = 0; i < p->files.count; i++)
        for (size_t d = 0; d < p->files.items[i].document_count; d++) {
            struct json_reader r;
            json_reader_init(&r, p->files.items[i].documents[d], &p->arena, "policy");
            read_document(&r, p);
            if (json_finish(&r, err) != 0)
                return err_wrap(err, "policy file '%s'", p->files.items[i].path);
        }
    policies_sort(p->items, p->count);
    return 0;
}

int policy_source_load(struct policy_source *s, struct err *err) {
    struct policies *p = policies_new();
    if (p == NULL)
        return err_set(err, -ENOMEM, "no memory for policies");
    s->seen = 0;
    int r = manifests_list((const char *const *)s->paths, s->path_count, "policy", &p->files, err);
    if (r == 0) {
        s->seen = manifests_fingerprint(&p->files); /* before reading: a change is seen next time */
        r = manifests_read(&p->files, LIMIT_CONFIG_BYTES, err);
    }
    if (r == 0)
        r = read_all(p, err);
    if (r == 0)
        replace(s, p);
    else
        policies_release(p);
    return r;
}

#include "data/source.h"

#include "base/file.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "data/fluid/profile.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PROFILE_ARENA_BYTES = 16 << 20 };

struct fluid_set {
    struct arena arena;        /* of the profile */
    struct fluid_store *store; /* owned; NULL: the objects are live */
    struct fluid_live *live;
    struct fluid_profile profile;
    struct pod_data data;
    _Atomic unsigned holders;
};

struct fluid_source {
    struct fluid_source_options options;
    uint64_t seen;      /* fingerprint of the files at the last load; 0: they could not be listed */
    struct mutex mutex; /* of `now`, for the moment in which it is taken or replaced */
    struct fluid_set *now; /* held; NULL before the first load */
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
                                              .plugin_budget_ms = o->plugin_budget_ms,
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
        (void)atomic_fetch_add(&set->holders, 1); /* the old number says nothing */
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
    mutex_done(&s->mutex);
    free(s);
}

/* The profile counts as a file like the others. */
static int list_files(const struct fluid_source *s, struct manifests *state,
                      struct manifests *profile, struct err *err) {
    const struct fluid_source_options *o = &s->options;
    int r = manifests_list(o->paths, o->path_count, "state", state, err);
    if (r == 0)
        r = manifests_list(&o->profile, o->profile != NULL, "profile", profile, err);
    return r;
}

static uint64_t fingerprint(const struct manifests *state, const struct manifests *profile) {
    return manifests_fingerprint(state) ^ (manifests_fingerprint(profile) << 1);
}

bool fluid_source_changed(struct fluid_source *s) {
    struct manifests state = {0}, profile = {0};
    bool listed = list_files(s, &state, &profile, NULL) == 0;
    bool changed = listed ? fingerprint(&state, &profile) != s->seen : s->seen != 0;
    manifests_done(&state);
    manifests_done(&profile);
    return changed;
}

/* ---- reading ---- */

static bool is_fluids(struct str kind) {
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++)
        if (str_eq(kind, str_of(fluid_kind_name(k))))
            return true;
    return false;
}

/* What items of a typed list leave out. */
static int complete(cJSON *object, struct str kind, struct str version, struct arena *arena) {
    const struct {
        const char *name;
        struct str value;
    } members[] = {{"kind", kind}, {"apiVersion", version}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (doc_string(object, members[i].name)[0] != '\0')
            continue;
        const char *value = arena_cstr(arena, members[i].value);
        if (value == NULL || doc_set(object, members[i].name, cJSON_CreateString(value)) != 0)
            return -ENOMEM;
    }
    return 0;
}

struct reading {
    struct fluid_store *store;
    struct arena *arena; /* for one document */
    struct err *err;
    int failed;
};

/* The object that comes next, which says nothing of its kind itself if it is in a list of such. */
static void read_object(struct json_reader *r, struct str kind, struct str version,
                        struct reading *reading) {
    struct str text = json_skip(r);
    if (json_failed(r))
        return;
    CLEANUP(doc_free) cJSON *object = cJSON_ParseWithLength(text.p, text.n);
    if (object == NULL)
        reading->failed = err_set(reading->err, -EINVAL, "a %.*s cannot be read", STR_ARG(kind));
    else if (complete(object, kind, version, reading->arena) != 0)
        reading->failed = err_set(reading->err, -ENOMEM, "no memory for Fluid's objects");
    else
        reading->failed = fluid_store_put(reading->store, object, reading->err);
    if (reading->failed == -ENOTSUP)
        reading->failed = 0; /* the kind has this name in another group */
}

/* Items of lists and what is none: `levels` more lists may be within. */
static void walk(struct json_reader *r, struct str kind, struct str version, int levels,
                 struct reading *reading) {
    struct str key, own = json_peek_member(r, STR("kind"));
    kind = str_empty(own) ? kind : own;
    bool is_list = str_has_suffix(kind, STR("List")) && levels > 0;
    if (!is_list && !is_fluids(kind)) { /* nearly all of a cluster */
        (void)json_skip(r);             /* errors stay in r */
        return;
    }
    struct str own_version = json_peek_member(r, STR("apiVersion"));
    version = str_empty(own_version) ? version : own_version;
    if (!is_list) {
        read_object(r, kind, version, reading);
        return;
    }
    bool typed = kind.n > 4;
    struct str item_kind = {kind.p, kind.n - 4};
    if (json_object(r))
        while (reading->failed == 0 && json_member(r, &key)) {
            if (!str_eq(key, STR("items")) || json_peek(r) != JSON_ARRAY)
                (void)json_skip(r); /* apiVersion, kind, metadata; errors stay in r */
            else if (json_array(r))
                while (reading->failed == 0 && json_element(r))
                    walk(r, item_kind, typed ? version : (struct str){0}, levels - 1, reading);
        }
}

static void arena_cleanup(struct arena *arena) {
    arena_done(arena);
}

static int read_state(const struct manifests *files, struct fluid_set *set, struct err *err) {
    CLEANUP(arena_cleanup) struct arena arena;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    struct reading reading = {.store = set->store, .arena = &arena, .err = err};
    for (size_t i = 0; i < files->count; i++)
        for (size_t d = 0; d < files->items[i].document_count; d++) {
            struct json_reader r;
            json_reader_init(&r, files->items[i].documents[d], &arena, "document");
            walk(&r, (struct str){0}, (struct str){0}, LIMIT_LIST_LEVELS, &reading);
            int failed = reading.failed != 0 ? reading.failed : json_finish(&r, err);
            arena_reset(&arena);
            if (failed != 0)
                return err_wrap(err, "state file '%s'", files->items[i].path);
        }
    return 0;
}

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

/* The set of these files and the profile takes the place of the one before, if all of it is good.
 */
static int read_set(struct fluid_source *s, const struct manifests *state, struct err *err) {
    struct fluid_set *set = set_new(&s->options);
    if (set == NULL)
        return err_set(err, -ENOMEM, "no memory for Fluid's objects");
    int r = read_state(state, set, err);
    if (r == 0)
        r = read_profile(s->options.profile, set, err);
    if (r == 0)
        replace(s, set);
    else
        unref(set);
    return r;
}

/* With `given`, these are the state files, read already. */
static int load(struct fluid_source *s, const struct manifests *given, struct err *err) {
    struct manifests state = {0}, profile = {0};
    s->seen = 0;
    int r = list_files(s, &state, &profile, err);
    if (r == 0) {
        s->seen = fingerprint(&state, &profile); /* before reading: a change is seen next time */
        r = manifests_read(&state, LIMIT_STATE_BYTES, err);
    }
    if (r == 0)
        r = read_set(s, given != NULL ? given : &state, err);
    manifests_done(&state);
    manifests_done(&profile);
    return r;
}

int fluid_source_load(struct fluid_source *s, struct err *err) {
    return load(s, NULL, err);
}

int fluid_source_take(struct fluid_source *s, const struct manifests *state, struct err *err) {
    return load(s, state, err);
}

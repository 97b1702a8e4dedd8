#include "cache/file_target.h"

#include "cache/internal.h"

enum { BATCH = 64 }; /* objects applied under one hold of the cache's lock */

static bool serves(void *ctx) {
    return cache_ready(ctx);
}

static void begin(void *ctx) {
    struct cache *c = ctx;
    cache_write_begin(c);
    cache_sync_begin(c, CACHE_ALL_KINDS);
    cache_write_end(c);
}

static int change(struct cache *c, enum file_pass pass, const struct object *object,
                  struct err *err) {
    int r = 0;
    if (c->files.in_batch++ == 0)
        cache_write_begin(c);
    if (pass == FILE_APPLY)
        r = cache_apply(c, object);
    else
        cache_remove(c, object);
    if (r != 0)
        return err_set(err, r, "no memory for object '%.*s'", STR_ARG(object->meta.name));
    if (c->files.in_batch == BATCH || cache_write_is_long(c)) {
        cache_write_end(c);
        c->files.in_batch = 0;
    }
    return 0;
}

static int read_object(void *ctx, enum file_pass pass, enum object_kind kind, struct json_reader *r,
                       struct err *err) {
    struct object object;
    object_read(r, kind, POD_RUNNING, &object);
    if (json_failed(r) || arena_failed(r->arena) || pass == FILE_CHECK ||
        object.kind == OBJECT_OTHER)
        return 0;
    return change(ctx, pass, &object, err);
}

static void pass_done(void *ctx) {
    struct cache *c = ctx;
    if (c->files.in_batch > 0)
        cache_write_end(c); /* of the last batch */
    c->files.in_batch = 0;
}

static void end(void *ctx) {
    struct cache *c = ctx;
    cache_write_begin(c);
    cache_sync_end(c, CACHE_ALL_KINDS);
    cache_write_end(c);
}

const struct file_target *cache_file_target(struct cache *c) {
    c->files.target = (struct file_target){c, serves, begin, read_object, pass_done, end};
    return &c->files.target;
}

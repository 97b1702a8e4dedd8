/*
 * Keeps what a store makes of the objects of some kinds: those that an API server lists and
 * watches, or those of state files. As client-go's informers, but the store keeps what it needs of
 * an object, and not the object.
 *
 * A store is a table: a row for each kind says how its objects are decoded, applied and removed.
 * The rest is here: lists and watches, files and their exchange, the lock, the memory of the object
 * that is decoded, age, readiness, the metric.
 *
 *     static const struct informer_kind kinds[] = {
 *         {.row = KIND_VOLUME, .decode = decode, .apply = apply, .remove = forget},
 *     };
 *     static const struct informer_store volumes = {
 *         .what = "volumes", .kinds = kinds, .kind_count = 1,
 *         .open = known_new, .close = known_free,
 *         .records = records, .drop = drop,
 *     };
 *
 * Files fill contents of their own, which take the place of what there was when all files are good.
 * A watch changes the contents object by object.
 *
 * Threads: informer_read() to informer_write_done(), and what says so, from any; a watch calls the
 * store on its client's thread; everything else belongs to one thread.
 */
#pragma once

#include "base/pool.h"
#include "kube/client/client.h"
#include "model/object.h"
#include "state/file_source.h"

#include <stdbool.h>
#include <stdint.h>

struct informer;

/* One object, for the length of a call. */
struct informer_object {
    uint32_t kind;           /* its row in the store's table */
    struct object_meta meta; /* from the decoder, as far as it read: names the object in errors.
                                Of an object that is gone: name, namespace and uid */
    struct str json;         /* all of it; "": it is gone */
    struct arena *arena;
    bool is_stored; /* by an API server, which may have taken what a file may not have */
    void *decoded;  /* from the decoder, in the arena */
};

struct informer_kind {
    enum kind_row row; /* of the watched kinds */
    /* Reads the object that comes next in `r`, outside of the lock. Errors stay in the reader; that
     * an object has a name is looked after here. NULL: apply takes the JSON. */
    void (*decode)(struct json_reader *r, struct informer_object *ret);
    /* 0, or -errno: -ENOMEM if the object is missing from now on, any other if it cannot be kept.
     */
    int (*apply)(void *contents, const struct informer_object *object, struct err *err);
    /* One that is not there is no error. */
    int (*remove)(void *contents, const struct informer_object *gone, struct err *err);
    uint32_t (*count)(const void *contents); /* for the store's metric; NULL: it is not counted */
};

enum informer_listing {
    LISTING_BEGINS,
    LISTING_ENDS,  /* what was not applied in between is gone */
    LISTING_FAILS, /* it has no end: what was applied for the first time since the last end, by it
                      or by one that was given up before, is forgotten */
};

struct informer_store {
    const char *what; /* plural, in errors: "no memory for volumes" */
    const struct informer_kind *kinds;
    uint32_t kind_count;
    size_t object_bytes; /* of memory that decoding one takes at most; 0: LIMIT_KUBE_EVENT */
    /* The contents, empty. Both are NULL for a store whose contents are given, and which no files
     * fill. 0 or -errno. */
    int (*open)(void **ret, struct err *err);
    void (*close)(void *contents); /* NULL is fine */
    /* The records of a kind: apply() calls pool_show() for the one of each object that is kept.
     * NULL: listed() does all that a listing needs. */
    struct pool *(*records)(void *contents, uint32_t kind);
    /* Forgets one, because a listing says that its object is gone. */
    pool_drop_fn *drop;
    /* [kind_count]: records(contents, also[kind]) are of the same objects, too, and drop() forgets
     * them; 0: there are none. NULL: of no kind. */
    const uint32_t *also;
    /* A listing has come so far, and its end has dropped what is gone. NULL: nothing is to be done.
     */
    void (*listed)(void *contents, uint32_t kind, enum informer_listing how);
    /* Around what the informer does with records, if the store `locks`; listed() comes later. */
    void (*lock)(void *contents);
    void (*unlock)(void *contents);
    /* What all objects take, in no time to speak of: a listing that adds more than
     * LIMIT_LISTED_BYTES to it has no end, nor has the watch after it that does. NULL: it has a
     * limit of its own. */
    uint64_t (*kept_bytes)(const void *contents);
    bool required; /* that an API server does not know a kind is an error, even where the kind is
                      optional otherwise: what is kept stays */
    bool locks; /* the functions above take a lock of the contents' own: none is held around them */
    /* A gauge for each kind that is counted, whose name is the label `resource`; NULL: none. */
    const char *metric, *metric_help;
};

/* `contents` are borrowed; NULL: the store opens them. 0 or -errno. */
int informer_new(const struct informer_store *store, void *contents, struct informer **ret,
                 struct err *err) MUST_CHECK;
/* Stops it, too. NULL is fine. */
void informer_free(struct informer *i);

/* ---- from files ---- */

/* Takes its objects out of the files of a file_source: what they have is all there is. Registers
 * the metric. Borrowed until informer_free(). */
struct file_follower *informer_follower(struct informer *i);
/* Reads files by itself. `paths` are files or folders. 0, or -errno with the file and the place in
 * it named; then there is what there was. */
int informer_load(struct informer *i, const char *const *paths, size_t count,
                  struct err *err) MUST_CHECK;

/* ---- from an API server ---- */

struct informer_watch {
    struct kube_client *client; /* borrowed until informer_stop() */
    struct clock *clock;        /* likewise; NULL: the real one */
    uint64_t seed;              /* of jitter */
    uint64_t without;           /* bit k: the kind in row k is not watched, or not yet */
    bool unmeasured;            /* no metrics: one of many informers of the same kinds */
};
/* Lists and watches, with metrics: begins at once. Once. 0 or -ENOMEM. */
int informer_watch(struct informer *i, const struct informer_watch *watch,
                   struct err *err) MUST_CHECK;
/* Begins with a kind that has been left out, unless it is watched already, or the informer was
 * stopped. Any thread, apply() included. 0 or -ENOMEM. */
int informer_watch_kind(struct informer *i, uint32_t kind, struct err *err) MUST_CHECK;
/* Asks nothing any more and unregisters the metrics; what is known stays. When this returns, no
 * function of the store is being called for a watch, or will be. From any thread but the client's.
 * NULL is fine. */
void informer_stop(struct informer *i);

/* These from any thread until informer_stop(); kinds that are not watched wait for nothing. */

/* Has each kind been listed once, or found not to be installed, or has it at least been tried?
 * Waiting longer would not help then. */
bool informer_listed(struct informer *i);
/* The same, but a listing that has only been tried is none. */
bool informer_synced(struct informer *i);
/* The same of some kinds: bit k is the kind in row k. */
bool informer_kinds_synced(struct informer *i, uint64_t kinds);
/* As informer_synced(), and no kind that has been listed once is missing now, as behind a proxy
 * whose API server is away: what is known may be acted upon. */
bool informer_complete(struct informer *i);
/* Waits until they are listed. False: no listing of one has ended, within `timeout_ms` or at all.
 * Not from the client's thread. */
bool informer_wait(struct informer *i, int64_t timeout_ms);
/* When the API server was last heard on a kind, in its clock's time. False: never, or it is not
 * watched. */
bool informer_heard(struct informer *i, uint32_t kind, int64_t *ret_ms);
/* Since it was last heard on the kind that is silent longest; INT64_MAX: never on one; 0 where
 * nothing is watched. */
int64_t informer_age_ms(struct informer *i);
/* The same of some kinds. */
int64_t informer_kinds_age_ms(struct informer *i, uint64_t kinds);

/* Tells a store how far a listing is: an informer does, and whoever feeds contents without one. Its
 * caller has the contents for writing. */
void informer_list(const struct informer_store *store, void *contents, uint32_t kind,
                   enum informer_listing how);

/* ---- reading ---- */

/* The contents, which stand still until the same thread is done. Not for stores that lock by
 * themselves. Not twice in one thread, because writers go first. */
void *informer_read(struct informer *i);
void informer_read_done(struct informer *i);
/* The same to change what was made of the objects, such as an index that is built on first use.
 * Contents that were read before may have been exchanged since. */
void *informer_write(struct informer *i);
void informer_write_done(struct informer *i);
/* Counts what has changed, any thread. NULL is fine. */
uint64_t informer_changes(const struct informer *i);

/*
 * Fills a store with the objects of some kinds, from an API server (list and watch) or from state
 * files. It is like client-go's informers, but a store keeps only the parts of an object that it
 * needs.
 *
 * A store is a table: the row of a kind has functions that decode, apply and remove its objects.
 * The informer does the rest: lists and watches, files and their exchange, the lock, the memory of
 * the decoded object, age, readiness, the metric.
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
 * Files fill new contents, which replace the old ones if all files are good. A watch changes the
 * contents object by object.
 *
 * Threads: any thread may call informer_read() to informer_write_done(), and functions whose
 * comment says "any thread". A watch calls the store on its client's thread. One thread calls the
 * rest.
 */
#pragma once

#include "base/pool.h"
#include "kube/client/client.h"
#include "model/object.h"
#include "state/file_source.h"

#include <stdbool.h>
#include <stdint.h>

struct informer;

/* One object. It is valid only during the call. */
struct informer_object {
    uint32_t kind;           /* the row of its kind in the store's table */
    struct object_meta meta; /* the parts that the decoder read; errors name the object by them. For
                                a deleted object: name, namespace and uid */
    struct str json;         /* the whole object; "": it was deleted */
    struct arena *arena;
    bool is_stored; /* from an API server, which may have stored values that are refused in a
                       file */
    void *decoded;  /* from the decoder, in the arena */
};

struct informer_kind {
    enum kind_row row; /* in the table of watched kinds */
    /* Reads the next object in `r`, outside of the lock. Errors stay in the reader; the informer
     * checks that an object has a name. NULL: apply takes the JSON. */
    void (*decode)(struct json_reader *r, struct informer_object *ret);
    /* Returns 0 or -errno. After -ENOMEM the contents lack the object, or have its old state, and a
     * listing follows. After any other error they do not keep the object. */
    int (*apply)(void *contents, const struct informer_object *object, struct err *err);
    /* Removes an object. Returns 0 also for an unknown object. */
    int (*remove)(void *contents, const struct informer_object *gone, struct err *err);
    uint32_t (*count)(const void *contents); /* counts the objects for the store's metric; NULL: not
                                                counted */
};

enum informer_listing {
    LISTING_BEGINS,
    LISTING_ENDS,  /* objects not applied since LISTING_BEGINS are gone */
    LISTING_FAILS, /* the listing was given up: forget objects that were applied for the first time
                      since the last LISTING_ENDS */
};

struct informer_store {
    const char *what; /* plural, in errors: "no memory for volumes" */
    const struct informer_kind *kinds;
    uint32_t kind_count;
    size_t object_bytes; /* most memory to decode one object; 0: LIMIT_KUBE_EVENT */
    /* Makes empty contents; returns 0 or -errno. Both are NULL for a store whose contents the
     * caller gives, and which no files fill. */
    int (*open)(void **ret, struct err *err);
    void (*close)(void *contents); /* NULL is fine */
    /* The records of a kind: apply() calls pool_show() for the record of each object that it keeps.
     * NULL: listed() does everything that a listing needs. */
    struct pool *(*records)(void *contents, uint32_t kind);
    /* Forgets a record, because a listing shows that its object is gone. */
    pool_drop_fn *drop;
    /* [kind_count]: a second pool of each kind is records(contents, also[kind]). It has records of
     * the same objects, and drop() forgets them too; 0: no second pool. NULL: no kind has one. */
    const uint32_t *also;
    /* Called at each stage of a listing. At LISTING_ENDS, drop() has already been called for all
     * objects that are gone. NULL: not needed. */
    void (*listed)(void *contents, uint32_t kind, enum informer_listing how);
    /* A store that `locks` needs these two functions: the informer calls them before and after its
     * work on records(). The informer calls listed() after unlock(). */
    void (*lock)(void *contents);
    void (*unlock)(void *contents);
    /* Returns the bytes of all objects, quickly. A listing that adds more than LIMIT_LISTED_BYTES
     * fails; so does a watch that adds more than that after its listing. NULL: the store has its
     * own limit. */
    uint64_t (*kept_bytes)(const void *contents);
    bool required; /* if an API server does not know a kind, even an optional kind, this is an
                      error, and the kept objects stay */
    bool locks; /* the functions above lock the contents: the informer holds no lock around them */
    /* Name and help of a gauge for each counted kind, with the kind as label `resource`; NULL: no
     * metric. */
    const char *metric, *metric_help;
};

/* `contents` are borrowed; NULL: the store's open() makes them. Returns 0 or -errno. */
int informer_new(const struct informer_store *store, void *contents, struct informer **ret,
                 struct err *err) MUST_CHECK;
/* Stops the informer, too. NULL is fine. */
void informer_free(struct informer *i);

/* ---- from files ---- */

/* Returns the follower to give to a file_source: objects of its files replace all others. Registers
 * the metric. The follower is borrowed until informer_free(). */
struct file_follower *informer_follower(struct informer *i);
/* Reads files, or the files in folders, once. Returns 0, or -errno and changes nothing; the error
 * names the file and the place in it. */
int informer_load(struct informer *i, const char *const *paths, size_t count,
                  struct err *err) MUST_CHECK;

/* ---- from an API server ---- */

struct informer_watch {
    struct kube_client *client; /* borrowed until informer_stop() */
    struct clock *clock;        /* borrowed, too; NULL: the real clock */
    uint64_t seed;              /* of jitter */
    uint64_t without;           /* bit k: the kind in row k is not watched (yet) */
    bool unmeasured;            /* no metrics: one of many informers of the same kinds */
};
/* Begins at once to list and watch, with metrics. Call it once. Returns 0 or -ENOMEM. */
int informer_watch(struct informer *i, const struct informer_watch *watch,
                   struct err *err) MUST_CHECK;
/* Begins to watch a kind that was left out, unless it is watched already or the informer was
 * stopped. Any thread, even in apply(). Returns 0 or -ENOMEM. */
int informer_watch_kind(struct informer *i, uint32_t kind, struct err *err) MUST_CHECK;
/* Ends all watches and unregisters the metrics; the contents stay. When this returns, no watch
 * calls a function of the store any more. Any thread but the client's. NULL is fine. */
void informer_stop(struct informer *i);

/* Any thread may call these until informer_stop(). Kinds that are not watched count as ready. */

/* Is each kind listed once, or not installed, or has a listing of it failed? Then waiting longer
 * does not help. */
bool informer_listed(struct informer *i);
/* The same, but a listing must have ended. */
bool informer_synced(struct informer *i);
/* The same for some kinds: bit k is the kind in row k. */
bool informer_kinds_synced(struct informer *i, uint64_t kinds);
/* As informer_synced(), and no kind that was listed once is missing now, for example because a
 * proxy has lost its API server: it is safe to act on the contents. */
bool informer_complete(struct informer *i);
/* Waits until informer_listed(), for `timeout_ms` at most, and returns informer_synced(). Not on
 * the client's thread. */
bool informer_wait(struct informer *i, int64_t timeout_ms);
/* Sets *ret_ms to the time of the API server's last sign of life for a kind, by the clock of the
 * watch. Returns false if there was no sign yet, or the kind is not watched. */
bool informer_heard(struct informer *i, uint32_t kind, int64_t *ret_ms);
/* Returns the age of the oldest last sign of life of all watched kinds; INT64_MAX: a kind has none
 * yet; 0: no kind is watched. */
int64_t informer_age_ms(struct informer *i);
/* The same for some kinds. */
int64_t informer_kinds_age_ms(struct informer *i, uint64_t kinds);

/* Reports the stage of a listing to a store, for the informer and for other feeders of contents.
 * The caller holds the lock of the contents for writing. */
void informer_list(const struct informer_store *store, void *contents, uint32_t kind,
                   enum informer_listing how);

/* ---- reading ---- */

/* Returns the contents, which do not change until the same thread calls informer_read_done(). Not
 * for stores that lock themselves. A thread that is reading must not call it again: a waiting
 * writer goes first, so the second call would wait for ever. */
void *informer_read(struct informer *i);
void informer_read_done(struct informer *i);
/* The same for writing data made from objects, such as an index that is built on first use. Since
 * an earlier informer_read_done(), other contents may have replaced those that were read. */
void *informer_write(struct informer *i);
void informer_write_done(struct informer *i);
/* Returns the number of changes; any thread. NULL is fine. */
uint64_t informer_changes(const struct informer *i);

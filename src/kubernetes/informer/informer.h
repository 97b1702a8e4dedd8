/*
 * Fills a store with the objects of some kinds, which an API server lists and watches, or which
 * state files have. Like client-go's informers, but a store keeps only the parts of an object that
 * it needs.
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
 * Threads: informer_read() to informer_write_done(), and functions marked so, from any thread; a
 * watch calls the store on its client's thread; everything else belongs to one thread.
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
    struct object_meta meta; /* from the decoder, as far as it read: names the object in errors. For
                                a deleted object: name, namespace and uid */
    struct str json;         /* the whole object; "": it was deleted */
    struct arena *arena;
    bool is_stored; /* from an API server, which may have accepted what a file may not have */
    void *decoded;  /* from the decoder, in the arena */
};

struct informer_kind {
    enum kind_row row; /* of the watched kinds */
    /* Reads the next object in `r`, outside of the lock. Errors stay in the reader; the informer
     * checks that an object has a name. NULL: apply takes the JSON. */
    void (*decode)(struct json_reader *r, struct informer_object *ret);
    /* Returns 0, or -errno. After -ENOMEM the object is missing, or as it was before; a listing
     * follows. After any other error it is not kept. */
    int (*apply)(void *contents, const struct informer_object *object, struct err *err);
    /* An unknown object is no error. */
    int (*remove)(void *contents, const struct informer_object *gone, struct err *err);
    uint32_t (*count)(const void *contents); /* for the store's metric; NULL: not counted */
};

enum informer_listing {
    LISTING_BEGINS,
    LISTING_ENDS,  /* objects that were not applied in between are gone */
    LISTING_FAILS, /* it does not end: forget objects that were first applied since the last end, by
                      this listing or by failed ones before it */
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
    /* [kind_count]: records(contents, also[kind]) belong to the same objects, too, and drop()
     * forgets them; 0: none. NULL: none for all kinds. */
    const uint32_t *also;
    /* Called at each stage of a listing; the end has already dropped gone objects. NULL: not
     * needed. */
    void (*listed)(void *contents, uint32_t kind, enum informer_listing how);
    /* Called around the informer's work on records, if the store `locks`; listed() comes later. */
    void (*lock)(void *contents);
    void (*unlock)(void *contents);
    /* Returns the bytes of all objects, quickly. A listing that adds more than LIMIT_LISTED_BYTES
     * fails; so does a watch that adds as much after it. NULL: the store has its own limit. */
    uint64_t (*kept_bytes)(const void *contents);
    bool required; /* it is an error if an API server does not know a kind, even an optional one:
                      the kept objects stay */
    bool locks; /* the functions above lock the contents: the informer holds no lock around them */
    /* A gauge for each counted kind, which the label `resource` names; NULL: none. */
    const char *metric, *metric_help;
};

/* `contents` are borrowed; NULL: the store opens them. Returns 0 or -errno. */
int informer_new(const struct informer_store *store, void *contents, struct informer **ret,
                 struct err *err) MUST_CHECK;
/* Stops it, too. NULL is fine. */
void informer_free(struct informer *i);

/* ---- from files ---- */

/* Takes its objects from the files of a file_source, which replace all others. Registers the
 * metric. Borrowed until informer_free(). */
struct file_follower *informer_follower(struct informer *i);
/* Reads files, or files of folders, itself. Returns 0, or -errno, which changes nothing; the
 * sentence names the file and the place in it. */
int informer_load(struct informer *i, const char *const *paths, size_t count,
                  struct err *err) MUST_CHECK;

/* ---- from an API server ---- */

struct informer_watch {
    struct kube_client *client; /* borrowed until informer_stop() */
    struct clock *clock;        /* borrowed, too; NULL: the real one */
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

/* These from any thread until informer_stop(); kinds that are not watched count as ready. */

/* Has each kind been listed once, or found not to be installed, or at least been tried? Waiting
 * longer would not help then. */
bool informer_listed(struct informer *i);
/* The same, but a listing must have ended. */
bool informer_synced(struct informer *i);
/* The same for some kinds: bit k is the kind in row k. */
bool informer_kinds_synced(struct informer *i, uint64_t kinds);
/* As informer_synced(), and no kind that was listed once is missing now, for example because a
 * proxy has lost its API server: it is safe to act on the contents. */
bool informer_complete(struct informer *i);
/* Waits until they are listed. Returns false if a listing has not ended within `timeout_ms`. Not
 * from the client's thread. */
bool informer_wait(struct informer *i, int64_t timeout_ms);
/* Returns when the API server last showed a sign of life for a kind, in its clock's time. False:
 * never, or it is not watched. */
bool informer_heard(struct informer *i, uint32_t kind, int64_t *ret_ms);
/* Returns the age of the oldest last sign of life of all watched kinds; INT64_MAX: a kind has none
 * yet; 0: no kind is watched. */
int64_t informer_age_ms(struct informer *i);
/* The same for some kinds. */
int64_t informer_kinds_age_ms(struct informer *i, uint64_t kinds);

/* Reports the stage of a listing to a store, for the informer and for other feeders of contents.
 * The caller has the contents for writing. */
void informer_list(const struct informer_store *store, void *contents, uint32_t kind,
                   enum informer_listing how);

/* ---- reading ---- */

/* Returns the contents, which do not change until the same thread calls informer_read_done(). Not
 * for stores that lock themselves. Only once in a thread, because writers go first. */
void *informer_read(struct informer *i);
void informer_read_done(struct informer *i);
/* The same for writing what was made from objects, such as an index that is built on first use. The
 * contents may have been exchanged since they were read. */
void *informer_write(struct informer *i);
void informer_write_done(struct informer *i);
/* Returns the number of changes; any thread. NULL is fine. */
uint64_t informer_changes(const struct informer *i);

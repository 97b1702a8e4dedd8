/*
 * Reads one object for each of many names, again and again: for example the Secret of each Cluster.
 * These objects are not watched, because that needs permission to list all of them.
 *
 * The owner gives all its names in a pass; the next pass adds new names and removes the names that
 * it does not give. The object of a new name is read at once, then about every five minutes, or
 * half a minute after a request that failed. At most `at_once` requests are under way. The owner's
 * items begin with a struct kube_reading.
 *
 *     kube_readings_begin(&s);
 *     for (...)
 *         item = kube_readings_take(&s, name);
 *     kube_readings_end(&s);
 *
 * Threads: one thread, but not the client's.
 */
#pragma once

#include "base/clock.h"
#include "kube/client/fetch.h"

enum { KUBE_READINGS_AGAIN_MS = 300000, KUBE_READINGS_TROUBLED_MS = 30000 };

struct kube_reading {
    struct kube_readings *owner;
    char *name;    /* owned */
    bool stays;    /* no pass removes it; set by the owner of the item */
    bool is_there; /* the name was taken in this pass */
    bool is_asked; /* a request has ended since the item came or was last renewed; the owner may set
                      it when no request is possible */
    bool is_outdated; /* renewed while a request was under way; kube_readings_end() cancels that
                         request */
    int64_t read_ms;  /* the end of the last request */
    int64_t again_ms; /* when to read again; INT64_MAX: never. The owner may change it */
    uint64_t said;    /* hash of the last message; 0: none */
    struct kube_fetch fetch; /* status and body are for the owner from kube_reading_ended() on */
};

struct kube_readings {
    struct kube_client *client;                 /* borrowed; NULL: nothing can be read */
    struct clock *clock;                        /* borrowed; NULL: the machine's */
    const char *what;                           /* names the object in errors: "its Secret" */
    size_t item_size;                           /* size of the owner's struct */
    size_t max_body;                            /* a longer object is an error */
    uint32_t at_once;                           /* most requests under way */
    int64_t timeout_ms;                         /* time limit of a request */
    void (*gone)(struct kube_reading *item);    /* called when a pass has not taken the item's name
                                                 */
    void (*release)(struct kube_reading *item); /* frees what the item owns; NULL: nothing */

    struct kube_reading **items; /* sorted by name; owned */
    uint32_t count, cap, under_way;
};

int64_t kube_readings_now_ms(const struct kube_readings *s);

/* Begins a pass over the names. */
void kube_readings_begin(struct kube_readings *s);
/* Returns the item of the name, which is zeroed if it is new; NULL without memory. Cancels nothing,
 * so the caller may hold a lock that the client's thread takes. O(log items), and for a new name
 * O(items). */
struct kube_reading *kube_readings_take(struct kube_readings *s, struct str name);
/* Ends a pass: items whose names were not taken are gone, outdated requests are cancelled. The
 * caller must hold no lock that the client's thread takes. */
void kube_readings_end(struct kube_readings *s);
/* Cancels all requests. */
void kube_readings_stop(struct kube_readings *s);
/* Frees the items, without calling gone(). */
void kube_readings_done(struct kube_readings *s);

/* Makes the object due at once: its earlier bytes are outdated. */
void kube_reading_renew(struct kube_reading *r);
/* May a request begin now? Another one, or too many, may be under way. */
bool kube_reading_may_start(const struct kube_reading *r);
/* Begins a request. Without memory the item stays due. */
void kube_reading_start(struct kube_reading *r, struct str path);
/* Cancels the request, if one is under way. */
void kube_reading_cancel(struct kube_reading *r);
/* Returns true once after each request. If it returns true, it has set `again_ms`, and *ret: to 0
 * if the status is 200 or 404, otherwise to -EIO, with the error. */
bool kube_reading_ended(struct kube_reading *r, int *ret, struct err *err);
/* Sets `again_ms` to about five minutes from now; if `troubled`, to half a minute from now. */
void kube_reading_again(struct kube_reading *r, bool troubled);
/* Does the message with this hash differ from the last message? If it does, remembers the hash; the
 * caller then logs the message. */
bool kube_reading_is_news(struct kube_reading *r, uint64_t hash);

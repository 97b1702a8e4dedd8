/*
 * One member cluster of a set, for members.c only: what it is made of, and its life. A member is
 * not listed yet when it is made, begins when its turn comes, and ends on the thread that made it
 * once nobody holds it.
 *
 * Threads: as members/members.h.
 */
#pragma once

#include "base/list.h"
#include "members/members.h"

#include <stdatomic.h>

/* A thread that talks to the API servers of some members. */
struct member_loop {
    struct list link;
    struct kube_loop *loop; /* owned */
    uint32_t members;       /* on it */
};

struct member {
    struct list link; /* among those that leave */
    const struct members *members;
    struct arena arena; /* of the name and the access */
    struct str name;
    const char *role;           /* the same text */
    struct informer *informer;  /* owned */
    struct kube_access access;  /* without a server: none is known */
    struct member_loop *loop;   /* on which it has a place; NULL: none yet */
    struct kube_client *client; /* owned; NULL: state files, or not begun */
    struct member *next;        /* owned: what takes its place when that is listed; NULL: none */
    int64_t begin_ms;           /* when it may be tried again to begin */
    int64_t begun_ms;           /* when it began */
    unsigned failures;          /* to begin */
    bool is_of_files;
    bool is_fixed;            /* it was there from the start, and stays */
    _Atomic bool begun;       /* its watches are */
    _Atomic bool tried;       /* it could not begin, or is late: it is not waited for any more */
    _Atomic unsigned behind;  /* seconds for which what it has missed may still be on its way */
    _Atomic uint32_t holders; /* callers who use it */
};

/* Empty; the access is the caller's to fill in. If this succeeds, it has taken over what is in
 * `arena`, which is empty then; NULL: nothing. 0 or -ENOMEM. */
int member_new(const struct members *members, struct str name, struct arena *arena,
               struct member **ret, struct err *err) MUST_CHECK;
/* What all of them want of their clients, beside what a caller filled in. */
void member_finish_access(struct member *m);
/* Begins to list and watch, on that loop. May be called again after it has failed. `now_ms` of all
 * calls comes from one monotonic clock. 0 or -errno. */
int member_begin(struct member *m, struct member_loop *loop, int64_t now_ms,
                 struct err *err) MUST_CHECK;
/* Is its first listing under way, for no longer than one may take? One that takes longer goes on,
 * but counts as tried from this call on. False for NULL. */
bool member_is_starting(struct member *m, int64_t now_ms);
/* It could not begin, which counts as tried: it may begin again after a pause. */
void member_put_off(struct member *m, int64_t now_ms);
/* About once a second: was it silent for too long? */
void member_poll(struct member *m);
/* Asks nothing any more, and leaves its loop. What it knows stays. */
void member_stop(struct member *m);
/* Stops it, too. Nobody holds it. NULL is fine. */
void member_free(struct member *m);

/* Of a source that is not of files. Everything is allocated in the arena. 0 or -errno. */
int member_source_access(const struct member_source *source, struct arena *arena,
                         struct kube_access *ret, struct err *err) MUST_CHECK;

static inline bool member_has_access(const struct member *m) {
    return m->access.server != NULL;
}
/* Is it the same API server, through the same proxy, so that it is the same cluster? */
bool member_asks_same(const struct member *a, const struct member *b);
/* Is all of it listed, or has each kind been tried? True without an access. */
bool member_is_listed(const struct member *m);

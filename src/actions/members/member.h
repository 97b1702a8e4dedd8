/*
 * One member cluster of a set, for members.c only: its data and its life. A new member is not
 * listed yet, begins in its turn, and ends on the thread that made it once no caller holds it.
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
    uint32_t members;       /* number of members on this loop */
};

struct member {
    struct list link; /* in the set's list of leaving members */
    const struct members *members;
    struct arena arena; /* owns the name and the access */
    struct str name;
    const char *role;           /* the same text as `name` */
    struct informer *informer;  /* owned */
    struct kube_access access;  /* without a server: no access */
    struct member_loop *loop;   /* the loop on which it has a place; NULL: none yet */
    struct kube_client *client; /* owned; NULL: state files, or not begun */
    struct member *next;        /* owned: replaces this member once it is listed; NULL: none */
    int64_t begin_ms;           /* when it may try to begin */
    int64_t begun_ms;           /* when it began */
    unsigned failures;          /* failed attempts to begin, in a row */
    bool is_of_files;
    bool is_fixed;            /* from members_new(): it stays */
    _Atomic bool begun;       /* its watches have begun */
    _Atomic bool tried;       /* the member could not begin, or is late: do not wait for it */
    _Atomic unsigned behind;  /* seconds for which missed events may still arrive */
    _Atomic uint32_t holders; /* callers who use it */
};

/* Makes a member without access; the caller fills that in. Success takes over the contents of
 * `arena`, which is empty then; NULL: no contents. Returns 0 or -ENOMEM. */
int member_new(const struct members *members, struct str name, struct arena *arena,
               struct member **ret, struct err *err) MUST_CHECK;
/* Adds the client options that all members share to an access. */
void member_finish_access(struct member *m);
/* Begins to list and watch on that loop. May be called again after a failure. `now_ms` of all calls
 * comes from one monotonic clock. Returns 0 or -errno. */
int member_begin(struct member *m, struct member_loop *loop, int64_t now_ms,
                 struct err *err) MUST_CHECK;
/* Is its first listing under way, and still within its time? A late listing goes on, but the member
 * counts as tried from this call on. False for NULL. */
bool member_is_starting(struct member *m, int64_t now_ms);
/* Call it if the member could not begin: it then counts as tried, and may begin again after a
 * pause. */
void member_put_off(struct member *m, int64_t now_ms);
/* Call it about once a second: checks if it was silent for too long. */
void member_poll(struct member *m);
/* Stops its watches, and leaves its loop. Its objects stay. */
void member_stop(struct member *m);
/* Stops the member, and frees it. No caller may hold it. NULL is fine. */
void member_free(struct member *m);

/* Makes the access, in the arena, of a source that is not files. Returns 0 or -errno. */
int member_source_access(const struct member_source *source, struct arena *arena,
                         struct kube_access *ret, struct err *err) MUST_CHECK;

static inline bool member_has_access(const struct member *m) {
    return m->access.server != NULL;
}
/* Do both have the same API server and proxy, and so the same cluster? */
bool member_asks_same(const struct member *a, const struct member *b);
/* Was each kind listed, or at least tried? True without an access. */
bool member_is_listed(const struct member *m);

/*
 * Everything that can go wrong, as one table, and when it does. A seed picks which faults it plays
 * with and how often; a *plague* is one fault that strikes every request for a while. While the
 * world is calm nothing strikes.
 *
 * Every strike is counted, and so is every path that an answer or the reflector took: what no seed
 * of a long run ever hit is a fault of the simulator.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sim;

/* What a fault can strike. */
enum {
    AT_LIST = 1,       /* a list, first page */
    AT_PAGE = 2,       /* a later page */
    AT_WATCH_LIST = 4, /* a watch that begins with today's objects */
    AT_WATCH = 8,
    AT_LINE = 16, /* an event is about to be sent on a watch */
    AT_SERVER = 32,
    RARELY = 64, /* or where fault_happens() is asked */
    AT_LISTING = AT_LIST | AT_PAGE,
    AT_WATCHES = AT_WATCH_LIST | AT_WATCH,
    AT_REQUEST = AT_LISTING | AT_WATCHES,
};

enum fault {
    /* no answer */
    FAULT_REFUSED,
    FAULT_UNREACHABLE,
    FAULT_NO_HEAD,
    /* answers that are errors */
    FAULT_401,
    FAULT_403,
    FAULT_404,
    FAULT_429,
    FAULT_429_HEADER,
    FAULT_429_BODY,
    FAULT_429_FOR_AGES,
    FAULT_500,
    FAULT_500_TEXT,
    FAULT_503_HTML,
    FAULT_504,
    FAULT_400,
    FAULT_422,
    FAULT_410,
    FAULT_TOO_LARGE_CAUSE,
    FAULT_TOO_LARGE_MESSAGE,
    FAULT_EXPIRED_REASON,
    /* answers that are no answers */
    FAULT_EMPTY,
    FAULT_HTML,
    FAULT_TABLE,
    FAULT_SHORTENED,
    FAULT_BAD_BYTE,
    FAULT_NO_LIST_VERSION,
    FAULT_SAME_TOKEN,
    FAULT_HUGE_LIST,
    FAULT_ENDLESS_LIST,
    /* connections */
    FAULT_CUT,
    FAULT_STALL,
    FAULT_BYTE_BY_BYTE,
    FAULT_ONE_WRITE,
    FAULT_SHORT_WATCH,
    FAULT_SHORT_BOOKMARK,
    FAULT_EARLY_END,
    FAULT_EXPIRED_EVENT,
    /* lines of a watch */
    FAULT_GARBAGE,
    FAULT_BAD_UTF8,
    FAULT_TRAILING_GARBAGE,
    FAULT_ENDLESS_LINE,
    FAULT_UNKNOWN_TYPE,
    FAULT_DUPLICATE,
    FAULT_REPLAY,
    FAULT_ERROR_500,
    FAULT_ERROR_429,
    FAULT_ERROR_410,
    FAULT_ERROR_SENSELESS,
    FAULT_BOOKMARK_NO_VERSION,
    FAULT_OBJECT_NO_VERSION,
    FAULT_BLANK_LINES,
    FAULT_CRLF,
    FAULT_ODD_MEMBERS,
    FAULT_MORE_MEMBERS,
    /* objects */
    FAULT_LARGE,
    FAULT_OVERSIZED,
    FAULT_LABELLED,
    FAULT_REFUSED_OBJECT,
    /* our own side */
    FAULT_NO_MEMORY,
    /* the server as a whole */
    FAULT_RESTART,
    FAULT_RESTORE,
    FAULT_RESTORE_UNSEEN,
    FAULT_COMPACTION,
    FAULT_LAG,
    FAULTS,
    FAULT_NONE = FAULTS,
};

/* What happened, faults apart. */
enum path {
    PATH_SYNCED_BY_WATCH_LIST,
    PATH_SYNCED_BY_LIST,
    PATH_LIST_AT_ANY,
    PATH_LIST_AT_VERSION,
    PATH_LIST_NEWEST,
    PATH_LIST_WHOLE,
    PATH_LIST_PAGES_FOR_SIZE,
    PATH_PAGE_HALVED,
    PATH_LIST_PAGINATED,
    PATH_NEXT_PAGE,
    PATH_WATCH_LIST_FIRST,
    PATH_WATCH_LIST_AT_VERSION,
    PATH_WATCH_LIST_NEWEST,
    PATH_WATCH_AGAIN,
    PATH_WATCH_CAUGHT_UP, /* it began with events that had happened already */
    PATH_TOO_LARGE,       /* a version the server did not have yet, in earnest */
    PATH_EXPIRED,         /* a version that was compacted, in earnest */
    PATH_TOKEN_EXPIRED,
    PATH_WATCH_LIST_REFUSED,
    PATH_WATCH_LIST_IGNORED,
    PATH_SILENCE,
    PATH_SILENT_FUTURE, /* a watch from a version that only a lost history had */
    PATH_BOOKMARKS_ONLY,
    PATH_DELETED_BY_SELECTOR,
    PATH_FORGOTTEN_BY_LISTING,
    PATH_ENDLESS,
    PATH_VERSION_REUSED,
    PATH_LARGE_HEARD,
    PATH_READY,
    PATHS,
};

/* Over all seeds. */
struct coverage {
    uint64_t faults[FAULTS], paths[PATHS];
};

const char *fault_name(enum fault fault);
const char *path_name(enum path path);

struct faults {
    struct coverage *coverage; /* borrowed */
    bool calm;
    bool hostile; /* calm but for objects that are hard to take, each a tenant's right */
    bool enabled[FAULTS];
    uint32_t per_mille_request, per_mille_line;
    enum fault plague; /* FAULT_NONE: no one rages */
    uint32_t plague_kinds, plague_where;
    int64_t plague_ends_ms, next_ms;
};

/* What this seed plays with. */
void faults_choose(struct sim *s);
/* Begins or ends a plague, and perhaps a misfortune of the whole server. */
void faults_step(struct sim *s);
/* No fault strikes any more; or they do again. */
void faults_calm(struct sim *s, bool calm);
/* While it is calm: objects that are hard to take come and go, and nothing else is wrong. */
void faults_hostile(struct sim *s, bool hostile);
/* Perhaps goes back to a backup so quickly that nobody finds the server away; then nothing changes
 * until the end of the round. To be called last before it is calm. */
void faults_restore_unseen(struct sim *s);

/* The fault that strikes here and now, or FAULT_NONE. `kind` as of the request. Not counted yet:
 * who plays it calls fault_hit(). */
enum fault fault_strikes(struct sim *s, uint32_t where, uint32_t kind);
/* Does this one, marked RARELY, strike now? In so many of a million cases. */
bool fault_happens(struct sim *s, enum fault fault, uint32_t per_million);
void fault_hit(struct sim *s, enum fault fault);
void path_taken(struct sim *s, enum path path);

/*
 * All faults in one table, and when they strike. A seed chooses its faults and how often they
 * strike; a *plague* is one fault that strikes every request for a while. While the world is calm,
 * no fault strikes.
 *
 * Every strike is counted, and every path of an answer or of the reflector. If no seed of a long
 * run ever hits one of them, the simulator has a mistake.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sim;

/* The places where a fault can strike. */
enum {
    AT_LIST = 1,       /* a list, first page */
    AT_PAGE = 2,       /* a later page */
    AT_WATCH_LIST = 4, /* a watch that begins with the present objects */
    AT_WATCH = 8,
    AT_LINE = 16, /* an event is about to be sent on a watch */
    AT_SERVER = 32,
    RARELY = 64, /* the fault strikes only where fault_happens() is called */
    AT_LISTING = AT_LIST | AT_PAGE,
    AT_WATCHES = AT_WATCH_LIST | AT_WATCH,
    AT_REQUEST = AT_LISTING | AT_WATCHES,
};

enum fault {
    /* faults without an answer */
    FAULT_REFUSED,
    FAULT_UNREACHABLE,
    FAULT_NO_HEAD,
    /* faults with an error as the answer */
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
    /* faults with a malformed answer */
    FAULT_EMPTY,
    FAULT_HTML,
    FAULT_TABLE,
    FAULT_SHORTENED,
    FAULT_BAD_BYTE,
    FAULT_NO_LIST_VERSION,
    FAULT_SAME_TOKEN,
    FAULT_HUGE_LIST,
    FAULT_ENDLESS_LIST,
    /* faults of connections */
    FAULT_CUT,
    FAULT_STALL,
    FAULT_BYTE_BY_BYTE,
    FAULT_ONE_WRITE,
    FAULT_SHORT_WATCH,
    FAULT_SHORT_BOOKMARK,
    FAULT_EARLY_END,
    FAULT_EXPIRED_EVENT,
    /* faults in lines of a watch */
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
    /* faults of objects */
    FAULT_LARGE,
    FAULT_OVERSIZED,
    FAULT_LABELLED,
    FAULT_REFUSED_OBJECT,
    /* faults on our own side */
    FAULT_NO_MEMORY,
    /* faults of the whole server */
    FAULT_RESTART,
    FAULT_RESTORE,
    FAULT_RESTORE_UNSEEN,
    FAULT_COMPACTION,
    FAULT_LAG,
    FAULTS,
    FAULT_NONE = FAULTS,
};

/* Other events that are counted. */
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
    PATH_WATCH_CAUGHT_UP, /* the watch began with events from before */
    PATH_TOO_LARGE,       /* the server really did not have the version yet */
    PATH_EXPIRED,         /* the version was really compacted */
    PATH_TOKEN_EXPIRED,
    PATH_WATCH_LIST_REFUSED,
    PATH_WATCH_LIST_IGNORED,
    PATH_SILENCE,
    PATH_SILENT_FUTURE, /* a watch from a version that exists only in a lost history */
    PATH_BOOKMARKS_ONLY,
    PATH_DELETED_BY_SELECTOR,
    PATH_FORGOTTEN_BY_LISTING,
    PATH_ENDLESS,
    PATH_VERSION_REUSED,
    PATH_LARGE_HEARD,
    PATH_READY,
    PATHS,
};

/* The counts over all seeds. */
struct coverage {
    uint64_t faults[FAULTS], paths[PATHS];
};

const char *fault_name(enum fault fault);
const char *path_name(enum path path);

struct faults {
    struct coverage *coverage; /* borrowed */
    bool calm;
    bool hostile; /* calm, except for difficult objects, which any tenant may create */
    bool enabled[FAULTS];
    uint32_t per_mille_request, per_mille_line;
    enum fault plague; /* FAULT_NONE: there is no plague */
    uint32_t plague_kinds, plague_where;
    int64_t plague_ends_ms, next_ms;
};

/* Chooses the faults of this seed. */
void faults_choose(struct sim *s);
/* Begins or ends a plague, and perhaps a fault of the whole server. */
void faults_step(struct sim *s);
/* Stops all faults, or lets them strike again. */
void faults_calm(struct sim *s, bool calm);
/* While the world is calm: difficult objects are created and deleted, without other faults. */
void faults_hostile(struct sim *s, bool hostile);
/* Perhaps restores the server from a backup so quickly that no client notices; then no object
 * changes until the end of the round. Call it last before the world is calm. */
void faults_restore_unseen(struct sim *s);

/* Returns the fault that strikes at this place now, or FAULT_NONE. `kind` is the request's kind.
 * The caller that plays the fault counts it with fault_hit(). */
enum fault fault_strikes(struct sim *s, uint32_t where, uint32_t kind);
/* Does this fault, which is marked RARELY, strike now? It strikes in `per_million` of a million
 * cases. */
bool fault_happens(struct sim *s, enum fault fault, uint32_t per_million);
void fault_hit(struct sim *s, enum fault fault);
void path_taken(struct sim *s, enum path path);

#include "sim/faults.h"

#include "sim/sim.h"
#include "sim/watch.h"

static const struct {
    const char *name;
    uint32_t where;
} faults[FAULTS] = {
    [FAULT_REFUSED] = {"connection refused", AT_REQUEST},
    [FAULT_UNREACHABLE] = {"connect timed out", AT_REQUEST},
    [FAULT_NO_HEAD] = {"reset before any answer", AT_REQUEST},
    [FAULT_401] = {"401", AT_REQUEST},
    [FAULT_403] = {"403", AT_REQUEST},
    [FAULT_404] = {"404", AT_REQUEST},
    [FAULT_429] = {"429, no Retry-After", AT_REQUEST},
    [FAULT_429_HEADER] = {"429, Retry-After header", AT_REQUEST},
    [FAULT_429_BODY] = {"429, retryAfterSeconds", AT_REQUEST},
    [FAULT_429_FOR_AGES] = {"429, Retry-After of years", AT_REQUEST},
    [FAULT_500] = {"500, Status", AT_REQUEST},
    [FAULT_500_TEXT] = {"500, text", AT_REQUEST},
    [FAULT_503_HTML] = {"503, HTML page", AT_REQUEST},
    [FAULT_504] = {"504, Status", AT_REQUEST},
    [FAULT_400] = {"400", AT_LISTING | AT_WATCH},
    [FAULT_422] = {"422 to a watch-list", AT_WATCH_LIST},
    [FAULT_410] = {"410", AT_REQUEST},
    [FAULT_TOO_LARGE_CAUSE] = {"too large version, cause", AT_LIST | AT_WATCHES},
    [FAULT_TOO_LARGE_MESSAGE] = {"too large version, message", AT_LIST | AT_WATCHES},
    [FAULT_EXPIRED_REASON] = {"reason Expired without 410", AT_REQUEST},
    [FAULT_EMPTY] = {"200, nothing", AT_LISTING},
    [FAULT_HTML] = {"200, HTML page", AT_REQUEST},
    [FAULT_TABLE] = {"200, a Table", AT_LISTING},
    [FAULT_SHORTENED] = {"200, shortened but whole", AT_LISTING},
    [FAULT_BAD_BYTE] = {"200, a byte changed", AT_LISTING},
    [FAULT_NO_LIST_VERSION] = {"a list without version", AT_LIST},
    [FAULT_SAME_TOKEN] = {"the same page again", AT_PAGE},
    [FAULT_ENDLESS_LIST] = {"a list without end", AT_LISTING | AT_WATCH_LIST},
    [FAULT_HUGE_LIST] = {"a page beyond the limit", RARELY},
    [FAULT_CUT] = {"cut at some byte", AT_REQUEST},
    [FAULT_STALL] = {"silence from some byte", AT_REQUEST},
    [FAULT_BYTE_BY_BYTE] = {"byte by byte", AT_REQUEST},
    [FAULT_ONE_WRITE] = {"many events in one write", AT_WATCHES},
    [FAULT_SHORT_WATCH] = {"watch closed at once", AT_WATCH},
    [FAULT_SHORT_BOOKMARK] = {"a bookmark, then closed at once", AT_WATCH},
    [FAULT_EARLY_END] = {"watch ended early", AT_WATCHES},
    [FAULT_EXPIRED_EVENT] = {"410 as first event", AT_WATCHES},
    [FAULT_GARBAGE] = {"a line of garbage", AT_LINE},
    [FAULT_BAD_UTF8] = {"an object with bad UTF-8", AT_LINE},
    [FAULT_TRAILING_GARBAGE] = {"trailing garbage", AT_LINE},
    [FAULT_ENDLESS_LINE] = {"a line without end", RARELY},
    [FAULT_UNKNOWN_TYPE] = {"unknown type of event", AT_LINE},
    [FAULT_DUPLICATE] = {"an event twice", AT_LINE},
    [FAULT_REPLAY] = {"the last events again", AT_LINE},
    [FAULT_ERROR_500] = {"ERROR event, 500", AT_LINE},
    [FAULT_ERROR_429] = {"ERROR event, 429", AT_LINE},
    [FAULT_ERROR_410] = {"ERROR event, 410", AT_LINE},
    [FAULT_ERROR_SENSELESS] = {"ERROR event, no Status", AT_LINE},
    [FAULT_BOOKMARK_NO_VERSION] = {"a bookmark without version", AT_LINE},
    [FAULT_OBJECT_NO_VERSION] = {"an object without version", AT_LINE},
    [FAULT_BLANK_LINES] = {"blank lines", AT_LINE},
    [FAULT_CRLF] = {"CRLF", AT_LINE},
    [FAULT_ODD_MEMBERS] = {"members in odd order", AT_LINE},
    [FAULT_MORE_MEMBERS] = {"unknown members of an event", AT_LINE},
    [FAULT_LARGE] = {"an object of 5 MB", RARELY},
    [FAULT_OVERSIZED] = {"an object beyond the limit", RARELY},
    [FAULT_LABELLED] = {"an object with thousands of labels", RARELY},
    [FAULT_REFUSED_OBJECT] = {"an object the decoder refuses", RARELY},
    [FAULT_NO_MEMORY] = {"no memory for an object", RARELY},
    [FAULT_RESTART] = {"server restarted", AT_SERVER},
    [FAULT_RESTORE] = {"restored from a backup", AT_SERVER},
    [FAULT_RESTORE_UNSEEN] = {"restored while nobody looked", AT_SERVER},
    [FAULT_COMPACTION] = {"history compacted", AT_SERVER},
    [FAULT_LAG] = {"a replica lags behind", AT_SERVER},
};

static const char *const paths[PATHS] = {
    [PATH_SYNCED_BY_WATCH_LIST] = "synced by a watch-list",
    [PATH_SYNCED_BY_LIST] = "synced by a list",
    [PATH_LIST_AT_ANY] = "list at version 0",
    [PATH_LIST_AT_VERSION] = "list at the known version",
    [PATH_LIST_NEWEST] = "list at the newest version",
    [PATH_LIST_WHOLE] = "list in one answer, after a page expired",
    [PATH_LIST_PAGES_FOR_SIZE] = "list in pages, for size",
    [PATH_PAGE_HALVED] = "page asked for again with half the objects",
    [PATH_LIST_PAGINATED] = "list in pages at a known version",
    [PATH_NEXT_PAGE] = "next page",
    [PATH_WATCH_LIST_FIRST] = "watch-list, first",
    [PATH_WATCH_LIST_AT_VERSION] = "watch-list at the known version",
    [PATH_WATCH_LIST_NEWEST] = "watch-list at the newest version",
    [PATH_WATCH_AGAIN] = "watch from where the last one ended",
    [PATH_WATCH_CAUGHT_UP] = "watch that began with missed events",
    [PATH_TOO_LARGE] = "version not there yet, in earnest",
    [PATH_EXPIRED] = "version compacted, in earnest",
    [PATH_TOKEN_EXPIRED] = "next page compacted, in earnest",
    [PATH_WATCH_LIST_REFUSED] = "server without watch-list",
    [PATH_WATCH_LIST_IGNORED] = "server that ignores sendInitialEvents",
    [PATH_SILENCE] = "given up for silence",
    [PATH_SILENT_FUTURE] = "watch from a lost future",
    [PATH_BOOKMARKS_ONLY] = "watch of bookmarks only",
    [PATH_DELETED_BY_SELECTOR] = "deleted by the field selector",
    [PATH_FORGOTTEN_BY_LISTING] = "forgotten by a listing",
    [PATH_ENDLESS] = "given up for want of an end",
    [PATH_VERSION_REUSED] = "a version used again after a restore",
    [PATH_LARGE_HEARD] = "5 MB object taken from a watch",
    [PATH_READY] = "cache became ready",
};

const char *fault_name(enum fault fault) {
    return faults[fault].name;
}

const char *path_name(enum path path) {
    return paths[path];
}

void fault_hit(struct sim *s, enum fault fault) {
    s->faults.coverage->faults[fault]++;
    sim_trace(s, "fault: %s", faults[fault].name);
}

void path_taken(struct sim *s, enum path path) {
    s->faults.coverage->paths[path]++;
}

void faults_choose(struct sim *s) {
    static const uint32_t of_requests[] = {0, 20, 100, 300, 600};
    static const uint32_t of_lines[] = {0, 5, 30, 150};
    struct faults *f = &s->faults;
    uint32_t share = (uint32_t[]){100, 300, 500, 1000}[sim_below(s, 4)];
    for (uint32_t i = 0; i < FAULTS; i++)
        f->enabled[i] = sim_chance(s, share);
    f->per_mille_request = of_requests[sim_below(s, sizeof of_requests / sizeof of_requests[0])];
    f->per_mille_line = of_lines[sim_below(s, sizeof of_lines / sizeof of_lines[0])];
    f->plague = FAULT_NONE;
    f->calm = false;
}

void faults_calm(struct sim *s, bool calm) {
    struct faults *f = &s->faults;
    f->calm = calm;
    f->plague = FAULT_NONE;
    f->next_ms = calm ? INT64_MAX : sim_now(s) + sim_between(s, 1000, 300000);
    sim_trace(s, "---- %s", calm ? "calm" : "faults again");
}

/* One of those that are enabled there; each as likely. */
static enum fault pick(struct sim *s, uint32_t where) {
    uint32_t count = 0;
    enum fault found = FAULT_NONE;
    for (uint32_t i = 0; i < FAULTS; i++)
        if (s->faults.enabled[i] && (faults[i].where & where) && sim_below(s, ++count) == 0)
            found = (enum fault)i;
    return found;
}

enum fault fault_strikes(struct sim *s, uint32_t where, uint32_t kind) {
    const struct faults *f = &s->faults;
    if (f->calm)
        return FAULT_NONE;
    if (f->plague != FAULT_NONE && (faults[f->plague].where & f->plague_where & where) &&
        (f->plague_kinds >> kind & 1))
        return f->plague;
    return sim_chance(s, where == AT_LINE ? f->per_mille_line : f->per_mille_request)
               ? pick(s, where)
               : FAULT_NONE;
}

static bool is_hard_to_take(enum fault fault) {
    return fault == FAULT_LARGE || fault == FAULT_LABELLED || fault == FAULT_REFUSED_OBJECT;
}

bool fault_happens(struct sim *s, enum fault fault, uint32_t per_million) {
    enum { MORE_OF_THEM = 10 };
    if (s->faults.hostile)
        return is_hard_to_take(fault) && sim_below(s, 1000000) < per_million * MORE_OF_THEM;
    return !s->faults.calm && s->faults.enabled[fault] && sim_below(s, 1000000) < per_million;
}

void faults_hostile(struct sim *s, bool hostile) {
    s->faults.hostile = hostile;
    sim_trace(s, "---- %s", hostile ? "hostile objects" : "no more of them");
}

/* ---- the server as a whole ---- */

static void go_down(struct sim *s, int64_t for_ms) {
    s->server.down_until_ms = sim_now(s) + for_ms;
    watches_cut(s);
}

/* A backup is at most so many revisions old. */
static uint64_t backup(struct sim *s) {
    const struct server *server = &s->server;
    uint64_t age = sim_below(s, 60);
    uint64_t revision = server->revision > age ? server->revision - age : 0;
    return revision > server->compacted ? revision : server->compacted;
}

static void strike_server(struct sim *s, enum fault fault) {
    struct server *server = &s->server;
    switch (fault) {
    case FAULT_RESTART:
        go_down(s, sim_chance(s, 300) ? 0 : sim_between(s, 100, 120000));
        break;
    case FAULT_RESTORE: /* long enough that everyone asks in between, whatever it waits for */
        go_down(s, sim_between(s, 200000, 300000));
        server_restore(s, backup(s));
        break;
    case FAULT_RESTORE_UNSEEN: /* nothing changes for the rest of this round: see sim.c */
        watches_cut(s);
        server_restore(s, backup(s));
        server->quiet = true;
        break;
    case FAULT_COMPACTION:
        server_compact(server, server->revision - sim_below(s, 10));
        break;
    default:
        server->replicas[sim_below(s, SIM_REPLICAS)].stuck_until_ms =
            sim_now(s) + sim_between(s, 5000, 300000);
    }
    fault_hit(s, fault);
}

static void begin_plague(struct sim *s) {
    static const uint32_t wheres[] = {AT_REQUEST, AT_WATCH, AT_WATCHES, AT_LISTING};
    struct faults *f = &s->faults;
    f->plague_where = wheres[sim_below(s, sizeof wheres / sizeof wheres[0])];
    f->plague = pick(s, f->plague_where);
    f->plague_kinds = sim_chance(s, 500) ? UINT32_MAX : (uint32_t)random_next(&s->random);
    f->plague_ends_ms = sim_now(s) + sim_between(s, 10000, 900000);
    if (f->plague != FAULT_NONE)
        sim_trace(s, "plague: %s", faults[f->plague].name);
}

void faults_step(struct sim *s) {
    struct faults *f = &s->faults;
    int64_t now_ms = sim_now(s);
    if (f->plague != FAULT_NONE && now_ms >= f->plague_ends_ms) {
        f->plague = FAULT_NONE;
    } else if (f->plague == FAULT_NONE && f->per_mille_request > 0 && sim_chance(s, 500)) {
        begin_plague(s);
    } else if (now_ms >= s->server.down_until_ms) {
        enum fault fault = pick(s, AT_SERVER);
        if (fault != FAULT_NONE && fault != FAULT_RESTORE_UNSEEN)
            strike_server(s, fault);
    }
    f->next_ms = now_ms + sim_between(s, 5000, 300000);
    if (f->plague != FAULT_NONE && f->plague_ends_ms < f->next_ms)
        f->next_ms = f->plague_ends_ms;
}

void faults_restore_unseen(struct sim *s) {
    /* silence is the only sign of it, and watches that end sooner are never silent for long */
    bool noticeable = s->server.traits.watch_longest_ms == INT64_MAX;
    if (s->faults.enabled[FAULT_RESTORE_UNSEEN] && noticeable && sim_chance(s, 300))
        strike_server(s, FAULT_RESTORE_UNSEEN);
}

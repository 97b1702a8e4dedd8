#include "sim/oracle.h"

#include "base/limits.h"
#include "sim/sim.h"
#include "sim/watch.h"

#include <errno.h>
#include <stdio.h>

enum {
    LONGEST_WAIT_MS = 60000, /* the cap with its jitter */
    HEED_MS = 120000,        /* a Retry-After is heeded up to this */
    GOOD_WATCH_MS = 1000,    /* one that lives so long is no failure */
    LONG_WATCH_MS = 30000,   /* all was well until it ended, whatever ended it */
    FAILING_MS = 120000,
    FAILING_REQUESTS = 15, /* a minute, once it fails for that long */
    MINUTE_MS = 60000,
};

static const char *name(const struct kube_watch *w) {
    return thing_resource(w->kind);
}

void oracle_init(struct oracle *o) {
    *o = (struct oracle){.page_objects = 500, .heard_ms = INT64_MIN, .failing_since_ms = INT64_MAX};
}

/* ---- what must be asked ---- */

/* The version to list at, as text. */
static void version_to_ask(const struct kube_watch *w, const char *first, bool newest,
                           struct strbuf *out) {
    const struct oracle *o = &w->oracle;
    strbuf_clear(out);
    if (newest)
        return;
    if (o->known)
        server_version(&w->sim->server, o->revision, out);
    else
        strbuf_append_str(out, str_of(first));
}

static void check_version(struct kube_watch *w, const struct request *request, const char *first,
                          bool newest) {
    struct strbuf want = {.max = 4096};
    version_to_ask(w, first, newest, &want);
    if (!str_eq(strbuf_str(&want), str_of(request->version)))
        sim_fail(w->sim, "%s: asks at version '%s', it should be '%.*s'", name(w), request->version,
                 STR_ARG(strbuf_str(&want)));
    strbuf_done(&want);
}

static void note_list(struct kube_watch *w, const struct request *request) {
    struct sim *s = w->sim;
    const struct oracle *o = &w->oracle;
    if (o->next == NEXT_WHOLE)
        path_taken(s, PATH_LIST_WHOLE);
    else if (o->pages_only)
        path_taken(s, PATH_LIST_PAGES_FOR_SIZE);
    else if (request->version[0] == '\0')
        path_taken(s, PATH_LIST_NEWEST);
    else if (!o->known)
        path_taken(s, PATH_LIST_AT_ANY);
    else
        path_taken(s, o->paginated ? PATH_LIST_PAGINATED : PATH_LIST_AT_VERSION);
}

/* A listing begins: which kind of request, at which version, with a limit or not. */
static void check_listing(struct kube_watch *w, const struct request *request) {
    struct oracle *o = &w->oracle;
    bool whole = o->next == NEXT_WHOLE;
    if (request->watch && (o->plain || o->no_watch_list || whole))
        sim_fail(w->sim, "%s: a watch-list where a list must be", name(w));
    if (request->watch_list) {
        check_version(w, request, "", o->unavailable);
        path_taken(w->sim, request->version[0] != '\0' ? PATH_WATCH_LIST_AT_VERSION
                           : o->known                  ? PATH_WATCH_LIST_NEWEST
                                                       : PATH_WATCH_LIST_FIRST);
    } else {
        check_version(w, request, "0", o->unavailable || o->pages_only);
        bool any = request->version[0] == '\0' || strcmp(request->version, "0") == 0;
        if (request->has_limit != (!whole && (any || o->paginated)))
            sim_fail(w->sim, "%s: a list with%s limit", name(w), request->has_limit ? "" : "out");
        note_list(w, request);
    }
    if (o->known && !o->unavailable && o->epoch != w->sim->server.epoch &&
        o->revision > w->sim->server.restored && o->revision <= w->sim->server.revision)
        path_taken(w->sim, PATH_VERSION_REUSED);
    if (request->has_limit && request->limit != o->page_objects)
        sim_fail(w->sim, "%s: a list of %u objects a page, it should be %u", name(w),
                 request->limit, o->page_objects);
    o->list_paged = request->has_limit;
    o->page_unavailable = o->unavailable || o->pages_only;
    o->listing = true;
    o->shown = 0;
    o->listings++;
}

static void check_watch(struct kube_watch *w, const struct request *request) {
    struct oracle *o = &w->oracle;
    if (!request->watch || request->watch_list)
        sim_fail(w->sim, "%s: lists though a watch must follow", name(w));
    check_version(w, request, "", false);
    o->listing = false;
    if (request->version[0] == '\0' || strcmp(request->version, "0") == 0)
        o->shown = 0; /* it begins with all there is */
    o->watches++;
    if (o->watches > o->listings)
        path_taken(w->sim, PATH_WATCH_AGAIN);
}

/* ---- not too often ---- */

/* Of the last requests, when was the n-th? */
static int64_t asked_ms(const struct oracle *o, uint64_t n) {
    return o->requests_ms[(o->requests - n) % ORACLE_REQUESTS];
}

static void check_haste(struct kube_watch *w) {
    struct oracle *o = &w->oracle;
    int64_t now_ms = sim_now(w->sim);
    int64_t waited_ms = now_ms - o->ended_ms;
    int64_t heed_ms = o->wait_ms < HEED_MS ? o->wait_ms : HEED_MS;
    if (o->requests > 0 && waited_ms < heed_ms)
        sim_fail(w->sim, "%s: asks %lld ms after it was told to wait %lld ms", name(w),
                 (long long)waited_ms, (long long)o->wait_ms);
    if (o->requests > 0 && waited_ms > (heed_ms > LONGEST_WAIT_MS ? heed_ms : LONGEST_WAIT_MS))
        sim_fail(w->sim, "%s: asked nothing for %lld ms", name(w), (long long)waited_ms);
    if (o->next == NEXT_PAGE)
        return;
    o->requests_ms[o->requests++ % ORACLE_REQUESTS] = now_ms;
    if (o->requests >= ORACLE_REQUESTS && now_ms - asked_ms(o, ORACLE_REQUESTS) < MINUTE_MS)
        sim_fail(w->sim, "%s: %d requests within %lld ms", name(w), ORACLE_REQUESTS,
                 (long long)(now_ms - asked_ms(o, ORACLE_REQUESTS)));
    if (o->requests > FAILING_REQUESTS && o->failing_since_ms != INT64_MAX &&
        asked_ms(o, FAILING_REQUESTS + 1) >= o->failing_since_ms + FAILING_MS &&
        now_ms - asked_ms(o, FAILING_REQUESTS + 1) < MINUTE_MS)
        sim_fail(w->sim, "%s: %d requests a minute though it fails since %lld ms", name(w),
                 FAILING_REQUESTS, (long long)(now_ms - o->failing_since_ms));
}

void oracle_request(struct kube_watch *w, const struct request *request) {
    struct oracle *o = &w->oracle;
    bool begins = o->next == NEXT_LISTING || o->next == NEXT_WHOLE;
    check_haste(w);
    if (o->next == NEXT_WATCH) {
        check_watch(w, request);
    } else if (o->next == NEXT_PAGE) {
        if (strcmp(request->token, o->token) != 0 || request->has_limit != o->list_paged)
            sim_fail(w->sim, "%s: the next page is not asked for as it was offered", name(w));
        path_taken(w->sim, PATH_NEXT_PAGE);
    } else if (request->token[0] != '\0' || (request->watch && !request->watch_list)) {
        sim_fail(w->sim, "%s: a listing must begin", name(w));
    } else {
        check_listing(w, request);
    }
    if (o->begun != (begins ? 1 : 0))
        sim_fail(w->sim, "%s: sync_begin was called %u times", name(w), o->begun);
    o->begun = o->aborted = 0;
    o->wait_ms = 0;
    o->began_ms = sim_now(w->sim);
    o->heard = o->before = 0;
    o->line = 0;
    o->fatal = OUTCOME_NONE;
}

/* ---- what must be told ---- */

void oracle_hear(struct kube_watch *w, uint64_t heard) {
    w->oracle.heard = heard;
}

/* A version that the reflector then knows; never an older one of the same history. */
static void know(struct kube_watch *w, uint64_t revision) {
    struct oracle *o = &w->oracle;
    o->revision = revision;
    o->epoch = w->sim->server.epoch;
    o->known = true;
}

static const struct line *next_line(const struct kube_watch *w) {
    const struct oracle *o = &w->oracle;
    const struct answer *a = &w->answer;
    bool more =
        o->fatal == OUTCOME_NONE && o->line < a->line_count && a->lines[o->line].end <= o->heard;
    return more ? &a->lines[o->line] : NULL;
}

static void pass(struct kube_watch *w, const struct line *line) {
    w->oracle.before = line->end;
    w->oracle.line++;
}

static bool counts(const struct line *line) {
    return line->kind == LINE_CHANGE && !line->changed;
}

/* One object more than there may be, or an empty page that is not the last? */
static bool is_one_too_many(const struct kube_watch *w, const struct line *line) {
    const struct oracle *o = &w->oracle;
    bool empty = line->kind == LINE_LIST_END && line->paged && o->line == 0;
    return (counts(line) || empty) && o->shown >= ORACLE_LISTED;
}

/* Goes past what the sink need not hear of; the line that comes then, or NULL. */
static const struct line *skip_to_told(struct kube_watch *w) {
    struct oracle *o = &w->oracle;
    const struct line *line;
    while ((line = next_line(w)) != NULL) {
        bool ends_listing = line->initial_end && o->listing;
        if (is_one_too_many(w, line)) {
            o->fatal = OUTCOME_ENDLESS;
            return NULL;
        }
        o->shown += line->kind == LINE_LIST_END && line->paged && o->line == 0;
        if (line->kind == LINE_CHANGE || ends_listing)
            return line;
        if (line->kind == LINE_LIST_END && !line->paged)
            return line;
        if (line->kind == LINE_BOOKMARK && !o->listing)
            know(w, line->revision);
        o->bookmarks += line->kind == LINE_BOOKMARK;
        if (line->kind == LINE_FATAL) {
            o->fatal = line->outcome;
            o->wait_ms = line->wait_ms;
            return NULL;
        }
        pass(w, line);
    }
    return NULL;
}

const struct line *oracle_told(struct kube_watch *w, bool exists, struct str object) {
    const struct line *line = skip_to_told(w);
    const struct answer *a = &w->answer;
    if (line == NULL || line->kind != LINE_CHANGE || line->exists != exists)
        return NULL;
    struct str want = {a->bytes.p + (line->object - a->base), line->object_n};
    return str_eq(want, object) ? line : NULL;
}

void oracle_taken(struct kube_watch *w, const struct line *line, int result) {
    struct oracle *o = &w->oracle;
    bool refused = line->thing.bulk == BULK_REFUSED && line->exists;
    if (line->thing.bulk == BULK_LARGE && result == 0 && w->answer.request.watch)
        path_taken(w->sim, PATH_LARGE_HEARD);
    if (result == -ENOMEM) {
        o->fatal = OUTCOME_NO_MEMORY;
        return;
    }
    if ((result != 0) != refused)
        sim_fail(w->sim, "%s: the sink answers %d to slot %u", name(w), result, line->slot);
    o->refused += refused;
    o->shown += counts(line);
    o->shown -= !line->exists && !o->listing && o->shown > 0;
    o->events++;
    if (!o->listing)
        know(w, line->revision);
    pass(w, line);
}

static void check_not_back(struct kube_watch *w, uint64_t revision) {
    const struct oracle *o = &w->oracle;
    if (o->known && o->epoch == w->sim->server.epoch && revision < o->revision)
        sim_fail(w->sim, "%s: a listing went back in time from %llu to %llu", name(w),
                 (unsigned long long)o->revision, (unsigned long long)revision);
}

void oracle_sync_end(struct kube_watch *w) {
    struct oracle *o = &w->oracle;
    const struct line *line = skip_to_told(w);
    if (line == NULL || line->kind == LINE_CHANGE) {
        sim_fail(w->sim, "%s: sync_end though the listing goes on", name(w));
        return;
    }
    bool list = line->kind == LINE_LIST_END;
    uint64_t revision = list && o->next == NEXT_PAGE ? o->list_revision : line->revision;
    check_not_back(w, revision);
    know(w, revision);
    o->bookmarks += line->kind == LINE_BOOKMARK;
    o->synced = true;
    o->page_objects = o->page_objects * 2 < 500 ? o->page_objects * 2 : 500;
    o->unavailable = o->listing = o->plain = false;
    o->next = NEXT_WATCH;
    path_taken(w->sim, list ? PATH_SYNCED_BY_LIST : PATH_SYNCED_BY_WATCH_LIST);
    pass(w, line);
}

void oracle_sync_abort(struct kube_watch *w) {
    struct oracle *o = &w->oracle;
    (void)skip_to_told(w); /* nothing more is told of a page */
    if (o->fatal != OUTCOME_ENDLESS)
        sim_fail(w->sim, "%s: a listing is given up after %u objects, %s", name(w), o->shown,
                 outcome_name(o->fatal));
    o->aborted++;
    path_taken(w->sim, PATH_ENDLESS);
}

void oracle_heard(struct kube_watch *w) {
    struct oracle *o = &w->oracle;
    const struct line *line = skip_to_told(w);
    if (line != NULL)
        sim_fail(w->sim, "%s: %s of slot %u was not told", name(w),
                 line->kind == LINE_CHANGE ? "an event" : "the end of the listing", line->slot);
    if (o->fatal == OUTCOME_NONE && o->heard - o->before > LIMIT_KUBE_EVENT)
        o->fatal = OUTCOME_OVERSIZED;
}

void oracle_enough(struct kube_watch *w) {
    if (w->answer.status == 200 && w->answer.sent > LIMIT_KUBE_PAGE)
        w->oracle.fatal = OUTCOME_OVERSIZED;
    else
        sim_fail(w->sim, "%s: the reflector has enough of a good answer", name(w));
}

/* ---- what follows ---- */

static enum outcome judge_page(struct kube_watch *w) {
    struct oracle *o = &w->oracle;
    const struct line *line = skip_to_told(w);
    if (line != NULL) {
        sim_fail(w->sim, "%s: an item of a list, slot %u, was not told", name(w), line->slot);
        return OUTCOME_GARBLED;
    }
    if (o->fatal != OUTCOME_NONE)
        return o->fatal;
    return o->listing ? OUTCOME_PAGE : OUTCOME_LISTED;
}

static enum outcome judge(struct kube_watch *w, int error) {
    const struct oracle *o = &w->oracle;
    const struct answer *a = &w->answer;
    if (a->error != 0)
        return OUTCOME_UNREACHED;
    if (a->status != 200)
        return a->refusal;
    if (o->fatal != OUTCOME_NONE)
        return o->fatal;
    if (!a->request.watch && error == 0)
        return judge_page(w);
    return error == -ETIMEDOUT ? OUTCOME_SILENT : OUTCOME_ENDED;
}

/* A watch that was over at once was none, so the server may have been another one meanwhile. */
static void after_watch(struct kube_watch *w, enum outcome outcome) {
    enum { AT_ONCE_MS = 1000 };
    struct oracle *o = &w->oracle;
    bool none = o->line == 0 && sim_now(w->sim) - o->began_ms < AT_ONCE_MS;
    if (outcome == OUTCOME_BUSY || (outcome == OUTCOME_ENDED && !none))
        return;
    o->next = NEXT_LISTING;
    /* in pages, "at a version" means exactly this one: the same event would come again */
    bool again =
        outcome == OUTCOME_GARBLED || outcome == OUTCOME_OVERSIZED || outcome == OUTCOME_NO_MEMORY;
    o->unavailable = outcome == OUTCOME_TOO_NEW || (o->paginated && again);
}

/* Perhaps the server, or something in front of it, only cannot do this. */
static bool speaks_against_watch_list(enum outcome outcome) {
    return outcome == OUTCOME_ENDED || outcome == OUTCOME_SILENT || outcome == OUTCOME_ERROR ||
           outcome == OUTCOME_GARBLED || outcome == OUTCOME_OVERSIZED ||
           outcome == OUTCOME_ENDLESS || outcome == OUTCOME_UNSUPPORTED;
}

static void after_listing(struct kube_watch *w, enum outcome outcome) {
    struct oracle *o = &w->oracle;
    const struct answer *a = &w->answer;
    bool later_page = a->request.token[0] != '\0' && o->list_paged;
    if (outcome == OUTCOME_LISTED)
        return;
    o->plain = a->request.watch_list && speaks_against_watch_list(outcome);
    o->no_watch_list |= a->request.watch_list && outcome == OUTCOME_UNSUPPORTED;
    if (outcome == OUTCOME_PAGE) {
        const struct line *end = &a->lines[a->line_count - 1];
        if (a->request.token[0] == '\0')
            o->list_revision = end->revision;
        if (a->request.token[0] == '\0' && !o->page_unavailable)
            o->paginated = true;
        (void)snprintf(o->token, sizeof o->token, "%s", a->token);
        o->next = NEXT_PAGE;
        return;
    }
    o->next = NEXT_LISTING;
    if (outcome == OUTCOME_EXPIRED && later_page)
        o->next = NEXT_WHOLE;
    else if (outcome == OUTCOME_EXPIRED || outcome == OUTCOME_TOO_NEW)
        o->unavailable = true;
}

static void judge_health(struct kube_watch *w, enum outcome outcome) {
    struct oracle *o = &w->oracle;
    int64_t now_ms = sim_now(w->sim);
    bool progress = outcome == OUTCOME_PAGE || outcome == OUTCOME_LISTED;
    int64_t lived_ms = o->listing ? 0 : now_ms - o->began_ms;
    if (outcome == OUTCOME_ENDED && lived_ms >= GOOD_WATCH_MS)
        o->failing_since_ms = INT64_MAX;
    else if (!progress && (o->failing_since_ms == INT64_MAX || lived_ms >= LONG_WATCH_MS))
        o->failing_since_ms = now_ms;
    o->ended_ms = now_ms;
    if (w->answer.status != 200)
        o->wait_ms = outcome == OUTCOME_BUSY ? w->answer.wait_ms : 0;
}

void oracle_ended(struct kube_watch *w, int error) {
    struct oracle *o = &w->oracle;
    bool watched = w->answer.request.watch && !o->listing;
    enum outcome outcome = judge(w, error);
    sim_trace(w->sim, "%s: %s", name(w), outcome_name(outcome));
    if (o->aborted != (outcome == OUTCOME_ENDLESS ? 1 : 0))
        sim_fail(w->sim, "%s: sync_abort was called %u times", name(w), o->aborted);
    bool too_large = outcome == OUTCOME_OVERSIZED && !w->answer.request.watch;
    too_large = too_large && o->pages_only && w->answer.request.has_limit && o->page_objects > 1;
    if (too_large) {
        o->page_objects /= 2;
        path_taken(w->sim, PATH_PAGE_HALVED);
    }
    if (outcome == OUTCOME_OVERSIZED && !w->answer.request.watch)
        o->pages_only = true;
    if (too_large && w->answer.request.token[0] != '\0')
        o->next = NEXT_PAGE; /* the same one */
    else if (watched)
        after_watch(w, outcome);
    else
        after_listing(w, outcome);
    judge_health(w, outcome);
}

/*
 * Decides the next request. The three requests and their order:
 *
 *     watch-list --(marker)--> watch --(end, cut, 429)--> watch
 *         |  ^                   |
 *   not known|            410, error, server was away or silent, over at once
 *   or no mark                   v
 *         v  |            back to watch-list (or list)
 *        list --(last page)--> watch
 *
 * Differences from client-go: after a server could not be reached at all, or was silent for longer
 * than its bookmarks take, we list at the known version instead of only watching from it. The
 * server may have been restored from a backup: then a watch from a version in its future is silent
 * for ever, while a listing fails. Several watches in a row that are shorter than a second cause a
 * back-off, even if they bring events. A Retry-After counts up to RETRY_AFTER_MS.
 */
#include "base/back_off.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/random.h"
#include "kube/watch/reflector_internal.h"

#include <errno.h>
#include <stdlib.h>

enum {
    BACKOFF_MS = 800,
    BACKOFF_MAX_MS = 30000,
    BACKOFF_RESET_MS = 120000, /* the back-off starts anew after this time without an error */
    RETRY_AFTER_MS = 120000,   /* a longer Retry-After is cut to this */
    QUICK_RETRIES = 2,         /* retries in a row without a wait */
    SHORT_WATCH_MS = 1000,     /* a watch that ends sooner and brings nothing is an error */
    WATCH_MIN_S = 300,         /* watches ask for 300 to 600 s */
    WATCH_GRACE_MS = 30000,    /* a watch is given up this long after the time that it asked for */
    WATCH_SILENCE_MS = 180000, /* three bookmarks are missing: the peer is not the API server */
    LIST_TIMEOUT_MS = 300000,  /* for one page */
    LIST_SILENCE_MS = 60000,
    ABSENT_MS = 30000,      /* wait between two requests for an absent kind; a random time up to the
                               same length is added */
    ERROR_BYTES = 64 << 10, /* bytes that are read of an error answer */
    VERSION_BYTES = 4096,
    OBJECT_ARENA = 4 << 20,
};

int reflector_new(const struct reflector_options *options, struct reflector **ret,
                  struct err *err) {
    struct reflector *r = calloc(1, sizeof *r);
    if (r == NULL)
        return err_set(err, -ENOMEM, "no memory to watch %s", options->resource);
    *r = (struct reflector){.options = *options,
                            .random = options->seed,
                            .page_objects = LIMIT_KUBE_PAGE_OBJECTS,
                            .version = {.max = VERSION_BYTES},
                            .list_version = {.max = VERSION_BYTES},
                            .token = {.max = 4 * VERSION_BYTES},
                            .path = {.max = 16 * VERSION_BYTES},
                            .in = {.max = LIMIT_KUBE_PAGE},
                            .reason = {.max = VERSION_BYTES},
                            .wait_until_ms = INT64_MIN,
                            .troubled_ms = INT64_MIN,
                            .stats = {.heard_ms = INT64_MIN, .changed_ms = INT64_MIN}};
    if (r->options.max_objects == 0)
        r->options.max_objects = LIMIT_LISTED;
    arena_init(&r->arena, OBJECT_ARENA);
    *ret = r;
    return 0;
}

void reflector_free(struct reflector *r) {
    if (r == NULL)
        return;
    strbuf_done(&r->version);
    strbuf_done(&r->list_version);
    strbuf_done(&r->token);
    strbuf_done(&r->path);
    strbuf_done(&r->in);
    strbuf_done(&r->reason);
    arena_done(&r->arena);
    free(r);
}

void reflector_stats(const struct reflector *r, struct reflector_stats *ret) {
    *ret = r->stats;
}

void reflector_keep(struct strbuf *to, struct str text) {
    strbuf_clear(to);
    strbuf_append_str(to, text);
}

void reflector_say(struct reflector *r, struct str what) {
    reflector_keep(&r->reason, (struct str){what.p, what.n < 300 ? what.n : 300});
}

/* ---- asking ---- */

static void append_escaped(struct strbuf *out, struct str text) {
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_' || c == '.' || c == '~';
        if (plain)
            strbuf_append_char(out, (char)c);
        else
            strbuf_appendf(out, "%%%02X", c);
    }
}

/* Returns the version to list at: ours, so that we never go back in time; the newest if the server
 * does not have ours; any version the first time. */
static struct str listing_version(const struct reflector *r, const char *first) {
    if (r->version_unavailable || (r->pages_only && r->request == REQUEST_LIST))
        return STR("");
    return r->version.n > 0 ? strbuf_str(&r->version) : str_of(first);
}

static void ask_list(struct reflector *r) {
    struct str version = listing_version(r, "0");
    bool at_version = version.n > 0 && !str_eq(version, STR("0"));
    bool pages = !r->whole && (!at_version || r->paginated);
    if (pages)
        strbuf_appendf(&r->path, "limit=%u&", r->page_objects);
    if (r->token.n > 0) { /* later pages have the version of the first one */
        strbuf_append_str(&r->path, STR("continue="));
        append_escaped(&r->path, strbuf_str(&r->token));
    } else {
        strbuf_append_str(&r->path, STR("resourceVersion="));
        append_escaped(&r->path, version);
    }
}

static void ask_watch(struct reflector *r, uint64_t seconds) {
    bool list = r->request == REQUEST_WATCH_LIST;
    struct str version = list ? listing_version(r, "") : strbuf_str(&r->version);
    r->initial = !list && (version.n == 0 || str_eq(version, STR("0")));
    if (r->initial)
        r->shown = 0; /* the stream begins with all existing objects */
    strbuf_appendf(&r->path, "watch=1&allowWatchBookmarks=true&timeoutSeconds=%llu",
                   (unsigned long long)seconds);
    if (list)
        strbuf_append_str(&r->path,
                          STR("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
    strbuf_append_str(&r->path, STR("&resourceVersion="));
    append_escaped(&r->path, version);
}

/* Begins a listing anew: objects reported since its last beginning no longer count. */
static void begin_listing(struct reflector *r) {
    r->syncing = true;
    r->shown = 0;
    r->stats.listings++;
    r->options.sink.sync_begin(r->options.sink.ctx);
}

static struct reflector_next wait_ms(int64_t ms) {
    return (struct reflector_next){.step = REFLECTOR_WAIT, .wait_ms = ms};
}

void reflector_next(struct reflector *r, int64_t now_ms, struct reflector_next *ret) {
    if (now_ms < r->wait_until_ms) {
        *ret = wait_ms(r->wait_until_ms - now_ms);
        return;
    }
    if (r->request == REQUEST_WATCH_LIST && r->no_watch_list)
        r->request = REQUEST_LIST;
    if (r->request == REQUEST_WATCH)
        r->stats.watches++;
    else if (r->request == REQUEST_WATCH_LIST || r->token.n == 0)
        begin_listing(r);
    uint64_t seconds = WATCH_MIN_S + random_below(&r->random, WATCH_MIN_S + 1);
    const char *query = r->options.query != NULL ? r->options.query : "";
    strbuf_clear(&r->path);
    strbuf_appendf(&r->path, "%s?%s%s", r->options.path, query, query[0] != '\0' ? "&" : "");
    if (r->request == REQUEST_LIST)
        ask_list(r);
    else
        ask_watch(r, seconds);
    strbuf_append_char(&r->path, '\0');
    if (strbuf_failed(&r->path)) {
        LOG_W("no memory for a request", LOG_CSTR("resource", r->options.resource),
              LOG_CSTR_IF("role", r->options.role));
        *ret = wait_ms(BACKOFF_MAX_MS);
        return;
    }
    r->began_ms = now_ms;
    r->status = 0;
    r->lines = 0;
    r->problem = PROBLEM_NONE;
    r->retry_after_ms = -1;
    r->searched = 0;
    strbuf_clear(&r->in);
    strbuf_clear(&r->reason);
    bool list = r->request == REQUEST_LIST;
    *ret = (struct reflector_next){.step = REFLECTOR_GET,
                                   .path = r->path.p,
                                   .timeout_ms = list ? LIST_TIMEOUT_MS
                                                      : (int64_t)seconds * 1000 + WATCH_GRACE_MS,
                                   .silence_ms = list ? LIST_SILENCE_MS : WATCH_SILENCE_MS};
}

/* ---- receiving ---- */

void reflector_on_head(struct reflector *r, int64_t now_ms, int status) {
    r->status = status;
    if (status == 200)
        r->stats.heard_ms = now_ms;
}

int reflector_on_data(struct reflector *r, int64_t now_ms, struct str bytes) {
    if (r->status != 200) { /* the body of an error: its beginning is enough */
        size_t room = r->in.n < ERROR_BYTES ? ERROR_BYTES - r->in.n : 0;
        strbuf_append(&r->in, bytes.p, bytes.n < room ? bytes.n : room);
        return 0;
    }
    r->stats.heard_ms = now_ms;
    if (r->request == REQUEST_LIST && r->in.n + bytes.n > LIMIT_KUBE_PAGE) {
        reflector_say(r, STR("a page larger than the limit"));
        r->problem = PROBLEM_OVERSIZED;
        return 1;
    }
    strbuf_append_str(&r->in, bytes);
    if (strbuf_failed(&r->in)) {
        reflector_say(r, STR("no memory for an answer"));
        r->problem = PROBLEM_MEMORY;
    } else if (r->request != REQUEST_LIST) {
        reflector_read_lines(r, now_ms);
    }
    return r->problem != PROBLEM_NONE;
}

/* ---- what follows ---- */

static void at_once(struct reflector *r, int64_t now_ms) {
    r->wait_until_ms = now_ms;
}

/* Only time without errors resets the back-off; waiting does not count. */
static void forgive(struct reflector *r, int64_t now_ms) {
    if (r->troubled_ms != INT64_MIN && now_ms - r->troubled_ms > BACKOFF_RESET_MS)
        r->failures = r->quick = 0;
}

/* Waits at least for the server's Retry-After, up to a limit: no server may stop us for days. */
static void back_off(struct reflector *r, int64_t now_ms) {
    static const struct back_off b = {BACKOFF_MS, BACKOFF_MAX_MS, .jitter_percent = 100};
    forgive(r, now_ms);
    int64_t delay_ms = back_off_ms(&b, r->failures++, &r->random);
    int64_t wish_ms = r->retry_after_ms < RETRY_AFTER_MS ? r->retry_after_ms : RETRY_AFTER_MS;
    if (delay_ms < wish_ms)
        delay_ms = wish_ms;
    r->wait_until_ms = r->troubled_ms = now_ms + delay_ms;
}

/* Tries another request without waiting, but not for ever: a server may list well and refuse every
 * watch. */
static void quickly(struct reflector *r, int64_t now_ms) {
    forgive(r, now_ms);
    if (r->quick == QUICK_RETRIES) {
        back_off(r, now_ms);
        return;
    }
    r->quick++;
    r->troubled_ms = now_ms;
    at_once(r, now_ms);
}

static void list_anew(struct reflector *r) {
    r->request = REQUEST_WATCH_LIST;
    r->whole = false;
    strbuf_clear(&r->token);
}

void reflector_synced(struct reflector *r, int64_t now_ms, struct str version) {
    reflector_keep(&r->version, version);
    r->version_unavailable = false;
    r->syncing = false;
    r->stats.synced = r->stats.known = true;
    r->stats.absent = false;
    r->stats.changed_ms = now_ms;
    r->request = REQUEST_WATCH;
    strbuf_clear(&r->token);
    r->whole = false;
    r->page_objects *= 2; /* objects may be smaller the next time */
    if (r->page_objects > LIMIT_KUBE_PAGE_OBJECTS)
        r->page_objects = LIMIT_KUBE_PAGE_OBJECTS;
    r->options.sink.sync_end(r->options.sink.ctx);
}

/* Call it if the server does not have our version: the next listing is at the newest version. */
static void without_version(struct reflector *r, int64_t now_ms) {
    r->stats.expired++;
    bool known = !r->version_unavailable;
    r->version_unavailable = true;
    list_anew(r);
    if (known)
        quickly(r, now_ms);
    else
        back_off(r, now_ms);
}

/* Call it if the server does not know the resource. This counts as an empty listing, and is logged
 * only once. */
static void without_resource(struct reflector *r, int64_t now_ms) {
    if (!r->stats.absent)
        LOG_I("the API server does not know this resource; asking again now and then",
              LOG_CSTR("resource", r->options.resource), LOG_CSTR_IF("role", r->options.role));
    r->stats.absent = r->stats.synced = true;
    r->stats.heard_ms = r->stats.changed_ms = now_ms;
    r->failures = r->quick = 0;
    r->syncing = false;
    list_anew(r);
    r->wait_until_ms = now_ms + ABSENT_MS + (int64_t)random_below(&r->random, ABSENT_MS);
    r->options.sink.sync_end(r->options.sink.ctx);
}

/* Asks for the page again with half as many objects; earlier pages are kept. A list that was to
 * come in one answer begins anew, in pages. */
static void after_large_page(struct reflector *r, int64_t now_ms) {
    if (r->pages_only && !r->whole && r->page_objects > 1) {
        r->page_objects /= 2;
        if (r->token.n == 0)
            list_anew(r);
        r->request = REQUEST_LIST;
        at_once(r, now_ms);
    } else if (!r->pages_only) {
        list_anew(r);
        r->request = REQUEST_LIST;
        r->pages_only = true;
        quickly(r, now_ms);
    } else { /* one object, larger than any real one, or pages that expire */
        list_anew(r);
        r->request = REQUEST_LIST;
        back_off(r, now_ms);
    }
}

static void after_list(struct reflector *r, int64_t now_ms, enum problem problem) {
    switch (problem) {
    case PROBLEM_ABSENT:
        without_resource(r, now_ms);
        return;
    case PROBLEM_EXPIRED:
        if (r->token.n > 0 && !r->whole) { /* the pages took too long: ask for one answer */
            r->stats.expired++;
            strbuf_clear(&r->token);
            r->whole = true;
            quickly(r, now_ms);
            return;
        }
        __attribute__((fallthrough));
    case PROBLEM_TOO_NEW:
        without_version(r, now_ms);
        r->request = REQUEST_LIST;
        return;
    case PROBLEM_OVERSIZED:
        after_large_page(r, now_ms);
        return;
    default:
        list_anew(r);
        back_off(r, now_ms);
    }
}

static void after_watch_list(struct reflector *r, int64_t now_ms, enum problem problem) {
    list_anew(r);
    switch (problem) {
    case PROBLEM_ABSENT:
        without_resource(r, now_ms);
        return;
    case PROBLEM_EXPIRED:
    case PROBLEM_TOO_NEW:
        without_version(r, now_ms);
        return;
    case PROBLEM_UNSUPPORTED:
        r->no_watch_list = true;
        quickly(r, now_ms);
        return;
    case PROBLEM_OVERSIZED: /* a page may be larger than an event */
        r->request = REQUEST_LIST;
        quickly(r, now_ms);
        return;
    case PROBLEM_CUT: /* perhaps the server treats this as a watch, and never marks the end */
    case PROBLEM_ENDLESS:
    case PROBLEM_SILENT:
    case PROBLEM_UNREMOVED:
    case PROBLEM_SERVER:
    case PROBLEM_GARBLED: /* perhaps garbled only for this kind of request */
        r->request = REQUEST_LIST;
        back_off(r, now_ms);
        return;
    default:
        back_off(r, now_ms);
    }
}

static void after_watch(struct reflector *r, int64_t now_ms, enum problem problem) {
    if (strbuf_failed(&r->version)) { /* no memory for the version, or longer than any real version
                                       */
        r->version_unavailable = true;
        problem = PROBLEM_MEMORY;
    }
    switch (problem) {
    case PROBLEM_NONE:
    case PROBLEM_CUT:
        if (now_ms - r->began_ms >= SHORT_WATCH_MS) {
            at_once(r, now_ms);
        } else if (r->lines > 0) {
            quickly(r, now_ms);
        } else {
            r->stats.errors++; /* the end of a watch was not counted as an error before */
            list_anew(r);
            back_off(r, now_ms);
        }
        return;
    case PROBLEM_BUSY:
        back_off(r, now_ms);
        return;
    case PROBLEM_EXPIRED: /* listing at the version may still do: it means "at least as new as this
                             version" */
        r->stats.expired++;
        list_anew(r);
        quickly(r, now_ms);
        return;
    case PROBLEM_TOO_NEW:
        without_version(r, now_ms);
        return;
    case PROBLEM_GARBLED:
    case PROBLEM_OVERSIZED:
    case PROBLEM_MEMORY: /* a paged list has exactly the wanted version, and after it the same event
                            would come again */
        r->version_unavailable = r->version_unavailable || r->paginated;
        list_anew(r);
        back_off(r, now_ms);
        return;
    default:
        list_anew(r);
        back_off(r, now_ms);
    }
}

/* Handles a whole page: goes on to the next page, or ends the listing. */
static enum problem take_page(struct reflector *r, int64_t now_ms) {
    struct str version = {0}, token = {0};
    bool first = r->token.n == 0;
    enum problem problem = reflector_read_page(r, &version, &token);
    if (problem == PROBLEM_NONE && !first && str_eq(token, strbuf_str(&r->token))) {
        reflector_say(r, STR("the same page again"));
        problem = PROBLEM_GARBLED;
    }
    if (problem == PROBLEM_NONE) {
        if (first)
            reflector_keep(&r->list_version, version);
        if (first && token.n > 0 && !r->pages_only && !r->version_unavailable)
            r->paginated = true;
        reflector_keep(&r->token, token);
        r->stats.changed_ms = now_ms;
        at_once(r, now_ms);
        if (strbuf_failed(&r->list_version) || strbuf_failed(&r->token))
            problem = PROBLEM_MEMORY;
        else if (token.n == 0)
            reflector_synced(r, now_ms, strbuf_str(&r->list_version));
    }
    arena_reset(&r->arena);
    strbuf_done(&r->in); /* a page may be large; the next request starts small */
    return problem;
}

static enum problem judge_end(struct reflector *r, int64_t now_ms, int error) {
    if (r->problem != PROBLEM_NONE)
        return r->problem;
    if (r->status == 0)
        return PROBLEM_UNREACHED;
    if (r->status == 200 && r->request == REQUEST_LIST && error == 0)
        return take_page(r, now_ms);
    if (r->status == 200 && error == -ETIMEDOUT)
        return PROBLEM_SILENT;
    if (r->status == 200)
        return error == 0 && r->in.n == 0 && r->request == REQUEST_WATCH ? PROBLEM_NONE
                                                                         : PROBLEM_CUT;
    struct kube_status status;
    kube_status_read(strbuf_str(&r->in), r->status, &r->arena, &status);
    enum problem problem = reflector_classify(r, &status);
    arena_reset(&r->arena);
    return problem;
}

/* If the server does not know watch-lists, we ask for a list at once: that is no error. */
static bool is_error(enum request request, enum problem problem) {
    return problem != PROBLEM_NONE && problem != PROBLEM_CUT && problem != PROBLEM_ABSENT &&
           !(request == REQUEST_WATCH_LIST && problem == PROBLEM_UNSUPPORTED);
}

bool reflector_unanswered(const struct reflector *r) {
    return r->ended.problem == PROBLEM_UNREACHED || r->ended.problem == PROBLEM_SILENT;
}

void reflector_log_end(const struct reflector *r, int64_t now_ms, const char *error_text) {
    static const char *const requests[] = {"watch-list", "list", "watch"};
    const enum problem problem = r->ended.problem;
    if (problem == PROBLEM_NONE || problem == PROBLEM_ABSENT ||
        (problem == PROBLEM_CUT && r->wait_until_ms <= now_ms))
        return; /* watches always end after some minutes */
    struct str why = r->reason.n > 0 ? strbuf_str(&r->reason) : str_of(error_text);
    LOG_W("API server: trying again", LOG_CSTR("resource", r->options.resource),
          LOG_CSTR_IF("role", r->options.role), LOG_CSTR("request", requests[r->ended.request]),
          LOG_INT("status", r->status),
          LOG_INT("wait_ms", r->wait_until_ms > now_ms ? r->wait_until_ms - now_ms : 0),
          LOG_STR("err", why));
}

void reflector_hurry(struct reflector *r, int64_t now_ms, int64_t within_ms) {
    if (r->wait_until_ms > now_ms + within_ms)
        r->wait_until_ms = now_ms + within_ms;
}

void reflector_on_end(struct reflector *r, int64_t now_ms, int error, int64_t retry_after_ms) {
    if (r->retry_after_ms < retry_after_ms)
        r->retry_after_ms = retry_after_ms;
    enum request request = r->request;
    enum problem problem = judge_end(r, now_ms, error);
    if (is_error(request, problem))
        r->stats.errors++;
    if (problem == PROBLEM_ENDLESS && r->options.sink.sync_abort != NULL)
        r->options.sink.sync_abort(r->options.sink.ctx); /* otherwise the next listing would add to
                                                            this one */
    if (request == REQUEST_LIST && problem != PROBLEM_NONE)
        after_list(r, now_ms, problem);
    else if (request == REQUEST_WATCH_LIST)
        after_watch_list(r, now_ms, problem);
    else if (request == REQUEST_WATCH)
        after_watch(r, now_ms, problem);
    r->ended.request = request;
    r->ended.problem = problem;
}

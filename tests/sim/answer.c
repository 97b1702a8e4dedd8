#include "sim/answer.h"

#include "base/limits.h"
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { AGES_S = 1000000000, WAIT_FOR_VERSION_MS = 3000 };

const char *outcome_name(enum outcome outcome) {
    static const char *const names[] = {
        "none", "ended",       "page",  "listed",  "unreached", "silent",  "expired",   "too new",
        "busy", "unsupported", "error", "garbled", "oversized", "endless", "no memory",
    };
    return names[outcome];
}

/* ---- requests ---- */

static int hex(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undoes percent escapes; what need not be escaped must not be anything but plain. */
static bool unescape(struct str text, char *ret, size_t room) {
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            if (i + 2 >= text.n || hex(text.p[i + 1]) < 0 || hex(text.p[i + 2]) < 0)
                return false;
            c = (char)(hex(text.p[i + 1]) * 16 + hex(text.p[i + 2]));
            i += 2;
        } else if (strchr("+ \"<>#&=?/\\", c) != NULL || (unsigned char)c > '~') {
            return false;
        }
        if (n + 1 >= room)
            return false;
        ret[n++] = c;
    }
    ret[n] = '\0';
    return true;
}

/* What a query says, as far as it was read. */
struct query {
    bool bookmarks, initial, not_older, selector, odd;
};

static void read_parameter(struct str key, const char *value, struct request *request,
                           struct query *query) {
    if (str_eq(key, STR("watch")))
        request->watch = strcmp(value, "1") == 0;
    else if (str_eq(key, STR("allowWatchBookmarks")))
        query->bookmarks = strcmp(value, "true") == 0;
    else if (str_eq(key, STR("sendInitialEvents")))
        query->initial = strcmp(value, "true") == 0;
    else if (str_eq(key, STR("resourceVersionMatch")))
        query->not_older = strcmp(value, "NotOlderThan") == 0;
    else if (str_eq(key, STR("timeoutSeconds")))
        request->timeout_s = (int64_t)strtoll(value, NULL, 10);
    else if (str_eq(key, STR("fieldSelector")))
        query->selector = strcmp(value, "status.phase!=Succeeded,status.phase!=Failed") == 0;
    else if (str_eq(key, STR("limit")))
        request->has_limit = (request->limit = (uint32_t)strtoul(value, NULL, 10)) > 0;
    else if (str_eq(key, STR("resourceVersion")))
        request->has_version =
            snprintf(request->version, sizeof request->version, "%s", value) >= 0;
    else if (str_eq(key, STR("continue")))
        query->odd |= snprintf(request->token, sizeof request->token, "%s", value) == 0;
    else
        query->odd = true;
}

bool request_parse(const char *path, enum object_kind kind, struct request *ret) {
    struct str rest = str_of(path);
    struct query query = {.odd = false};
    size_t end = str_find(rest, '?');
    *ret = (struct request){.kind = kind};
    if (end == SIZE_MAX || !str_eq((struct str){path, end}, str_of(thing_path(kind))))
        return false;
    while (end < rest.n) {
        char value[128];
        rest = (struct str){rest.p + end + 1, rest.n - end - 1};
        end = str_find(rest, '&');
        if (end == SIZE_MAX)
            end = rest.n;
        size_t equals = str_find(rest, '=');
        if (equals >= end ||
            !unescape((struct str){rest.p + equals + 1, end - equals - 1}, value, sizeof value))
            return false;
        read_parameter((struct str){rest.p, equals}, value, ret, &query);
    }
    ret->watch_list = query.initial;
    bool watch_good = query.bookmarks && ret->has_version && !ret->has_limit &&
                      ret->token[0] == '\0' && query.initial == query.not_older &&
                      ret->timeout_s >= 300 && ret->timeout_s <= 600;
    bool list_good = !query.bookmarks && !query.initial && !query.not_older &&
                     ret->timeout_s == 0 && ret->has_version == (ret->token[0] == '\0');
    return !query.odd && query.selector == (kind == OBJECT_POD) &&
           (ret->watch ? watch_good : list_good);
}

/* ---- writing ---- */

void answer_done(struct answer *a) {
    strbuf_done(&a->bytes);
    free(a->lines);
    *a = (struct answer){0};
}

void answer_put(struct answer *a, const char *text) {
    strbuf_append_str(&a->bytes, str_of(text));
}

struct line *answer_line(struct answer *a, enum line_kind kind) {
    if (a->line_count == a->line_cap) {
        a->line_cap = a->line_cap == 0 ? 32 : a->line_cap * 2;
        a->lines = realloc(a->lines, a->line_cap * sizeof *a->lines);
        if (a->lines == NULL)
            abort();
    }
    struct line *line = &a->lines[a->line_count++];
    *line =
        (struct line){.kind = kind, .end = a->base + a->bytes.n, .object_kind = a->request.kind};
    return line;
}

void answer_put_version(const struct sim *s, struct answer *a, uint64_t revision) {
    struct strbuf text = {.max = 4096};
    server_version(&s->server, revision, &text);
    thing_put_string(&a->bytes, strbuf_str(&text));
    strbuf_done(&text);
}

void answer_put_status(struct answer *a, int code, const char *reason, const char *message,
                       const char *cause, int64_t retry_after_s) {
    strbuf_appendf(&a->bytes,
                   "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                   "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"details\":{",
                   message, reason);
    if (cause != NULL)
        strbuf_appendf(&a->bytes,
                       "\"causes\":[{\"reason\":\"Other\"},{\"reason\":\"%s\","
                       "\"message\":\"because\"}],",
                       cause);
    strbuf_appendf(&a->bytes, "\"retryAfterSeconds\":%lld},\"code\":%d}", (long long)retry_after_s,
                   code);
}

void answer_put_object(const struct sim *s, struct answer *a, struct line *line,
                       struct thing_style style) {
    struct strbuf version = {.max = 4096};
    server_version(&s->server, line->revision, &version);
    line->object = a->base + a->bytes.n;
    thing_write(line->object_kind, line->slot, &line->thing, strbuf_str(&version), style,
                &a->bytes);
    line->object_n = (size_t)(a->base + a->bytes.n - line->object);
    strbuf_done(&version);
}

/* ---- refusals ---- */

static void refuse(struct answer *a, int status, enum outcome outcome) {
    a->status = status;
    a->refusal = outcome;
    a->ended = true;
}

static void refuse_status(struct answer *a, enum outcome outcome, int code, const char *reason,
                          const char *message) {
    refuse(a, code, outcome);
    answer_put_status(a, code, reason, message, NULL, 0);
}

static void fail_to_connect(struct sim *s, struct answer *a, int error, int64_t within_ms) {
    a->error = error;
    a->head_ms = sim_now(s) + within_ms;
}

static void ask_to_wait(struct sim *s, struct answer *a, enum fault fault) {
    int64_t seconds = fault == FAULT_429_FOR_AGES ? AGES_S : sim_between(s, 1, 20);
    bool header = fault == FAULT_429_HEADER || (fault == FAULT_429_FOR_AGES && sim_chance(s, 500));
    refuse(a, 429, OUTCOME_BUSY);
    if (header) {
        a->retry_after_ms = seconds * 1000;
        answer_put(a, "Too many requests, please try again later.\n");
    } else {
        answer_put_status(a, 429, "TooManyRequests", "slow down", NULL, seconds);
    }
    a->wait_ms = seconds * 1000;
}

static void refuse_with_page(struct answer *a) {
    refuse(a, 503, OUTCOME_ERROR);
    answer_put(a, "<html><head><title>503</title></head>\n<body>no backend</body></html>\n");
}

static void too_large(struct answer *a, bool cause) {
    refuse(a, 504, OUTCOME_TOO_NEW);
    answer_put_status(a, 504, "Timeout",
                      cause ? "Timeout: nobody knows"
                            : "Too large resource version: 1012, current: 1005",
                      cause ? "ResourceVersionTooLarge" : NULL, 1);
    a->wait_ms = 1000;
}

/* False: the fault is none that is answered with an error. */
static bool refuse_for(struct sim *s, struct answer *a, enum fault fault) {
    switch (fault) {
    case FAULT_REFUSED:
        fail_to_connect(s, a, -ECONNREFUSED, sim_between(s, 0, 5));
        return true;
    case FAULT_UNREACHABLE:
        fail_to_connect(s, a, -ETIMEDOUT, 30000);
        return true;
    case FAULT_NO_HEAD:
        fail_to_connect(s, a, -ECONNRESET, sim_between(s, 0, 2000));
        return true;
    case FAULT_401:
        refuse_status(a, OUTCOME_ERROR, 401, "Unauthorized", "Unauthorized");
        return true;
    case FAULT_403:
        refuse_status(a, OUTCOME_ERROR, 403, "Forbidden", "nodes is forbidden");
        return true;
    case FAULT_404:
        refuse(a, 404, OUTCOME_ERROR);
        answer_put(a, "404 page not found\n");
        return true;
    case FAULT_429:
        refuse(a, 429, OUTCOME_BUSY);
        return true;
    case FAULT_429_HEADER:
    case FAULT_429_BODY:
    case FAULT_429_FOR_AGES:
        ask_to_wait(s, a, fault);
        return true;
    case FAULT_500:
        refuse_status(a, OUTCOME_ERROR, 500, "InternalError", "etcdserver: leader changed");
        return true;
    case FAULT_500_TEXT:
        refuse(a, 500, OUTCOME_ERROR);
        answer_put(a, "stack trace follows\n\tat line 1\n");
        return true;
    case FAULT_503_HTML:
        refuse_with_page(a);
        return true;
    case FAULT_504:
        refuse_status(a, OUTCOME_ERROR, 504, "Timeout", "the request did not end in time");
        return true;
    case FAULT_400:
        refuse_status(a, OUTCOME_UNSUPPORTED, 400, "BadRequest", "unknown");
        return true;
    case FAULT_422:
        refuse_status(a, OUTCOME_UNSUPPORTED, 422, "Invalid", "sendInitialEvents: Forbidden");
        return true;
    case FAULT_410:
        refuse_status(a, OUTCOME_EXPIRED, 410, "Expired", "too old resource version");
        return true;
    case FAULT_EXPIRED_REASON:
        refuse(a, 500, OUTCOME_EXPIRED);
        answer_put_status(a, 500, sim_chance(s, 500) ? "Expired" : "Gone", "old", NULL, 0);
        return true;
    case FAULT_TOO_LARGE_CAUSE:
    case FAULT_TOO_LARGE_MESSAGE:
        too_large(a, fault == FAULT_TOO_LARGE_CAUSE);
        return true;
    default:
        return false;
    }
}

/* ---- the honest server ---- */

/* The server has not come to this revision, and says so after a while. */
static void not_there_yet(struct sim *s, struct answer *a) {
    a->head_ms = sim_now(s) + WAIT_FOR_VERSION_MS;
    too_large(a, sim_chance(s, 500));
    path_taken(s, PATH_TOO_LARGE);
}

/* A replica that is to answer for at least this revision: it waits for it, if it can. */
static bool freshen(struct sim *s, uint32_t replica, uint64_t revision) {
    struct server *server = &s->server;
    bool stuck = sim_now(s) < server->replicas[replica].stuck_until_ms && !s->faults.calm;
    if (server->replicas[replica].revision < revision && revision <= server->revision && !stuck)
        server_catch_up(s, replica);
    return server->replicas[replica].revision >= revision;
}

static void expired(struct sim *s, struct answer *a, enum path path) {
    refuse_status(a, OUTCOME_EXPIRED, 410, "Expired", "The resourceVersion is too old.");
    path_taken(s, path);
}

static void next_page(struct sim *s, struct answer *a, enum fault fault) {
    unsigned long long revision = 0;
    unsigned kind = 0, first = 0, lap = 0;
    if (fault == FAULT_NONE && fault_happens(s, FAULT_COMPACTION, 20000)) { /* between two pages */
        server_change(s);
        server_compact(&s->server, s->server.revision);
        fault_hit(s, FAULT_COMPACTION);
    }
    /* NOLINTNEXTLINE(cert-err34-c): the numbers are our own, and compared again below */
    int n = sscanf(a->request.token, "next+/&%llu=%u=%u=%u", &revision, &kind, &first, &lap);
    if (n != 4 || kind != a->request.kind || first >= SIM_SLOTS) {
        sim_fail(s, "the token '%s' was never given out", a->request.token);
        refuse(a, 400, OUTCOME_UNSUPPORTED);
    } else if (revision < s->server.compacted || revision > s->server.revision) {
        expired(s, a, PATH_TOKEN_EXPIRED);
    } else {
        answer_list(s, a, revision, first, lap, fault);
    }
}

/* More than LIMIT_KUBE_PAGE, of which nearly all is blanks. */
static void bloat(struct sim *s, struct answer *a) {
    char *to = strbuf_reserve(&a->bytes, LIMIT_KUBE_PAGE + 1);
    if (to == NULL)
        abort();
    memset(to, ' ', LIMIT_KUBE_PAGE + 1);
    a->bytes.n += LIMIT_KUBE_PAGE + 1;
    a->ended = true;
    fault_hit(s, FAULT_HUGE_LIST);
}

static void list(struct sim *s, struct answer *a, enum fault fault) {
    const struct server *server = &s->server;
    const struct request *request = &a->request;
    const struct replica *replica = &server->replicas[a->replica];
    uint64_t revision = 0;
    if (request->token[0] != '\0') {
        next_page(s, a, fault);
    } else if (request->version[0] == '\0') {
        answer_list(s, a, server->revision, 0, 0, fault);
    } else if (strcmp(request->version, "0") == 0) {
        answer_list(s, a, replica->revision, 0, 0, fault);
    } else if (!server_revision(server, str_of(request->version), &revision)) {
        sim_fail(s, "the version '%s' was never given out", request->version);
        refuse(a, 400, OUTCOME_UNSUPPORTED);
    } else if (revision > server->revision) {
        not_there_yet(s, a);
    } else if (request->has_limit) { /* then it means exactly this version */
        if (revision < server->compacted)
            expired(s, a, PATH_EXPIRED);
        else
            answer_list(s, a, revision, 0, 0, fault);
    } else if (freshen(s, a->replica, revision)) {
        answer_list(s, a, replica->revision, 0, 0, fault);
    } else {
        not_there_yet(s, a);
    }
}

static void watch(struct sim *s, struct answer *a) {
    const struct server *server = &s->server;
    const struct request *request = &a->request;
    uint64_t revision = server->revision;
    if (request->watch_list && server->traits.watch_list == WATCH_LIST_REFUSED) {
        (void)refuse_for(s, a, FAULT_422); /* it does */
        path_taken(s, PATH_WATCH_LIST_REFUSED);
        return;
    }
    if (request->version[0] != '\0' &&
        !server_revision(server, str_of(request->version), &revision)) {
        sim_fail(s, "the version '%s' was never given out", request->version);
        refuse(a, 400, OUTCOME_UNSUPPORTED);
        return;
    }
    bool ignored = request->watch_list && server->traits.watch_list == WATCH_LIST_IGNORED;
    if (request->watch_list && !ignored && !freshen(s, a->replica, revision)) {
        not_there_yet(s, a);
        return;
    }
    if ((!request->watch_list || ignored) && revision < server->compacted) {
        if (sim_chance(s, 500)) {
            expired(s, a, PATH_EXPIRED);
            return;
        }
        answer_put(a, "{\"type\":\"ERROR\",\"object\":");
        answer_put_status(a, 410, "Expired", "too old resource version", NULL, 0);
        answer_put(a, "}\n");
        answer_line(a, LINE_FATAL)->outcome = OUTCOME_EXPIRED;
        path_taken(s, PATH_EXPIRED);
        a->ended = true;
        return;
    }
    if (revision > server->revision)
        path_taken(s, PATH_SILENT_FUTURE);
    a->from = revision;
    stream_begin(s, a);
}

/* ---- what goes wrong with a good answer ---- */

static void disturb_watch(struct sim *s, struct answer *a, enum fault fault) {
    switch (fault) {
    case FAULT_SHORT_WATCH:
        a->end_ms = a->head_ms + sim_between(s, 0, 900);
        break;
    case FAULT_SHORT_BOOKMARK:
        a->bookmark_ms = a->end_ms = a->head_ms + sim_between(s, 0, 100);
        break;
    case FAULT_EARLY_END:
        a->end_ms = a->head_ms + sim_between(s, 1000, 30000);
        break;
    case FAULT_EXPIRED_EVENT:
        answer_put(a, "{\"type\":\"ERROR\",\"object\":");
        answer_put_status(a, 410, "Expired", "too old resource version", NULL, 0);
        answer_put(a, "}\n");
        answer_line(a, LINE_FATAL)->outcome = OUTCOME_EXPIRED;
        a->ended = true;
        break;
    case FAULT_CUT: /* also long after what it begins with */
        if (sim_chance(s, 500))
            a->cut_at = sim_below(s, 30000);
        break;
    default:
        break;
    }
}

static void disturb(struct sim *s, struct answer *a, enum fault fault) {
    if (a->status != 200) /* part of a refusal would mean something else */
        return;
    if (fault == FAULT_CUT || fault == FAULT_STALL) {
        a->cut_at = sim_below(s, a->bytes.n + 1);
        a->stalled = fault == FAULT_STALL;
    }
    if (fault == FAULT_BYTE_BY_BYTE)
        a->chunks = CHUNKS_BYTES;
    if (fault == FAULT_ONE_WRITE)
        a->chunks = CHUNKS_WHOLE;
    if (a->request.watch)
        disturb_watch(s, a, fault);
}

static void answer_well(struct sim *s, struct answer *a, enum fault fault) {
    a->status = 200;
    if (fault == FAULT_HTML) {
        answer_put(a, "<!DOCTYPE html>\n");
        answer_line(a, LINE_FATAL)->outcome = OUTCOME_GARBLED;
        answer_put(a, "<html><body>please log in</body></html>\n");
        a->ended = true;
    } else if (fault == FAULT_EXPIRED_EVENT) {
        disturb_watch(s, a, fault);
    } else if (a->request.watch) {
        watch(s, a);
    } else if (fault == FAULT_NONE && fault_happens(s, FAULT_HUGE_LIST, 10000)) {
        bloat(s, a);
    } else {
        list(s, a, fault);
    }
    if (fault != FAULT_HTML && fault != FAULT_EXPIRED_EVENT)
        disturb(s, a, fault);
}

void answer_begin(struct sim *s, const struct request *request, struct answer *a) {
    uint32_t where = request->watch_list         ? AT_WATCH_LIST
                     : request->watch            ? AT_WATCH
                     : request->token[0] != '\0' ? AT_PAGE
                                                 : AT_LIST;
    answer_done(a);
    *a = (struct answer){.request = *request,
                         .head_ms = sim_now(s) + sim_between(s, 1, s->server.traits.answer_ms),
                         .retry_after_ms = -1,
                         .wait_ms = -1,
                         .cut_at = UINT64_MAX,
                         .replica = (uint32_t)sim_below(s, SIM_REPLICAS),
                         .end_ms = INT64_MAX,
                         .bookmark_ms = INT64_MAX};
    if (sim_now(s) < s->server.down_until_ms) {
        if (sim_chance(s, 200))
            refuse_with_page(a); /* a load balancer's */
        else
            fail_to_connect(s, a, -ECONNREFUSED, 1);
        return;
    }
    enum fault fault = fault_strikes(s, where, request->kind);
    if (fault != FAULT_NONE)
        fault_hit(s, fault);
    a->endless = fault == FAULT_ENDLESS_LIST;
    if (!refuse_for(s, a, fault))
        answer_well(s, a, fault);
    a->deliver_ms = a->head_ms;
}

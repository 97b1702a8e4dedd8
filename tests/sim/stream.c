#include "base/limits.h"
#include "sim/answer.h"
#include "sim/oracle.h"
#include "sim/sim.h"

#include <stdlib.h>

enum { LATENCY_MS = 50 };

static void put_line_end(const struct sim *s, struct answer *a, enum fault fault) {
    answer_put(a, s->server.traits.crlf || fault == FAULT_CRLF ? "\r\n" : "\n");
}

/* Bytes are on their way from now. */
static void wake(struct sim *s, struct answer *a) {
    if (a->sent < a->bytes.n)
        return;
    a->deliver_ms = sim_now(s) + sim_between(s, 0, LATENCY_MS);
    if (a->deliver_ms < a->head_ms)
        a->deliver_ms = a->head_ms;
}

/* ---- events ---- */

/* What an event says of a change; NULL: this watch does not hear of it. */
static const char *event_type(const struct change *change) {
    bool before = thing_selected(change->kind, &change->before);
    bool after = thing_selected(change->kind, &change->after);
    return after ? (before ? "MODIFIED" : "ADDED") : (before ? "DELETED" : NULL);
}

static void put_event(const struct sim *s, struct answer *a, const char *type, uint32_t slot,
                      const struct thing *thing, uint64_t revision, enum fault fault) {
    struct thing_style style = {.odd = s->server.traits.odd_members || fault == FAULT_ODD_MEMBERS,
                                .no_version = fault == FAULT_OBJECT_NO_VERSION};
    bool backwards = fault == FAULT_ODD_MEMBERS;
    bool oversized = thing->bulk == BULK_OVERSIZED;
    struct line *line = answer_line(a, style.no_version || oversized ? LINE_FATAL : LINE_CHANGE);
    line->slot = slot;
    line->thing = *thing;
    line->exists = strcmp(type, "DELETED") != 0;
    line->changed = strcmp(type, "ADDED") != 0;
    line->revision = revision;
    line->outcome = oversized          ? OUTCOME_OVERSIZED
                    : style.no_version ? OUTCOME_GARBLED
                                       : OUTCOME_NONE;
    if (backwards)
        answer_put(a, " { \"x\" : null , \"object\" : ");
    else
        strbuf_appendf(&a->bytes, "{\"type\":\"%s\",\"object\":", type);
    answer_put_object(s, a, line, style);
    if (backwards)
        strbuf_appendf(&a->bytes, ", \"type\" : \"%s\" } ", type);
    else
        answer_put(a, fault == FAULT_MORE_MEMBERS ? ",\"more\":{\"n\":[1]}}" : "}");
    put_line_end(s, a, fault);
    line->end = a->base + a->bytes.n;
    a->events++;
}

static void put_change(const struct sim *s, struct answer *a, const struct change *change,
                       enum fault fault) {
    const char *type = event_type(change);
    if (change->kind != a->request.kind || type == NULL)
        return;
    bool gone = strcmp(type, "DELETED") == 0;
    put_event(s, a, type, change->slot, gone ? &change->before : &change->after, change->revision,
              fault);
}

/* What ends a stream for a reader, in words of the server or of nobody. */
static struct line *put_fatal(const struct sim *s, struct answer *a, enum outcome outcome) {
    put_line_end(s, a, FAULT_NONE);
    struct line *line = answer_line(a, LINE_FATAL);
    line->outcome = outcome;
    return line;
}

static void put_error(struct sim *s, struct answer *a, enum fault fault) {
    answer_put(a, "{\"type\":\"ERROR\",\"object\":");
    enum outcome outcome = OUTCOME_ERROR;
    int64_t wait_s = 0;
    if (fault == FAULT_ERROR_429) {
        wait_s = sim_between(s, 1, 20);
        answer_put_status(a, 429, "TooManyRequests", "slow down", NULL, wait_s);
        outcome = OUTCOME_BUSY;
    } else if (fault == FAULT_ERROR_410) {
        answer_put_status(a, 410, "Gone", "too old", NULL, 0);
        outcome = OUTCOME_EXPIRED;
    } else if (fault == FAULT_ERROR_500) {
        answer_put_status(a, 500, "InternalError", "unable to decode an event", NULL, 0);
    } else {
        answer_put(a, "{\"what\":[]}");
    }
    answer_put(a, "}");
    put_fatal(s, a, outcome)->wait_ms = wait_s * 1000;
}

static void put_bookmark(const struct sim *s, struct answer *a, uint64_t revision, bool initial_end,
                         bool no_version) {
    struct line *line = answer_line(a, no_version ? LINE_FATAL : LINE_BOOKMARK);
    line->outcome = no_version ? OUTCOME_GARBLED : OUTCOME_NONE;
    line->initial_end = initial_end;
    line->revision = revision;
    strbuf_appendf(&a->bytes,
                   "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"X\",\"apiVersion\":\"%s\","
                   "\"metadata\":{",
                   thing_api_version(a->request.kind));
    if (!no_version) {
        answer_put(a, "\"resourceVersion\":");
        answer_put_version(s, a, revision);
        answer_put(a, ",");
    }
    answer_put(a, "\"creationTimestamp\":null");
    if (initial_end)
        answer_put(a, ",\"annotations\":{\"x\":\"y\",\"k8s.io/initial-events-end\":\"true\"}");
    answer_put(a, "},\"spec\":{}}}");
    put_line_end(s, a, FAULT_NONE);
    line->end = a->base + a->bytes.n;
}

/* What a faulty line looks like that stands in front of an event. */
static void put_strange_line(struct sim *s, struct answer *a, enum fault fault) {
    switch (fault) {
    case FAULT_GARBAGE:
        answer_put(a, sim_chance(s, 500) ? "upstream connect error" : "{\"type\":\"ADDED\"}");
        (void)put_fatal(s, a, OUTCOME_GARBLED);
        break;
    case FAULT_BAD_UTF8:
        answer_put(a, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\","
                      "\"name\":\"bad\"},\"x\":\"\xff\xfe\"}}");
        (void)put_fatal(s, a, OUTCOME_GARBLED);
        break;
    case FAULT_UNKNOWN_TYPE:
        answer_put(a,
                   "{\"type\":\"RENAMED\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}");
        put_line_end(s, a, FAULT_NONE);
        (void)answer_line(a, LINE_NOTHING);
        break;
    case FAULT_BLANK_LINES:
        answer_put(a, "\n\r\n  \n");
        (void)answer_line(a, LINE_NOTHING);
        break;
    case FAULT_ERROR_500:
    case FAULT_ERROR_429:
    case FAULT_ERROR_410:
    case FAULT_ERROR_SENSELESS:
        put_error(s, a, fault);
        break;
    case FAULT_BOOKMARK_NO_VERSION:
        put_bookmark(s, a, 0, false, true);
        break;
    default:
        break;
    }
}

/* The last few changes once more, in order. */
static void replay(const struct sim *s, struct answer *a, uint32_t change) {
    uint32_t first = change > 3 ? change - 3 : 0;
    for (uint32_t i = first; i <= change; i++)
        put_change(s, a, &s->server.history[i], FAULT_NONE);
}

/* More than any event may be, and no end. */
static void put_endless(struct sim *s, struct answer *a) {
    char *to = strbuf_reserve(&a->bytes, LIMIT_KUBE_EVENT + 1000);
    if (to == NULL)
        abort();
    memset(to, '[', LIMIT_KUBE_EVENT + 1000);
    a->bytes.n += LIMIT_KUBE_EVENT + 1000;
    answer_line(a, LINE_FATAL)->outcome = OUTCOME_OVERSIZED;
    fault_hit(s, FAULT_ENDLESS_LINE);
}

static void put_disturbed(struct sim *s, struct answer *a, uint32_t number, enum fault fault) {
    const struct change *change = &s->server.history[number];
    if (fault != FAULT_NONE)
        fault_hit(s, fault);
    put_strange_line(s, a, fault);
    if (fault_happens(s, FAULT_ENDLESS_LINE, 300)) {
        put_endless(s, a);
        return;
    }
    if (fault == FAULT_TRAILING_GARBAGE) {
        answer_put(a, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{");
        a->ended = true;
        return;
    }
    put_change(s, a, change, fault);
    if (fault == FAULT_DUPLICATE)
        put_change(s, a, change, FAULT_NONE);
    if (fault == FAULT_REPLAY)
        replay(s, a, number);
}

void stream_change(struct sim *s, struct answer *a, uint32_t number) {
    const struct change *change = &s->server.history[number];
    if (!a->live || a->ended || change->kind != a->request.kind || change->revision <= a->from)
        return;
    a->from = change->revision;
    if (event_type(change) == NULL)
        return;
    wake(s, a);
    if (change->kind == OBJECT_POD && change->after.exists &&
        !thing_selected(OBJECT_POD, &change->after))
        path_taken(s, PATH_DELETED_BY_SELECTOR);
    put_disturbed(s, a, number, fault_strikes(s, AT_LINE, a->request.kind));
}

void stream_bookmark(struct sim *s, struct answer *a, bool initial_end) {
    uint64_t revision = s->server.replicas[a->replica].revision;
    if (!a->live || a->ended || revision < a->from)
        return;
    wake(s, a);
    put_bookmark(s, a, revision, initial_end, false);
    a->bookmarks++;
}

/* ---- beginnings ---- */

/* Today's objects, in no order of their versions; without end if there are any and it is a list
 * without. Returns whether it ends. */
static bool put_initial(struct sim *s, struct answer *a) {
    enum object_kind kind = a->request.kind;
    struct thing things[SIM_SLOTS];
    a->from = s->server.replicas[a->replica].revision;
    server_state(&s->server, kind, a->from, things);
    uint32_t slots = thing_slots(kind), first = (uint32_t)sim_below(s, slots);
    do
        for (uint32_t i = 0; i < slots; i++) {
            uint32_t slot = (first + i) % slots;
            if (thing_selected(kind, &things[slot]))
                put_event(s, a, "ADDED", slot, &things[slot], things[slot].revision, FAULT_NONE);
        }
    while (a->endless && a->events > 0 && a->events <= ORACLE_LISTED);
    return !a->endless || a->events == 0;
}

void stream_begin(struct sim *s, struct answer *a) {
    const struct server *server = &s->server;
    const struct request *request = &a->request;
    int64_t longest_ms = request->timeout_s * 1000;
    if (longest_ms > server->traits.watch_longest_ms)
        longest_ms = server->traits.watch_longest_ms;
    a->live = true;
    a->end_ms = a->head_ms + longest_ms;
    if (server->traits.bookmark_ms > 0)
        a->bookmark_ms = a->head_ms + server->traits.bookmark_ms;
    bool knows = server->traits.watch_list == WATCH_LIST_KNOWN;
    if (request->watch_list && !knows)
        path_taken(s, PATH_WATCH_LIST_IGNORED);
    if (request->version[0] == '\0' || (request->watch_list && knows)) {
        if (put_initial(s, a) && request->watch_list && knows)
            stream_bookmark(s, a, true);
        a->bookmarks = 0; /* of those that come later */
        return;
    }
    uint32_t end = server->replicas[a->replica].applied, i = end;
    while (i > 0 && server->history[i - 1].revision > a->from)
        i--;
    while (i < end)
        stream_change(s, a, i++);
    if (a->events > 0)
        path_taken(s, PATH_WATCH_CAUGHT_UP);
}

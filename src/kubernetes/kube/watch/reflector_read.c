/*
 * Reads the server's answers: the lines of a watch, the pages of a list, errors.
 *
 * An API server writes a watch event as {"type":"...","object":{...}} and a line end. The object of
 * such a line is handed over directly; for any other order of members, the JSON reader finds the
 * object.
 */
#include "base/json_reader.h"
#include "base/limits.h"
#include "base/log.h"
#include "kube/watch/reflector_internal.h"
#include "model/names.h"

#include <errno.h>

enum problem reflector_classify(struct reflector *r, const struct kube_status *status) {
    reflector_say(r, status->message);
    if (r->retry_after_ms < status->retry_after_ms)
        r->retry_after_ms = status->retry_after_ms;
    if (status->version_too_large)
        return PROBLEM_TOO_NEW;
    if (kube_status_expired(status))
        return PROBLEM_EXPIRED;
    switch (status->code) {
    case 404:
        return r->options.optional ? PROBLEM_ABSENT : PROBLEM_SERVER;
    case 429:
        return PROBLEM_BUSY;
    case 400:
    case 405:
    case 422:
    case 501:
        return PROBLEM_UNSUPPORTED;
    default:
        return PROBLEM_SERVER;
    }
}

/* ---- objects ---- */

struct head {
    struct str version;
    bool initial_end; /* the bookmark that ends a watch-list */
};

static void read_annotations(struct json_reader *r, struct head *head) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR(INITIAL_EVENTS_END_ANNOTATION)))
            head->initial_end = str_eq(json_string(r), STR("true"));
}

static void read_metadata(struct json_reader *json, bool bookmark, struct head *head) {
    struct str key;
    if (!json_object(json))
        return;
    while ((bookmark || head->version.n == 0) && json_member(json, &key))
        if (str_eq(key, STR("resourceVersion")))
            head->version = json_string(json);
        else if (bookmark && str_eq(key, STR("annotations")))
            read_annotations(json, head);
}

/* Reads only the needed members, and then stops: an API server writes metadata first. */
static bool read_head(struct reflector *r, struct str object, bool bookmark, struct head *ret) {
    struct json_reader json;
    struct head head = {0};
    struct str key;
    json_reader_init(&json, object, &r->arena, "object");
    if (!json_object(&json))
        return false;
    while (json_member(&json, &key)) {
        if (str_eq(key, STR("metadata"))) {
            read_metadata(&json, bookmark, &head);
            break;
        }
        (void)json_skip(&json); /* errors stay in json */
    }
    *ret = head;
    return !json_failed(&json) && head.version.n > 0;
}

/* Uses its own arena: the caller still holds strings in the reflector's. */
static bool is_json(const struct reflector *r, struct str text) {
    struct json_reader json;
    struct arena arena;
    arena_init(&arena, r->arena.max);
    json_reader_init(&json, text, &arena, "object");
    (void)json_skip(&json); /* errors stay in json */
    bool good = json_finish(&json, NULL) == 0;
    arena_done(&arena);
    return good;
}

/* Maps the sink's result to a problem. An object that the sink refuses must not stop the others. */
static enum problem judge(struct reflector *r, int code, struct str object, const struct err *err) {
    if (code == 0)
        return PROBLEM_NONE;
    if (code == -ENOMEM) {
        reflector_say(r, STR("no memory for an object"));
        return PROBLEM_MEMORY;
    }
    if (code == -ENOSPC) {
        reflector_say(r, str_of(err->text));
        return PROBLEM_ENDLESS;
    }
    if (!is_json(r, object)) {
        reflector_say(r, str_of(err->text));
        return PROBLEM_GARBLED;
    }
    r->stats.refused++;
    LOG_W("object passed over", LOG_CSTR("resource", r->options.resource),
          LOG_CSTR_IF("role", r->options.role), LOG_ERRTEXT(err));
    return PROBLEM_NONE;
}

/* Counts one more object, or a page without objects. Returns a problem beyond max_objects. */
static enum problem show_one(struct reflector *r) {
    if (r->shown++ < r->options.max_objects)
        return PROBLEM_NONE;
    reflector_say(r, r->syncing
                         ? STR("a list of more objects than the limit: it does not end")
                         : STR("a watch that adds objects beyond the limit: it does not end"));
    return PROBLEM_ENDLESS;
}

static enum problem tell(struct reflector *r, bool exists, struct str object) {
    const struct reflector_sink *sink = &r->options.sink;
    struct err err = {0};
    uint64_t refused = r->stats.refused;
    int code =
        exists ? sink->apply(sink->ctx, object, &err) : sink->remove(sink->ctx, object, &err);
    enum problem problem = judge(r, code, object, &err);
    if (exists || refused == r->stats.refused)
        return problem;
    reflector_say(r, str_of(err.text));
    return PROBLEM_UNREMOVED; /* only a listing can remove it */
}

/* ---- lines of a watch ---- */

struct event {
    struct str type, object;
};

/* Splits the usual form: {"type":"ADDED","object":{...}}. Only reading the object shows whether it
 * ends where it should. */
static bool split_event(struct str line, struct event *ret) {
    static const struct str before = {"{\"type\":\"", 9}, between = {"\",\"object\":{", 12};
    if (!str_has_prefix(line, before) || line.p[line.n - 1] != '}')
        return false;
    struct str rest = {line.p + before.n, line.n - before.n};
    size_t quote = str_find(rest, '"');
    if (quote == SIZE_MAX || quote > 16 || str_find((struct str){rest.p, quote}, '\\') != SIZE_MAX)
        return false;
    struct str tail = {rest.p + quote, rest.n - quote};
    if (!str_has_prefix(tail, between))
        return false;
    *ret = (struct event){{rest.p, quote},
                          {tail.p + between.n - 1, tail.n - between.n}}; /* without the last brace
                                                                          */
    return true;
}

static bool parse_event(struct reflector *r, struct str line, struct event *ret) {
    struct json_reader json;
    struct str key;
    struct event event = {0};
    json_reader_init(&json, line, &r->arena, "event");
    if (!json_object(&json))
        return false;
    while (json_member(&json, &key))
        if (str_eq(key, STR("type")))
            event.type = json_string(&json);
        else if (str_eq(key, STR("object")))
            event.object = json_skip(&json);
    if (json_finish(&json, NULL) != 0 || event.type.n == 0 || event.object.n == 0)
        return false;
    *ret = event;
    return true;
}

static enum problem garbled(struct reflector *r, const char *what) {
    reflector_say(r, str_of(what));
    return PROBLEM_GARBLED;
}

static enum problem read_bookmark(struct reflector *r, int64_t now_ms, struct str object) {
    struct head head;
    if (!read_head(r, object, true, &head))
        return garbled(r, "a bookmark without a resourceVersion");
    r->stats.bookmarks++;
    if (r->request == REQUEST_WATCH)
        reflector_keep(&r->version, head.version);
    else if (head.initial_end)
        reflector_synced(r, now_ms, head.version);
    return PROBLEM_NONE;
}

static enum problem read_change(struct reflector *r, const struct event *event) {
    struct head head;
    bool added = str_eq(event->type, STR("ADDED"));
    bool exists = added || str_eq(event->type, STR("MODIFIED"));
    if (!exists && !str_eq(event->type, STR("DELETED"))) {
        LOG_W("unknown type of event ignored", LOG_CSTR("resource", r->options.resource),
              LOG_CSTR_IF("role", r->options.role), LOG_STR("type", event->type));
        return PROBLEM_NONE;
    }
    if (!read_head(r, event->object, false, &head))
        return garbled(r, "an object without a metadata.resourceVersion");
    enum problem problem = added ? show_one(r) : PROBLEM_NONE;
    if (problem == PROBLEM_NONE)
        problem = tell(r, exists, event->object);
    if (problem != PROBLEM_NONE && problem != PROBLEM_UNREMOVED)
        return problem;
    if (!exists && !r->syncing && r->shown > 0)
        r->shown--;
    r->stats.events++;
    r->initial = r->initial && added;
    if (r->request == REQUEST_WATCH && !r->initial) /* also if the object could not be removed: a
                                                       listing at this version does not have it */
        reflector_keep(&r->version, head.version);
    return problem;
}

static enum problem read_line(struct reflector *r, int64_t now_ms, struct str line) {
    struct event event, again;
    if (line.n > LIMIT_KUBE_EVENT) {
        reflector_say(r, STR("an event larger than the limit"));
        return PROBLEM_OVERSIZED;
    }
    bool split = split_event(line, &event);
    if (!split && !parse_event(r, line, &event))
        return garbled(r, "a line that is no watch event");
    r->lines++;
    r->stats.changed_ms = now_ms;
    if (str_eq(event.type, STR("BOOKMARK")))
        return read_bookmark(r, now_ms, event.object);
    if (str_eq(event.type, STR("ERROR"))) {
        struct kube_status status;
        kube_status_read(event.object, 500, &r->arena, &status);
        return reflector_classify(r, &status);
    }
    enum problem problem = read_change(r, &event);
    if (problem == PROBLEM_GARBLED && split && parse_event(r, line, &again) &&
        again.object.n != event.object.n) /* there was more text after the object */
        problem = read_change(r, &again);
    return problem;
}

void reflector_read_lines(struct reflector *r, int64_t now_ms) {
    size_t at = 0;
    while (r->problem == PROBLEM_NONE) {
        size_t from = r->searched > at ? r->searched : at;
        const char *end = from < r->in.n ? memchr(r->in.p + from, '\n', r->in.n - from) : NULL;
        if (end == NULL)
            break;
        struct str line = str_trim((struct str){r->in.p + at, (size_t)(end - (r->in.p + at))});
        if (line.n > 0)
            r->problem = read_line(r, now_ms, line);
        arena_reset(&r->arena);
        at = (size_t)(end - r->in.p) + 1;
    }
    r->in.n -= at;
    if (at > 0 && r->in.n > 0)
        memmove(r->in.p, r->in.p + at, r->in.n);
    r->searched = r->in.n;
    if (r->in.n == 0 && !r->syncing)
        strbuf_done(&r->in); /* from now on events are rare, and there are many watches */
    if (r->problem == PROBLEM_NONE && r->in.n > LIMIT_KUBE_EVENT) {
        reflector_say(r, STR("an event larger than the limit"));
        r->problem = PROBLEM_OVERSIZED;
    }
}

/* ---- pages of a list ---- */

static enum problem read_items(struct reflector *r, struct json_reader *json) {
    if (!json_array(json))
        return PROBLEM_NONE;
    while (json_element(json)) {
        struct str object = json_skip(json);
        if (json_failed(json))
            break;
        enum problem problem = show_one(r);
        if (problem == PROBLEM_NONE)
            problem = tell(r, true, object);
        if (problem != PROBLEM_NONE)
            return problem;
        r->stats.events++;
    }
    return PROBLEM_NONE;
}

static void read_list_meta(struct json_reader *json, struct str *ret_version,
                           struct str *ret_token) {
    struct str key;
    if (!json_object(json))
        return;
    while (json_member(json, &key))
        if (str_eq(key, STR("resourceVersion")))
            *ret_version = json_string(json);
        else if (str_eq(key, STR("continue")))
            *ret_token = json_string(json);
}

enum problem reflector_read_page(struct reflector *r, struct str *ret_version,
                                 struct str *ret_token) {
    struct json_reader json;
    struct str key, kind = {0};
    enum problem problem = PROBLEM_NONE;
    const uint64_t before = r->stats.events;
    bool items = false;
    json_reader_init(&json, strbuf_str(&r->in), &r->arena, "list");
    if (json_object(&json))
        while (problem == PROBLEM_NONE && json_member(&json, &key)) {
            if (str_eq(key, STR("kind"))) {
                kind = json_string(&json);
            } else if (str_eq(key, STR("metadata"))) {
                read_list_meta(&json, ret_version, ret_token);
            } else if (str_eq(key, STR("items"))) {
                items = true;
                problem = read_items(r, &json);
            }
        }
    struct err err;
    if (problem == PROBLEM_NONE && json_finish(&json, &err) != 0) {
        reflector_say(r, str_of(err.text));
        problem = PROBLEM_GARBLED;
    }
    if (problem == PROBLEM_NONE && (!items || !str_has_suffix(kind, STR(LIST_KIND))))
        problem = garbled(r, "an answer that is no list");
    if (problem == PROBLEM_NONE && r->token.n == 0 && ret_version->n == 0)
        problem = garbled(r, "a list without a resourceVersion");
    if (problem == PROBLEM_NONE && r->stats.events == before && ret_token->n > 0)
        problem = show_one(r);
    return problem;
}

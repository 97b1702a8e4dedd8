#include "kube/events/event_text.h"

#include "base/dns_name.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "base/time.h"
#include "model/names.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    /* upstream: kubernetes pkg/apis/core/validation/events.go */
    NOTE_BYTES = 1024,
    WORD_BYTES = 128,
};

/* ---- copying ---- */

void event_put_clean(struct strbuf *out, struct str text, size_t max) {
    size_t start = out->n, cut = out->n; /* cut: the last place where "..." still fits */
    while (text.n > 0) {
        size_t n = (unsigned char)text.p[0] < 0x80 ? 1 : str_utf8_length(text);
        struct str c = n > 0 ? (struct str){text.p, n} : STR("\xef\xbf\xbd");
        if (out->n - start + c.n > max) {
            out->n = cut;
            strbuf_append_str(out, STR("..."));
            return;
        }
        strbuf_append_str(out, c);
        if (strbuf_failed(out))
            return;
        cut = out->n - start + 3 <= max ? out->n : cut;
        n = n > 0 ? n : 1;
        text = (struct str){text.p + n, text.n - n};
    }
}

bool event_copy_init(struct event_copy *copy, const struct event *event) {
    enum { PARTS = 8 };
    struct event e = *event;
    struct str *const parts[PARTS] = {&e.regarding.api_version,
                                      &e.regarding.kind,
                                      &e.regarding.namespace,
                                      &e.regarding.name,
                                      &e.regarding.uid,
                                      &e.reason,
                                      &e.action,
                                      &e.note};
    struct strbuf block = {0};
    size_t ends[PARTS];
    if (str_empty(e.action))
        e.action = e.reason;
    for (size_t i = 0; i < PARTS; i++) {
        event_put_clean(&block, *parts[i],
                        i < 5   ? LIMIT_OBJECT_NAME
                        : i < 7 ? WORD_BYTES
                                : NOTE_BYTES);
        ends[i] = block.n;
    }
    if (strbuf_failed(&block)) {
        strbuf_done(&block);
        return false;
    }
    for (size_t i = 0, begin = 0; i < PARTS; begin = ends[i++])
        *parts[i] = (struct str){block.p + begin, ends[i] - begin};
    *copy = (struct event_copy){.event = e, .block = block.p, .count = 1};
    return true;
}

void event_copy_done(struct event_copy *copy) {
    free(copy->block);
    *copy = (struct event_copy){0};
}

/* ---- which ---- */

static struct hash128 hash(struct str s) {
    return hash_bytes128(s.p, s.n);
}

struct hash128 event_object_hash(const struct event *event) {
    const struct event_object *o = &event->regarding;
    const struct hash128 parts[] = {
        hash(o->api_version), hash(o->kind), hash(o->namespace),
        hash(o->name),        hash(o->uid),  {event->type, 0},
    };
    return hash_bytes128(parts, sizeof parts);
}

struct hash128 event_series_hash(const struct event *event) {
    const struct hash128 parts[] = {
        event_object_hash(event),
        hash(event->reason),
        hash(event->action),
        hash(event->note),
    };
    return hash_bytes128(parts, sizeof parts);
}

struct str event_namespace(const struct event *event) {
    struct str namespace = event->regarding.namespace;
    return str_empty(namespace) ? STR("default") : namespace;
}

bool event_is_writable(const struct event *event) {
    struct str namespace = event_namespace(event);
    return namespace.n <= 63 && dns_subdomain_valid(namespace);
}

void event_name(const struct event *event, uint64_t number, char ret[static EVENT_NAME_SIZE]) {
    struct str name = event->regarding.name;
    if (name.n + 17 >= EVENT_NAME_SIZE || !dns_subdomain_valid(name))
        name = STR("evenkeel");
    (void)snprintf(ret, EVENT_NAME_SIZE, "%.*s.%llx", STR_ARG(name),
                   (unsigned long long)number); /* fits */
}

/* ---- writing ---- */

static void put_time(struct json_writer *w, struct str key, int64_t wall_us) {
    char text[KUBE_TIME_SIZE];
    kube_time_text(wall_us, text);
    json_put_member(w, key, str_of(text));
}

static void put_series(struct json_writer *w, const struct event_copy *copy) {
    json_key(w, STR("series"));
    json_begin_object(w);
    json_key(w, STR("count"));
    json_put_integer(w, copy->count);
    put_time(w, STR("lastObservedTime"), copy->last_us);
    json_end_object(w);
}

static void put_if_any(struct json_writer *w, struct str key, struct str value) {
    if (!str_empty(value))
        json_put_member(w, key, value);
}

static void put_regarding(struct json_writer *w, const struct event_object *o) {
    json_key(w, STR("regarding"));
    json_begin_object(w);
    put_if_any(w, STR("apiVersion"), o->api_version);
    put_if_any(w, STR("kind"), o->kind);
    put_if_any(w, STR("namespace"), o->namespace);
    put_if_any(w, STR("name"), o->name);
    put_if_any(w, STR("uid"), o->uid);
    json_end_object(w);
}

void event_put_new(struct strbuf *out, const struct event_copy *copy, struct str instance) {
    const struct event *event = &copy->event;
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR(EVENTS_API));
    json_put_member(&w, STR("kind"), STR(EVENT_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("namespace"), event_namespace(event));
    json_put_member(&w, STR("name"), str_of(copy->name));
    json_end_object(&w);
    put_time(&w, STR("eventTime"), copy->first_us);
    if (copy->count > 1)
        put_series(&w, copy);
    json_put_member(&w, STR("reportingController"), STR(EVENKEEL_CONTROLLER));
    json_put_member(&w, STR("reportingInstance"), instance);
    json_put_member(&w, STR("action"), event->action);
    json_put_member(&w, STR("reason"), event->reason);
    put_regarding(&w, &event->regarding);
    json_put_member(&w, STR("note"), event->note);
    json_put_member(&w, STR("type"), event->type == EVENT_WARNING ? STR("Warning") : STR("Normal"));
    json_end_object(&w);
}

void event_put_series(struct strbuf *out, const struct event_copy *copy) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    put_series(&w, copy);
    json_end_object(&w);
}

/*
 * An event as bytes: the copy that waits, its name, the bodies of its requests.
 */
#pragma once

#include "base/hash.h"
#include "kube/events/events.h"

enum { EVENT_NAME_SIZE = 254, EVENT_INSTANCE_BYTES = 128 };

/* An event that waits or is remembered. */
struct event_copy {
    struct event event; /* its strings are in `block`, valid UTF-8 and within their limits */
    char *block;        /* owned */
    char name[EVENT_NAME_SIZE];
    int64_t first_us, last_us; /* wall clock */
    uint32_t count;
};

/* Returns false without memory. */
bool event_copy_init(struct event_copy *copy, const struct event *event);
void event_copy_done(struct event_copy *copy);

/* Returns the same hash for all events of one series. */
struct hash128 event_series_hash(const struct event *event);
/* Returns the same hash for all events that share a rate limit. */
struct hash128 event_object_hash(const struct event *event);

/* Returns the namespace of the Event; "default" for an object without a namespace. */
struct str event_namespace(const struct event *event);
/* Can the Event's namespace be part of a path? */
bool event_is_writable(const struct event *event);
/* Writes "<name>.<number in hex>", or "evenkeel.<...>" if that is no valid name for an Event. */
void event_name(const struct event *event, uint64_t number, char ret[static EVENT_NAME_SIZE]);

/* Appends the body of a POST; failures stay in the buffer. */
void event_put_new(struct strbuf *out, const struct event_copy *copy, struct str instance);
/* Appends the body of a PATCH (merge patch) that updates the count. */
void event_put_series(struct strbuf *out, const struct event_copy *copy);

/* Appends text without malformed UTF-8, cut at a character and then ended with "...". */
void event_put_clean(struct strbuf *out, struct str text, size_t max);

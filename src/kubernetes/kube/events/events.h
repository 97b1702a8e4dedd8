/*
 * Kubernetes Events, which `kubectl describe` and `kubectl events` show. They are written to
 * events.k8s.io/v1, not to core/v1: in events.k8s.io an event names its reporter and the action,
 * the API server checks it, and `series` counts repetitions. Readers see the same objects in both.
 * upstream: client-go tools/events; the limits are those of tools/record.
 *
 * event_record() may be called from any thread; it copies the event, counts it, and waits only for
 * a mutex that is held for microseconds. The client's thread writes, one request at a time. Events
 * are for people and may be lost: every way to lose one is counted in evenkeel_events_total.
 *
 * Limits protect the cluster and this process against floods:
 *   - An equal event (all parts are equal, also the note) is not a new object: while it comes again
 *     within 6 minutes, it is a series. The count of the series is written at the first repetition,
 *     then at most every 5 minutes.
 *   - About one object, of one type: 25 new events, then one every 5 minutes ("limited").
 *   - All events together: 10 requests, then 5 a second; further requests wait.
 *   - At most 256 events wait; further events are dropped ("dropped"). 512 are remembered.
 * A failing write is tried 12 times, 10 s apart, in the order in which events came, and then given
 * up ("failed"). If the API server refuses it (4xx), it is given up at once.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/client/client.h"
#include "kube/client/io.h"

/* The object of an event. */
struct event_object {
    struct str api_version, kind; /* "v1", "Pod" */
    struct str namespace, name;   /* namespace "": cluster-scoped; its event is in "default" */
    struct str uid;               /* "" if not known */
};

enum event_type { EVENT_NORMAL, EVENT_WARNING };

/* A reason, as a row of a const table beside the code that writes such Events: the documents list
 * the rows. */
struct event_reason {
    const char *name; /* "LeaderElection" */
    enum event_type type;
    const char *kind; /* kind of the object that the Event is about */
    const char *when; /* a sentence for the documents */
};

struct event {
    struct event_object regarding;
    enum event_type type;
    struct str reason; /* why, CamelCase, not empty: "LeaderElection" */
    struct str action; /* what was done, CamelCase; "": the same word as the reason */
    struct str note;   /* for people; cut at 1024 bytes, malformed UTF-8 is replaced */
};

struct event_options {
    struct kube_client *client; /* borrowed until event_recorder_free() */
    struct clock *clock;        /* NULL: the real clock */
    const char *instance;       /* reportingInstance, the name of this process; cut at 128 bytes */
    uint64_t seed;              /* of the jitter */
    const struct kube_io *io;   /* NULL: the client's */
};

struct event_recorder;

/* Returns 0 or -ENOMEM. */
int event_recorder_new(const struct event_options *options, struct event_recorder **ret,
                       struct err *err) MUST_CHECK;
/* Copies `event`. Does nothing if `r` is NULL. Returns false if all places are taken now, or the
 * object has used its share; the caller may record the same event again later. */
bool event_record(struct event_recorder *r, const struct event *event);
/* Takes no more events, writes the waiting ones and their counts, and waits for that, for limit_ms
 * at most. Call it once, on any thread but the client's. NULL is fine. */
void event_recorder_stop(struct event_recorder *r, int64_t limit_ms);
/* Drops events that are not written yet. Any thread; after the return the client's thread does
 * nothing more for the recorder. NULL is fine. */
void event_recorder_free(struct event_recorder *r);

/*
 * Replaces kube/watch/watch.c: one reflector, the answer to its present request, and the bytes of
 * the answer that arrive as virtual time passes. It also observes the calls between reflector and
 * sink.
 */
#pragma once

#include "kube/watch/reflector.h"
#include "sim/oracle.h"

struct kube_watch {
    struct sim *sim;
    enum object_kind kind;
    struct reflector *reflector; /* owned */
    struct reflector_sink sink;  /* the real sink */
    struct oracle oracle;
    struct answer answer;
    enum { WATCH_IDLE, WATCH_CONNECTING, WATCH_READING } state;
    int64_t at_ms; /* time when it has something to do */
    int64_t began_ms, last_byte_ms, timeout_ms, silence_ms;
};

/* The client that the kube source gets. */
struct kube_client {
    struct sim *sim;
};

void watch_step(struct kube_watch *w);
/* Call it when a replica has reached change number `change`: passes it to all watches on the
 * replica. */
void watches_change(struct sim *s, uint32_t replica, uint32_t change);
/* Breaks every connection that is not already silent. */
void watches_cut(struct sim *s);

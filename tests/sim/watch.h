/*
 * Stands in for kube/watch/watch.c: one reflector, the answer to the request it has under way, and
 * the bytes of it that come in as virtual time goes on. Between reflector and sink it listens.
 */
#pragma once

#include "kube/watch/reflector.h"
#include "sim/oracle.h"

struct kube_watch {
    struct sim *sim;
    enum object_kind kind;
    struct reflector *reflector; /* owned */
    struct reflector_sink sink;  /* the real one */
    struct oracle oracle;
    struct answer answer;
    enum { WATCH_IDLE, WATCH_CONNECTING, WATCH_READING } state;
    int64_t at_ms; /* when it has something to do */
    int64_t began_ms, last_byte_ms, timeout_ms, silence_ms;
};

/* What the kube source believes to be a client. */
struct kube_client {
    struct sim *sim;
};

void watch_step(struct kube_watch *w);
/* A replica has come to change number `change`: all watches on it hear of it. */
void watches_change(struct sim *s, uint32_t replica, uint32_t change);
/* Every connection breaks that is not silent already. */
void watches_cut(struct sim *s);

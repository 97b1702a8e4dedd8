/*
 * Timers, and the order in which they fire: a pairing heap whose links are in the timers
 * themselves, so that starting one takes no memory and cannot fail. Adding takes O(1), removing
 * O(log n) in the long run. Not thread-safe; kube/client/loop.c has a lock around it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner fills in `fn` and `ctx`, and zeroes the rest. */
struct kube_timer {
    void (*fn)(void *ctx);
    void *ctx;
    struct timer_place { /* the heap's */
        int64_t at_ms;
        uint64_t order;     /* of timers that fire at the same time, who was added first */
        const void *client; /* who started it; the heap does not look at it */
        struct kube_timer *child, *next;
        struct kube_timer *before; /* the parent of a first child, else the sibling before it */
        bool waits;                /* it is in the heap */
    } place;
};

/* Zeroed: empty. */
struct timers {
    struct kube_timer *first; /* fires next; NULL: none is there */
    uint64_t added;
};

/* `timer` is in no heap. */
void timers_add(struct timers *t, struct kube_timer *timer, int64_t at_ms);
/* `timer` is in this heap. */
void timers_remove(struct timers *t, struct kube_timer *timer);
/* All timers of this client fire before all others, at INT64_MIN. O(n log n). */
void timers_hurry(struct timers *t, const void *client);

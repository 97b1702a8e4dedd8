/*
 * Timers, and the order in which they fire: a pairing heap whose links are in the timers
 * themselves, so that starting one takes no memory and cannot fail. Adding takes O(1), removing
 * takes O(log n) on average over many calls. Not thread-safe; kube/client/loop.c has a lock around
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner fills in `fn` and `ctx`, and zeroes the rest. */
struct kube_timer {
    void (*fn)(void *ctx);
    void *ctx;
    struct timer_place { /* for the heap only */
        int64_t at_ms;
        uint64_t order;     /* of timers with the same time, the first added fires first */
        const void *client; /* the client that started the timer, for timers_hurry() */
        struct kube_timer *child, *next;
        struct kube_timer *before; /* the parent of a first child, else the sibling before it */
        bool waits;                /* the timer is in the heap */
    } place;
};

/* A heap of timers. All zero: the heap is empty. */
struct timers {
    struct kube_timer *first; /* fires next; NULL: the heap is empty */
    uint64_t added;
};

/* `timer` must be in no heap. */
void timers_add(struct timers *t, struct kube_timer *timer, int64_t at_ms);
/* `timer` must be in this heap. */
void timers_remove(struct timers *t, struct kube_timer *timer);
/* Moves all timers of this client to INT64_MIN: they fire before all others. O(n log n). */
void timers_hurry(struct timers *t, const void *client);

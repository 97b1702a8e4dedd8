#include "kube/client/timers.h"

/* upstream: Fredman et al., "The pairing heap: a new form of self-adjusting heap". */

static bool fires_before(const struct kube_timer *a, const struct kube_timer *b) {
    return a->place.at_ms != b->place.at_ms ? a->place.at_ms < b->place.at_ms
                                            : a->place.order < b->place.order;
}

/* Joins two heaps, and returns the root that fires first. The other root becomes its first child.
 */
static struct kube_timer *join(struct kube_timer *a, struct kube_timer *b) {
    if (fires_before(b, a)) {
        struct kube_timer *other = a;
        a = b;
        b = other;
    }
    b->place.before = a;
    b->place.next = a->place.child;
    if (b->place.next != NULL)
        b->place.next->place.before = b;
    a->place.child = b;
    return a;
}

static struct kube_timer *alone(struct kube_timer *timer) {
    timer->place.before = timer->place.next = NULL;
    return timer;
}

/* Joins siblings to one root: first neighbours in pairs, then the pairs, from the last to the
 * first. `next` links the list of pairs. */
static struct kube_timer *join_siblings(struct kube_timer *first) {
    struct kube_timer *pairs = NULL, *root = NULL;
    while (first != NULL) {
        struct kube_timer *second = first->place.next;
        struct kube_timer *rest = second != NULL ? second->place.next : NULL;
        struct kube_timer *pair = alone(first);
        if (second != NULL)
            pair = join(pair, alone(second));
        pair->place.next = pairs;
        pairs = pair;
        first = rest;
    }
    while (pairs != NULL) {
        struct kube_timer *pair = pairs;
        pairs = pair->place.next;
        root = root != NULL ? join(root, alone(pair)) : alone(pair);
    }
    return root;
}

static void insert(struct timers *t, struct kube_timer *root) {
    if (root != NULL)
        t->first = t->first != NULL ? join(t->first, root) : root;
}

void timers_add(struct timers *t, struct kube_timer *timer, int64_t at_ms) {
    timer->place.at_ms = at_ms;
    timer->place.order = t->added++;
    timer->place.child = NULL;
    timer->place.waits = true;
    insert(t, alone(timer));
}

void timers_remove(struct timers *t, struct kube_timer *timer) {
    struct kube_timer *before = timer->place.before, *next = timer->place.next;
    struct kube_timer *children = join_siblings(timer->place.child);
    if (before == NULL)
        t->first = NULL;
    else if (before->place.child == timer)
        before->place.child = next;
    else
        before->place.next = next;
    if (next != NULL)
        next->place.before = before;
    insert(t, children);
    timer->place.child = NULL;
    timer->place.waits = false;
    (void)alone(timer);
}

void timers_hurry(struct timers *t, const void *client) {
    struct timers changed = {.added = t->added};
    while (t->first != NULL) {
        struct kube_timer *timer = t->first;
        timers_remove(t, timer);
        timers_add(&changed, timer, timer->place.client == client ? INT64_MIN : timer->place.at_ms);
    }
    *t = changed;
}

#include "http/slots.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "http/shares.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/socket.h>

enum state {
    ENTERED,  /* with libmicrohttpd, which has not told us of it yet */
    IDLE,     /* in its address's list of this name */
    BUSY,     /* likewise */
    VERIFIED, /* counted in `verified`, and for no address */
    LEAVING   /* shut down by us; counted for nobody */
};

struct slot {
    int fd;
    enum state state;
    struct share *address; /* while it is a stranger's */
    struct list waiting;   /* in one of the address's lists */
    struct list opened;    /* in slots.by_fd; when free, in slots.unused */
};

struct slots {
    struct slots_limits limits;
    struct mutex mutex;     /* guards everything below */
    struct condition moved; /* `passing` has become less */
    unsigned passing;       /* connections on their way in or out */
    bool stuck;             /* it has not become less since a newcomer waited in vain */
    struct shares strangers;
    unsigned verified;
    struct slot *all; /* owned; `mask` + 1 heads, and twice the limit of slots */
    struct list unused;
    struct list *by_fd; /* owned */
    unsigned mask;
};

struct slots *slots_new(const struct slots_limits *limits) {
    struct slots *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    const unsigned count = 2 * limits->connections;
    unsigned heads = 16;
    while (heads < count)
        heads *= 2;
    s->limits = *limits;
    s->mask = heads - 1;
    s->all = calloc(count, sizeof *s->all);
    s->by_fd = calloc(heads, sizeof *s->by_fd);
    mutex_init(&s->mutex);
    condition_init(&s->moved);
    if (!shares_init(&s->strangers, limits->connections) || s->all == NULL || s->by_fd == NULL) {
        slots_free(s);
        return NULL;
    }
    list_init(&s->unused);
    for (unsigned i = 0; i < heads; i++)
        list_init(&s->by_fd[i]);
    for (unsigned i = 0; i < count; i++)
        list_append(&s->unused, &s->all[i].opened);
    return s;
}

void slots_free(struct slots *s) {
    if (s == NULL)
        return;
    shares_done(&s->strangers);
    condition_done(&s->moved);
    mutex_done(&s->mutex);
    free(s->all);
    free(s->by_fd);
    free(s);
}

static struct slot *find(struct slots *s, int fd) REQUIRES(s->mutex) {
    struct list *head = &s->by_fd[(unsigned)fd & s->mask];
    for (struct list *at = head->next; at != head; at = at->next)
        if (LIST_ITEM(struct slot, opened, at)->fd == fd)
            return LIST_ITEM(struct slot, opened, at);
    return NULL;
}

/* It counts for nobody any more. */
static void count_out(struct slots *s, struct slot *slot) REQUIRES(s->mutex) {
    if (slot->state == VERIFIED)
        s->verified--;
    else if (slot->state != LEAVING)
        shares_shrink(&s->strangers, slot->address);
    list_remove(&slot->waiting);
}

/* Whoever was on the way in or out has arrived. */
static void move(struct slots *s) REQUIRES(s->mutex) {
    s->passing--;
    s->stuck = false;
    condition_signal(&s->moved);
}

static void release(struct slots *s, struct slot *slot) REQUIRES(s->mutex) {
    count_out(s, slot);
    list_remove(&slot->opened);
    list_append(&s->unused, &slot->opened);
    if (slot->state == ENTERED || slot->state == LEAVING)
        move(s);
}

static struct slot *first_of(struct list *connections) {
    return list_empty(connections) ? NULL : LIST_ITEM(struct slot, waiting, connections->next);
}

/* Whose connection goes for one more of `newcomer`. NULL: nobody's. */
static struct slot *choose(struct slots *s, struct share *newcomer, enum slots_reason *ret_reason)
    REQUIRES(s->mutex) {
    *ret_reason = SLOTS_ADDRESS;
    if (newcomer->size >= s->limits.per_address)
        return first_of(&newcomer->idle);
    *ret_reason = SLOTS_ALL;
    struct share *most = shares_largest(&s->strangers);
    if (most == NULL)
        return NULL;
    struct slot *slot = first_of(&most->idle);
    return slot != NULL || !shares_exceeds(most, newcomer) ? slot : first_of(&most->busy);
}

static bool is_full(const struct slots *s, const struct share *newcomer) REQUIRES(s->mutex) {
    const unsigned strangers = s->strangers.everybody.size;
    return newcomer->size >= s->limits.per_address ||
           strangers + s->verified >= s->limits.connections ||
           strangers >= s->limits.connections - s->limits.reserved;
}

/* Closes a connection if that is what it takes to have one more of this address. */
static void make_room(struct slots *s, struct share *newcomer, struct slots_entry *entry)
    REQUIRES(s->mutex) {
    entry->admitted = !list_empty(&s->unused);
    if (!entry->admitted || !is_full(s, newcomer))
        return;
    struct slot *slot = choose(s, newcomer, &entry->reason);
    entry->admitted = entry->evicted = slot != NULL;
    if (slot == NULL)
        return;
    entry->whose = slot->address->key;
    count_out(s, slot);
    slot->state = LEAVING;
    s->passing++;
    (void)shutdown(slot->fd, SHUT_RDWR); /* fails when the peer is gone already: as good */
}

static void add(struct slots *s, int fd, struct share *address) REQUIRES(s->mutex) {
    struct slot *slot = LIST_ITEM(struct slot, opened, s->unused.next);
    list_remove(&slot->opened);
    *slot = (struct slot){.fd = fd, .state = ENTERED, .address = address};
    list_init(&slot->waiting);
    list_append(&s->by_fd[(unsigned)fd & s->mask], &slot->opened);
    shares_grow(&s->strangers, address);
    s->passing++;
}

static struct slots_entry try_to_enter(struct slots *s, int fd, const struct address_key *key)
    REQUIRES(s->mutex) {
    struct slots_entry entry = {.admitted = false};
    struct share *address = shares_of(&s->strangers, key);
    if (address != NULL)
        make_room(s, address, &entry);
    if (entry.admitted)
        add(s, fd, shares_of(&s->strangers, key)); /* its last one may be what had to go */
    else if (address != NULL)
        shares_drop(&s->strangers, address);
    return entry;
}

struct slots_entry slots_enter(struct slots *s, int fd, const struct sockaddr *peer) {
    const struct address_key key = address_key(peer);
    mutex_lock(&s->mutex);
    struct slot *lost = find(s, fd);
    if (lost != NULL)
        release(s, lost); /* libmicrohttpd closed it without a word, or it would not be new */
    struct slots_entry entry = try_to_enter(s, fd, &key);
    const int64_t until_ms =
        entry.admitted ? 0 : clock_real()->now_ms(clock_real()) + SLOTS_WAIT_MS;
    while (!entry.admitted && s->passing > 0 && !s->stuck) {
        s->stuck = !condition_wait_until(&s->moved, &s->mutex, until_ms);
        entry = try_to_enter(s, fd, &key);
    }
    mutex_unlock(&s->mutex);
    return entry;
}

struct slot *slots_start(struct slots *s, int fd) {
    mutex_lock(&s->mutex);
    struct slot *slot = find(s, fd);
    if (slot != NULL && slot->state == ENTERED) {
        slot->state = IDLE;
        list_append(&slot->address->idle, &slot->waiting);
        move(s);
    }
    assert(slot != NULL); /* it has entered */
    mutex_unlock(&s->mutex);
    return slot;
}

void slots_busy(struct slots *s, struct slot *slot) {
    mutex_lock(&s->mutex);
    if (slot->state == IDLE) {
        slot->state = BUSY;
        list_remove(&slot->waiting);
        list_append(&slot->address->busy, &slot->waiting);
    }
    mutex_unlock(&s->mutex);
}

void slots_idle(struct slots *s, struct slot *slot) {
    mutex_lock(&s->mutex);
    if (slot->state == BUSY) {
        slot->state = IDLE;
        list_remove(&slot->waiting);
        list_append(&slot->address->idle, &slot->waiting);
    }
    mutex_unlock(&s->mutex);
}

void slots_verified(struct slots *s, struct slot *slot) {
    mutex_lock(&s->mutex);
    if (slot->state == IDLE || slot->state == BUSY) {
        count_out(s, slot);
        slot->state = VERIFIED;
        s->verified++;
    }
    mutex_unlock(&s->mutex);
}

void slots_leave(struct slots *s, int fd) {
    mutex_lock(&s->mutex);
    struct slot *slot = find(s, fd);
    if (slot != NULL)
        release(s, slot);
    mutex_unlock(&s->mutex);
}

#include "net/slots.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "net/shares.h"

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum state {
    FREE,
    ENTERED,  /* given to libmicrohttpd, which has not called us back yet */
    IDLE,     /* in the list `idle` of its address */
    BUSY,     /* in the list `busy` of its address */
    VERIFIED, /* counted only in `verified`, not for an address */
    LEAVING   /* shut down by us; not counted */
};

struct slot {
    int fd;
    ino_t inode; /* of its socket; another socket may get the same descriptor later */
    enum state state;
    struct share *address;  /* while it is a stranger's */
    _Atomic size_t bytes;   /* bytes that the connection holds */
    _Atomic bool by_client; /* the client decides how long it holds them */
    struct list waiting;    /* in one of the address's lists */
    struct list opened;     /* in slots.by_fd; when free, in slots.unused */
};

struct slots {
    struct slots_limits limits;
    struct mutex mutex;     /* guards everything below */
    struct condition moved; /* signalled when `passing` falls */
    unsigned passing;       /* connections on their way in or out */
    bool closing;           /* every new connection is refused at once */
    bool stuck;             /* a newcomer waited without success, and no connection has arrived
                               since */
    struct shares strangers;
    unsigned verified;
    struct slot *all;      /* owned: twice the limit */
    unsigned count, fresh; /* of `all`: those from `fresh` on have never been used */
    struct list unused;    /* those that are free again */
    struct list *by_fd;    /* owned: heads, `mask` + 1 of them */
    unsigned mask;
};

/* Connections of all listeners of the process. */
static _Atomic int everywhere;

int slots_scarce_fd(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= INT_MAX)
        return 0;
    const int most = (int)limit.rlim_cur, part = most / 4;
    return most - (part < LIMIT_FREE_DESCRIPTORS ? part : LIMIT_FREE_DESCRIPTORS);
}

struct slots *slots_new(const struct slots_limits *limits) {
    struct slots *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    const unsigned count = 2 * limits->connections;
    unsigned heads = 16;
    while (heads < count)
        heads *= 2;
    s->limits = *limits;
    s->count = count;
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
    return s;
}

void slots_free(struct slots *s) {
    if (s == NULL)
        return;
    for (unsigned i = 0; s->all != NULL && i < s->fresh; i++)
        if (s->all[i].state != FREE)
            (void)atomic_fetch_sub(&everywhere, 1);
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

/* Takes the connection out of all counts. */
static void count_out(struct slots *s, struct slot *slot) REQUIRES(s->mutex) {
    if (slot->state == ENTERED)
        slot->address->entered--;
    if (slot->state == VERIFIED)
        s->verified--;
    else if (slot->state != LEAVING)
        shares_shrink(&s->strangers, slot->address);
    list_remove(&slot->waiting);
}

/* Notes that a connection on its way in or out has arrived. */
static void move(struct slots *s) REQUIRES(s->mutex) {
    s->passing--;
    s->stuck = false;
    condition_signal(&s->moved);
}

static void release(struct slots *s, struct slot *slot) REQUIRES(s->mutex) {
    count_out(s, slot);
    list_remove(&slot->opened);
    list_append(&s->unused, &slot->opened);
    const bool passed = slot->state == ENTERED || slot->state == LEAVING;
    slot->state = FREE;
    (void)atomic_fetch_sub(&everywhere, 1);
    if (passed)
        move(s);
}

static struct slot *first_of(struct list *connections) {
    return list_empty(connections) ? NULL : LIST_ITEM(struct slot, waiting, connections->next);
}

/* Chooses the connection to close for one more of `newcomer`. Returns NULL if none may be closed.
 */
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

/* The kernel gives out the lowest free descriptor, so a high number shows that so many are in use.
 * A low number does not show the opposite, so connections are counted, too. */
static bool is_scarce(const struct slots *s, int fd) REQUIRES(s->mutex) {
    return s->limits.scarce_fd > 0 &&
           (fd >= s->limits.scarce_fd || atomic_load(&everywhere) >= s->limits.scarce_fd) &&
           s->strangers.everybody.size + s->verified >= SLOTS_FEW;
}

static bool is_full(const struct slots *s, int fd, const struct share *newcomer)
    REQUIRES(s->mutex) {
    const unsigned strangers = s->strangers.everybody.size;
    return is_scarce(s, fd) || newcomer->size >= s->limits.per_address ||
           strangers + s->verified >= s->limits.connections ||
           strangers >= s->limits.connections - s->limits.reserved;
}

static bool is_served(const struct slot *slot) {
    return slot->state == IDLE || slot->state == BUSY || slot->state == VERIFIED;
}

static void close_slot(struct slots *s, struct slot *slot) REQUIRES(s->mutex) {
    count_out(s, slot);
    slot->state = LEAVING;
    s->passing++;
    (void)shutdown(slot->fd, SHUT_RDWR); /* fails only if the peer is gone already */
}

static void evict(struct slots *s, struct slot *slot, struct slots_entry *entry)
    REQUIRES(s->mutex) {
    entry->evicted = true;
    entry->whose = slot->address->key;
    close_slot(s, slot);
}

static bool has_room(const struct slots *s) REQUIRES(s->mutex) {
    return s->fresh < s->count || !list_empty(&s->unused);
}

/* Returns a free slot; the caller has checked that there is one. */
static struct slot *take(struct slots *s) REQUIRES(s->mutex) {
    if (list_empty(&s->unused))
        return &s->all[s->fresh++];
    struct slot *slot = LIST_ITEM(struct slot, opened, s->unused.next);
    list_remove(&slot->opened);
    return slot;
}

/* Closes a connection if one more of this address needs the room. */
static void make_room(struct slots *s, int fd, struct share *newcomer, struct slots_entry *entry)
    REQUIRES(s->mutex) {
    entry->admitted = has_room(s) && (!is_scarce(s, fd) || s->passing < SLOTS_FEW);
    if (!entry->admitted || !is_full(s, fd, newcomer))
        return;
    struct slot *slot = choose(s, newcomer, &entry->reason);
    entry->admitted = slot != NULL;
    if (slot != NULL)
        evict(s, slot, entry);
}

static ino_t inode_of(int fd) {
    struct stat about;
    return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

static void add(struct slots *s, int fd, struct share *address) REQUIRES(s->mutex) {
    struct slot *slot = take(s);
    *slot = (struct slot){.fd = fd, .inode = inode_of(fd), .state = ENTERED, .address = address};
    list_init(&slot->waiting);
    list_append(&s->by_fd[(unsigned)fd & s->mask], &slot->opened);
    shares_grow(&s->strangers, address);
    address->entered++;
    (void)atomic_fetch_add(&everywhere, 1);
    s->passing++;
}

static struct slots_entry try_to_enter(struct slots *s, int fd, const struct address_key *key)
    REQUIRES(s->mutex) {
    struct slots_entry entry = {.admitted = false};
    struct share *address = shares_of(&s->strangers, key);
    if (address != NULL)
        make_room(s, fd, address, &entry);
    if (entry.admitted)
        add(s, fd, shares_of(&s->strangers, key)); /* its last connection may have been the one that
                                                      was closed */
    else if (address != NULL)
        shares_drop(&s->strangers, address);
    return entry;
}

/* Can connections on their way in or out make room? If the address has reached its own limit, only
 * its own connections on their way in can. */
static bool may_wait(struct slots *s, const struct address_key *key, enum slots_reason reason)
    REQUIRES(s->mutex) {
    if (s->passing == 0 || s->stuck)
        return false;
    const struct share *address = reason == SLOTS_ADDRESS ? shares_of(&s->strangers, key) : NULL;
    return address == NULL || address->entered > 0;
}

struct slots_entry slots_enter(struct slots *s, int fd, const struct sockaddr *peer) {
    const struct address_key key = address_key(peer);
    mutex_lock(&s->mutex);
    struct slot *lost = find(s, fd);
    if (lost != NULL)
        release(s, lost); /* the descriptor is new, so libmicrohttpd has closed the old connection
                             without a callback */
    struct slots_entry entry = try_to_enter(s, fd, &key);
    const int64_t until_ms =
        entry.admitted ? 0 : clock_real()->now_ms(clock_real()) + SLOTS_WAIT_MS;
    while (!entry.admitted && may_wait(s, &key, entry.reason)) {
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
        slot->address->entered--;
        list_append(&slot->address->idle, &slot->waiting);
        move(s);
        if (s->closing)
            close_slot(s, slot);
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

/* ---- the end ---- */

/* Releases lost slots: libmicrohttpd closes a connection without a callback if it has no memory for
 * it. Then the descriptor is closed, or belongs to another file. */
static void release_lost(struct slots *s) REQUIRES(s->mutex) {
    for (unsigned i = 0; i < s->fresh; i++)
        if (s->all[i].state == ENTERED && inode_of(s->all[i].fd) != s->all[i].inode)
            release(s, &s->all[i]);
}

void slots_close_all(struct slots *s) {
    enum { LOST_AFTER_MS = 100 };
    mutex_lock(&s->mutex);
    s->closing = true;
    for (unsigned i = 0; i < s->fresh; i++)
        if (is_served(&s->all[i]))
            close_slot(s, &s->all[i]);
    while (s->passing > 0)
        if (!condition_wait_until(&s->moved, &s->mutex,
                                  clock_real()->now_ms(clock_real()) + LOST_AFTER_MS))
            release_lost(s);
    mutex_unlock(&s->mutex);
}

/* ---- bytes ---- */

void slots_hold(struct slot *slot, size_t bytes, bool by_client) {
    atomic_store_explicit(&slot->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&slot->by_client, by_client, memory_order_relaxed);
}

static size_t bytes_of(const struct slot *slot) {
    return atomic_load_explicit(&slot->bytes, memory_order_relaxed);
}

static bool is_strangers(const struct slot *slot) {
    return slot->state == ENTERED || slot->state == IDLE || slot->state == BUSY;
}

/* Fills in `held` of all addresses and networks that have a connection. */
static void sum_up(struct slots *s) REQUIRES(s->mutex) {
    for (unsigned i = 0; i < s->fresh; i++)
        if (is_strangers(&s->all[i]))
            s->all[i].address->held = s->all[i].address->parent->held = 0;
    for (unsigned i = 0; i < s->fresh; i++)
        if (is_strangers(&s->all[i])) {
            s->all[i].address->held += bytes_of(&s->all[i]);
            s->all[i].address->parent->held += bytes_of(&s->all[i]);
        }
}

/* Does `a` hold more than `b` with `more` bytes? Compares networks; in one network, addresses; of
 * one address, connections. */
static bool holds_more(const struct slot *a, const struct slot *b, size_t more) {
    if (a->address->parent != b->address->parent)
        return a->address->parent->held > b->address->parent->held + more;
    if (a->address != b->address)
        return a->address->held > b->address->held + more;
    return bytes_of(a) > bytes_of(b) + more;
}

static struct slot *largest_holder(struct slots *s, const struct slot *but) REQUIRES(s->mutex) {
    struct slot *largest = NULL;
    for (unsigned i = 0; i < s->fresh; i++) {
        struct slot *at = &s->all[i];
        const bool may_go = at != but && at->state == BUSY && bytes_of(at) > 0 &&
                            atomic_load_explicit(&at->by_client, memory_order_relaxed);
        if (may_go && (largest == NULL || holds_more(at, largest, 0)))
            largest = at;
    }
    return largest;
}

bool slots_evict_holder(struct slots *s, const struct slot *slot, size_t wanted,
                        struct slots_entry *ret) {
    struct slots_entry entry = {.reason = SLOTS_BYTES};
    mutex_lock(&s->mutex);
    sum_up(s);
    const size_t has = bytes_of(slot), more = wanted > has ? wanted - has : 0;
    struct slot *most = slot->state != LEAVING ? largest_holder(s, slot) : NULL;
    if (most != NULL && (slot->state == VERIFIED || holds_more(most, slot, more)))
        evict(s, most, &entry);
    mutex_unlock(&s->mutex);
    if (entry.evicted)
        *ret = entry;
    return entry.evicted;
}

size_t slots_leaving_bytes(struct slots *s) {
    size_t n = 0;
    mutex_lock(&s->mutex);
    for (unsigned i = 0; i < s->fresh; i++)
        n += s->all[i].state == LEAVING ? bytes_of(&s->all[i]) : 0;
    mutex_unlock(&s->mutex);
    return n;
}

void slots_leave(struct slots *s, int fd) {
    mutex_lock(&s->mutex);
    struct slot *slot = find(s, fd);
    if (slot != NULL)
        release(s, slot);
    mutex_unlock(&s->mutex);
}

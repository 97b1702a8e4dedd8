#include "hub/placement_history.h"

#include "base/hash.h"
#include "base/hashmap.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "explain/eviction.h"

#include <errno.h>
#include <stdlib.h>

/* A move; the eviction has chosen its place in `moves`. */
struct kept_move {
    uint32_t record; /* record id + 1; 0: the place is empty */
    int64_t wall_ms;
    const char *reason, *result;
    uint32_t added, removed, added_more, removed_more;
    char *names; /* owned: added clusters, then removed ones; a NUL after each; NULL: no names */
    size_t names_n;
};

struct kept_placement {
    char *key; /* owned: namespace, NUL, name, NUL */
    size_t namespace_n, name_n;
    uint64_t uid; /* hash */
    struct placement_standing standing;
    uint32_t places[LIMIT_MOVES_OF_ONE]; /* a ring, the oldest at `first` */
    uint32_t first, count;
    uint64_t forgotten;
};

struct placement_history {
    struct mutex mutex; /* guards the members below */
    bool leads;
    struct pool placements;
    struct hashmap index;
    struct eviction *eviction;
    struct kept_move moves[LIMIT_MOVES];
};

/* ---- life ---- */

int placement_history_new(struct placement_history **ret, struct err *err) {
    struct placement_history *h = calloc(1, sizeof *h);
    if (h == NULL || eviction_new(LIMIT_MOVES, &h->eviction) != 0) {
        free(h);
        return err_set(err, -ENOMEM, "no memory for moves of Placements");
    }
    mutex_init(&h->mutex);
    pool_init(&h->placements, sizeof(struct kept_placement));
    *ret = h;
    return 0;
}

/* ---- records; the mutex is held ---- */

struct key {
    struct str namespace, name;
};

static struct kept_placement *placement_at(const struct placement_history *h, uint32_t id) {
    return pool_at(&h->placements, id);
}

static uint64_t hash_of(const struct key *key) {
    struct hash_state state = hash_begin();
    hash_add(&state, key->namespace);
    hash_add(&state, key->name);
    return hash_end(state);
}

static struct key key_of(const struct kept_placement *p) {
    return (struct key){{p->key, p->namespace_n}, {p->key + p->namespace_n + 1, p->name_n}};
}

static bool is_named(const void *ctx, uint32_t id, const void *wanted) {
    const struct key *other = wanted;
    const struct key key = key_of(placement_at(ctx, id));
    return str_eq(key.name, other->name) && str_eq(key.namespace, other->namespace);
}

static uint32_t find(const struct placement_history *h, const struct key *key) {
    return hashmap_find(&h->index, hash_of(key), is_named, h, key);
}

static uint32_t make(struct placement_history *h, const struct key *key) {
    const size_t n = key->namespace.n, m = key->name.n;
    char *text = malloc(n + m + 2);
    const bool good = text != NULL && hashmap_reserve(&h->index) == 0;
    const uint32_t id = good ? pool_take(&h->placements) : POOL_NONE;
    if (id == POOL_NONE) {
        free(text);
        return POOL_NONE;
    }
    struct kept_placement *p = placement_at(h, id);
    memcpy(text, key->namespace.p, n);
    memcpy(text + n + 1, key->name.p, m);
    text[n] = text[n + m + 1] = '\0';
    p->key = text;
    p->namespace_n = n;
    p->name_n = m;
    hashmap_insert(&h->index, hash_of(key), id);
    return id;
}

/* Empties the place of the Placement's oldest move. The eviction reuses the place when the
 * namespace must lose a move. */
static void forget_move(struct placement_history *h, struct kept_placement *p) {
    struct kept_move *move = &h->moves[p->places[p->first]];
    free(move->names);
    *move = (struct kept_move){.record = 0};
    p->first = (p->first + 1) % LIMIT_MOVES_OF_ONE;
    p->count--;
    p->forgotten++;
}

static void drop(struct placement_history *h, uint32_t id) {
    struct kept_placement *p = placement_at(h, id);
    const struct key key = key_of(p);
    while (p->count > 0)
        forget_move(h, p);
    hashmap_remove(&h->index, hash_of(&key), id);
    free(p->key);
    pool_give(&h->placements, id);
}

static void drop_all(struct placement_history *h) {
    for (POOL_EACH(&h->placements, id))
        drop(h, id);
}

void placement_history_free(struct placement_history *h) {
    if (h == NULL)
        return;
    drop_all(h);
    pool_done(&h->placements);
    hashmap_done(&h->index);
    eviction_free(h->eviction);
    mutex_done(&h->mutex);
    free(h);
}

void placement_history_lead(struct placement_history *h, bool leads) {
    if (h == NULL)
        return;
    mutex_lock(&h->mutex);
    h->leads = leads;
    drop_all(h);
    mutex_unlock(&h->mutex);
}

void placement_history_forget(struct placement_history *h, struct str namespace, struct str name) {
    const struct key key = {namespace, name};
    if (h == NULL)
        return;
    mutex_lock(&h->mutex);
    const uint32_t id = find(h, &key);
    if (id != HASHMAP_NONE)
        drop(h, id);
    mutex_unlock(&h->mutex);
}

/* ---- moves ---- */

/* Returns the number of names, from the first, that fit into half of LIMIT_MOVE_NAMES. */
static uint32_t count_fitting(const struct str *names, uint32_t count, size_t *bytes) {
    size_t used = 0;
    uint32_t n = 0;
    for (; n < count && used + names[n].n + 1 <= LIMIT_MOVE_NAMES / 2; n++)
        used += names[n].n + 1;
    *bytes += used;
    return n;
}

static char *put_names(char *at, const struct str *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        memcpy(at, names[i].p, names[i].n);
        at[names[i].n] = '\0';
        at += names[i].n + 1;
    }
    return at;
}

static bool fill(struct kept_move *move, const struct owned_moves *begun) {
    move->added = count_fitting(begun->added, begun->added_count, &move->names_n);
    move->removed = count_fitting(begun->removed, begun->removed_count, &move->names_n);
    move->added_more = begun->added_count - move->added;
    move->removed_more = begun->removed_count - move->removed;
    move->names = move->names_n > 0 ? malloc(move->names_n) : NULL;
    if (move->names != NULL)
        (void)put_names(put_names(move->names, begun->added, move->added), begun->removed,
                        move->removed); /* the end is not needed */
    return move->names != NULL || move->names_n == 0;
}

static void add_move(struct placement_history *h, uint32_t id, const struct kept_move *move) {
    struct kept_placement *p = placement_at(h, id);
    const uint32_t at = eviction_place(h->eviction, hash_str((struct str){p->key, p->namespace_n}));
    const uint32_t owner = h->moves[at].record;
    if (owner != 0)
        forget_move(h, placement_at(h, owner - 1)); /* this move is its Placement's oldest */
    if (p->count == LIMIT_MOVES_OF_ONE)
        forget_move(h, p);
    h->moves[at] = *move;
    p->places[(p->first + p->count++) % LIMIT_MOVES_OF_ONE] = at;
}

/* ---- a look ---- */

static const char *mode_of(const struct owned_answer *a) {
    if (a->mode == OWNED_OURS)
        return a->left_undone ? "Undone" : "Owner";
    if (a->mode == OWNED_SCORED)
        return a->left_undone ? "Undone" : "Scores";
    return a->mode == OWNED_LEAVING ? "Leaving" : "OCM";
}

static const char *result_of(const struct owned_answer *a) {
    switch (a->result) {
    case OWNED_NOT_DECIDED:
        break;
    case OWNED_DECIDED:
        return a->plan_skewed ? "Skewed" : "Decided";
    case OWNED_KEPT:
        return "Kept";
    case OWNED_FAILED:
        return "Failed";
    }
    return "";
}

static const char *waits_of(const struct owned_answer *a) {
    if (a->waiting > 0 && a->waits != OWNED_WAITS_NOT)
        return a->waits == OWNED_WAITS_SETTLE ? "settleAfter" : "movesPerMinute";
    return a->write.what != OWNED_NOTHING || a->write_is_out ? "write" : NULL;
}

static void set_standing(struct kept_placement *p, const struct owned_answer *a, int64_t wall_ms) {
    p->standing = (struct placement_standing){.mode = mode_of(a),
                                              .result = result_of(a),
                                              .kept = a->kept,
                                              .waiting = a->waiting,
                                              .waits = waits_of(a),
                                              .wait_ms = a->waits_ms,
                                              .wall_ms = wall_ms};
}

/* Do moves begin? Not if the look failed. */
static bool begins(const struct owned_answer *a) {
    return a->moves > 0 && a->result != OWNED_FAILED;
}

/* Is there a move or a change of the result? A first result is no change. */
static bool is_worth_noting(const struct kept_placement *p, const struct owned_answer *a) {
    const char *before = p->standing.result, *now = result_of(a);
    const bool changed = before != NULL && before[0] != '\0' && now[0] != '\0' && now != before;
    return begins(a) || changed;
}

static void note(struct placement_history *h, uint32_t id, const struct owned_answer *a,
                 int64_t wall_ms) {
    static const struct owned_moves none;
    struct kept_move move = {.record = id + 1,
                             .wall_ms = wall_ms,
                             .reason = begins(a) ? owned_reason_names[a->why] : NULL,
                             .result = result_of(a)};
    if (fill(&move, begins(a) ? &a->begun : &none))
        add_move(h, id, &move);
}

void placement_history_look(struct placement_history *h, struct str namespace, struct str name,
                            const struct owned_answer *a, int64_t wall_ms) {
    const struct key key = {namespace, name};
    if (h == NULL || a->mode == OWNED_GONE)
        return;
    mutex_lock(&h->mutex);
    uint32_t id = h->leads ? find(h, &key) : HASHMAP_NONE;
    if (id != HASHMAP_NONE && placement_at(h, id)->uid != hash_str(a->uid)) {
        drop(h, id); /* another Placement with the same name */
        id = HASHMAP_NONE;
    }
    if (id == HASHMAP_NONE && h->leads)
        id = make(h, &key);
    if (id != HASHMAP_NONE) {
        struct kept_placement *p = placement_at(h, id);
        p->uid = hash_str(a->uid);
        if (is_worth_noting(p, a))
            note(h, id, a, wall_ms);
        set_standing(p, a, wall_ms);
    }
    mutex_unlock(&h->mutex);
}

/* ---- reading ---- */

static const struct str *read_names(const char **at, uint32_t count, struct arena *arena) {
    struct str *names = arena_array(arena, count, sizeof *names);
    for (uint32_t i = 0; names != NULL && i < count; i++) {
        names[i] = arena_str(arena, str_of(*at));
        *at += names[i].n + 1;
    }
    return names;
}

static void read_moves(const struct placement_history *h, const struct kept_placement *p,
                       struct arena *arena, struct placement_told *ret) {
    struct placement_move *moves = arena_array(arena, p->count, sizeof *moves);
    for (uint32_t i = 0; moves != NULL && i < p->count; i++) {
        const struct kept_move *move = &h->moves[p->places[(p->first + i) % LIMIT_MOVES_OF_ONE]];
        const char *at = move->names;
        moves[i] = (struct placement_move){.wall_ms = move->wall_ms,
                                           .reason = move->reason,
                                           .result = move->result,
                                           .added_count = move->added,
                                           .removed_count = move->removed,
                                           .added_more = move->added_more,
                                           .removed_more = move->removed_more};
        moves[i].added = read_names(&at, move->added, arena);
        moves[i].removed = read_names(&at, move->removed, arena);
    }
    ret->moves = moves;
    ret->move_count = p->count;
    ret->forgotten = p->forgotten;
}

int placement_history_read(struct placement_history *h, struct str namespace, struct str name,
                           struct arena *arena, struct placement_told *ret) {
    const struct key key = {namespace, name};
    *ret = (struct placement_told){0};
    mutex_lock(&h->mutex);
    const uint32_t id = find(h, &key);
    ret->leads = h->leads;
    if (id != HASHMAP_NONE) {
        const struct kept_placement *p = placement_at(h, id);
        ret->is_seen = true;
        ret->standing = p->standing;
        read_moves(h, p, arena, ret);
    }
    mutex_unlock(&h->mutex);
    return arena_failed(arena) ? -ENOMEM : 0;
}

/*
 * The nodes as columns in the order in which components are placed. Sorted again when a node comes
 * or goes, changes its zone, or has other resources; other changes update numbers in place.
 */
#include "members/internal.h"

#include <errno.h>
#include <stdlib.h>

static int64_t left_of(int64_t has, __int128 used) {
    return has > used ? (int64_t)(has - used) : 0; /* `used` is never below 0 */
}

void rows_refresh(struct member_contents *c, uint32_t room) {
    const struct node_rooms *rooms = rooms_at(c, room);
    if (c->unsorted || rooms->zone == INTERN_NONE)
        return;
    for (int i = 0; i < NODE_NATIVES; i++)
        c->native[i][rooms->row] = left_of(rooms->has[i], rooms->used[i]);
    for (uint32_t i = 0; i < rooms->scalar_count; i++)
        c->scalars[rooms->scalars[i].at].free =
            left_of(rooms->scalars[i].has, rooms->scalars[i].used);
}

/* ---- memory ---- */

static bool grow(void *array, size_t count, size_t size) {
    void **at = array;
    void *grown = realloc(*at, (count > 0 ? count : 1) * size);
    if (grown != NULL)
        *at = grown;
    return grown != NULL;
}

static bool reserve_rows(struct member_contents *c, uint32_t count) {
    if (count <= c->cap && c->slots != NULL)
        return true;
    const uint32_t cap = count + count / 8;
    bool good = grow(&c->slots, cap, sizeof *c->slots) &&
                grow(&c->room_of, cap, sizeof *c->room_of) &&
                grow(&c->scalar_begin, (size_t)cap + 1, sizeof *c->scalar_begin);
    for (int i = 0; good && i < NODE_NATIVES; i++)
        good = grow(&c->native[i], cap, sizeof *c->native[i]);
    if (good)
        c->cap = cap;
    return good;
}

static bool reserve_scalars(struct member_contents *c, uint32_t count) {
    const uint32_t cap = count + count / 8;
    if (count <= c->scalar_cap && c->scalars != NULL)
        return true;
    if (!grow(&c->scalars, cap, sizeof *c->scalars))
        return false;
    c->scalar_cap = cap;
    return true;
}

static bool reserve_names(struct member_contents *c, uint32_t count) {
    if (count <= c->name_cap && c->names != NULL)
        return true;
    if (!grow(&c->names, count, sizeof *c->names))
        return false;
    c->name_cap = count;
    return true;
}

/* ---- order ---- */

struct place {
    uint64_t zone, order; /* counters when the zone got its first node, and this node came */
    uint32_t room, turn;
};

static int by_zone(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->zone != y->zone ? (x->zone > y->zone ? 1 : -1)
                              : (x->order > y->order) - (x->order < y->order);
}

static int by_turn(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->turn != y->turn ? (x->turn > y->turn ? 1 : -1)
                              : (x->zone > y->zone) - (x->zone < y->zone);
}

static bool order_nodes(struct member_contents *c) {
    const uint32_t slots = topology_slots(c->topology);
    struct place *places = malloc((slots > 0 ? slots : 1) * sizeof *places);
    uint32_t count = 0;
    if (places == NULL)
        return false;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!topology_is_known(c->topology, slot))
            continue;
        const uint32_t room = rooms_find(c, topology_name(c->topology, slot));
        const struct node_rooms *rooms = rooms_at(c, room);
        places[count++] = (struct place){
            .zone = c->zone_births[rooms->zone], .order = rooms->order, .room = room};
    }
    const bool good = reserve_rows(c, count);
    if (good && count > 0) {
        qsort(places, count, sizeof *places, by_zone);
        for (uint32_t i = 1; i < count; i++)
            places[i].turn = places[i].zone == places[i - 1].zone ? places[i - 1].turn + 1 : 0;
        qsort(places, count, sizeof *places, by_turn);
    }
    for (uint32_t row = 0; good && row < count; row++) {
        struct node_rooms *rooms = rooms_at(c, places[row].room);
        c->slots[row] = rooms->slot;
        c->room_of[row] = places[row].room;
        rooms->row = row;
    }
    c->count = good ? count : 0;
    free(places);
    return good;
}

/* ---- scalars ---- */

struct named {
    uint32_t id, index;
    struct str text;
};

static int by_id(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_text(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    return str_cmp(x->text, y->text);
}

static int by_index(const void *a, const void *b) {
    const struct node_scalar *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static uint32_t count_scalars(const struct member_contents *c) {
    uint32_t count = 0;
    for (uint32_t row = 0; row < c->count; row++)
        count += rooms_at(c, c->room_of[row])->scalar_count;
    return count;
}

/* Sets c->names. Lists each resource name of the nodes once, sorted by id. `index` is the name's
 * place in the order of texts. */
static bool name_scalars(struct member_contents *c, struct named *named, uint32_t *ret_count) {
    uint32_t count = 0, kept = 0;
    for (uint32_t row = 0; row < c->count; row++) {
        const struct node_rooms *rooms = rooms_at(c, c->room_of[row]);
        for (uint32_t i = 0; i < rooms->scalar_count; i++)
            named[count++].id = rooms->scalars[i].name;
    }
    if (count > 1)
        qsort(named, count, sizeof *named, by_id);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || named[kept - 1].id != named[i].id)
            named[kept++] =
                (struct named){.id = named[i].id, .text = intern_str(&c->strings, named[i].id)};
    if (!reserve_names(c, kept))
        return false;
    if (kept > 1)
        qsort(named, kept, sizeof *named, by_text);
    for (uint32_t i = 0; i < kept; i++) {
        named[i].index = i;
        c->names[i] = named[i].text;
    }
    if (kept > 1)
        qsort(named, kept, sizeof *named, by_id);
    c->name_count = *ret_count = kept;
    return true;
}

/* Returns the index of an id that is in the list. */
static uint32_t index_of(const struct named *named, uint32_t count, uint32_t id) {
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (named[middle].id <= id)
            low = middle;
        else
            high = middle;
    }
    return named[low].index;
}

/* Fills the row's scalars from `at` on, by index, without free amounts. Returns their end. */
static uint32_t fill_row(struct member_contents *c, uint32_t row, uint32_t at,
                         const struct named *named, uint32_t name_count) {
    struct node_rooms *rooms = rooms_at(c, c->room_of[row]);
    const uint32_t begin = at;
    for (uint32_t i = 0; i < rooms->scalar_count; i++) {
        const uint32_t index = index_of(named, name_count, rooms->scalars[i].name);
        /* `free` is the place in the list for now, to find it again after sorting */
        c->scalars[at++] = (struct node_scalar){index, i};
    }
    if (at - begin > 1)
        qsort(c->scalars + begin, at - begin, sizeof *c->scalars, by_index);
    for (uint32_t i = begin; i < at; i++)
        rooms->scalars[c->scalars[i].free].at = i;
    return at;
}

static bool fill_scalars(struct member_contents *c) {
    const uint32_t count = count_scalars(c);
    struct named *named = calloc(count > 0 ? count : 1, sizeof *named);
    uint32_t name_count = 0, at = 0;
    const bool good =
        named != NULL && reserve_scalars(c, count) && name_scalars(c, named, &name_count);
    for (uint32_t row = 0; good && row < c->count; row++) {
        c->scalar_begin[row] = at;
        at = fill_row(c, row, at, named, name_count);
    }
    if (good)
        c->scalar_begin[c->count] = at;
    free(named);
    return good;
}

int rows_sort(struct member_contents *c) {
    if (!c->unsorted)
        return 0;
    if (!order_nodes(c) || !fill_scalars(c))
        return -ENOMEM;
    rooms_recount(c);
    c->unsorted = false;
    for (uint32_t row = 0; row < c->count; row++)
        rows_refresh(c, c->room_of[row]);
    return 0;
}

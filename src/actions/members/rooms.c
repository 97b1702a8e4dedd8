/*
 * The resources of each node, and the requests of its pods for them. Requests for resources that
 * the node does not have are not kept: whoever may create pods can name any number of them. When a
 * node gets another resource, its pods' requests are counted again (rooms_recount()).
 */
#include "members/internal.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

/* ---- names ---- */

static bool name_equal(const void *ctx, uint32_t id, const void *key) {
    const struct member_contents *c = ctx;
    const struct str *name = key;
    return str_eq(intern_str(&c->strings, rooms_at(c, id)->name), *name);
}

uint32_t rooms_find(const struct member_contents *c, struct str name) {
    return hashmap_find(&c->room_index, hash_str(name), name_equal, c, &name);
}

static uint32_t make_room(struct member_contents *c, struct str name) {
    if (hashmap_reserve(&c->room_index) != 0)
        return POOL_NONE;
    const uint32_t id = intern_ref(&c->strings, name);
    const uint32_t room = id != INTERN_NONE ? pool_take(&c->rooms) : POOL_NONE;
    if (room == POOL_NONE) {
        intern_unref(&c->strings, id);
        return POOL_NONE;
    }
    *rooms_at(c, room) =
        (struct node_rooms){.name = id, .slot = TOPOLOGY_NONE, .zone = INTERN_NONE};
    hashmap_insert(&c->room_index, hash_str(name), room);
    return room;
}

uint32_t rooms_hold(struct member_contents *c, struct str name) {
    uint32_t room = rooms_find(c, name);
    if (room == HASHMAP_NONE)
        room = make_room(c, name);
    if (room != POOL_NONE)
        rooms_at(c, room)->holders++;
    return room;
}

static void free_unused(struct member_contents *c, uint32_t room) {
    const struct node_rooms *rooms = rooms_at(c, room);
    if (rooms->holders > 0 || rooms->zone != INTERN_NONE)
        return;
    hashmap_remove(&c->room_index, hash_str(intern_str(&c->strings, rooms->name)), room);
    intern_unref(&c->strings, rooms->name);
    pool_give(&c->rooms, room);
}

void rooms_unhold(struct member_contents *c, uint32_t room) {
    rooms_at(c, room)->holders--;
    free_unused(c, room);
}

/* ---- pods ---- */

/* Finds a resource by its name; NULL: the node does not have it. */
static struct scalar_room *find_scalar(const struct node_rooms *rooms, uint32_t name) {
    uint32_t low = 0, high = rooms->scalar_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rooms->scalars[middle].name == name)
            return &rooms->scalars[middle];
        if (rooms->scalars[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void use_scalars(const struct node_rooms *rooms, const struct request_vector *v, int sign) {
    for (uint32_t i = 0; rooms->scalar_count > 0 && i < v->scalar_count; i++) {
        struct scalar_room *room = find_scalar(rooms, v->scalars[i].name);
        if (room != NULL)
            room->used += sign * (__int128)v->scalars[i].amount;
    }
    for (uint32_t i = 0; v->beyond > 0 && i < rooms->scalar_count; i++)
        rooms->scalars[i].used += sign * (__int128)v->beyond;
}

static void use(struct member_contents *c, uint32_t room, uint32_t vector, int sign) {
    const struct request_vector *v = vector_at(c, vector);
    struct node_rooms *rooms = rooms_at(c, room);
    for (int i = 0; i < NODE_NATIVES; i++)
        rooms->used[i] += sign * (__int128)v->native[i];
    use_scalars(rooms, v, sign);
    rows_refresh(c, room);
}

void rooms_add(struct member_contents *c, uint32_t room, uint32_t vector) {
    use(c, room, vector, 1);
}

void rooms_remove(struct member_contents *c, uint32_t room, uint32_t vector) {
    use(c, room, vector, -1);
}

void rooms_recount(struct member_contents *c) {
    if (!c->miscounted)
        return;
    for (uint32_t row = 0; row < c->count; row++) {
        struct node_rooms *rooms = rooms_at(c, c->room_of[row]);
        for (uint32_t i = 0; i < rooms->scalar_count; i++)
            rooms->scalars[i].used = 0;
    }
    for (POOL_EACH(&c->pods, id)) {
        const struct bound_pod *pod = pool_at(&c->pods, id);
        use_scalars(rooms_at(c, pod->room), vector_at(c, pod->vector), 1);
    }
    c->miscounted = false;
}

/* ---- nodes ---- */

static struct str label_or(const struct labels *labels, struct str key, struct str otherwise) {
    for (uint32_t i = 0; i < labels->count; i++)
        if (str_eq(labels->items[i].key, key))
            return labels->items[i].value;
    return otherwise;
}

static struct str label_of(const struct labels *labels, struct str old, struct str new) {
    return label_or(labels, old, label_or(labels, new, (struct str){0}));
}

/* Returns the same text for all nodes of a zone, "" without region and zone. In the arena.
 * upstream: component-helpers node/topology GetZoneKey(). */
static struct str zone_key(const struct node *node, struct arena *arena) {
    const struct str region =
        label_of(&node->meta.labels, STR(OLD_REGION_LABEL), TOPOLOGY_KEY_REGION);
    const struct str zone = label_of(&node->meta.labels, STR(OLD_ZONE_LABEL), TOPOLOGY_KEY_ZONE);
    if (str_empty(region) && str_empty(zone))
        return (struct str){0};
    char *text = arena_array_unset(arena, region.n + zone.n + 1, 1);
    if (text == NULL)
        return (struct str){0};
    if (region.n > 0)
        memcpy(text, region.p, region.n);
    text[region.n] = '\0'; /* no label value contains a NUL */
    if (zone.n > 0)
        memcpy(text + region.n + 1, zone.p, zone.n);
    return (struct str){text, region.n + zone.n + 1};
}

/* Returns the zone's id, with one more reference; a zone without nodes is new. */
static uint32_t zone_ref(struct member_contents *c, struct str key) {
    const bool is_new = intern_find(&c->zones, key) == INTERN_NONE;
    const uint32_t zone = intern_ref(&c->zones, key);
    if (zone == INTERN_NONE)
        return INTERN_NONE;
    if (zone >= c->zone_cap) {
        const uint32_t cap = 2 * zone + 4;
        uint64_t *births = realloc(c->zone_births, cap * sizeof *births);
        if (births == NULL) {
            intern_unref(&c->zones, zone);
            return INTERN_NONE;
        }
        c->zone_births = births;
        c->zone_cap = cap;
    }
    if (is_new)
        c->zone_births[zone] = ++c->orders;
    return zone;
}

static int compare_rooms(const void *a, const void *b) {
    const struct scalar_room *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static void free_scalars(struct member_contents *c, struct scalar_room *scalars, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        intern_unref(&c->strings, scalars[i].name);
    c->list_bytes -= count * sizeof *scalars;
    free(scalars);
}

/* Lists resources that only some nodes have, sorted by name. Returns 0 or -ENOMEM. */
static int make_scalars(struct member_contents *c, const struct resources *has,
                        struct scalar_room **ret, uint32_t *ret_count) {
    uint32_t others = 0, count = 0;
    *ret = NULL;
    *ret_count = 0;
    for (uint32_t i = 0; i < has->count; i++)
        others += node_native_of(has->items[i].name) == NODE_NATIVES;
    if (others == 0)
        return 0;
    struct scalar_room *scalars = calloc(others, sizeof *scalars);
    for (uint32_t i = 0; scalars != NULL && i < has->count; i++) {
        if (node_native_of(has->items[i].name) != NODE_NATIVES)
            continue;
        const uint32_t name = intern_ref(&c->strings, has->items[i].name);
        c->list_bytes += sizeof *scalars;
        scalars[count++] = (struct scalar_room){.name = name, .has = has->items[i].amount};
        if (name != INTERN_NONE)
            continue;
        free_scalars(c, scalars, count);
        return -ENOMEM;
    }
    if (count > 1)
        qsort(scalars, count, sizeof *scalars, compare_rooms);
    *ret = scalars;
    *ret_count = count;
    return scalars == NULL ? -ENOMEM : 0;
}

/* Sets the node's scalars, and takes over their list. */
static void set_scalars(struct member_contents *c, struct node_rooms *rooms,
                        struct scalar_room *scalars, uint32_t count) {
    bool same = count == rooms->scalar_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct scalar_room *old = find_scalar(rooms, scalars[i].name);
        same = same && old != NULL;
        if (old != NULL) {
            scalars[i].used = old->used;
            scalars[i].at = old->at;
        } else if (rooms->used[NODE_PODS] > 0)
            c->miscounted = true;
    }
    c->unsorted = c->unsorted || !same;
    free_scalars(c, rooms->scalars, rooms->scalar_count);
    rooms->scalars = scalars;
    rooms->scalar_count = count;
}

static void set_natives(struct node_rooms *rooms, const struct resources *has) {
    memset(rooms->has, 0, sizeof rooms->has);
    for (uint32_t i = 0; i < has->count; i++) {
        const enum node_native native = node_native_of(has->items[i].name);
        if (native != NODE_NATIVES)
            rooms->has[native] = has->items[i].amount;
    }
}

/* Sets the zone, and takes over the caller's reference to it. */
static void set_zone(struct member_contents *c, struct node_rooms *rooms, uint32_t zone) {
    if (rooms->zone == zone) {
        intern_unref(&c->zones, zone);
        return;
    }
    intern_unref(&c->zones, rooms->zone);
    rooms->zone = zone;
    rooms->order = ++c->orders;
    c->unsorted = true;
}

int rooms_set_node(struct member_contents *c, uint32_t room, const struct node *node,
                   struct arena *arena) {
    struct node_rooms *rooms = rooms_at(c, room);
    struct scalar_room *scalars;
    uint32_t count;
    const struct str key = zone_key(node, arena);
    if (make_scalars(c, &node->allocatable, &scalars, &count) != 0)
        return -ENOMEM;
    const uint32_t zone = !arena_failed(arena) ? zone_ref(c, key) : INTERN_NONE;
    if (zone == INTERN_NONE) {
        free_scalars(c, scalars, count);
        return -ENOMEM;
    }
    set_zone(c, rooms, zone);
    set_natives(rooms, &node->allocatable);
    set_scalars(c, rooms, scalars, count);
    rows_refresh(c, room);
    return 0;
}

void rooms_clear_node(struct member_contents *c, uint32_t room) {
    struct node_rooms *rooms = rooms_at(c, room);
    if (rooms->zone == INTERN_NONE)
        return;
    intern_unref(&c->zones, rooms->zone);
    rooms->zone = INTERN_NONE;
    rooms->slot = TOPOLOGY_NONE;
    memset(rooms->has, 0, sizeof rooms->has);
    c->unsorted = true;
    set_scalars(c, rooms, NULL, 0);
    free_unused(c, room);
}

void rooms_trim(struct member_contents *c) {
    if (c->rooms.count > 0)
        return;
    pool_done(&c->rooms);
    hashmap_done(&c->room_index);
    pool_init(&c->rooms, sizeof(struct node_rooms));
}

void rooms_done(struct member_contents *c) {
    for (POOL_EACH(&c->rooms, room))
        rooms_clear_node(c, room);
    pool_done(&c->rooms);
    hashmap_done(&c->room_index);
}

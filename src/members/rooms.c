/*
 * What each node has, and what its pods ask for. A list of a node's other resources is sorted by
 * the names' ids, and so is that of a request: what a pod is the first to name is merged in one
 * pass.
 */
#include "members/internal.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

/* ---- scalars ---- */

/* Where the room of a name is, or the count of them. */
static uint32_t find_scalar(const struct node_rooms *rooms, uint32_t name) {
    uint32_t low = 0, high = rooms->scalar_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rooms->scalars[middle].name == name)
            return middle;
        if (rooms->scalars[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return rooms->scalar_count;
}

static int reserve_scalars(struct member_contents *c, struct node_rooms *rooms, uint32_t more) {
    if (rooms->scalar_cap - rooms->scalar_count >= more)
        return 0;
    const uint32_t cap = rooms->scalar_count + more;
    struct scalar_room *scalars = realloc(rooms->scalars, cap * sizeof *scalars);
    if (scalars == NULL)
        return -ENOMEM;
    c->list_bytes += (cap - rooms->scalar_cap) * sizeof *scalars;
    rooms->scalars = scalars;
    rooms->scalar_cap = cap;
    return 0;
}

static uint32_t count_missing(const struct node_rooms *rooms, const struct scalar_request *names,
                              uint32_t count) {
    uint32_t missing = 0;
    for (uint32_t i = 0; i < count; i++)
        missing += find_scalar(rooms, names[i].name) == rooms->scalar_count;
    return missing;
}

/* Puts the names that are missing into the list, which has room for them; from behind. */
static void merge_names(struct member_contents *c, struct node_rooms *rooms,
                        const struct scalar_request *names, uint32_t count) {
    const uint32_t missing = count_missing(rooms, names, count);
    uint32_t old = rooms->scalar_count, to = old + missing;
    if (missing == 0)
        return;
    rooms->scalar_count = to;
    while (count > 0) {
        const uint32_t name = names[count - 1].name;
        if (old > 0 && rooms->scalars[old - 1].name >= name) {
            count -= rooms->scalars[old - 1].name == name;
            rooms->scalars[--to] = rooms->scalars[--old];
            continue;
        }
        intern_ref_id(&c->strings, name);
        rooms->scalars[--to] = (struct scalar_room){.name = name};
        count--;
    }
}

/* Drops what neither the node has nor any pod asks for. */
static void drop_unused(struct member_contents *c, struct node_rooms *rooms) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rooms->scalar_count; i++) {
        if (rooms->scalars[i].given || rooms->scalars[i].holders > 0)
            rooms->scalars[kept++] = rooms->scalars[i];
        else
            intern_unref(&c->strings, rooms->scalars[i].name);
    }
    rooms->scalar_count = kept;
}

/* ---- pods ---- */

int rooms_reserve(struct member_contents *c, uint32_t slot, uint32_t vector) {
    const struct request_vector *v = vector_at(c, vector);
    struct node_rooms *rooms = &c->rooms[slot];
    return reserve_scalars(c, rooms, count_missing(rooms, v->scalars, v->scalar_count));
}

void rooms_add(struct member_contents *c, uint32_t slot, uint32_t vector) {
    const struct request_vector *v = vector_at(c, vector);
    struct node_rooms *rooms = &c->rooms[slot];
    merge_names(c, rooms, v->scalars, v->scalar_count);
    for (int i = 0; i < NODE_NATIVES; i++)
        rooms->used[i] += v->native[i];
    for (uint32_t i = 0; i < v->scalar_count; i++) {
        struct scalar_room *room = &rooms->scalars[find_scalar(rooms, v->scalars[i].name)];
        room->holders++;
        room->used += v->scalars[i].amount;
    }
    rows_refresh(c, slot);
}

void rooms_remove(struct member_contents *c, uint32_t slot, uint32_t vector) {
    const struct request_vector *v = vector_at(c, vector);
    struct node_rooms *rooms = &c->rooms[slot];
    for (int i = 0; i < NODE_NATIVES; i++)
        rooms->used[i] -= v->native[i];
    for (uint32_t i = 0; i < v->scalar_count; i++) {
        struct scalar_room *room = &rooms->scalars[find_scalar(rooms, v->scalars[i].name)];
        room->holders--;
        room->used -= v->scalars[i].amount;
    }
    if (v->scalar_count > 0)
        drop_unused(c, rooms);
    rows_refresh(c, slot);
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

/* Nodes of one zone have the same text; one without region and zone has "". In the arena. upstream:
 * component-helpers node/topology GetZoneKey(). */
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
    text[region.n] = '\0'; /* no label value has one */
    if (zone.n > 0)
        memcpy(text + region.n + 1, zone.p, zone.n);
    return (struct str){text, region.n + zone.n + 1};
}

/* The zone's id, with one more reference; one that had no node is born now. */
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

static int compare_requests(const void *a, const void *b) {
    const struct scalar_request *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

/* What only some nodes have, by name; `amount` is what it has. A reference each, as many as there
 * are, on failure too. */
static int read_scalars(struct member_contents *c, const struct resources *has, struct arena *arena,
                        struct scalar_request **ret, uint32_t *ret_count) {
    struct scalar_request *scalars = arena_array_unset(arena, has->count, sizeof *scalars);
    uint32_t count = 0;
    int r = scalars == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < has->count; i++) {
        if (node_native_of(has->items[i].name) != NODE_NATIVES)
            continue;
        scalars[count].name = intern_ref(&c->strings, has->items[i].name);
        scalars[count].amount = has->items[i].amount;
        r = scalars[count].name == INTERN_NONE ? -ENOMEM : 0;
        count += r == 0;
    }
    if (r == 0 && count > 1)
        qsort(scalars, count, sizeof *scalars, compare_requests);
    *ret = scalars;
    *ret_count = count;
    return r;
}

/* The list has room for the names that are missing. */
static void set_scalars(struct member_contents *c, struct node_rooms *rooms,
                        const struct scalar_request *has, uint32_t count) {
    uint32_t before = 0, stayed = 0;
    merge_names(c, rooms, has, count);
    for (uint32_t i = 0, at = 0; i < rooms->scalar_count; i++) {
        struct scalar_room *room = &rooms->scalars[i];
        const bool given = at < count && has[at].name == room->name;
        before += room->given;
        stayed += room->given && given;
        room->given = given;
        room->has = given ? has[at++].amount : 0;
    }
    c->unsorted = c->unsorted || before != stayed || stayed != count;
    drop_unused(c, rooms);
}

static void set_natives(struct node_rooms *rooms, const struct resources *has) {
    memset(rooms->has, 0, sizeof rooms->has);
    for (uint32_t i = 0; i < has->count; i++) {
        const enum node_native native = node_native_of(has->items[i].name);
        if (native != NODE_NATIVES)
            rooms->has[native] = has->items[i].amount;
    }
}

/* Takes the reference. */
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

int rooms_set_node(struct member_contents *c, uint32_t slot, const struct node *node,
                   struct arena *arena) {
    struct node_rooms *rooms = &c->rooms[slot];
    struct scalar_request *has;
    uint32_t count;
    const struct str key = zone_key(node, arena);
    int r = read_scalars(c, &node->allocatable, arena, &has, &count);
    if (r == 0)
        r = reserve_scalars(c, rooms, count_missing(rooms, has, count));
    const uint32_t zone = r == 0 && !arena_failed(arena) ? zone_ref(c, key) : INTERN_NONE;
    if (zone != INTERN_NONE) {
        set_zone(c, rooms, zone);
        set_natives(rooms, &node->allocatable);
        set_scalars(c, rooms, has, count);
        rows_refresh(c, slot);
    }
    for (uint32_t i = 0; i < count; i++)
        intern_unref(&c->strings, has[i].name);
    return zone != INTERN_NONE ? 0 : -ENOMEM;
}

void rooms_clear_node(struct member_contents *c, uint32_t slot) {
    struct node_rooms *rooms = &c->rooms[slot];
    if (rooms->zone == INTERN_NONE)
        return;
    intern_unref(&c->zones, rooms->zone);
    rooms->zone = INTERN_NONE;
    memset(rooms->has, 0, sizeof rooms->has);
    c->unsorted = true;
    set_scalars(c, rooms, NULL, 0);
}

void rooms_free(struct member_contents *c, uint32_t slot) {
    struct node_rooms *rooms = &c->rooms[slot];
    rooms_clear_node(c, slot);
    for (uint32_t i = 0; i < rooms->scalar_count; i++)
        intern_unref(&c->strings, rooms->scalars[i].name);
    c->list_bytes -= rooms->scalar_cap * sizeof *rooms->scalars;
    free(rooms->scalars);
    *rooms = (struct node_rooms){.zone = INTERN_NONE};
}

/*
 * Makes each write when the writer takes it, from the object as it is then.
 *
 * All items that Placements want of one AddOnPlacementScore go in one write. Until that write is
 * seen, the object gets no other write, because it would be made from an old version. Placements
 * that want the object meanwhile are planned again when the write is seen; the first of them takes
 * the items of the others along.
 */
#include "base/hash.h"
#include "base/limits.h"
#include "hub/planner_internal.h"

enum { WISHES = 512 }; /* most wishes in one write */

static struct score_wish wish_of(const struct planner_record *r) {
    return (struct score_wish){strbuf_str(&r->pending.item), r->pending.comes};
}

static struct str version_of(const struct fleet_view *v, struct str object,
                             uint32_t *ret_item_count) {
    const struct planner_key key = planner_key_of(object);
    struct fleet_score_object o;
    const bool exists = fleet_score_object(v, key.namespace, key.name, &o);
    *ret_item_count = exists ? o.item_count : 0;
    return exists ? o.version : STR("");
}

/* Is the object still the version that the write was made from? */
static bool is_current(const struct planner_record *r, const struct fleet_view *v) {
    const struct owned_write *w = &r->pending;
    const struct planner_key key = planner_key_of(strbuf_str(&r->name));
    const struct str object = strbuf_str(&w->object);
    struct str version = STR("");
    uint32_t item_count;
    if (w->what == OWNED_SCORE) {
        version = version_of(v, object, &item_count);
    } else if (w->what == OWNED_DECISION) {
        const struct fleet_decision *d = fleet_decision_find(v, key.namespace, object);
        version = d != NULL ? d->version : version;
    } else {
        version = fleet_placement_state(v, key.namespace, key.name).version;
    }
    return str_eq(version, strbuf_str(&w->version));
}

static void note_taken(struct planner *p, struct planner_record *r) {
    owned_write_done(&r->news.write);
    r->news = (struct planner_news){
        .taken = true, .write = r->pending, .taken_ms = p->options.clock->now_ms(p->options.clock)};
    r->pending = (struct owned_write){.what = OWNED_NOTHING};
    r->takes++;
    r->under_way = true;
}

static void put_write(const struct owned_write *made, struct write *ret) {
    ret->verb = made->verb;
    strbuf_append_str(&ret->path, strbuf_str(&made->path));
    strbuf_append_str(&ret->body, strbuf_str(&made->body));
}

/* ---- items ---- */

/* Is a write of this object under way, or not seen yet? */
static bool is_out(const struct planner *p, struct str object, uint64_t version) {
    uint32_t id = planner_first_waiting(p, object);
    while (id != POOL_NONE && planner_record(p, id)->written != version)
        id = planner_record(p, id)->next_waiting;
    return id != POOL_NONE;
}

/* Collects the first Placement, and others that want to add or remove an item of the object; they
 * add no more items than the object has room for. */
static uint32_t gather(const struct planner *p, uint32_t first, uint32_t item_count,
                       uint32_t ids[WISHES], struct score_wish wishes[WISHES]) {
    uint32_t count = 1,
             id = planner_first_waiting(p, strbuf_str(&planner_record(p, first)->pending.object));
    ids[0] = first;
    wishes[0] = wish_of(planner_record(p, first));
    item_count += wishes[0].comes;
    for (; id != POOL_NONE && count < WISHES; id = planner_record(p, id)->next_waiting) {
        const struct planner_record *r = planner_record(p, id);
        const bool wants = r->pending.what == OWNED_SCORE && r->pending.item.n > 0 && !r->under_way;
        if (id == first || !wants || (r->pending.comes && item_count >= LIMIT_SCORE_ITEMS))
            continue;
        item_count += r->pending.comes;
        ids[count] = id;
        wishes[count++] = wish_of(r);
    }
    return count;
}

/* All these records share the write from now on. The first gets the write's result, and passes it
 * on. */
static void join_write(struct planner *p, const uint32_t *ids, uint32_t count, struct str version) {
    for (uint32_t i = 0; i < count; i++) {
        struct planner_record *r = planner_record(p, ids[i]);
        strbuf_append_str(&r->pending.version, version);
        r->next_joined = i + 1 < count ? ids[i + 1] : POOL_NONE;
        note_taken(p, r);
    }
}

static void take_items(struct planner *p, uint32_t first, const struct fleet_view *v,
                       struct write *ret) {
    struct owned_write made = {.what = OWNED_NOTHING};
    struct score_wish wishes[WISHES];
    uint32_t ids[WISHES], item_count;
    struct planner_record *r = planner_record(p, first);
    const struct str object = strbuf_str(&r->pending.object);
    const struct str version = version_of(v, object, &item_count);
    const uint64_t number = hash_str(version) | 1;
    if (is_out(p, object, number))
        return; /* planned again when the object is seen, or after a while */
    if (denied_objects_left_ms(&p->denied, object, p->options.clock->now_ms(p->options.clock)) >
        0) {
        planner_mark(p, first); /* plans without the object, or waits */
        return;
    }
    const uint32_t count = gather(p, first, item_count, ids, wishes);
    if (scored_make_write(v, object, wishes, count, &made)) {
        put_write(&made, ret);
        r->written = r->waits.n > 0 ? number : 0;
        join_write(p, ids, count, version);
    } else { /* the object is right already, or memory is short */
        for (uint32_t i = 0; i < count; i++)
            planner_mark(p, ids[i]);
    }
    owned_write_done(&made);
}

void planner_take_write(struct planner *p, uint32_t id, const struct fleet_view *v,
                        struct write *ret) {
    struct planner_record *r = planner_record(p, id);
    const bool is_item = r->pending.what == OWNED_SCORE && r->pending.item.n > 0;
    if (r->under_way)
        return; /* planned again when that write ends */
    if (is_item) {
        take_items(p, id, v, ret);
    } else if (r->pending.what != OWNED_NOTHING && !is_current(r, v)) {
        owned_write_done(&r->pending);
        planner_mark(p, id);
    } else if (r->pending.what != OWNED_NOTHING) {
        if (r->pending.what == OWNED_SCORE) { /* a write of the sweep */
            planner_set_waits(p, id, strbuf_str(&r->pending.object));
            r->written = r->waits.n > 0 ? hash_str(strbuf_str(&r->pending.version)) | 1 : 0;
        }
        put_write(&r->pending, ret);
        note_taken(p, r);
    }
}

/* ---- the end of a write ---- */

static void end_one(struct planner *p, uint32_t id, const struct write_result *result) {
    struct planner_record *r = planner_record(p, id);
    r->news.ended = true;
    r->news.ended_ms = p->options.clock->now_ms(p->options.clock);
    r->news.end = result->end;
    r->news.status = result->status;
    r->next_joined = POOL_NONE;
    r->under_way = false;
    planner_mark(p, id);
}

/* Records a denial or a success for all Placements that want the object. */
static void note_denial(struct planner *p, struct str object, const struct write_result *result) {
    if (is_denial(result->status))
        denied_objects_add(&p->denied, object, p->options.clock->now_ms(p->options.clock));
    else if (result->end == WRITE_DONE)
        denied_objects_remove(&p->denied, object);
}

void planner_end_write(struct planner *p, uint32_t id, const struct write_result *result) {
    struct planner_record *r = planner_record(p, id);
    if (r->written != 0)
        note_denial(p, strbuf_str(&r->waits), result);
    const bool is_another = result->end == WRITE_DONE || result->end == WRITE_CONFLICT;
    if (r->written != 0 && !is_another) { /* no new version will be seen */
        r->written = 0;
        planner_mark_waiting(p, strbuf_str(&r->waits));
    }
    for (uint32_t next; id != POOL_NONE; id = next) {
        next = planner_record(p, id)->next_joined;
        end_one(p, id, result);
    }
}

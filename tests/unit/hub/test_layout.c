/* Which objects hold which clusters, and in which order that is written. The form of objects is
 * upstream's (scheduling_controller.go generateDecision()): names, at most 100 clusters each. */
#include "base/limits.h"
#include "hub/layout.h"

#include "unit/unit.h"

#include <stdio.h>

enum { SLOTS = 400, OBJECTS = 8 };

/* A hub with one Placement, "p"; slots are clusters. */
struct board {
    struct arena arena;
    struct fleet_decision decisions[OBJECTS];
    uint32_t slots[OBJECTS][SLOTS];
    char names[OBJECTS][24];
    uint32_t count;
    struct ocm_group groups[4];
    uint32_t group_slots[4][SLOTS];
    uint32_t group_count;
    struct layout layout;
};

static void init(struct board *b) {
    memset(b, 0, sizeof *b);
    arena_init(&b->arena, 64u << 20);
}

/* One that exists, with the labels of a group; clusters from..to. */
static struct fleet_decision *object(struct board *b, const char *name, const char *index,
                                     uint32_t from, uint32_t to) {
    struct fleet_decision *d = &b->decisions[b->count];
    (void)snprintf(b->names[b->count], sizeof b->names[0], "%s", name);
    *d = (struct fleet_decision){.name = str_of(b->names[b->count]),
                                 .slots = b->slots[b->count],
                                 .version = STR("1"),
                                 .placement = STR("p"),
                                 .group_index = str_of(index),
                                 .group_name = STR(""),
                                 .owner_uid = STR("u")};
    for (uint32_t s = from; s < to; s++)
        b->slots[b->count][d->slot_count++] = s;
    if (b->count > 0)
        b->decisions[b->count - 1].next = d;
    b->count++;
    return d;
}

static void group(struct board *b, uint32_t from, uint32_t to) {
    struct ocm_group *g = &b->groups[b->group_count];
    *g = (struct ocm_group){.name = STR(""), .slots = b->group_slots[b->group_count]};
    for (uint32_t s = from; s < to; s++)
        b->group_slots[b->group_count][g->count++] = s;
    b->group_count++;
}

static struct layout_question question(struct board *b) {
    return (struct layout_question){.placement = STR("p"),
                                    .groups = b->groups,
                                    .group_count = b->group_count,
                                    .existing = b->count > 0 ? b->decisions : NULL,
                                    .slots = SLOTS,
                                    .owner_uid = STR("u")};
}

static void lay(struct board *b) {
    const struct layout_question q = question(b);
    arena_reset(&b->arena);
    assert_int_equal(layout_make(&q, &b->arena, &b->layout), 0);
}

/* "name group slots..." */
static void is_laid(struct board *b, uint32_t i, const char *wanted) {
    struct strbuf text = {0};
    assert_true(i < b->layout.count);
    const struct layout_object *o = &b->layout.objects[i];
    strbuf_appendf(&text, "%.*s %u:", STR_ARG(o->name), o->group);
    for (uint32_t k = 0; k < o->count; k++)
        strbuf_appendf(&text, " %u", o->slots[k]);
    assert_str(strbuf_str(&text), wanted);
    strbuf_done(&text);
}

static void new_objects(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    group(&b, 0, 101);
    group(&b, 200, 202);
    lay(&b);
    assert_int_equal(b.layout.count, 3);
    assert_int_equal(b.layout.objects[0].count, 100);
    is_laid(&b, 1, "p-decision-2 0: 100");
    is_laid(&b, 2, "p-decision-3 1: 200 201");
    arena_done(&b.arena);
}

/* Who stays keeps object and order; who is new takes what is free, by name. */
static void clusters_stay_where_they_are(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 5, 9);
    object(&b, "p-decision-2", "0", 20, 22);
    group(&b, 6, 9);
    for (uint32_t s = 1; s < 3; s++)
        b.group_slots[0][b.groups[0].count++] = s;
    b.group_slots[0][b.groups[0].count++] = 21;
    lay(&b);
    assert_int_equal(b.layout.count, 2);
    is_laid(&b, 0, "p-decision-1 0: 6 7 8 1 2");
    is_laid(&b, 1, "p-decision-2 0: 21");
    assert_int_equal(b.layout.unwanted_count, 0);
    arena_done(&b.arena);
}

/* Several new ones pass by the number of one that exists, which is higher than there are objects.
 */
static void names_that_are_free(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-3", "0", 0, 1);
    group(&b, 0, 399);
    lay(&b);
    assert_int_equal(b.layout.count, 4);
    assert_str(b.layout.objects[0].name, "p-decision-3");
    assert_str(b.layout.objects[1].name, "p-decision-1");
    assert_str(b.layout.objects[2].name, "p-decision-2");
    assert_str(b.layout.objects[3].name, "p-decision-4");
    arena_done(&b.arena);
}

/* One write replaces the only cluster by another. */
static void an_object_is_used_again(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "1", 7, 8);
    object(&b, "p-decision-4", "0", 9, 10);
    group(&b, 1, 2);
    lay(&b);
    assert_int_equal(b.layout.count, 1);
    is_laid(&b, 0, "p-decision-4 0: 1");
    assert_ptr_equal(b.layout.objects[0].existing, &b.decisions[1]);
    arena_done(&b.arena);
}

static void nothing_is_selected(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    group(&b, 0, 0);
    lay(&b);
    is_laid(&b, 0, "p-decision-1 0:");
    assert_null(b.layout.objects[0].existing);
    object(&b, "other", "0", 0, 0);
    object(&b, "p-decision-2", "1", 3, 4);
    object(&b, "p-decision-3", "0", 4, 5);
    lay(&b);
    assert_int_equal(b.layout.count, 1);
    is_laid(&b, 0, "p-decision-3 0:");
    assert_int_equal(b.layout.unwanted_count, 2);
    assert_str(b.layout.unwanted[0]->name, "other");
    assert_str(b.layout.unwanted[1]->name, "p-decision-2");
    arena_done(&b.arena);
}

/* An object of another name is not ours to keep: its clusters get a place of their own first. */
static void foreign_objects(void **state) {
    static struct board b;
    static const char *const names[] = {"p-decision-01", "p-decision-x", "p-decision-",
                                        "p-decision--1", "q-decision-1"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        init(&b);
        object(&b, names[i], "0", 0, 2);
        group(&b, 0, 2);
        lay(&b);
        assert_int_equal(b.layout.count, 1);
        is_laid(&b, 0, "p-decision-1 0: 0 1");
        assert_null(b.layout.objects[0].existing);
        assert_int_equal(b.layout.unwanted_count, 1);
        arena_done(&b.arena);
    }
}

/* A new group in front: objects follow their clusters, and are labelled anew. */
static void groups_that_change_places(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 0, 3);
    object(&b, "p-decision-2", "1", 10, 12);
    group(&b, 10, 12);
    group(&b, 0, 3);
    lay(&b);
    is_laid(&b, 0, "p-decision-2 0: 10 11");
    is_laid(&b, 1, "p-decision-1 1: 0 1 2");
    arena_done(&b.arena);
}

/* ---- writes ---- */

static struct layout_write next_of(struct board *b, struct layout_progress p) {
    const struct layout_question q = question(b);
    struct layout_write write;
    p.question = &q;
    p.layout = &b->layout;
    lay(b);
    assert_int_equal(layout_next(&p, &b->arena, &write), 0);
    return write;
}

static struct layout_write next(struct board *b, struct layout_doubt doubt,
                                bool (*holds)(void *ctx, const uint8_t *selected)) {
    return next_of(b, (struct layout_progress){.doubt = doubt, .holds = holds, .tries = 1000});
}

static const struct layout_doubt sure;

static void writes(const struct layout_write *w, const char *name, const char *wanted) {
    struct strbuf text = {0};
    assert_int_equal(w->verb, LAYOUT_CLUSTERS);
    assert_str(w->object->name, name);
    for (uint32_t i = 0; i < w->count; i++)
        strbuf_appendf(&text, "%s%u", i > 0 ? " " : "", w->slots[i]);
    assert_str(strbuf_str(&text), wanted);
    strbuf_done(&text);
}

/* Two clusters in two groups swap: the first object keeps its own until the other has it. */
static void added_before_removed(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    struct fleet_decision *first = object(&b, "p-decision-1", "0", 0, 3);
    struct fleet_decision *second = object(&b, "p-decision-2", "1", 10, 13);
    group(&b, 1, 3);
    b.group_slots[0][b.groups[0].count++] = 10;
    group(&b, 11, 13);
    b.group_slots[1][b.groups[1].count++] = 0;
    struct layout_write w = next(&b, sure, NULL);
    writes(&w, "p-decision-1", "1 2 10 0");
    memcpy(b.slots[0], (uint32_t[]){1, 2, 10, 0}, 16);
    first->slot_count = 4;
    w = next(&b, sure, NULL);
    writes(&w, "p-decision-2", "11 12 0");
    /* as long as it is not sure that the first has 10 */
    static const uint32_t some[] = {0, 1, 2};
    const struct layout_doubt doubt = {STR("p-decision-1"), some, 3};
    w = next(&b, doubt, NULL);
    writes(&w, "p-decision-2", "11 12 0 10");
    memcpy(b.slots[1], (uint32_t[]){11, 12, 0}, 12);
    second->slot_count = 3;
    w = next(&b, sure, NULL);
    writes(&w, "p-decision-1", "1 2 10");
    first->slot_count = 3;
    assert_int_equal(next(&b, sure, NULL).verb, LAYOUT_RIGHT);
    arena_done(&b.arena);
}

/* 130 of the first stay until they are elsewhere: of 40 that come 10 find room, then the others. */
static void no_object_holds_more_than_is_read(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 0, 190);
    object(&b, "p-decision-2", "1", 0, 0);
    object(&b, "p-decision-3", "2", 0, 0);
    object(&b, "p-decision-4", "3", 0, 0);
    group(&b, 0, 60);
    for (uint32_t s = 300; s < 340; s++)
        b.group_slots[0][b.groups[0].count++] = s;
    group(&b, 60, 110);
    group(&b, 110, 160);
    group(&b, 160, 190);
    bool right = false;
    for (unsigned writes = 0; writes < 10 && !right; writes++) {
        const struct layout_write w = next(&b, sure, NULL);
        right = w.verb == LAYOUT_RIGHT;
        if (right)
            continue;
        assert_int_equal(w.verb, LAYOUT_CLUSTERS);
        assert_true(w.count <= 200);
        assert_int_equal(w.count == 200, writes == 0);
        struct fleet_decision *d = &b.decisions[w.existing - b.decisions];
        memcpy(b.slots[w.existing - b.decisions], w.slots, w.count * sizeof *w.slots);
        d->slot_count = w.count;
    }
    assert_true(right);
    assert_int_equal(b.decisions[0].slot_count, 100);
    arena_done(&b.arena);
}

static void objects_are_made_labelled_and_deleted(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    group(&b, 0, 2);
    struct layout_write w = next(&b, sure, NULL);
    assert_int_equal(w.verb, LAYOUT_CREATE);
    struct fleet_decision *d = object(&b, "p-decision-1", "0", 0, 2);
    d->owner_uid = STR("");
    assert_int_equal(next(&b, sure, NULL).verb, LAYOUT_META);
    d->owner_uid = STR("u");
    d->group_name = STR("x");
    assert_int_equal(next(&b, sure, NULL).verb, LAYOUT_META);
    d->group_name = STR("");
    d->group_index = STR("1");
    assert_int_equal(next(&b, sure, NULL).verb, LAYOUT_META);
    d->group_index = STR("0");
    assert_int_equal(next(&b, sure, NULL).verb, LAYOUT_RIGHT);
    /* a foreign one goes when its clusters have arrived elsewhere */
    object(&b, "zzz", "0", 1, 3);
    w = next(&b, sure, NULL);
    assert_int_equal(w.verb, LAYOUT_DELETE);
    assert_str(w.existing->name, "zzz");
    d->slot_count = 1;
    w = next(&b, sure, NULL);
    writes(&w, "p-decision-1", "0 1");
    arena_done(&b.arena);
}

static uint32_t high_most = 2;

/* At most one of 0..9, at most so many of the others. */
static bool few(void *ctx, const uint8_t *selected) {
    uint32_t low = 0, high = 0;
    (void)ctx;
    for (uint32_t s = 0; s < SLOTS; s++)
        if (s < 10)
            low += selected[s];
        else
            high += selected[s];
    return low <= 1 && high <= high_most;
}

/* 0 makes room for 1, which is to be in another object: it goes before the other comes. */
static void hard_terms_hold_in_between(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 0, 1);
    b.slots[0][1] = 20;
    b.decisions[0].slot_count = 2;
    object(&b, "p-decision-2", "1", 21, 22);
    b.group_slots[0][0] = 20;
    b.groups[0] = (struct ocm_group){.name = STR(""), .slots = b.group_slots[0], .count = 1};
    b.group_slots[1][0] = 21;
    b.group_slots[1][1] = 1;
    b.groups[1] = (struct ocm_group){.name = STR(""), .slots = b.group_slots[1], .count = 2};
    b.group_count = 2;
    struct layout_write w = next(&b, sure, NULL);
    writes(&w, "p-decision-2", "21 1");
    w = next(&b, sure, few);
    writes(&w, "p-decision-1", "20");
    b.decisions[0].slots = b.slots[0] + 1;
    b.decisions[0].slot_count = 1;
    w = next(&b, sure, few);
    writes(&w, "p-decision-2", "21 1");
    arena_done(&b.arena);
}

/* 0 and 1 change places with nobody: each object changes a low and a high one, and no whole write
 * keeps the terms, but one cluster at a time does. */
static void hard_terms_split_a_write(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 20, 22); /* 20 stays; 21 goes, 1 comes */
    object(&b, "p-decision-2", "1", 30, 31); /* 30 stays; 0 goes, 22 comes */
    b.slots[1][1] = 0;
    b.decisions[1].slot_count = 2;
    b.group_slots[0][0] = 20;
    b.group_slots[0][1] = 1;
    b.groups[0] = (struct ocm_group){.name = STR(""), .slots = b.group_slots[0], .count = 2};
    b.group_slots[1][0] = 30;
    b.group_slots[1][1] = 22;
    b.groups[1] = (struct ocm_group){.name = STR(""), .slots = b.group_slots[1], .count = 2};
    b.group_count = 2;
    high_most = 3; /* 20, 21, 30 now; 20, 22, 30 then */
    const struct layout_write w = next(&b, sure, few);
    writes(&w, "p-decision-1", "20"); /* without 21 there is room for 22 */
    high_most = 2;
    arena_done(&b.arena);
}

/* As many of 0..9 as of the others, but for one. */
static bool balanced(void *ctx, const uint8_t *selected) {
    int surplus = 0;
    (void)ctx;
    for (uint32_t s = 0; s < SLOTS; s++)
        surplus += s < 10 ? selected[s] : -selected[s];
    return surplus >= -1 && surplus <= 1;
}

/* 0, 1 and 2 go with their object, which must not go at once. */
static void hard_terms_split_a_deletion(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 10, 13);
    object(&b, "zzz", "0", 0, 3);
    group(&b, 10, 11);
    struct layout_write w = next(&b, sure, balanced);
    writes(&w, "p-decision-1", "10 12");
    b.slots[0][1] = 12;
    b.decisions[0].slot_count = 2;
    w = next(&b, sure, balanced);
    writes(&w, "zzz", "2"); /* two of three */
    b.slots[1][0] = 2;
    b.decisions[1].slot_count = 1;
    b.decisions[0].slot_count = 1;
    assert_int_equal(next(&b, sure, balanced).verb, LAYOUT_DELETE);
    arena_done(&b.arena);
}

enum { HALF = SLOTS / 2 };
static uint32_t asked;

/* As many of the lower half as of the upper, but for one. */
static bool halves(void *ctx, const uint8_t *selected) {
    int surplus = 0;
    (void)ctx;
    asked++;
    for (uint32_t s = 0; s < SLOTS; s++)
        surplus += s < HALF ? selected[s] : -selected[s];
    return surplus >= -1 && surplus <= 1;
}

static const uint32_t *by_half(void *ctx) {
    static uint32_t first[SLOTS];
    (void)ctx;
    for (uint32_t s = 0; s < SLOTS; s++)
        first[s] = s < HALF ? 0 : HALF;
    return first;
}

/* 80 of one half come before 5 of the other: pairs are found, and as many as hold go at once. */
static void hard_terms_let_in_as_many_as_hold(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 0, 0);
    group(&b, 0, 80);
    for (uint32_t s = 0; s < 5; s++)
        b.group_slots[0][b.groups[0].count++] = HALF + s;
    asked = 0;
    const struct layout_progress p = {.holds = halves, .alike = by_half, .tries = 1000};
    const struct layout_write w = next_of(&b, p);
    writes(&w, "p-decision-1", "0 1 2 3 4 5 200 201 202 203 204");
    assert_true(asked < 40); /* where one of a half may not come, the next need not be tried */
    arena_done(&b.arena);
}

/* No more are in an object than are read of it, those that are still to leave it among them. */
static void parts_are_not_larger_than_an_object(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    enum { EACH = LIMIT_DECISION_CLUSTERS / 2 - 1 };
    object(&b, "p-decision-1", "0", 0, EACH);
    for (uint32_t s = 0; s < EACH; s++)
        b.slots[0][b.decisions[0].slot_count++] = HALF + s;
    group(&b, EACH, EACH + 5);
    for (uint32_t s = EACH; s < EACH + 5; s++)
        b.group_slots[0][b.groups[0].count++] = HALF + s;
    const struct layout_write w = next(&b, sure, halves);
    assert_int_equal(w.verb, LAYOUT_CLUSTERS);
    assert_int_equal(w.slots[0], EACH);
    assert_int_equal(w.slots[1], HALF + EACH);
    assert_true(w.count <= LIMIT_DECISION_CLUSTERS && w.slots[2] < EACH);
    arena_done(&b.arena);
}

static struct fleet_decision unlabelled[2];

static const struct fleet_decision *find_unlabelled(void *ctx, struct str name) {
    (void)ctx;
    for (int i = 0; i < 2; i++)
        if (str_eq(unlabelled[i].name, name))
            return &unlabelled[i];
    return NULL;
}

/* Who has the name without the label is taken in; not what another controller has. */
static void objects_without_the_label(void **state) {
    static struct board b;
    struct layout_write write = {0};
    (void)state;
    init(&b);
    group(&b, 0, 1);
    struct layout_question q = question(&b);
    const struct layout_progress p = {.question = &q, .layout = &b.layout};
    q.find = find_unlabelled;
    unlabelled[0] = (struct fleet_decision){.name = STR("p-decision-1"),
                                            .placement = STR(""),
                                            .group_index = STR("0"),
                                            .group_name = STR(""),
                                            .owner_uid = STR("v")};
    unlabelled[1] = unlabelled[0];
    unlabelled[1].name = STR("p-decision-2");
    unlabelled[1].placement = STR("q");
    unlabelled[1].owner_uid = STR("u");
    assert_int_equal(layout_make(&q, &b.arena, &b.layout), 0);
    assert_int_equal(layout_next(&p, &b.arena, &write), 0);
    assert_int_equal(write.verb, LAYOUT_META);
    assert_ptr_equal(write.existing, &unlabelled[1]);
    is_laid(&b, 0, "p-decision-2 0: 0");
    unlabelled[0].owner_uid = STR("");
    assert_int_equal(layout_make(&q, &b.arena, &b.layout), 0);
    is_laid(&b, 0, "p-decision-1 0: 0");
    unlabelled[0].owner_uid = unlabelled[1].owner_uid = STR("v");
    assert_int_equal(layout_make(&q, &b.arena, &b.layout), 0);
    assert_int_equal(layout_next(&p, &b.arena, &write), 0);
    assert_int_equal(write.verb, LAYOUT_CREATE);
    is_laid(&b, 0, "p-decision-3 0: 0");
    arena_done(&b.arena);
}

/* With the label, but of another controller: neither used nor deleted, and its name is taken. */
static void objects_of_another_controller(void **state) {
    static struct board b;
    (void)state;
    init(&b);
    object(&b, "p-decision-1", "0", 0, 2)->owner_uid = STR("v");
    object(&b, "other", "0", 3, 4)->owner_uid = STR("v");
    object(&b, "others", "0", 3, 4)->owner_uid = STR("");
    group(&b, 0, 2);
    lay(&b);
    assert_int_equal(b.layout.count, 1);
    is_laid(&b, 0, "p-decision-2 0: 0 1");
    assert_null(b.layout.objects[0].existing);
    assert_int_equal(b.layout.unwanted_count, 1);
    assert_str(b.layout.unwanted[0]->name, "others");
    arena_done(&b.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_objects),
        cmocka_unit_test(clusters_stay_where_they_are),
        cmocka_unit_test(names_that_are_free),
        cmocka_unit_test(an_object_is_used_again),
        cmocka_unit_test(nothing_is_selected),
        cmocka_unit_test(foreign_objects),
        cmocka_unit_test(groups_that_change_places),
        cmocka_unit_test(added_before_removed),
        cmocka_unit_test(no_object_holds_more_than_is_read),
        cmocka_unit_test(objects_are_made_labelled_and_deleted),
        cmocka_unit_test(hard_terms_hold_in_between),
        cmocka_unit_test(hard_terms_split_a_write),
        cmocka_unit_test(hard_terms_split_a_deletion),
        cmocka_unit_test(hard_terms_let_in_as_many_as_hold),
        cmocka_unit_test(parts_are_not_larger_than_an_object),
        cmocka_unit_test(objects_without_the_label),
        cmocka_unit_test(objects_of_another_controller),
    };
    return cmocka_run_group_tests_name("layout of decisions", tests, NULL, NULL);
}

/*
 * Which node has which image, beside a table of bits: many names, so that the ids of a node's list
 * are one to three bytes apart.
 */
#include "unit/cluster_builder.h"

#include <stdio.h>

enum { NODES = 12, NAMES = 40000, STEPS = 400 };

struct model {
    uint8_t has[NODES][NAMES];
};

static struct str image_name(char *text, size_t room, uint32_t i) {
    (void)snprintf(text, room, "registry.example.com/app-%u:1", i);
    return str_of(text);
}

static struct str node_name(char *text, size_t room, uint32_t i) {
    (void)snprintf(text, room, "node-%u", i);
    return str_of(text);
}

/* A size that follows from the name, as long as anybody has it. */
static int64_t size_of(uint32_t image) {
    return 1000 + (int64_t)image;
}

static void apply(struct cluster *c, struct model *m, uint32_t n, const uint32_t *images,
                  uint32_t count) {
    static struct node_image items[LIMIT_NODE_IMAGES];
    static char names[LIMIT_NODE_IMAGES][64];
    char name[32];
    memset(m->has[n], 0, sizeof m->has[n]);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (struct node_image){image_name(names[i], sizeof names[i], images[i]),
                                       size_of(images[i])};
        m->has[n][images[i]] = 1;
    }
    struct object o = {.kind = OBJECT_NODE,
                       .node = {.meta = {.name = node_name(name, sizeof name, n)},
                                .images = items,
                                .image_count = count}};
    cluster_apply(c, &o);
}

static void forget(struct cluster *c, struct model *m, uint32_t n) {
    char name[32];
    memset(m->has[n], 0, sizeof m->has[n]);
    cache_remove(c->cache, &(struct object){.kind = OBJECT_NODE,
                                            .node.meta.name = node_name(name, sizeof name, n)});
}

static void check_node(const struct cache_view *v, const struct model *m, uint32_t n,
                       const uint32_t *ids) {
    char name[32];
    uint32_t slot = topology_slot(v->nodes.topology, node_name(name, sizeof name, n)), listed = 0;
    uint32_t expected = 0;
    for (uint32_t i = 0; i < NAMES; i++)
        expected += m->has[n][i];
    if (slot == TOPOLOGY_NONE) {
        assert_int_equal(expected, 0);
        return;
    }
    uint32_t last = UINT32_MAX;
    for (struct cache_node_images at = cache_node_images(v, slot); cache_next_image(&at);) {
        assert_true(last == UINT32_MAX || at.id > last);
        last = at.id;
        listed++;
        assert_true(at.id < NAMES);
        assert_true(ids[at.id] != UINT32_MAX && m->has[n][ids[at.id]]);
    }
    assert_int_equal(listed, expected);
}

static void check(struct cache *cache, const struct model *m) {
    static uint32_t ids[NAMES]; /* of the cache, to names */
    struct cache_view v;
    memset(ids, 0xff, sizeof ids);
    cache_view_open(cache, &v);
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[64];
        struct cache_image image;
        uint32_t nodes = 0;
        for (uint32_t n = 0; n < NODES; n++)
            nodes += m->has[n][i];
        bool found = cache_image_find(&v, image_name(name, sizeof name, i), &image);
        assert_int_equal(found, nodes > 0);
        if (!found)
            continue;
        assert_int_equal(image.nodes, nodes);
        assert_int_equal(image.size, size_of(i));
        ids[image.id] = i;
    }
    for (uint32_t n = 0; n < NODES; n++)
        check_node(&v, m, n, ids);
    cache_view_close(&v);
}

static void random_lists(void **state) {
    (void)state;
    struct model *m = calloc(1, sizeof *m);
    struct cluster c;
    uint64_t random = unit_seed();
    assert_non_null(m);
    cluster_open(&c);
    for (int step = 0; step < STEPS; step++) {
        uint32_t images[LIMIT_NODE_IMAGES], n = unit_below(&random, NODES);
        uint32_t count = unit_below(&random, LIMIT_NODE_IMAGES + 1);
        uint32_t names = unit_below(&random, 4) == 0 ? 300 : NAMES; /* also those that many have */
        for (uint32_t i = 0; i < count; i++)
            images[i] = unit_below(&random, names); /* some of them twice */
        if (unit_below(&random, 8) == 0)
            forget(&c, m, n);
        else
            apply(&c, m, n, images, count);
        if (step % 20 == 19)
            check(c.cache, m);
    }
    cluster_close(&c);
    free(m);
}

/* LIMIT_NODE_IMAGES names of a node, of which one is there twice. */
static void so_many_images_of_a_node(void **state) {
    enum { MORE = LIMIT_NODE_IMAGES + 1 };
    static struct node_image items[MORE];
    static char names[MORE][64];
    struct cluster c;
    (void)state;
    cluster_open(&c);
    for (uint32_t i = 0; i < MORE; i++)
        items[i] = (struct node_image){image_name(names[i], sizeof names[i], i), size_of(i)};
    items[1] = items[0];
    for (uint32_t count = LIMIT_NODE_IMAGES - 1; count <= MORE; count++) {
        struct cache_view view;
        struct cache_image image;
        uint32_t found = 0;
        struct object o = {
            .kind = OBJECT_NODE,
            .node = {.meta = {.name = STR("n")}, .images = items, .image_count = count}};
        cluster_apply(&c, &o);
        cache_view_open(c.cache, &view);
        for (uint32_t i = 0; i < MORE; i++)
            found += cache_image_find(&view, items[i].name, &image) && image.nodes == 1;
        assert_int_equal(found, count < LIMIT_NODE_IMAGES ? count : LIMIT_NODE_IMAGES);
        assert_false(cache_image_find(&view, items[MORE - 1].name, &image));
        cache_view_close(&view);
    }
    struct object none = {.kind = OBJECT_NODE, .node = {.meta = {.name = STR("n")}}};
    cluster_apply(&c, &none);
    struct cache_view view;
    struct cache_image image;
    cache_view_open(c.cache, &view);
    for (uint32_t i = 0; i < MORE; i++)
        assert_false(cache_image_find(&view, items[i].name, &image));
    cache_view_close(&view);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_images_of_a_node),
        cmocka_unit_test(random_lists),
    };
    return cmocka_run_group_tests_name("images", tests, NULL, NULL);
}

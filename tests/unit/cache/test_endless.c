/*
 * Listings without end: what only they have shown is forgotten, what was known before stays, and
 * what objects take is counted as they come and go.
 */
#include "cache/internal.h"
#include "unit/cache/probe.h"

#include <stdio.h>

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c);
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

static void begin(struct cluster *c) {
    cache_write_begin(c->cache);
    cache_sync_begin(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

static void end(struct cluster *c) {
    cache_write_begin(c->cache);
    cache_sync_end(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

static void give_up(struct cluster *c, uint32_t kinds) {
    cache_write_begin(c->cache);
    cache_sync_abort(c->cache, kinds);
    cache_write_end(c->cache);
}

/* One of each kind, called so; the namespace, too. */
static const struct {
    enum object_kind kind;
    const char *json; /* # is the name */
} all[] = {
    {OBJECT_NODE, "{'metadata':{'name':'#','labels':{'zone':'#'}},'spec':{'taints':[{'key':'#',"
                  "'effect':'NoSchedule'}]},'status':{'allocatable':{'cpu':'4','a/#':'1'},'images':"
                  "[{'names':['#'],'sizeBytes':7}]}}"},
    {OBJECT_POD, "{'metadata':{'name':'#','namespace':'#','uid':'#','labels':{'app':'#'},"
                 "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'#',"
                 "'controller':true}]},'spec':{'nodeName':'#','tolerations':[{'key':'#'}],"
                 "'containers':[{'resources':{'requests':{'b/#':'1'}},'ports':[{'hostPort':80}]}],"
                 "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
                 "[{'topologyKey':'#','labelSelector':{'matchLabels':{'app':'#'}}}]}}}}"},
    {OBJECT_NAMESPACE, "{'metadata':{'name':'#','labels':{'team':'#'}}}"},
    {OBJECT_SERVICE, "{'metadata':{'name':'#','namespace':'#'},'spec':{'selector':{'app':'#'}}}"},
    {OBJECT_REPLICATION_CONTROLLER,
     "{'metadata':{'name':'#','namespace':'#'},'spec':{'selector':{'app':'#'}}}"},
    {OBJECT_REPLICA_SET, "{'metadata':{'name':'#','namespace':'#'},'spec':{'selector':{"
                         "'matchLabels':{'app':'#'}}}}"},
    {OBJECT_STATEFUL_SET, "{'metadata':{'name':'#','namespace':'#'},'spec':{'selector':{"
                          "'matchLabels':{'app':'#'}}}}"},
};
enum { KINDS = sizeof all / sizeof all[0], WORKLOADS = 4 };

static struct object made(struct cluster *c, size_t kind, const char *name) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct object object;
    struct err err;
    for (const char *p = all[kind].json; *p != '\0'; p++)
        if (*p == '#')
            strbuf_appendf(&text, "%s", name);
        else
            strbuf_append_char(&text, *p == '\'' ? '"' : *p);
    if (object_decode(arena_str(&c->arena, strbuf_str(&text)), all[kind].kind, POD_RUNNING,
                      &c->arena, &object, &err) != 0)
        fail_msg("%s", err.text);
    return object;
}

static void give(struct cluster *c, const char *name) {
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct object object = made(c, kind, name);
        cluster_apply(c, &object);
    }
}

static void take(struct cluster *c, const char *name) {
    for (size_t kind = KINDS; kind-- > 0;) {
        struct object object = made(c, kind, name);
        cluster_remove(c, &object);
    }
}

/* So many of each kind are known. */
static void knows(const struct cluster *c, uint32_t each) {
    const struct cache_stats stats = cache_stats(c->cache);
    assert_int_equal(stats.nodes, each);
    assert_int_equal(stats.pods, each);
    assert_int_equal(stats.namespaces, each);
    assert_int_equal(stats.workloads, each * WORKLOADS);
}

static uint64_t kept(const struct cluster *c) {
    return cache_kept_bytes(c->cache);
}

static void what_only_they_have_shown_is_forgotten(void **state) {
    struct cluster *c = *state;
    begin(c);
    give(c, "a");
    end(c);
    knows(c, 1);
    const uint64_t before = kept(c), slots = topology_slots(c->cache->nodes);
    begin(c);
    give(c, "b");
    begin(c); /* the one before was given up */
    give(c, "c");
    give(c, "a");
    give(c, "d");
    knows(c, 4);
    assert_true(kept(c) > 3 * before);
    give_up(c, CACHE_ALL_KINDS);
    knows(c, 1);
    const uint64_t empty = (topology_slots(c->cache->nodes) - slots) * sizeof(struct node_record);
    assert_int_equal(kept(c), before + empty);
    assert_int_equal(c->cache->images.count, 1);
    give(c, "e"); /* a watch's */
    give_up(c, CACHE_ALL_KINDS);
    knows(c, 2);
    begin(c);
    give(c, "f");
    end(c);
    knows(c, 1);
    give(c, "g"); /* a watch's */
    begin(c);
    give_up(c, CACHE_ALL_KINDS);
    knows(c, 2);
}

/* Before the first listing has ended nothing is known, and nothing stays. */
static void nor_is_the_cache_ready(void **state) {
    struct cluster *c = *state;
    const uint64_t nothing = kept(c);
    for (int i = 0; i < 3; i++) {
        begin(c);
        for (int j = 0; j < 100; j++) {
            char name[20];
            (void)snprintf(name, sizeof name, "x%d", 100 * i + j);
            give(c, name);
        }
        give_up(c, CACHE_ALL_KINDS);
        knows(c, 0);
        assert_int_equal(kept(c),
                         nothing + topology_slots(c->cache->nodes) * sizeof(struct node_record));
        assert_in_range(topology_slots(c->cache->nodes), 100, 101);
        assert_false(cache_ready(c->cache));
    }
    begin(c);
    give(c, "a");
    end(c);
    assert_true(cache_ready(c->cache));
    knows(c, 1);
}

/* Each kind has a listing of its own. */
static void of_one_kind_at_a_time(void **state) {
    struct cluster *c = *state;
    begin(c);
    give(c, "a");
    give_up(c, CACHE_KIND(OBJECT_POD));
    assert_int_equal(cache_stats(c->cache).pods, 0);
    assert_int_equal(cache_stats(c->cache).nodes, 1);
    assert_int_equal(cache_stats(c->cache).namespaces, 1);
    assert_int_equal(cache_stats(c->cache).workloads, WORKLOADS);
    give_up(c, CACHE_KIND(OBJECT_NODE));
    assert_int_equal(cache_stats(c->cache).nodes, 0);
    assert_int_equal(cache_stats(c->cache).workloads, WORKLOADS);
    for (uint32_t kind = OBJECT_SERVICE; kind <= OBJECT_STATEFUL_SET; kind++) {
        give_up(c, CACHE_KIND(kind));
        assert_int_equal(cache_stats(c->cache).workloads, OBJECT_STATEFUL_SET - kind);
    }
    assert_int_equal(cache_stats(c->cache).namespaces, 1);
    give_up(c, CACHE_KIND(OBJECT_NAMESPACE));
    knows(c, 0);
}

/* Nobody has listed what filter has reserved, or what is assumed. */
static void what_is_reserved_stays(void **state) {
    struct cluster *c = *state;
    begin(c);
    give(c, "a");
    end(c);
    struct object pod = made(c, 1, "r"), seen = made(c, 1, "s");
    begin(c);
    cache_write_begin(c->cache);
    pod.pod.node_name = STR("");
    assert_int_equal(cache_reserve(c->cache, &pod.pod, STR("a")), 0);
    assert_int_equal(cache_reserve(c->cache, &seen.pod, STR("a")), 0);
    cache_write_end(c->cache);
    cluster_apply(c, &seen); /* and now it has been listed */
    give_up(c, CACHE_KIND(OBJECT_POD));
    assert_int_equal(cache_stats(c->cache).reservations, 1);
    assert_int_equal(cache_stats(c->cache).pods, 1);
}

/* A pod is on a node that is forgotten: it counts there as soon as that is known again. */
static void nodes_go_and_their_pods_stay(void **state) {
    struct cluster *c = *state;
    struct selector everything = cluster_selector(c, "{}");
    struct object pod = made(c, 1, "a"), node = made(c, 0, "a");
    cluster_apply(c, &pod);
    begin(c);
    cluster_apply(c, &node);
    assert_int_equal(probe_count(c->cache, "a", &everything, "a"), 1);
    give_up(c, CACHE_KIND(OBJECT_NODE));
    assert_int_equal(probe_count(c->cache, "a", &everything, "a"), TOPOLOGY_NONE);
    assert_int_equal(cache_stats(c->cache).nodes, 0);
    assert_int_equal(c->cache->saying_nodes, 0);
    cluster_apply(c, &node);
    assert_int_equal(probe_count(c->cache, "a", &everything, "a"), 1);
}

/* What is kept of each kind is counted, and comes back to what it was. */
static void what_is_kept_is_counted(void **state) {
    struct cluster *c = *state;
    give(c, "a"); /* strings that all have in common, and slots */
    take(c, "a");
    knows(c, 0);
    const uint64_t nothing = kept(c);
    uint64_t last = nothing;
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct object object = made(c, kind, "a");
        cluster_apply(c, &object);
        assert_true(kept(c) > last);
        last = kept(c);
        cluster_apply(c, &object);
        assert_int_equal(kept(c), last);
    }
    take(c, "a");
    assert_int_equal(kept(c), nothing);
    assert_int_equal(c->cache->list_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_only_they_have_shown_is_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(nor_is_the_cache_ready, setup, teardown),
        cmocka_unit_test_setup_teardown(of_one_kind_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_reserved_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes_go_and_their_pods_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_kept_is_counted, setup, teardown),
    };
    return cmocka_run_group_tests_name("endless", tests, NULL, NULL);
}

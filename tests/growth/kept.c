#include "growth/kept.h"

#include "evenness/latest.h"
#include "evenness/render.h"
#include "growth/work.h"
#include "kube/watch/reflector.h"
#include "kube/write/queue.h"
#include "unit/cluster_builder.h"

#include "base/limits.h"

#include <stdio.h>

/* Applies pods on node a in namespace shop: what of each is made by `put`, from its number. */
static void run_pods(struct cluster *c, uint32_t count,
                     void (*put)(uint32_t i, void *ctx, struct pod *ret), void *ctx) {
    for (uint32_t i = 0; i < count; i++) {
        char uid[16];
        (void)snprintf(uid, sizeof uid, "%u", i); /* fits */
        struct object object = {
            .kind = OBJECT_POD,
            .pod = {.meta = {.namespace = STR("shop"), .uid = str_of(uid)}, .node_name = STR("a")}};
        put(i, ctx, &object.pod);
        cluster_apply(c, &object);
    }
}

static void own(uint32_t i, void *ctx, struct pod *ret) {
    struct str *name = ctx;
    ((char *)(uintptr_t)name->p)[0] = (char)('a' + i / 2); /* two pods each */
    ret->meta.controller_api = STR("apps/v1");
    ret->meta.controller_kind = STR("StatefulSet");
    ret->meta.controller_name = *name;
}

/* Pods of controllers whose names take n bytes, as they are read, reported and scraped. */
static uint64_t work_of_owners(uint32_t n) {
    enum { PODS = 20 };
    const struct str keys[] = {STR("zone")};
    struct cluster c;
    struct evenness_report *report;
    CLEANUP(strbuf_done) struct strbuf name = {0}, out = {0};
    cluster_open(&c);
    cluster_nodes(&c, "a x");
    memset(strbuf_reserve(&name, n), 'x', n);
    struct str text = {name.p, n};
    uint64_t before = work_done();
    run_pods(&c, PODS, own, &text);
    assert_int_equal(evenness_measure(c.cache, keys, 1, &report, NULL), 0);
    evenness_metrics_render(report, 100, &out);
    evenness_render(report, &(struct evenness_page){0, report->keys[0].worst, PODS / 2, STR(""), 0},
                    &out);
    uint64_t work = work_done() - before;
    assert_true(out.n > PODS / 2 * (n < 253 ? n : 253) && out.n < 20000);
    evenness_report_free(report);
    cluster_close(&c);
    return work;
}

struct many_labels {
    struct label *items;
    uint32_t count;
};

static void label(uint32_t i, void *ctx, struct pod *ret) {
    const struct many_labels *labels = ctx;
    labels->items[0].value = STR("first");
    labels->items[0].value.n = i % 5; /* some are equal */
    ret->meta.labels = (struct labels){labels->items, labels->count};
}

/* Running pods with n labels each, shown twice; some find no room for them. */
static uint64_t work_of_labels(uint32_t n) {
    enum { PODS = 12 };
    struct cluster c;
    struct cache_options options = {.max_label_bytes = (uint64_t)6 * 3 * 110 * n};
    struct arena arena;
    cluster_open_with(&c, options);
    cluster_nodes(&c, "a");
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    struct many_labels labels = {arena_array(&arena, n, sizeof(struct label)), n};
    assert_non_null(labels.items);
    for (uint32_t i = 0; i < n; i++)
        labels.items[i] =
            (struct label){arena_printf(&arena, "l%07u", i), arena_printf(&arena, "v%u", i)};
    uint64_t before = work_done();
    run_pods(&c, PODS, label, &labels);
    run_pods(&c, PODS, label, &labels);
    uint64_t work = work_done() - before;
    uint32_t cut = cache_stats(c.cache).pods_without_labels;
    assert_in_range(cut, 1, PODS - 1);
    arena_done(&arena);
    cluster_close(&c);
    return work;
}

static void on_node(uint32_t i, void *ctx, struct pod *ret) {
    (void)i;
    (void)ctx;
    (void)ret;
}

/* A list of n pods that is given up because it does not end, and one that ends. */
static uint64_t work_of_list(uint32_t n) {
    struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    uint64_t before = work_done();
    for (int ends = 0; ends < 2; ends++) {
        cache_write_begin(c.cache);
        cache_sync_begin(c.cache, CACHE_KIND(OBJECT_POD));
        cache_write_end(c.cache);
        run_pods(&c, n, on_node, NULL);
        assert_int_equal(cache_stats(c.cache).pods, n);
        cache_write_begin(c.cache);
        (ends ? cache_sync_end : cache_sync_abort)(c.cache, CACHE_KIND(OBJECT_POD));
        cache_write_end(c.cache);
        assert_int_equal(cache_stats(c.cache).pods, ends ? n : 0);
    }
    uint64_t work = work_done() - before;
    cluster_close(&c);
    return work;
}

/* A reflector that is shown n objects, on pages and as a stream, and gives up at the last. */
struct page {
    struct strbuf text;
    uint32_t shown;
};

static void page_begin(void *ctx) {
    ((struct page *)ctx)->shown = 0;
}

static int page_take(void *ctx, struct str object, struct err *err) {
    (void)object;
    (void)err;
    ((struct page *)ctx)->shown++;
    return 0;
}

static void put_page(struct strbuf *out, uint32_t number, uint32_t objects) {
    strbuf_clear(out);
    strbuf_appendf(out,
                   "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\",\"continue\":"
                   "\"t%u\"},\"items\":[",
                   number);
    for (uint32_t i = 0; i < objects; i++)
        strbuf_appendf(out, "%s{\"metadata\":{\"name\":\"p%u\",\"resourceVersion\":\"1\"}}",
                       i > 0 ? "," : "", i);
    strbuf_append_str(out, STR("]}"));
}

static uint64_t work_of_pages(uint32_t n) {
    enum { PAGE = 64 };
    struct page page = {.shown = 0};
    const struct reflector_options options = {
        .resource = "pods",
        .path = "/api/v1/pods",
        .max_objects = n - 1,
        .sink = {&page, page_begin, page_begin, page_take, page_take, page_begin},
        .seed = 1};
    struct reflector *r;
    struct reflector_next next;
    int64_t now_ms = 1000;
    assert_int_equal(reflector_new(&options, &r, NULL), 0);
    reflector_next(r, now_ms, &next);
    reflector_on_head(r, now_ms, 422);
    reflector_on_end(r, now_ms, 0, -1);
    uint64_t before = work_done();
    for (uint32_t i = 0; i < n / PAGE; i++) {
        put_page(&page.text, i + 1, PAGE);
        reflector_next(r, now_ms, &next);
        assert_int_equal(next.step, REFLECTOR_GET);
        reflector_on_head(r, now_ms, 200);
        assert_int_equal(reflector_on_data(r, now_ms, strbuf_str(&page.text)), 0);
        reflector_on_end(r, now_ms, 0, -1);
    }
    uint64_t work = work_done() - before;
    reflector_next(r, now_ms, &next);
    assert_int_equal(next.step, REFLECTOR_WAIT); /* it has been given up */
    reflector_free(r);
    strbuf_done(&page.text);
    return work;
}

static int64_t never_ms(void *ctx) {
    (void)ctx;
    return 0;
}

/* n objects that want a write while none may begin, and a quarter of them no more. */
static uint64_t work_of_wishes(uint32_t n) {
    const struct write_limits limits = {.under_way = 1, .burst = 1, .per_second = 1, .seed = 1};
    const struct write_lane_options options = {
        .objects = n, .retry_ms = 1000, .retry_max_ms = 1000, .may_write_ms = never_ms};
    struct write_queue *queue;
    struct write_lane *lane;
    char name[16];
    assert_int_equal(write_queue_new(&limits, &queue, NULL), 0);
    assert_int_equal(write_lane_new(queue, &options, &lane, NULL), 0);
    uint64_t before = work_done();
    for (uint32_t i = 0; i < n; i++) {
        struct write_next next;
        (void)snprintf(name, sizeof name, "%u", i); /* fits */
        assert_int_equal(write_lane_want(lane, str_of(name), 1000, 0), 0);
        if (i % 4 == 3)
            write_lane_drop(lane, str_of(name));
        write_queue_next(queue, 1000, &next);
        assert_null(next.item);
    }
    uint64_t work = work_done() - before;
    assert_int_equal(write_lane_count(lane), n - n / 4);
    write_lane_free(lane);
    write_queue_free(queue);
    return work;
}

static const struct {
    const char *verb, *list;
    uint64_t (*work)(uint32_t n);
    uint32_t most;
} kept[KEPT_GROWTH_LISTS] = {
    {"/metrics", "name of an owner", work_of_owners, 1 << 20},
    {"watch", "labels of running pods", work_of_labels, 1 << 16},
    {"watch", "pods of a list", work_of_list, 1 << 16},
    {"watch", "pages of a list", work_of_pages, 1 << 16},
    /* beyond that the map of their names is fuller, once and for all */
    {"write", "objects that want it", work_of_wishes, 1 << 12},
};

const char *kept_growth_verb(uint32_t list) {
    return kept[list].verb;
}

const char *kept_growth_name(uint32_t list) {
    return kept[list].list;
}

uint64_t kept_growth_work(uint32_t list, uint32_t n) {
    return n <= kept[list].most ? kept[list].work(n) : 0;
}

/* What a store of two kinds is given: from files, and from watches of a fake API server. */
#include "informer/informer.h"

#include "base/file.h"
#include "base/metrics.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define META(name, version)                                                                        \
    "\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}"
#define NODE(name, version) "{\"apiVersion\":\"v1\",\"kind\":\"Node\"," META(name, version) "}"
#define SPACE(name, version)                                                                       \
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\"," META(name, version) "}"

/* ---- a store: names of nodes; of namespaces, which it does not have decoded, their texts ---- */

enum { NODES, SPACES, KINDS };

struct kept {
    char text[128];
};

/* Texts that are known are the objects; one that is "held" keeps its record when it goes. */
struct shelf {
    struct pool objects[KINDS];
};

static atomic_int shelves;     /* that are open */
static atomic_int aborted;     /* listings */
static _Atomic uint64_t taken; /* by what is kept, as the store says */
static atomic_bool stored;     /* the last node that was decoded, by an API server */
static int refusal;            /* what apply() answers to an object named "refused" */

static int open_shelf(void **ret, struct err *err) {
    (void)err;
    struct shelf *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int k = 0; k < KINDS; k++)
        pool_init(&s->objects[k], sizeof(struct kept));
    *ret = s;
    (void)atomic_fetch_add(&shelves, 1); /* the old number says nothing */
    return 0;
}

static void close_shelf(void *contents) {
    if (contents == NULL)
        return;
    (void)atomic_fetch_sub(&shelves, 1); /* likewise */
    for (int k = 0; k < KINDS; k++)
        pool_done(&((struct shelf *)contents)->objects[k]);
    free(contents);
}

static void decode_node(struct json_reader *r, struct informer_object *ret) {
    struct node node;
    node_decode(r, &node);
    atomic_store(&stored, ret->is_stored);
    ret->meta = node.meta;
    ret->decoded = arena_cstr(ret->arena, node.meta.name);
}

static const char *text_of(const struct shelf *s, uint32_t kind, uint32_t id) {
    return ((const struct kept *)pool_at(&s->objects[kind], id))->text;
}

static int put(struct shelf *s, uint32_t kind, struct str text) {
    struct pool *p = &s->objects[kind];
    uint32_t id = pool_next(p, 0);
    while (id != POOL_NONE && !str_eq(str_of(text_of(s, kind, id)), text))
        id = pool_next(p, id + 1);
    if (id == POOL_NONE) {
        id = pool_take(p);
        assert_int_not_equal(id, POOL_NONE);
        struct kept *made = pool_at(p, id);
        (void)snprintf(made->text, sizeof made->text, "%.*s", STR_ARG(text)); /* fits */
    }
    pool_show(p, id);
    return 0;
}

static int apply_node(void *contents, const struct informer_object *object, struct err *err) {
    assert_int_equal(object->kind, NODES);
    assert_str(object->meta.name, object->decoded);
    if (str_eq(object->meta.name, STR("refused")))
        return err_set(err, refusal, "refused");
    return put(contents, NODES, str_of(object->decoded));
}

static int apply_space(void *contents, const struct informer_object *object, struct err *err) {
    (void)err;
    assert_int_equal(object->kind, SPACES);
    assert_null(object->decoded);
    return put(contents, SPACES, object->json);
}

static struct pool *records(void *contents, uint32_t kind) {
    struct shelf *s = contents;
    return &s->objects[kind];
}

static void drop(void *contents, uint32_t kind, uint32_t id) {
    if (strcmp(text_of(contents, kind, id), "held") == 0)
        pool_hide(records(contents, kind), id);
    else
        pool_give(records(contents, kind), id);
}

static int remove_object(void *contents, const struct informer_object *gone, struct err *err) {
    const struct pool *p = records(contents, gone->kind);
    (void)err;
    for (POOL_EACH(p, id)) {
        const char *text = text_of(contents, gone->kind, id);
        if (strstr(text, gone->kind == NODES ? "" : "\"kind\":\"Namespace\"") != NULL &&
            memmem(text, strlen(text), gone->meta.name.p, gone->meta.name.n) != NULL)
            drop(contents, gone->kind, id);
    }
    return 0;
}

static void listed(void *contents, uint32_t kind, enum informer_listing how) {
    struct shelf *s = contents;
    assert_int_equal(s->objects[kind].listing, how == LISTING_BEGINS);
    if (how == LISTING_FAILS)
        (void)atomic_fetch_add(&aborted, 1); /* the old number says nothing */
}

static uint32_t count_of(const struct shelf *s, uint32_t kind) {
    uint32_t count = 0;
    for (uint32_t id = pool_next_known(&s->objects[kind], 0); id != POOL_NONE;
         id = pool_next_known(&s->objects[kind], id + 1))
        count++;
    return count;
}

static uint64_t kept_bytes(const void *contents) {
    (void)contents;
    return atomic_load(&taken);
}

static uint32_t count_nodes(const void *contents) {
    return count_of(contents, NODES);
}

static const struct informer_kind kinds[KINDS] = {
    [NODES] = {KIND_NODE, decode_node, apply_node, remove_object, count_nodes},
    [SPACES] = {KIND_NAMESPACE, NULL, apply_space, remove_object, NULL},
};
static const struct informer_store shelf_store = {.what = "shelves",
                                                  .kinds = kinds,
                                                  .kind_count = KINDS,
                                                  .object_bytes = 64 << 10,
                                                  .open = open_shelf,
                                                  .close = close_shelf,
                                                  .records = records,
                                                  .drop = drop,
                                                  .listed = listed,
                                                  .kept_bytes = kept_bytes,
                                                  .metric = "evenkeel_candidates",
                                                  .metric_help = "As in the store of candidates."};

/* "a b": the nodes, and how many namespaces. */
static void has(struct informer *i, const char *nodes, uint32_t spaces) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    const struct shelf *s = informer_read(i);
    for (uint32_t id = pool_next_known(&s->objects[NODES], 0); id != POOL_NONE;
         id = pool_next_known(&s->objects[NODES], id + 1))
        strbuf_appendf(&got, "%s%s", got.n > 0 ? " " : "", text_of(s, NODES, id));
    uint32_t count = count_of(s, SPACES);
    informer_read_done(i);
    assert_str(strbuf_str(&got), nodes);
    assert_int_equal(count, spaces);
}

/* ---- files ---- */

struct fixture {
    char path[64];
    struct informer *informer;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.path = "/tmp/evenkeel-informer-XXXXXX.json"};
    refusal = -EINVAL;
    atomic_store(&shelves, 0);
    atomic_store(&aborted, 0);
    atomic_store(&taken, 0);
    assert_return_code(mkstemps(f.path, 5), 0);
    assert_int_equal(informer_new(&shelf_store, NULL, &f.informer, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    informer_free(f->informer);
    assert_int_equal(atomic_load(&shelves), 0);
    metrics_reset();
    return unlink(f->path);
}

static int load(struct fixture *f, const char *text, struct err *err) {
    const char *path = f->path;
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    return informer_load(f->informer, &path, 1, err);
}

#define LIST(items) "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" items "]}"

static void files_have_all_there_is(void **state) {
    struct fixture *f = *state;
    uint64_t changes = informer_changes(f->informer);
    struct err err;
    has(f->informer, "", 0);
    assert_int_equal(
        load(f, LIST(NODE("a", "1") ",{\"kind\":\"Pod\"}," SPACE("s", "2") "," NODE("b", "3")),
             &err),
        0);
    has(f->informer, "a b", 1);
    assert_false(atomic_load(&stored));
    assert_int_equal(informer_changes(f->informer), changes + 1);
    assert_int_equal(load(f, NODE("c", "4"), &err), 0);
    has(f->informer, "c", 0);
    assert_int_equal(atomic_load(&shelves), 1);
}

/* The place of what is wrong is that in the file, whatever stands before the object. */
static void a_bad_file_changes_nothing(void **state) {
    struct fixture *f = *state;
    static const char bad[] =
        LIST(NODE("b", "1") ",\n{\"kind\":\"Node\",\"metadata\":{\"name\":7}}");
    char place[64];
    struct err err;
    assert_int_equal(load(f, NODE("a", "1"), &err), 0);
    uint64_t changes = informer_changes(f->informer);
    assert_int_equal(load(f, bad, &err), -EINVAL);
    (void)snprintf(place, sizeof place, "at byte %zu",
                   (size_t)(strstr(bad, "7}") - bad)); /* fits */
    assert_contains(err.text, f->path);
    assert_contains(err.text, "document.items[1].metadata.name: expected a string");
    assert_contains(err.text, place);
    assert_int_equal(load(f, LIST(NODE("b", "1") ",{\"kind\":\"Node\"}"), &err), -EINVAL);
    assert_contains(err.text, "no metadata.name");
    assert_int_equal(load(f, LIST(NODE("b", "1") "," NODE("refused", "1")), &err), -EINVAL);
    assert_contains(err.text, "refused");
    has(f->informer, "a", 0);
    assert_int_equal(informer_changes(f->informer), changes);
    assert_int_equal(atomic_load(&shelves), 1);
}

static void files_of_others_are_followed(void **state) {
    struct fixture *f = *state;
    struct file_source *files;
    struct file_source_result result;
    const char *path = f->path;
    struct file_follower *follower = informer_follower(f->informer);
    assert_int_equal(file_write_atomic(path, STR(LIST(NODE("a", "1"))), 0600, NULL), 0);
    assert_int_equal(file_source_new(&path, 1, NULL, &files, NULL), 0);
    file_source_follow(files, follower);
    follower->give_up(follower->ctx); /* before it has begun */
    assert_int_equal(file_source_load(files, &result, NULL), 0);
    has(f->informer, "a", 0);
    assert_true(metric_now("evenkeel_candidates{resource=\"nodes\"}") == 1);
    informer_stop(f->informer);
    has(f->informer, "a", 0);
    file_source_free(files);
}

static void contents_can_be_worked_on(void **state) {
    struct fixture *f = *state;
    struct err err;
    assert_int_equal(load(f, NODE("a", "1"), &err), 0);
    struct shelf *s = informer_write(f->informer);
    assert_int_equal(put(s, NODES, STR("made of it")), 0);
    informer_write_done(f->informer);
    has(f->informer, "a made of it", 0);
    assert_int_equal(informer_changes(NULL), 0);
    informer_free(NULL);
    informer_stop(NULL);
}

/* ---- watches ---- */

struct server {
    struct api api;
    struct api_call calls[KINDS];
    struct kube_access access;
    struct clock_fake clock;
    struct kube_client *client;
};

static void start(struct server *s, struct informer *i, uint64_t without) {
    *s = (struct server){.client = NULL};
    api_init(&s->api);
    clock_fake_init(&s->clock, 1000000);
    s->access = (struct kube_access){.server = s->api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&s->access, &s->clock.clock, &s->client, NULL), 0);
    const struct informer_watch watch = {
        .client = s->client, .clock = &s->clock.clock, .seed = 1, .without = without};
    assert_int_equal(informer_watch(i, &watch, NULL), 0);
}

static void finish(struct server *s, struct informer *i) {
    informer_stop(i);
    kube_client_free(s->client);
    for (int k = 0; k < KINDS; k++)
        api_call_done(&s->calls[k]);
    api_done(&s->api);
}

/* Takes the request of so many kinds, in any order. */
static void take(struct server *s, int count) {
    for (; count > 0; count--) {
        struct api_call call = {0};
        api_take(&s->api, &call);
        bool nodes = str_has_prefix(call.path, STR("/api/v1/nodes?"));
        assert_true(nodes || str_has_prefix(call.path, STR("/api/v1/namespaces?")));
        s->calls[nodes ? NODES : SPACES] = call;
    }
}

static void nodes_become(double count) {
    metric_becomes("evenkeel_candidates{resource=\"nodes\"}", count);
}

static void watches_keep_it_right(void **state) {
    struct fixture *f = *state;
    struct informer *i = f->informer;
    struct server s;
    int64_t heard;
    assert_true(informer_listed(i)); /* nothing is watched */
    assert_int_equal(informer_age_ms(i), 0);
    start(&s, i, 0);
    assert_false(informer_listed(i));
    assert_false(informer_wait(i, 1));
    assert_true(informer_age_ms(i) == INT64_MAX);
    assert_false(informer_heard(i, NODES, &heard));
    take(&s, 2);
    assert_true(api_say(&s.calls[NODES], STREAM EVENT("ADDED", NODE("a", "1"))
                                             EVENT("ADDED", NODE("b", "2")) MARKER("3")));
    nodes_become(2);
    assert_true(atomic_load(&stored));
    while (!informer_heard(i, NODES, &heard))
        sched_yield();
    assert_false(informer_listed(i)); /* one of two */
    assert_true(informer_age_ms(i) == INT64_MAX);
    assert_true(api_say(&s.calls[SPACES], STREAM EVENT("ADDED", SPACE("s", "4")) MARKER("5")));
    assert_true(informer_wait(i, 60000));
    assert_true(informer_synced(i));
    has(i, "a b", 1);
    uint64_t changes = informer_changes(i);
    assert_true(api_say(&s.calls[NODES], EVENT("DELETED", NODE("a", "6"))));
    nodes_become(1);
    assert_true(informer_changes(i) > changes);
    assert_true(api_say(&s.calls[SPACES], EVENT("DELETED", SPACE("s", "7"))));
    while (count_of(informer_read(i), SPACES) > 0) {
        informer_read_done(i);
        sched_yield();
    }
    informer_read_done(i);
    has(i, "b", 0);
    assert_int_equal(informer_age_ms(i), 0);
    atomic_store(&s.clock.at_ms, 1001500);
    assert_int_equal(informer_age_ms(i), 1500);
    heard = 0; /* the kind that is silent longest counts, whichever it is */
    assert_true(api_say(&s.calls[SPACES], EVENT("ADDED", SPACE("t", "8"))));
    while (!informer_heard(i, SPACES, &heard) || heard != 1001500)
        sched_yield();
    assert_int_equal(informer_age_ms(i), 1500);
    finish(&s, i);
    has(i, "b", 1);
    assert_true(informer_listed(i));
    assert_true(metric_now("evenkeel_candidates{resource=\"nodes\"}") == -1);
}

/* An object that cannot be decoded or kept costs itself only. */
static void an_object_is_refused_alone(void **state) {
    struct fixture *f = *state;
    static char large[300 << 10];
    struct server s;
    start(&s, f->informer, 1u << SPACES);
    take(&s, 1);
    (void)snprintf(
        large, sizeof large,
        "{\"metadata\":{\"name\":\"large\",\"resourceVersion\":\"4\",\"labels\":{\"a\":\"");
    size_t n = strlen(large);
    while (n < sizeof large - 16) {
        large[n++] = '\\'; /* an escape, so the text is copied */
        large[n++] = 'n';
    }
    (void)snprintf(large + n, sizeof large - n, "\"}}}"); /* fits */
    assert_true(api_say(&s.calls[NODES],
                        STREAM EVENT("ADDED", NODE("refused", "1"))
                            EVENT("ADDED", "{\"metadata\":{\"name\":1,\"resourceVersion\":\"2\"}}")
                                EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"3\"}}")));
    assert_true(api_say(&s.calls[NODES], "{\"type\":\"ADDED\",\"object\":"));
    assert_true(api_say(&s.calls[NODES], large));
    assert_true(api_say(&s.calls[NODES], "}\n" EVENT("ADDED", NODE("a", "2")) MARKER("3")));
    assert_true(informer_wait(f->informer, 60000));
    has(f->informer, "a", 0);
    metric_becomes("evenkeel_watch_refused_objects_total{resource=\"nodes\"}", 4);
    finish(&s, f->informer);
}

/* An object so large that the store is asked what it keeps. */
static bool say_large(struct api_call *call, const char *name) {
    static char event[80 << 10];
    int n = snprintf(event, sizeof event,
                     "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"%s\","
                     "\"resourceVersion\":\"1\"},\"spec\":{\"x\":\"%0*d\"}}}\n",
                     name, 64 << 10, 1);
    assert_in_range(n, 64 << 10, sizeof event - 1);
    return api_say(call, event);
}

/* What counts is what is kept beyond what was there when the listing began, of all kinds. */
static void a_listing_of_which_much_is_kept(void **state) {
    struct fixture *f = *state;
    struct server s;
    atomic_store(&taken, 1000);
    start(&s, f->informer, 0);
    take(&s, 2);
    assert_true(api_say(&s.calls[NODES], STREAM));
    assert_true(say_large(&s.calls[NODES], "a"));
    nodes_become(1);
    atomic_store(&taken, 1000 + LIMIT_LISTED_BYTES);
    assert_true(say_large(&s.calls[NODES], "b"));
    nodes_become(2);
    assert_true(api_say(&s.calls[NODES], MARKER("3")));
    assert_true(api_say(&s.calls[SPACES], STREAM MARKER("5")));
    assert_true(informer_wait(f->informer, 60000));
    assert_int_equal(atomic_load(&aborted), 0);
    finish(&s, f->informer);
}

/* Once it has ended its watch may add as much again, and no more. */
static void a_watch_of_which_more_is_kept(void **state) {
    struct fixture *f = *state;
    struct server s;
    atomic_store(&taken, 1000);
    start(&s, f->informer, 1u << SPACES);
    take(&s, 1);
    assert_true(api_say(&s.calls[NODES], STREAM MARKER("3")));
    assert_true(informer_wait(f->informer, 60000));
    atomic_store(&taken, 1000 + LIMIT_LISTED_BYTES);
    assert_true(say_large(&s.calls[NODES], "a"));
    nodes_become(1);
    assert_int_equal(atomic_load(&aborted), 0);
    atomic_store(&taken, 1001 + LIMIT_LISTED_BYTES);
    assert_true(say_large(&s.calls[NODES], "b"));
    metric_becomes("evenkeel_watch_errors_total{resource=\"nodes\"}", 1);
    assert_int_equal(atomic_load(&aborted), 1);
    has(f->informer, "a b", 0); /* until a listing ends */
    finish(&s, f->informer);
}

static void a_listing_of_which_more_is_kept(void **state) {
    struct fixture *f = *state;
    struct server s;
    atomic_store(&taken, 1000);
    start(&s, f->informer, 1u << SPACES);
    take(&s, 1);
    assert_true(api_say(&s.calls[NODES], STREAM EVENT("ADDED", NODE("a", "1"))));
    nodes_become(1);
    atomic_store(&taken, 1001 + LIMIT_LISTED_BYTES);
    assert_true(api_say(&s.calls[NODES], EVENT("ADDED", NODE("b", "1")))); /* too small to ask */
    nodes_become(2);
    assert_true(say_large(&s.calls[NODES], "c"));
    nodes_become(0);
    assert_int_equal(atomic_load(&aborted), 1);
    metric_becomes("evenkeel_watch_errors_total{resource=\"nodes\"}", 1);
    assert_false(informer_synced(f->informer));
    finish(&s, f->informer);
}

/* What decoding one takes is the next one's: of many that are gone, together more than one may
 * take, none is refused. */
static void names_of_what_is_gone_are_given_back(void **state) {
    struct fixture *f = *state;
    static char name[20000];
    struct server s;
    for (size_t n = 0; n + 6 < sizeof name; n += 6)
        memcpy(name + n, "\\u0061", 7); /* an escape, so the text is copied */
    start(&s, f->informer, 1u << SPACES);
    take(&s, 1);
    assert_true(api_say(&s.calls[NODES], STREAM EVENT("ADDED", NODE("b", "1")) MARKER("3")));
    nodes_become(1);
    for (int i = 0; i < 30; i++) {
        assert_true(api_say(&s.calls[NODES], "{\"type\":\"DELETED\",\"object\":{\"metadata\":{"
                                             "\"resourceVersion\":\"4\",\"name\":\""));
        assert_true(api_say(&s.calls[NODES], name));
        assert_true(api_say(&s.calls[NODES], "\"}}}\n"));
    }
    assert_true(api_say(&s.calls[NODES], EVENT("DELETED", NODE("b", "5"))));
    nodes_become(0);
    assert_true(metric_now("evenkeel_watch_listings_total{resource=\"nodes\"}") == 1);
    finish(&s, f->informer);
}

static void a_kind_can_come_later(void **state) {
    struct fixture *f = *state;
    struct informer *i = f->informer;
    struct server s;
    start(&s, i, 1u << SPACES);
    take(&s, 1);
    assert_true(s.calls[NODES].text.n > 0);
    assert_true(api_say(&s.calls[NODES], STREAM MARKER("1")));
    assert_true(informer_wait(i, 60000)); /* for what is watched */
    assert_int_equal(informer_watch_kind(i, SPACES, NULL), 0);
    assert_int_equal(informer_watch_kind(i, SPACES, NULL), 0); /* it is already */
    take(&s, 1);
    assert_false(informer_listed(i));
    assert_true(api_say(&s.calls[SPACES], STREAM EVENT("ADDED", SPACE("s", "1")) MARKER("2")));
    assert_true(informer_wait(i, 60000));
    has(i, "", 1);
    assert_true(api_is_quiet(&s.api));
    finish(&s, i);
    assert_int_equal(informer_watch_kind(i, SPACES, NULL), 0); /* not any more */
    assert_true(informer_listed(i));
}

/* ---- contents of somebody else, with a lock of their own ---- */

static atomic_int locks;

static void count_lock(void *contents) {
    (void)contents;
    assert_int_equal(atomic_fetch_add(&locks, 1) % 2, 0);
}

static void count_unlock(void *contents) {
    (void)contents;
    assert_int_equal(atomic_fetch_add(&locks, 1) % 2, 1);
}

static void contents_can_be_given(void **state) {
    (void)state;
    struct informer_store store = shelf_store;
    void *shelf;
    struct informer *i;
    struct server s;
    assert_int_equal(store.open(&shelf, NULL), 0);
    store.open = NULL;
    store.close = NULL;
    store.lock = count_lock;
    store.unlock = count_unlock;
    atomic_store(&locks, 0);
    store.locks = true; /* this test's: it looks when the watch is stopped */
    store.metric = NULL;
    assert_int_equal(informer_new(&store, shelf, &i, NULL), 0);
    start(&s, i, 0);
    take(&s, 2);
    assert_true(api_say(&s.calls[NODES], STREAM EVENT("ADDED", NODE("a", "1")) MARKER("3")));
    assert_true(api_say(&s.calls[SPACES], STREAM MARKER("5")));
    assert_true(informer_wait(i, 60000));
    assert_true(metric_now("evenkeel_candidates{resource=\"nodes\"}") != 1);
    finish(&s, i);
    assert_int_equal(count_of(shelf, NODES), 1);
    assert_int_equal(atomic_load(&locks), 8); /* two listings: a lock and an unlock each way */
    informer_free(i);
    shelf_store.close(shelf);
}

/* ---- listings: as client-go's Replace(), and what becomes of one that has no end ---- */

static void step(struct informer *i, enum informer_listing how) {
    informer_list(&shelf_store, informer_write(i), NODES, how);
    informer_write_done(i);
}

static void show(struct informer *i, const char *node) {
    assert_int_equal(put(informer_write(i), NODES, str_of(node)), 0);
    informer_write_done(i);
}

static void take_away(struct informer *i, const char *node) {
    const struct informer_object gone = {.kind = NODES, .meta = {.name = str_of(node)}};
    assert_int_equal(remove_object(informer_write(i), &gone, NULL), 0);
    informer_write_done(i);
}

static void what_a_listing_shows_is_all_there_is(void **state) {
    const struct fixture *f = *state;
    struct informer *i = f->informer;
    show(i, "a");
    show(i, "held");
    step(i, LISTING_BEGINS);
    show(i, "b");
    show(i, "c");
    show(i, "b"); /* twice */
    show(i, "gone");
    take_away(i, "gone"); /* while it is under way */
    has(i, "a held b c", 0);
    step(i, LISTING_ENDS);
    has(i, "b c", 0);
    assert_int_equal(((struct shelf *)informer_read(i))->objects[NODES].count,
                     3); /* and a record */
    informer_read_done(i);
    step(i, LISTING_BEGINS);
    step(i, LISTING_ENDS);
    has(i, "", 0);
}

static void a_listing_in_a_listing_is_the_one_that_counts(void **state) {
    const struct fixture *f = *state;
    struct informer *i = f->informer;
    step(i, LISTING_BEGINS);
    show(i, "a");
    step(i, LISTING_BEGINS);
    show(i, "b");
    step(i, LISTING_ENDS);
    has(i, "b", 0);
    show(i, "c"); /* by the watch after it */
    step(i, LISTING_BEGINS);
    show(i, "b");
    show(i, "c");
    step(i, LISTING_ENDS);
    has(i, "c b", 0); /* a record that is used anew */
}

static void a_listing_that_fails_takes_back_what_it_brought(void **state) {
    const struct fixture *f = *state;
    struct informer *i = f->informer;
    step(i, LISTING_BEGINS);
    show(i, "a");
    show(i, "b");
    step(i, LISTING_ENDS);
    step(i, LISTING_BEGINS);
    show(i, "given up");
    step(i, LISTING_BEGINS);
    show(i, "b");
    show(i, "c");
    take_away(i, "b");
    show(i, "b"); /* another one of the same name */
    step(i, LISTING_FAILS);
    has(i, "a", 0);
    show(i, "d"); /* by a watch */
    step(i, LISTING_FAILS);
    has(i, "a d", 0);
    assert_int_equal(atomic_load(&aborted), 2);
}

/* Records of the same objects in another pool: here those of namespaces. */
static void a_listing_is_of_all_records_of_its_kind(void **state) {
    static const uint32_t also[KINDS] = {[NODES] = SPACES};
    const struct fixture *f = *state;
    struct informer *i = f->informer;
    struct informer_store store = shelf_store;
    store.also = also;
    store.listed = NULL;
    struct shelf *s = informer_write(i);
    assert_int_equal(put(s, SPACES, STR("s")), 0);
    informer_list(&store, s, NODES, LISTING_BEGINS);
    assert_int_equal(put(s, NODES, STR("a")), 0);
    assert_int_equal(put(s, SPACES, STR("t")), 0);
    informer_list(&store, s, NODES, LISTING_ENDS);
    informer_write_done(i);
    has(i, "a", 1);
    s = informer_write(i);
    informer_list(&store, s, SPACES, LISTING_BEGINS);
    informer_list(&store, s, SPACES, LISTING_ENDS);
    informer_write_done(i);
    has(i, "a", 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(files_have_all_there_is),
        TEST(a_bad_file_changes_nothing),
        TEST(files_of_others_are_followed),
        TEST(contents_can_be_worked_on),
        TEST(watches_keep_it_right),
        TEST(an_object_is_refused_alone),
        TEST(a_listing_of_which_much_is_kept),
        TEST(a_listing_of_which_more_is_kept),
        TEST(a_watch_of_which_more_is_kept),
        TEST(a_kind_can_come_later),
        TEST(names_of_what_is_gone_are_given_back),
        TEST(contents_can_be_given),
        TEST(what_a_listing_shows_is_all_there_is),
        TEST(a_listing_in_a_listing_is_the_one_that_counts),
        TEST(a_listing_that_fails_takes_back_what_it_brought),
        TEST(a_listing_is_of_all_records_of_its_kind),
    };
    return cmocka_run_group_tests_name("informer", tests, NULL, NULL);
}

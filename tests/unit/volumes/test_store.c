/*
 * Which nodes the volumes of a pod leave to it: what state files say, and what a watch of a fake
 * API server makes of it, object by object.
 */
#include "volumes/store.h"

#include "base/file.h"
#include "base/metrics.h"
#include "model/topology.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* Of a claim and of a volume, as JSON. */
#define META(namespace, name, version)                                                             \
    "\"metadata\":{\"name\":\"" name "\"" namespace ",\"resourceVersion\":\"" version "\"}"
#define CLAIM_OF(namespace, name, version, spec)                                                   \
    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\"," META(                             \
        ",\"namespace\":\"" namespace "\"", name, version) ",\"spec\":{" spec "}}"
#define CLAIM(name, version, volume)                                                               \
    CLAIM_OF("shop", name, version,                                                                \
             "\"accessModes\":[\"ReadWriteOnce\"],\"volumeName\":\"" volume "\"")
#define UNBOUND(name, version) CLAIM_OF("shop", name, version, "\"storageClassName\":\"fast\"")
#define VOLUME_OF(name, version, spec)                                                             \
    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\"," META("", name,                         \
                                                                 version) ",\"spec\":{" spec "}}"
#define AFFINITY(zone)                                                                             \
    "\"capacity\":{\"storage\":\"1Gi\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"  \
    "\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"" zone "\"]}]}]}}"
#define VOLUME(name, version, zone) VOLUME_OF(name, version, AFFINITY(zone))

struct fixture {
    char path[64];
    struct informer *volumes;
    struct arena arena;
    /* of a watch */
    struct api api;
    struct kube_access access;
    struct kube_client *client;
    struct api_call claims, pvs, classes;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.path = "/tmp/evenkeel-volumes-XXXXXX.json"};
    assert_return_code(mkstemps(f.path, 5), 0);
    assert_int_equal(informer_new(&volume_store, NULL, &f.volumes, NULL), 0);
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    informer_stop(f->volumes);
    kube_client_free(f->client);
    informer_free(f->volumes);
    arena_done(&f->arena);
    metrics_reset();
    return unlink(f->path);
}

static void load(struct fixture *f, const char *text) {
    struct err err;
    const char *path = f->path;
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    if (informer_load(f->volumes, &path, 1, &err) != 0)
        fail_msg("%s", err.text);
}

/* Objects, to the NULL that ends them. */
static void load_all(struct fixture *f, const char *const *objects) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (size_t i = 0; objects[i] != NULL; i++)
        strbuf_appendf(&text, "%s%s", i > 0 ? "," : "{\"kind\":\"List\",\"items\":[", objects[i]);
    strbuf_append_str(&text, STR("]}"));
    strbuf_append_char(&text, '\0');
    load(f, text.p);
}
#define LOAD(f, ...) load_all((f), (const char *const[]){__VA_ARGS__, NULL})

/* ---- asking ---- */

static int by_zone(const void *a, const void *b) {
    const struct node_affinity *x = a, *y = b;
    return str_cmp(x->terms[0].expressions[0].values[0], y->terms[0].expressions[0].values[0]);
}

/* "x y": the zones in which the volumes of these claims are, of which each affinity has one. */
static void leave_in(struct fixture *f, const char *namespace, const char *claims,
                     const char *zones) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    struct node_affinity sorted[8];
    const struct node_affinity *found;
    struct str names[8];
    uint32_t count = 0, n = 0;
    for (const char *at = claims; *at != '\0'; at += strspn(at, " ")) {
        names[n] = (struct str){at, strcspn(at, " ")};
        at += names[n++].n;
    }
    arena_reset(&f->arena);
    assert_int_equal(
        volume_affinities(f->volumes, str_of(namespace), names, n, &f->arena, &found, &count), 0);
    assert_true(count <= 8);
    if (count > 0)
        memcpy(sorted, found, count * sizeof *found);
    qsort(sorted, count, sizeof *sorted, by_zone);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(sorted[i].required);
        assert_int_equal(sorted[i].term_count, 1);
        strbuf_appendf(&got, "%s%.*s", i > 0 ? " " : "",
                       STR_ARG(sorted[i].terms[0].expressions[0].values[0]));
    }
    assert_str(strbuf_str(&got), zones);
}

static void leave(struct fixture *f, const char *claims, const char *zones) {
    leave_in(f, "shop", claims, zones);
}

/* ---- what objects say ---- */

static void bound_claims_pin(void **state) {
    struct fixture *f = *state;
    LOAD(f, CLAIM("a", "1", "pv-a"), CLAIM("b", "1", "pv-b"), CLAIM("b2", "1", "pv-b2"),
         CLAIM_OF("other", "a", "1", "\"volumeName\":\"pv-b\""), UNBOUND("u", "1"),
         CLAIM_OF("shop", "null", "1", "\"volumeName\":null"), CLAIM("lost", "1", "none"),
         CLAIM("free", "1", "anywhere"), CLAIM("nil", "1", "nil"), VOLUME("pv-a", "1", "x"),
         VOLUME("pv-b", "1", "y"), VOLUME("pv-b2", "1", "y"),
         VOLUME_OF("anywhere", "1", "\"capacity\":{}"),
         VOLUME_OF("nil", "1", "\"nodeAffinity\":null"));
    leave(f, "a", "x");
    leave(f, "b", "y");
    leave(f, "a b", "x y");
    leave(f, "b b2 b", "y"); /* equal texts once */
    leave(f, "b a b2", "x y");
    leave_in(f, "other", "a", "y");
    leave_in(f, "other", "b", "");
    leave_in(f, "", "a", "");
    leave(f, "u", "");
    leave(f, "null", "");
    leave(f, "lost", "");
    leave(f, "free", "");
    leave(f, "nil", "");
    leave(f, "unknown", "");
    leave(f, "u null lost free nil unknown a", "x");
    leave(f, "", "");
}

#define VOLUME_BESIDE(version, kind, name, rest)                                                   \
    "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\"," META("", name, "1") "," rest "}"

/* Other kinds and groups of these names, and members elsewhere, say nothing. */
static void only_these_kinds(void **state) {
    struct fixture *f = *state;
    LOAD(f, CLAIM("a", "1", "pv-a"), CLAIM("b", "1", "pv-b"), CLAIM("c", "1", "pv-c"),
         VOLUME_BESIDE("storage.example.com/v1", "PersistentVolume", "pv-a",
                       "\"spec\":{" AFFINITY("x") "}"),
         VOLUME_BESIDE("v1", "Volume", "pv-b", "\"spec\":{" AFFINITY("y") "}"),
         VOLUME_BESIDE("v1", "PersistentVolume", "pv-c", AFFINITY("z")),
         CLAIM_OF("shop", "e", "1", AFFINITY("w")));
    leave(f, "a b c e", "");
}

/* Of each kind only its own member counts, whatever else stands there. */
static void only_their_members(void **state) {
    struct fixture *f = *state;
    LOAD(f, CLAIM_OF("shop", "a", "1", "\"volumeName\":\"pv\"," AFFINITY("w")),
         VOLUME_OF("pv", "1", AFFINITY("x") ",\"volumeName\":\"other\""),
         VOLUME("other", "1", "y"));
    leave(f, "a", "x");
}

/* What does not parse, or asks for nothing, pins nothing, and says nothing of the next one. */
static void bad_affinities(void **state) {
    struct fixture *f = *state;
#define ASKING(name, affinity) VOLUME_OF(name, "1", "\"nodeAffinity\":" affinity)
    LOAD(f, CLAIM("bad", "1", "bad"), CLAIM("worse", "1", "worse"), CLAIM("empty", "1", "empty"),
         CLAIM("null", "1", "null"), CLAIM("good", "1", "good"),
         ASKING("bad", "{\"required\":{\"nodeSelectorTerms\":7}}"), ASKING("worse", "[]"),
         ASKING("empty", "{}"), ASKING("null", "{\"required\":null}"), VOLUME("good", "1", "x"));
    leave(f, "bad", "");
    leave(f, "worse", "");
    leave(f, "empty", "");
    leave(f, "null", "");
    leave(f, "bad worse empty null", "");
    leave(f, "bad worse empty null good", "x");
}

/* A list of affinities is no affinity, however many there are. */
static void a_list_for_an_affinity(void **state) {
    struct fixture *f = *state;
#define GOOD                                                                                       \
    "{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","              \
    "\"operator\":\"In\",\"values\":[\"x\"]}]}]}}"
    LOAD(f, CLAIM("one", "1", "one"), CLAIM("six", "1", "six"), CLAIM("good", "1", "good"),
         ASKING("one", "[" GOOD "]"),
         ASKING("six", "[" GOOD "," GOOD "," GOOD "," GOOD "," GOOD "," GOOD "]"),
         VOLUME("good", "1", "y"));
    leave(f, "one", "");
    leave(f, "six", "");
    leave(f, "one six good", "y");
}

/* A volume of the claim "a" with labels, and nodes that may have it or not. The cases are those of
 * upstream volumezone/volume_zone_test.go, and what its Filter() says of their neighbours. */
static void zones_and_regions_by_label(void **state) {
#define ZONE TOPOLOGY_NAME_ZONE
#define REGION TOPOLOGY_NAME_REGION
#define IS(key, value) "\"" key "\":\"" value "\""
    static const struct {
        const char *volume, *node;
        bool may;
    } cases[] = {
        {IS(ZONE, "a"), IS(ZONE, "a"), true},
        {IS(ZONE, "a"), IS(ZONE, "b"), false},
        {IS(ZONE, "a"), "", true}, /* a cluster without zones */
        {IS(ZONE, "a"), IS("disk", "ssd"), true},
        {IS(ZONE, "a"), IS(REGION, "r"), false},
        {IS(ZONE, "a"), IS(OLD_ZONE_LABEL, "a"), false}, /* new labels are not sought among old */
        {IS(ZONE, "a__b"), IS(ZONE, "a"), true},
        {IS(ZONE, "a__b"), IS(ZONE, "b"), true},
        {IS(ZONE, "a__b"), IS(ZONE, "c"), false},
        {IS(ZONE, "a__b"), IS(ZONE, "a__b"), false},
        {IS(ZONE, "a_b"), IS(ZONE, "a_b"), true},
        {IS(ZONE, "a__"), IS(ZONE, "b"), true}, /* a list that is none */
        {IS(ZONE, ""), IS(ZONE, "b"), true},
        {IS(ZONE, "__a"), IS(ZONE, "b"), true},
        {IS(REGION, "r"), IS(REGION, "r"), true},
        {IS(REGION, "r"), IS(REGION, "s"), false},
        {IS(REGION, "r") "," IS(ZONE, "a"), IS(REGION, "r") "," IS(ZONE, "a"), true},
        {IS(REGION, "r") "," IS(ZONE, "a"), IS(REGION, "r") "," IS(ZONE, "b"), false},
        {IS(REGION, "r") "," IS(ZONE, "a"), IS(REGION, "s") "," IS(ZONE, "a"), false},
        {IS(OLD_ZONE_LABEL, "a"), IS(OLD_ZONE_LABEL, "a"), true},
        {IS(OLD_ZONE_LABEL, "a"), IS(ZONE, "a"), true},
        {IS(OLD_ZONE_LABEL, "a"), IS(ZONE, "b"), false},
        {IS(OLD_ZONE_LABEL, "a"), IS(OLD_ZONE_LABEL, "b") "," IS(ZONE, "a"), false},
        {IS(OLD_ZONE_LABEL, "a__b"), IS(ZONE, "b"), true},
        {IS(OLD_REGION_LABEL, "r"), IS(REGION, "r"), true},
        {IS(OLD_REGION_LABEL, "r"), IS(REGION, "s"), false},
        {IS(OLD_REGION_LABEL, "r"), IS(ZONE, "r"), false},
        {IS("zone", "a"), IS("zone", "b") "," IS(ZONE, "b"), true},
    };
    struct fixture *f = *state;
    const struct str name = STR("a");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int with_affinity = 0; with_affinity < 2; with_affinity++) {
            CLEANUP(strbuf_done) struct strbuf volume = {0}, node = {0};
            const struct node_affinity *found;
            struct json_reader reader;
            uint32_t count;
            strbuf_appendf(&volume,
                           "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{"
                           "\"name\":\"pv\",\"labels\":{%s}},\"spec\":{%s}}",
                           cases[i].volume, with_affinity ? AFFINITY("x") : "");
            strbuf_append_char(&volume, '\0');
            LOAD(f, CLAIM("a", "1", "pv"), volume.p);
            arena_reset(&f->arena);
            strbuf_appendf(&node, "{%s}", cases[i].node);
            json_reader_init(&reader, strbuf_str(&node), &f->arena, "labels");
            const struct labels labels = labels_decode(&reader);
            assert_int_equal(
                volume_affinities(f->volumes, STR("shop"), &name, 1, &f->arena, &found, &count), 0);
            const uint32_t by_labels = count - (uint32_t)with_affinity;
            bool may = true;
            for (uint32_t k = 0; k < by_labels; k++)
                may = may && node_affinity_matches(&found[k], STR("node"), labels_lookup, &labels);
            if (may != cases[i].may)
                fail_msg("a volume with %s, a node with %s", cases[i].volume, cases[i].node);
            if (with_affinity)
                assert_str(found[by_labels].terms[0].expressions[0].values[0], "x");
        }
}

/* Labels count though the affinity beside them cannot be read, and not of claims. */
static void labels_beside_what_is_bad(void **state) {
    struct fixture *f = *state;
#define LABELLED(kind, spec)                                                                       \
    "{\"kind\":\"" kind "\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"o\",\"namespace\":"     \
    "\"shop\",\"labels\":{" IS(ZONE, "z") "}},\"spec\":{" spec "}}"
    LOAD(f, LABELLED("PersistentVolumeClaim", "\"volumeName\":\"pv\""), VOLUME("pv", "1", "x"));
    leave(f, "o", "x");
    LOAD(f, CLAIM("a", "1", "pv"),
         "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pv\","
         "\"labels\":{" IS(ZONE, "z") "}},\"spec\":{\"nodeAffinity\":{\"required\":7}}}");
    const struct str name = STR("a");
    const struct node_affinity *found;
    uint32_t count;
    assert_int_equal(
        volume_affinities(f->volumes, STR("shop"), &name, 1, &f->arena, &found, &count), 0);
    assert_int_equal(count, 1);
}

/* A volume whose affinity is as long as may be, one byte less and one byte more. */
static void the_longest_affinity(void **state) {
    struct fixture *f = *state;
    static const char frame[] =
        "{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
        "\"operator\":\"In\",\"values\":[\"x\"]}]}]},\"more\":\"\"}";
    for (size_t n = LIMIT_VOLUME_TEXT - 1; n <= LIMIT_VOLUME_TEXT + 1; n++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_append_str(
            &text, STR("{\"kind\":\"List\",\"items\":[" CLAIM(
                       "a", "1", "pv") ","
                                       "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\"," META(
                                           "", "pv", "1") ",\"spec\":{\"nodeAffinity\":"));
        size_t begin = text.n;
        strbuf_append_str(&text, (struct str){frame, sizeof frame - 3}); /* without "} */
        while (text.n - begin < n - 2)
            strbuf_append_char(&text, 'm');
        strbuf_append_str(&text, STR("\"}"));
        assert_int_equal(text.n - begin, n);
        strbuf_append_str(&text, STR("}}]}"));
        strbuf_append_char(&text, '\0');
        load(f, text.p);
        leave(f, "a", n <= LIMIT_VOLUME_TEXT ? "x" : "");
    }
}

static void files_have_all_there_is(void **state) {
    struct fixture *f = *state;
    uint64_t changes = informer_changes(f->volumes);
    LOAD(f, CLAIM("a", "1", "pv"), VOLUME("pv", "1", "x"));
    leave(f, "a", "x");
    assert_true(informer_changes(f->volumes) > changes);
    changes = informer_changes(f->volumes);
    LOAD(f, CLAIM("b", "1", "pv"), VOLUME("pv", "1", "y"));
    leave(f, "a", "");
    leave(f, "b", "y");
    assert_true(informer_changes(f->volumes) > changes);
    /* the last of two of one name counts */
    LOAD(f, CLAIM("b", "1", "pv"), VOLUME("pv", "1", "y"), VOLUME("pv", "2", "z"));
    leave(f, "b", "z");
    LOAD(f, CLAIM("b", "1", "pv"), VOLUME("pv", "1", "y"), VOLUME_OF("pv", "2", ""));
    leave(f, "b", "");
}

/* ---- the question ---- */

static void nobody_to_ask(void **state) {
    struct fixture *f = *state;
    const struct str name = STR("a");
    const struct node_affinity *found = (const struct node_affinity *)f;
    uint32_t count = 7;
    LOAD(f, CLAIM("a", "1", "pv"), VOLUME("pv", "1", "x"));
    assert_int_equal(volume_affinities(NULL, STR("shop"), &name, 1, &f->arena, &found, &count), 0);
    assert_null(found);
    assert_int_equal(count, 0);
    found = (const struct node_affinity *)f;
    count = 7;
    f->arena.steps = (struct steps){.used = 2, .max = 1};
    /* no claims take no steps */
    assert_int_equal(
        volume_affinities(f->volumes, STR("shop"), &name, 0, &f->arena, &found, &count), 0);
    assert_null(found);
    assert_int_equal(count, 0);
}

static uint64_t steps_of(struct fixture *f, const struct str *names, uint32_t n, uint64_t max,
                         int *ret) {
    const struct node_affinity *found;
    uint32_t count;
    f->arena.steps = (struct steps){.max = max};
    *ret = volume_affinities(f->volumes, STR("shop"), names, n, &f->arena, &found, &count);
    return f->arena.steps.used;
}

/* Steps are taken for each claim, and for the bytes of affinities; the last one may be used. */
static void steps(void **state) {
    struct fixture *f = *state;
    const struct str names[] = {STR("a"), STR("b")}, nobody[16] = {{"", 0}};
#define BYTES_160                                                                                  \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"             \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LONG(zone)                                                                                 \
    "\"nodeAffinity\":{\"more\":\"" BYTES_160 BYTES_160 BYTES_160 BYTES_160                        \
    "\",\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","            \
    "\"operator\":\"In\",\"values\":[\"" zone "\"]}]}]}}"
    int r;
    LOAD(f, CLAIM("a", "1", "pv-a"), CLAIM("b", "1", "pv-b"), VOLUME_OF("pv-a", "1", LONG("x")),
         VOLUME_OF("pv-b", "1", LONG("y")));
    assert_true(steps_of(f, nobody, 16, 0, &r) >= 16);
    assert_int_equal(r, 0);
    const uint64_t used = steps_of(f, names, 2, 0, &r);
    assert_int_equal(r, 0);
    assert_true(used >= 2 + 2 * 640 / 16);
    for (uint64_t max = 1; max <= used; max++) {
        (void)steps_of(f, names, 2, max, &r); /* as many as could be taken */
        if (r != (max < used ? -E2BIG : 0))
            fail_msg("%d of %d steps: %d", (int)max, (int)used, r);
    }
}

/* An arena of every size: all of it, or -ENOMEM. */
static void memory(void **state) {
    struct fixture *f = *state;
    const struct str names[] = {STR("a"), STR("b")};
    const struct node_affinity *found;
    uint32_t count, refused = 0, fine = 0;
    LOAD(f, CLAIM("a", "1", "pv-a"), CLAIM("b", "1", "pv-b"), VOLUME("pv-a", "1", "x"),
         VOLUME("pv-b", "1", "y"));
    for (size_t max = 1; max < 8192; max += 16) {
        struct arena arena;
        arena_init(&arena, max);
        int r = volume_affinities(f->volumes, STR("shop"), names, 2, &arena, &found, &count);
        if (r == 0)
            assert_int_equal(count, 2);
        else
            assert_int_equal(r, -ENOMEM);
        fine += r == 0;
        refused += r != 0;
        arena_done(&arena);
    }
    assert_true(fine > 0 && refused > 0);
}

static void a_pod_of_the_cache(void **state) {
    struct fixture *f = *state;
    const struct str names[] = {STR("b"), STR("a")};
    const struct cache_may_run pod = {.claims = names, .claim_count = 2};
    const struct node_affinity *found;
    uint32_t count;
    LOAD(f, CLAIM("a", "1", "pv"), VOLUME("pv", "1", "x"));
    assert_int_equal(volume_pins(f->volumes, STR("shop"), &pod, &f->arena, &found, &count), 0);
    assert_int_equal(count, 1);
    assert_str(found[0].terms[0].expressions[0].values[0], "x");
}

/* ---- a watch ---- */

#define CLAIMS_PATH "/api/v1/persistentvolumeclaims?*"
#define VOLUMES_PATH "/api/v1/persistentvolumes?*"

static void watch(struct fixture *f) {
    api_init(&f->api);
    f->access = (struct kube_access){.server = f->api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&f->access, NULL, &f->client, NULL), 0);
    assert_int_equal(
        informer_watch(f->volumes, &(struct informer_watch){.client = f->client, .seed = 1}, NULL),
        0);
    for (size_t i = 0; i < 3; i++) {
        struct api_call call = {.path = {0}};
        api_take(&f->api, &call);
        if (str_has_prefix(call.path, STR("/api/v1/persistentvolumeclaims?")))
            f->claims = call;
        else if (str_has_prefix(call.path, STR("/api/v1/persistentvolumes?")))
            f->pvs = call;
        else
            f->classes = call;
    }
    assert_true(str_has_prefix(f->classes.path, STR("/apis/storage.k8s.io/v1/storageclasses?")));
    assert_true(f->claims.path.n > 0 && f->pvs.path.n > 0);
}

static void end_watch(struct fixture *f) {
    informer_stop(f->volumes);
    kube_client_free(f->client);
    f->client = NULL;
    api_call_done(&f->claims);
    api_call_done(&f->pvs);
    api_call_done(&f->classes);
    api_done(&f->api);
}

/* Each of the events counts as one change, which is waited for. */
static void say(struct fixture *f, struct api_call *call, uint64_t events, const char *text) {
    uint64_t changes = informer_changes(f->volumes);
    assert_true(api_say(call, text));
    int64_t until_ns = clock_now_ns() + 60000000000;
    while (informer_changes(f->volumes) < changes + events && clock_now_ns() < until_ns)
        (void)sched_yield();
    assert_int_equal(informer_changes(f->volumes), changes + events);
}

static void objects_come_and_go(void **state) {
    struct fixture *f = *state;
    watch(f);
    say(f, &f->claims, 3,
        STREAM EVENT("ADDED", CLAIM("a", "1", "pv-a")) EVENT("ADDED", UNBOUND("b", "2"))
            MARKER("3"));
    leave(f, "a", ""); /* of the volume nothing has been heard */
    assert_false(informer_listed(f->volumes));
    say(f, &f->pvs, 3,
        STREAM EVENT("ADDED", VOLUME("pv-a", "1", "x")) EVENT("ADDED", VOLUME("pv-b", "2", "y"))
            MARKER("3"));
    assert_false(informer_listed(f->volumes));
    say(f, &f->classes, 1, STREAM MARKER("3"));
    assert_true(informer_wait(f->volumes, 5000));
    leave(f, "a b", "x");
    say(f, &f->claims, 1, EVENT("MODIFIED", CLAIM("b", "4", "pv-b"))); /* is bound */
    leave(f, "a b", "x y");
    say(f, &f->pvs, 1, EVENT("MODIFIED", VOLUME("pv-a", "5", "z"))); /* changes */
    leave(f, "a b", "y z");
    say(f, &f->pvs, 1, EVENT("MODIFIED", VOLUME_OF("pv-a", "6", ""))); /* may be anywhere */
    leave(f, "a b", "y");
    say(f, &f->claims, 1, EVENT("MODIFIED", UNBOUND("b", "7"))); /* is not bound any more */
    leave(f, "a b", "");
    say(f, &f->claims, 1, EVENT("MODIFIED", CLAIM("a", "8", "pv-b")));
    leave(f, "a b", "y");
    say(f, &f->pvs, 1, EVENT("DELETED", VOLUME("pv-b", "9", "y")));
    leave(f, "a b", "");
    say(f, &f->pvs, 1, EVENT("ADDED", VOLUME("pv-b", "10", "w")));
    leave(f, "a b", "w");
    say(f, &f->claims, 1, EVENT("DELETED", CLAIM_OF("other", "a", "11", ""))); /* of no other */
    leave(f, "a b", "w");
    say(f, &f->claims, 1, EVENT("DELETED", CLAIM("a", "12", "pv-b")));
    leave(f, "a b", "");
    end_watch(f);
}

/* A full listing of one kind: what it does not show is gone, and of the other kind nothing. */
static void a_listing_again(void **state) {
    struct fixture *f = *state;
    watch(f);
    say(f, &f->claims, 4,
        STREAM EVENT("ADDED", CLAIM("a", "1", "pv-a")) EVENT("ADDED", CLAIM("b", "2", "pv-b"))
            EVENT("ADDED", CLAIM("c", "2", "pv-b")) MARKER("3"));
    say(f, &f->pvs, 3,
        STREAM EVENT("ADDED", VOLUME("pv-a", "1", "x")) EVENT("ADDED", VOLUME("pv-b", "2", "y"))
            MARKER("3"));
    leave(f, "a", "x");
    leave(f, "b", "y");
#define EXPIRED                                                                                    \
    EVENT("ERROR", "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","            \
                   "\"reason\":\"Expired\",\"code\":410}")
    assert_true(api_say(&f->claims, EXPIRED));
    api_close(&f->claims);
    api_expect(&f->api, &f->claims, "GET", CLAIMS_PATH);
    say(f, &f->claims, 2,
        STREAM EVENT("ADDED", CLAIM("b", "4", "pv-b")) EVENT("ADDED", CLAIM("c", "4", "pv-a")));
    leave(f, "a", "x"); /* it may still come */
    leave(f, "c", "x");
    say(f, &f->claims, 1, MARKER("5"));
    leave(f, "a", "");
    leave(f, "b", "y");
    assert_true(api_say(&f->pvs, EXPIRED));
    api_close(&f->pvs);
    api_expect(&f->api, &f->pvs, "GET", VOLUMES_PATH);
    say(f, &f->pvs, 2, STREAM EVENT("ADDED", VOLUME("pv-b", "6", "z")) MARKER("7"));
    leave(f, "b", "z");
    leave(f, "c", "");
    say(f, &f->claims, 1, EVENT("MODIFIED", CLAIM("c", "8", "pv-b")));
    leave(f, "c", "z");
    end_watch(f);
}

/* Both kinds are listed at once: neither listing ends what the other has shown. */
static void two_listings_at_once(void **state) {
    struct fixture *f = *state;
    watch(f);
    say(f, &f->claims, 1, STREAM EVENT("ADDED", CLAIM("a", "1", "pv-a")));
    say(f, &f->pvs, 1, STREAM EVENT("ADDED", VOLUME("pv-a", "1", "x")));
    say(f, &f->claims, 2, EVENT("ADDED", CLAIM("b", "2", "pv-a")) MARKER("3"));
    leave(f, "a", "x");
    leave(f, "b", "x");
    assert_true(api_say(&f->claims, EXPIRED));
    api_close(&f->claims);
    api_expect(&f->api, &f->claims, "GET", CLAIMS_PATH);
    say(f, &f->claims, 1, STREAM EVENT("ADDED", CLAIM("a", "4", "pv-b")));
    assert_true(api_say(&f->pvs, EXPIRED));
    api_close(&f->pvs);
    api_expect(&f->api, &f->pvs, "GET", VOLUMES_PATH);
    say(f, &f->pvs, 1, STREAM EVENT("ADDED", VOLUME("pv-b", "4", "y")));
    say(f, &f->claims, 1, MARKER("5"));
    leave(f, "a", "y");
    leave(f, "b", "");
    say(f, &f->pvs, 1, MARKER("5"));
    leave(f, "a", "y");
    end_watch(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bound_claims_pin),
        TEST(only_these_kinds),
        TEST(only_their_members),
        TEST(bad_affinities),
        TEST(a_list_for_an_affinity),
        TEST(zones_and_regions_by_label),
        TEST(labels_beside_what_is_bad),
        TEST(the_longest_affinity),
        TEST(files_have_all_there_is),
        TEST(nobody_to_ask),
        TEST(steps),
        TEST(memory),
        TEST(a_pod_of_the_cache),
        TEST(objects_come_and_go),
        TEST(a_listing_again),
        TEST(two_listings_at_once),
    };
    return cmocka_run_group_tests_name("volumes", tests, NULL, NULL);
}

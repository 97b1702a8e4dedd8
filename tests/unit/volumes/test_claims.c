/*
 * What a pod's claims say about its nodes, by what a state file has. Verdicts are compared with
 * kube-scheduler's in tests/e2e/kube/differential (TestVolumes).
 */
#include "volumes/claims.h"

#include "base/file.h"
#include "unit/unit.h"
#include "volumes/store.h"

#include <unistd.h>

#define CLAIM(name, spec, status)                                                                  \
    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"" name     \
    "\",\"namespace\":\"shop\"},\"spec\":{" spec "},\"status\":{" status "}}"
#define BOUND CLAIM("data", "\"volumeName\":\"pv\"", "\"phase\":\"Bound\"")
#define WAITS CLAIM("data", "\"storageClassName\":\"waits\"", "\"phase\":\"Pending\"")
#define OTHER CLAIM("other", "", "\"phase\":\"Pending\"")
#define VOLUME(name, spec)                                                                         \
    "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"" name          \
    "\"},\"spec\":{" spec "},\"status\":{\"phase\":\"Available\"}}"
#define IN_A                                                                                       \
    "\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":["               \
    "{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\"]}]}]}}"
#define CLASS(name, more)                                                                          \
    "{\"apiVersion\":\"storage.k8s.io/"                                                            \
    "v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"" name "\"}," more "}"
#define OF_CLASS(size) "\"storageClassName\":\"waits\",\"capacity\":{\"storage\":\"" size "\"}"
#define MODE(mode) "\"provisioner\":\"disks\",\"volumeBindingMode\":\"" mode "\""

#define WANTS_2GI                                                                                  \
    CLAIM("data",                                                                                  \
          "\"storageClassName\":\"waits\",\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}",     \
          "\"phase\":\"Pending\"")
#define VOLUMES                                                                                    \
    "," VOLUME("large", OF_CLASS("9Gi") "," IN_A) "," VOLUME("small", OF_CLASS("1Gi")) "," VOLUME( \
        "right", OF_CLASS("2Gi") "," IN_A)

struct fixture {
    char path[64];
    struct informer *volumes;
    struct arena arena;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.path = "/tmp/evenkeel-claims-XXXXXX.json"};
    assert_return_code(mkstemps(f.path, 5), 0);
    assert_int_equal(informer_new(&volume_store, NULL, &f.volumes, NULL), 0);
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    informer_free(f->volumes);
    arena_done(&f->arena);
    return unlink(f->path);
}

/* Reads the objects of the state, and the claims of a pod that mounts "data", and "gone". */
static const struct pod_claims *read_some(struct fixture *f, const char *objects, uint32_t count) {
    static const struct str names[] = {{"data", 4}, {"gone", 4}};
    const struct pod pod = {.meta.namespace = STR("shop"), .claims = names, .claim_count = count};
    const struct pod_claims *claims;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const char *path = f->path;
    struct err err;
    strbuf_appendf(&text, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[%s]}", objects);
    assert_int_equal(file_write_atomic(path, strbuf_str(&text), 0600, NULL), 0);
    if (informer_load(f->volumes, &path, 1, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(pod_claims_read(f->volumes, &pod, &f->arena, &claims), 0);
    return claims;
}

static const struct pod_claims *read_claims(struct fixture *f, const char *objects) {
    return read_some(f, objects, 1);
}

/* Hand-written states lack kinds: a claim is judged only if they have the kinds that it needs. */
static void what_is_not_known_is_not_judged(void **state) {
    static const struct {
        const char *objects, *unjudged;
    } rows[] = {
        {"", "no PersistentVolumeClaim is known"},
        {BOUND, "no PersistentVolume is known"},
        {WAITS, "no StorageClass is known"},
        {CLAIM("data", "", ""), "a claim has no status"},
        {CLAIM("data", "\"storageClassName\":7", "\"phase\":\"Pending\""),
         "a claim, volume or class cannot be read"},
        {BOUND "," VOLUME("pv", ""), NULL},
        {WAITS "," CLASS("waits", MODE("WaitForFirstConsumer")), NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct pod_claims *claims = read_claims(*state, rows[i].objects);
        if (rows[i].unjudged == NULL)
            assert_null(claims->unjudged);
        else
            assert_string_equal(claims->unjudged, rows[i].unjudged);
        assert_null(claims->refuser);
    }
}

static void some_claims_refuse_all_nodes(void **state) {
    static const struct {
        const char *objects, *filter, *refusal;
    } rows[] = {
        {OTHER, "VolumeBinding", "persistentvolumeclaim \"data\" not found"},
        {BOUND "," VOLUME("other", ""), "VolumeZone", "persistentvolume \"pv\" not found"},
        {WAITS "," CLASS("other", MODE("WaitForFirstConsumer")), "VolumeBinding",
         "pod has unbound immediate PersistentVolumeClaims"},
        {WAITS "," CLASS("waits", MODE("Immediate")), "VolumeBinding",
         "pod has unbound immediate PersistentVolumeClaims"},
        {CLAIM("data", "\"volumeName\":\"pv\"", "\"phase\":\"Lost\""), "VolumeBinding",
         "persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"pv\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct pod_claims *claims = read_claims(*state, rows[i].objects);
        assert_null(claims->unjudged);
        assert_string_equal(claims->refuser, rows[i].filter);
        assert_str(claims->refusal, rows[i].refusal);
        assert_int_equal(claims->waiting_count, 0);
    }
}

/* Then no waiting claim is in the answer. */
static void one_waits_and_another_is_gone(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct pod_claims *claims =
        read_some(*state, WAITS "," CLASS("waits", MODE("WaitForFirstConsumer")), 2);
    assert_str(claims->refusal, "persistentvolumeclaim \"gone\" not found");
    assert_int_equal(claims->waiting_count, 0);
    pod_claims_say(claims, &text);
    assert_int_equal(text.n, 0);
}

static void a_bound_claim_names_its_place(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct pod_claims *claims = read_claims(*state, BOUND "," VOLUME("pv", IN_A));
    assert_int_equal(claims->bound_count, 1);
    bound_claim_say(&claims->bound[0], &text);
    assert_str(strbuf_str(&text),
               "claim 'data' is bound to volume 'pv', which needs a node with zone in (a)");
}

/* The smallest that is large enough comes first; equal places are one place. */
static void volumes_of_a_waiting_claim(void **state) {
    const struct pod_claims *claims =
        read_claims(*state, WANTS_2GI "," CLASS("waits", MODE("WaitForFirstConsumer")) VOLUMES);
    assert_null(claims->unjudged);
    assert_int_equal(claims->waiting_count, 1);
    const struct waiting_claim *w = &claims->waiting[0];
    assert_true(w->provisions);
    assert_int_equal(w->place, POD_CLAIMS_ANYWHERE);
    assert_int_equal(w->volume_count, 2);
    assert_int_not_equal(w->volumes[0].id, w->volumes[1].id);
    assert_int_equal(w->volumes[0].place, w->volumes[1].place);
    assert_non_null(claims->places[w->volumes[0].place]);
}

static void nobody_to_ask(void **state) {
    struct fixture *f = *state;
    static const struct str names[] = {{"data", 4}};
    const struct pod pod = {.claims = names, .claim_count = 1}, none = {.claim_count = 0};
    const struct pod_claims *claims;
    assert_int_equal(pod_claims_read(NULL, &pod, &f->arena, &claims), 0);
    assert_string_equal(claims->unjudged, "volumes are not known here");
    assert_int_equal(pod_claims_read(NULL, &none, &f->arena, &claims), 0);
    assert_null(claims->unjudged);
}

static void without_steps(void **state) {
    struct fixture *f = *state;
    f->arena.steps.max = 1;
    const struct pod_claims *claims = read_claims(f, BOUND "," VOLUME("pv", IN_A));
    assert_string_equal(claims->unjudged, "too many volumes");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_known_is_not_judged),
        TEST(some_claims_refuse_all_nodes),
        TEST(a_bound_claim_names_its_place),
        TEST(volumes_of_a_waiting_claim),
        TEST(one_waits_and_another_is_gone),
        TEST(nobody_to_ask),
        TEST(without_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

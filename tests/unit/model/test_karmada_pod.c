/* Requests of a pod as Karmada's estimator counts them, where it names more than are kept. */
#include "model/karmada_pod.h"

#include "base/limits.h"

#include "unit/unit.h"

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 16u << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

/* A container: names a/r<from> and so on, as many as that, and more. */
static void add_container(struct strbuf *json, int from, int count, const char *amount,
                          const char *more) {
    strbuf_append_str(json, STR("{\"resources\":{\"requests\":{"));
    for (int n = from; n < from + count; n++)
        strbuf_appendf(json, "\"a/r%04d\":\"%s\",", n, amount);
    strbuf_appendf(json, "%s}}}", more);
}

static struct karmada_pod decode(struct strbuf *json) {
    struct karmada_pod pod;
    struct json_reader r;
    struct err err = {0};
    json_reader_init(&r, strbuf_str(json), &arena, "pod");
    karmada_pod_decode(&r, &pod);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    return pod;
}

static int64_t amount_of(const struct karmada_pod *pod, const char *name) {
    for (uint32_t i = 0; i < pod->requests.count; i++)
        if (str_eq(pod->requests.items[i].name, str_of(name)))
            return pod->requests.items[i].amount;
    return 0;
}

/* cpu, memory, ephemeral-storage and pods have their places, before and behind all others. */
static void natives_have_places(void **state) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    (void)state;
    strbuf_append_str(&json, STR("{\"spec\":{\"containers\":["));
    add_container(&json, 0, 3 * LIMIT_RESOURCES, "1",
                  "\"cpu\":\"2\",\"memory\":\"3\",\"ephemeral-storage\":\"4\",\"pods\":\"5\"");
    strbuf_append_str(&json, STR("]}}"));
    const struct karmada_pod pod = decode(&json);
    assert_int_equal(pod.requests.count, LIMIT_RESOURCES + 4);
    assert_int_equal(amount_of(&pod, "cpu"), 2000);
    assert_int_equal(amount_of(&pod, "memory"), 3);
    assert_int_equal(amount_of(&pod, "ephemeral-storage"), 4);
    assert_int_equal(amount_of(&pod, "pods"), 5);
    assert_int_equal(pod.beyond, 1);
}

static void no_amount_takes_no_place(void **state) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    (void)state;
    strbuf_append_str(&json, STR("{\"spec\":{\"containers\":["));
    add_container(&json, 0, 3 * LIMIT_RESOURCES, "0", "\"x/gpu\":\"7\"");
    strbuf_append_str(&json, STR(",{\"resources\":{\"requests\":{\"x/gpu\":\"-1\"}}}]}}"));
    const struct karmada_pod pod = decode(&json);
    assert_int_equal(pod.requests.count, 1);
    assert_int_equal(amount_of(&pod, "x/gpu"), 7);
    assert_int_equal(pod.beyond, 0);
}

/* Of one name twice the last counts. */
static void no_amount_after_one(void **state) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    (void)state;
    strbuf_append_str(&json, STR("{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":"
                                 "\"1\",\"cpu\":\"0\"}}}]}}"));
    const struct karmada_pod pod = decode(&json);
    assert_int_equal(amount_of(&pod, "cpu"), 0);
}

/* No resource counts less than the containers ask for: what has no place may be any of them. */
static void what_is_beyond_is_added(void **state) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    (void)state;
    strbuf_append_str(&json, STR("{\"spec\":{\"containers\":["));
    add_container(&json, 0, LIMIT_RESOURCES, "1", "\"x/gpu\":\"2\""); /* beyond */
    strbuf_append_char(&json, ',');
    add_container(&json, 0, 2, "1", "\"x/gpu\":\"3\""); /* has a place, but not beside the others */
    strbuf_append_char(&json, ',');
    add_container(&json, 0, LIMIT_RESOURCES + 9, "4", "\"cpu\":\"1\"");
    strbuf_append_str(&json, STR("],\"initContainers\":["));
    add_container(&json, 500, LIMIT_RESOURCES, "20", "\"x/gpu\":\"8\"");
    strbuf_append_str(&json, STR("],\"overhead\":{\"cpu\":\"1\",\"z/z\":\"100\"}}}"));
    const struct karmada_pod pod = decode(&json);
    assert_int_equal(pod.requests.count, LIMIT_RESOURCES + 1);
    assert_int_equal(amount_of(&pod, "a/r0000"), 6);
    assert_int_equal(amount_of(&pod, "cpu"), 2000);
    /* 2, 3 and 4 are 9, an init container has 20, the overhead 100 more */
    assert_int_equal(pod.beyond, 120);
}

static int64_t amount_in(const struct resources *from, const char *name) {
    for (uint32_t i = 0; i < from->count; i++)
        if (str_eq(from->items[i].name, str_of(name)))
            return from->items[i].amount;
    return -1;
}

/* Of a template a limit counts where a container has no request, even in front of the requests. */
static void limits_of_a_template(void **state) {
    int64_t beyond;
    struct json_reader r;
    (void)state;
    json_reader_init(
        &r,
        STR("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"5\","
            "\"x/gpu\":\"1\"},\"requests\":{\"cpu\":\"1\",\"memory\":\"0\"}}},"
            "{\"resources\":{\"limits\":{\"cpu\":\"3\"}}}],\"initContainers\":[{"
            "\"resources\":{\"limits\":{\"pods\":\"2\"}}}],\"overhead\":{\"cpu\":\"1\"}}"),
        &arena, "spec");
    const struct resources got = karmada_template_requests_decode(&r, &beyond);
    assert_false(json_failed(&r));
    assert_int_equal(got.count, 3);
    assert_int_equal(amount_in(&got, "cpu"), 5000);
    assert_int_equal(amount_in(&got, "pods"), 2);
    assert_int_equal(amount_in(&got, "x/gpu"), 1);
    assert_int_equal(beyond, 0);
}

static void limits_beyond(void **state) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    struct json_reader r;
    int64_t beyond;
    (void)state;
    strbuf_append_str(&json, STR("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\""));
    for (int n = 0; n <= LIMIT_RESOURCES; n++)
        strbuf_appendf(&json, ",\"a/r%04d\":\"4\"", n);
    strbuf_append_str(&json, STR("}}}]}"));
    json_reader_init(&r, strbuf_str(&json), &arena, "spec");
    assert_int_equal(karmada_template_requests_decode(&r, &beyond).count, LIMIT_RESOURCES + 1);
    assert_int_equal(beyond, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(natives_have_places, setup, teardown),
        cmocka_unit_test_setup_teardown(no_amount_takes_no_place, setup, teardown),
        cmocka_unit_test_setup_teardown(no_amount_after_one, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_beyond_is_added, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_of_a_template, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_beyond, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

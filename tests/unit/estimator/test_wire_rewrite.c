/*
 * Messages as JSON, and written as the encoders of other versions do. What is recorded is in
 * tests/conformance/test_wire.c; here is what the recordings do not reach, by upstream's
 * definitions (types.go of v1.17.1, estimator.proto of v1.18.1).
 */
#include "estimator/wire.h"

#include "base/arena.h"
#include "unit/estimator/wire_bytes.h"

#include <errno.h>

static struct arena arena;
static struct strbuf bytes, json, out;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    hex_reset();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    strbuf_done(&bytes);
    strbuf_done(&json);
    strbuf_done(&out);
    return 0;
}

static int rewrite(const char *message, const char *hex, enum wire_epoch epoch, struct err *err) {
    const char *near;
    const struct wire_kind *kind = wire_kind_find(str_of(message), &near);
    assert_non_null(kind);
    strbuf_clear(&bytes);
    strbuf_clear(&json);
    strbuf_clear(&out);
    hex_append(hex, &bytes);
    return wire_rewrite(kind, strbuf_str(&bytes), epoch, &arena, &json, &out, err);
}

static void expect(const char *message, const char *hex, enum wire_epoch epoch, const char *text,
                   const char *want) {
    struct err err;
    if (rewrite(message, hex, epoch, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(strbuf_str(&json), text);
    assert_hex(strbuf_str(&out), want);
}

static void what_is_empty_is_written_until_v1_17(void **state) {
    static const struct {
        const char *message, *json, *older;
    } rows[] = {
        {"MaxAvailableReplicasRequest", "{}", "0a0012041a002200"},
        {"MaxAvailableReplicasResponse", "{\"maxReplicas\":0}", "0800"},
        {"MaxAvailableComponentSetsRequest", "{}", "0a001a00"},
        {"MaxAvailableComponentSetsResponse", "{\"maxSets\":0}", "0800"},
        {"UnschedulableReplicasRequest", "{}", "0a0012080a0012001a0022001800"},
        {"UnschedulableReplicasResponse", "{\"unschedulableReplicas\":0}", "0800"},
        {"ReplicaRequirements", "{}", "1a002200"},
        {"ComponentReplicaRequirements", "{}", "1a00"},
        {"Component", "{}", "0a0012021a001800"},
        {"ObjectReference", "{}", "0a0012001a002200"},
        {"NodeClaim", "{}", ""},
        {"NodeSelector", "{\"nodeSelectorTerms\":[]}", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(rows[i].message, "", WIRE_MESSAGES, rows[i].json, rows[i].older);
        expect(rows[i].message, "", WIRE_BOTH, rows[i].json, "");
        expect(rows[i].message, "", WIRE_BYTES, rows[i].json, "");
        /* and what it wrote is nothing to the others, but for messages that are there */
        if (i != 0 && i != 4 && i != 8)
            expect(rows[i].message, rows[i].older, WIRE_BYTES, rows[i].json, "");
    }
}

/* Kubernetes' own messages, of every epoch. */
static void kubernetes_writes_empty_strings(void **state) {
    (void)state;
    for (int epoch = WIRE_MESSAGES; epoch <= WIRE_BYTES; epoch++) {
        expect("Quantity", "", (enum wire_epoch)epoch, "\"0\"", "0a0130");
        expect("Toleration", "", (enum wire_epoch)epoch, "{}", "0a0012001a002200");
        expect("Toleration", hex_number(5, 0), (enum wire_epoch)epoch, "{\"tolerationSeconds\":0}",
               "0a0012001a0022002800");
        expect("Toleration", hex_number(5, -1), (enum wire_epoch)epoch,
               "{\"tolerationSeconds\":-1}", "0a0012001a00220028ffffffffffffffffff01");
        expect("NodeSelector", hex_field(1, hex_field(1, "")), (enum wire_epoch)epoch,
               "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{}]}]}", "0a060a040a001200");
    }
}

static void quantities_become_canonical(void **state) {
    (void)state;
    expect("Quantity", hex_text(1, "1.5Gi"), WIRE_BOTH, "\"1.5Gi\"", hex_text(1, "1536Mi"));
    expect("Quantity", hex_text(1, "+1"), WIRE_BOTH, "\"+1\"", hex_text(1, "+1")); /* as typed */
    expect("ReplicaRequirements", hex_request(2, "cpu", "0.5"), WIRE_BYTES,
           "{\"resourceRequest\":{\"cpu\":\"0.5\"}}", hex_request(5, "cpu", "500m"));
}

static void an_empty_selector_stays_in_the_older_field(void **state) {
    static const char text[] = "{\"nodeAffinity\":{\"nodeSelectorTerms\":[]}}";
    (void)state;
    expect("NodeClaim", hex_field(1, ""), WIRE_MESSAGES, text, "0a00");
    expect("NodeClaim", hex_field(1, ""), WIRE_BOTH, text, "0a00");
    expect("NodeClaim", hex_field(1, ""), WIRE_BYTES, text, ""); /* it cannot say so */
    expect("NodeClaim", hex_field(4, ""), WIRE_BOTH, "{}", "");
}

static void maps_are_by_key_and_the_last_counts(void **state) {
    (void)state;
    const char *before = hex_printf("%s%s%s", hex_entry(2, "b", "1"), hex_entry(2, "a", "2"),
                                    hex_entry(2, "b", "3"));
    const char *after = hex_printf("%s%s", hex_entry(2, "a", "2"), hex_entry(2, "b", "3"));
    expect("NodeClaim", before, WIRE_BYTES, "{\"nodeSelector\":{\"a\":\"2\",\"b\":\"3\"}}", after);
    /* an entry has both parts, even if they are empty */
    expect("NodeClaim", hex_field(2, ""), WIRE_BYTES, "{\"nodeSelector\":{\"\":\"\"}}",
           hex_entry(2, "", ""));
}

static void assumed_workloads_begin_with_v1_18(void **state) {
    (void)state;
    const char *assumed = hex_text(1, "n");
    const char *request = hex_printf("%s%s", hex_text(1, "c"), hex_field(3, assumed));
    const char *text = "{\"cluster\":\"c\",\"assumedWorkloads\":[{\"namespace\":\"n\"}]}";
    expect("MaxAvailableReplicasRequest", request, WIRE_MESSAGES, text, "0a016312041a002200");
    expect("MaxAvailableReplicasRequest", request, WIRE_BOTH, text, request);
    expect("AssumedWorkload", assumed, WIRE_BYTES, "{\"namespace\":\"n\"}", assumed);
    const char *sets = hex_printf("%s%s", hex_text(1, "c"), hex_field(4, assumed));
    expect("MaxAvailableComponentSetsRequest", sets, WIRE_MESSAGES, text, "0a01631a00");
    expect("MaxAvailableComponentSetsRequest", sets, WIRE_BYTES, text, sets);
}

static void a_whole_request_as_json(void **state) {
    (void)state;
    const char *expression = hex_printf("%s%s%s", hex_text(1, "z"), hex_text(2, "In"),
                                        hex_printf("%s%s", hex_text(3, "b"), hex_text(3, "a")));
    const char *field =
        hex_printf("%s%s%s", hex_text(1, "metadata.name"), hex_text(2, "In"), hex_text(3, "n1"));
    const char *selector =
        hex_field(1, hex_printf("%s%s", hex_field(1, expression), hex_field(2, field)));
    const char *toleration =
        hex_printf("%s%s%s%s%s", hex_text(1, "k"), hex_text(2, "Equal"), hex_text(3, "v"),
                   hex_text(4, "NoExecute"), hex_number(5, 30));
    const char *claim = hex_printf("%s%s%s", hex_entry(2, "disk", "ssd"), hex_field(4, selector),
                                   hex_field(5, toleration));
    const char *needs =
        hex_printf("%s%s%s", hex_field(1, claim), hex_text(3, "p"), hex_request(4, "cpu", "1"));
    const char *component =
        hex_printf("%s%s%s", hex_text(1, "jm"), hex_field(2, needs), hex_number(3, -2));
    const char *request =
        hex_printf("%s%s%s", hex_text(1, "c"), hex_field(2, component), hex_text(3, "ns"));
    expect("MaxAvailableComponentSetsRequest", request, WIRE_BYTES,
           "{\"cluster\":\"c\",\"components\":[{\"name\":\"jm\",\"replicaRequirements\":{"
           "\"nodeClaim\":{\"nodeAffinity\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{"
           "\"key\":\"z\",\"operator\":\"In\",\"values\":[\"b\",\"a\"]}],\"matchFields\":[{"
           "\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]},"
           "\"nodeSelector\":{\"disk\":\"ssd\"},\"tolerations\":[{\"key\":\"k\","
           "\"operator\":\"Equal\",\"value\":\"v\",\"effect\":\"NoExecute\","
           "\"tolerationSeconds\":30}]},\"resourceRequest\":{\"cpu\":\"1\"},"
           "\"priorityClassName\":\"p\"},\"replicas\":-2}],\"namespace\":\"ns\"}",
           request);
}

static void unknown_fields_are_left_out(void **state) {
    (void)state;
    const char *other = hex_text(90, "x");
    const char *reference = hex_printf("%s%s", hex_text(2, "Deployment"), other);
    expect("UnschedulableReplicasRequest", hex_printf("%s%s", other, hex_field(2, reference)),
           WIRE_BYTES, "{\"resource\":{\"kind\":\"Deployment\"}}",
           hex_field(2, hex_text(2, "Deployment")));
    const char *label = hex_printf("%s%s%s", hex_text(1, "a"), hex_text(2, "b"), other);
    expect("NodeClaim", hex_printf("%s%s", hex_field(2, label), other), WIRE_BYTES,
           "{\"nodeSelector\":{\"a\":\"b\"}}", hex_entry(2, "a", "b"));
    expect("MaxAvailableReplicasResponse", hex_printf("%s%s", other, hex_number(1, 7)), WIRE_BYTES,
           "{\"maxReplicas\":7}", "0807");
}

static void json_is_utf8_whatever_the_bytes_are(void **state) {
    (void)state;
    expect("ObjectReference",
           "1203"
           "61ff62",
           WIRE_BYTES,
           "{\"kind\":\"a\xef\xbf\xbd"
           "b\"}",
           "120361ff62");
    expect("NodeClaim",
           hex_field(2, "0a02"
                        "22ff"),
           WIRE_BYTES, "{\"nodeSelector\":{\"\\\"\xef\xbf\xbd\":\"\"}}",
           hex_field(2, "0a0222ff1200"));
    /* a NUL in a name, of which readers take none */
    expect("NodeClaim", hex_field(2, "0a0361006212020063"), WIRE_BYTES,
           "{\"nodeSelector\":{\"a\xef\xbf\xbd"
           "b\":\"\\u0000c\"}}",
           hex_field(2, "0a0361006212020063"));
}

static void what_is_wrong_inside_is_named(void **state) {
    struct err err;
    (void)state;
    assert_int_equal(rewrite("NodeClaim", hex_field(5, "ff"), WIRE_BOTH, &err), -EINVAL);
    assert_string_equal(err.text, "these 1 bytes are not the message Toleration");
    assert_int_equal(rewrite("ReplicaRequirements", hex_request(5, "cpu", "x"), WIRE_BOTH, &err),
                     -EINVAL);
    assert_string_equal(err.text, "cannot parse quantity 'x': unknown suffix");
    assert_int_equal(rewrite("Component", "ff", WIRE_BOTH, &err), -EINVAL);
    assert_string_equal(err.text, "these 1 bytes are not the message Component");
}

static void a_wrong_name_is_near_to_a_right_one(void **state) {
    const char *near = NULL;
    (void)state;
    assert_null(wire_kind_find(STR("NodeClain"), &near));
    assert_string_equal(near, "NodeClaim");
    assert_null(wire_kind_find(STR("xyz"), &near));
    assert_null(near);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_empty_is_written_until_v1_17),
        TEST(kubernetes_writes_empty_strings),
        TEST(quantities_become_canonical),
        TEST(an_empty_selector_stays_in_the_older_field),
        TEST(maps_are_by_key_and_the_last_counts),
        TEST(assumed_workloads_begin_with_v1_18),
        TEST(a_whole_request_as_json),
        TEST(unknown_fields_are_left_out),
        TEST(json_is_utf8_whatever_the_bytes_are),
        TEST(what_is_wrong_inside_is_named),
        TEST(a_wrong_name_is_near_to_a_right_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

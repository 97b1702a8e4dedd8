/*
 * Messages of Karmada's estimator: what is read from them. The bytes were written by the code of
 * Karmada v1.17.0, v1.18.0 and of the commit f8fdd02 before v1.19; others are by the specification
 * of protobuf. Which field counts is what v1.18.1 was seen to do.
 */
#include "estimator/wire.h"

#include "base/arena.h"
#include "unit/estimator/wire_bytes.h"

#include <errno.h>

static struct arena arena;
static struct strbuf bytes;

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
    return 0;
}

static struct str from_hex(const char *hex) {
    strbuf_clear(&bytes);
    hex_append(hex, &bytes);
    return strbuf_str(&bytes);
}

static struct wire_replicas replicas_of(const char *hex) {
    struct wire_replicas q = {.assumed_count = 0};
    struct err err = {0};
    if (wire_replicas_decode(from_hex(hex), &arena, &q, &err) != 0)
        fail_msg("%s", err.text);
    return q;
}

/* A request with these requirements. */
static struct replica_requirements requirements_of(const char *hex) {
    return replicas_of(hex_field(2, hex)).requirements;
}

/* ---- recorded requests ---- */

static void a_request_of_every_epoch(void **state) {
    static const char *const requests[] = {
        /* v1.17.0, v1.18.0, f8fdd02 */
        "0a0466616b651224120a0a0363707512030a0131120f0a066d656d6f727912050a033247691a036e73312200",
        ("0a0466616b65123f120a0a0363707512030a0131120f0a066d656d6f727912050a033247691a036e73312a0a0"
         "a"
         "0363707512030a01312a0f0a066d656d6f727912050a03324769"),
        "0a0466616b6512221a036e73312a0a0a0363707512030a01312a0f0a066d656d6f727912050a03324769",
    };
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const struct wire_replicas q = replicas_of(requests[i]);
        const struct replica_requirements *needs = &q.requirements;
        assert_str(q.cluster, "fake");
        assert_true(needs->given);
        assert_str(needs->namespace, "ns1");
        assert_str(needs->priority_class, "");
        assert_int_equal(needs->request_count, 2);
        assert_str(needs->requests[0].name, "cpu");
        assert_str(needs->requests[0].text, "1");
        assert_int_equal(quantity_milli_value(&needs->requests[0].amount), 1000);
        assert_str(needs->requests[1].name, "memory");
        assert_int_equal(quantity_value(&needs->requests[1].amount), INT64_C(2) << 30);
        assert_false(needs->claim.required);
        assert_int_equal(needs->tolerations.count + needs->claim.node_selector.count, 0);
        assert_int_equal(q.assumed_count, 0);
    }
}

static void empty_requirements_are_there_and_absent_ones_are_not(void **state) {
    (void)state;
    struct wire_replicas q = replicas_of("0a0466616b6512041a002200");
    assert_true(q.requirements.given);
    assert_int_equal(q.requirements.request_count, 0);
    q = replicas_of("0a0466616b65");
    assert_str(q.cluster, "fake");
    assert_false(q.requirements.given);
    q = replicas_of("");
    assert_str(q.cluster, "");
}

static void assert_recorded_claim(const struct replica_requirements *needs) {
    const struct node_affinity *claim = &needs->claim;
    assert_int_equal(claim->node_selector.count, 1);
    assert_str(claim->node_selector.items[0].key, "a");
    assert_str(claim->node_selector.items[0].value, "3");
    assert_true(claim->required);
    assert_int_equal(claim->term_count, 1);
    assert_int_equal(claim->terms[0].expression_count, 1);
    assert_int_equal(claim->terms[0].field_count, 0);
    assert_false(claim->terms[0].invalid);
    assert_str(claim->terms[0].expressions[0].key, "a");
    assert_int_equal(claim->terms[0].expressions[0].op, SELECTOR_GT);
    assert_int_equal(claim->terms[0].expressions[0].bound, 0);
    assert_int_equal(needs->tolerations.count, 1);
    assert_str(needs->tolerations.items[0].key, "key1");
    assert_str(needs->tolerations.items[0].op, "Equal");
    assert_str(needs->tolerations.items[0].value, "value1");
    assert_str(needs->tolerations.items[0].effect, "");
}

static void a_claim_of_every_epoch(void **state) {
    static const char *const claims[] = {
        "0a310a0e0a0c0a0a0a0161120247741a013012060a01611201331a170a046b6579311205457175616c1a067661"
        "6c7565312200",
        "0a5a0a0e0a0c0a0a0a0161120247741a013012060a01611201331a170a046b6579311205457175616c1a067661"
        "6c7565312200220e0a0c0a0a0a0161120247741a01302a170a046b6579311205457175616c1a0676616c756531"
        "2200",
        "0a3112060a0161120133220e0a0c0a0a0a0161120247741a01302a170a046b6579311205457175616c1a067661"
        "6c7565312200",
    };
    (void)state;
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        const struct replica_requirements needs = requirements_of(claims[i]);
        assert_recorded_claim(&needs);
    }
}

static void fields_of_a_node_are_compiled(void **state) {
    (void)state;
    /* matchFields metadata.name In n1, and an empty term */
    const struct replica_requirements needs =
        requirements_of("0a1f0a1d0a1912170a0d6d657461646174612e6e616d651202496e1a026e310a00");
    assert_int_equal(needs.claim.term_count, 2);
    assert_int_equal(needs.claim.terms[0].field_count, 1);
    assert_str(needs.claim.terms[0].fields[0].values[0], "n1");
    assert_int_equal(needs.claim.terms[1].expression_count + needs.claim.terms[1].field_count, 0);
}

/* ---- which of two fields counts ---- */

/* A selector of one term with the expression: key Exists. */
static const char *selector(const char *key) {
    return hex_field(1, hex_field(1, hex_printf("%s%s", hex_text(1, key), hex_text(2, "Exists"))));
}

static void expect_affinity(const char *claim, bool required, const char *key) {
    const struct replica_requirements needs = requirements_of(hex_field(1, claim));
    assert_int_equal(needs.claim.required, required);
    assert_int_equal(needs.claim.term_count, key != NULL);
    if (key != NULL)
        assert_str(needs.claim.terms[0].expressions[0].key, key);
}

static void bytes_count_before_the_older_affinity(void **state) {
    (void)state;
    const char *older = hex_field(1, selector("a")), *newer = hex_field(4, selector("b"));
    const char *older_empty = hex_field(1, ""), *newer_empty = hex_field(4, "");
    expect_affinity("", false, NULL);
    expect_affinity(older, true, "a");
    expect_affinity(newer, true, "b");
    expect_affinity(hex_printf("%s%s", older, newer), true, "b");
    expect_affinity(hex_printf("%s%s", newer, older), true, "b");
    expect_affinity(older_empty, true, NULL); /* matches nothing */
    expect_affinity(newer_empty, false, NULL);
    expect_affinity(hex_printf("%s%s", older_empty, newer_empty), true, NULL);
    expect_affinity(hex_printf("%s%s", older, newer_empty), true, "a");
    expect_affinity(hex_printf("%s%s", older_empty, newer), true, "b");
}

static void bytes_count_before_the_older_requests(void **state) {
    (void)state;
    const char *older = hex_request(2, "cpu", "1"), *newer = hex_request(5, "cpu", "2");
    struct replica_requirements needs = requirements_of(older);
    assert_str(needs.requests[0].text, "1");
    needs = requirements_of(newer);
    assert_str(needs.requests[0].text, "2");
    needs = requirements_of(hex_printf("%s%s", newer, older));
    assert_int_equal(needs.request_count, 1);
    assert_str(needs.requests[0].text, "2");
    /* one entry of bytes without anything is a map that is not empty, so all of it counts */
    needs = requirements_of(hex_printf("%s%s", older, hex_field(5, "")));
    assert_int_equal(needs.request_count, 1);
    assert_str(needs.requests[0].name, "");
    assert_str(needs.requests[0].text, "");
    assert_true(needs.requests[0].amount.nano == 0);
}

static void bytes_count_before_the_older_tolerations(void **state) {
    (void)state;
    const char *older = hex_field(3, hex_text(1, "a")), *newer = hex_field(5, hex_text(1, "b"));
    struct replica_requirements needs = requirements_of(hex_field(1, older));
    assert_int_equal(needs.tolerations.count, 1);
    assert_str(needs.tolerations.items[0].key, "a");
    needs = requirements_of(hex_field(1, hex_printf("%s%s%s", older, newer, older)));
    assert_int_equal(needs.tolerations.count, 1);
    assert_str(needs.tolerations.items[0].key, "b");
    needs = requirements_of(hex_field(1, hex_printf("%s%s", older, hex_field(5, ""))));
    assert_int_equal(needs.tolerations.count, 1);
    assert_str(needs.tolerations.items[0].key, "");
}

/* ---- other requests ---- */

static void component_sets(void **state) {
    static const char *const requests[] = {
        "0a0466616b65121a0a026a6d1212120d0a0363707512060a043530306d1a017018011a0164", /* v1.17.0 */
        "0a0466616b6512290a026a6d1221120d0a0363707512060a043530306d1a0170220d0a0363707512060a0435"
        "30306d18011a0164220a0a016412050a01781802", /* v1.18.0 */
        "0a0466616b65121a0a026a6d12121a0170220d0a0363707512060a043530306d18011a0164220a0a01641205"
        "0a01781802", /* f8fdd02 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct wire_sets q;
        struct err err;
        assert_int_equal(wire_sets_decode(from_hex(requests[i]), &arena, &q, &err), 0);
        assert_str(q.cluster, "fake");
        assert_str(q.namespace, "d");
        assert_int_equal(q.component_count, 1);
        assert_str(q.components[0].name, "jm");
        assert_int_equal(q.components[0].replicas, 1);
        assert_str(q.components[0].requirements.priority_class, "p");
        assert_int_equal(q.components[0].requirements.request_count, 1);
        assert_str(q.components[0].requirements.requests[0].text, "500m");
        assert_int_equal(q.assumed_count, i > 0);
        if (i == 0)
            continue;
        assert_str(q.assumed[0].namespace, "d");
        assert_int_equal(q.assumed[0].component_count, 1);
        assert_str(q.assumed[0].components[0].name, "x");
        assert_int_equal(q.assumed[0].components[0].replicas, 2);
        assert_false(q.assumed[0].components[0].requirements.given);
    }
}

static void a_component_has_a_claim(void **state) {
    struct wire_sets q;
    struct err err;
    (void)state;
    const char *claim =
        hex_field(1, hex_printf("%s%s", hex_entry(2, "disk", "ssd"), hex_field(4, selector("b"))));
    const char *older = hex_request(2, "cpu", "1"), *newer = hex_request(4, "cpu", "2");
    const char *component = hex_field(2, hex_printf("%s%s%s", claim, older, newer));
    assert_int_equal(wire_sets_decode(from_hex(hex_field(2, component)), &arena, &q, &err), 0);
    const struct replica_requirements *needs = &q.components[0].requirements;
    assert_str(needs->claim.node_selector.items[0].value, "ssd");
    assert_str(needs->claim.terms[0].expressions[0].key, "b");
    assert_int_equal(needs->request_count, 1);
    assert_str(needs->requests[0].text, "2");
}

static void assumed_workloads_of_replicas(void **state) {
    (void)state;
    const char *component = hex_field(2, hex_printf("%s%s", hex_text(1, "web"), hex_number(3, 4)));
    const struct wire_replicas q = replicas_of(hex_printf(
        "%s%s", hex_field(3, hex_printf("%s%s", hex_text(1, "n"), component)), hex_field(3, "")));
    assert_int_equal(q.assumed_count, 2);
    assert_str(q.assumed[0].namespace, "n");
    assert_int_equal(q.assumed[0].components[0].replicas, 4);
    assert_int_equal(q.assumed[1].component_count, 0);
}

static void unschedulable_replicas(void **state) {
    struct wire_unschedulable q;
    struct err err;
    (void)state;
    assert_int_equal(
        wire_unschedulable_decode(
            from_hex("0a076d656d6265723112250a07617070732f7631120a4465706c6f796d656e741a0764656661"
                     "756c7422056e67696e781880f092cbdd08"),
            &arena, &q, &err),
        0);
    assert_str(q.cluster, "member1");
    assert_str(q.api_version, "apps/v1");
    assert_str(q.kind, "Deployment");
    assert_str(q.namespace, "default");
    assert_str(q.name, "nginx");
    assert_int_equal(q.threshold_ns, INT64_C(300000000000));
    assert_int_equal(wire_unschedulable_decode(from_hex(hex_number(3, -1)), &arena, &q, &err), 0);
    assert_int_equal(q.threshold_ns, -1);
    assert_str(q.name, "");
}

/* ---- protobuf ---- */

static void of_equal_keys_and_of_equal_fields_the_last_counts(void **state) {
    (void)state;
    struct replica_requirements needs =
        requirements_of(hex_printf("%s%s%s%s", hex_request(5, "cpu", "9"), hex_request(5, "a", "3"),
                                   hex_request(5, "cpu", "1"), hex_request(5, "b", "4")));
    assert_int_equal(needs.request_count, 3); /* and they are sorted */
    assert_str(needs.requests[0].name, "a");
    assert_str(needs.requests[1].name, "b");
    assert_str(needs.requests[2].name, "cpu");
    assert_str(needs.requests[2].text, "1");
    needs =
        requirements_of(hex_field(1, hex_printf("%s%s%s", hex_entry(2, "k", "1"),
                                                hex_entry(2, "j", "2"), hex_entry(2, "k", "3"))));
    assert_int_equal(needs.claim.node_selector.count, 2);
    assert_str(needs.claim.node_selector.items[0].key, "j");
    assert_str(needs.claim.node_selector.items[1].value, "3");
    needs = requirements_of(hex_printf("%s%s", hex_request(5, "b", "2"), hex_request(5, "a", "1")));
    assert_str(needs.requests[0].name, "a"); /* two, too */
    const struct wire_replicas q =
        replicas_of(hex_printf("%s%s", hex_text(1, "a"), hex_text(1, "b")));
    assert_str(q.cluster, "b");
}

static void unknown_fields_are_passed_over(void **state) {
    (void)state;
    const struct wire_replicas q = replicas_of(
        hex_printf("%s%s%s%s%s%s", hex_number(99, -1), hex_text(98, "?"), hex_text(1, "c"),
                   "99060011223344556677", "9d0600112233", hex_field(2, hex_text(77, "x"))));
    assert_str(q.cluster, "c");
    assert_true(q.requirements.given);
}

static void a_text_may_hold_any_byte(void **state) {
    (void)state;
    const struct wire_replicas q = replicas_of("0a04610062ff");
    assert_int_equal(q.cluster.n, 4);
    assert_memory_equal(q.cluster.p, "a\0b\xff", 4);
}

static void what_is_not_the_message_is_refused(void **state) {
    static const char *const wrong[] = {
        "ff",                       /* a tag that does not end */
        "0a",                       /* no length */
        "0a05616263",               /* shorter than it says */
        "0affffffff0f61",           /* 4 GiB */
        "0affffffffffffffffff0161", /* 2^64 - 1 */
        "08ffffffffffffffffffff01", /* a varint of 11 bytes */
        "18ffffffffffffffffff",     /* one that does not end */
        "0801",                     /* the cluster as a number */
        "0d00000000",               /* or as four bytes */
        "0b0c",                     /* a group */
        "9b069c06",                 /* one of another number */
        "0c",                       /* the end of one */
        "0f",                       /* there is no wire type 7 */
        "0001",                     /* there is no field 0 */
        "12030a0561",               /* a claim that is longer than the requirements */
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct wire_replicas q = {.assumed_count = 42};
        struct err err;
        print_message("# %s\n", wrong[i]);
        assert_int_equal(wire_replicas_decode(from_hex(wrong[i]), &arena, &q, &err), -EINVAL);
        assert_contains(err.text, "are not the message MaxAvailableReplicasRequest");
        assert_int_equal(q.assumed_count, 42);
    }
}

static void expect_refused(const char *requirements, const char *sentence) {
    struct wire_replicas q;
    struct err err;
    assert_int_equal(wire_replicas_decode(from_hex(hex_field(2, requirements)), &arena, &q, &err),
                     -EINVAL);
    assert_string_equal(err.text, sentence);
}

static void what_is_inside_of_bytes_is_refused_by_its_name(void **state) {
    (void)state;
    expect_refused(hex_field(1, hex_field(4, "0a05")),
                   "these 2 bytes are not the message NodeSelector");
    expect_refused(hex_field(1, hex_field(1, "0a05")),
                   "these 2 bytes are not the message NodeSelector");
    /* one byte is not empty, so the older field does not count */
    expect_refused(
        hex_field(1, hex_printf("%s%s", hex_field(1, selector("a")), hex_field(4, "0a"))),
        "these 1 bytes are not the message NodeSelector");
    expect_refused(hex_field(1, hex_field(5, "ff")),
                   "these 1 bytes are not the message Toleration");
    expect_refused(hex_request(5, "cpu", "1K"),
                   "resourceRequest['cpu']: cannot parse quantity '1K': unknown suffix");
    expect_refused(hex_request(2, "cpu", ""),
                   "resourceRequest['cpu']: cannot parse quantity '': it is empty");
    expect_refused(hex_request(2, "cpu", " 1"),
                   "resourceRequest['cpu']: cannot parse quantity ' 1': unknown suffix");
    expect_refused(hex_field(5, hex_printf("%s%s", hex_text(1, "cpu"), hex_field(2, "ff"))),
                   "resourceRequest['cpu']: these 1 bytes are not the message Quantity");
}

static void a_term_that_does_not_parse_matches_nothing(void **state) {
    (void)state;
    const char *expression = hex_printf("%s%s", hex_text(1, "a"), hex_text(2, "Near"));
    const struct replica_requirements needs =
        requirements_of(hex_field(1, hex_field(4, hex_field(1, hex_field(1, expression)))));
    assert_true(needs.claim.terms[0].invalid);
}

/* ---- limits ---- */

static void it_takes_the_arena_and_its_steps(void **state) {
    struct wire_replicas q;
    struct err err;
    (void)state;
    const struct str whole = from_hex(
        hex_field(2, hex_printf("%s%s", hex_request(5, "a", "1"), hex_request(5, "b", "2"))));
    arena.steps = (struct steps){.max = 1000};
    assert_int_equal(wire_replicas_decode(whole, &arena, &q, &err), 0);
    const uint64_t used = arena.steps.used;
    for (uint64_t max = 1; max < used; max++) {
        arena.steps = (struct steps){.max = max};
        assert_int_equal(wire_replicas_decode(whole, &arena, &q, &err), -E2BIG);
    }
    arena.steps = (struct steps){.max = used};
    assert_int_equal(wire_replicas_decode(whole, &arena, &q, &err), 0);
    arena_done(&arena);
    arena_init(&arena, 64);
    assert_int_equal(wire_replicas_decode(whole, &arena, &q, &err), -ENOMEM);
}

/* Half a million fields that are merged one into the other: refused by the arena, before that takes
 * long. */
static void a_field_that_is_there_often_is_bounded(void **state) {
    CLEANUP(strbuf_done) struct strbuf many = {0};
    struct wire_replicas q;
    struct err err;
    (void)state;
    for (int i = 0; i < 500000; i++)
        strbuf_append(&many, "\x12\x02\x2a\x00", 4);
    assert_int_equal(wire_replicas_decode(strbuf_str(&many), &arena, &q, &err), -ENOMEM);
}

/* ---- responses ---- */

static void responses(void **state) {
    static const struct {
        int32_t count;
        const char *older, *newer;
    } rows[] = {
        {12, "080c", "080c"},
        {0, "0800", ""},
        {-1, "08ffffffffffffffffff01", "08ffffffffffffffffff01"},
        {INT32_MAX, "08ffffffff07", "08ffffffff07"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int epoch = WIRE_MESSAGES; epoch <= WIRE_BYTES; epoch++) {
            strbuf_clear(&bytes);
            wire_response_encode(rows[i].count, (enum wire_epoch)epoch, &bytes);
            assert_hex(strbuf_str(&bytes), epoch == WIRE_MESSAGES ? rows[i].older : rows[i].newer);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_request_of_every_epoch),
        TEST(empty_requirements_are_there_and_absent_ones_are_not),
        TEST(a_claim_of_every_epoch),
        TEST(fields_of_a_node_are_compiled),
        TEST(bytes_count_before_the_older_affinity),
        TEST(bytes_count_before_the_older_requests),
        TEST(bytes_count_before_the_older_tolerations),
        TEST(component_sets),
        TEST(a_component_has_a_claim),
        TEST(assumed_workloads_of_replicas),
        TEST(unschedulable_replicas),
        TEST(of_equal_keys_and_of_equal_fields_the_last_counts),
        TEST(unknown_fields_are_passed_over),
        TEST(a_text_may_hold_any_byte),
        TEST(what_is_not_the_message_is_refused),
        TEST(what_is_inside_of_bytes_is_refused_by_its_name),
        TEST(a_term_that_does_not_parse_matches_nothing),
        TEST(it_takes_the_arena_and_its_steps),
        TEST(a_field_that_is_there_often_is_bounded),
        TEST(responses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

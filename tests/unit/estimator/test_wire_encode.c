/* What a client writes: byte by byte what Karmada v1.18.0 writes (wire_golden.txt), for clusters of
 * any estimator's version. */
#include "estimator/wire.h"

#include "unit/estimator/wire_bytes.h"

#include <errno.h>

static struct arena arena;

static int set_up(void **state) {
    (void)state;
    hex_reset();
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static void read_replicas(const char *hex, struct wire_replicas *ret) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    struct err err;
    hex_append(hex, &bytes);
    if (wire_replicas_decode(strbuf_str(&bytes), &arena, ret, &err) != 0)
        fail_msg("%s", err.text);
}

/* The message that is read from `hex`, written again. */
static void assert_written(const char *hex, const char *want) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct wire_replicas q;
    struct str requirements;
    struct err err;
    read_replicas(hex, &q);
    assert_int_equal(wire_requirements_encode(&q.requirements, &arena, &requirements, &err), 0);
    wire_replicas_ask(q.cluster, requirements, &out);
    assert_hex(strbuf_str(&out), want);
}

#define GOLDEN                                                                                     \
    "0a0466616b65123f120a0a0363707512030a0131120f0a066d656d6f727912050a033247691a036e73312a0a0a03" \
    "63707512030a01312a0f0a066d656d6f727912050a03324769"
#define CLAIM                                                                                      \
    "0a0e0a0c0a0a0a0161120247741a013012060a01611201331a170a046b6579311205457175616c1a0676616c7565" \
    "312200220e0a0c0a0a0a0161120247741a01302a170a046b6579311205457175616c1a0676616c7565312200"

static void both_sets_of_fields(void **state) {
    (void)state;
    assert_written(GOLDEN, GOLDEN);
    /* ... from what older and newer versions write */
    assert_written(
        "0a0466616b651224120a0a0363707512030a0131120f0a066d656d6f727912050a033247691a036e"
        "73312200",
        GOLDEN);
    assert_written(
        "0a0466616b6512221a036e73312a0a0a0363707512030a01312a0f0a066d656d6f727912050a0332"
        "4769",
        GOLDEN);
    const char *claim = hex_printf("0a0166%s", hex_field(2, hex_field(1, CLAIM)));
    assert_written(claim, claim);
}

static void what_is_not_there_is_not_written(void **state) {
    (void)state;
    assert_written("0a0166", "0a0166");         /* no requirements */
    assert_written("0a01661200", "0a01661200"); /* empty ones */
    assert_written("1200", "1200");
    assert_written(hex_printf("0a0166%s", hex_field(2, hex_text(4, "high"))),
                   "0a016612062204" /* priorityClassName */ "68696768");
}

/* Present and without terms: v1.18 reads it as no affinity, older ones as one that matches nothing.
 */
static void an_empty_affinity(void **state) {
    (void)state;
    assert_written("0a016612040a020a00", "0a016612040a020a00");
}

/* What does not parse matches nothing, and so does a term without requirements. */
static void a_term_that_does_not_parse(void **state) {
    (void)state;
    const char *wrong = hex_field(1, hex_printf("%s%s", hex_text(1, "a"), hex_text(2, "Like")));
    const char *selector = hex_field(1, wrong);
    const char *want = hex_printf("%s%s", hex_field(1, "0a00"), hex_field(4, "0a00"));
    assert_written(hex_printf("0a0166%s", hex_field(2, hex_field(1, hex_field(1, selector)))),
                   hex_printf("0a0166%s", hex_field(2, hex_field(1, want))));
}

static void responses(void **state) {
    static const struct {
        const char *hex;
        int32_t count;
        bool good;
    } rows[] = {
        {"080c", 12, true}, {"", 0, true},
        {"0800", 0, true},  {"08ffffffffffffffffff01", -1, true},
        {"ffff", 0, false}, {"3c68746d6c3e", 0, false},
        {"1001", 0, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf bytes = {0};
        int32_t count = 7;
        hex_append(rows[i].hex, &bytes);
        print_message("# %s\n", rows[i].hex);
        assert_int_equal(wire_response_decode(strbuf_str(&bytes), &count), rows[i].good);
        assert_int_equal(count, rows[i].good ? rows[i].count : 7);
    }
}

static void long_names(void **state) {
    char name[301] = {0};
    (void)state;
    memset(name, 'n', 300);
    for (size_t n = 127; n <= 128; n++) {
        hex_reset();
        CLEANUP(strbuf_done) struct strbuf out = {0};
        wire_replicas_ask((struct str){name, n}, (struct str){0}, &out);
        name[n] = '\0';
        assert_hex(strbuf_str(&out), hex_text(1, name));
        name[n] = 'n';
    }
}

static void no_memory(void **state) {
    struct wire_replicas q;
    struct arena small;
    struct str requirements;
    struct err err;
    (void)state;
    read_replicas(GOLDEN, &q);
    arena_init(&small, 16);
    assert_int_equal(wire_requirements_encode(&q.requirements, &small, &requirements, &err),
                     -ENOMEM);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_sets_of_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_not_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_affinity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_term_that_does_not_parse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(responses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

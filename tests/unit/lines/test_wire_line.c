/*
 * The step `wire`: its members, and what is refused. Messages were recorded of Karmada's own code;
 * the rest is the fleet contract, 5 and 10.
 */
#include "base/limits.h"
#include "lines/lines.h"

#include "unit/unit.h"

static struct arena arena;
static struct strbuf out;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, LIMIT_LINE_ARENA);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    strbuf_done(&out);
    return 0;
}

/* The members behind the step, and those behind the id. */
static void expect(const char *members, bool good, const char *answer) {
    CLEANUP(strbuf_done) struct strbuf text = {0}, want = {0};
    strbuf_appendf(&text, "{\"id\":1,\"step\":\"wire\"%s}", members);
    strbuf_appendf(&want, "{\"id\":1,%s}", answer);
    strbuf_append_char(&want, '\0');
    arena_reset(&arena);
    strbuf_clear(&out);
    assert_int_equal(line_answer(strbuf_str(&text), &arena, &out), good);
    assert_str(strbuf_str(&out), want.p);
}

#define JSON                                                                                       \
    "\"json\":{\"nodeSelector\":{\"a\":\"3\"},\"tolerations\":[{\"key\":\"k\"}]},\"hex\":\""
#define SELECTOR "12060a0161120133"
#define TOLERATION "090a016b12001a002200"

static void an_epoch_is_a_version_of_karmada(void **state) {
    static const struct {
        const char *epoch, *hex;
    } rows[] = {
        {"v1.18.0", SELECTOR "1a" TOLERATION "2a" TOLERATION},
        {"v1.18.1", SELECTOR "1a" TOLERATION "2a" TOLERATION},
        {"1.18", SELECTOR "1a" TOLERATION "2a" TOLERATION},
        {"v1.17.1", SELECTOR "1a" TOLERATION},
        {"v1.9", SELECTOR "1a" TOLERATION},
        {"v1.19.0", SELECTOR "2a" TOLERATION},
        {"v1.19.0-rc.0", SELECTOR "2a" TOLERATION},
        {"f8fdd02", SELECTOR "2a" TOLERATION},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf members = {0}, answer = {0};
        strbuf_appendf(&members,
                       ",\"message\":\"NodeClaim\",\"hex\":\"" SELECTOR
                       "2a030A016b\",\"epoch\":\"%s\"",
                       rows[i].epoch);
        strbuf_appendf(&answer, JSON "%s\"", rows[i].hex);
        strbuf_append_char(&members, '\0');
        strbuf_append_char(&answer, '\0');
        expect(members.p, true, answer.p);
    }
    /* without one it is v1.18 */
    expect(",\"message\":\"NodeClaim\",\"hex\":\"" SELECTOR "2a030A016b\"", true,
           JSON SELECTOR "1a" TOLERATION "2a" TOLERATION "\"");
}

static void the_empty_message_is_no_digit(void **state) {
    (void)state;
    expect(",\"message\":\"MaxAvailableReplicasResponse\",\"hex\":\"0800\"", true,
           "\"json\":{\"maxReplicas\":0},\"hex\":\"\"");
    expect(",\"message\":\"MaxAvailableReplicasResponse\",\"hex\":\"\",\"epoch\":\"v1.17.0\"", true,
           "\"json\":{\"maxReplicas\":0},\"hex\":\"0800\"");
    expect(",\"message\":\"MaxAvailableComponentSetsResponse\","
           "\"hex\":\"08ffffffffffffffffff01\"",
           true, "\"json\":{\"maxSets\":-1},\"hex\":\"08ffffffffffffffffff01\"");
}

#define REFUSED(sentence) false, "\"error\":\"" sentence "\",\"errorKind\":\"Input\""

static void what_is_refused(void **state) {
    (void)state;
    expect(",\"hex\":\"\"", REFUSED("question: message and hex are required"));
    expect(",\"message\":\"Quantity\"", REFUSED("question: message and hex are required"));
    expect(",\"message\":\"Quantity\",\"hex\":null",
           REFUSED("question: message and hex are required"));
    expect(",\"hex\":\"\",\"message\":\"Quantitie\"",
           REFUSED("question.message: there is no message 'Quantitie'; did you mean 'Quantity'?, "
                   "at byte 52"));
    expect(",\"hex\":\"\",\"message\":\"?\"",
           REFUSED("question.message: there is no message '?', at byte 44"));
    expect(",\"message\":\"Quantity\",\"hex\":\"0a01\"",
           REFUSED("question.hex: these 2 bytes are not the message Quantity"));
    for (size_t i = 0; i < 6; i++) {
        static const char *const versions[] = {"", "v2.0", "1.", "v1.x", "v1.-1", "v1.18x"};
        CLEANUP(strbuf_done) struct strbuf members = {0};
        strbuf_appendf(&members, ",\"message\":\"Quantity\",\"hex\":\"\",\"epoch\":\"%s\"",
                       versions[i]);
        strbuf_append_char(&members, '\0');
        CLEANUP(strbuf_done) struct strbuf answer = {0};
        strbuf_appendf(&answer,
                       "\"error\":\"question.epoch: '%s' is no version of Karmada, such as "
                       "v1.18.0, at byte %zu\",\"errorKind\":\"Input\"",
                       versions[i], 62 + strlen(versions[i]));
        strbuf_append_char(&answer, '\0');
        expect(members.p, false, answer.p);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_epoch_is_a_version_of_karmada),
        TEST(the_empty_message_is_no_digit),
        TEST(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Examples of Placements, as they stand in documents: one JSON object a line, placement, state,
 * policy, now -> expect (the operators of json_agrees()); {"$exit":1,"$stderr":...} means that the
 * Placement is refused, with a text that has this in it.
 */
#include "base/file.h"
#include "base/timestamp.h"
#include "model/policy.h"
#include "policy/match.h"

#include "unit/hub.h"
#include "unit/json_agrees.h"

static const char data_path[] = "tests/conformance/data/placements.jsonl";

struct example {
    struct str id, placement, state, policies, now, expect;
};

static struct example read_example(struct str line, struct arena *arena) {
    struct example e = {0};
    struct json_reader r;
    struct str key;
    struct err err;
    json_reader_init(&r, line, arena, "example");
    assert_true(json_object(&r));
    while (json_member(&r, &key)) {
        struct str *into = str_eq(key, STR("placement")) ? &e.placement
                           : str_eq(key, STR("state"))   ? &e.state
                           : str_eq(key, STR("policy"))  ? &e.policies
                           : str_eq(key, STR("expect"))  ? &e.expect
                                                         : NULL;
        if (str_eq(key, STR("id")))
            e.id = json_string(&r);
        else if (str_eq(key, STR("now")))
            e.now = json_string(&r);
        else if (into != NULL)
            *into = json_skip(&r);
        else
            (void)json_skip(&r); /* why */
    }
    assert_int_equal(json_finish(&r, &err), 0);
    return e;
}

static void take_state(struct hub *f, struct str state) {
    struct json_reader r;
    json_reader_init(&r, state, &f->arena, "state");
    assert_true(json_array(&r));
    while (json_element(&r))
        hub_take(f, json_skip(&r));
}

/* The terms that policies have for the Placement. */
static void take_policies(struct hub *f, struct str policies, const struct placement *placement) {
    struct json_reader r;
    struct policy_choice choice;
    struct policy policy[4];
    uint32_t count = 0;
    struct err err;
    if (policies.n == 0)
        return;
    json_reader_init(&r, policies, &f->arena, "policy");
    assert_true(json_array(&r));
    while (json_element(&r))
        policy_decode(&r, &policy[count++]);
    assert_int_equal(json_finish(&r, &err), 0);
    policies_sort(policy, count);
    const struct policy_namespace namespace = {.name = placement->meta.namespace};
    assert_true(policy_of_placement((struct policy_list){policy, count}, &namespace,
                                    &placement->meta, &choice));
    const struct policy *enforced = choice.enforced[POLICY_PLACEMENTS];
    if (enforced == NULL)
        return;
    struct placement_term *terms =
        arena_array(&f->arena, enforced->placement_term_count, sizeof *terms);
    for (uint32_t i = 0; i < enforced->placement_term_count; i++)
        terms[i] = enforced->placement_terms[i];
    f->policy =
        (struct ocm_policy_terms){terms, enforced->placement_term_count, enforced->name, STR("")};
}

/* False: it is refused, and err says why. */
static bool read_placement(struct hub *f, struct str json, struct placement *ret, struct err *err) {
    struct json_reader r;
    json_reader_init(&r, json, &f->arena, "Placement");
    placement_decode(&r, ret);
    return json_finish(&r, err) == 0;
}

static bool check_example(struct str line) {
    struct hub f;
    struct placement placement;
    struct err err;
    bool good;
    hub_open_empty(&f);
    const struct example e = read_example(line, &f.arena);
    print_message("# %.*s\n", STR_ARG(e.id));
    assert_true(timestamp_parse(e.now, &f.now_ms));
    take_state(&f, e.state);
    struct json_reader r;
    json_reader_init(&r, e.expect, &f.arena, "expect");
    const struct str refusal = json_peek_member(&r, STR("$stderr"));
    if (!read_placement(&f, e.placement, &placement, &err)) {
        good = refusal.n > 0 && strstr(err.text, arena_cstr(&f.arena, refusal)) != NULL;
        if (!good)
            print_error("%s\n", err.text);
    } else {
        take_policies(&f, e.policies, &placement);
        good = refusal.n == 0 && json_agrees(hub_answer_to(&f, &placement), e.expect);
    }
    hub_close(&f);
    return good;
}

static void every_example_agrees(void **state) {
    CLEANUP(strbuf_done) struct strbuf file = {0};
    struct err err;
    unsigned count = 0, wrong = 0;
    (void)state;
    if (file_read(data_path, 1 << 20, &file, &err) != 0)
        fail_msg("%s", err.text);
    for (struct str rest = strbuf_str(&file); rest.n > 0; count++) {
        const size_t end = str_find(rest, '\n');
        wrong += !check_example((struct str){rest.p, end});
        rest = (struct str){rest.p + end + 1, rest.n - end - 1};
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(count, 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_example_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

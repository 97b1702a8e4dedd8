/*
 * Selectors, node affinity, tolerations and spread constraints against the answers of Kubernetes'
 * own code, recorded in data/kube-primitives.txt (its section "## Quantity" has a test of its own):
 *
 *     ## selector strings     "a in (1,)" => true canon="a in (,1)"       or  "a," => ERR
 *     ## LabelSelector        {"matchLabels":{"a":"1"}} => true empty=false
 *     ## node affinity        {"nodeSelector":{"a":"1"}} => true err=false
 *     ## tolerations          {"key":"k"} vs {"key":"k","effect":"NoSchedule"} => true
 *     ## TSC                  merge=false {"maxSkew":0,...} => [[0].maxSkew:FieldValueInvalid]
 *
 * The labels that the recorded answers were asked of are those in `object_labels` and
 * `node_labels` below.
 */
#include "base/file.h"
#include "model/affinity.h"
#include "model/taint.h"
#include "model/topology.h"

#include "unit/unit.h"

#include <errno.h>

#define DATA "tests/conformance/data/kube-primitives.txt"

static const char object_labels[] = "{\"a\":\"1\",\"b\":\"\",\"n\":\"5\"}";
static const char node_labels[] =
    "{\"a\":\"1\",\"b\":\"\",\"g\":\"10\",\"neg\":\"-5\",\"z\":\"07\"}";

/* Rows of "## TSC" that say no where our decoder says yes, on purpose: it judges one field at a
 * time, because pods come from an API server, which has judged the whole. */
static const struct out_of_scope {
    const char *row, *reason;
} out_of_scope[] = {
    {"\"whenUnsatisfiable\":\"ScheduleAnyway\",\"minDomains\":1",
     "combination: minDomains means nothing to a soft constraint"},
    {"\"whenUnsatisfiable\":\"DoNotSchedule\",\"matchLabelKeys\":[\"a\"]",
     "combination: matchLabelKeys change nothing under a nil selector"},
    {"\"matchLabelKeys\":[\"/x\"]", "no pod can carry such a label, and keys it lacks are ignored"},
    {"\"labelSelector\":{\"matchLabels\":{\"a\":\"1\"}},\"matchLabelKeys\":[\"a\"]",
     "combination: a key both selected and matched is one more requirement"},
    {"\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]},"
     "\"matchLabelKeys\":[\"a\"]",
     "combination: as above"},
    {"\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\"]}]},"
     "\"matchLabelKeys\":[\"a\"]",
     "combination: as above"},
};

/* ---- rows ---- */

struct row {
    struct str question, answer;
};

struct fixture {
    struct strbuf file;
    struct arena arena;
    struct labels object, node;
};

static struct json_reader reader(struct fixture *f, struct str json) {
    struct json_reader r;
    json_reader_init(&r, json, &f->arena, "row");
    return r;
}

static int load(void **state) {
    static struct fixture f;
    struct err err;
    arena_init(&f.arena, 16u << 20);
    f.file = (struct strbuf){.max = 1 << 20};
    if (file_read(DATA, 1 << 20, &f.file, &err) != 0) {
        print_error("%s\n", err.text);
        return -1;
    }
    struct json_reader r = reader(&f, str_of(object_labels));
    f.object = labels_decode(&r);
    r = reader(&f, str_of(node_labels));
    f.node = labels_decode(&r);
    *state = &f;
    return 0;
}

static int unload(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->file);
    arena_done(&f->arena);
    return 0;
}

static bool next_line(struct str *rest, struct str *ret_line) {
    if (rest->n == 0)
        return false;
    size_t n = str_find(*rest, '\n');
    *ret_line = (struct str){rest->p, n == SIZE_MAX ? rest->n : n};
    size_t used = n == SIZE_MAX ? rest->n : n + 1;
    *rest = (struct str){rest->p + used, rest->n - used};
    return true;
}

/* Where `part` starts in s; it must be there. */
static size_t position(struct str s, const char *part) {
    struct str wanted = str_of(part);
    for (size_t i = 0; i + wanted.n <= s.n; i++)
        if (memcmp(s.p + i, part, wanted.n) == 0)
            return i;
    fail_msg("no '%s' in '%.*s'", part, STR_ARG(s));
    return 0;
}

static bool contains(struct str s, const char *part) {
    struct str wanted = str_of(part);
    for (size_t i = 0; i + wanted.n <= s.n; i++)
        if (memcmp(s.p + i, part, wanted.n) == 0)
            return true;
    return false;
}

static struct str from(struct str s, size_t at) {
    return (struct str){s.p + at, s.n - at};
}

/* Calls check() for every row of a section; it says whether our answer agrees. */
typedef bool check_fn(struct fixture *f, const struct row *row);

static void check_section(struct fixture *f, const char *title, unsigned expected,
                          check_fn *check) {
    struct str rest = strbuf_str(&f->file), line;
    bool inside = false;
    unsigned rows = 0, wrong = 0;
    while (next_line(&rest, &line)) {
        if (str_has_prefix(line, STR("## "))) {
            inside = str_has_prefix(from(line, 3), str_of(title));
            continue;
        }
        if (!inside || str_has_prefix(line, STR("dup3 "))) /* for dup3 see the end of this file */
            continue;
        size_t arrow = position(line, " => ");
        struct row row = {{line.p, arrow}, from(line, arrow + 4)};
        rows++;
        if (check(f, &row))
            continue;
        wrong++;
        print_error("disagrees with: %.*s\n", (int)line.n, line.p);
    }
    assert_int_equal(rows, expected);
    assert_int_equal(wrong, 0);
}

/* ---- selectors ---- */

static void put_key(const struct selector *selector, struct strbuf *out) {
    strbuf_clear(out);
    selector_key(selector, out);
}

/* The canonical text that upstream prints must mean the same to us. */
static bool same_as_canonical(struct fixture *f, const struct selector *selector,
                              struct str canonical) {
    struct selector again;
    struct strbuf one = {0}, two = {0};
    bool same = selector_parse(canonical, &f->arena, &again, NULL) == 0;
    if (same) {
        put_key(selector, &one);
        put_key(&again, &two);
        same = str_eq(strbuf_str(&one), strbuf_str(&two));
    }
    strbuf_done(&one);
    strbuf_done(&two);
    return same;
}

static bool check_selector_string(struct fixture *f, const struct row *row) {
    struct str text = {row->question.p + 1, row->question.n - 2};
    struct selector selector;
    struct err err = {0};
    int r = selector_parse(text, &f->arena, &selector, &err);
    if (str_eq(row->answer, STR("ERR")))
        return r == -EINVAL && err.text[0] != '\0';
    if (r != 0)
        return false;
    struct str canonical = from(row->answer, position(row->answer, "canon=\"") + 7);
    canonical.n--;
    return selector_matches(&selector, labels_lookup, &f->object) ==
               str_has_prefix(row->answer, STR("true")) &&
           same_as_canonical(f, &selector, canonical);
}

static void selector_strings_agree(void **state) {
    check_section(*state, "selector strings", 37, check_selector_string);
}

static bool check_label_selector(struct fixture *f, const struct row *row) {
    struct json_reader r = reader(f, row->question);
    struct label_selector decoded = label_selector_decode(&r);
    struct selector selector;
    struct err err = {0};
    assert_int_equal(json_finish(&r, &err), 0);
    int failed = selector_compile(&decoded, (struct labels){0}, &f->arena, &selector, &err);
    if (str_eq(row->answer, STR("ERR")))
        return failed == -EINVAL && err.text[0] != '\0';
    bool empty = !selector.nothing && selector.count == 0;
    return failed == 0 &&
           selector_matches(&selector, labels_lookup, &f->object) ==
               str_has_prefix(row->answer, STR("true")) &&
           empty == contains(row->answer, "empty=true");
}

static void label_selectors_agree(void **state) {
    check_section(*state, "LabelSelector", 17, check_label_selector);
}

/* ---- node affinity ---- */

static bool check_affinity(struct fixture *f, const struct row *row) {
    struct json_reader r = reader(f, row->question);
    struct node_affinity affinity = {0};
    struct str key;
    struct err err;
    bool invalid = false;
    assert_true(json_object(&r));
    while (json_member(&r, &key))
        if (str_eq(key, STR("nodeSelector")))
            affinity.node_selector = labels_decode(&r);
        else
            affinity_decode(&r, &affinity);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < affinity.term_count; i++)
        invalid = invalid || affinity.terms[i].invalid;
    bool matches = node_affinity_matches(&affinity, STR("n1"), labels_lookup, &f->node);
    /* upstream reports the term that does not parse only when no other one matches */
    return matches == str_has_prefix(row->answer, STR("true")) &&
           (invalid && !matches) == contains(row->answer, "err=true");
}

static void node_affinity_agrees(void **state) {
    check_section(*state, "node affinity", 33, check_affinity);
}

/* ---- tolerations ---- */

static bool check_toleration(struct fixture *f, const struct row *row) {
    size_t versus = position(row->question, " vs ");
    struct strbuf text = {0};
    strbuf_appendf(&text, "[%.*s]", (int)versus, row->question.p);
    struct json_reader r = reader(f, strbuf_str(&text));
    struct tolerations tolerations = tolerations_decode(&r);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(tolerations.count, 1);

    struct strbuf taint_text = {0};
    struct str taint_json = from(row->question, versus + 4);
    uint32_t count;
    strbuf_appendf(&taint_text, "[%.*s]", (int)taint_json.n, taint_json.p);
    r = reader(f, strbuf_str(&taint_text));
    const struct taint *taints = taints_decode(&r, &count);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(count, 1);

    bool want = str_eq(row->answer, STR("true"));
    bool good = toleration_tolerates(&tolerations.items[0], &taints[0]) == want &&
                taints_tolerated(taints, 1, tolerations) == want;
    strbuf_done(&text);
    strbuf_done(&taint_text);
    return good;
}

static void tolerations_agree(void **state) {
    check_section(*state, "tolerations", 11, check_toleration);
}

/* ---- topology spread constraints ---- */

static const char *why_out_of_scope(struct str json) {
    for (size_t i = 0; i < sizeof out_of_scope / sizeof out_of_scope[0]; i++)
        if (contains(json, out_of_scope[i].row))
            return out_of_scope[i].reason;
    return NULL;
}

/* The field that upstream blames: "maxSkew" in "[[0].maxSkew:FieldValueInvalid]". */
static struct str blamed(struct str answer) {
    struct str name = from(answer, position(answer, "[0].") + 4);
    size_t n = 0;
    while (n < name.n && name.p[n] != '.' && name.p[n] != ':')
        n++;
    return (struct str){name.p, n};
}

static bool check_constraint(struct fixture *f, const struct row *row) {
    struct str json = from(row->question, position(row->question, "{"));
    struct json_reader r = reader(f, json);
    struct spread_constraint constraint;
    struct selector selector;
    struct err err = {0};
    spread_constraint_decode(&r, &constraint);
    int failed = json_finish(&r, &err);
    bool by_decoder = failed != 0;
    if (failed == 0)
        failed =
            selector_compile(&constraint.selector, (struct labels){0}, &f->arena, &selector, &err);
    if (why_out_of_scope(json) != NULL || str_eq(row->answer, STR("[]")))
        return failed == 0;
    struct str field = blamed(row->answer);
    return failed == -EINVAL && err.text[0] != '\0' &&
           by_decoder != str_eq(field, STR("labelSelector")) &&
           (!by_decoder || contains(str_of(err.text), arena_cstr(&f->arena, field)));
}

static void constraints_agree_field_by_field(void **state) {
    check_section(*state, "TSC", 50, check_constraint);
}

/* "dup3": the API server refuses several constraints with the same key and effect. We count each
 * for itself, as the scheduler's plugin does. */
static void duplicates_are_accepted(void **state) {
    struct fixture *f = *state;
    uint32_t count;
    struct json_reader r = reader(
        f, STR("[{\"maxSkew\":1,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"},"
               "{\"maxSkew\":1,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"},"
               "{\"maxSkew\":1,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]"));
    assert_non_null(spread_constraints_decode(&r, &count));
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(count, 3);
}

/* Every exception is needed: it stands for a row that upstream refuses. */
static void exceptions_name_rows_that_exist(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof out_of_scope / sizeof out_of_scope[0]; i++) {
        struct str rest = strbuf_str(&f->file), line;
        unsigned refused = 0;
        while (next_line(&rest, &line))
            refused += contains(line, out_of_scope[i].row) && contains(line, "FieldValue");
        assert_true(refused > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selector_strings_agree),
        cmocka_unit_test(label_selectors_agree),
        cmocka_unit_test(node_affinity_agrees),
        cmocka_unit_test(tolerations_agree),
        cmocka_unit_test(constraints_agree_field_by_field),
        cmocka_unit_test(duplicates_are_accepted),
        cmocka_unit_test(exceptions_name_rows_that_exist),
    };
    return cmocka_run_group_tests_name("kubernetes primitives", tests, load, unload);
}

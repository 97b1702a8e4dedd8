#include "model/selector.h"

#include "base/json_fields.h"
#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>

/* ---- decoding ---- */

static void decode_string(struct json_reader *r, void *into) {
    *(struct str *)into = json_string(r);
}

/* For short lists, because an object may have thousands of them. json_string_array() would guess
 * the size of each list from the whole text after it. */
const struct str *strings_decode(struct json_reader *r, uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct str), UINT32_MAX, decode_string, ret_count);
}

/* Skips an unknown field; with `strict` it is an error. Errors stay in r. */
static void pass_over(struct json_reader *r, bool strict) {
    if (strict)
        json_fail(r, "unknown field");
    else
        (void)json_skip(r);
}

static void decode_expression(struct json_reader *r, struct label_expression *e, bool strict) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("key")))
            e->key = json_string(r);
        else if (str_eq(key, STR("operator")))
            e->op = json_string(r);
        else if (str_eq(key, STR("values")))
            e->values = strings_decode(r, &e->value_count);
        else
            pass_over(r, strict);
    }
}

static void lenient_expression(struct json_reader *r, void *into) {
    decode_expression(r, into, false);
}

static void strict_expression(struct json_reader *r, void *into) {
    decode_expression(r, into, true);
}

const struct label_expression *label_expressions_decode(struct json_reader *r,
                                                        uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct label_expression), UINT32_MAX, lenient_expression,
                         ret_count);
}

static struct label_selector decode(struct json_reader *r, bool strict) {
    struct label_selector s = {0};
    struct str key;
    if (!json_object(r))
        return s;
    s.present = true;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("matchLabels")))
            s.match_labels = labels_decode(r);
        else if (str_eq(key, STR("matchExpressions")))
            s.expressions =
                json_array_of(r, sizeof *s.expressions, UINT32_MAX,
                              strict ? strict_expression : lenient_expression, &s.expression_count);
        else
            pass_over(r, strict);
    }
    return s;
}

struct label_selector label_selector_decode(struct json_reader *r) {
    return decode(r, false);
}

struct label_selector label_selector_decode_strict(struct json_reader *r) {
    return decode(r, true);
}

/* ---- compiling ---- */

static int compare_strings(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int compare_requirements(const void *a, const void *b) {
    const struct requirement *x = a, *y = b;
    int order = str_cmp(x->key, y->key);
    if (order == 0)
        order = (int)x->op - (int)y->op;
    if (order == 0)
        order = (x->bound > y->bound) - (x->bound < y->bound);
    for (uint32_t i = 0; order == 0 && i < x->value_count && i < y->value_count; i++)
        order = str_cmp(x->values[i], y->values[i]);
    if (order == 0)
        order = (x->value_count > y->value_count) - (x->value_count < y->value_count);
    return order;
}

bool requirement_eq(const struct requirement *a, const struct requirement *b) {
    return compare_requirements(a, b) == 0;
}

static bool operator_parse(struct str op, bool allow_compare, enum selector_operator *ret) {
    static const struct {
        struct str name;
        enum selector_operator op;
    } table[] = {
        {{"In", 2}, SELECTOR_IN},         {{"NotIn", 5}, SELECTOR_NOT_IN},
        {{"Exists", 6}, SELECTOR_EXISTS}, {{"DoesNotExist", 12}, SELECTOR_DOES_NOT_EXIST},
        {{"Gt", 2}, SELECTOR_GT},         {{"Lt", 2}, SELECTOR_LT},
    };
    size_t n = sizeof table / sizeof table[0] - (allow_compare ? 0 : 2);
    for (size_t i = 0; i < n; i++)
        if (str_eq(op, table[i].name)) {
            *ret = table[i].op;
            return true;
        }
    return false;
}

/* Checks a requirement whose op and values are set, and sets its bound. */
static int validate_requirement(struct requirement *q, struct err *err) {
    bool list = q->op == SELECTOR_IN || q->op == SELECTOR_NOT_IN;
    bool compare = q->op == SELECTOR_GT || q->op == SELECTOR_LT;
    if (!label_key_valid(q->key))
        return err_set(err, -EINVAL, "'%.*s' is not a label key", STR_ARG(q->key));
    if (list && q->value_count == 0)
        return err_set(err, -EINVAL, "key '%.*s': In and NotIn need at least one value",
                       STR_ARG(q->key));
    if (compare && q->value_count != 1)
        return err_set(err, -EINVAL, "key '%.*s': Gt and Lt need exactly one value",
                       STR_ARG(q->key));
    if (!list && !compare && q->value_count != 0)
        return err_set(err, -EINVAL, "key '%.*s': Exists and DoesNotExist take no values",
                       STR_ARG(q->key));
    for (uint32_t i = 0; i < q->value_count; i++)
        if (!label_value_valid(q->values[i]))
            return err_set(err, -EINVAL, "key '%.*s': '%.*s' is not a label value", STR_ARG(q->key),
                           STR_ARG(q->values[i]));
    if (compare && !str_to_i64(q->values[0], &q->bound))
        return err_set(err, -EINVAL, "key '%.*s': '%.*s' is not a whole number", STR_ARG(q->key),
                       STR_ARG(q->values[0]));
    return 0;
}

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for a selector");
}

static int values_canonical(const struct str *from, uint32_t count, struct arena *arena,
                            struct requirement *q, struct err *err) {
    struct str *values = arena_array(arena, count, sizeof *values);
    if (values == NULL)
        return out_of_memory(err);
    if (!steps_take_sort(&arena->steps, count))
        return err_set(err, -E2BIG, "more values and labels than there is time for");
    if (count > 0)
        memcpy(values, from, count * sizeof *values);
    qsort(values, count, sizeof *values, compare_strings);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || !str_eq(values[unique - 1], values[i]))
            values[unique++] = values[i];
    q->values = values;
    q->value_count = unique;
    return 0;
}

int requirement_check(const struct label_expression *from, bool allow_compare,
                      struct requirement *ret, struct err *err) {
    struct requirement q = {
        .key = from->key, .values = from->values, .value_count = from->value_count};
    if (!operator_parse(from->op, allow_compare, &q.op))
        return err_set(err, -EINVAL, "key '%.*s': unknown operator '%.*s'", STR_ARG(from->key),
                       STR_ARG(from->op));
    const int r = validate_requirement(&q, err);
    if (r == 0)
        *ret = q;
    return r;
}

int requirement_compile(const struct label_expression *from, bool allow_compare,
                        struct arena *arena, struct requirement *ret, struct err *err) {
    struct requirement q;
    int r = requirement_check(from, allow_compare, &q, err);
    if (r == 0)
        r = values_canonical(from->values, from->value_count, arena, &q, err);
    if (r == 0)
        *ret = q;
    return r;
}

/* Compiles key == value. */
static int requirement_equals(struct label label, struct arena *arena, struct requirement *ret,
                              struct err *err) {
    struct requirement q = {.key = label.key, .op = SELECTOR_IN};
    int r = values_canonical(&label.value, 1, arena, &q, err);
    if (r == 0)
        r = validate_requirement(&q, err);
    if (r == 0)
        *ret = q;
    return r;
}

void selector_canonicalize(struct requirement *items, uint32_t count, struct selector *ret) {
    if (count > 1)
        qsort(items, count, sizeof *items, compare_requirements);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || compare_requirements(&items[unique - 1], &items[i]) != 0)
            items[unique++] = items[i];
    *ret = (struct selector){.items = items, .count = unique};
}

bool label_selector_has_key(const struct label_selector *s, struct str key) {
    for (uint32_t i = 0; i < s->match_labels.count; i++)
        if (str_eq(s->match_labels.items[i].key, key))
            return true;
    for (uint32_t i = 0; i < s->expression_count; i++)
        if (str_eq(s->expressions[i].key, key))
            return true;
    return false;
}

uint64_t label_selector_steps(const struct label_selector *from) {
    enum { SORTING = 20 }; /* comparisons for each value, if there are many values */
    uint64_t steps = 1 + from->match_labels.count;
    for (uint32_t i = 0; i < from->expression_count; i++)
        steps += 1 + (uint64_t)from->expressions[i].value_count * SORTING;
    return steps;
}

int selector_compile(const struct label_selector *from, struct labels extra, struct arena *arena,
                     struct selector *ret, struct err *err) {
    if (!from->present) {
        *ret = (struct selector){.nothing = true};
        return 0;
    }
    uint32_t n = from->match_labels.count + from->expression_count + extra.count, count = 0;
    struct requirement *items = arena_array(arena, n, sizeof *items);
    if (items == NULL)
        return out_of_memory(err);
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < from->match_labels.count; i++)
        r = requirement_equals(from->match_labels.items[i], arena, &items[count++], err);
    for (uint32_t i = 0; r == 0 && i < from->expression_count; i++)
        r = requirement_compile(&from->expressions[i], false, arena, &items[count++], err);
    for (uint32_t i = 0; r == 0 && i < extra.count; i++)
        r = requirement_equals(extra.items[i], arena, &items[count++], err);
    if (r == 0)
        selector_canonicalize(items, count, ret);
    return r;
}

/* ---- matching ---- */

/* Searches the sorted values by bisection, because a user may write hundreds of thousands of them.
 */
static bool values_have(const struct requirement *q, struct str value) {
    return sorted_texts_find(q->values, q->value_count, value) != UINT32_MAX;
}

bool requirement_matches(const struct requirement *q, const struct str *value) {
    int64_t number;
    switch (q->op) {
    case SELECTOR_IN:
        return value != NULL && values_have(q, *value);
    case SELECTOR_NOT_IN:
        return value == NULL || !values_have(q, *value);
    case SELECTOR_EXISTS:
        return value != NULL;
    case SELECTOR_DOES_NOT_EXIST:
        return value == NULL;
    case SELECTOR_GT:
        return value != NULL && str_to_i64(*value, &number) && number > q->bound;
    case SELECTOR_LT:
        return value != NULL && str_to_i64(*value, &number) && number < q->bound;
    }
    return false;
}

bool selector_matches(const struct selector *s, label_lookup_fn *lookup, const void *labels) {
    if (s->nothing)
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        struct str value;
        bool has = lookup(labels, s->items[i].key, &value);
        if (!requirement_matches(&s->items[i], has ? &value : NULL))
            return false;
    }
    return true;
}

/* ---- keys and copies ---- */

void key_append(struct strbuf *out, struct str s) {
    uint32_t n = (uint32_t)s.n;
    strbuf_append(out, &n, sizeof n);
    strbuf_append_str(out, s);
}

void requirement_key(const struct requirement *q, struct strbuf *out) {
    key_append(out, q->key);
    strbuf_append_char(out, (char)('0' + q->op));
    strbuf_append(out, &q->value_count, sizeof q->value_count);
    for (uint32_t i = 0; i < q->value_count; i++)
        key_append(out, q->values[i]);
}

void selector_key(const struct selector *s, struct strbuf *out) {
    strbuf_append_char(out, s->nothing ? '0' : '1');
    strbuf_append(out, &s->count, sizeof s->count);
    for (uint32_t i = 0; i < s->count; i++)
        requirement_key(&s->items[i], out);
}

/* ---- costs ---- */

struct cost text_cost(struct str s) {
    enum { BYTES_A_STEP = 64, ARENA = 16 };
    return (struct cost){.steps = s.n / BYTES_A_STEP, .bytes = s.n + ARENA};
}

struct cost requirement_cost(const struct requirement *q) {
    struct cost sum = text_cost(q->key);
    cost_add(&sum, (struct cost){1, sizeof *q + q->value_count * sizeof *q->values});
    for (uint32_t left = q->value_count; left > 0; left /= 2)
        sum.steps++;
    for (uint32_t i = 0; i < q->value_count; i++)
        sum.bytes += text_cost(q->values[i]).bytes;
    return sum;
}

struct cost selector_cost(const struct selector *s) {
    struct cost sum = {1, sizeof *s};
    for (uint32_t i = 0; i < s->count; i++)
        cost_add(&sum, requirement_cost(&s->items[i]));
    return sum;
}

int requirement_copy(const struct requirement *from, struct arena *arena, struct requirement *ret) {
    struct str *values = arena_array(arena, from->value_count, sizeof *values);
    if (values == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->value_count; i++)
        values[i] = arena_str(arena, from->values[i]);
    *ret = *from;
    ret->key = arena_str(arena, from->key);
    ret->values = values;
    return arena_failed(arena) ? -ENOMEM : 0;
}

int selector_copy(const struct selector *from, struct arena *arena, struct selector *ret) {
    struct requirement *items = arena_array(arena, from->count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->count; i++)
        if (requirement_copy(&from->items[i], arena, &items[i]) != 0)
            return -ENOMEM;
    *ret = (struct selector){from->nothing, items, from->count};
    return 0;
}

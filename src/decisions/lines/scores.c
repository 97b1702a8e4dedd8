/* The steps about raw values: `normalise` makes a score of one value; `range` does one round of
 * observing a range. */
#include "ocm/score_range.h"

#include "base/json_fields.h"
#include "lines/steps.h"

#include <errno.h>

/* A number that may be absent. */
struct number {
    bool given;
    double value;
};

static struct number number_decode(struct json_reader *r) {
    if (json_null(r))
        return (struct number){0};
    return (struct number){true, json_number(r)};
}

/* ---- normalise ---- */

struct normalise_question {
    struct number value, min, max;
};

static void normalise_decode(struct json_reader *r, struct normalise_question *q) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("value")))
                q->value = number_decode(r);
            else if (str_eq(key, STR("min")))
                q->min = number_decode(r);
            else if (str_eq(key, STR("max")))
                q->max = number_decode(r);
        }
}

int line_normalise(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct normalise_question q = {.value = {0}};
    int32_t score;
    normalise_decode(r, &q);
    int e = json_finish(r, err);
    if (e == 0 && !(q.value.given && q.min.given && q.max.given))
        return err_set(err, -EINVAL, "question: value, min and max are required");
    if (e != 0)
        return e;
    if (score_normalise(q.value.value, q.min.value, q.max.value, &score, err) != 0)
        return err_wrap(err, "question");
    json_key(w, STR("value"));
    json_put_integer(w, score);
    return 0;
}

/* ---- range ---- */

struct range_question {
    bool has_values;
    const double *values;
    uint32_t count;
    struct number low, high;
};

static void value_decode(struct json_reader *r, void *into) {
    double *value = into;
    if (json_peek(r) == JSON_NULL)
        json_fail(r, "expected a number, found null");
    else
        *value = json_number(r);
}

static void range_decode(struct json_reader *r, struct range_question *q) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("values"))) {
                q->has_values = json_peek(r) != JSON_NULL;
                q->values =
                    json_array_of(r, sizeof *q->values, UINT32_MAX, value_decode, &q->count);
            } else if (str_eq(key, STR("low")))
                q->low = number_decode(r);
            else if (str_eq(key, STR("high")))
                q->high = number_decode(r);
        }
}

static int range_check(const struct range_question *q, struct err *err) {
    if (!q->has_values)
        return err_set(err, -EINVAL, "question: values is required");
    if (q->low.given != q->high.given)
        return err_set(err, -EINVAL, "question: low and high come together");
    if (q->low.given && q->low.value > q->high.value)
        return err_set(err, -EINVAL, "question: low %g is above high %g", q->low.value,
                       q->high.value);
    return 0;
}

static void put_bound(struct json_writer *w, struct str name, bool known, double value) {
    json_key(w, name);
    if (known)
        json_put_number(w, value);
    else
        json_put_null(w);
}

int line_range(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct range_question q = {0};
    range_decode(r, &q);
    int e = json_finish(r, err);
    if (e == 0)
        e = range_check(&q, err);
    if (e != 0)
        return e;
    struct score_range range = {q.low.given, q.low.value, q.high.value};
    score_range_observe(&range, q.values, q.count);
    put_bound(w, STR("low"), range.known, range.low);
    put_bound(w, STR("high"), range.known, range.high);
    return 0;
}

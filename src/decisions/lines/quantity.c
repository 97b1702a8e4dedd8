/*
 * The step `quantity`: reads a Kubernetes quantity, or adds, subtracts and compares two of them.
 * With `wrap` values wrap around as upstream's do, otherwise they saturate.
 */
#include "model/quantity_wrap.h"

#include "lines/steps.h"

#include <errno.h>

struct quantity_question {
    struct str text, a, b; /* .p NULL if absent */
    bool wrap;
};

static struct str text_decode(struct json_reader *r) {
    return json_null(r) ? (struct str){NULL, 0} : json_string(r);
}

static void question_decode(struct json_reader *r, struct quantity_question *q) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("text")))
                q->text = text_decode(r);
            else if (str_eq(key, STR("a")))
                q->a = text_decode(r);
            else if (str_eq(key, STR("b")))
                q->b = text_decode(r);
            else if (str_eq(key, STR("wrap")))
                q->wrap = json_bool(r);
        }
}

static int question_check(const struct quantity_question *q, struct err *err) {
    const bool one = q->text.p != NULL, pair = q->a.p != NULL && q->b.p != NULL;
    const bool half = (q->a.p != NULL) != (q->b.p != NULL);
    if (half || one == pair)
        return err_set(err, -EINVAL, "question: either text, or a and b are required");
    return 0;
}

/* ---- answers ---- */

static void put_format(struct json_writer *w, struct str name, enum quantity_format format) {
    static const char *const names[] = {
        [QUANTITY_DECIMAL_SI] = "DecimalSI",
        [QUANTITY_DECIMAL_EXPONENT] = "DecimalExponent",
        [QUANTITY_BINARY_SI] = "BinarySI",
    };
    json_put_member(w, name, str_of(names[format]));
}

static void append_text(const struct wrapped_quantity *q, bool wrap, struct strbuf *out) {
    if (wrap)
        wrapped_quantity_format(q, out);
    else
        quantity_format(&q->exact, out);
}

static void put_text(struct json_writer *w, struct str name, const struct wrapped_quantity *q,
                     bool wrap) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    append_text(q, wrap, &text);
    json_put_member(w, name, strbuf_str(&text));
}

static void put_sum(struct json_writer *w, struct str name, const struct wrapped_quantity pair[2],
                    bool subtract, bool wrap) {
    const struct wrapped_quantity sum = wrapped_quantity_add(&pair[0], &pair[1], subtract);
    put_text(w, name, &sum, wrap);
    if (subtract)
        put_format(w, STR("subFormat"), sum.exact.format);
}

static void put_pair(struct json_writer *w, const struct wrapped_quantity pair[2], bool wrap) {
    const __int128 a = pair[0].exact.nano, b = pair[1].exact.nano;
    put_sum(w, STR("add"), pair, false, wrap);
    put_sum(w, STR("sub"), pair, true, wrap);
    json_key(w, STR("cmp"));
    json_put_integer(w, wrap ? wrapped_quantity_compare(&pair[0], &pair[1]) : (a > b) - (a < b));
}

/* Writes the protobuf message Quantity in hex: its field 1 is the text. */
static void put_wire(struct json_writer *w, struct str text) {
    CLEANUP(strbuf_done) struct strbuf hex = {0};
    size_t left = text.n;
    strbuf_append_str(&hex, STR("0a"));
    for (; left >= 0x80; left >>= 7)
        strbuf_appendf(&hex, "%02x", (unsigned)(left & 0x7f) | 0x80);
    strbuf_appendf(&hex, "%02x", (unsigned)left);
    for (size_t i = 0; i < text.n; i++)
        strbuf_appendf(&hex, "%02x", (unsigned char)text.p[i]);
    json_put_member(w, STR("wire"), strbuf_str(&hex));
}

static void put_one(struct json_writer *w, struct str text, const struct wrapped_quantity *q,
                    bool wrap) {
    CLEANUP(strbuf_done) struct strbuf canonical = {0};
    if (q->exact.as_typed)
        strbuf_append_str(&canonical, text);
    else
        append_text(q, wrap, &canonical);
    json_put_member(w, STR("canonical"), strbuf_str(&canonical));
    json_key(w, STR("value"));
    json_put_integer(w, wrap ? wrapped_quantity_value(q, 0) : quantity_value(&q->exact));
    json_key(w, STR("milli"));
    json_put_integer(w, wrap ? wrapped_quantity_value(q, -3) : quantity_milli_value(&q->exact));
    put_format(w, STR("format"), q->exact.format);
    put_wire(w, strbuf_str(&canonical));
}

int line_quantity(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct quantity_question q = {.wrap = false};
    struct wrapped_quantity parsed[2];
    question_decode(r, &q);
    int e = json_finish(r, err);
    if (e == 0)
        e = question_check(&q, err);
    if (e != 0)
        return e;
    const bool one = q.text.p != NULL;
    const struct str texts[] = {one ? q.text : q.a, q.b};
    for (size_t i = 0; i < (one ? 1 : 2); i++)
        if (wrapped_quantity_parse(texts[i], &parsed[i], err) != 0) {
            json_key(w, STR("error"));
            json_put_text(w, str_of(err->text));
            return 0;
        }
    if (one)
        put_one(w, q.text, &parsed[0], q.wrap);
    else
        put_pair(w, parsed, q.wrap);
    return 0;
}

/* The step `wire` decodes a message of Karmada's estimator from hex, and writes it as JSON and in
 * the encoding of a given version of Karmada. */
#include "estimator/wire.h"

#include "base/limits.h"
#include "lines/hex.h"
#include "lines/steps.h"

#include <errno.h>

struct wire_question {
    const struct wire_kind *kind;
    struct str bytes; /* .p NULL: absent */
    enum wire_epoch epoch;
};

static const struct wire_kind *kind_decode(struct json_reader *r) {
    const char *near;
    const struct str name = json_string(r);
    const struct wire_kind *kind = wire_kind_find(name, &near);
    if (kind == NULL && near != NULL)
        json_fail(r, "there is no message '%.*s'; did you mean '%s'?", STR_ARG(name), near);
    else if (kind == NULL)
        json_fail(r, "there is no message '%.*s'", STR_ARG(name));
    return kind;
}

/* Returns the minor number of "v1.18.0", "v1.18" or "1.18"; -1 if the text is not of this form. */
static int64_t minor_version(struct str version) {
    int64_t minor;
    if (str_has_prefix(version, STR("v")))
        version = (struct str){version.p + 1, version.n - 1};
    if (!str_has_prefix(version, STR("1.")))
        return -1;
    version = (struct str){version.p + 2, version.n - 2};
    const size_t point = str_find(version, '.');
    if (point != SIZE_MAX)
        version.n = point;
    const bool digit = version.n > 0 && version.p[0] >= '0' && version.p[0] <= '9';
    return digit && str_to_i64(version, &minor) ? minor : -1;
}

/* Reads a version of Karmada, or the name of a commit whose messages were recorded. */
static enum wire_epoch epoch_decode(struct json_reader *r) {
    const struct str version = json_string(r);
    const int64_t minor = str_eq(version, STR("f8fdd02")) ? 19 : minor_version(version);
    if (minor < 0)
        json_fail(r, "'%.*s' is no version of Karmada, such as v1.18.0", STR_ARG(version));
    return minor < 18 ? WIRE_MESSAGES : minor == 18 ? WIRE_BOTH : WIRE_BYTES;
}

static void question_decode(struct json_reader *r, struct wire_question *q) {
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("message")))
                q->kind = kind_decode(r);
            else if (str_eq(key, STR("hex")))
                q->bytes = hex_decode(r);
            else if (str_eq(key, STR("epoch")))
                q->epoch = epoch_decode(r);
        }
}

int line_wire(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct wire_question q = {.epoch = WIRE_BOTH};
    CLEANUP(strbuf_done) struct strbuf json = {.max = LIMIT_LINE_ARENA};
    CLEANUP(strbuf_done) struct strbuf bytes = {.max = LIMIT_LINE_ARENA}, hex = {0};
    question_decode(r, &q);
    int e = json_finish(r, err);
    if (e == 0 && (q.kind == NULL || q.bytes.p == NULL))
        return err_set(err, -EINVAL, "question: message and hex are required");
    if (e == 0 && wire_rewrite(q.kind, q.bytes, q.epoch, r->arena, &json, &bytes, err) != 0)
        return err_wrap(err, "question.hex");
    if (e != 0)
        return e;
    hex_append(strbuf_str(&bytes), &hex);
    json_key(w, STR("json"));
    json_put_raw(w, strbuf_str(&json));
    json_put_member(w, STR("hex"), strbuf_str(&hex));
    return 0;
}

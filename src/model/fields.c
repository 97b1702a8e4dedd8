#include "model/fields.h"

#include <errno.h>

struct quantity amount_decode(struct json_reader *r, struct str *ret_text) {
    const bool failed = json_failed(r);
    const enum json_kind kind = json_peek(r);
    const struct quantity amount = quantity_decode(r, ret_text);
    if (!failed && json_failed(r) && (kind == JSON_STRING || kind == JSON_NUMBER))
        r->error.code = -EDOM;
    return amount;
}

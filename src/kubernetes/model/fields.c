#include "model/fields.h"

#include "model/object.h"
#include "model/selector.h"
#include "model/taint.h"

#include <errno.h>

void meta_read(struct json_reader *r, void *into) {
    meta_decode(r, into);
}

void labels_read(struct json_reader *r, void *into) {
    *(struct labels *)into = labels_decode(r);
}

void label_selector_read(struct json_reader *r, void *into) {
    *(struct label_selector *)into = label_selector_decode(r);
}

void tolerations_read(struct json_reader *r, void *into) {
    *(struct tolerations *)into = tolerations_decode(r);
}

struct quantity amount_decode(struct json_reader *r, struct str *ret_text) {
    const bool failed = json_failed(r);
    const enum json_kind kind = json_peek(r);
    const struct quantity amount = quantity_decode(r, ret_text);
    if (!failed && json_failed(r) && (kind == JSON_STRING || kind == JSON_NUMBER))
        r->error.code = -EDOM;
    return amount;
}

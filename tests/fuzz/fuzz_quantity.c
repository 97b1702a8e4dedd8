/*
 * Any text: what parses must print as a text that parses to the same value, and keep to the order
 * and limits its header promises.
 */
#include "model/quantity.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct quantity q, again;
    struct str text = {(const char *)data, size};
    struct err err = {0};
    if (quantity_parse(text, &q, &err) != 0) {
        assert(err.code != 0 && err.text[0] != '\0');
        return 0;
    }
    assert(q.nano <= QUANTITY_MAX_NANO && q.nano >= -QUANTITY_MAX_NANO);
    int64_t value = quantity_value(&q), milli = quantity_milli_value(&q);
    assert((value > 0) == (q.nano > 0) && (value < 0) == (q.nano < 0));
    assert(q.nano > 0 ? milli >= value : milli <= value);
    struct strbuf out = {.max = 100};
    quantity_format(&q, &out);
    assert(!strbuf_failed(&out));
    int r = quantity_parse(strbuf_str(&out), &again, &err);
    assert(r == 0);
    assert(again.nano == q.nano);
    strbuf_done(&out);
    return 0;
}

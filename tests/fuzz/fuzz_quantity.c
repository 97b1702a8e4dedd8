/*
 * Any text: what parses must print as a text that parses to the same value, and keep to the order
 * and limits its header promises.
 */
#include "fuzz/fuzz.h"
#include "model/quantity.h"

static int try_input(const uint8_t *bytes, size_t n) {
    struct quantity q, again;
    struct str text = {(const char *)bytes, n};
    struct err err = {0};
    if (quantity_parse(text, &q, &err) != 0) {
        require(err.code != 0 && err.text[0] != '\0');
        return 0;
    }
    require(q.nano <= QUANTITY_MAX_NANO && q.nano >= -QUANTITY_MAX_NANO);
    int64_t value = quantity_value(&q), milli = quantity_milli_value(&q);
    require((value > 0) == (q.nano > 0) && (value < 0) == (q.nano < 0));
    require(q.nano > 0 ? milli >= value : milli <= value);
    struct strbuf out = {.max = 100};
    quantity_format(&q, &out);
    require(!strbuf_failed(&out));
    int r = quantity_parse(strbuf_str(&out), &again, &err);
    require(r == 0);
    require(again.nano == q.nano);
    strbuf_done(&out);
    return 0;
}

#include "grpc/metadata.h"

bool grpc_timeout_parse(struct str text, int64_t *ret_ms) {
    enum { MOST_DIGITS = 8 };
    static const struct {
        char unit;
        int64_t ms, per_ms; /* one of the two is 1 */
    } units[] = {
        {'H', 3600000, 1}, {'M', 60000, 1}, {'S', 1000, 1},
        {'m', 1, 1},       {'u', 1, 1000},  {'n', 1, 1000000},
    };
    int64_t value = 0;
    if (text.n < 2 || text.n > MOST_DIGITS + 1)
        return false;
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        value = value * 10 + (text.p[i] - '0');
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (text.p[text.n - 1] == units[i].unit) {
            *ret_ms = (value * units[i].ms + units[i].per_ms - 1) / units[i].per_ms;
            return true;
        }
    return false;
}

void grpc_timeout_write(int64_t ms, struct strbuf *out) {
    const int64_t least = 1, most = 99999999;
    strbuf_appendf(out, "%lldm", (long long)(ms < least ? least : ms > most ? most : ms));
}

bool grpc_content_type(struct str type) {
    const struct str grpc = STR("application/grpc");
    if (type.n < grpc.n || !str_eq_nocase((struct str){type.p, grpc.n}, grpc))
        return false;
    return type.n == grpc.n || type.p[grpc.n] == '+' || type.p[grpc.n] == ';';
}

void grpc_message_encode(struct str text, struct strbuf *out) {
    for (size_t i = 0; i < text.n; i++) {
        const unsigned char c = (unsigned char)text.p[i];
        if (c >= ' ' && c <= '~' && c != '%')
            strbuf_append_char(out, (char)c);
        else
            strbuf_appendf(out, "%%%02X", c);
    }
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

void grpc_message_decode(struct str message, struct strbuf *out) {
    for (size_t i = 0; i < message.n; i++) {
        unsigned char c = (unsigned char)message.p[i];
        if (c == '%' && message.n - i > 2 && hex_digit(message.p[i + 1]) >= 0 &&
            hex_digit(message.p[i + 2]) >= 0) {
            c = (unsigned char)(hex_digit(message.p[i + 1]) * 16 + hex_digit(message.p[i + 2]));
            i += 2;
        }
        strbuf_append_char(out, (char)(c < ' ' || c == 0x7f ? ' ' : c));
    }
}

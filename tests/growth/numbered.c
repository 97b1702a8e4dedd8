#include "growth/numbered.h"

void append_numbered(struct strbuf *out, const char *text, uint32_t i, uint32_t n) {
    for (const char *p = text; *p != '\0'; p++) {
        if (p[0] == '%' && (p[1] == 'u' || p[1] == 'X')) {
            strbuf_appendf(out, "%06u", p[1] == 'u' ? i : n - 1 - i);
            p++;
        } else {
            strbuf_append_char(out, *p == '\'' ? '"' : *p);
        }
    }
}

#include "explain/subject.h"

#include "base/hash.h"
#include "model/names.h"

struct subject subject_pod(struct str namespace, struct str name) {
    return (struct subject){STR(""), STR(POD_KIND), namespace, name};
}

bool subject_eq(const struct subject *a, const struct subject *b) {
    return str_eq(a->name, b->name) && str_eq(a->namespace, b->namespace) &&
           str_eq(a->kind, b->kind) && str_eq(a->group, b->group);
}

uint64_t subject_hash(const struct subject *s) {
    uint64_t type = hash_mix(hash_mix(0, hash_str(s->group)), hash_str(s->kind));
    return hash_mix(hash_mix(type, hash_str(s->namespace)), hash_str(s->name));
}

size_t subject_bytes(const struct subject *s) {
    return s->group.n + s->kind.n + s->namespace.n + s->name.n;
}

void subject_print(const struct subject *s, struct strbuf *out) {
    for (size_t i = 0; i < s->kind.n; i++) {
        char c = s->kind.p[i];
        strbuf_append_char(out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
    strbuf_appendf(out, "%s%.*s %.*s%s%.*s", s->group.n > 0 ? "." : "", STR_ARG(s->group),
                   STR_ARG(s->namespace), s->namespace.n > 0 ? "/" : "", STR_ARG(s->name));
}

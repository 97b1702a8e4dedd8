#include "explain/subject.h"

#include "base/hash.h"

struct subject subject_pod(struct str namespace, struct str name) {
    return (struct subject){STR(""), STR("Pod"), namespace, name};
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

#include "explain/recording.h"

#include "base/clock.h"
#include "kube/time.h"

struct moment moment_now(void) {
    return (struct moment){kube_wall_us(), clock_now_ns()};
}

int64_t moment_took_us(const struct moment *m) {
    return (clock_now_ns() - m->began_ns) / 1000;
}

/* Two hashes as one: joining the strings would need room for them. */
struct hash128 recording_key(struct str namespace, struct str name) {
    struct hash128 a = hash_bytes128(namespace.p, namespace.n);
    struct hash128 b = hash_bytes128(name.p, name.n);
    return (struct hash128){hash_mix(a.a, b.a), hash_mix(a.b, b.b)};
}

bool recording_begin(struct recording *rec, struct ring *ring, const struct decision_about *about) {
    if (ring == NULL)
        return false;
    const struct object_meta *pod = about->pod;
    rec->ring = ring;
    rec->key = recording_key(pod->namespace, pod->name.n > 0 ? pod->name : about->generate_name);
    rec->out = (struct strbuf){.p = rec->bytes, .cap = sizeof rec->bytes, .max = sizeof rec->bytes};
    decision_begin(&rec->decision, &rec->out, about, LIMIT_DECISION_NODES);
    return true;
}

void recording_end(struct recording *rec) {
    decision_end(&rec->decision);
    (void)ring_add(rec->ring, rec->key, strbuf_str(&rec->out)); /* its number is the reader's */
}

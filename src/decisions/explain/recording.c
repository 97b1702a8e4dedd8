#include "explain/recording.h"

#include "base/clock.h"
#include "base/time.h"

struct moment moment_now(void) {
    return (struct moment){kube_wall_us(), clock_now_ns()};
}

int64_t moment_took_us(const struct moment *m) {
    return (clock_now_ns() - m->began_ns) / 1000;
}

bool recording_begin(struct recording *rec, struct ring *ring, const struct decision_about *about) {
    if (ring == NULL)
        return false;
    rec->ring = ring;
    rec->subject = about->subject;
    rec->dry_run = about->dry_run;
    if (str_empty(rec->subject.name))
        rec->subject.name = about->generate_name;
    size_t room = ring_room(&rec->subject);
    rec->out = (struct strbuf){.p = rec->bytes, .cap = room, .max = room};
    decision_begin(&rec->decision, &rec->out, about, LIMIT_DECISION_NODES);
    return true;
}

void recording_end(struct recording *rec) {
    decision_end(&rec->decision);
    (void)ring_add(rec->ring, &rec->subject, rec->dry_run,
                   strbuf_str(&rec->out)); /* only readers use its number */
}

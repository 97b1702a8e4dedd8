#include "explain/decision.h"

#include "base/time.h"

/* ---- items that do not fit are taken back ---- */

struct decision_mark decision_mark(const struct decision *d) {
    return (struct decision_mark){d->w.out->n, d->w.comma};
}

bool decision_keep(struct decision *d, struct decision_mark before) {
    struct strbuf *out = d->w.out;
    size_t max = out->max != 0 ? out->max : SIZE_MAX / 2;
    if (!out->failed && out->n <= max - DECISION_ROOM)
        return true;
    if (out->no_memory && out->cap < max)
        return false; /* without memory the whole text has failed */
    out->n = before.n;
    out->failed = out->no_memory = false;
    d->w.comma = before.comma;
    d->cut = true;
    return false;
}

struct str decision_first_bytes(struct str s, size_t max) {
    if (s.n <= max)
        return s;
    while (max > 0 && ((unsigned char)s.p[max] & 0xc0) == 0x80)
        max--;
    return (struct str){s.p, max};
}

void decision_put_string(struct decision *d, struct str key, struct str s) {
    struct decision_mark before = decision_mark(d);
    if (s.n == 0)
        return;
    json_put_member(&d->w, key, s);
    (void)decision_keep(d, before); /* if there is no room, the member is left out */
}

void decision_put_number(struct decision *d, struct str key, int64_t number) {
    struct decision_mark before = decision_mark(d);
    json_key(&d->w, key);
    json_put_integer(&d->w, number);
    (void)decision_keep(d, before); /* if there is no room, the member is left out */
}

bool decision_begin_list(struct decision *d, struct str key) {
    struct decision_mark before = decision_mark(d);
    json_key(&d->w, key);
    json_begin_array(&d->w);
    return decision_keep(d, before);
}

/* ---- the frame ---- */

/* Writes "dataAges": milliseconds, for the kinds that were used. */
static void put_ages(struct decision *d, const struct decision_ages *ages) {
    struct decision_mark before = decision_mark(d);
    const struct {
        struct str key;
        int64_t ms;
    } kinds[] = {{STR("nodes"), ages->nodes_ms},
                 {STR("pods"), ages->pods_ms},
                 {STR("workloads"), ages->workloads_ms}};
    json_key(&d->w, STR("dataAges"));
    json_begin_object(&d->w);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].ms >= 0) {
            json_key(&d->w, kinds[i].key);
            json_put_integer(&d->w, kinds[i].ms);
        }
    json_end_object(&d->w);
    (void)decision_keep(d, before); /* if there is no room, the member is left out */
}

/* Writes the sentence as text, because it may have been cut inside a character. */
static void put_message(struct decision *d, struct str text) {
    struct decision_mark before = decision_mark(d);
    if (text.n == 0)
        return;
    json_key(&d->w, STR("message"));
    json_put_text(&d->w, text);
    (void)decision_keep(d, before); /* if there is no room, the member is left out */
}

void decision_begin(struct decision *d, struct strbuf *out, const struct decision_about *about,
                    uint32_t nodes) {
    char time[KUBE_TIME_SIZE];
    *d = (struct decision){.w.out = out, .nodes = nodes};
    kube_time_text(about->at_us, time);
    decision_put_string(d, STR("verb"), str_of(about->verb));
    decision_put_string(d, STR("result"), str_of(about->result));
    decision_put_string(d, STR("time"), str_of(time));
    decision_put_number(d, STR("tookMicroseconds"), about->took_us);
    decision_put_number(d, STR("dataAgeMilliseconds"), about->data_age_ms);
    if (about->ages != NULL)
        put_ages(d, about->ages);
    decision_put_string(d, STR("group"), about->subject.group);
    decision_put_string(d, STR("kind"), about->subject.kind);
    decision_put_string(d, STR("namespace"), about->subject.namespace);
    decision_put_string(d, STR("name"), about->subject.name);
    decision_put_string(d, STR("generateName"), about->generate_name);
    decision_put_string(d, STR("uid"), about->uid);
    put_message(d, decision_first_bytes(about->message, DECISION_MESSAGE_SHOWN));
}

void decision_end(struct decision *d) {
    if (!d->cut)
        return;
    json_key(&d->w, STR("cut"));
    json_put_bool(&d->w, true);
}

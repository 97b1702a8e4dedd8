#include "kube/client/readings.h"

#include "base/hash.h"
#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>

int64_t kube_readings_now_ms(const struct kube_readings *s) {
    struct clock *clock = s->clock != NULL ? s->clock : clock_real();
    return clock->now_ms(clock);
}

/* ---- items ---- */

static struct str item_name(const void *items, size_t i) {
    return str_of(((struct kube_reading *const *)items)[i]->name);
}

static void free_item(struct kube_reading *r) {
    if (r->owner->release != NULL)
        r->owner->release(r);
    kube_fetch_end(&r->fetch);
    free(r->name);
    free(r);
}

static struct kube_reading *add_item(struct kube_readings *s, size_t at, struct str name) {
    struct kube_reading *r = calloc(1, s->item_size);
    char *copy = r != NULL ? str_dup(name) : NULL;
    if (copy == NULL || !sorted_insert(&s->items, &s->count, &s->cap, sizeof r, at, &r)) {
        free(copy);
        free(r);
        return NULL;
    }
    r->owner = s;
    r->name = copy;
    kube_fetch_init(&r->fetch, s->client, s->max_body);
    return r;
}

void kube_readings_begin(struct kube_readings *s) {
    for (uint32_t i = 0; i < s->count; i++)
        s->items[i]->is_there = s->items[i]->stays;
}

struct kube_reading *kube_readings_take(struct kube_readings *s, struct str name) {
    bool found;
    const size_t at = sorted_place(s->items, s->count, item_name, name, &found);
    struct kube_reading *r = found ? s->items[at] : add_item(s, at, name);
    if (r != NULL)
        r->is_there = true;
    return r;
}

void kube_readings_end(struct kube_readings *s) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        struct kube_reading *r = s->items[i];
        if (!r->is_there || r->is_outdated)
            kube_reading_cancel(r);
        if (r->is_there) {
            s->items[kept++] = r;
            continue;
        }
        s->gone(r);
        free_item(r);
    }
    s->count = kept;
}

void kube_readings_stop(struct kube_readings *s) {
    for (uint32_t i = 0; i < s->count; i++)
        kube_reading_cancel(s->items[i]);
}

void kube_readings_done(struct kube_readings *s) {
    for (uint32_t i = 0; i < s->count; i++)
        free_item(s->items[i]);
    free(s->items);
    s->items = NULL;
    s->count = s->cap = 0;
}

/* ---- requests ---- */

void kube_reading_renew(struct kube_reading *r) {
    r->again_ms = 0;
    r->is_asked = false;
    r->is_outdated = r->fetch.under_way;
}

bool kube_reading_may_start(const struct kube_reading *r) {
    return !r->fetch.under_way && r->owner->under_way < r->owner->at_once;
}

void kube_reading_start(struct kube_reading *r, struct str path) {
    if (kube_fetch_start(&r->fetch, path, r->owner->timeout_ms) == 0)
        r->owner->under_way++;
}

void kube_reading_cancel(struct kube_reading *r) {
    r->owner->under_way -= r->fetch.under_way;
    r->is_outdated = false;
    kube_fetch_cancel(&r->fetch);
}

void kube_reading_again(struct kube_reading *r, bool troubled) {
    const int64_t jitter_ms = (int64_t)(hash_str(str_of(r->name)) % 30000);
    r->again_ms = kube_readings_now_ms(r->owner) +
                  (troubled ? KUBE_READINGS_TROUBLED_MS : KUBE_READINGS_AGAIN_MS + jitter_ms);
}

bool kube_reading_ended(struct kube_reading *r, int *ret, struct err *err) {
    const struct kube_fetch *f = &r->fetch;
    if (!kube_fetch_ended(&r->fetch))
        return false;
    const bool answered = f->error == 0 && (f->status == 200 || f->status == 404);
    r->owner->under_way--;
    r->is_asked = true;
    r->read_ms = kube_readings_now_ms(r->owner);
    kube_reading_again(r, !answered);
    *ret = answered ? 0
                    : err_set(err, -EIO, "%s cannot be read: status %d, error %d", r->owner->what,
                              f->status, -f->error);
    return true;
}

bool kube_reading_is_news(struct kube_reading *r, uint64_t hash) {
    const bool is_news = r->said != (hash | 1);
    r->said = hash | 1;
    return is_news;
}

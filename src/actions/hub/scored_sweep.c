#include "hub/scored_sweep.h"

#include "hub/owned_internal.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SWEEP_MS = 600000, /* the time between two sweeps if nothing triggers a sweep earlier */
    TRIES = 3,         /* tries to write an object; after them the next object has its turn */
};

void score_sweep_done(struct score_sweep *s) {
    strbuf_done(&s->objects);
    free(s->keys);
    *s = (struct score_sweep){.again = false};
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Is it an item of ours with an unused key? */
static bool is_dead(const void *ctx, struct str resource, struct str item) {
    const struct score_sweep *s = ctx;
    struct injected_key key;
    if (!injected_key_read(resource, item, &key))
        return false;
    const uint64_t number = injected_key_number(key);
    return s->key_count == 0 ||
           bsearch(&number, s->keys, s->key_count, sizeof number, compare_keys) == NULL;
}

struct finding {
    struct score_sweep *sweep;
    const struct fleet_view *view;
};

static bool has_dead(const struct score_sweep *s, const struct fleet_view *v,
                     const struct fleet_score_object *o) {
    for (uint32_t i = 0; i < o->item_count; i++)
        if (is_dead(s, o->resource, fleet_score_item(v, o, i).name))
            return true;
    return false;
}

static void find(void *ctx, const struct fleet_score_object *o) {
    const struct finding *f = ctx;
    struct strbuf *out = &f->sweep->objects;
    if (!has_dead(f->sweep, f->view, o))
        return;
    strbuf_append_str(out, o->cluster);
    strbuf_append_char(out, '/');
    owned_put_name(out, o->resource);
}

void score_sweep_use(struct score_sweep *s, uint64_t *keys, uint32_t count) {
    free(s->keys);
    s->keys = keys;
    s->key_count = count;
    if (count > 1)
        qsort(keys, count, sizeof *keys, compare_keys);
}

void score_sweep_begin(struct score_sweep *s, const struct fleet_view *view) {
    struct finding f = {s, view};
    strbuf_clear(&s->objects);
    s->at = s->tries = 0;
    s->again = false;
    fleet_score_objects_each(view, find, &f);
    if (strbuf_failed(&s->objects))
        strbuf_done(&s->objects); /* the next sweep finds them */
}

int score_sweep_look(struct score_sweep *s, struct owned *o, const struct owned_question *q,
                     struct arena *arena, struct owned_answer *ret, struct err *err) {
    struct placement_round x = {.o = o, .q = q, .arena = arena, .ret = ret, .err = err};
    const struct str names = strbuf_str(&s->objects);
    *ret = (struct owned_answer){.mode = OWNED_OTHERS, .wake_ms = INT64_MAX};
    owned_look_for_last(&x);
    ret->write_is_out = o->progress != OWNED_IDLE;
    if (x.is.doubt != DOUBT_NONE || q->settings->without_scores)
        return 0; /* there is no permission to write scores, either */
    while (s->at < names.n) {
        const struct str object = str_of(names.p + s->at);
        const size_t slash = str_find(object, '/');
        const struct str cluster = {object.p, slash},
                         resource = {object.p + slash + 1, object.n - slash - 1};
        struct fleet_score_object found;
        if (fleet_score_object(q->view, cluster, resource, &found) &&
            has_dead(s, q->view, &found) && s->tries < TRIES) {
            const struct score_removal removal = {.goes = is_dead, .ctx = s};
            s->tries++;
            return scored_write_removal(&x, &found, &removal);
        }
        s->at += object.n + 1;
        s->tries = 0;
    }
    owned_wake_in(&x, s->again ? 0 : SWEEP_MS);
    return 0;
}

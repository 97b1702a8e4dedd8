/*
 * The store, and its views.
 */
#include "fleet/fleet.h"

#include "base/limits.h"
#include "fleet/internal.h"

#include <errno.h>
#include <stdlib.h>

struct fleet {
    struct informer *informer; /* owned */
};

/* ---- life ---- */

int fleet_new(struct fleet **ret, struct err *err) {
    struct fleet *f = calloc(1, sizeof *f);
    if (f == NULL)
        return err_set(err, -ENOMEM, "no memory for a fleet");
    int r = informer_new(&fleet_store, NULL, &f->informer, err);
    if (r == 0)
        *ret = f;
    else
        free(f);
    return r;
}

void fleet_free(struct fleet *f) {
    if (f == NULL)
        return;
    informer_free(f->informer);
    free(f);
}

struct informer *fleet_informer(const struct fleet *f) {
    return f->informer;
}

void fleet_observe(struct fleet *f, const struct fleet_observer *observer) {
    struct fleet_contents *c = informer_write(f->informer);
    c->observer = observer;
    informer_write_done(f->informer);
}

struct fleet_stats fleet_stats(struct fleet *f) {
    struct fleet_stats stats = contents_stats(informer_read(f->informer));
    informer_read_done(f->informer);
    return stats;
}

/* ---- views ---- */

void fleet_view_open(struct fleet *f, struct fleet_view *ret) {
    const struct fleet_contents *c = informer_read(f->informer);
    while (contents_unsorted(c)) {
        informer_read_done(f->informer);
        contents_sort(informer_write(f->informer));
        informer_write_done(f->informer);
        c = informer_read(f->informer);
    }
    *ret = (struct fleet_view){.fleet = f, .contents = c};
    topology_view_open(c->clusters, &ret->clusters);
}

/* Keeps the columns that the view built, if the store still has the same contents. */
static void publish(struct fleet_view *v, uint64_t serial) {
    struct informer *informer = v->fleet->informer;
    const struct fleet_contents *now = informer_write(informer);
    for (uint32_t left = LIMIT_PUBLISHED; now->serial == serial && left > 0; left--)
        if (!topology_publish(&v->clusters))
            break;
    informer_write_done(informer);
}

void fleet_view_close(struct fleet_view *v) {
    const uint64_t serial = v->contents->serial;
    const bool built = v->clusters.built > 0;
    informer_read_done(v->fleet->informer);
    if (built)
        publish(v, serial);
    topology_view_close(&v->clusters);
    *v = (struct fleet_view){.contents = NULL};
}

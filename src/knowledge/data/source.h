/*
 * What Fluid's plugins go by: its objects, those of state files or those of an API server, and a
 * plugin profile from a file. Like the policies a set that is replaced as a whole: who works with
 * one holds it, and it lives until the last holder is done. An API server's objects are replaced
 * one by one, but stand still while they are held.
 *
 * Threads: fluid_hold() and fluid_release() from any, both from the same; the rest from one.
 */
#pragma once

#include "base/err.h"
#include "data/fluid/mutate.h"
#include "data/live.h"

#include <stddef.h>

/* What is known of where data is, and how Fluid's plugins are to go about it. */
struct pod_data {
    const struct fluid_store *store;
    struct fluid_options options;
};

struct fluid_set;
struct fluid_source;
struct file_follower;

struct fluid_source_options {
    struct fluid_live *live; /* an API server's objects; NULL: those of state files */
    const char *profile;     /* file; NULL: what Fluid's chart sets */
    enum fluid_compat compat;
    bool scale_in; /* in FLUID_CORRECT; upstream has no such plugin */
};

/* Everything in `options` is borrowed for the life of the source. 0 or -ENOMEM. */
int fluid_source_new(const struct fluid_source_options *options, struct fluid_source **ret,
                     struct err *err) MUST_CHECK;
/* With live objects: reads the profile anew. 0, or -errno with a sentence that names the file: then
 * the set stays what it was. */
int fluid_source_load(struct fluid_source *s, struct err *err) MUST_CHECK;
/*
 * Otherwise: what takes the objects out of state files, which the source of the cache lists, reads
 * and looks at for changes (state/file_source.h). Objects of other kinds are passed over; of those
 * that have one kind, namespace and name the last one counts. The profile is read with them, and
 * what was read is logged. Borrowed for the life of this source.
 */
struct file_follower *fluid_source_follower(struct fluid_source *s);
/* Does the profile's file look different from when it was last read, or asked about here, or has it
 * come or gone? */
bool fluid_source_changed(struct fluid_source *s);
/* NULL is fine. Sets that are held stay. */
void fluid_source_free(struct fluid_source *s);

/* Owned until released, and meanwhile by this thread only. NULL before the first load, and for a
 * source that is NULL. Not twice in one thread. */
struct fluid_set *fluid_hold(struct fluid_source *s);
/* NULL is fine. */
void fluid_release(struct fluid_set *held);
/* Valid while held; NULL of NULL. */
const struct pod_data *fluid_set_data(const struct fluid_set *held);

/*
 * The data for Fluid's plugins: its objects from state files or from an API server, and a plugin
 * profile from a file. Like the policies, it is a set that is replaced as a whole: a user holds the
 * set, and the set lives until the last holder releases it. An API server's objects change one by
 * one, but not while they are held.
 *
 * Threads: any thread may call fluid_hold(), and must itself call fluid_release(); one thread calls
 * the other functions.
 */
#pragma once

#include "base/err.h"
#include "data/fluid/mutate.h"
#include "data/live.h"

#include <stddef.h>

/* The objects of Fluid, and the options of its plugins. */
struct pod_data {
    const struct fluid_store *store;
    struct fluid_options options;
};

struct fluid_set;
struct fluid_source;
struct file_follower;

struct fluid_source_options {
    struct fluid_live *live; /* an API server's objects; NULL: use objects of state files */
    const char *profile;     /* path of the profile's file; NULL: the profile of Fluid's chart */
    enum fluid_compat compat;
    bool scale_in; /* run ScaleInExclusion in FLUID_CORRECT; upstream has no such plugin */
};

/* Everything in `options` is borrowed for the life of the source. Returns 0 or -ENOMEM. */
int fluid_source_new(const struct fluid_source_options *options, struct fluid_source **ret,
                     struct err *err) MUST_CHECK;
/* With live objects: reads the profile again. Returns 0, or -errno with a sentence that names the
 * file; then the old set stays. */
int fluid_source_load(struct fluid_source *s, struct err *err) MUST_CHECK;
/*
 * Without live objects: returns the follower that takes the objects out of state files. The source
 * of the cache lists and reads these files, and checks them for changes (state/file_source.h).
 * Objects of other kinds are skipped; of several objects with one kind, namespace and name the last
 * counts. The profile is read with the objects, and the number of objects is logged. Borrowed for
 * the life of this source.
 */
struct file_follower *fluid_source_follower(struct fluid_source *s);
/* Has the profile's file changed, appeared or gone since the last read or check? */
bool fluid_source_changed(struct fluid_source *s);
/* Takes NULL. Sets that are held stay. */
void fluid_source_free(struct fluid_source *s);

/* Returns the present set. This thread must release it, and may not hold it twice. NULL before the
 * first load, and for a source that is NULL. */
struct fluid_set *fluid_hold(struct fluid_source *s);
/* Takes NULL. */
void fluid_release(struct fluid_set *held);
/* Returns the set's data, valid while it is held; NULL for NULL. */
const struct pod_data *fluid_set_data(const struct fluid_set *held);

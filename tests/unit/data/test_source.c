/* Fluid's objects and profile from files: read, read again, refused. */
#include "data/source.h"

#include "base/file.h"
#include "state/file_source.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

struct fixture {
    char folder[64], profile[96];
    const char *paths[1];
    struct file_source *files;
    struct fluid_source *source; /* which follows them */
};

static const char *path_of(const struct fixture *f, const char *name) {
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", f->folder, name); /* fits */
    return path;
}

static void write_file(const struct fixture *f, const char *name, const char *text) {
    assert_int_equal(file_write_atomic(path_of(f, name), str_of(text), 0600, NULL), 0);
}

static void open_source(struct fixture *f, enum fluid_compat compat) {
    const struct fluid_source_options options = {
        .profile = f->profile, .compat = compat, .scale_in = true};
    file_source_free(f->files);
    fluid_source_free(f->source);
    assert_int_equal(file_source_new(f->paths, 1, NULL, &f->files, NULL), 0);
    assert_int_equal(fluid_source_new(&options, &f->source, NULL), 0);
    file_source_follow(f->files, fluid_source_follower(f->source));
}

#define PROFILE(chain)                                                                             \
    "plugins:\n  serverful: {withDataset: [], withoutDataset: [" chain "]}\n"                      \
    "  serverless: {withDataset: [], withoutDataset: []}\n"

#define DATASET(name)                                                                              \
    "---\n{apiVersion: data.fluid.io/v1alpha1, kind: Dataset, metadata: {name: " name "}}\n"

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.folder = "/tmp/evenkeel-fluid-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    f.paths[0] = f.folder;
    (void)snprintf(f.profile, sizeof f.profile, "%s/profile", f.folder); /* fits */
    write_file(&f, "profile", PROFILE("PreferNodesWithoutCache"));
    write_file(&f, "a.yaml", DATASET("one"));
    open_source(&f, FLUID_CORRECT);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    file_source_free(f->files);
    fluid_source_free(f->source);
    (void)unlink(path_of(f, "a.yaml"));
    (void)unlink(path_of(f, "b.json")); /* not every test has this */
    (void)unlink(path_of(f, "profile"));
    return rmdir(f->folder);
}

static void load(struct fixture *f) {
    struct file_source_result result;
    struct err err;
    if (file_source_load(f->files, &result, &err) != 0)
        fail_msg("%s", err.text);
    assert_false(fluid_source_changed(f->source));
}

static size_t objects(struct fixture *f) {
    struct fluid_set *held = fluid_hold(f->source);
    size_t count = fluid_store_count(fluid_set_data(held)->store);
    fluid_release(held);
    return count;
}

static bool knows(struct fixture *f, enum fluid_kind kind, const char *name) {
    struct fluid_set *held = fluid_hold(f->source);
    bool has = fluid_store_get(fluid_set_data(held)->store,
                               (struct fluid_key){kind, "default", name}) != NULL;
    fluid_release(held);
    return has;
}

static void objects_of_any_shape(void **state) {
    struct fixture *f = *state;
    assert_null(fluid_hold(f->source));
    assert_null(fluid_set_data(NULL));
    write_file(f, "a.yaml",
               "---\n{apiVersion: v1, kind: Node, metadata: {name: node}}\n---\n"
               "{apiVersion: data.fluid.io/v1alpha1, kind: Dataset, metadata: {name: one}}\n---\n"
               "{apiVersion: example.org/v1, kind: Dataset, metadata: {name: foreign}}\n---\n"
               "kind: List\nitems:\n"
               "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: claim}}\n"
               "- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: worker}}\n"
               "- {apiVersion: v1, kind: Pod, metadata: {name: p}}\n");
    write_file(f, "b.json",
               "{\"items\":[{\"metadata\":{\"name\":\"two\"}},{\"metadata\":{\"name\":\"three\"}}],"
               "\"kind\":\"AlluxioRuntimeList\",\"apiVersion\":\"data.fluid.io/v1alpha1\"}");
    load(f);
    assert_int_equal(objects(f), 5);
    assert_true(knows(f, FLUID_DATASET, "one"));
    assert_true(knows(f, FLUID_CLAIM, "claim"));
    assert_true(knows(f, FLUID_STATEFUL_SET, "worker"));
    assert_true(knows(f, FLUID_ALLUXIO, "two"));
    assert_true(knows(f, FLUID_ALLUXIO, "three"));
}

static void a_set_lives_until_its_last_holder(void **state) {
    struct fixture *f = *state;
    write_file(f, "a.yaml", DATASET("old"));
    load(f);
    struct fluid_set *held = fluid_hold(f->source);
    write_file(f, "a.yaml", DATASET("new") DATASET("newer"));
    load(f);
    assert_int_equal(objects(f), 2);
    assert_int_equal(fluid_store_count(fluid_set_data(held)->store), 1);
    fluid_release(held);
    write_file(f, "profile", PROFILE(""));
    assert_true(fluid_source_changed(f->source));
    load(f);
}

static void refused(struct fixture *f, const char *pattern) {
    struct file_source_result result;
    struct err err = {0};
    assert_true(file_source_load(f->files, &result, &err) < 0);
    if (strstr(err.text, pattern) == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(objects(f), 1); /* as before */
}

static void what_is_bad_changes_nothing(void **state) {
    struct fixture *f = *state;
    write_file(f, "a.yaml", DATASET("ds"));
    load(f);
    write_file(f, "a.yaml",
               "---\n{apiVersion: data.fluid.io/v1alpha1, kind: Dataset, metadata: {}}\n");
    refused(f, "a.yaml': cannot keep object of kind 'Dataset': it has no name");
    write_file(f, "a.yaml", "[");
    refused(f, "a.yaml'");
    write_file(f, "a.yaml", DATASET("ds") DATASET("more"));
    write_file(f, "profile", PROFILE("Nope"));
    refused(f, "Fluid profile '");
    (void)unlink(path_of(f, "profile"));
    assert_true(fluid_source_changed(f->source));
    refused(f, "profile '");
}

static void options_of(struct fixture *f, struct fluid_options *ret) {
    load(f);
    struct fluid_set *held = fluid_hold(f->source);
    *ret = fluid_set_data(held)->options;
    assert_string_equal(ret->profile->chains[FLUID_SERVERFUL][false].plugins[0]->name,
                        "PreferNodesWithoutCache");
    fluid_release(held);
}

static void upstream_has_no_scale_in_exclusion(void **state) {
    struct fixture *f = *state;
    struct fluid_options options;
    options_of(f, &options);
    assert_true(options.scale_in);
    assert_int_equal(options.compat, FLUID_CORRECT);
    open_source(f, FLUID_HEAD);
    options_of(f, &options);
    assert_false(options.scale_in);
    assert_int_equal(options.compat, FLUID_HEAD);
}

static void a_changed_profile_is_asked_for_once(void **state) {
    struct fixture *f = *state;
    load(f);
    write_file(f, "profile", PROFILE(""));
    assert_true(fluid_source_changed(f->source));
    assert_false(fluid_source_changed(f->source)); /* also where state files are refused now */
    load(f);
    write_file(f, "profile", PROFILE("PreferNodesWithoutCache"));
    load(f); /* as at SIGHUP */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_of_any_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(a_set_lives_until_its_last_holder, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_bad_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(upstream_has_no_scale_in_exclusion, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_profile_is_asked_for_once, setup, teardown),
    };
    return cmocka_run_group_tests_name("fluid source", tests, NULL, NULL);
}

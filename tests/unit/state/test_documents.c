/* The objects of a file, and their names. */
#include "state/documents.h"

#include "base/file.h"
#include "base/json_reader.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static bool is_pod(struct str json, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, json, arena, "object");
    return json_peek(&r) == JSON_OBJECT && str_eq(json_peek_member(&r, STR("kind")), STR("Pod"));
}
static const struct document_kind pods = {"pod file", "Pod", is_pod};

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static int read_text(const char *text, struct documents *ret, struct err *err) {
    static char path[64];
    (void)snprintf(path, sizeof path, "/tmp/evenkeel-test-%d.yaml", (int)getpid()); /* fits */
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, err), 0);
    const int r = documents_read(path, &pods, &arena, ret, err);
    (void)unlink(path);
    return r;
}

#define MANY                                                                                       \
    "kind: Service\nmetadata: {name: a}\n---\nkind: Pod\nmetadata: {name: a, namespace: "          \
    "ns}\n---\n"                                                                                   \
    "kind: PodList\nitems:\n- {kind: Pod, metadata: {name: a}}\n- kind: Pod\n  metadata: {name: "  \
    "b, namespace: pod}\n"

static void the_wanted_ones_stay(void **state) {
    static const char *const names[] = {"ns/Pod/a", "default/Pod/a", "pod/Pod/b"};
    struct documents d;
    struct err err;
    (void)state;
    assert_int_equal(read_text(MANY, &d, &err), 0);
    assert_int_equal(d.count, 3);
    for (uint32_t i = 0; i < d.count; i++)
        assert_str(document_name(&d.items[i], &arena), names[i]);
    assert_int_equal(read_text("kind: Service\n", &d, &err), 0); /* the reader complains of it */
    assert_int_equal(d.count, 1);
    assert_int_equal(read_text("kind: A\n---\nkind: B\n", &d, &err), -EINVAL);
    assert_contains(err.text, "pod file '");
    assert_contains(err.text, "2 documents, and none of them is a Pod");
    assert_int_equal(read_text("# nothing\n", &d, &err), -EINVAL);
    assert_contains(err.text, "0 documents; expected one Pod");
}

static void names_pick(void **state) {
    static const struct {
        const char *name;
        uint32_t count;
    } cases[] = {{"a", 2},          {"ns/a", 1},      {"default/a", 1}, {"pod/a", 2},
                 {"Pod/b", 1},      {"pod/b", 1},     {"ns/b", 0},      {"c", 0},
                 {"ns/POD/a", 1},   {"m/Pod/a", 0},   {"ns/Pods/a", 0}, {"ns/Pod/b", 0},
                 {"ns/Pod/x/a", 0}, {"pod/pod/b", 1}, {"", 0},          {"/a", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct documents d;
        struct err err;
        assert_int_equal(read_text(MANY, &d, &err), 0);
        documents_keep_named(&d, cases[i].name, &arena);
        if (d.count != cases[i].count)
            fail_msg("'%s': %u", cases[i].name, d.count);
        assert_int_equal(read_text(MANY, &d, &err), 0);
        assert_int_equal(documents_choose(&d, cases[i].name, &arena, &err),
                         cases[i].count > 0 ? 0 : -EINVAL);
        if (cases[i].count == 0)
            assert_contains(err.text, "it has ns/Pod/a and others");
    }
}

static void errors_have_a_line(void **state) {
    struct documents d;
    struct err err;
    (void)state;
    assert_int_equal(read_text(MANY, &d, &err), 0);
    (void)err_set(&err, -EINVAL, "bad");
    (void)document_complain(&d.items[0], &err);
    assert_contains(err.text, ": bad, at line 4");
    (void)err_set(&err, -EINVAL, "bad, at byte 20");
    (void)document_complain(&d.items[0], &err);
    assert_contains(err.text, ": bad, at line 5");
    (void)err_set(&err, -EINVAL, "bad");
    (void)document_complain(&d.items[2], &err);
    assert_contains(err.text, ": bad, at line 10");
    assert_int_equal(read_text("\nkind: Pod\n", &d, &err), 0);
    (void)err_set(&err, -EINVAL, "bad");
    (void)document_complain(&d.items[0], &err);
    assert_null(strstr(err.text, "line"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_wanted_ones_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(names_pick, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_have_a_line, setup, teardown),
    };
    return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}

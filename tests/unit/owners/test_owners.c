/* What is remembered of controllers: for how long, and of whom when there is too much. */
#include "base/limits.h"
#include "owners/memory.h"
#include "unit/unit.h"

#include <stdio.h>

struct fixture {
    struct clock_fake clock;
    struct owners *owners;
    struct arena arena;
};

static int setup(void **state) {
    static struct fixture f;
    clock_fake_init(&f.clock, 1000);
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return owners_new(&f.clock.clock, &f.owners, NULL);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    owners_free(f->owners);
    arena_done(&f->arena);
    return 0;
}

static struct owner_ref widget(const char *namespace, const char *name) {
    return (struct owner_ref){str_of(namespace), STR("example.com/v1"), STR("Widget"),
                              str_of(name)};
}

static void remember(struct fixture *f, const char *namespace, const char *name, struct str text) {
    struct owner_ref ref = widget(namespace, name);
    owners_remember(f->owners, OWNER_SELECTOR, &ref, text, 100);
}

static enum owner_knowledge known(struct fixture *f, const char *namespace, const char *name,
                                  struct str *ret) {
    struct owner_ref ref = widget(namespace, name);
    *ret = (struct str){0};
    return owners_selector(f->owners, &ref, &f->arena, ret);
}

static void it_is_known_for_a_while(void **state) {
    struct fixture *f = *state;
    struct str text;
    assert_int_equal(known(f, "shop", "w", &text), OWNER_UNKNOWN);
    remember(f, "shop", "w", STR("app=w"));
    remember(f, "shop", "v", STR(""));
    assert_int_equal(known(f, "shop", "w", &text), OWNER_SELECTS);
    assert_str(text, "app=w");
    assert_int_equal(known(f, "shop", "v", &text), OWNER_SELECTS_NOTHING);
    assert_int_equal(known(f, "other", "w", &text), OWNER_UNKNOWN);
    remember(f, "shop", "w", STR("app=x"));
    assert_int_equal(known(f, "shop", "w", &text), OWNER_SELECTS);
    assert_str(text, "app=x");
    f->clock.at_ms += 100;
    assert_int_equal(known(f, "shop", "w", &text), OWNER_UNKNOWN);
}

static void a_kind_without_scale_needs_no_more(void **state) {
    struct fixture *f = *state;
    struct owner_ref kind = widget("", "");
    struct str text;
    owners_remember(f->owners, OWNER_KIND, &kind, STR(""), 100);
    assert_int_equal(known(f, "shop", "w", &text), OWNER_SELECTS_NOTHING);
    owners_remember(f->owners, OWNER_KIND, &kind, STR("widgets"), 100);
    assert_int_equal(known(f, "shop", "w", &text), OWNER_UNKNOWN);
}

/* Whoever creates pods may name as many controllers as he likes. */
static void a_namespace_forgets_its_own(void **state) {
    struct fixture *f = *state;
    struct str text;
    char name[20];
    remember(f, "shop", "w", STR("app=w"));
    for (int i = 0; i < 3 * LIMIT_OWNERS; i++) {
        (void)snprintf(name, sizeof name, "w%d", i);
        remember(f, "noisy", name, STR("app=noise"));
    }
    assert_int_equal(known(f, "shop", "w", &text), OWNER_SELECTS);
    assert_int_equal(known(f, "noisy", name, &text), OWNER_SELECTS);
    assert_int_equal(known(f, "noisy", "w0", &text), OWNER_UNKNOWN);
}

static void long_ones_take_their_share(void **state) {
    struct fixture *f = *state;
    static char huge[LIMIT_OWNERS_BYTES];
    struct str text;
    memset(huge, 'a', sizeof huge);
    remember(f, "shop", "w", STR("app=w"));
    remember(f, "noisy", "huge", (struct str){huge, sizeof huge});
    assert_int_equal(known(f, "noisy", "huge", &text), OWNER_UNKNOWN);
    for (int i = 0; i < 1000; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "w%d", i);
        remember(f, "noisy", name, (struct str){huge, LIMIT_OWNER_TEXT});
    }
    assert_int_equal(known(f, "shop", "w", &text), OWNER_SELECTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_known_for_a_while, setup, teardown),
        cmocka_unit_test_setup_teardown(a_kind_without_scale_needs_no_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_namespace_forgets_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(long_ones_take_their_share, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

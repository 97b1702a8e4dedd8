/* The ring of decisions: what is kept, what is found, and that writers and readers agree. */
#include "explain/ring.h"

#include "unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { CAPACITY = 5, WRITERS = 4, WRITES = 5000, READERS = 2 };

/* The pods "shop/a", "shop/b", ... */
static struct subject pod(uint64_t n) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    return subject_pod(STR("shop"), (struct str){letters + n, 1});
}

static uint64_t add_about(struct ring *r, struct subject subject, struct str text) {
    return ring_add(r, &subject, false, text);
}

static void add(struct ring *r, uint64_t n, const char *text, uint64_t want_number) {
    assert_int_equal(add_about(r, pod(n), str_of(text)), want_number);
}

static void expect(struct ring *r, const struct subject *subject, uint64_t before, uint64_t number,
                   const char *text) {
    struct ring_entry entry;
    assert_true(ring_find(r, subject, before, &entry));
    assert_int_equal(entry.number, number);
    assert_str(((struct str){entry.text, entry.n}), text);
}

static void expect_none(struct ring *r, const struct subject *subject, uint64_t before) {
    struct ring_entry entry;
    assert_false(ring_find(r, subject, before, &entry));
}

static void nothing_at_first(void **state) {
    struct ring *r;
    (void)state;
    assert_int_equal(ring_new(CAPACITY, &r), 0);
    expect_none(r, NULL, UINT64_MAX);
    expect_none(r, NULL, 1);
    expect_none(r, NULL, 0);
    struct ring_size size = ring_size(r);
    assert_int_equal(size.added, 0);
    assert_int_equal(size.capacity, CAPACITY);
    ring_free(r);
    ring_free(NULL);
}

/* Twice around, and at every moment exactly the last ones are there. */
static void the_last_ones_are_kept(void **state) {
    struct ring *r;
    char text[16];
    (void)state;
    assert_int_equal(ring_new(CAPACITY, &r), 0);
    for (uint64_t n = 1; n <= 2 * CAPACITY + 1; n++) {
        (void)snprintf(text, sizeof text, "t%u", (unsigned)n);
        add(r, n, text, n);
        uint64_t oldest = n > CAPACITY ? n - CAPACITY + 1 : 1;
        for (uint64_t k = 1; k <= n; k++) {
            const struct subject subject = pod(k);
            (void)snprintf(text, sizeof text, "t%u", (unsigned)k);
            if (k < oldest) {
                expect_none(r, &subject, UINT64_MAX);
                expect_none(r, NULL, k + 1);
            } else {
                expect(r, &subject, UINT64_MAX, k, text);
                expect(r, NULL, k + 1, k, text);
            }
        }
    }
    assert_int_equal(ring_size(r).added, 2 * CAPACITY + 1);
    ring_free(r);
}

/* A flood in one namespace, and one of dry runs in a thousand, leave what others have. */
static void nobody_pushes_others_out(void **state) {
    const struct subject other = subject_pod(STR("other"), STR("p"));
    struct ring *r;
    char name[16];
    (void)state;
    assert_int_equal(ring_new(CAPACITY, &r), 0);
    (void)ring_add(r, &other, false, STR("kept"));
    for (uint64_t n = 0; n < 20; n++)
        (void)add_about(r, pod(n), STR("flood"));
    expect(r, &other, UINT64_MAX, 1, "kept");
    for (int n = 0; n < 1000; n++) {
        (void)snprintf(name, sizeof name, "n%d", n);
        const struct subject forged = subject_pod(str_of(name), STR("p"));
        (void)ring_add(r, &forged, true, STR("dry"));
    }
    expect(r, &other, UINT64_MAX, 1, "kept");
    const struct subject last = pod(19), before = pod(18);
    expect(r, &last, UINT64_MAX, 21, "flood");
    expect(r, &before, UINT64_MAX, 20, "flood");
    ring_free(r);
}

static void newest_first_by_subject(void **state) {
    const struct subject a = pod(1), unknown = pod(7);
    struct ring *r;
    (void)state;
    assert_int_equal(ring_new(CAPACITY, &r), 0);
    add(r, 1, "first", 1);
    add(r, 2, "other", 2);
    add(r, 1, "", 3);
    expect(r, &a, UINT64_MAX, 3, "");
    expect(r, &a, 3, 1, "first");
    expect_none(r, &a, 1);
    expect_none(r, &unknown, UINT64_MAX);
    ring_free(r);
}

/* Texts and subjects share a place: neither may run into the other. */
static void the_longest_text(void **state) {
    enum { OTHERS = 3 + 4 }; /* "Pod", "shop" */
    char text[LIMIT_DECISION_BYTES], name[LIMIT_DECISION_SUBJECT + 1];
    const size_t names[] = {0, 1, LIMIT_DECISION_SUBJECT - OTHERS,
                            LIMIT_DECISION_SUBJECT - OTHERS + 1};
    struct ring_entry entry;
    struct ring *r;
    (void)state;
    memset(text, 'x', sizeof text);
    memset(name, 'n', sizeof name);
    assert_int_equal(ring_new(1, &r), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct subject subject = subject_pod(STR("shop"), (struct str){name, names[i]});
        bool is_kept = OTHERS + names[i] <= LIMIT_DECISION_SUBJECT;
        size_t room = ring_room(&subject);
        assert_int_equal(room, LIMIT_DECISION_BYTES - (is_kept ? OTHERS + names[i] : 0));
        assert_int_equal(ring_add(r, &subject, false, (struct str){text, room}), 2 * i + 1);
        assert_int_equal(ring_find(r, &subject, UINT64_MAX, &entry), is_kept);
        assert_true(ring_find(r, NULL, UINT64_MAX, &entry));
        assert_int_equal(entry.n, room);
        assert_memory_equal(entry.text, text, room);
        add(r, 2, "short", 2 * i + 2);
        expect_none(r, &subject, UINT64_MAX);
    }
    ring_free(r);
}

/* Subjects of the same bytes, cut elsewhere or the other way round. */
static void subjects_are_compared(void **state) {
#define SUBJECT(group, kind, namespace, name)                                                      \
    { STR(group), STR(kind), STR(namespace), STR(name) }
    const struct subject subjects[] = {
        SUBJECT("", "Pod", "web", "shop"),
        SUBJECT("", "Pod", "shop", "web"),
        SUBJECT("", "Pod", "webs", "hop"),
        SUBJECT("", "Pod", "web", "web"),
        SUBJECT("", "Pod", "shop", "shop"),
        SUBJECT("", "Pod", "webshop", ""),
        SUBJECT("", "Pod", "", "webshop"),
        SUBJECT("", "Pod", "", ""),
        SUBJECT("", "Node", "web", "shop"),
        SUBJECT("Pod", "", "web", "shop"),
        SUBJECT("", "Podweb", "", "shop"),
        SUBJECT("apps", "Pod", "web", "shop"),
        SUBJECT("app", "sPod", "web", "shop"),
        SUBJECT("example.com", "Pod", "web", "shop"),
        SUBJECT("cluster.open-cluster-management.io", "Placement", "web", "shop"),
        SUBJECT("cluster.open-cluster-management.io", "PlacementDecision", "web", "shop"),
        SUBJECT("", "", "", ""),
    };
#undef SUBJECT
    enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };
    struct ring *r;
    (void)state;
    assert_int_equal(ring_new(SUBJECTS, &r), 0);
    for (uint64_t i = 0; i < SUBJECTS; i++) {
        for (uint64_t k = i; k < SUBJECTS; k++)
            expect_none(r, &subjects[k], UINT64_MAX);
        assert_int_equal(add_about(r, subjects[i], STR("x")), i + 1);
    }
    for (uint64_t i = 0; i < SUBJECTS; i++)
        expect(r, &subjects[i], UINT64_MAX, i + 1, "x");
    ring_free(r);
}

/* ---- threads ---- */

struct crowd {
    struct ring *ring;
    _Atomic bool over, torn;
};

struct writer {
    struct crowd *crowd;
    uint64_t number;
};

/* Texts of one byte over and over, which tells the writer, and of changing length. */
static void *write_many(void *ctx) {
    const struct writer *w = ctx;
    char text[LIMIT_DECISION_BYTES];
    const struct subject subject = pod(w->number);
    memset(text, (int)('a' + w->number), sizeof text);
    for (size_t i = 0; i < WRITES; i++)
        (void)ring_add(w->crowd->ring, &subject, false,
                       (struct str){text, i % ring_room(&subject)});
    return NULL;
}

static bool is_whole(const struct ring_entry *entry, uint64_t writer) {
    for (size_t i = 0; i < entry->n; i++)
        if (entry->text[i] != (char)('a' + writer))
            return false;
    return true;
}

static void *read_many(void *ctx) {
    struct crowd *crowd = ctx;
    struct ring_entry entry;
    for (uint64_t n = 0; !atomic_load(&crowd->over); n++) {
        const uint64_t writer = n % WRITERS;
        const struct subject subject = pod(writer);
        for (uint64_t before = UINT64_MAX; ring_find(crowd->ring, &subject, before, &entry);
             before = entry.number)
            if (entry.number >= before || !is_whole(&entry, writer))
                atomic_store(&crowd->torn, true);
    }
    return NULL;
}

static void many_at_once(void **state) {
    struct crowd crowd = {0};
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS + READERS];
    (void)state;
    assert_int_equal(ring_new(64, &crowd.ring), 0);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[WRITERS + i], NULL, read_many, &crowd), 0);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){&crowd, i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    atomic_store(&crowd.over, true);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(threads[WRITERS + i], NULL), 0);
    assert_false(atomic_load(&crowd.torn));
    assert_int_equal(ring_size(crowd.ring).added, WRITERS * WRITES);
    ring_free(crowd.ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_at_first),
        cmocka_unit_test(the_last_ones_are_kept),
        cmocka_unit_test(newest_first_by_subject),
        cmocka_unit_test(nobody_pushes_others_out),
        cmocka_unit_test(the_longest_text),
        cmocka_unit_test(subjects_are_compared),
        cmocka_unit_test(many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

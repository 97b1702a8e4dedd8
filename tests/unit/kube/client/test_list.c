/* Lists page by page, and those that do not end. */
#include "kube/client/list.h"

#include "base/limits.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct kube_client *client;
    struct kube_listing listing;
    pthread_t thread; /* which lists */
    struct strbuf pages;
    int refusal; /* of the second page, by who gets them */
    int status, result;
    struct err err;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.listing.path = "/api/v1/pods"};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&f.access, NULL, &f.client, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    kube_client_free(f->client);
    api_call_done(&f->call);
    api_done(&f->api);
    strbuf_done(&f->pages);
    return 0;
}

static int take_page(void *ctx, struct strbuf *page, struct err *err) {
    struct fixture *f = ctx;
    bool second = f->pages.n > 0;
    strbuf_append_str(&f->pages, strbuf_str(page));
    return second && f->refusal != 0 ? err_set(err, f->refusal, "enough") : 0;
}

static void *list(void *ctx) {
    struct fixture *f = ctx;
    f->result = kube_list(f->client, &f->listing, take_page, f, &f->status, &f->err);
    return NULL;
}

static void begin(struct fixture *f) {
    assert_int_equal(pthread_create(&f->thread, NULL, list, f), 0);
}

#define PAGE(token, name)                                                                          \
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"" token          \
    "\"},\"items\":[{\"metadata\":{\"name\":\"" name "\"}}]}"

static void answer(struct fixture *f, const char *path, const char *page) {
    api_expect(&f->api, &f->call, "GET", path);
    api_answer(&f->call, 200, "", page);
}

/* What came of it; the pages are those that were handed over. */
static void ends_with(struct fixture *f, int result, const char *part, const char *pages) {
    assert_int_equal(pthread_join(f->thread, NULL), 0);
    assert_int_equal(f->result, result);
    if (result != 0)
        assert_contains(f->err.text, part);
    assert_str(strbuf_str(&f->pages), pages);
    assert_true(api_is_quiet(&f->api));
}

static void pages_follow_each_other(void **state) {
    struct fixture *f = *state;
    begin(f);
    answer(f, "/api/v1/pods?limit=500", PAGE("t1", "a"));
    answer(f, "/api/v1/pods?limit=500&continue=t1", PAGE("t2", "b"));
    answer(f, "/api/v1/pods?limit=500&continue=t2", PAGE("", "c"));
    ends_with(f, 0, "", PAGE("t1", "a") PAGE("t2", "b") PAGE("", "c"));
    assert_int_equal(f->status, 200);
}

static void the_same_page_again(void **state) {
    struct fixture *f = *state;
    f->listing.path = "/api/v1/pods?a=b";
    begin(f);
    answer(f, "/api/v1/pods?a=b&limit=500", PAGE("t1", "a"));
    answer(f, "/api/v1/pods?a=b&limit=500&continue=t1", PAGE("t1", "b"));
    ends_with(f, -EINVAL, "the same page again", PAGE("t1", "a"));
}

/* As many as may be; and one more. */
static void pages_have_a_limit(void **state) {
    struct fixture *f = *state;
    f->listing.max_pages = 2;
    begin(f);
    answer(f, "/api/v1/pods?limit=500", PAGE("t1", "a"));
    answer(f, "/api/v1/pods?limit=500&continue=t1", PAGE("", "b"));
    ends_with(f, 0, "", PAGE("t1", "a") PAGE("", "b"));
    strbuf_clear(&f->pages);
    begin(f);
    answer(f, "/api/v1/pods?limit=500", PAGE("t1", "a"));
    answer(f, "/api/v1/pods?limit=500&continue=t1", PAGE("t2", "b"));
    answer(f, "/api/v1/pods?limit=500&continue=t2", PAGE("t3", "c"));
    ends_with(f, -EFBIG, "does not end: it has more than 2 pages", PAGE("t1", "a") PAGE("t2", "b"));
}

static void bytes_have_a_limit(void **state) {
    struct fixture *f = *state;
    for (int less = 0; less < 2; less++) {
        f->listing.max_bytes = sizeof PAGE("t1", "a") - 1 + sizeof PAGE("", "b") - 1 - (size_t)less;
        strbuf_clear(&f->pages);
        begin(f);
        answer(f, "/api/v1/pods?limit=500", PAGE("t1", "a"));
        answer(f, "/api/v1/pods?limit=500&continue=t1", PAGE("", "b"));
        if (less == 0)
            ends_with(f, 0, "", PAGE("t1", "a") PAGE("", "b"));
        else
            ends_with(f, -EFBIG, "does not end: it has more than", PAGE("t1", "a"));
    }
}

/* 500,000 objects on pages of 500, as watches have it. */
static void the_usual_limit(void **state) {
    struct fixture *f = *state;
    char path[100], page[200];
    begin(f);
    for (int i = 0; i <= LIMIT_LISTED / 500; i++) {
        (void)snprintf(path, sizeof path,
                       i == 0 ? "/api/v1/pods?limit=500" : "/api/v1/pods?limit=500&continue=t%d",
                       i);
        (void)snprintf(page, sizeof page, PAGE("t%d", "a"), i + 1); /* both fit */
        answer(f, path, page);
    }
    assert_int_equal(pthread_join(f->thread, NULL), 0);
    assert_int_equal(f->result, -EFBIG);
    assert_contains(f->err.text, "more than 1000 pages");
}

static void who_gets_them_may_have_enough(void **state) {
    struct fixture *f = *state;
    f->refusal = -ECANCELED;
    begin(f);
    answer(f, "/api/v1/pods?limit=500", PAGE("t1", "a"));
    answer(f, "/api/v1/pods?limit=500&continue=t1", PAGE("t2", "b"));
    ends_with(f, -ECANCELED, "enough", PAGE("t1", "a") PAGE("t2", "b"));
}

static void what_is_no_list(void **state) {
    struct fixture *f = *state;
    begin(f);
    answer(f, "/api/v1/pods?limit=500", PAGE("a?b", "a"));
    ends_with(f, -EINVAL, "has a continue token that cannot be used", "");
    begin(f);
    answer(f, "/api/v1/pods?limit=500", "[");
    ends_with(f, -EINVAL, "/api/v1/pods", "");
    begin(f);
    api_expect(&f->api, &f->call, "GET", "/api/v1/pods?limit=500");
    api_answer(&f->call, 403, "", "{}");
    ends_with(f, 0, "", "");
    assert_int_equal(f->status, 403);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pages_follow_each_other), TEST(the_same_page_again),
        TEST(pages_have_a_limit),      TEST(bytes_have_a_limit),
        TEST(the_usual_limit),         TEST(who_gets_them_may_have_enough),
        TEST(what_is_no_list),
    };
    return cmocka_run_group_tests_name("kube/list", tests, NULL, NULL);
}

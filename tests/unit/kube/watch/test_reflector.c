/*
 * The reflector, rule by rule, without a server: requests are read as text, answers are put in by
 * hand, and the sink writes down what it is told. upstream: client-go tools/cache/reflector.go and
 * tools/pager.
 */
#include "kube/watch/reflector.h"

#include "base/limits.h"
#include "base/log.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

#define RV(version) "{\"metadata\":{\"resourceVersion\":\"" version "\"}}"
#define NAMED(name, version)                                                                       \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define PAGE(meta, items) "{\"kind\":\"PodList\",\"metadata\":{" meta "},\"items\":[" items "]}\n"
#define LIST(version, items) PAGE("\"resourceVersion\":\"" version "\"", items)
#define MORE(version, token, items)                                                                \
    PAGE("\"resourceVersion\":\"" version "\",\"continue\":\"" token "\"", items)
#define STATUS(code, more) "{\"kind\":\"Status\",\"code\":" #code more "}"
#define EXPIRED STATUS(410, ",\"reason\":\"Expired\"")
#define TOO_LARGE                                                                                  \
    STATUS(504, ",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\"}]}")

enum { WATCHING_MS = 400000 }; /* a good watch may last so long */

struct fixture {
    struct reflector *reflector;
    int64_t now_ms;
    struct reflector_next next;
    struct strbuf told; /* "[" sync_begin, "+a" apply, "-a" remove, "]" sync_end, "!" sync_abort */
};

/* ---- the sink ---- */

static void tell(struct fixture *f, const char *what, struct str name) {
    strbuf_appendf(&f->told, "%s%.*s", what, STR_ARG(name));
}

static void on_sync_begin(void *ctx) {
    tell(ctx, "[", STR(""));
}

static void on_sync_end(void *ctx) {
    tell(ctx, "]", STR(""));
}

static void on_sync_abort(void *ctx) {
    tell(ctx, "!", STR(""));
}

/* The object's name; "odd" is one that the sink refuses, "full" one that it has no memory for,
 * "huge" one with which it keeps too much. */
static int on_object(struct fixture *f, const char *what, struct str object, struct err *err) {
    static const struct str member = {"\"name\":\"", 8};
    assert_true(object.n > 1 && object.p[0] == '{' && object.p[object.n - 1] == '}');
    struct str rest = object;
    while (rest.n > 0 && !str_has_prefix(rest, member))
        rest = (struct str){rest.p + 1, rest.n - 1};
    if (rest.n == 0)
        return err_set(err, -EINVAL, "an object without a name");
    rest = (struct str){rest.p + member.n, rest.n - member.n};
    rest.n = str_find(rest, '"');
    if (str_eq(rest, STR("odd")))
        return err_set(err, -EINVAL, "refused");
    if (str_eq(rest, STR("full")))
        return err_set(err, -ENOMEM, "no memory");
    if (str_eq(rest, STR("huge")))
        return err_set(err, -ENOSPC, "too much of a list");
    tell(f, what, rest);
    return 0;
}

static int on_apply(void *ctx, struct str object, struct err *err) {
    return on_object(ctx, "+", object, err);
}

static int on_remove(void *ctx, struct str object, struct err *err) {
    return on_object(ctx, "-", object, err);
}

static int setup_with(void **state, const char *query, bool optional, uint32_t max_objects) {
    static struct fixture f;
    log_setup(LOG_ERROR, LOG_LOGFMT, 2);
    f = (struct fixture){.now_ms = 1000000};
    const struct reflector_options options = {
        .resource = "pods",
        .path = "/api/v1/pods",
        .query = query,
        .optional = optional,
        .max_objects = max_objects,
        .sink = {&f, on_sync_begin, on_sync_end, on_apply, on_remove, on_sync_abort},
        .seed = 42,
    };
    assert_int_equal(reflector_new(&options, &f.reflector, NULL), 0);
    *state = &f;
    return 0;
}

static int setup(void **state) {
    return setup_with(state, NULL, false, 0);
}

static int setup_query(void **state) {
    return setup_with(state, "fieldSelector=a%21%3Db", false, 0);
}

static int setup_optional(void **state) {
    return setup_with(state, NULL, true, 0);
}

/* At most three objects in a list. */
static int setup_small(void **state) {
    return setup_with(state, NULL, false, 3);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    reflector_free(f->reflector);
    strbuf_done(&f->told);
    return 0;
}

/* ---- words for what happens ---- */

/* What the sink was told since the last time. */
static void assert_told(struct fixture *f, const char *want) {
    assert_str(strbuf_str(&f->told), want);
    strbuf_clear(&f->told);
}

/* It asks now; without what a timeout's randomness makes of the path. */
static void asks(struct fixture *f, const char *want) {
    char path[1024];
    reflector_next(f->reflector, f->now_ms, &f->next);
    assert_int_equal(f->next.step, REFLECTOR_GET);
    const char *timeout = strstr(f->next.path, "timeoutSeconds=");
    const char *rest = timeout != NULL ? strchr(timeout, '&') : NULL;
    if (rest == NULL)
        (void)snprintf(path, sizeof path, "%s", f->next.path);
    else
        (void)snprintf(path, sizeof path, "%.*sT%s", (int)(timeout - f->next.path), f->next.path,
                       rest);
    assert_string_equal(path, want);
}

#define PATH "/api/v1/pods?"
#define WATCH PATH "watch=1&allowWatchBookmarks=true&T"
static void asks_watch(struct fixture *f, const char *version) {
    char want[256];
    (void)snprintf(want, sizeof want, WATCH "&resourceVersion=%s", version);
    asks(f, want);
}

static void asks_watch_list(struct fixture *f, const char *version) {
    char want[256];
    (void)snprintf(want, sizeof want,
                   WATCH "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                         "&resourceVersion=%s",
                   version);
    asks(f, want);
}

static void asks_list(struct fixture *f, const char *query) {
    char want[256];
    (void)snprintf(want, sizeof want, PATH "%s", query);
    asks(f, want);
}

/* It waits; how long. Time goes on to the end of that. */
static int64_t waits(struct fixture *f) {
    reflector_next(f->reflector, f->now_ms, &f->next);
    assert_int_equal(f->next.step, REFLECTOR_WAIT);
    f->now_ms += f->next.wait_ms - 1;
    struct reflector_next early;
    reflector_next(f->reflector, f->now_ms, &early);
    assert_int_equal(early.step, REFLECTOR_WAIT);
    f->now_ms++;
    return f->next.wait_ms;
}

static void waits_between(struct fixture *f, int64_t least_ms, int64_t most_ms) {
    int64_t ms = waits(f);
    assert_in_range(ms, least_ms, most_ms);
}

static void head(struct fixture *f, int status) {
    reflector_on_head(f->reflector, f->now_ms, status);
}

static int data(struct fixture *f, const char *text) {
    return reflector_on_data(f->reflector, f->now_ms, str_of(text));
}

static void end(struct fixture *f, int error) {
    reflector_on_end(f->reflector, f->now_ms, error, -1);
}

static void answer(struct fixture *f, int status, const char *body) {
    head(f, status);
    assert_int_equal(data(f, body), 0);
    end(f, 0);
}

/* A stream that the reflector has enough of. */
static void spoil(struct fixture *f, const char *text) {
    assert_int_not_equal(data(f, text), 0);
    end(f, -ECANCELED);
}

static struct reflector_stats stats(const struct fixture *f) {
    struct reflector_stats stats;
    reflector_stats(f->reflector, &stats);
    return stats;
}

/* A first listing by watch-list, at version 10: the watch goes on. */
static void start_watching(struct fixture *f) {
    asks_watch_list(f, "");
    head(f, 200);
    assert_int_equal(data(f, MARKER("10")), 0);
    assert_told(f, "[]");
}

/* The same by a list, from a server that knows nothing else; its watch has begun. */
static void start_listing(struct fixture *f) {
    asks_watch_list(f, "");
    answer(f, 422, STATUS(422, ""));
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200, LIST("10", ""));
    asks_watch(f, "10");
    head(f, 200);
    assert_told(f, "[[]");
}

/* Objects, without the end of today's: a bookmark whose mark says no is one like any other. */
#define UNMARKED(version)                                                                          \
    EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version                              \
                      "\",\"annotations\":{\"k8s.io/initial-events-end\":\"false\"}}}")

/* A good long watch ends as watches do: all trouble is forgiven. */
static void end_well(struct fixture *f) {
    f->now_ms += WATCHING_MS;
    end(f, 0);
}

/* ---- listing ---- */

static void test_watch_list_is_first(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    assert_told(f, "[");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "7")) EVENT("ADDED", NAMED("b", "3"))), 0);
    assert_int_equal(data(f, UNMARKED("9")), 0);
    assert_false(stats(f).synced);
    assert_int_equal(data(f, MARKER("10")), 0);
    assert_told(f, "+a+b]");
    assert_true(stats(f).synced);
    assert_int_equal(data(f, EVENT("DELETED", NAMED("a", "12"))), 0); /* the stream goes on */
    assert_told(f, "-a");
    end_well(f);
    asks_watch(f, "12");
}

static void test_query_goes_with_every_request(void **state) {
    struct fixture *f = *state;
    asks(f, PATH "fieldSelector=a%21%3Db&watch=1&allowWatchBookmarks=true&T&sendInitialEvents=true"
                 "&resourceVersionMatch=NotOlderThan&resourceVersion=");
    answer(f, 422, "");
    asks_list(f, "fieldSelector=a%21%3Db&limit=500&resourceVersion=0");
    answer(f, 200, LIST("1", ""));
    asks(f, PATH "fieldSelector=a%21%3Db&watch=1&allowWatchBookmarks=true&T&resourceVersion=1");
}

static void test_plain_list_where_watch_list_is_not_known(void **state) {
    struct fixture *f = *state;
    static const int codes[] = {400, 405, 422, 501};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        (void)teardown(state);
        (void)setup(state);
        asks_watch_list(f, "");
        answer(f, codes[i], "");
        asks_list(f, "limit=500&resourceVersion=0");
        answer(f, 200, LIST("10", NAMED("a", "4") "," NAMED("b", "5")));
        assert_told(f, "[[+a+b]");
        assert_int_equal(stats(f).errors, 0); /* nothing has failed */
        asks_watch(f, "10");
        answer(f, 500, "");
        (void)waits(f);
        assert_int_equal(stats(f).errors, 1);
        asks_list(f, "resourceVersion=10"); /* it stays so; no limit, so that a cache can answer */
    }
}

/* A server that takes it for a watch from "": it never marks the end of today's objects. */
static void test_plain_list_where_watch_list_never_ends(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "7")) EVENT("BOOKMARK", RV("9"))), 0);
    end_well(f);
    assert_told(f, "[+a");
    waits_between(f, 800, 1600);
    asks_list(f, "limit=500&resourceVersion=0");
    assert_false(stats(f).synced);
}

static void test_pages(void **state) {
    struct fixture *f = *state;
    start_listing(f);
    answer(f, 504, TOO_LARGE);
    asks_list(f, "limit=500&resourceVersion=");
    answer(f, 200, MORE("20", "t+/=1", NAMED("a", "1")));
    asks_list(f, "limit=500&continue=t%2B%2F%3D1");
    answer(f, 200, MORE("30", "t2", NAMED("b", "1")));
    asks_list(f, "limit=500&continue=t2");
    answer(f, 200, PAGE("", NAMED("c", "1")));
    assert_told(f, "[+a+b+c]");
    asks_watch(f, "20"); /* the version of the first page */
    answer(f, 500, "");
    (void)waits(f);
    asks_list(f, "resourceVersion=20"); /* paging at "" says nothing of paging at a version */
}

static void test_server_that_pages_is_asked_for_pages(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200, MORE("20", "t", ""));
    asks_list(f, "limit=500&continue=t");
    answer(f, 200, LIST("20", ""));
    asks_watch(f, "20");
    answer(f, 500, "");
    (void)waits(f);
    asks_list(f, "limit=500&resourceVersion=20");
}

static void test_page_expired_lists_whole(void **state) {
    struct fixture *f = *state;
    start_listing(f);
    answer(f, 504, TOO_LARGE);
    asks_list(f, "limit=500&resourceVersion=");
    answer(f, 200, MORE("20", "t", NAMED("a", "1")));
    asks_list(f, "limit=500&continue=t");
    answer(f, 410, EXPIRED);
    assert_told(f, "[+a");
    (void)waits(f); /* 422, too large, 410: the third in a row */
    asks_list(f, "resourceVersion=");
    assert_told(f, "[");
    answer(f, 200, LIST("21", NAMED("b", "1")));
    assert_told(f, "+b]");
    asks_watch(f, "21");
}

static void test_same_page_again_is_no_progress(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200, MORE("20", "t", ""));
    asks_list(f, "limit=500&continue=t");
    answer(f, 200, MORE("20", "t", ""));
    waits_between(f, 800, 1600);
    asks_list(f, "limit=500&resourceVersion=0");
}

/* 410, or a version that the server has not come to: the newest, and at once. */
static void test_version_not_to_be_had(void **state) {
    static const struct {
        int status;
        const char *body;
    } answers[] = {
        {410, EXPIRED},
        {410, "Gone"},
        {500, STATUS(500, ",\"reason\":\"Gone\"")},
        {504, TOO_LARGE},
        {504, STATUS(504, ",\"message\":\"Too large resource version: 5, current: 3\"")},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        (void)teardown(state);
        (void)setup(state);
        struct fixture *f = *state;
        start_watching(f);
        end_well(f);
        asks_watch(f, "10");
        end(f, -ECONNREFUSED);
        waits_between(f, 800, 1600);
        asks_watch_list(f, "10");
        answer(f, answers[i].status, answers[i].body);
        asks_watch_list(f, "");
        head(f, 200);
        assert_int_equal(data(f, MARKER("3")), 0); /* back in time, for the server said so */
        end_well(f);
        asks_watch(f, "3");
        answer(f, 500, "");
        (void)waits(f);
        asks_watch_list(f, "3"); /* and never again without need */
    }
}

/* 410 on the watch, on the listing, on the next listing: at the version, then the newest. */
static void test_expired_again_and_again(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    f->now_ms += WATCHING_MS;
    spoil(f, EVENT("ERROR", EXPIRED));
    asks_watch_list(f, "10");
    answer(f, 410, EXPIRED);
    asks_watch_list(f, "");
    answer(f, 410, EXPIRED);
    waits_between(f, 800, 1600);
    asks_watch_list(f, "");
    assert_told(f, "[[[");
    assert_int_equal(stats(f).expired, 3);
}

/* A server that has not even its newest version is not asked for it again in haste. */
static void test_the_newest_is_refused(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    answer(f, 410, EXPIRED);
    asks_watch_list(f, "");
    answer(f, 410, EXPIRED);
    waits_between(f, 800, 1600);
    asks_watch_list(f, "");
}

/* So much of an error is looked at: what is wrong stands in its beginning. */
static void test_a_long_error(void **state) {
    const struct str before = STR("{\"kind\":\"Status\",\"message\":\"");
    const struct str gone = STR("\",\"reason\":\"Gone\",\"code\":500}");
    for (size_t more = 0; more <= 1; more++) {
        (void)teardown(state);
        (void)setup(state);
        struct fixture *f = *state;
        CLEANUP(strbuf_done) struct strbuf body = {0};
        strbuf_append_str(&body, before);
        for (size_t i = before.n + gone.n; i < (64 << 10) + more; i++)
            strbuf_append_char(&body, 'x');
        strbuf_append_str(&body, gone);
        strbuf_append_char(&body, '\0');
        start_watching(f);
        end_well(f);
        asks_watch(f, "10");
        answer(f, 500, body.p);
        if (more == 0) {
            asks_watch_list(f, "10"); /* the version is not to be had: listed at once */
            continue;
        }
        waits_between(f, 800, 1600);
        asks_watch_list(f, "10");
    }
}

static void test_what_is_no_list(void **state) {
    static const char *const bodies[] = {
        "",
        "<html>",
        "null",
        "{\"kind\":\"Table\",\"metadata\":{\"resourceVersion\":\"1\"},\"rows\":[]}",
        "{\"kind\":\"Status\",\"items\":[],\"metadata\":{\"resourceVersion\":\"1\"}}",
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"}}",
        "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[]}",
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]",
        LIST("1", "") "x",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        (void)teardown(state);
        (void)setup(state);
        struct fixture *f = *state;
        asks_watch_list(f, "");
        answer(f, 422, "");
        asks_list(f, "limit=500&resourceVersion=0");
        answer(f, 200, bodies[i]);
        assert_told(f, "[[");
        waits_between(f, 800, 1600);
        asks_list(f, "limit=500&resourceVersion=0");
        assert_false(stats(f).synced);
    }
}

/* What a list that breaks off has told is told; what it has not is not. */
static void test_half_a_list(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200,
           "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" NAMED(
               "a", "1") ",{\"metadata\":{\"name\":\"b\"");
    assert_told(f, "[[+a");
    assert_int_equal(stats(f).events, 1);
    (void)waits(f);
    asks_list(f, "limit=500&resourceVersion=0");
    head(f, 200);
    assert_int_equal(data(f, LIST("1", NAMED("a", "1"))), 0);
    end(f, -ECONNRESET); /* cut: it may have been whole, but nobody says so */
    assert_told(f, "[");
}

/* ---- watching ---- */

static void test_watch_ends_and_goes_on(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    end_well(f);
    asks_watch(f, "10");
    assert_in_range(f->next.timeout_ms, 330000, 630000); /* 300 to 600 s, and some grace */
    assert_int_equal(f->next.silence_ms, 180000);
    head(f, 200);
    assert_int_equal(data(f, EVENT("MODIFIED", NAMED("a", "11"))), 0);
    f->now_ms += 5000;
    end(f, -ECONNRESET);
    asks_watch(f, "11");
    assert_told(f, "+a"); /* no listing */
}

static void test_watch_lengths_differ(void **state) {
    struct fixture *f = *state;
    int64_t least = INT64_MAX, most = 0;
    start_watching(f);
    for (int i = 0; i < 300; i++) {
        long long seconds = 0;
        end_well(f);
        asks_watch(f, "10");
        head(f, 200);
        const char *at = strstr(f->next.path, "timeoutSeconds=");
        assert_non_null(at);
        seconds = strtoll(at + 15, NULL, 10);
        assert_in_range(seconds, 300, 600);
        assert_int_equal(f->next.timeout_ms, seconds * 1000 + 30000);
        least = seconds < least ? seconds : least;
        most = seconds > most ? seconds : most;
    }
    assert_true(least < 310 && most > 590);
}

static void test_events(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "11")) EVENT("MODIFIED", NAMED("a", "12"))
                                 EVENT("DELETED", NAMED("b", "13")) EVENT(
                                     "RENAMED", NAMED("c", "14")) EVENT("BOOKMARK", RV("15"))),
                     0);
    assert_told(f, "+a+a-b");
    assert_int_equal(stats(f).events, 3);
    assert_int_equal(stats(f).bookmarks, 2); /* with the mark */
    end_well(f);
    asks_watch(f, "15");
}

static void test_unknown_type_keeps_the_version(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    assert_int_equal(data(f, EVENT("RENAMED", NAMED("c", "14"))), 0);
    end_well(f);
    asks_watch(f, "10");
}

static void test_versions_are_opaque(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    assert_int_equal(data(f, EVENT("BOOKMARK", RV("9007199254740993"))), 0);
    end_well(f);
    asks_watch(f, "9007199254740993");
    head(f, 200);
    assert_int_equal(data(f, EVENT("BOOKMARK", RV("v \\\"\\u0026\\u00e9\\\\/+~_-."))), 0);
    end_well(f);
    asks_watch(f, "v%20%22%26%C3%A9%5C%2F%2B~_-.");
}

/* A version with escapes lives in the reader's memory, beside a refused object that needs some,
 * too. */
static void test_escaped_version_of_a_refused_object(void **state) {
    struct fixture *f = *state;
    start_listing(f);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("odd", "a\\u0026b"))), 0);
    end_well(f);
    asks_watch(f, "a%26b");
    answer(f, 500, "");
    (void)waits(f);
    asks_list(f, "resourceVersion=a%26b");
    answer(f, 200, MORE("c\\u0026d", "t\\u0026", NAMED("odd", "1")));
    asks_list(f, "limit=500&continue=t%26");
    answer(f, 200, LIST("1", ""));
    asks_watch(f, "c%26d");
}

static void test_lines_as_they_come(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    static const char text[] = "\n  \r\n{\"type\":\"ADDED\",\"object\":" NAMED(
        "a", "11") "}\r\n"
                   "{ \"object\" : " NAMED(
                       "b", "12") " , \"type\" : \"ADDED\" }\n"
                                  "{\"type\":\"ADDED\",\"object\":" NAMED(
                                      "c", "13") ",\"x\":{}}\n"
                                                 "{\"type\":\"\\u0041DDED\",\"object\":" NAMED(
                                                     "d", "14") "}\n";
    for (size_t i = 0; i + 1 < sizeof text; i++)
        assert_int_equal(reflector_on_data(f->reflector, f->now_ms, (struct str){text + i, 1}), 0);
    assert_told(f, "+a+b+c+d");
    end_well(f);
    asks_watch(f, "14");
}

static void test_half_a_line_counts_not(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "11"))), 0);
    assert_int_equal(data(f, "{\"type\":\"ADDED\",\"object\":" NAMED("b", "12") "}"), 0);
    end_well(f);
    asks_watch(f, "11");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("b", "12"))), 0); /* nothing of it was kept */
    assert_told(f, "+a+b");
}

static void test_garbage_lists_anew(void **state) {
    static const char *const lines[] = {
        "garbage\n",
        "{\"type\":\"ADDED\"}\n",
        "{\"type\":\"ADDED\",\"object\":{}}\n",
        EVENT("ADDED", "{\"metadata\":{\"name\":\"a\"}}"),
        EVENT("ADDED", "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":11}}"),
        EVENT("BOOKMARK", "{\"metadata\":{}}"),
        EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"11\"},\"x\":\"\xff\"}"),
        EVENT("ADDED", NAMED("a", "11")) "\x01\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        (void)teardown(state);
        (void)setup(state);
        struct fixture *f = *state;
        start_watching(f);
        spoil(f, lines[i]);
        waits_between(f, 800, 1600);
        asks_watch_list(f, i + 1 < sizeof lines / sizeof lines[0] ? "10" : "11");
    }
}

static void test_watch_errors(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    f->now_ms += WATCHING_MS;
    spoil(f, EVENT("ERROR", STATUS(429, ",\"details\":{\"retryAfterSeconds\":7}")));
    assert_int_equal(waits(f), 7000);
    asks_watch(f, "10"); /* busy: no listing */
    reflector_on_head(f->reflector, f->now_ms, 429);
    reflector_on_end(f->reflector, f->now_ms, 0, 9000);
    assert_int_equal(waits(f), 9000);
    asks_watch(f, "10");
    head(f, 200);
    f->now_ms += WATCHING_MS;
    spoil(f, EVENT("ERROR", STATUS(500, ",\"reason\":\"InternalError\"")));
    waits_between(f, 800, 1600);
    asks_watch_list(f, "10");
    assert_told(f, "[");
}

/* The server was away, or silent for longer than bookmarks take: it may be another one now, and a
 * watch from a version in its future would never say so. */
static void test_server_away_is_asked_to_list(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    end_well(f);
    asks_watch(f, "10");
    end(f, -ECONNREFUSED);
    waits_between(f, 800, 1600);
    asks_watch_list(f, "10");
    head(f, 200);
    assert_int_equal(data(f, MARKER("11")), 0);
    f->now_ms += 180000;
    end(f, -ETIMEDOUT);
    waits_between(f, 800, 1600);
    asks_watch_list(f, "11");
}

static void test_watch_from_nothing(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200, LIST("0", ""));
    asks_watch(f, "0");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "9")) EVENT("ADDED", NAMED("b", "3"))), 0);
    end_well(f);
    asks_watch(f, "0"); /* the first events are in no order */
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "9")) EVENT("MODIFIED", NAMED("a", "10"))),
                     0);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("c", "11"))), 0);
    end_well(f);
    asks_watch(f, "11");
}

/* ---- haste ---- */

static void test_back_off(void **state) {
    struct fixture *f = *state;
    static const int64_t least_ms[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000};
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof least_ms / sizeof least_ms[0]; i++) {
            reflector_next(f->reflector, f->now_ms, &f->next);
            assert_int_equal(f->next.step, REFLECTOR_GET);
            answer(f, 403, STATUS(403, ""));
            waits_between(f, least_ms[i], least_ms[i] * 2 - 1);
        }
        f->now_ms += 120001; /* so long without an error, and it begins anew */
    }
}

/* upstream: apimachinery pkg/util/wait, the backoff manager: more than the time of its reset. */
static void test_trouble_is_forgiven(void **state) {
    struct fixture *f = *state;
    for (int64_t more_ms = 0; more_ms <= 1; more_ms++) {
        (void)teardown(state);
        (void)setup(state);
        for (int i = 0; i < 3; i++) {
            reflector_next(f->reflector, f->now_ms, &f->next);
            answer(f, 403, STATUS(403, ""));
            (void)waits(f);
        }
        f->now_ms += 120000 + more_ms;
        reflector_next(f->reflector, f->now_ms, &f->next);
        answer(f, 403, STATUS(403, ""));
        if (more_ms == 0)
            waits_between(f, 6400, 12800);
        else
            waits_between(f, 800, 1600);
    }
}

static void test_back_off_differs(void **state) {
    struct fixture *f = *state;
    int64_t least_ms = INT64_MAX, most_ms = 0;
    for (int i = 0; i < 300; i++) {
        reflector_next(f->reflector, f->now_ms, &f->next);
        answer(f, 401, "");
        int64_t ms = waits(f);
        least_ms = ms < least_ms ? ms : least_ms;
        most_ms = ms > most_ms ? ms : most_ms;
        f->now_ms += 120001;
    }
    assert_true(least_ms < 820 && most_ms > 1580);
}

static void test_retry_after(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 429);
    reflector_on_end(f->reflector, f->now_ms, 0, 50000);
    assert_int_equal(waits(f), 50000);
    asks_watch_list(f, "");
    answer(f, 503, STATUS(503, ",\"details\":{\"retryAfterSeconds\":40}"));
    assert_int_equal(waits(f), 40000);
    asks_list(f, "limit=500&resourceVersion=0");
    head(f, 429);
    reflector_on_end(f->reflector, f->now_ms, 0, 1000);
    waits_between(f, 3200, 6400); /* it is the least, not the most */
    asks_watch_list(f, "");
    head(f, 429);
    reflector_on_end(f->reflector, f->now_ms, 0, 1000000000000); /* 30 years: surely wrong */
    assert_int_equal(waits(f), 120000);
}

static void test_waiting_is_no_good_time(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        reflector_next(f->reflector, f->now_ms, &f->next);
        head(f, 429);
        reflector_on_end(f->reflector, f->now_ms, 0, 120000);
        assert_int_equal(waits(f), 120000);
    }
    reflector_next(f->reflector, f->now_ms, &f->next);
    answer(f, 500, "");
    waits_between(f, 12800, 25600);
}

static void test_short_watches(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    end_well(f);
    int64_t least_ms = 800;
    for (int i = 0; i < 4; i++, least_ms *= 2) {
        asks_watch(f, "10");
        head(f, 200);
        f->now_ms += 999;
        end(f, i % 2 == 0 ? 0 : -ECONNRESET);
        waits_between(f, least_ms, least_ms * 2);
        asks_watch_list(f, "10"); /* the server may have been another one meanwhile */
        head(f, 200);
        assert_int_equal(data(f, MARKER("10")), 0);
        f->now_ms += 1000;
        end(f, 0);
    }
    asks_watch(f, "10");
    head(f, 200);
    f->now_ms += 1000;
    end(f, 0);
    asks_watch(f, "10"); /* long enough */
    assert_int_equal(stats(f).errors, 4);
}

/* They bring something each time, but at this rate it is a flood of requests. */
static void test_short_watches_that_bring_something(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    end_well(f);
    for (int i = 0; i < 5; i++) {
        asks_watch(f, "10");
        head(f, 200);
        assert_int_equal(data(f, EVENT("BOOKMARK", RV("10"))), 0);
        end(f, 0);
        if (i >= 2)
            (void)waits(f);
    }
}

/* Listing works, watching never does. */
static void test_no_watch_ever(void **state) {
    struct fixture *f = *state;
    start_listing(f);
    for (int i = 0; i < 5; i++) {
        answer(f, 410, EXPIRED);
        if (i >= 1) /* the 422 was one, too */
            (void)waits(f);
        asks_list(f, "resourceVersion=10");
        answer(f, 200, LIST("10", ""));
        asks_watch(f, "10");
    }
}

/* ---- limits, and our own failures ---- */

static void test_too_large_an_event(void **state) {
    struct fixture *f = *state;
    static char part[1 << 20];
    memset(part, 'x', sizeof part - 1);
    start_watching(f);
    f->now_ms += WATCHING_MS;
    int enough = 0;
    for (int i = 0; i < 17 && !enough; i++)
        enough = data(f, part);
    assert_true(enough);
    end(f, -ECANCELED);
    waits_between(f, 800, 1600);
    asks_watch_list(f, "10");
    head(f, 200);
    for (enough = 0; !enough;)
        enough = data(f, part);
    end(f, -ECANCELED);
    asks_list(f, "resourceVersion=10"); /* what is too large for an event may fit into a page */
}

/* Of LIMIT_KUBE_EVENT bytes, without the end of the line, and of one more. */
static void test_an_event_of_the_limit(void **state) {
    struct fixture *f = *state;
    static const char before[] = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\","
                                 "\"resourceVersion\":\"11\"},\"text\":\"";
    static const char behind[] = "\"}}\n";
    static char line[LIMIT_KUBE_EVENT + 3];
    for (size_t n = LIMIT_KUBE_EVENT; n <= LIMIT_KUBE_EVENT + 1; n++) {
        memset(line, 'x', n);
        memcpy(line, before, sizeof before - 1);
        memcpy(line + n + 1 - (sizeof behind - 1), behind, sizeof behind);
        (void)teardown(state);
        (void)setup(state);
        start_watching(f);
        int enough = data(f, line);
        assert_told(f, n <= LIMIT_KUBE_EVENT ? "+a" : "");
        assert_int_equal(enough != 0, n > LIMIT_KUBE_EVENT);
    }
}

/* In pages, a list at a version is of exactly this one, and the watch after it would bring the same
 * event again. */
static void test_too_large_an_event_where_lists_are_paged(void **state) {
    struct fixture *f = *state;
    static char part[LIMIT_KUBE_EVENT + 2];
    memset(part, 'x', sizeof part - 1);
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200, MORE("20", "t", ""));
    asks_list(f, "limit=500&continue=t");
    answer(f, 200, LIST("20", ""));
    asks_watch(f, "20");
    head(f, 200);
    f->now_ms += WATCHING_MS;
    spoil(f, part);
    (void)waits(f);
    asks_list(f, "limit=500&resourceVersion=");
}

static void test_too_large_a_list(void **state) {
    struct fixture *f = *state;
    static char part[1 << 20];
    memset(part, ' ', sizeof part - 1);
    start_listing(f);
    f->now_ms += WATCHING_MS;
    answer(f, 500, "");
    (void)waits(f);
    asks_list(f, "resourceVersion=10");
    head(f, 200);
    int parts = 0;
    while (!data(f, part))
        parts++;
    assert_in_range(parts, 64, 65);
    end(f, -ECANCELED);
    asks_list(f, "limit=500&resourceVersion=");
    answer(f, 200, LIST("20", ""));
    asks_watch(f, "20");
    answer(f, 500, "");
    (void)waits(f);
    asks_list(f, "limit=500&resourceVersion="); /* it stays so */
}

/* A page beyond LIMIT_KUBE_PAGE of a list in pages: the same one is asked for again, half as long,
 * down to a single object; the next listing asks for more again. */
static void test_too_large_a_page(void **state) {
    struct fixture *f = *state;
    static char part[LIMIT_KUBE_PAGE + 2];
    static const char *const limits[] = {"250", "125", "62", "31", "15", "7", "3", "1"};
    char asked[64];
    memset(part, ' ', sizeof part - 1);
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    head(f, 200);
    spoil(f, part); /* in one answer: "0" is not paged everywhere */
    asks_list(f, "limit=500&resourceVersion=");
    answer(f, 200, MORE("20", "t", NAMED("a", "1")));
    f->told.n = 0;
    for (size_t i = 0; i <= sizeof limits / sizeof limits[0]; i++) {
        (void)snprintf(asked, sizeof asked, "limit=%s&continue=t", i > 0 ? limits[i - 1] : "500");
        asks_list(f, asked); /* without waiting */
        head(f, 200);
        spoil(f, part);
    }
    (void)waits(f); /* one object, and too large: no API server has it */
    asks_list(f, "limit=1&resourceVersion=");
    answer(f, 200, MORE("30", "u", NAMED("a", "1")));
    asks_list(f, "limit=1&continue=u");
    answer(f, 200, LIST("30", NAMED("b", "2")));
    asks_watch(f, "30");
    answer(f, 500, "");
    (void)waits(f);
    asks_list(f, "limit=2&resourceVersion=");
}

static void test_a_page_of_the_limit(void **state) {
    struct fixture *f = *state;
    static const char list[] = LIST("20", NAMED("a", "1"));
    static char page[LIMIT_KUBE_PAGE + 1];
    start_listing(f);
    f->now_ms += WATCHING_MS;
    answer(f, 500, "");
    (void)waits(f);
    asks_list(f, "resourceVersion=10");
    f->told.n = 0;
    memset(page, ' ', sizeof page - 1);
    memcpy(page, list, sizeof list - 1);
    answer(f, 200, page);
    assert_told(f, "+a]");
}

static void test_refused_objects_are_passed_over(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("odd", "11")) EVENT("ADDED", NAMED("a", "12"))),
                     0);
    assert_told(f, "+a");
    assert_int_equal(stats(f).refused, 1);
    /* Members behind the object belong to the event, not to the object. */
    assert_int_equal(
        data(f, "{\"type\":\"ADDED\",\"object\":" NAMED("odd", "13") ",\"more\":{}}\n"), 0);
    assert_int_equal(stats(f).refused, 2);
    end_well(f);
    asks_watch(f, "13");
}

/* Nothing but a listing gets rid of it; one at its version is without it. */
static void test_refused_removal_lists_anew(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    spoil(f, EVENT("DELETED", NAMED("odd", "11")));
    waits_between(f, 800, 1600);
    asks_watch_list(f, "11");
    head(f, 200);
    spoil(f, EVENT("DELETED", NAMED("odd", "12"))); /* a server that took it for a watch */
    (void)waits(f);
    asks_list(f, "resourceVersion=11");
    assert_int_equal(stats(f).refused, 2);
}

static void test_no_memory_lists_anew(void **state) {
    struct fixture *f = *state;
    start_watching(f);
    spoil(f, EVENT("ADDED", NAMED("full", "11")));
    (void)waits(f);
    asks_watch_list(f, "10"); /* its version is not had */
    head(f, 200);
    spoil(f, EVENT("ADDED", NAMED("full", "11")));
    assert_told(f, "[");
}

/* Versions and tokens are kept up to a limit far beyond any in earnest. */
static void test_too_long_a_version(void **state) {
    struct fixture *f = *state;
    char text[20000], name[17001];
    memset(name, 'v', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    start_watching(f);
    (void)snprintf(text, sizeof text, EVENT("BOOKMARK", RV("%.5000s")), name);
    assert_int_equal(data(f, text), 0);
    end_well(f);
    waits_between(f, 800, 1600);
    asks_watch_list(f, ""); /* the newest */
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=");
    (void)snprintf(text, sizeof text, LIST("%.5000s", ""), name);
    answer(f, 200, text);
    waits_between(f, 1600, 3200);
    asks_list(f, "limit=500&resourceVersion=");
    (void)snprintf(text, sizeof text, MORE("20", "%s", ""), name);
    answer(f, 200, text);
    waits_between(f, 3200, 6400);
    asks_list(f, "limit=500&resourceVersion=");
    (void)snprintf(text, sizeof text, LIST("%.4000s", ""), name);
    answer(f, 200, text);
    reflector_next(f->reflector, f->now_ms, &f->next);
    assert_contains(f->next.path, "&resourceVersion=vvvv");
}

static void test_no_room_for_a_request(void **state) {
    struct fixture *f = *state;
    char query[70000];
    memset(query, 'q', sizeof query - 1);
    query[sizeof query - 1] = '\0';
    (void)teardown(state);
    (void)setup_with(state, query, false, 0);
    assert_int_equal(waits(f), 30000);
    assert_int_equal(waits(f), 30000);
}

static void test_ages(void **state) {
    struct fixture *f = *state;
    assert_true(stats(f).heard_ms == INT64_MIN && stats(f).changed_ms == INT64_MIN);
    asks_watch_list(f, "");
    answer(f, 403, STATUS(403, ""));
    assert_true(stats(f).heard_ms == INT64_MIN); /* an error is no news of pods */
    assert_int_equal(stats(f).errors, 1);
    (void)waits(f);
    asks_list(f, "limit=500&resourceVersion=0");
    head(f, 200);
    assert_int_equal(stats(f).heard_ms, f->now_ms);
    f->now_ms += 10;
    assert_int_equal(data(f, "  "), 0);
    assert_int_equal(stats(f).heard_ms, f->now_ms);
    assert_true(stats(f).changed_ms == INT64_MIN);
    assert_int_equal(data(f, LIST("10", "")), 0);
    end(f, 0);
    assert_int_equal(stats(f).changed_ms, f->now_ms);
    f->now_ms += 10;
    asks_watch(f, "10");
    head(f, 200);
    assert_int_equal(stats(f).changed_ms, f->now_ms - 10);
    assert_int_equal(data(f, EVENT("BOOKMARK", RV("11"))), 0);
    assert_int_equal(stats(f).changed_ms, f->now_ms);
    assert_int_equal(stats(f).listings, 2);
    assert_int_equal(stats(f).watches, 1);
}

/* ---- resources that need not be there ---- */

#define NOT_FOUND "404 page not found\n"

/* None of it, asked again without haste, and then as if nothing had been. */
static void test_an_optional_resource_comes_later(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        asks_watch_list(f, "");
        answer(f, 404, NOT_FOUND);
        assert_told(f, "[]");
        assert_true(stats(f).absent && stats(f).synced && !stats(f).known);
        assert_int_equal(stats(f).heard_ms, f->now_ms);
        waits_between(f, 30000, 60000);
    }
    assert_int_equal(stats(f).errors, 0);
    asks_watch_list(f, "");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "7")) MARKER("10")), 0);
    assert_told(f, "[+a]");
    assert_false(stats(f).absent);
    end_well(f);
    asks_watch(f, "10");
}

/* It is taken away: what was known is gone once the server says so to a listing. */
static void test_an_optional_resource_goes(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "7")) MARKER("10")), 0);
    end_well(f);
    assert_told(f, "[+a]");
    asks_watch(f, "10");
    answer(f, 404, NOT_FOUND);
    assert_told(f, "");
    assert_false(stats(f).absent);
    waits_between(f, 800, 1600);
    asks_watch_list(f, "10");
    answer(f, 404, NOT_FOUND);
    assert_told(f, "[]");
    assert_true(stats(f).absent && stats(f).known);
    waits_between(f, 30000, 60000);
}

static void test_an_optional_resource_without_watch_list(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 404, NOT_FOUND);
    assert_told(f, "[[]");
    waits_between(f, 30000, 60000);
    asks_list(f, "limit=500&resourceVersion=0");
}

/* One that must be there is an error, and so is a refusal. */
static void test_what_is_no_absence(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    answer(f, 403, STATUS(403, ",\"reason\":\"Forbidden\""));
    assert_told(f, "[");
    assert_false(stats(f).absent || stats(f).synced);
    assert_int_equal(stats(f).errors, 1);
    (void)teardown(state);
    (void)setup(state);
    asks_watch_list(f, "");
    answer(f, 404, NOT_FOUND);
    assert_told(f, "[");
    assert_false(stats(f).absent || stats(f).synced);
    assert_int_equal(stats(f).errors, 1);
}

/* ---- lists that do not end ---- */

#define TWO(a, b, version) NAMED(a, version) "," NAMED(b, version)

/* It comes to the pages of a list. */
static void begin_pages(struct fixture *f) {
    asks_watch_list(f, "");
    answer(f, 422, "");
    asks_list(f, "limit=500&resourceVersion=0");
    assert_told(f, "[[");
}

static void test_a_list_as_long_as_may_be(void **state) {
    struct fixture *f = *state;
    begin_pages(f);
    answer(f, 200, MORE("20", "t1", TWO("a", "b", "1")));
    asks_list(f, "limit=500&continue=t1");
    answer(f, 200, LIST("20", NAMED("c", "1")));
    assert_told(f, "+a+b+c]");
    asks_watch(f, "20");
    assert_int_equal(stats(f).errors, 0); /* the watch-list that was refused is none */
}

/* A token of its own on each page, and objects that nobody has shown before. */
static void test_pages_without_end(void **state) {
    struct fixture *f = *state;
    begin_pages(f);
    answer(f, 200, MORE("20", "t1", TWO("a", "b", "1")));
    asks_list(f, "limit=500&continue=t1");
    answer(f, 200, MORE("20", "t2", TWO("c", "d", "1")));
    assert_told(f, "+a+b+c!");
    assert_false(stats(f).synced);
    assert_int_equal(stats(f).errors, 1);
    waits_between(f, 800, 1600);
    asks_list(f, "limit=500&resourceVersion=0"); /* from the beginning */
    answer(f, 200, LIST("30", TWO("a", "x", "1") "," NAMED("y", "1")));
    assert_told(f, "[+a+x+y]");
    assert_true(stats(f).synced);
    asks_watch(f, "30");
}

/* They take a turn each, as objects do. */
static void test_empty_pages_without_end(void **state) {
    struct fixture *f = *state;
    begin_pages(f);
    for (int page = 1; page <= 3; page++) {
        char text[200], query[100];
        (void)snprintf(text, sizeof text, MORE("20", "t%d", ""), page);
        (void)snprintf(query, sizeof query, "limit=500&continue=t%d", page); /* both fit */
        answer(f, 200, text);
        asks_list(f, query);
    }
    answer(f, 200, MORE("20", "t4", ""));
    assert_told(f, "!");
    (void)waits(f);
}

static void test_a_watch_list_without_end(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "1")) EVENT("ADDED", NAMED("b", "2"))), 0);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("c", "3"))), 0);
    spoil(f, EVENT("ADDED", NAMED("d", "4")));
    assert_told(f, "[+a+b+c!");
    waits_between(f, 800, 1600);
    asks_list(f, "limit=500&resourceVersion=0"); /* perhaps it knows no watch-lists */
    answer(f, 200, LIST("10", NAMED("a", "1")));
    assert_told(f, "[+a]");
}

/* What one that was cut has shown is shown again by the next. */
static void test_each_list_counts_by_itself(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "1")) EVENT("ADDED", NAMED("b", "2"))
                                 EVENT("ADDED", NAMED("c", "3"))),
                     0);
    end(f, -ECONNRESET);
    (void)waits(f);
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200, MORE("20", "t1", TWO("a", "b", "1")));
    asks_list(f, "limit=500&continue=t1");
    answer(f, 410, EXPIRED);
    asks_list(f, "resourceVersion=0");
    answer(f, 200, LIST("21", TWO("a", "b", "1") "," NAMED("c", "1")));
    assert_told(f, "[+a+b+c[+a+b[+a+b+c]");
}

/* A server that took it for a watch goes on with changes; they are no more objects. */
static void test_changes_are_no_more_objects(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 200);
    for (int i = 0; i < 5; i++)
        assert_int_equal(
            data(f, EVENT("MODIFIED", NAMED("a", "5")) EVENT("DELETED", NAMED("b", "6"))), 0);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "1")) EVENT("ADDED", NAMED("b", "2"))
                                 EVENT("ADDED", NAMED("c", "3")) MARKER("10")),
                     0);
    assert_told(f, "[+a-b+a-b+a-b+a-b+a-b+a+b+c]");
}

/* A list of two objects, and the watch after it. */
static void watch_after_two(struct fixture *f) {
    begin_pages(f);
    answer(f, 200, LIST("20", TWO("a", "b", "1")));
    asks_watch(f, "20");
    head(f, 200);
    assert_told(f, "+a+b]");
}

/* What is added counts, and what is gone counts no more; what changes is no more objects. */
static void test_a_watch_that_adds_as_many_as_may_be(void **state) {
    struct fixture *f = *state;
    watch_after_two(f);
    for (int i = 0; i < 4; i++)
        assert_int_equal(data(f,
                              EVENT("ADDED", NAMED("c", "21")) EVENT("MODIFIED", NAMED("c", "22"))
                                  EVENT("DELETED", NAMED("c", "23"))),
                         0);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("d", "24"))), 0);
    end(f, 0);
    asks_watch(f, "24"); /* it goes on */
    head(f, 200);
    spoil(f, EVENT("ADDED", NAMED("e", "25")));
    assert_told(f, "+c+c-c+c+c-c+c+c-c+c+c-c+d!");
    assert_int_equal(stats(f).errors, 1);
    waits_between(f, 800, 1600);
    asks_list(f, "resourceVersion=24"); /* which counts anew */
    answer(f, 200, LIST("30", TWO("a", "b", "1") "," NAMED("c", "1")));
    assert_told(f, "[+a+b+c]");
    assert_true(stats(f).synced);
}

/* More can be gone than was there: then there are none. */
static void test_a_watch_that_takes_more_than_there_is(void **state) {
    struct fixture *f = *state;
    watch_after_two(f);
    for (int i = 0; i < 4; i++)
        assert_int_equal(data(f, EVENT("DELETED", NAMED("x", "21"))), 0);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("c", "22")) EVENT("ADDED", NAMED("d", "23"))
                                 EVENT("ADDED", NAMED("e", "24"))),
                     0);
    spoil(f, EVENT("ADDED", NAMED("g", "25")));
    assert_told(f, "-x-x-x-x+c+d+e!");
}

/* One from version 0 tells all there is once more. */
static void test_a_watch_that_begins_with_all(void **state) {
    struct fixture *f = *state;
    begin_pages(f);
    answer(f, 200, LIST("0", TWO("a", "b", "1")));
    asks_watch(f, "0");
    head(f, 200);
    assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "1")) EVENT("ADDED", NAMED("b", "2"))
                                 EVENT("ADDED", NAMED("c", "3"))),
                     0);
    spoil(f, EVENT("ADDED", NAMED("d", "4")));
    assert_told(f, "+a+b]+a+b+c!");
}

/* Before that nothing is taken off: a list that goes on for ever with what goes again has no end.
 */
static void test_a_watch_list_of_what_goes(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 200);
    for (int i = 0; i < 3; i++)
        assert_int_equal(data(f, EVENT("ADDED", NAMED("a", "1")) EVENT("DELETED", NAMED("a", "2"))),
                         0);
    spoil(f, EVENT("ADDED", NAMED("a", "3")));
    assert_told(f, "[+a-a+a-a+a-a!");
}

/* The sink may have enough sooner. */
static void test_more_than_the_sink_keeps(void **state) {
    struct fixture *f = *state;
    asks_watch_list(f, "");
    head(f, 200);
    spoil(f, EVENT("ADDED", NAMED("a", "1")) EVENT("MODIFIED", NAMED("huge", "2")));
    assert_told(f, "[+a!");
    waits_between(f, 800, 1600);
    asks_list(f, "limit=500&resourceVersion=0");
    answer(f, 200, LIST("10", ""));
    assert_told(f, "[]");
    asks_watch(f, "10");
    head(f, 200);
    spoil(f, EVENT("ADDED", NAMED("huge", "12")));
    assert_told(f, "!");
    (void)waits(f);
    asks_watch_list(f, "10");
    assert_int_equal(stats(f).refused, 0);
}

/* Where nothing is said the limit is that of the table. */
static void test_the_usual_limit(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf page = {0};
    uint32_t left = LIMIT_LISTED;
    begin_pages(f);
    for (uint32_t number = 1; left > 0; number++) {
        const uint32_t count = left < 50000 ? left : 50000;
        char query[100];
        left -= count;
        strbuf_clear(&page);
        strbuf_appendf(&page,
                       "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\","
                       "\"continue\":\"t%u\"},\"items\":[",
                       number);
        for (uint32_t i = 0; i < count; i++)
            strbuf_appendf(&page, "%s" NAMED("a", "1"), i > 0 ? "," : "");
        strbuf_append_str(&page, STR("]}"));
        strbuf_append_char(&page, '\0');
        answer(f, 200, page.p);
        (void)snprintf(query, sizeof query, "limit=500&continue=t%u", number); /* fits */
        asks_list(f, query);
        strbuf_clear(&f->told);
    }
    answer(f, 200, LIST("1", NAMED("a", "1")));
    assert_told(f, "!");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
#define TEST_SMALL(name) cmocka_unit_test_setup_teardown(test_##name, setup_small, teardown)
#define TEST_OPTIONAL(name) cmocka_unit_test_setup_teardown(test_##name, setup_optional, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(watch_list_is_first),
        cmocka_unit_test_setup_teardown(test_query_goes_with_every_request, setup_query, teardown),
        TEST(plain_list_where_watch_list_is_not_known),
        TEST(plain_list_where_watch_list_never_ends),
        TEST(pages),
        TEST(server_that_pages_is_asked_for_pages),
        TEST(page_expired_lists_whole),
        TEST(same_page_again_is_no_progress),
        TEST(version_not_to_be_had),
        TEST(expired_again_and_again),
        TEST(the_newest_is_refused),
        TEST(a_long_error),
        TEST(what_is_no_list),
        TEST(half_a_list),
        TEST(watch_ends_and_goes_on),
        TEST(watch_lengths_differ),
        TEST(events),
        TEST(unknown_type_keeps_the_version),
        TEST(versions_are_opaque),
        TEST(escaped_version_of_a_refused_object),
        TEST(lines_as_they_come),
        TEST(half_a_line_counts_not),
        TEST(garbage_lists_anew),
        TEST(watch_errors),
        TEST(server_away_is_asked_to_list),
        TEST(watch_from_nothing),
        TEST(back_off),
        TEST(trouble_is_forgiven),
        TEST(back_off_differs),
        TEST(retry_after),
        TEST(waiting_is_no_good_time),
        TEST(short_watches),
        TEST(short_watches_that_bring_something),
        TEST(no_watch_ever),
        TEST(too_large_an_event),
        TEST(an_event_of_the_limit),
        TEST(too_large_an_event_where_lists_are_paged),
        TEST(too_large_a_list),
        TEST(too_large_a_page),
        TEST(a_page_of_the_limit),
        TEST(refused_objects_are_passed_over),
        TEST(refused_removal_lists_anew),
        TEST(no_memory_lists_anew),
        TEST(too_long_a_version),
        TEST(no_room_for_a_request),
        TEST(ages),
        TEST_OPTIONAL(an_optional_resource_comes_later),
        TEST_OPTIONAL(an_optional_resource_goes),
        TEST_OPTIONAL(an_optional_resource_without_watch_list),
        TEST_OPTIONAL(what_is_no_absence),
        TEST_SMALL(a_list_as_long_as_may_be),
        TEST_SMALL(pages_without_end),
        TEST_SMALL(empty_pages_without_end),
        TEST_SMALL(a_watch_list_without_end),
        TEST_SMALL(each_list_counts_by_itself),
        TEST_SMALL(changes_are_no_more_objects),
        TEST_SMALL(a_watch_that_adds_as_many_as_may_be),
        TEST_SMALL(a_watch_that_takes_more_than_there_is),
        TEST_SMALL(a_watch_that_begins_with_all),
        TEST_SMALL(a_watch_list_of_what_goes),
        TEST_SMALL(more_than_the_sink_keeps),
        TEST(the_usual_limit),
    };
    return cmocka_run_group_tests_name("kube/reflector", tests, NULL, NULL);
}

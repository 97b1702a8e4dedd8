/* Which members there are, as their sources are written, and what state they are in. */
#include "members/members.h"

#include "base/file.h"
#include "base/log.h"
#include "base/metrics.h"

#include "unit/unit.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void sources(void **state) {
    static const struct {
        const char *text;
        bool good;
        const char *name, *kubeconfig, *context, *server;
        bool files;
    } cases[] = {
        {"m1", true, "m1", "", "", "", true},
        {"m1=/etc/m1", true, "m1", "/etc/m1", "", "", false},
        {"m1=/etc/m1#admin@m1", true, "m1", "/etc/m1", "admin@m1", "", false},
        {"m1=a=b#c#d", true, "m1", "a=b", "c#d", "", false},
        {"a.b-c=f", true, "a.b-c", "f", "", "", false},
        {"m1=https://h:6443", true, "m1", "", "", "https://h:6443", false},
        {"m1=http://h,a,b#c", true, "m1", "a,b", "c", "http://h", false},
        {"m1=https://h,f", true, "m1", "f", "", "https://h", false},
        {"m1=httpsd/x,f", true, "m1", "httpsd/x,f", "", "", false},
        {.text = "m1=https://h,"},
        {.text = "m1=https://h,#c"},
        {.text = "M1=https://h"},
        {.text = ""},
        {.text = "m1="},
        {.text = "m1=#c"},
        {.text = "m1=f#"},
        {.text = "=f"},
        {.text = "M1=f"},
        {.text = "-m=f"},
        {.text = "m."},
        {.text = "m1#c"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct member_source source;
        const bool good = member_source_parse(str_of(cases[i].text), &source);
        if (good != cases[i].good)
            fail_msg("'%s': %d", cases[i].text, good);
        if (!good)
            continue;
        assert_str(source.name, cases[i].name);
        assert_str(source.kubeconfig, cases[i].kubeconfig);
        assert_str(source.context, cases[i].context);
        assert_str(source.server, cases[i].server);
        assert_int_equal(member_source_is_files(&source), cases[i].files);
    }
}

static void longest_name(void **state) {
    struct member_source source;
    char name[255];
    (void)state;
    memset(name, 'a', sizeof name);
    assert_true(member_source_parse((struct str){name, 253}, &source));
    assert_false(member_source_parse((struct str){name, 254}, &source));
}

/* The state of a member that must be there. */
static enum member_state state_of(struct members *m, const char *name) {
    struct member *member = members_hold(m, str_of(name));
    assert_non_null(member);
    assert_str(member_name(member), name);
    const enum member_state state = member_state(member);
    member_release(member);
    return state;
}

static uint32_t count_of(struct members *m) {
    uint32_t count;
    member_release(members_hold_only(m, &count));
    return count;
}

static void found_by_name(void **state) {
    static const char *const texts[] = {"m2", "m10", "m1"};
    struct members *m = NULL;
    (void)state;
    assert_int_equal(members_new(texts, 3, 0, &m, NULL), 0);
    assert_int_equal(count_of(m), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(state_of(m, texts[i]), MEMBER_SYNCING);
    assert_null(members_hold(m, STR("m")));
    assert_null(members_hold(m, STR("m11")));
    assert_null(members_hold(m, STR("m3")));
    assert_null(members_hold(m, STR("")));
    members_free(m);
    members_free(NULL);
}

static void refused(void **state) {
    static const char *const twice[] = {"m1", "m2", "m1"}, *const none[] = {"m1=/does/not/exist"},
                             *const bad[] = {"m1="}, *const no_server[] = {"m1=https://"};
    struct members *m = NULL;
    struct err err = {0};
    (void)state;
    assert_int_not_equal(members_new(twice, 3, 0, &m, &err), 0);
    assert_string_equal(err.text, "member cluster 'm1' is there twice");
    assert_int_not_equal(members_new(none, 1, 0, &m, &err), 0);
    assert_contains(err.text, "member cluster 'm1': ");
    assert_contains(err.text, "/does/not/exist");
    assert_int_not_equal(members_new(bad, 1, 0, &m, &err), 0);
    assert_contains(err.text, "member cluster 'm1='");
    assert_int_not_equal(members_new(no_server, 1, 0, &m, &err), 0);
    assert_contains(err.text, "member cluster 'm1': 'https://' is not the address of a server");
    assert_null(m);
}

/* A kubeconfig of a server that takes connections and says nothing. Returns its socket. */
static int write_silent(const char *path) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    char text[400];
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(text, sizeof text,
                   "apiVersion: v1\nkind: Config\n"
                   "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                   "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
                   "users: [{name: u, user: {}}]\n",
                   ntohs(at.sin_port));
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    return fd;
}

static void of_the_cluster(void **state) {
    static const char *const texts[] = {"m1"};
    static char path[] = "/tmp/evenkeel-cluster-XXXXXX.yaml";
    struct members *m = NULL;
    struct err err = {0};
    (void)state;
    assert_int_equal(close(mkstemps(path, 5)), 0);
    const int silent = write_silent(path);
    assert_int_equal(members_new(texts, 1, 0, &m, NULL), 0);
    assert_non_null(members_of_files(m));
    assert_int_equal(unsetenv("KUBERNETES_SERVICE_HOST"), 0);
    assert_int_not_equal(members_use_cluster(m, NULL, NULL, &err), 0);
    assert_contains(err.text, "member cluster 'm1': ");
    assert_int_not_equal(members_use_cluster(m, path, "d", &err), 0);
    assert_contains(err.text, "member cluster 'm1': ");
    assert_non_null(members_of_files(m));
    if (members_use_cluster(m, path, "c", &err) != 0)
        fail_msg("%s", err.text);
    assert_null(members_of_files(m));
    members_start(m);
    assert_int_equal(state_of(m, "m1"), MEMBER_SYNCING);
    assert_false(members_listed(m));
    members_stop(m);
    members_free(m);
    assert_int_equal(close(silent), 0);
    assert_int_equal(unlink(path), 0);
}

/* Where each member has a kubeconfig, that of the process is not read. */
static void of_no_cluster(void **state) {
    struct members *m = NULL;
    (void)state;
    assert_int_equal(members_new(NULL, 0, 0, &m, NULL), 0);
    assert_int_equal(members_use_cluster(m, "/does/not/exist", NULL, NULL), 0);
    members_free(m);
}

static void assert_counted(const char *line) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    metrics_render(&out);
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, line);
}

/* Files are read, or they are not; a member whose API server does not answer is neither synced nor
 * an error. */
static void states(void **state) {
    static char path[] = "/tmp/evenkeel-members-XXXXXX.yaml", text[160];
    const char *const texts[] = {"m1", text};
    const char *paths[] = {path};
    struct members *m = NULL;
    struct err err = {0};
    (void)state;
    assert_int_equal(close(mkstemps(path, 5)), 0);
    assert_int_equal(
        file_write_atomic(path,
                          STR("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                              "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                              "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                              "users: [{name: u, user: {}}]\n"),
                          0600, NULL),
        0);
    (void)snprintf(text, sizeof text, "m2=%s#c", path);
    if (members_new(texts, 2, 1000, &m, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(state_of(m, "m1"), MEMBER_SYNCING);
    assert_int_equal(state_of(m, "m2"), MEMBER_SYNCING);
    assert_false(members_listed(m));
    members_start(m);
    members_poll(m);
    assert_int_equal(state_of(m, "m2"), MEMBER_SYNCING);
    assert_int_equal(file_write_atomic(path,
                                       STR("kind: Node\napiVersion: v1\nmetadata: {name: node1}\n"),
                                       0600, NULL),
                     0);
    if (informer_load(members_of_files(m), paths, 1, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(state_of(m, "m1"), MEMBER_SYNCED);
    assert_counted("evenkeel_estimator_members{state=\"synced\"} 1\n");
    assert_counted("evenkeel_estimator_members{state=\"syncing\"} 1\n");
    assert_counted("evenkeel_estimator_members{state=\"stale\"} 0\n");
    members_stop(m);
    members_free(m);
    assert_int_equal(unlink(path), 0);
}

/* Gives the set a member at that server. */
static void add(struct members *m, const char *name, const struct kube_access *access) {
    CLEANUP(arena_done) struct arena arena;
    struct err err = {0};
    arena_init(&arena, 1 << 16);
    if (members_add(m, str_of(name), &arena, access, &err) != 0)
        fail_msg("%s", err.text);
}

/* Whoever waits for the one with a CA that is none would wait for good. */
static void never_begins(void **state) {
    static const struct kube_access access = {.server = "https://127.0.0.1:1",
                                              .namespace = "default",
                                              .token = "t",
                                              .ca = {.data = {"garbage", 7}}};
    struct members *m = NULL;
    (void)state;
    assert_int_equal(members_new(NULL, 0, 0, &m, NULL), 0);
    members_start(m);
    add(m, "m1", &access);
    assert_false(members_listed(m)); /* it has not been tried yet */
    members_poll(m);
    assert_int_equal(state_of(m, "m1"), MEMBER_SYNCING);
    assert_true(members_listed(m));
    members_stop(m);
    members_free(m);
}

static int times_tried(int log) {
    char text[8000];
    int times = 0;
    const ssize_t n = pread(log, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    for (const char *p = text; (p = strstr(p, "a member cluster is not watched")) != NULL; p++)
        times++;
    return times;
}

/* It is tried again after a second, two, four, up to a minute. */
static void tried_again(void **state) {
    static const int64_t pauses_ms[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000};
    static const struct kube_access access = {.server = "https://127.0.0.1:1",
                                              .namespace = "default",
                                              .token = "t",
                                              .ca = {.data = {"garbage", 7}}};
    const int log = memfd_create("log", MFD_CLOEXEC);
    struct clock_fake clock;
    struct members *m = NULL;
    (void)state;
    assert_true(log >= 0);
    clock_fake_init(&clock, 1000);
    assert_int_equal(members_new(NULL, 0, 0, &m, NULL), 0);
    members_configure(m, &(struct members_options){.clock = &clock.clock});
    members_start(m);
    add(m, "m1", &access);
    log_setup(LOG_INFO, LOG_LOGFMT, log);
    members_poll(m);
    assert_int_equal(times_tried(log), 1);
    for (int i = 0; i < (int)(sizeof pauses_ms / sizeof pauses_ms[0]); i++) {
        clock.at_ms += pauses_ms[i] - 1;
        members_poll(m);
        assert_int_equal(times_tried(log), i + 1);
        clock.at_ms++;
        members_poll(m);
        assert_int_equal(times_tried(log), i + 2);
    }
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    assert_int_equal(close(log), 0);
    members_stop(m);
    members_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources),       cmocka_unit_test(longest_name),
        cmocka_unit_test(found_by_name), cmocka_unit_test(refused),
        cmocka_unit_test(states),        cmocka_unit_test(of_the_cluster),
        cmocka_unit_test(of_no_cluster), cmocka_unit_test(never_begins),
        cmocka_unit_test(tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

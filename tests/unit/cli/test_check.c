/*
 * evenkeel check, as a user runs it: whole outputs against golden files (UPDATE_GOLDEN=1 writes
 * them anew), and one rule at a time by changing one line of a good configuration.
 */
#include "base/base64.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "base/time.h"
#include "certs/folder.h"
#include "check/scheduler.h"
#include "cli/commands.h"

#include "unit/certs/issued.h"
#include "unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* ---- running the command ---- */

struct run {
    int status;
    struct strbuf out, err; /* NUL-terminated */
};

static void take_back(int saved, int fd, const char *path, struct strbuf *text) {
    struct err err;
    assert_int_equal(dup2(saved, fd), fd);
    assert_int_equal(close(saved), 0);
    *text = (struct strbuf){.max = 1 << 22};
    if (file_read(path, 1 << 20, text, &err) != 0)
        fail_msg("%s", err.text);
    strbuf_append_char(text, '\0');
    text->n--;
    assert_int_equal(unlink(path), 0);
}

static int redirect(int fd, char *path) {
    int file = mkstemp(path), saved = dup(fd);
    assert_true(file >= 0 && saved >= 0);
    assert_int_equal(dup2(file, fd), fd);
    assert_int_equal(close(file), 0);
    return saved;
}

/* `line`: words, without quotes. */
static struct run run(const char *line) {
    struct run r;
    char copy[500], *argv[16], out[] = "/tmp/evenkeel-out-XXXXXX",
                               err[] = "/tmp/evenkeel-err-XXXXXX";
    int argc = 0;
    (void)snprintf(copy, sizeof copy, "%s", line); /* fits */
    char *rest = copy;
    for (char *word; argc < 15 && (word = strsep(&rest, " ")) != NULL;)
        argv[argc++] = word;
    argv[argc] = NULL;
    (void)fflush(stdout); /* cmocka's own output, which is not lost */
    int saved_out = redirect(1, out), saved_err = redirect(2, err);
    r.status = cmd_check(argc, argv);
    (void)fflush(stdout); /* as above */
    take_back(saved_err, 2, err, &r.err);
    take_back(saved_out, 1, out, &r.out);
    return r;
}

static void run_done(struct run *r) {
    strbuf_done(&r->out);
    strbuf_done(&r->err);
}

/* ---- golden files ---- */

/* `path` without its last suffix, with another. */
static void golden_path(const char *path, char *ret, size_t size) {
    (void)snprintf(ret, size, "%.*s.out", (int)(strrchr(path, '.') - path), path); /* fits */
}

static void compare(const char *check, const char *path) {
    char line[500], golden[500];
    struct err err;
    CLEANUP(strbuf_done) struct strbuf want = {.max = 1 << 20}, got = {.max = 1 << 20};
    (void)snprintf(line, sizeof line, "check %s %s", check, path); /* fits */
    golden_path(path, golden, sizeof golden);
    struct run r = run(line);
    strbuf_appendf(&got, "%sexit %d\n", r.out.p, r.status);
    assert_string_equal(r.err.p, "");
    run_done(&r);
    if (getenv("UPDATE_GOLDEN") != NULL)
        assert_int_equal(file_write_atomic(golden, strbuf_str(&got), 0644, &err), 0);
    if (file_read(golden, 1 << 19, &want, &err) != 0)
        fail_msg("%s; UPDATE_GOLDEN=1 writes it", err.text);
    if (!str_eq(strbuf_str(&want), strbuf_str(&got)))
        fail_msg("%s differs; now it is:\n%.*s", golden, (int)got.n, got.p);
}

/* Every CHECK-*.yaml and CHECK-*.json. */
static int compare_all(const char *check) {
    static const char folder[] = "tests/golden/check";
    char prefix[50], path[400];
    int count = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        fail_msg("no folder %s (run it from the top of the repository)", folder);
    (void)snprintf(prefix, sizeof prefix, "%s-", check); /* fits */
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct str name = str_of(entry->d_name);
        if (!str_has_prefix(name, str_of(prefix)) || str_has_suffix(name, STR(".out")))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name); /* fits */
        compare(check, path);
        count++;
    }
    assert_int_equal(closedir(dir), 0);
    return count;
}

static void test_golden_config(void **state) {
    (void)state;
    assert_true(compare_all("config") >= 6);
}

static void test_golden_scheduler(void **state) {
    (void)state;
    assert_true(compare_all("kube-scheduler-config") >= 10);
}

static void test_json(void **state) {
    (void)state;
    static const char path[] = "tests/golden/check/kube-scheduler-config-old.yaml";
    struct run r = run("check kube-scheduler-config -o json "
                       "tests/golden/check/kube-scheduler-config-old.yaml");
    assert_int_equal(r.status, 1);
    char want[600];
    (void)snprintf(want, sizeof want,
                   "{\"file\":\"%s\",\"errors\":2,\"warnings\":5,\"infos\":5,\"findings\":[{"
                   "\"severity\":\"error\",\"line\":1,\"field\":\"apiVersion\",\"problem\":"
                   "\"'kubescheduler.config.k8s.io/v1beta3' ended with Kubernetes 1.29: "
                   "kube-scheduler refuses the file since then\",\"advice\":\"write "
                   "kubescheduler.config.k8s.io/v1, which Kubernetes has since 1.25\"},{",
                   path); /* fits */
    assert_true(str_has_prefix(strbuf_str(&r.out), str_of(want)));
    run_done(&r);
    r = run("check config -o json tests/golden/check/config-mistakes.yaml");
    assert_int_equal(r.status, 1);
    struct arena arena;
    struct json_reader reader;
    struct err err;
    arena_init(&arena, 1 << 20);
    json_reader_init(&reader, strbuf_str(&r.out), &arena, "answer");
    (void)json_skip(&reader); /* json_finish() tells */
    assert_int_equal(json_finish(&reader, &err), 0);
    arena_done(&arena);
    run_done(&r);
}

/* ---- command lines ---- */

static void test_command_lines(void **state) {
    (void)state;
    static const struct {
        const char *line;
        int status;
        const char *out, *err; /* parts */
    } rows[] = {
        {"check", 2, NULL, "check what?"},
        {"check --help", 0, "Usage: evenkeel check", NULL},
        {"check confg", 2, NULL, "unknown check 'confg'; did you mean config?"},
        {"check config", 2, NULL, "which FILE?"},
        {"check config --help", 0, "--help-serve", NULL},
        {"check config --help-serve", 0, "--extender-listen ADDRESS", NULL},
        {"check config a b", 2, NULL, "unexpected argument 'b'"},
        {"check config a -o yaml", 2, NULL, "unknown output format 'yaml'"},
        {"check config a --extender-lisen x", 2, NULL, "did you mean --extender-listen?"},
        {"check config /nonexistent/a", 1, "cannot open '/nonexistent/a'", NULL},
        {"check config tests/golden/check/config-good.yaml --extender-max-priority 9999", 2, NULL,
         "--extender-max-priority: 9999 is not between 10 and 100"},
        {"check config tests/golden/check/config-rules-only.yaml --insecure-extender --state tests",
         0, "1 info\n", NULL},
        {"check config tests/golden/check/config-insecure.yaml", 0, "nothing to complain about",
         NULL},
        {"check kube-scheduler-config --help", 0, "--extender-index N", NULL},
        {"check kube-scheduler-config a --extender-index x", 2, NULL, "'x' is not a whole number"},
        {"check kube-scheduler-config a --extender-index -1", 2, NULL, "'-1' is not a whole"},
        {"check kube-scheduler-config a --extender-sing x", 2, NULL, "unknown option"},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-good.yaml "
         "--extender-listen x",
         2, NULL, "'x' is not a valid address"},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-good.yaml "
         "--config tests/golden/check/config-good.yaml",
         0, ": 3 infos", NULL},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-good.yaml "
         "--config /nonexistent/a",
         1, "cannot open '/nonexistent/a'", NULL},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-careless.yaml "
         "--config docs/examples/evenkeel.yaml",
         1, "extender.bind off", NULL},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-careless.yaml "
         "--extender-bind",
         1, "5 errors, 5 warnings", NULL},
        {"check kube-scheduler-config /nonexistent/a", 1, "cannot open '/nonexistent/a'", NULL},
        {"check kube-scheduler-config /dev/zero", 1, "larger than", NULL},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-elsewhere.yaml "
         "--extender-index 1",
         1, "warning      5  extenders[1].urlPrefix", NULL},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-elsewhere.yaml "
         "--extender-index 2",
         1, "there is no extender 2 among the 2", NULL},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-elsewhere.yaml "
         "--url-prefix-contains a.exa",
         1, "extenders[0].urlPrefix", NULL},
        {"check kube-scheduler-config tests/golden/check/kube-scheduler-config-good.yaml "
         "--url-prefix-contains a.exa",
         1, "none of the 1 has a urlPrefix with 'a.exa'", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run r = run(rows[i].line);
        if (r.status != rows[i].status)
            fail_msg("%s: ended with %d", rows[i].line, r.status);
        if (rows[i].out != NULL)
            assert_contains(r.out.p, rows[i].out);
        if (rows[i].err != NULL)
            assert_contains(r.err.p, rows[i].err);
        assert_true(rows[i].out != NULL || r.out.n == 0);
        assert_true(rows[i].err != NULL || r.err.n == 0);
        run_done(&r);
    }
}

/* ---- one rule at a time ---- */

/* Nothing is wrong with it; one line a field. */
static const char *const good[] = {
    "urlPrefix: https://evenkeel:8443/extender/v1",
    "filterVerb: filter",
    "prioritizeVerb: complement",
    "preemptVerb: preempt",
    "weight: 2",
    "enableHTTPS: true",
    "nodeCacheCapable: true",
    "ignorable: true",
    "httpTimeout: 1s",
    "managedResources: [{name: evenkeel.io/spread, ignoredByScheduler: true}]",
    "tlsConfig: {caData: LS0tLS1CRUdJTi, certData: LS0tLS1CRUdJTi, keyData: LS0tLS1CRUdJTi}",
};

/* The good configuration with `change` in place of the field it names; "-field:" leaves it out. */
static void write_changed(const char *change, struct strbuf *out) {
    const char *field = change[0] == '-' ? change + 1 : change;
    size_t name = strcspn(field, ":") + 1;
    bool placed = change[0] == '-';
    strbuf_appendf(out, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                        "KubeSchedulerConfiguration\npercentageOfNodesToScore: 100\nextenders:\n");
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        bool changed = strncmp(good[i], field, name) == 0;
        if (changed && change[0] == '-')
            strbuf_appendf(out, "%s", i == 0 ? "- \n" : "");
        else
            strbuf_appendf(out, "%s %s\n", i == 0 ? "-" : " ", changed ? field : good[i]);
        placed = placed || changed;
    }
    if (!placed)
        strbuf_appendf(out, "  %s\n", field);
}

static const char *const severities[] = {"error", "warning", "info"};

/* Findings as "severity field: problem" lines. */
static void check_text_as(struct str text, const struct scheduler_check *which, struct arena *arena,
                          struct strbuf *out) {
    struct check_report f;
    check_report_init(&f, arena);
    scheduler_check(text, which, &f);
    for (uint32_t i = 0; i < f.count; i++)
        strbuf_appendf(out, "%s %.*s: %.*s\n", severities[f.items[i].severity],
                       STR_ARG(f.items[i].path), STR_ARG(f.items[i].problem));
    strbuf_append_char(out, '\0');
    out->n--;
}

/* Of a kube-scheduler whose Evenkeel may bind. */
static void check_text(struct str text, struct arena *arena, struct strbuf *out) {
    static const struct configuration evenkeel = {.extender.bind = true};
    const struct scheduler_check which = {.index = -1, .evenkeel = &evenkeel};
    check_text_as(text, &which, arena, out);
}

/* What no setting changes: said of every entry that filters, and of every entry. */
static const char *const limits[] = {
    "info extenders[0].filterVerb: kube-scheduler evicts no pod for constraints that only Evenkeel "
    "knows",
    "info extenders[0]: kube-scheduler 1.35 and later has no opportunistic batching",
};

static size_t count_lines(const struct strbuf *findings) {
    size_t lines = 0;
    for (size_t i = 0; i < findings->n; i++)
        lines += findings->p[i] == '\n';
    return lines;
}

/* The number of these lines. */
static size_t count_limits(const char *findings) {
    size_t count = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        count += strstr(findings, limits[i]) != NULL;
    return count;
}

static void test_each_rule(void **state) {
    (void)state;
    static const struct {
        const char *change;
        const char *findings[3]; /* each begins a line; no others than these */
    } rows[] = {
        {"weight: 2", {NULL}},
        {"-urlPrefix:", {"error extenders[0].urlPrefix: it is missing"}},
        {"urlPrefix: http://evenkeel:8443/extender/v1",
         {"warning extenders[0].urlPrefix: plain http"}},
        {"urlPrefix: evenkeel:8443/extender/v1", {"error extenders[0].urlPrefix: 'evenkeel:8443"}},
        {"urlPrefix: https://evenkeel:8443/extender/v1//", {NULL}},
        {"urlPrefix: https://evenkeel:8443/proxy/extender/v1", {NULL}},
        {"urlPrefix: https://evenkeel:8443/extender/v1/filter",
         {"error extenders[0].urlPrefix: it ends in a verb"}},
        {"urlPrefix: https://evenkeel:8443/extender/v1/prioritize/",
         {"error extenders[0].urlPrefix: it ends in a verb"}},
        {"urlPrefix: https://evenkeel:8443/",
         {"error extenders[0].urlPrefix: Evenkeel answers below /extender/v1 only"}},
        {"urlPrefix: https://evenkeel:8443/extender/v1?a=b",
         {"error extenders[0].urlPrefix: kube-scheduler appends \"/filter\""}},
        {"-filterVerb:", {"info extenders[0].filterVerb: it is not set: one call less"}},
        {"filterVerb: predicates",
         {"error extenders[0].filterVerb: Evenkeel serves nothing at "
          "'https://evenkeel:8443/extender/v1/predicates'"}},
        {"filterVerb: v1/filter", {"error extenders[0].filterVerb: Evenkeel serves nothing at"}},
        {"filterVerb: Filter", {"error extenders[0].filterVerb: Evenkeel serves nothing at"}},
        {"prioritizeVerb: prioritize",
         {"info extenders[0].prioritizeVerb: kube-scheduler's own PodTopologySpread scores"}},
        {"-prioritizeVerb:",
         {"info extenders[0].weight: without a prioritizeVerb",
          "warning extenders[0].prioritizeVerb: it is not set: soft constraints"}},
        {"-preemptVerb:", {"warning extenders[0].preemptVerb: it is not set: preemption evicts"}},
        {"-weight:", {"error extenders[0].weight: it must be above 0"}},
        {"weight: -1", {"error extenders[0].weight: it must be above 0"}},
        {"weight: 1", {"info extenders[0].weight: Evenkeel's opinion counts for half"}},
        {"weight: 12", {NULL}},
        {"weight: 13", {"warning extenders[0].weight: above 12"}},
        {"weight: 2.5", {"error extenders[0].weight: '2.5' is not a whole number"}},
        {"weight: heavy", {"error extenders[0].weight: expected a number, found a text"}},
        {"-nodeCacheCapable:", {"error extenders[0].nodeCacheCapable: it is not true"}},
        {"nodeCacheCapable: false", {"error extenders[0].nodeCacheCapable: it is not true"}},
        {"-ignorable:", {"warning extenders[0].ignorable: it is not true"}},
        {"bindVerb: binding",
         {"error extenders[0].bindVerb: Evenkeel serves nothing at",
          "warning extenders[0].httpTimeout: 1s is short",
          "info extenders[0].bindVerb: kube-scheduler binds by itself"}},
        {"-httpTimeout:", {"warning extenders[0].httpTimeout: it is not set, which means 5s"}},
        {"httpTimeout: 0s", {"warning extenders[0].httpTimeout: '0s' means 5s"}},
        {"httpTimeout: 5s", {NULL}},
        {"httpTimeout: 5.001s", {"warning extenders[0].httpTimeout: 5.001s is long"}},
        {"httpTimeout: 100ms", {NULL}},
        {"httpTimeout: 99ms", {"warning extenders[0].httpTimeout: 99ms is short"}},
        {"httpTimeout: -1s", {"error extenders[0].httpTimeout: below 0 means for ever"}},
        {"httpTimeout: soon", {"error extenders[0].httpTimeout: 'soon' is no duration"}},
        {"httpTimeout: 5", {"error extenders[0].httpTimeout: expected a text, found a number"}},
        {"-managedResources:", {"info extenders[0].managedResources: none: every pod"}},
        {"managedResources: [{name: a.b/c}]",
         {"warning extenders[0].managedResources: kube-scheduler also looks"}},
        {"managedResources: [{name: cpu, ignoredByScheduler: true}]",
         {"error extenders[0].managedResources: 'cpu' is no extended resource"}},
        {"managedResources: [{name: requests.a/b, ignoredByScheduler: true}]",
         {"error extenders[0].managedResources: 'requests.a/b' is no extended resource"}},
        {"managedResources: [{name: x.kubernetes.io/b, ignoredByScheduler: true}]",
         {"error extenders[0].managedResources: 'x.kubernetes.io/b' is no extended resource"}},
        {"managedResources: [{name: a.b/c, ignoredByScheduler: true}, {name: a.b/c, "
         "ignoredByScheduler: true}]",
         {"error extenders[0].managedResources: 'a.b/c' is named twice"}},
        {"managedResources: [{nam: a.b/c}]",
         {"error extenders[0].managedResources[0].nam: unknown field",
          "error extenders[0].managedResources: '' is no extended resource",
          "warning extenders[0].managedResources: kube-scheduler also looks"}},
        {"-tlsConfig:",
         {"error extenders[0].tlsConfig: with enableHTTPS and no CA, kube-scheduler silently",
          "info extenders[0].tlsConfig: no client certificate"}},
        {"tlsConfig: {insecure: true}",
         {"warning extenders[0].tlsConfig.insecure: whoever answers is believed",
          "info extenders[0].tlsConfig: no client certificate"}},
        {"tlsConfig: {insecure: true, caData: LS0tLS1CRUdJTi}",
         {"error extenders[0].tlsConfig.insecure: insecure together with a CA",
          "info extenders[0].tlsConfig: no client certificate"}},
        {"tlsConfig: {caData: LS0tLS1CRUdJTi, certData: LS0tLS1CRUdJTi}",
         {"error extenders[0].tlsConfig: a certificate without its key"}},
        {"tlsConfig: {caData: LS0tLS1CRUdJTi, keyFile: /nonexistent/a}",
         {"error extenders[0].tlsConfig: a key without its certificate",
          "info extenders[0].tlsConfig.keyFile: '/nonexistent/a' is not on this machine"}},
        {"tlsConfig: {caData: LS0tLS1CRUdJTi, caFile: /nonexistent/a}",
         {"info extenders[0].tlsConfig: no client certificate",
          "warning extenders[0].tlsConfig.caData: kube-scheduler does not use the file of the same "
          "name",
          "info extenders[0].tlsConfig.caFile: '/nonexistent/a' is not on this machine"}},
        {"tlsConfig: {caData: Zm9v}",
         {"info extenders[0].tlsConfig: no client certificate",
          "warning extenders[0].tlsConfig.caData: this does not look like the base64 of PEM"}},
        {"tlsConfig: {caFile: /etc}",
         {"info extenders[0].tlsConfig: no client certificate",
          "warning extenders[0].tlsConfig.caFile: cannot read '/etc'"}},
        {"tlsConfig: {caFle: a, insecure: true}",
         {"error extenders[0].tlsConfig.caFle: unknown field",
          "warning extenders[0].tlsConfig.insecure: whoever answers",
          "info extenders[0].tlsConfig: no client certificate"}},
        {"tlsConfig: yes", {"error extenders[0].tlsConfig: expected an object"}},
        {"nodeCacheCapabl: true", {"error extenders[0].nodeCacheCapabl: unknown field"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
        struct arena arena;
        size_t want = 0;
        arena_init(&arena, 1 << 20);
        write_changed(rows[i].change, &text);
        check_text(strbuf_str(&text), &arena, &got);
        for (; want < 3 && rows[i].findings[want] != NULL; want++) {
            const char *found = strstr(got.p, rows[i].findings[want]);
            if (found == NULL || (found > got.p && found[-1] != '\n'))
                fail_msg("%s: no '%s' in\n%s", rows[i].change, rows[i].findings[want], got.p);
        }
        size_t lines = count_lines(&got);
        assert_int_equal(count_limits(got.p),
                         strstr(rows[i].change, "-filterVerb") != NULL ? 1 : 2);
        if (lines != want + count_limits(got.p))
            fail_msg("%s: %zu findings instead of %zu:\n%s", rows[i].change, lines, want, got.p);
        arena_done(&arena);
    }
}

/* Texts that are no single KubeSchedulerConfiguration, and what only another field decides. */
static void test_whole_documents(void **state) {
    (void)state;
#define SCHEDULER "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    static const struct {
        const char *text, *finding;
    } rows[] = {
        {"", "error : there are 0 documents in the file"},
        {SCHEDULER "---\n" SCHEDULER, "error : there are 2 documents in the file"},
        {"[1]", "error kind: expected 'KubeSchedulerConfiguration', found ''"},
        {SCHEDULER "extenders: {}", "error extenders: expected a list"},
        {SCHEDULER "extenders: []", "error extenders: there is none"},
        {SCHEDULER "profiles: [{percentageOfNodesToScore: 101}]",
         "error profiles[0].percentageOfNodesToScore: it is not a whole number between 0 and 100"},
        {SCHEDULER "profiles: [{percentageOfNodesToScore: -1}]",
         "error profiles[0].percentageOfNodesToScore: it is not a whole number between 0 and 100"},
        {SCHEDULER "profiles: [7, {percentageOfNodesToScore: 100}, {other: 1}]",
         "error extenders: there is none"},
        {SCHEDULER "profiles: {}", "error extenders: there is none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf got = {.max = 1 << 16};
        struct arena arena;
        arena_init(&arena, 1 << 20);
        check_text(str_of(rows[i].text), &arena, &got);
        if (strstr(got.p, rows[i].finding) != got.p)
            fail_msg("%s:\n%s", rows[i].text, got.p);
        arena_done(&arena);
    }
}

/* A verb that is served is no mistake. Binding takes the API server's time as well, so the time
 * limit that is good without it is too short with it. */
static void test_binding(void **state) {
    (void)state;
#define HERE "urlPrefix: \"https://a/extender/v1\", "
    static const struct {
        const char *entry, *finding; /* NULL: none about bindVerb or httpTimeout */
    } rows[] = {
        {HERE "bindVerb: bind, httpTimeout: 5s", NULL},
        {HERE "bindVerb: bind", NULL}, /* kube-scheduler takes 5 s then */
        {"urlPrefix: \"https://a\", bindVerb: extender/v1/bind, httpTimeout: 5s", NULL},
        {HERE "bindVerb: bind, httpTimeout: 4.999s",
         "warning extenders[0].httpTimeout: 4.999s is short"},
        {HERE "bindVerb: bind, httpTimeout: 6s", "warning extenders[0].httpTimeout: 6s is long"},
        {HERE "bindVerb: Bind, httpTimeout: 5s",
         "error extenders[0].bindVerb: Evenkeel serves nothing at 'https://a/extender/v1/Bind'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
        arena_init(&arena, 1 << 20);
        strbuf_appendf(&text, SCHEDULER "extenders: [{%s}]\n", rows[i].entry);
        check_text(strbuf_str(&text), &arena, &got);
        if (rows[i].finding != NULL)
            assert_contains(got.p, rows[i].finding);
        else if (strstr(got.p, "bindVerb") != NULL || strstr(got.p, "httpTimeout") != NULL)
            fail_msg("%s:\n%s", rows[i].entry, got.p);
        arena_done(&arena);
    }
}

/* Without extender.bind every bind call is answered with 404, and with a client CA every call
 * without a certificate with 401. */
static void test_what_the_other_side_has(void **state) {
    (void)state;
    static const struct configuration off, on = {.extender.bind = true},
                                           with_ca = {.extender.tls.client_ca_file = "a"};
    static const struct {
        const struct configuration *evenkeel;
        const char *entry, *finding; /* NULL: none about bindVerb */
    } rows[] = {
        {&on, "bindVerb: bind", NULL},
        {&on, "filterVerb: filter", NULL},
        {&with_ca, "filterVerb: filter",
         "error extenders[0].tlsConfig: no client certificate, but"},
        {&off, "filterVerb: filter", NULL},
        {NULL, "filterVerb: filter", NULL},
        {&off, "bindVerb: bind",
         "error extenders[0].bindVerb: Evenkeel's own configuration has extender.bind off"},
        {NULL, "bindVerb: bind",
         "warning extenders[0].bindVerb: Evenkeel binds only if its own configuration says so"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
        const struct scheduler_check which = {.index = -1, .evenkeel = rows[i].evenkeel};
        arena_init(&arena, 1 << 20);
        strbuf_appendf(&text, SCHEDULER "extenders: [{" HERE "%s, httpTimeout: 5s}]\n",
                       rows[i].entry);
        check_text_as(strbuf_str(&text), &which, &arena, &got);
        if (rows[i].finding != NULL)
            assert_contains(got.p, rows[i].finding);
        else
            assert_null(strstr(got.p, "bindVerb"));
        arena_done(&arena);
    }
}

/* ---- names in certificates ---- */

#define CALLS(url)                                                                                 \
    "- {urlPrefix: \"" url "/extender/v1\", filterVerb: filter, prioritizeVerb: complement, "      \
    "preemptVerb: preempt, httpTimeout: 1s"
#define OWN_KUBECONFIG "clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf}\n"

static void test_names(void **state) {
    (void)state;
    static const struct str hosts[] = {{"evenkeel-extender.evenkeel.svc", 30},
                                       {"10.96.0.50", 10},
                                       {"fd00::7", 7},
                                       {"*.a.example", 11}};
    static const struct configuration makes = {
        .extender.certificates = {
            .mode = CERTIFICATES_SELF_SIGNED, .hosts = hosts, .host_count = 4}};
    static const struct {
        const char *head, *entry, *finding; /* NULL: none of names */
    } rows[] = {
        {"", CALLS("https://evenkeel-extender.evenkeel.svc:8443"),
         "info extenders[0].urlPrefix: only pods can resolve 'evenkeel-extender.evenkeel.svc'"},
        {OWN_KUBECONFIG, CALLS("https://evenkeel-extender.evenkeel.svc"),
         "warning extenders[0].urlPrefix: a kube-scheduler with a kubeconfig is mostly a static "
         "pod"},
        {OWN_KUBECONFIG, CALLS("https://evenkeel.example.svc.cluster.local:8443"),
         "warning extenders[0].urlPrefix: a kube-scheduler with a kubeconfig is mostly a static "
         "pod"},
        {OWN_KUBECONFIG, CALLS("https://10.96.0.50"), NULL},
        {OWN_KUBECONFIG, CALLS("https://10.96.0.50:8443"), NULL},
        {OWN_KUBECONFIG, CALLS("https://[fd00::7]:8443"), NULL},
        {OWN_KUBECONFIG, CALLS("https://B.A.example"), NULL},
        {OWN_KUBECONFIG, CALLS("https://c.b.a.example"),
         "error extenders[0].urlPrefix: Evenkeel's certificate will not be for 'c.b.a.example'"},
        {"", CALLS("https://10.96.0.51:8443"),
         "error extenders[0].urlPrefix: Evenkeel's certificate will not be for '10.96.0.51'"},
        {"",
         CALLS("https://10.96.0.51") ", tlsConfig: {serverName: evenkeel-extender.evenkeel.svc}",
         NULL},
        {"", CALLS("https://10.96.0.50") ", tlsConfig: {serverName: other}",
         "error extenders[0].tlsConfig.serverName: Evenkeel's certificate will not be for 'other'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
        const struct scheduler_check which = {.index = -1, .evenkeel = &makes};
        arena_init(&arena, 1 << 20);
        strbuf_appendf(&text, SCHEDULER "%sextenders:\n%s}\n", rows[i].head, rows[i].entry);
        check_text_as(strbuf_str(&text), &which, &arena, &got);
        if (rows[i].finding != NULL)
            assert_contains(got.p, rows[i].finding);
        else if (strstr(got.p, "urlPrefix") != NULL || strstr(got.p, "serverName") != NULL)
            fail_msg("%s:\n%s", rows[i].entry, got.p);
        arena_done(&arena);
    }
}

/* A Secret as kubectl prints it, and kube-scheduler's files, with a clock that is the machine's. */
static void write_secret(const char *path, struct str ca, const struct issued *leaf) {
    struct strbuf text = {0};
    strbuf_append_str(&text,
                      STR("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata:\n  ca.crt: "));
    base64_append(&text, ca);
    strbuf_append_str(&text, STR("\n  tls.crt: "));
    base64_append(&text, strbuf_str(&leaf->certificate));
    strbuf_append_str(&text, STR("\n"));
    put_file(path, strbuf_str(&text), 0600);
    strbuf_done(&text);
}

static struct issued issue_client(const struct authority *a, int days, int64_t now_s) {
    const struct leaf_request request = {
        .common_name = STR("system:kube-scheduler"), .client = true, .days = days, .now_s = now_s};
    struct issued i = {0};
    struct err err;
    check_ok(authority_issue(a, &request, &i.certificate, &i.key, &err), &err);
    return i;
}

static void check_secret(const char *folder, const char *url, const char *finding) {
    struct arena arena;
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
    char secret[512];
    (void)snprintf(secret, sizeof secret, "%s/secret", folder); /* fits */
    const struct scheduler_check which = {.index = -1, .secret = secret};
    arena_init(&arena, 1 << 22);
    strbuf_appendf(&text,
                   SCHEDULER "extenders:\n- {urlPrefix: \"%s/extender/v1\", tlsConfig: {caFile: "
                             "%s/ca.crt, certFile: %s/tls.crt, keyFile: %s/tls.key}}\n",
                   url, folder, folder, folder);
    check_text_as(strbuf_str(&text), &which, &arena, &got);
    if (finding != NULL)
        assert_contains(got.p, finding);
    else if (strstr(got.p, "urlPrefix") != NULL || strstr(got.p, "File") != NULL)
        fail_msg("%s", got.p);
    arena_done(&arena);
}

static void save_pair(const char *folder, const struct issued *pair) {
    put_file(in(folder, "tls.crt"), strbuf_str(&pair->certificate), 0600);
    put_file(in(folder, "tls.key"), strbuf_str(&pair->key), 0600);
}

static void test_a_secret(void **state) {
    const char *folder = *state;
    int64_t now_s = kube_wall_us() / 1000000;
    struct authority *a = new_authority("one", 3650, now_s - 200 * DAY),
                     *b = new_authority("two", 10, now_s);
    struct issued ca = save(a), other = save(b);
    struct issued server = issue_server(a, 90, now_s, "10.96.0.50", NULL, NULL),
                  short_wildcard = issue_server(a, 90, now_s, "*.example", NULL, NULL);
    struct issued ended = issue_client(a, 90, now_s - 93 * DAY),
                  near = issue_client(a, 90, now_s - 80 * DAY + 3600),
                  fresh = issue_client(a, 90, now_s);
    put_file(in(folder, "ca.crt"), strbuf_str(&ca.certificate), 0600);
    save_pair(folder, &fresh);
    write_secret(in(folder, "secret"), strbuf_str(&ca.certificate), &server);
    check_secret(folder, "https://10.96.0.50", NULL);
    check_secret(folder, "https://10.96.0.51",
                 "is not for '10.96.0.51' but for 10.96.0.50, so kube-scheduler refuses it");
    write_secret(in(folder, "secret"), strbuf_str(&ca.certificate), &short_wildcard);
    check_secret(folder, "https://a.example", NULL);
    check_secret(folder, "https://example", "is not for 'example' but for *.example");
    check_secret(folder, "https://a.b.example", "is not for 'a.b.example'");
    write_secret(in(folder, "secret"), strbuf_str(&other.certificate), &server);
    check_secret(folder, "https://10.96.0.50", "ca.crt' has other authorities than");
    write_secret(in(folder, "secret"), strbuf_str(&ca.certificate), &fresh);
    check_secret(folder, "https://a", NULL);
    write_secret(in(folder, "secret"), strbuf_str(&ca.certificate), &ended);
    check_secret(folder, "https://a", "secret' has expired 3 days ago");
    write_secret(in(folder, "secret"), strbuf_str(&ca.certificate), &fresh);
    save_pair(folder, &near);
    check_secret(folder, "https://a", "tls.crt' expires in 10 days");
    check_secret(folder, "https://a", "which may be newer");
    save_pair(folder, &ended);
    check_secret(folder, "https://a", "tls.crt' has expired 3 days ago");
    put_file(in(folder, "secret"), STR("a: ["), 0600);
    check_secret(folder, "https://a", "error --secret: '");
    put_file(in(folder, "secret"), STR("kind: Secret\n"), 0600);
    check_secret(folder, "https://a", "error --secret: '");
    struct issued *all[] = {&ca, &other, &server, &short_wildcard, &ended, &near, &fresh};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        issued_done(all[i]);
    authority_free(a);
    authority_free(b);
}

/* What an ignorable extender refuses to bind is bound all the same. upstream: kube-scheduler
 * schedule_one.go extendersBinding. */
static void test_binding_that_is_ignorable(void **state) {
    (void)state;
    struct arena arena;
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
    arena_init(&arena, 1 << 20);
    write_changed("bindVerb: bind", &text); /* the good one is ignorable */
    check_text(strbuf_str(&text), &arena, &got);
    assert_contains(got.p, "info extenders[0].bindVerb: kube-scheduler binds by itself what an "
                           "ignorable extender refuses to bind");
    arena_done(&arena);
}

/* What serving would show later. One line each; "-" in front: must not be said. */
static void test_settings_together(void **state) {
    (void)state;
    static const struct {
        const char *flags, *finding;
    } rows[] = {
        {"", "error        -  ops.listen"},
        {"", "warning      -  extender.limits.idleTimeout"},
        {"", "info         -  extender.certFile"},
        {"", "info         -  extender.keyFile"},
        {"", "info         -  kubernetes.kubeconfig"},
        {"", "-webhook.certFile"},
        {"", "-webhook.listen"},
        {"--extender-bind", "-reservations.mode"},
        {"", "-extender.bind"},
        {"--extender-bind", "warning      -  extender.bind"},
        {"--extender-bind --extender-listen 127.0.0.1:1", "warning      -  extender.bind"},
        {"--extender-bind --extender-listen 0", "-warning      -  extender.bind"},
        {"--extender-bind --extender-listen 0", "info         -  extender.bind"},
        {"--extender-bind --extender-client-ca-file /a", "-extender.bind"},
        {"--reservations Conservative --extender-bind", "-reservations.mode"},
        {"--reservations Conservative", "warning      -  reservations.mode"},
        {"", "-extender.insecure"},
        {"--insecure-extender", "warning      -  extender.insecure"},
        {"--insecure-extender --extender-listen 127.0.0.1:1", "-extender.insecure"},
        {"", "warning      -  webhook.clientCAFile"},
        {"--webhook-listen 127.0.0.1:1", "-warning      -  webhook.clientCAFile"},
        {"--webhook-listen 0", "-webhook.clientCAFile"},
        {"", "info         -  webhook.fluid.readFor"},
        {"--webhook-listen 0", "-webhook.fluid.readFor"},
        {"--webhook-client-ca-file /a", "-webhook.fluid.readFor"},
        {"--ops-listen :1", "warning      -  ops.listen"},
        {"--ops-listen 127.0.0.1:1", "-ops.listen"},
        {"--ops-listen :1", "-explain.tokenFile"},
        {"--ops-listen :1 --explain-token-file /a", "warning      -  explain.tokenFile"},
        {"--ops-listen 127.0.0.2:8080", "error        -  ops.listen"},
        {"--ops-listen 127.0.0.1:9443", "error        -  ops.listen"},
        {"--ops-listen [::1]:9443", "-ops.listen"}, /* 0.0.0.0 is IPv4 only */
        {"--ops-listen 127.0.0.1:8081", "-ops.listen"},
        {"--ops-listen 0", "-ops.listen"},
        {"--extender-listen 127.0.0.2:8080", "-ops.listen"},
        {"--extender-listen [::1]:8080", "-ops.listen"},
        {"--extender-listen [::]:8080", "error        -  ops.listen"},
        {"--extender-listen 127.0.0.1:8080", "error        -  ops.listen"},
        {"--extender-listen 10.0.0.1:9443", "error        -  webhook.listen"},
        {"--extender-listen :0 --webhook-listen :0 --ops-listen :0", "-is taken by"},
        {"--ops-listen :9 --ops-probe-listen 127.0.0.1:9", "error        -  ops.probeListen"},
        {"--ops-listen :9 --ops-probe-listen :9", "-is taken by"},
        {"--ops-listen :9 --estimator-listen :9", "error        -  estimator.listen"},
        {"--extender-limit-idle-timeout 90s", "-extender.limits.idleTimeout"},
        {"--extender-listen 0", "-extender.limits.idleTimeout"},
        {"--leader-election", "-leaderElection.enabled"}, /* of a webhook that watches policies */
        {"--leader-election --webhook-listen 0", "error        -  leaderElection.enabled"},
        {"--leader-election --webhook-listen 0 --reservations SingleNode",
         "-leaderElection.enabled"},
        {"--leader-election --webhook-listen 0 --extender-listen 0 --reservations SingleNode",
         "error        -  leaderElection.enabled"},
        {"--webhook-listen 0", "-leaderElection.enabled"},
        {"--reservations SingleNode --extender-listen 0", "info         -  reservations.mode"},
        {"--reservations SingleNode", "-reservations.mode"},
        {"--extender-listen 0", "-reservations.mode"},
        {"--compat head --webhook-listen 0", "info         -  webhook.fluid.compat"},
        {"--compat head", "-webhook.fluid.compat"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char line[300];
        bool wanted = rows[i].finding[0] != '-';
        (void)snprintf(line, sizeof line, "check config tests/golden/check/config-serving.yaml%s%s",
                       rows[i].flags[0] != '\0' ? " " : "", rows[i].flags); /* fits */
        struct run r = run(line);
        assert_string_equal(r.err.p, "");
        if ((strstr(r.out.p, rows[i].finding + !wanted) != NULL) != wanted)
            fail_msg("%s: %s\n%s", rows[i].flags, rows[i].finding, r.out.p);
        run_done(&r);
    }
}

/* What kube-scheduler does not do for hard rules, and which native constraint it would do it for:
 * as tests/unit/engine/test_ordered_native.c proves. */
static void test_hard_rules(void **state) {
    (void)state;
    static const struct {
        const char *field, *advice;
    } rows[] = {
        {"spread.defaultConstraints[1]", "write it into kube-scheduler's configuration, too: "
                                         "profiles[].pluginConfig, PodTopologySpread"},
        {"orderedSpread.rules[0]",
         "let the rule's pods carry the constraint {topologyKey: topology.kubernetes.io/zone, "
         "maxSkew: 2, whenUnsatisfiable: DoNotSchedule, labelSelector: the podSelector, "
         "matchLabelKeys: [pod-template-hash, release]}, which equals the rule's first term\""},
        {"orderedSpread.rules[1]",
         "let the rule's pods carry the constraint {topologyKey: "
         "topology.kubernetes.io/region, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, "
         "labelSelector: the podSelector, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}, "
         "which equals the rule's first term if all nodes with that label also have "
         "topology.kubernetes.io/zone\""},
        {"orderedSpread.rules[2]", "no native constraint equals a hard term"},
        {"orderedSpread.rules[4]",
         "labelSelector: {matchExpressions: [{key: no-such-label, operator: DoesNotExist}]}}"},
    };
    struct run r = run("check config -o json tests/golden/check/config-hard-rules.yaml");
    size_t count = 0;
    assert_int_equal(r.status, 0);
    for (const char *at = r.out.p; (at = strstr(at, "\"field\"")) != NULL; at++)
        count++;
    assert_int_equal(count, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < count; i++) {
        char field[100];
        (void)snprintf(field, sizeof field, "\"severity\":\"info\",\"line\":null,\"field\":\"%s\"",
                       rows[i].field); /* fits */
        const char *at = strstr(r.out.p, field), *end = at != NULL ? strchr(at, '}') : NULL;
        if (end == NULL || strstr(at, rows[i].advice) == NULL)
            fail_msg("no %s with '%s' in %s", field, rows[i].advice, r.out.p);
    }
    run_done(&r);
}

/* What a profile may do to the plugin that Evenkeel stands beside. The good configuration, with
 * these profiles. upstream: kube-scheduler default_plugins.go mergePluginSet, framework.go
 * expandMultiPointPlugins. */
static void test_the_plugin_beside(void **state) {
    (void)state;
#define NO_EVICTION(at)                                                                            \
    { "warning profiles[" at ".disabled: without PodTopologySpread's filter, kube-scheduler" }
#define SPREAD "[{name: PodTopologySpread}]"
    static const struct {
        const char *profiles;
        const char *findings[3]; /* each begins a line; no others of profiles */
    } rows[] = {
        {"[{}]", {NULL}},
        {"[{schedulerName: a, plugins: {}}]", {NULL}},
        {"[{plugins: {multiPoint: {disabled: " SPREAD "}}}]", NO_EVICTION("0].plugins.multiPoint")},
        {"[{plugins: {multiPoint: {disabled: [{name: \"*\"}]}}}]",
         NO_EVICTION("0].plugins.multiPoint")},
        {"[{plugins: {multiPoint: {disabled: [{name: NodeName}]}}}]", {NULL}},
        {"[{plugins: {filter: {disabled: " SPREAD "}}}]", NO_EVICTION("0].plugins.filter")},
        {"[{plugins: {filter: {disabled: [{name: NodePorts}, {name: \"*\"}]}}}]",
         NO_EVICTION("0].plugins.filter")},
        {"[{plugins: {filter: {disabled: " SPREAD "}, preFilter: {disabled: " SPREAD "}}}]",
         NO_EVICTION("0].plugins.filter")},
        {"[{}, {plugins: {filter: {disabled: " SPREAD "}}}]", NO_EVICTION("1].plugins.filter")},
        {"[{plugins: {filter: {disabled: " SPREAD "}}}, {plugins: {multiPoint: {disabled: " SPREAD
         "}}}]",
         {"warning profiles[0].plugins.filter.disabled: without PodTopologySpread's filter",
          "warning profiles[1].plugins.multiPoint.disabled: without PodTopologySpread's filter"}},
        /* off at one place and on at another */
        {"[{plugins: {multiPoint: {disabled: [{name: \"*\"}], enabled: " SPREAD "}}}]", {NULL}},
        {"[{plugins: {filter: {disabled: [{name: \"*\"}], enabled: " SPREAD "}}}]", {NULL}},
        {"[{plugins: {multiPoint: {disabled: " SPREAD "}, preFilter: {enabled: " SPREAD
         "}, filter: {enabled: " SPREAD "}}}]",
         {"info profiles[0].plugins.multiPoint.disabled: without PodTopologySpread's score"}},
        /* half of a pair */
        {"[{plugins: {preFilter: {disabled: " SPREAD "}}}]",
         {"error profiles[0].plugins.preFilter.disabled: PodTopologySpread's filter fails without "
          "its preFilter"}},
        {"[{plugins: {preScore: {disabled: [{name: \"*\"}]}}}]",
         {"error profiles[0].plugins.preScore.disabled: PodTopologySpread's score fails without "
          "its preScore"}},
        {"[{plugins: {multiPoint: {disabled: " SPREAD "}, filter: {enabled: " SPREAD "}}}]",
         {"error profiles[0].plugins.multiPoint.disabled: PodTopologySpread's filter fails "
          "without",
          "info profiles[0].plugins.multiPoint.disabled: without PodTopologySpread's score"}},
        /* the scores alone */
        {"[{plugins: {score: {disabled: " SPREAD "}}}]",
         {"info profiles[0].plugins.score.disabled: without PodTopologySpread's score"}},
        {"[{plugins: {score: {disabled: " SPREAD "}, preScore: {disabled: " SPREAD "}}}]",
         {"info profiles[0].plugins.score.disabled: without PodTopologySpread's score"}},
        /* what kube-scheduler refuses or nobody can read is not ours to judge */
        {"[{plugins: 7}]", {NULL}},
        {"[{plugins: {filter: 7, score: {disabled: 7}, preScore: {disabled: [7, {nam: b}]}}}]",
         {NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
        struct arena arena;
        size_t want = 0, lines = 0;
        arena_init(&arena, 1 << 20);
        write_changed("weight: 2", &text);
        strbuf_appendf(&text, "profiles: %s\n", rows[i].profiles);
        check_text(strbuf_str(&text), &arena, &got);
        for (; want < 3 && rows[i].findings[want] != NULL; want++)
            assert_contains(got.p, rows[i].findings[want]);
        for (const char *at = got.p; (at = strstr(at, " profiles[")) != NULL; at++)
            lines++;
        if (lines != want)
            fail_msg("%s: %zu findings instead of %zu:\n%s", rows[i].profiles, lines, want, got.p);
        arena_done(&arena);
    }
}

/* Somebody scores soft constraints, and one does. upstream: v1 default_plugins.go, where
 * PodTopologySpread is on at every point. */
static void test_who_scores_and_filters(void **state) {
    (void)state;
#define OFF "{plugins: {score: {disabled: " SPREAD "}}}"
    static const struct {
        const char *verb, *profiles, *finding; /* NULL: none about the verb */
    } rows[] = {
        {"-filterVerb:", "[{plugins: {filter: {disabled: " SPREAD "}}}]",
         "error profiles[0].plugins.filter.disabled: without a filterVerb and without"},
        {"-filterVerb:", "[{}]", "info extenders[0].filterVerb: it is not set"},
        {"complement", "[]", NULL},
        {"complement", "[{}]", NULL},
        {"prioritize", "[]", "info extenders[0].prioritizeVerb: kube-scheduler's own"},
        {"prioritize", "[{}]", "info extenders[0].prioritizeVerb: kube-scheduler's own"},
        {"prioritize", "[" OFF "]", NULL},
        {"prioritize", "[" OFF ", {}]", "info extenders[0].prioritizeVerb: kube-scheduler's own"},
        {"complement", "[" OFF "]",
         "warning extenders[0].prioritizeVerb: complement leaves soft constraints to "
         "PodTopologySpread, and profile 0 does not"},
        {"complement", "[{}, " OFF "]",
         "warning extenders[0].prioritizeVerb: complement leaves soft constraints to "
         "PodTopologySpread, and profile 1 does not"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
        struct arena arena;
        char change[64];
        arena_init(&arena, 1 << 20);
        (void)snprintf(change, sizeof change, "%s%s",
                       rows[i].verb[0] == '-' ? "" : "prioritizeVerb: ", rows[i].verb); /* fits */
        write_changed(change, &text);
        strbuf_appendf(&text, "profiles: %s\n", rows[i].profiles);
        check_text(strbuf_str(&text), &arena, &got);
        if (rows[i].finding != NULL)
            assert_contains(got.p, rows[i].finding);
        else
            assert_null(strstr(got.p, "prioritizeVerb"));
        arena_done(&arena);
    }
}

/* 100 problems are enough for anybody. */
static void test_many_problems(void **state) {
    (void)state;
    struct arena arena;
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 20}, got = {.max = 1 << 20};
    arena_init(&arena, 8 << 20);
    strbuf_appendf(&text, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                          "KubeSchedulerConfiguration\nextenders:\n");
    for (int i = 0; i < 500; i++)
        strbuf_appendf(&text, "- {a%d: 1, b%d: 2}\n", i, i);
    check_text(strbuf_str(&text), &arena, &got);
    assert_int_equal(count_lines(&got), 101); /* and that none of them is ours */
    arena_done(&arena);
}

/* Long texts are cut, but never inside a character: the answer stays JSON. */
static void test_cut_texts_stay_utf8(void **state) {
    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        struct arena arena;
        struct check_report f;
        struct json_reader reader;
        struct scheduler_check which = {.index = -1};
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, out = {.max = 1 << 16};
        arena_init(&arena, 1 << 20);
        check_report_init(&f, &arena);
        strbuf_appendf(&text,
                       "apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                       "KubeSchedulerConfiguration\nextenders: [{urlPrefix: \"%.*s",
                       shift, "aaaa");
        for (int i = 0; i < 300; i++)
            strbuf_append_str(&text, STR("\xf0\x9f\x98\x80"));
        strbuf_append_str(&text, STR("\"}]\n"));
        scheduler_check(strbuf_str(&text), &which, &f);
        assert_true(check_report_print_json(&f, "\xff\xc3", &out));
        json_reader_init(&reader, strbuf_str(&out), &arena, "findings");
        (void)json_skip(&reader); /* json_finish() tells */
        assert_int_equal(json_finish(&reader, NULL), 0);
        arena_done(&arena);
    }
}

/* ---- certificates that are there ---- */

static void make_certificates(const char *dir) {
    struct str host = STR("evenkeel");
    struct folder_request request = {
        .dir = dir, .hosts = &host, .host_count = 1, .now_s = kube_wall_us() / 1000000};
    struct folder_report report;
    struct err err;
    if (folder_init(&request, &report, &err) != 0)
        fail_msg("%s", err.text);
}

static void remove_certificates(const char *dir) {
    static const char *const names[] = {"ca.crt",  "ca.key",     "tls.crt",
                                        "tls.key", "client.crt", "client.key"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[200];
        (void)snprintf(path, sizeof path, "%s/%s", dir, names[i]); /* fits */
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(dir), 0);
}

static void test_files_are_looked_into(void **state) {
    (void)state;
    static const struct {
        const char *cert, *key, *finding; /* NULL: none */
    } rows[] = {
        {"client.crt", "client.key", NULL},
        {"client.crt", "tls.key", "warning extenders[0].tlsConfig.keyFile: "},
        {"client.crt", "client.crt", "warning extenders[0].tlsConfig.keyFile: "},
        {"client.key", "client.key", "warning extenders[0].tlsConfig.certFile: "},
        {"gone.crt", "client.key", "info extenders[0].tlsConfig.certFile: "},
    };
    char dir[] = "/tmp/evenkeel-check-XXXXXX";
    assert_non_null(mkdtemp(dir));
    make_certificates(dir);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16}, got = {.max = 1 << 16};
        struct arena arena;
        char change[300];
        arena_init(&arena, 1 << 20);
        (void)snprintf(change, sizeof change,
                       "tlsConfig: {caFile: %s/ca.crt, certFile: %s/%s, keyFile: %s/%s}", dir, dir,
                       rows[i].cert, dir, rows[i].key); /* fits */
        write_changed(change, &text);
        check_text(strbuf_str(&text), &arena, &got);
        if (rows[i].finding == NULL)
            assert_int_equal(count_lines(&got), count_limits(got.p));
        else if (strstr(got.p, rows[i].finding) != got.p)
            fail_msg("%s\n%s", change, got.p);
        arena_done(&arena);
    }
    remove_certificates(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_config),
        cmocka_unit_test(test_golden_scheduler),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_command_lines),
        cmocka_unit_test(test_each_rule),
        cmocka_unit_test(test_whole_documents),
        cmocka_unit_test(test_binding),
        cmocka_unit_test(test_what_the_other_side_has),
        cmocka_unit_test(test_names),
        cmocka_unit_test_setup_teardown(test_a_secret, make_folder, remove_folder),
        cmocka_unit_test(test_binding_that_is_ignorable),
        cmocka_unit_test(test_the_plugin_beside),
        cmocka_unit_test(test_settings_together),
        cmocka_unit_test(test_hard_rules),
        cmocka_unit_test(test_many_problems),
        cmocka_unit_test(test_cut_texts_stay_utf8),
        cmocka_unit_test(test_files_are_looked_into),
        cmocka_unit_test(test_who_scores_and_filters),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}

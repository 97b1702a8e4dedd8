#include "config/configuration.h"
#include "config/karmada.h"

#include "base/file.h"
#include "base/limits.h"
#include "cli/options.h"
#include "config/table.h"
#include "model/object.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define HEADER "apiVersion: evenkeel.io/v1alpha1\nkind: EvenkeelConfiguration\n" /* two lines */

static char path[] = "/tmp/evenkeel-configuration-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void put(const char *text) {
    struct err err;
    if (file_write_atomic(path, str_of(text), 0600, &err) != 0)
        fail_msg("%s", err.text);
}

/* Reads `text` over the defaults; must succeed. */
static void load(struct configuration *c, const char *text) {
    struct err err;
    put(text);
    configuration_init(c);
    if (configuration_read(c, path, &err) != 0)
        fail_msg("%s\n%s", err.text, text);
}

/* Reading `text` must fail; the sentence is that of `want`, behind the file's name. */
static void assert_refused(const char *text, int code, const char *want) {
    struct configuration c;
    struct err err = {0};
    char sentence[ERR_TEXT_SIZE];
    put(text);
    configuration_init(&c);
    int r = configuration_read(&c, path, &err);
    configuration_done(&c);
    if (r != code)
        fail_msg("%d instead of %d for:\n%s", r, code, text);
    assert_int_equal(err.code, code);
    (void)snprintf(sentence, sizeof sentence, "%s:%s", path, want); /* fits */
    assert_string_equal(err.text, sentence);
}

/* ---- values ---- */

static void test_defaults(void **state) {
    (void)state;
    struct configuration c;
    configuration_init(&c);
    assert_string_equal(c.extender.listen, "127.0.0.1:8443");
    assert_int_equal(c.engine.max_priority, 10);
    assert_false(c.extender.insecure);
    assert_null(c.extender.tls.cert_file);
    assert_null(c.extender.tls.key_file);
    assert_null(c.extender.tls.client_ca_file);
    assert_int_equal(c.extender.tls.allowed_subject_count, 0);
    assert_int_equal(c.extender.limits.body_bytes, LIMIT_HTTP_BODY);
    assert_int_equal(c.extender.limits.bodies_in_flight, LIMIT_HTTP_BODIES_IN_FLIGHT);
    assert_int_equal(c.extender.limits.connections, LIMIT_HTTP_CONNECTIONS);
    assert_int_equal(c.extender.limits.connections_per_address, LIMIT_HTTP_CONNECTIONS_PER_ADDRESS);
    assert_int_equal(c.extender.limits.header_ms, LIMIT_HTTP_HEADER_MS);
    assert_int_equal(c.extender.limits.request_ms, LIMIT_HTTP_REQUEST_MS);
    assert_int_equal(c.extender.limits.idle_ms, LIMIT_HTTP_IDLE_MS);
    assert_string_equal(c.ops.listen, "127.0.0.1:8080");
    assert_int_equal(c.state.path_count, 0);
    assert_int_equal(c.state.poll_ms, 1000);
    assert_true(c.engine.system_defaults);
    assert_true(c.engine.empty_selector_counts_all);
    assert_int_equal(c.engine.spread_weight, 50);
    assert_int_equal(c.engine.ordered_weight, 50);
    assert_int_equal(c.engine.ordered_rule_count, 0);
    assert_int_equal(c.cache.max_counters, LIMIT_COUNTERS);
    assert_int_equal(c.reservations.mode, RESERVATIONS_OFF);
    assert_int_equal(c.reservations.ttl_ms, 30000);
    assert_int_equal(c.reservations.settle_ms, 2000);
    assert_int_equal(c.shutdown.delay_ms, 10000);
    assert_int_equal(c.shutdown.drain_ms, 10000);
    assert_int_equal(c.log.level, LOG_INFO);
    assert_int_equal(c.log.format, LOG_LOGFMT);
    configuration_done(&c);
}

static void test_a_file_sets_what_it_names(void **state) {
    (void)state;
    struct configuration c;
    load(&c, HEADER "extender:\n"
                    "  listen: \":9443\"\n"
                    "  maxPriority: 14\n"
                    "  insecure: true\n"
                    "  allowedSubjects: [a, b, c, d, e]\n"
                    "  limits: {connectionsPerAddress: 9, headerTimeout: 1.5s}\n"
                    "ops: {listen: \"0\"}\n"
                    "state: {paths: [x, z], pollInterval: 1m30s}\n"
                    "spread: {emptySelector: CountNone, weight: 0}\n"
                    "reservations: {mode: SingleNode}\n"
                    "log: {level: warn, format: json}\n"
                    "shutdown: {delay: 0s, drain: }\n");
    assert_string_equal(c.extender.listen, ":9443");
    assert_int_equal(c.engine.max_priority, 14);
    assert_true(c.extender.insecure);
    assert_int_equal(c.extender.tls.allowed_subject_count, 5);
    assert_string_equal(c.extender.tls.allowed_subjects[0], "a");
    assert_string_equal(c.extender.tls.allowed_subjects[4], "e");
    assert_int_equal(c.extender.limits.connections_per_address, 9);
    assert_int_equal(c.extender.limits.header_ms, 1500);
    assert_int_equal(c.extender.limits.request_ms, LIMIT_HTTP_REQUEST_MS);
    assert_string_equal(c.ops.listen, "0");
    assert_int_equal(c.state.path_count, 2);
    assert_string_equal(c.state.paths[1], "z");
    assert_int_equal(c.state.poll_ms, 90000);
    assert_false(c.engine.empty_selector_counts_all);
    assert_int_equal(c.engine.spread_weight, 0);
    assert_int_equal(c.reservations.mode, RESERVATIONS_SINGLE_NODE);
    assert_int_equal(c.log.level, LOG_WARN);
    assert_int_equal(c.log.format, LOG_JSON);
    assert_int_equal(c.shutdown.delay_ms, 0);
    assert_int_equal(c.shutdown.drain_ms, 10000); /* null: the default stays */
    configuration_done(&c);
}

static void test_a_second_file_goes_over_the_first(void **state) {
    (void)state;
    struct configuration c;
    struct err err;
    load(&c, HEADER "state: {paths: [a, b, c], pollInterval: 3s}\nextender: {certFile: x}\n");
    put(HEADER "state: {paths: [d]}\nextender: {certFile: \"\"}\n");
    assert_int_equal(configuration_read(&c, path, &err), 0);
    assert_int_equal(c.state.path_count, 1);
    assert_string_equal(c.state.paths[0], "d");
    assert_int_equal(c.state.poll_ms, 3000);
    assert_null(c.extender.tls.cert_file);
    configuration_done(&c);
}

static void test_json_is_yaml(void **state) {
    (void)state;
    struct configuration c;
    load(&c, "{\"apiVersion\": \"evenkeel.io/v1alpha1\", \"kind\": \"EvenkeelConfiguration\",\n"
             " \"extender\": {\"listen\": \"[::1]\\u003a1\", \"certFile\": \"\"}}\n");
    assert_string_equal(c.extender.listen, "[::1]:1");
    assert_null(c.extender.tls.cert_file); /* as a template leaves it */
    configuration_done(&c);
}

static void test_off_needs_no_quotes(void **state) {
    (void)state;
    static const char *const texts[] = {
        HEADER "reservations: {mode: Off}", HEADER "reservations: {mode: off}",
        HEADER "reservations: {mode: \"Off\"}", HEADER "reservations: {mode: false}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct configuration c;
        load(&c, texts[i]);
        assert_int_equal(c.reservations.mode, RESERVATIONS_OFF);
        configuration_done(&c);
    }
    assert_refused(HEADER "reservations: {mode: on}", -EINVAL,
                   "3: reservations.mode: expected a text, found a boolean");
}

/* ---- what is refused ---- */

static void test_the_header(void **state) {
    (void)state;
    assert_refused("", -EINVAL,
                   " it is empty; expected apiVersion: evenkeel.io/v1alpha1 and kind: "
                   "EvenkeelConfiguration");
    assert_refused("apiVersion: evenkeel.io/v1alpha1\n", -EINVAL,
                   " kind: expected 'EvenkeelConfiguration'");
    assert_refused("kind: EvenkeelConfiguration\n", -EINVAL,
                   " apiVersion: expected 'evenkeel.io/v1alpha1'");
    assert_refused("kind: EvenkeelConfiguration\napiVersion: evenkeel.io/v2\nfoo: bar\n", -EINVAL,
                   "2: apiVersion: expected 'evenkeel.io/v1alpha1', found 'evenkeel.io/v2'");
    assert_refused("apiVersion: kubescheduler.config.k8s.io/v1\n"
                   "kind: KubeSchedulerConfiguration\nextenders: []\n",
                   -EINVAL,
                   "2: kind: expected 'EvenkeelConfiguration', found 'KubeSchedulerConfiguration' "
                   "(1 more: see 'evenkeel check config')");
    assert_refused(HEADER "---\n" HEADER, -EINVAL, " there is more than one document");
    assert_refused("- 1\n", -EINVAL,
                   " kind: expected 'EvenkeelConfiguration' (1 more: see 'evenkeel check config')");
}

static void test_wrong_values(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        {"extender:\n  lisen: x", "4: unknown key 'extender.lisen'; did you mean 'listen'?"},
        {"ops: {listen: \"0\"}\nextender:\n  limits:\n    idletimeout: 1",
         "6: unknown key 'extender.limits.idletimeout'; did you mean 'idleTimeout'?"},
        {"zebra: 1", "3: unknown key 'zebra'"},
        {"extender:\n  zebra:\n    stripes: 1", "4: unknown key 'extender.zebra'"},
        {"extender.listen: \":1\"", "3: unknown key 'extender.listen'"},
        {"\"\": 1", "3: unknown key ''"},
        {"log: {level: info}\n\nlog: {format: json}", " line 5, column 1: duplicate key 'log'"},
        {"extender: {maxPriority: 5000}",
         "3: extender.maxPriority: 5000 is not between 10 and 100"},
        {"extender: {maxPriority: -1}", "3: extender.maxPriority: -1 is not between 10 and 100"},
        {"extender: {maxPriority: 1.5}", "3: extender.maxPriority: '1.5' is not a whole number"},
        {"extender: {maxPriority: 99999999999999999999}",
         "3: extender.maxPriority: '99999999999999999999' is not a whole number"},
        {"extender: {maxPriority: \"4\"}",
         "3: extender.maxPriority: expected a number, found a text"},
        {"extender: {insecure: \"yes\"}", "3: extender.insecure: expected a boolean, found a text"},
        {"extender: {listen: 8443}",
         "3: extender.listen: expected a text, found a number; put it in quotes"},
#define ADDRESS_FORM                                                                               \
    ": write an IP address, or nothing, and a port: 127.0.0.1:8443, [::1]:8443 or :8443"
        {"extender: {listen: \"8443\"}",
         "3: extender.listen: '8443' is not a valid address" ADDRESS_FORM},
        {"extender: {listen: \":99999\"}",
         "3: extender.listen: ':99999' is not a valid address" ADDRESS_FORM},
        {"extender: {listen: \":+1\"}",
         "3: extender.listen: ':+1' is not a valid address" ADDRESS_FORM},
        {"extender: {listen: \"\"}", "3: extender.listen: '' is not a valid address" ADDRESS_FORM},
        {"extender: {listen: \"localhost:8443\"}",
         "3: extender.listen: 'localhost:8443' is not a valid address" ADDRESS_FORM},
        {"webhook: {listen: \"256.0.0.1:1\"}",
         "3: webhook.listen: '256.0.0.1:1' is not a valid address" ADDRESS_FORM},
        {"ops: {listen: \"::1:8080\"}",
         "3: ops.listen: '::1:8080' is not a valid address" ADDRESS_FORM},
#undef ADDRESS_FORM
        {"extender: {certFile: \"a\\0b\"}", "3: extender.certFile: it contains a NUL character"},
        {"extender: [1]", "3: extender: expected an object with keys of its own"},
        {"extender: {limits: 5}", "3: extender.limits: expected an object with keys of its own"},
        {"extender: {allowedSubjects: me}",
         "3: extender.allowedSubjects: expected a list, found a text"},
        {"extender:\n  allowedSubjects:\n  - me\n  - 7",
         "6: extender.allowedSubjects[1]: expected a text, found a number; put it in quotes"},
        {"state: {paths: [x, y]}",
         "3: state.paths[1]: expected a text, found a boolean; put it in quotes"},
        {"extender: {allowedSubjects: [\"\"]}", "3: extender.allowedSubjects[0]: it is empty"},
#define SUBJECT_FORM                                                                               \
    " is not a valid subject: write the common name, or dns:, uri: or email: in front of an "      \
    "alternative name, or cn: in front of a common name that looks like one"
        {"extender: {allowedSubjects: [a, \"DNS:b\"]}",
         "3: extender.allowedSubjects[1]: 'DNS:b'" SUBJECT_FORM},
        {"webhook: {allowedSubjects: [\"spiffe://a/b\"]}",
         "3: webhook.allowedSubjects[0]: 'spiffe://a/b'" SUBJECT_FORM},
#undef SUBJECT_FORM
        {"state: {pollInterval: 5}",
         "3: state.pollInterval: expected a duration such as 500ms or 1m30s, found a number"},
        {"state: {pollInterval: soon}", "3: state.pollInterval: 'soon' is not a duration such as "
                                        "500ms or 1m30s: expected a number "
                                        "with a unit"},
        {"state: {pollInterval: 1ms}", "3: state.pollInterval: 1ms is not in the range 10ms to 1h"},
        {"state: {pollInterval: 100us}",
         "3: state.pollInterval: '100us' is finer than a millisecond"},
        {"spread: {defaulting: list}",
         "3: spread.defaulting: 'list' is not one of System, List; did you mean List?"},
        {"log: {level: loud}", "3: log.level: 'loud' is not one of debug, info, warn, error"},
        {"cache: {maxCounters: 127}", "3: cache.maxCounters: 127 is not between 128 and 1048576"},
        {"a: [",
         " line 4, column 1: did not find expected node content, while parsing a flow node"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, HEADER "%s\n", rows[i].text); /* fits */
        assert_refused(text, -EINVAL, rows[i].sentence);
    }
}

/* The YAML reader hands JSON through as it is, repeated keys included. */
static void test_repeated_keys_in_json(void **state) {
    (void)state;
#define JSON_HEADER                                                                                \
    "{\"apiVersion\": \"evenkeel.io/v1alpha1\",\n\"kind\": \"EvenkeelConfiguration\",\n"
    assert_refused(JSON_HEADER "\"log\": {\"level\": \"info\",\n\"level\": \"warn\"}}", -EINVAL,
                   "4: repeated key 'log.level'");
    assert_refused(JSON_HEADER "\"log\": {\"level\": \"info\"},\n\"log\": {\"format\": \"json\"}}",
                   -EINVAL, "4: repeated key 'log'");
    assert_refused(JSON_HEADER "\"kind\": \"EvenkeelConfiguration\"}", -EINVAL,
                   "3: repeated key 'kind'");
}

static void test_files_that_cannot_be_read(void **state) {
    (void)state;
    struct configuration c;
    struct err err = {0};
    configuration_init(&c);
    assert_int_equal(configuration_read(&c, "/nonexistent/evenkeel.yaml", &err), -ENOENT);
    assert_contains(err.text, "/nonexistent/evenkeel.yaml");
    assert_int_equal(configuration_read(&c, "/dev/zero", &err), -EFBIG);
    assert_int_equal(configuration_read(&c, "/nonexistent/evenkeel.yaml", NULL), -ENOENT);
    configuration_done(&c);
}

/* ---- all problems ---- */

struct problems {
    uint32_t count, lines[64];
    char paths[64][100];
};

static void collect(void *ctx, const struct configuration_problem *p) {
    struct problems *all = ctx;
    assert_true(all->count < 64);
    all->lines[all->count] = p->line;
    (void)snprintf(all->paths[all->count++], 100, "%s", p->path); /* cut */
}

static void test_every_problem_is_told(void **state) {
    (void)state;
    struct configuration c;
    struct err err;
    struct problems all = {0};
    put(HEADER
        "extender:\n  maxPriority: many\n  lisen: x\nlog:\n  level: 7\n  format: json\nzebra: 1\n");
    configuration_init(&c);
    assert_int_equal(configuration_read_all(&c, path, collect, &all, &err), -EINVAL);
    static const struct {
        uint32_t line;
        const char *path;
    } want[] = {{4, "extender.maxPriority"}, {5, "extender.lisen"}, {7, "log.level"}, {9, "zebra"}};
    assert_int_equal(all.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(all.lines[i], want[i].line);
        assert_string_equal(all.paths[i], want[i].path);
    }
    configuration_done(&c);
}

/* Every problem as "LINE PATH TEXT; ADVICE\n", with "harmless " before a warning. */
static void append_problem(void *ctx, const struct configuration_problem *p) {
    strbuf_appendf(ctx, "%s%u %s %s; %s\n", p->harmless ? "harmless " : "", p->line, p->path,
                   p->text, p->advice);
}

/* What an earlier version took is no mistake, wherever it stands, and nothing of it is kept. */
static void test_removed_settings_are_harmless(void **state) {
    (void)state;
    struct configuration c;
    struct err err;
    CLEANUP(strbuf_done) struct strbuf problems = {.max = 4096};
    load(&c, HEADER "extender:\n  listen: \":1\"\n  threads: any\nwebhook: {threads: 4}\n"
                    "limits: {handler: 1s}\n");
    assert_string_equal(c.extender.listen, ":1");
    assert_int_equal(configuration_set_flag(&c, "extender-threads", "-1", &err), 0);
    configuration_removed_found(&c, append_problem, &problems);
    strbuf_append_char(&problems, '\0');
    assert_string_equal(
        problems.p,
        "harmless 5 extender.threads it is no longer a setting and has no effect: there is a "
        "thread for each CPU; remove it\n"
        "harmless 0 extender.threads --extender-threads is no longer a setting and has no effect: "
        "there is a thread for each CPU; remove it\n"
        "harmless 6 webhook.threads it is no longer a setting and has no effect: there is a "
        "thread for each CPU; remove it\n"
        "harmless 7 limits.handler it is no longer a setting and has no effect: a request that "
        "is worked on for 30s hangs; remove it\n"); /* the whole section went */
    configuration_done(&c);
}

/* Beside them a misspelt key is as wrong as ever, and so is one that stands elsewhere. */
static void test_others_are_still_unknown(void **state) {
    (void)state;
    assert_refused(HEADER "extender: {thread: 4}\n", -EINVAL, "3: unknown key 'extender.thread'");
    assert_refused(HEADER "ops: {threads: 4}\n", -EINVAL, "3: unknown key 'ops.threads'");
    assert_refused(HEADER "threads: 4\n", -EINVAL, "3: unknown key 'threads'");
    assert_refused(HEADER "extender.threads: 4\n", -EINVAL, "3: unknown key 'extender.threads'");
    assert_refused(HEADER "extender: {threads: 4, lisen: x}\n", -EINVAL,
                   "3: unknown key 'extender.lisen'; did you mean 'listen'?");
}

/* No row stands for a setting or a flag that there is. */
static void test_what_is_removed_is_gone(void **state) {
    (void)state;
    const struct configuration_removed *row;
    size_t count = 0;
    for (; (row = configuration_removed_at(count)) != NULL; count++) {
        struct configuration_option option;
        assert_true(row->instead[0] != '\0' && strlen(row->instead) < 100);
        for (size_t i = 0; configuration_option_at(i, &option); i++) {
            assert_string_not_equal(option.path, row->path);
            assert_true(option.flag == NULL || row->flag == NULL ||
                        strcmp(option.flag, row->flag) != 0);
        }
    }
    assert_true(count > 0);
}

static void test_not_more_than_fifty_are(void **state) {
    (void)state;
    struct configuration c;
    struct err err;
    struct problems all = {0};
    struct strbuf text = {.max = 1 << 20};
    strbuf_appendf(&text, HEADER);
    for (int i = 0; i < 1000; i++)
        strbuf_appendf(&text, "key%d: 1\n", i);
    strbuf_append_char(&text, '\0');
    put(text.p);
    strbuf_done(&text);
    configuration_init(&c);
    assert_int_equal(configuration_read_all(&c, path, collect, &all, &err), -EINVAL);
    assert_int_equal(all.count, 50);
    assert_contains(err.text, "1000 problems");
    configuration_done(&c);
}

/* ---- constraints and rules ---- */

static void test_default_constraints(void **state) {
    (void)state;
    struct configuration c;
    load(&c, HEADER "spread:\n"
                    "  defaulting: List\n"
                    "  defaultConstraints:\n"
                    "  - {topologyKey: zone, maxSkew: 5, whenUnsatisfiable: ScheduleAnyway}\n"
                    "  - topologyKey: example.com/rack\n"
                    "    maxSkew: 1\n"
                    "    whenUnsatisfiable: DoNotSchedule\n"
                    "    minDomains: 3\n"
                    "    nodeAffinityPolicy: Ignore\n"
                    "    nodeTaintsPolicy: Honor\n");
    assert_false(c.engine.system_defaults);
    assert_int_equal(c.engine.default_constraint_count, 2);
    const struct spread_constraint *a = c.engine.default_constraints, *b = a + 1;
    assert_str(a->topology_key, "zone");
    assert_int_equal(a->max_skew, 5);
    assert_int_equal(a->min_domains, 1);
    assert_false(a->hard);
    assert_true(a->honor_affinity);
    assert_false(a->honor_taints);
    assert_false(a->selector.present);
    assert_str(b->topology_key, "example.com/rack");
    assert_int_equal(b->min_domains, 3);
    assert_true(b->hard);
    assert_false(b->honor_affinity);
    assert_true(b->honor_taints);
    configuration_done(&c);
}

static void test_wrong_default_constraints(void **state) {
    (void)state;
    static const struct {
        const char *item, *sentence;
    } rows[] = {
        {"{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}", "[0].topologyKey: it is required"},
        {"{topologyKey: z, whenUnsatisfiable: DoNotSchedule}", "[0].maxSkew: it is required"},
        {"{topologyKey: z, maxSkew: 1}", "[0].whenUnsatisfiable: it is required"},
        {"{topologyKey: a b, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}",
         "[0].topologyKey: 'a b' is not a valid label key"},
        {"{topologyKey: z, maxSkew: 0, whenUnsatisfiable: DoNotSchedule}",
         "[0].maxSkew: 0 is not between 1 and 2147483647"},
        {"{topologyKey: z, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}",
         "[0].minDomains: it needs whenUnsatisfiable: DoNotSchedule"},
        {"{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}",
         "[0].labelSelector: it does not belong here: default constraints count the pods of the "
         "pod's own Services and owner"},
        {"{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}",
         "[0].matchLabelKeys: it does not belong here: default constraints count the pods of the "
         "pod's own Services and owner"},
        {"{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, {topologyKey: z, "
         "maxSkew: "
         "2, whenUnsatisfiable: DoNotSchedule}",
         "[1]: topologyKey 'z' with the same whenUnsatisfiable is there already"},
        {"null", "[0]: expected an object with keys of its own"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[500], sentence[300];
        (void)snprintf(text, sizeof text,
                       HEADER "spread: {defaulting: List, defaultConstraints: [%s]}\n",
                       rows[i].item); /* fits, both */
        (void)snprintf(sentence, sizeof sentence, "3: spread.defaultConstraints%s",
                       rows[i].sentence);
        assert_refused(text, -EINVAL, sentence);
    }
}

static bool selects(const struct ordered_rule *rule, const char *key, const char *value) {
    struct label label = {str_of(key), str_of(value)};
    struct labels labels = {&label, 1};
    return selector_matches(&rule->pods, labels_lookup, &labels);
}

static void test_ordered_rules(void **state) {
    (void)state;
    struct configuration c;
    load(&c, HEADER "orderedSpread:\n"
                    "  weight: 10\n"
                    "  rules:\n"
                    "  - name: web\n"
                    "    namespaces: [shop, shop-2]\n"
                    "    podSelector:\n"
                    "      matchLabels: {tier: web}\n"
                    "      matchExpressions: [{key: canary, operator: NotIn, values: [a, b]}]\n"
                    "    matchLabelKeys: [pod-template-hash]\n"
                    "    terms:\n"
                    "    - {topologyKey: region, whenUnsatisfiable: ScheduleAnyway}\n"
                    "    - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 2,\n"
                    "       nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore}\n"
                    "  - name: rest\n"
                    "    podSelector: {}\n"
                    "    terms: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]\n");
    assert_int_equal(c.engine.ordered_weight, 10);
    assert_int_equal(c.engine.ordered_rule_count, 2);
    const struct ordered_rule *web = &c.engine.ordered_rules[0], *rest = web + 1;
    assert_str(web->name, "web");
    assert_int_equal(web->namespace_count, 2);
    assert_str(web->namespaces[1], "shop-2");
    assert_int_equal(web->match_label_key_count, 1);
    assert_str(web->match_label_keys[0], "pod-template-hash");
    assert_true(selects(web, "tier", "web"));
    assert_false(selects(web, "tier", "db"));
    assert_int_equal(web->pods.count, 2);
    assert_int_equal(web->term_count, 2);
    assert_str(web->terms[0].topology_key, "region");
    assert_int_equal(web->terms[0].max_skew, 1);
    assert_int_equal(web->terms[0].min_domains, 1);
    assert_false(web->terms[0].hard);
    assert_true(web->terms[0].honor_affinity);
    assert_int_equal(web->terms[1].max_skew, 2);
    assert_true(web->terms[1].hard);
    assert_true(web->terms[1].honor_taints);
    assert_false(web->terms[1].honor_affinity);
    assert_true(selects(rest, "any", "thing"));
    assert_int_equal(rest->namespace_count, 0);
    configuration_done(&c);
}

/* Items of a list of a section are refused; the sentence is what follows their names. */
static void assert_list_refused(const char *section, const char *list, const char *items,
                                const char *sentence) {
    char text[900], whole[300];
    (void)snprintf(text, sizeof text, HEADER "%s: {%s: [%s]}\n", section, list,
                   items); /* fits, both */
    (void)snprintf(whole, sizeof whole, "3: %s.%s%s", section, list, sentence);
    assert_refused(text, -EINVAL, whole);
}

#define TERM "{topologyKey: z, whenUnsatisfiable: DoNotSchedule}"
#define RULE(name) "{name: " name ", podSelector: {}, terms: [" TERM "]}"

static void test_wrong_rules(void **state) {
    (void)state;
    static const struct {
        const char *rules, *sentence;
    } rows[] = {
        {"{podSelector: {}, terms: [" TERM "]}", "[0].name: it is required"},
        {"{name: a b, podSelector: {}, terms: [" TERM "]}", "[0].name: 'a b' is not a valid name"},
        {"{name: a, terms: [" TERM "]}", "[0].podSelector: it is required"},
        {"{name: a, podSelector: null, terms: [" TERM "]}", "[0].podSelector: it is required"},
        {"{name: a, podSelector: [], terms: [" TERM "]}",
         "[0].podSelector: expected an object with keys of its own"},
        {"{name: a, podSelector: {}}", "[0].terms: it is required"},
        {"{name: a, podSelector: {}, terms: []}", "[0].terms: it is empty; at least 1 is needed"},
        {"{name: a, podSelector: {}, terms: [{topologyKey: z}]}",
         "[0].terms[0].whenUnsatisfiable: it is required"},
        {"{name: a, podSelector: {}, terms: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule, "
         "minDomains: 2}]}",
         "[0].terms[0].minDomains: it does not belong here: ordered spread has no minDomains"},
        {"{name: a, podSelector: {}, terms: [" TERM ", " TERM "]}",
         "[0].terms[1].topologyKey: 'z' is there already"},
        {"{name: a, podSelector: {}, terms: [" TERM "," TERM "," TERM "," TERM "," TERM "," TERM
         "," TERM "," TERM "," TERM "]}",
         "[0].terms: more than 8 items"},
        {RULE("a") ", " RULE("b") ", " RULE("a"), "[2].name: 'a' is the name of another rule"},
        {"{name: a, podSelector: {matchLabels: {b: 1}}, terms: [" TERM "]}",
         "[0].podSelector.matchLabels: the value of label 'b' is not a text"},
        {"{name: a, podSelector: {matchLabels: {b: c d}}, terms: [" TERM "]}",
         "[0].podSelector: key 'b': 'c d' is not a label value"},
        {"{name: a, podSelector: {matchExpressions: [{key: a, operator: Within}]}, terms: [" TERM
         "]}",
         "[0].podSelector: key 'a': unknown operator 'Within'"},
        {"{name: a, podSelector: {matchExpressions: [{key: a}]}, terms: [" TERM "]}",
         "[0].podSelector.matchExpressions[0].operator: it is required"},
        {"{name: a, podSelector: {matchLabels: {b: c}}, matchLabelKeys: [b], terms: [" TERM "]}",
         "[0].matchLabelKeys[0]: 'b' is in podSelector already"},
        {"{name: a, podSelector: {}, namespaces: [Shop], terms: [" TERM "]}",
         "[0].namespaces[0]: 'Shop' is not a valid namespace"},
        {"{name: a, podSelector: {}, namespaces: [-x], terms: [" TERM "]}",
         "[0].namespaces[0]: '-x' is not a valid namespace"},
        {"{name: a, podSelector: {}, namespaces: [x-], terms: [" TERM "]}",
         "[0].namespaces[0]: 'x-' is not a valid namespace"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_list_refused("orderedSpread", "rules", rows[i].rules, rows[i].sentence);
    /* What does not belong here is not offered. */
    assert_refused(HEADER
                   "orderedSpread: {rules: [{name: a, podSelector: {}, terms: [{topologyKey: "
                   "z, whenUnsatisfiable: DoNotSchedule, minDomain: 2}]}]}\n",
                   -EINVAL, "3: unknown key 'orderedSpread.rules[0].terms[0].minDomain'");
    assert_refused(HEADER "orderedSpread: {rules: [{name: a, podSelector: {matchLabel: {b: c}}, "
                          "terms: [" TERM "]}]}\n",
                   -EINVAL,
                   "3: unknown key 'orderedSpread.rules[0].podSelector.matchLabel'; did you mean "
                   "'matchLabels'?");
}

static void test_tiers(void **state) {
    (void)state;
    struct configuration c;
    load(&c, HEADER "locality:\n"
                    "  tiers:\n"
                    "  - {topologyKey: kubernetes.io/hostname, weight: 100}\n"
                    "  - {topologyKey: example.com/rack, weight: 50}\n"
                    "  - {topologyKey: zone, weight: 50}\n");
    assert_int_equal(c.engine.tier_count, 3);
    assert_str(c.engine.tiers[1].topology_key, "example.com/rack");
    assert_int_equal(c.engine.tiers[1].weight, 50);
    configuration_done(&c);
    static const struct {
        const char *tiers, *sentence;
    } rows[] = {
        {"{weight: 1}", "[0].topologyKey: it is required"},
        {"{topologyKey: zone}", "[0].weight: it is required"},
        {"{topologyKey: zone, weight: 0}", "[0].weight: 0 is not between 1 and 100"},
        {"{topologyKey: a b, weight: 1}", "[0].topologyKey: 'a b' is not a valid label key"},
        {"{topologyKey: a, weight: 2}, {topologyKey: a, weight: 1}",
         "[1].topologyKey: 'a' is there already"},
        {"{topologyKey: a, weight: 2}, {topologyKey: b, weight: 3}",
         "[1].weight: a tier cannot weigh more than the nearer one before it, 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_list_refused("locality", "tiers", rows[i].tiers, rows[i].sentence);
}

/* ---- flags ---- */

static int set(struct configuration *c, const char *flag, const char *value, struct err *err) {
    *err = (struct err){0};
    return configuration_set_flag(c, flag, value, err);
}

static void test_flags_override_the_file(void **state) {
    (void)state;
    struct configuration c;
    struct err err;
    load(&c, HEADER "extender: {maxPriority: 14, allowedSubjects: [x]}\n"
                    "state: {paths: [a, b, c]}\n");
    assert_int_equal(set(&c, "extender-max-priority", "18", &err), 0);
    assert_int_equal(c.engine.max_priority, 18);
    assert_int_equal(set(&c, "state", "d", &err), 0);
    assert_int_equal(c.state.path_count, 1);
    assert_int_equal(set(&c, "state", "e", &err), 0);
    assert_int_equal(set(&c, "state", "f", &err), 0);
    assert_int_equal(c.state.path_count, 3);
    assert_string_equal(c.state.paths[0], "d");
    assert_string_equal(c.state.paths[2], "f");
    assert_int_equal(c.extender.tls.allowed_subject_count, 1); /* not touched */
    assert_int_equal(set(&c, "insecure-extender", "true", &err), 0);
    assert_true(c.extender.insecure);
    assert_int_equal(set(&c, "reservations", "SingleNode", &err), 0);
    assert_int_equal(c.reservations.mode, RESERVATIONS_SINGLE_NODE);
    assert_int_equal(set(&c, "log-level", "debug", &err), 0);
    assert_int_equal(c.log.level, LOG_DEBUG);
    assert_int_equal(set(&c, "shutdown-delay", "1m", &err), 0);
    assert_int_equal(c.shutdown.delay_ms, 60000);
    assert_int_equal(set(&c, "ops-listen", "", &err), 0);
    assert_string_equal(c.ops.listen, "");
    configuration_done(&c);
}

/* Whatever YAML makes of its words. */
static void test_karmada(void **state) {
    (void)state;
    struct configuration c;
    struct karmada_options options;
    struct err err;
    configuration_init(&c);
    configuration_karmada(&c, &options);
    assert_memory_equal(&options, &karmada_defaults, sizeof options);
    assert_int_equal(set(&c, "karmada-compat", "v1.18.1", &err), 0);
    assert_int_equal(set(&c, "karmada-missing-topology", "Default", &err), 0);
    assert_int_equal(set(&c, "karmada-max-groups-unset", "Unlimited", &err), 0);
    assert_int_equal(set(&c, "karmada-no-constraint", "UntilEnough", &err), 0);
    assert_int_equal(set(&c, "karmada-static-weights-keep-spread", "true", &err), 0);
    assert_int_equal(set(&c, "karmada-search-budget", "7", &err), 0);
    assert_int_equal(set(&c, "karmada-estimators-models", "Off", &err), 0);
    assert_int_equal(set(&c, "karmada-plugin", "*", &err), 0);
    assert_int_equal(set(&c, "karmada-plugin", "Capacity", &err), 0);
    assert_int_equal(set(&c, "karmada-plugin", "-TaintToleration", &err), 0);
    configuration_karmada(&c, &options);
    assert_true(options.compat == COMPAT_1_18_1 && options.missing == MISSING_DEFAULT);
    assert_true(options.max_unset_is_unlimited && options.static_keeps_spread);
    assert_int_equal(options.no_constraint, NO_CONSTRAINT_UNTIL_ENOUGH);
    assert_int_equal(options.search_budget, 7);
    assert_int_equal(options.models, MODELS_OFF);
    assert_int_equal(options.plugins, (KARMADA_UPSTREAM_PLUGINS | 1u << PLUGIN_CAPACITY) &
                                          ~(1u << PLUGIN_TAINT_TOLERATION));
    assert_int_equal(set(&c, "karmada-plugin", "Capcity", &err), -EINVAL);
    assert_contains(err.text, "'Capcity' is not a valid plugin");
    assert_int_equal(set(&c, "karmada-compat", "v1.18", &err), -EINVAL);
    configuration_done(&c);
}

/* Defaults of karmada-scheduler v1.18.1's flags (karmada.md C.9). */
static void test_karmada_estimators(void **state) {
    (void)state;
    struct configuration c;
    struct err err;
    configuration_init(&c);
    assert_false(c.karmada_estimators.accurate);
    assert_int_equal(c.karmada_estimators.timeout_ms, 3000);
    assert_int_equal(c.karmada_estimators.port, 10352);
    assert_string_equal(c.karmada_estimators.service_prefix, "karmada-scheduler-estimator");
    assert_string_equal(c.karmada_estimators.service_namespace, "karmada-system");
    assert_string_equal(c.karmada_cluster_namespace, "karmada-cluster");
    assert_int_equal(set(&c, "karmada-cluster-namespace", "a.b", &err), -EINVAL);
    assert_false(c.karmada_estimators.disable_in_pull_mode);
    assert_false(c.karmada_estimators.insecure_skip_verify);
    assert_int_equal(set(&c, "karmada-estimators-mode", "accurate", &err), -EINVAL);
    assert_int_equal(set(&c, "karmada-estimators-timeout", "9ms", &err), -EINVAL);
    assert_int_equal(set(&c, "karmada-estimators-timeout", "10ms", &err), 0);
    assert_int_equal(set(&c, "karmada-estimators-timeout", "61s", &err), -EINVAL);
    assert_int_equal(set(&c, "karmada-estimators-port", "0", &err), -EINVAL);
    assert_int_equal(set(&c, "karmada-estimators-port", "65536", &err), -EINVAL);
    assert_int_equal(set(&c, "karmada-estimators-service-prefix", "a.b", &err), -EINVAL);
    assert_int_equal(set(&c, "karmada-estimators-address", "m1=h:1", &err), 0);
    assert_int_equal(set(&c, "karmada-estimators-address", "m2=[::1]:65535", &err), 0);
    assert_int_equal(c.karmada_estimators.address_count, 2);
    for (const char *const *bad = (const char *const[]){"m1", "m1=", "=h:1", "m1=h", "m1=h:0",
                                                        "m1=h:65536", "m1=:1", NULL};
         *bad != NULL; bad++)
        assert_int_equal(set(&c, "karmada-estimators-address", *bad, &err), -EINVAL);
    assert_contains(err.text, "write NAME=HOST:PORT");
    configuration_done(&c);
}

/* Who would ask them, and of what. */
static void test_unasked_estimators(void **state) {
    (void)state;
    static const char *const paths[] = {"f"};
    struct configuration c;
    configuration_init(&c);
    c.extender.listen = "127.0.0.1:1";
    c.fleet.clusters = true;
    c.state.paths = paths;
    c.state.path_count = 1;
    assert_false(configuration_asks_estimators(&c));
    c.karmada_estimators.accurate = true;
    assert_true(configuration_asks_estimators(&c));
    c.extender.listen = "0";
    assert_false(configuration_asks_estimators(&c));
    c.extender.listen = "127.0.0.1:1";
    c.fleet.clusters = false;
    assert_false(configuration_asks_estimators(&c));
    c.fleet.clusters = true;
    c.state.path_count = 0;
    assert_false(configuration_asks_estimators(&c));
    c.state.path_count = 1;
    c.hub.kubeconfig = "k";
    assert_false(configuration_asks_estimators(&c));
    c.hub.kubeconfig = NULL;
    c.hub.in_cluster = true;
    assert_false(configuration_asks_estimators(&c));
    c.state.paths = NULL;
    c.state.path_count = 0;
    configuration_done(&c);
}

static void test_wrong_flags(void **state) {
    (void)state;
    struct configuration c;
    struct err err;
    configuration_init(&c);
    assert_int_equal(set(&c, "extender-thread", "8", &err), -ENOENT);
    assert_string_equal(err.text, "unknown option '--extender-thread'");
    assert_int_equal(set(&c, "extender-max-priority", "x", &err), -EINVAL);
    assert_string_equal(err.text, "--extender-max-priority: 'x' is not a whole number");
    assert_int_equal(set(&c, "insecure-extender", "perhaps", &err), -EINVAL);
    assert_int_equal(set(&c, "state", "", &err), -EINVAL);
    assert_int_equal(set(&c, "state-poll-interval", "5", &err), -EINVAL);
    assert_int_equal(c.state.path_count, 0);
    assert_int_equal(c.engine.max_priority, 10);
    configuration_done(&c);
}

static void test_every_flag_works(void **state) {
    (void)state;
    struct configuration c;
    struct configuration_option option;
    struct err err;
    configuration_init(&c);
    for (size_t i = 0; configuration_option_at(i, &option); i++) {
        if (option.flag == NULL)
            continue;
        const char *value = option.default_text[0] != '\0' ? option.default_text : "x";
        if (strcmp(option.flag, "karmada-compat") == 0)
            value = "v1.18.1";
        else if (strcmp(option.flag, "karmada-plugin") == 0)
            value = "-TaintToleration";
        else if (strcmp(option.flag, "karmada-estimators-address") == 0)
            value = "m1=localhost:10352";
        if (set(&c, option.flag, value, &err) != 0)
            fail_msg("%s", err.text);
        assert_true(strlen(option.type) + 1 < sizeof option.type); /* nothing was cut */
        assert_true(strlen(option.value_name) + 1 < sizeof option.value_name);
    }
    configuration_done(&c);
}

/* ---- what only shows in the whole ---- */

static void test_certificates(void **state) {
    (void)state;
    struct configuration c;
    load(&c, HEADER "webhook:\n"
                    "  certificates:\n"
                    "    mode: SelfSigned\n"
                    "    secretName: tls.evenkeel\n"
                    "    hosts: [a.b.svc, \"::1\"]\n"
                    "    configurations: [one, two]\n");
    const struct configuration_certificates *o = &c.webhook.certificates;
    assert_int_equal(o->mode, CERTIFICATES_SELF_SIGNED);
    assert_string_equal(o->secret, "tls.evenkeel");
    assert_null(o->namespace);
    assert_int_equal(o->host_count, 2);
    assert_str(o->hosts[1], "::1");
    assert_int_equal(o->configuration_count, 2);
    assert_string_equal(o->configurations[1], "two");
    configuration_done(&c);
    configuration_init(&c);
    assert_int_equal(o->mode, CERTIFICATES_FILES);
    assert_string_equal(o->secret, "evenkeel-webhook-tls");
    configuration_done(&c);
    static const char *const bad[] = {"a/b", "A", "a_b", "-a", "a-", "a..b", "a-.b", ".a", "a."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[200], sentence[200];
        (void)snprintf(text, sizeof text, HEADER "webhook: {certificates: {secretName: %s}}\n",
                       bad[i]); /* fits, as the next */
        (void)snprintf(sentence, sizeof sentence,
                       "3: webhook.certificates.secretName: '%s' is not a valid name", bad[i]);
        assert_refused(text, -EINVAL, sentence);
    }
    assert_refused(HEADER "webhook: {certificates: {hosts: [\"https://a\"]}}\n", -EINVAL,
                   "3: webhook.certificates.hosts[0]: 'https://a' is not a valid host");
}

/* As long as Kubernetes lets names be. */
static void test_how_long_names_may_be(void **state) {
    (void)state;
    char name[255];
    memset(name, 'a', sizeof name);
    assert_true(configuration_namespace_valid((struct str){name, 63}));
    assert_false(configuration_namespace_valid((struct str){name, 64}));
    assert_false(configuration_namespace_valid(STR("")));
    for (int n = 253; n <= 254; n++) {
        struct configuration c;
        struct err err = {0};
        char text[400];
        (void)snprintf(text, sizeof text, HEADER "webhook: {certificates: {secretName: %.*s}}\n", n,
                       name); /* fits */
        put(text);
        configuration_init(&c);
        assert_int_equal(configuration_read(&c, path, &err), n == 253 ? 0 : -EINVAL);
        if (n > 253)
            assert_contains(err.text, "is not a valid name");
        configuration_done(&c);
    }
}

static void append_path(void *ctx, const struct configuration_problem *p) {
    assert_true(strlen(p->text) > 0 && strlen(p->advice) > 0);
    strbuf_appendf(ctx, "%s ", p->path);
}

/* Doors that ask nobody who they are. */
static void test_open_doors(void **state) {
    (void)state;
#define KUBE "kubernetes: {inCluster: true}\n"
    static const struct {
        const char *text, *doors;
    } rows[] = {
        {"", ""}, /* the defaults */
        {"extender: {insecure: true}", ""},
        {"extender: {listen: \":1\", insecure: true}", "extender.insecure "},
        {"extender: {listen: \":1\", clientCAFile: a}", ""},
        {"extender: {bind: true}", "extender.bind "},
        {"extender: {bind: true, clientCAFile: a}", ""},
        {KUBE "extender: {bind: true, listen: \":1\", certificates: {mode: SelfSigned}}", ""},
        {"extender: {bind: true, listen: \"0\"}", ""},
        {"extender: {bind: true, listen: \":1\", insecure: true}",
         "extender.insecure extender.bind "},
        {"webhook: {listen: \"127.0.0.1:1\"}", ""},
        {"webhook: {listen: \":1\"}", "webhook.clientCAFile "},
        {"webhook: {listen: \":1\", clientCAFile: a}", ""},
        {KUBE "webhook: {listen: \":1\", fluid: {readFor: Anyone}}",
         "webhook.clientCAFile webhook.fluid.readFor "},
        {KUBE "webhook: {listen: \":1\", fluid: {readFor: Verified}}", "webhook.clientCAFile "},
        {KUBE "webhook: {listen: \":1\", fluid: {readFor: Anyone, readTimeout: 0s}}",
         "webhook.clientCAFile "},
        {KUBE "webhook: {listen: \":1\", fluid: {readFor: Anyone, watch: false}}",
         "webhook.clientCAFile "},
        {"webhook: {listen: \":1\", fluid: {readFor: Anyone}}", "webhook.clientCAFile "},
        {KUBE "webhook: {listen: \":1\", clientCAFile: a, fluid: {readFor: Anyone}}", ""},
        {"ops: {listen: \":1\"}", "ops.listen "},
        {"ops: {listen: \":1\"}\nexplain: {tokenFile: a}", "ops.listen explain.tokenFile "},
        {"explain: {tokenFile: a}", ""},
    };
#undef KUBE
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf doors = {.max = 1000};
        struct configuration c;
        char text[500];
        (void)snprintf(text, sizeof text, HEADER "%s\n", rows[i].text); /* fits */
        load(&c, text);
        configuration_open_doors(&c, append_path, &doors);
        if (!str_eq(strbuf_str(&doors), str_of(rows[i].doors)))
            fail_msg("%s: %.*s", rows[i].text, (int)doors.n, doors.p != NULL ? doors.p : "");
        configuration_done(&c);
    }
}

static void test_certificates_of_the_extender(void **state) {
    (void)state;
    struct configuration c;
    load(&c, HEADER "extender:\n  certificates: {mode: SelfSigned, hosts: [a.b.svc, 10.0.0.7, "
                    "\"fd00::1\"], clientName: me, clientDays: 365}\n");
    const struct configuration_certificates *o = &c.extender.certificates;
    assert_int_equal(o->mode, CERTIFICATES_SELF_SIGNED);
    assert_string_equal(o->secret, "evenkeel-extender-tls");
    assert_string_equal(o->client_secret, "evenkeel-extender-client");
    assert_null(o->namespace);
    assert_int_equal(o->host_count, 3);
    assert_string_equal(o->client_name, "me");
    assert_int_equal(o->client_days, 365);
    assert_int_equal(c.webhook.certificates.mode, CERTIFICATES_FILES);
    configuration_done(&c);
    static const char *const bad[] = {
        "dns:a", "cn:a", "spiffe://a", "planificateur-\xc3\xa9",
        ("a23456789012345678901234567890123456789012345678901234567890"
         "12345")};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[200], want[200];
        (void)snprintf(text, sizeof text, HEADER "extender: {certificates: {clientName: '%s'}}\n",
                       bad[i]); /* these fit */
        (void)snprintf(want, sizeof want,
                       "3: extender.certificates.clientName: '%s' is not a valid name", bad[i]);
        assert_refused(text, -EINVAL, want);
    }
    struct err err = {0}; /* it would be read as "a?" from a certificate */
    put(HEADER "extender: {certificates: {clientName: \"a\\u007f\"}}\n");
    configuration_init(&c);
    assert_int_equal(configuration_read(&c, path, &err), -EINVAL);
    assert_contains(err.text, "extender.certificates.clientName: ");
    assert_contains(err.text, "is not a valid name");
    configuration_done(&c);
}

static void test_check(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence; /* NULL: good */
    } rows[] = {
        {"extender: {certFile: a, keyFile: b}\nstate: {paths: [s]}", NULL},
        {"extender: {insecure: true}\nstate: {paths: [s]}", NULL},
        {"extender: {certFile: a, keyFile: b, clientCAFile: c, allowedSubjects: [d]}\n"
         "state: {paths: [s]}",
         NULL},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nwebhook: {listen: \":1\", certFile: a, "
         "keyFile: b, clientCAFile: c, allowedSubjects: [d]}",
         NULL},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nwebhook: {listen: \":1\", keyFile: b}",
         "webhook.certFile: API servers call HTTPS only"},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nwebhook: {listen: \":1\", certFile: b}",
         "webhook.keyFile: the certificate's key is missing"},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nwebhook: {allowedSubjects: [d]}",
         "webhook.allowedSubjects: without clientCAFile"},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {listen: \":1\", "
         "certificates: {mode: SelfSigned, hosts: [a.b.svc], configurations: [e]}}",
         NULL},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {listen: \":1\", "
         "certificates: {mode: Secret, configurations: [e]}}",
         NULL},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {certFile: a, "
         "keyFile: b, certificates: {mode: Secret}}",
         "webhook.certificates.mode: the certificate is to come from a Secret, but"},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {certFile: a, "
         "certificates: {mode: Secret}}",
         "webhook.certificates.mode: the certificate is to come from a Secret, but"},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {keyFile: b, "
         "certificates: {mode: Secret}}",
         "webhook.certificates.mode: the certificate is to come from a Secret, but"},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nwebhook: {certificates: {mode: Secret}}",
         "webhook.certificates.mode: the Secret is on an API server"},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {certificates: "
         "{mode: "
         "SelfSigned}}",
         "webhook.certificates.hosts: a certificate of our own needs"},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {certificates: "
         "{mode: "
         "Secret, hosts: [a]}}",
         "webhook.certificates.hosts: only certificates of our own"},
        {"extender: {insecure: true}\nkubernetes: {inCluster: true}\nwebhook: {certificates: "
         "{configurations: [a]}}",
         "webhook.certificates.configurations: with mode: Files"},
#define IN_CLUSTER "kubernetes: {inCluster: true}\n"
#define SELF_SIGNED "mode: SelfSigned, hosts: [a.b.svc, 10.0.0.7]"
        {IN_CLUSTER "extender: {listen: \":1\", certificates: {" SELF_SIGNED "}}", NULL},
        {IN_CLUSTER "extender: {listen: \":1\", bind: true, allowedSubjects: "
                    "[\"cn:system:kube-scheduler\", a], certificates: {" SELF_SIGNED "}}",
         NULL},
        {IN_CLUSTER "extender: {allowedSubjects: [a, \"cn:system:kube-scheduler\"], "
                    "certificates: {" SELF_SIGNED "}}",
         NULL},
        /* nobody makes the client's */
        {IN_CLUSTER
         "extender: {allowedSubjects: [a], certificates: {mode: Secret, clientSecretName: b}}\n"
         "webhook: {listen: \":2\", certificates: {secretName: b, " SELF_SIGNED "}}",
         NULL},
        {IN_CLUSTER "extender: {listen: \":1\", certificates: {mode: Secret}, "
                    "allowedSubjects: [a]}",
         NULL},
        {IN_CLUSTER "extender: {insecure: true, certificates: {" SELF_SIGNED "}}",
         "extender.insecure: it lets everyone"},
        {IN_CLUSTER "extender: {clientCAFile: a, certificates: {" SELF_SIGNED "}}",
         "extender.certificates.mode: certificate and client CA are to come from a Secret, but"},
        {"state: {paths: [s]}\nextender: {certificates: {" SELF_SIGNED "}}",
         "extender.certificates.mode: the Secret is on an API server"},
        {IN_CLUSTER "extender: {certificates: {mode: SelfSigned}}",
         "extender.certificates.hosts: a certificate of our own needs"},
        {IN_CLUSTER "extender: {allowedSubjects: [a], certificates: {mode: Secret, hosts: [a]}}",
         "extender.certificates.hosts: only certificates of our own"},
        {IN_CLUSTER "extender: {certificates: {mode: Secret}}",
         "extender.allowedSubjects: with mode: Secret every certificate of the CA"},
        {IN_CLUSTER "extender: {allowedSubjects: [a], certificates: {" SELF_SIGNED "}}",
         "extender.allowedSubjects: it has not the clientName"},
        {IN_CLUSTER "extender: {allowedSubjects: [\"dns:a\"], certificates: {clientName: a, "
                    "" SELF_SIGNED "}}",
         "extender.allowedSubjects: it has not the clientName"},
        {IN_CLUSTER "extender: {certificates: {secretName: a, clientSecretName: a, " SELF_SIGNED
                    "}}",
         "extender.certificates.secretName: two certificates are to be in one Secret"},
        {IN_CLUSTER "extender: {certificates: {clientSecretName: a, " SELF_SIGNED "}}\n"
                    "webhook: {listen: \":2\", certificates: {secretName: a, " SELF_SIGNED "}}",
         "extender.certificates.secretName: two certificates are to be in one Secret"},
        {IN_CLUSTER
         "extender: {certificates: {clientSecretName: a, secretNamespace: ns, " SELF_SIGNED "}}\n"
         "webhook: {listen: \":2\", certificates: {secretName: a, " SELF_SIGNED "}}",
         NULL},
#undef IN_CLUSTER
#undef SELF_SIGNED
        {"", "extender.certFile: serving HTTPS needs"},
        {"extender: {insecure: true, certFile: a}", "extender.keyFile: the certificate's key"},
        {"extender: {insecure: true, clientCAFile: a}", "extender.insecure: it lets everyone"},
        {"extender: {insecure: true, allowedSubjects: [a]}", "extender.insecure: it lets everyone"},
        {"extender: {insecure: true, fleetSubjects: [a]}", "extender.insecure: it lets everyone"},
        {"extender: {insecure: true, certFile: a, keyFile: b}\nstate: {paths: [s]}", NULL},
        /* doors that other machines reach */
        {"extender: {listen: \":1\", certFile: a, keyFile: b, clientCAFile: c}\n"
         "state: {paths: [s]}",
         NULL},
        {"extender: {listen: \":1\", insecure: true}\nstate: {paths: [s]}", NULL},
        {"extender: {listen: \":1\", insecure: true, certFile: a, keyFile: b}\n"
         "state: {paths: [s]}",
         NULL},
        {"extender: {listen: \"127.3.2.1:1\", certFile: a, keyFile: b}\nstate: {paths: [s]}", NULL},
        {"extender: {listen: \"[::1]:1\", certFile: a, keyFile: b}\nstate: {paths: [s]}", NULL},
        {"extender: {listen: \"0\", certFile: a, keyFile: b}\nstate: {paths: [s]}\n"
         "webhook: {listen: \":1\", certFile: a, keyFile: b}",
         NULL},
        {"extender: {listen: \":1\", certFile: a, keyFile: b}\nstate: {paths: [s]}",
         "extender.clientCAFile: extender.listen is open to other machines"},
        {"extender: {listen: \"0.0.0.0:1\", certFile: a, keyFile: b}\nstate: {paths: [s]}",
         "extender.clientCAFile: extender.listen is open to other machines"},
        {"extender: {listen: \"10.0.0.7:1\", certFile: a, keyFile: b}\nstate: {paths: [s]}",
         "extender.clientCAFile: extender.listen is open to other machines"},
        {"extender: {listen: \"[::]:1\", certFile: a, keyFile: b}\nstate: {paths: [s]}",
         "extender.clientCAFile: extender.listen is open to other machines"},
        /* no door for pods */
        {"extender: {listen: \"0\"}\nstate: {paths: [s]}",
         "extender.listen: neither the extender nor the webhook listens, so nobody can ask"},
        {"extender: {listen: \"0\"}\nstate: {paths: [s]}\nfleet: {clusters: true}", NULL},
        {"extender: {listen: \"0\"}\nkubernetes: {inCluster: true}\nfleet: {clusters: true}", NULL},
        {"extender: {listen: \"0\"}\nops: {listen: \"0\"}\nstate: {paths: [s]}\n"
         "fleet: {clusters: true}",
         "extender.listen: neither the extender nor the webhook listens, so nobody can ask"},
        {"extender: {listen: \"0\"}\nfleet: {clusters: true}", "kubernetes: there is nothing to"},
    /* an election */
#define ELECTION                                                                                   \
    "extender: {insecure: true}\nreservations: {mode: SingleNode}\nleaderElection: {enabled: "
        {ELECTION "true}\nkubernetes: {inCluster: true}", NULL},
        {ELECTION "true}\nkubernetes: {kubeconfig: a}", NULL},
        {ELECTION "true}\nstate: {paths: [s]}", "leaderElection.enabled: "},
        {ELECTION "false}\nstate: {paths: [s]}", NULL},
        {ELECTION "true, leaseDuration: 1500ms}\nkubernetes: {inCluster: true}",
         "leaderElection: "},
        {ELECTION "false, leaseDuration: 1500ms}\nkubernetes: {inCluster: true}", NULL},
        {ELECTION "true}\nfleet: {clusters: true}\nhub: {kubeconfig: a}\nstate: {paths: [s]}",
         "leaderElection.enabled: the Lease is on an API server, and none is configured"},
#undef ELECTION
#define ELECTION "leaderElection: {enabled: true}\nextender: "
        {ELECTION "{insecure: true}\nkubernetes: {inCluster: true}",
         "leaderElection.enabled: nobody would be elected: there are neither reservations"},
        {ELECTION "{listen: \"0\"}\nfleet: {clusters: true}\nhub: {kubeconfig: a}",
         "leaderElection.enabled: nobody would be elected"},
        {ELECTION "{listen: \"0\"}\nocm: {enabled: true}\nhub: {kubeconfig: a}", NULL},
        {ELECTION "{listen: \"0\"}\nocm: {enabled: true}\nkubernetes: {inCluster: true}", NULL},
        {ELECTION "{insecure: true}\nocm: {enabled: true}\nhub: {kubeconfig: a}\nstate: {paths: "
                  "[s]}",
         NULL}, /* at the hub */
#undef ELECTION
    /* a hub */
#define HUB "extender: {listen: \"0\"}\nfleet: {clusters: true}\nhub: "
        {HUB "{kubeconfig: a, context: b}", NULL},
        {HUB "{inCluster: true}", NULL},
        {HUB "{kubeconfig: a}\nkubernetes: {inCluster: true}", NULL},
        {HUB "{kubeconfig: a}\nstate: {paths: [s]}", NULL},
        {HUB "{kubeconfig: a, inCluster: true}", "hub: hub.kubeconfig and hub.inCluster exclude"},
        {HUB "{context: a}\nstate: {paths: [s]}",
         "hub.context: it is a context of hub.kubeconfig, which is not set; set hub.kubeconfig"},
        {HUB "{inCluster: true}\nkubernetes: {inCluster: true}",
         "hub.inCluster: kubernetes.inCluster names the same API server; remove hub"},
#undef HUB
        {"extender: {insecure: true}\nstate: {paths: [s]}\nhub: {kubeconfig: a}",
         "hub: nothing is watched at the hub, because fleet.clusters and ocm.enabled are off; set "
         "fleet.clusters: true (--fleet-clusters) or ocm.enabled: true (--ocm)"},
        {"extender: {insecure: true}\nfleet: {clusters: true}\nhub: {kubeconfig: a}",
         "kubernetes: there is nothing to learn the cluster's state from"},
    /* a hub whose Placements are decided: no listener is needed */
#define OCM "extender: {listen: \"0\"}\nops: {listen: \"0\"}\nocm: {enabled: "
        {OCM "true}\nhub: {kubeconfig: a}", NULL},
        {OCM "true}\nhub: {inCluster: true}", NULL},
        {OCM "true}\nkubernetes: {kubeconfig: a}", NULL},
        {OCM "true}\nkubernetes: {inCluster: true}", NULL},
        {OCM "true, mode: Off}\nhub: {kubeconfig: a}", NULL},
        {OCM "true}\nkubernetes: {kubeconfig: a}\n"
             "webhook: {listen: \":1\", pods: false, certFile: a, keyFile: b}",
         NULL},
        {OCM "false}\nkubernetes: {kubeconfig: a}\n"
             "webhook: {listen: \":1\", pods: false, certFile: a, keyFile: b}",
         "webhook.pods: without pods the webhook is asked about Placements alone, and ocm.enabled "
         "is "
         "false; set ocm.enabled: true, or webhook.pods: true"},
        {OCM "false}\nkubernetes: {kubeconfig: a}\nwebhook: {pods: false}",
         "extender.listen: neither the extender nor the webhook listens"},
        {OCM "true}",
         "ocm.enabled: Placements and their decisions are on an API server, and none is "
         "configured; set hub.kubeconfig"},
        {OCM "true, mode: Scores, scores: false}\nkubernetes: {inCluster: true}",
         "ocm.scores: mode: Scores decides by scores"},
        {OCM "true}\nstate: {paths: [s]}", "ocm.enabled: Placements and their decisions are on an"},
        {OCM "true}\nhub: {kubeconfig: a}\nstate: {paths: [s]}", NULL},
        {OCM "true, mode: Scores}\nhub: {kubeconfig: a}", NULL},
        {OCM "false, mode: Scores}\nhub: {kubeconfig: a}", "extender.listen: neither the extender"},
#undef OCM
        {"extender: {insecure: true}\nstate: {paths: [s]}\nocm: {mode: Scores}", NULL},
    /* an estimator: its listener is enough */
#define ESTIMATOR "extender: {listen: \"0\"}\nestimator: {listen: \":1\", "
        {ESTIMATOR "members: [\"a=f\"]}", NULL},
        {ESTIMATOR "members: [\"a=f\", \"b=f#c\"], certFile: a, keyFile: b, clientCAFile: c, "
                   "allowedSubjects: [d]}",
         NULL},
        {ESTIMATOR "members: [a, \"b=f\"]}\nstate: {paths: [s]}", NULL},
        {ESTIMATOR "members: []}", "estimator.members: the estimator listens, and has no member"},
        {ESTIMATOR "members: [a]}", "estimator.members: a member without a kubeconfig is the"},
        {ESTIMATOR "members: [a]}\nhub: {inCluster: true}\nfleet: {clusters: true}",
         "estimator.members: a member without a kubeconfig is the"},
        {ESTIMATOR "members: [a, \"b=f\"]}\nkubernetes: {inCluster: true}", NULL},
        {ESTIMATOR "members: [a]}\nkubernetes: {kubeconfig: f}", NULL},
        {ESTIMATOR "members: [a, b]}\nkubernetes: {inCluster: true}",
         "estimator.members: two members have no kubeconfig"},
        {ESTIMATOR "members: [a, b]}\nstate: {paths: [s]}",
         "estimator.members: two members have no kubeconfig"},
        {ESTIMATOR "members: [\"a=f\"], certFile: a}",
         "estimator.keyFile: the certificate's key is missing"},
        {ESTIMATOR "members: [\"a=f\"], keyFile: a}",
         "estimator.certFile: the key's certificate is missing"},
        {ESTIMATOR "members: [\"a=f\"], clientCAFile: a}",
         "estimator.clientCAFile: without a certificate of its own"},
        {ESTIMATOR "members: [\"a=f\"], certFile: a, keyFile: b, allowedSubjects: [d]}",
         "estimator.allowedSubjects: without clientCAFile"},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nestimator: {members: [\"a=f\"]}",
         "estimator.members: nobody can ask for them"},
        {ESTIMATOR "fromKarmada: true, services: true, serviceHost: \"e:1\"}\n"
                   "karmada: {kubeconfig: k}\nleaderElection: {enabled: true}",
         NULL},
        {ESTIMATOR "fromKarmada: true, services: true, serviceHost: e}\nkarmada: {kubeconfig: k}",
         NULL},
        {ESTIMATOR "fromKarmada: true, services: true}\nkarmada: {kubeconfig: k}",
         "estimator.serviceHost: the Services have to lead to a name or address where "
         "karmada-scheduler reaches this estimator; set it to that name or address "
         "(--estimator-service-host HOST:PORT), or "
         "remove estimator.services"},
        {ESTIMATOR "fromKarmada: true, services: true, serviceHost: \"\"}\n"
                   "karmada: {kubeconfig: k}",
         "estimator.serviceHost: "},
        {ESTIMATOR "members: [\"a=f\"], services: true, serviceHost: e}",
         "estimator.services: they are for the clusters that Karmada has, which are not estimated; "
         "set estimator.fromKarmada: true"},
        {ESTIMATOR "fromKarmada: true, serviceHost: e}\nkarmada: {kubeconfig: k}",
         "estimator.serviceHost: no Service leads there, because estimator.services is off"},
        {ESTIMATOR "fromKarmada: true}\nkarmada: {kubeconfig: k}\n"
                   "leaderElection: {enabled: true}",
         "leaderElection.enabled: nobody would be elected"},
#undef ESTIMATOR
    /* estimators that are asked */
#define KNOWN "extender: {insecure: true}\nstate: {paths: [s]}\n"
#define ASKED KNOWN "fleet: {clusters: true}\nkarmada: {estimators: {mode: Accurate"
        {ASKED "}}", NULL},
        {ASKED ", addresses: [\"m1=h:1\"]}}", NULL},
        {ASKED "}, kubeconfig: k}", NULL},
        {KNOWN "karmada: {kubeconfig: k}",
         "karmada.kubeconfig: nothing is asked there, because estimator.fromKarmada is off"},
        {KNOWN "karmada: {estimators: {mode: Accurate}}",
         "karmada.estimators.mode: no estimator would ever be asked"},
        {KNOWN "karmada: {estimators: {addresses: [\"m1=h:1\"]}}",
         "karmada.estimators.addresses: they are not asked"},
        {ASKED ", caFile: a, certFile: c, keyFile: k}}", NULL},
        {ASKED ", insecureSkipVerify: true, certFile: c, keyFile: k}}", NULL},
        {ASKED ", caFile: a, certFile: c}}",
         "karmada.estimators.keyFile: the certificate's key is missing"},
        {ASKED ", caFile: a, keyFile: k}}",
         "karmada.estimators.certFile: the key's certificate is missing"},
        {ASKED ", certFile: c, keyFile: k}}", "karmada.estimators.certFile: it is shown to nobody"},
#undef ASKED
#undef KNOWN
    /* labels */
#define LABELS "data: {labelLeavingNodes: true}\nextender: {listen: \"0\"}\n"
#define DOOR "webhook: {listen: \":1\", certFile: a, keyFile: b"
        {LABELS DOOR "}\nkubernetes: {inCluster: true}", NULL},
        {LABELS DOOR "}\nkubernetes: {kubeconfig: a}", NULL},
        {LABELS DOOR "}\nstate: {paths: [s]}",
         "data.labelLeavingNodes: the nodes are on an API server, and none is configured"},
        {LABELS DOOR ", fluid: {watch: false}}\nkubernetes: {inCluster: true}",
         "data.labelLeavingNodes: only replicas of the webhook that watch Fluid's objects label "
         "nodes"},
        {"data: {labelLeavingNodes: true}\nextender: {insecure: true}\nkubernetes: {inCluster: "
         "true}",
         "data.labelLeavingNodes: only replicas of the webhook that watch Fluid's objects label "
         "nodes"},
#undef LABELS
#undef DOOR
        {"extender: {certFile: a}", "extender.keyFile: the certificate's key is missing"},
        {"extender: {keyFile: a}", "extender.certFile: the key's certificate is missing"},
        {"extender: {certFile: a, keyFile: b, allowedSubjects: [c]}",
         "extender.allowedSubjects: without clientCAFile"},
        {"extender: {certFile: a, keyFile: b, fleetSubjects: [c]}",
         "extender.fleetSubjects: without clientCAFile"},
        {"extender: {certFile: a, keyFile: b, clientCAFile: c, fleetSubjects: [d]}\n"
         "state: {paths: [s]}",
         NULL},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nspread: {defaultConstraints: "
         "[{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}",
         "spread.defaultConstraints: they are only used with defaulting: List"},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nspread: {weight: 0}\n"
         "orderedSpread: {weight: 0}\nlocality: {weight: 0}",
         "spread.weight: every weight is 0, so all nodes score the same"},
        {"extender: {insecure: true}\nstate: {paths: [s]}\nspread: {weight: 0}\n"
         "orderedSpread: {weight: 0}\nlocality: {weight: 100}",
         NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c;
        struct err err = {0};
        char text[500];
        (void)snprintf(text, sizeof text, HEADER "%s\n", rows[i].text); /* fits */
        load(&c, text);
        int r = configuration_check(&c, &err);
        assert_int_equal(r, rows[i].sentence == NULL ? 0 : -EINVAL);
        if (rows[i].sentence != NULL && strstr(err.text, rows[i].sentence) != err.text)
            fail_msg("'%s' does not begin with '%s'", err.text, rows[i].sentence);
        configuration_done(&c);
    }
}

/* A Secret without a namespace is in that of the daemon. */
static void test_secrets_meet_at_home(void **state) {
    (void)state;
    struct configuration c;
    load(&c, HEADER "extender: {certificates: {mode: SelfSigned, secretName: a, secretNamespace: "
                    "ns, hosts: [b]}}\n"
                    "webhook: {certificates: {mode: SelfSigned, secretName: a, hosts: [b]}}\n");
    assert_true(configuration_secrets_meet(&c, "ns"));
    assert_false(configuration_secrets_meet(&c, "other"));
    assert_false(configuration_secrets_meet(&c, NULL)); /* it is not known */
    configuration_done(&c);
    load(&c, HEADER "extender: {certificates: {mode: SelfSigned, secretName: a, hosts: [b]}}\n"
                    "webhook: {certificates: {mode: SelfSigned, secretName: a, secretNamespace: "
                    "ns, hosts: [b]}}\n");
    assert_true(configuration_secrets_meet(&c, "ns"));
    assert_false(configuration_secrets_meet(&c, "other"));
    configuration_done(&c);
}

/* ---- memory ---- */

/* However little memory there is: it is refused or it works. */
static void test_every_size_of_memory(void **state) {
    (void)state;
    struct strbuf text = {.max = 1 << 20};
    struct err err;
    strbuf_appendf(&text, HEADER "state: {paths: [a, b, c, d, e]}\norderedSpread: {rules: [");
    for (int i = 0; i < 60; i++)
        strbuf_appendf(&text, "{name: rule-%d, podSelector: {}, terms: [" TERM "]},\n", i);
    strbuf_appendf(&text, "]}%c", '\0');
    put(text.p);
    strbuf_done(&text);
    size_t refused = 0;
    int r = -ENOMEM;
    for (size_t max = 4096; r != 0; max += 1021) {
        struct configuration c;
        configuration_init(&c);
        c.arena.max = max;
        r = configuration_read(&c, path, &err);
        if (r != 0)
            assert_int_equal(r, -ENOMEM);
        else
            assert_int_equal(c.engine.ordered_rule_count, 60);
        refused += r != 0;
        configuration_done(&c);
        assert_true(max < 1 << 20);
    }
    assert_true(refused > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_a_file_sets_what_it_names),
        cmocka_unit_test(test_a_second_file_goes_over_the_first),
        cmocka_unit_test(test_json_is_yaml),
        cmocka_unit_test(test_off_needs_no_quotes),
        cmocka_unit_test(test_the_header),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_repeated_keys_in_json),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_every_problem_is_told),
        cmocka_unit_test(test_removed_settings_are_harmless),
        cmocka_unit_test(test_others_are_still_unknown),
        cmocka_unit_test(test_what_is_removed_is_gone),
        cmocka_unit_test(test_not_more_than_fifty_are),
        cmocka_unit_test(test_default_constraints),
        cmocka_unit_test(test_wrong_default_constraints),
        cmocka_unit_test(test_ordered_rules),
        cmocka_unit_test(test_wrong_rules),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_flags_override_the_file),
        cmocka_unit_test(test_karmada),
        cmocka_unit_test(test_karmada_estimators),
        cmocka_unit_test(test_unasked_estimators),
        cmocka_unit_test(test_wrong_flags),
        cmocka_unit_test(test_every_flag_works),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_how_long_names_may_be),
        cmocka_unit_test(test_certificates_of_the_extender),
        cmocka_unit_test(test_open_doors),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_secrets_meet_at_home),
        cmocka_unit_test(test_every_size_of_memory),
    };
    return cmocka_run_group_tests_name("configuration", tests, make_file, remove_file);
}

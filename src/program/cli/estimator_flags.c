#include "cli/estimator_flags.h"

#include "base/duration.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "kube/auth/access.h"
#include "members/members.h"
#include "net/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum flag_type { FLAG_TEXT, FLAG_BOOL, FLAG_INT, FLAG_FLOAT, FLAG_DURATION };

#define UNUSED "Taken, and means nothing here."
/* Each row: constant, name, letter, name of the value in the help, type, help. */
#define FLAG_LIST(X)                                                                               \
    X(CLUSTER_NAME, "cluster-name", 0, "NAME", FLAG_TEXT,                                          \
      "Name of the member's Cluster in Karmada. Required.")                                        \
    X(KUBECONFIG, "kubeconfig", 0, "FILE", FLAG_TEXT,                                              \
      "The member's kubeconfig, its current context. Without it and --master: the cluster that "   \
      "this pod runs in.")                                                                         \
    X(MASTER, "master", 0, "URL", FLAG_TEXT,                                                       \
      "Address of the member's API server, in the place of the kubeconfig's.")                     \
    X(SERVER_PORT, "server-port", 0, "PORT", FLAG_INT,                                             \
      "Where karmada-scheduler calls, on every address; 0 takes a free one. (default 10352)")      \
    X(CERT_FILE, "grpc-auth-cert-file", 0, "FILE", FLAG_TEXT,                                      \
      "Certificate of the gRPC listener, in PEM. Without it or its key: plaintext.")               \
    X(KEY_FILE, "grpc-auth-key-file", 0, "FILE", FLAG_TEXT, "Its key, in PEM.")                    \
    X(CLIENT_CA_FILE, "grpc-client-ca-file", 0, "FILE", FLAG_TEXT,                                 \
      "With it only callers with a certificate of this CA are answered.")                          \
    X(SKIP_VERIFY, "insecure-skip-grpc-client-verify", 0, "[BOOL]", FLAG_BOOL,                     \
      "Ask callers for no certificate, whatever --grpc-client-ca-file is.")                        \
    X(METRICS, "metrics-bind-address", 0, "ADDRESS", FLAG_TEXT,                                    \
      "GET /metrics and the rest of the ops listener; 0: off. (default :8080)")                    \
    X(PROBES, "health-probe-bind-address", 0, "ADDRESS", FLAG_TEXT,                                \
      "GET /healthz and /readyz; 0: off. (default :10351)")                                        \
    X(GATES, "feature-gates", 0, "NAME=BOOL,...", FLAG_TEXT,                                       \
      "ResourceQuotaEstimate and SchedulingOvercommitProtection, and AllAlpha, which stands for "  \
      "both; all are off unless set. The others of Karmada are taken, and mean nothing to an "     \
      "estimator.")                                                                                \
    X(LOGGING_FORMAT, "logging-format", 0, "text|json", FLAG_TEXT, "Form of the log.")             \
    X(VERBOSITY, "v", 'v', "LEVEL", FLAG_INT, "From 4 on the log has level debug. (default 0)")    \
    X(QPS, "kube-api-qps", 0, "NUMBER", FLAG_FLOAT, UNUSED)                                        \
    X(BURST, "kube-api-burst", 0, "COUNT", FLAG_INT, UNUSED)                                       \
    X(PARALLELISM, "parallelism", 0, "COUNT", FLAG_INT, UNUSED)                                    \
    X(PPROF, "enable-pprof", 0, "[BOOL]", FLAG_BOOL, UNUSED)                                       \
    X(PPROF_ADDRESS, "profiling-bind-address", 0, "ADDRESS", FLAG_TEXT, UNUSED)                    \
    X(ADD_DIR_HEADER, "add-dir-header", 0, "[BOOL]", FLAG_BOOL, UNUSED)                            \
    X(ALSO_TO_STDERR, "alsologtostderr", 0, "[BOOL]", FLAG_BOOL, UNUSED)                           \
    X(LOG_BACKTRACE, "log-backtrace-at", 0, "FILE:LINE", FLAG_TEXT, UNUSED)                        \
    X(LOG_DIR, "log-dir", 0, "DIR", FLAG_TEXT, UNUSED)                                             \
    X(LOG_FILE, "log-file", 0, "FILE", FLAG_TEXT, UNUSED)                                          \
    X(LOG_FILE_SIZE, "log-file-max-size", 0, "MEGABYTES", FLAG_INT, UNUSED)                        \
    X(LOG_FLUSH, "log-flush-frequency", 0, "DURATION", FLAG_DURATION, UNUSED)                      \
    X(LOG_JSON_BUFFER, "log-json-info-buffer-size", 0, "BYTES", FLAG_TEXT, UNUSED)                 \
    X(LOG_JSON_SPLIT, "log-json-split-stream", 0, "[BOOL]", FLAG_BOOL, UNUSED)                     \
    X(LOG_TEXT_BUFFER, "log-text-info-buffer-size", 0, "BYTES", FLAG_TEXT, UNUSED)                 \
    X(LOG_TEXT_SPLIT, "log-text-split-stream", 0, "[BOOL]", FLAG_BOOL, UNUSED)                     \
    X(LOG_TO_STDERR, "logtostderr", 0, "[BOOL]", FLAG_BOOL, UNUSED)                                \
    X(ONE_OUTPUT, "one-output", 0, "[BOOL]", FLAG_BOOL, UNUSED)                                    \
    X(SKIP_HEADERS, "skip-headers", 0, "[BOOL]", FLAG_BOOL, UNUSED)                                \
    X(SKIP_LOG_HEADERS, "skip-log-headers", 0, "[BOOL]", FLAG_BOOL, UNUSED)                        \
    X(STDERR_THRESHOLD, "stderrthreshold", 0, "SEVERITY", FLAG_TEXT, UNUSED)                       \
    X(VMODULE, "vmodule", 0, "FILE=LEVEL,...", FLAG_TEXT, UNUSED)

#define AS_CONSTANT(constant, name, letter, value, type, help) FLAG_##constant,
#define AS_SPEC(constant, name, letter, value, type, help) {name, letter, value, help},
#define AS_TYPE(constant, name, letter, value, type, help) type,

enum { FLAG_LIST(AS_CONSTANT) FLAGS };
static const struct option_spec specs[FLAGS] = {FLAG_LIST(AS_SPEC)};
static const struct option_heading headings[] = {
    {FLAG_QPS, "Flags of karmada-scheduler-estimator that are taken, and mean nothing here"},
    {0, NULL}};
static const enum flag_type types[FLAGS] = {FLAG_LIST(AS_TYPE)};

const struct command estimator_command = {
    .name = "estimator",
    .usage = "--cluster-name NAME [--kubeconfig FILE] [options]",
    .about = "Stands in the place of karmada-scheduler-estimator: in its Deployment change image\n"
             "and command, nothing else. Answers karmada-scheduler over gRPC how many replicas\n"
             "still fit one member cluster, and karmada-descheduler how many found no node.\n"
             "The member's nodes, pods, Deployments and ReplicaSets are watched; until they are\n"
             "listed the answer is -1, which karmada-scheduler passes over. GET /healthz says\n"
             "whether the process is alive, /readyz whether the member has been listed, or tried.\n"
             "Flags are those of karmada-scheduler-estimator, written as there: --flag=VALUE,\n"
             "--flag VALUE, --switch, --switch=false, --with_underscores. For many members in one\n"
             "process: evenkeel serve --estimator-listen.\n"
             "SIGTERM stops gently, a second one at once. Exit codes: 0 stopped, 1 could not\n"
             "start, 2 wrong usage.",
    .example = "evenkeel estimator --cluster-name=member1 --kubeconfig=/etc/member1-kubeconfig \\\n"
               "    --grpc-auth-cert-file=/etc/karmada/pki/server/tls.crt \\\n"
               "    --grpc-auth-key-file=/etc/karmada/pki/server/tls.key \\\n"
               "    --grpc-client-ca-file=/etc/karmada/pki/server/ca.crt",
    .specs = specs,
    .spec_count = FLAGS,
    .headings = headings,
    .underscores = true,
};

/* ---- values ---- */

/* upstream: Go's strconv.ParseBool */
static bool parse_bool(struct str s, bool *ret) {
    static const char *const words[2][6] = {{"0", "f", "F", "FALSE", "false", "False"},
                                            {"1", "t", "T", "TRUE", "true", "True"}};
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 6; i++)
            if (str_eq(s, str_of(words[b][i]))) {
                *ret = b;
                return true;
            }
    return false;
}

static bool is_float(const char *text) {
    char *end;
    (void)strtod(text, &end); /* only the end of the number is used */
    return text[0] > ' ' && *end == '\0';
}

/* The value of a flag; the member that is set follows from the flag's type. */
struct flag_value {
    const char *text; /* NULL: the text is empty */
    bool on;
    int64_t number;
};

static bool read_value(struct options *o, enum flag_type type, const struct option_value *v,
                       struct flag_value *ret) {
    struct err err;
    int64_t ns;
    const char *wanted = NULL;
    *ret = (struct flag_value){.text = v->text[0] != '\0' ? v->text : NULL};
    if (type == FLAG_BOOL && !parse_bool(str_of(v->text), &ret->on))
        wanted = "true or false";
    else if (type == FLAG_INT && (!str_to_i64(str_of(v->text), &ret->number) ||
                                  ret->number < INT32_MIN || ret->number > INT32_MAX))
        wanted = "a whole number";
    else if (type == FLAG_FLOAT && !is_float(v->text))
        wanted = "a number";
    else if (type == FLAG_DURATION && duration_parse(str_of(v->text), &ns, &err) != 0)
        wanted = "a duration such as 5s";
    if (wanted != NULL)
        options_fail(o, "--%s: '%s' is not %s", v->spec->name, v->text, wanted);
    return wanted == NULL;
}

/* Returns an address in the form of ops.listen: "0" turns it off. Go resolves localhost, and
 * listens on one of its addresses. */
static const char *read_address(struct options *o, const char *name, const char *text) {
    if (text == NULL || strcmp(text, "0") == 0)
        return "0";
    if (!address_is_valid(str_of(text)) && !str_has_prefix(str_of(text), STR("localhost:")))
        options_fail(o,
                     "--%s: '%s' is not an address; write an IP address, or nothing, and a port: "
                     "127.0.0.1:8080, [::1]:8080 or :8080; or 0",
                     name, text);
    return text;
}

/* ---- feature gates ---- */

/* upstream: pkg/features/features.go, and the two gates of every list (AllAlpha, AllBeta) */
static const char *const other_gates[] = {"AllBeta",
                                          "ContextualLogging",
                                          "ControllerPriorityQueue",
                                          "CustomizedClusterResourceModeling",
                                          "Failover",
                                          "FederatedQuotaEnforcement",
                                          "GracefulEviction",
                                          "LoggingAlphaOptions",
                                          "LoggingBetaOptions",
                                          "MultiClusterService",
                                          "MultiplePodTemplatesScheduling",
                                          "PriorityBasedScheduling",
                                          "PropagateDeps",
                                          "PropagationPolicyPreemption",
                                          "StatefulFailoverInjection",
                                          "WorkloadAffinity"};
enum { OTHER_GATES = sizeof other_gates / sizeof other_gates[0] };

static void unknown_gate(struct options *o, struct str name) {
    struct suggestion near = suggestion_for(name);
    suggestion_offer(&near, "AllAlpha");
    suggestion_offer(&near, "ResourceQuotaEstimate");
    suggestion_offer(&near, "SchedulingOvercommitProtection");
    for (size_t i = 0; i < OTHER_GATES; i++)
        suggestion_offer(&near, other_gates[i]);
    options_fail(o, "--feature-gates: there is no gate '%.*s'%s%s%s", STR_ARG(name),
                 near.best != NULL ? "; did you mean " : "", near.best != NULL ? near.best : "",
                 near.best != NULL ? "?" : "");
}

static bool is_other_gate(struct str name) {
    for (size_t i = 0; i < OTHER_GATES; i++)
        if (str_eq(name, str_of(other_gates[i])))
            return true;
    return false;
}

static void set_gate(struct options *o, struct str name, bool on, struct estimator_gates *gates) {
    const enum gate_state state = on ? GATE_ON : GATE_OFF;
    if (str_eq(name, STR("ResourceQuotaEstimate")))
        gates->resource_quota = state;
    else if (str_eq(name, STR("SchedulingOvercommitProtection")))
        gates->overcommit_protection = state;
    else if (str_eq(name, STR("AllAlpha")))
        gates->all_alpha = state;
    else if (!is_other_gate(name))
        unknown_gate(o, name);
}

/* Reads "A=true,B=false"; the last value of a name wins. upstream: featuregate.Set */
static void read_gates(struct options *o, const char *text, struct estimator_gates *gates) {
    struct str rest = str_of(text);
    while (rest.n > 0 && !o->stopped) {
        const size_t comma = str_find(rest, ',');
        const struct str item = {rest.p, comma == SIZE_MAX ? rest.n : comma};
        const size_t behind = item.n + (comma != SIZE_MAX);
        const size_t equals = str_find(item, '=');
        bool on;
        rest = (struct str){rest.p + behind, rest.n - behind};
        if (item.n == 0)
            continue;
        const size_t n = equals == SIZE_MAX ? item.n : equals;
        const struct str name = str_trim((struct str){item.p, n});
        if (equals == SIZE_MAX)
            options_fail(o, "--feature-gates: '%.*s' has no value; write %.*s=true or =false",
                         STR_ARG(name), STR_ARG(name));
        else if (!parse_bool(str_trim((struct str){item.p + n + 1, item.n - n - 1}), &on))
            options_fail(o, "--feature-gates: '%.*s' is neither true nor false", STR_ARG(item));
        else
            set_gate(o, name, on, gates);
    }
}

/* ---- the flags ---- */

/* Stores the flag's value. Flags without a case are listed as unused. */
static void take(struct options *o, size_t flag, const struct flag_value *v,
                 struct estimator_flags *f) {
    const char *name = specs[flag].name;
    switch (flag) {
    case FLAG_CLUSTER_NAME:
        f->cluster_name = v->text;
        break;
    case FLAG_KUBECONFIG:
        f->kubeconfig = v->text;
        break;
    case FLAG_MASTER:
        f->master = v->text;
        break;
    case FLAG_SERVER_PORT:
        f->port = v->number;
        break;
    case FLAG_CERT_FILE:
        f->cert_file = v->text;
        break;
    case FLAG_KEY_FILE:
        f->key_file = v->text;
        break;
    case FLAG_CLIENT_CA_FILE:
        f->client_ca = v->text;
        break;
    case FLAG_SKIP_VERIFY:
        f->skip_client_verify = v->on;
        break;
    case FLAG_METRICS:
        f->metrics = read_address(o, name, v->text);
        break;
    case FLAG_PROBES:
        f->probes = read_address(o, name, v->text);
        break;
    case FLAG_GATES:
        read_gates(o, v->text != NULL ? v->text : "", &f->gates);
        break;
    case FLAG_VERBOSITY:
        f->verbosity = v->number;
        break;
    case FLAG_LOGGING_FORMAT:
        f->logs_json = v->text != NULL && strcmp(v->text, "json") == 0;
        if (!f->logs_json && (v->text == NULL || strcmp(v->text, "text") != 0))
            options_fail(o, "--%s: '%s' is neither text nor json", name,
                         v->text != NULL ? v->text : "");
        break;
    default:
        strbuf_appendf(&f->unused, "%s%s", f->unused.n > 0 ? ", " : "", name);
    }
}

/* Checks the values when all flags have been read, so that their order does not matter. */
static void check(struct options *o, const struct estimator_flags *f) {
    CLEANUP(arena_done) struct arena scratch = {0};
    struct member_source source;
    struct kube_access access;
    struct err err;
    arena_init(&scratch, 1 << 20);
    if (f->cluster_name == NULL)
        options_fail(o, "--cluster-name is required: the name of the member's Cluster in Karmada");
    else if (strchr(f->cluster_name, '=') != NULL ||
             !member_source_parse(str_of(f->cluster_name), &source))
        options_fail(o,
                     "--cluster-name: '%s' is not the name of a Cluster: lower-case letters, "
                     "digits, - and .",
                     f->cluster_name);
    else if (f->port < 0 || f->port > 65535)
        options_fail(o, "--server-port: %lld is not between 0 and 65535", (long long)f->port);
    else if (f->kubeconfig != NULL && strchr(f->kubeconfig, '#') != NULL)
        options_fail(o, "--kubeconfig: '%s' has a '#', which stands for a context here",
                     f->kubeconfig);
    else if (f->master != NULL && strchr(f->master, ',') != NULL)
        options_fail(o, "--master: '%s' is not the address of a server", f->master);
    else if (f->master != NULL &&
             kube_access_without_credentials(f->master, &scratch, &access, &err) != 0)
        options_fail(o, "--master: %s", err.text);
}

void estimator_flags_read(struct options *o, struct estimator_flags *ret) {
    struct option_value v;
    struct flag_value value;
    *ret = (struct estimator_flags){
        .port = 10352, .metrics = ":8080", .probes = ":10351", .unused.max = 1 << 16};
    while (options_next(o, &v)) {
        if (v.spec == NULL)
            options_fail(o, "unexpected argument '%s'", v.text);
        else if (read_value(o, types[v.spec - specs], &v, &value))
            take(o, (size_t)(v.spec - specs), &value, ret);
    }
    if (!o->stopped)
        check(o, ret);
}

void estimator_flags_done(struct estimator_flags *f) {
    strbuf_done(&f->unused);
}

/* ---- the configuration made from the flags ---- */

bool estimator_flags_lack_tls(const struct estimator_flags *f) {
    const bool any = f->cert_file != NULL || f->key_file != NULL || f->client_ca != NULL;
    return any && (f->cert_file == NULL || f->key_file == NULL);
}

/* Returns the member in the form that members/members.h reads. A server without a scheme: upstream
 * uses TLS if the kubeconfig configures TLS, and nearly every kubeconfig has a CA. */
static const char *member_text(const struct estimator_flags *f, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 16};
    const bool like_url = f->kubeconfig != NULL && strncmp(f->kubeconfig, "http", 4) == 0;
    strbuf_appendf(&text, "%s", f->cluster_name);
    if (f->master != NULL)
        strbuf_appendf(&text, "=%s%s%s",
                       strstr(f->master, "://") != NULL ? ""
                       : f->kubeconfig != NULL          ? "https://"
                                                        : "http://",
                       f->master, f->kubeconfig != NULL ? "," : "");
    if (f->kubeconfig != NULL)
        strbuf_appendf(&text, "%s%s%s", f->master == NULL ? "=" : "", like_url ? "./" : "",
                       f->kubeconfig);
    return strbuf_failed(&text) ? NULL : arena_cstr(arena, strbuf_str(&text));
}

static const char *listen_text(const char *address, struct arena *arena) {
    static const struct str localhost = {"localhost:", 10};
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 10};
    if (!str_has_prefix(str_of(address), localhost))
        return address;
    strbuf_appendf(&text, "127.0.0.1:%s", address + localhost.n);
    return arena_cstr(arena, strbuf_str(&text));
}

static bool is_on(enum gate_state gate, enum gate_state otherwise) {
    return (gate == GATE_UNSET ? otherwise : gate) == GATE_ON;
}

int estimator_flags_apply(const struct estimator_flags *f, struct configuration *c,
                          struct err *err) {
    const char **members = arena_alloc(&c->arena, sizeof *members);
    const char *member = member_text(f, &c->arena);
    char port[8];
    (void)snprintf(port, sizeof port, ":%d", (int)f->port); /* fits: checked before */
    c->extender.listen = c->webhook.listen = "0";
    c->explain.decisions = 0;    /* an estimator makes no decisions */
    c->shutdown.delay_ms = 3000; /* upstream has no delay; callers keep connections long */
    c->estimator.listen = arena_cstr(&c->arena, str_of(port));
    c->estimator.resource_quota = is_on(f->gates.resource_quota, f->gates.all_alpha);
    c->estimator.overcommit_protection = is_on(f->gates.overcommit_protection, f->gates.all_alpha);
    c->kubernetes.in_cluster = f->kubeconfig == NULL && f->master == NULL;
    if (f->cert_file != NULL && f->key_file != NULL) {
        c->estimator.tls.cert_file = f->cert_file;
        c->estimator.tls.key_file = f->key_file;
        c->estimator.tls.client_ca_file = f->skip_client_verify ? NULL : f->client_ca;
    }
    c->ops.listen = listen_text(f->metrics, &c->arena);
    c->ops.probe_listen = listen_text(f->probes, &c->arena);
    c->log.level = f->verbosity >= 4 ? LOG_DEBUG : LOG_INFO;
    c->log.format = f->logs_json ? LOG_JSON : LOG_LOGFMT;
    if (member == NULL || arena_failed(&c->arena))
        return err_set(err, -ENOMEM, "no memory for the configuration");
    members[0] = member;
    c->estimator.members = members;
    c->estimator.member_count = 1;
    return 0;
}

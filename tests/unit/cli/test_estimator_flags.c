/*
 * evenkeel estimator: every flag of karmada-scheduler-estimator v1.18.1, as its --help lists them,
 * and what becomes of it. Expectations are from upstream's options, pflag and feature gates.
 */
#include "cli/estimator_flags.h"

#include "cli/commands.h"
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    struct options options;
    struct estimator_flags flags;
    struct configuration c;
    char line[1000], said[4000];
    char *argv[40];
    int argc;
};

/* Standard error goes to a file while the line is read. */
static void read_line(struct fixture *f, const char *line) {
    char path[] = "/tmp/evenkeel-estimator-XXXXXX", *rest = f->line;
    (void)snprintf(f->line, sizeof f->line, "estimator%s%s", line[0] != '\0' ? " " : "",
                   line); /* fits */
    f->argc = 0;
    for (char *word; f->argc < 39 && (word = strsep(&rest, " ")) != NULL;)
        f->argv[f->argc++] = word;
    f->argv[f->argc] = NULL;
    int saved = dup(2), file = mkstemp(path);
    assert_true(saved >= 0 && file >= 0 && dup2(file, 2) == 2);
    options_init(&f->options, &estimator_command, f->argc, f->argv);
    estimator_flags_read(&f->options, &f->flags);
    assert_true(dup2(saved, 2) == 2);
    const ssize_t n = pread(file, f->said, sizeof f->said - 1, 0);
    f->said[n > 0 ? n : 0] = '\0';
    assert_int_equal(close(saved) | close(file) | unlink(path), 0);
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.argc = 0};
    *state = &f;
    return 0;
}

/* The configuration of a line that is right. Ends with done(). */
static const struct configuration *configure(struct fixture *f, const char *line) {
    struct err err = {0};
    read_line(f, line);
    if (f->options.stopped)
        fail_msg("%s: %s", line, f->said);
    assert_string_equal(f->said, "");
    configuration_init(&f->c);
    if (estimator_flags_apply(&f->flags, &f->c, &err) != 0 || configuration_check(&f->c, &err) != 0)
        fail_msg("%s: %s", line, err.text);
    return &f->c;
}

static void done(struct fixture *f) {
    configuration_done(&f->c);
    estimator_flags_done(&f->flags);
}

static void defaults(void **state) {
    struct fixture *f = *state;
    const struct configuration *c = configure(f, "--cluster-name=m1 --kubeconfig /etc/m1");
    assert_string_equal(c->estimator.listen, ":10352");
    assert_string_equal(c->ops.listen, ":8080");
    assert_string_equal(c->ops.probe_listen, ":10351");
    assert_string_equal(c->extender.listen, "0");
    assert_string_equal(c->webhook.listen, "0");
    assert_int_equal(c->estimator.member_count, 1);
    assert_string_equal(c->estimator.members[0], "m1=/etc/m1");
    assert_false(c->kubernetes.in_cluster);
    assert_null(c->estimator.tls.cert_file);
    assert_null(c->estimator.tls.key_file);
    assert_null(c->estimator.tls.client_ca_file);
    assert_false(c->estimator.resource_quota);
    assert_false(c->estimator.overcommit_protection);
    assert_false(c->estimator.unready_is_error);
    assert_int_equal(c->log.level, LOG_INFO);
    assert_int_equal(c->log.format, LOG_LOGFMT);
    assert_int_equal(f->flags.unused.n, 0);
    assert_false(estimator_flags_lack_tls(&f->flags));
    done(f);
}

/* upstream: artifacts/deploy/karmada-scheduler-estimator.yaml */
static void manifest_of_karmada(void **state) {
    struct fixture *f = *state;
    const struct configuration *c = configure(
        f, "--kubeconfig=/etc/m1-kubeconfig --cluster-name=m1 "
           "--grpc-auth-cert-file=/etc/karmada/pki/server/tls.crt "
           "--grpc-auth-key-file=/etc/karmada/pki/server/tls.key "
           "--grpc-client-ca-file=/etc/karmada/pki/server/ca.crt "
           "--metrics-bind-address=10.0.0.7:8080 --health-probe-bind-address=10.0.0.7:10351 "
           "--feature-gates=AllAlpha=true,AllBeta=true --logging-format=json --v=4");
    assert_string_equal(c->estimator.members[0], "m1=/etc/m1-kubeconfig");
    assert_string_equal(c->estimator.tls.cert_file, "/etc/karmada/pki/server/tls.crt");
    assert_string_equal(c->estimator.tls.key_file, "/etc/karmada/pki/server/tls.key");
    assert_string_equal(c->estimator.tls.client_ca_file, "/etc/karmada/pki/server/ca.crt");
    assert_string_equal(c->ops.listen, "10.0.0.7:8080");
    assert_string_equal(c->ops.probe_listen, "10.0.0.7:10351");
    assert_true(c->estimator.resource_quota);
    assert_true(c->estimator.overcommit_protection);
    assert_int_equal(c->log.level, LOG_DEBUG);
    assert_int_equal(c->log.format, LOG_JSON);
    assert_int_equal(f->flags.unused.n, 0);
    done(f);
}

/* upstream: client-go clientcmd.BuildConfigFromFlags(master, kubeconfig) */
static void servers(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *line, *member;
        bool in_cluster;
    } cases[] = {
        {"", "m1", true},
        {"--kubeconfig= --master=", "m1", true},
        {"--kubeconfig=f", "m1=f", false},
        {"--kubeconfig=httpd/f", "m1=./httpd/f", false},
        {"--master https://h:6443 --kubeconfig f", "m1=https://h:6443,f", false},
        {"--master h:6443 --kubeconfig f", "m1=https://h:6443,f", false},
        {"--master https://h:6443", "m1=https://h:6443", false},
        {"--master h:8080", "m1=http://h:8080", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200];
        (void)snprintf(line, sizeof line, "--cluster-name=m1%s%s", cases[i].line[0] ? " " : "",
                       cases[i].line); /* fits */
        const struct configuration *c = configure(f, line);
        assert_string_equal(c->estimator.members[0], cases[i].member);
        assert_int_equal(c->kubernetes.in_cluster, cases[i].in_cluster);
        done(f);
    }
}

#define M1 "--cluster-name=m1 --kubeconfig=f "

/* upstream: pkg/util/grpcconnection/config.go NewServer */
static void tls(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *line, *certificate, *ca;
        bool lacks;
    } cases[] = {
        {"--grpc-auth-cert-file=c --grpc-auth-key-file=k", "c", NULL, false},
        {"--grpc-auth-cert-file=c --grpc-auth-key-file=k --grpc-client-ca-file=a", "c", "a", false},
        {"--grpc-auth-cert-file=c --grpc-auth-key-file=k --grpc-client-ca-file=a "
         "--insecure-skip-grpc-client-verify",
         "c", NULL, false},
        {"--grpc-auth-cert-file=c --grpc-auth-key-file=k --grpc-client-ca-file=a "
         "--insecure-skip-grpc-client-verify=false",
         "c", "a", false},
        {"--grpc-auth-cert-file=c", NULL, NULL, true},
        {"--grpc-auth-key-file=k", NULL, NULL, true},
        {"--grpc-client-ca-file=a", NULL, NULL, true},
        {"--grpc-auth-cert-file= --grpc-auth-key-file= --grpc-client-ca-file=", NULL, NULL, false},
        {"--insecure-skip-grpc-client-verify", NULL, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[300];
        (void)snprintf(line, sizeof line, M1 "%s", cases[i].line); /* fits */
        const struct configuration *c = configure(f, line);
        assert_int_equal(c->estimator.tls.cert_file != NULL, cases[i].certificate != NULL);
        assert_int_equal(c->estimator.tls.key_file != NULL, cases[i].certificate != NULL);
        if (cases[i].ca == NULL)
            assert_null(c->estimator.tls.client_ca_file);
        else
            assert_string_equal(c->estimator.tls.client_ca_file, cases[i].ca);
        assert_int_equal(estimator_flags_lack_tls(&f->flags), cases[i].lacks);
        done(f);
    }
}

static void addresses(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *line, *estimator, *metrics, *probes;
        bool apart;
    } cases[] = {
        {"--server-port=0", ":0", ":8080", ":10351", true},
        {"--server-port=65535", ":65535", ":8080", ":10351", true},
        {"--metrics-bind-address=0 --health-probe-bind-address=0", ":10352", "0", "0", false},
        {"--metrics-bind-address= --health-probe-bind-address=", ":10352", "0", "0", false},
        {"--metrics-bind-address=0", ":10352", "0", ":10351", true},
        {"--health-probe-bind-address=0", ":10352", ":8080", "0", false},
        {"--metrics-bind-address=:9 --health-probe-bind-address=:9", ":10352", ":9", ":9", false},
        {"--metrics-bind-address=:0 --health-probe-bind-address=:0", ":10352", ":0", ":0", true},
        {"--metrics-bind-address=localhost:9 --health-probe-bind-address=[::1]:9", ":10352",
         "127.0.0.1:9", "[::1]:9", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[300];
        (void)snprintf(line, sizeof line, M1 "%s", cases[i].line); /* fits */
        const struct configuration *c = configure(f, line);
        assert_string_equal(c->estimator.listen, cases[i].estimator);
        assert_string_equal(c->ops.listen, cases[i].metrics);
        assert_string_equal(c->ops.probe_listen, cases[i].probes);
        assert_int_equal(configuration_probes_apart(c), cases[i].apart);
        done(f);
    }
}

/* upstream: k8s.io/component-base featuregate Set, SetFromMap, setUnsetAlphaGates */
static void gates(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *line;
        bool quota, overcommit;
    } cases[] = {
        {"--feature-gates=", false, false},
        {"--feature-gates ResourceQuotaEstimate=true", true, false},
        {"--feature-gates=SchedulingOvercommitProtection=1", false, true},
        {"--feature-gates=ResourceQuotaEstimate=T,,SchedulingOvercommitProtection=true,", true,
         true},
        {"--feature-gates=AllAlpha=true", true, true},
        {"--feature-gates=AllAlpha=true,ResourceQuotaEstimate=false", false, true},
        {"--feature-gates=SchedulingOvercommitProtection=false,AllAlpha=true", true, false},
        {"--feature-gates=AllAlpha=false,ResourceQuotaEstimate=true", true, false},
        {"--feature-gates=AllBeta=true,Failover=true,GracefulEviction=false", false, false},
        {"--feature-gates=ResourceQuotaEstimate=true,ResourceQuotaEstimate=false", false, false},
        {"--feature-gates=ResourceQuotaEstimate=true --feature-gates=AllBeta=true", true, false},
        {"--feature-gates=ResourceQuotaEstimate=true --feature-gates=AllAlpha=false", true, false},
        {"--feature-gates=CustomizedClusterResourceModeling=true,PropagateDeps=true,"
         "PropagationPolicyPreemption=true,MultiClusterService=true,StatefulFailoverInjection=true,"
         "PriorityBasedScheduling=true,FederatedQuotaEnforcement=true,LoggingAlphaOptions=true,"
         "LoggingBetaOptions=true,ContextualLogging=true,MultiplePodTemplatesScheduling=true,"
         "ControllerPriorityQueue=true,WorkloadAffinity=true",
         false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[600];
        (void)snprintf(line, sizeof line, M1 "%s", cases[i].line); /* fits */
        const struct configuration *c = configure(f, line);
        if (c->estimator.resource_quota != cases[i].quota ||
            c->estimator.overcommit_protection != cases[i].overcommit)
            fail_msg("%s: %d %d", cases[i].line, c->estimator.resource_quota,
                     c->estimator.overcommit_protection);
        done(f);
    }
}

static void verbosity(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *line;
        enum log_level level;
    } cases[] = {
        {"--v=3", LOG_INFO}, {"--v=4", LOG_DEBUG}, {"--v 10", LOG_DEBUG}, {"-v=4", LOG_DEBUG},
        {"-v 2", LOG_INFO},  {"-v4", LOG_DEBUG},   {"-v=-1", LOG_INFO},   {"-v=10", LOG_DEBUG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[100];
        (void)snprintf(line, sizeof line, M1 "%s", cases[i].line); /* fits */
        if (configure(f, line)->log.level != cases[i].level)
            fail_msg("%s", cases[i].line);
        done(f);
    }
}

static void flags_without_meaning(void **state) {
    struct fixture *f = *state;
    (void)configure(f, M1 "--kube-api-qps=20.5 --kube-api-burst 30 --parallelism=16 --enable-pprof "
                          "--profiling-bind-address=:6060 --add_dir_header=true "
                          "--alsologtostderr=false --log_backtrace_at=a.go:1");
    assert_string_equal(f->flags.unused.p,
                        "kube-api-qps, kube-api-burst, parallelism, enable-pprof, "
                        "profiling-bind-address, add-dir-header, alsologtostderr, "
                        "log-backtrace-at");
    done(f);
    (void)configure(f, M1 "--log_dir=/tmp --log-file=/tmp/a --log_file_max_size=1800 "
                          "--log-flush-frequency=5s --log-json-info-buffer-size=0 "
                          "--log-json-split-stream --log-text-info-buffer-size=1Ki "
                          "--log-text-split-stream --logtostderr=true --one_output "
                          "--skip_headers --skip-log-headers=0 --stderrthreshold=INFO "
                          "--vmodule=a=4,b=5");
    assert_string_equal(f->flags.unused.p,
                        "log-dir, log-file, log-file-max-size, log-flush-frequency, "
                        "log-json-info-buffer-size, log-json-split-stream, "
                        "log-text-info-buffer-size, log-text-split-stream, logtostderr, "
                        "one-output, skip-headers, skip-log-headers, stderrthreshold, vmodule");
    done(f);
}

static void the_last_one_wins(void **state) {
    struct fixture *f = *state;
    const struct configuration *c =
        configure(f, "--cluster-name=m2 --server-port=1 --kubeconfig=g --cluster_name=m1 "
                     "--kubeconfig=f --server_port=2");
    assert_string_equal(c->estimator.members[0], "m1=f");
    assert_string_equal(c->estimator.listen, ":2");
    done(f);
}

static void wrong_usage(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"", "--cluster-name is required"},
        {"--cluster-name=", "--cluster-name is required"},
        {"--cluster-name=M1", "--cluster-name: 'M1' is not the name of a Cluster"},
        {"--cluster-name=m1=f", "--cluster-name: 'm1=f' is not the name of a Cluster"},
        {M1 "--server-port=65536", "--server-port: 65536 is not between 0 and 65535"},
        {M1 "--server-port=-1", "--server-port: -1 is not between 0 and 65535"},
        {M1 "--server-port=x", "--server-port: 'x' is not a whole number"},
        {M1 "--server-port=", "--server-port: '' is not a whole number"},
        {M1 "--server-port=2147483648", "--server-port: '2147483648' is not a whole number"},
        {M1 "--server-port", "'--server-port' needs a value: --server-port PORT"},
        {M1 "--v=high", "--v: 'high' is not a whole number"},
        {M1 "--kube-api-qps=fast", "--kube-api-qps: 'fast' is not a number"},
        {M1 "--kube-api-qps=", "--kube-api-qps: '' is not a number"},
        {M1 "--kube-api-qps=1x", "--kube-api-qps: '1x' is not a number"},
        {M1 "--parallelism=1.5", "--parallelism: '1.5' is not a whole number"},
        {M1 "--enable-pprof=yes", "--enable-pprof: 'yes' is not true or false"},
        {M1 "--enable-pprof=", "--enable-pprof: '' is not true or false"},
        {M1 "--enable-pprof false", "unexpected argument 'false'"},
        {M1 "--log-flush-frequency=5", "--log-flush-frequency: '5' is not a duration"},
        {M1 "--logging-format=yaml", "--logging-format: 'yaml' is neither text nor json"},
        {M1 "--logging-format=", "--logging-format: '' is neither text nor json"},
        {M1 "--metrics-bind-address=8080", "--metrics-bind-address: '8080' is not an address"},
        {M1 "--health-probe-bind-address=a:1", "--health-probe-bind-address: 'a:1' is not an"},
        {M1 "--feature-gates=A", "--feature-gates: 'A' has no value; write A=true or =false"},
        {M1 "--feature-gates=Failover=yes", "--feature-gates: 'Failover=yes' is neither true nor"},
        {M1 "--feature-gates=ResourceQuotaEstimat=true",
         "there is no gate 'ResourceQuotaEstimat'; did you mean ResourceQuotaEstimate?"},
        {M1 "--feature-gates=Failover=true,Xyz=true", "there is no gate 'Xyz'\n"},
        {M1 "--kubeconfig=f#c", "--kubeconfig: 'f#c' has a '#'"},
        {M1 "--master=ftp://h", "--master: 'ftp://h' is neither http nor https"},
        {M1 "--master=h,i", "--master: 'h,i' is not the address of a server"},
        {M1 "--cluster-nam=m1", "unknown option '--cluster-nam'; did you mean --cluster-name?"},
        {M1 "--grpc-client-ca=f", "did you mean --grpc-client-ca-file?"},
        {M1 "-x", "unknown option '-x'"},
        {M1 "version", "unexpected argument 'version'"},
        {M1 "--extender-listen=0", "unknown option '--extender-listen'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        read_line(f, cases[i].line);
        if (!f->options.stopped || f->options.exit_status != 2 ||
            strstr(f->said, cases[i].says) == NULL)
            fail_msg("%s: %d %s", cases[i].line, f->options.exit_status, f->said);
        assert_contains(f->said, "Try 'evenkeel estimator --help'.");
        estimator_flags_done(&f->flags);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(defaults),          TEST(manifest_of_karmada),
        TEST(servers),           TEST(tls),
        TEST(addresses),         TEST(gates),
        TEST(verbosity),         TEST(flags_without_meaning),
        TEST(the_last_one_wins), TEST(wrong_usage),
    };
    return cmocka_run_group_tests_name("estimator flags", tests, NULL, NULL);
}

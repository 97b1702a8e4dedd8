/*
 * evenkeel check: looks for mistakes in configuration files before they are used.
 */
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/suggest.h"
#include "check/cluster.h"
#include "check/estimator.h"
#include "check/limits.h"
#include "check/report.h"
#include "check/scheduler.h"
#include "check/settings.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/policy_report.h"
#include "cli/questions.h"
#include "findings/findings.h"
#include "whatif/simulation.h"
#include "yaml/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARENA_BYTES = 128 << 20, OUTPUT_BYTES = 16 << 20, FILES_MAX = 64, EXIT_UNSOUND = 3 };
#define POLICY_ARENA_BYTES (4ull << 30) /* memory for the results of all workloads of a cluster */

/* The command line of a check. */
struct request {
    const char *file;
    const char *files[FILES_MAX]; /* `file`, and more files if a check takes several */
    uint32_t file_count;
    const char *name; /* name of the workload in the file; NULL: all workloads */
    bool json;
    bool strict;
    const char *evenkeel; /* the file of --config */
    bool knows_evenkeel;  /* --config or a flag of the configuration was given */
    struct scheduler_check which;
    struct estimator_check estimator;
};

/* ---- help ---- */

enum { SPEC_OUTPUT, SPEC_URL_PART, SPEC_INDEX, SPEC_CONFIG, SPEC_SECRET };
enum { ESTIMATOR_TIMEOUT_MS = 3000, ESTIMATOR_TIMEOUT_MOST_S = 600 };

static const struct option_spec specs[] = {
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
    [SPEC_URL_PART] = {"url-prefix-contains", 0, "TEXT",
                       "Evenkeel's entry is the one with TEXT in its urlPrefix"},
    [SPEC_INDEX] = {"extender-index", 0, "N", "Evenkeel's entry is this one, counted from 0"},
    [SPEC_CONFIG] = {"config", 0, "FILE", "EvenkeelConfiguration to check the entry against"},
    [SPEC_SECRET] = {"secret", 0, "FILE",
                     "Evenkeel's Secret or kube-scheduler's, as kubectl get -o yaml prints it"},
};

static const struct option_spec estimator_specs[] = {
    {"output", 'o', "FORMAT", "table (default) or json"},
    {"address", 0, "HOST:PORT", "of the estimator; its port is 10352 as a rule"},
    {"cluster", 0, "NAME", "the Cluster of Karmada that it estimates"},
    {"ca-file", 0, "FILE",
     "CA of the estimator's certificate; without it and --insecure-skip-verify: plaintext"},
    {"insecure-skip-verify", 0, NULL, "TLS, but do not verify its certificate"},
    {"cert-file", 0, "FILE", "client certificate, with --key-file"},
    {"key-file", 0, "FILE", "its key"},
    {"timeout", 0, "DURATION", "to connect, and to answer: 3s"},
};

enum { FINDING_OUTPUT, FINDING_STRICT, FINDING_NAME };

static const struct option_spec finding_specs[] = {
    [FINDING_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
    [FINDING_STRICT] = {"strict", 0, NULL, "ends with exit code 3 if there is a finding"},
    /* check workload only */
    [FINDING_NAME] = {"name", 0, "NAME",
                      "of several workloads in the file only this one: NAME, NAMESPACE/NAME, "
                      "KIND/NAME or NAMESPACE/KIND/NAME"},
};

const struct command check_command = {
    .name = "check",
    .usage =
        "config FILE | kube-scheduler-config FILE | cluster | policy FILE... | workload FILE |\n"
        "       estimator [options]",
    .about =
        "Looks for mistakes before they do harm:\n"
        "  config                 an EvenkeelConfiguration, as for 'evenkeel serve --config'\n"
        "  kube-scheduler-config  a KubeSchedulerConfiguration that names Evenkeel as extender\n"
        "  cluster                an API server: access, permissions, labels of the nodes\n"
        "  policy                 TopologyPolicies: what they would change, and whom they would "
        "harm\n"
        "  workload               a pod or a workload: fields and constraints that cannot be "
        "meant\n"
        "  estimator              an estimator of Karmada, as karmada-scheduler would ask it\n"
        "Exit codes: 0 no errors, 1 errors, 2 wrong usage; 3 of 'check policy': not sound, and "
        "with\n"
        "'--strict' (check policy, check workload): there is a finding.",
    .example = "evenkeel check config evenkeel.yaml\n"
               "evenkeel check kube-scheduler-config /etc/kubernetes/scheduler.yaml\n"
               "evenkeel check cluster --kubeconfig ~/.kube/config\n"
               "evenkeel check policy policy.yaml --state state.json",
};

const struct command check_config_command = {
    .name = "check config",
    .usage = "FILE [options]",
    .about = "Reads an EvenkeelConfiguration and reports every unknown key, wrong value and\n"
             "contradiction, with its line. The flags of 'evenkeel serve' may be added to check\n"
             "them together. Exit codes: 0 no errors, 1 errors, 2 wrong usage.",
    .example = "evenkeel check config evenkeel.yaml --extender-cert-file tls.crt "
               "--extender-key-file tls.key",
    .specs = specs,
    .spec_count = 1,
    .configuration_flags = true,
};

const struct command check_scheduler_command = {
    .name = "check kube-scheduler-config",
    .usage = "FILE [options]",
    .about =
        "Reads the KubeSchedulerConfiguration of a kube-scheduler and reports what keeps it\n"
        "from starting, from calling Evenkeel, or from doing so safely and fast. Without\n"
        "options, Evenkeel's entry is the one with " EXTENDER_PATH
        " in its urlPrefix, or the only one.\n"
        "With --config FILE, or flags of 'evenkeel serve', it is checked against how Evenkeel\n"
        "will serve, too; with --secret FILE against a certificate that is there.\n"
        "Exit codes: 0 no errors, 1 errors, 2 wrong usage.",
    .example = "evenkeel check kube-scheduler-config /etc/kubernetes/scheduler.yaml -o json",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
    .configuration_flags = true,
};

const struct command check_cluster_command = {
    .name = "check cluster",
    .usage = "[FILE] [options]",
    .about = "Asks an API server whether Evenkeel can work with it: does it answer, are the\n"
             "permissions there, do the nodes carry the labels that are spread over. With\n"
             "--ocm or --fleet-clusters also the fleet's hub: does it serve the kinds of Open\n"
             "Cluster Management, do Placements have spreadPolicy. FILE is an\n"
             "EvenkeelConfiguration. Without --kubeconfig and --in-cluster the command asks the\n"
             "API server that kubectl would ask. Exit codes: 0 no errors, 1 errors, 2 wrong usage.",
    .example = "evenkeel check cluster --kubeconfig ~/.kube/config --context production\n"
               "evenkeel check cluster --kubeconfig hub.yaml --ocm --extender-listen 0\n"
               "evenkeel check cluster evenkeel.yaml -o json",
    .specs = specs,
    .spec_count = 1,
    .configuration_flags = true,
    .first_flags = "kubeconfig context in-cluster",
};

const struct command check_policy_command = {
    .name = "check policy",
    .usage = "FILE|DIR... (--state FILE|DIR | --kubeconfig FILE) [options]",
    .about =
        "Says what TopologyPolicies would do in a cluster, before they are applied: for each\n"
        "workload what the webhook would add to its pods, what it would soften or leave out\n"
        "and why, and how many pods would be Pending that would run without.\n"
        "For that the webhook is run on a pod of the workload. Then kube-scheduler's filters\n"
        "place as many such pods as the workload has, with the changes and without, in the\n"
        "cluster without the workload's own pods. PENDING \"0 -> 2 of 6\": without the policy\n"
        "none is Pending, with the policy two of six.\n"
        "Policies of --policy and of the cluster stand beside those of FILE, which replace\n"
        "the ones of the same name. A policy with mode Audit is checked as if it were enforced.\n"
        "For the parts of a policy that are for Placements, the command says whether the\n"
        "ManagedClusters of state files have their keys and domains, and for how many of the\n"
        "Placements there they are.\n"
        "Nothing is changed anywhere. Exit codes: 0 sound, 1 something could not be read,\n"
        "2 wrong usage, 3 not sound: somebody would be harmed, or a policy cannot work, has\n"
        "keys or domains that the nodes do not have, never has its turn, or is for no workload\n"
        "or Placement (then it is not known whether it is sound); with --strict also: there is\n"
        "a finding (docs/findings.md).",
    .example = "kubectl get nodes,pods,namespaces,pv,pvc,storageclasses,topologypolicies -A -o "
               "json > state.json\n"
               "evenkeel check policy policy.yaml --state state.json\n"
               "evenkeel check policy policies/ --kubeconfig ~/.kube/config -o json",
    .specs = finding_specs,
    .spec_count = FINDING_NAME,
    .configuration_flags = true,
    .first_flags = "state kubeconfig context in-cluster policy fluid-profile",
};

const struct command check_workload_command = {
    .name = "check workload",
    .usage = "FILE [--state FILE|DIR | --kubeconfig FILE] [options]",
    .about = "Finds mistakes in a pod or a workload (Deployment, StatefulSet, Job, any with\n"
             "spec.template) that API servers take without a word: misspelt fields, fields at\n"
             "another level, a constraint that does not select its own pod. With a state also\n"
             "keys that no node has, keys that spread over nothing, and domains that hold others\n"
             "up. Each finding has its remedy; docs/findings.md explains the codes.\n"
             "Of several workloads in the file each is checked.\n"
             "Exit codes: 0 read, 1 something could not be read, 2 wrong usage, 3 with --strict:\n"
             "there is a finding.",
    .example = "evenkeel check workload deployment.yaml --strict\n"
               "evenkeel check workload deployment.yaml --state state.json -o json",
    .specs = finding_specs,
    .spec_count = sizeof finding_specs / sizeof finding_specs[0],
    .configuration_flags = true,
    .first_flags = "state kubeconfig context in-cluster",
};

const struct command check_estimator_command = {
    .name = "check estimator",
    .usage = "--address HOST:PORT --cluster NAME [options]",
    .about = "Asks an estimator (Evenkeel's or karmada-scheduler-estimator) as karmada-scheduler\n"
             "would: is it reached, does TLS agree, does it answer for this cluster, how fast.\n"
             "TLS options are those of karmada-scheduler's --scheduler-estimator-ca-file,\n"
             "-cert-file, -key-file and --insecure-skip-estimator-verify.\n"
             "Exit codes: 0 no errors, 1 errors, 2 wrong usage.",
    .example = "evenkeel check estimator --address 127.0.0.1:10352 --cluster member1\n"
               "evenkeel check estimator --address karmada-scheduler-estimator-member1."
               "karmada-system.svc:10352 --cluster member1 --ca-file ca.crt --cert-file tls.crt "
               "--key-file tls.key -o json",
    .specs = estimator_specs,
    .spec_count = sizeof estimator_specs / sizeof estimator_specs[0],
};

/* ---- output ---- */

static int complain(const char *why) {
    (void)fprintf(stderr, "evenkeel check: %s\n", why); /* nowhere to report to */
    return EXIT_FAILURE;
}

static int print(struct check_report *f, const struct request *request) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = OUTPUT_BYTES};
    bool good = request->json ? check_report_print_json(f, request->file, &out)
                              : check_report_print(f, request->file, &out);
    if (!good)
        return complain("no memory for the answer");
    const int status = answer_put_out("check", &out);
    return f->counts[SEVERITY_ERROR] == 0 ? status : EXIT_FAILURE;
}

/* ---- config ---- */

static void add_problem(void *ctx, const struct configuration_problem *p) {
    check_report_add(ctx, p->missing || p->harmless ? SEVERITY_WARNING : SEVERITY_ERROR, p->line,
                     p->path, p->advice, "%s", p->text);
}

static void check_configuration(struct options *o, const struct request *request,
                                struct check_report *f) {
    struct configuration c;
    struct err err;
    configuration_init(&c);
    int r = configuration_read_all(&c, request->file, add_problem, f, &err);
    if (r == 0) {
        r = options_configure(o, NULL, &c, &err);
        if (r == 0) {
            configuration_check_all(&c, add_problem, f);
            settings_check(&c, f);
            limits_check(&c, f);
        }
    }
    if (r != 0 && f->count == 0)
        check_report_add(f, SEVERITY_ERROR, yaml_line_named(err.text), "", "", "%s", err.text);
    configuration_removed_found(&c, add_problem, f);
    configuration_done(&c);
}

static int run_config(struct options *o, const struct request *request) {
    struct arena arena;
    struct check_report f;
    arena_init(&arena, ARENA_BYTES);
    check_report_init(&f, &arena);
    check_configuration(o, request, &f);
    int status = o->stopped ? o->exit_status : print(&f, request);
    arena_done(&arena);
    return status;
}

/* ---- kube-scheduler-config ---- */

static int run_scheduler(struct options *o, const struct request *request) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES + 1};
    struct arena arena;
    struct check_report f;
    struct scheduler_check which = request->which;
    struct configuration evenkeel;
    struct err err;
    configuration_init(&evenkeel);
    arena_init(&arena, ARENA_BYTES);
    check_report_init(&f, &arena);
    if (request->knows_evenkeel)
        which.evenkeel = &evenkeel;
    if (file_read(request->file, LIMIT_CONFIG_BYTES, &text, &err) != 0 ||
        options_configure(o, request->evenkeel, &evenkeel, &err) != 0)
        check_report_add(&f, SEVERITY_ERROR, 0, "", "", "%s", err.text);
    else
        scheduler_check(strbuf_str(&text), &which, &f);
    int status = o->stopped ? o->exit_status : print(&f, request);
    arena_done(&arena);
    configuration_done(&evenkeel);
    return status;
}

/* ---- cluster ---- */

static int configure(struct options *o, const char *file, struct configuration *c,
                     struct err *err) {
    int r = options_configure(o, file, c, err);
    if (r != 0 || (c->kubernetes.kubeconfig != NULL) != c->kubernetes.in_cluster)
        return r;
    if (c->kubernetes.in_cluster)
        return err_set(err, -EINVAL, "--kubeconfig and --in-cluster exclude each other");
    c->kubernetes.in_cluster = kube_access_is_in_cluster(); /* false: as kubectl does */
    return 0;
}

static int run_cluster(struct options *o, const struct request *request) {
    struct configuration c;
    struct arena arena;
    struct check_report f;
    struct err err;
    struct request asked = *request;
    configuration_init(&c);
    arena_init(&arena, ARENA_BYTES);
    check_report_init(&f, &arena);
    int status = EXIT_FAILURE;
    if (configure(o, request->file, &c, &err) == 0) {
        cluster_check(&c, &f, &asked.file);
        status = print(&f, &asked);
    } else {
        status = o->stopped ? o->exit_status : complain(err.text);
    }
    arena_done(&arena);
    configuration_done(&c);
    return status;
}

/* ---- policy ---- */

static int check_policies(struct options *o, const struct request *request,
                          const struct configuration *c, struct arena *arena) {
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    struct policy_check check = {.findings = &findings};
    struct err err;
    findings_init(&findings, &of_findings);
    if (c->state.path_count == 0 && c->kubernetes.kubeconfig == NULL && !c->kubernetes.in_cluster) {
        options_fail(o, "no cluster; give --state FILE or DIR, or --kubeconfig FILE");
        return o->exit_status;
    }
    log_setup(LOG_WARN, c->log.format, 2); /* an API server that does not answer is logged */
    if (policy_check_run(c, request->files, request->file_count, arena, &check, &err) != 0)
        return complain(err.text);
    const int status = policy_check_print(&check, request->json);
    if (status != EXIT_SUCCESS)
        return status;
    return check.soundness != POLICY_SOUND || (request->strict && findings.count > 0)
               ? EXIT_UNSOUND
               : EXIT_SUCCESS;
}

/* Runs a check of files against a cluster. */
static int run_beside_cluster(struct options *o, const struct request *request,
                              int (*check)(struct options *, const struct request *,
                                           const struct configuration *, struct arena *)) {
    struct configuration c;
    struct arena arena;
    struct err err;
    configuration_init(&c);
    arena_init(&arena, (size_t)POLICY_ARENA_BYTES);
    int status = options_configure_source(o, NULL, &c, &err) == 0 ? check(o, request, &c, &arena)
                 : o->stopped                                     ? o->exit_status
                                                                  : complain(err.text);
    arena_done(&arena);
    configuration_done(&c);
    return status;
}

static int run_policy(struct options *o, const struct request *request) {
    return run_beside_cluster(o, request, check_policies);
}

/* ---- workload ---- */

static void print_findings(const struct value *root, struct strbuf *out) {
    const struct value *findings = value_as(root, "findings", JSON_ARRAY);
    if (findings == NULL || findings->count == 0)
        strbuf_append_str(out, STR("no findings\n")); /* findings are printed with each answer */
}

struct workload_check {
    const struct request *request;
    const struct configuration *configuration;
};

static int check_one_workload(struct questions *q, void *ctx, struct arena *arena) {
    const struct workload_check *check = ctx;
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    CLEANUP(strbuf_done) struct strbuf json = {.max = OUTPUT_BYTES};
    struct err err;
    findings_init(&findings, &of_findings);
    if (simulation_find(check->configuration, q->document, arena, &findings, &err) != 0)
        return complain(err.text);
    strbuf_append_str(&json, STR("{}"));
    findings_put(&findings, &json);
    const int status = questions_put(q, &json, print_findings, "");
    return status == EXIT_SUCCESS && check->request->strict && findings.count > 0 ? EXIT_UNSOUND
                                                                                  : status;
}

static int check_workload(struct options *o, const struct request *request,
                          const struct configuration *c, struct arena *arena) {
    struct workload_check check = {request, c};
    struct questions questions = {.command = "check",
                                  .path = request->file,
                                  .kind = &pod_documents,
                                  .name = request->name,
                                  .json = request->json};
    (void)o; /* the command line needs no more checks */
    (void)arena;
    log_setup(LOG_WARN, c->log.format, 2); /* an API server that does not answer is logged */
    return questions_answer(&questions, check_one_workload, &check);
}

static int run_workload(struct options *o, const struct request *request) {
    return run_beside_cluster(o, request, check_workload);
}

/* ---- estimator ---- */

static void take_estimator(struct options *o, const struct option_value *v,
                           struct request *request) {
    struct estimator_check *which = &request->estimator;
    const struct {
        const char *name, **to;
    } texts[] = {{"address", &which->address},
                 {"cluster", &which->cluster},
                 {"ca-file", &which->tls.ca_file},
                 {"cert-file", &which->tls.cert_file},
                 {"key-file", &which->tls.key_file}};
    if (v->spec == NULL) {
        options_fail(o, "unexpected argument '%s'", v->text);
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(v->spec->name, texts[i].name) == 0)
            *texts[i].to = v->text;
    if (strcmp(v->spec->name, "insecure-skip-verify") == 0)
        which->tls.insecure_skip_verify = true;
    else if (strcmp(v->spec->name, "timeout") == 0)
        options_read_duration(o, "timeout", v->text, ESTIMATOR_TIMEOUT_MOST_S, &which->timeout_ms);
    else if (strcmp(v->spec->name, "output") == 0)
        request->json = options_output_is_json(o, v->text);
}

static void check_estimator_usage(struct options *o, const struct estimator_check *which) {
    if (o->stopped)
        return;
    if (which->address == NULL)
        options_fail(o, "which estimator? give --address HOST:PORT");
    else if (which->cluster == NULL)
        options_fail(o, "which cluster? give --cluster NAME");
    else if ((which->tls.cert_file == NULL) != (which->tls.key_file == NULL))
        options_fail(o, "--cert-file and --key-file belong together");
    else if (which->tls.cert_file != NULL && !grpc_dial_tls_is_on(&which->tls))
        options_fail(o, "--cert-file has no use in plaintext; for TLS, add --ca-file or "
                        "--insecure-skip-verify");
}

static int run_estimator(int argc, char **argv) {
    struct options o;
    struct option_value v;
    struct request request = {.estimator.timeout_ms = ESTIMATOR_TIMEOUT_MS};
    struct arena arena;
    struct check_report f;
    options_init(&o, &check_estimator_command, argc, argv);
    while (options_next(&o, &v))
        take_estimator(&o, &v, &request);
    check_estimator_usage(&o, &request.estimator);
    if (o.stopped)
        return o.exit_status;
    arena_init(&arena, ARENA_BYTES);
    check_report_init(&f, &arena);
    request.file = request.estimator.address;
    estimator_check(&request.estimator, &f);
    const int status = print(&f, &request);
    arena_done(&arena);
    return status;
}

/* ---- command lines ---- */

static void take_index(struct options *o, const char *text, struct request *request) {
    if (!str_to_i64(str_of(text), &request->which.index) || request->which.index < 0)
        options_fail(o, "--extender-index: '%s' is not a whole number from 0", text);
}

static void take_argument(struct options *o, const char *text, struct request *request) {
    uint32_t room = o->command == &check_policy_command ? FILES_MAX : 1;
    if (request->file_count == room) {
        options_fail(o, "unexpected argument '%s'", text);
        return;
    }
    request->file = request->file_count == 0 ? text : request->file;
    request->files[request->file_count++] = text;
}

static int run(const struct command *command,
               int (*check)(struct options *, const struct request *), bool needs_file, int argc,
               char **argv) {
    struct options o;
    struct option_value v;
    struct request request = {.which.index = -1};
    options_init(&o, command, argc, argv);
    while (options_next(&o, &v)) {
        if (v.spec == &specs[SPEC_OUTPUT])
            request.json = options_output_is_json(&o, v.text);
        else if (v.spec == &finding_specs[FINDING_OUTPUT])
            request.json = options_output_is_json(&o, v.text);
        else if (v.spec == &finding_specs[FINDING_STRICT])
            request.strict = true;
        else if (v.spec == &finding_specs[FINDING_NAME])
            request.name = v.text;
        else if (v.spec == &specs[SPEC_URL_PART])
            request.which.url_part = v.text;
        else if (v.spec == &specs[SPEC_SECRET])
            request.which.secret = v.text;
        else if (v.spec == &specs[SPEC_CONFIG])
            request.evenkeel = v.text;
        else if (v.flag != NULL)
            request.knows_evenkeel = true;
        else if (v.spec == &specs[SPEC_INDEX])
            take_index(&o, v.text, &request);
        else if (v.flag == NULL)
            take_argument(&o, v.text, &request);
    }
    request.knows_evenkeel = request.knows_evenkeel || request.evenkeel != NULL;
    if (!o.stopped && needs_file && request.file == NULL)
        options_fail(&o, "which FILE?");
    return o.stopped ? o.exit_status : check(&o, &request);
}

int cmd_check(int argc, char **argv) {
    struct options o;
    struct option_value v;
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "config") == 0)
        return run(&check_config_command, run_config, true, argc - 1, argv + 1);
    if (strcmp(what, "kube-scheduler-config") == 0)
        return run(&check_scheduler_command, run_scheduler, true, argc - 1, argv + 1);
    if (strcmp(what, "cluster") == 0)
        return run(&check_cluster_command, run_cluster, false, argc - 1, argv + 1);
    if (strcmp(what, "policy") == 0)
        return run(&check_policy_command, run_policy, true, argc - 1, argv + 1);
    if (strcmp(what, "workload") == 0)
        return run(&check_workload_command, run_workload, true, argc - 1, argv + 1);
    if (strcmp(what, "estimator") == 0)
        return run_estimator(argc - 1, argv + 1);
    options_init(&o, &check_command, argc, argv);
    if (!options_next(&o, &v)) {
        if (!o.stopped)
            options_fail(&o,
                         "check what? config, kube-scheduler-config, cluster, policy, workload or "
                         "estimator");
        return o.exit_status;
    }
    struct suggestion near = suggestion_for(str_of(v.text));
    suggestion_offer(&near, "config");
    suggestion_offer(&near, "kube-scheduler-config");
    suggestion_offer(&near, "cluster");
    suggestion_offer(&near, "policy");
    suggestion_offer(&near, "workload");
    suggestion_offer(&near, "estimator");
    options_fail(&o, "unknown check '%s'%s%s%s", v.text, near.best != NULL ? "; did you mean " : "",
                 near.best != NULL ? near.best : "", near.best != NULL ? "?" : "");
    return o.exit_status;
}

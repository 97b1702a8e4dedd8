#include "cli/simulate.h"

#include "base/log.h"
#include "base/timestamp.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "clusters/question.h"
#include "lines/lines.h"

#include <stdio.h>

enum {
    SPEC_POD,
    SPEC_PLACEMENT,
    SPEC_BINDING,
    SPEC_PROPAGATION,
    SPEC_REPLICAS,
    SPEC_WITHOUT,
    SPEC_ADMIT,
    SPEC_NAME,
    SPEC_STRICT,
    SPEC_OUTPUT,
    SPEC_CONFIG,
    SPEC_CANDIDATES,
    SPEC_FILTERS,
    SPEC_SCHEDULER,
    SPEC_PREVIOUS,
    SPEC_NOW,
    SPEC_ROUNDS,
    SPEC_MEMBER,
    SPEC_WORKLOAD,
    SPEC_LINES
};

static const struct option_spec specs[] = {
    [SPEC_POD] =
        {"pod", 0, "FILE",
         "the pod to place, YAML or JSON, or a workload (Deployment, StatefulSet, Job, any "
         "with spec.template): pods of its template (required but with --without); of a "
         "DaemonSet: which nodes would run it. "
         "Of several in the file each is placed, as if it were alone"},
    [SPEC_PLACEMENT] = {"placement", 0, "FILE",
                        "a Placement of Open Cluster Management, YAML or JSON: which clusters of "
                        "--state it should have, why, and what would move, by its spreadPolicy or "
                        "that of a TopologyPolicy"},
    [SPEC_BINDING] =
        {"binding", 0, "FILE",
         "a ResourceBinding or ClusterResourceBinding of Karmada, YAML or JSON: which "
         "clusters of --state its scheduler would choose, with how many replicas, why, "
         "and what it would write. The settings are those of `karmada`. Repeatable, and the file "
         "may have several: each is scheduled after those before it"},
    [SPEC_PROPAGATION] = {"propagation-policy", 0, "FILE",
                          "a PropagationPolicy or ClusterPropagationPolicy of Karmada: the same "
                          "for the binding that "
                          "Karmada would make of it and of --workload"},
    [SPEC_REPLICAS] = {"replicas", 0, "N",
                       "places N such pods one after the other, each on the node with the highest "
                       "total, and draws how many pods each domain has; otherwise one pod, or a "
                       "workload's replicas, as new ones beside the pods of the state"},
    [SPEC_WITHOUT] =
        {"without", 0, "KEY=VALUE",
         "first takes the nodes with this label away (repeatable); their pods are placed "
         "before the replicas, as far as files of --state have them"},
    [SPEC_ADMIT] = {"admit", 0, NULL,
                    "shows instead how the webhook would change the pod on its creation; policies "
                    "come with --policy, Fluid's datasets with --state. Without --admit, the pod "
                    "is placed as it is in the file, and policies count only by the order of their "
                    "keys and by their weights. With --placement: the same for a Placement, as if "
                    "scores were published unless ocm.scores is false"},
    [SPEC_NAME] =
        {"name", 0, "NAME",
         "of several objects in the file only this one: NAME, NAMESPACE/NAME, KIND/NAME or "
         "NAMESPACE/KIND/NAME; otherwise all are answered, one after the other"},
    [SPEC_STRICT] = {"strict", 0, NULL,
                     "ends with exit code 3 if a pod is Pending, or if the file has a finding (a "
                     "line 'note: ...')"},
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
    [SPEC_CONFIG] = {"config", 0, "FILE", "EvenkeelConfiguration whose rules to apply"},
    [SPEC_CANDIDATES] = {"candidates", 0, "A,B,...",
                         "the nodes handed to filter and to score; otherwise filter gets all "
                         "nodes and score those that pass"},
    [SPEC_FILTERS] = {"filters", 0, "A,B,...",
                      "only these of kube-scheduler's filters, by the names of its plugins; "
                      "PodTopologySpread is what an extender judges. Otherwise: all that need no "
                      "devices and no limits of volumes"},
    [SPEC_SCHEDULER] = {"kube-scheduler-config", 0, "FILE",
                        "kube-scheduler's configuration: addedAffinity and the ignored resources "
                        "of the profile that the pod names, and the resources that extenders "
                        "manage; 'not judged' names the parts that are not read"},
    [SPEC_PREVIOUS] = {"previous", 0, "FILE",
                       "with --admit --placement: the Placement as it is stored, which the "
                       "Placement in --placement changes"},
    [SPEC_NOW] = {"now", 0, "TIME",
                  "with --placement: the time for validUntil and tolerationSeconds, such as "
                  "2026-01-02T03:04:05Z; with --binding: the time in the binding's status; "
                  "otherwise the clock"},
    [SPEC_ROUNDS] = {"rounds", 0, NULL,
                     "with --placement and -o json: what happened in each round of the selection, "
                     "too"},
    [SPEC_MEMBER] =
        {"member", 0, "NAME",
         "with --binding: the cluster whose nodes and pods are in --state, too; they are counted "
         "as Karmada's accurate estimator of that cluster would count them"},
    [SPEC_WORKLOAD] = {"workload", 0, "FILE",
                       "with --propagation-policy: the object that the policy selects, such as a "
                       "Deployment; of several objects each is asked about"},
    [SPEC_LINES] = {"lines", 0, "FILE",
                    "answers questions about single steps of scheduling fleets instead, one JSON "
                    "object a line ('-': standard input); nothing else is given with it"},
};

static const struct option_heading headings[] = {
    {SPEC_CANDIDATES, "About a pod"},
    {SPEC_PREVIOUS, "About a Placement"},
    {SPEC_MEMBER, "About a binding"},
    {SPEC_LINES, "About single steps of scheduling"},
    {0, NULL},
};

static void list_steps(struct strbuf *out) {
    strbuf_append_str(
        out,
        STR("\nWith --lines every line is a JSON object, {\"id\": any JSON, \"step\": STEP, ...},\n"
            "and is answered by one with the same id before the next line is read. One that is\n"
            "refused gets {\"id\", \"error\", \"errorKind\": \"Input\"}; the others are answered, "
            "and\n"
            "the exit code is 1. An option outside of options has no effect, and the answer's\n"
            "warnings say so. There is neither a state nor a configuration. STEP, what a line\n"
            "has, and what the answer has:\n"));
    for (size_t i = 0; i < line_step_count; i++)
        strbuf_appendf(out, "  %-10s %s\n  %-10s -> %s\n", line_steps[i].name,
                       line_steps[i].question, "", line_steps[i].answer);
}

const struct command simulate_command = {
    .name = "simulate",
    .usage = "(--state FILE|DIR | --kubeconfig FILE) (--pod FILE | --placement FILE |\n"
             "       --binding FILE | --propagation-policy FILE --workload FILE) [options]",
    .about = "Says where one thing would go, by the same code that serves, from a state in files\n"
             "or from what an API server has now. Nothing is changed anywhere.\n"
             "--pod: filters and scores a pod, and says why for every node. The filters are\n"
             "    kube-scheduler's own, in its order; the first that refuses a node gives the\n"
             "    reason. With --replicas a workload; with --admit instead what the webhook\n"
             "    would change in the pod, by which policy and for which data.\n"
             "--placement: where a Placement of Open Cluster Management should be, from what\n"
             "    kubectl prints of a hub. The clusters are asked about as OCM asks, and its\n"
             "    spreadPolicy is heeded, which OCM does not.\n"
             "--binding: how Karmada's scheduler would schedule a binding, step by step, from\n"
             "    what kubectl prints of Karmada's API server. Provider, zone and labels are\n"
             "    heeded, too, which it does not.\n"
             "--propagation-policy: the same before a policy of Karmada is applied.\n"
             "Exit codes: 0 answered, 1 something could not be read, 2 wrong usage; 3 with\n"
             "--strict: a pod is Pending.",
    .list = list_steps,
    .example =
        "kubectl get nodes,pods,namespaces,pv,pvc,storageclasses -A -o json > state.json\n"
        "evenkeel simulate --state state.json --pod pod.yaml\n"
        "evenkeel simulate --kubeconfig ~/.kube/config --pod pod.yaml\n"
        "evenkeel simulate --admit --state state.json --policy policies/ --pod pod.yaml\n"
        "evenkeel simulate --admit --state state.json --fluid-profile profile.yaml --pod pod.yaml\n"
        "evenkeel simulate --admit --placement placement.yaml -o json\n"
        "kubectl get managedclusters,managedclustersets,managedclustersetbindings,placements,"
        "placementdecisions,addonplacementscores,namespaces -A -o yaml >hub.yaml\n"
        "evenkeel simulate --state hub.yaml --placement placement.yaml\n"
        "kubectl get clusters.cluster.karmada.io -o yaml >karmada.yaml\n"
        "evenkeel simulate --state karmada.yaml --binding binding.yaml\n"
        "evenkeel simulate --state karmada.yaml --propagation-policy policy.yaml "
        "--workload deployment.yaml\n"
        "echo '{\"step\": \"normalise\", \"value\": 50.5, \"min\": 1, \"max\": 100}' | "
        "evenkeel simulate --lines -",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
    .headings = headings,
    .configuration_flags = true,
    .first_flags = "state kubeconfig context in-cluster policy fluid-profile",
};

/* Options that a mode does not take, and their names for the message. */
struct exclusion {
    uint32_t options; /* 1 << SPEC_* */
    const char *names;
};

struct mode {
    uint32_t flags; /* bits 1 << SPEC_* that select the mode; 0: the mode without such flags */
    simulate_mode_fn *run;
    const struct document_kind *documents; /* documents in the question's file; NULL: run() reads
                                              files */
    bool has_state;                        /* needs a state: --state or an API server */
    bool has_workload;                     /* needs --workload */
    bool has_pod;        /* needs --pod, or --without for the pods of removed nodes */
    bool is_alone;       /* takes no other option but -o json, and no flag of the configuration */
    const char *because; /* why the mode does not take the options of `exclusions` */
    const struct exclusion exclusions[10]; /* an item without options ends the list */
};

#define OF_KARMADA (1U << SPEC_BINDING | 1U << SPEC_PROPAGATION | 1U << SPEC_WORKLOAD)
#define NOT_ABOUT_BINDINGS                                                                         \
    {1U << SPEC_POD, "--pod"},                                                                     \
        {1U << SPEC_PREVIOUS | 1U << SPEC_ROUNDS, "--previous and --rounds"},                      \
        {1U << SPEC_REPLICAS | 1U << SPEC_WITHOUT, "--replicas and --without"},                    \
        {1U << SPEC_CANDIDATES, "--candidates"}, {1U << SPEC_FILTERS, "--filters"}, {              \
        1U << SPEC_SCHEDULER, "--kube-scheduler-config"                                            \
    }

/* The mode of a command line is the first row with all its flags given. */
static const struct mode modes[] = {
    {.flags = 1U << SPEC_LINES,
     .run = simulate_lines,
     .is_alone = true,
     .because = "--lines brings along all that it asks about, and is answered in JSON"},
    {.flags = 1U << SPEC_ADMIT | 1U << SPEC_PLACEMENT,
     .run = simulate_admit_placement,
     .documents = &placement_documents,
     .because = "--admit --placement looks at no cluster",
     .exclusions = {{1U << SPEC_POD, "--pod"},
                    {1U << SPEC_REPLICAS | 1U << SPEC_WITHOUT, "--replicas and --without"},
                    {1U << SPEC_CANDIDATES, "--candidates"},
                    {1U << SPEC_FILTERS, "--filters"},
                    {1U << SPEC_SCHEDULER, "--kube-scheduler-config"},
                    {1U << SPEC_NOW | 1U << SPEC_ROUNDS, "--now and --rounds"},
                    {1U << SPEC_MEMBER, "--member"},
                    {OF_KARMADA, "--binding, --propagation-policy and --workload"}}},
    {.flags = 1U << SPEC_ADMIT,
     .run = simulate_admit,
     .documents = &pod_documents,
     .has_state = true,
     .has_pod = true,
     .because = "--admit looks at no node",
     .exclusions = {{1U << SPEC_REPLICAS | 1U << SPEC_WITHOUT, "--replicas and --without"},
                    {1U << SPEC_CANDIDATES, "--candidates"},
                    {1U << SPEC_FILTERS, "--filters"},
                    {1U << SPEC_SCHEDULER, "--kube-scheduler-config"},
                    {1U << SPEC_NOW | 1U << SPEC_ROUNDS, "--now and --rounds"},
                    {1U << SPEC_PREVIOUS, "--previous"},
                    {1U << SPEC_MEMBER, "--member"},
                    {OF_KARMADA, "--binding, --propagation-policy and --workload"}}},
    {.flags = 1U << SPEC_PLACEMENT,
     .run = simulate_placement,
     .documents = &placement_documents,
     .has_state = true,
     .because = "--placement is about clusters, not pods",
     .exclusions = {{1U << SPEC_POD, "--pod"},
                    {OF_KARMADA, "--binding, --propagation-policy and --workload"},
                    {1U << SPEC_MEMBER, "--member"},
                    {1U << SPEC_PREVIOUS, "--previous"},
                    {1U << SPEC_REPLICAS | 1U << SPEC_WITHOUT, "--replicas and --without"},
                    {1U << SPEC_CANDIDATES, "--candidates"},
                    {1U << SPEC_FILTERS, "--filters"},
                    {1U << SPEC_SCHEDULER, "--kube-scheduler-config"}}},
    {.flags = 1U << SPEC_PROPAGATION,
     .run = simulate_binding,
     .has_state = true,
     .has_workload = true,
     .because = "--propagation-policy is about clusters and one workload",
     .exclusions = {{1U << SPEC_BINDING, "--binding"}, NOT_ABOUT_BINDINGS}},
    {.flags = 1U << SPEC_BINDING,
     .run = simulate_binding,
     .has_state = true,
     .because = "--binding is about clusters, not pods",
     .exclusions = {{1U << SPEC_WORKLOAD, "--workload"}, NOT_ABOUT_BINDINGS}},
    {.run = simulate_pods,
     .documents = &pod_documents,
     .has_state = true,
     .has_pod = true,
     .because = "a pod is placed by what is there now",
     .exclusions = {{1U << SPEC_NOW | 1U << SPEC_ROUNDS, "--now and --rounds"},
                    {1U << SPEC_MEMBER, "--member"},
                    {1U << SPEC_WORKLOAD, "--workload"},
                    {1U << SPEC_PREVIOUS, "--previous"}}},
};

static const struct mode *mode_of(const struct simulate_request *request) {
    const struct mode *mode = modes;
    while ((request->given & mode->flags) != mode->flags)
        mode++;
    return mode;
}

/* ---- common to all modes ---- */

int simulate_answer(const struct simulate_request *request, struct strbuf *json,
                    const struct findings *findings, answer_print_fn *print, const char *note,
                    bool is_pending) {
    findings_put(findings, json);
    const int status = questions_put(request->questions, json, print, note);
    return status == 0 && request->strict && (is_pending || findings->count > 0) ? 3 : status;
}

int simulate_fail(const char *why) {
    fprintf(stderr, "evenkeel simulate: %s\n", why);
    return 1;
}

int simulate_read(const struct configuration *c, const struct workload_key *left_out,
                  struct simulation_state *ret, struct err *err) {
    int r = simulation_read(c, left_out, ret, err);
    if (r == 0 && cache_stats(ret->cache).nodes == 0)
        fprintf(stderr, "evenkeel simulate: %s\n", simulation_no_nodes);
    return r;
}

/* ---- the command line ---- */

/* Returns the filters that the list names, separated by commas. */
static uint32_t read_filters(struct options *o, const char *list) {
    struct str rest = str_of(list);
    uint32_t filters = 0;
    for (;;) {
        size_t comma = str_find(rest, ',');
        struct str name = str_trim((struct str){rest.p, comma == SIZE_MAX ? rest.n : comma});
        uint32_t bits = engine_filters_named(name);
        if (bits == 0) {
            char known[512]; /* names of filters fit */
            struct strbuf text = {.p = known, .cap = sizeof known, .max = sizeof known};
            engine_filters_put(FILTERS_ALL, ", ", &text);
            options_fail(o, "--filters: unknown filter '%.*s'; there are %.*s", STR_ARG(name),
                         STR_ARG(strbuf_str(&text)));
            return 0;
        }
        filters |= bits;
        if (comma == SIZE_MAX)
            return filters;
        rest = (struct str){rest.p + comma + 1, rest.n - comma - 1};
    }
}

static uint32_t read_replicas(struct options *o, const char *text) {
    int64_t number;
    if (str_to_i64(str_of(text), &number) && number >= 1 && number <= SIMULATE_REPLICAS_MAX)
        return (uint32_t)number;
    options_fail(o, "--replicas: '%s' is not a number from 1 to %d", text, SIMULATE_REPLICAS_MAX);
    return 0;
}

static void add_without(struct options *o, struct simulate_request *request, const char *text) {
    if (request->without_count == SIMULATE_WITHOUT_MAX)
        options_fail(o, "--without: more than %d", SIMULATE_WITHOUT_MAX);
    else
        request->without[request->without_count++] = text;
}

static void add_binding(struct options *o, struct simulate_request *request, const char *text) {
    if (request->binding_count == SIMULATE_BINDINGS_MAX)
        options_fail(o, "--binding: more than %d", SIMULATE_BINDINGS_MAX);
    else
        request->bindings[request->binding_count++] = text;
}

static void read_now(struct options *o, const char *text, struct simulate_request *request) {
    request->has_now = timestamp_parse(str_of(text), &request->now_ms);
    if (!request->has_now)
        options_fail(o, "--now: '%s' is no time such as 2026-01-02T03:04:05Z", text);
}

static void read_option(struct options *o, const struct option_value *v,
                        struct simulate_request *request) {
    request->given |= 1U << (v->spec - specs);
    switch (v->spec - specs) {
    case SPEC_POD:
        request->pod = v->text;
        break;
    case SPEC_CANDIDATES:
        request->candidates = v->text;
        break;
    case SPEC_FILTERS:
        request->filters = read_filters(o, v->text);
        break;
    case SPEC_SCHEDULER:
        request->scheduler = v->text;
        break;
    case SPEC_REPLICAS:
        request->replicas = read_replicas(o, v->text);
        break;
    case SPEC_WITHOUT:
        add_without(o, request, v->text);
        break;
    case SPEC_PREVIOUS:
        request->previous = v->text;
        break;
    case SPEC_PLACEMENT:
        request->placement = v->text;
        break;
    case SPEC_BINDING:
        add_binding(o, request, v->text);
        break;
    case SPEC_PROPAGATION:
        request->propagation_policy = v->text;
        break;
    case SPEC_WORKLOAD:
        request->workload = v->text;
        break;
    case SPEC_MEMBER:
        request->member = v->text;
        break;
    case SPEC_NOW:
        read_now(o, v->text, request);
        break;
    case SPEC_ROUNDS:
        request->rounds = true;
        break;
    case SPEC_LINES:
        request->lines = v->text;
        break;
    case SPEC_NAME:
        request->name = v->text;
        break;
    case SPEC_STRICT:
        request->strict = true;
        break;
    case SPEC_OUTPUT:
        request->json = options_output_is_json(o, v->text);
        break;
    case SPEC_CONFIG:
        request->config = v->text;
        break;
    default: /* flags of modes */
        break;
    }
}

static void read_options(struct options *o, struct simulate_request *request) {
    struct option_value v;
    while (options_next(o, &v)) {
        if (v.spec != NULL)
            read_option(o, &v, request);
        else if (v.flag == NULL)
            options_fail(o, "unexpected argument '%s'", v.text);
        else if (request->flag == NULL)
            request->flag = v.flag;
    }
}

/* Checks a mode that takes no other options. */
static void check_alone(struct options *o, const struct mode *mode,
                        const struct simulate_request *request) {
    const uint32_t taken = mode->flags | (request->json ? 1U << SPEC_OUTPUT : 0);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0] && !o->stopped; i++)
        if (request->given & ~taken & 1U << i)
            options_fail(o, "%s; leave out --%s", mode->because, specs[i].name);
    if (request->flag != NULL && !o->stopped)
        options_fail(o, "%s; leave out --%s", mode->because, request->flag);
}

/* Fails if an option that the mode needs is missing, or an option that it does not take is
 * given. */
static void check_options(struct options *o, const struct mode *mode,
                          const struct simulate_request *request) {
    if (mode->has_pod && request->pod == NULL &&
        (request->without_count == 0 || request->replicas > 0))
        options_fail(o, "no pod; give --pod FILE");
    if (mode->has_workload && request->workload == NULL)
        options_fail(o, "--propagation-policy needs the object that it selects; give --workload "
                        "FILE");
    if (request->name != NULL && mode->documents == &pod_documents && request->pod == NULL)
        options_fail(o, "--name picks an object of a file; give --pod FILE");
    if (mode->is_alone)
        check_alone(o, mode, request);
    for (const struct exclusion *e = mode->exclusions; e->options != 0 && !o->stopped; e++)
        if (request->given & e->options)
            options_fail(o, "%s; leave out %s", mode->because, e->names);
}

struct run {
    const struct mode *mode;
    const struct simulate_request *request;
    const struct configuration *configuration;
};

static int run_mode(struct questions *q, void *ctx, struct arena *arena) {
    const struct run *run = ctx;
    struct simulate_request request = *run->request; /* a copy, because the mode may complete it */
    request.questions = q;
    return run->mode->run(&request, run->configuration, arena);
}

static int simulate(struct options *o, const struct mode *mode,
                    const struct simulate_request *request, struct configuration *c) {
    struct err err;
    if (options_configure_source(o, request->config, c, &err) != 0)
        return o->stopped ? o->exit_status : simulate_fail(err.text);
    if (mode->has_state && c->state.path_count == 0 && c->kubernetes.kubeconfig == NULL &&
        !c->kubernetes.in_cluster) {
        options_fail(o, "no state; give --state FILE or DIR, or --kubeconfig FILE");
        return o->exit_status;
    }
    log_setup(LOG_WARN, c->log.format, 2); /* an API server that does not answer is logged */
    struct run run = {mode, request, c};
    struct questions questions = {.command = "simulate",
                                  .path = mode->documents == NULL             ? NULL
                                          : mode->documents == &pod_documents ? request->pod
                                                                              : request->placement,
                                  .kind = mode->documents,
                                  .name = request->name,
                                  .json = request->json};
    return questions_answer(&questions, run_mode, &run);
}

int cmd_simulate(int argc, char **argv) {
    struct options o;
    struct simulate_request request = {0};
    options_init(&o, &simulate_command, argc, argv);
    read_options(&o, &request);
    const struct mode *mode = mode_of(&request);
    if (!o.stopped)
        check_options(&o, mode, &request);
    if (o.stopped)
        return o.exit_status;
    struct configuration c;
    configuration_init(&c);
    int status = simulate(&o, mode, &request, &c);
    configuration_done(&c);
    return status;
}

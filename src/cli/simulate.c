#include "cli/commands.h"

#include "cli/admission_simulation.h"
#include "cli/options.h"
#include "cli/placing.h"
#include "cli/simulation.h"

#include <errno.h>
#include <stdio.h>

enum {
    SPEC_POD,
    SPEC_CANDIDATES,
    SPEC_FILTERS,
    SPEC_SCHEDULER,
    SPEC_REPLICAS,
    SPEC_WITHOUT,
    SPEC_ADMIT,
    SPEC_STRICT,
    SPEC_OUTPUT,
    SPEC_CONFIG
};

enum { WITHOUT_MAX = 64, REPLICAS_MAX = 10000 };

static const struct option_spec specs[] = {
    [SPEC_POD] =
        {"pod", 0, "FILE",
         "the pod to place, YAML or JSON, or a workload (Deployment, StatefulSet, Job, any "
         "with spec.template): pods of its template (required but with --without)"},
    [SPEC_CANDIDATES] = {"candidates", 0, "A,B,...",
                         "the nodes handed to filter and to score; otherwise filter gets all "
                         "nodes and score those that pass"},
    [SPEC_FILTERS] = {"filters", 0, "A,B,...",
                      "only these of kube-scheduler's filters, by the names of its plugins; "
                      "PodTopologySpread is what an extender judges. Otherwise: all that need no "
                      "volumes and no devices"},
    [SPEC_SCHEDULER] = {"kube-scheduler-config", 0, "FILE",
                        "kube-scheduler's configuration: addedAffinity of the profile that the pod "
                        "names is judged, too"},
    [SPEC_REPLICAS] =
        {"replicas", 0, "N",
         "places N such pods one after the other, each where its total is highest, and "
         "draws how they lie; otherwise one pod, or a workload's replicas, as new ones beside the "
         "pods of the state"},
    [SPEC_WITHOUT] =
        {"without", 0, "KEY=VALUE",
         "first takes the nodes with this label away (repeatable); their pods are placed "
         "before the replicas, as far as files of --state have them"},
    [SPEC_ADMIT] = {"admit", 0, NULL,
                    "what the webhook would make of the pod on its creation, instead; policies "
                    "come with --policy, Fluid's datasets with --state. Without it, the pod is "
                    "placed as it is in the file: of policies only their weights count"},
    [SPEC_STRICT] = {"strict", 0, NULL, "ends with exit code 3 if a pod is Pending"},
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
    [SPEC_CONFIG] = {"config", 0, "FILE", "EvenkeelConfiguration whose rules to apply"},
};

const struct command simulate_command = {
    .name = "simulate",
    .usage = "(--state FILE|DIR | --kubeconfig FILE) --pod FILE [options]",
    .about = "Filters and scores one pod against a state read from files, or against what an\n"
             "API server has now, by the same code that serves, and says why for every node.\n"
             "The filters are kube-scheduler's own, in its order; the first that refuses a node\n"
             "gives the reason.\n"
             "With --admit: what the webhook would change in the pod, by which policy and for "
             "which data.\n"
             "Nothing is changed anywhere. Exit codes: 0 answered, 1 something could not be read,\n"
             "2 wrong usage; 3 with --strict: a pod is Pending.",
    .example =
        "kubectl get nodes,pods,namespaces -A -o json > state.json\n"
        "evenkeel simulate --state state.json --pod pod.yaml\n"
        "evenkeel simulate --kubeconfig ~/.kube/config --pod pod.yaml\n"
        "evenkeel simulate --admit --state state.json --policy policies/ --pod pod.yaml\n"
        "evenkeel simulate --admit --state state.json --fluid-profile profile.yaml --pod pod.yaml",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
    .configuration_flags = true,
    .shown_flags = "state kubeconfig context in-cluster policy fluid-profile",
};

struct request {
    const char *pod, *candidates, *scheduler, *config;
    uint32_t filters;
    uint32_t replicas;
    const char *without[WITHOUT_MAX];
    uint32_t without_count;
    bool admit, json, strict;
};

static int fail(const char *why) {
    fprintf(stderr, "evenkeel simulate: %s\n", why);
    return 1;
}

/* Prints and releases the answer; `good` is false when there was no memory to write it. */
static int print(struct strbuf *out, bool good) {
    good = good && !strbuf_failed(out);
    bool printed = good && fwrite(out->p, 1, out->n, stdout) == out->n && fflush(stdout) == 0;
    strbuf_done(out);
    if (!printed)
        return fail(good ? "cannot write to standard output" : "no memory for the answer");
    return 0;
}

/* The same, where pods were placed. */
static int print_placed(const struct request *request, struct strbuf *out, bool good,
                        bool is_pending) {
    int status = print(out, good);
    return status == 0 && request->strict && is_pending ? 3 : status;
}

static int place(const struct request *request, const struct configuration *c,
                 const struct simulation_state *state, struct arena *arena) {
    struct simulation_question question = {
        .configuration = c,
        .state = state,
        .pod_path = request->pod,
        .candidates = request->candidates,
        .scheduler_path = request->scheduler,
        .filters = request->filters != 0 ? request->filters : (uint32_t)FILTERS_ALL};
    struct simulation result;
    struct strbuf out = {0};
    struct err err;
    if (simulation_run(&question, arena, &result, &err) != 0)
        return fail(err.text);
    bool good = true;
    if (!request->json)
        good = simulation_print_table(&question, &result, arena, &out);
    else
        simulation_print_json(&question, &result, arena, &out);
    return print_placed(request, &out, good, simulation_best(&result) == UINT32_MAX);
}

static int place_all(const struct request *request, const struct configuration *c,
                     const struct simulation_state *state, struct arena *arena) {
    const struct placing_question question = {
        .pods = {.configuration = c,
                 .state = state,
                 .pod_path = request->pod,
                 .candidates = request->candidates,
                 .scheduler_path = request->scheduler,
                 .filters = request->filters != 0 ? request->filters : (uint32_t)FILTERS_ALL},
        .replicas = request->replicas == 0 && request->pod != NULL ? 1 : request->replicas,
        .without = request->without,
        .without_count = request->without_count};
    struct placing result;
    struct strbuf out = {0};
    struct err err;
    if (placing_run(&question, arena, &result, &err) != 0)
        return fail(err.text);
    bool good = true;
    if (!request->json)
        good = placing_print_table(&question, &result, arena, &out);
    else
        placing_print_json(&question, &result, &out);
    return print_placed(request, &out, good, result.pending > 0);
}

static int admit(const struct request *request, const struct configuration *c,
                 const struct simulation_state *state, struct arena *arena) {
    struct admission_simulation result;
    struct strbuf out = {0};
    struct err err;
    if (admission_simulation_run(c, state, request->pod, arena, &result, &err) != 0)
        return fail(err.text);
    if (!request->json)
        return print(&out, admission_simulation_print_table(&result, arena, &out));
    admission_simulation_print_json(&result, &out);
    return print(&out, true);
}

/* As many as the workload in the file wants, if nobody says. */
static int use_replicas(struct request *request, struct arena *arena, struct err *err) {
    struct pod_file file;
    struct pod pod;
    if (request->replicas > 0 || request->admit || request->pod == NULL)
        return 0;
    int r = simulation_read_pod(request->pod, arena, &file, &pod, err);
    if (r == 0 && file.replicas > REPLICAS_MAX)
        return err_set(err, -EINVAL, "pod file '%s': more than %d replicas; give --replicas N",
                       request->pod, REPLICAS_MAX);
    if (r == 0 && file.is_workload && file.replicas == 0)
        fprintf(stderr,
                "evenkeel simulate: the workload in '%s' wants 0 replicas; one of its pods is "
                "tried, as if it wanted one\n",
                request->pod);
    if (r == 0 && file.replicas > 1)
        request->replicas = (uint32_t)file.replicas;
    return r;
}

static struct str policy_of(const struct review_answer *answer) {
    for (uint32_t i = 0; i < answer->annotation_count; i++)
        if (str_eq(answer->annotations[i].key, STR("policy")))
            return answer->annotations[i].value;
    return STR("");
}

/* Who gives policies expects them in the answer; but pods are placed as they are in the file, for
 * they may have been admitted already. To be asked before pods are placed, which changes the
 * state. */
static void advise(const struct request *request, const struct configuration *c,
                   const struct simulation_state *state, struct strbuf *out) {
    CLEANUP(arena_done) struct arena arena; /* and its budget are this question's */
    struct admission_simulation admission;
    struct err unsaid; /* placing the pod finds the same */
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    log_setup(LOG_ERROR + 1, c->log.format, 2); /* nobody has asked for an admission */
    int r = admission_simulation_run(c, state, request->pod, &arena, &admission, &unsaid);
    log_setup(LOG_WARN, c->log.format, 2);
    if (r != 0 || admission.patch.count == 0)
        return;
    const struct str policy = policy_of(&admission.answer);
    strbuf_appendf(
        out,
        "evenkeel simulate: the pod was placed as '%s' has it, but on its creation %s%.*s%s "
        "would change it: --admit shows how. To place it so: evenkeel simulate --admit (and the "
        "same options) -o json | jq .pod >admitted.json, and then --pod admitted.json\n",
        request->pod, policy.n > 0 ? "policy '" : "the webhook", STR_ARG(policy),
        policy.n > 0 ? "'" : "");
}

static int answer(const struct request *request, const struct configuration *c,
                  const struct simulation_state *state, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf advice = {.max = LIMIT_CONFIG_BYTES};
    if (request->admit)
        return admit(request, c, state, arena);
    if (request->pod != NULL && c->policies.path_count > 0)
        advise(request, c, state, &advice);
    bool many = request->replicas > 0 || request->without_count > 0;
    int status = many ? place_all(request, c, state, arena) : place(request, c, state, arena);
    if (status == 0)
        (void)fwrite(advice.p, 1, advice.n, stderr); /* nobody is left to tell */
    return status;
}

static int simulate(struct options *o, struct request *request, struct configuration *c) {
    struct err err;
    if (options_configure_source(o, request->config, c, &err) != 0)
        return o->stopped ? o->exit_status : fail(err.text);
    if (c->state.path_count == 0 && c->kubernetes.kubeconfig == NULL && !c->kubernetes.in_cluster) {
        options_fail(o, "no state; give --state FILE or DIR, or --kubeconfig FILE");
        return o->exit_status;
    }
    log_setup(LOG_WARN, c->log.format, 2); /* an API server that does not answer is said there */
    struct simulation_state state = {.cache = NULL};
    struct arena arena;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    int r = use_replicas(request, &arena, &err);
    if (r == 0)
        r = simulation_read(c, request->admit || c->policies.path_count > 0, &state, &err);
    if (r == 0 && cache_stats(state.cache).nodes == 0)
        fprintf(stderr, "evenkeel simulate: %s\n", simulation_no_nodes); /* answered all the same */
    int status = r != 0 ? fail(err.text) : answer(request, c, &state, &arena);
    simulation_state_done(&state);
    arena_done(&arena);
    return status;
}

/* Names of filters, between commas. */
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
    if (str_to_i64(str_of(text), &number) && number >= 1 && number <= REPLICAS_MAX)
        return (uint32_t)number;
    options_fail(o, "--replicas: '%s' is not a number from 1 to %d", text, REPLICAS_MAX);
    return 0;
}

static void add_without(struct options *o, struct request *request, const char *text) {
    if (request->without_count == WITHOUT_MAX)
        options_fail(o, "--without: more than %d", WITHOUT_MAX);
    else
        request->without[request->without_count++] = text;
}

static bool read_options(struct options *o, struct request *request) {
    struct option_value v;
    while (options_next(o, &v)) {
        if (v.spec == &specs[SPEC_POD])
            request->pod = v.text;
        else if (v.spec == &specs[SPEC_CANDIDATES])
            request->candidates = v.text;
        else if (v.spec == &specs[SPEC_FILTERS])
            request->filters = read_filters(o, v.text);
        else if (v.spec == &specs[SPEC_SCHEDULER])
            request->scheduler = v.text;
        else if (v.spec == &specs[SPEC_REPLICAS])
            request->replicas = read_replicas(o, v.text);
        else if (v.spec == &specs[SPEC_WITHOUT])
            add_without(o, request, v.text);
        else if (v.spec == &specs[SPEC_ADMIT])
            request->admit = true;
        else if (v.spec == &specs[SPEC_STRICT])
            request->strict = true;
        else if (v.spec == &specs[SPEC_OUTPUT])
            request->json = options_output_is_json(o, v.text);
        else if (v.spec == &specs[SPEC_CONFIG])
            request->config = v.text;
        else if (v.flag == NULL)
            options_fail(o, "unexpected argument '%s'", v.text);
    }
    if (!o->stopped && request->pod == NULL &&
        (request->without_count == 0 || request->replicas > 0))
        options_fail(o, "no pod; give --pod FILE");
    if (!o->stopped && request->admit && (request->replicas > 0 || request->without_count > 0))
        options_fail(o, "--admit looks at no node; leave out --replicas and --without");
    if (!o->stopped && request->admit && request->candidates != NULL)
        options_fail(o, "--admit looks at no node; leave out --candidates");
    if (!o->stopped && request->admit && request->filters != 0)
        options_fail(o, "--admit looks at no node; leave out --filters");
    if (!o->stopped && request->admit && request->scheduler != NULL)
        options_fail(o, "--admit looks at no node; leave out --kube-scheduler-config");
    if (!o->stopped && request->admit && request->strict)
        options_fail(o, "--admit looks at no node; leave out --strict");
    return !o->stopped;
}

int cmd_simulate(int argc, char **argv) {
    struct options o;
    struct request request = {0};
    options_init(&o, &simulate_command, argc, argv);
    if (!read_options(&o, &request))
        return o.exit_status;
    struct configuration c;
    configuration_init(&c);
    int status = simulate(&o, &request, &c);
    configuration_done(&c);
    return status;
}

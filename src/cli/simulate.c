#include "cli/commands.h"

#include "cli/options.h"
#include "cli/simulation.h"

#include <stdio.h>

enum { SPEC_POD, SPEC_CANDIDATES, SPEC_OUTPUT, SPEC_CONFIG };

static const struct option_spec specs[] = {
    [SPEC_POD] = {"pod", 0, "FILE", "the pod to place, YAML or JSON (required)"},
    [SPEC_CANDIDATES] = {"candidates", 0, "A,B,...",
                         "the nodes handed to filter and to score; otherwise filter gets all "
                         "nodes and score those that pass"},
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
    [SPEC_CONFIG] = {"config", 0, "FILE", "EvenkeelConfiguration whose rules to apply"},
};

static const struct command simulate_command = {
    .name = "simulate",
    .usage = "(--state FILE|DIR | --kubeconfig FILE) --pod FILE [options]",
    .about = "Filters and scores one pod against a state read from files, or against what an\n"
             "API server has now, by the same code that serves, and says why for every node.\n"
             "Nothing is changed anywhere. Exit codes: 0 answered, 1 something could not be read,\n"
             "2 wrong usage.",
    .example = "kubectl get nodes,pods,namespaces -A -o json > state.json\n"
               "evenkeel simulate --state state.json --pod pod.yaml\n"
               "evenkeel simulate --kubeconfig ~/.kube/config --pod pod.yaml",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
    .configuration_flags = true,
};

struct request {
    const char *pod, *candidates, *config;
    bool json;
};

static int fail(const char *why) {
    fprintf(stderr, "evenkeel simulate: %s\n", why);
    return 1;
}

static int print(const struct simulation *s, bool json, struct arena *arena) {
    struct strbuf out = {0};
    bool good = true;
    if (json)
        simulation_print_json(s, &out);
    else
        good = simulation_print_table(s, arena, &out);
    good = good && !strbuf_failed(&out);
    if (good && fwrite(out.p, 1, out.n, stdout) == out.n && fflush(stdout) == 0)
        strbuf_done(&out);
    else {
        strbuf_done(&out);
        return fail(good ? "cannot write to standard output" : "no memory for the answer");
    }
    return 0;
}

static int simulate(struct options *o, const struct request *request, struct configuration *c) {
    struct err err;
    if (options_configure(o, request->config, c, &err) != 0)
        return o->stopped ? o->exit_status : fail(err.text);
    if (c->state.path_count == 0 && c->kubernetes.kubeconfig == NULL && !c->kubernetes.in_cluster) {
        options_fail(o, "no state; give --state FILE or DIR, or --kubeconfig FILE");
        return o->exit_status;
    }
    log_setup(LOG_WARN, c->log.format, 2); /* an API server that does not answer is said there */
    struct simulation_question question = {
        .configuration = c, .pod_path = request->pod, .candidates = request->candidates};
    struct simulation result;
    struct arena arena;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    int status = simulation_run(&question, &arena, &result, &err) == 0
                     ? print(&result, request->json, &arena)
                     : fail(err.text);
    arena_done(&arena);
    return status;
}

static bool read_options(struct options *o, struct request *request) {
    struct option_value v;
    while (options_next(o, &v)) {
        if (v.spec == &specs[SPEC_POD])
            request->pod = v.text;
        else if (v.spec == &specs[SPEC_CANDIDATES])
            request->candidates = v.text;
        else if (v.spec == &specs[SPEC_OUTPUT])
            request->json = options_output_is_json(o, v.text);
        else if (v.spec == &specs[SPEC_CONFIG])
            request->config = v.text;
        else if (v.flag == NULL)
            options_fail(o, "unexpected argument '%s'", v.text);
    }
    if (!o->stopped && request->pod == NULL)
        options_fail(o, "no pod; give --pod FILE");
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

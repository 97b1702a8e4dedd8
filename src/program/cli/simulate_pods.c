#include "cli/simulate.h"

#include "base/log.h"
#include "cli/placing_print.h"
#include "cli/simulation_print.h"
#include "whatif/admission_simulation.h"

#include <errno.h>
#include <stdio.h>

/* The note on pods to which no spread constraint was applied. */
static const char unconstrained[] =
    "no spread constraint applies: the pod has none, and none comes by default; --admit shows the\n"
    "constraints that a TopologyPolicy gives to a new pod\n";

static const char *say_daemons(const struct simulation *s, struct arena *arena) {
    uint32_t passed = 0;
    for (uint32_t i = 0; i < s->filtered.count; i++)
        passed += s->filter.verdicts[i] == VERDICT_PASS;
    const char *text =
        arena_cstr(arena, arena_printf(arena, "%u of %u nodes would run a pod of the DaemonSet\n",
                                       passed, s->filtered.count));
    return text != NULL ? text : "";
}

static int place(const struct simulate_request *request, const struct configuration *c,
                 const struct simulation_state *state, bool is_daemon_set, struct arena *arena) {
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    struct simulation_question question = {.configuration = c,
                                           .state = state,
                                           .pod = request->questions->document,
                                           .candidates = request->candidates,
                                           .scheduler_path = request->scheduler,
                                           .filters = request->filters != 0 ? request->filters
                                                                            : (uint32_t)FILTERS_ALL,
                                           .findings = &findings};
    struct simulation result;
    CLEANUP(strbuf_done) struct strbuf json = {0};
    struct err err;
    findings_init(&findings, &of_findings);
    if (simulation_run(&question, arena, &result, &err) != 0)
        return simulate_fail(err.text);
    simulation_print_json(&question, &result, arena, &json);
    const bool is_constrained = result.scored.count == 0 || simulation_is_constrained(&result);
    return simulate_answer(request, &json, &findings, simulation_print,
                           is_daemon_set    ? say_daemons(&result, arena)
                           : is_constrained ? ""
                                            : unconstrained,
                           simulation_best(&result) == UINT32_MAX);
}

static int place_all(const struct simulate_request *request, const struct configuration *c,
                     const struct simulation_state *state, struct arena *arena) {
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    const struct placing_question question = {
        .pods = {.configuration = c,
                 .state = state,
                 .pod = request->questions->document,
                 .candidates = request->candidates,
                 .scheduler_path = request->scheduler,
                 .filters = request->filters != 0 ? request->filters : (uint32_t)FILTERS_ALL,
                 .findings = &findings},
        .replicas = request->replicas == 0 && request->pod != NULL ? 1 : request->replicas,
        .without = request->without,
        .without_count = request->without_count};
    struct placing result;
    CLEANUP(strbuf_done) struct strbuf json = {0};
    struct err err;
    findings_init(&findings, &of_findings);
    if (placing_run(&question, arena, &result, &err) != 0)
        return simulate_fail(err.text);
    placing_print_json(&question, &result, &json);
    const bool is_constrained = result.count == result.pending || result.constrained;
    return simulate_answer(request, &json, &findings, placing_print,
                           is_constrained ? "" : unconstrained, result.pending > 0);
}

/* Without --replicas, uses the number of replicas of the workload in the file. */
static int use_replicas(struct simulate_request *request, struct arena *arena,
                        struct workload_key *ret_daemon_set, struct err *err) {
    struct pod_file file;
    struct pod pod;
    *ret_daemon_set = (struct workload_key){.kind = STR("")};
    if (request->pod == NULL)
        return 0;
    int r = simulation_read_pod(request->questions->document, arena, &file, &pod, err);
    if (r != 0)
        return r;
    *ret_daemon_set = file.daemon_set;
    const bool is_daemon_set = file.daemon_set.kind.n > 0;
    if (is_daemon_set && (request->replicas > 0 || request->without_count > 0))
        return err_set(err, -EINVAL,
                       "pod file '%s': a DaemonSet has a pod on each node that can hold it; leave "
                       "out --replicas and --without",
                       request->pod);
    if (is_daemon_set || request->replicas > 0)
        return 0;
    if (file.replicas > SIMULATE_REPLICAS_MAX)
        return err_set(err, -EINVAL, "pod file '%s': more than %d replicas; give --replicas N",
                       request->pod, SIMULATE_REPLICAS_MAX);
    if (file.is_workload && file.replicas == 0)
        fprintf(stderr,
                "evenkeel simulate: the workload in '%s' wants 0 replicas; one of its pods is "
                "tried, as if it wanted one\n",
                request->pod);
    if (file.replicas > 1)
        request->replicas = (uint32_t)file.replicas;
    return 0;
}

static struct str policy_of(const struct review_answer *answer) {
    for (uint32_t i = 0; i < answer->annotation_count; i++)
        if (str_eq(answer->annotations[i].key, STR("policy")))
            return answer->annotations[i].value;
    return STR("");
}

/* Users who give policies expect the effect of the policies in the answer. But pods are placed
 * without changes, because they may have been admitted already. The advice explains this. Call it
 * before pods are placed, which changes the state. */
static void advise(const struct simulate_request *request, const struct configuration *c,
                   const struct simulation_state *state, struct strbuf *out) {
    CLEANUP(arena_done) struct arena arena; /* with a budget for this question alone */
    struct admission_simulation admission = {.findings = NULL};
    struct err unsaid; /* placing the pod reports the same */
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    log_setup(LOG_ERROR + 1, c->log.format, 2); /* the user did not ask for an admission */
    int r = admission_simulation_run(c, state, request->questions->document, &arena, &admission,
                                     &unsaid);
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

static int answer(const struct simulate_request *request, const struct configuration *c,
                  const struct simulation_state *state, bool is_daemon_set, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf advice = {.max = LIMIT_CONFIG_BYTES};
    if (request->pod != NULL && c->policies.path_count > 0)
        advise(request, c, state, &advice);
    bool many = request->replicas > 0 || request->without_count > 0;
    int status =
        many ? place_all(request, c, state, arena) : place(request, c, state, is_daemon_set, arena);
    if (status != 1)
        (void)fwrite(advice.p, 1, advice.n, stderr); /* nowhere to report to */
    return status;
}

int simulate_pods(struct simulate_request *request, const struct configuration *c,
                  struct arena *arena) {
    struct simulation_state state = {.cache = NULL};
    struct workload_key daemon_set;
    struct err err;
    int r = use_replicas(request, arena, &daemon_set, &err);
    const bool is_daemon_set = r == 0 && daemon_set.kind.n > 0;
    if (r == 0)
        r = simulate_read(c, is_daemon_set ? &daemon_set : NULL, &state, &err);
    int status =
        r != 0 ? simulate_fail(err.text) : answer(request, c, &state, is_daemon_set, arena);
    simulation_state_done(&state);
    return status;
}

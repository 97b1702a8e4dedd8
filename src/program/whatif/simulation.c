#include "whatif/simulation.h"

#include "base/log.h"
#include "daemon/servers.h"
#include "daemon/source.h"
#include "explain/domains.h"
#include "findings/state/node_labels.h"
#include "findings/state/nodes.h"
#include "findings/workload.h"
#include "model/names.h"
#include "volumes/claims.h"
#include "volumes/store.h"
#include "whatif/daemon_pod.h"
#include "whatif/scheduler_profile.h"

#include <errno.h>

enum { WAIT_MS = 60000 }; /* time for an API server to list everything */

/* ---- input ---- */

static int decode_pod(struct str json, struct arena *arena, struct pod *ret, struct err *err) {
    struct json_reader r;
    json_reader_init(&r, json, arena, POD_KIND);
    struct str kind = json_peek_member(&r, STR("kind"));
    struct str version = json_peek_member(&r, STR("apiVersion"));
    pod_decode(&r, POD_SCORED, ret);
    int failed = json_finish(&r, err);
    if (failed == 0 && !str_eq(kind, STR(POD_KIND)))
        return err_set(err, -EINVAL, "kind is '%.*s'; expected one Pod", STR_ARG(kind));
    if (failed == 0 && object_kind_of(object_type_of(version, kind)) != OBJECT_POD)
        return err_set(err, -EINVAL, "apiVersion is '%.*s'; expected v1", STR_ARG(version));
    if (failed == 0 && pod_as_stored(ret, arena) != 0)
        return err_set(err, -ENOMEM, "no memory for the pod's terms");
    return failed;
}

const struct document_kind pod_documents = {"pod file", "Pod or workload", pod_file_has_pod};

int simulation_read_pod(const struct document *d, struct arena *arena, struct pod_file *ret_file,
                        struct pod *ret, struct err *err) {
    struct document made = *d;
    int r = pod_file_read(d->text, arena, ret_file, err);
    if (r == 0) {
        made.text = ret_file->pod;
        r = decode_pod(made.text, arena, ret, err);
        ret->makes_claims |= ret_file->makes_claims;
    }
    return r == 0 ? 0 : document_complain(&made, err);
}

int simulation_read_only_pod(const char *path, struct arena *arena, struct pod_file *ret_file,
                             struct pod *ret, struct err *err) {
    struct document d;
    const int r = document_read_only(path, &pod_documents, arena, &d, err);
    if (r != 0)
        return r;
    const int failed = simulation_read_pod(&d, arena, ret_file, ret, err);
    if (failed != 0 || ret_file->daemon_set.kind.n == 0)
        return failed;
    (void)err_set(err, -EINVAL,
                  "kind is 'DaemonSet', which has a pod on each node that can hold "
                  "it: 'evenkeel simulate --pod' names these nodes");
    return document_complain(&d, err);
}

static int split_names(const char *list, struct arena *arena, struct candidates *ret,
                       struct err *err) {
    struct str rest = arena_str(arena, str_of(list));
    struct str *names = NULL;
    uint32_t count = 0, cap = 0;
    for (;;) {
        size_t comma = str_find(rest, ',');
        struct str name = str_trim((struct str){rest.p, comma == SIZE_MAX ? rest.n : comma});
        names = arena_push(arena, names, count, &cap, sizeof *names);
        if (names == NULL)
            return err_set(err, -ENOMEM, "no memory for the list of candidates");
        if (name.n > 0)
            names[count++] = name;
        if (comma == SIZE_MAX)
            break;
        rest = (struct str){rest.p + comma + 1, rest.n - comma - 1};
    }
    *ret = (struct candidates){names, count};
    return 0;
}

/* ---- running ---- */

/* Logs policies that cannot work: otherwise they would look like policies for other pods. */
static void warn_of_broken(struct policy_source *source) {
    uint32_t count;
    struct policies *held = policies_hold(source);
    const struct policy *items = policies_items(held, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!str_empty(items[i].problem))
            LOG_W("a policy cannot work", LOG_STR("policy", items[i].name),
                  LOG_STR("why", items[i].problem));
    policies_release(held);
}

int simulation_load_data(const struct configuration *c, struct simulation_data *ret,
                         struct err *err) {
    const struct fluid_source_options fluid = {.profile = c->webhook.fluid.profile,
                                               .compat = c->webhook.fluid.compat,
                                               .scale_in = c->webhook.fluid.scale_in};
    *ret = (struct simulation_data){.fluid = NULL};
    int r = policy_source_new(c->policies.paths, c->policies.path_count, &ret->policies, err);
    if (r == 0)
        r = policy_source_load(ret->policies, err);
    if (r == 0)
        warn_of_broken(ret->policies);
    return r == 0 && c->state.path_count > 0 ? fluid_source_new(&fluid, &ret->fluid, err) : r;
}

void simulation_data_done(struct simulation_data *d) {
    fluid_source_free(d->fluid);
    policy_source_free(d->policies);
}

int simulation_load(const struct configuration *c, const struct workload_key *left_out,
                    struct informer *volumes, struct fluid_source *fluid, struct cache **ret,
                    struct err *err) {
    struct servers *servers = NULL;
    struct source *source = NULL;
    struct cache *cache = NULL;
    int r = cache_new(&(struct cache_options){.left_out = left_out}, &cache, err);
    if (r == 0)
        r = servers_new(c, &servers, err);
    if (r == 0 && c->state.path_count == 0)
        r = servers_open(servers, SERVER_CLUSTER, err);
    if (r == 0)
        r = source_new(c, cache, servers_client(servers, SERVER_CLUSTER), &source, err);
    if (r == 0 && volumes != NULL)
        source_follow(source, informer_follower(volumes));
    if (r == 0 && fluid != NULL)
        source_follow(source, fluid_source_follower(fluid));
    if (r == 0)
        r = source_start(source, err);
    if (r == 0)
        r = source_wait(source, WAIT_MS, err);
    source_free(source);
    servers_free(servers);
    if (r == 0)
        *ret = cache;
    else
        cache_free(cache);
    return r;
}

int simulation_read(const struct configuration *c, const struct workload_key *left_out,
                    struct simulation_state *ret, struct err *err) {
    *ret = (struct simulation_state){.cache = NULL};
    int r = informer_new(&volume_store, NULL, &ret->volumes, err);
    if (r == 0)
        r = simulation_load_data(c, &ret->data, err);
    return r == 0 ? simulation_load(c, left_out, ret->volumes, ret->data.fluid, &ret->cache, err)
                  : r;
}

void simulation_state_done(struct simulation_state *s) {
    simulation_data_done(&s->data);
    cache_free(s->cache);
    informer_free(s->volumes);
}

const char simulation_no_nodes[] = "there are no nodes: no object of kind Node is in the state";

/* Adds the controller of a workload's pod, because default constraints get their selector from
 * it. */
static int add_owner(struct cache *cache, const struct pod_file *file, struct arena *arena,
                     struct err *err) {
    struct object owner;
    struct str version, kind;
    struct json_reader r;
    if (file->owner.n == 0)
        return 0;
    json_reader_init(&r, file->owner, arena, "Workload");
    kind = json_peek_member(&r, STR("kind"));
    version = json_peek_member(&r, STR("apiVersion"));
    enum object_kind known = object_kind_of(object_type_of(version, kind));
    if (known == OBJECT_OTHER)
        return 0;
    int e = object_decode(file->owner, known, POD_SCORED, arena, &owner, err);
    cache_write_begin(cache);
    if (e == 0 && cache_apply(cache, &owner) != 0)
        e = err_set(err, -ENOMEM, "no memory for the workload");
    cache_write_end(cache);
    return e;
}

/* Does any node have allocatable resources? Call it before nodes are removed, because all nodes
 * count. */
static bool some_node_says(struct cache *cache) {
    struct cache_view view;
    cache_view_open(cache, &view);
    const bool says = cache_any_allocatable(&view);
    cache_view_close(&view);
    return says;
}

/* Reads kube-scheduler's configuration for the pod of the file. */
static int read_scheduler(const struct simulation_question *q, struct str pod, struct arena *arena,
                          struct simulation_setup *ret, struct err *err) {
    struct scheduler_profile_parts parts;
    int r = scheduler_profile_read(q->scheduler_path, pod, arena, &parts, err);
    if (r == 0)
        r = scheduler_affinity_decode(parts.added_affinity, arena, &ret->added, err);
    if (r != 0)
        return r;
    ret->options.ignored_resources = parts.ignored;
    ret->not_read = parts.not_read;
    if (q->findings != NULL && !str_empty(parts.old_version))
        findings_add(q->findings, FINDING_OLD_VERSION, STR(""), STR("Write " SCHEDULER_CONFIG_API),
                     "kube-scheduler's configuration '%s' is of '%.*s', which ended with "
                     "Kubernetes %.*s",
                     q->scheduler_path, STR_ARG(parts.old_version), STR_ARG(parts.ended_with));
    return 0;
}

static int complete_daemon(const struct pod_file *file, struct pod *pod, struct arena *arena,
                           struct findings *findings, struct err *err) {
    return daemon_pod_complete(file, pod, arena, findings) == 0
               ? 0
               : err_set(err, -ENOMEM, "no memory for the DaemonSet's pod");
}

int simulation_open(const struct simulation_question *q, struct arena *arena,
                    struct simulation_setup *ret, struct err *err) {
    struct object incoming = {.kind = OBJECT_POD};
    struct pod_file file = {.spec = "spec", .pod = STR("{}")};
    *ret = (struct simulation_setup){.cache = q->state->cache,
                                     .options = q->configuration->engine,
                                     .has_named = q->candidates != NULL};
    ret->options.filters = q->filters;
    ret->options.in_tree = true;
    int r = 0;
    if (q->pod != NULL)
        r = simulation_read_pod(q->pod, arena, &file, &incoming.pod, err);
    if (r == 0 && file.daemon_set.kind.n > 0) {
        ret->options.filters &= ~(uint32_t)FILTERS_OF_EXTENDER;
        r = complete_daemon(&file, &incoming.pod, arena, q->findings, err);
    }
    if (r == 0)
        r = add_owner(ret->cache, &file, arena, err);
    if (r == 0 && q->findings != NULL && q->pod != NULL)
        (void)findings_of_workload(file.json, &incoming.pod, str_of(file.spec), q->findings);
    if (r == 0 && q->scheduler_path != NULL)
        r = read_scheduler(q, file.pod, arena, ret, err);
    if (r == 0 && q->candidates != NULL)
        r = split_names(q->candidates, arena, &ret->named, err);
    if (r != 0)
        return r;
    ret->scoring = (struct pod_scoring){
        .fluid = q->state->data.fluid, .policies = q->state->data.policies, .cache = ret->cache};
    ret->volumes = q->state->volumes;
    ret->pod = incoming.pod;
    ret->spec = file.spec;
    if (ret->added.required || ret->added.preferred_count > 0)
        ret->options.added_affinity = &ret->added;
    cache_write_begin(ret->cache);
    if (q->pod != NULL)
        cache_remove(ret->cache, &incoming); /* the pod must not count as its own neighbour */
    cache_write_end(ret->cache);
    ret->options.resources_are_known = some_node_says(ret->cache);
    return 0;
}

int simulation_prepare(const struct simulation_setup *setup, struct pod *pod, struct arena *arena,
                       struct engine_options *ret, struct err *err) {
    *ret = setup->options;
    int r = pod_scoring_prepare(&setup->scoring, pod, arena, ret, err);
    if (r == 0 && pod_claims_read(setup->volumes, pod, arena, &ret->claims) != 0)
        r = err_set(err, -ENOMEM, "no memory for the pod's claims");
    return r;
}

int simulation_run(const struct simulation_question *q, struct arena *arena, struct simulation *ret,
                   struct err *err) {
    struct simulation_setup setup;
    struct engine_options options;
    int r = simulation_open(q, arena, &setup, err);
    if (r == 0)
        r = simulation_prepare(&setup, &setup.pod, arena, &options, err);
    options.reports = true;
    if (r == 0)
        r = engine_simulate(&options, setup.cache, &setup.pod,
                            setup.has_named ? &setup.named : NULL, arena, ret, err);
    if (r == 0)
        ret->filter.unknown.configuration = setup.not_read;
    if (r == 0 && q->findings != NULL)
        (void)findings_of_nodes(setup.cache, &setup.pod, &ret->filter, str_of(setup.spec),
                                q->findings);
    return r;
}

static int find_by_itself(const struct document *pod_document, struct arena *arena,
                          struct findings *findings, struct err *err) {
    struct pod_file file;
    struct pod pod;
    int r = simulation_read_pod(pod_document, arena, &file, &pod, err);
    if (r == 0 && file.daemon_set.kind.n > 0)
        r = complete_daemon(&file, &pod, arena, findings, err);
    if (r == 0)
        (void)findings_of_workload(file.json, &pod, str_of(file.spec), findings);
    return r;
}

static int find_beside_state(const struct simulation_question *q, struct arena *arena,
                             struct err *err) {
    struct simulation_state state;
    struct simulation_question question = *q;
    struct simulation result;
    int r = simulation_read(q->configuration, NULL, &state, err);
    question.state = &state;
    if (r == 0)
        r = simulation_run(&question, arena, &result, err);
    simulation_state_done(&state);
    return r;
}

int simulation_find(const struct configuration *c, const struct document *pod, struct arena *arena,
                    struct findings *findings, struct err *err) {
    const struct simulation_question question = {
        .configuration = c, .pod = pod, .filters = FILTERS_ALL, .findings = findings};
    const bool has_state =
        c->state.path_count > 0 || c->kubernetes.kubeconfig != NULL || c->kubernetes.in_cluster;
    return has_state ? find_beside_state(&question, arena, err)
                     : find_by_itself(pod, arena, findings, err);
}

struct str simulation_reasons(const struct simulation *s, struct arena *arena) {
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    for (uint32_t reason = 1; reason < s->filter.reason_count; reason++) {
        uint32_t nodes = 0;
        for (uint32_t i = 0; i < s->filtered.count; i++)
            nodes += s->filter.reasons[i] == reason;
        if (nodes > 0)
            strbuf_appendf(&text, "%s%u node%s: %s: %.*s", text.n > 0 ? "; " : "", nodes,
                           nodes == 1 ? "" : "s", s->filter.reason_filters[reason],
                           STR_ARG(s->filter.reason_texts[reason]));
    }
    if (text.n == 0)
        strbuf_append_str(&text, STR("there are no nodes"));
    struct str kept = arena_str(arena, strbuf_str(&text));
    strbuf_done(&text);
    return kept;
}

/* ---- why a pod is Pending ---- */

/* Did the spread of pods refuse a node of the domain that every earlier filter let pass? */
static bool is_held_up(const struct filter_result *filter, const struct domain_report *domain) {
    for (uint32_t i = 0; i < domain->refused_count; i++) {
        const char *refuser = filter->reason_filters[domain->refused[i].reason];
        if (strcmp(refuser, "PodTopologySpread") == 0 || strcmp(refuser, "OrderedSpread") == 0)
            return true;
    }
    return false;
}

/* Returns true if this constraint alone may keep some node from passing: a node in a domain that
 * the constraint does not allow, or any node if no node is in a domain. */
static bool is_in_the_way(const struct filter_result *filter, const struct applied_constraint *a) {
    bool held_up = a->report_count == 0;
    for (uint32_t i = 0; i < a->report_count; i++) {
        if (a->reports[i].allowed && a->reports[i].passed > 0)
            return false;
        held_up = held_up || (!a->reports[i].allowed && is_held_up(filter, &a->reports[i]));
    }
    return a->constraint->hard && a->reports != NULL && held_up;
}

/* Do taints refuse all nodes of the domain? kube-scheduler still counts the domain's pods: there
 * are mostly none, so the domain has the minimum. */
static bool is_tainted(const struct filter_result *filter, const struct domain_report *domain) {
    uint32_t tainted = 0;
    for (uint32_t i = 0; i < domain->refused_count; i++)
        if (strcmp(filter->reason_filters[domain->refused[i].reason], "TaintToleration") == 0)
            tainted += domain->refused[i].nodes;
    return domain->allowed && domain->nodes > 0 && tainted == domain->nodes;
}

static void say_tainted(const struct filter_result *filter, const struct applied_constraint *a,
                        struct strbuf *out) {
    for (uint32_t i = 0; i < a->report_count && !a->constraint->honor_taints; i++)
        if (domain_is_awaited(a, &a->reports[i]) && is_tainted(filter, &a->reports[i])) {
            strbuf_appendf(out,
                           "; all nodes of '%.*s' have taints that the pod does not tolerate, but "
                           "the domain counts all the same, with %lld pods; nodeTaintsPolicy: "
                           "Honor in the constraint leaves the domain out",
                           STR_ARG(a->reports[i].name), (long long)a->reports[i].pods);
            return; /* domains_say() has named the other domains */
        }
}

/* Do the pod's claims exclude some node? */
static bool is_by_claims(const struct simulation *s) {
    for (uint32_t i = 0; i < s->filtered.count; i++)
        if (filter_is_of_volumes(s->filter.reason_filters[s->filter.reasons[i]]))
            return true;
    return false;
}

static void say_claims(const struct simulation *s, struct strbuf *out) {
    const size_t before = out->n;
    if (s->filter.claims == NULL || !is_by_claims(s))
        return;
    strbuf_append_str(out, before > 0 ? STR("; ") : STR("its claims: "));
    const size_t begin = out->n;
    pod_claims_say(s->filter.claims, out);
    if (out->n == begin)
        out->n = before; /* no claim restricts the nodes */
}

struct str simulation_cause(const struct simulation *s, const struct findings *findings,
                            struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    const struct finding *of_nodes = findings != NULL ? findings_find_node_labels(findings) : NULL;
    if (of_nodes != NULL) {
        finding_say(of_nodes, &text);
        return arena_str(arena, strbuf_str(&text));
    }
    for (uint32_t i = 0; i < s->filter.applied_count; i++) {
        const struct applied_constraint *a = &s->filter.applied[i];
        if (!is_in_the_way(&s->filter, a))
            continue;
        strbuf_appendf(&text,
                       "%sthe constraint on %.*s, maxSkew %lld: ", text.n > 0 ? "; and of " : "",
                       STR_ARG(a->constraint->topology_key), (long long)a->constraint->max_skew);
        domains_say(&s->filter, a, &text);
        say_tainted(&s->filter, a, &text);
    }
    say_claims(s, &text);
    return arena_str(arena, strbuf_str(&text));
}

/* ---- the result ---- */

bool simulation_is_constrained(const struct simulation *s) {
    return s->filter.applied_count > 0 || s->score.applied_count > 0;
}

uint32_t simulation_best(const struct simulation *s) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0, scored = 0; i < s->filtered.count; i++) {
        bool passed = s->filter.verdicts[i] == VERDICT_PASS;
        bool same = s->scored.names == s->filtered.names;
        if (passed &&
            (best == UINT32_MAX || s->score.totals[same ? i : scored] > s->score.totals[best]))
            best = same ? i : scored;
        scored += passed;
    }
    return best;
}

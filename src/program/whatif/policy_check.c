#include "whatif/policy_check.h"

#include "admission/pods/pods.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "cache/neighbours.h"
#include "findings/state/policy.h"
#include "model/names.h"
#include "policy/match.h"
#include "policy/outlook.h"
#include "volumes/store.h"
#include "whatif/controlled_pods.h"
#include "whatif/policy_clusters.h"
#include "whatif/simulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The state of one check of policies. */
struct checking {
    const struct configuration *configuration;
    struct cluster_objects objects;
    struct controlled_pods workloads;
    struct cache *cache;
    struct informer *volumes;
    struct simulation_data known; /* the configuration's data and policies */
    struct policy_source *asked;  /* policies of the files that are checked */
    struct policy_source *source; /* all policies, as an API server would have them */
    struct policies *held;        /* policies held from `source` */
    struct policy *policies;      /* these policies, with Audit changed to Enforce; in the arena */
    uint32_t policy_count;
    uint32_t *checked_of; /* each policy's index in out->policies; UINT32_MAX: not checked */
    struct fluid_set *data;
    struct engine_options engine;
    struct arena *arena; /* has the memory of the answer */
    struct arena one;    /* has the memory of one pod, reset after each pod */
    struct policy_check *out;
};

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory to check policies");
}

/* ---- policies ---- */

static int take_policy(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    struct checking *c = ctx;
    bool is_policy = str_eq(type.kind, STR(POLICY_KIND));
    struct str text = json_skip(r);
    return is_policy && !json_failed(r) ? policy_live_apply(c->source, text, err) : 0;
}

static int take_files(struct checking *c, const char *const *paths, size_t count, struct err *err) {
    struct cluster_objects files = {.count = 0};
    int r = manifests_list(paths, count, "policy", &files.files, err);
    if (r == 0)
        r = manifests_read(&files.files, LIMIT_CONFIG_BYTES, err);
    if (r == 0)
        r = cluster_objects_walk(&files, take_policy, c, err);
    cluster_objects_done(&files);
    return r;
}

static bool has_policies(struct policy_source *source) {
    uint32_t count;
    struct policies *held = policies_hold(source);
    (void)policies_items(held, &count); /* only the number is needed */
    policies_release(held);
    return count > 0;
}

/* Reads policies of the cluster, the configuration and `paths`. If policies have the same name, the
 * last policy counts. */
static int read_policies(struct checking *c, const char *const *paths, size_t count,
                         struct err *err) {
    const struct configuration *from = c->configuration;
    int r = policy_source_new(paths, count, &c->asked, err);
    if (r == 0)
        r = policy_source_load(c->asked, err); /* the error names the place */
    if (r == 0 && !has_policies(c->asked))
        r = err_set(err, -ENOENT, "there is no TopologyPolicy in the files to check");
    if (r == 0)
        r = policy_source_new(NULL, 0, &c->source, err);
    if (r != 0)
        return r;
    policy_live_begin(c->source);
    r = cluster_objects_walk(&c->objects, take_policy, c, err);
    if (r == 0)
        r = take_files(c, from->policies.paths, from->policies.path_count, err);
    if (r == 0)
        r = take_files(c, paths, count, err);
    return r == 0 ? policy_live_end(c->source, err) : r;
}

static int copy_policies(struct checking *c, struct err *err) {
    c->held = policies_hold(c->source);
    const struct policy *items = policies_items(c->held, &c->policy_count);
    c->policies = arena_array(c->arena, c->policy_count, sizeof *c->policies);
    if (c->policies == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < c->policy_count; i++) {
        c->policies[i] = items[i];
        if (items[i].mode == POLICY_AUDIT)
            c->policies[i].mode = POLICY_ENFORCE;
    }
    return 0;
}

/* Computes the outlook until all asked policies have one. Each step does at least one policy. */
static struct policy_outlook *look_ahead(struct checking *c, const struct policy *asked,
                                         uint32_t count) {
    struct policy_outlook *outlook = policy_outlook_new(c->source, c->cache);
    uint32_t known = 0;
    for (uint32_t step = 0; outlook != NULL && known < count && step <= c->policy_count; step++) {
        policy_outlook_step(outlook);
        while (known < count && (!str_empty(asked[known].problem) ||
                                 policy_outlook_of(outlook, asked[known].name).known))
            known++;
    }
    return outlook;
}

static void judge_policy(struct checking *c, const struct policy_outlook *outlook,
                         const struct policy *policy) {
    const struct policy_prospect prospect = policy_outlook_of(outlook, policy->name);
    struct policy_verdict verdict = policy_verdict_on(policy, &prospect, c->arena);
    for (int i = 0; i < POLICY_CONDITIONS; i++)
        verdict.messages[i] = arena_str(c->arena, verdict.messages[i]);
    c->out->policies[c->out->policy_count++] = (struct checked_policy){
        .name = arena_str(c->arena, policy->name),
        .priority = policy->priority,
        .mode = policy->mode,
        .verdict = verdict,
        .constraints = policy->spread_count + policy->placement_term_count,
        .is_for = {[POLICY_FOR_PODS] = policy_is_for(policy, POLICY_FOR_PODS),
                   [POLICY_FOR_PLACEMENTS] = policy_is_for(policy, POLICY_FOR_PLACEMENTS)},
        .placement_keys = policy_placement_keys(policy, c->arena)};
}

/* Computes the status that each checked policy would have. The checked policies are a part of all
 * policies, in the same order. */
static int judge_policies(struct checking *c, struct err *err) {
    uint32_t count;
    struct policies *held = policies_hold(c->asked);
    const struct policy *asked = policies_items(held, &count);
    struct policy_outlook *outlook = look_ahead(c, asked, count);
    c->out->policies = arena_array(c->arena, count, sizeof *c->out->policies);
    c->checked_of = arena_array(c->arena, c->policy_count, sizeof *c->checked_of);
    bool good = outlook != NULL && c->out->policies != NULL && c->checked_of != NULL;
    for (uint32_t i = 0, next = 0; good && i < c->policy_count; i++) {
        bool is_asked = next < count && str_eq(asked[next].name, c->policies[i].name);
        c->checked_of[i] = is_asked ? next : UINT32_MAX;
        if (is_asked)
            judge_policy(c, outlook, &asked[next++]);
    }
    policy_outlook_free(outlook);
    policies_release(held);
    return good && !arena_failed(c->arena) ? 0 : out_of_memory(err);
}

/* Returns the entry of a checked policy; NULL if the policy is not checked. */
static struct checked_policy *checked(const struct checking *c, const struct policy *policy) {
    uint32_t at = policy != NULL ? c->checked_of[policy - c->policies] : UINT32_MAX;
    return at != UINT32_MAX ? &c->out->policies[at] : NULL;
}

/* Is the clusters' verdict worse than that of the nodes? */
static bool is_worse(enum policy_reason clusters, enum policy_reason nodes) {
    return nodes == POLICY_NODES_SUIT && clusters != POLICY_CLUSTERS_SUIT &&
           clusters != POLICY_CLUSTERS_NOT_KNOWN;
}

/* Begins the findings about a policy. Adds its name if several policies are checked. */
static void find_about(struct checking *c, const struct policy *policy) {
    if (c->out->findings != NULL && c->out->policy_count > 1)
        c->out->findings->about = arena_printf(c->arena, "policy '%.*s': ", STR_ARG(policy->name));
}

/* Finds mistakes in the policies' constraints of pods. */
static void find_mistakes(struct checking *c) {
    for (uint32_t i = 0; c->out->findings != NULL && i < c->policy_count; i++) {
        const struct checked_policy *p = checked(c, &c->policies[i]);
        if (p == NULL || p->verdict.reasons[POLICY_READY] == POLICY_CANNOT_WORK)
            continue;
        find_about(c, &c->policies[i]);
        (void)findings_of_policy_nodes(c->cache, &c->policies[i],
                                       c->out->findings); /* findings so far stay */
    }
}

/* Checks the policies' terms for Placements against the clusters of the state. */
static int judge_terms(struct checking *c, struct policy_clusters *clusters, struct err *err) {
    const struct policy_list policies = {c->policies, c->policy_count};
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < c->policy_count; i++) {
        struct checked_policy *p = checked(c, &c->policies[i]);
        struct policy_clusters_verdict v;
        if (p == NULL || c->policies[i].placement_term_count == 0 ||
            p->verdict.reasons[POLICY_READY] == POLICY_CANNOT_WORK)
            continue;
        find_about(c, &c->policies[i]);
        if (c->out->findings != NULL)
            policy_clusters_find(clusters, &c->policies[i], c->out->findings);
        r = policy_clusters_judge(clusters, policies, &c->policies[i], c->arena, &v);
        if (r != 0)
            return err_set(err, r, "no memory or steps to check the clusters of policies");
        p->clusters_judged = v.clusters > 0;
        p->matched_placements = v.placements;
        c->out->clusters = v.clusters;
        if (!is_for_placements_only(p) && !is_worse(v.reason, p->verdict.reasons[POLICY_EFFECTIVE]))
            continue;
        p->verdict.reasons[POLICY_EFFECTIVE] = v.reason;
        p->verdict.messages[POLICY_EFFECTIVE] = v.message;
    }
    return 0;
}

static int judge_clusters(struct checking *c, struct err *err) {
    struct policy_clusters *clusters = NULL;
    bool any = false;
    for (uint32_t i = 0; i < c->out->policy_count; i++)
        any = any || c->out->policies[i].is_for[POLICY_FOR_PLACEMENTS];
    if (!any)
        return 0;
    int r = policy_clusters_load(c->configuration, &clusters, err);
    if (r == 0)
        r = judge_terms(c, clusters, err);
    policy_clusters_free(clusters);
    return r;
}

/* ---- a pod of a workload, as it would be created ---- */

static bool has_member(struct str object, struct str wanted, struct arena *arena) {
    struct json_reader r;
    struct str key;
    bool found = false;
    json_reader_init(&r, object, arena, POD_KIND);
    if (json_object(&r))
        while (json_member(&r, &key))
            found = found || str_eq(key, wanted);
    return found;
}

/* Removes one member. Each removal is a patch of its own: no other change may be in it. */
static int take_off(struct patch *patch, const struct str *path, uint32_t depth, struct err *err) {
    const struct patch_change change = {PATCH_REMOVE, path, depth, {0}};
    return patch_apply(patch, &change, 1, err);
}

/* Returns the pod without its node and its status. */
static int make_fresh(struct checking *c, struct str pod, struct str *ret, struct err *err) {
    const struct str node[] = {STR("spec"), STR("nodeName")}, status[] = {STR("status")};
    bool has_status = false, has_node = false;
    struct patch patch;
    struct json_reader r;
    struct str key;
    json_reader_init(&r, pod, &c->one, POD_KIND);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str value = json_skip(&r);
            has_status = has_status || str_eq(key, status[0]);
            if (str_eq(key, node[0]))
                has_node = has_member(value, node[1], &c->one);
        }
    patch_init(&patch, pod, &c->one);
    int result = json_finish(&r, err);
    if (result == 0 && has_status)
        result = take_off(&patch, status, 1, err);
    if (result == 0 && has_node)
        result = take_off(&patch, node, 2, err);
    *ret = patch.document;
    return result;
}

/* A pod of a workload before and after the webhook, in c->one. */
struct admitted {
    struct str came;
    struct pod pod; /* decoded from `came` */
    struct patch patch;
    struct review_answer answer;
    struct spread_tally spread;
    struct policy_choice choice;
};

static int choose(struct checking *c, const struct pod *pod, struct policy_choice *ret,
                  struct err *err) {
    const struct policy_list policies = {c->policies, c->policy_count};
    struct policy_namespace namespace;
    *ret = (struct policy_choice){.enforced = {NULL}};
    if (policy_namespace_find(c->cache, pod->meta.namespace, &c->one, &namespace) != 0)
        return out_of_memory(err);
    if (!policy_of_pod(policies, &namespace, pod, POLICY_TO_FORESEE, ret))
        return err_set(err, -ENOENT,
                       "namespace '%.*s' is not among the objects, and a policy asks for its "
                       "labels",
                       STR_ARG(pod->meta.namespace));
    return 0;
}

/* Denies the pod if a policy with mode Require would deny it. The review names no creator, so rules
 * about creators are not applied. */
static void validate(struct checking *c, const struct pod_options *options,
                     const struct review *admitted, struct admitted *a) {
    struct pod_options validating = *options;
    struct review review = *admitted;
    struct review_answer answer;
    struct patch patch;
    review.object = a->patch.document;
    validating.spread = NULL;
    (void)admit_object(&validated_pods, &validating.head, &review, &c->one, &patch, &answer);
    if (!a->answer.allowed || answer.allowed)
        return;
    a->answer.allowed = false;
    a->answer.message = answer.message;
}

static int admit(struct checking *c, struct str text, struct admitted *ret, struct err *err) {
    struct object object;
    *ret = (struct admitted){.answer = {.allowed = true}};
    int r = make_fresh(c, text, &ret->came, err);
    if (r == 0)
        r = object_decode(ret->came, OBJECT_POD, POD_SCORED, &c->one, &object, err);
    if (r != 0)
        return r;
    ret->pod = object.pod;
    r = choose(c, &ret->pod, &ret->choice, err);
    if (r != 0)
        return r;
    const struct pod_options options = {
        .head = {.policies = c->policies, .policy_count = c->policy_count},
        .cache = c->cache,
        .volumes = c->volumes,
        .data = fluid_set_data(c->data),
        .spread = &ret->spread};
    const struct review review = {.uid = STR("check"),
                                  .resource = STR("pods"),
                                  .operation = STR("CREATE"),
                                  .namespace = ret->pod.meta.namespace,
                                  .object = ret->came};
    (void)admit_object(&admitted_pods, &options.head, &review, &c->one, &ret->patch, &ret->answer);
    validate(c, &options, &review, ret);
    return arena_failed(&c->one) ? out_of_memory(err) : 0;
}

/* ---- placing the workload's pods ---- */

/* Can the changes keep the pod from a node? Preferences cannot. */
static int can_harm(struct checking *c, const struct admitted *a, struct pod *ret_changed,
                    bool *ret, struct err *err) {
    struct object object;
    uint32_t before = 0, after = 0;
    *ret = false;
    if (a->patch.count == 0)
        return 0;
    int r = object_decode(a->patch.document, OBJECT_POD, POD_SCORED, &c->one, &object, err);
    if (r != 0)
        return r;
    *ret_changed = object.pod;
    for (uint32_t i = 0; i < a->pod.constraint_count; i++)
        before += a->pod.constraints[i].hard;
    for (uint32_t i = 0; i < object.pod.constraint_count; i++)
        after += object.pod.constraints[i].hard;
    *ret = after > before;
    for (uint32_t i = 0; i < a->patch.count; i++)
        *ret = *ret || str_has_prefix(a->patch.operations[i].path, STR("/spec/affinity"));
    return 0;
}

enum cache_change { TAKE_OUT, PUT_BACK };

/* Takes the pods of the workload out of the cache, or puts them back. */
static int change_cache(struct checking *c, const struct workload_pods *w, enum cache_change what,
                        struct err *err) {
    struct arena arena;
    int r = 0;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    cache_write_begin(c->cache);
    for (uint32_t i = 0; r == 0 && i < w->count; i++) {
        struct object object;
        r = object_decode(w->pods[i], OBJECT_POD, POD_RUNNING, &arena, &object, err);
        if (r == 0 && what == TAKE_OUT)
            cache_remove(c->cache, &object);
        else if (r == 0 && cache_apply(c->cache, &object) != 0)
            r = out_of_memory(err);
        arena_reset(&arena);
    }
    cache_write_end(c->cache);
    arena_done(&arena);
    return r;
}

/* Returns the name of a placed pod, which is also its UID. */
static struct str name_of(uint32_t i, char ret[static 32]) {
    (void)snprintf(ret, 32, "check-policy-%u", i); /* fits */
    return str_of(ret);
}

static int place_one(struct checking *c, const struct pod *like, uint32_t number,
                     struct str *ret_reason, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct simulation s;
    char name[32];
    struct object object = {.kind = OBJECT_POD};
    object.pod = *like;
    object.meta.name = object.meta.uid = name_of(number, name);
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    int r = engine_simulate(&c->engine, c->cache, &object.pod, NULL, &arena, &s, err);
    if (r != 0)
        return r;
    if (s.filter.unknown.claims != NULL) /* each pod of a workload may have its own */
        c->out->unknown.claims = s.filter.unknown.claims;
    uint32_t best = simulation_best(&s);
    if (best == UINT32_MAX) {
        *ret_reason = simulation_reasons(&s, c->arena);
        return 0;
    }
    object.pod.node_name = s.scored.names[best];
    cache_write_begin(c->cache);
    r = cache_apply(c->cache, &object);
    cache_write_end(c->cache);
    return r == 0 ? 0 : out_of_memory(err);
}

/* Counts the Pending pods among `count` equal pods. If one pod is Pending, all pods after it are
 * Pending, too. */
static int place_all(struct checking *c, const struct pod *like, uint32_t count,
                     uint32_t *ret_pending, struct str *ret_reason, struct err *err) {
    uint32_t placed = 0;
    int r = 0;
    *ret_reason = (struct str){0};
    while (r == 0 && placed < count) {
        r = place_one(c, like, placed, ret_reason, err);
        if (!str_empty(*ret_reason))
            break;
        placed++;
    }
    *ret_pending = count - placed;
    cache_write_begin(c->cache);
    for (uint32_t i = 0; i < placed; i++) {
        char name[32];
        struct object gone = {.kind = OBJECT_POD};
        gone.meta = like->meta;
        gone.meta.name = gone.meta.uid = name_of(i, name);
        cache_remove(c->cache, &gone);
    }
    cache_write_end(c->cache);
    return r;
}

static int place(struct checking *c, const struct workload_pods *w, const struct admitted *a,
                 struct checked_workload *out, struct err *err) {
    struct pod changed;
    struct str reason;
    bool needed;
    int r = can_harm(c, a, &changed, &needed, err);
    if (r != 0 || !needed)
        return r;
    out->placed = w->count < POLICY_CHECK_PLACED ? w->count : POLICY_CHECK_PLACED;
    r = change_cache(c, w, TAKE_OUT, err);
    if (r == 0)
        r = place_all(c, &a->pod, out->placed, &out->pending_without, &reason, err);
    if (r == 0)
        r = place_all(c, &changed, out->placed, &out->pending_with, &out->reason, err);
    if (r == 0)
        r = change_cache(c, w, PUT_BACK, err);
    out->harmed = out->harmed || out->pending_with > out->pending_without;
    return r;
}

/* ---- the report of a workload ---- */

static struct str policy_name(const struct checking *c, const struct policy *policy) {
    return policy != NULL ? arena_str(c->arena, policy->name) : (struct str){0};
}

static bool keep_constraints(struct checking *c, const struct admitted *a,
                             struct checked_workload *out) {
    const struct policy *policy = a->choice.enforced[POLICY_SPREAD];
    if (policy == NULL || a->spread.each == NULL)
        return true;
    struct checked_constraint *kept = arena_array(c->arena, policy->spread_count, sizeof *kept);
    for (uint32_t i = 0; kept != NULL && i < policy->spread_count; i++)
        kept[i] = (struct checked_constraint){arena_str(c->arena, policy->spread[i].topology_key),
                                              a->spread.each[i]};
    out->constraints = kept;
    out->constraint_count = kept != NULL ? policy->spread_count : 0;
    return kept != NULL;
}

/* Stores the answer's notes as a text: "added: zone; fluid: ...". */
static bool keep_notes(struct checking *c, const struct admitted *a, struct checked_workload *out) {
    CLEANUP(strbuf_done) struct strbuf text = {0}, patch = {0};
    struct json_writer w = {.out = &patch};
    for (uint32_t i = 0; i < a->answer.annotation_count; i++) {
        const struct label *note = &a->answer.annotations[i];
        bool spread = str_eq(note->key, str_of(pod_plugin_spread.name));
        if (str_eq(note->key, STR("unchanged")))
            out->unchanged = arena_str(c->arena, note->value);
        if (!spread && !str_eq(note->key, str_of(pod_plugin_fluid.name)))
            continue;
        strbuf_append_str(&text, text.n > 0 ? STR("; ") : STR(""));
        strbuf_append_str(&text, note->value);
    }
    out->changes = arena_str(c->arena, strbuf_str(&text));
    patch_write(&a->patch, &w);
    out->patch = arena_str(c->arena, strbuf_str(&patch));
    struct str *warnings = arena_array(c->arena, a->answer.warning_count, sizeof *warnings);
    for (uint32_t i = 0; warnings != NULL && i < a->answer.warning_count; i++)
        warnings[i] = arena_str(c->arena, a->answer.warnings[i]);
    out->warnings = warnings;
    out->warning_count = a->answer.warning_count;
    return warnings != NULL && !strbuf_failed(&text) && !strbuf_failed(&patch);
}

/* Adds the workload's numbers to the checked policies. */
static void add_up(struct checking *c, const struct admitted *a, const struct checked_workload *w) {
    struct checked_policy *spread = checked(c, a->choice.enforced[POLICY_SPREAD]);
    struct checked_policy *last = NULL;
    for (int part = 0; part < POLICY_PARTS; part++) {
        struct checked_policy *p = checked(c, a->choice.enforced[part]);
        if (p == NULL || p == last)
            continue;
        p->workloads++;
        p->pods += w->pods;
        p->harmed += w->harmed;
        last = p;
    }
    for (int fate = 0; spread != NULL && fate < SPREAD_FATES; fate++) {
        const enum spread_form form = spread_form((enum spread_fate)fate);
        if (form == SPREAD_NOT)
            spread->skipped += fate == SPREAD_OWN ? 0 : a->spread.fates[fate];
        else if (form == SPREAD_WHOLE)
            spread->injected += a->spread.fates[fate];
        else
            spread->softened += a->spread.fates[fate];
    }
}

static int check_workload(struct checking *c, const struct workload_pods *w, struct err *err) {
    struct policy_check *out = c->out;
    struct admitted a;
    int r = admit(c, w->pods[0], &a, err);
    if (r != 0)
        return err_wrap(err, "%.*s '%.*s' of namespace '%.*s'", STR_ARG(w->kind), STR_ARG(w->name),
                        STR_ARG(w->namespace));
    const struct policy *const *parts = a.choice.enforced;
    bool ours = false;
    for (int part = 0; part < POLICY_PARTS; part++)
        ours = ours || checked(c, parts[part]) != NULL;
    if (!ours) {
        out->others++;
        return 0;
    }
    struct checked_workload *workload = &out->workloads[out->workload_count++];
    *workload = (struct checked_workload){.namespace = w->namespace,
                                          .kind = w->kind,
                                          .name = w->name,
                                          .pods = w->count,
                                          .spread_policy = policy_name(c, parts[POLICY_SPREAD]),
                                          .locality_policy = policy_name(c, parts[POLICY_LOCALITY]),
                                          .weights_policy = policy_name(c, parts[POLICY_WEIGHTS]),
                                          .denial = arena_str(c->arena, a.answer.message),
                                          .harmed = !a.answer.allowed};
    if (!keep_constraints(c, &a, workload) || !keep_notes(c, &a, workload))
        return out_of_memory(err);
    r = a.answer.allowed ? place(c, w, &a, workload, err) : 0;
    add_up(c, &a, workload);
    return r;
}

/* ---- the whole check ---- */

/* Does the check need nodes? If all policies are only for Placements, it does not. */
static bool needs_nodes(const struct policy_check *check) {
    for (uint32_t i = 0; i < check->policy_count; i++)
        if (!is_for_placements_only(&check->policies[i]))
            return true;
    return false;
}

static struct str source_of(const struct configuration *c, struct arena *arena) {
    if (c->state.path_count == 0)
        return STR("the API server");
    if (c->state.path_count == 1)
        return arena_str(arena, str_of(c->state.paths[0]));
    return arena_printf(arena, "%s and %zu more", c->state.paths[0], c->state.path_count - 1);
}

static int load(struct checking *c, const char *const *paths, size_t path_count, struct err *err) {
    int r = informer_new(&volume_store, NULL, &c->volumes, err);
    if (r == 0)
        r = simulation_load_data(c->configuration, &c->known, err);
    if (r == 0)
        r = simulation_load(c->configuration, NULL, c->volumes, c->known.fluid, &c->cache, err);
    if (r == 0)
        r = cluster_objects_read(c->configuration, &c->objects, err);
    if (r == 0)
        r = read_policies(c, paths, path_count, err);
    if (r == 0)
        r = copy_policies(c, err);
    if (r == 0)
        r = judge_policies(c, err);
    if (r == 0) {
        find_mistakes(c);
        r = judge_clusters(c, err);
    }
    c->out->source = source_of(c->configuration, c->arena);
    c->out->nodes = c->cache != NULL ? cache_stats(c->cache).nodes : 0;
    if (r == 0 && c->out->nodes == 0 && needs_nodes(c->out))
        r = err_set(err, -ENOENT, "the cluster has no nodes, so policies cannot be checked");
    return r == 0 ? controlled_pods_find(&c->objects, c->arena, &c->workloads, err) : r;
}

/* Marks the policies that are for no pod, and returns the verdict on all policies. */
static enum policy_soundness judge_soundness(struct policy_check *check) {
    enum policy_soundness soundness = POLICY_SOUND;
    for (uint32_t i = 0; i < check->policy_count; i++) {
        struct checked_policy *p = &check->policies[i];
        policy_verdict_count(&p->verdict, p->pods);
        if (p->harmed > 0)
            soundness = POLICY_NOT_SOUND;
        for (int k = 0; k < POLICY_CONDITIONS; k++) {
            const char *good = k == POLICY_SHADOWED ? "False" : "True";
            const char *status = policy_reasons[p->verdict.reasons[k]].status;
            const bool is_unknown = strcmp(status, "Unknown") == 0;
            if (soundness == POLICY_SOUND && is_unknown)
                soundness = POLICY_SOUND_UNKNOWN;
            else if (!is_unknown && strcmp(status, good) != 0)
                soundness = POLICY_NOT_SOUND;
        }
    }
    return soundness;
}

static struct filter_unknown find_unknown(struct cache *cache) {
    struct cache_view view;
    cache_view_open(cache, &view);
    const struct filter_unknown unknown = {.terms = cache_terms_unknown(&view),
                                           .resources = !cache_any_allocatable(&view)};
    cache_view_close(&view);
    return unknown;
}

static int check_all(struct checking *c, struct err *err) {
    int r = 0;
    c->out->unknown = find_unknown(c->cache);
    c->data = fluid_hold(c->known.fluid);
    c->out->workloads = arena_array(c->arena, c->workloads.count, sizeof *c->out->workloads);
    if (c->out->workloads == NULL)
        r = out_of_memory(err);
    for (uint32_t i = 0; r == 0 && i < c->workloads.count; i++) {
        r = check_workload(c, &c->workloads.items[i], err);
        arena_reset(&c->one);
    }
    c->out->soundness = judge_soundness(c->out);
    return r;
}

static void release(struct checking *c) {
    fluid_release(c->data);
    if (c->held != NULL)
        policies_release(c->held);
    policy_source_free(c->source);
    policy_source_free(c->asked);
    controlled_pods_done(&c->workloads);
    cluster_objects_done(&c->objects);
    simulation_data_done(&c->known);
    cache_free(c->cache);
    informer_free(c->volumes);
    arena_done(&c->one);
}

int policy_check_run(const struct configuration *c, const char *const *paths, size_t path_count,
                     struct arena *arena, struct policy_check *ret, struct err *err) {
    struct checking checking = {
        .configuration = c, .engine = c->engine, .arena = arena, .out = ret};
    *ret = (struct policy_check){.findings = ret->findings};
    checking.engine.filters = (uint32_t)FILTERS_ALL;
    checking.engine.in_tree = true;
    arena_init(&checking.one, LIMIT_REQUEST_ARENA);
    int r = load(&checking, paths, path_count, err);
    if (r == 0)
        r = check_all(&checking, err);
    release(&checking);
    return r == 0 && arena_failed(arena) ? out_of_memory(err) : r;
}

#include "whatif/policy_clusters.h"

#include "clusters/state.h"
#include "findings/state/policy.h"
#include "model/ocm.h"
#include "ocm/plan.h"
#include "policy/match.h"

#include <errno.h>
#include <stdlib.h>

struct policy_clusters {
    struct clusters_state state;
};

int policy_clusters_load(const struct configuration *c, struct policy_clusters **ret,
                         struct err *err) {
    struct policy_clusters *clusters = calloc(1, sizeof *clusters);
    if (clusters == NULL)
        return err_set(err, -ENOMEM, "no memory to check policies");
    int r =
        clusters_state_load(c->state.paths, c->state.path_count, NULL, 0, &clusters->state, err);
    if (r != 0) {
        policy_clusters_free(clusters);
        return r;
    }
    *ret = clusters;
    return 0;
}

void policy_clusters_free(struct policy_clusters *c) {
    if (c == NULL)
        return;
    clusters_state_done(&c->state);
    free(c);
}

void policy_clusters_find(struct policy_clusters *c, const struct policy *policy,
                          struct findings *f) {
    (void)findings_of_policy_clusters(c->state.fleet, policy, f); /* findings so far stay */
}

/* ---- terms ---- */

struct judging {
    struct fleet_view view;
    struct arena *arena;
    struct policy_clusters_verdict *verdict;
    struct strbuf counts; /* "region: 3 domains" of the terms so far */
};

/* The clusters that have a term's key. */
struct key_use {
    uint32_t clusters, domains;
    struct str example; /* one of the key's values */
};

static int count_use(struct judging *j, const struct placement_term *term, struct key_use *ret) {
    const uint32_t slots = topology_slots(j->view.clusters.topology);
    struct topology_column column;
    *ret = (struct key_use){.clusters = 0};
    int r = ocm_term_column(&j->view.clusters, term, j->arena, &column);
    if (r != 0)
        return r;
    uint8_t *seen = arena_array(j->arena, column.domains + 1, sizeof *seen); /* never 0 bytes */
    if (seen == NULL)
        return -ENOMEM;
    if (!steps_take(&j->arena->steps, slots))
        return -E2BIG;
    for (uint32_t slot = 0; slot < slots; slot++) {
        const uint32_t domain = column.domain_of[slot];
        if (domain == TOPOLOGY_NONE || !topology_is_known(j->view.clusters.topology, slot))
            continue;
        ret->clusters++;
        ret->domains += seen[domain] == 0;
        ret->example = topology_value(&j->view.clusters, &column, domain);
        seen[domain] = 1;
    }
    return 0;
}

static const char *kind_of(const struct placement_term *term) {
    return term->is_claim ? "claim" : "label";
}

/* Reports that no cluster has the key. If clusters have the key as the other type, adds a hint. */
static int refuse_key(struct judging *j, const struct placement_term *term) {
    struct placement_term other = *term;
    struct key_use use;
    other.is_claim = !term->is_claim;
    const int r = count_use(j, &other, &use);
    if (r != 0)
        return r;
    j->verdict->reason = POLICY_NO_CLUSTER_HAS_KEY;
    j->verdict->message = arena_printf(j->arena, "none of %u clusters has the %s '%.*s'",
                                       j->verdict->clusters, kind_of(term), STR_ARG(term->key));
    if (use.clusters > 0)
        j->verdict->message =
            arena_printf(j->arena, "%.*s, but %u have it as a %s: write topologyKeyType: %s",
                         STR_ARG(j->verdict->message), use.clusters, kind_of(&other),
                         other.is_claim ? "Claim" : "Label");
    return 0;
}

/* Judges a term. Leaves the reason as it is if the term can work. */
static int judge_term(struct judging *j, const struct placement_term *term) {
    struct policy_clusters_verdict *v = j->verdict;
    struct key_use use;
    const int r = count_use(j, term, &use);
    if (r != 0)
        return r;
    if (use.domains == 0)
        return refuse_key(j, term);
    if ((int64_t)use.domains < term->min_domains) {
        v->reason = POLICY_TOO_FEW_DOMAINS;
        v->message = arena_printf(
            j->arena, "%u clusters have %u domains of the %s '%.*s', and minDomains is %d",
            use.clusters, use.domains, kind_of(term), STR_ARG(term->key), (int)term->min_domains);
    } else if (use.domains == 1) {
        v->reason = POLICY_SINGLE_DOMAIN;
        v->message = arena_printf(
            j->arena,
            "%u of %u clusters have the %s '%.*s', all with the value '%.*s': it spreads nothing",
            use.clusters, v->clusters, kind_of(term), STR_ARG(term->key), STR_ARG(use.example));
    }
    strbuf_appendf(&j->counts, "%s%u of them have %u domains of the %s '%.*s'",
                   j->counts.n > 0 ? ", " : "", use.clusters, use.domains, kind_of(term),
                   STR_ARG(term->key));
    return 0;
}

/* ---- Placements ---- */

struct counting {
    const struct fleet_view *view;
    struct policy_list policies;
    const struct policy *of;
    struct arena *arena;
    uint32_t placements, all;
    int result;
};

static void count_placement(void *ctx, struct str namespace, struct str name) {
    struct counting *c = ctx;
    struct policy_namespace home;
    struct policy_choice choice;
    struct placement placement;
    struct json_reader r;
    if (c->result != 0)
        return;
    c->result = policy_namespace_of_fleet(c->view, namespace, c->arena, &home);
    if (c->result == 0 && !steps_take(&c->arena->steps, c->policies.count))
        c->result = -E2BIG;
    if (c->result != 0)
        return;
    json_reader_init(&r, fleet_placement_json(c->view, namespace, name), c->arena, PLACEMENT_KIND);
    placement_decode(&r, &placement);
    if (json_failed(&r))
        return; /* the Placement is too large, and is ignored */
    c->all++;
    placement.meta.namespace = namespace;
    c->placements += placement.term_count == 0 &&
                     policy_of_placement(c->policies, &home, &placement.meta, &choice) &&
                     choice.enforced[POLICY_PLACEMENTS] == c->of;
}

static int judge_placements(struct judging *j, struct policy_list policies,
                            const struct policy *of) {
    struct policy_clusters_verdict *v = j->verdict;
    struct counting counting = {
        .view = &j->view, .policies = policies, .of = of, .arena = j->arena};
    fleet_placements_each(&j->view, count_placement, &counting);
    v->placements = counting.placements;
    if (counting.result != 0 || v->reason != POLICY_CLUSTERS_SUIT)
        return counting.result;
    if (counting.all > 0 && counting.placements == 0) {
        v->reason = POLICY_NO_PLACEMENTS;
        v->message = arena_printf(
            j->arena, "the policy is for none of %u Placements (of those without own terms)",
            counting.all);
    } else {
        v->message =
            arena_printf(j->arena, "%u clusters: %.*s; %u of %u Placements", v->clusters,
                         STR_ARG(strbuf_str(&j->counts)), counting.placements, counting.all);
    }
    return 0;
}

/* ---- the whole check ---- */

static int judge(struct judging *j, struct policy_list policies, const struct policy *of) {
    struct policy_clusters_verdict *v = j->verdict;
    int r = 0;
    v->clusters = topology_stats(j->view.clusters.topology).candidates;
    if (v->clusters == 0) {
        v->reason = POLICY_CLUSTERS_NOT_KNOWN;
        v->message = arena_printf(
            j->arena, "it is for Placements, by %.*s, and the state has no ManagedCluster",
            STR_ARG(policy_placement_keys(of, j->arena)));
        return 0;
    }
    for (uint32_t t = 0; r == 0 && t < of->placement_term_count; t++)
        if (v->reason == POLICY_CLUSTERS_SUIT)
            r = judge_term(j, &of->placement_terms[t]);
    return r == 0 ? judge_placements(j, policies, of) : r;
}

int policy_clusters_judge(struct policy_clusters *c, struct policy_list policies,
                          const struct policy *of, struct arena *arena,
                          struct policy_clusters_verdict *ret) {
    struct judging j = {.arena = arena, .verdict = ret};
    *ret = (struct policy_clusters_verdict){.reason = POLICY_CLUSTERS_SUIT};
    fleet_view_open(c->state.fleet, &j.view);
    int r = judge(&j, policies, of);
    ret->message = arena_str(arena, ret->message);
    fleet_view_close(&j.view);
    if (r == 0 && (strbuf_failed(&j.counts) || arena_failed(arena)))
        r = -ENOMEM;
    strbuf_done(&j.counts);
    return r;
}

#include "findings/state/nodes.h"

#include "findings/state/keys.h"
#include "findings/state/node_labels.h"
#include "volumes/claims.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 200, REMEDY_BYTES = 300 };

/* ---- keys ---- */

static const struct applied_constraint *find_applied(const struct filter_result *filter,
                                                     const struct spread_constraint *c) {
    for (uint32_t i = 0; filter != NULL && i < filter->applied_count; i++)
        if (filter->applied[i].constraint == c)
            return &filter->applied[i];
    return NULL;
}

/* Returns the number of domains that count for a hard constraint, and the name of one domain; 0:
 * not known. */
static uint32_t count_counted(const struct applied_constraint *a, struct str *ret_value) {
    uint32_t count = 0;
    for (uint32_t i = 0; a != NULL && i < a->report_count; i++)
        if (a->reports[i].counts) {
            *ret_value = a->reports[i].name;
            count++;
        }
    return count;
}

static int check_key(struct topology_view *v, const struct spread_constraint *c,
                     const struct filter_result *filter, struct str path, struct findings *f) {
    struct key_use use;
    const int r = key_use_find(v, c->topology_key, &use);
    if (r != 0)
        return r;
    if (use.domains == 0) {
        findings_add_unknown_key(
            v, c->topology_key, path, "node",
            c->hard ? "the pod fits no node" : "the constraint spreads nothing", f);
        return 0;
    }
    const uint32_t counted = count_counted(find_applied(filter, c), &use.value);
    if ((counted > 0 ? counted : use.domains) == 1)
        findings_add(f, FINDING_SINGLE_DOMAIN, path,
                     STR("Use a label that has several values on the nodes that count"),
                     "all nodes that count have the value '%.*s' of the label '%.*s': the "
                     "constraint spreads over nothing",
                     STR_ARG(use.value), STR_ARG(c->topology_key));
    return 0;
}

/* ---- domains that keep other domains from getting pods ---- */

static bool is_by_taint(const char *filter) {
    return strcmp(filter, "TaintToleration") == 0 || strcmp(filter, "NodeUnschedulable") == 0;
}

static bool is_by_spread(const char *filter) {
    return strcmp(filter, "PodTopologySpread") == 0 || strcmp(filter, "OrderedSpread") == 0;
}

/* Do other domains wait for this domain, although other filters let none of its nodes pass? */
static bool is_unusable(const struct filter_result *filter, const struct applied_constraint *a,
                        const struct domain_report *d) {
    for (uint32_t i = 0; i < d->refused_count; i++)
        if (is_by_spread(filter->reason_filters[d->refused[i].reason]))
            return false;
    return d->counts && domain_is_awaited(a, d) && d->allowed && d->nodes > 0 && d->passed == 0;
}

static bool holds_up(const struct filter_result *filter, const struct applied_constraint *a) {
    for (uint32_t i = 0; i < a->report_count; i++)
        for (uint32_t k = 0; !a->reports[i].allowed && k < a->reports[i].refused_count; k++)
            if (is_by_spread(filter->reason_filters[a->reports[i].refused[k].reason]))
                return true;
    return false;
}

static void say_unusable(const struct filter_result *filter, const struct applied_constraint *a,
                         const struct domain_report *d, struct str path, struct findings *f) {
    uint32_t tainted = 0;
    CLEANUP(strbuf_done) struct strbuf reasons = {.max = REMEDY_BYTES};
    CLEANUP(strbuf_done) struct strbuf remedy = {.max = REMEDY_BYTES};
    for (uint32_t i = 0; i < d->refused_count; i++) {
        const uint8_t reason = d->refused[i].reason;
        tainted += is_by_taint(filter->reason_filters[reason]) ? d->refused[i].nodes : 0;
        strbuf_appendf(&reasons, "%s%u %.*s", i > 0 ? ", " : "", d->refused[i].nodes,
                       STR_ARG(str_cut(filter->reason_texts[reason], 100)));
    }
    if (tainted == d->nodes && !a->constraint->honor_taints)
        strbuf_append_str(&remedy, STR("Write nodeTaintsPolicy: Honor in the constraint: it leaves "
                                       "the domain out"));
    else
        strbuf_appendf(&remedy,
                       "Make a node of '%.*s' fit the pod, or leave the domain out by the pod's "
                       "node affinity",
                       STR_ARG(d->name));
    findings_add(f, FINDING_UNUSABLE_DOMAIN, path, strbuf_str(&remedy),
                 "the domain '%.*s' of '%.*s' counts with %lld pods, but none of its %u nodes can "
                 "take the pod (%.*s): other domains wait for it",
                 STR_ARG(d->name), STR_ARG(a->constraint->topology_key), (long long)d->pods,
                 d->nodes, STR_ARG(strbuf_str(&reasons)));
}

static void check_domains(const struct filter_result *filter, const struct applied_constraint *a,
                          struct str path, struct findings *f) {
    if (a == NULL || !a->constraint->hard || !holds_up(filter, a))
        return;
    for (uint32_t i = 0; i < a->report_count; i++)
        if (is_unusable(filter, a, &a->reports[i]))
            say_unusable(filter, a, &a->reports[i], path, f);
}

/* ---- volumes ---- */

static uint32_t count_refused(const struct filter_result *filter, const struct domain_report *d,
                              bool (*is_by)(const char *name)) {
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < d->refused_count; i++)
        if (is_by(filter->reason_filters[d->refused[i].reason]))
            nodes += d->refused[i].nodes;
    return nodes;
}

/* Do claims refuse nodes of allowed domains, and does the constraint refuse the nodes that claims
 * allow? */
static bool are_pinned(const struct filter_result *filter, const struct applied_constraint *a) {
    bool pinned = false, held = false;
    for (uint32_t i = 0; i < a->report_count; i++) {
        const struct domain_report *d = &a->reports[i];
        if (d->passed > 0 || (d->allowed && count_refused(filter, d, is_by_spread) > 0))
            return false;
        pinned = pinned || (d->allowed && count_refused(filter, d, filter_is_of_volumes) > 0);
        held = held || (!d->allowed && count_refused(filter, d, is_by_spread) > 0);
    }
    return pinned && held;
}

static void check_claims(const struct filter_result *filter, const struct applied_constraint *a,
                         struct str path, struct findings *f) {
    CLEANUP(strbuf_done) struct strbuf claims = {.max = REMEDY_BYTES};
    if (a == NULL || !a->constraint->hard || filter->claims == NULL || !are_pinned(filter, a))
        return;
    pod_claims_say(filter->claims, &claims);
    findings_add(f, FINDING_VOLUME_PINS, path,
                 STR("Move the volume, or write whenUnsatisfiable: ScheduleAnyway: kube-scheduler "
                     "counts domains that the volume cannot reach"),
                 "%.*s: there the constraint on '%.*s' allows no more pods", (int)claims.n,
                 claims.p, STR_ARG(a->constraint->topology_key));
}

/* ---- the whole pod ---- */

static int check_all(struct topology_view *v, const struct pod *pod,
                     const struct filter_result *filter, struct str spec, struct findings *f) {
    char path[PATH_BYTES], key_path[PATH_BYTES + 16];
    int r = findings_of_node_labels(v, pod, spec, f);
    for (uint32_t i = 0; r == 0 && i < pod->constraint_count; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        (void)snprintf(path, sizeof path, "%.*s.topologySpreadConstraints[%u]", STR_ARG(spec), i);
        (void)snprintf(key_path, sizeof key_path, "%s.topologyKey", path);
        r = check_key(v, c, filter, str_of(key_path), f);
        check_domains(filter, find_applied(filter, c), str_of(path), f);
        check_claims(filter, find_applied(filter, c), str_of(path), f);
    }
    return r;
}

int findings_of_nodes(struct cache *cache, const struct pod *pod,
                      const struct filter_result *filter, struct str spec, struct findings *f) {
    struct cache_view view;
    cache_view_open(cache, &view);
    view.nodes.steps = &f->arena->steps;
    const int r = topology_stats(view.nodes.topology).candidates > 0
                      ? check_all(&view.nodes, pod, filter, spec, f)
                      : 0;
    cache_view_close(&view);
    return r;
}

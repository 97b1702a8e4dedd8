#include "policy/status.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "model/names.h"
#include "model/workload.h"

#include <stdio.h>
#include <string.h>

static const struct str condition_types[POLICY_CONDITIONS] = {
    [POLICY_READY] = {"Ready", 5},
    [POLICY_EFFECTIVE] = {"Effective", 9},
    [POLICY_SHADOWED] = {"Shadowed", 8},
};

/* ---- reading ---- */

static int64_t number(struct json_reader *r) {
    return json_integer(r, 0, INT64_MAX);
}

static void read_condition(struct json_reader *r, struct policy_status *status) {
    struct policy_condition_status c = {0};
    struct str key, type = {0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("type")))
            type = json_string(r);
        else if (str_eq(key, STR("status")))
            c.status = json_string(r);
        else if (str_eq(key, STR("reason")))
            c.reason = json_string(r);
        else if (str_eq(key, STR("message")))
            c.message = json_string(r);
        else if (str_eq(key, STR("lastTransitionTime")))
            c.since = json_string(r);
        else if (str_eq(key, STR("observedGeneration")))
            c.observed = number(r);
    }
    for (int i = 0; i < POLICY_CONDITIONS; i++)
        if (str_eq(type, condition_types[i]))
            status->conditions[i] = c;
}

static void read_status(struct json_reader *r, struct policy_status *status) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("observedGeneration")))
            status->observed = number(r);
        else if (str_eq(key, STR("matched")))
            status->matched = number(r);
        else if (str_eq(key, STR("spread")))
            status->spread = json_string(r);
        else if (str_eq(key, STR("uneven")) && json_peek(r) == JSON_OBJECT) {
            status->uneven = json_skip(r); /* errors stay in r */
        } else if (str_eq(key, STR("conditions")) && json_array(r)) {
            while (json_element(r))
                read_condition(r, status);
        }
    }
}

static void read_generation(struct json_reader *r, struct policy_status *status) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("generation")))
            status->generation = number(r);
        else if (str_eq(key, STR("uid")))
            status->uid = json_string(r);
    }
}

void policy_status_read(struct str object, struct arena *arena, struct policy_status *ret) {
    struct policy_status status = {.matched = -1};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, object, arena, "policy");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                read_generation(&r, &status);
            else if (str_eq(key, STR("status")))
                read_status(&r, &status);
        }
    *ret = json_finish(&r, NULL) == 0 ? status
                                      : (struct policy_status){.uid = status.uid,
                                                               .generation = status.generation,
                                                               .matched = -1};
}

int64_t policy_status_matched(const struct policy_status *status) {
    return status->observed == status->generation ? status->matched : -1;
}

bool policy_status_had_pods(const struct policy_status *status) {
    const struct policy_condition_status *effective = &status->conditions[POLICY_EFFECTIVE];
    return policy_status_matched(status) > 0 ||
           (effective->observed == status->generation &&
            str_eq(effective->reason, str_of(policy_reasons[POLICY_NODES_SUIT].name)));
}

/* ---- judging ---- */

const struct policy_reason_row policy_reasons[POLICY_REASONS] = {
    [POLICY_IN_FORCE] = {"Ready", "True", "InForce",
                         "pods are admitted and scored, or Placements decided, by the policy"},
    [POLICY_AUDITED] = {"Ready", "True", "Audited",
                        "its mode is Audit: the audit log says what it would do"},
    [POLICY_CANNOT_WORK] = {"Ready", "False", "CannotWork",
                            "the policy is ignored; the message says what is wrong with it"},
    [POLICY_NODES_SUIT] = {"Effective", "True", "NodesSuit",
                           "nodes have all keys of the policy, and the domains that it asks for; "
                           "the message says how many"},
    [POLICY_CLUSTERS_SUIT] = {"Effective", "True", "ClustersSuit",
                              "the same for the clusters of the state, of a policy that is for "
                              "Placements only (only `check policy`)"},
    [POLICY_NO_NODE_HAS_KEY] = {"Effective", "False", "NoNodeHasKey",
                                "no node of the cluster has the label that the message names: for "
                                "that key nothing is injected"},
    [POLICY_NO_CLUSTER_HAS_KEY] = {"Effective", "False", "NoClusterHasKey",
                                   "no cluster of the state has the label or claim that the "
                                   "message names (only `check policy`)"},
    [POLICY_TOO_FEW_DOMAINS] = {"Effective", "False", "TooFewDomains",
                                "nodes (of `check policy` also clusters) have fewer domains of a "
                                "key than its `minDomains`: pods wait as the policy asks, unless "
                                "an autoscaler opens others"},
    [POLICY_SINGLE_DOMAIN] = {"Effective", "False", "SingleDomain",
                              "all clusters of the state that have a key have the same value: the "
                              "key spreads nothing (only `check policy`)"},
    [POLICY_NO_SUCH_OWNER_KIND] = {"Effective", "False", "NoSuchOwnerKind",
                                   "an item of `ownerKinds` matches no pod of any cluster; the "
                                   "message says which one, and what to write"},
    [POLICY_NOT_READY] = {"Effective", "False", "NotReady", "`Ready` is False"},
    [POLICY_NODES_NOT_KNOWN] = {"Effective", "Unknown", "NodesNotKnown",
                                "Evenkeel has not seen the cluster's nodes yet"},
    [POLICY_NO_PODS] = {"Effective", "Unknown", "NoPods",
                        "nodes suit, but since its last change the policy has been for no pod "
                        "that runs (pods without a node do not count): look at `match`, and at "
                        "policies that come before it"},
    [POLICY_NO_PLACEMENTS] = {"Effective", "Unknown", "NoPlacements",
                              "clusters suit, but the policy is for no Placement of the state "
                              "(only `check policy`)"},
    [POLICY_CLUSTERS_NOT_KNOWN] = {"Effective", "Unknown", "ClustersNotKnown",
                                   "the policy is for Placements only: nodes do not matter, and "
                                   "Evenkeel does not check the clusters of the fleet"},
    [POLICY_NOT_SHADOWED] = {"Shadowed", "False", "NotShadowed",
                             "Evenkeel knows no single policy that leaves it without effect"},
    [POLICY_HIGHER_PRIORITY] =
        {"Shadowed", "True", "HigherPriority",
         "the policies that the message names come before it, are for all of its pods and "
         "Placements, and have all of its parts: so it does nothing"},
};

/* Can this owner have pods? Only Kubernetes itself has kinds in groups without a dot. upstream:
 * apiextensions validation.go, "should be a domain with at least one dot" */
static bool can_own_pods(const struct policy_owner *owner) {
    struct str group;
    if (memchr(owner->group.n > 0 ? owner->group.p : "", '.', owner->group.n) != NULL)
        return true;
    if (str_empty(owner->group) && str_eq(owner->kind, STR(POD_KIND)))
        return true;
    const struct object_type type = {owner->group, owner->kind};
    return built_in_workload(owner->kind, &group) && str_eq(group, owner->group) &&
           !controller_chooses_node(type);
}

/* Finds the first item of ownerKinds that no pod can have as owner. Returns the reason, or "". */
static struct str judge_owners(const struct policy *policy, struct arena *arena) {
    for (uint32_t i = 0; i < policy->owner_count; i++) {
        const struct policy_owner *owner = &policy->owners[i];
        const struct object_type type = {owner->group, owner->kind};
        if (can_own_pods(owner))
            continue;
        if (controller_chooses_node(type))
            return arena_printf(
                arena, "ownerKinds[%u] matches no pod: policies are not for pods of a %.*s", i,
                STR_ARG(owner->kind));
        const struct object_type meant = built_in_workload_near(owner->kind);
        const bool is_near = !str_empty(meant.kind);
        return arena_printf(arena,
                            "ownerKinds[%u] matches no pod: there is no kind '%.*s' in the API "
                            "group '%.*s'%s%.*s%s%.*s",
                            i, STR_ARG(owner->kind), STR_ARG(owner->group),
                            is_near ? "; write kind: " : "", STR_ARG(meant.kind),
                            is_near ? ", group: " : "", STR_ARG(meant.group));
    }
    return STR("");
}

static struct str say_suits(const struct policy_prospect *p, struct arena *arena) {
    const bool one = p->nodes == 1;
    if (str_empty(p->fewest_of))
        return arena_printf(arena, "%u %s; the policy names no key", p->nodes,
                            one ? "node" : "nodes");
    return arena_printf(arena, "%u %s its %s; the fewest domains are %u, of '%.*s'", p->nodes,
                        one ? "node has" : "nodes have", p->keys == 1 ? "key" : "keys", p->fewest,
                        STR_ARG(p->fewest_of));
}

/* Judges by the nodes alone, because only the policy's parts for pods are judged. */
static void judge_effect(const struct policy *policy, const struct policy_prospect *prospect,
                         struct arena *arena, struct policy_verdict *v) {
    struct str *message = &v->messages[POLICY_EFFECTIVE];
    enum policy_reason *reason = &v->reasons[POLICY_EFFECTIVE];
    const struct str wrong_owner = judge_owners(policy, arena);
    if (!policy_is_for(policy, POLICY_FOR_PODS)) {
        *reason = POLICY_CLUSTERS_NOT_KNOWN;
        *message = STR("the policy is for Placements only: Evenkeel does not check whether "
                       "clusters have its keys and domains");
    } else if (!str_empty(wrong_owner)) {
        *reason = POLICY_NO_SUCH_OWNER_KIND;
        *message = wrong_owner;
    } else if (!prospect->known) {
        *reason = POLICY_NODES_NOT_KNOWN;
        *message = STR("the nodes of the cluster are not known");
    } else if (!str_empty(prospect->no_node_has)) {
        *reason = POLICY_NO_NODE_HAS_KEY;
        *message =
            arena_printf(arena, "no node has the label '%.*s'", STR_ARG(prospect->no_node_has));
    } else if (!str_empty(prospect->few_domains_of)) {
        *reason = POLICY_TOO_FEW_DOMAINS;
        *message = arena_printf(arena, "nodes have %u domains of '%.*s', and minDomains is %d",
                                prospect->domains, STR_ARG(prospect->few_domains_of),
                                (int)prospect->min_domains);
    } else {
        *reason = POLICY_NODES_SUIT;
        *message = say_suits(prospect, arena);
    }
}

/* Makes "policy a has its spread, policy b its locality". */
static void judge_shadows(const struct policy_prospect *prospect, struct arena *arena,
                          struct policy_verdict *v) {
    static const char *const parts[POLICY_PARTS] = {[POLICY_SPREAD] = "spread",
                                                    [POLICY_LOCALITY] = "locality",
                                                    [POLICY_WEIGHTS] = "weights",
                                                    [POLICY_PLACEMENTS] = "placements"};
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (int i = 0; i < POLICY_PARTS; i++)
        if (prospect->shadows[i] != NULL)
            strbuf_appendf(&text, "%spolicy '%.*s' has its %s", text.n > 0 ? ", " : "",
                           STR_ARG(prospect->shadows[i]->name), parts[i]);
    bool shadowed = text.n > 0;
    v->reasons[POLICY_SHADOWED] = shadowed ? POLICY_HIGHER_PRIORITY : POLICY_NOT_SHADOWED;
    v->messages[POLICY_SHADOWED] =
        shadowed ? arena_str(arena, strbuf_str(&text))
                 : STR("Evenkeel knows no policy before it that leaves it without effect");
}

struct policy_verdict policy_verdict_on(const struct policy *policy,
                                        const struct policy_prospect *prospect,
                                        struct arena *arena) {
    struct policy_verdict v;
    judge_shadows(prospect, arena, &v);
    if (!str_empty(policy->problem)) {
        v.reasons[POLICY_READY] = POLICY_CANNOT_WORK;
        v.messages[POLICY_READY] = policy->problem;
        v.reasons[POLICY_EFFECTIVE] = POLICY_NOT_READY;
        v.messages[POLICY_EFFECTIVE] = STR("the policy cannot work");
        return v;
    }
    bool audited = policy->mode == POLICY_AUDIT;
    v.reasons[POLICY_READY] = audited ? POLICY_AUDITED : POLICY_IN_FORCE;
    v.messages[POLICY_READY] = audited ? STR("the policy changes nothing: its mode is Audit")
                                       : STR("the policy is in force");
    judge_effect(policy, prospect, arena, &v);
    return v;
}

void policy_verdict_count(struct policy_verdict *verdict, int64_t pods) {
    if (verdict->reasons[POLICY_EFFECTIVE] != POLICY_NODES_SUIT || pods != 0)
        return;
    verdict->reasons[POLICY_EFFECTIVE] = POLICY_NO_PODS;
    verdict->messages[POLICY_EFFECTIVE] = STR("the policy is for no pod that runs");
}

void policy_verdict_keep(struct policy_verdict *verdict, const struct policy_status *status) {
    const struct policy_condition_status *was = &status->conditions[POLICY_EFFECTIVE];
    if (verdict->reasons[POLICY_EFFECTIVE] != POLICY_NODES_NOT_KNOWN ||
        was->observed != status->generation)
        return;
    for (int i = 0; i < POLICY_REASONS; i++)
        if (str_eq(condition_types[POLICY_EFFECTIVE], str_of(policy_reasons[i].type)) &&
            str_eq(was->reason, str_of(policy_reasons[i].name)) &&
            str_eq(was->status, str_of(policy_reasons[i].status)) && i != POLICY_NOT_READY) {
            verdict->reasons[POLICY_EFFECTIVE] = (enum policy_reason)i;
            verdict->messages[POLICY_EFFECTIVE] = was->message;
        }
}

/* Does the message have numbers of nodes or domains? They change all the time, even if nothing else
 * changes. */
static bool has_numbers(enum policy_reason reason) {
    return reason == POLICY_NODES_SUIT || reason == POLICY_TOO_FEW_DOMAINS;
}

static bool condition_is_right(const struct policy_condition_status *c, int64_t generation,
                               enum policy_reason reason, struct str message) {
    const struct policy_reason_row *row = &policy_reasons[reason];
    return c->observed == generation && str_eq(c->status, str_of(row->status)) &&
           str_eq(c->reason, str_of(row->name)) &&
           (has_numbers(reason) || str_eq(c->message, message));
}

bool policy_status_is_right(const struct policy_status *status,
                            const struct policy_verdict *verdict) {
    bool right = status->observed == status->generation;
    for (int i = 0; i < POLICY_CONDITIONS; i++)
        right = right && condition_is_right(&status->conditions[i], status->generation,
                                            verdict->reasons[i], verdict->messages[i]);
    return right;
}

bool policy_messages_are_right(const struct policy_status *status,
                               const struct policy_verdict *verdict) {
    for (int i = 0; i < POLICY_CONDITIONS; i++)
        if (!str_eq(status->conditions[i].message, verdict->messages[i]))
            return false;
    return true;
}

/* ---- writing ---- */

static void write_condition(const struct policy_status *status, int at,
                            const struct policy_verdict *verdict, struct str now,
                            struct json_writer *w) {
    const struct policy_condition_status *was = &status->conditions[at];
    const struct policy_reason_row *row = &policy_reasons[verdict->reasons[at]];
    bool changes = !str_eq(was->status, str_of(row->status)) || str_empty(was->since);
    json_begin_object(w);
    json_put_member(w, STR("type"), condition_types[at]);
    json_put_member(w, STR("status"), str_of(row->status));
    json_key(w, STR("observedGeneration"));
    json_put_integer(w, status->generation);
    json_put_member(w, STR("lastTransitionTime"), changes ? now : was->since);
    json_put_member(w, STR("reason"), str_of(row->name));
    json_put_member(w, STR("message"), verdict->messages[at]);
    json_end_object(w);
}

const char *const policy_status_fields[POLICY_FIELDS] = {
    [POLICY_TOPOLOGY_KEYS] = "topologyKeys",
    [POLICY_UNEVEN] = "uneven",
    [POLICY_SPREAD_TEXT] = "spread",
};

uint32_t policy_status_undeclared(struct str message) {
    uint32_t fields = 0;
    for (int i = 0; i < POLICY_FIELDS; i++) {
        char text[80];
        const int n = snprintf(text, sizeof text, ".status.%s: field not declared in schema",
                               policy_status_fields[i]);
        if (message.n > 0 && memmem(message.p, message.n, text, (size_t)n) != NULL)
            fields |= 1u << i;
    }
    return fields;
}

static bool declared(const struct policy_numbers *numbers, enum policy_status_field field) {
    return (numbers->undeclared & 1u << field) == 0;
}

static void write_keys(const struct policy *policy, struct json_writer *w) {
    json_key(w, STR("topologyKeys"));
    json_begin_array(w);
    for (uint32_t i = 0; i < policy->spread_count; i++)
        json_put_string(w, policy->spread[i].topology_key);
    json_end_array(w);
}

static void write_spread(const struct policy *policy, struct json_writer *w) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (uint32_t i = 0; i < policy->spread_count; i++)
        strbuf_appendf(&text, "%s%.*s", i > 0 ? ", " : "", STR_ARG(policy->spread[i].topology_key));
    w->out->failed |= strbuf_failed(&text);
    json_put_member(w, STR("spread"), strbuf_str(&text));
}

bool policy_status_lacks_keys(const struct policy_status *status, const struct policy *policy) {
    return str_empty(status->spread) && policy->spread_count > 0;
}

static void write_body(const struct policy_status *status, const struct policy *policy,
                       const struct policy_verdict *verdict, const struct policy_numbers *numbers,
                       struct str now, struct json_writer *w) {
    int64_t matched = numbers->matched >= 0 ? numbers->matched : policy_status_matched(status);
    json_begin_object(w);
    json_key(w, STR("observedGeneration"));
    json_put_integer(w, status->generation);
    if (matched >= 0) {
        json_key(w, STR("matched"));
        json_put_integer(w, matched);
    }
    if (declared(numbers, POLICY_TOPOLOGY_KEYS))
        write_keys(policy, w);
    if (declared(numbers, POLICY_SPREAD_TEXT) && policy->spread_count > 0)
        write_spread(policy, w);
    if (declared(numbers, POLICY_UNEVEN) && (numbers->uneven.n > 0 || status->uneven.n > 0)) {
        json_key(w, STR("uneven"));
        json_put_raw(w, numbers->uneven.n > 0 ? numbers->uneven : status->uneven);
    }
    json_key(w, STR("conditions"));
    json_begin_array(w);
    for (int i = 0; i < POLICY_CONDITIONS; i++)
        write_condition(status, i, verdict, now, w);
    json_end_array(w);
    json_end_object(w);
}

void policy_status_write(const struct policy_status *status, const struct policy *policy,
                         const struct policy_verdict *verdict, const struct policy_numbers *numbers,
                         struct str now, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR(EVENKEEL_API));
    json_put_member(&w, STR("kind"), STR(POLICY_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("name"), policy->name);
    json_end_object(&w);
    json_key(&w, STR("status"));
    write_body(status, policy, verdict, numbers, now, &w);
    json_end_object(&w);
}

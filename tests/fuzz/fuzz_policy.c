/*
 * Any bytes as a TopologyPolicy: it is refused with a sentence, or it is a policy that keeps what
 * policy.h promises, and that can be asked about. As an object of an API server it is one policy,
 * perhaps broken, whose status can be made right by one write.
 */
#include "fuzz/fuzz.h"
#include "policy/batch.h"

/* A policy is chosen only if it works, for what it has, and by its mode. */
static void check_match(const struct policy *p, enum policy_target target,
                        const struct labels *labels) {
    const struct policy_question question = {.target = target,
                                             .namespace_lookup = labels_lookup,
                                             .namespace_labels = labels,
                                             .object_labels = labels};
    const struct policy_part_range parts = policy_parts_of(target);
    struct policy_choice choice;
    require(policy_match(p, 1, &question, &choice));
    for (int part = 0; part < POLICY_PARTS; part++) {
        const struct policy *chosen[] = {choice.enforced[part], choice.audited[part]};
        bool asked = part >= parts.first && part < parts.end;
        for (int audits = 0; audits < 2; audits++)
            require(chosen[audits] == NULL ||
                    (asked && chosen[audits] == p && str_empty(p->problem) &&
                     policy_has(p, (enum policy_part)part) &&
                     (p->mode == POLICY_AUDIT) == (audits == 1)));
    }
}

static void check(const struct policy *p, struct arena *arena) {
    static const struct label items[] = {{{"tier", 4}, {"web", 3}}};
    static const struct labels labels = {items, 1};
    require(!str_empty(p->name));
    require(p->spread_count <= LIMIT_POLICY_TERMS && p->tier_count <= LIMIT_POLICY_TERMS);
    for (uint32_t i = 0; i < p->spread_count; i++)
        require(!str_empty(p->spread[i].topology_key) && p->spread[i].max_skew >= 1 &&
                p->spread[i].min_domains >= 0);
    require(p->placement_term_count <= PLACEMENT_TERMS);
    for (uint32_t i = 0; i < p->placement_term_count; i++)
        require(!str_empty(p->placement_terms[i].key) && p->placement_terms[i].max_skew >= 1 &&
                p->placement_terms[i].min_domains >= 0);
    if (str_empty(p->problem))
        require(str_empty(policy_problem(p, arena)));
    for (int target = 0; target < POLICY_TARGETS; target++)
        check_match(p, (enum policy_target)target, &labels);
}

/* The patch is JSON, and whoever applied it has a status that is right. */
static void check_status(const struct policy *policy, const struct policy_status *status,
                         struct arena *arena) {
    struct strbuf patch = {0};
    struct policy_status then;
    const struct policy_prospect prospect = {.known = true, .no_node_has = STR("rack")};
    const struct policy_numbers numbers = {.matched = 7};
    const struct policy_verdict verdict = policy_verdict_on(policy, &prospect, arena);
    policy_status_write(status, policy, &verdict, &numbers, STR("2026-01-02T03:04:05Z"), &patch);
    policy_status_read(strbuf_str(&patch), arena, &then);
    require(then.generation == 0 && then.observed == status->generation && then.matched == 7);
    for (int i = 0; i < POLICY_CONDITIONS; i++)
        require(!str_empty(then.conditions[i].since));
    then.generation = status->generation;
    require(policy_status_is_right(&then, &verdict));
    strbuf_done(&patch);
}

static void check_live(struct str object, struct arena *arena) {
    struct policy_batch *batch;
    uint32_t count;
    if (policy_batch_decode(object, &batch, NULL) != 0)
        return;
    const struct policy *policy = policy_batch_items(batch, &count);
    require(count == 1 && !str_empty(policy->name));
    check(policy, arena);
    check_status(policy, policy_batch_status(batch), arena);
    policy_batch_release(batch);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct arena arena;
    struct policy policy;
    struct json_reader r;
    struct err err = {0};
    arena_init(&arena, 64u << 20);
    json_reader_init(&r, (struct str){(const char *)bytes, n}, &arena, "policy");
    policy_decode(&r, &policy);
    if (json_finish(&r, &err) == 0)
        check(&policy, &arena);
    else
        require(err.code < 0 && err.text[0] != '\0');
    check_live((struct str){(const char *)bytes, n}, &arena);
    arena_done(&arena);
    return 0;
}

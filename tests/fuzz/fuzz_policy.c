/*
 * Any bytes as a TopologyPolicy: it is refused with a sentence, or it is a policy that keeps what
 * policy.h promises, and that can be asked about.
 */
#include "model/policy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static void check(const struct policy *p, struct arena *arena) {
    static const struct label items[] = {{{"tier", 4}, {"web", 3}}};
    static const struct labels labels = {items, 1};
    const struct policy_question question = {.target = POLICY_POD,
                                             .namespace_lookup = labels_lookup,
                                             .namespace_labels = &labels,
                                             .object_labels = &labels};
    bool unknown;
    require(!str_empty(p->name));
    require(p->spread_count <= LIMIT_POLICY_TERMS && p->tier_count <= LIMIT_POLICY_TERMS);
    for (uint32_t i = 0; i < p->spread_count; i++)
        require(!str_empty(p->spread[i].topology_key) && p->spread[i].max_skew >= 1 &&
                p->spread[i].min_domains >= 0);
    if (str_empty(p->problem))
        require(str_empty(policy_problem(p, arena)) && p->targets != 0);
    const struct policy *match = policy_match(p, 1, &question, &unknown);
    require(!unknown && (match == NULL || (match == p && str_empty(p->problem))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct policy policy;
    struct json_reader r;
    struct err err = {0};
    arena_init(&arena, 64u << 20);
    json_reader_init(&r, (struct str){(const char *)data, size}, &arena, "policy");
    policy_decode(&r, &policy);
    if (json_finish(&r, &err) == 0)
        check(&policy, &arena);
    else
        require(err.code < 0 && err.text[0] != '\0');
    arena_done(&arena);
    return 0;
}

#include "engine/claims.h"

#include <errno.h>
#include <string.h>

const struct pod_claims *claims_to_judge(const struct evaluation *e) {
    return e->claims.unjudged == NULL ? e->options->claims : NULL;
}

uint8_t claims_reject(struct evaluation *e, const char *plugin) {
    const struct pod_claims *claims = e->options->claims;
    if (claims->refuser == NULL || strcmp(claims->refuser, plugin) != 0)
        return 0;
    const uint8_t reason = reason_add(e, "", claims->refusal, "");
    if (e->rejected == 0)
        e->rejected = reason;
    return reason;
}

static struct feasibility_question *make_question(struct feasibility_question *ret,
                                                  const struct node_affinity *affinity) {
    return feasibility_question_init(ret, affinity, (struct tolerations){0}) == 0 ? ret : NULL;
}

static int prepare_zones(struct evaluation *e, const struct pod_claims *claims) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < claims->bound_count; i++)
        count += claims->bound[i].zone_count;
    e->claims.zones = arena_array(e->arena, count, sizeof *e->claims.zones);
    if (e->claims.zones == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < claims->bound_count; i++)
        for (uint32_t k = 0; k < claims->bound[i].zone_count; k++)
            if (make_question(&e->claims.zones[e->claims.zone_count++],
                              &claims->bound[i].zones[k]) == NULL)
                return -ENOMEM;
    return 0;
}

const char *claims_unknown(const struct evaluation *e) {
    if (e->claims.unjudged == NULL && e->pod->makes_claims)
        return "those that are made for it";
    return e->claims.unjudged;
}

int claims_prepare(struct evaluation *e) {
    const struct pod_claims *claims = e->options->claims;
    if (claims == NULL)
        e->claims.unjudged = e->pod->claim_count > 0 ? "volumes are not known here" : NULL;
    else
        e->claims.unjudged = claims->unjudged;
    if (claims == NULL || e->claims.unjudged != NULL || claims->refuser != NULL)
        return 0;
    e->claims.bound = arena_array(e->arena, claims->bound_count, sizeof *e->claims.bound);
    e->claims.places = arena_array(e->arena, claims->place_count, sizeof *e->claims.places);
    if (e->claims.bound == NULL || e->claims.places == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < claims->bound_count; i++)
        if (claims->bound[i].affinity != NULL &&
            make_question(&e->claims.bound[i], claims->bound[i].affinity) == NULL)
            return -ENOMEM;
    for (uint32_t i = 0; i < claims->place_count; i++)
        if (claims->places[i] != NULL &&
            make_question(&e->claims.places[i], claims->places[i]) == NULL)
            return -ENOMEM;
    return prepare_zones(e, claims);
}

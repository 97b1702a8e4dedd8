#include "model/topology.h"

#include "base/json_fields.h"

#include <stdint.h>

/* Reads one of two words, or null for the default. */
static bool choice(struct json_reader *r, struct str yes, struct str no, bool absent) {
    if (json_null(r))
        return absent;
    struct str word = json_string(r);
    if (!json_failed(r) && !str_eq(word, yes) && !str_eq(word, no))
        json_fail(r, "'%.*s' is neither '%.*s' nor '%.*s'", STR_ARG(word), STR_ARG(yes),
                  STR_ARG(no));
    return str_eq(word, yes);
}

static void min_domains_decode(struct json_reader *r, struct spread_constraint *c) {
    c->has_min_domains = !json_null(r);
    c->min_domains = c->has_min_domains ? (int32_t)json_integer(r, 1, INT32_MAX) : 1;
}

static void member_decode(struct json_reader *r, struct str key, struct spread_constraint *c) {
    if (str_eq(key, STR("maxSkew")))
        c->max_skew = (int32_t)json_integer(r, 1, INT32_MAX);
    else if (str_eq(key, STR("topologyKey")))
        c->topology_key = json_string(r);
    else if (str_eq(key, STR("whenUnsatisfiable")))
        c->hard = choice(r, STR("DoNotSchedule"), STR("ScheduleAnyway"), false);
    else if (str_eq(key, STR("labelSelector")))
        c->selector = label_selector_decode(r);
    else if (str_eq(key, STR("minDomains")))
        min_domains_decode(r, c);
    else if (str_eq(key, STR("nodeAffinityPolicy")))
        c->honor_affinity = choice(r, STR("Honor"), STR("Ignore"), true);
    else if (str_eq(key, STR("nodeTaintsPolicy")))
        c->honor_taints = choice(r, STR("Honor"), STR("Ignore"), false);
    else if (str_eq(key, STR("matchLabelKeys")))
        c->match_label_keys = strings_decode(r, &c->match_label_key_count);
}

void spread_constraint_decode(struct json_reader *r, void *into) {
    struct spread_constraint *c = into;
    struct str key;
    bool when = false;
    *c = (struct spread_constraint){.min_domains = 1, .honor_affinity = true};
    if (json_object(r))
        while (json_member(r, &key)) {
            when = when || (str_eq(key, STR("whenUnsatisfiable")) && json_peek(r) == JSON_STRING);
            member_decode(r, key, c);
        }
    if (c->max_skew == 0)
        json_fail(r, "maxSkew is required");
    if (c->topology_key.n == 0)
        json_fail(r, "topologyKey is required");
    if (!when)
        json_fail(r, "whenUnsatisfiable is required: DoNotSchedule or ScheduleAnyway");
}

const struct spread_constraint *spread_constraints_decode(struct json_reader *r,
                                                          uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct spread_constraint), UINT32_MAX, spread_constraint_decode,
                         ret_count);
}

#include "explain/placement.h"

#include "base/json_writer.h"

#include <errno.h>

struct rendering {
    const struct ocm_decision *d;
    const struct placement_rendering *how;
    struct arena *arena;
    struct strbuf *out;
    struct json_writer w;
    struct strbuf text; /* scratch, for reasons */
    struct omitted {
        struct str name;
        uint32_t count;
    } omitted[16];
    uint32_t omitted_count;
};

/* ---- parts ---- */

static void put_integer(struct rendering *r, struct str key, int64_t value) {
    json_key(&r->w, key);
    json_put_integer(&r->w, value);
}

static void put_name(struct rendering *r, uint32_t slot) {
    json_put_string(&r->w, ocm_cluster_name(r->d, slot));
}

/* Returns how many of `count` items to show. Notes the number of items left out: call it once for
 * each member. */
static uint32_t shown(struct rendering *r, struct str name, uint32_t count) {
    const uint32_t limit = r->how->limit;
    if (limit == 0 || count <= limit)
        return count;
    if (r->omitted_count < sizeof r->omitted / sizeof r->omitted[0])
        r->omitted[r->omitted_count++] = (struct omitted){name, count - limit};
    return limit;
}

static void put_slots(struct rendering *r, struct str name, const uint32_t *slots, uint32_t count) {
    const uint32_t n = shown(r, name, count);
    json_key(&r->w, name);
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < n; i++)
        put_name(r, slots[i]);
    json_end_array(&r->w);
}

/* Writes the clusters of the slots and the strangers, together sorted by name. */
static void put_current(struct rendering *r, struct str name, const uint32_t *slots,
                        uint32_t count) {
    const struct ocm_decision *d = r->d;
    const uint32_t n = shown(r, name, count + d->stranger_count);
    uint32_t slot = 0, stranger = 0;
    json_key(&r->w, name);
    json_begin_array(&r->w);
    while (slot + stranger < n) {
        const bool is_slot =
            stranger == d->stranger_count ||
            (slot < count && str_cmp(ocm_cluster_name(d, slots[slot]), d->strangers[stranger]) < 0);
        if (is_slot)
            put_name(r, slots[slot++]);
        else
            json_put_string(&r->w, d->strangers[stranger++]);
    }
    json_end_array(&r->w);
}

static void put_strings(struct rendering *r, struct str name, const struct str *items,
                        uint32_t count) {
    const uint32_t n = shown(r, name, count);
    json_key(&r->w, name);
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < n; i++)
        json_put_string(&r->w, items[i]);
    json_end_array(&r->w);
}

static void put_condition(struct rendering *r, const struct ocm_condition *c, bool with_type) {
    json_begin_object(&r->w);
    if (with_type)
        json_put_member(&r->w, STR("type"), c->type);
    json_put_member(&r->w, STR("status"), ocm_status_names[c->status]);
    json_put_member(&r->w, STR("reason"), c->reason);
    json_put_member(&r->w, STR("message"), c->message);
    json_end_object(&r->w);
}

/* ---- members, in their order ---- */

static void put_placement(struct rendering *r) {
    const struct object_meta *meta = &r->d->placement->meta;
    strbuf_clear(&r->text);
    strbuf_append_str(&r->text, meta->namespace);
    strbuf_append_char(&r->text, '/');
    strbuf_append_str(&r->text, meta->name);
    json_put_member(&r->w, STR("placement"), strbuf_str(&r->text));
}

static void put_sets(struct rendering *r) {
    put_strings(r, STR("eligibleSets"), r->d->sets, r->d->set_count);
    put_slots(r, STR("available"), r->d->available, r->d->available_count);
}

static void put_filter(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    const uint32_t n = shown(r, STR("filter"), d->filtered ? d->available_count : 0);
    json_key(&r->w, STR("filter"));
    json_begin_object(&r->w);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t slot = d->available[i];
        strbuf_clear(&r->text);
        ocm_reason(d, slot, &r->text);
        json_key(&r->w, ocm_cluster_name(d, slot));
        json_begin_object(&r->w);
        json_put_member(&r->w, STR("verdict"), ocm_verdict_names[d->verdicts[slot]]);
        json_put_member(&r->w, STR("reason"), strbuf_str(&r->text));
        json_end_object(&r->w);
    }
    json_end_object(&r->w);
    json_key(&r->w, STR("celUnknown"));
    json_put_bool(&r->w, d->cel_unknown);
}

static void put_scores(struct rendering *r, const struct ocm_scores *scores) {
    const struct ocm_decision *d = r->d;
    uint32_t count = 0;
    json_key(&r->w, STR("scores"));
    json_begin_object(&r->w);
    for (uint32_t i = 0; i < d->available_count; i++) {
        const uint32_t slot = d->available[i];
        if (!ocm_passes_filters(d, slot) || (scores->lacks != NULL && scores->lacks[slot] != 0))
            continue;
        if (r->how->limit == 0 || count < r->how->limit)
            put_integer(r, ocm_cluster_name(d, slot), scores->scores[slot]);
        count++;
    }
    json_end_object(&r->w);
}

static void put_prioritizers(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    const uint32_t n = shown(r, STR("prioritizers"), d->prioritizer_count);
    json_key(&r->w, STR("prioritizers"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < n; i++) {
        json_begin_object(&r->w);
        json_put_member(&r->w, STR("name"), d->prioritizers[i].name);
        put_integer(r, STR("weight"), d->prioritizers[i].weight);
        put_scores(r, &d->prioritizers[i]);
        json_end_object(&r->w);
    }
    json_end_array(&r->w);
}

static void put_sum(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    uint32_t count = 0;
    json_key(&r->w, STR("sum"));
    json_begin_object(&r->w);
    for (uint32_t i = 0; d->summed && i < d->available_count; i++) {
        const uint32_t slot = d->available[i];
        if (d->verdicts[slot] != OCM_PASS)
            continue;
        if (r->how->limit == 0 || count < r->how->limit)
            put_integer(r, ocm_cluster_name(d, slot), d->sums[slot]);
        count++;
    }
    json_end_object(&r->w);
    (void)shown(r, STR("sum"), count); /* notes the items left out */
}

static void put_terms(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    json_key(&r->w, STR("policy"));
    if (d->policy.n > 0)
        json_put_string(&r->w, d->policy);
    else
        json_put_null(&r->w);
    json_key(&r->w, STR("terms"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < d->term_count; i++) {
        const struct placement_term *t = &d->terms[i];
        json_begin_object(&r->w);
        json_put_member(&r->w, STR("topologyKey"), t->key);
        json_put_member(&r->w, STR("topologyKeyType"), t->is_claim ? STR("Claim") : STR("Label"));
        put_integer(r, STR("maxSkew"), t->max_skew);
        json_put_member(&r->w, STR("whenUnsatisfiable"),
                        t->hard ? STR("DoNotSchedule") : STR("ScheduleAnyway"));
        put_integer(r, STR("minDomains"), t->min_domains);
        put_integer(r, STR("skew"), d->plan.skew[i]);
        json_end_object(&r->w);
    }
    json_end_array(&r->w);
}

static void put_domains(struct rendering *r) {
    const struct plan *plan = &r->d->plan;
    const uint32_t n = shown(r, STR("domains"), plan->domain_count);
    json_key(&r->w, STR("domains"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < n; i++) {
        json_begin_object(&r->w);
        json_key(&r->w, STR("path"));
        json_begin_array(&r->w);
        for (uint32_t level = 0; level < plan->domains[i].depth; level++)
            json_put_string(&r->w, plan->domains[i].path[level]);
        json_end_array(&r->w);
        put_integer(r, STR("feasible"), plan->domains[i].feasible);
        put_integer(r, STR("selected"), plan->domains[i].selected);
        json_end_object(&r->w);
    }
    json_end_array(&r->w);
}

static void put_numbers(struct rendering *r, struct str name, const struct plan_round *round,
                        const int64_t *numbers) {
    const uint32_t limit = r->how->limit;
    json_key(&r->w, name);
    json_begin_object(&r->w);
    for (uint32_t i = 0; i < round->count && (limit == 0 || i < limit); i++)
        put_integer(r, ocm_cluster_name(r->d, round->slots[i]), numbers[i]);
    json_end_object(&r->w);
}

static void put_rounds(struct rendering *r) {
    const struct plan *plan = &r->d->plan;
    const uint32_t limit = r->how->limit;
    if (!r->how->with_rounds)
        return;
    const uint32_t n = shown(r, STR("rounds"), plan->round_count);
    json_key(&r->w, STR("rounds"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < n; i++) {
        const struct plan_round *round = &plan->rounds[i];
        json_begin_object(&r->w);
        json_put_member(&r->w, STR("picked"), ocm_cluster_name(r->d, round->picked));
        json_key(&r->w, STR("dropped"));
        json_begin_array(&r->w);
        for (uint32_t k = 0; k < round->dropped_count && (limit == 0 || k < limit); k++)
            put_name(r, round->dropped[k]);
        json_end_array(&r->w);
        put_numbers(r, STR("raw"), round, round->raw);
        if (round->final != NULL)
            put_numbers(r, STR("final"), round, round->final);
        json_end_object(&r->w);
    }
    json_end_array(&r->w);
}

static void put_kept(struct rendering *r) {
    const struct plan *plan = &r->d->plan;
    const uint32_t *kept = ocm_plan_kept(plan);
    put_slots(r, STR("kept"), kept, plan->kept_count);
    json_key(&r->w, STR("keptReasons"));
    json_begin_object(&r->w);
    for (uint32_t i = 0; i < plan->kept_count && (r->how->limit == 0 || i < r->how->limit); i++) {
        strbuf_clear(&r->text);
        ocm_kept_reason(r->d, kept[i], r->arena, &r->text);
        json_put_member(&r->w, ocm_cluster_name(r->d, kept[i]), strbuf_str(&r->text));
    }
    json_end_object(&r->w);
}

static void put_selection(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    put_current(r, STR("current"), d->current, d->current_count);
    const bool untouched = d->outcome == OCM_UNTOUCHED; /* strangers stay selected, too */
    (untouched ? put_current : put_slots)(r, STR("selected"), d->plan.selected,
                                          d->plan.selected_count);
    put_kept(r);
    json_key(&r->w, STR("moves"));
    json_begin_object(&r->w);
    put_slots(r, STR("add"), d->add, d->add_count);
    (untouched ? put_slots : put_current)(r, STR("remove"), d->remove, d->remove_count);
    json_end_object(&r->w);
    put_integer(r, STR("unscheduled"), d->plan.unscheduled);
}

static void put_decisions(struct rendering *r, const struct ocm_group *group) {
    const uint32_t limit = r->how->limit;
    json_key(&r->w, STR("decisions"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < group->decision_count && (limit == 0 || i < limit); i++) {
        strbuf_clear(&r->text);
        strbuf_append_str(&r->text, r->d->placement->meta.name);
        strbuf_appendf(&r->text, "-decision-%u", group->first_decision + i);
        json_put_string(&r->w, strbuf_str(&r->text));
    }
    json_end_array(&r->w);
}

static void put_groups(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    const uint32_t n = shown(r, STR("groups"), d->group_count), limit = r->how->limit;
    json_key(&r->w, STR("groups"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < n; i++) {
        const struct ocm_group *group = &d->groups[i];
        json_begin_object(&r->w);
        put_integer(r, STR("index"), i);
        json_put_member(&r->w, STR("name"), group->name);
        put_decisions(r, group);
        json_key(&r->w, STR("clusters"));
        json_begin_array(&r->w);
        for (uint32_t k = 0; k < group->count && (limit == 0 || k < limit); k++)
            put_name(r, group->slots[k]);
        json_end_array(&r->w);
        json_end_object(&r->w);
    }
    json_end_array(&r->w);
}

/* Writes no conditions if a ManagedClusterSet cannot be read: then the Placement keeps its
 * conditions. */
static void put_conditions(struct rendering *r) {
    const uint32_t count = r->d->outcome == OCM_UNTOUCHED ? 0 : OCM_CONDITIONS;
    json_key(&r->w, STR("conditions"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < count; i++)
        put_condition(r, &r->d->conditions[i], true);
    json_end_array(&r->w);
}

static void put_publish(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    const bool any = d->publish_resource.n > 0;
    const uint32_t n = shown(r, STR("publish"), any ? d->plan.selected_count : 0);
    json_key(&r->w, STR("publish"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < n; i++) {
        json_begin_object(&r->w);
        json_put_member(&r->w, STR("cluster"), ocm_cluster_name(d, d->selected_by_name[i]));
        json_put_member(&r->w, STR("resource"), d->publish_resource);
        json_put_member(&r->w, STR("name"), d->publish_key);
        put_integer(r, STR("value"), OCM_PUBLISHED_SCORE);
        json_end_object(&r->w);
    }
    json_end_array(&r->w);
}

static void put_rest(struct rendering *r) {
    const struct ocm_decision *d = r->d;
    json_key(&r->w, STR("spreadSatisfied"));
    if (d->has_spread)
        put_condition(r, &d->spread.condition, false);
    else
        json_put_null(&r->w);
    json_key(&r->w, STR("requeueAfterSeconds"));
    if (d->has_requeue)
        json_put_integer(&r->w, (d->requeue_ms + 999) / 1000); /* rounded up: never too early */
    else
        json_put_null(&r->w);
    put_strings(r, STR("warnings"), d->warnings, d->warning_count);
    json_put_member(&r->w, STR("error"), ocm_error_text(d, r->arena));
}

static void put_omitted(struct rendering *r) {
    if (r->omitted_count == 0)
        return;
    json_key(&r->w, STR("omitted"));
    json_begin_object(&r->w);
    for (uint32_t i = 0; i < r->omitted_count; i++)
        put_integer(r, r->omitted[i].name, r->omitted[i].count);
    json_end_object(&r->w);
}

int placement_render(const struct ocm_decision *d, const struct placement_rendering *how,
                     struct arena *arena, struct strbuf *out) {
    static void (*const members[])(struct rendering * r) = {
        put_placement,  put_sets,    put_filter, put_prioritizers, put_sum,
        put_terms,      put_domains, put_rounds, put_selection,    put_groups,
        put_conditions, put_publish, put_rest,   put_omitted,
    };
    struct rendering r = {.d = d, .how = how, .arena = arena, .out = out, .w = {.out = out}};
    json_begin_object(&r.w);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        members[i](&r);
    json_end_object(&r.w);
    const bool failed = strbuf_failed(&r.text) || arena_failed(arena);
    strbuf_done(&r.text);
    return failed ? -ENOMEM : 0;
}

#include "explain/binding.h"

#include "base/json_writer.h"
#include "explain/binding_order.h"

#include <errno.h>

struct rendering {
    const struct binding_report *report;
    const struct karmada_decision *d;
    const struct binding_rendering *how;
    struct binding_order order;
    struct str patch, status;
    struct json_writer w;
    struct omitted {
        struct str name;
        uint64_t count;
    } omitted[16];
    uint32_t omitted_count;
};

/* ---- parts ---- */

static void put_integer(struct rendering *r, struct str key, int64_t value) {
    json_key(&r->w, key);
    json_put_integer(&r->w, value);
}

static void put_known(struct rendering *r, struct str key, int64_t value) {
    json_key(&r->w, key);
    if (value == ESTIMATE_UNKNOWN)
        json_put_null(&r->w);
    else
        json_put_integer(&r->w, value);
}

/* Returns how many of `count` items to show. Adds the number of the other items to the member's
 * omitted items. */
static uint32_t shown(struct rendering *r, struct str name, uint32_t count) {
    const uint32_t limit = r->how->limit;
    uint32_t at = 0;
    if (limit == 0 || count <= limit)
        return count;
    while (at < r->omitted_count && !str_eq(r->omitted[at].name, name))
        at++;
    if (at == r->omitted_count && at < sizeof r->omitted / sizeof r->omitted[0])
        r->omitted[r->omitted_count++] = (struct omitted){.name = name};
    if (at < r->omitted_count)
        r->omitted[at].count += count - limit;
    return limit;
}

static void put_candidate_names(struct rendering *r, struct str name, const uint32_t *candidates,
                                uint32_t count) {
    json_begin_array(&r->w);
    for (uint32_t i = 0, n = shown(r, name, count); i < n; i++)
        json_put_string(&r->w, r->d->filtered.candidates[candidates[i]].cluster.name);
    json_end_array(&r->w);
}

/* ---- members, in their order ---- */

static void put_subject(struct rendering *r) {
    json_key(&r->w, STR("binding"));
    json_put_string(&r->w, r->order.binding);
    json_put_member(&r->w, STR("trigger"), karmada_trigger_names[r->report->outcome->trigger]);
    json_put_member(&r->w, STR("affinity"), r->report->outcome->affinity);
}

static void put_filter(struct rendering *r) {
    const struct karmada_question *q = r->report->question;
    json_key(&r->w, STR("filter"));
    json_begin_object(&r->w);
    for (uint32_t i = 0, n = shown(r, STR("filter"), q->cluster_count); i < n; i++) {
        const uint32_t cluster = r->order.clusters[i];
        const struct karmada_verdict *v = &r->d->filtered.verdicts[cluster];
        json_key(&r->w, q->clusters[cluster]->meta.name);
        json_begin_object(&r->w);
        json_put_member(&r->w, STR("verdict"), binding_verdict_name(v));
        json_put_member(&r->w, STR("reason"), v->reason);
        json_end_object(&r->w);
    }
    json_end_object(&r->w);
}

static void put_scores(struct rendering *r) {
    const struct karmada_filtered *f = &r->d->filtered;
    json_key(&r->w, STR("scores"));
    json_begin_object(&r->w);
    for (uint32_t i = 0, n = shown(r, STR("scores"), f->count); i < n; i++) {
        const uint32_t at = r->order.candidates[i];
        json_key(&r->w, f->candidates[at].cluster.name);
        json_begin_object(&r->w);
        for (uint32_t plugin = 0; plugin < KARMADA_PLUGINS; plugin++)
            if (r->d->scores.of[plugin] != NULL)
                put_integer(r, str_of(karmada_plugin_names[plugin]), r->d->scores.of[plugin][at]);
        put_integer(r, STR("total"), f->candidates[at].score);
        json_end_object(&r->w);
    }
    json_end_object(&r->w);
}

static void put_available(struct rendering *r) {
    const struct karmada_filtered *f = &r->d->filtered;
    json_key(&r->w, STR("available"));
    json_begin_object(&r->w);
    for (uint32_t i = 0, n = shown(r, STR("available"), f->count); i < n; i++) {
        const uint32_t at = r->order.candidates[i];
        json_key(&r->w, f->candidates[at].cluster.name);
        json_begin_object(&r->w);
        put_known(r, STR("summary"), r->d->estimates[at].summary);
        put_known(r, STR("models"), r->d->estimates[at].models);
        put_known(r, STR("accurate"), r->d->estimates[at].accurate);
        put_integer(r, STR("allocatable"), f->candidates[at].allocatable);
        put_integer(r, STR("available"), f->candidates[at].available);
        json_end_object(&r->w);
    }
    json_end_object(&r->w);
}

static void put_group(struct rendering *r, const struct karmada_group *group) {
    json_begin_object(&r->w);
    json_put_member(&r->w, STR("name"), group->name);
    json_key(&r->w, STR("path"));
    json_begin_array(&r->w);
    for (uint32_t i = 0; i < group->depth; i++)
        json_put_string(&r->w, group->path[i]);
    json_end_array(&r->w);
    put_integer(r, STR("score"), group->score);
    put_integer(r, STR("available"), group->available);
    json_key(&r->w, STR("clusters"));
    put_candidate_names(r, STR("groups"), group->clusters, group->cluster_count);
    json_end_object(&r->w);
}

static void put_groups(struct rendering *r) {
    const struct karmada_selection *s = &r->d->selection;
    json_key(&r->w, STR("groups"));
    json_begin_object(&r->w);
    for (uint32_t i = 0; i < s->level_count; i++) {
        json_key(&r->w, r->order.levels[i]);
        json_begin_array(&r->w);
        for (uint32_t g = 0, n = shown(r, STR("groups"), s->levels[i].group_count); g < n; g++)
            put_group(r, &s->levels[i].groups[g]);
        json_end_array(&r->w);
    }
    json_end_object(&r->w);
}

/* An empty selection counts as proven. */
static void put_selection(struct rendering *r) {
    const struct karmada_selection *s = &r->d->selection;
    json_key(&r->w, STR("selected"));
    put_candidate_names(r, STR("selected"), s->clusters, s->count);
    json_key(&r->w, STR("proven"));
    json_put_bool(&r->w, s->proven || s->count == 0);
}

static void put_assignment(struct json_writer *w, const struct karmada_assignment *a, uint32_t n) {
    json_key(w, STR("clusters"));
    json_begin_array(w);
    for (uint32_t i = 0; i < n; i++) {
        json_begin_object(w);
        json_put_member(w, STR("name"), a->clusters[i].name);
        json_key(w, STR("replicas"));
        json_put_integer(w, a->clusters[i].replicas);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_error(struct json_writer *w, const struct karmada_decision *d) {
    json_put_member(w, STR("errorKind"), karmada_error_names[d->kind]);
    json_put_member(w, STR("error"), d->error);
}

static void put_result(struct rendering *r) {
    const struct karmada_assignment *a = &r->d->assignment;
    if (!r->how->without_plan)
        put_assignment(&r->w, a, shown(r, STR("clusters"), a->count));
    put_error(&r->w, r->d);
    if (r->how->without_plan)
        return;
    json_key(&r->w, STR("patch"));
    json_put_raw(&r->w, r->patch);
    json_key(&r->w, STR("status"));
    json_put_raw(&r->w, r->status);
}

static void put_rest(struct rendering *r) {
    const struct binding *b = r->report->binding;
    json_key(&r->w, STR("warnings"));
    json_begin_array(&r->w);
    if (!b->spec.has_placement)
        json_put_string(&r->w, STR("spec.placement is missing: Karmada schedules no such binding"));
    if ((r->report->question->options->plugins & 1u << PLUGIN_DATA_LOCALITY) != 0 &&
        r->report->question->data == NULL)
        json_put_string(&r->w, STR("DataLocality: nothing is known of data in clusters, so it "
                                   "scores 0 for all of them"));
    if (b->spec.suspended)
        json_put_string(&r->w, STR("spec.suspension.scheduling is true: Karmada does not schedule "
                                   "the binding until this is false"));
    if (b->meta.terminating)
        json_put_string(&r->w, STR("it is being deleted: Karmada does not schedule it"));
    json_end_array(&r->w);
    if (r->omitted_count == 0)
        return;
    json_key(&r->w, STR("omitted"));
    json_begin_object(&r->w);
    for (uint32_t i = 0; i < r->omitted_count; i++)
        put_integer(r, r->omitted[i].name, (int64_t)r->omitted[i].count);
    json_end_object(&r->w);
}

int binding_render(const struct binding_report *report, const struct binding_rendering *how,
                   struct arena *arena, struct strbuf *out, struct err *err) {
    static void (*const members[])(struct rendering * r) = {
        put_subject, put_filter,    put_scores, put_available,
        put_groups,  put_selection, put_result, put_rest,
    };
    struct rendering r = {
        .report = report, .d = &report->outcome->decision, .how = how, .w = {.out = out}};
    int e = binding_order_make(report, arena, &r.order, err);
    if (e == 0 && !how->without_plan)
        e = karmada_binding_patch(report->binding, report->outcome, arena, &r.patch, err);
    if (e == 0 && !how->without_plan)
        e = karmada_binding_status_patch(report->binding, report->outcome, how->now_ms, arena,
                                         &r.status, err);
    if (e != 0)
        return e;
    json_begin_object(&r.w);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        members[i](&r);
    json_end_object(&r.w);
    return 0;
}

void binding_render_assignment(const struct binding_report *report, struct strbuf *out) {
    const struct karmada_decision *d = &report->outcome->decision;
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    put_assignment(&w, &d->assignment, d->assignment.count);
    put_error(&w, d);
    json_end_object(&w);
}

/* Makes the two merge patches that Karmada's scheduler writes. */
#include "karmada/binding.h"

#include "base/json_writer.h"
#include "base/time.h"
#include "karmada/applied.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for a binding's patch");
}

static int keep(const struct strbuf *text, struct arena *arena, struct str *ret, struct err *err) {
    *ret = arena_str(arena, strbuf_str(text));
    return strbuf_failed(text) || arena_failed(arena) ? out_of_memory(err) : 0;
}

/* ---- the binding ---- */

static int by_name(const void *a, const void *b) {
    const struct target_cluster *left = a, *right = b;
    return str_cmp(left->name, right->name);
}

/* Sets *ret to true if the binding has these clusters already, in any order. */
static int find_same(const struct binding_spec *spec, const struct karmada_assignment *now,
                     struct arena *arena, bool *ret, struct err *err) {
    struct target_cluster *before = arena_array_unset(arena, spec->cluster_count, sizeof *before);
    if (before == NULL)
        return out_of_memory(err);
    if (!steps_take_sort(&arena->steps, spec->cluster_count))
        return err_set(err, -E2BIG, "more clusters than there is time for");
    if (spec->cluster_count > 0)
        memcpy(before, spec->clusters, spec->cluster_count * sizeof *before);
    if (spec->cluster_count > 1)
        qsort(before, spec->cluster_count, sizeof *before, by_name);
    *ret = spec->cluster_count == now->count;
    for (uint32_t i = 0; *ret && i < now->count; i++)
        *ret = str_eq(before[i].name, now->clusters[i].name) &&
               before[i].replicas == now->clusters[i].replicas;
    return 0;
}

static void put_clusters(struct json_writer *w, const struct karmada_assignment *now) {
    json_key(w, STR("spec"));
    json_begin_object(w);
    json_key(w, STR("clusters"));
    if (now->count == 0) {
        json_put_null(w);
    } else {
        json_begin_array(w);
        for (uint32_t i = 0; i < now->count; i++) {
            json_begin_object(w);
            json_put_member(w, STR("name"), now->clusters[i].name);
            if (now->clusters[i].replicas != 0) {
                json_key(w, STR("replicas"));
                json_put_integer(w, now->clusters[i].replicas);
            }
            json_end_object(w);
        }
        json_end_array(w);
    }
    json_end_object(w);
}

static void put_annotation(struct json_writer *w, struct str placement) {
    json_key(w, STR("metadata"));
    json_begin_object(w);
    json_key(w, STR("annotations"));
    json_begin_object(w);
    json_put_member(w, STR(APPLIED_PLACEMENT_ANNOTATION), placement);
    json_end_object(w);
    json_end_object(w);
}

int karmada_binding_patch(const struct binding *binding, const struct karmada_outcome *outcome,
                          struct arena *arena, struct str *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct json_writer w = {.out = &text};
    const struct karmada_assignment *now = &outcome->decision.assignment;
    const enum karmada_error kind = outcome->decision.kind;
    struct str placement = STR("{}");
    bool same = false;
    *ret = STR("{}");
    if (kind != KARMADA_OK && kind != KARMADA_FIT_ERROR)
        return 0;
    int r = find_same(&binding->spec, now, arena, &same, err);
    if (r == 0 && binding->spec.has_placement)
        r = karmada_placement_marshal(binding->spec.placement_text, arena, &placement, err);
    if (r != 0)
        return r;
    json_begin_object(&w);
    if (binding->applied_placement.p == NULL || !str_eq(binding->applied_placement, placement))
        put_annotation(&w, placement);
    if (!same)
        put_clusters(&w, now);
    json_end_object(&w);
    return keep(&text, arena, ret, err);
}

/* ---- its status ---- */

/* Returns a time as a metav1.Time is written: in whole seconds. */
static struct str seconds_text(int64_t ms, char into[static KUBE_TIME_SIZE]) {
    kube_time_text(ms * 1000, into);
    char *dot = strchr(into, '.');
    dot[0] = 'Z';
    dot[1] = '\0';
    return str_of(into);
}

struct condition {
    struct str status, reason, message, transition;
    struct str type;
    bool observes; /* the condition has an observedGeneration */
};

static struct condition condition_of(const struct karmada_decision *d) {
    static const struct str reasons[KARMADA_ERRORS] = {
        [KARMADA_OK] = STR("Success"),
        [KARMADA_FIT_ERROR] = STR("NoClusterFit"),
        [KARMADA_UNSCHEDULABLE] = STR("Unschedulable"),
        [KARMADA_ERROR] = STR("SchedulerError"),
    };
    const bool good = d->kind == KARMADA_OK;
    return (struct condition){
        .type = STR("Scheduled"),
        .status = good ? STR("True") : STR("False"),
        .reason = reasons[d->kind],
        .message = good ? STR("Binding has been scheduled successfully.") : d->error,
    };
}

static struct condition read_condition(struct str json, struct arena *arena) {
    struct condition c = {.observes = false};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, json, arena, "condition");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str *into = str_eq(key, STR("type"))                 ? &c.type
                               : str_eq(key, STR("status"))             ? &c.status
                               : str_eq(key, STR("reason"))             ? &c.reason
                               : str_eq(key, STR("message"))            ? &c.message
                               : str_eq(key, STR("lastTransitionTime")) ? &c.transition
                                                                        : NULL;
            c.observes = c.observes || str_eq(key, STR("observedGeneration"));
            if (into != NULL && json_peek(&r) == JSON_STRING)
                *into = json_string(&r);
        }
    return c;
}

static void put_condition(struct json_writer *w, const struct condition *c) {
    json_begin_object(w);
    json_put_member(w, STR("type"), c->type);
    json_put_member(w, STR("status"), c->status);
    json_put_member(w, STR("lastTransitionTime"), c->transition);
    json_put_member(w, STR("reason"), c->reason);
    json_put_member(w, STR("message"), c->message);
    json_end_object(w);
}

static bool same_condition(const struct condition *a, const struct condition *b) {
    return str_eq(a->status, b->status) && str_eq(a->reason, b->reason) &&
           str_eq(a->message, b->message) && !a->observes;
}

/* Appends the list of conditions, with the condition in its present place or at the end. Returns
 * false if the list is unchanged. upstream: apimachinery meta.SetStatusCondition() */
static bool put_conditions(const struct binding_status *status, struct condition *now,
                           struct arena *arena, struct strbuf *out) {
    struct json_writer w = {.out = out};
    struct json_reader r;
    bool found = false, differs = true;
    json_reader_init(&r, status->conditions.p != NULL ? status->conditions : STR("[]"), arena,
                     "status.conditions");
    json_begin_array(&w);
    if (json_array(&r))
        while (json_element(&r)) {
            const struct str item = json_skip(&r);
            const struct condition before = read_condition(item, arena);
            if (found || !str_eq(before.type, now->type)) {
                json_put_raw(&w, item);
                continue;
            }
            found = true;
            differs = !same_condition(&before, now);
            if (str_eq(before.status, now->status) && !str_empty(before.transition))
                now->transition = before.transition;
            put_condition(&w, now);
        }
    if (!found)
        put_condition(&w, now);
    json_end_array(&w);
    return differs;
}

static void put_success(struct json_writer *w, const struct binding *b,
                        const struct karmada_outcome *outcome, int64_t now_ms) {
    char time[KUBE_TIME_SIZE];
    const bool same_time =
        b->status.has_scheduled && b->status.scheduled_ms / 1000 == now_ms / 1000;
    if (!same_time)
        json_put_member(w, STR("lastScheduledTime"), seconds_text(now_ms, time));
    if (b->status.observed_generation != b->generation) {
        json_key(w, STR("schedulerObservedGeneration"));
        if (b->generation == 0)
            json_put_null(w);
        else
            json_put_integer(w, b->generation);
    }
    if (b->spec.placement.affinity_count > 0 &&
        !str_eq(b->status.observed_affinity, outcome->affinity))
        json_put_member(w, STR("schedulerObservingAffinityName"), outcome->affinity);
}

int karmada_binding_status_patch(const struct binding *binding,
                                 const struct karmada_outcome *outcome, int64_t now_ms,
                                 struct arena *arena, struct str *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {0}, conditions = {0}, whole = {0};
    struct json_writer w = {.out = &text};
    struct condition condition = condition_of(&outcome->decision);
    char time[KUBE_TIME_SIZE];
    condition.transition = seconds_text(now_ms, time);
    if (!steps_take_bytes(&arena->steps, binding->status.conditions.n))
        return err_set(err, -E2BIG, "more conditions than there is time for");
    json_begin_object(&w);
    if (put_conditions(&binding->status, &condition, arena, &conditions)) {
        json_key(&w, STR("conditions"));
        json_put_raw(&w, strbuf_str(&conditions));
    }
    if (outcome->decision.kind == KARMADA_OK)
        put_success(&w, binding, outcome, now_ms);
    json_end_object(&w);
    if (str_eq(strbuf_str(&text), STR("{}"))) {
        *ret = STR("{}");
        return 0;
    }
    struct json_writer outer = {.out = &whole};
    json_begin_object(&outer);
    json_key(&outer, STR("status"));
    json_put_raw(&outer, strbuf_str(&text));
    json_end_object(&outer);
    return strbuf_failed(&text) || strbuf_failed(&conditions) ? out_of_memory(err)
                                                              : keep(&whole, arena, ret, err);
}

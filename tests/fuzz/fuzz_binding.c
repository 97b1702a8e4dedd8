/*
 * Any JSON object {"clusters": [...], "binding": {...}, "options": {...}} as a question about a
 * binding of Karmada. Clusters are selected among those that pass, and get replicas among those
 * that are selected; what is divided adds up, or there is an error; both patches are JSON. A
 * placement, written as Go writes it, is written the same again, and is not changed against itself.
 */
#include "fuzz/fuzz.h"

#include "base/json_fields.h"
#include "explain/binding.h"
#include "karmada/applied.h"
#include "lines/karmada_options.h"

enum { ARENA_BYTES = 64 << 20, STEPS = 1000000, CLUSTERS = 64 };

struct question {
    struct karmada_cluster *clusters;
    uint32_t count;
    struct binding binding;
    struct karmada_options options;
};

static void cluster_decode(struct json_reader *r, void *into) {
    karmada_cluster_decode(r, into);
}

static bool read_question(struct str text, struct arena *arena, struct question *q) {
    struct json_reader r;
    struct str key;
    *q = (struct question){.options = karmada_defaults};
    json_reader_init(&r, text, arena, "question");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("clusters")))
                q->clusters =
                    json_array_of(&r, sizeof *q->clusters, CLUSTERS, cluster_decode, &q->count);
            else if (str_eq(key, STR("binding")))
                binding_decode(&r, &q->binding);
            else if (str_eq(key, STR("options")))
                karmada_options_decode(&r, &q->options);
            else
                (void)json_skip(&r); /* errors stay in r */
        }
    return json_finish(&r, NULL) == 0;
}

/* Names of clusters are unique in a question: of several of one name the first stays. */
static uint32_t keep_first(const struct question *q, const struct karmada_cluster **ret) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        uint32_t at = 0;
        while (at < count && !str_eq(ret[at]->meta.name, q->clusters[i].meta.name))
            at++;
        if (at == count)
            ret[count++] = &q->clusters[i];
    }
    return count;
}

static void require_json(struct str text, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, text, arena, "answer");
    require(json_peek(&r) == JSON_OBJECT);
    (void)json_skip(&r);
    require(json_finish(&r, NULL) == 0);
}

static void check_placement(const struct binding *b, struct arena *arena) {
    struct str once, twice;
    bool changed;
    if (!b->spec.has_placement ||
        karmada_placement_marshal(b->spec.placement_text, arena, &once, NULL) != 0)
        return; /* no steps are left, or another form of v1.18.1's unknown members */
    if (karmada_placement_marshal(once, arena, &twice, NULL) != 0)
        return;
    require(str_eq(once, twice));
    if (karmada_placement_changed(once, once, b->status.observed_affinity, arena, &changed, NULL) ==
        0)
        require(!changed);
}

static void check_decision(const struct karmada_question *q, const struct binding_spec *spec,
                           const struct karmada_decision *d) {
    uint64_t selected = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < d->filtered.count; i++) {
        const struct karmada_candidate *c = &d->filtered.candidates[i];
        require(d->filtered.verdicts[d->filtered.clusters[i]].pass == CLUSTER_PASSES);
        require(c->allocatable >= 0 && c->available == c->allocatable + c->previous);
        require(c->score >= 0 && c->score <= 300);
    }
    require(d->filtered.count <= q->cluster_count);
    for (uint32_t i = 0; i < d->selection.count; i++) {
        require(d->selection.clusters[i] < d->filtered.count);
        require((selected & UINT64_C(1) << d->selection.clusters[i]) == 0);
        selected |= UINT64_C(1) << d->selection.clusters[i];
    }
    require(d->kind == KARMADA_OK || d->assignment.count == 0);
    require((d->kind == KARMADA_OK) == str_empty(d->error));
    for (uint32_t i = 0; i < d->assignment.count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < d->selection.count && !found; k++)
            found = str_eq(d->filtered.candidates[d->selection.clusters[k]].cluster.name,
                           d->assignment.clusters[i].name);
        require(found && d->assignment.clusters[i].replicas >= 0);
        require(i == 0 ||
                str_cmp(d->assignment.clusters[i - 1].name, d->assignment.clusters[i].name) < 0);
        sum += d->assignment.clusters[i].replicas;
    }
    const enum division division = spec->placement.replicas.division;
    if (d->kind == KARMADA_OK && spec->replicas > 0 && spec->component_count <= 1 &&
        division != DIVISION_NONE && division != DIVISION_DUPLICATED)
        require(sum == spec->replicas);
}

static void ask(struct question *asked, struct arena *arena) {
    const struct karmada_cluster *clusters[CLUSTERS];
    const struct karmada_question q = {.clusters = clusters,
                                       .cluster_count = keep_first(asked, clusters),
                                       .options = &asked->options};
    struct karmada_outcome outcome;
    struct strbuf out = {0};
    struct err err;
    if (karmada_schedule_binding(&asked->binding, &q, arena, &outcome, &err) != 0)
        return;
    check_decision(&q, &asked->binding.spec, &outcome.decision);
    const struct binding_report report = {&asked->binding, &q, &outcome};
    const struct binding_rendering how = {.limit = (uint32_t)asked->binding.generation & 3};
    if (binding_render(&report, &how, arena, &out, &err) == 0)
        require_json(strbuf_str(&out), arena);
    strbuf_clear(&out);
    if (binding_render_filter(&report, arena, &out, &err) == 0)
        require_json(strbuf_str(&out), arena);
    strbuf_clear(&out);
    if (binding_render_scores(&report, arena, &out, &err) == 0)
        require_json(strbuf_str(&out), arena);
    strbuf_clear(&out);
    binding_render_assignment(&report, &out);
    require_json(strbuf_str(&out), arena);
    strbuf_done(&out);
}

static int try_input(const uint8_t *bytes, size_t n) {
    const struct str text = {(const char *)bytes, n};
    struct question q;
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    arena.steps.max = STEPS;
    if (read_question(text, &arena, &q)) {
        check_placement(&q.binding, &arena);
        ask(&q, &arena);
    }
    arena_done(&arena);
    return 0;
}

/*
 * The step `plan`: answers which of the given clusters a Placement with spread terms selects, as
 * ocm_plan() does. A topology is made of the clusters, with the labels and claims that terms name.
 */
#include "ocm/plan.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "lines/steps.h"
#include "model/ocm.h"
#include "topology/name_order.h"

#include <errno.h>

struct plan_cluster {
    struct str name;
    struct labels labels, claims;
};

struct plan_sum {
    struct str name;
    int64_t sum;
};

struct plan_line {
    const struct plan_cluster *clusters;
    uint32_t cluster_count;
    struct plan_sum *sums;
    uint32_t sum_count, sum_cap;
    const struct placement_term *terms;
    uint32_t term_count;
    const struct str *current, *others;
    uint32_t current_count, other_count;
    bool has_number;
    uint32_t number;
    int32_t weight;
};

/* ---- decoding ---- */

static void cluster_decode(struct json_reader *r, void *into) {
    struct plan_cluster *c = into;
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("name")))
                c->name = json_string(r);
            else if (str_eq(key, STR("labels")))
                c->labels = labels_decode(r);
            else if (str_eq(key, STR("claims")))
                c->claims = labels_decode(r);
        }
    if (str_empty(c->name))
        json_fail(r, "name is required");
}

/* Reads sums. They are whole numbers that a double holds exactly, because readers of JSON may use
 * doubles. */
static void sums_decode(struct json_reader *r, struct plan_line *line) {
    const int64_t most = INT64_C(1) << 53;
    struct str key;
    line->sum_count = 0;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct plan_sum *sums =
            arena_push(r->arena, line->sums, line->sum_count, &line->sum_cap, sizeof *sums);
        if (sums == NULL)
            return;
        line->sums = sums;
        sums[line->sum_count++] = (struct plan_sum){key, json_integer(r, -most, most)};
    }
}

static void line_decode(struct json_reader *r, struct plan_line *line) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clusters")))
            line->clusters = json_array_of(r, sizeof *line->clusters, LIMIT_LINE_CLUSTERS,
                                           cluster_decode, &line->cluster_count);
        else if (str_eq(key, STR("sums")))
            sums_decode(r, line);
        else if (str_eq(key, STR("terms")))
            line->terms = placement_terms_decode(r, true, &line->term_count);
        else if (str_eq(key, STR("current")))
            line->current = json_string_array(r, UINT32_MAX, &line->current_count);
        else if (str_eq(key, STR("others")))
            line->others = json_string_array(r, UINT32_MAX, &line->other_count);
        else if (str_eq(key, STR("weight")))
            line->weight = (int32_t)json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("number"))) {
            line->has_number = !json_null(r);
            line->number = line->has_number ? (uint32_t)json_integer(r, 0, INT32_MAX) : 0;
        }
    }
}

/* ---- the topology ---- */

struct world {
    struct intern strings;
    struct topology *topology;
    struct topology_view view;
};

static int world_init(struct world *w, struct steps *steps, struct err *err) {
    *w = (struct world){.topology = NULL};
    int r = topology_new(&(struct topology_options){.strings = &w->strings}, &w->topology, err);
    if (r == 0) {
        topology_view_open(w->topology, &w->view);
        w->view.steps = steps;
    }
    return r;
}

static void world_done(struct world *w) {
    if (w->topology != NULL) {
        topology_view_close(&w->view);
        topology_free(w->topology);
    }
    intern_done(&w->strings);
}

/* A key that a term names, of a label or of a claim, in the form that a topology uses. */
struct plan_key {
    struct str column, key;
    bool is_claim;
};

/* Finds the keys of the terms, sorted, each key once. A label key that looks like a claim's key
 * does not count. */
static uint32_t find_keys(const struct plan_line *line, struct arena *arena,
                          struct plan_key ret[PLACEMENT_TERMS]) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < line->term_count; t++) {
        const struct placement_term *term = &line->terms[t];
        if (!term->is_claim && str_has_prefix(term->key, STR(CLAIM_PREFIX)))
            continue;
        struct plan_key key = {.key = term->key, .is_claim = term->is_claim, .column = term->key};
        if (term->is_claim)
            key.column = claim_key(term->key, arena);
        uint32_t at = count;
        while (at > 0 && str_cmp(key.column, ret[at - 1].column) < 0)
            at--;
        if (at > 0 && str_eq(key.column, ret[at - 1].column))
            continue;
        memmove(&ret[at + 1], &ret[at], (count - at) * sizeof *ret);
        ret[at] = key;
        count++;
    }
    return count;
}

static int add_clusters(struct world *w, const struct plan_line *line, struct arena *arena,
                        struct err *err) {
    struct plan_key keys[PLACEMENT_TERMS];
    const uint32_t key_count = find_keys(line, arena, keys);
    int r = arena_failed(arena) ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < line->cluster_count; i++) {
        const struct plan_cluster *cluster = &line->clusters[i];
        struct label labels[PLACEMENT_TERMS];
        uint32_t count = 0;
        if (topology_slot(w->topology, cluster->name) != TOPOLOGY_NONE)
            return err_set(err, -EINVAL, "question.clusters[%u].name: '%.*s' is there twice", i,
                           STR_ARG(cluster->name));
        for (uint32_t k = 0; k < key_count; k++)
            if (labels_lookup(keys[k].is_claim ? &cluster->claims : &cluster->labels, keys[k].key,
                              &labels[count].value))
                labels[count++].key = keys[k].column;
        const struct candidate candidate = {.name = cluster->name, .labels = {labels, count}};
        r = topology_apply(w->topology, &candidate);
    }
    return r;
}

/* ---- asking ---- */

/* Returns the slots of names; TOPOLOGY_NONE for an unknown name. */
static const uint32_t *find_slots(const struct world *w, const struct str *names, uint32_t count,
                                  struct arena *arena) {
    uint32_t *slots = arena_array_unset(arena, count, sizeof *slots);
    if (slots != NULL)
        topology_find_all(&w->view, names, count, slots);
    return slots;
}

static void note_sums(const struct world *w, const struct plan_line *line, int64_t *sums) {
    for (uint32_t i = 0; i < line->sum_count; i++) {
        const uint32_t slot = topology_find(&w->view, line->sums[i].name);
        if (slot != TOPOLOGY_NONE)
            sums[slot] = line->sums[i].sum;
    }
}

/* Notes the members of the question that are about single clusters: their sums and so on. */
static int note_clusters(const struct world *w, const struct plan_line *line, struct arena *arena,
                         struct plan_question *q) {
    const uint32_t slots = topology_slots(w->topology);
    int64_t *sums = arena_array(arena, slots, sizeof *sums);
    uint8_t *members = arena_array(arena, slots, sizeof *members);
    uint32_t *others = arena_array(arena, slots, sizeof *others);
    const uint32_t *current = find_slots(w, line->current, line->current_count, arena);
    const uint32_t *other = find_slots(w, line->others, line->other_count, arena);
    if (arena_failed(arena))
        return -ENOMEM;
    note_sums(w, line, sums);
    for (uint32_t i = 0; i < line->current_count; i++)
        if (current[i] != TOPOLOGY_NONE)
            members[current[i]] = 1;
    for (uint32_t i = 0; i < line->other_count; i++)
        if (other[i] != TOPOLOGY_NONE)
            others[other[i]]++;
    q->sums = sums;
    q->members = members;
    q->others = others;
    return 0;
}

static int make_plan(struct world *w, const struct plan_line *line, struct arena *arena,
                     struct plan *ret) {
    struct topology_order order;
    struct plan_question q = {.terms = line->terms,
                              .term_count = line->term_count,
                              .has_number = line->has_number,
                              .number = line->number,
                              .weight = line->weight};
    int r = topology_order(&w->view, &order);
    if (r == 0) {
        q.candidates = order.slots;
        q.candidate_count = order.count;
        r = note_clusters(w, line, arena, &q);
    }
    return r == 0 ? ocm_plan(&w->view, &q, arena, ret) : r;
}

static void put_names(const struct world *w, struct str name, const uint32_t *slots, uint32_t count,
                      struct json_writer *out) {
    json_key(out, name);
    json_begin_array(out);
    for (uint32_t i = 0; i < count; i++)
        json_put_string(out, topology_name(w->topology, slots[i]));
    json_end_array(out);
}

static void put_plan(const struct world *w, const struct plan_line *line, const struct plan *plan,
                     struct json_writer *out) {
    put_names(w, STR("selected"), plan->selected, plan->selected_count, out);
    put_names(w, STR("kept"), ocm_plan_kept(plan), plan->kept_count, out);
    json_key(out, STR("unscheduled"));
    json_put_integer(out, plan->unscheduled);
    json_key(out, STR("skew"));
    json_begin_array(out);
    for (uint32_t t = 0; t < line->term_count; t++)
        json_put_integer(out, plan->skew[t]);
    json_end_array(out);
}

int line_plan(struct json_reader *r, struct json_writer *out, struct err *err) {
    struct plan_line line = {.clusters = NULL};
    struct world w;
    struct plan plan;
    line_decode(r, &line);
    int e = json_finish(r, err);
    if (e != 0)
        return e;
    e = world_init(&w, &r->arena->steps, err);
    if (e == 0) {
        *err = (struct err){0};
        e = add_clusters(&w, &line, r->arena, err);
        if (e == 0)
            e = make_plan(&w, &line, r->arena, &plan);
        if (e == 0)
            put_plan(&w, &line, &plan, out);
        else if (err->code == 0)
            (void)err_set(err, e, "question: too large to be answered");
    }
    world_done(&w);
    return e;
}

#include "explain/scores.h"

#include "data/fluid/leaving.h"
#include "explain/scheduling.h"

/* ---- the scores of a candidate ---- */

/* Writes "ordered_spread" as the JSON key "orderedSpread". */
static void put_key(struct json_writer *w, const char *name) {
    char key[32];
    size_t n = 0;
    for (bool upper = false; *name != '\0' && n < sizeof key; name++) {
        bool lower = *name >= 'a' && *name <= 'z';
        if (*name != '_')
            key[n++] = upper && lower ? (char)(*name - 'a' + 'A') : *name;
        upper = *name == '_';
    }
    json_key(w, (struct str){key, n});
}

void score_put_numbers(struct json_writer *w, const struct score_column *column, uint32_t i) {
    json_key(w, STR("raw"));
    json_put_integer(w, column->raw[i]);
    json_key(w, STR("normalized"));
    json_put_integer(w, column->normalized[i]);
}

void score_put_algorithm(struct json_writer *w, const struct score_column *column, uint32_t i) {
    put_key(w, column->algorithm);
    json_begin_object(w);
    score_put_numbers(w, column, i);
    json_end_object(w);
}

void score_put_totals(struct json_writer *w, const struct score_result *result, uint32_t i) {
    json_key(w, STR("inTree"));
    json_begin_object(w);
    for (uint32_t p = 0; p < result->in_tree_count; p++) {
        json_key(w, str_of(result->in_tree[p].plugin));
        json_put_integer(w, result->in_tree[p].scores[i]);
    }
    json_end_object(w);
    json_key(w, STR("total"));
    json_put_integer(w, result->totals[i]);
}

/* ---- the best candidates ---- */

/* Returns a candidate's rank, higher is better: by priority, then by the first algorithm. */
static int64_t rank_of(const struct score_result *result, const int64_t *first, uint32_t i) {
    if (result->totals != NULL) /* totals decide where the pod would go */
        return result->totals[i];
    return (int64_t)result->priorities[i] * (ENGINE_MAX_NORMALIZED + 1) +
           (first != NULL ? first[i] : 0);
}

/* Finds the best candidates, the best first; equal candidates keep their order. One pass, with few
 * insertions. */
static uint32_t best_of(const struct score_result *result, uint32_t count, uint32_t wanted,
                        uint32_t best[static LIMIT_WHAT_IF_NODES]) {
    const int64_t *first = result->column_count > 0 ? result->columns[0].normalized : NULL;
    int64_t ranks[LIMIT_WHAT_IF_NODES], least = INT64_MIN;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count && wanted > 0; i++) {
        int64_t rank = rank_of(result, first, i);
        if (rank <= least)
            continue;
        uint32_t at = n < wanted ? n++ : n - 1;
        for (; at > 0 && rank > ranks[at - 1]; at--) {
            best[at] = best[at - 1];
            ranks[at] = ranks[at - 1];
        }
        best[at] = i;
        ranks[at] = rank;
        if (n == wanted)
            least = ranks[n - 1];
    }
    return n;
}

/* ---- the datasets behind a score of locality ---- */

static void put_holders(struct json_writer *w, const struct dataset_report *report) {
    json_key(w, STR("heldBy"));
    json_begin_array(w);
    for (uint32_t i = 0; i < report->holder_count; i++) {
        json_begin_object(w);
        json_put_member(w, STR("node"), report->holders[i].node);
        if (report->holders[i].bytes >= 0) {
            json_key(w, STR("bytes"));
            json_put_integer(w, report->holders[i].bytes);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_leaving_reason(struct json_writer *w, struct str key,
                               const struct leaving_node *leaving) {
    char bytes[600]; /* a pod's name has at most 253 bytes */
    struct strbuf reason = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    leaving_put_reason(leaving, &reason);
    json_put_member(w, key, strbuf_str(&reason));
}

static void put_some(struct json_writer *w, struct str key, int64_t number) {
    if (number < 0)
        return;
    json_key(w, key);
    json_put_integer(w, number);
}

static void put_dataset(struct json_writer *w, const struct dataset_report *report) {
    json_begin_object(w);
    json_put_member(w, STR("namespace"), report->dataset->namespace);
    json_put_member(w, STR("dataset"), report->dataset->id);
    put_some(w, STR("size"), report->dataset->size);
    put_some(w, STR("cached"), report->dataset->cached);
    put_some(w, STR("percent"), (int64_t)(report->weight * 100 + 0.5));
    put_some(w, STR("nodes"), report->nodes);
    put_holders(w, report);
    json_end_object(w);
}

static void put_datasets(struct decision *d, const struct score_result *result) {
    if (result->dataset_count == 0 || !decision_begin_list(d, STR("datasets")))
        return;
    for (uint32_t i = 0; i < result->dataset_count; i++) {
        struct decision_mark before = decision_mark(d);
        put_dataset(&d->w, &result->datasets[i]);
        if (!decision_keep(d, before))
            break;
    }
    json_end_array(&d->w);
}

/* Writes the candidate's tier for each dataset, and the part of its raw score from that tier. */
static void put_nearness(struct json_writer *w, const struct score_result *result, uint32_t i) {
    if (result->dataset_count == 0)
        return;
    json_key(w, STR("data"));
    json_begin_array(w);
    for (uint32_t k = 0; k < result->dataset_count; k++) {
        const struct dataset_report *report = &result->datasets[k];
        json_begin_object(w);
        json_put_member(w, STR("dataset"), report->dataset->id);
        json_put_member(w, STR("tier"), report->tier_names[report->tiers[i]]);
        put_some(w, STR("raw"), (int64_t)(report->points[i] + 0.5));
        if (report->leaving != NULL && report->leaving[i] != NULL)
            put_leaving_reason(w, STR("leaving"), report->leaving[i]);
        json_end_object(w);
    }
    json_end_array(w);
}

/* ---- nodes that workers of the pod's datasets are leaving ---- */

static bool put_leaving(struct decision *d, const struct mounted_dataset *dataset,
                        const struct leaving_node *leaving) {
    struct decision_mark before = decision_mark(d);
    json_begin_object(&d->w);
    json_put_member(&d->w, STR("node"), leaving->node);
    json_put_member(&d->w, STR("dataset"), dataset->id);
    put_leaving_reason(&d->w, STR("reason"), leaving);
    json_end_object(&d->w);
    return decision_keep(d, before);
}

static void put_all_leaving(struct decision *d, const struct pod *pod) {
    enum { PUT_AT_MOST = 5 };
    uint32_t put = 0;
    bool begun = false, fits = true;
    for (uint32_t i = 0; i < pod->dataset_count; i++)
        for (uint32_t k = 0; fits && put < PUT_AT_MOST && k < pod->datasets[i].leaving_count; k++) {
            if (!begun && !decision_begin_list(d, STR("leaving")))
                return;
            begun = true;
            fits = put_leaving(d, &pod->datasets[i], &pod->datasets[i].leaving[k]);
            put++;
        }
    if (begun)
        json_end_array(&d->w);
}

/* ---- all of it ---- */

static void put_score(struct decision *d, const struct candidates *candidates,
                      const struct score_result *result, uint32_t i) {
    struct json_writer *w = &d->w;
    json_begin_object(w);
    json_put_member(w, STR("node"), candidates->names[i]);
    json_key(w, STR("priority"));
    json_put_integer(w, result->priorities[i]);
    for (uint32_t c = 0; c < result->column_count; c++)
        score_put_algorithm(w, &result->columns[c], i);
    if (result->totals != NULL)
        score_put_totals(w, result, i);
    put_nearness(w, result, i);
    json_end_object(w);
}

void decision_put_scores(struct decision *d, const struct pod *pod,
                         const struct candidates *candidates, const struct score_result *result) {
    uint32_t best[LIMIT_WHAT_IF_NODES];
    uint32_t wanted = d->nodes < LIMIT_WHAT_IF_NODES ? d->nodes : LIMIT_WHAT_IF_NODES;
    uint32_t n = best_of(result, candidates->count, wanted, best);
    decision_put_constraints(d, result->applied, result->applied_count, NULL);
    decision_put_number(d, STR("candidates"), candidates->count);
    if (result->preferred > 0)
        decision_put_number(d, STR("preferred"), result->preferred);
    put_datasets(d, result);
    put_all_leaving(d, pod);
    if (!decision_begin_list(d, STR("scores")))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct decision_mark before = decision_mark(d);
        put_score(d, candidates, result, best[i]);
        if (!decision_keep(d, before))
            break;
    }
    json_end_array(&d->w);
}

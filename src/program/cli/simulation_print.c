#include "cli/simulation_print.h"

#include "base/json_writer.h"
#include "cli/answer_table.h"
#include "explain/scores.h"

/* ---- for programs ---- */

/* Puts the verdict of row i, and the filter and reason if it was refused. */
static void put_verdict(struct json_writer *w, const struct filter_result *filter, uint32_t i) {
    uint8_t reason = filter->reasons[i];
    json_begin_object(w);
    json_put_member(w, STR("verdict"), str_of(verdict_names[filter->verdicts[i]]));
    json_put_member(w, STR("filter"), str_of(filter->reason_filters[reason]));
    json_key(w, STR("reason"));
    json_put_text(w, filter->reason_texts[reason]);
    json_end_object(w);
}

static void put_not_judged(struct json_writer *w, uint32_t filters,
                           const struct filter_unknown *unknown) {
    char bytes[512]; /* names of filters and their notes fit */
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    engine_put_not_judged(filters, unknown, &text);
    json_put_member(w, STR("notJudged"), strbuf_str(&text));
}

static void put_node_scores(struct json_writer *w, const struct simulation *s, uint32_t i) {
    json_key(w, s->scored.names[i]);
    json_begin_object(w);
    if (s->score.column_count > 0) {
        score_put_numbers(w, &s->score.columns[0], i);
        json_key(w, STR("priority"));
        json_put_integer(w, s->score.priorities[i]);
    }
    for (uint32_t c = 1; c < s->score.column_count; c++)
        score_put_algorithm(w, &s->score.columns[c], i);
    score_put_totals(w, &s->score, i);
    json_end_object(w);
}

/* Returns the reason why no node was found; "" if a node was found. */
static struct str cause_of(const struct simulation_question *q, const struct simulation *s,
                           struct arena *arena) {
    return simulation_best(s) == UINT32_MAX ? simulation_cause(s, q->findings, arena) : STR("");
}

void simulation_print_json(const struct simulation_question *q, const struct simulation *s,
                           struct arena *arena, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("filter"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < s->filtered.count; i++) {
        json_key(&w, s->filtered.names[i]);
        put_verdict(&w, &s->filter, i);
    }
    json_end_object(&w);
    json_key(&w, STR("score"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < s->scored.count; i++)
        put_node_scores(&w, s, i);
    json_end_object(&w);
    json_key(&w, STR("cause"));
    json_put_text(&w, cause_of(q, s, arena));
    put_not_judged(&w, q->filters, &s->filter.unknown);
    json_end_object(&w);
}

/* ---- for people ---- */

static const struct answer_column columns[] = {
    COLUMN("NODE", "{@}"),
    COLUMN("VERDICT", "{verdict}"),
    NUMBER("PRIORITY", "{#^score.@.priority}", "-"),
    NUMBER("NORMALIZED", "{#^score.@.normalized}", "-"),
    NUMBER("RAW", "{#^score.@.raw}", "-"),
    NUMBER("TOTAL", "{#^score.@.total}", "-"),
    COLUMN("REASON", "{reason}"),
};
static const struct answer_table nodes = {COLUMNS(columns), .is_first = true};

/* Returns the total of a feasible node; for another node a negative number that depends on its
 * verdict. */
static int64_t rank(const struct value *node) {
    const struct str verdict = value_text(value_at(node, "verdict"));
    int number = 0;
    while (number < VERDICT_UNRESOLVABLE && !str_eq(verdict, str_of(verdict_names[number])))
        number++;
    return number == VERDICT_PASS ? value_number(value_at(node, "^score.@.total")) : -1 - number;
}

static int by_rank(const void *a, const void *b) {
    const struct value *x = *(const struct value *const *)a, *y = *(const struct value *const *)b;
    const int64_t left = rank(x), right = rank(y);
    if (left != right)
        return left > right ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

void simulation_print(const struct value *root, struct strbuf *out) {
    const struct value *filter = value_as(root, "filter", JSON_OBJECT);
    const struct value **items = answer_items(filter, 0, by_rank);
    if (items != NULL)
        answer_table_put_items(&nodes, root->of, items, filter->count, out);
    value_say(root, "[Pending because of {cause}\n]not judged: {~notJudged}\n", out);
}

#include "cli/simulation_print.h"

#include "base/table.h"
#include "cli/decision_lists.h"
#include "explain/scores.h"

#include <stdlib.h>

/* ---- for programs ---- */

/* What a row says that was refused, and by which filter. */
static void put_verdict(struct json_writer *w, const struct filter_result *filter, uint32_t i) {
    uint8_t reason = filter->reasons[i];
    json_begin_object(w);
    json_put_member(w, STR("verdict"), str_of(verdict_names[filter->verdicts[i]]));
    json_put_member(w, STR("filter"), str_of(filter->reason_filters[reason]));
    json_put_member(w, STR("reason"), filter->reason_texts[reason]);
    json_end_object(w);
}

static void put_not_judged(struct json_writer *w, uint32_t filters,
                           const struct filter_unknown *unknown) {
    char bytes[512]; /* names of filters, and what is said beside them, fit */
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

/* Of one that finds no node. */
static struct str cause_of(const struct simulation *s, struct arena *arena) {
    return simulation_best(s) == UINT32_MAX ? simulation_cause(s, arena) : STR("");
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
    json_put_member(&w, STR("cause"), cause_of(s, arena));
    put_not_judged(&w, q->filters, &s->filter.unknown);
    json_end_object(&w);
    strbuf_append_char(out, '\n');
}

/* ---- for people ---- */

const char simulation_unconstrained[] =
    "no spread constraint applies: the pod has none, and none comes by default; those that a\n"
    "TopologyPolicy gives it on its creation are shown by --admit\n";

void simulation_print_cause(struct str cause, struct strbuf *out) {
    strbuf_append_str(out, cause.n > 0 ? STR("Pending because of ") : STR(""));
    table_text(cause, out);
    strbuf_append_str(out, cause.n > 0 ? STR("\n") : STR(""));
}

/* One line of the table: a node and, if it was scored, where. */
struct line {
    uint32_t filtered, scored; /* scored: UINT32_MAX if it was not */
};

static int64_t rank(const struct simulation *s, const struct line *line) {
    if (s->filter.verdicts[line->filtered] != VERDICT_PASS)
        return -1 - s->filter.verdicts[line->filtered];
    return line->scored == UINT32_MAX ? 0 : s->score.totals[line->scored];
}

static int compare_lines(const void *a, const void *b, void *ctx) {
    const struct simulation *s = ctx;
    const struct line *x = a, *y = b;
    int64_t left = rank(s, x), right = rank(s, y);
    if (left != right)
        return left > right ? -1 : 1;
    return (x->filtered > y->filtered) - (x->filtered < y->filtered);
}

static void put_line(struct listing_rows *rows, const struct simulation *s,
                     const struct line *line) {
    const uint32_t node = line->filtered, i = line->scored;
    listing_put(rows, "node", s->filtered.names[node]);
    listing_put(rows, "verdict", str_of(verdict_names[s->filter.verdicts[node]]));
    if (i != UINT32_MAX && s->score.column_count > 0) {
        listing_put_number(rows, "priority", s->score.priorities[i]);
        listing_put_number(rows, "normalized", s->score.columns[0].normalized[i]);
        listing_put_number(rows, "raw", s->score.columns[0].raw[i]);
    }
    if (i != UINT32_MAX)
        listing_put_number(rows, "total", s->score.totals[i]);
    listing_put(rows, "reason", s->filter.reason_texts[s->filter.reasons[node]]);
    listing_end_row(rows);
}

bool simulation_print_table(const struct simulation_question *q, const struct simulation *s,
                            struct arena *arena, struct strbuf *out) {
    struct line *lines = arena_array(arena, s->filtered.count, sizeof *lines);
    struct listing_rows rows;
    if (lines == NULL)
        return false;
    bool same = s->scored.names == s->filtered.names; /* otherwise: those that passed, in order */
    for (uint32_t i = 0, next = 0; i < s->filtered.count; i++) {
        bool scored = same || s->filter.verdicts[i] == VERDICT_PASS;
        lines[i] = (struct line){i, scored ? next++ : UINT32_MAX};
    }
    struct simulation copy = *s;
    qsort_r(lines, s->filtered.count, sizeof *lines, compare_lines, &copy);
    listing_begin(&rows, &verdict_listing, arena);
    for (uint32_t i = 0; i < s->filtered.count; i++)
        put_line(&rows, s, &lines[i]);
    bool good = listing_render(&rows, out);
    simulation_print_cause(cause_of(s, arena), out);
    strbuf_append_str(out, STR("not judged: "));
    engine_put_not_judged(q->filters, &s->filter.unknown, out);
    strbuf_append_char(out, '\n');
    if (s->scored.count > 0 && !simulation_is_constrained(s))
        strbuf_append_str(out, str_of(simulation_unconstrained));
    return good;
}

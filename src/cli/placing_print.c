/* What `evenkeel simulate` prints of pods that are placed one after the other. */
#include "cli/decision_lists.h"
#include "cli/placing.h"

/* ---- for programs ---- */

void placing_print_json(const struct placing_question *q, const struct placing *p,
                        struct strbuf *out) {
    struct json_writer w = {.out = out};
    CLEANUP(strbuf_done) struct strbuf text = {0};
    json_begin_object(&w);
    json_key(&w, STR("pods"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < p->count; i++) {
        json_begin_object(&w);
        json_put_member(&w, STR("namespace"), p->pods[i].namespace);
        json_put_member(&w, STR("name"), p->pods[i].name);
        json_put_member(&w, STR("from"), p->pods[i].from);
        json_put_member(&w, STR("node"), p->pods[i].node);
        json_key(&w, STR("total"));
        json_put_integer(&w, p->pods[i].total);
        json_put_member(&w, STR("reason"), p->pods[i].reason);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, STR("pending"));
    json_put_integer(&w, p->pending);
    json_key(&w, STR("lostNodes"));
    json_put_integer(&w, p->lost_nodes);
    json_key(&w, STR("domains"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < p->domain_count; i++) {
        json_begin_object(&w);
        json_put_member(&w, STR("topologyKey"), p->domains[i].key);
        json_put_member(&w, STR("domain"), p->domains[i].value);
        json_key(&w, STR("before"));
        json_put_integer(&w, p->domains[i].before);
        json_key(&w, STR("added"));
        json_put_integer(&w, p->domains[i].added);
        json_end_object(&w);
    }
    json_end_array(&w);
    engine_put_not_judged(q->pods.filters, &p->unknown, &text);
    json_put_member(&w, STR("notJudged"), strbuf_str(&text));
    json_end_object(&w);
    strbuf_append_char(out, '\n');
}

/* ---- for people ---- */

enum { BAR = 60 };

/* '#' for each pod that was there, '+' for each that came; scaled where they are too many. */
static struct str bar_of(const struct placed_domain *d, int64_t most, struct arena *arena) {
    int64_t scale = most > BAR ? (most + BAR - 1) / BAR : 1;
    struct strbuf bar = {.max = 4 * BAR};
    for (int64_t i = 0; i < d->before; i += scale)
        strbuf_append_char(&bar, '#');
    for (int64_t i = 0; i < d->added; i += scale)
        strbuf_append_char(&bar, '+');
    struct str kept = arena_str(arena, strbuf_str(&bar));
    strbuf_done(&bar);
    return kept;
}

static bool put_bars(const struct placing *p, struct arena *arena, struct strbuf *out) {
    struct listing_rows rows;
    int64_t most = 0;
    for (uint32_t i = 0; i < p->domain_count; i++)
        if (p->domains[i].before + p->domains[i].added > most)
            most = p->domains[i].before + p->domains[i].added;
    listing_begin(&rows, &bar_listing, arena);
    for (uint32_t i = 0; i < p->domain_count; i++) {
        listing_put(&rows, "topologyKey", p->domains[i].key);
        listing_put(&rows, "domain", p->domains[i].value);
        listing_put_number(&rows, "before", p->domains[i].before);
        listing_put_number(&rows, "added", p->domains[i].added);
        listing_put(&rows, "bar", bar_of(&p->domains[i], most, arena));
        listing_end_row(&rows);
    }
    strbuf_append_char(out, '\n');
    return listing_render(&rows, out);
}

static void put_pod(struct listing_rows *rows, const struct placed_pod *pod, struct arena *arena) {
    listing_put(rows, "pod",
                arena_printf(arena, "%.*s/%.*s", STR_ARG(pod->namespace), STR_ARG(pod->name)));
    if (pod->from.n > 0)
        listing_put(rows, "from", pod->from);
    if (pod->node.n > 0) {
        listing_put(rows, "node", pod->node);
        listing_put_number(rows, "total", pod->total);
    }
    listing_put(rows, "reason", pod->reason);
    listing_end_row(rows);
}

bool placing_print_table(const struct placing_question *q, const struct placing *p,
                         struct arena *arena, struct strbuf *out) {
    struct listing_rows rows;
    listing_begin(&rows, &placed_listing, arena);
    for (uint32_t i = 0; i < p->count; i++)
        put_pod(&rows, &p->pods[i], arena);
    bool good = listing_render(&rows, out);
    if (p->domain_count > 0)
        good = put_bars(p, arena, out) && good;
    strbuf_appendf(out, "\n%u placed, %u Pending", p->count - p->pending, p->pending);
    if (p->lost_nodes > 0)
        strbuf_appendf(out, "; without %u nodes", p->lost_nodes);
    strbuf_append_str(out, STR("\nnot judged: "));
    engine_put_not_judged(q->pods.filters, &p->unknown, out);
    strbuf_append_char(out, '\n');
    if (p->count > p->pending && !p->constrained)
        strbuf_append_str(out, str_of(simulation_unconstrained));
    return good;
}

#include "cli/placing_print.h"

#include "cli/decision_lists.h"
#include "cli/simulation_print.h"
#include "cli/terminal.h"

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
    json_put_member(&w, STR("cause"), p->cause);
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

enum { BAR = 60, BAR_LEAST = 10 };

/* '#' for each pod that was there, '+' for each that came; scaled where they are too many. */
static struct str bar_of(const struct placed_domain *d, int64_t most, int64_t room,
                         struct arena *arena) {
    int64_t scale = most > room ? (most + room - 1) / room : 1;
    struct strbuf bar = {.max = 4 * BAR};
    for (int64_t i = 0; i < d->before; i += scale)
        strbuf_append_char(&bar, '#');
    for (int64_t i = 0; i < d->added; i += scale)
        strbuf_append_char(&bar, '+');
    struct str kept = arena_str(arena, strbuf_str(&bar));
    strbuf_done(&bar);
    return kept;
}

/* What a terminal has left for the bars behind the other columns. */
static int64_t room_for_bars(const struct placing *p) {
    int64_t key = sizeof "TOPOLOGY KEY" - 1, domain = sizeof "DOMAIN" - 1;
    const int64_t width = terminal_width();
    for (uint32_t i = 0; i < p->domain_count; i++) {
        key = (int64_t)p->domains[i].key.n > key ? (int64_t)p->domains[i].key.n : key;
        domain = (int64_t)p->domains[i].value.n > domain ? (int64_t)p->domains[i].value.n : domain;
    }
    const int64_t left = width - key - domain - (int64_t)sizeof "    BEFORE  ADDED  ";
    return width == 0 || left > BAR ? BAR : left < BAR_LEAST ? BAR_LEAST : left;
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
        listing_put(&rows, "bar", bar_of(&p->domains[i], most, room_for_bars(p), arena));
        listing_end_row(&rows);
    }
    strbuf_append_char(out, '\n');
    return listing_render(&rows, out);
}

static bool is_equal(const struct placed_pod *a, const struct placed_pod *b) {
    return a->from.n == 0 && b->from.n == 0 && a->total == b->total && str_eq(a->node, b->node) &&
           str_eq(a->reason, b->reason) && str_eq(a->namespace, b->namespace);
}

/* What is behind the last '-': the number of a replica. */
static struct str number_of(struct str name) {
    size_t at = name.n;
    while (at > 0 && name.p[at - 1] != '-')
        at--;
    return (struct str){name.p + at, name.n - at};
}

/* One line for `count` pods, which have all become the same: "shop/web-replica-5 to 8". */
static void put_pods(struct listing_rows *rows, const struct placed_pod *pod, uint32_t count,
                     struct arena *arena) {
    const struct str last = count > 1 ? number_of(pod[count - 1].name) : STR("");
    listing_put(rows, "pod",
                arena_printf(arena, "%.*s/%.*s%s%.*s", STR_ARG(pod->namespace), STR_ARG(pod->name),
                             count > 1 ? " to " : "", STR_ARG(last)));
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
    for (uint32_t i = 0, n; i < p->count; i += n) {
        for (n = 1; i + n < p->count && is_equal(&p->pods[i], &p->pods[i + n]);)
            n++;
        put_pods(&rows, &p->pods[i], n, arena);
    }
    bool good = listing_render(&rows, out);
    if (p->domain_count > 0)
        good = put_bars(p, arena, out) && good;
    strbuf_appendf(out, "\n%u placed, %u Pending", p->count - p->pending, p->pending);
    if (p->lost_nodes > 0)
        strbuf_appendf(out, "; without %u nodes", p->lost_nodes);
    strbuf_append_char(out, '\n');
    simulation_print_cause(p->cause, out);
    strbuf_append_str(out, STR("not judged: "));
    engine_put_not_judged(q->pods.filters, &p->unknown, out);
    strbuf_append_char(out, '\n');
    if (p->count > p->pending && !p->constrained)
        strbuf_append_str(out, str_of(simulation_unconstrained));
    return good;
}

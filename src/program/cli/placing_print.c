#include "cli/placing_print.h"

#include "base/json_writer.h"
#include "base/limits.h"
#include "cli/answer_table.h"
#include "cli/terminal.h"

/* ---- for programs ---- */

static void put_domain(const struct placed_domain *d, bool is_constrained, struct json_writer *w) {
    json_begin_object(w);
    json_put_member(w, STR("topologyKey"), d->key);
    if (is_constrained) {
        json_key(w, STR("constraint"));
        json_put_integer(w, d->constraint);
        json_put_member(w, STR("whenUnsatisfiable"),
                        d->hard ? STR("DoNotSchedule") : STR("ScheduleAnyway"));
    }
    json_put_member(w, STR("domain"), d->value);
    json_key(w, STR("counted"));
    json_put_bool(w, d->counted);
    json_key(w, STR("before"));
    json_put_integer(w, d->before);
    json_key(w, STR("added"));
    json_put_integer(w, d->added);
    json_end_object(w);
}

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
        json_key(&w, STR("reason"));
        json_put_text(&w, p->pods[i].reason);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, STR("pending"));
    json_put_integer(&w, p->pending);
    json_key(&w, STR("cause"));
    json_put_text(&w, p->cause);
    json_key(&w, STR("lostNodes"));
    json_put_integer(&w, p->lost_nodes);
    json_key(&w, STR("domains"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < p->domains.count; i++)
        put_domain(&p->domains.items[i], p->domains.constrained, &w);
    json_end_array(&w);
    engine_put_not_judged(q->pods.filters, &p->unknown, &text);
    json_put_member(&w, STR("notJudged"), strbuf_str(&text));
    json_end_object(&w);
}

/* ---- bars ---- */

enum { BAR = 60, BAR_LEAST = 10 };

struct bars {
    int64_t most, room; /* number of pods in the fullest domain, and of columns for a bar */
    bool is_key_twice;
};

/* Draws '#' for each old pod and '+' for each new pod; scaled if a bar would be too long. */
static struct str cell_bar(const struct value *domain, const void *ctx) {
    CLEANUP(strbuf_done) struct strbuf bar = {.max = 4 * BAR};
    const struct bars *bars = ctx;
    if (!value_holds(value_at(domain, "counted")))
        return STR("not counted: the constraint leaves out its nodes");
    const int64_t scale = bars->most > bars->room ? (bars->most + bars->room - 1) / bars->room : 1;
    const int64_t before = value_number(value_at(domain, "before"));
    const int64_t added = value_number(value_at(domain, "added"));
    for (int64_t i = 0; i < before; i += scale)
        strbuf_append_char(&bar, '#');
    for (int64_t i = 0; i < added; i += scale)
        strbuf_append_char(&bar, '+');
    return arena_str(domain->of->arena, strbuf_str(&bar));
}

/* Two constraints may have one key: then their index in the pod's list is added. */
static struct str cell_key(const struct value *domain, const void *ctx) {
    const struct bars *bars = ctx;
    return value_cell(domain, bars->is_key_twice
                                  ? "{topologyKey} (constraint {#constraint}, {whenUnsatisfiable})"
                                  : "{topologyKey}");
}

/* Have two constraints the same key? Domains are sorted by constraint. */
static bool is_key_twice(const struct value *domains) {
    struct str keys[2 * LIMIT_EXPLAINED_CONSTRAINTS]; /* keys of hard and of soft constraints */
    uint32_t count = 0;
    int64_t last = -1;
    for (const struct value *d = domains->first; d != NULL; d = d->next) {
        const int64_t at = value_number(value_at(d, "constraint"));
        if (at == last || count == sizeof keys / sizeof keys[0])
            continue;
        last = at;
        keys[count] = value_text(value_at(d, "topologyKey"));
        for (uint32_t i = 0; i < count; i++)
            if (str_eq(keys[i], keys[count]))
                return true;
        count++;
    }
    return false;
}

static int64_t longer(int64_t longest, const struct value *text) {
    const int64_t n = (int64_t)value_text(text).n;
    return n > longest ? n : longest;
}

/* Finds the fullest domain, and the columns of the terminal that are left for bars. */
static struct bars measure(const struct value *domains) {
    struct bars bars = {.most = 0, .room = BAR, .is_key_twice = is_key_twice(domains)};
    int64_t key = sizeof "TOPOLOGY KEY" - 1, name = sizeof "DOMAIN" - 1;
    for (const struct value *d = domains->first; d != NULL; d = d->next) {
        const int64_t pods =
            value_number(value_at(d, "before")) + value_number(value_at(d, "added"));
        bars.most = pods > bars.most ? pods : bars.most;
        key = longer(key, value_at(d, "topologyKey"));
        name = longer(name, value_at(d, "domain"));
    }
    if (bars.is_key_twice)
        key += (int64_t)sizeof " (constraint 0, ScheduleAnyway)";
    const int64_t left =
        (int64_t)terminal_width() - key - name - (int64_t)sizeof "    BEFORE  ADDED  ";
    if (terminal_width() > 0 && left <= BAR)
        bars.room = left < BAR_LEAST ? BAR_LEAST : left;
    return bars;
}

static void put_domains(const struct value *root, struct strbuf *out) {
    const struct value *domains = value_as(root, "domains", JSON_ARRAY);
    const struct bars bars = measure(domains);
    const struct answer_column columns[] = {
        CELL("TOPOLOGY KEY", cell_key, &bars),
        COLUMN("DOMAIN", "{domain}"),
        NUMBER("BEFORE", "[{?counted}{#before}|-]"),
        NUMBER("ADDED", "[{?counted}{#added}|-]"),
        CELL("PODS", cell_bar, &bars),
    };
    const struct answer_table table = {COLUMNS(columns)};
    answer_table_put(&table, domains, out);
}

/* ---- pods ---- */

/* Do both pods have the same result, so that one line is enough? */
static bool is_equal(const struct value *a, const struct value *b) {
    static const char *const members[] = {"from", "total", "node", "reason", "namespace"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (!str_eq(value_at(a, members[i])->text, value_at(b, members[i])->text))
            return false;
    return value_at(a, "from")->text.n == 0;
}

/* Returns the part after the last '-': the number of a replica. */
static struct str number_of(struct str name) {
    size_t at = name.n;
    while (at > 0 && name.p[at - 1] != '-')
        at--;
    return (struct str){name.p + at, name.n - at};
}

/* Returns the names of consecutive equal pods: "shop/web-replica-5 to 8". */
static struct str cell_pods(const struct value *pod, const void *ctx) {
    const struct value *last = pod;
    const struct str name = value_cell(pod, "{~namespace}/{~name}");
    (void)ctx;
    while (last->next != NULL && is_equal(pod, last->next))
        last = last->next;
    return last == pod ? name
                       : arena_printf(pod->of->arena, "%.*s to %.*s", STR_ARG(name),
                                      STR_ARG(number_of(value_text(value_at(last, "name")))));
}

static const struct answer_column pod_columns[] = {
    CELL("POD", cell_pods, NULL),        COLUMN("FROM", "{from}", "-"),
    COLUMN("NODE", "{node}", "Pending"), NUMBER("TOTAL", "[{?node}{#total}|-]"),
    COLUMN("REASON", "{reason}"),
};
static const struct answer_table pod_table = {COLUMNS(pod_columns), .is_first = true};

void placing_print(const struct value *root, struct strbuf *out) {
    const struct value *pods = value_as(root, "pods", JSON_ARRAY);
    const struct value **items = answer_items(pods, 0, NULL);
    uint32_t count = 0;
    for (const struct value *pod = pods->first, *first = pod; items != NULL && pod != NULL;
         pod = pod->next)
        if (pod == first || !is_equal(first, pod))
            items[count++] = first = pod;
    if (items != NULL)
        answer_table_put_items(&pod_table, root->of, items, count, out);
    put_domains(root, out);
    strbuf_appendf(out, "\n%lld placed, ",
                   (long long)(pods->count - value_number(value_at(root, "pending"))));
    value_say(root,
              "{0pending} Pending[{?lostNodes}; without {#lostNodes} nodes]\n"
              "[Pending because of {cause}\n]not judged: {~notJudged}\n",
              out);
}

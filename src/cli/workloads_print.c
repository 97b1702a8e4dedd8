/* Workloads and their domains for people. */
#include "base/table.h"
#include "cli/terminal.h"
#include "cli/workloads_internal.h"
#include "evenness/render.h"

/* For people, not for -o json. */
enum { BAR = 40, NAME_SHOWN = 80, DOMAINS_SHOWN = 50, WORKLOADS_SHOWN = 1000 };

static struct str shown(struct str domain) {
    return domain.n > 0 ? domain : STR("\"\"");
}

static void bar_cell(struct table *t, uint32_t pods, uint32_t most) {
    static const char bar[] = "########################################";
    uint64_t length = most == 0 ? 0 : ((uint64_t)pods * BAR + most - 1) / most;
    table_cell(t, (struct str){bar, length});
}

static void say_more(uint32_t count, uint32_t shown, struct strbuf *out) {
    if (count > shown)
        strbuf_appendf(out, "and %u more; -o json has all\n", count - shown);
}

static bool print_domains(const struct selection *s, struct strbuf *out) {
    static const char *const headings[] = {"DOMAIN", "NODES", "PODS", ""};
    const struct evenness_key *key = &s->report->keys[s->key];
    uint32_t most = 0;
    struct table t;
    terminal_table_init(&t, headings, 4, s->arena);
    t.right_aligned = 6;
    t.widest = NAME_SHOWN;
    for (uint32_t d = 0; d < key->domain_count; d++)
        most = key->domains[d].pods > most ? key->domains[d].pods : most;
    for (uint32_t d = 0; d < key->domain_count && d < DOMAINS_SHOWN; d++) {
        table_cell(&t, shown(key->domains[d].name));
        table_number(&t, key->domains[d].nodes);
        table_number(&t, key->domains[d].pods);
        bar_cell(&t, key->domains[d].pods, most);
    }
    bool good = table_render(&t, out);
    say_more(key->domain_count, DOMAINS_SHOWN, out);
    return good;
}

static void print_head(const struct selection *s, struct strbuf *out) {
    const struct evenness_key *key = &s->report->keys[s->key];
    table_text(key->name, out);
    strbuf_appendf(out, ": %u domains; %u workloads: %u even, %u unavoidable, %u uneven",
                   key->domain_count, s->report->workload_count, key->totals[EVENNESS_EVEN],
                   key->totals[EVENNESS_UNAVOIDABLE], key->totals[EVENNESS_UNEVEN]);
    if (key->totals[EVENNESS_UNKNOWN] > 0)
        strbuf_appendf(out, ", %u unknown", key->totals[EVENNESS_UNKNOWN]);
    strbuf_append_str(out, STR("\n\n"));
}

/* "zone-a 5  zone-b 4  zone-c 0!" */
static struct str counts_text(const struct selection *s, const struct evenness_result *result) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct evenness_key *key = &s->report->keys[s->key];
    for (uint32_t i = 0; i < result->count && i < DOMAINS_SHOWN; i++) {
        const struct evenness_count *count = &key->counts[result->first + i];
        strbuf_appendf(&text, "%s%.*s %u%s", i > 0 ? "  " : "",
                       STR_ARG(shown(key->domains[count->domain].name)), count->pods,
                       count->feasible ? "" : "!");
    }
    if (result->count > DOMAINS_SHOWN)
        strbuf_appendf(&text, "  and %u more", result->count - DOMAINS_SHOWN);
    return arena_str(s->arena, strbuf_str(&text));
}

/* "StatefulSet", "StatefulSet.apps.kruise.io" */
static struct str kind_text(const struct evenness_workload *w, struct arena *arena) {
    if (evenness_is_built_in(w) || w->group.n == 0)
        return w->kind;
    return arena_printf(arena, "%.*s.%.*s", STR_ARG(w->kind), STR_ARG(w->group));
}

static void skew_cell(struct table *t, const struct evenness_result *result, uint32_t skew) {
    if (result->state == EVENNESS_UNKNOWN)
        table_cell(t, STR("-"));
    else
        table_number(t, skew);
}

static bool print_workloads(const struct selection *s, struct strbuf *out) {
    static const char *const headings[] = {"NAMESPACE", "NAME", "KIND",  "PODS",
                                           "SKEW",      "BEST", "STATE", "DOMAINS"};
    struct table t;
    terminal_table_init(&t, headings, 8, s->arena);
    t.right_aligned = 7 << 3;
    t.width = t.fits ? t.width : 160;
    t.narrowest = 40;
    t.widest = NAME_SHOWN;
    for (uint32_t i = 0; i < s->count && i < WORKLOADS_SHOWN; i++) {
        const struct evenness_workload *w = &s->report->workloads[s->numbers[i]];
        const struct evenness_result *result = &s->report->keys[s->key].results[s->numbers[i]];
        table_cell(&t, w->namespace);
        table_cell(&t, w->name);
        table_cell(&t, kind_text(w, s->arena));
        table_number(&t, w->pods);
        skew_cell(&t, result, result->skew);
        skew_cell(&t, result, result->best);
        table_cell(&t, str_of(evenness_state_names[result->state]));
        table_cell(&t, counts_text(s, result));
    }
    bool good = table_render(&t, out);
    say_more(s->count, WORKLOADS_SHOWN, out);
    return good;
}

static const char *meaning(const struct evenness_result *result) {
    static const char *const meanings[EVENNESS_STATES] = {
        [EVENNESS_EVEN] = "even",
        [EVENNESS_UNAVOIDABLE] = "unavoidable: no placement on its feasible nodes has less",
        [EVENNESS_UNEVEN] = "uneven: the cluster could do better",
        [EVENNESS_UNKNOWN] = "unknown: where its pods may run could not be told"};
    return meanings[result->state];
}

static bool print_workload(const struct selection *s, uint32_t number, struct strbuf *out) {
    static const char *const headings[] = {"DOMAIN", "PODS", ""};
    const struct evenness_key *key = &s->report->keys[s->key];
    const struct evenness_workload *w = &s->report->workloads[number];
    const struct evenness_result *result = &key->results[number];
    uint32_t most = 0;
    struct table t;
    table_text(kind_text(w, s->arena), out);
    strbuf_append_char(out, ' ');
    table_text(w->namespace, out);
    strbuf_append_char(out, '/');
    table_text(w->name, out);
    strbuf_appendf(out, ", %u pods, by ", w->pods);
    table_text(key->name, out);
    strbuf_append_char(out, '\n');
    if (result->state != EVENNESS_UNKNOWN)
        strbuf_appendf(out, "skew %u, best %u; ", result->skew, result->best);
    strbuf_appendf(out, "%s\n\n", meaning(result));
    terminal_table_init(&t, headings, 3, s->arena);
    t.right_aligned = 2;
    t.widest = NAME_SHOWN;
    for (uint32_t i = 0; i < result->count; i++)
        most =
            key->counts[result->first + i].pods > most ? key->counts[result->first + i].pods : most;
    for (uint32_t i = 0; i < result->count && i < WORKLOADS_SHOWN; i++) {
        const struct evenness_count *count = &key->counts[result->first + i];
        table_cell(&t, shown(key->domains[count->domain].name));
        table_number(&t, count->pods);
        if (count->feasible)
            bar_cell(&t, count->pods, most);
        else
            table_cell(&t, STR("! no feasible node: does not count"));
    }
    bool good = table_render(&t, out);
    say_more(result->count, WORKLOADS_SHOWN, out);
    return good;
}

bool workloads_print_table(const struct workloads_request *q, const struct selection *s,
                           struct strbuf *out) {
    bool good = true;
    if (q->name.n > 0) {
        for (uint32_t i = 0; good && i < s->count; i++) {
            if (i > 0)
                strbuf_append_char(out, '\n');
            good = print_workload(s, s->numbers[i], out);
        }
        return good;
    }
    print_head(s, out);
    good = print_domains(s, out);
    strbuf_append_char(out, '\n');
    return good && print_workloads(s, out);
}

/*
 * Plans of Placements. The fleets and their answers are those of Open Cluster Management's
 * enhancement 70 (use cases, worked example, the cases in its history), and of what is agreed where
 * it is silent.
 */
#include "unit/ocm/small_fleet.h"

#include <errno.h>
#include <stdio.h>

/*
 * Clusters: "c1:50 region=east zone=1a; c2* claim:cloud=Amazon" - the name, ":" and its sum, "*"
 * for a member, "+2" for the spread group's; then its labels by key. Terms: "region soft; zone hard
 * 2 min=3; claim:cloud hard 1".
 */
struct plan_case {
    const char *name, *clusters, *terms;
    int number;           /* -1: none */
    int weights[2];       /* the answer is the same for both */
    const char *selected; /* the kept behind "|" */
    uint32_t unscheduled;
    int64_t skew[3];
};

#define WORKED                                                                                     \
    "c1:50 region=us-east zone=us-east-1a; c2:50 region=us-east zone=us-east-1a;"                  \
    "c3:0 region=us-east zone=us-east-1b; c4:0 region=us-west zone=us-west-1a;"                    \
    "c5:50 region=us-west zone=us-west-1a"
#define EAST_AND_WEST                                                                              \
    "e0 region=east; e1 region=east; e2 region=east; e3 region=east; e4 region=east;"              \
    "e5 region=east; e6 region=east; w0 region=west; w1 region=west"
#define CLOUDS                                                                                     \
    "c1 claim:cloud=Amazon; c2 claim:cloud=Amazon; c3 claim:cloud=Google;"                         \
    "c4 claim:cloud=Google; c5 claim:cloud=IBM"
#define TWO_ZONES "a0 zone=1a; a1 zone=1a; a2 zone=1a; b0 zone=1b; b1 zone=1b; b2 zone=1b"
#define THREE_AND_ONE "a0 zone=1a; a1 zone=1a; a2 zone=1a; b0 zone=1b"
#define TWO_REGIONS                                                                                \
    "a0 region=east zone=1a; a1 region=east zone=1a; b0 region=east zone=1b;"                      \
    "w0 region=west zone=1a; w1 region=west zone=1a; w2 region=west zone=1a"

static const struct plan_case cases[] = {
    {"worked example", WORKED, "region soft; zone hard 1", 2, {0, 2}, "c1 c5", 0, {0, 1}},
    {"worked example, one more",
     WORKED,
     "region soft; zone hard 1",
     3,
     {0, 0},
     "c1 c5 c3",
     0,
     {1, 0}},
    {"7 and 2, soft", EAST_AND_WEST, "region soft", 7, {0, 2}, "e0 w0 e1 w1 e2 e3 e4", 0, {3}},
    {"7 and 2, hard 1", EAST_AND_WEST, "region hard 1", 7, {0, 2}, "e0 w0 e1 w1 e2", 2, {1}},
    {"7 and 2, hard 2", EAST_AND_WEST, "region hard 2", 7, {0, 2}, "e0 w0 e1 w1 e2 e3", 1, {2}},
    {"7 and 2, hard 5",
     EAST_AND_WEST,
     "region hard 5",
     9,
     {0, 2},
     "e0 w0 e1 w1 e2 e3 e4 e5 e6",
     0,
     {5}},
    {"UC1: a key of the user's, a claim",
     CLOUDS,
     "claim:cloud hard 1",
     3,
     {0, 2},
     "c1 c3 c5",
     0,
     {0}},
    {"and all of them", CLOUDS, "claim:cloud hard 1", 5, {0, 2}, "c1 c3 c5 c2 c4", 0, {1}},
    {"UC2: evenly over zones", TWO_ZONES, "zone hard 1", 4, {0, 2}, "a0 b0 a1 b1", 0, {0}},
    {"UC3: hard 1", THREE_AND_ONE, "zone hard 1", 4, {0, 2}, "a0 b0 a1", 1, {1}},
    {"UC3: hard 2", THREE_AND_ONE, "zone hard 2", 4, {0, 2}, "a0 b0 a1 a2", 0, {2}},
    {"UC3: soft", THREE_AND_ONE, "zone soft", 4, {0, 2}, "a0 b0 a1 a2", 0, {2}},
    {"UC4: regions first, then zones",
     TWO_REGIONS,
     "region soft; zone soft",
     4,
     {0, 0},
     "a0 w0 b0 w1",
     0,
     {0, 0}},
    /* without a number all */
    {"no number", THREE_AND_ONE, "zone soft", -1, {0, 2}, "a0 b0 a1 a2", 0, {2}},
    {"no number, and not all are allowed",
     THREE_AND_ONE,
     "zone hard 1",
     -1,
     {0, 2},
     "a0 b0 a1",
     0,
     {1}},
    {"number 0", THREE_AND_ONE, "zone soft", 0, {0, 2}, "", 0, {0}},
    {"more than there are", THREE_AND_ONE, "zone soft", 6, {0, 2}, "a0 b0 a1 a2", 2, {2}},
    {"nobody", "", "zone hard 1", 3, {0, 2}, "", 3, {0}},
    /* without terms: by sum, then name; a member is nothing special, and a weight nothing at all */
    {"no terms", "c:1* x=y; a:0*; b:1; d:2", "", 3, {0, 5}, "d b c", 0, {0}},
    {"no terms, no number", "b:1; a:1*; c:7", "", -1, {0, -3}, "c a b", 0, {0}},
    {"a sum below 0", "a:-2; b:-1; c:-3", "", 2, {0, 1}, "b a", 0, {0}},
    /* members stay */
    {"a third zone appears",
     "a0* z=1; a1* z=1; a2* z=1; b0* z=2; b1* z=2; b2* z=2; c z=3",
     "z hard 1",
     6,
     {0, 2},
     "a0 b0 c a1 b1 | a2",
     0,
     {2}},
    {"nobody new above minDomains",
     "a0* z=1; a1* z=1; a2* z=1; a3 z=1; b0 z=2; b1* z=2",
     "z hard 1 min=3",
     6,
     {0, 2},
     "a0 b1 | a1 a2",
     2,
     {3}},
    {"without a number all of them",
     "a0* z=1; a1* z=1; a2* z=1; a3 z=1; b z=2",
     "z hard 1",
     -1,
     {0, 2},
     "a0 b a1 | a2",
     0,
     {2}},
    {"enough are picked", "a0* z=1; a1* z=1; b z=2", "z hard 1", 2, {0, 2}, "a0 b", 0, {0}},
    {"the emptier zone first",
     "a0:1* z=1; a1:9* z=1; a2:9* z=1; b0:1* z=2; b1:0* z=2; b2:0 z=2; c z=3",
     "z hard 1 min=4",
     4,
     {0, 2},
     "a1 b0 c | a2",
     0,
     {2}},
    {"by sum where zones are as full",
     "a0:1* z=1; a1:2* z=1; b0:3* z=2; b1:3* z=2",
     "z hard 1 min=3",
     3,
     {0, 2},
     "b0 a1 | b1",
     0,
     {2}},
    {"without the key last, by sum and name",
     "a* z=1; b:1*; c:2*; d:1*; e:9; f* z=1; g z=2",
     "z hard 1",
     6,
     {0, 2},
     "a g f | c b d",
     0,
     {1}},
    {"which is in no domain of a soft term above",
     "a* r=1 z=1; b* r=1; c* r=2",
     "r soft; z hard 1",
     3,
     {0, 2},
     "a | b c",
     0,
     {0, 0}},
    {"nobody else has it", "a*; b*; c", "z hard 1", 3, {0, 2}, "| a b", 1, {0}},
    {"more than there is room for", "a*; b*; c*", "z hard 1", 2, {0, 2}, "| a b", 0, {0}},
    {"soft terms let all in", "a*; b* z=1; c z=1", "z soft", 3, {0, 2}, "a b c", 0, {1}},
    /* who wins among equals */
    {"first the sum", "a:1* z=1; b:2 z=2", "z soft", 1, {0, 1}, "b", 0, {1}},
    {"then a member", "a:2 z=1; b:2* z=2; c:2* z=2", "z soft", 1, {0, 1}, "b", 0, {1}},
    {"then the name", "b:2 z=1; a:2 z=2", "z soft", 1, {0, 1}, "a", 0, {1}},
    {"within a domain, too", "a:1 z=1; b:1* z=1; c:0* z=1", "z soft", 3, {0, 1}, "b a c", 0, {0}},
    /* a missing key */
    {"hard: it takes no part", "a zone=1; b; c zone=2", "zone hard 1", -1, {0, 2}, "a c", 0, {0}},
    {"hard, counted", "a zone=1; b; c zone=2", "zone hard 1", 3, {0, 2}, "a c", 1, {0}},
    {"soft: one domain of its own",
     "a zone=1; b; c; d zone=1",
     "zone soft",
     3,
     {0, 0},
     "a b c",
     0,
     {1}},
    {"which is that of the empty value",
     "a zone=; b; c zone=2",
     "zone soft",
     2,
     {0, 0},
     "a c",
     0,
     {0}},
    {"soft above hard",
     "a region=1; b zone=1; c zone=2",
     "region soft; zone hard 1",
     2,
     {0, 0},
     "b c",
     0,
     {0, 0}},
    {"hard on an empty value", "a zone=; b zone=1", "zone hard 1", 2, {0, 0}, "a b", 0, {0}},
    {"a label is no claim", "a claim:zone=1; b zone=1", "zone hard 1", 2, {0, 0}, "b", 1, {0}},
    {"a claim is no label",
     "a claim:zone=1; b zone=1",
     "claim:zone hard 1",
     2,
     {0, 0},
     "a",
     1,
     {0}},
    {"nobody has it, soft", "a; b", "zone soft", 2, {0, 3}, "a b", 0, {0}},
    {"nobody has it, hard", "a; b", "zone hard 1", 2, {0, 3}, "", 2, {0}},
    {"equal zone names in two regions differ",
     TWO_REGIONS,
     "region soft; zone hard 1",
     4,
     {0, 0},
     "a0 w0 b0 w1",
     0,
     {0, 0}},
    /* minDomains */
    {"fewer domains than minDomains: 0 counts",
     TWO_ZONES,
     "zone hard 1 min=3",
     4,
     {0, 2},
     "a0 b0",
     2,
     {1}},
    {"as many", TWO_ZONES, "zone hard 1 min=2", 4, {0, 2}, "a0 b0 a1 b1", 0, {0}},
    {"soft: in skew only", TWO_ZONES, "zone soft min=3", 4, {0, 2}, "a0 b0 a1 b1", 0, {2}},
    {"siblings of a parent, not all domains",
     TWO_REGIONS,
     "region soft; zone hard 1 min=2",
     -1,
     {0, 0},
     "a0 w0 b0 a1",
     0,
     {2, 1}},
    /* the spread group */
    {"the group has the first", "a+1 z=1; b z=2; c z=1", "z soft", 1, {0, 1}, "b", 0, {0}},
    {"more than once", "a+3 z=1; b z=2; c z=2; d z=1", "z hard 1", -1, {0, 1}, "b c", 0, {1}},
    {"above maxSkew from the start", "a+3 z=1; b z=2", "z hard 1", 2, {0, 1}, "b", 1, {2}},
    {"of a cluster that takes no part it does not count",
     "a+5 z=1; b z=2 y=1; c z=1 y=1",
     "z soft; y hard 1",
     1,
     {0, 1},
     "b",
     0,
     {1, 0}},
    {"counts go on from the group's",
     "a+2 z=1; b+1 z=2",
     "z hard 1 min=2",
     3,
     {0, 1},
     "b a",
     1,
     {1}},
    {"and minDomains begins below them",
     "a+2 z=1; b+1 z=2",
     "z hard 2 min=3",
     3,
     {0, 1},
     "b",
     2,
     {2}},
    /* weights */
    {"a weight outweighs a sum",
     "a:150 z=1; b:150 z=1; c:0 z=2",
     "z soft",
     2,
     {1, 2},
     "a c",
     0,
     {0}},
    {"or not", "a:300 z=1; b:300 z=1; c:0 z=2", "z soft", 2, {1, 1}, "a b", 0, {2}},
    {"exactly, and then a name",
     "a:200 z=1; b:200 z=1; c:0 z=2",
     "z soft",
     2,
     {1, 1},
     "a b",
     0,
     {2}},
    {"exactly, and then a member",
     "a:200 z=1; b:200 z=1; c:0* z=2",
     "z soft",
     2,
     {1, 1},
     "a c",
     0,
     {0}},
    {"below 0: packed", "a z=1; b z=2; c z=1", "z soft", 2, {-1, -2}, "a c", 0, {2}},
    {"first mode minds no sum",
     "a:999 z=1; b:999 z=1; c:0 z=2",
     "z soft",
     2,
     {0, 0},
     "a c",
     0,
     {0}},
};

static bool next_part(struct str *rest, char between, struct str *ret) {
    const size_t at = str_find(*rest, between);
    if (rest->n == 0)
        return false;
    *ret = str_trim((struct str){rest->p, at == SIZE_MAX ? rest->n : at});
    *rest =
        at == SIZE_MAX ? (struct str){NULL, 0} : (struct str){rest->p + at + 1, rest->n - at - 1};
    return true;
}

static int64_t number_of(struct str s) {
    int64_t n = -1;
    assert_true(str_to_i64(s, &n));
    return n;
}

/* The first word of a cluster: its name and what the question says of it. */
static uint32_t add_cluster(struct small_fleet *f, struct str word, const struct label *labels,
                            uint32_t count) {
    size_t n = 0;
    while (n < word.n && strchr(":*+", word.p[n]) == NULL)
        n++;
    const uint32_t slot =
        small_fleet_add(f, arena_cstr(&f->arena, (struct str){word.p, n}), labels, count);
    while (n < word.n) {
        const char what = word.p[n++];
        size_t end = n;
        while (end < word.n && strchr(":*+", word.p[end]) == NULL)
            end++;
        const struct str value = {word.p + n, end - n};
        if (what == ':')
            f->sums[slot] = number_of(value);
        else if (what == '*')
            f->members[slot] = 1;
        else
            f->others[slot] = (uint32_t)number_of(value);
        n = end;
    }
    return slot;
}

static void read_clusters(struct small_fleet *f, const char *text) {
    struct str rest = str_of(text), cluster, word, name;
    while (next_part(&rest, ';', &cluster)) {
        struct label labels[4];
        uint32_t count = 0;
        assert_true(next_part(&cluster, ' ', &name));
        while (next_part(&cluster, ' ', &word)) {
            const size_t at = str_find(word, '=');
            labels[count++] = (struct label){{word.p, at}, {word.p + at + 1, word.n - at - 1}};
        }
        (void)add_cluster(f, name, labels, count); /* the slot is not needed */
    }
}

static uint32_t read_terms(const char *text, struct placement_term *ret) {
    struct str rest = str_of(text), term, word;
    uint32_t count = 0;
    while (next_part(&rest, ';', &term)) {
        struct placement_term *t = &ret[count++];
        *t = (struct placement_term){.max_skew = 1};
        assert_true(next_part(&term, ' ', &t->key));
        t->is_claim = str_has_prefix(t->key, STR("claim:"));
        if (t->is_claim)
            t->key = (struct str){t->key.p + 6, t->key.n - 6};
        while (next_part(&term, ' ', &word)) {
            if (str_has_prefix(word, STR("min=")))
                t->min_domains = (int32_t)number_of((struct str){word.p + 4, word.n - 4});
            else if (str_eq(word, STR("hard")))
                t->hard = true;
            else if (!str_eq(word, STR("soft")))
                t->max_skew = (int32_t)number_of(word);
        }
    }
    return count;
}

static void run_case(const struct plan_case *c, int weight) {
    struct small_fleet f;
    struct placement_term terms[PLACEMENT_TERMS];
    CLEANUP(strbuf_done) struct strbuf got = {0}, names = {0};
    small_fleet_init(&f);
    read_clusters(&f, c->clusters);
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    q.terms = terms;
    q.term_count = read_terms(c->terms, terms);
    q.has_number = c->number >= 0;
    q.number = c->number >= 0 ? (uint32_t)c->number : 0;
    q.weight = weight;
    const struct plan plan = small_fleet_plan(&f, &q);
    const uint32_t picked = plan.selected_count - plan.kept_count;
    small_fleet_names(&f, plan.selected, picked, &names);
    if (plan.kept_count > 0)
        strbuf_append_str(&names, picked > 0 ? STR(" | ") : STR("| "));
    small_fleet_names(&f, plan.selected + picked, plan.kept_count, &names);
    strbuf_appendf(&got, "%s, weight %d: %.*s, unscheduled %u, skew", c->name, weight,
                   STR_ARG(strbuf_str(&names)), plan.unscheduled);
    for (uint32_t t = 0; t < 3; t++)
        strbuf_appendf(&got, " %lld", (long long)plan.skew[t]);
    char want[1024];
    (void)snprintf(want, sizeof want, "%s, weight %d: %s, unscheduled %u, skew %lld %lld %lld",
                   c->name, weight, c->selected, c->unscheduled, (long long)c->skew[0],
                   (long long)c->skew[1], (long long)c->skew[2]); /* fits */
    assert_str(strbuf_str(&got), want);
    small_fleet_close(&f);
}

static void what_is_selected(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_case(&cases[i], cases[i].weights[0]);
        run_case(&cases[i], cases[i].weights[1]);
    }
}

/* ---- what is told beside it ---- */

static void put_round(const struct small_fleet *f, const struct plan_round *round,
                      struct strbuf *out) {
    strbuf_append_str(out, topology_name(f->topology, round->picked));
    for (uint32_t i = 0; i < round->dropped_count; i++)
        strbuf_appendf(out, " -%.*s", STR_ARG(topology_name(f->topology, round->dropped[i])));
    for (uint32_t i = 0; i < round->count; i++) {
        strbuf_appendf(out, " %.*s:%lld", STR_ARG(topology_name(f->topology, round->slots[i])),
                       (long long)round->raw[i]);
        if (round->final != NULL)
            strbuf_appendf(out, "=%lld", (long long)round->final[i]);
    }
    strbuf_appendf(out, "; ");
}

/* The printed table of the enhancement: raw 63 and 4032, normalised -100 and 100, with a weight of
 * 2 and the sums -200, 200 and 250. */
static void rounds_of_the_worked_example(void **state) {
    struct small_fleet f;
    struct placement_term terms[PLACEMENT_TERMS];
    CLEANUP(strbuf_done) struct strbuf first = {0}, weighed = {0};
    (void)state;
    small_fleet_init(&f);
    read_clusters(&f, WORKED);
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    q.terms = terms;
    q.term_count = read_terms("region soft; zone hard 1", terms);
    q.has_number = q.with_rounds = true;
    q.number = 2;
    struct plan plan = small_fleet_plan(&f, &q);
    assert_int_equal(plan.round_count, 2);
    for (uint32_t i = 0; i < plan.round_count; i++)
        put_round(&f, &plan.rounds[i], &first);
    assert_str(strbuf_str(&first), "c1 c1:0 c2:0 c3:0 c4:0 c5:0; c5 -c2 c3:63 c4:4032 c5:4032; ");
    q.weight = 2;
    plan = small_fleet_plan(&f, &q);
    for (uint32_t i = 0; i < plan.round_count; i++)
        put_round(&f, &plan.rounds[i], &weighed);
    assert_str(strbuf_str(&weighed), "c1 c1:0=50 c2:0=50 c3:0=0 c4:0=0 c5:0=50; "
                                     "c5 -c2 c3:63=-200 c4:4032=200 c5:4032=250; ");
    small_fleet_close(&f);
}

static void domains_are_told_by_path(void **state) {
    struct small_fleet f;
    struct placement_term terms[PLACEMENT_TERMS];
    CLEANUP(strbuf_done) struct strbuf got = {0};
    (void)state;
    small_fleet_init(&f);
    read_clusters(&f, "d region=b zone=2; c region=b zone=1; a region=a zone=2; b region=a; "
                      "e zone=1; g region=b zone=1; h+4 region=b");
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    q.terms = terms;
    q.term_count = read_terms("region soft; zone soft", terms);
    q.has_number = q.with_domains = true;
    q.number = 5;
    const struct plan plan = small_fleet_plan(&f, &q);
    for (uint32_t i = 0; i < plan.domain_count; i++) {
        const struct plan_domain *domain = &plan.domains[i];
        for (uint32_t t = 0; t < domain->depth; t++)
            strbuf_appendf(&got, "%s'%.*s'", t > 0 ? "/" : "", STR_ARG(domain->path[t]));
        strbuf_appendf(&got, " %u of %u; ", domain->selected, domain->feasible);
    }
    assert_str(strbuf_str(&got),
               "'' 1 of 1; ''/'1' 1 of 1; 'a' 2 of 2; 'a'/'' 1 of 1; 'a'/'2' 1 of 1; "
               "'b' 2 of 4; 'b'/'' 0 of 1; 'b'/'1' 1 of 2; 'b'/'2' 1 of 1; ");
    small_fleet_close(&f);
}

static void who_lacks_a_key(void **state) {
    struct small_fleet f;
    struct placement_term terms[PLACEMENT_TERMS];
    (void)state;
    small_fleet_init(&f);
    read_clusters(&f, "a x=1 y=1 z=1; b y=1; c x=1 z=1; d x=1; e x=1 y=1");
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    q.terms = terms;
    q.term_count = read_terms("z soft; x hard; y hard", terms);
    const struct plan plan = small_fleet_plan(&f, &q);
    static const uint8_t want[] = {0, 2, 3, 3, 0};
    assert_memory_equal(plan.lacks, want, sizeof want);
    assert_int_equal(plan.selected_count, 2);
    small_fleet_close(&f);
}

/* With the kept, zone 1 has four: two above maxSkew, and two new ones are there. Zone 2 has two,
 * one of which is new. */
static void new_ones_that_are_above(void **state) {
    struct small_fleet f;
    struct placement_term terms[PLACEMENT_TERMS];
    uint8_t barred[SMALL_FLEET] = {0};
    CLEANUP(strbuf_done) struct strbuf got = {0}, above = {0};
    (void)state;
    small_fleet_init(&f);
    read_clusters(&f, "a:1* z=1; b:1* z=1; x:9 z=1; y:8 z=1; c z=2");
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    q.terms = terms;
    q.term_count = read_terms("z hard 1", terms);
    struct plan plan = small_fleet_plan(&f, &q);
    small_fleet_names(&f, plan.selected, plan.selected_count, &got);
    assert_str(strbuf_str(&got), "x c y a b");
    small_fleet_names(&f, plan.above, plan.above_count, &above);
    assert_str(strbuf_str(&above), "y x");
    for (uint32_t i = 0; i < plan.above_count; i++)
        barred[plan.above[i]] = 1;
    q.barred = barred;
    plan = small_fleet_plan(&f, &q);
    strbuf_clear(&got);
    small_fleet_names(&f, plan.selected, plan.selected_count, &got);
    assert_str(strbuf_str(&got), "a c b");
    assert_int_equal(plan.above_count, 0);
    /* zone 1 exists for the others, though nobody of it may come */
    memset(barred, 1, sizeof barred);
    barred[f.slots[2]] = 0;
    plan = small_fleet_plan(&f, &q);
    assert_int_equal(plan.selected_count, 1);
    assert_int_equal(plan.skew[0], 1);
    small_fleet_close(&f);
}

/* Candidates need not be all clusters of the fleet, and arrays may be left out. */
static void only_candidates_are_selected(void **state) {
    struct small_fleet f;
    struct placement_term terms[PLACEMENT_TERMS];
    CLEANUP(strbuf_done) struct strbuf got = {0};
    (void)state;
    small_fleet_init(&f);
    read_clusters(&f, "a z=1; b z=2; c+9 z=3; d z=2");
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    const uint32_t candidates[] = {f.slots[0], f.slots[1], f.slots[3]};
    q.candidates = candidates;
    q.candidate_count = 3;
    q.terms = terms;
    q.term_count = read_terms("z hard 1", terms);
    struct plan plan = small_fleet_plan(&f, &q);
    small_fleet_names(&f, plan.selected, plan.selected_count, &got);
    assert_str(strbuf_str(&got), "a b d");
    assert_int_equal(plan.skew[0], 1); /* the third domain does not exist */
    q.sums = NULL;
    q.members = NULL;
    q.others = NULL;
    plan = small_fleet_plan(&f, &q);
    assert_int_equal(plan.selected_count, 3);
    small_fleet_close(&f);
}

/* A label's key that looks like a claim's is nobody's, whatever the length of a key. */
static void keys_of_claims_and_labels_do_not_mix(void **state) {
    struct small_fleet f;
    char key[400] = "claim:";
    (void)state;
    memset(key + 6, 'k', sizeof key - 7);
    small_fleet_init(&f);
    const struct label label = {str_of(key), STR("v")};
    (void)small_fleet_add(&f, "a", &label, 1); /* the only one */
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    struct placement_term term = {.key = str_of(key), .max_skew = 1, .hard = true};
    q.terms = &term;
    q.term_count = 1;
    assert_int_equal(small_fleet_plan(&f, &q).selected_count, 0);
    term.is_claim = true;
    term.key = str_of(key + 6);
    assert_int_equal(small_fleet_plan(&f, &q).selected_count, 1);
    small_fleet_close(&f);
}

/* ---- limits ---- */

static void steps_and_memory_end(void **state) {
    struct small_fleet f;
    struct placement_term terms[PLACEMENT_TERMS];
    struct plan plan = {.unscheduled = 77};
    (void)state;
    small_fleet_init(&f);
    read_clusters(&f, TWO_REGIONS "; a2* region=east zone=1a; a3* region=east zone=1a; x*; y*");
    small_fleet_open(&f);
    struct plan_question q = small_fleet_question(&f);
    q.terms = terms;
    q.term_count = read_terms("region soft; zone hard 1", terms);
    q.with_rounds = q.with_domains = true;
    q.weight = 1;
    (void)small_fleet_plan(&f, &q);     /* columns and the tree are there then */
    f.steps = (struct steps){.max = 1}; /* of what the view builds: nothing of the plan's own */
    f.arena.steps = (struct steps){.max = UINT64_MAX};
    assert_int_equal(small_fleet_plan(&f, &q).keyless_count, 2);
    const uint64_t used = f.arena.steps.used;
    for (uint64_t max = 1; max <= used; max++) {
        f.arena.steps = (struct steps){.max = max};
        assert_int_equal(ocm_plan(&f.view, &q, &f.arena, &plan), max < used ? -E2BIG : 0);
        if (max < used)
            assert_int_equal(plan.unscheduled, 77);
    }
    f.arena.steps.max = 0;
    arena_reset(&f.arena);
    (void)small_fleet_plan(&f, &q);
    const size_t enough = arena_used(&f.arena);
    plan = (struct plan){.unscheduled = 77};
    for (size_t max = 0; max <= enough; max += 16) {
        struct arena arena;
        arena_init(&arena, max);
        const int r = ocm_plan(&f.view, &q, &arena, &plan);
        assert_true(r == -ENOMEM || max == enough);
        assert_int_equal(plan.unscheduled, r == 0 ? 0 : 77);
        arena_done(&arena);
    }
    small_fleet_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_selected),
        cmocka_unit_test(rounds_of_the_worked_example),
        cmocka_unit_test(domains_are_told_by_path),
        cmocka_unit_test(who_lacks_a_key),
        cmocka_unit_test(new_ones_that_are_above),
        cmocka_unit_test(only_candidates_are_selected),
        cmocka_unit_test(keys_of_claims_and_labels_do_not_mix),
        cmocka_unit_test(steps_and_memory_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

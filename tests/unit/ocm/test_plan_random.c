/*
 * Plans of random small fleets against two others: the rules written down once more, straight from
 * their text and as slow as that is; and every set of clusters there is, for what must be true of
 * the one that is selected.
 *
 * PLAN_CASES is how many fleets there are of each; `PLAN_CASES=100000 TEST_SEED=1
 * test_plan_random`.
 */
#include "unit/ocm/small_fleet.h"

#include <stdio.h>

enum { CLUSTERS = 16, FEW = 8, TERMS = 3, VALUES = 4, USUAL_CASES = 6000, MISSING = -1 };

struct random_fleet {
    uint32_t count, term_count;
    char names[CLUSTERS][8];     /* by name */
    int values[CLUSTERS][TERMS]; /* MISSING, 0: the empty value, or another */
    int64_t sums[CLUSTERS];
    bool members[CLUSTERS];
    uint32_t others[CLUSTERS];
    struct placement_term terms[TERMS];
    bool has_number;
    uint32_t number;
    int32_t weight;
};

/* ---- the rules, once more ---- */

struct naive_round {
    uint32_t picked;
    bool allowed[CLUSTERS], dropped[CLUSTERS];
    int64_t raw[CLUSTERS], final[CLUSTERS];
};

struct naive {
    const struct random_fleet *f;
    bool takes_part[CLUSTERS];
    int64_t counts[CLUSTERS]; /* what a cluster adds to its domains now */
    uint32_t selected[CLUSTERS], selected_count, unscheduled;
    uint32_t picked_count;         /* the others that are selected are kept */
    uint32_t kept_terms[CLUSTERS]; /* [cluster] */
    int64_t skew[TERMS];
    struct naive_round rounds[CLUSTERS + 1]; /* the last allows nobody */
};

static int value_of(const struct random_fleet *f, uint32_t c, uint32_t t) {
    return f->values[c][t] == MISSING ? 0 : f->values[c][t];
}

/* Do two clusters have the same values under the first `depth` terms? */
static bool same_domain(const struct random_fleet *f, uint32_t a, uint32_t b, uint32_t depth) {
    for (uint32_t t = 0; t < depth; t++)
        if (value_of(f, a, t) != value_of(f, b, t))
            return false;
    return true;
}

static int64_t domain_count(const struct naive *n, uint32_t c, uint32_t t) {
    int64_t count = 0;
    for (uint32_t i = 0; i < n->f->count; i++)
        if (n->takes_part[i] && same_domain(n->f, c, i, t + 1))
            count += n->counts[i];
    return count;
}

/* Least, most and number of the domains beside that of a cluster under a term, its own included. */
struct naive_siblings {
    int64_t least, most, domains;
};

static struct naive_siblings naive_siblings(const struct naive *n, uint32_t c, uint32_t t) {
    struct naive_siblings s = {INT64_MAX, INT64_MIN, 0};
    bool seen[VALUES] = {false};
    for (uint32_t i = 0; i < n->f->count; i++) {
        if (!n->takes_part[i] || !same_domain(n->f, c, i, t) || seen[value_of(n->f, i, t)])
            continue;
        seen[value_of(n->f, i, t)] = true;
        const int64_t count = domain_count(n, i, t);
        s.least = count < s.least ? count : s.least;
        s.most = count > s.most ? count : s.most;
        s.domains++;
    }
    return s;
}

/* The first hard term that forbids it; their number: none does. */
static uint32_t naive_forbids(const struct naive *n, uint32_t c) {
    for (uint32_t t = 0; t < n->f->term_count; t++) {
        const struct placement_term *term = &n->f->terms[t];
        const struct naive_siblings s = naive_siblings(n, c, t);
        const int64_t least = s.domains < term->min_domains ? 0 : s.least;
        if (term->hard && domain_count(n, c, t) + 1 - least > term->max_skew)
            return t;
    }
    return n->f->term_count;
}

static int64_t naive_raw(const struct naive *n, uint32_t c) {
    int64_t raw = 0;
    for (uint32_t t = 0; t < n->f->term_count; t++) {
        const struct naive_siblings s = naive_siblings(n, c, t);
        int64_t part = 0;
        if (s.most != s.least)
            part = 63 * (s.most - domain_count(n, c, t)) / (s.most - s.least);
        raw += part << (6 * (n->f->term_count - 1 - t));
    }
    return raw;
}

/* Where weight x norm + sum is compared, and where first raw and then the sum. */
static bool naive_better(const struct naive *n, const struct naive_round *r, uint32_t a,
                         uint32_t b) {
    const struct random_fleet *f = n->f;
    if (f->weight == 0 && r->raw[a] != r->raw[b])
        return r->raw[a] > r->raw[b];
    if (r->final[a] != r->final[b])
        return r->final[a] > r->final[b];
    if (f->term_count > 0 && f->members[a] != f->members[b])
        return f->members[a];
    return strcmp(f->names[a], f->names[b]) < 0;
}

/* floor(x / y), y > 0 */
static int64_t floor_div(int64_t x, int64_t y) {
    return x >= 0 ? x / y : -((-x + y - 1) / y);
}

/* One round, for clusters or for members that stay: false if nobody is allowed. */
static bool naive_round(struct naive *n, const bool *picked, bool stays, struct naive_round *r) {
    const struct random_fleet *f = n->f;
    int64_t least = INT64_MAX, most = INT64_MIN;
    *r = (struct naive_round){.picked = CLUSTERS};
    for (uint32_t c = 0; c < f->count; c++) {
        if (!n->takes_part[c] || picked[c] || (stays && !f->members[c]))
            continue;
        r->allowed[c] = stays || naive_forbids(n, c) == f->term_count;
        r->dropped[c] = !r->allowed[c];
        r->raw[c] = naive_raw(n, c);
        if (r->allowed[c] && r->raw[c] < least)
            least = r->raw[c];
        if (r->allowed[c] && r->raw[c] > most)
            most = r->raw[c];
    }
    for (uint32_t c = 0; c < f->count; c++) {
        int64_t norm = 0;
        if (most > least)
            norm = floor_div(200 * (r->raw[c] - least), most - least) - 100;
        r->final[c] = (f->term_count > 0 ? f->weight * norm : 0) + f->sums[c];
    }
    for (uint32_t c = 0; c < f->count; c++)
        if (r->allowed[c] && (r->picked == CLUSTERS || naive_better(n, r, c, r->picked)))
            r->picked = c;
    return r->picked != CLUSTERS;
}

static void naive_begin(struct naive *n, const struct random_fleet *f) {
    *n = (struct naive){.f = f};
    for (uint32_t c = 0; c < f->count; c++) {
        n->takes_part[c] = true;
        for (uint32_t t = 0; t < f->term_count; t++)
            if (f->terms[t].hard && f->values[c][t] == MISSING)
                n->takes_part[c] = false;
        n->counts[c] = f->others[c];
    }
}

static uint32_t number_of(const struct naive *n) {
    uint32_t feasible = 0;
    for (uint32_t c = 0; c < n->f->count; c++)
        feasible += n->takes_part[c];
    return n->f->has_number ? n->f->number : feasible;
}

static void naive_rounds(struct naive *n, bool *picked, bool stays, uint32_t number) {
    while (n->selected_count < number) {
        struct naive_round *r = &n->rounds[n->selected_count];
        if (!naive_round(n, picked, stays, r))
            break;
        picked[r->picked] = true;
        n->counts[r->picked]++;
        n->selected[n->selected_count++] = r->picked;
    }
}

/* Members that lack a hard term's key: by sum, then name. */
static void naive_keyless(struct naive *n, bool *picked, uint32_t number) {
    const struct random_fleet *f = n->f;
    while (n->selected_count < number) {
        uint32_t best = CLUSTERS;
        for (uint32_t c = 0; c < f->count; c++)
            if (f->members[c] && !n->takes_part[c] && !picked[c] &&
                (best == CLUSTERS || f->sums[c] > f->sums[best]))
                best = c;
        if (best == CLUSTERS)
            break;
        picked[best] = true;
        n->selected[n->selected_count++] = best;
        for (uint32_t t = f->term_count; t > 0; t--)
            if (f->terms[t - 1].hard && f->values[best][t - 1] == MISSING)
                n->kept_terms[best] = t - 1;
    }
}

static void naive_plan(struct naive *n, const struct random_fleet *f) {
    bool picked[CLUSTERS] = {false};
    naive_begin(n, f);
    const uint32_t number = number_of(n);
    naive_rounds(n, picked, false, number);
    n->picked_count = n->selected_count;
    for (uint32_t c = 0; c < f->count; c++)
        n->kept_terms[c] = n->takes_part[c] ? naive_forbids(n, c) : 0;
    naive_rounds(n, picked, true, f->has_number ? number : CLUSTERS);
    naive_keyless(n, picked, f->has_number ? number : CLUSTERS);
    n->unscheduled = f->has_number ? number - n->selected_count : 0;
    for (uint32_t t = 0; t < f->term_count; t++)
        for (uint32_t c = 0; c < f->count; c++) {
            if (!n->takes_part[c])
                continue;
            const struct naive_siblings s = naive_siblings(n, c, t);
            const int64_t skew = s.most - (s.domains < f->terms[t].min_domains ? 0 : s.least);
            n->skew[t] = skew > n->skew[t] ? skew : n->skew[t];
        }
}

/* ---- random fleets ---- */

static void random_terms(struct random_fleet *f, uint64_t *random) {
    static const struct str keys[] = {{"region", 6}, {"zone", 4}, {"rack", 4}};
    f->term_count = unit_below(random, 8) == 0 ? 0 : 1 + unit_below(random, TERMS);
    for (uint32_t t = 0; t < f->term_count; t++)
        f->terms[t] = (struct placement_term){
            .key = keys[t],
            .is_claim = unit_below(random, 3) == 0,
            .hard = unit_below(random, 2) == 0,
            .max_skew = 1 + (int32_t)unit_below(random, 3),
            .min_domains = unit_below(random, 3) == 0 ? (int32_t)unit_below(random, 5) : 0};
}

static void random_fleet(struct random_fleet *f, uint32_t most, uint64_t *random) {
    const uint32_t one_in = 1 + unit_below(random, 6), span = unit_below(random, 2) == 0 ? 3 : 300;
    *f = (struct random_fleet){.count = unit_below(random, most + 1)};
    random_terms(f, random);
    const bool group = unit_below(random, 3) == 0;
    for (uint32_t c = 0; c < f->count; c++) {
        (void)snprintf(f->names[c], sizeof f->names[c], "c%02u%c", c,
                       'a' + (char)unit_below(random, 26)); /* fits */
        for (uint32_t t = 0; t < f->term_count; t++)
            f->values[c][t] = unit_below(random, 4 * one_in) == 0
                                  ? MISSING
                                  : (int)unit_below(random, 2 + unit_below(random, VALUES - 1));
        f->sums[c] = (int64_t)unit_below(random, span) - 1;
        f->members[c] = unit_below(random, 3) == 0;
        f->others[c] = group && unit_below(random, 2) == 0 ? unit_below(random, span) : 0;
    }
    f->has_number = unit_below(random, 4) > 0;
    f->number = unit_below(random, f->count + 3);
}

static uint32_t put_labels(const struct random_fleet *f, uint32_t c, uint32_t salt,
                           struct arena *arena, struct label *ret) {
    uint32_t count = 0;
    if (salt != 0) /* of which no term speaks */
        ret[count++] = (struct label){STR("app"), arena_printf(arena, "%u", salt * c)};
    for (uint32_t t = 0; t < f->term_count; t++)
        if (f->values[c][t] != MISSING)
            ret[count++] = (struct label){
                arena_printf(arena, "%s%.*s", f->terms[t].is_claim ? "claim:" : "",
                             STR_ARG(f->terms[t].key)),
                f->values[c][t] == 0
                    ? STR("")
                    : arena_printf(arena, "v%u",
                                   (uint32_t)f->values[c][t] * 7919 * (salt + 1) % 10007)};
    if (salt != 0)
        ret[count++] = (struct label){STR("zzz"), STR("on")};
    for (uint32_t i = 1; i < count; i++) /* by key */
        for (uint32_t k = i; k > 0 && str_cmp(ret[k].key, ret[k - 1].key) < 0; k--) {
            const struct label label = ret[k];
            ret[k] = ret[k - 1];
            ret[k - 1] = label;
        }
    return count;
}

/* With `salt` the values have other names, there are other labels, and the clusters come in the
 * opposite order. */
static void open_fleet(const struct random_fleet *f, uint32_t salt, struct small_fleet *ret) {
    small_fleet_init(ret);
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t c = salt != 0 ? f->count - 1 - i : i;
        struct label labels[TERMS + 2];
        const uint32_t count = put_labels(f, c, salt, &ret->arena, labels);
        const uint32_t slot = small_fleet_add(ret, f->names[c], labels, count);
        ret->sums[slot] = f->sums[c];
        ret->members[slot] = f->members[c];
        ret->others[slot] = f->others[c];
    }
    small_fleet_open(ret);
}

static struct plan_question question(const struct random_fleet *f,
                                     const struct small_fleet *fleet) {
    struct plan_question q = small_fleet_question(fleet);
    q.terms = f->terms;
    q.term_count = f->term_count;
    q.has_number = f->has_number;
    q.number = f->number;
    q.weight = f->weight;
    return q;
}

static uint32_t cases(void) {
    const char *wish = getenv("PLAN_CASES");
    return wish != NULL ? (uint32_t)strtoul(wish, NULL, 10) : USUAL_CASES;
}

/* The cluster in a slot. */
static uint32_t cluster_in(const struct small_fleet *fleet, uint32_t slot) {
    for (uint32_t c = 0; c < fleet->count; c++)
        if (fleet->slots[c] == slot)
            return c;
    fail_msg("slot %u is nobody's", slot);
    return 0;
}

/* ---- against the rules ---- */

static void compare_rounds(const struct naive *n, const struct small_fleet *fleet,
                           const struct plan *plan) {
    assert_int_equal(plan->round_count, n->picked_count);
    for (uint32_t i = 0; i < plan->round_count; i++) {
        const struct plan_round *got = &plan->rounds[i];
        const struct naive_round *want = &n->rounds[i];
        uint32_t allowed = 0, dropped = 0;
        assert_int_equal(cluster_in(fleet, got->picked), want->picked);
        for (uint32_t c = 0; c < n->f->count; c++) {
            if (want->dropped[c])
                assert_int_equal(cluster_in(fleet, got->dropped[dropped++]), c);
            if (!want->allowed[c])
                continue;
            assert_int_equal(cluster_in(fleet, got->slots[allowed]), c);
            assert_int_equal(got->raw[allowed], want->raw[c]);
            if (got->final != NULL)
                assert_int_equal(got->final[allowed], want->final[c]);
            allowed++;
        }
        assert_int_equal(got->count, allowed);
        assert_int_equal(got->dropped_count, dropped);
        assert_int_equal(got->final != NULL, n->f->weight != 0 && n->f->term_count > 0);
    }
}

/* Has this domain the values of a cluster under the first terms? */
static bool is_domain_of(const struct random_fleet *f, struct small_fleet *fleet,
                         const struct plan_domain *domain, uint32_t c) {
    for (uint32_t t = 0; t < domain->depth; t++) {
        struct str value = STR("");
        const struct str key = f->terms[t].key;
        (void)topology_label(
            fleet->topology, fleet->slots[c],
            f->terms[t].is_claim ? arena_printf(&fleet->arena, "claim:%.*s", STR_ARG(key)) : key,
            &value);
        if (!str_eq(domain->path[t], value))
            return false;
    }
    return true;
}

static void compare_domain(const struct naive *n, struct small_fleet *fleet,
                           const struct plan *plan, uint32_t c, uint32_t depth) {
    uint32_t feasible = 0, selected = 0, found = 0;
    for (uint32_t i = 0; i < n->f->count; i++)
        if (n->takes_part[i] && same_domain(n->f, c, i, depth)) {
            feasible++;
            selected += (uint32_t)n->counts[i] - n->f->others[i];
        }
    for (uint32_t d = 0; d < plan->domain_count; d++) {
        const struct plan_domain *domain = &plan->domains[d];
        if (domain->depth != depth || !is_domain_of(n->f, fleet, domain, c))
            continue;
        found++;
        assert_int_equal(domain->feasible, feasible);
        assert_int_equal(domain->selected, selected);
    }
    assert_int_equal(found, 1);
}

static void compare_domains(const struct naive *n, struct small_fleet *fleet,
                            const struct plan *plan) {
    uint32_t domains = 0;
    for (uint32_t depth = 1; depth <= n->f->term_count; depth++)
        for (uint32_t c = 0; c < n->f->count; c++) {
            bool first = n->takes_part[c];
            for (uint32_t i = 0; i < c; i++)
                first = first && !(n->takes_part[i] && same_domain(n->f, c, i, depth));
            if (!first)
                continue;
            domains++;
            compare_domain(n, fleet, plan, c, depth);
        }
    assert_int_equal(plan->domain_count, domains);
    for (uint32_t d = 1; d < plan->domain_count; d++) { /* by path, the shorter first */
        const struct plan_domain *a = &plan->domains[d - 1], *b = &plan->domains[d];
        int order = 0;
        for (uint32_t t = 0; order == 0 && t < a->depth && t < b->depth; t++)
            order = str_cmp(a->path[t], b->path[t]);
        assert_true(order < 0 || (order == 0 && a->depth < b->depth));
    }
}

static void compare(const struct random_fleet *f) {
    struct naive n;
    struct small_fleet fleet;
    naive_plan(&n, f);
    open_fleet(f, 0, &fleet);
    struct plan_question q = question(f, &fleet);
    q.with_domains = q.with_rounds = true;
    const struct plan plan = small_fleet_plan(&fleet, &q);
    assert_int_equal(plan.selected_count, n.selected_count);
    assert_int_equal(plan.kept_count, n.selected_count - n.picked_count);
    assert_int_equal(plan.unscheduled, n.unscheduled);
    for (uint32_t i = 0; i < plan.selected_count; i++)
        assert_int_equal(cluster_in(&fleet, plan.selected[i]), n.selected[i]);
    for (uint32_t i = 0; i < plan.kept_count; i++)
        assert_int_equal(plan.kept_terms[i], n.kept_terms[n.selected[n.picked_count + i]]);
    for (uint32_t t = 0; t < f->term_count; t++)
        assert_int_equal(plan.skew[t], n.skew[t]);
    for (uint32_t c = 0; c < f->count; c++)
        assert_int_equal(plan.lacks[c] == 0, n.takes_part[c]);
    compare_rounds(&n, &fleet, &plan);
    compare_domains(&n, &fleet, &plan);
    small_fleet_close(&fleet);
}

static void the_rules_once_more(void **state) {
    uint64_t random = unit_seed();
    struct random_fleet f;
    (void)state;
    for (uint32_t i = 0; i < cases(); i++) {
        random_fleet(&f, CLUSTERS, &random);
        f.weight = unit_below(&random, 2) == 0 ? 0 : (int32_t)unit_below(&random, 7) - 3;
        compare(&f);
    }
}

static void names_of_labels_change_nothing(void **state) {
    uint64_t random = unit_seed();
    struct random_fleet f;
    (void)state;
    for (uint32_t i = 0; i < cases(); i++) {
        struct small_fleet one, other;
        random_fleet(&f, CLUSTERS, &random);
        f.weight = unit_below(&random, 2) == 0 ? 0 : 2;
        open_fleet(&f, 0, &one);
        open_fleet(&f, 1 + unit_below(&random, 9), &other);
        const struct plan_question q = question(&f, &one), p = question(&f, &other);
        const struct plan a = small_fleet_plan(&one, &q), b = small_fleet_plan(&other, &p);
        assert_int_equal(a.selected_count, b.selected_count);
        for (uint32_t k = 0; k < a.selected_count; k++)
            assert_int_equal(cluster_in(&one, a.selected[k]), cluster_in(&other, b.selected[k]));
        small_fleet_close(&one);
        small_fleet_close(&other);
    }
}

/* ---- against every set ---- */

/* Counts with the set's clusters on top. */
static void count_set(struct naive *n, const struct random_fleet *f, uint32_t set) {
    for (uint32_t c = 0; c < f->count; c++)
        n->counts[c] = f->others[c] + (set >> c & 1);
}

/* Does no domain that has one of the set hold more than a hard term allows? */
static bool keeps_hard_terms(const struct naive *n, uint32_t set) {
    const struct random_fleet *f = n->f;
    for (uint32_t t = 0; t < f->term_count; t++)
        for (uint32_t c = 0; c < f->count; c++) {
            if (!f->terms[t].hard || (set >> c & 1) == 0)
                continue;
            const struct naive_siblings s = naive_siblings(n, c, t);
            const int64_t least = s.domains < f->terms[t].min_domains ? 0 : s.least;
            if (domain_count(n, c, t) - least > f->terms[t].max_skew)
                return false;
        }
    return true;
}

/* How uneven the domains of the first term are: the sum of the squares of their counts. */
static int64_t unevenness(const struct naive *n) {
    int64_t sum = 0;
    bool seen[VALUES] = {false};
    for (uint32_t c = 0; c < n->f->count; c++) {
        if (!n->takes_part[c] || seen[value_of(n->f, c, 0)])
            continue;
        seen[value_of(n->f, c, 0)] = true;
        sum += domain_count(n, c, 0) * domain_count(n, c, 0);
    }
    return sum;
}

static int compare_counts(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The shape of a set: for each term and parent the counts of the siblings, sorted. A parent is
 * known by the first cluster below it. Returns how many numbers that are. */
static uint32_t shape_of(const struct naive *n, int64_t ret[TERMS * CLUSTERS * 2]) {
    const struct random_fleet *f = n->f;
    uint32_t count = 0;
    for (uint32_t t = 0; t < f->term_count; t++)
        for (uint32_t c = 0; c < f->count; c++) {
            bool first = n->takes_part[c], seen[VALUES] = {false};
            for (uint32_t i = 0; i < c; i++)
                first = first && !(n->takes_part[i] && same_domain(f, c, i, t));
            if (!first)
                continue;
            const uint32_t begin = count;
            for (uint32_t i = c; i < f->count; i++)
                if (n->takes_part[i] && same_domain(f, c, i, t) && !seen[value_of(f, i, t)]) {
                    seen[value_of(f, i, t)] = true;
                    ret[count++] = domain_count(n, i, t);
                }
            qsort(&ret[begin], count - begin, sizeof *ret, compare_counts);
            ret[count++] = -1;
        }
    return count;
}

static uint32_t changes(const struct random_fleet *f, uint32_t set) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < f->count; c++)
        count += f->members[c] != ((set >> c & 1) != 0);
    return count;
}

static bool in_question(const struct naive *n, uint32_t set) {
    for (uint32_t c = 0; c < n->f->count; c++)
        if ((set >> c & 1) != 0 && !n->takes_part[c])
            return false;
    return true;
}

static void against_every_set(const struct random_fleet *f, uint32_t selected) {
    struct naive n;
    int64_t shape[TERMS * CLUSTERS * 2], other[TERMS * CLUSTERS * 2];
    naive_begin(&n, f);
    const uint32_t number = number_of(&n), size = (uint32_t)__builtin_popcount(selected);
    count_set(&n, f, selected);
    assert_true(in_question(&n, selected) && keeps_hard_terms(&n, selected));
    const int64_t uneven = unevenness(&n);
    const uint32_t numbers = shape_of(&n, shape);
    for (uint32_t set = 0; set < 1u << f->count; set++) {
        const uint32_t count = (uint32_t)__builtin_popcount(set);
        if (count > number || count < size || !in_question(&n, set))
            continue;
        count_set(&n, f, set);
        if (!keeps_hard_terms(&n, set))
            continue;
        assert_int_equal(count, size); /* there is none that is larger */
        if (f->term_count > 0)
            assert_true(unevenness(&n) >= uneven);
        if (shape_of(&n, other) == numbers && memcmp(shape, other, numbers * sizeof *shape) == 0)
            assert_true(changes(f, set) >= changes(f, selected));
    }
}

static void what_is_true_of_the_best(void **state) {
    uint64_t random = unit_seed();
    struct random_fleet f;
    (void)state;
    for (uint32_t i = 0; i < cases(); i++) {
        struct small_fleet fleet;
        uint32_t selected = 0;
        random_fleet(&f, FEW, &random);
        if (f.term_count == 0)
            continue;
        for (uint32_t c = 0; c < f.count; c++) {
            f.sums[c] = 50 + (f.members[c] ? 100 : 0);
            f.others[c] %= 5; /* one part of the score for each count */
        }
        open_fleet(&f, 0, &fleet);
        const struct plan_question q = question(&f, &fleet);
        const struct plan plan = small_fleet_plan(&fleet, &q);
        for (uint32_t k = 0; k < plan.selected_count - plan.kept_count; k++)
            selected |= 1u << cluster_in(&fleet, plan.selected[k]);
        against_every_set(&f, selected);
        small_fleet_close(&fleet);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_once_more),
        cmocka_unit_test(names_of_labels_change_nothing),
        cmocka_unit_test(what_is_true_of_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Makes a report of the data that a round has seen: counts, skews and states, workload by workload.
 */
#include "evenness/best.h"
#include "evenness/internal.h"

#include <errno.h>
#include <stdlib.h>

/* The pods of one workload, under one key. The arrays are used again for the next workload. */
struct scratch {
    uint32_t *counts;  /* [domains]: number of pods; 0 between workloads */
    uint32_t *touched; /* domains with pods */
    uint32_t touched_count;
    uint64_t *all; /* the feasible domains */
    uint32_t all_count;
    uint32_t *fixed; /* [64 * words]: number of pods that can be in this domain only; 0 between
                        workloads */
    bool any_fixed;  /* the workload has pods that can be in one domain only, counted or not */
    uint8_t *masks;  /* [64 * words]: scratch memory of best_skew() */
    struct best_group groups[LIMIT_EVENNESS_SETS];
    uint32_t group_count;
};

struct judging {
    const struct seen *seen;
    const uint32_t *slots; /* slots of the pods, group after group */
    struct evenness_report *report;
    struct seen_key *from;
    struct evenness_key *key;
    uint32_t number; /* number of the key */
    uint32_t count_count;
    struct scratch scratch;
};

static const uint64_t *bits_of(const struct judging *j, uint32_t set) {
    return j->seen->bits + (size_t)set * j->seen->words + j->from->word;
}

/* ---- the sets of a workload ---- */

/* Returns the group with these domains; LIMIT_EVENNESS_SETS if there are too many groups. */
static uint32_t find_group(struct judging *j, const uint64_t *domains) {
    struct scratch *x = &j->scratch;
    uint32_t g = 0;
    while (g < x->group_count && x->groups[g].domains != domains &&
           memcmp(x->groups[g].domains, domains, j->from->words * sizeof *domains) != 0)
        g++;
    if (g == x->group_count && g < LIMIT_EVENNESS_SETS)
        x->groups[x->group_count++] = (struct best_group){domains, 0};
    return g;
}

/* Gathers the feasible domains of a workload. Returns false if they are not known. */
static bool gather(struct judging *j, const struct seen_workload *workload) {
    struct scratch *x = &j->scratch;
    const struct seen_group *group;
    for (uint32_t id = workload->groups; id != UINT32_MAX; id = group->next) {
        group = &j->seen->groups[id];
        if (group->set == SET_UNKNOWN)
            return false;
        const uint32_t choices = j->seen->sets[group->set].domains[j->number];
        if (choices == 0)
            continue;
        const uint64_t *bits = bits_of(j, group->set);
        if (choices == 1)
            x->any_fixed = true;
        else if (find_group(j, bits) == LIMIT_EVENNESS_SETS)
            return false;
        for (uint32_t w = 0; w < j->from->words; w++)
            x->all[w] |= bits[w];
    }
    for (uint32_t w = 0; w < j->from->words; w++)
        x->all_count += (uint32_t)__builtin_popcountll(x->all[w]);
    return true;
}

static uint32_t first_bit(const uint64_t *bits) {
    uint32_t w = 0;
    while (bits[w] == 0)
        w++;
    return w * 64 + (uint32_t)__builtin_ctzll(bits[w]);
}

/* Counts the pods of a group. A pod without a feasible domain stays in the domain where it is. */
static void count_group(struct judging *j, const struct seen_group *group, bool known) {
    struct scratch *x = &j->scratch;
    const uint32_t choices = known ? j->seen->sets[group->set].domains[j->number] : 0;
    const uint32_t to = choices > 1 ? find_group(j, bits_of(j, group->set)) : 0;
    const uint32_t only = choices == 1 ? first_bit(bits_of(j, group->set)) : NO_DOMAIN;
    for (uint32_t i = 0; i < group->pods; i++) {
        uint32_t slot = j->slots[group->first + i];
        uint32_t domain = slot < j->seen->slots ? j->from->domain_of[slot] : NO_DOMAIN;
        if (domain == NO_DOMAIN)
            continue;
        if (x->counts[domain]++ == 0)
            x->touched[x->touched_count++] = domain;
        if (!known || !has_bit(x->all, domain))
            continue;
        if (choices > 1)
            x->groups[to].pods++;
        else
            x->fixed[choices == 1 ? only : domain]++;
        x->any_fixed |= choices < 2;
    }
}

static void count_pods(struct judging *j, const struct seen_workload *workload, bool known) {
    const struct seen_group *group;
    for (uint32_t id = workload->groups; id != UINT32_MAX; id = group->next) {
        group = &j->seen->groups[id];
        count_group(j, group, known);
    }
}

/* ---- the result of a workload ---- */

static uint32_t skew_of(const struct scratch *x) {
    uint32_t most = 0, fewest = UINT32_MAX, feasible = 0;
    for (uint32_t i = 0; i < x->touched_count; i++) {
        uint32_t count = x->counts[x->touched[i]];
        if (!has_bit(x->all, x->touched[i]))
            continue;
        feasible++;
        most = count > most ? count : most;
        fewest = count < fewest ? count : fewest;
    }
    return feasible < x->all_count ? most : feasible > 0 ? most - fewest : 0;
}

static enum evenness_state state_of(const struct evenness_result *result) {
    return result->skew <= 1              ? EVENNESS_EVEN
           : result->best >= result->skew ? EVENNESS_UNAVOIDABLE
                                          : EVENNESS_UNEVEN;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int add_count(struct judging *j, uint32_t domain) {
    const struct scratch *x = &j->scratch;
    struct evenness_count *counts =
        room_in_pages(j->key->counts, j->count_count, &j->key->owned, sizeof *counts);
    if (counts == NULL)
        return -ENOMEM;
    j->key->counts = counts;
    counts[j->count_count++] =
        (struct evenness_count){domain & INT32_MAX, has_bit(x->all, domain), x->counts[domain]};
    return 0;
}

static int put_counts(struct judging *j, struct evenness_result *result) {
    struct scratch *x = &j->scratch;
    int r = 0;
    result->first = j->count_count;
    if (j->from->domain_count <= LIMIT_EVENNESS_EMPTY_DOMAINS) {
        for (uint32_t d = 0; r == 0 && d < j->from->domain_count; d++)
            if (x->counts[d] > 0 || has_bit(x->all, d))
                r = add_count(j, d);
    } else {
        qsort(x->touched, x->touched_count, sizeof *x->touched, by_number);
        for (uint32_t i = 0; r == 0 && i < x->touched_count; i++)
            r = add_count(j, x->touched[i]);
    }
    result->count = j->count_count - result->first;
    return r;
}

/* Finds the best skew, in a short way for the usual workload, which has one set of domains. */
static uint32_t best_of(struct judging *j) {
    struct scratch *x = &j->scratch;
    if (x->group_count == 1 && !x->any_fixed)
        return x->groups[0].pods % x->all_count != 0;
    if (x->group_count == 0 && !x->any_fixed)
        return 0;
    return best_skew(&(struct best_question){.groups = x->groups,
                                             .group_count = x->group_count,
                                             .domains = x->all,
                                             .words = j->from->words,
                                             .fixed = x->fixed,
                                             .masks = x->masks});
}

static int judge_workload(struct judging *j, const struct seen_workload *workload) {
    struct scratch *x = &j->scratch;
    struct evenness_result *result = &j->key->results[workload->number];
    x->touched_count = x->all_count = x->group_count = 0;
    x->any_fixed = false;
    memset(x->all, 0, j->from->words * sizeof *x->all);
    /* the evenness of a workload without pods is not known */
    bool known = workload->is.pods > 0 && gather(j, workload);
    count_pods(j, workload, known);
    result->state = EVENNESS_UNKNOWN;
    if (known) {
        result->skew = skew_of(x);
        result->best = best_of(j);
        result->state = state_of(result);
    }
    if (!known) /* only a part of the feasible domains was gathered */
        memset(x->all, 0, j->from->words * sizeof *x->all);
    j->key->totals[result->state]++;
    int r = put_counts(j, result);
    for (uint32_t i = 0; i < x->touched_count; i++)
        x->counts[x->touched[i]] = 0;
    if (x->any_fixed)
        memset(x->fixed, 0, (size_t)j->from->words * 64 * sizeof *x->fixed);
    return r;
}

/* ---- a key ---- */

struct rank {
    uint32_t number, state, gap, skew;
};

static int worst_first(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    if (x->state != y->state)
        return (x->state < y->state) - (x->state > y->state);
    if (x->gap != y->gap)
        return (x->gap < y->gap) - (x->gap > y->gap);
    if (x->skew != y->skew)
        return (x->skew < y->skew) - (x->skew > y->skew);
    return (x->number > y->number) - (x->number < y->number);
}

static int rank_workloads(struct judging *j) {
    static const uint32_t badness[EVENNESS_STATES] = {
        [EVENNESS_UNAVOIDABLE] = 1, [EVENNESS_UNKNOWN] = 2, [EVENNESS_UNEVEN] = 3};
    uint32_t count = j->report->workload_count;
    struct rank *ranks = calloc(count + 1, sizeof *ranks);
    j->key->worst = arena_array(j->report->arena, count, sizeof *j->key->worst);
    if (ranks == NULL || j->key->worst == NULL) {
        free(ranks);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct evenness_result *result = &j->key->results[i];
        uint32_t gap = result->skew > result->best ? result->skew - result->best : 0;
        ranks[i] = (struct rank){i, badness[result->state], gap, result->skew};
    }
    if (count > 1)
        qsort(ranks, count, sizeof *ranks, worst_first);
    for (uint32_t i = 0; i < count; i++)
        j->key->worst[i] = ranks[i].number;
    free(ranks);
    return 0;
}

static bool scratch_open(struct scratch *x, const struct seen_key *key) {
    x->counts = calloc(key->domain_count + 1, sizeof *x->counts);
    x->touched = calloc(key->domain_count + 1, sizeof *x->touched);
    x->all = calloc(key->words + 1, sizeof *x->all);
    x->fixed = calloc((size_t)key->words * 64 + 1, sizeof *x->fixed);
    x->masks = malloc((size_t)key->words * 64 + 1);
    return x->counts != NULL && x->touched != NULL && x->all != NULL && x->fixed != NULL &&
           x->masks != NULL;
}

static void scratch_done(struct scratch *x) {
    free(x->counts);
    free(x->touched);
    free(x->all);
    free(x->fixed);
    free(x->masks);
    *x = (struct scratch){.counts = NULL};
}

static void count_domains(const struct seen *seen, struct seen_key *key) {
    for (uint32_t slot = 0; slot < seen->slots; slot++)
        if (key->domain_of[slot] != NO_DOMAIN)
            key->domains[key->domain_of[slot]].pods += seen->slot_pods[slot];
        else if (seen->slot_nodes[slot] != 0)
            key->without.pods += seen->slot_pods[slot];
}

/* Shrinks the counts to the memory that they need: it counts against the arena's limit. */
static int keep_counts(struct judging *j) {
    struct evenness_key *key = j->key;
    struct arena *arena = j->report->arena;
    size_t bytes = j->count_count * sizeof *key->counts;
    struct evenness_count *counts =
        bytes > 0 ? pages_resize(key->counts, key->owned * sizeof *counts, bytes) : NULL;
    if (counts != NULL) {
        key->counts = counts;
        key->owned = j->count_count;
    }
    if (arena->max - arena->total < bytes)
        return -ENOMEM;
    arena->max -= bytes;
    return 0;
}

void evenness_free_counts(struct evenness_report *report) {
    for (uint32_t k = 0; k < report->key_count; k++) {
        struct evenness_key *key = &report->keys[k];
        if (key->owned > 0)
            pages_free(key->counts, key->owned * sizeof *key->counts);
        key->owned = 0;
    }
}

static int judge_key(struct judging *j) {
    const struct seen *seen = j->seen;
    count_domains(seen, j->from);
    *j->key = (struct evenness_key){.name = j->from->name,
                                    .domains = j->from->domains,
                                    .domain_count = j->from->domain_count,
                                    .without = j->from->without};
    j->count_count = 0;
    j->key->results = arena_array(j->report->arena, seen->workload_count, sizeof *j->key->results);
    int r = j->key->results == NULL || !scratch_open(&j->scratch, j->from) ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < seen->workload_count; i++)
        r = judge_workload(j, &seen->workloads[i]);
    scratch_done(&j->scratch);
    int kept = keep_counts(j);
    return r != 0 ? r : kept != 0 ? kept : rank_workloads(j);
}

/* ---- all keys ---- */

static int by_name(const void *a, const void *b) {
    const struct evenness_workload *x = &(*(struct seen_workload *const *)a)->is,
                                   *y = &(*(struct seen_workload *const *)b)->is;
    int order = str_cmp(x->namespace, y->namespace);
    order = order != 0 ? order : str_cmp(x->name, y->name);
    order = order != 0 ? order : str_cmp(x->kind, y->kind);
    return order != 0 ? order : str_cmp(x->group, y->group);
}

static int number_workloads(struct seen *seen, struct evenness_report *report) {
    uint32_t count = seen->workload_count;
    struct seen_workload **sorted = calloc(count + 1, sizeof *sorted);
    report->workloads = arena_array(report->arena, count, sizeof *report->workloads);
    if (sorted == NULL || report->workloads == NULL) {
        free(sorted);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &seen->workloads[i];
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i]->number = i;
        report->workloads[i] = sorted[i]->is;
    }
    report->workload_count = count;
    free(sorted);
    return 0;
}

static size_t sorted_bytes(const struct seen *seen) {
    return (seen->pod_count + 1) * sizeof(uint32_t);
}

/* Returns the slots of all pods, group by group. The array has sorted_bytes() bytes from
 * pages_resize(), and the caller owns it. */
static uint32_t *sort_pods(struct seen *seen) {
    uint32_t *slots = pages_resize(NULL, 0, sorted_bytes(seen)), at = 0;
    if (slots == NULL)
        return NULL;
    for (uint32_t g = 0; g < seen->group_count; g++) {
        seen->groups[g].first = at;
        at += seen->groups[g].pods;
        seen->groups[g].pods = 0;
    }
    for (uint32_t i = 0; i < seen->pod_count; i++) {
        struct seen_group *group = &seen->groups[seen->pods[i].group];
        slots[group->first + group->pods++] = seen->pods[i].slot;
    }
    return slots;
}

int evenness_judge(struct seen *seen, struct evenness_report *report) {
    struct judging j = {.seen = seen, .report = report};
    uint32_t *slots = sort_pods(seen);
    int r = slots == NULL ? -ENOMEM : number_workloads(seen, report);
    report->pods = seen->live;
    report->lost = seen->lost;
    report->pending = seen->pending;
    report->not_measured = seen->not_measured;
    report->keys = arena_array(report->arena, seen->key_count, sizeof *report->keys);
    j.slots = slots;
    if (report->keys == NULL)
        r = -ENOMEM;
    for (uint32_t k = 0; r == 0 && k < seen->key_count; k++) {
        j.from = &seen->keys[k];
        j.key = &report->keys[k];
        j.number = k;
        report->key_count = k + 1; /* this key's counts are freed with the report */
        r = judge_key(&j);
    }
    pages_free(slots, sorted_bytes(seen));
    return r;
}

uint32_t evenness_find(const struct evenness_report *r, struct str namespace, struct str name,
                       struct str kind) {
    uint32_t low = 0, high = r->workload_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct evenness_workload *w = &r->workloads[middle];
        int order = str_cmp(w->namespace, namespace);
        order = order != 0 ? order : str_cmp(w->name, name);
        if (order == 0 && kind.n > 0)
            order = str_cmp(w->kind, kind);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->workload_count || !str_eq(r->workloads[low].namespace, namespace) ||
        !str_eq(r->workloads[low].name, name) ||
        (kind.n > 0 && !str_eq(r->workloads[low].kind, kind)))
        return UINT32_MAX;
    return low;
}

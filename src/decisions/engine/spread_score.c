/*
 * Score of topology spread (soft constraints): the matching pods of the node's domains, weighted by
 * the logarithm of the number of domains among the candidates; fewer is better. upstream:
 * podtopologyspread/scoring.go. Assumed pods count in parts; upstream's snapshot has the whole pod
 * on its node. Without assumed pods, scores equal upstream's exactly.
 */
#include "engine/counted.h"
#include "engine/spread.h"

#include <errno.h>
#include <math.h>

static int64_t count_at(const struct ready_constraint *rc, uint32_t slot) {
    return rc->counts == NULL ? 0 : rc->counts[slot];
}

struct soft_constraint {
    bool hostname;  /* pods are counted per node, not per domain */
    int64_t *table; /* [column.domains + 1]: parts of matching pods, or NO_DOMAIN; the last is "no
                       label"; NULL with hostname */
    uint32_t
        no_label; /* the domain of nodes without the label, which only the system defaults score */
    int64_t candidates; /* number of domains with candidates; with hostname: number of candidates */
    double weight;
};

struct soft_state {
    struct ready_constraints ready;
    struct soft_constraint *soft; /* [ready.count] */
    bool *ignored;                /* per candidate: unknown, or lacks a required key; scores 0 */
    uint32_t scored;              /* candidates that are not ignored */
    bool domains;                 /* there is a constraint that counts per domain */
    bool fine;                    /* parts of pods count */
};

/* Raw scores are whole numbers, as upstream's, or fractions of 1/1024 while parts of pods count. */
enum { FINE = 1024 };

/* Returns the number of matching pods on a node, with assumed pods. A whole pod is CACHE_POD. */
static int64_t parts_at(const struct ready_constraint *rc, uint32_t slot) {
    return count_at(rc, slot) * CACHE_POD + (rc->assumed == NULL ? 0 : rc->assumed[slot]);
}

static uint32_t domain_or_none(const struct soft_state *s, uint32_t c, uint32_t slot) {
    uint32_t domain = s->ready.items[c].column.domain_of[slot];
    return domain == TOPOLOGY_NONE ? s->soft[c].no_label : domain;
}

static int soft_open(struct evaluation *e, struct soft_state *s, struct err *err) {
    *s = (struct soft_state){.fine = false};
    int r = constraints_ready(e, false, &s->ready, err);
    if (r != 0)
        return r;
    s->ignored = arena_array_unset(e->arena, e->count, sizeof *s->ignored);
    for (uint32_t i = 0; s->ignored != NULL && i < e->count; i++) {
        s->ignored[i] = e->slots[i] == TOPOLOGY_NONE ||
                        (s->ready.require_all && !has_all_keys(&s->ready, e->slots[i]));
        s->scored += !s->ignored[i];
    }
    s->soft = arena_array(e->arena, s->ready.count, sizeof *s->soft);
    for (uint32_t c = 0; s->soft != NULL && c < s->ready.count; c++) {
        const struct ready_constraint *rc = &s->ready.items[c];
        struct soft_constraint *soft = &s->soft[c];
        s->fine = s->fine || rc->assumed != NULL;
        soft->hostname = str_eq(rc->constraint->topology_key, TOPOLOGY_KEY_HOSTNAME);
        if (soft->hostname)
            continue;
        s->domains = true;
        soft->table = arena_array(e->arena, rc->column.domains + 1, sizeof *soft->table);
        soft->no_label = rc->column.empty != TOPOLOGY_NONE ? rc->column.empty : rc->column.domains;
        for (uint32_t d = 0; soft->table != NULL && d <= rc->column.domains; d++)
            soft->table[d] = NO_DOMAIN;
    }
    return arena_failed(e->arena) ? -ENOMEM : 0;
}

/* Finds the candidates' domains, and computes the weights from the number of domains. */
static void soft_domains(const struct evaluation *e, struct soft_state *s) {
    for (uint32_t i = 0; s->domains && i < e->count; i++) {
        if (s->ignored[i])
            continue;
        for (uint32_t c = 0; c < s->ready.count; c++) {
            struct soft_constraint *soft = &s->soft[c];
            if (soft->hostname)
                continue;
            int64_t *domain = &soft->table[domain_or_none(s, c, e->slots[i])];
            soft->candidates += *domain == NO_DOMAIN;
            *domain = 0;
        }
    }
    for (uint32_t c = 0; c < s->ready.count; c++) {
        if (s->soft[c].hostname)
            s->soft[c].candidates = s->scored;
        s->soft[c].weight = log((double)(s->soft[c].candidates + 2));
    }
}

/* Adds a node's pods, or parts of them, to its domain, if a candidate is in that domain. */
static void soft_add(struct soft_state *s, uint32_t c, uint32_t slot, int64_t parts) {
    if ((s->ready.require_all && !has_all_keys(&s->ready, slot)) ||
        !node_counts(&s->ready, c, slot))
        return;
    int64_t *domain = &s->soft[c].table[domain_or_none(s, c, slot)];
    if (*domain != NO_DOMAIN)
        *domain += parts;
}

/* Counts pods on all nodes, not only on candidates. */
static void soft_count(const struct evaluation *e, struct soft_state *s) {
    const uint32_t slots = topology_slots(e->view->nodes.topology);
    for (uint32_t c = 0; c < s->ready.count; c++) {
        const struct ready_constraint *rc = &s->ready.items[c];
        if (s->soft[c].hostname || rc->counts == NULL)
            continue;
        struct counted walk = {.counts = rc->counts, .slots = slots};
        for (uint32_t slot; counted_next(&walk, &slot);)
            soft_add(s, c, slot, (int64_t)rc->counts[slot] * CACHE_POD);
        for (uint32_t slot = 0; rc->assumed != NULL && slot < slots; slot++)
            if (rc->assumed[slot] != 0)
                soft_add(s, c, slot, rc->assumed[slot]);
    }
}

static double score_of(const struct soft_state *s, uint32_t slot) {
    double score = 0;
    for (uint32_t c = 0; c < s->ready.count; c++) {
        const struct ready_constraint *rc = &s->ready.items[c];
        const struct soft_constraint *soft = &s->soft[c];
        uint32_t domain = rc->column.domain_of[slot];
        if (domain == TOPOLOGY_NONE)
            continue;
        int64_t parts = soft->hostname ? parts_at(rc, slot) : soft->table[domain];
        /* exact for whole pods: CACHE_POD is a power of two */
        score += (double)parts / CACHE_POD * soft->weight + (double)(rc->constraint->max_skew - 1);
    }
    return score;
}

/* Rounds a score like round(); it is not negative, and far below 2^53. */
static int64_t rounded(double score) {
    int64_t whole = (int64_t)score;
    return whole + (score - (double)whole >= 0.5);
}

/* The fewest pods score 100; more pods score less, in proportion to the most. */
static int64_t normal(int64_t raw, int64_t least, int64_t most) {
    return most == 0 ? ENGINE_MAX_NORMALIZED : ENGINE_MAX_NORMALIZED * (most + least - raw) / most;
}

/* Computes the normalised score of each raw score once: most nodes share theirs, and a division
 * takes longer than a look-up. NULL: too many raw scores, or no memory. */
static int64_t *normal_table(const struct evaluation *e, int64_t least, int64_t most) {
    if (least > most || most - least >= e->count)
        return NULL;
    uint32_t count = (uint32_t)(most - least) + 1;
    int64_t *table = arena_array_unset(e->arena, count, sizeof *table);
    for (uint32_t i = 0; table != NULL && i < count; i++)
        table[i] = normal(least + i, least, most);
    return table;
}

static void normalize(const struct evaluation *e, const struct soft_state *s, const int64_t *raw,
                      int64_t *normalized) {
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        if (s->ignored[i])
            continue;
        least = raw[i] < least ? raw[i] : least;
        most = raw[i] > most ? raw[i] : most;
    }
    const int64_t *table = normal_table(e, least, most);
    for (uint32_t i = 0; i < e->count; i++) {
        if (s->ignored[i])
            normalized[i] = 0;
        else
            normalized[i] = table != NULL ? table[raw[i] - least] : normal(raw[i], least, most);
    }
}

int spread_score(struct evaluation *e, int64_t *raw, int64_t *normalized, struct err *err) {
    struct soft_state s;
    if (e->count == 0)
        return ALGORITHM_SKIP;
    int r = soft_open(e, &s, err);
    if (r != 0)
        return r;
    r = evaluation_take(e, (2 * (uint64_t)e->count + topology_slots(e->view->nodes.topology)) *
                               s.ready.count);
    if (r != 0)
        return r;
    soft_domains(e, &s);
    soft_count(e, &s);
    for (uint32_t i = 0; i < e->count; i++)
        raw[i] = s.ignored[i] ? 0 : rounded(score_of(&s, e->slots[i]) * (s.fine ? FINE : 1));
    normalize(e, &s, raw, normalized);
    for (uint32_t i = 0; s.fine && i < e->count; i++)
        raw[i] = (raw[i] + FINE / 2) / FINE;
    return 0;
}

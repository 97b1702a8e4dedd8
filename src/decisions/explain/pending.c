#include "explain/pending.h"

#include "explain/domains.h"
#include "explain/obstacle.h"
#include "explain/reasons.h"
#include "model/fixed_pod.h"
#include "volumes/claims.h"

enum { TALLIES = 16, SHOWN = 4, PAIRS_SHOWN = 4, SENTENCE_SHOWN = 512 };

/* Nodes by the reason that refused them, the reason with most nodes first. */
struct tallies {
    struct {
        struct str reason;
        int64_t nodes;
    } items[TALLIES];
    uint32_t count;
    int64_t total; /* number of all nodes; -1: not given */
};

static void tally(struct tallies *t, struct str reason, int64_t nodes) {
    uint32_t at = t->count < TALLIES ? t->count++ : TALLIES - 1;
    if (at == TALLIES - 1 && t->items[at].nodes > nodes)
        return;
    for (; at > 0 && t->items[at - 1].nodes < nodes; at--)
        t->items[at] = t->items[at - 1];
    t->items[at].reason = reason;
    t->items[at].nodes = nodes;
}

/* ---- kube-scheduler's message ---- */

/* Takes the number and the blank of "12 ..." from the start of *rest. */
static bool take_number(struct str *rest, int64_t *ret) {
    size_t n = 0;
    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
        n++;
    if (n == 0 || n == rest->n || rest->p[n] != ' ' || !str_to_i64((struct str){rest->p, n}, ret))
        return false;
    *rest = (struct str){rest->p + n + 1, rest->n - n - 1};
    return true;
}

/* Returns the index of ", " before the next "12 ...", or of the end. */
static size_t end_of_reason(struct str text) {
    for (size_t i = 0; i + 2 < text.n; i++) {
        struct str rest = {text.p + i + 2, text.n - i - 2};
        int64_t nodes;
        if (text.p[i] == ',' && text.p[i + 1] == ' ' && take_number(&rest, &nodes))
            return i;
    }
    return text.n;
}

static size_t find_text(struct str text, struct str wanted) {
    const char *at = text.n >= wanted.n ? memmem(text.p, text.n, wanted.p, wanted.n) : NULL;
    return at != NULL ? (size_t)(at - text.p) : SIZE_MAX;
}

/* Returns the first sentence without its dots: later sentences (PostFilterMsg) give no cause. */
static struct str without_dots(struct str s) {
    size_t end = find_text(s, STR(". "));
    s = str_trim((struct str){s.p, end != SIZE_MAX ? end : s.n});
    while (s.n > 0 && s.p[s.n - 1] == '.')
        s.n--;
    return s;
}

/*
 * Reads "0/6 nodes are available: 4 node(s) were unschedulable, 2 Insufficient cpu. preemption:
 * ...". With a PreFilter plugin's sentence instead of the numbers, *ret_sentence is that sentence.
 * upstream: pkg/scheduler/framework/types.go FitError.Error.
 */
static void read_message(struct str message, struct tallies *ret, struct str *ret_sentence) {
    const struct str available = STR(" nodes are available:");
    *ret = (struct tallies){.total = -1};
    size_t at = find_text(message, available);
    if (at != SIZE_MAX && at > 2 && at < 16 && str_has_prefix(message, STR("0/"))) {
        if (!str_to_i64((struct str){message.p + 2, at - 2}, &ret->total))
            ret->total = -1;
        message = (struct str){message.p + at + available.n, message.n - at - available.n};
    }
    message = without_dots(message);
    *ret_sentence = message;
    int64_t nodes;
    for (struct str rest = message; take_number(&rest, &nodes);) {
        size_t n = end_of_reason(rest);
        tally(ret, without_dots((struct str){rest.p, n}), nodes);
        rest = n + 2 < rest.n ? (struct str){rest.p + n + 2, rest.n - n - 2} : STR("");
    }
}

/* ---- the present result of the filters ---- */

static void read_now(const struct pending_question *q, const uint32_t *counts,
                     struct tallies *ret) {
    *ret = (struct tallies){.total = q->nodes};
    for (uint32_t i = 1; i < q->now->reason_count; i++)
        if (counts[i] > 0)
            tally(ret, q->now->reason_texts[i], counts[i]);
}

/* ---- the words ---- */

static void say_tallies(const struct tallies *t, struct strbuf *out) {
    uint32_t shown = t->count < SHOWN ? t->count : SHOWN;
    if (t->total >= 0)
        strbuf_appendf(out, "of %lld nodes ", (long long)t->total);
    for (uint32_t i = 0; i < shown; i++)
        strbuf_appendf(out, "%s%lld %.*s", i > 0 ? ", " : "", (long long)t->items[i].nodes,
                       STR_ARG(reason_words(t->items[i].reason)));
    if (shown < t->count)
        strbuf_appendf(out, " and %u more reasons", t->count - shown);
}

static bool has_kind(const struct tallies *t, const char *kind) {
    for (uint32_t i = 0; i < t->count; i++)
        if (str_eq(str_of(reason_meaning(t->items[i].reason)->kind), str_of(kind)))
            return true;
    return false;
}

/* Appends "nodeSelector disk=ssd, tier=hot". */
static void say_selector(const struct pod *pod, struct strbuf *out) {
    const struct labels *selector = &pod->affinity.node_selector;
    uint32_t shown = selector->count < PAIRS_SHOWN ? selector->count : PAIRS_SHOWN;
    if (shown > 0)
        strbuf_append_str(out, STR("; nodeSelector "));
    for (uint32_t i = 0; i < shown; i++)
        strbuf_appendf(out, "%s%.*s=%.*s", i > 0 ? ", " : "", STR_ARG(selector->items[i].key),
                       STR_ARG(selector->items[i].value));
    if (shown < selector->count)
        strbuf_appendf(out, " and %u more", selector->count - shown);
    if (pod->affinity.required)
        strbuf_append_str(out, STR("; required node affinity"));
}

/* Appends a sentence about one hard constraint: can its minDomains be reached, and which domains
 * are allowed? */
static void say_constraint(const struct pending_question *q, const struct applied_constraint *a,
                           struct strbuf *out) {
    const struct spread_constraint *c = a->constraint;
    strbuf_append_str(out, STR("; "));
    obstacle_say_origin(a, q->policy, out);
    strbuf_appendf(out, ", %.*s, maxSkew %lld: ", STR_ARG(c->topology_key), (long long)c->max_skew);
    if (a->origin != CONSTRAINT_OF_RULE && a->domains > 0 && a->domains < c->min_domains)
        strbuf_appendf(out, "minDomains is %lld and only %lld domains have nodes that count; ",
                       (long long)c->min_domains, (long long)a->domains);
    domains_say(q->now, a, out);
}

static void say_constraints(const struct pending_question *q, struct strbuf *out) {
    for (uint32_t i = 0, said = 0; q->now != NULL && i < q->now->applied_count && said < 2; i++)
        if (obstacle_is(&q->now->applied[i])) {
            say_constraint(q, &q->now->applied[i], out);
            said++;
        }
}

static void say_details(const struct pending_question *q, const struct tallies *t,
                        struct strbuf *out) {
    if (has_kind(t, "Taint") && q->taint.n > 0)
        strbuf_appendf(out, "; taint %.*s", STR_ARG(q->taint));
    if (has_kind(t, "NodeSelector"))
        say_selector(q->pod, out);
    if (has_kind(t, "TopologySpread") || has_kind(t, "SpreadRule") ||
        has_kind(t, "SpreadKeyMissing") || has_kind(t, "PodsInFlight"))
        say_constraints(q, out);
}

/* ---- the nodes that are nearest to fit ---- */

static uint32_t bits_of(uint32_t mask) {
    return (uint32_t)__builtin_popcount(mask);
}

/* The filters by which the pod's owner selects nodes. */
enum { WANTED = FILTER_NODE_AFFINITY | FILTER_NODE_NAME };

/* The nodes that fewest filters refuse. */
struct near {
    uint32_t wanted;  /* number of nodes that the pod's owner selects, or of all nodes */
    uint32_t refused; /* filters that refuse all of these nodes */
    uint32_t least;   /* the smallest set of filters that refuses one node ... */
    uint32_t nodes;   /* ... and the number of nodes that exactly this set refuses */
};

static void find_near(const struct pending_question *q, struct near *ret) {
    uint32_t unwanted = 0;
    for (uint32_t i = 0; i < q->nodes; i++)
        unwanted += (q->refusing[i] & WANTED) != 0;
    uint32_t skipped = unwanted < q->nodes ? WANTED : 0;
    *ret = (struct near){.refused = UINT32_MAX, .least = UINT32_MAX};
    for (uint32_t i = 0; i < q->nodes; i++) {
        if ((q->refusing[i] & skipped) != 0)
            continue;
        ret->wanted++;
        ret->refused &= q->refusing[i];
        if (bits_of(q->refusing[i]) < bits_of(ret->least)) {
            ret->least = q->refusing[i];
            ret->nodes = 0;
        }
        ret->nodes += q->refusing[i] == ret->least;
    }
}

/* Appends "cordoned and Insufficient cpu". Returns the kind of the first reason. */
static const char *say_filters(const struct pending_question *q, uint32_t mask,
                               struct strbuf *out) {
    const char *kind = NULL;
    for (uint32_t f = 0; f < PENDING_FILTERS; f++) {
        if ((mask & 1u << f) == 0)
            continue;
        struct str words = reason_words(q->filter_reasons[f]);
        strbuf_appendf(out, "%s%.*s", kind != NULL ? " and " : "", STR_ARG(words));
        kind = kind != NULL ? kind : reason_meaning(q->filter_reasons[f])->kind;
    }
    return kind;
}

/* Appends the reasons of the nodes that fewest filters refuse. kube-scheduler names only the first
 * filter that refuses a node, which hides the cause if several do. Returns the kind; NULL, and
 * appends nothing, if a node passes or no filter ran. */
static const char *say_nearest(const struct pending_question *q, struct strbuf *out) {
    struct near near;
    if (q->refusing == NULL || q->nodes == 0)
        return NULL;
    find_near(q, &near);
    if (near.least == 0)
        return NULL;
    if (near.refused != 0 && near.wanted == q->nodes)
        strbuf_appendf(out, "all %u nodes are refused: ", q->nodes);
    else if (near.refused != 0)
        strbuf_appendf(out,
                       "all %u nodes (of %u) that its nodeSelector and node affinity leave are "
                       "refused: ",
                       near.wanted, q->nodes);
    else
        strbuf_appendf(out, "nearest to fit are %u of %u nodes, refused only for: ", near.nodes,
                       q->nodes);
    return say_filters(q, near.refused != 0 ? near.refused : near.least, out);
}

/* ---- then and now ---- */

static uint32_t count_now(const struct pending_question *q, uint32_t counts[static 256]) {
    for (uint32_t i = 0; i < q->nodes; i++)
        counts[q->now->reasons[i]]++;
    return counts[0];
}

/* Appends changes since kube-scheduler's attempt, and reasons that Evenkeel cannot check. */
static void say_now(const struct pending_question *q, struct strbuf *out) {
    uint32_t counts[256] = {0}; /* a reason is a byte */
    if (q->now == NULL)
        return;
    uint32_t passed = count_now(q, counts);
    if (passed > 0 && q->pod->claim_count > 0 && q->now->claims == NULL)
        strbuf_appendf(out,
                       "; judged now without its claims, which a replica without the webhook does "
                       "not know, %u of %u nodes pass",
                       passed, q->nodes);
    else if (passed > 0)
        strbuf_appendf(
            out,
            "; judged now, %u of %u nodes pass: the cluster has changed since, or something that "
            "Evenkeel does not judge (limits and capacity of volumes, devices) keeps the pod off",
            passed, q->nodes);
}

static const char *say_judgement(const struct pending_question *q, struct strbuf *out) {
    uint32_t counts[256] = {0};
    struct tallies now;
    if (q->now == NULL)
        return "NotTried";
    uint32_t passed = count_now(q, counts);
    read_now(q, counts, &now);
    strbuf_append_str(out, STR("; judged now, "));
    if (passed > 0) {
        strbuf_appendf(out, "%u of %u nodes pass", passed, q->nodes);
        return "NotTried";
    }
    say_tallies(&now, out);
    say_details(q, &now, out);
    return now.count > 0 ? reason_meaning(now.items[0].reason)->kind : "NotTried";
}

/* ---- the cause ---- */

static const char *say_gates(const struct pod_state *s, struct strbuf *out) {
    uint32_t shown = s->gate_count < PAIRS_SHOWN ? s->gate_count : PAIRS_SHOWN;
    strbuf_append_str(out, STR("held by its schedulingGates"));
    for (uint32_t i = 0; i < shown; i++)
        strbuf_appendf(out, "%s%.*s", i > 0 ? ", " : " ", STR_ARG(s->gates[i]));
    if (shown < s->gate_count)
        strbuf_appendf(out, " and %u more", s->gate_count - shown);
    strbuf_append_str(out, STR(": no scheduler tries it before they are removed"));
    return "SchedulingGates";
}

static const char *say_not_tried(const struct pending_question *q, struct strbuf *out) {
    const struct pod_state *s = q->state;
    struct str scheduler = scheduler_of(s->scheduler);
    strbuf_appendf(out,
                   "no scheduler has tried it since it was created at %.*s: it waits for "
                   "schedulerName %.*s, which may not exist, not run or be busy",
                   STR_ARG(s->created), STR_ARG(scheduler));
    (void)say_judgement(q, out); /* the kind stays NotTried */
    return "NotTried";
}

/* Can a dataset that is not ready be the cause of these reasons? Fluid creates the claim of a
 * dataset only after the dataset is bound. */
static bool is_of_volumes(const struct tallies *t, struct str sentence) {
    struct str kind = str_of(reason_meaning(sentence)->kind);
    return has_kind(t, "Volume") || str_eq(kind, STR("UnboundClaim")) ||
           str_eq(kind, STR("ClaimMissing"));
}

static void say_claims(const struct pod *pod, struct strbuf *out) {
    uint32_t shown = pod->claim_count < PAIRS_SHOWN ? pod->claim_count : PAIRS_SHOWN;
    for (uint32_t i = 0; i < shown; i++)
        strbuf_appendf(out, "%s%.*s", i > 0 ? ", " : "; its claims: ", STR_ARG(pod->claims[i]));
    if (shown < pod->claim_count)
        strbuf_appendf(out, " and %u more", pod->claim_count - shown);
}

/* Appends the places of the volumes. */
static void say_places(const struct filter_result *now, struct strbuf *out) {
    const size_t before = out->n;
    if (now == NULL || now->claims == NULL)
        return;
    strbuf_append_str(out, STR(" ("));
    const size_t begin = out->n;
    pod_claims_say(now->claims, out);
    if (out->n == begin)
        out->n = before; /* no claim has a place */
    else
        strbuf_append_str(out, STR(")"));
}

static const char *say_sentence(const struct pending_question *q, struct str sentence,
                                struct strbuf *out) {
    const struct reason_meaning *meaning = reason_meaning(sentence);
    strbuf_append_str(out, meaning->words != NULL ? str_of(meaning->words)
                                                  : decision_first_bytes(sentence, SENTENCE_SHOWN));
    if (str_eq(str_of(meaning->kind), STR("NodeSelector")))
        say_selector(q->pod, out);
    if (str_eq(str_of(meaning->kind), STR("UnboundClaim")))
        say_claims(q->pod, out);
    return meaning->kind;
}

/* If nodes pass now, either the cluster has changed, or Evenkeel does not check kube-scheduler's
 * reason. Returns the kind of the first unchecked reason; NULL if no node passes or all reasons are
 * checked. */
static const char *kind_of_unjudged(const struct pending_question *q, const struct tallies *t) {
    static const char *const unjudged[] = {"Volume", "UnboundClaim", "ClaimMissing", "Other"};
    uint32_t counts[256] = {0}; /* a reason is a byte */
    if (q->now == NULL || count_now(q, counts) == 0)
        return NULL;
    for (uint32_t i = 0; i < t->count; i++) {
        const char *kind = reason_meaning(t->items[i].reason)->kind;
        for (size_t k = 0; k < sizeof unjudged / sizeof unjudged[0]; k++)
            if (str_eq(str_of(kind), str_of(unjudged[k])))
                return kind;
    }
    return NULL;
}

static const char *say_reasons(const struct pending_question *q, const struct tallies *t,
                               struct strbuf *out) {
    const char *kind = say_nearest(q, out);
    strbuf_append_str(out, kind != NULL ? STR("; kube-scheduler: ") : STR(""));
    say_tallies(t, out);
    say_details(q, t, out);
    if (has_kind(t, "Volume")) {
        say_claims(q->pod, out);
        say_places(q->now, out);
    }
    say_now(q, out);
    if (kind == NULL)
        kind = kind_of_unjudged(q, t);
    return kind != NULL ? kind : reason_meaning(t->items[0].reason)->kind;
}

static const char *say_unschedulable(const struct pending_question *q, struct strbuf *out) {
    struct tallies t;
    struct str sentence;
    read_message(q->state->message, &t, &sentence);
    bool dataset = q->unready_dataset.n > 0 && is_of_volumes(&t, sentence);
    if (dataset)
        strbuf_appendf(out, "dataset %.*s, which it mounts, is not ready (phase %.*s): ",
                       STR_ARG(q->unready_dataset),
                       STR_ARG(q->unready_phase.n > 0 ? q->unready_phase : STR("not set")));
    const char *kind = t.count == 0 ? say_sentence(q, sentence, out) : say_reasons(q, &t, out);
    return dataset ? "Dataset" : kind;
}

static const char *say_pending(const struct pending_question *q, struct strbuf *out) {
    const struct pod_state *s = q->state;
    if (s->gate_count > 0)
        return say_gates(s, out);
    if (s->nominated_node.n > 0) {
        strbuf_appendf(out,
                       "nominated for node %.*s, where it waits until the pods that are evicted "
                       "for it have ended (preemption)",
                       STR_ARG(s->nominated_node));
        return "Nominated";
    }
    if (str_empty(s->status))
        return say_not_tried(q, out);
    if (str_eq(s->reason, STR("SchedulerError"))) {
        strbuf_appendf(out, "kube-scheduler's last attempt failed: %.*s", STR_ARG(s->message));
        return "SchedulerError";
    }
    return say_unschedulable(q, out);
}

const char *pending_say(const struct pending_question *q, struct strbuf *out) {
    const struct pod_state *s = q->state;
    if (s->deleted.n > 0) {
        strbuf_appendf(out, "being deleted since %.*s", STR_ARG(s->deleted));
        return "Deleted";
    }
    if (s->node.n > 0) {
        strbuf_appendf(out, "on node %.*s, phase %.*s", STR_ARG(s->node),
                       STR_ARG(s->phase.n > 0 ? s->phase : STR("not set")));
        return "Scheduled";
    }
    if (!pod_state_is_pending(s)) {
        strbuf_appendf(out, "phase %.*s", STR_ARG(s->phase));
        return "Ended";
    }
    strbuf_append_str(out, STR("Pending: "));
    return say_pending(q, out);
}

bool pending_summarize(const struct pending_question *q, const char *kind, struct strbuf *out) {
    static const char *const of_spread[] = {"TopologySpread", "SpreadRule", "SpreadKeyMissing",
                                            "PodsInFlight"};
    bool is_spread = false;
    for (size_t i = 0; i < sizeof of_spread / sizeof of_spread[0]; i++)
        is_spread = is_spread || str_eq(str_of(kind), str_of(of_spread[i]));
    for (uint32_t i = 0; is_spread && q->now != NULL && i < q->now->applied_count; i++)
        if (obstacle_is(&q->now->applied[i])) {
            strbuf_append_str(out, STR("Pending: "));
            obstacle_summarize(q->now, &q->now->applied[i], q->policy, out);
            return true;
        }
    return false;
}

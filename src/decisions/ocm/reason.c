/* Makes sentences with the reason why a cluster does not pass, or why it stays although new
 * clusters are forbidden in its domain. */
#include "ocm/internal.h"

const struct str ocm_verdict_names[OCM_VERDICTS] = {
    [OCM_PASS] = {"Pass", 4},
    [OCM_PREDICATE] = {"Predicate", 9},
    [OCM_TAINT_TOLERATION] = {"TaintToleration", 15},
    [OCM_TOPOLOGY_KEY] = {"TopologyKey", 11},
};

enum { VALUES_SHOWN = 5 };

/* Appends "label cloud in (Amazon,Google)", as Kubernetes writes selectors. */
static void put_requirement(const struct requirement *q, struct strbuf *out) {
    const struct str prefix = STR(CLAIM_PREFIX);
    const bool claim = str_has_prefix(q->key, prefix);
    const struct str key = claim ? (struct str){q->key.p + prefix.n, q->key.n - prefix.n} : q->key;
    strbuf_append_str(out, claim ? STR("claim ") : STR("label "));
    strbuf_append_str(out, q->op == SELECTOR_DOES_NOT_EXIST ? STR("!") : STR(""));
    strbuf_append_str(out, key);
    if (q->op != SELECTOR_IN && q->op != SELECTOR_NOT_IN)
        return;
    strbuf_append_str(out, q->op == SELECTOR_IN ? STR(" in (") : STR(" notin ("));
    for (uint32_t i = 0; i < q->value_count && i < VALUES_SHOWN; i++) {
        strbuf_append_str(out, i > 0 ? STR(",") : STR(""));
        strbuf_append_str(out, q->values[i]);
    }
    if (q->value_count > VALUES_SHOWN)
        strbuf_appendf(out, " and %u more", q->value_count - VALUES_SHOWN);
    strbuf_append_char(out, ')');
}

static void put_predicate(const struct ocm_decision *d, uint32_t slot, struct strbuf *out) {
    const uint32_t count = d->placement->predicate_count;
    if (count > 1)
        strbuf_appendf(out, "none of %u predicates holds; of the first: ", count);
    put_requirement(&d->first_predicate->items[d->causes[slot]], out);
    strbuf_append_str(out, STR(" does not hold"));
}

static void put_taint(const struct ocm_decision *d, uint32_t slot, struct strbuf *out) {
    const struct fleet_cluster *cluster = fleet_cluster(d->view, slot);
    const struct taint *taint = &cluster->taints[taint_cause_index(d->causes[slot])].taint;
    strbuf_append_str(out, STR("taint "));
    taint_print(taint, out);
    strbuf_append_str(out, STR(" is not tolerated"));
    if (taint_cause_expired(d->causes[slot]))
        strbuf_append_str(out, STR(": tolerationSeconds are over"));
}

static void put_missing(const struct placement_term *term, struct strbuf *out) {
    strbuf_append_str(out, term->is_claim ? STR("no claim ") : STR("no label "));
    strbuf_append_str(out, term->key);
}

static void put_key(const struct ocm_decision *d, uint32_t slot, struct strbuf *out) {
    put_missing(&d->terms[d->causes[slot]], out);
    strbuf_append_str(out, STR(", which a DoNotSchedule term needs"));
}

void ocm_kept_reason(const struct ocm_decision *d, uint32_t slot, struct arena *arena,
                     struct strbuf *out) {
    const struct placement_term *term = &d->terms[d->causes[slot]];
    const struct str key = term->is_claim ? claim_key(term->key, arena) : term->key;
    struct str value = {0};
    if (d->verdicts[slot] == OCM_TOPOLOGY_KEY) {
        put_missing(term, out);
    } else {
        (void)topology_label(d->view->clusters.topology, slot, key, &value); /* it has the key */
        strbuf_append_str(out, term->is_claim ? STR("claim ") : STR(""));
        strbuf_append_str(out, term->key);
        strbuf_append_char(out, '=');
        strbuf_append_str(out, value);
        strbuf_appendf(out, " is above maxSkew %d", term->max_skew);
    }
    strbuf_append_str(out, STR(": a member stays"));
}

void ocm_reason(const struct ocm_decision *d, uint32_t slot, struct strbuf *out) {
    switch ((enum ocm_verdict)d->verdicts[slot]) {
    case OCM_PREDICATE:
        put_predicate(d, slot, out);
        break;
    case OCM_TAINT_TOLERATION:
        put_taint(d, slot, out);
        break;
    case OCM_TOPOLOGY_KEY:
        put_key(d, slot, out);
        break;
    case OCM_PASS:
    case OCM_VERDICTS:
        break;
    }
}

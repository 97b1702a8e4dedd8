/*
 * Which hard terms of ordered spread a native topologySpreadConstraint says exactly: what
 * docs/guides/kube-scheduler.md and `evenkeel check config` claim, over random clusters. The native
 * side is the spread algorithm, which the conformance tests hold against Kubernetes' own plugin.
 */
#include "engine/engine.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

enum { NODES_MAX = 12, TERMS_MAX = 3, CASES = 3000 };

static const char *const keys[TERMS_MAX] = {"region", "zone", "rack"};

struct term {
    uint32_t max_skew;
    bool soft, honor_taints, ignore_affinity;
};

/* One random question. */
struct question {
    struct cluster c;
    struct ordered_rule rule;
    struct term terms[TERMS_MAX];
    uint32_t node_count;
    uint32_t regions[NODES_MAX]; /* r0, r1, r2; 3: none */
    struct str names[NODES_MAX];
    char name_bytes[NODES_MAX][8];
    const char *spec; /* more of the pod's spec */
};

/* ---- random clusters ---- */

/* Values of a lower key may stand under several of a higher one. */
static void add_node(struct question *q, uint64_t *seed, bool keys_together) {
    struct strbuf text = {0};
    uint32_t i = q->node_count++;
    uint32_t region = q->regions[i] = unit_below(seed, 4);
    (void)snprintf(q->name_bytes[i], sizeof q->name_bytes[i], "n%u", i); /* fits */
    q->names[i] = str_of(q->name_bytes[i]);
    strbuf_appendf(&text, "n%u", i);
    if (region < 3)
        strbuf_appendf(&text, ",+region=r%u", region);
    for (uint32_t k = 1; k < TERMS_MAX; k++) {
        if ((keys_together && region < 3) || unit_below(seed, 4) > 0)
            strbuf_appendf(&text, ",+%s=v%u", keys[k], unit_below(seed, 4));
        else
            strbuf_appendf(&text, ",-%s", keys[k]);
    }
    strbuf_appendf(&text, "%s%s%c", unit_below(seed, 2) == 0 ? ",+disk=ssd" : "",
                   unit_below(seed, 4) == 0 ? ",!" : "", '\0');
    cluster_nodes(&q->c, text.p);
    strbuf_done(&text);
}

static void add_pods(struct question *q, uint64_t *seed) {
    for (uint32_t i = 0; i < q->node_count; i++) {
        char text[40];
        uint32_t group = unit_below(seed, 4);
        (void)snprintf(text, sizeof text, "n%u:%u n%u:%s", i, group > 0 ? group : 1, i,
                       unit_below(seed, 2) == 0 ? "other" : "~1"); /* fits */
        cluster_pods(&q->c, group > 0 ? text : strchr(text, ' ') + 1);
    }
}

static void write_term(const struct term *term, const char *key, const char *selector,
                       struct strbuf *out) {
    strbuf_appendf(out, "%u/%s/%s%s%s%s ", term->max_skew, key, selector, term->soft ? ",soft" : "",
                   term->honor_taints ? ",taints=Honor" : "",
                   term->ignore_affinity ? ",affinity=Ignore" : "");
}

static void compile_rule(struct question *q, const char *terms) {
    q->rule = (struct ordered_rule){
        .pods = cluster_selector(
            &q->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}")};
    q->rule.terms = cluster_constraints(&q->c, terms, &q->rule.term_count);
}

struct shape {
    uint32_t terms;
    bool keys_together; /* a node with a region has every key */
    bool strict;        /* every term is hard and honours the pod's node affinity */
};

static void add_rule(struct question *q, uint64_t *seed, struct shape shape) {
    struct strbuf text = {0};
    for (uint32_t t = 0; t < shape.terms; t++) {
        q->terms[t] = (struct term){.max_skew = 1 + unit_below(seed, 3),
                                    .soft = !shape.strict && t > 0 && unit_below(seed, 2) == 0,
                                    .honor_taints = unit_below(seed, 3) == 0,
                                    .ignore_affinity = !shape.strict && unit_below(seed, 3) == 0};
        write_term(&q->terms[t], keys[t], "nil", &text);
    }
    strbuf_append_char(&text, '\0');
    compile_rule(q, text.p);
    strbuf_done(&text);
}

static void open_question(struct question *q, uint64_t *seed, struct shape shape) {
    *q = (struct question){.spec = ""};
    cluster_open(&q->c);
    for (uint32_t n = 2 + unit_below(seed, NODES_MAX - 1); q->node_count < n;)
        add_node(q, seed, shape.keys_together);
    add_pods(q, seed);
    add_rule(q, seed, shape);
}

/* ---- both answers ---- */

static struct filter_result ask(struct question *q, const struct ordered_rule *rule,
                                const char *constraints) {
    struct filter_result result;
    struct err err;
    struct pod pod = cluster_pod(&q->c, "foo", constraints, q->spec);
    q->c.options.ordered_rules = rule;
    q->c.options.ordered_rule_count = rule != NULL;
    if (engine_filter(&q->c.options, q->c.cache, &pod,
                      &(struct candidates){q->names, q->node_count}, &q->c.arena, &result,
                      &err) != 0)
        fail_msg("%s", err.text);
    return result;
}

/* The term as a native constraint: the group as its selector, and for its counts the policies of
 * all terms, because a rule leaves out the nodes that any of its terms leaves out. */
static void write_native(const struct question *q, uint32_t term, struct strbuf *out) {
    struct term native = q->terms[term];
    native.ignore_affinity = true;
    for (uint32_t t = 0; t < q->rule.term_count; t++) {
        native.honor_taints = native.honor_taints || q->terms[t].honor_taints;
        native.ignore_affinity = native.ignore_affinity && q->terms[t].ignore_affinity;
    }
    write_term(&native, keys[term], "foo", out);
}

/* ---- what is claimed ---- */

/* A rule of one term is a native constraint. */
static void one_term(void **state) {
    (void)state;
    uint64_t seed = unit_seed();
    uint32_t rejected = 0;
    for (int i = 0; i < CASES; i++) {
        static struct question q;
        struct strbuf native = {0};
        open_question(&q, &seed, (struct shape){.terms = 1});
        q.spec = unit_below(&seed, 2) == 0 ? "\"nodeSelector\":{\"disk\":\"ssd\"}," : "";
        write_native(&q, 0, &native);
        strbuf_append_char(&native, '\0');
        struct filter_result ours = ask(&q, &q.rule, ""), theirs = ask(&q, NULL, native.p);
        assert_memory_equal(ours.verdicts, theirs.verdicts, q.node_count);
        for (uint32_t n = 0; n < q.node_count; n++)
            rejected += ours.verdicts[n] == VERDICT_UNSCHEDULABLE;
        strbuf_done(&native);
        cluster_close(&q.c);
    }
    assert_true(rejected > CASES);
}

/* Of several terms the first one is, if nodes that have its key have those of the other hard terms:
 * the nodes that it rejects are those that the native constraint rejects. */
static void the_first_of_several(void **state) {
    (void)state;
    static const struct str first = {"over maxSkew on region (ordered)", 32};
    uint64_t seed = unit_seed();
    uint32_t rejected = 0;
    for (int i = 0; i < CASES; i++) {
        static struct question q;
        struct strbuf native = {0};
        open_question(&q, &seed,
                      (struct shape){.terms = 2 + unit_below(&seed, 2), .keys_together = true});
        q.spec = unit_below(&seed, 2) == 0 ? "\"nodeSelector\":{\"disk\":\"ssd\"}," : "";
        write_native(&q, 0, &native);
        strbuf_append_char(&native, '\0');
        struct filter_result ours = ask(&q, &q.rule, ""), theirs = ask(&q, NULL, native.p);
        for (uint32_t n = 0; n < q.node_count; n++) {
            bool by_first = str_eq(ours.reason_texts[ours.reasons[n]], first);
            assert_int_equal(by_first, theirs.verdicts[n] == VERDICT_UNSCHEDULABLE);
            rejected += by_first;
        }
        strbuf_done(&native);
        cluster_close(&q.c);
    }
    assert_true(rejected > CASES);
}

/* A later term is one for pods that can only land under one value of every key before it: then its
 * siblings are all the domains there are. */
static void later_terms_of_pinned_pods(void **state) {
    (void)state;
    uint64_t seed = unit_seed();
    uint32_t rejected = 0;
    for (int i = 0; i < CASES; i++) {
        static struct question q;
        struct strbuf native = {0};
        open_question(&q, &seed, (struct shape){.terms = 2, .keys_together = true, .strict = true});
        q.spec = "\"nodeSelector\":{\"region\":\"r1\"},";
        write_native(&q, 1, &native);
        strbuf_append_char(&native, '\0');
        struct filter_result ours = ask(&q, &q.rule, ""), theirs = ask(&q, NULL, native.p);
        for (uint32_t n = 0; n < q.node_count; n++)
            if (q.regions[n] == 1) {
                assert_int_equal(ours.verdicts[n], theirs.verdicts[n]);
                rejected += ours.verdicts[n] == VERDICT_UNSCHEDULABLE;
            }
        strbuf_done(&native);
        cluster_close(&q.c);
    }
    assert_true(rejected > CASES / 10);
}

/* ---- what is not ---- */

static void ask_both(const char *nodes, const char *pods, const char *terms, const char *native,
                     const char *want_ours, const char *want_theirs) {
    static const char letters[] = "SUR";
    static struct question q;
    struct str rest = str_of(nodes), word;
    char ours[NODES_MAX + 1] = {0}, theirs[NODES_MAX + 1] = {0};
    q = (struct question){.spec = ""};
    cluster_open(&q.c);
    cluster_nodes(&q.c, nodes);
    cluster_pods(&q.c, pods);
    while (next_word(&rest, " ", &word))
        q.names[q.node_count++] = (struct str){word.p, str_find(word, ',')};
    compile_rule(&q, terms);
    struct filter_result by_rule = ask(&q, &q.rule, ""), by_native = ask(&q, NULL, native);
    for (uint32_t n = 0; n < q.node_count; n++) {
        ours[n] = letters[by_rule.verdicts[n]];
        theirs[n] = letters[by_native.verdicts[n]];
    }
    assert_string_equal(ours, want_ours);
    assert_string_equal(theirs, want_theirs);
    cluster_close(&q.c);
}

#define LOPSIDED                                                                                   \
    "w1,+region=west,+zone=w1 w2,+region=west,+zone=w2 w3,+region=west,+zone=w3 "                  \
    "e1,+region=east,+zone=e1"

/* A native constraint on zones compares them all: where regions have not the same number of zones,
 * it stops pods that the rule lets in, and with one on regions in the end every pod. */
static void later_terms_have_no_native_form(void **state) {
    (void)state;
    ask_both(LOPSIDED, "w1:1 w2:1 e1:2", "1/region/nil 1/zone/nil", "1/zone/foo", "UUSS", "UUSU");
    ask_both(LOPSIDED, "w1:1 w2:1 w3:1 e1:2", "1/region/nil 1/zone/nil", "1/region/foo 1/zone/foo",
             "UUUS", "UUUU");
}

/* A node that only a later term rejects counts for a native constraint and not for the rule. */
static void keys_must_come_together(void **state) {
    (void)state;
    ask_both("a,+region=r1,+zone=z1 b,+region=r2,-zone", "a:1", "1/region/nil 1/zone/nil",
             "1/region/foo", "SR", "US");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_term),
        cmocka_unit_test(the_first_of_several),
        cmocka_unit_test(later_terms_of_pinned_pods),
        cmocka_unit_test(later_terms_have_no_native_form),
        cmocka_unit_test(keys_must_come_together),
    };
    return CLUSTER_RUN_TESTS("ordered_native", tests);
}

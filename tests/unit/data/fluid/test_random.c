/*
 * Random pods and datasets in FLUID_CORRECT, against what the rules say of nodes:
 *
 * - the pod may use exactly those nodes that it could use before and that every dataset's condition
 *   allows (FUSE selector, scale-in, required tiers), judged by Kubernetes' own rules of node
 *   affinity (model/affinity.h) on random nodes; so nothing is widened;
 * - a second call changes nothing;
 * - nothing else in the pod changes, and what is added passes the API server's rules.
 */
#include "data/fluid/affinity.h"
#include "model/affinity.h"

#include "unit/data/fluid/world.h"

#include <stdio.h>

enum { CASES = 1500, NODES = 40, DATASETS = 3, KEYS = 6 };

/* Labels of nodes; the first two are tiers, and the only ones that pods do not name by chance. */
static const char *const keys[KEYS] = {"zone", "region", "x", "y", "fuse", "disk"};
static const char *const values[] = {"1", "2", "3"};

struct requirement_text {
    int key, value; /* key In [value] */
};

struct random_dataset {
    char name[2];
    int selector_count, term_count;
    bool required;
    struct requirement_text selector[2];
    struct requirement_text terms[2][2]; /* of cacheAffinity */
    int term_sizes[2];
};

struct random_case {
    uint64_t *random;
    struct random_dataset datasets[DATASETS];
    int dataset_count;
    bool tier_required; /* profile: required [fluid.io/node, zone], else [fluid.io/node] */
    bool own_word;      /* the pod names a tier */
};

static int below(struct random_case *c, uint32_t n) {
    return (int)unit_below(c->random, n);
}

static void add_requirement(struct strbuf *out, int key, int value) {
    strbuf_appendf(out, "{'key':'%s','operator':'In','values':['%s']}", keys[key], values[value]);
}

static void add_terms(struct strbuf *out, const struct random_dataset *d) {
    strbuf_appendf(out, "'cacheAffinity':{'" WORLD_REQUIRED "':{'nodeSelectorTerms':[");
    for (int t = 0; t < d->term_count; t++) {
        strbuf_appendf(out, "%s{'matchExpressions':[", t > 0 ? "," : "");
        for (int i = 0; i < d->term_sizes[t]; i++) {
            strbuf_appendf(out, "%s", i > 0 ? "," : "");
            add_requirement(out, d->terms[t][i].key, d->terms[t][i].value);
        }
        strbuf_appendf(out, "]}");
    }
    strbuf_appendf(out, "]}}%c", '\0');
}

static void make_dataset(struct world *w, struct random_case *c, struct random_dataset *d) {
    struct strbuf spec = {0}, status = {0};
    d->required = below(c, 2) == 0;
    d->selector_count = below(c, 3);
    strbuf_appendf(&spec, "'fuse':{'nodeSelector':{");
    for (int i = 0; i < d->selector_count; i++) {
        d->selector[i] = (struct requirement_text){i == 0 ? 4 : 2, below(c, 3)};
        strbuf_appendf(&spec, "%s'%s':'%s'", i > 0 ? "," : "", keys[d->selector[i].key],
                       values[d->selector[i].value]);
    }
    strbuf_appendf(&spec, "}}%c", '\0');
    d->term_count = below(c, 3);
    for (int t = 0; t < d->term_count; t++) {
        static const int tier_keys[] = {0, 1, 5};
        int first = below(c, 3);
        d->term_sizes[t] = 1 + below(c, 2);
        for (int i = 0; i < d->term_sizes[t]; i++)
            d->terms[t][i] = (struct requirement_text){tier_keys[(first + i) % 3], below(c, 3)};
    }
    add_terms(&status, d);
    world_dataset(w, d->name, spec.p, status.p);
    strbuf_done(&spec);
    strbuf_done(&status);
}

/* Required terms of the pod: none, or one to three; some without requirements. */
static void add_pod_terms(struct random_case *c, struct strbuf *out) {
    int count = below(c, 4);
    if (count == 0)
        return;
    strbuf_appendf(out, ",'affinity':{'podAffinity':{'z':[1]},'nodeAffinity':{'" WORLD_REQUIRED
                        "':{'nodeSelectorTerms':[");
    for (int t = 0; t < count; t++) {
        strbuf_appendf(out, "%s{'matchExpressions':[", t > 0 ? "," : "");
        for (int i = 0, n = below(c, 3); i < n; i++) {
            int key = below(c, 12) == 0 ? 0 : 2 + below(c, 3);
            c->own_word = c->own_word || key == 0;
            strbuf_appendf(out, "%s", i > 0 ? "," : "");
            add_requirement(out, key, below(c, 3));
        }
        strbuf_appendf(out, "]}");
    }
    strbuf_appendf(out, "]}}}");
}

static void make_pod(struct world *w, struct random_case *c) {
    struct strbuf json = {0};
    strbuf_appendf(&json, "{'metadata':{'labels':{'fuse.serverful.fluid.io/inject':'true'");
    for (int i = 0; i < c->dataset_count; i++)
        if (c->datasets[i].required)
            strbuf_appendf(&json, ",'fluid.io/dataset.%s.sched':'required'", c->datasets[i].name);
    strbuf_appendf(&json, "}},'unknown':1.50,'spec':{'volumes':[{'name':'other'}");
    for (int i = c->dataset_count - 1; i >= 0; i--)
        strbuf_appendf(&json, ",{'name':'v%d','persistentVolumeClaim':{'claimName':'%s'}}", i,
                       c->datasets[i].name);
    strbuf_appendf(&json, "]");
    add_pod_terms(c, &json);
    strbuf_appendf(&json, "}}%c", '\0');
    cJSON_Delete(w->pod);
    w->pod = world_document(json.p);
    w->document = world_text(w, json.p);
    strbuf_done(&json);
}

static void make_case(struct world *w, struct random_case *c) {
    struct err err = {0};
    c->dataset_count = 1 + below(c, DATASETS);
    c->tier_required = below(c, 2) == 0;
    for (int i = 0; i < c->dataset_count; i++) {
        (void)snprintf(c->datasets[i].name, sizeof c->datasets[i].name, "%c", 'a' + i);
        make_dataset(w, c, &c->datasets[i]);
    }
    char profile[512];
    (void)snprintf(profile, sizeof profile,
                   "plugins: {serverful: {withDataset: [RequireNodeWithFuse, "
                   "NodeAffinityWithCache, DatasetUsageInjector]}}\n"
                   "pluginConfig: [{name: NodeAffinityWithCache, args: '{preferred: [{name: "
                   "fluid.io/node, weight: %d}, {name: zone, weight: 50}, {name: region, weight: "
                   "20}], required: [fluid.io/node%s]}'}]",
                   below(c, 130) - 10, c->tier_required ? ", zone" : "");
    if (fluid_profile_parse(str_of(profile), &w->arena, &w->profile, &err) != 0)
        fail_msg("%s", err.text);
    w->options.scale_in = below(c, 2) == 0;
    make_pod(w, c);
}

/* ---- nodes ---- */

struct random_node {
    char json[512];
    int values[KEYS]; /* index into `values`, -1: no such label */
    bool worker[DATASETS], leaving[DATASETS];
    struct labels labels;
};

static void make_node(struct world *w, struct random_case *c, struct random_node *n) {
    struct strbuf json = {0};
    strbuf_appendf(&json, "{\"host\":\"h\"");
    for (int k = 0; k < KEYS; k++) {
        n->values[k] = below(c, 5) == 0 ? -1 : below(c, 3);
        if (n->values[k] >= 0)
            strbuf_appendf(&json, ",\"%s\":\"%s\"", keys[k], values[n->values[k]]);
    }
    for (int i = 0; i < c->dataset_count; i++) {
        n->worker[i] = below(c, 3) > 0;
        n->leaving[i] = below(c, 4) == 0;
        if (n->worker[i])
            strbuf_appendf(&json, ",\"fluid.io/s-default-%c\":\"true\"", 'a' + i);
        if (n->leaving[i])
            strbuf_appendf(&json, ",\"data.fluid.io/storage-scalein-default-%c\":\"true\"",
                           'a' + i);
    }
    strbuf_appendf(&json, "}");
    char *text = arena_cstr(&w->arena, strbuf_str(&json));
    struct json_reader r;
    json_reader_init(&r, str_of(text), &w->arena, "labels");
    n->labels = labels_decode(&r);
    assert_int_equal(json_finish(&r, NULL), 0);
    strbuf_done(&json);
}

static bool may_use(struct world *w, const cJSON *pod, const struct random_node *n) {
    struct node_affinity affinity = {0};
    const cJSON *doc = doc_at(pod, "spec.affinity");
    if (doc == NULL)
        return true;
    char *text = cJSON_PrintUnformatted(doc);
    struct json_reader r;
    json_reader_init(&r, str_of(text), &w->arena, "affinity");
    affinity_decode(&r, &affinity);
    assert_int_equal(json_finish(&r, NULL), 0);
    bool matches = node_affinity_matches(&affinity, STR("n"), labels_lookup, &n->labels);
    cJSON_free(text);
    return matches;
}

static bool zone_allows(const struct random_dataset *d, const struct random_node *n) {
    if (d->term_count == 0)
        return true;
    for (int t = 0; t < d->term_count; t++) {
        bool zone_says_no = false;
        for (int i = 0; i < d->term_sizes[t]; i++)
            zone_says_no =
                zone_says_no || (d->terms[t][i].key == 0 && n->values[0] != d->terms[t][i].value);
        if (!zone_says_no)
            return true;
    }
    return false;
}

/* The rules in words of their own: what every dataset asks of a node. */
static bool datasets_allow(const struct world *w, const struct random_case *c,
                           const struct random_node *n) {
    for (int i = 0; i < c->dataset_count; i++) {
        const struct random_dataset *d = &c->datasets[i];
        for (int k = 0; k < d->selector_count; k++)
            if (n->values[d->selector[k].key] != d->selector[k].value)
                return false;
        if (w->options.scale_in && n->leaving[i])
            return false;
        if (d->required && !c->own_word &&
            (!n->worker[i] || (c->tier_required && !zone_allows(d, n))))
            return false;
    }
    return true;
}

/* ---- the checks ---- */

static void check_added(const cJSON *pod) {
    const cJSON *item, *terms = doc_array(world_node_affinity(pod), WORLD_PREFERRED);
    cJSON_ArrayForEach(item, terms) {
        double weight = cJSON_GetNumberValue(doc_at(item, "weight"));
        assert_true(weight >= 1 && weight <= 100);
        assert_true(cJSON_GetArraySize(doc_at(item, "preference.matchExpressions")) == 1);
        for (const cJSON *other = item->next; other != NULL; other = other->next)
            assert_false(cJSON_Compare(item, other, true));
    }
    assert_true(cJSON_GetArraySize(doc_array(doc_object(world_node_affinity(pod), WORLD_REQUIRED),
                                             "nodeSelectorTerms")) <= AFFINITY_TERMS_MAX);
}

/* Without what plugins own. */
static void drop_owned(cJSON *pod) {
    cJSON *affinity = doc_at(pod, "spec.affinity");
    cJSON_DeleteItemFromObjectCaseSensitive(affinity, "nodeAffinity");
    if (affinity != NULL && affinity->child == NULL)
        cJSON_DeleteItemFromObjectCaseSensitive(doc_at(pod, "spec"), "affinity");
    cJSON_DeleteItemFromObjectCaseSensitive(doc_at(pod, "metadata"), "annotations");
}

static void random_pods_go_where_the_rules_say(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    int narrowed = 0, allowed = 0;
    for (int i = 0; i < CASES; i++) {
        struct world w;
        struct random_case c = {.random = &random};
        world_init(&w);
        make_case(&w, &c);
        cJSON *before = cJSON_Duplicate(w.pod, true);
        world_mutate_again(&w);
        assert_int_equal(w.outcome.result, FLUID_EDITED);
        for (int k = 0; k < NODES; k++) {
            struct random_node n = {.values = {0}};
            make_node(&w, &c, &n);
            bool was = may_use(&w, before, &n), is = may_use(&w, w.pod, &n);
            if (is != (was && datasets_allow(&w, &c, &n)))
                fail_msg("case %d: was %d, is %d: %s", i, was, is, world_affinity(&w));
            narrowed += was && !is;
            allowed += is;
        }
        check_added(w.pod);
        cJSON *once = cJSON_Duplicate(w.pod, true);
        world_mutate_again(&w);
        assert_true(cJSON_Compare(once, w.pod, true));
        drop_owned(before);
        drop_owned(once);
        assert_true(cJSON_Compare(before, once, true));
        cJSON_Delete(before);
        cJSON_Delete(once);
        world_done(&w);
    }
    assert_true(narrowed > CASES && allowed > CASES); /* the cases are no trivial ones */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_pods_go_where_the_rules_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

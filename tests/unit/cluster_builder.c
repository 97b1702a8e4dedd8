#include "unit/cluster_builder.h"

#include <stdio.h>

/* ---- text ---- */

bool next_word(struct str *rest, const char *between, struct str *ret_word) {
    while (rest->n > 0 && strchr(between, rest->p[0]) != NULL)
        *rest = (struct str){rest->p + 1, rest->n - 1};
    if (rest->n == 0)
        return false;
    size_t n = 0;
    while (n < rest->n && strchr(between, rest->p[n]) == NULL)
        n++;
    *ret_word = (struct str){rest->p, n};
    *rest = (struct str){rest->p + n, rest->n - n};
    return true;
}

static struct str after(struct str s, size_t n) {
    return (struct str){s.p + n, s.n - n};
}

/* Splits at the first `c`. If the text has no `c`, the tail is empty. */
static struct str head_of(struct str s, char c, struct str *ret_tail) {
    size_t at = str_find(s, c);
    *ret_tail = at == SIZE_MAX ? (struct str){0} : after(s, at + 1);
    return (struct str){s.p, at == SIZE_MAX ? s.n : at};
}

static _Noreturn void cannot_read(struct str token) {
    print_error("cannot read '%.*s'\n", STR_ARG(token));
    _fail(__FILE__, __LINE__);
}

/* No escapes are needed, because tests write no such names. */
static void put_pair(struct strbuf *json, struct str key, struct str value) {
    strbuf_appendf(json, "\"%.*s\":\"%.*s\",", STR_ARG(key), STR_ARG(value));
}

/* Writes "foo+bar=1" as members of JSON. */
static void put_labels(struct strbuf *json, struct str labels) {
    struct str label, value;
    while (next_word(&labels, "+", &label)) {
        struct str key = head_of(label, '=', &value);
        put_pair(json, key, value);
    }
}

/* Each member ends with a comma: replaces the last comma by the bracket. */
static void close_with(struct strbuf *json, const char *bracket) {
    if (json->n > 0 && json->p[json->n - 1] == ',')
        json->n--;
    strbuf_append_str(json, str_of(bracket));
}

static struct str key_of(struct str alias) {
    return str_eq(alias, STR("host")) ? TOPOLOGY_KEY_HOSTNAME : alias;
}

/* ---- objects ---- */

static struct json_reader reader_of(struct cluster *c, struct str json) {
    struct json_reader r;
    struct str kept = arena_str(&c->arena, json);
    assert_false(arena_failed(&c->arena));
    json_reader_init(&r, kept, &c->arena, "test");
    return r;
}

static void finish(const struct json_reader *reader, struct str json) {
    struct json_reader r = *reader;
    struct err err;
    if (json_finish(&r, &err) != 0)
        fail_msg("%s in %.*s", err.text, STR_ARG(json));
}

static struct object decode(struct cluster *c, enum object_kind kind, struct str json) {
    struct json_reader r = reader_of(c, json);
    struct object object = {.kind = kind};
    if (kind == OBJECT_POD)
        pod_decode(&r, POD_WHOLE, &object.pod);
    else if (kind == OBJECT_NODE || kind == OBJECT_NAMESPACE)
        node_decode(&r, &object.node);
    else
        workload_decode(&r, kind, &object.workload);
    finish(&r, json);
    return object;
}

struct object cluster_object(struct cluster *c, enum object_kind kind, const char *json) {
    return decode(c, kind, str_of(json));
}

struct selector cluster_selector(struct cluster *c, const char *json) {
    struct json_reader r = reader_of(c, str_of(json));
    struct label_selector decoded = label_selector_decode(&r);
    struct selector selector;
    struct err err = {0};
    finish(&r, str_of(json));
    if (selector_compile(&decoded, (struct labels){0}, &c->arena, &selector, &err) != 0)
        fail_msg("%s in %s", err.text, json);
    return selector;
}

void cluster_apply(struct cluster *c, const struct object *object) {
    cache_write_begin(c->cache);
    assert_int_equal(cache_apply(c->cache, object), 0);
    cache_write_end(c->cache);
}

void cluster_remove(struct cluster *c, const struct object *object) {
    cache_write_begin(c->cache);
    cache_remove(c->cache, object);
    cache_write_end(c->cache);
}

void cluster_apply_json(struct cluster *c, enum object_kind kind, const char *json) {
    struct object object = cluster_object(c, kind, json);
    cluster_apply(c, &object);
}

/* ---- life ---- */

void cluster_open_with(struct cluster *c, struct cache_options options) {
    struct err err;
    *c = (struct cluster){
        .options = {.empty_selector_counts_all = true, .spread_weight = 1, .ordered_weight = 1}};
    arena_init(&c->arena, 64u << 20);
    clock_fake_init(&c->clock, 1000000);
    options.clock = &c->clock.clock;
    if (cache_new(&options, &c->cache, &err) != 0)
        fail_msg("%s", err.text);
}

static uint32_t present_limit; /* 0: the usual limits */

struct cache_options cluster_limits(void) {
    return (struct cache_options){.max_counters = present_limit,
                                  .max_feasibilities = present_limit,
                                  .max_columns = present_limit,
                                  .reservation_ttl_ms = 1000};
}

void cluster_open(struct cluster *c) {
    cluster_open_with(c, cluster_limits());
}

void cluster_close(struct cluster *c) {
    cache_free(c->cache);
    arena_done(&c->arena);
}

/* ---- nodes ---- */

static const char *zone_of(char first) {
    return first <= 'n' ? "zone1" : first <= 'p' ? "zone3" : "zone2";
}

/* Reads the modifiers of a node's token. Writes its labels into one buffer; a later label replaces
 * an earlier one. Returns the key of its taint, or NULL. */
static const char *read_modifiers(struct str modifiers, struct str *labels_without,
                                  struct strbuf *labels) {
    struct str part, value;
    const char *taint = NULL;
    while (next_word(&modifiers, ",", &part)) {
        struct str key = head_of(after(part, 1), '=', &value);
        if (part.p[0] == '+')
            put_pair(labels, key, value);
        else if (part.p[0] == '-')
            *labels_without = key;
        else if (str_eq(part, STR("!")))
            taint = "gone";
        else if (str_eq(part, STR("!out")))
            taint = "node.kubernetes.io/unreachable";
        else
            cannot_read(part);
    }
    return taint;
}

static struct object make_node(struct cluster *c, struct str token) {
    struct str modifiers, without = {0};
    struct str name = head_of(token, ',', &modifiers);
    struct strbuf extra = {0}, json = {0};
    const char *taint = read_modifiers(modifiers, &without, &extra);
    const struct label usual[] = {
        {STR("node"), name},
        {TOPOLOGY_KEY_HOSTNAME, name},
        {STR("zone"), str_of(zone_of(name.p[0]))},
    };
    strbuf_appendf(&json, "{\"metadata\":{\"name\":\"%.*s\",\"labels\":{", STR_ARG(name));
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (!str_eq(usual[i].key, without))
            put_pair(&json, usual[i].key, usual[i].value);
    strbuf_append_str(&json, strbuf_str(&extra));
    close_with(&json, "}},\"spec\":{");
    if (taint != NULL)
        strbuf_appendf(&json, "\"taints\":[{\"key\":\"%s\",\"effect\":\"NoSchedule\"}]", taint);
    strbuf_append_str(&json, STR("}}"));
    struct object node = decode(c, OBJECT_NODE, strbuf_str(&json));
    strbuf_done(&extra);
    strbuf_done(&json);
    return node;
}

void cluster_nodes(struct cluster *c, const char *text) {
    struct str rest = str_of(text), token;
    while (next_word(&rest, " ", &token)) {
        struct object node = make_node(c, token);
        uint32_t at = 0;
        while (at < c->node_count && !str_eq(c->nodes[at].meta.name, node.meta.name))
            at++;
        assert_true(at < CLUSTER_NODES);
        c->node_count += at == c->node_count;
        c->nodes[at] = node;
        cluster_apply(c, &node);
    }
}

/* ---- pods ---- */

static struct object make_pod(struct cluster *c, struct str namespace, struct str node,
                              struct str labels, bool terminating) {
    struct strbuf json = {0};
    strbuf_appendf(&json,
                   "{\"metadata\":{\"name\":\"p%u\",\"uid\":\"u%u\",\"namespace\":\"%.*s\",%s"
                   "\"labels\":{",
                   c->pod_count, c->pod_count, STR_ARG(namespace),
                   terminating ? "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"," : "");
    put_labels(&json, labels);
    close_with(&json, "}},\"spec\":{\"nodeName\":");
    strbuf_appendf(&json, "\"%.*s\"}}", STR_ARG(node));
    struct object pod = decode(c, OBJECT_POD, strbuf_str(&json));
    strbuf_done(&json);
    return pod;
}

struct pod_token {
    struct str namespace, node, labels;
    bool terminating;
    int64_t count;
};

static struct pod_token read_pod(struct str token) {
    struct pod_token t = {.namespace = STR("default"), .count = 1};
    struct str tail;
    t.node = head_of(token, ':', &t.labels);
    struct str first = head_of(t.node, '/', &tail);
    if (tail.n > 0) {
        t.namespace = first;
        t.node = tail;
    }
    if (t.labels.n == 0)
        cannot_read(token);
    if (t.labels.p[0] == '~') {
        t.terminating = true;
        t.labels = after(t.labels, 1);
    }
    if (str_to_i64(t.labels, &t.count))
        t.labels = STR("foo");
    return t;
}

/* Returns a text that is equal for pods that differ only in their name. */
static struct str canonical(struct cluster *c, const struct pod_token *t) {
    struct strbuf text = {0};
    strbuf_appendf(&text, "%.*s/%.*s:%s%.*s", STR_ARG(t->namespace), STR_ARG(t->node),
                   t->terminating ? "~" : "", STR_ARG(t->labels));
    struct str kept = arena_str(&c->arena, strbuf_str(&text));
    strbuf_done(&text);
    return kept;
}

void cluster_pods(struct cluster *c, const char *text) {
    struct str rest = str_of(text), token;
    while (next_word(&rest, " ", &token)) {
        struct pod_token t = read_pod(token);
        for (int64_t i = 0; i < t.count; i++) {
            assert_true(c->pod_count < CLUSTER_PODS);
            struct cluster_pod_kept *kept = &c->pods[c->pod_count];
            kept->token = canonical(c, &t);
            kept->object = make_pod(c, t.namespace, t.node, t.labels, t.terminating);
            c->pod_count++;
            cluster_apply(c, &kept->object);
        }
    }
}

void cluster_unpods(struct cluster *c, const char *text) {
    struct str rest = str_of(text), token;
    while (next_word(&rest, " ", &token)) {
        struct pod_token t = read_pod(token);
        struct str wanted = canonical(c, &t);
        uint32_t at = c->pod_count;
        while (at > 0 && (c->pods[at - 1].gone || !str_eq(c->pods[at - 1].token, wanted)))
            at--;
        if (at == 0)
            cannot_read(token);
        c->pods[at - 1].gone = true;
        cluster_remove(c, &c->pods[at - 1].object);
    }
}

void cluster_workload(struct cluster *c, enum object_kind kind, const char *json) {
    assert_true(c->workload_count < CLUSTER_WORKLOADS);
    struct object *kept = &c->workloads[c->workload_count++];
    *kept = cluster_object(c, kind, json);
    cluster_apply(c, kept);
}

void cluster_copy(const struct cluster *from, bool with_pods, struct cluster *to) {
    cluster_open(to);
    to->options = from->options;
    for (uint32_t i = 0; i < from->node_count; i++) {
        to->nodes[to->node_count++] = from->nodes[i];
        cluster_apply(to, &from->nodes[i]);
    }
    for (uint32_t i = 0; i < from->workload_count; i++) {
        to->workloads[to->workload_count++] = from->workloads[i];
        cluster_apply(to, &from->workloads[i]);
    }
    for (uint32_t i = 0; with_pods && i < from->pod_count; i++)
        if (!from->pods[i].gone)
            cluster_apply(to, &from->pods[i].object);
}

/* ---- constraints, and the pod that carries them ---- */

static void put_selector(struct strbuf *json, struct str text) {
    struct str part, value;
    if (str_eq(text, STR("nil")))
        return;
    strbuf_append_str(json, STR("\"labelSelector\":{"));
    if (!str_eq(text, STR("{}"))) {
        strbuf_append_str(json, STR("\"matchExpressions\":["));
        while (next_word(&text, "+", &part)) {
            struct str key = head_of(part, '=', &value);
            strbuf_appendf(json, "{\"key\":\"%.*s\",", STR_ARG(key));
            if (str_find(part, '=') == SIZE_MAX)
                strbuf_append_str(json, STR("\"operator\":\"Exists\"},"));
            else
                strbuf_appendf(json, "\"operator\":\"In\",\"values\":[\"%.*s\"]},", STR_ARG(value));
        }
        close_with(json, "]");
    }
    strbuf_append_str(json, STR("},"));
}

static void put_option(struct strbuf *json, struct str option, bool *soft) {
    struct str value, key;
    struct str name = head_of(option, '=', &value);
    if (str_eq(option, STR("soft"))) {
        *soft = true;
    } else if (str_eq(name, STR("minDomains"))) {
        strbuf_appendf(json, "\"minDomains\":%.*s,", STR_ARG(value));
    } else if (str_eq(name, STR("affinity"))) {
        put_pair(json, STR("nodeAffinityPolicy"), value);
    } else if (str_eq(name, STR("taints"))) {
        put_pair(json, STR("nodeTaintsPolicy"), value);
    } else if (str_eq(name, STR("keys"))) {
        strbuf_append_str(json, STR("\"matchLabelKeys\":["));
        while (next_word(&value, "+", &key))
            strbuf_appendf(json, "\"%.*s\",", STR_ARG(key));
        close_with(json, "],");
    } else {
        cannot_read(option);
    }
}

static void put_constraint(struct strbuf *json, struct str token) {
    struct str rest, options, selector, option;
    struct str skew = head_of(token, '/', &rest);
    rest = head_of(rest, ',', &options);
    struct str key = head_of(rest, '/', &selector);
    bool soft = false;
    if (skew.n == 0 || key.n == 0 || selector.n == 0)
        cannot_read(token);
    strbuf_appendf(json, "{\"maxSkew\":%.*s,", STR_ARG(skew));
    put_pair(json, STR("topologyKey"), key_of(key));
    put_selector(json, selector);
    while (next_word(&options, ",", &option))
        put_option(json, option, &soft);
    put_pair(json, STR("whenUnsatisfiable"), soft ? STR("ScheduleAnyway") : STR("DoNotSchedule"));
    close_with(json, "},");
}

static void put_constraints(struct strbuf *json, const char *text) {
    struct str rest = str_of(text), token;
    strbuf_append_char(json, '[');
    while (next_word(&rest, " ", &token))
        put_constraint(json, token);
    close_with(json, "]");
}

const struct spread_constraint *cluster_constraints(struct cluster *c, const char *text,
                                                    uint32_t *ret_count) {
    struct strbuf json = {0};
    put_constraints(&json, text);
    struct json_reader r = reader_of(c, strbuf_str(&json));
    const struct spread_constraint *constraints = spread_constraints_decode(&r, ret_count);
    finish(&r, strbuf_str(&json));
    strbuf_done(&json);
    return constraints;
}

struct pod cluster_pod(struct cluster *c, const char *labels, const char *constraints,
                       const char *spec) {
    struct strbuf json = {0};
    strbuf_append_str(&json, STR("{\"metadata\":{\"name\":\"incoming\",\"uid\":\"incoming\","
                                 "\"namespace\":\"default\",\"labels\":{"));
    put_labels(&json, str_of(labels));
    close_with(&json, "}},\"spec\":{");
    strbuf_append_str(&json, str_of(spec));
    strbuf_append_str(&json, STR("\"topologySpreadConstraints\":"));
    put_constraints(&json, constraints);
    strbuf_append_str(&json, STR("}}"));
    struct object pod = decode(c, OBJECT_POD, strbuf_str(&json));
    strbuf_done(&json);
    return pod.pod;
}

/* ---- runs ---- */

int cluster_run_tests(const char *name, const struct CMUnitTest *tests, size_t count) {
    static const uint32_t limits[] = {0, 2, 3, 8};
    int failed = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        present_limit = limits[i];
        print_message("# limits of the cache: %u\n", present_limit);
        failed += _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    }
    present_limit = 0;
    return failed;
}

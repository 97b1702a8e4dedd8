#include "unit/hub.h"

#include "base/json_reader.h"
#include "base/timestamp.h"
#include "explain/placement.h"
#include "fleet/internal.h"
#include "yaml/yaml.h"

#include "unit/json_agrees.h"

#include <stdio.h>

#define OCM_GROUP "cluster.open-cluster-management.io"

/* ---- texts ---- */

static struct str json_of(struct hub *f, const char *yaml) {
    struct yaml_json made;
    struct err err;
    if (yaml_to_json(str_of(yaml), false, &f->arena, &made, &err) != 0)
        fail_msg("%s: %s", yaml, err.text);
    assert_int_equal(made.document_count, 1);
    return made.documents[0];
}

/* The next word, up to a blank; false at the end. */
static bool next_word(struct str *rest, struct str *ret) {
    *rest = str_trim(*rest);
    const size_t end = str_find(*rest, ' ');
    *ret = (struct str){rest->p, end < rest->n ? end : rest->n};
    *rest = (struct str){rest->p + ret->n, rest->n - ret->n};
    return ret->n > 0;
}

/* What stands before and behind a character; all of it, and "", where there is none. */
static struct str cut_at(struct str text, char c, struct str *ret_behind) {
    const size_t at = str_find(text, c);
    *ret_behind = at == SIZE_MAX ? STR("") : (struct str){text.p + at + 1, text.n - at - 1};
    return at == SIZE_MAX ? text : (struct str){text.p, at};
}

static struct str time_text(struct hub *f, struct str seconds) {
    int64_t offset;
    struct tm tm;
    char text[32];
    assert_true(str_to_i64(seconds, &offset));
    const time_t at = (time_t)(f->now_ms / 1000 + offset);
    assert_non_null(gmtime_r(&at, &tm));
    const size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return arena_str(&f->arena, (struct str){text, n});
}

/* ---- the fleet ---- */

static const struct informer_kind *kind_of(struct str name) {
    static const struct {
        struct str name;
        enum fleet_kind kind;
    } kinds[] = {
        {{"ManagedCluster", 14}, FLEET_CLUSTERS},
        {{"ManagedClusterSet", 17}, FLEET_SETS},
        {{"ManagedClusterSetBinding", 24}, FLEET_BINDINGS},
        {{"Placement", 9}, FLEET_PLACEMENTS},
        {{"PlacementDecision", 17}, FLEET_DECISIONS},
        {{"AddOnPlacementScore", 19}, FLEET_SCORES},
        {{"Namespace", 9}, FLEET_NAMESPACES},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (str_eq(name, kinds[i].name))
            return &fleet_store.kinds[kinds[i].kind];
    fail_msg("unknown kind %.*s", STR_ARG(name));
    return NULL;
}

void hub_take(struct hub *f, struct str json) {
    struct json_reader r;
    struct err err;
    json_reader_init(&r, json, &f->arena, "object");
    const struct informer_kind *kind = kind_of(json_peek_member(&r, STR("kind")));
    struct informer_object object = {.kind = (uint32_t)(kind - fleet_store.kinds),
                                     .arena = &f->arena,
                                     .json = json,
                                     .is_stored = true};
    kind->decode(&r, &object);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    void *contents = informer_write(fleet_informer(f->fleet));
    assert_int_equal(kind->apply(contents, &object, &err), 0);
    informer_write_done(fleet_informer(f->fleet));
}

void hub_object(struct hub *f, const char *yaml) {
    hub_take(f, json_of(f, yaml));
}

void hub_open_empty(struct hub *f) {
    *f = (struct hub){.fleet = NULL};
    assert_int_equal(fleet_new(&f->fleet, NULL), 0);
    arena_init(&f->arena, 64 << 20);
    assert_true(timestamp_parse(STR(HUB_NOW), &f->now_ms));
}

void hub_open(struct hub *f) {
    hub_open_empty(f);
    hub_object(f, "{kind: ManagedClusterSet, metadata: {name: set1}}");
    hub_object(f, "{kind: ManagedClusterSetBinding, metadata: {name: set1, namespace: ns1}}");
}

void hub_close(struct hub *f) {
    fleet_free(f->fleet);
    arena_done(&f->arena);
}

int hub_setup(void **state) {
    static struct hub f;
    hub_open(&f);
    *state = &f;
    return 0;
}

int hub_teardown(void **state) {
    hub_close(*state);
    return 0;
}

struct cluster_parts {
    struct strbuf labels, claims, taints, allocatable, capacity;
    bool terminating;
};

static void add_pair(struct strbuf *out, struct str key, struct str value) {
    strbuf_appendf(out, "%s\"%.*s\":\"%.*s\"", out->n > 0 ? "," : "", STR_ARG(key), STR_ARG(value));
}

/* "key1=value1:NoSelect@-8" */
static void add_taint(struct hub *f, struct strbuf *out, struct str text) {
    struct str time, effect, value;
    text = cut_at(text, '@', &time);
    text = cut_at(text, ':', &effect);
    text = cut_at(text, '=', &value);
    strbuf_appendf(out, "%s{\"key\":\"%.*s\",\"value\":\"%.*s\",\"effect\":\"%.*s\"",
                   out->n > 0 ? "," : "", STR_ARG(text), STR_ARG(value), STR_ARG(effect));
    if (time.n > 0)
        strbuf_appendf(out, ",\"timeAdded\":\"%.*s\"", STR_ARG(time_text(f, time)));
    strbuf_append_char(out, '}');
}

static void add_part(struct hub *f, struct cluster_parts *p, struct str text) {
    struct str value, capacity;
    const struct str key = cut_at(text, '=', &value);
    if (str_eq(text, STR("terminating"))) {
        p->terminating = true;
    } else if (text.p[0] == '!') {
        add_taint(f, &p->taints, (struct str){text.p + 1, text.n - 1});
    } else if (str_has_prefix(text, STR("claim:"))) {
        strbuf_appendf(&p->claims, "%s{\"name\":\"%.*s\",\"value\":\"%.*s\"}",
                       p->claims.n > 0 ? "," : "", STR_ARG(((struct str){key.p + 6, key.n - 6})),
                       STR_ARG(value));
    } else if (str_eq(key, STR("cpu")) || str_eq(key, STR("memory"))) {
        value = cut_at(value, '/', &capacity);
        if (value.n > 0)
            add_pair(&p->allocatable, key, value);
        if (capacity.n > 0)
            add_pair(&p->capacity, key, capacity);
    } else {
        add_pair(&p->labels, str_eq(key, STR("set")) ? STR(CLUSTER_SET_LABEL) : key, value);
    }
}

static void add_cluster(struct hub *f, struct str name, struct str parts) {
    struct cluster_parts p = {0};
    struct strbuf json = {0};
    if (strstr(arena_cstr(&f->arena, parts), "set=") == NULL)
        add_pair(&p.labels, STR(CLUSTER_SET_LABEL), STR("set1"));
    while (parts.n > 0)
        add_part(f, &p, cut_at(parts, ',', &parts));
    strbuf_appendf(&json,
                   "{\"kind\":\"ManagedCluster\",\"metadata\":{\"name\":\"%.*s\",%s\"labels\":{",
                   STR_ARG(name), p.terminating ? "\"deletionTimestamp\":\"" HUB_NOW "\"," : "");
    strbuf_append_str(&json, strbuf_str(&p.labels));
    strbuf_append_str(&json, STR("}},\"spec\":{\"taints\":["));
    strbuf_append_str(&json, strbuf_str(&p.taints));
    strbuf_append_str(&json, STR("]},\"status\":{\"clusterClaims\":["));
    strbuf_append_str(&json, strbuf_str(&p.claims));
    strbuf_append_str(&json, STR("],\"allocatable\":{"));
    strbuf_append_str(&json, strbuf_str(&p.allocatable));
    strbuf_append_str(&json, STR("},\"capacity\":{"));
    strbuf_append_str(&json, strbuf_str(&p.capacity));
    strbuf_append_str(&json, STR("}}}"));
    hub_take(f, strbuf_str(&json));
    struct strbuf *const used[] = {&p.labels,      &p.claims,   &p.taints,
                                   &p.allocatable, &p.capacity, &json};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        strbuf_done(used[i]);
}

void hub_clusters(struct hub *f, const char *text) {
    struct str rest = str_of(text), word, parts;
    while (next_word(&rest, &word)) {
        const struct str name = cut_at(word, '(', &parts);
        if (parts.n > 0) {
            assert_int_equal(parts.p[parts.n - 1], ')');
            parts.n--;
        }
        add_cluster(f, name, parts);
    }
}

void hub_decided_by(struct hub *f, const char *text) {
    static unsigned number; /* no two objects have one name */
    struct str rest, word, name;
    struct strbuf json = {0};
    struct str placement = cut_at(str_of(text), ':', &rest);
    const struct str namespace = cut_at(placement, '/', &name);
    strbuf_appendf(&json,
                   "{\"kind\":\"PlacementDecision\",\"metadata\":{\"name\":\"d-%u\",\"namespace\":"
                   "\"%.*s\",\"labels\":{",
                   number++, STR_ARG(namespace));
    if (name.n > 0)
        strbuf_appendf(&json, "\"" PLACEMENT_LABEL "\":\"%.*s\"", STR_ARG(name));
    strbuf_append_str(&json, STR("}},\"status\":{\"decisions\":["));
    for (const char *comma = ""; next_word(&rest, &word); comma = ",")
        strbuf_appendf(&json, "%s{\"clusterName\":\"%.*s\",\"reason\":\"\"}", comma, STR_ARG(word));
    strbuf_append_str(&json, STR("]}}"));
    hub_take(f, strbuf_str(&json));
    strbuf_done(&json);
}

void hub_scored(struct hub *f, const char *text) {
    struct str rest, word, resource, until = {0};
    struct strbuf items = {0}, json = {0};
    const struct str object = cut_at(str_of(text), ':', &rest);
    const struct str cluster = cut_at(object, '/', &resource);
    while (next_word(&rest, &word)) {
        struct str value;
        const struct str name = cut_at(word, '=', &value);
        if (str_eq(name, STR("until")))
            until = time_text(f, value);
        else
            strbuf_appendf(&items, "%s{\"name\":\"%.*s\",\"value\":%.*s}", items.n > 0 ? "," : "",
                           STR_ARG(name), STR_ARG(value));
    }
    strbuf_appendf(&json,
                   "{\"kind\":\"AddOnPlacementScore\",\"metadata\":{\"name\":\"%.*s\","
                   "\"namespace\":\"%.*s\"},\"status\":{",
                   STR_ARG(resource), STR_ARG(cluster));
    if (until.n > 0)
        strbuf_appendf(&json, "\"validUntil\":\"%.*s\",", STR_ARG(until));
    strbuf_append_str(&json, STR("\"scores\":["));
    strbuf_append_str(&json, strbuf_str(&items));
    strbuf_append_str(&json, STR("]}}"));
    hub_take(f, strbuf_str(&json));
    strbuf_done(&items);
    strbuf_done(&json);
}

/* ---- the question ---- */

const struct placement *hub_placement(struct hub *f, const char *yaml) {
    struct placement *p = arena_alloc(&f->arena, sizeof *p);
    struct json_reader r;
    struct str json = json_of(f, yaml);
    struct err err;
    json_reader_init(&r, json, &f->arena, "Placement");
    struct json_reader ahead = r;
    bool whole = false;
    struct str key;
    assert_true(json_object(&ahead));
    while (json_member(&ahead, &key)) {
        whole = whole || str_eq(key, STR("spec"));
        (void)json_skip(&ahead);
    }
    if (!whole) {
        struct strbuf text = {0};
        strbuf_append_str(&text, STR("{\"metadata\":{\"name\":\"placement\",\"namespace\":\"ns1\"},"
                                     "\"spec\":"));
        strbuf_append_str(&text, json);
        strbuf_append_char(&text, '}');
        json_reader_init(&r, arena_str(&f->arena, strbuf_str(&text)), &f->arena, "Placement");
        strbuf_done(&text);
    }
    placement_decode(&r, p);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s: %s", yaml, err.text);
    return p;
}

enum answer { WHOLE, FILTER, SCORES };

static struct str answer(struct hub *f, const struct placement *placement, enum answer what) {
    const struct placement_rendering how = {.with_rounds = f->with_rounds, .limit = f->limit};
    const struct ocm_question question = {.placement = placement,
                                          .policy = f->policy,
                                          .now_ms = f->now_ms,
                                          .with_rounds = f->with_rounds,
                                          .with_domains = true,
                                          .has_names = f->names != NULL,
                                          .names = f->names,
                                          .name_count = f->name_count};
    struct fleet_view view;
    struct ocm_decision d;
    struct strbuf out = {0};
    struct err err;
    fleet_view_open(f->fleet, &view);
    if (ocm_decide(&view, &question, &f->arena, &d, &err) != 0)
        fail_msg("%s", err.text);
    const int r = what == FILTER   ? placement_render_filter(&d, &f->arena, &out)
                  : what == SCORES ? placement_render_scores(&d, &f->arena, &out)
                                   : placement_render(&d, &how, &f->arena, &out);
    fleet_view_close(&view);
    assert_int_equal(r, 0);
    const struct str text = arena_str(&f->arena, strbuf_str(&out));
    strbuf_done(&out);
    return text;
}

struct str hub_answer_to(struct hub *f, const struct placement *placement) {
    return answer(f, placement, WHOLE);
}

struct str hub_answer(struct hub *f, const char *placement) {
    return answer(f, hub_placement(f, placement), WHOLE);
}

struct str hub_filter_answer(struct hub *f, const char *placement) {
    return answer(f, hub_placement(f, placement), FILTER);
}

struct str hub_scores_answer(struct hub *f, const char *placement) {
    return answer(f, hub_placement(f, placement), SCORES);
}

void hub_expect_at(struct hub *f, struct str json, const char *yaml, const char *file, int line) {
    if (json_agrees(json, json_of(f, yaml)))
        return;
    print_error("%.*s\n", (int)json.n, json.p);
    _fail(file, line);
}

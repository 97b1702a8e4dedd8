#include "growth/fleet.h"

#include "fleet/changes.h"
#include "growth/numbered.h"
#include "growth/work.h"
#include "unit/fleet/fleet_builder.h"

enum {
    OBJECT_BYTES = 1536 << 10, /* what etcd takes of one */
    MANY_BYTES = 8 << 20,      /* of many objects together */
};

/* Items within one object, or, without anything around them, objects. */
struct user_list {
    const char *name;
    enum fleet_kind kind;
    const char *before, *after;
    const char *item; /* %u is the item's number; %X counts down instead */
};

#define META "{'metadata':{'name':'x','namespace':'n'"
#define NAMED META "}"
#define SPEC(more) NAMED ",'spec':{" more
#define PREDICATE(part)                                                                            \
    SPEC("'predicates':[{'requiredClusterSelector':{'" part "':{'matchExpressions':[")
#define OBJECT(name, more) "{'metadata':{'name':'" name "','namespace':'n'" more "}"

static const struct user_list lists[FLEET_GROWTH_LISTS] = {
    {"labels of a cluster", FLEET_CLUSTERS, META ",'labels':{", "}}}", "'k-%X':'v'"},
    {"claims", FLEET_CLUSTERS, NAMED ",'status':{'clusterClaims':[", "]}}",
     "{'name':'c%X','value':'v%u'}"},
    {"one claim again and again", FLEET_CLUSTERS, NAMED ",'status':{'clusterClaims':[", "]}}",
     "{'name':'c','value':'v%u'}"},
    {"taints of a cluster", FLEET_CLUSTERS, SPEC("'taints':["), "]}}",
     "{'key':'k%u','effect':'NoSelect'}"},
    {"requirements of a set", FLEET_SETS,
     SPEC(
         "'clusterSelector':{'selectorType':'LabelSelector','labelSelector':{'matchExpressions':["),
     "]}}}}", "{'key':'k%u','operator':'Exists'}"},
    {"values of a set", FLEET_SETS,
     SPEC("'clusterSelector':{'selectorType':'LabelSelector','labelSelector':{'matchExpressions':[{"
          "'key':'k','operator':'In','values':["),
     "]}]}}}}", "'v%X'"},
    {"sets of a Placement", FLEET_PLACEMENTS, SPEC("'clusterSets':["), "]}}", "'s%X'"},
    {"predicates", FLEET_PLACEMENTS, SPEC("'predicates':["), "]}}",
     "{'requiredClusterSelector':{'labelSelector':{'matchLabels':{'k':'v%u'}}}}"},
    {"requirements of a predicate", FLEET_PLACEMENTS, PREDICATE("labelSelector"), "]}}}]}}",
     "{'key':'k%u','operator':'Exists'}"},
    {"requirements on claims", FLEET_PLACEMENTS, PREDICATE("claimSelector"), "]}}}]}}",
     "{'key':'k%u','operator':'In','values':['a']}"},
    {"values of a predicate", FLEET_PLACEMENTS,
     PREDICATE("labelSelector") "{'key':'k','operator':'In','values':[", "]}]}}}]}}", "'v%u'"},
    {"CEL expressions", FLEET_PLACEMENTS,
     SPEC("'predicates':[{'requiredClusterSelector':{'celSelector':{'celExpressions':["), "]}}}]}}",
     "'true || %u'"},
    {"tolerations of a Placement", FLEET_PLACEMENTS, SPEC("'tolerations':["), "]}}",
     "{'key':'k%u','operator':'Exists'}"},
    {"prioritizers", FLEET_PLACEMENTS, SPEC("'prioritizerPolicy':{'configurations':["), "]}}}",
     "{'scoreCoordinate':{'type':'AddOn','addOn':{'resourceName':'r%X','scoreName':'s'}}}"},
    {"one prioritizer again and again", FLEET_PLACEMENTS,
     SPEC("'prioritizerPolicy':{'configurations':["), "]}}}",
     "{'scoreCoordinate':{'type':'AddOn','addOn':{'resourceName':'r','scoreName':'s%u'}}}"},
    {"prioritizers of the old form", FLEET_PLACEMENTS,
     SPEC("'prioritizerPolicy':{'configurations':["), "]}}}", "{'name':'Balance','weight':1}"},
    {"groups", FLEET_PLACEMENTS, SPEC("'decisionStrategy':{'groupStrategy':{'decisionGroups':["),
     "]}}}}", "{'groupName':'g%u','groupClusterSelector':{}}"},
    {"annotations of a Placement", FLEET_PLACEMENTS, META ",'annotations':{", "}}}", "'k-%X':'v'"},
    {"decided clusters", FLEET_DECISIONS, NAMED ",'status':{'decisions':[", "]}}",
     "{'clusterName':'c%u','reason':''}"},
    {"one cluster decided again and again", FLEET_DECISIONS, NAMED ",'status':{'decisions':[",
     "]}}", "{'clusterName':'c','reason':''}"},
    {"scores", FLEET_SCORES, NAMED ",'status':{'scores':[", "]}}", "{'name':'s%X','value':1}"},
    {"one score again and again", FLEET_SCORES, NAMED ",'status':{'scores':[", "]}}",
     "{'name':'s','value':1}"},
    {"bindings of a namespace", FLEET_BINDINGS, "", "", OBJECT("s%X", "") "}"},
    {"decisions of a Placement", FLEET_DECISIONS, "", "",
     OBJECT("d%X", ",'labels':{'" PLACEMENT_LABEL "':'x'}") ",'status':{'decisions':[{"
                                                            "'clusterName':'c%u'}]}}"},
    {"Placements of a namespace", FLEET_PLACEMENTS, "", "",
     OBJECT("p%u", ",'labels':{'a':'b'}") "}"},
    {"Placements of a group", FLEET_PLACEMENTS, "", "",
     OBJECT("p%u",
            ",'labels':{'a':'b'},'annotations':{'" PLACEMENT_GROUP_ANNOTATION "':'a=b'}") "}"},
    {"Placements of one name", FLEET_PLACEMENTS, "", "",
     "{'metadata':{'name':'p','namespace':'n%u'}}"},
    {"decisions of one name", FLEET_DECISIONS, "", "",
     "{'metadata':{'name':'d','namespace':'n%u','labels':{'" PLACEMENT_LABEL "':'x'}}}"},
    {"resources of a cluster", FLEET_SCORES, "", "", "{'metadata':{'name':'r%u','namespace':'c'}}"},
    {"scores of a resource", FLEET_SCORES, "", "",
     "{'metadata':{'name':'r','namespace':'c%u'},'status':{'scores':[{'name':'s','value':1}]}}"},
};

const char *fleet_growth_name(uint32_t list) {
    return lists[list].name;
}

/* The objects, one after the other, each ended by NUL. Returns how many. */
static uint32_t write_objects(const struct user_list *l, uint32_t n, struct strbuf *out) {
    const bool many = l->before[0] == '\0';
    strbuf_append_str(out, str_of(l->before));
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && !many)
            strbuf_append_char(out, ',');
        append_numbered(out, l->item, i, n);
        if (many)
            strbuf_append_char(out, '\0');
    }
    strbuf_append_str(out, str_of(l->after));
    strbuf_append_char(out, '\0');
    return many ? n : 1;
}

/* What each of these objects could change, asked once. */
static void ask(struct fleet_builder *b) {
    const struct fleet_view *v = fleet_look(b);
    struct fleet_changed changed;
    struct arena arena;
    arena_init(&arena, 64u << 20);
    assert_int_equal(fleet_changed_by_namespace(v, STR("n"), &arena, &changed), 0);
    assert_int_equal(fleet_changed_by_placement(v, STR("n"), STR("p000000"), &arena, &changed), 0);
    assert_int_equal(fleet_changed_by_cluster(v, STR("x"), &arena, &changed), 0);
    assert_int_equal(fleet_changed_by_score(v, STR("x"), STR("r000001"), &arena, &changed), 0);
    arena_done(&arena);
}

static void drop(struct fleet_builder *b, enum fleet_kind kind, const char *text) {
    struct object_meta meta;
    struct arena arena;
    arena_init(&arena, 64u << 20);
    char *json = arena_cstr(&arena, str_of(text));
    for (char *p = json; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    assert_int_equal(object_key_decode(str_of(json), &arena, &meta, NULL), 0);
    fleet_drop(b, kind, arena_cstr(&arena, meta.namespace), arena_cstr(&arena, meta.name));
    arena_done(&arena);
}

uint64_t fleet_growth_work(uint32_t list, uint32_t n) {
    const struct user_list *l = &lists[list];
    struct strbuf text = {0};
    struct fleet_builder b;
    const uint32_t count = write_objects(l, n, &text);
    assert_false(strbuf_failed(&text));
    if (text.n > (count > 1 ? MANY_BYTES : OBJECT_BYTES)) {
        strbuf_done(&text);
        return 0;
    }
    fleet_builder_open(&b);
    const uint64_t before = work_done();
    const char *at = text.p;
    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1)
        fleet_give(&b, l->kind, at);
    ask(&b);
    at = text.p;
    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1)
        drop(&b, l->kind, at);
    fleet_is_empty(&b);
    const uint64_t work = work_done() - before;
    fleet_builder_close(&b);
    strbuf_done(&text);
    return work;
}

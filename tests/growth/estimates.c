#include "growth/estimates.h"

#include "base/limits.h"
#include "estimator/nodes.h"
#include "estimator/quota.h"
#include "estimator/wire.h"
#include "growth/numbered.h"
#include "growth/work.h"
#include "unit/members/kept.h"

#include <errno.h>
#include <string.h>

enum {
    OBJECT_BYTES = 1536 << 10, /* what etcd takes of one */
    MANY_BYTES = 4 << 20,      /* of many objects together */
    FIXED_NODES = 4,
};
#define NOW_MS INT64_C(1767225600000) /* 2026-01-01 */

/* What the items are of. */
enum of {
    OBJECTS,     /* n of them */
    AN_OBJECT,   /* n in one */
    REPLICAS,    /* n in the requirements that replicas have */
    A_COMPONENT, /* n components, or n in one */
    ASSUMED,     /* n workloads of a component each */
};
struct written_list {
    const char *name;
    enum of of;
    uint32_t kind; /* of objects; member_kind */
    const char *before, *after;
    const char *item; /* %u is the item's number; %X counts down instead */
};

#define NODE(name, more) "{'metadata':{'name':'" name "'" more "}"
#define HAS ",'status':{'allocatable':{'cpu':'4'"
#define POD(name, more)                                                                            \
    "{'metadata':{'name':'" name "','namespace':'n'},'spec':{'nodeName':'node0'" more "}}"
#define REQUEST(more) ",'containers':[{'resources':{'requests':{" more "}}}]"
#define TEMPLATE "'template':{'metadata':{'labels':{'a':'b'}},'spec':{}}"
#define OWNED(name, more, kind, owner)                                                             \
    "{'metadata':{'name':'" name "','namespace':'n','uid':'" name "','labels':{'a':'b'" more       \
    "},'ownerReferences':[{'controller':true,'apiVersion':'apps/v1','kind':'" kind                 \
    "','name':'o','uid':'" owner "'}]}"
#define WAITS                                                                                      \
    ",'status':{'conditions':[{'type':'PodScheduled','status':'False','reason':'Unschedulable',"   \
    "'lastTransitionTime':'2025-01-01T00:00:00Z'}]}}"
#define DEPLOYMENT                                                                                 \
    "{'metadata':{'name':'d','namespace':'n','uid':'du'},'spec':{" TEMPLATE ",'selector':{"
#define REPLICA_SET(name) OWNED(name, "", "Deployment", "du") ",'spec':{" TEMPLATE "}}"
#define QUOTA(name, more) "{'metadata':{'name':'" name "','namespace':'n'}" more "}"
#define CLAIM "'replicaRequirements':{'resourceRequest':{'cpu':'1'},'nodeClaim':{"
#define TERMS CLAIM "'hardNodeAffinity':{'nodeSelectorTerms':["
#define COMPONENT(name, more)                                                                      \
    "{'name':'" name "','replicas':2,'replicaRequirements':{'resourceRequest':{" more "}}}"

static const struct written_list lists[ESTIMATES_GROWTH_LISTS] = {
    {"nodes", OBJECTS, MEMBER_NODES, "", "", NODE("x%u", "") HAS "}}}"},
    {"nodes with a label each", OBJECTS, MEMBER_NODES, "", "",
     NODE("x%u", ",'labels':{'k%u':'v'}") HAS "}}}"},
    {"nodes with a zone each", OBJECTS, MEMBER_NODES, "", "",
     NODE("x%X", ",'labels':{'topology.kubernetes.io/zone':'z%u'}") "}"},
    {"nodes with a taint each", OBJECTS, MEMBER_NODES, "", "",
     NODE("x%u", "") ",'spec':{'taints':[{'key':'k%u','effect':'NoSchedule'}]}}"},
    {"nodes with a resource each", OBJECTS, MEMBER_NODES, "", "",
     NODE("x%u", "") HAS ",'e.com/r%X':'1'}}}"},
    {"labels of a node", AN_OBJECT, MEMBER_NODES, "{'metadata':{'name':'x','labels':{", "}}}",
     "'k%X':'v'"},
    {"taints of a node", AN_OBJECT, MEMBER_NODES, NODE("x", "") ",'spec':{'taints':[", "]}}",
     "{'key':'k%u','effect':'NoSchedule'}"},
    {"resources of a node", AN_OBJECT, MEMBER_NODES, NODE("x", "") HAS ",", "}}}",
     "'e.com/r%X':'1'"},
    {"pods of a node", OBJECTS, MEMBER_PODS, "", "", POD("p%u", "")},
    {"pods with requests of their own", OBJECTS, MEMBER_PODS, "", "",
     POD("p%u", REQUEST("'cpu':'1%um'"))},
    {"pods with a resource each", OBJECTS, MEMBER_PODS, "", "",
     POD("p%u", REQUEST("'e.com/r%X':'1'"))},
    {"pods of nodes that nobody has", OBJECTS, MEMBER_PODS, "", "",
     "{'metadata':{'name':'p%u','namespace':'n'},'spec':{'nodeName':'x%u'}}"},
    {"resources of a pod", AN_OBJECT, MEMBER_PODS,
     "{'metadata':{'name':'p','namespace':'n'},'spec':{'nodeName':'node0','containers':[{"
     "'resources':{'requests':{",
     "}}}]}}", "'e.com/r%X':'1'"},
    {"containers of a pod", AN_OBJECT, MEMBER_PODS,
     "{'metadata':{'name':'p','namespace':'n'},'spec':{'nodeName':'node0','containers':[", "]}}",
     "{'resources':{'requests':{'e.com/r%X':'1'}}}"},
    {"pods that wait", OBJECTS, MEMBER_PODS, "", "", OWNED("p%u", "", "ReplicaSet", "r") WAITS},
    {"pods that wait of others", OBJECTS, MEMBER_PODS, "", "",
     OWNED("p%u", "", "ReplicaSet", "r%u") WAITS},
    {"labels of a pod that waits", AN_OBJECT, MEMBER_PODS,
     "{'metadata':{'name':'p','namespace':'n','ownerReferences':[{'controller':true,'apiVersion':"
     "'apps/v1','kind':'ReplicaSet','name':'o','uid':'r'}],'labels':{'a':'b',",
     "}}" WAITS, "'k%X':'v'"},
    {"ReplicaSets of a Deployment", OBJECTS, MEMBER_REPLICA_SETS, "", "", REPLICA_SET("s%X")},
    {"requirements of a Deployment", AN_OBJECT, MEMBER_DEPLOYMENTS,
     DEPLOYMENT "'matchExpressions':[", "]}}}", "{'key':'k%u','operator':'DoesNotExist'}"},
    {"values of a Deployment", AN_OBJECT, MEMBER_DEPLOYMENTS,
     DEPLOYMENT "'matchExpressions':[{'key':'a','operator':'In','values':['b',", "]}]}}}", "'v%u'"},
    {"quotas of a namespace", OBJECTS, MEMBER_QUOTAS, "", "",
     QUOTA("q%u", ",'status':{'hard':{'cpu':'9'},'used':{'cpu':'1'}}")},
    {"resources of a quota", AN_OBJECT, MEMBER_QUOTAS,
     "{'metadata':{'name':'q','namespace':'n'},'status':{'hard':{", "}}}",
     "'requests.e.com/r%X':'1'"},
    {"scopes of a quota", AN_OBJECT, MEMBER_QUOTAS,
     "{'metadata':{'name':'q','namespace':'n'},'spec':{'scopeSelector':{'matchExpressions':[",
     "]}},'status':{'hard':{'cpu':'9'}}}",
     "{'scopeName':'PriorityClass','operator':'In','values':['v%u']}"},
    {"values of a scope", AN_OBJECT, MEMBER_QUOTAS,
     "{'metadata':{'name':'q','namespace':'n'},'spec':{'scopeSelector':{'matchExpressions':[{"
     "'scopeName':'PriorityClass','operator':'In','values':[",
     "]}]}},'status':{'hard':{'cpu':'9'}}}", "'v%u'"},
    {"requests", REPLICAS, 0, "'replicaRequirements':{'resourceRequest':{", "}}",
     "'e.com/r%X':'1'"},
    {"tolerations", REPLICAS, 0, CLAIM "'tolerations':[", "]}}",
     "{'key':'k%u','operator':'Exists'}"},
    {"node selector", REPLICAS, 0, CLAIM "'nodeSelector':{", "}}}", "'k%X':'v'"},
    {"required terms", REPLICAS, 0, TERMS, "]}}}",
     "{'matchExpressions':[{'key':'k%u','operator':'Exists'}]}"},
    {"requirements of a term", REPLICAS, 0, TERMS "{'matchExpressions':[", "]}]}}}",
     "{'key':'k%u','operator':'DoesNotExist'}"},
    {"values of a requirement", REPLICAS, 0,
     TERMS "{'matchExpressions':[{'key':'k','operator':'In','values':[", "]}]}]}}}", "'v%X'"},
    {"components", A_COMPONENT, 0, "'components':[", "]", COMPONENT("c%u", "'cpu':'1%um'")},
    {"equal components", A_COMPONENT, 0, "'components':[", "]", COMPONENT("c%u", "'cpu':'1m'")},
    {"requests of a component", A_COMPONENT, 0,
     "'components':[{'name':'c','replicas':2,'replicaRequirements':{'resourceRequest':{", "}}}]",
     "'e.com/r%X':'1'"},
    {"assumed workloads", ASSUMED, 0, "'components':[", "]", COMPONENT("c%u", "'cpu':'1%um'")},
};

const char *estimates_growth_name(uint32_t list) {
    return lists[list].name;
}

/* ---- what is written ---- */

/* Items in one text; or, of objects, many texts, each ended by NUL. */
static void write_items(const struct written_list *l, uint32_t n, struct strbuf *out) {
    append_numbered(out, l->before, 0, 1);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && l->of != OBJECTS)
            strbuf_append_char(out, ',');
        append_numbered(out, l->item, i, n);
        if (l->of == OBJECTS)
            strbuf_append_char(out, '\0');
    }
    append_numbered(out, l->after, 0, 1);
    strbuf_append_char(out, '\0');
}

/* What is too long to be kept is refused; that is no failure here. */
static bool is_done(int r) {
    assert_true(r == 0 || r == -E2BIG);
    return r == 0;
}

static void give(struct informer *member, uint32_t kind, const char *json) {
    struct err err = {0};
    (void)is_done(kept_try(member, kind, json, &err));
    arena_reset(&kept_arena);
}

static void give_text(struct informer *member, uint32_t kind, const char *text, uint32_t i) {
    struct strbuf json = {0};
    append_numbered(&json, text, i, i + 1);
    strbuf_append_char(&json, '\0');
    give(member, kind, json.p);
    strbuf_done(&json);
}

static void give_fixed(struct informer *member) {
    for (uint32_t i = 0; i < FIXED_NODES; i++)
        give_text(member, MEMBER_NODES,
                  "{'metadata':{'name':'node%u'},'status':{'allocatable':{'cpu':'64',"
                  "'pods':'110'}}}",
                  i);
    give_text(member, MEMBER_DEPLOYMENTS, DEPLOYMENT "'matchLabels':{'a':'b'}}}}", 0);
    give_text(member, MEMBER_REPLICA_SETS, REPLICA_SET("r"), 0);
}

static void take(struct informer *member, uint32_t kind, const char *json) {
    struct object_meta meta;
    assert_int_equal(object_key_decode(str_of(json), &kept_arena, &meta, NULL), 0);
    kept_take(member, kind, arena_cstr(&kept_arena, meta.namespace),
              arena_cstr(&kept_arena, meta.name));
    arena_reset(&kept_arena);
}

/* ---- what is asked ---- */

static void ask_nodes(struct informer *member, const struct estimator_question *q, bool sets,
                      struct arena *arena) {
    const struct estimator_quota *quotas;
    struct member_view v;
    uint32_t count;
    int64_t answer;
    assert_int_equal(member_view_open(member, &v), 0);
    v.topology.steps = &arena->steps;
    (void)is_done(sets ? estimator_nodes_sets(&v.nodes, &v.topology, q, arena, &answer)
                       : estimator_nodes_replicas(&v.nodes, &v.topology, q, arena, &answer));
    if (is_done(member_quotas(&v, STR("n"), arena, &quotas, &count)))
        (void)is_done(sets ? estimator_quotas_sets(quotas, count, q, arena, &answer)
                           : estimator_quotas_replicas(quotas, count, q, arena, &answer));
    member_view_close(&v);
}

static void ask_unschedulable(struct informer *member, struct arena *arena) {
    const struct member_workload workload = {
        .namespace = STR("n"), .name = STR("d"), .now_ms = NOW_MS};
    int64_t answer;
    struct err err;
    const int r = member_unschedulable(member, &workload, arena, &answer, &err);
    assert_true(r == -ENOENT || r == -E2BIG || r == 0); /* a long one is not kept */
}

/* Over the wire and back; false: that is more than a call may have. */
static bool send(const struct replica_requirements *from, struct arena *arena,
                 struct wire_replicas *ret) {
    struct strbuf message = {.max = LIMIT_GRPC_MESSAGE};
    struct str requirements;
    struct err err;
    bool good = is_done(wire_requirements_encode(from, arena, &requirements, &err));
    if (good)
        wire_replicas_ask(STR("m"), requirements, &message);
    good = good && !strbuf_failed(&message) &&
           is_done(wire_replicas_decode(strbuf_str(&message), arena, ret, &err));
    strbuf_done(&message);
    return good;
}

static int assume(const struct binding_spec *spec, struct arena *arena,
                  struct estimator_question *q) {
    struct assumed_workload *workloads =
        arena_array(arena, spec->component_count, sizeof *workloads);
    assert_non_null(workloads);
    for (uint32_t i = 0; i < spec->component_count; i++)
        workloads[i] = (struct assumed_workload){STR("n"), &spec->components[i], 1};
    const int r = estimator_question_init(q, &spec->requirements, NULL, 0, arena);
    return r == 0 ? estimator_question_assume(q, workloads, spec->component_count, arena) : r;
}

static void ask(struct informer *member, enum of of, const struct binding_spec *spec,
                struct arena *arena) {
    struct estimator_question q;
    struct wire_replicas sent;
    bool good = true;
    if (of == ASSUMED)
        good = is_done(assume(spec, arena, &q));
    else if (of == A_COMPONENT)
        good = is_done(estimator_question_init(&q, &spec->requirements, spec->components,
                                               spec->component_count, arena));
    else
        good = send(&spec->requirements, arena, &sent) &&
               is_done(estimator_question_init(&q, &sent.requirements, NULL, 0, arena));
    q.set.namespace = STR("n");
    if (good)
        ask_nodes(member, &q, of == A_COMPONENT, arena);
    ask_unschedulable(member, arena);
}

/* The JSON has been read before: that is not what is looked at. */
static void read_spec(const char *members, struct arena *arena, struct binding *ret) {
    struct strbuf json = {0};
    struct json_reader r;
    struct err err = {0};
    strbuf_appendf(&json, "{\"spec\":{%s}}", members);
    json_reader_init(&r, arena_str(arena, strbuf_str(&json)), arena, "binding");
    binding_decode(&r, ret);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    strbuf_done(&json);
}

static uint64_t work_of(const struct written_list *l, const char *text, uint32_t n) {
    const bool asks = l->of != OBJECTS && l->of != AN_OBJECT;
    void *member = NULL;
    struct arena written, arena;
    struct binding binding;
    kept_setup(&member);
    give_fixed(member);
    arena_init(&written, LIMIT_GRPC_ARENA);
    arena_init(&arena, LIMIT_GRPC_ARENA);
    arena.steps.max = LIMIT_GRPC_STEPS;
    read_spec(asks ? text : "\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":\"1\"}}",
              &written, &binding);
    const uint32_t count = asks ? 0 : l->of == OBJECTS ? n : 1;
    const uint64_t before = work_done();
    const char *at = text;
    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1)
        give(member, l->kind, at);
    ask(member, l->of, &binding.spec, &arena);
    at = text;
    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1)
        take(member, l->kind, at);
    const uint64_t work = work_done() - before;
    arena_done(&arena);
    arena_done(&written);
    kept_teardown(&member);
    return work;
}

uint64_t estimates_growth_work(uint32_t list, uint32_t n) {
    const struct written_list *l = &lists[list];
    struct strbuf text = {0};
    write_items(l, n, &text);
    assert_false(strbuf_failed(&text));
    const uint64_t work =
        text.n <= (l->of == OBJECTS ? MANY_BYTES : OBJECT_BYTES) ? work_of(l, text.p, n) : 0;
    strbuf_done(&text);
    return work;
}

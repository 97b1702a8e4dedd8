#include "growth/hub.h"

#include "growth/work.h"
#include "hub/owned.h"
#include "unit/fleet/fleet_builder.h"

#include <stdio.h>

enum { MOST = 8192, SOME = 4 };

static const struct hub_list {
    const char *name;
    bool clusters;      /* n clusters that fit; otherwise a few */
    const char *object; /* n of them, PlacementDecisions; %u is the item's number; NULL: none */
    const char *spec;   /* of the Placement, with its terms */
    bool scored;        /* mode Scores */
} lists[HUB_GROWTH_LISTS] = {
#define TERM(when)                                                                                 \
    "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone','topologyKeyType':'Label',"        \
    "'whenUnsatisfiable':'" when "'}]}"
#define GROUPS "'decisionStrategy':{'groupStrategy':{'clustersPerDecisionGroup':1}}"
#define DECISION(name, index, cluster)                                                             \
    "{'metadata':{'name':'" name "','namespace':'n','labels':{'" PLACEMENT_LABEL                   \
    "':'p','" PLACEMENT_GROUP_INDEX_LABEL "':'" index "','" PLACEMENT_GROUP_NAME_LABEL             \
    "':''}},'status':{'decisions':[{'clusterName':'" cluster "','reason':''}]}}"
    {"clusters", true, NULL, TERM("ScheduleAnyway"), false},
    {"clusters, a hard term", true, NULL, TERM("DoNotSchedule") ",'numberOfClusters':200", false},
    {"decisions that nobody wants", false, DECISION("p-decision-%u", "0", "x%u"),
     TERM("ScheduleAnyway"), false},
    {"decisions of other names", false, DECISION("o%u", "0", "c0"), TERM("ScheduleAnyway"), false},
    {"groups, and decisions to be used again", true, DECISION("p-decision-%u", "%u", "x%u"),
     TERM("ScheduleAnyway") "," GROUPS, false},
    {"clusters, by scores", true, NULL, TERM("ScheduleAnyway"), true},
    {"clusters, by scores, a hard term", true, NULL, TERM("DoNotSchedule"), true},
};

const char *hub_growth_name(uint32_t list) {
    return lists[list].name;
}

static void give_decision(struct fleet_builder *b, const char *format, uint32_t i) {
    struct strbuf text = {0};
    for (const char *p = format; *p != '\0'; p++)
        if (p[0] == '%' && p[1] == 'u') {
            strbuf_appendf(&text, "%u", i + 1);
            p++;
        } else {
            strbuf_append_char(&text, *p);
        }
    strbuf_append_char(&text, '\0');
    fleet_give(b, FLEET_DECISIONS, text.p);
    strbuf_done(&text);
}

static void fill(struct fleet_builder *b, const struct hub_list *l, uint32_t n) {
    char text[1500];
    fleet_give(b, FLEET_SETS,
               "{'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector','labelSelector':{}}}}");
    fleet_give(b, FLEET_BINDINGS, "{'metadata':{'name':'all','namespace':'n'}}");
    for (uint32_t i = 0; i < (l->clusters ? n : SOME); i++) {
        (void)snprintf(text, sizeof text, "{'metadata':{'name':'c%u','labels':{'zone':'z%u'}}}", i,
                       i % 7);
        fleet_give(b, FLEET_CLUSTERS, text);
    }
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'p','namespace':'n','uid':'u','annotations':{"
                   "'" PLACEMENT_MODE_ANNOTATION "':%s}},'spec':{%s}}",
                   l->scored ? "'Scores'"
                             : "'Owner','" PLACEMENT_DISABLE_ANNOTATION
                               "':'true','" PLACEMENT_DISABLED_ANNOTATION "':'true'",
                   l->spec);
    fleet_give(b, FLEET_PLACEMENTS, text);
    for (uint32_t i = 0; l->object != NULL && i < n; i++)
        give_decision(b, l->object, i);
}

uint64_t hub_growth_work(uint32_t list, uint32_t n) {
    static const struct owned_settings settings = {.moves = {10000, 10}, .shards = 4};
    struct fleet_builder b;
    struct owned owned = {.progress = OWNED_IDLE};
    struct owned_answer answer;
    struct arena arena;
    struct err err = {0};
    if (n > MOST)
        return 0;
    fleet_builder_open(&b);
    arena_init(&arena, 256u << 20);
    fill(&b, &lists[list], n);
    const struct owned_question q = {.view = (struct fleet_view *)(uintptr_t)fleet_look(&b),
                                     .namespace = STR("n"),
                                     .name = STR("p"),
                                     .wall_ms = 1800000000000,
                                     .settings = &settings};
    const uint64_t before = work_done();
    if (owned_look(&owned, &q, &arena, &answer, &err) != 0)
        fail_msg("%s", err.text);
    const uint64_t work = work_done() - before;
    assert_int_equal(answer.mode, lists[list].scored ? OWNED_SCORED : OWNED_OURS);
    assert_int_not_equal(answer.write.what, OWNED_NOTHING);
    owned_write_done(&answer.write);
    owned_done(&owned);
    arena_done(&arena);
    fleet_builder_close(&b);
    return work;
}

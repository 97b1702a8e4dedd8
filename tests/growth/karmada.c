#include "growth/karmada.h"

#include "base/limits.h"
#include "fleet/karmada.h"
#include "growth/numbered.h"
#include "growth/work.h"
#include "unit/unit.h"

#include <errno.h>

enum {
    OBJECT_BYTES = 1536 << 10, /* what etcd takes of one */
    MOST_CLUSTERS = 4096,
};

#define CLUSTER(more) "{'metadata':{'name':'m'}," more
static const struct cluster_list {
    const char *name;
    const char *before, *after; /* "": n Clusters */
    const char *item;           /* %u is the item's number; %X counts down instead */
    uint32_t most;              /* items that the decoder takes; 0: any number */
} lists[KARMADA_GROWTH_LISTS] = {
    {"Clusters", "", "", "{'metadata':{'name':'m%u'},'spec':{'apiEndpoint':'https://a:%u'}}", 0},
    {"labels of a Cluster", "{'metadata':{'name':'m','labels':{", "}}}", "'k%X':'v'", 0},
    {"annotations of a Cluster", "{'metadata':{'name':'m','annotations':{", "}}}", "'k%X':'v'", 0},
    {"taints of a Cluster", CLUSTER("'spec':{'taints':["), "]}}",
     "{'key':'k%X','effect':'NoSchedule'}", 0},
    {"models of a Cluster", CLUSTER("'spec':{'resourceModels':["), "]}}",
     "{'grade':1%u,'ranges':[{'name':'cpu','min':'%u','max':'1%u'}]}", LIMIT_MODELS},
    {"APIs of a Cluster", CLUSTER("'status':{'apiEnablements':["), "]}}",
     "{'groupVersion':'g%u/v1','resources':[{'name':'r','kind':'K'}]}", 0},
    {"resources of a Cluster", CLUSTER("'status':{'resourceSummary':{'allocatable':{"), "}}}}",
     "'example.com/r%X':'1'", 0},
    {"conditions of a Cluster", CLUSTER("'status':{'conditions':["), "]}}",
     "{'type':'t%u','status':'True'}", 0},
};

const char *karmada_growth_name(uint32_t list) {
    return lists[list].name;
}

/* One Cluster, or the number i of n. */
static void write_cluster(const struct cluster_list *l, uint32_t i, uint32_t n,
                          struct strbuf *out) {
    const bool many = l->before[0] == '\0';
    append_numbered(out, l->before, 0, 1);
    for (uint32_t k = many ? i : 0; k < (many ? i + 1 : n); k++) {
        if (k > 0 && !many)
            strbuf_append_char(out, ',');
        append_numbered(out, l->item, k, n);
    }
    append_numbered(out, l->after, 0, 1);
    assert_false(strbuf_failed(out));
}

static void give(struct informer *i, struct str json) {
    const struct informer_kind *kind = &karmada_store.kinds[0];
    CLEANUP(arena_done) struct arena arena;
    struct informer_object object = {.json = json, .arena = &arena};
    struct json_reader r;
    struct err err = {0};
    arena_init(&arena, 64u << 20);
    json_reader_init(&r, json, &arena, "Cluster");
    kind->decode(&r, &object);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    const int applied = kind->apply(informer_write(i), &object, &err);
    informer_write_done(i);
    assert_true(applied == 0 || applied == -ENOMEM); /* a long one is not kept */
}

static void list_all(struct informer *i, const struct cluster_list *l, uint32_t n) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    informer_list(&karmada_store, informer_write(i), 0, LISTING_BEGINS);
    informer_write_done(i);
    for (uint32_t k = 0; k < (l->before[0] == '\0' ? n : 1); k++) {
        strbuf_clear(&json);
        write_cluster(l, k, n, &json);
        give(i, strbuf_str(&json));
    }
    informer_list(&karmada_store, informer_write(i), 0, LISTING_ENDS);
    informer_write_done(i);
}

uint64_t karmada_growth_work(uint32_t list, uint32_t n) {
    const struct cluster_list *l = &lists[list];
    CLEANUP(strbuf_done) struct strbuf json = {0};
    struct informer *i = NULL;
    if (l->most > 0 && n > l->most)
        return 0;
    write_cluster(l, 0, n, &json);
    if (json.n > OBJECT_BYTES || (l->before[0] == '\0' && n > MOST_CLUSTERS))
        return 0;
    assert_int_equal(informer_new(&karmada_store, NULL, &i, NULL), 0);
    const uint64_t before = work_done();
    list_all(i, l, n);
    list_all(i, l, n);
    list_all(i, l, 0); /* those that are gone are forgotten */
    const uint64_t work = work_done() - before;
    informer_free(i);
    return work;
}

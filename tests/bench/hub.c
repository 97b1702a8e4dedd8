#include "bench/hub.h"

#include "fleet/internal.h"
#include "model/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What the API server has of one. */
struct hub_placement {
    char *spec;            /* members of JSON; owned */
    struct strbuf status;  /* JSON, or "" */
    bool has_decision;     /* the PlacementDecision is there ... */
    struct strbuf decided; /* ... with this status; "": none */
    uint64_t moves;
};

void hub_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args); /* nowhere else to report to */
    va_end(args);
    (void)fputc('\n', stderr); /* likewise */
    exit(1);
}

static void show(struct hub *h, enum fleet_kind kind, struct str json) {
    const struct informer_kind *row = &fleet_store.kinds[kind];
    struct informer *informer = fleet_informer(h->fleet);
    struct arena arena;
    struct json_reader r;
    struct err err = {0};
    arena_init(&arena, 16 << 20);
    struct informer_object object = {.kind = kind, .arena = &arena, .json = json};
    json_reader_init(&r, json, &arena, "object");
    row->decode(&r, &object);
    if (json_finish(&r, &err) != 0 || row->apply(informer_write(informer), &object, &err) != 0)
        hub_fail("%s", err.text);
    informer_write_done(informer);
    arena_done(&arena);
}

static void quote(struct strbuf *text) {
    for (size_t i = 0; i < text->n; i++)
        text->p[i] = text->p[i] == '\'' ? '"' : text->p[i];
}

void hub_give(struct hub *h, enum fleet_kind kind, const char *format, ...) {
    struct strbuf text = {0};
    char buffer[2000];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof buffer)
        hub_fail("an object is too long");
    strbuf_append_str(&text, str_of(buffer));
    quote(&text);
    show(h, kind, strbuf_str(&text));
    strbuf_done(&text);
}

/* ---- Placements ---- */

static void put_meta(struct hub *h, uint32_t i, const char *name, struct strbuf *out) {
    strbuf_appendf(out, "{'metadata':{'name':'%s','namespace':'n%u','resourceVersion':'%u',", name,
                   i % HUB_NAMESPACES, ++h->version);
}

static void show_placement(struct hub *h, uint32_t i) {
    const struct hub_placement *p = &h->placements[i];
    struct strbuf text = {0};
    char name[20];
    (void)snprintf(name, sizeof name, "p%u", i); /* fits */
    put_meta(h, i, name, &text);
    strbuf_appendf(&text,
                   "'uid':'u%u','annotations':{'" PLACEMENT_MODE_ANNOTATION
                   "':'Owner','" PLACEMENT_DISABLE_ANNOTATION
                   "':'true','" PLACEMENT_DISABLED_ANNOTATION "':'true'}},'spec':{%s}",
                   i, p->spec);
    quote(&text);
    if (p->status.n > 0) {
        strbuf_append_str(&text, STR(",\"status\":"));
        strbuf_append_str(&text, strbuf_str(&p->status));
    }
    strbuf_append_char(&text, '}');
    show(h, FLEET_PLACEMENTS, strbuf_str(&text));
    strbuf_done(&text);
}

static void show_decision(struct hub *h, uint32_t i) {
    const struct hub_placement *p = &h->placements[i];
    struct strbuf text = {0};
    char name[40];
    (void)snprintf(name, sizeof name, "p%u-decision-1", i); /* fits */
    put_meta(h, i, name, &text);
    strbuf_appendf(&text,
                   "'labels':{'" PLACEMENT_LABEL "':'p%u','" PLACEMENT_GROUP_INDEX_LABEL
                   "':'0','" PLACEMENT_GROUP_NAME_LABEL
                   "':''},'ownerReferences':[{'apiVersion':'" OCM_GROUP
                   "/v1beta1','kind':'Placement','name':'p%u','uid':'u%u','controller':true}]}",
                   i, i, i);
    quote(&text);
    if (p->decided.n > 0) {
        strbuf_append_str(&text, STR(",\"status\":"));
        strbuf_append_str(&text, strbuf_str(&p->decided));
    }
    strbuf_append_char(&text, '}');
    show(h, FLEET_DECISIONS, strbuf_str(&text));
    strbuf_done(&text);
}

void hub_place(struct hub *h, uint32_t i, const char *spec) {
    free(h->placements[i].spec);
    h->placements[i].spec = strdup(spec);
    if (h->placements[i].spec == NULL)
        hub_fail("no memory");
    show_placement(h, i);
}

struct str hub_namespace(uint32_t i, struct arena *arena) {
    return arena_printf(arena, "n%u", i % HUB_NAMESPACES);
}

struct str hub_name(uint32_t i, struct arena *arena) {
    return arena_printf(arena, "p%u", i);
}

uint32_t hub_number(const struct hub *h, struct str name) {
    const size_t slash = str_find(name, '/');
    int64_t number = -1;
    if (slash == SIZE_MAX ||
        !str_to_i64((struct str){name.p + slash + 2, name.n - slash - 2}, &number) || number < 0 ||
        number >= h->count)
        hub_fail("'%.*s' is no Placement of the hub", STR_ARG(name));
    return (uint32_t)number;
}

bool hub_has(const struct hub *h, uint32_t i, const char *cluster) {
    char text[80];
    const struct str decided = strbuf_str(&h->placements[i].decided);
    const int n = snprintf(text, sizeof text, "\"clusterName\":\"%s\"", cluster);
    return n > 0 && decided.n > 0 && memmem(decided.p, decided.n, text, (size_t)n) != NULL;
}

/* ---- writes ---- */

static void count_moves(struct hub *h, uint32_t i, struct str after) {
    const struct str before = strbuf_str(&h->placements[i].decided), key = STR("\"clusterName\":");
    uint64_t moves = 0;
    for (size_t at = 0; before.n > 0 && at + key.n < before.n; at++) {
        if (memcmp(before.p + at, key.p, key.n) != 0)
            continue;
        size_t end = at + key.n + 1;
        while (before.p[end] != '"')
            end++;
        moves += memmem(after.p, after.n, before.p + at, end + 1 - at) == NULL;
    }
    h->moves += moves;
    h->placements[i].moves += moves;
}

uint64_t hub_moves(const struct hub *h, uint32_t i) {
    return h->placements[i].moves;
}

void hub_decide(struct hub *h, uint32_t i, struct str status) {
    struct hub_placement *p = &h->placements[i];
    count_moves(h, i, status);
    p->has_decision = true;
    strbuf_clear(&p->decided);
    strbuf_append_str(&p->decided, status);
    show_decision(h, i);
}

/* The status of a merge patch, which is the whole of it. */
static struct str status_of(struct str body, struct arena *arena) {
    struct json_reader r;
    struct str key, status = STR("");
    json_reader_init(&r, body, arena, "patch");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            const struct str value = json_skip(&r);
            status = str_eq(key, STR("status")) ? value : status;
        }
    if (json_finish(&r, NULL) != 0 || status.n == 0)
        hub_fail("a patch without a status: %.*s", STR_ARG(body));
    return status;
}

void hub_apply(struct hub *h, uint32_t i, const struct write *write) {
    struct hub_placement *p = &h->placements[i];
    const struct str path = strbuf_str(&write->path), end = STR("/status");
    const bool of_decision = memmem(path.p, path.n, "/placementdecisions", 19) != NULL;
    const bool of_status =
        path.n > end.n && str_eq((struct str){path.p + path.n - end.n, end.n}, end);
    struct arena arena;
    arena_init(&arena, 16 << 20);
    h->writes++;
    if (of_decision && write->verb == WRITE_CREATE && !p->has_decision) {
        p->has_decision = true;
    } else if (of_status && write->verb == WRITE_MERGE && (!of_decision || p->has_decision)) {
        const struct str status = status_of(strbuf_str(&write->body), &arena);
        struct strbuf *to = of_decision ? &p->decided : &p->status;
        if (of_decision)
            count_moves(h, i, status);
        strbuf_clear(to);
        strbuf_append_str(to, status);
    } else {
        hub_fail("a write that this hub does not know: %.*s", STR_ARG(path));
    }
    arena_done(&arena);
    if (of_decision)
        show_decision(h, i);
    else
        show_placement(h, i);
}

/* ---- life ---- */

void hub_open(struct hub *h, uint32_t placements) {
    *h = (struct hub){.count = placements, .placements = calloc(placements, sizeof *h->placements)};
    struct err err = {0};
    if (h->placements == NULL || fleet_new(&h->fleet, &err) != 0)
        hub_fail("no memory for a hub");
    hub_give(h, FLEET_SETS,
             "{'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':"
             "'LabelSelector','labelSelector':{}}}}");
    for (uint32_t i = 0; i < HUB_NAMESPACES; i++)
        hub_give(h, FLEET_BINDINGS, "{'metadata':{'name':'all','namespace':'n%u'}}", i);
}

void hub_close(struct hub *h) {
    fleet_free(h->fleet);
    for (uint32_t i = 0; i < h->count; i++) {
        free(h->placements[i].spec);
        strbuf_done(&h->placements[i].status);
        strbuf_done(&h->placements[i].decided);
    }
    free(h->placements);
}

#include "whatif/binding_subjects.h"

#include "findings/schemas.h"
#include "model/names.h"
#include "state/documents.h"

#include <errno.h>

struct gathering {
    struct arena *arena;
    struct binding_subject *items;
    uint32_t count, cap;
};

/* Returns a new subject; NULL: no memory. */
static struct binding_subject *add(struct gathering *g, struct err *err) {
    struct binding_subject *items =
        arena_push(g->arena, g->items, g->count, &g->cap, sizeof *items);
    if (items == NULL) {
        (void)err_set(err, -ENOMEM, "no memory for bindings");
        return NULL;
    }
    g->items = items;
    items[g->count] = (struct binding_subject){.from_policy = false};
    return &items[g->count++];
}

static struct str kind_of(struct str text, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, text, arena, "object");
    return json_peek(&r) == JSON_OBJECT ? json_peek_member(&r, STR("kind")) : (struct str){0};
}

static bool is_policy(struct str text, struct arena *arena) {
    const struct str kind = kind_of(text, arena);
    return str_eq(kind, STR(PROPAGATION_POLICY_KIND)) ||
           str_eq(kind, STR(CLUSTER_PROPAGATION_POLICY_KIND));
}

static bool is_binding(struct str text, struct arena *arena) {
    const struct str kind = kind_of(text, arena);
    return str_eq(kind, STR(RESOURCE_BINDING_KIND)) ||
           str_eq(kind, STR(CLUSTER_RESOURCE_BINDING_KIND));
}

static bool is_workload(struct str text, struct arena *arena) {
    return !is_policy(text, arena);
}

static const struct document_kind binding_documents = {"binding file", "binding", is_binding};
static const struct document_kind policy_documents = {"policy file", PROPAGATION_POLICY_KIND,
                                                      is_policy};
static const struct document_kind workload_documents = {"workload file", "workload", is_workload};

/* ---- bindings of files ---- */

static int decode_binding(struct str text, struct arena *arena, struct binding *ret,
                          struct err *err) {
    struct json_reader r;
    json_reader_init(&r, text, arena, RESOURCE_BINDING_KIND);
    binding_read(&r, ret);
    return json_finish(&r, err);
}

static int read_bindings(struct gathering *g, const char *path, const char *name, struct err *err) {
    struct documents documents;
    int r = documents_read(path, &binding_documents, g->arena, &documents, err);
    if (r == 0 && name != NULL)
        documents_keep_named(&documents, name, g->arena);
    for (uint32_t i = 0; r == 0 && i < documents.count; i++) {
        const struct str text = documents.items[i].text;
        struct binding_subject *subject = add(g, err);
        if (subject == NULL)
            return -ENOMEM;
        subject->text = text;
        subject->schema = &schema_of_binding;
        if (is_policy(text, g->arena))
            r = err_set(err, -EINVAL,
                        "it has a policy, and no binding. Give it with --propagation-policy, and "
                        "the workload with --workload; or give the binding that Karmada made of "
                        "both: kubectl get resourcebindings -o yaml");
        else
            r = decode_binding(text, g->arena, &subject->binding, err);
        if (r != 0)
            r = document_complain(&documents.items[i], err);
    }
    return r;
}

/* ---- bindings made of a policy ---- */

struct policy_file {
    struct str text;
    struct propagation_policy policy;
};

static int read_policy(const char *path, struct arena *arena, struct policy_file *ret,
                       struct err *err) {
    struct document document;
    struct json_reader r;
    int e = document_read_only(path, &policy_documents, arena, &document, err);
    if (e != 0)
        return e;
    ret->text = document.text;
    json_reader_init(&r, ret->text, arena, PROPAGATION_POLICY_KIND);
    propagation_policy_read(&r, &ret->policy);
    e = json_finish(&r, err);
    return e == 0 ? 0 : document_complain(&document, err);
}

static int read_object(struct str text, struct arena *arena, struct propagated_object *ret,
                       struct err *err) {
    struct json_reader r;
    json_reader_init(&r, text, arena, "workload");
    propagated_object_read(&r, ret);
    return json_finish(&r, err);
}

static int make_binding(const struct policy_file *file, const struct propagated_object *object,
                        struct arena *arena, struct binding_subject *ret, struct err *err) {
    *ret = (struct binding_subject){
        .text = file->text,
        .schema = &schema_of_propagation_policy,
        .from_policy = true,
        .interpreted = object->interpreted,
        .scope_unknown = object->scope_unknown,
        .type =
            arena_printf(arena, "%.*s %.*s", STR_ARG(object->api_version), STR_ARG(object->kind)),
    };
    const int r = karmada_propagate(&file->policy, object, arena, &ret->made, err);
    if (r != 0 || ret->made.binding.p == NULL)
        return r;
    return decode_binding(ret->made.binding, arena, &ret->binding, err);
}

static int make_bindings(struct gathering *g, const struct binding_sources *from, struct err *err) {
    struct policy_file file;
    struct documents documents;
    int r = read_policy(from->policy, g->arena, &file, err);
    if (r == 0)
        r = documents_read(from->workload, &workload_documents, g->arena, &documents, err);
    if (r == 0 && from->name != NULL)
        r = documents_choose(&documents, from->name, g->arena, err);
    for (uint32_t i = 0; r == 0 && i < documents.count; i++) {
        struct propagated_object object;
        struct binding_subject *subject = add(g, err);
        if (subject == NULL)
            return -ENOMEM;
        r = read_object(documents.items[i].text, g->arena, &object, err);
        if (r == 0)
            r = make_binding(&file, &object, g->arena, subject, err);
        if (r != 0)
            r = document_complain(&documents.items[i], err);
    }
    return r;
}

int binding_subjects_read(const struct binding_sources *from, struct arena *arena,
                          struct binding_subject **ret, uint32_t *ret_count, struct err *err) {
    struct gathering g = {.arena = arena};
    int r = from->policy != NULL ? make_bindings(&g, from, err) : 0;
    for (uint32_t i = 0; r == 0 && i < from->path_count; i++)
        r = read_bindings(&g, from->paths[i], from->name, err);
    if (r == 0 && g.count == 0)
        r = err_set(err, -EINVAL, "no binding is named '%s'", from->name);
    *ret = g.items;
    *ret_count = g.count;
    return r;
}

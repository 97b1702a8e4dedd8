#include "findings/schema.h"

#include "base/json_reader.h"
#include "base/limits.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>

struct walk {
    struct json_reader r;
    const struct schema_document *document;
    struct findings *findings;
    struct strbuf path;
    uint32_t compared; /* number of unknown members for which a nearest name was searched */
};

static const struct schema_field *find_field(const struct schema *s, struct str name) {
    for (uint32_t i = 0; i < s->field_count; i++)
        if (str_eq(name, str_of(s->fields[i].name)))
            return &s->fields[i];
    return NULL;
}

static void offer_fields(struct suggestion *near, const struct schema *s) {
    for (uint32_t i = 0; i < s->field_count; i++)
        suggestion_offer(near, s->fields[i].name);
}

/* Returns the place where a member of this name belongs; NULL: there is no such place. */
static const struct schema_home *find_home(const struct walk *w, const struct schema *here,
                                           struct str name) {
    for (const struct schema_home *home = w->document->homes; home->schema != NULL; home++)
        if (home->schema != here && find_field(home->schema, name) != NULL)
            return home;
    return NULL;
}

/* Returns the nearest name of a member that belongs elsewhere; NULL: no name is near. */
static const char *find_near_home(const struct walk *w, const struct schema *here, struct str name,
                                  const struct schema_home **ret) {
    struct suggestion best = suggestion_for(name);
    for (const struct schema_home *home = w->document->homes; home->schema != NULL; home++) {
        const char *before = best.best;
        if (home->schema != here)
            offer_fields(&best, home->schema);
        if (best.best != before)
            *ret = home;
    }
    return best.best;
}

/* May another nearest name be searched? A file with very many unknown members has another mistake
 * than spelling. */
static bool may_compare(struct walk *w, const struct schema *here) {
    uint64_t names = here->field_count;
    if (w->compared == LIMIT_FINDING_SPELLINGS)
        return false;
    w->compared++;
    for (const struct schema_home *home = w->document->homes; home->schema != NULL; home++)
        names += home->schema->field_count;
    return steps_take(&w->r.arena->steps, names * SUGGESTION_STEPS);
}

static void report(struct walk *w, const struct schema *here, struct str name) {
    const struct schema_home *home = find_home(w, here, name);
    const struct str path = strbuf_str(&w->path);
    struct suggestion near = suggestion_for(name);
    char remedy[200];
    if (may_compare(w, here)) {
        offer_fields(&near, here);
        if (home == NULL && near.best == NULL)
            near.best = find_near_home(w, here, name, &home);
    }
    if (home != NULL) {
        (void)snprintf(remedy, sizeof remedy, "Move it to %s", home->path);
        findings_add(w->findings, FINDING_UNKNOWN_FIELD, path, str_of(remedy),
                     "'%.*s' is no field here: %s belongs to %s", STR_ARG(name),
                     near.best != NULL ? near.best : "it", home->path);
    } else if (near.best != NULL) {
        (void)snprintf(remedy, sizeof remedy, "Write %s", near.best);
        findings_add(w->findings, FINDING_UNKNOWN_FIELD, path, str_of(remedy),
                     "'%.*s' is no field; the nearest is '%s'", STR_ARG(name), near.best);
    } else if (here->kind == SCHEMA_OBJECT)
        findings_add(w->findings, FINDING_UNKNOWN_FIELD, path, STR("Remove it: it has no effect"),
                     "'%.*s' is no field", STR_ARG(name));
}

static void walk_value(struct walk *w, const struct schema *s);

static void walk_member(struct walk *w, const struct schema *s, struct str member) {
    enum { NAME_BYTES = 64 }; /* known names are shorter */
    const struct str name = str_cut(member, NAME_BYTES);
    const struct schema_field *field = find_field(s, name);
    const size_t before = w->path.n;
    strbuf_appendf(&w->path, "%s%.*s", before > 0 ? "." : "", STR_ARG(name));
    if (field == NULL && s->kind != SCHEMA_OPEN)
        report(w, s, name);
    else if (field != NULL && field->of != NULL)
        walk_value(w, field->of);
    w->path.n = before;
}

static void walk_list(struct walk *w, const struct schema *s) {
    const size_t before = w->path.n;
    if (!json_array(&w->r))
        return;
    for (uint32_t i = 0; json_element(&w->r); i++) {
        strbuf_appendf(&w->path, "[%u]", i);
        walk_value(w, s->of);
        w->path.n = before;
    }
}

static void walk_object(struct walk *w, const struct schema *s) {
    struct str name;
    if (!json_object(&w->r))
        return;
    while (json_member(&w->r, &name)) {
        if (!steps_take(&w->r.arena->steps, s->field_count)) {
            json_fail(&w->r, "too many members");
            return;
        }
        walk_member(w, s, name);
    }
}

/* Skips a value of another type: the decoder of the object refuses it. */
static void walk_value(struct walk *w, const struct schema *s) {
    const enum json_kind type = json_peek(&w->r);
    if (s->kind == SCHEMA_LIST && type == JSON_ARRAY)
        walk_list(w, s);
    else if (s->kind <= SCHEMA_OPEN && type == JSON_OBJECT)
        walk_object(w, s);
}

int schema_check(struct str json, const struct schema_document *document, struct findings *f) {
    struct walk w = {.document = document, .findings = f, .path = {.max = 4096}};
    json_reader_init(&w.r, json, f->arena, "document");
    walk_value(&w, document->schema);
    const int r = arena_failed(f->arena) || strbuf_failed(&w.path) ? -ENOMEM
                  : json_failed(&w.r)                              ? -E2BIG
                                                                   : 0;
    strbuf_done(&w.path);
    return r;
}

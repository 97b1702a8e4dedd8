#include "unit/findings/drawn.h"

#include "unit/findings/drawn_files.h"
#include "unit/findings/drawn_findings.h"

#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

cJSON *drawn_json(const char *text) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    for (; *text != '\0'; text++)
        strbuf_append_char(&json, *text == '\'' ? '"' : *text);
    cJSON *value = cJSON_ParseWithLength(json.p, json.n);
    if (value == NULL)
        fail_msg("no JSON: %.*s", (int)json.n, json.p);
    return value;
}

void drawn_set(cJSON *object, const char *name, cJSON *value) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    assert_true(cJSON_AddItemToObject(object, name, value));
}

/* Members and items get another order, everywhere. */
static void shuffle(struct drawn *d, cJSON *value) {
    cJSON *child;
    cJSON_ArrayForEach(child, value) {
        shuffle(d, child);
    }
    for (int left = cJSON_GetArraySize(value); left > 0; left--) {
        child = cJSON_DetachItemFromArray(value, (int)drawn_below(d, (uint32_t)left));
        /* A string is const for cJSON if an item of an object is added as one of an array. */
        if (child->string != NULL) {
            char *const name = child->string;
            child->string = NULL;
            assert_true(cJSON_AddItemToObject(value, name, child));
            cJSON_free(name);
        } else
            assert_true(cJSON_AddItemToArray(value, child));
    }
}

/* ---- a good file ---- */

/* Adds what changes nothing. */
static void decorate(struct drawn *d) {
    cJSON *meta = drawn_at(d, "metadata");
    static const char *const names[] = {"web", "shop-front", "a"};
    drawn_set_text(meta, "name", names[drawn_below(d, 3)]);
    if (drawn_below(d, 2) == 0)
        drawn_set(meta, "annotations", drawn_json("{'example.com/tolerations':'maxskew'}"));
    if (d->subject != SUBJECT_WORKLOAD || d->spec[4] != '\0') { /* a Pod's labels are selected */
        if (drawn_below(d, 2) == 0)
            drawn_set(meta, "labels", drawn_json("{'affinity':'x','topologyKey':'y'}"));
    }
    if (d->subject != SUBJECT_POLICY && drawn_below(d, 4) == 0)
        drawn_set(d->file, "status", drawn_json("{}"));
}

void draw(struct drawn *ret, enum drawn_subject subject, uint64_t *random) {
    *ret = (struct drawn){.random = random, .subject = subject};
    drawn_files_make(ret);
    if (subject != SUBJECT_WORKLOAD || drawn_below(ret, 2) == 0)
        drawn_need_state(ret);
    decorate(ret);
    shuffle(ret, ret->file);
}

void drawn_need_state(struct drawn *d) {
    if (d->state == NULL)
        d->state = drawn_files_state(d->subject);
}

void drawn_free(struct drawn *d) {
    cJSON_Delete(d->file);
    cJSON_Delete(d->state);
}

/* ---- places ---- */

static cJSON *item_at(cJSON *value, const char *part, size_t n) {
    char name[DRAWN_PATH];
    const char *bracket = memchr(part, '[', n);
    const size_t length = bracket != NULL ? (size_t)(bracket - part) : n;
    (void)snprintf(name, sizeof name, "%.*s", (int)length, part);
    value = cJSON_GetObjectItemCaseSensitive(value, name);
    return bracket != NULL ? cJSON_GetArrayItem(value, (int)strtol(bracket + 1, NULL, 10)) : value;
}

cJSON *drawn_at(const struct drawn *d, const char *path) {
    cJSON *value = d->file;
    for (const char *part = path; value != NULL && *part != '\0';) {
        const size_t n = strcspn(part, ".");
        value = item_at(value, part, n);
        part += part[n] == '.' ? n + 1 : n;
    }
    if (value == NULL)
        fail_msg("the file has no %s", path);
    return value;
}

cJSON *drawn_of_pod(const struct drawn *d, const char *name) {
    char path[DRAWN_PATH];
    (void)snprintf(path, sizeof path, "%s.%s", d->spec, name);
    return drawn_at(d, path);
}

/* Members that are not looked into, or that have keys of the user. */
static bool is_closed(const char *name) {
    static const char *const names[] = {"metadata",   "matchLabels",    "nodeSelector",
                                        "containers", "status",         "strategy",
                                        "resource",   "clusters",       "volumes",
                                        "replicas",   "celExpressions", "replicaRequirements"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

struct walk {
    struct place *places;
    uint32_t count;
};

static void add_places(struct walk *w, cJSON *value, const char *path) {
    char at[DRAWN_PATH];
    cJSON *child;
    int i = 0;
    if (cJSON_IsObject(value)) {
        assert_in_range(w->count, 0, DRAWN_PLACES - 1);
        struct place *place = &w->places[w->count++];
        place->object = value;
        (void)snprintf(place->path, sizeof place->path, "%s", path);
    }
    cJSON_ArrayForEach(child, value) {
        if (cJSON_IsArray(value))
            (void)snprintf(at, sizeof at, "%s[%d]", path, i++);
        else if (is_closed(child->string))
            continue;
        else
            (void)snprintf(at, sizeof at, "%s%s%s", path, path[0] != '\0' ? "." : "",
                           child->string);
        add_places(w, child, at);
    }
}

uint32_t drawn_places(const struct drawn *d, struct place places[DRAWN_PLACES]) {
    struct walk w = {.places = places};
    add_places(&w, d->file, "");
    return w.count;
}

/* ---- mistakes ---- */

static char in_other_case(char c) {
    return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

void drawn_misspell(struct drawn *d, const char *word, char *ret, size_t size) {
    const int n = (int)strlen(word);
    assert_true(n >= 4); /* no name is near a shorter one */
    do {
        const int at = (int)drawn_below(d, (uint32_t)n - 1);
        switch (drawn_below(d, 4)) {
        case 0: /* a letter less */
            (void)snprintf(ret, size, "%.*s%s", at, word, word + at + 1);
            break;
        case 1: /* twice */
            (void)snprintf(ret, size, "%.*s%s", at + 1, word, word + at);
            break;
        case 2: /* two swapped */
            (void)snprintf(ret, size, "%.*s%c%c%s", at, word, word[at + 1], word[at],
                           word + at + 2);
            break;
        default:
            (void)snprintf(ret, size, "%.*s%c%s", at, word, in_other_case(word[at]), word + at + 1);
        }
    } while (strcmp(word, ret) == 0);
}

void drawn_want(struct drawn *d, enum finding_code code, const char *remedy, const char *path,
                ...) {
    assert_in_range(d->count, 0, DRAWN_WANTED - 1);
    struct wanted *w = &d->wanted[d->count++];
    va_list args;
    va_start(args, path);
    (void)vsnprintf(w->path, sizeof w->path, path, args);
    va_end(args);
    w->code = code;
    w->remedy = remedy;
}

/* ---- findings ---- */

static bool is_wanted(const struct drawn *d, const struct finding *f, bool *taken) {
    for (uint32_t i = 0; i < d->count; i++)
        if (!taken[i] && d->wanted[i].code == f->code &&
            str_eq(f->path, str_of(d->wanted[i].path)) &&
            str_has_prefix(f->remedy, str_of(d->wanted[i].remedy))) {
            taken[i] = true;
            return true;
        }
    return false;
}

static _Noreturn void complain(const struct drawn *d, const struct findings *f, const char *kind) {
    enum { PART = 900 }; /* cmocka cuts what is longer */
    CLEANUP(strbuf_done) struct strbuf text = {0};
    char *file = cJSON_PrintUnformatted(d->file);
    strbuf_appendf(&text, "%s: got\n", kind);
    for (uint32_t i = 0; i < f->count; i++) {
        strbuf_appendf(&text, "  %s ", finding_kinds[f->items[i].code].code);
        finding_say(&f->items[i], &text);
        strbuf_append_char(&text, '\n');
    }
    strbuf_append_str(&text, STR("want\n"));
    for (uint32_t i = 0; i < d->count; i++)
        strbuf_appendf(&text, "  %s %s: %s\n", finding_kinds[d->wanted[i].code].code,
                       d->wanted[i].path, d->wanted[i].remedy);
    strbuf_appendf(&text, "of %s\n", file);
    cJSON_free(file);
    for (size_t i = 0; i < text.n; i += PART)
        print_error("%.*s", (int)(text.n - i < PART ? text.n - i : PART), text.p + i);
    strbuf_done(&text);
    _fail(__FILE__, __LINE__);
}

void drawn_check(struct drawn *d, const char *kind) {
    CLEANUP(arena_done) struct arena own;
    CLEANUP(arena_done) struct arena arena;
    struct findings f;
    bool taken[DRAWN_WANTED] = {false};
    findings_init(&f, &own);
    arena_init(&arena, 16 << 20);
    drawn_findings(d, &arena, &f);
    bool right = f.count == d->count && !arena_failed(&own);
    for (uint32_t i = 0; right && i < f.count; i++)
        right = is_wanted(d, &f.items[i], taken);
    if (!right)
        complain(d, &f, kind);
}

/*
 * What a Placement says of how good clusters are. A prioritizer once had only a `name`.
 */
#include "model/decode_placement.h"
#include "model/fields.h"

/* As it is read; only the list knows which of them it is. */
struct configuration {
    struct placement_prioritizer prioritizer;
    struct str name;
};

static void add_on_decode(struct json_reader *r, struct placement_prioritizer *p) {
    bool resource = false, score = false;
    struct str key;
    if (!json_object(r))
        return;
    p->has_add_on = true;
    while (json_member(r, &key)) {
        const bool given = json_peek(r) != JSON_NULL;
        if (str_eq(key, STR("resourceName"))) {
            resource = given;
            p->resource = json_string(r);
        } else if (str_eq(key, STR("scoreName"))) {
            score = given;
            p->score = json_string(r);
        }
    }
    if (!resource)
        json_fail(r, "resourceName is required");
    if (!score)
        json_fail(r, "scoreName is required");
}

static enum prioritizer_type type_decode(struct json_reader *r) {
    static const char *const types[] = {"BuiltIn", "AddOn", ""};
    enum { TYPES = sizeof types / sizeof types[0], ADD_ON = 1 };
    return json_word(r, types, TYPES, TYPES) == ADD_ON ? PRIORITIZER_ADD_ON : PRIORITIZER_BUILT_IN;
}

static void coordinate_decode(struct json_reader *r, struct placement_prioritizer *p) {
    struct str key;
    if (!json_object(r))
        return;
    p->has_coordinate = true;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("type")))
            p->type = type_decode(r);
        else if (str_eq(key, STR("builtIn")))
            p->built_in = json_string(r);
        else if (str_eq(key, STR("addOn")))
            add_on_decode(r, p);
    }
}

static void configuration_decode(struct json_reader *r, void *into) {
    enum { MOST = 10 };
    struct configuration *c = into;
    struct str key;
    c->prioritizer.weight = 1;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("scoreCoordinate")))
            coordinate_decode(r, &c->prioritizer);
        else if (str_eq(key, STR("name")))
            c->name = json_string(r);
        else if (str_eq(key, STR("weight")))
            c->prioritizer.weight = json_null(r) ? 1 : (int32_t)json_integer(r, -MOST, MOST);
    }
}

static void warn(struct json_reader *r, struct placement_warnings *w, struct str sentence) {
    struct str *items = arena_push(r->arena, w->items, w->count, &w->cap, sizeof *items);
    if (items == NULL)
        return; /* the arena says so */
    w->items = items;
    items[w->count++] = sentence;
}

/* The old name counts where the new form says nothing. */
static void use_name(struct json_reader *r, uint32_t index, struct configuration *c,
                     struct placement_warnings *w) {
    static const char text[] = "spec.prioritizerPolicy.configurations[%u].name is deprecated: use "
                               "scoreCoordinate.builtIn";
    struct placement_prioritizer *p = &c->prioritizer;
    const struct str sentence = arena_printf(r->arena, text, index);
    if (p->type == PRIORITIZER_BUILT_IN && str_empty(p->built_in)) {
        p->has_coordinate = true;
        p->built_in = c->name;
        warn(r, w, sentence);
    } else {
        warn(r, w,
             arena_printf(r->arena, "%.*s; '%.*s' is not used", STR_ARG(sentence),
                          STR_ARG(c->name)));
    }
}

static void configurations_decode(struct json_reader *r, struct placement *p,
                                  struct placement_warnings *w) {
    uint32_t count;
    struct configuration *read =
        json_array_of(r, sizeof *read, UINT32_MAX, configuration_decode, &count);
    struct placement_prioritizer *items = arena_array(r->arena, count, sizeof *items);
    w->count = p->prioritizer_count = 0; /* of a member that stood before it twice */
    if (read == NULL || items == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (!str_empty(read[i].name))
            use_name(r, i, &read[i], w);
        items[i] = read[i].prioritizer;
    }
    p->prioritizers = items;
    p->prioritizer_count = count;
}

void placement_prioritizers_decode(struct json_reader *r, struct placement *p,
                                   struct placement_warnings *w) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("mode")))
            p->mode = json_string(r);
        else if (str_eq(key, STR("configurations")))
            configurations_decode(r, p, w);
    }
}

/*
 * Decodes a Placement's prioritizers. Formerly a prioritizer had only a `name`.
 */
#include "model/decode_placement.h"
#include "model/fields.h"

/* One configuration, while it is read. Its index is known only to the function that reads the list.
 */
struct configuration {
    struct placement_prioritizer prioritizer;
    struct str name;
};

/* scoreCoordinate.addOn, while it is read. */
struct read_add_on {
    struct str resource, score;
    bool has_resource, has_score;
};

static const struct json_field add_on_fields[] = {
    JSON_TEXT_GIVEN("resourceName", struct read_add_on, resource, has_resource),
    JSON_TEXT_GIVEN("scoreName", struct read_add_on, score, has_score),
};

static void add_on_read(struct json_reader *r, void *into) {
    struct placement_prioritizer *p = into;
    struct read_add_on read = {.has_resource = false};
    if (json_null(r))
        return;
    json_fields(r, &JSON_ROWS(add_on_fields), &read);
    p->has_add_on = true;
    p->resource = read.resource;
    p->score = read.score;
    if (!read.has_resource)
        json_fail(r, "resourceName is required");
    if (!read.has_score)
        json_fail(r, "scoreName is required");
}

static void type_read(struct json_reader *r, void *into) {
    static const char *const types[] = {"BuiltIn", "AddOn", ""};
    enum { TYPES = sizeof types / sizeof types[0], ADD_ON = 1 };
    struct placement_prioritizer *p = into;
    p->type =
        json_word(r, types, TYPES, TYPES) == ADD_ON ? PRIORITIZER_ADD_ON : PRIORITIZER_BUILT_IN;
}

static const struct json_field coordinate_fields[] = {
    JSON_CALL_WHOLE("type", type_read),
    JSON_TEXT("builtIn", struct placement_prioritizer, built_in),
    JSON_CALL_WHOLE("addOn", add_on_read),
};

static void coordinate_read(struct json_reader *r, void *into) {
    struct placement_prioritizer *p = into;
    p->has_coordinate = p->has_coordinate || json_peek(r) == JSON_OBJECT;
    json_fields(r, &JSON_ROWS(coordinate_fields), p);
}

enum { WEIGHT_MOST = 10 };
static const struct json_field configuration_fields[] = {
    JSON_CALL("scoreCoordinate", struct configuration, prioritizer, coordinate_read),
    JSON_TEXT("name", struct configuration, name),
    JSON_INTEGER("weight", struct configuration, prioritizer.weight, -WEIGHT_MOST, WEIGHT_MOST,
                 .absent = 1),
};

static void warn(struct json_reader *r, struct placement_warnings *w, struct str sentence) {
    struct str *items = arena_push(r->arena, w->items, w->count, &w->cap, sizeof *items);
    if (items == NULL)
        return; /* the arena has failed */
    w->items = items;
    items[w->count++] = sentence;
}

/* Uses the old `name` if scoreCoordinate.builtIn is not given. Adds a warning in both cases. */
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

static void configuration_read(struct json_reader *r, void *into) {
    struct configuration *c = into;
    c->prioritizer.weight = 1;
    json_fields(r, &JSON_ROWS(configuration_fields), c);
}

/* A policy, while it is read. */
struct read_policy {
    struct placement *placement;
    struct placement_warnings *warnings;
    struct str mode;
};

static void configurations_read(struct json_reader *r, void *into) {
    const struct read_policy *policy = into;
    struct placement *p = policy->placement;
    uint32_t count;
    struct configuration *read =
        json_array_of(r, sizeof *read, UINT32_MAX, configuration_read, &count);
    struct placement_prioritizer *items = arena_array(r->arena, count, sizeof *items);
    policy->warnings->count = p->prioritizer_count = 0; /* forget the values of an earlier member
                                                           with the same name */
    if (read == NULL || items == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (!str_empty(read[i].name))
            use_name(r, i, &read[i], policy->warnings);
        items[i] = read[i].prioritizer;
    }
    p->prioritizers = items;
    p->prioritizer_count = count;
}

static const struct json_field policy_fields[] = {
    JSON_TEXT("mode", struct read_policy, mode),
    JSON_CALL_WHOLE("configurations", configurations_read),
};

void placement_prioritizers_decode(struct json_reader *r, struct placement *p,
                                   struct placement_warnings *w) {
    struct read_policy read = {.placement = p, .warnings = w, .mode = p->mode};
    json_fields(r, &JSON_ROWS(policy_fields), &read);
    p->mode = read.mode;
}

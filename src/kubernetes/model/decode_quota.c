#include "model/quota.h"

#include "model/quantity.h"

#include <stdlib.h>

/* ---- scopes ---- */

struct scopes {
    struct quota_scope *items; /* in the arena */
    uint32_t count, cap;
};

static struct quota_scope *add_scope(struct json_reader *r, struct scopes *scopes) {
    struct quota_scope *items =
        arena_push(r->arena, scopes->items, scopes->count, &scopes->cap, sizeof *items);
    if (items == NULL)
        return NULL; /* the arena has failed */
    scopes->items = items;
    items[scopes->count] = (struct quota_scope){.name = {0}};
    return &items[scopes->count++];
}

static void names_decode(struct json_reader *r, struct scopes *scopes) {
    if (!json_array(r))
        return;
    while (json_element(r)) {
        const struct str name = json_string(r);
        struct quota_scope *scope = add_scope(r, scopes);
        if (scope == NULL)
            return;
        scope->name = name;
        scope->op = STR("Exists");
    }
}

static void expression_decode(struct json_reader *r, struct scopes *scopes) {
    struct quota_scope *scope = add_scope(r, scopes);
    struct str key;
    if (scope == NULL || !json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("scopeName")))
            scope->name = json_string(r);
        else if (str_eq(key, STR("operator")))
            scope->op = json_string(r);
        else if (str_eq(key, STR("values")))
            scope->values = json_string_array(r, UINT32_MAX, &scope->value_count);
    }
}

static void selector_decode(struct json_reader *r, struct scopes *scopes) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("matchExpressions"))) {
            if (json_array(r))
                while (json_element(r))
                    expression_decode(r, scopes);
        }
    }
}

static void spec_decode(struct json_reader *r, struct quota *quota) {
    struct scopes names = {0}, selected = {0};
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("scopes")))
            names_decode(r, &names);
        else if (str_eq(key, STR("scopeSelector")))
            selector_decode(r, &selected);
    }
    for (uint32_t i = 0; i < selected.count; i++) {
        struct quota_scope *scope = add_scope(r, &names);
        if (scope == NULL)
            return;
        *scope = selected.items[i];
    }
    quota->scopes = names.items;
    quota->scope_count = names.count;
}

/* ---- amounts ---- */

/* One amount, while it is read. */
struct read_amount {
    struct quota_amount amount;
    uint32_t place;
};
struct read_amounts {
    struct read_amount *items; /* in the arena */
    uint32_t count, cap;
};

static void amounts_decode(struct json_reader *r, bool hard, struct read_amounts *all) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct read_amount *items =
            arena_push(r->arena, all->items, all->count, &all->cap, sizeof *items);
        if (items == NULL)
            return; /* the arena has failed */
        all->items = items;
        const __int128 nano = quantity_decode_nano(r);
        items[all->count] = (struct read_amount){.amount = {.name = key,
                                                            .hard = hard ? nano : 0,
                                                            .used = hard ? 0 : nano,
                                                            .has_hard = hard,
                                                            .has_used = !hard},
                                                 .place = all->count};
        all->count++;
    }
}

static void status_decode(struct json_reader *r, struct read_amounts *all) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("hard")))
            amounts_decode(r, true, all);
        else if (str_eq(key, STR("used")))
            amounts_decode(r, false, all);
    }
}

static int by_name(const void *a, const void *b) {
    const struct read_amount *left = a, *right = b;
    const int order = str_cmp(left->amount.name, right->amount.name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts the amounts by name; of duplicates the last counts. */
static void gather(struct json_reader *r, const struct read_amounts *all, struct quota *quota) {
    struct quota_amount *amounts = arena_array(r->arena, all->count, sizeof *amounts);
    uint32_t count = 0;
    if (amounts == NULL)
        return; /* the arena has failed */
    if (!steps_take_sort(&r->arena->steps, all->count)) {
        json_fail(r, "too many resources");
        return;
    }
    if (all->count > 1)
        qsort(all->items, all->count, sizeof *all->items, by_name);
    for (uint32_t i = 0; i < all->count; i++) {
        const struct quota_amount *from = &all->items[i].amount;
        if (count == 0 || !str_eq(amounts[count - 1].name, from->name))
            amounts[count++].name = from->name;
        struct quota_amount *to = &amounts[count - 1];
        to->hard = from->has_hard ? from->hard : to->hard;
        to->used = from->has_used ? from->used : to->used;
        to->has_hard = to->has_hard || from->has_hard;
        to->has_used = to->has_used || from->has_used;
    }
    quota->amounts = amounts;
    quota->amount_count = count;
}

void quota_decode(struct json_reader *r, struct quota *ret) {
    struct read_amounts all = {0};
    struct str key;
    *ret = (struct quota){.scopes = NULL};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, ret);
        else if (str_eq(key, STR("status")))
            status_decode(r, &all);
    }
    gather(r, &all, ret);
}

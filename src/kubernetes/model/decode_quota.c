#include "model/quota.h"

#include "model/fields.h"

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

static void names_read(struct json_reader *r, void *into) {
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct quota_scope *scope = add_scope(r, into);
        if (scope == NULL)
            return;
        *scope = (struct quota_scope){.name = json_string(r), .op = STR("Exists")};
    }
}

static const struct json_field expression_fields[] = {
    JSON_TEXT("scopeName", struct quota_scope, name),
    JSON_TEXT("operator", struct quota_scope, op),
    JSON_TEXTS("values", struct quota_scope, values, value_count, UINT32_MAX),
};

static void expressions_read(struct json_reader *r, void *into) {
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct quota_scope *scope = add_scope(r, into);
        if (scope == NULL)
            return;
        json_fields(r, &JSON_ROWS(expression_fields), scope);
    }
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

static void hard_read(struct json_reader *r, void *into) {
    amounts_decode(r, true, into);
}

static void used_read(struct json_reader *r, void *into) {
    amounts_decode(r, false, into);
}

static int by_name(const void *a, const void *b) {
    const struct read_amount *left = a, *right = b;
    const int order = str_cmp(left->amount.name, right->amount.name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts the amounts by name; of equal names the last amount counts. */
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

/* ---- the object ---- */

/* A ResourceQuota, while it is read. */
struct read_quota {
    struct quota quota;
    struct scopes names, selected;
    struct read_amounts amounts;
};

static const struct json_field selector_fields[] = {
    JSON_CALL("matchExpressions", struct read_quota, selected, expressions_read),
};
static const struct json_field spec_fields[] = {
    JSON_CALL("scopes", struct read_quota, names, names_read),
    JSON_WITHIN("scopeSelector", selector_fields),
};

/* A second spec replaces the scopes of the first. */
static void spec_read(struct json_reader *r, void *into) {
    struct read_quota *read = into;
    if (json_peek(r) == JSON_OBJECT)
        read->names = read->selected = (struct scopes){0};
    json_fields(r, &JSON_ROWS(spec_fields), read);
}

static const struct json_field status_fields[] = {
    JSON_CALL("hard", struct read_quota, amounts, hard_read),
    JSON_CALL("used", struct read_quota, amounts, used_read),
};
static const struct json_field quota_fields[] = {
    JSON_CALL("metadata", struct read_quota, quota.meta, meta_read),
    JSON_CALL_WHOLE("spec", spec_read),
    JSON_WITHIN("status", status_fields),
};

void quota_decode(struct json_reader *r, struct quota *ret) {
    struct read_quota read = {.quota = {.scopes = NULL}};
    json_fields(r, &JSON_ROWS(quota_fields), &read);
    *ret = read.quota;
    for (uint32_t i = 0; i < read.selected.count; i++) {
        struct quota_scope *scope = add_scope(r, &read.names);
        if (scope == NULL)
            return;
        *scope = read.selected.items[i];
    }
    ret->scopes = read.names.items;
    ret->scope_count = read.names.count;
    gather(r, &read.amounts, ret);
}

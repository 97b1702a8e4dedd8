#include "unit/json_agrees.h"

#include "unit/unit.h"

#include <cjson/cJSON.h>
#include <regex.h>
#include <stdio.h>

struct place {
    const struct place *above;
    const char *key; /* NULL: an item of a list */
    int index;
};

static bool agrees(const cJSON *got, const cJSON *want, const struct place *at, bool quiet);

static void print_place(const struct place *at) {
    if (at == NULL)
        return;
    print_place(at->above);
    if (at->key != NULL)
        print_error(".%s", at->key);
    else
        print_error("[%d]", at->index);
}

static bool differ(const cJSON *got, const cJSON *want, const struct place *at, bool quiet) {
    if (quiet)
        return false;
    char *left = got == NULL ? NULL : cJSON_PrintUnformatted(got);
    char *right = cJSON_PrintUnformatted(want);
    print_error("answer");
    print_place(at);
    print_error(": got %s, expected %s\n", left != NULL ? left : "nothing", right);
    cJSON_free(left);
    cJSON_free(right);
    return false;
}

/* Some item of a list, or the value itself. */
static bool one_agrees(const cJSON *list, const cJSON *want) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) if (agrees(item, want, NULL, true)) return true;
    return false;
}

static bool any_of(const cJSON *got, const cJSON *wants) {
    const cJSON *want;
    cJSON_ArrayForEach(want, wants) if (agrees(got, want, NULL, true)) return true;
    return false;
}

/* Every text is part of some item. */
static bool has_texts(const cJSON *list, const cJSON *texts) {
    const cJSON *text, *item;
    cJSON_ArrayForEach(text, texts) {
        bool found = false;
        cJSON_ArrayForEach(item, list) found =
            found || (cJSON_IsString(item) && strstr(item->valuestring, text->valuestring) != NULL);
        if (!found)
            return false;
    }
    return true;
}

static bool is_set(const cJSON *list, const cJSON *wants) {
    const cJSON *want;
    cJSON_ArrayForEach(want, wants) if (!one_agrees(list, want)) return false;
    return cJSON_GetArraySize(list) == cJSON_GetArraySize(wants);
}

static bool matches(const cJSON *got, const char *pattern) {
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    const bool found = cJSON_IsString(got) && regexec(&regex, got->valuestring, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

/* An operand has a name that the value has not. */
static bool same(const cJSON *got, const cJSON *want) {
    cJSON *copy = cJSON_Duplicate(want, true);
    assert_non_null(copy);
    const bool good = cJSON_Compare(got, copy, true);
    cJSON_Delete(copy);
    return good;
}

static bool operator_holds(const cJSON *got, const cJSON *op) {
    if (strcmp(op->string, "$absent") == 0)
        return got == NULL;
    if (strcmp(op->string, "$not") == 0)
        return !agrees(got, op, NULL, true);
    if (strcmp(op->string, "$any") == 0)
        return any_of(got, op);
    if (strcmp(op->string, "$has") == 0)
        return has_texts(got, op);
    if (strcmp(op->string, "$is") == 0)
        return got != NULL && same(got, op);
    if (strcmp(op->string, "$set") == 0)
        return is_set(got, op);
    if (strcmp(op->string, "$text") == 0)
        return matches(got, op->valuestring);
    fail_msg("unknown operator %s", op->string);
    return false;
}

static bool members_agree(const cJSON *got, const cJSON *want, const struct place *at, bool quiet) {
    const cJSON *member;
    bool good = true;
    cJSON_ArrayForEach(member, want) {
        const struct place here = {at, member->string, 0};
        good =
            agrees(cJSON_GetObjectItemCaseSensitive(got, member->string), member, &here, quiet) &&
            good;
    }
    return good;
}

static bool items_agree(const cJSON *got, const cJSON *want, const struct place *at, bool quiet) {
    if (cJSON_GetArraySize(got) != cJSON_GetArraySize(want))
        return differ(got, want, at, quiet);
    bool good = true;
    for (int i = 0; i < cJSON_GetArraySize(want); i++) {
        const struct place here = {at, NULL, i};
        good =
            agrees(cJSON_GetArrayItem(got, i), cJSON_GetArrayItem(want, i), &here, quiet) && good;
    }
    return good;
}

static bool agrees(const cJSON *got, const cJSON *want, const struct place *at, bool quiet) {
    if (cJSON_IsObject(want) && want->child != NULL && want->child->string[0] == '$')
        return operator_holds(got, want->child) || differ(got, want, at, quiet);
    if (cJSON_IsObject(want) && cJSON_IsObject(got))
        return members_agree(got, want, at, quiet);
    if (cJSON_IsArray(want) && cJSON_IsArray(got))
        return items_agree(got, want, at, quiet);
    return (got != NULL && cJSON_Compare(got, want, true)) || differ(got, want, at, quiet);
}

bool json_agrees(struct str json, struct str expected) {
    cJSON *got = cJSON_ParseWithLength(json.p, json.n);
    cJSON *want = cJSON_ParseWithLength(expected.p, expected.n);
    assert_non_null(want);
    if (got == NULL)
        print_error("no JSON: %.*s\n", (int)json.n, json.p);
    const bool good = got != NULL && agrees(got, want, NULL, false);
    cJSON_Delete(got);
    cJSON_Delete(want);
    return good;
}

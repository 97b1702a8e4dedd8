/*
 * Asks single functions of the room model: a question a line on standard input, its answer on a
 * line of standard output. The Go test beside this folder builds and drives it.
 *
 * A question is an operation and its arguments, separated by tabs; arguments are written in
 * hexadecimal, so that they can be any bytes:
 *
 *     label-selector  LABELSELECTOR LABELS      -> true | false | error     does it select?
 *     selector        TEXT LABELS               -> true | false | error
 *     same-selector   TEXT TEXT                 -> true | false | error     letter by letter?
 *     node-affinity   PODSPEC NAME LABELS       -> true | false | error     is the node allowed?
 *     tolerations     TOLERATIONS TAINTS        -> true | false | error     none keeps pods off?
 *     toleration      TOLERATIONS TAINTS        -> true | false | error     the first of each
 *     quantity        TEXT                      -> VALUE MILLIVALUE TEXT | error
 *     quantity-json   JSON                      -> the same
 *     compare         TEXT TEXT                 -> -1 | 0 | 1 | error       two quantities
 *
 * Words in capitals are JSON but for TEXT and NAME. "error": an argument is refused.
 */
#include "model/affinity.h"
#include "model/quantity.h"
#include "model/taint.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIELDS_MAX = 3 };

struct question {
    struct str fields[FIELDS_MAX];
    struct arena arena; /* for this question alone */
    struct strbuf out;
};

static void answer(struct question *q, bool refused, bool yes) {
    strbuf_append_str(&q->out, refused ? STR("error") : yes ? STR("true") : STR("false"));
}

static struct json_reader reader(struct question *q, uint32_t field) {
    struct json_reader r;
    json_reader_init(&r, q->fields[field], &q->arena, "question");
    return r;
}

static bool read_labels(struct question *q, uint32_t field, struct labels *ret) {
    struct json_reader r = reader(q, field);
    *ret = labels_decode(&r);
    return json_finish(&r, NULL) == 0;
}

/* ---- selectors ---- */

static void ask_label_selector(struct question *q) {
    struct json_reader r = reader(q, 0);
    struct label_selector decoded = label_selector_decode(&r);
    struct selector selector;
    struct labels labels;
    bool good = json_finish(&r, NULL) == 0 && read_labels(q, 1, &labels) &&
                selector_compile(&decoded, (struct labels){0}, &q->arena, &selector, NULL) == 0;
    answer(q, !good, good && selector_matches(&selector, labels_lookup, &labels));
}

static void ask_selector(struct question *q) {
    struct selector selector;
    struct labels labels;
    bool good =
        read_labels(q, 1, &labels) && selector_parse(q->fields[0], &q->arena, &selector, NULL) == 0;
    answer(q, !good, good && selector_matches(&selector, labels_lookup, &labels));
}

static void ask_same_selector(struct question *q) {
    struct selector one, two;
    struct strbuf one_key = {0}, two_key = {0};
    bool good = selector_parse(q->fields[0], &q->arena, &one, NULL) == 0 &&
                selector_parse(q->fields[1], &q->arena, &two, NULL) == 0;
    if (good) {
        selector_key(&one, &one_key);
        selector_key(&two, &two_key);
    }
    answer(q, !good, str_eq(strbuf_str(&one_key), strbuf_str(&two_key)));
    strbuf_done(&one_key);
    strbuf_done(&two_key);
}

/* ---- nodes ---- */

static void ask_node_affinity(struct question *q) {
    struct json_reader r = reader(q, 0);
    struct node_affinity affinity = {0};
    struct labels labels;
    struct str key;
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("nodeSelector")))
                affinity.node_selector = labels_decode(&r);
            else if (str_eq(key, STR("affinity")))
                affinity_decode(&r, &affinity);
            else
                (void)json_skip(&r); /* errors stay in r */
        }
    bool good = json_finish(&r, NULL) == 0 && read_labels(q, 2, &labels);
    answer(q, !good,
           good && node_affinity_matches(&affinity, q->fields[1], labels_lookup, &labels));
}

/* `first`: whether the first toleration tolerates the first taint, whatever its effect. */
static void tolerate(struct question *q, bool first) {
    struct json_reader r = reader(q, 0);
    struct tolerations tolerations = tolerations_decode(&r);
    bool good = json_finish(&r, NULL) == 0;
    uint32_t count;
    r = reader(q, 1);
    const struct taint *taints = taints_decode(&r, &count);
    good = good && json_finish(&r, NULL) == 0;
    if (!first)
        answer(q, !good, good && taints_tolerated(taints, count, tolerations));
    else if (good && tolerations.count > 0 && count > 0)
        answer(q, false, toleration_tolerates(&tolerations.items[0], &taints[0]));
    else
        answer(q, true, false);
}

static void ask_tolerations(struct question *q) {
    tolerate(q, false);
}

static void ask_toleration(struct question *q) {
    tolerate(q, true);
}

/* ---- quantities ---- */

static void put_quantity(struct question *q, bool good, const struct quantity *quantity,
                         struct str text) {
    if (!good) {
        answer(q, true, false);
        return;
    }
    strbuf_appendf(&q->out, "%lld %lld ", (long long)quantity_value(quantity),
                   (long long)quantity_milli_value(quantity));
    if (quantity->as_typed)
        strbuf_append_str(&q->out, text);
    else
        quantity_format(quantity, &q->out);
}

static void ask_quantity(struct question *q) {
    struct quantity quantity;
    bool good = quantity_parse(q->fields[0], &quantity, NULL) == 0;
    put_quantity(q, good, &quantity, q->fields[0]);
}

static void ask_quantity_json(struct question *q) {
    struct json_reader r = reader(q, 0);
    struct str text;
    struct quantity quantity = quantity_decode(&r, &text);
    put_quantity(q, json_finish(&r, NULL) == 0, &quantity, text);
}

static void ask_compare(struct question *q) {
    struct quantity one, two;
    if (quantity_parse(q->fields[0], &one, NULL) != 0 ||
        quantity_parse(q->fields[1], &two, NULL) != 0)
        answer(q, true, false);
    else
        strbuf_appendf(&q->out, "%d", (one.nano > two.nano) - (one.nano < two.nano));
}

/* ---- lines ---- */

static const struct operation {
    struct str name;
    uint32_t fields;
    void (*ask)(struct question *q);
} operations[] = {
    {{"label-selector", 14}, 2, ask_label_selector},
    {{"selector", 8}, 2, ask_selector},
    {{"same-selector", 13}, 2, ask_same_selector},
    {{"node-affinity", 13}, 3, ask_node_affinity},
    {{"tolerations", 11}, 2, ask_tolerations},
    {{"toleration", 10}, 2, ask_toleration},
    {{"quantity", 8}, 1, ask_quantity},
    {{"quantity-json", 13}, 1, ask_quantity_json},
    {{"compare", 7}, 2, ask_compare},
};

/* Cuts off what stands before the next tab. */
static struct str take_field(struct str *rest) {
    size_t tab = str_find(*rest, '\t');
    size_t n = tab == SIZE_MAX ? rest->n : tab, used = tab == SIZE_MAX ? n : n + 1;
    struct str field = {rest->p, n};
    *rest = (struct str){rest->p + used, rest->n - used};
    return field;
}

static bool from_hex(struct str hex, struct arena *arena, struct str *ret) {
    char *bytes = arena_alloc(arena, hex.n / 2 + 1);
    if (bytes == NULL || hex.n % 2 != 0)
        return false;
    for (size_t i = 0; i < hex.n / 2; i++) {
        char pair[3] = {hex.p[2 * i], hex.p[2 * i + 1], '\0'}, *end;
        bytes[i] = (char)strtol(pair, &end, 16);
        if (end != pair + 2)
            return false;
    }
    *ret = (struct str){bytes, hex.n / 2};
    return true;
}

static bool ask(struct question *q, struct str line) {
    struct str name = take_field(&line);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const struct operation *operation = &operations[i];
        if (!str_eq(name, operation->name))
            continue;
        for (uint32_t field = 0; field < operation->fields; field++)
            if (!from_hex(take_field(&line), &q->arena, &q->fields[field]))
                return false;
        if (line.n > 0)
            return false;
        operation->ask(q);
        strbuf_append_char(&q->out, '\n');
        return !strbuf_failed(&q->out);
    }
    return false;
}

int main(void) {
    struct question q = {.out = {.max = 1 << 20}};
    char *line = NULL;
    size_t cap = 0, number = 0;
    ssize_t n;
    bool good = true;
    arena_init(&q.arena, 16u << 20);
    while (good && (n = getline(&line, &cap, stdin)) > 0) {
        number++;
        struct str text = {line, (size_t)n - (line[n - 1] == '\n')};
        good = ask(&q, text) && fwrite(q.out.p, 1, q.out.n, stdout) == q.out.n;
        if (!good)
            (void)fprintf(stderr, "primitives: cannot answer line %zu\n", number);
        strbuf_clear(&q.out);
        arena_reset(&q.arena);
    }
    free(line);
    strbuf_done(&q.out);
    arena_done(&q.arena);
    return good && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * Any text as a configuration file: of Evenkeel, and of the kube-scheduler that is to call it. What
 * is accepted must keep to the ranges that the engine relies on; what is refused must say why, with
 * a line that the text has; findings must print as a table and as JSON that can be read again.
 */
#include "base/json_reader.h"
#include "check/scheduler.h"
#include "config/configuration.h"
#include "fuzz/fuzz.h"

struct problems {
    uint32_t count, lines;
};

static void on_problem(void *ctx, const struct configuration_problem *p) {
    struct problems *problems = ctx;
    problems->count++;
    require(p->text[0] != '\0' && p->line <= problems->lines);
}

static void check_rules(const struct engine_options *o) {
    for (uint32_t i = 0; i < o->ordered_rule_count; i++) {
        const struct ordered_rule *rule = &o->ordered_rules[i];
        require(rule->term_count >= 1 && rule->term_count <= ENGINE_MAX_ORDERED_TERMS);
        require(rule->name.n > 0 && !rule->pods.nothing);
        for (uint32_t t = 0; t < rule->term_count; t++)
            require(rule->terms[t].max_skew >= 1 && label_key_valid(rule->terms[t].topology_key));
    }
    for (uint32_t i = 0; i < o->default_constraint_count; i++) {
        const struct spread_constraint *c = &o->default_constraints[i];
        require(c->max_skew >= 1 && c->min_domains >= 1 && !c->selector.present);
        require(label_key_valid(c->topology_key));
    }
}

static void read_configuration(const uint8_t *bytes, size_t n) {
    struct configuration c;
    struct err err = {0};
    struct problems problems = {.lines = 1};
    const char *path = as_file(bytes, n);
    for (size_t i = 0; i < n; i++) /* YAML's other line breaks are CR, NEL, LS and PS */
        problems.lines += bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == 0x85 ||
                          bytes[i] == 0xa8 || bytes[i] == 0xa9;
    configuration_init(&c);
    int r = configuration_read_all(&c, path, on_problem, &problems, &err);
    require(r == 0 ? problems.count == 0 : err.code == r && err.text[0] != '\0');
    if (r == 0) {
        require(c.cache.max_counters >= 128);
        require(c.extender.limits.connections > 0 && c.state.poll_ms > 0);
        check_rules(&c.engine);
        (void)configuration_check(&c, &err); /* must only not crash */
    }
    configuration_done(&c);
    configuration_init(&c);
    require((configuration_read(&c, path, &err) == 0) == (r == 0));
    configuration_done(&c);
}

static void check_scheduler(struct str text) {
    struct arena arena;
    struct check_report f;
    struct json_reader reader;
    struct scheduler_check which = {.index = -1};
    struct strbuf out = {.max = 64u << 20};
    arena_init(&arena, 64u << 20);
    check_report_init(&f, &arena);
    scheduler_check(text, &which, &f);
    bool printed = check_report_print(&f, "file", &out);
    require(printed || arena_failed(&arena) || strbuf_failed(&out));
    strbuf_clear(&out);
    if (check_report_print_json(&f, "file", &out)) {
        json_reader_init(&reader, strbuf_str(&out), &arena, "findings");
        (void)json_skip(&reader); /* json_finish() tells */
        require(json_finish(&reader, NULL) == 0);
    }
    strbuf_done(&out);
    arena_done(&arena);
}

static int try_input(const uint8_t *bytes, size_t n) {
    read_configuration(bytes, n);
    check_scheduler((struct str){(const char *)bytes, n});
    return 0;
}

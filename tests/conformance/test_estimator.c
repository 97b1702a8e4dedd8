/*
 * The estimator's service against what Karmada's own estimator answered
 * (data/karmada/accurate_estimator.jsonl): nodes and pods become a member's state files, the
 * recorded requests are handed to the methods as they are, the responses must be the recorded
 * bytes.
 */
#include "base/file.h"
#include "handlers/estimator.h"

#include "unit/estimator/wire_bytes.h"

#include <cjson/cJSON.h>
#include <unistd.h>

#define DATA "tests/conformance/data/karmada/accurate_estimator.jsonl"

enum { REPLICAS, SETS };

static void append_list(struct strbuf *out, const char *kind, const cJSON *items) {
    char *text = cJSON_IsArray(items) ? cJSON_PrintUnformatted(items) : NULL;
    strbuf_appendf(out, "---\n{\"apiVersion\": \"v1\", \"kind\": \"%s\", \"items\": %s}\n", kind,
                   text != NULL ? text : "[]");
    cJSON_free(text);
}

static struct members *load_member(const cJSON *recorded) {
    static const char path[] = "/tmp/evenkeel-estimator-cases.yaml";
    static const char *const paths[] = {path}, *const sources[] = {"fake"};
    CLEANUP(strbuf_done) struct strbuf state = {0};
    struct members *m = NULL;
    struct err err = {0};
    append_list(&state, "NodeList", cJSON_GetObjectItem(recorded, "nodes"));
    append_list(&state, "PodList", cJSON_GetObjectItem(recorded, "pods"));
    assert_int_equal(file_write_atomic(path, strbuf_str(&state), 0600, NULL), 0);
    assert_int_equal(members_new(sources, 1, 0, &m, &err), 0);
    if (informer_load(members_of_files(m), paths, 1, &err) != 0)
        fail_msg("%s", err.text);
    (void)unlink(path); /* a file of the test */
    return m;
}

static void ask(struct members *m, int method, const char *hex, const char *want, int line) {
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    struct estimator e = {.members = m};
    const struct grpc_service service = estimator_service(&e);
    struct grpc_response response = {.message = {.max = 64}};
    arena_init(&arena, 64u << 20);
    hex_append(hex, &bytes);
    const struct grpc_request request = {.message = strbuf_str(&bytes), .arena = &arena};
    service.methods[method].handle(service.ctx, &request, &response);
    if (response.status != GRPC_OK)
        fail_msg("line %d: %s", line, response.err.text);
    assert_hex(strbuf_str(&response.message), want);
    strbuf_done(&response.message);
}

static const char *text_of(const cJSON *recorded, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(recorded, key));
}

static void compare(const cJSON *recorded, int line) {
    struct members *m = load_member(recorded);
    const int sets = cJSON_GetObjectItem(recorded, "sets")->valueint;
    assert_string_equal(text_of(recorded, "err"), "");
    ask(m, REPLICAS, text_of(recorded, "wire"), text_of(recorded, "respWire"), line);
    hex_reset();
    ask(m, SETS, text_of(recorded, "componentsWire"), sets > 0 ? hex_number(1, sets) : "", line);
    members_free(m);
}

static void recorded_answers(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 16u << 20};
    struct err err;
    char *next = NULL;
    int lines = 0;
    (void)state;
    if (file_read(DATA, 16u << 20, &text, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    strbuf_append_char(&text, '\0');
    for (char *line = strtok_r(text.p, "\n", &next); line != NULL;
         line = strtok_r(NULL, "\n", &next)) {
        cJSON *recorded = cJSON_Parse(line);
        assert_non_null(recorded);
        compare(recorded, ++lines);
        cJSON_Delete(recorded);
    }
    assert_int_equal(lines, 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

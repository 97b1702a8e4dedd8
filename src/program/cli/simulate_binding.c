#include "cli/simulate.h"

#include "base/json_reader.h"
#include "base/time.h"
#include "cli/binding_print.h"
#include "whatif/binding_simulation.h"

/* Prints several answers for people, each like a single answer. */
static int print_each(struct str json, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = LIMIT_ANSWER_BYTES};
    struct json_reader r;
    struct str key;
    struct err err;
    int e = 0;
    json_reader_init(&r, json, arena, "answers");
    if (json_object(&r) && json_member(&r, &key) && json_array(&r))
        while (e == 0 && json_element(&r)) {
            strbuf_append_str(&out, out.n > 0 ? STR("\n") : STR(""));
            e = answer_print(json_skip(&r), binding_print, NULL, &out, &err);
        }
    return e == 0 ? answer_put_out("simulate", &out) : simulate_fail(err.text);
}

static int print(const struct simulate_request *request, struct strbuf *json, struct arena *arena) {
    if (!request->json && str_has_prefix(strbuf_str(json), STR("{\"answers\":")))
        return print_each(strbuf_str(json), arena);
    return answer_write("simulate", json, request->json ? NULL : binding_print, NULL, "");
}

int simulate_binding(struct simulate_request *request, const struct configuration *c,
                     struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf json = {.max = LIMIT_STATE_BYTES};
    const struct binding_simulation how = {
        .sources = {.paths = request->bindings,
                    .path_count = request->binding_count,
                    .policy = request->propagation_policy,
                    .workload = request->workload,
                    .name = request->name},
        .member = str_of(request->member),
        .now_ms = request->has_now ? request->now_ms : kube_wall_us() / 1000,
    };
    struct err err;
    uint32_t findings = 0;
    if (c->state.path_count == 0) {
        (void)simulate_fail("bindings are asked of files, and of no API server: give --state FILE "
                            "or DIR");
        return 2;
    }
    if (binding_simulation_run(c, &how, arena, &json, &findings, &err) != 0)
        return simulate_fail(err.text);
    const int status = print(request, &json, arena);
    return status == 0 && request->strict && findings > 0 ? 3 : status;
}

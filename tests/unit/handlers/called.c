#include "unit/handlers/called.h"

void called_init(struct called *called) {
    cluster_open(&called->c);
    cache_write_begin(called->c.cache);
    cache_sync_begin(called->c.cache, CACHE_ALL_KINDS);
    cache_sync_end(called->c.cache, CACHE_ALL_KINDS);
    cache_write_end(called->c.cache);
    cluster_nodes(&called->c, "a b x y");
    cluster_pods(&called->c, "a:1");
    called->x = (struct extender){.cache = called->c.cache, .options = &called->c.options};
    called->response = (struct http_response){0};
    arena_init(&called->arena, 1 << 20);
}

void called_done(struct called *called) {
    strbuf_done(&called->response.text);
    arena_done(&called->arena);
    cluster_close(&called->c);
}

void call_handler(struct called *called, http_handler_fn *handle, const char *body) {
    arena_reset(&called->arena);
    strbuf_done(&called->response.text);
    called->response = (struct http_response){.text.max = 1 << 20};
    const struct http_request request = {.method = STR("POST"),
                                         .body = arena_str(&called->arena, str_of(body)),
                                         .arena = &called->arena,
                                         .client = called->client,
                                         .is_local = !called->from_elsewhere};
    handle(&called->x, &request, &called->response);
}

void call_expecting(struct called *called, http_handler_fn *handle, const char *body, int status,
                    const char *answer) {
    call_handler(called, handle, body);
    assert_str(strbuf_str(&called->response.text), answer);
    assert_int_equal(called->response.status, status);
}

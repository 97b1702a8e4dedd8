#include "handlers/ops.h"

#include "base/json_writer.h"
#include "base/version.h"

void ops_version(void *ctx, const struct http_request *request, struct http_response *response) {
    struct json_writer w = {.out = &response->text};
    (void)ctx;
    (void)request;
    json_begin_object(&w);
    json_put_member(&w, STR("version"), STR(EVENKEEL_VERSION));
    json_put_member(&w, STR("commit"), str_of(version_commit()));
    json_end_object(&w);
    http_answer_json(response, 200);
}

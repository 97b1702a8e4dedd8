#include "handlers/log_level.h"

#include "base/log.h"

static void answer(struct http_response *response) {
    http_answer_text(response, 200, "%s", log_level_names[log_level()]);
}

void log_level_get(void *ctx, const struct http_request *request, struct http_response *response) {
    if (explain_access_check(ctx, request, response))
        answer(response);
}

/* Sets the log's level. Logs the change while the more verbose of both levels is in force, so that
 * the log shows the change even if it becomes quiet. */
static void set(enum log_level level, struct str peer) {
    enum log_level before = log_level();
    if (before == level)
        return;
    log_set_level(before < level ? before : level);
    LOG_W("the log's level is changed", LOG_CSTR("from", log_level_names[before]),
          LOG_CSTR("to", log_level_names[level]), LOG_STR("peer", peer));
    log_set_level(level);
}

/* Sets the level. The body of the request is the level's name. */
void log_level_put(void *ctx, const struct http_request *request, struct http_response *response) {
    struct str wanted = str_trim(request->body);
    int level = 0;
    if (!explain_access_check(ctx, request, response))
        return;
    while (level < LOG_LEVELS && !str_eq(wanted, str_of(log_level_names[level])))
        level++;
    if (level == LOG_LEVELS) {
        http_answer_text(response, 400, "expected debug, info, warn or error as the body");
        return;
    }
    set((enum log_level)level, request->peer);
    answer(response);
}

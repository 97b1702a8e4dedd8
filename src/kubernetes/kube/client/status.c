#include "kube/client/status.h"

#include "base/json_fields.h"
#include "model/names.h"

#include <stdio.h>

static void read_cause(struct json_reader *r, struct kube_status *status) {
    static const struct json_field fields[] = {JSON_TEXT_ALONE("reason")};
    struct str reason = {0};
    json_fields(r, &JSON_ROWS(fields), &reason);
    if (str_eq(reason, STR("ResourceVersionTooLarge")))
        status->version_too_large = true;
}

static void read_details(struct json_reader *r, struct kube_status *status) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("retryAfterSeconds"))) {
            int64_t seconds = json_integer(r, 0, INT32_MAX);
            if (seconds > 0)
                status->retry_after_ms = seconds * 1000;
        } else if (str_eq(key, STR("causes"))) {
            if (json_array(r))
                while (json_element(r))
                    read_cause(r, status);
        }
    }
}

static bool read_members(struct json_reader *r, struct kube_status *status) {
    bool is_status = false;
    struct str key;
    if (!json_object(r))
        return false;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("kind")))
            is_status = str_eq(json_string(r), STR(STATUS_KIND));
        else if (str_eq(key, STR("reason")))
            status->reason = json_string(r);
        else if (str_eq(key, STR("message")))
            status->message = json_string(r);
        else if (str_eq(key, STR("code")))
            status->code = (int)json_integer(r, 0, 999);
        else if (str_eq(key, STR("details")))
            read_details(r, status);
    }
    return is_status && json_check(r, NULL) == 0;
}

/* Describes an answer that is no Status: by its first line, if this line looks like a sentence. */
static struct str describe(struct str body, struct arena *arena) {
    struct str text = str_trim(body);
    size_t n = 0;
    while (n < text.n && n < 200 && (unsigned char)text.p[n] >= ' ')
        n++;
    if (n == 0)
        return STR("an empty answer");
    if (text.p[0] == '<')
        return STR("an HTML page instead of an answer of the API");
    char line[256];
    int length = snprintf(line, sizeof line, "the answer '%.*s'", (int)n, text.p);
    return arena_str(arena, (struct str){line, (size_t)length});
}

void kube_status_read(struct str body, int http_status, struct arena *arena,
                      struct kube_status *ret) {
    struct kube_status status = {.retry_after_ms = -1};
    struct json_reader r;
    json_reader_init(&r, body, arena, STATUS_KIND);
    if (!read_members(&r, &status))
        status = (struct kube_status){.retry_after_ms = -1, .message = describe(body, arena)};
    if (status.code == 0)
        status.code = http_status;
    if (str_has_prefix(status.message, STR("Too large resource version")))
        status.version_too_large = true;
    *ret = status;
}

bool kube_status_expired(const struct kube_status *status) {
    return status->code == 410 || str_eq(status->reason, STR("Expired")) ||
           str_eq(status->reason, STR("Gone"));
}

#include "explain/replica.h"

#include "base/version.h"

#include <unistd.h>

void explain_put_replica(struct json_writer *w, int64_t data_age_ms) {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0)
        name[0] = '\0'; /* the name is too long; it is only for people */
    json_key(w, STR("replica"));
    json_begin_object(w);
    json_put_member(w, STR("name"), str_of(name));
    json_put_member(w, STR("version"), STR(EVENKEEL_VERSION));
    json_put_member(w, STR("commit"), str_of(version_commit()));
    if (data_age_ms >= 0) {
        json_key(w, STR("dataAgeMilliseconds"));
        json_put_integer(w, data_age_ms);
    }
    json_end_object(w);
}

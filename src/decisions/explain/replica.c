#include "explain/replica.h"

#include "base/version.h"

#include <unistd.h>

void explain_put_replica(struct json_writer *w) {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0)
        name[0] = '\0'; /* the name is too long; it is only for people */
    json_key(w, STR("replica"));
    json_begin_object(w);
    json_put_member(w, STR("name"), str_of(name));
    json_put_member(w, STR("version"), STR(EVENKEEL_VERSION));
    json_put_member(w, STR("commit"), str_of(version_commit()));
    json_end_object(w);
}

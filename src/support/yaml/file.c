#include "yaml/file.h"

#include "base/file.h"
#include "base/limits.h"

#include <errno.h>

/* Makes the only wanted document the first. */
static int choose(struct yaml_json *json, const char *expected, yaml_wanted_fn *wanted,
                  struct arena *arena, struct err *err) {
    size_t found = 0, at = 0;
    for (size_t i = 0; i < json->document_count; i++)
        if (wanted(json->documents[i], arena)) {
            at = i;
            found++;
        }
    if (found != 1)
        return err_set(err, -EINVAL,
                       found == 0 ? "%zu documents, and none of them is a %s"
                                  : "%zu documents, and more than one of them is a %s: give a file "
                                    "with one",
                       json->document_count, expected);
    json->documents[0] = json->documents[at];
    json->document_count = 1;
    return 0;
}

int yaml_file_read(const char *path, const char *what, const char *expected, yaml_wanted_fn *wanted,
                   struct arena *arena, struct yaml_json *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    int r = file_read(path, LIMIT_CONFIG_BYTES, &bytes, err);
    if (r != 0)
        return r;
    r = yaml_to_json(strbuf_str(&bytes), true, arena, ret, err);
    if (r == 0 && ret->document_count == 0)
        r = err_set(err, -EINVAL, "0 documents; expected one %s", expected);
    if (r == 0 && ret->document_count > 1)
        r = choose(ret, expected, wanted, arena, err);
    return r == 0 ? 0 : err_wrap(err, "%s '%s'", what, path);
}

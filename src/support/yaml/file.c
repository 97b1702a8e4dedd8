#include "yaml/file.h"

#include "base/file.h"
#include "base/limits.h"

#include <errno.h>

int yaml_file_read(const char *path, const char *what, const char *expected, struct arena *arena,
                   struct yaml_json *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    int r = file_read(path, LIMIT_CONFIG_BYTES, &bytes, err);
    if (r != 0)
        return r;
    r = yaml_to_json(strbuf_str(&bytes), true, arena, ret, err);
    if (r == 0 && ret->document_count != 1)
        r = err_set(err, -EINVAL, "%zu documents; expected one %s", ret->document_count, expected);
    return r == 0 ? 0 : err_wrap(err, "%s '%s'", what, path);
}

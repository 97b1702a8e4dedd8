#include "whatif/binding_file.h"

#include "base/file.h"
#include "base/limits.h"
#include "model/names.h"
#include "yaml/yaml.h"

#include <errno.h>

static int read_document(struct str json, struct arena *arena, struct binding *ret,
                         struct err *err) {
    struct json_reader r;
    json_reader_init(&r, json, arena, RESOURCE_BINDING_KIND);
    binding_read(&r, ret);
    return json_finish(&r, err);
}

int binding_file_read(const char *path, struct arena *arena, struct binding *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    struct yaml_json json;
    int r = file_read(path, LIMIT_CONFIG_BYTES, &bytes, err);
    if (r != 0)
        return r;
    r = yaml_to_json(strbuf_str(&bytes), true, arena, &json, err);
    if (r == 0 && json.document_count != 1)
        r = err_set(err, -EINVAL, "%zu documents; expected one binding", json.document_count);
    if (r == 0 && (r = read_document(json.documents[0], arena, ret, err)) != 0)
        yaml_say_line(&json, json.documents[0], err);
    return r == 0 ? 0 : err_wrap(err, "binding file '%s'", path);
}

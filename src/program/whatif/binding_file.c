#include "whatif/binding_file.h"

#include "model/names.h"
#include "yaml/file.h"

static int read_document(struct str json, struct arena *arena, struct binding *ret,
                         struct err *err) {
    struct json_reader r;
    json_reader_init(&r, json, arena, RESOURCE_BINDING_KIND);
    binding_read(&r, ret);
    return json_finish(&r, err);
}

int binding_file_read(const char *path, struct arena *arena, struct binding *ret, struct err *err) {
    struct yaml_json json;
    int r = yaml_file_read(path, "binding file", "binding", arena, &json, err);
    if (r != 0)
        return r;
    r = read_document(json.documents[0], arena, ret, err);
    if (r == 0)
        return 0;
    yaml_say_line(&json, json.documents[0], err);
    return err_wrap(err, "binding file '%s'", path);
}

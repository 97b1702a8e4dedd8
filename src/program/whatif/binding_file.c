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

static bool is_binding(struct str json, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, json, arena, RESOURCE_BINDING_KIND);
    const struct str kind = json_peek_member(&r, STR("kind"));
    return str_eq(kind, STR(RESOURCE_BINDING_KIND)) ||
           str_eq(kind, STR(CLUSTER_RESOURCE_BINDING_KIND));
}

int binding_file_read(const char *path, struct arena *arena, struct binding *ret,
                      struct str *ret_json, struct err *err) {
    struct yaml_json json;
    int r = yaml_file_read(path, "binding file", "binding", is_binding, arena, &json, err);
    if (r != 0)
        return r;
    *ret_json = json.documents[0];
    r = read_document(*ret_json, arena, ret, err);
    if (r == 0)
        return 0;
    yaml_say_line(&json, *ret_json, err);
    return err_wrap(err, "binding file '%s'", path);
}

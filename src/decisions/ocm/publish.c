/*
 * Finds the score by which OCM's own controller selects the decided clusters. An annotation of the
 * Placement names its resource and key.
 */
#include "base/json_reader.h"
#include "ocm/internal.h"

int decide_publish(struct deciding *x) {
    struct json_reader r;
    struct str text, key, resource = {0}, name = {0};
    struct err err;
    if (!labels_lookup(&x->placement->annotations, STR(PLACEMENT_INJECTED_ANNOTATION), &text))
        return 0;
    json_reader_init(&r, text, x->arena, "annotation " PLACEMENT_INJECTED_ANNOTATION);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("key")))
                name = json_string(&r);
            else if (str_eq(key, STR("resource")))
                resource = json_string(&r);
        }
    if (arena_failed(x->arena))
        return -ENOMEM;
    if (json_finish(&r, &err) != 0)
        return deciding_warn(x, arena_printf(x->arena, "%s: nothing is published", err.text));
    if (name.n == 0 || resource.n == 0)
        return deciding_warn(x, STR("annotation " PLACEMENT_INJECTED_ANNOTATION
                                    " has no key or no resource: nothing is published"));
    x->d->publish_resource = resource;
    x->d->publish_key = name;
    return 0;
}

#include "base/limits.h"
#include "model/ocm.h"

#include <errno.h>

int placement_group_parse(const struct placement *p, struct arena *arena, struct selector *ret,
                          struct err *err) {
    struct str text;
    if (!labels_lookup(&p->annotations, STR(PLACEMENT_GROUP_ANNOTATION), &text))
        return -ENOENT;
    if (text.n > LIMIT_SPREAD_GROUP_TEXT)
        return err_set(err, -EINVAL, "the selector has %zu bytes, more than %u", text.n,
                       LIMIT_SPREAD_GROUP_TEXT);
    return selector_parse(text, arena, ret, err);
}

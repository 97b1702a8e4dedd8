#include "unit/cli/printing.h"

int printing_setup(void **state) {
    static struct printing f;
    f = (struct printing){.out = {0}};
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

int printing_teardown(void **state) {
    struct printing *f = *state;
    arena_done(&f->arena);
    strbuf_done(&f->out);
    return 0;
}

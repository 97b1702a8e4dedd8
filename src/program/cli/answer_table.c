#include "cli/answer_table.h"

#include "cli/terminal.h"

#include <assert.h>
#include <stdlib.h>

static struct str cell_of(const struct answer_column *column, const struct value *item) {
    const struct str text =
        column->cell != NULL ? column->cell(item, column->ctx) : value_cell(item, column->form);
    return text.n == 0 ? str_of(column->absent) : text;
}

void answer_table_put_items(const struct answer_table *how, const struct answer *a,
                            const struct value *const *items, uint32_t count, struct strbuf *out) {
    const char *headings[TABLE_COLUMNS];
    const uint32_t shown = how->most > 0 && count > how->most ? how->most : count;
    struct table table;
    assert(how->count <= TABLE_COLUMNS);
    if (count == 0 && !how->is_first)
        return;
    for (uint32_t c = 0; c < how->count; c++)
        headings[c] = c == 0 && how->title != NULL ? how->title : how->columns[c].heading;
    terminal_table_init(&table, headings, how->count, a->arena);
    for (uint32_t c = 0; c < how->count; c++)
        table.right_aligned |= (uint32_t)how->columns[c].is_number << c;
    table.width = table.fits ? table.width : how->width;
    table.narrowest = how->narrowest > 0 ? how->narrowest : table.narrowest;
    table.widest = how->widest;
    for (uint32_t i = 0; i < shown; i++)
        for (uint32_t c = 0; c < how->count; c++)
            table_cell(&table, cell_of(&how->columns[c], items[i]));
    strbuf_append_str(out, how->is_first ? STR("") : STR("\n"));
    (void)table_render(&table, out); /* an error stays in the arena or in `out` */
    if (shown < count)
        strbuf_appendf(out, "and %u more%s; -o json has all\n", count - shown, how->more);
}

const struct value **answer_items(const struct value *list, uint32_t more,
                                  int (*compare)(const void *, const void *)) {
    const struct value **items = arena_array(list->of->arena, list->count + more, sizeof *items);
    for (const struct value *item = list->first; items != NULL && item != NULL; item = item->next)
        items[item->at] = item;
    if (items != NULL && compare != NULL && list->count > 1)
        qsort(items, list->count, sizeof *items, compare);
    return items;
}

void answer_table_put(const struct answer_table *how, const struct value *list,
                      struct strbuf *out) {
    const struct value **items = answer_items(list, 0, NULL);
    if (items != NULL)
        answer_table_put_items(how, list->of, items, list->count, out);
}

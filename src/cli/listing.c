#include "cli/listing.h"

#include "base/limits.h"
#include "cli/terminal.h"

#include <assert.h>
#include <errno.h>

/* ---- cells ---- */

struct str cell_text(struct json_reader *r, struct arena *arena) {
    (void)arena; /* the text is in the JSON */
    return json_string(r);
}

struct str cell_number(struct json_reader *r, struct arena *arena) {
    return arena_printf(arena, "%lld", (long long)json_integer(r, INT64_MIN, INT64_MAX));
}

struct str cell_mebibytes(struct json_reader *r, struct arena *arena) {
    return arena_printf(arena, "%lldMi", (long long)(json_integer(r, 0, INT64_MAX) >> 20));
}

struct str cell_percent(struct json_reader *r, struct arena *arena) {
    return arena_printf(arena, "%lld %%", (long long)json_integer(r, 0, INT64_MAX));
}

struct str cell_yes_no(struct json_reader *r, struct arena *arena) {
    (void)arena; /* both words are constants */
    return json_bool(r) ? STR("yes") : STR("no");
}

struct str cell_names(struct json_reader *r, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    uint32_t count;
    const struct str *names = json_string_array(r, LIMIT_NODE_NAMES, &count);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append_str(&text, i > 0 ? STR(", ") : STR(""));
        strbuf_append_str(&text, names[i]);
    }
    return arena_str(arena, strbuf_str(&text));
}

/* ---- rows ---- */

void listing_begin(struct listing_rows *rows, const struct listing *how, struct arena *arena) {
    uint32_t columns = 0, numbers = 0;
    assert(how->count <= TABLE_COLUMNS);
    *rows = (struct listing_rows){.how = how};
    for (uint32_t i = 0; i < how->count; i++)
        if (how->columns[i].join == COLUMN_OWN) {
            numbers |= (uint32_t)how->columns[i].is_number << columns;
            rows->headings[columns++] = how->columns[i].heading;
        }
    if (how->title != NULL)
        rows->headings[0] = how->title;
    terminal_table_init(&rows->table, rows->headings, columns, arena);
    rows->table.right_aligned = numbers;
}

/* The number of columns, if none is for this member. */
static uint32_t column_of(const struct listing *how, struct str member) {
    for (uint32_t i = 0; i < how->count; i++)
        if (how->columns[i].member != NULL && str_eq(str_of(how->columns[i].member), member))
            return i;
    return how->count;
}

void listing_put(struct listing_rows *rows, const char *member, struct str text) {
    uint32_t column = column_of(rows->how, str_of(member));
    assert(column < rows->how->count);
    rows->cells[column] = text.p != NULL ? text : STR("");
}

void listing_put_number(struct listing_rows *rows, const char *member, int64_t number) {
    listing_put(rows, member, arena_printf(rows->table.arena, "%lld", (long long)number));
}

/* What column `i` shows of this row, with the members that join it. */
static struct str join(const struct listing_rows *rows, uint32_t i) {
    const struct column *columns = rows->how->columns;
    struct str text = rows->cells[i].p != NULL ? rows->cells[i] : str_of(columns[i].absent);
    for (i++; i < rows->how->count && columns[i].join != COLUMN_OWN; i++) {
        struct str more = rows->cells[i];
        if (more.n > 0 && columns[i].join == COLUMN_AFTER)
            text = arena_printf(rows->table.arena, "%.*s %.*s", STR_ARG(text), STR_ARG(more));
        else if (more.n > 0)
            text = more;
    }
    return text;
}

void listing_end_row(struct listing_rows *rows) {
    for (uint32_t i = 0; i < rows->how->count; i++)
        if (rows->how->columns[i].join == COLUMN_OWN)
            table_cell(&rows->table, join(rows, i));
    memset(rows->cells, 0, sizeof rows->cells);
}

bool listing_render(const struct listing_rows *rows, struct strbuf *out) {
    return table_render(&rows->table, out);
}

/* ---- rows of JSON ---- */

static void read_members(struct listing_rows *rows, struct json_reader *r) {
    const struct listing *how = rows->how;
    CLEANUP(strbuf_done) struct strbuf others = {.max = LIMIT_CONFIG_BYTES};
    struct str member;
    if (json_object(r))
        while (json_member(r, &member)) {
            uint32_t column = column_of(how, member);
            if (column < how->count)
                rows->cells[column] = how->columns[column].cell(r, rows->table.arena);
            else if (how->others != NULL)
                how->others(member, r, &others);
        }
    if (how->others != NULL)
        rows->cells[how->count - 1] = arena_str(rows->table.arena, strbuf_str(&others));
}

int listing_print(struct str array, const struct listing *how, struct arena *arena,
                  struct strbuf *out, struct err *err) {
    struct listing_rows rows;
    struct json_reader r;
    if (array.n == 0 || str_eq(array, STR("[]")))
        return 0;
    listing_begin(&rows, how, arena);
    json_reader_init(&r, array, arena, "Explanation.decisions");
    if (json_array(&r))
        while (json_element(&r)) {
            if (how->columns[0].member == NULL)
                rows.cells[0] = how->columns[0].cell(&r, arena);
            else
                read_members(&rows, &r);
            listing_end_row(&rows);
        }
    int failed = json_finish(&r, err);
    if (failed != 0)
        return failed;
    strbuf_append_char(out, '\n');
    return listing_render(&rows, out) ? 0 : err_set(err, -ENOMEM, "no memory for the table");
}

#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

static uint32_t width; /* set before anything is printed */

void terminal_use(void) {
    struct winsize size;
    width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

uint32_t terminal_width(void) {
    return width;
}

void terminal_table_init(struct table *t, const char *const *headings, uint32_t columns,
                         struct arena *arena) {
    table_init(t, headings, columns, arena);
    t->width = width;
    t->fits = width > 0;
}

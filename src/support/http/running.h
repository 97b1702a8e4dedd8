/*
 * The running handlers and their start times. Nothing else shows that a handler never returns: the
 * watchdog looks at connections, and a thread that waits for the handler just waits.
 *
 * The oldest is found by http_oldest_handler() (http/http.h).
 *
 * Threads: any; nothing waits. Beginning and ending are an atomic write each, to a place that is
 * this thread's alone unless there are very many.
 */
#pragma once

/* `verb` is static. Returns what running_end() takes; more than 256 at once are not seen. */
int running_begin(const char *verb);
void running_end(int place);

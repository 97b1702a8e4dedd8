/*
 * The running handlers and their start times. Only this list shows that a handler never returns:
 * the watchdog looks only at connections.
 *
 * http_oldest_handler() (http/http.h) finds the oldest running handler.
 *
 * Threads: any; no call waits. Begin and end are one atomic write each, to a place that no other
 * thread uses, unless there are very many threads.
 */
#pragma once

/* `verb` is static. Returns the place to pass to running_end(). If more than 256 handlers run at
 * once, further handlers are not listed. */
int running_begin(const char *verb);
void running_end(int place);

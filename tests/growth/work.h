/*
 * How much work a piece of the program does, counted instead of measured: every basic block that is
 * run of what is built with -fsanitize-coverage=trace-pc, and what libc goes through on its behalf,
 * 16 bytes at a time. The same input has the same number on every machine.
 */
#pragma once

#include <stdint.h>

/* Since the process began; this thread's. */
uint64_t work_done(void);

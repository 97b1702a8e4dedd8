/*
 * Time for leases and events: texts for the API's fields, and a clock that also runs while the
 * machine is suspended.
 */
#pragma once

#include "base/clock.h"

#include <stdint.h>

enum { KUBE_TIME_SIZE = 32 }; /* bytes of a MicroTime's text with its NUL */

/* Returns the wall clock, in microseconds since 1970. It may jump: use it only for texts that
 * people read, for the dates of certificates, and for times that other programs have written. */
int64_t kube_wall_us(void);

/*
 * Writes a metav1.MicroTime: "2006-01-02T15:04:05.000000Z", always UTC and six digits. A time
 * outside the years 1 to 9999, which upstream could not read back, becomes the nearest time inside
 * these years. upstream: apimachinery pkg/apis/meta/v1/micro_time.go
 */
void kube_time_text(int64_t wall_us, char ret[static KUBE_TIME_SIZE]);

/*
 * CLOCK_BOOTTIME: monotonic, and runs while the machine sleeps. A leader whose machine slept must
 * find its lease expired when it wakes. CLOCK_MONOTONIC would have stopped on its machine, but not
 * on the machines of the other candidates. Shared, never freed.
 */
struct clock *kube_clock_boot(void);

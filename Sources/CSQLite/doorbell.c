#define _GNU_SOURCE
#include "include/doorbell.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

// The call takes the time as two words; on 32-bit systems these don't match the C library's.
#if defined(__linux__) && defined(__LP64__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HAS_FUTEX 1
#else
#define HAS_FUTEX 0
#endif

int storage_bell_is_supported(void) { return HAS_FUTEX; }

void storage_bell_ring(uint32_t *count) {
#if HAS_FUTEX
    // The kernel also does the addition; this operation's second set of sleepers isn't used.
    syscall(SYS_futex, count, FUTEX_WAKE_OP, INT_MAX, 0, count, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
#else
    (void)count;
#endif
}

void storage_bell_wake(const uint32_t *count) {
#if HAS_FUTEX
    syscall(SYS_futex, count, FUTEX_WAKE, INT_MAX, 0, 0, 0);
#else
    (void)count;
#endif
}

int storage_bell_wait(const uint32_t *count, uint32_t seen, int64_t nanoseconds) {
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
#if HAS_FUTEX
    if (syscall(SYS_futex, count, FUTEX_WAIT, seen, &time, 0, 0) == 0 || errno == EINTR) return STORAGE_BELL_WOKEN;
    if (errno == EAGAIN) return STORAGE_BELL_CHANGED;
    return errno == ETIMEDOUT ? STORAGE_BELL_TIMED_OUT : STORAGE_BELL_FAILED;
#else
    (void)count;
    (void)seen;
    nanosleep(&time, 0);
    return STORAGE_BELL_TIMED_OUT;
#endif
}

// A number in shared memory on which threads of any process sleep until it changes: futex(2), which Swift can't call
// because syscall is variadic.
//
// Nothing here touches the number but the kernel, on our behalf. So memory that is gone, because somebody has cut the file
// that it belongs to, is an error and not the end of the process.
#ifndef STORAGEKIT_DOORBELL_H
#define STORAGEKIT_DOORBELL_H

#include <stdint.h>

enum {
    // Somebody has woken the sleepers, for whatever reason.
    STORAGE_BELL_WOKEN = 0,
    // The number wasn't the one that was seen.
    STORAGE_BELL_CHANGED = 1,
    STORAGE_BELL_TIMED_OUT = 2,
    // This memory can't be slept on.
    STORAGE_BELL_FAILED = 3,
};

// Whether this system has what is needed.
int storage_bell_is_supported(void);

// Adds one and wakes all who sleep. Never waits. Needs memory that may be written to.
void storage_bell_ring(uint32_t *count);

// Wakes all who sleep, and changes nothing.
void storage_bell_wake(const uint32_t *count);

// Sleeps while the number is the one that was seen, for so long at most. Memory that may only be read is enough. Where this isn't
// supported it sleeps that long, and returns STORAGE_BELL_TIMED_OUT.
int storage_bell_wait(const uint32_t *count, uint32_t seen, int64_t nanoseconds);

#endif

#include "include/large_memory.h"

#include <stdint.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void storage_give_back_large_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void storage_use_large_pages(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
    const uintptr_t large = 2 << 20;
    uintptr_t start = ((uintptr_t)memory + large - 1) & ~(large - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(large - 1);
    // Only advice: if it isn't followed, pages are small.
    if (memory && start < end) madvise((void *)start, end - start, MADV_HUGEPAGE);
#endif
}

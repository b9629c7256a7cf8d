// What a process asks of the system for large pieces of memory.
#ifndef STORAGEKIT_LARGE_MEMORY_H
#define STORAGEKIT_LARGE_MEMORY_H

#include <stddef.h>

// Lets large pieces of memory of this process go back to the system when they are freed. Once one was, glibc would take the next
// ones of its size from heaps that it keeps, of which each thread has another.
void storage_give_back_large_memory(void);

// Asks the system to give this memory in large pages, once it is touched: a page at a time costs more than filling it.
void storage_use_large_pages(void *memory, size_t size);

// Says that memory is going to be read soon.
static inline void storage_prefetch(const void *memory) { __builtin_prefetch(memory); }

#endif

// Requests to the system for large pieces of memory.
#ifndef STORAGEKIT_LARGE_MEMORY_H
#define STORAGEKIT_LARGE_MEMORY_H

#include <stddef.h>

// Makes large pieces of this process's memory return to the system when they are freed. Otherwise, once one was freed, glibc
// would take the next ones of its size from heaps that it keeps for each thread.
void storage_give_back_large_memory(void);

// Asks the system to give this memory in large pages, once it is touched: a page at a time costs more than filling it.
void storage_use_large_pages(void *memory, size_t size);

// Prefetches memory that is going to be read soon.
static inline void storage_prefetch(const void *memory) { __builtin_prefetch(memory); }

#endif
